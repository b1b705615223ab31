/* The data directory: where it is, what is made of it, and who has it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "harness/test.h"
#include "house/data_dir.h"

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* ---- where it is ---- */

TEST(what_is_typed_comes_before_the_environment_and_that_before_home)
{
    static const struct {
        const char *typed, *data, *xdg, *home, *is;
    } cases[] = {
        { "/typed", "/data", "/xdg", "/home/ada", "/typed" },
        { NULL, "/data", "/xdg", "/home/ada", "/data" },
        { NULL, "", "/xdg", "/home/ada", "/xdg/dormouse" },
        { NULL, NULL, "relative", "/home/ada", "/home/ada/.local/share/dormouse" },
        { NULL, NULL, "", "/home/ada", "/home/ada/.local/share/dormouse" },
        { "typed", NULL, NULL, NULL, "/usr/typed" },
        { ".", NULL, NULL, NULL, "/usr/." },
        { NULL, "data/", NULL, NULL, "/usr/data" },
        { "/a//", NULL, NULL, NULL, "/a" },
        { "/", NULL, NULL, NULL, "/" },
        { "///", NULL, NULL, NULL, "/" },
    };

    ASSERT_EQ(chdir("/usr"), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *path = NULL;

        set("DORMOUSE_DATA", cases[i].data);
        set("XDG_DATA_HOME", cases[i].xdg);
        set("HOME", cases[i].home);
        ASSERT_OK(data_dir_resolve(cases[i].typed, &path, &t->err));
        ASSERT_TEXT(path, cases[i].is);
        free(path);
    }
}

