/* The form of an archive: headers field by field, and what the system's tar makes of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "files/tar.h"
#include "harness/test.h"

#define BLOCK   512
#define LONGEST 99 /* that a header holds */

static struct tar create(struct test *t, const char *name, int64_t mtime_s)
{
    int fd = open(test_path(t, name), O_RDWR | O_CREAT | O_TRUNC, 0600);

    if (fd < 0)
        FAIL("create %s", name);
    return (struct tar){ .fd = fd, .mtime_s = mtime_s };
}

static const char *shell(struct test *t, const char *command)
{
    char *out = arena_alloc(&t->arena, 65536, 1);
    const char *line = arena_printf(&t->arena, "cd %s && { %s; } 2>&1", test_dir(t), command);
    FILE *pipe = popen(line, "r");
    size_t n = fread(out, 1, 65535, pipe);

    out[n] = '\0';
    if (pclose(pipe) != 0)
        FAIL("%s: %s", command, out);
    return out;
}

/* An octal field, which must be digits up to a NUL or a space. */
static long long octal(const char *field, size_t n)
{
    long long value = 0;
    size_t i = 0;

    for (; i < n && field[i] >= '0' && field[i] <= '7'; i++)
        value = value * 8 + (field[i] - '0');
    if (i == 0 || i == n || (field[i] != '\0' && field[i] != ' '))
        FAIL("no octal number: %.*s", (int)n, field);
    return value;
}

TEST(a_header_has_the_fields_of_ustar)
{
    struct tar tar = create(t, "a.tar", 1700000000);
    unsigned sum = 0;
    struct str bytes;

    ASSERT_OK(tar_add_bytes(&tar, "name", STR("hello"), &t->err));
    bytes = test_read_file(t, test_path(t, "a.tar"));
    ASSERT_EQ(bytes.n, 2 * BLOCK);
    ASSERT_TEXT(bytes.p, "name");
    ASSERT_EQ(octal(bytes.p + 100, 8), 0600);
    ASSERT_EQ(octal(bytes.p + 108, 8), 0);
    ASSERT_EQ(octal(bytes.p + 116, 8), 0);
    ASSERT_EQ(octal(bytes.p + 124, 12), 5);
    ASSERT_EQ(octal(bytes.p + 136, 12), 1700000000);
    ASSERT_EQ(bytes.p[156], '0');
    ASSERT(memcmp(bytes.p + 257, "ustar\00000", 8) == 0);
    for (size_t i = 0; i < BLOCK; i++)
        sum += i >= 148 && i < 156 ? ' ' : (unsigned char)bytes.p[i];
    ASSERT_EQ(octal(bytes.p + 148, 8), sum);
    ASSERT(memcmp(bytes.p + BLOCK, "hello\0\0\0", 8) == 0);
}

/* Around the edges of a block, of the copy's chunk, and far beyond. */
TEST(every_size_is_padded_to_whole_blocks_and_comes_back_the_same)
{
    static const size_t sizes[] = { 0,    1,     511,   512,   513,    1023,
                                    1024, 65535, 65536, 65537, 131072, 300000 };
    struct tar tar = create(t, "a.tar", 1);
    char *noise = arena_alloc(&t->arena, 300000, 1), hash[SHA256_TEXT_SIZE];
    size_t blocks = 2;

    for (size_t i = 0; i < 300000; i++)
        noise[i] = (char)(i * 2654435761u >> 13);
    ASSERT_EQ(mkdir(test_path(t, "in"), 0700), 0);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        const char *name = arena_printf(&t->arena, "f%zu", sizes[i]), *again;
        const char *path = test_path(t, arena_printf(&t->arena, "in/%s", name));

        test_write_file(path, noise, sizes[i]);
        ASSERT_OK(tar_add_file(&tar, name, path, hash, &t->err));
        again = shell(t, arena_printf(&t->arena, "sha256sum < in/%s", name));
        ASSERT(strncmp(hash, again, SHA256_TEXT_SIZE - 1) == 0);
        blocks += 1 + (sizes[i] + BLOCK - 1) / BLOCK;
    }
    ASSERT_OK(tar_end(&tar, &t->err));
    ASSERT_EQ(lseek(tar.fd, 0, SEEK_END), (off_t)(blocks * BLOCK));
    ASSERT_TEXT(shell(t, "mkdir out && tar -xf a.tar -C out && diff -r in out"), "");
}

