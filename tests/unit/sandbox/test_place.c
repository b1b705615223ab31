/* Places by what they are: a name that shows something else by now is told, one change at a time.
 * The races themselves are in test_swaps.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "harness/test.h"
#include "sandbox/place.h"

/* A directory, or in it; without links on the way. */
static const char *real_place(struct test *t, const char *name)
{
    const char *path;
    char *real = realpath(test_dir(t), NULL);

    path = arena_printf(&t->arena, "%s/%s", real, name);
    free(real);
    return path;
}

static struct place_view look(const char *path, bool covered)
{
    struct place_view view = { .path = path, .covered = covered };
    int fd;

    if (place_look(&view, &fd) < 0)
        FAIL("%s: %s", path, strerror(errno)); /* fd stays open: inode numbers are used again */
    return view;
}

static void assert_changed(struct test *t, const struct place_view *view)
{
    int fd;

    err_reset(&t->err);
    ASSERT_FAILS(place_check(view, &t->err), ERR_CONFLICT);
    if (view->covered)
        return;
    err_reset(&t->err);
    ASSERT_FAILS(place_open_checked(view, &fd, &t->err), ERR_CONFLICT);
}

TEST(a_place_is_known_again_and_another_of_its_name_is_not)
{
    const char *here = real_place(t, "a"), *away = real_place(t, "b");
    struct place_view view;

    ASSERT_EQ(mkdir(here, 0700), 0);
    view = look(here, false);
    ASSERT_OK(place_check(&view, &t->err));
    ASSERT_EQ(rename(here, away), 0);
    assert_changed(t, &view);
    ASSERT_EQ(mkdir(here, 0700), 0);
    assert_changed(t, &view);
    ASSERT_EQ(rmdir(here), 0);
    ASSERT_EQ(symlink("b", here), 0); /* it leads to the very same */
    assert_changed(t, &view);
    ASSERT_EQ(unlink(here), 0);
    ASSERT_EQ(rename(away, here), 0);
    ASSERT_OK(place_check(&view, &t->err));
}

TEST(a_place_behind_a_link_is_none)
{
    const char *inner = real_place(t, "a/inner"), *through = real_place(t, "link/inner");
    struct place_view view = { .path = through };
    int fd;

    ASSERT_EQ(mkdir(real_place(t, "a"), 0700), 0);
    ASSERT_EQ(mkdir(inner, 0700), 0);
    ASSERT_EQ(symlink("a", real_place(t, "link")), 0);
    ASSERT_EQ(place_look(&view, &fd), -1);
    ASSERT_EQ(errno, ELOOP);
    view = look(inner, false);
    view.path = through;
    assert_changed(t, &view);
}

TEST(what_was_to_be_mounted_there_must_be)
{
    struct place_view view;

    ASSERT_EQ(mkdir(real_place(t, "a"), 0700), 0);
    view = look(real_place(t, "a"), false);
    view.bound = true;
    err_reset(&t->err);
    ASSERT_FAILS(place_check(&view, &t->err), ERR_CONFLICT);
    view = look("/proc", false);
    view.bound = true;
    err_reset(&t->err);
    ASSERT_OK(place_check(&view, &t->err));
}

TEST(a_cover_is_over_the_name_that_was_to_be_covered)
{
    const char *secret = real_place(t, "a/secret");
    struct place_view view;

    ASSERT_EQ(mkdir(real_place(t, "a"), 0700), 0);
    ASSERT_EQ(mkdir(secret, 0700), 0);
    view = look(secret, true);
    ASSERT(view.entry != 0);
    assert_changed(t, &view); /* it is open to all: nothing covers it */
    ASSERT_EQ(chmod(secret, 0), 0);
    err_reset(&t->err);
    ASSERT_OK(place_check(&view, &t->err)); /* looks as a cover does */
    /* Another took its name, and would be what is covered. */
    ASSERT_EQ(rename(secret, real_place(t, "a/moved")), 0);
    ASSERT_EQ(mkdir(secret, 0), 0);
    assert_changed(t, &view);
    ASSERT_EQ(rmdir(secret), 0);
    assert_changed(t, &view);
    ASSERT_EQ(rename(real_place(t, "a/moved"), secret), 0);
    err_reset(&t->err);
    ASSERT_OK(place_check(&view, &t->err));
    /* The directory that holds it is another. */
    ASSERT_EQ(rename(real_place(t, "a"), real_place(t, "b")), 0);
    ASSERT_EQ(mkdir(real_place(t, "a"), 0700), 0);
    ASSERT_EQ(mkdir(secret, 0), 0);
    view.entry = 0;
    assert_changed(t, &view);
}