TEST(a_relative_path_begins_where_the_process_works)
{
    char *path = NULL;

    ASSERT_EQ(chdir("/"), 0);
    ASSERT_OK(data_dir_resolve("data", &path, &t->err));
    ASSERT_TEXT(path, "/data");
    free(path);
    ASSERT_EQ(chdir(test_dir(t)), 0);
    ASSERT_EQ(rmdir(test_dir(t)), 0);
    ASSERT_FAILS(data_dir_resolve("data", &path, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "working directory is gone");
}

TEST(a_path_that_can_not_be_is_refused)
{
    char path[LIMIT_PATH_BYTES + 1], *found = NULL;

    ASSERT_FAILS(data_dir_resolve("", &found, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "--data needs a directory");
    memset(path, 'a', sizeof(path));
    path[0] = '/';
    path[LIMIT_PATH_BYTES - 1] = '\0';
    ASSERT_OK(data_dir_resolve(path, &found, &t->err));
    free(found);
    path[LIMIT_PATH_BYTES - 1] = 'a';
    path[LIMIT_PATH_BYTES] = '\0';
    ASSERT_FAILS(data_dir_resolve(path, &found, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "too long");
}

/* ---- whether it can be used ---- */

static unsigned mode_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

TEST(a_directory_is_made_with_its_parents_for_nobody_else)
{
    const char *path = test_path(t, "a/b/data");

    umask(0);
    ASSERT_OK(data_dir_prepare(path, &t->err));
    ASSERT_EQ(mode_of(path), 0700);
    ASSERT_EQ(mode_of(test_path(t, "a")), 0700);
    ASSERT_EQ(chmod(path, 0755), 0);
    ASSERT_OK(data_dir_prepare(path, &t->err));
    ASSERT_EQ(mode_of(path), 0700);
    ASSERT_EQ(symlink(path, test_path(t, "link")), 0);
    ASSERT_OK(data_dir_prepare(test_path(t, "link"), &t->err));
}

TEST(what_is_no_directory_is_refused_by_name)
{
    const struct {
        const char *path, *says;
    } cases[] = {
        { test_path(t, "file"), "it is not a directory" },
        { test_path(t, "file/data"), "Not a directory" },
        { test_path(t, "dangling"), "No such file" },
        { test_path(t, "loop"), "symbolic links" },
    };

    ASSERT_OK(file_write_atomic(test_path(t, "file"), STR("x"), 0600, &t->err));
    ASSERT_EQ(symlink("nowhere", test_path(t, "dangling")), 0);
    ASSERT_EQ(symlink("loop", test_path(t, "loop")), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ASSERT_FAILS(data_dir_prepare(cases[i].path, &t->err), ERR_BAD_REQUEST);
        ASSERT_CONTAINS(test_err_text(t), cases[i].path);
        ASSERT_CONTAINS(test_err_text(t), cases[i].says);
    }
}

/* Runs as somebody else, where that can be. */
static int as_nobody(int (*what)(const char *path), const char *path)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0)
        _exit(setgid(65534) == 0 && setuid(65534) == 0 ? what(path) : 99);
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int is_refused_with(const char *path, const char *says)
{
    struct err err = ERR_INIT;
    char text[ERR_TEXT_MAX];

    if (data_dir_prepare(path, &err) == 0)
        return 1;
    return strstr(err_format(&err, text, sizeof(text)), says) ? 0 : 2;
}

static int is_refused(const char *path)
{
    return is_refused_with(path, "another user");
}

static int is_told_how_to_open(const char *path)
{
    return is_refused_with(path, "Permission denied; try: chmod 700 on it");
}

TEST(a_directory_of_another_user_is_refused)
{
    if (geteuid() != 0)
        SKIP("only root can become somebody else");
    ASSERT_OK(data_dir_prepare(test_path(t, "data"), &t->err));
    ASSERT_EQ(chmod(test_dir(t), 0755), 0);
    ASSERT_EQ(as_nobody(is_refused, test_path(t, "data")), 0);
}

TEST(a_directory_that_its_owner_can_not_write_to_says_how_to_open_it)
{
    const char *path = test_path(t, "data");

    if (geteuid() != 0)
        SKIP("only root can become somebody else");
    ASSERT_OK(data_dir_prepare(path, &t->err));
    ASSERT_EQ(chmod(test_dir(t), 0755), 0);
    ASSERT_EQ(chown(path, 65534, 65534), 0);
    ASSERT_EQ(chmod(path, 0500), 0);
    ASSERT_EQ(as_nobody(is_told_how_to_open, path), 0);
}

/* ---- who has it ---- */

TEST(one_has_the_lock_and_is_named_to_the_others)
{
    const char *dir = test_dir(t);
    int fd = -1, other = -1;

    ASSERT_EQ(data_dir_holder(dir), 0);
    ASSERT(access(test_path(t, "lock"), F_OK) < 0); /* looking makes nothing */
    ASSERT_OK(data_dir_lock(dir, &fd, &t->err));
    ASSERT_EQ(mode_of(test_path(t, "lock")), 0600);
    ASSERT_EQ(data_dir_holder(dir), getpid());
    ASSERT_FAILS(data_dir_lock(dir, &other, &t->err), ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), arena_printf(&t->arena, "process %d", (int)getpid()));
    close(fd);
    ASSERT_EQ(data_dir_holder(dir), 0);
    ASSERT_OK(data_dir_lock(dir, &fd, &t->err));
    close(fd);
}

TEST(nobody_gets_the_lock_before_the_one_who_is_next)
{
    const char *dir = test_dir(t);
    int held = -1, next = -1, other = -1;

    ASSERT(data_dir_is_free(dir) && !data_dir_has_next(dir));
    ASSERT(access(test_path(t, "lock"), F_OK) < 0); /* looking makes nothing */
    ASSERT_OK(data_dir_lock(dir, &held, &t->err));
    ASSERT(!data_dir_is_free(dir) && !data_dir_has_next(dir));
    ASSERT_OK(data_dir_be_next(dir, &next, &t->err));
    ASSERT(data_dir_has_next(dir));
    ASSERT_FAILS(data_dir_be_next(dir, &other, &t->err), ERR_CONFLICT);
    ASSERT_FAILS(data_dir_lock_next(dir, next, &t->err), ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), arena_printf(&t->arena, "process %d", (int)getpid()));

    close(held); /* nobody holds it, and still it is not free */
    ASSERT_EQ(data_dir_holder(dir), 0);
    ASSERT(!data_dir_is_free(dir));
    ASSERT_FAILS(data_dir_lock(dir, &other, &t->err), ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "another dormouse uses");
    ASSERT_OK(data_dir_lock_next(dir, next, &t->err));
    ASSERT_EQ(data_dir_holder(dir), getpid());
    ASSERT(!data_dir_has_next(dir));
    close(next);

    ASSERT_OK(data_dir_be_next(dir, &next, &t->err));
    close(next); /* it went before its turn: nothing is left of it */
    ASSERT(data_dir_is_free(dir));
    ASSERT_OK(data_dir_lock(dir, &held, &t->err));
    close(held);
}

