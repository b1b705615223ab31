/* Finding, creating and locking the data directory.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/test.h"
#include "house/data_dir.h"

static void clear_environment(void)
{
    unsetenv("DORMOUSE_DATA");
    unsetenv("XDG_DATA_HOME");
    setenv("HOME", "/home/someone", 1);
}

static const char *resolve(struct test *t, const char *typed)
{
    char *path = NULL;

    ASSERT_OK(data_dir_resolve(typed, &path, &t->err));
    typed = arena_text(&t->arena, path);
    free(path);
    return typed;
}

TEST(each_source_of_the_path_stands_in_for_the_next)
{
    clear_environment();
    ASSERT_TEXT(resolve(t, NULL), "/home/someone/.local/share/dormouse");
    setenv("XDG_DATA_HOME", "relative", 1);
    ASSERT_TEXT(resolve(t, NULL), "/home/someone/.local/share/dormouse");
    setenv("XDG_DATA_HOME", "/xdg", 1);
    ASSERT_TEXT(resolve(t, NULL), "/xdg/dormouse");
    setenv("DORMOUSE_DATA", "", 1);
    ASSERT_TEXT(resolve(t, NULL), "/xdg/dormouse");
    setenv("DORMOUSE_DATA", "/from/env", 1);
    ASSERT_TEXT(resolve(t, NULL), "/from/env");
    ASSERT_TEXT(resolve(t, "/typed//"), "/typed");
    ASSERT_TEXT(resolve(t, "/"), "/");
}

TEST(a_relative_path_is_made_absolute)
{
    if (chdir(test_dir(t)) < 0)
        FAIL("chdir");
    ASSERT_TEXT(resolve(t, "here"), test_path(t, "here"));
}

TEST(impossible_paths_are_refused)
{
    char *path = NULL, *longer = arena_alloc(&t->arena, 5001, 1);

    memset(longer, 'x', 5000);
    ASSERT_FAILS(data_dir_resolve("", &path, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(data_dir_resolve(longer, &path, &t->err), ERR_BAD_REQUEST);
    longer[0] = '/';
    ASSERT_FAILS(data_dir_resolve(longer, &path, &t->err), ERR_BAD_REQUEST);
    ASSERT(path == NULL);
}

static unsigned mode_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

TEST(a_new_directory_is_for_its_owner_alone)
{
    const char *path = test_path(t, "a/b/c");

    umask(0);
    ASSERT_OK(data_dir_prepare(path, &t->err));
    ASSERT_EQ(mode_of(path), 0700);
    ASSERT_EQ(mode_of(test_path(t, "a")), 0700);
    ASSERT_OK(data_dir_prepare(path, &t->err));
}

TEST(an_open_directory_is_closed_to_others)
{
    const char *path = test_path(t, "open");

    umask(0);
    ASSERT_EQ(mkdir(path, 0755), 0);
    ASSERT_OK(data_dir_prepare(path, &t->err));
    ASSERT_EQ(mode_of(path), 0700);
}

TEST(what_is_not_a_directory_is_refused)
{
    const char *path = test_path(t, "file");

    test_write_file(path, "x", 1);
    ASSERT_FAILS(data_dir_prepare(path, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(err_message(&t->err, 0), "it is not a directory");
    err_reset(&t->err);
    ASSERT_FAILS(data_dir_prepare(test_path(t, "file/below"), &t->err), ERR_BAD_REQUEST);
    err_reset(&t->err);
    ASSERT_FAILS(data_dir_prepare("/proc/nowhere/at/all", &t->err), ERR_BAD_REQUEST);
}

TEST(a_directory_without_permission_is_refused)
{
    const char *path = test_path(t, "closed");

    if (geteuid() == 0 &&
        (setegid(65534) < 0 || chmod(test_dir(t), 0777) < 0 || seteuid(65534) < 0))
        SKIP("can't become an ordinary user");
    ASSERT_EQ(mkdir(path, 0500), 0);
    ASSERT_FAILS(data_dir_prepare(path, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(err_message(&t->err, 0), "Permission denied");
    err_reset(&t->err);
    ASSERT_FAILS(data_dir_prepare("/etc", &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(err_message(&t->err, 0), "belongs to another user");
    if (getuid() == 0)
        ASSERT_EQ(seteuid(0), 0); /* the leak checker needs it */
}

