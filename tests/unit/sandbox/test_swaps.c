/* Somebody renames and replaces things while walls are built, and afterwards.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "loop/child.h"
#include "rig.h"
#include "sandbox/hand_int.h"

#define STARTS 40

/* Exchanges the two names without end. */
static pid_t swap_all_the_time(const char *a, const char *b)
{
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            if (renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) < 0)
                _exit(1);
    }
    return pid;
}

static void end_swapping(pid_t pid)
{
    int status;

    kill(pid, SIGKILL);
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    ASSERT(WIFSIGNALED(status));
}

static void make_dirs(struct test *t, const char *const *paths)
{
    for (size_t i = 0; paths[i]; i++)
        if (mkdir(test_path(t, paths[i]), 0755) < 0 && errno != EEXIST)
            FAIL("mkdir %s", paths[i]);
}

/* Starts a hand again and again. A start may fail, for the reason that something changed; where it
 * does not, the command must not get at anything. */
static void start_often(struct rig *rig, const char *command)
{
    unsigned stood = 0;

    for (int i = 0; i < STARTS; i++) {
        rig_call(rig, "bash", arena_printf(&rig->t->arena, "{\"command\":\"%s\"}", command));
        if (rig->err.code == ERR_NONE) {
            stood++;
            if (strstr(rig->text, "canary"))
                FAIL("start %d showed %s", i, rig->text);
        } else if (rig->err.code != ERR_SANDBOX_UNAVAILABLE && rig->err.code != ERR_CONFLICT &&
                   !strstr(err_message(&rig->err, 0), "leads out of")) {
            FAIL("start %d: %s", i, err_message(&rig->err, 0));
        }
        rig_end_hand(rig);
    }
    printf("  %u of %d starts found nothing changed\n", stood, STARTS);
}

TEST(what_is_renamed_while_walls_are_built_is_still_covered)
{
    static const char *const dirs[] = { "home/project/a", "home/project/b", NULL };
    struct rig rig;
    pid_t swapper;

    rig_init(&rig, t);
    make_dirs(t, dirs);
    test_write_file(test_path(t, "home/project/a/.env"), "canary", 6);
    test_write_file(test_path(t, "home/project/b/.env"), "canary", 6);
    swapper = swap_all_the_time(test_path(t, "home/project/a"), test_path(t, "home/project/b"));
    start_often(&rig, "for i in 1 2 3 4 5 6 7 8; do cat a/.env b/.env; done; true");
    end_swapping(swapper);
    rig_end(&rig);
}

TEST(a_writable_place_that_is_swapped_for_a_link_opens_nothing_else)
{
    static const char *const dirs[] = { "home/vault", "home/project/out", "home/project/out/inner",
                                        "home/project/other", NULL };
    static const char *const write[] = { ".", "out/inner", NULL };
    struct rig rig;
    pid_t swapper;

    rig_init(&rig, t);
    make_dirs(t, dirs);
    ASSERT_EQ(symlink("../../vault", test_path(t, "home/project/other/inner")), 0);
    rig.spec.allow_write = write;
    swapper =
        swap_all_the_time(test_path(t, "home/project/out"), test_path(t, "home/project/other"));
    start_often(&rig, "for i in 1 2 3 4; do echo x > out/inner/new; echo x > other/inner/new; "
                      "echo x > ~/vault/new; done; true");
    end_swapping(swapper);
    rig_end(&rig);
    ASSERT(access(test_path(t, "home/vault/new"), F_OK) < 0);
}

TEST(a_link_that_an_agent_planted_makes_nothing_writable)
{
    static const struct {
        const char *place, *link, *target;
        bool fits;
    } tries[] = {
        { "out", "home/project/out", "..", false },
        { "out/x", "home/project/out", "..", false },
        { "~/far", "home/far", "project/planted", false }, /* planted -> .. */
        { "in", "home/project/in", "sub", true },
        { "~/alias", "home/alias", "notes", true },
    };
    static const char *const dirs[] = { "home/project/sub", "home/x", NULL };
    struct rig rig;

    rig_init(&rig, t);
    make_dirs(t, dirs);
    ASSERT_EQ(symlink("..", test_path(t, "home/project/planted")), 0);
    for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
        const char *const write[] = { ".", tries[i].place, NULL };

        unlink(test_path(t, tries[i].link));
        ASSERT_EQ(symlink(tries[i].target, test_path(t, tries[i].link)), 0);
        rig.spec.allow_write = write;
        rig_call(&rig, "bash", "{\"command\":\"echo x > ~/stolen\"}");
        if ((rig.err.code == ERR_NONE) != tries[i].fits)
            FAIL("%s: %s", tries[i].place, err_name(rig.err.code));
        if (!tries[i].fits)
            ASSERT_CONTAINS(err_message(&rig.err, 0), "leads out of");
        rig_end_hand(&rig);
    }
    rig_end(&rig);
    ASSERT(access(test_path(t, "home/stolen"), F_OK) < 0);
}

