/* The note of data directories that no sandbox may look into.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/known_dirs.h"
#include "base/limits.h"
#include "base/str.h"
#include "harness/test.h"

/* A home without XDG's directories. */
static void home_begin(struct test *t)
{
    static const char *const gone[] = { "XDG_DATA_HOME", "XDG_STATE_HOME" };

    for (size_t i = 0; i < ARRAY_LEN(gone); i++)
        unsetenv(gone[i]);
    setenv("HOME", test_dir(t), 1);
}

static const char *note_path(struct test *t)
{
    return test_path(t, ".local/state/dormouse/data-dirs");
}

/* A directory that is there, noted. */
static const char *note(struct test *t, const char *name)
{
    const char *dir = test_path(t, name);

    mkdir(dir, 0700);
    ASSERT_OK(known_dirs_add(dir, &t->err));
    return dir;
}

static size_t count(struct test *t)
{
    const char **all = known_dirs(&t->arena);
    size_t n = 0;

    while (all[n])
        n++;
    return n;
}

static bool knows(struct test *t, const char *dir)
{
    for (const char **all = known_dirs(&t->arena); *all; all++)
        if (strcmp(*all, dir) == 0)
            return true;
    return false;
}

TEST(the_usual_place_is_known_before_anything_was_noted)
{
    home_begin(t);
    ASSERT_EQ(count(t), 1);
    ASSERT(knows(t, test_path(t, ".local/share/dormouse")));
    setenv("XDG_DATA_HOME", "/elsewhere", 1);
    ASSERT_EQ(count(t), 1);
    ASSERT(knows(t, "/elsewhere/dormouse"));
    /* A path that is not absolute means nothing (XDG Base Directory Specification). */
    setenv("XDG_DATA_HOME", "elsewhere", 1);
    ASSERT(knows(t, test_path(t, ".local/share/dormouse")));
    setenv("HOME", "", 1);
    ASSERT_EQ(count(t), 0);
    ASSERT_OK(known_dirs_add("/somewhere", &t->err));
    ASSERT_EQ(count(t), 0);
}

TEST(a_directory_that_was_noted_is_known_until_it_is_gone)
{
    const char *first, *second;
    struct stat st;

    home_begin(t);
    first = note(t, "first");
    second = note(t, "second");
    ASSERT(knows(t, first) && knows(t, second));
    ASSERT_EQ(count(t), 3);
    ASSERT_EQ(stat(note_path(t), &st), 0);
    ASSERT_EQ(st.st_mode & 07777, 0600);
    note(t, "first");
    ASSERT_EQ(count(t), 3);
    rmdir(first);
    ASSERT(knows(t, first)); /* it may be moved back */
    note(t, "third");
    ASSERT(!knows(t, first));
    ASSERT(knows(t, second));
}

TEST(the_note_lies_where_the_state_of_programs_does)
{
    home_begin(t);
    setenv("XDG_STATE_HOME", test_path(t, "deep/state"), 1);
    note(t, "data");
    ASSERT_EQ(access(test_path(t, "deep/state/dormouse/data-dirs"), F_OK), 0);
    ASSERT(access(note_path(t), F_OK) < 0);
}

TEST(what_is_no_absolute_path_is_neither_noted_nor_read)
{
    static const char *const wrong[] = { "relative", "", "/a\n/b" };
    AUTO_BUF text = BUF_INIT(64 * KIB);

    home_begin(t);
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        ASSERT_OK(known_dirs_add(wrong[i], &t->err));
    ASSERT_EQ(count(t), 1);
    note(t, "data");
    buf_add_text(&text, "relative\n\n/\n/first\n/");
    for (int i = 0; i < LIMIT_PATH_BYTES; i++)
        buf_add_char(&text, 'x');
    buf_add_text(&text, "\n/last");
    test_write_file(note_path(t), text.p, text.n);
    ASSERT_EQ(count(t), 3);
    ASSERT(knows(t, "/first") && knows(t, "/last"));
}

TEST(the_oldest_are_forgotten_when_there_are_too_many)
{
    char name[32];

    home_begin(t);
    for (int i = 0; i < KNOWN_DIRS_MAX + 5; i++) {
        snprintf(name, sizeof(name), "d%d", i);
        note(t, name);
    }
    ASSERT_EQ(count(t), KNOWN_DIRS_MAX + 1); /* and the usual one */
    ASSERT(!knows(t, test_path(t, "d4")));
    ASSERT(knows(t, test_path(t, "d5")));
    ASSERT(knows(t, test_path(t, name)));
}

/* Several daemons start at the same moment: none of them is lost. */
TEST(directories_that_are_noted_at_once_are_all_known)
{
    enum { DAEMONS = 16 };
    char name[32];
    int status;

    home_begin(t);
    for (int i = 0; i < DAEMONS; i++) {
        snprintf(name, sizeof(name), "d%d", i);
        if (fork() == 0) {
            mkdir(test_path(t, name), 0700);
            _exit(known_dirs_add(test_path(t, name), &t->err) < 0);
        }
    }
    for (int i = 0; i < DAEMONS; i++) {
        ASSERT(wait(&status) > 0);
        ASSERT_EQ(status, 0);
    }
    ASSERT_EQ(count(t), DAEMONS + 1);
}

TEST(a_note_that_can_not_be_written_is_said)
{
    home_begin(t);
    test_write_file(test_path(t, ".local"), "", 0);
    ASSERT_FAILS(known_dirs_add("/somewhere", &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "/.local/state");
}
