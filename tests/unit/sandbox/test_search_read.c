/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "hand_ops.h"
#include "sandbox/search_int.h"

typedef int open_fn(int root_fd, const char *path, int flags);

static void check_opening(struct test *t, open_fn *open_it)
{
    struct ops *ops = ops_new(t);
    AUTO_FD root = -1;
    AUTO_FD fd = -1;
    char text[8] = "";
    char too_long[400];

    ops_write(t, ops, "a/b/f", "in");
    test_write_file(arena_printf(&t->arena, "%s/key", ops->deny[0]), "out", 3);
    ASSERT_EQ(symlink("b", ops_path(t, ops, "a/l")), 0);
    ASSERT_EQ(symlink("f", ops_path(t, ops, "a/b/l")), 0);
    ASSERT_EQ(symlink("../../secret", ops_path(t, ops, "a/out")), 0);
    memset(too_long, 'x', sizeof(too_long));
    too_long[sizeof(too_long) - 1] = '\0';
    root = open(ops->allow[0], O_PATH | O_DIRECTORY | O_CLOEXEC);
    fd = open_it(root, "a/b/f", O_RDONLY);
    ASSERT(fd >= 0);
    ASSERT_EQ(read(fd, text, sizeof(text)), 2);
    ASSERT_TEXT(text, "in");
    ASSERT(open_it(root, "a/l/f", O_RDONLY) < 0);
    ASSERT(open_it(root, "a/b/l", O_RDONLY) < 0);
    ASSERT(open_it(root, "a/l", O_RDONLY | O_DIRECTORY) < 0);
    ASSERT(open_it(root, "a/out/key", O_RDONLY) < 0);
    ASSERT(open_it(root, "a/b/f/x", O_RDONLY) < 0);
    ASSERT(open_it(root, "absent/f", O_RDONLY) < 0);
    ASSERT(open_it(root, too_long, O_RDONLY) < 0);
}

TEST(the_walk_opens_below_its_root_without_following_links)
{
    check_opening(t, search_open_beneath);
}

TEST(the_walk_without_openat2_opens_the_same)
{
    check_opening(t, search_open_walking);
}

TEST(a_file_that_grows_or_shrinks_is_read_to_its_end)
{
    struct ops *ops = ops_new(t);
    struct search_reader reader = SEARCH_READER_INIT;
    struct str piece;
    AUTO_FD fd = -1;

    ops_write(t, ops, "f", "one\ntwo\nthree");
    fd = open(ops_path(t, ops, "f"), O_RDONLY | O_CLOEXEC);
    /* Whatever size it was said to have. */
    for (uint64_t size = 0; size < 30; size += 29) {
        ASSERT_EQ(lseek(fd, 0, SEEK_SET), 0);
        search_reader_begin(&reader, fd, size);
        ASSERT_EQ(search_reader_next(&reader, &piece), 1);
        ASSERT_STR(piece, "one\ntwo\nthree");
        ASSERT_EQ(search_reader_next(&reader, &piece), 0);
    }
    search_reader_begin(&reader, -1, 10);
    ASSERT_EQ(search_reader_next(&reader, &piece), -1);
    search_reader_release(&reader);
}

TEST(what_the_system_refuses_is_told_by_its_kind)
{
    static const struct {
        int number;
        enum err_code code;
    } cases[] = {
        { ENOENT, ERR_NOT_FOUND },  { ENOTDIR, ERR_NOT_FOUND },        { EACCES, ERR_PATH_DENIED },
        { EROFS, ERR_PATH_DENIED }, { ENAMETOOLONG, ERR_BAD_REQUEST }, { ENOSPC, ERR_TOO_LARGE },
        { EDQUOT, ERR_TOO_LARGE },  { EEXIST, ERR_CONFLICT },          { EIO, ERR_INTERNAL },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        err_reset(&t->err);
        ASSERT_FAILS(access_fail(&t->err, cases[i].number, "write", "/x"), cases[i].code);
    }
    ASSERT_TEXT(access_type_name(S_IFSOCK), "socket");
    ASSERT_TEXT(access_type_name(S_IFBLK), "device");
    ASSERT_TEXT(access_type_name(S_IFLNK), "symbolic link");
    ASSERT_TEXT(access_type_name(0), "special file");
}