TEST(whoever_wrote_nonsense_into_the_lock_is_somebody)
{
    static const char *const texts[] = { "", "x", "-1", "0", "4294967297", "99999999999999999999" };
    const char *dir = test_dir(t);
    int fd = -1, other = -1;

    ASSERT_OK(data_dir_lock(dir, &fd, &t->err));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ASSERT_EQ(ftruncate(fd, 0), 0);
        ASSERT_EQ(pwrite(fd, texts[i], strlen(texts[i]), 0), (ssize_t)strlen(texts[i]));
        ASSERT_EQ(data_dir_holder(dir), -1);
        ASSERT_FAILS(data_dir_lock(dir, &other, &t->err), ERR_CONFLICT);
        ASSERT_CONTAINS(test_err_text(t), "another dormouse uses");
    }
    close(fd);
}

TEST(a_lock_ends_with_its_process_however_that_ends)
{
    const char *dir = test_dir(t);
    int ready[2], fd = -1, status;
    char byte;
    pid_t child;

    ASSERT_EQ(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        struct err err = ERR_INIT;
        int mine;

        if (data_dir_lock(dir, &mine, &err) == 0 && write(ready[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    ASSERT_EQ(data_dir_holder(dir), child);
    ASSERT_FAILS(data_dir_lock(dir, &fd, &t->err), ERR_CONFLICT);
    ASSERT_EQ(kill(child, SIGKILL), 0);
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(data_dir_holder(dir), 0);
    ASSERT_OK(data_dir_lock(dir, &fd, &t->err));
    close(fd);
}

TEST(a_lock_that_leads_elsewhere_is_not_followed)
{
    int fd = -1;

    ASSERT_OK(file_write_atomic(test_path(t, "precious"), STR("text"), 0600, &t->err));
    ASSERT_EQ(symlink("precious", test_path(t, "lock")), 0);
    ASSERT_FAILS(data_dir_lock(test_dir(t), &fd, &t->err), ERR_BAD_REQUEST);
    ASSERT_EQ(data_dir_holder(test_path(t, "nothing")), 0);
    {
        AUTO_BUF text = BUF_INIT(100);

        ASSERT_OK(file_read(test_path(t, "precious"), &text, &t->err));
        ASSERT_TEXT(buf_text(&text), "text");
    }
}

/* ---- who it is ---- */

TEST(a_host_has_one_name_from_its_first_time_on)
{
    char first[UUID_TEXT_SIZE], again[UUID_TEXT_SIZE];

    ASSERT_OK(data_dir_host(test_dir(t), first, &t->err));
    ASSERT(uuid_valid(str_from(first)));
    ASSERT_EQ(mode_of(test_path(t, "host")), 0600);
    ASSERT_OK(data_dir_host(test_dir(t), again, &t->err));
    ASSERT_TEXT(again, first);
    /* An editor leaves a line break. */
    ASSERT_OK(file_write_atomic(test_path(t, "host"),
                                str_from(arena_printf(&t->arena, " %s\n", first)), 0600, &t->err));
    ASSERT_OK(data_dir_host(test_dir(t), again, &t->err));
    ASSERT_TEXT(again, first);
}

TEST(a_host_whose_name_is_damaged_says_so_and_makes_no_other)
{
    static const char *const texts[] = { "", "x", "not-a-uuid-not-a-uuid-not-a-uuid-not" };
    char id[UUID_TEXT_SIZE];

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ASSERT_OK(file_write_atomic(test_path(t, "host"), str_from(texts[i]), 0600, &t->err));
        ASSERT_FAILS(data_dir_host(test_dir(t), id, &t->err), ERR_INTEGRITY_FAILED);
        ASSERT_CONTAINS(test_err_text(t), "host does not hold a UUID");
    }
    ASSERT_EQ(unlink(test_path(t, "host")), 0);
    ASSERT_EQ(mkdir(test_path(t, "host"), 0700), 0);
    ASSERT_EQ(data_dir_host(test_dir(t), id, &t->err), -1);
    ASSERT(t->err.code != ERR_NONE);
    err_reset(&t->err);
}