TEST(one_process_holds_the_lock_and_is_named)
{
    const char *dir = test_dir(t);
    char expected[64];
    int fd = -1, second = -1;

    ASSERT_EQ(data_dir_holder(dir), 0);
    ASSERT_OK(data_dir_lock(dir, &fd, &t->err));
    ASSERT_EQ(data_dir_holder(dir), getpid());
    ASSERT_EQ(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    ASSERT_FAILS(data_dir_lock(dir, &second, &t->err), ERR_CONFLICT);
    snprintf(expected, sizeof(expected), "process %d", (int)getpid());
    ASSERT_CONTAINS(err_message(&t->err, 0), expected);
    ASSERT_EQ(second, -1);
    close(fd);
    ASSERT_EQ(data_dir_holder(dir), 0);
    err_reset(&t->err);
    ASSERT_OK(data_dir_lock(dir, &fd, &t->err));
}

TEST(the_lock_ends_with_a_process_that_is_killed)
{
    const char *dir = test_dir(t);
    int ready[2], fd = -1, status;
    char byte;
    pid_t pid;

    ASSERT_EQ(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        if (data_dir_lock(dir, &fd, NULL) == 0 && write(ready[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    ASSERT_EQ(data_dir_holder(dir), pid);
    ASSERT_FAILS(data_dir_lock(dir, &fd, &t->err), ERR_CONFLICT);
    kill(pid, SIGKILL);
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    err_reset(&t->err);
    ASSERT_OK(data_dir_lock(dir, &fd, &t->err));
    ASSERT_EQ(data_dir_holder(dir), getpid());
}

TEST(a_lock_file_with_nonsense_in_it_still_locks)
{
    const char *dir = test_dir(t);
    int fd = -1, second = -1;

    ASSERT_OK(data_dir_lock(dir, &fd, &t->err));
    ASSERT_EQ(ftruncate(fd, 0), 0);
    ASSERT_EQ(pwrite(fd, "no number", 9, 0), 9);
    ASSERT_EQ(data_dir_holder(dir), -1);
    ASSERT_FAILS(data_dir_lock(dir, &second, &t->err), ERR_CONFLICT);
    ASSERT_CONTAINS(err_message(&t->err, 0), "another dormouse uses");
}

TEST(a_lock_that_is_a_link_is_refused)
{
    int fd = -1;

    test_write_file(test_path(t, "elsewhere"), "precious", 8);
    ASSERT_EQ(symlink(test_path(t, "elsewhere"), test_path(t, "lock")), 0);
    ASSERT_FAILS(data_dir_lock(test_dir(t), &fd, &t->err), ERR_BAD_REQUEST);
    ASSERT_STR(test_read_file(t, test_path(t, "elsewhere")), "precious");
}

TEST(a_directory_may_be_a_link_to_one_and_not_a_dangling_one)
{
    const char *link = test_path(t, "link");

    ASSERT_EQ(mkdir(test_path(t, "real"), 0755), 0);
    ASSERT_EQ(symlink(test_path(t, "real"), link), 0);
    ASSERT_OK(data_dir_prepare(link, &t->err));
    ASSERT_EQ(mode_of(test_path(t, "real")), 0700);
    ASSERT_EQ(rmdir(test_path(t, "real")), 0);
    ASSERT_FAILS(data_dir_prepare(link, &t->err), ERR_BAD_REQUEST);
}

TEST(of_many_processes_exactly_one_gets_the_lock)
{
    enum { N = 16 };
    const char *dir = test_dir(t);
    int go[2], held = 0, status;
    pid_t pids[N];

    ASSERT_EQ(pipe(go), 0);
    for (int i = 0; i < N; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            int fd = -1, r;
            char byte;

            close(go[1]);
            r = data_dir_lock(dir, &fd, NULL);
            /* Whoever has it keeps it until all have tried. */
            if (r == 0)
                while (read(go[0], &byte, 1) > 0)
                    ;
            _exit(r == 0 ? 0 : 3);
        }
    }
    for (int left = N - 1; left > 0; left--) {
        ASSERT(wait(&status) > 0);
        ASSERT_EQ(WEXITSTATUS(status), 3);
    }
    close(go[1]);
    while (wait(&status) > 0)
        held += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    ASSERT_EQ(held, 1);
    ASSERT_EQ(data_dir_holder(dir), 0);
}