/* ---- our own programs ---- */

static void copy_program(struct test *t, const char *from, const char *to)
{
    AUTO_BUF program = BUF_INIT(256 * MIB);

    ASSERT_OK(file_read(from, &program, &t->err));
    ASSERT_OK(file_write_atomic(to, buf_str(&program), 0755, &t->err));
}

TEST(programs_of_ours_in_a_writable_place_can_not_be_replaced_from_inside)
{
    struct rig rig;

    rig_init(&rig, t);
    copy_program(t, HAND_PATH, test_path(t, "home/project/hand"));
    hand_set_path(test_path(t, "home/project/hand"));
    rig_bash(&rig, "echo x > hand || cp /bin/true hand || mv hand other || rm -f hand || ln -f "
                   "readme hand || chmod 777 hand");
    ASSERT(rig_exit(&rig) != 0);
    rig_end(&rig);
    ASSERT_EQ(hand_program(&t->err) >= 0, 1);
    hand_set_path(HAND_PATH);
}

TEST(directories_that_hold_programs_of_ours_can_not_be_moved_away)
{
    struct rig rig;

    rig_init(&rig, t);
    ASSERT_EQ(mkdir(test_path(t, "home/project/out"), 0755), 0);
    ASSERT_EQ(mkdir(test_path(t, "home/project/out/lib"), 0755), 0);
    copy_program(t, HAND_PATH, test_path(t, "home/project/out/lib/hand"));
    ASSERT_OK(file_write_atomic(test_path(t, "home/project/out/.env"), STR("KEY=planted\n"), 0644,
                                &t->err));
    hand_set_path(test_path(t, "home/project/out/lib/hand"));
    rig_bash(&rig, "mv out away || mv out/lib out/away");
    ASSERT(rig_exit(&rig) != 0);
    rig_bash(&rig, "cat out/.env");
    ASSERT(rig_exit(&rig) != 0);
    ASSERT_TEXT(rig_bash(&rig, "echo x > out/new && mv out/new out/lib/new && cat out/lib/new"),
                "x\n");
    rig_end(&rig);
    hand_set_path(HAND_PATH);
}

TEST(a_hand_and_a_launcher_that_were_replaced_are_not_run)
{
    static const char trojan[] = "#!/bin/sh\necho > \"$0.ran\"\n";
    const char *hand, *launcher;
    struct rig rig;

    rig_init(&rig, t);
    hand = test_path(t, "home/hand");
    launcher = test_path(t, "home/launcher");
    copy_program(t, HAND_PATH, hand);
    copy_program(t, LAUNCHER_PATH, launcher);
    hand_set_path(hand);
    child_set_launcher(launcher);
    ASSERT_TEXT(rig_bash(&rig, "echo one"), "one\n");
    rig_end_hand(&rig);
    ASSERT_OK(file_write_atomic(hand, str_from(trojan), 0755, &t->err));
    ASSERT_OK(file_write_atomic(launcher, str_from(trojan), 0755, &t->err));
    ASSERT_TEXT(rig_bash(&rig, "echo two"), "two\n");
    rig_end_hand(&rig);
    rig.spec.off = true;
    ASSERT_TEXT(rig_bash(&rig, "echo three"), "three\n");
    rig_end(&rig);
    ASSERT(access(arena_printf(&t->arena, "%s.ran", hand), F_OK) < 0);
    ASSERT(access(arena_printf(&t->arena, "%s.ran", launcher), F_OK) < 0);
    hand_set_path(HAND_PATH);
    child_set_launcher(LAUNCHER_PATH);
}
