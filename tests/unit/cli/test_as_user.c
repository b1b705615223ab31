/* `--user NAME`: this program again, as somebody else.
 *
 * The program is the suite itself. A first start calls as_user() before its main(), the second one,
 * which is somebody else by then, says what it is; a variable tells them apart.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "cli/as_user.h"
#include "harness/test.h"

#define START "DORMOUSE_TEST_START"

static const char *const variables[] = { "HOME",
                                         "USER",
                                         "LOGNAME",
                                         "SHELL",
                                         "XDG_DATA_HOME",
                                         "XDG_STATE_HOME",
                                         "XDG_CONFIG_HOME",
                                         "XDG_CACHE_HOME",
                                         "XDG_RUNTIME_DIR",
                                         "MAIL",
                                         "KEPT" };

_Noreturn static void second_start(void)
{
    char text[4096];
    gid_t groups[64];
    uid_t uids[3];
    gid_t gids[3];
    ssize_t n;
    int fd;

    getresuid(&uids[0], &uids[1], &uids[2]);
    getresgid(&gids[0], &gids[1], &gids[2]);
    printf("user %u %u %u\ngroup %u %u %u\n", uids[0], uids[1], uids[2], gids[0], gids[1], gids[2]);
    for (int i = 0, count = getgroups((int)ARRAY_LEN(groups), groups); i < count; i++)
        printf("in group %u\n", groups[i]);
    printf("root again: %s\n", setresuid(0, 0, 0) == 0 ? "yes" : "no");
    for (size_t i = 0; i < ARRAY_LEN(variables); i++)
        printf("%s=%s\n", variables[i], getenv(variables[i]) ? getenv(variables[i]) : "-");
    fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    n = read(fd, text, sizeof(text));
    for (ssize_t i = 0; i < n; i++)
        putchar(text[i] ? text[i] : ' ');
    putchar('\n');
    fflush(stdout);
    _exit(0);
}

__attribute__((constructor)) static void start(void)
{
    struct err err = ERR_INIT;
    char text[ERR_TEXT_MAX];
    const char *which = getenv(START);

    if (which && strcmp(which, "second") == 0)
        second_start();
    if (!which)
        return;
    setenv(START, "second", 1);
    as_user("nobody", &err);
    puts(err_format(&err, text, sizeof(text)));
    fflush(stdout);
    _exit(1);
}

static const struct passwd *nobody(void)
{
    const struct passwd *user = geteuid() == 0 ? getpwnam("nobody") : NULL;

    if (!user)
        SKIP("only root can become somebody else");
    return user;
}

/* What the second start says, when the first one was given these arguments. */
static const char *starts(struct test *t, const char *const *argv)
{
    const char *out = test_path(t, "out");
    const gid_t more[] = { 0, 4 };
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        for (size_t i = 0; i < ARRAY_LEN(variables); i++)
            setenv(variables[i], "root's", 1);
        setenv(START, "first", 1);
        if (dup2(fd, STDOUT_FILENO) < 0 || setgroups(ARRAY_LEN(more), more) < 0)
            _exit(1);
        execv("/proc/self/exe", (char **)(uintptr_t)argv);
        _exit(1);
    }
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    return test_read_file(t, out).p;
}

TEST(root_is_given_up_for_good_with_its_groups_and_places)
{
    const struct passwd *user = nobody();
    const char *const argv[] = { "test-cli", NULL };
    const char *said = starts(t, argv);
    unsigned uid = user->pw_uid, gid = user->pw_gid;

    ASSERT_CONTAINS(said,
                    arena_printf(&t->arena,
                                 "user %u %u %u\ngroup %u %u %u\nin group %u\nroot again: no\n",
                                 uid, uid, uid, gid, gid, gid, gid));
    ASSERT_CONTAINS(said,
                    arena_printf(&t->arena, "HOME=%s\nUSER=nobody\nLOGNAME=nobody\nSHELL=%s\n",
                                 user->pw_dir, user->pw_shell));
    ASSERT_CONTAINS(said, "XDG_DATA_HOME=-\nXDG_STATE_HOME=-\nXDG_CONFIG_HOME=-\n"
                          "XDG_CACHE_HOME=-\nXDG_RUNTIME_DIR=-\nMAIL=-\nKEPT=root's\n");
}

TEST(all_arguments_stay_but_the_one_that_names_the_user)
{
    static const struct {
        const char *argv[9], *after;
    } cases[] = {
        { { "d", "serve", "--user", "nobody", "--listen", "x" }, "\nd serve --listen x \n" },
        { { "d", "serve", "--user=nobody", "--json" }, "\nd serve --json \n" },
        { { "d", "--user=nobody", "serve", "--user", "nobody" }, "\nd serve \n" },
        { { "d", "serve", "", "--username", "--users=x" }, "\nd serve  --username --users=x \n" },
        { { "d", "serve", "--user" }, "\nd serve \n" },
    };

    nobody();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_CONTAINS(starts(t, cases[i].argv), cases[i].after);
}

TEST(a_user_who_is_not_there_or_is_root_is_refused)
{
    nobody();
    ASSERT_FAILS(as_user("no-such-user", &t->err), ERR_NOT_FOUND);
    ASSERT_CONTAINS(test_err_text(t), "useradd -m no-such-user");
    err_reset(&t->err);
    ASSERT_FAILS(as_user("root", &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "that is root again");
}

TEST(only_root_becomes_another_user)
{
    uid_t before = geteuid();

    if (before == 0)
        ASSERT_EQ(seteuid(nobody()->pw_uid), 0);
    ASSERT_FAILS(as_user("nobody", &t->err), ERR_BAD_REQUEST);
    ASSERT_EQ(seteuid(before), 0);
    ASSERT_CONTAINS(test_err_text(t), "only root can become another user");
}