TEST(names_up_to_the_longest_are_read_back_as_they_were)
{
    char *longest = arena_alloc(&t->arena, LONGEST + 1, 1);
    struct tar tar = create(t, "a.tar", 1);

    memset(longest, 'n', LONGEST);
    ASSERT_OK(tar_add_bytes(&tar, longest, STR("x"), &t->err));
    ASSERT_OK(tar_add_bytes(&tar, "with space", STR("x"), &t->err));
    ASSERT_OK(tar_add_bytes(&tar, "-dash", STR("x"), &t->err));
    ASSERT_OK(tar_add_bytes(&tar, "m\xc3\xbcsli", STR("x"), &t->err));
    ASSERT_OK(tar_add_bytes(&tar, "a/b/c", STR("x"), &t->err));
    ASSERT_OK(tar_end(&tar, &t->err));
    ASSERT_TEXT(shell(t, "tar --quoting-style=literal -tf a.tar"),
                arena_printf(&t->arena, "%s\nwith space\n-dash\nm\xc3\xbcsli\na/b/c\n", longest));
    ASSERT_TEXT(shell(t, "mkdir o && tar -xf a.tar -C o && cat o/a/b/c ./o/-dash"), "xx");
}

TEST(times_outside_of_what_fits_are_the_beginning)
{
    static const struct {
        int64_t mtime, stored;
    } cases[] = {
        { 0, 0 },          { 1, 1 },  { 2147483648, 2147483648 }, { 8589934591, 8589934591 },
        { 8589934592, 0 }, { -1, 0 }, { INT64_MIN, 0 },           { INT64_MAX, 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tar tar = create(t, "a.tar", cases[i].mtime);

        ASSERT_OK(tar_add_bytes(&tar, "x", STR(""), &t->err));
        ASSERT_OK(tar_end(&tar, &t->err));
        close(tar.fd);
        ASSERT_EQ(octal(test_read_file(t, test_path(t, "a.tar")).p + 136, 12), cases[i].stored);
        shell(t, "tar -tf a.tar");
    }
}

TEST(the_mode_and_owner_of_a_file_do_not_come_along)
{
    struct tar tar = create(t, "a.tar", 1700000000);

    test_write_file(test_path(t, "open"), "x", 1);
    ASSERT_EQ(chmod(test_path(t, "open"), 04777), 0);
    ASSERT_OK(tar_add_file(&tar, "open", test_path(t, "open"), NULL, &t->err));
    ASSERT_OK(tar_end(&tar, &t->err));
    ASSERT_TEXT(shell(t, "TZ=UTC tar --numeric-owner -tvf a.tar"),
                "-rw------- 0/0               1 2023-11-14 22:13 open\n");
}

TEST(an_archive_of_nothing_is_an_archive)
{
    struct tar tar = create(t, "a.tar", 1);

    ASSERT_OK(tar_end(&tar, &t->err));
    ASSERT_EQ(lseek(tar.fd, 0, SEEK_END), 2 * BLOCK);
    ASSERT_TEXT(shell(t, "tar -tf a.tar"), "");
}

static void shorten(int64_t done, int64_t all, void *arg)
{
    (void)all;
    if (done == 65536 && truncate(arg, 65536) < 0)
        FAIL("truncate");
}

TEST(a_file_that_shrinks_while_it_is_copied_is_an_error)
{
    const char *path = test_path(t, "shrinking");
    struct tar tar = create(t, "a.tar", 1);
    char *bytes = arena_alloc(&t->arena, 200000, 1);

    test_write_file(path, bytes, 200000);
    tar.progress = shorten;
    tar.arg = (void *)(uintptr_t)path;
    ASSERT_FAILS(tar_add_file(&tar, "x", path, NULL, &t->err), ERR_STORAGE_FAILED);
    ASSERT_CONTAINS(test_err_text(t), "it became shorter meanwhile");
    ASSERT_CONTAINS(test_err_text(t), path);
}

static void lengthen(int64_t done, int64_t all, void *arg)
{
    int fd = open(arg, O_WRONLY | O_APPEND);

    (void)done;
    (void)all;
    if (write(fd, "more", 4) != 4)
        FAIL("append");
    close(fd);
}

TEST(a_file_that_grows_while_it_is_copied_keeps_the_size_it_had)
{
    const char *path = test_path(t, "growing");
    struct tar tar = create(t, "a.tar", 1);

    test_write_file(path, "1234567", 7);
    tar.progress = lengthen;
    tar.arg = (void *)(uintptr_t)path;
    ASSERT_OK(tar_add_file(&tar, "x", path, NULL, &t->err));
    ASSERT_OK(tar_end(&tar, &t->err));
    ASSERT_TEXT(shell(t, "tar -xOf a.tar x"), "1234567");
}
