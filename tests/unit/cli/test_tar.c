/* Archives, read back with the system's tar.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/hash.h"
#include "cli/tar.h"
#include "harness/test.h"

static int create(struct test *t, const char *name)
{
    int fd = open(test_path(t, name), O_WRONLY | O_CREAT | O_EXCL, 0600);

    if (fd < 0)
        FAIL("create %s", name);
    return fd;
}

static const char *shell(struct test *t, const char *command)
{
    char *out = arena_alloc(&t->arena, 4096, 1);
    char line[1024];
    FILE *pipe;
    size_t n;

    snprintf(line, sizeof(line), "cd %s && { %s; } 2>&1", test_dir(t), command);
    pipe = popen(line, "r");
    n = fread(out, 1, 4095, pipe);
    out[n] = '\0';
    if (pclose(pipe) != 0)
        FAIL("%s: %s", command, out);
    return out;
}

TEST(the_systems_tar_unpacks_what_was_written)
{
    int fd = create(t, "a.tar");
    char *big = arena_alloc(&t->arena, 200001, 1), hash[SHA256_TEXT_SIZE], again[SHA256_TEXT_SIZE];

    memset(big, 'x', 200001);
    test_write_file(test_path(t, "big"), big, 200001);
    ASSERT_OK(tar_add_bytes(fd, "empty", STR(""), 0, &t->err));
    ASSERT_OK(tar_add_bytes(fd, "block", str_of(big, 512), 1700000000, &t->err));
    ASSERT_OK(tar_add_file(fd, "copy", test_path(t, "big"), 1700000000, hash, &t->err));
    ASSERT_OK(tar_end(fd, &t->err));
    close(fd);
    ASSERT_TEXT(shell(t, "mkdir out && tar -xf a.tar -C out && cmp big out/copy && ls out"),
                "block\ncopy\nempty\n");
    ASSERT_TEXT(shell(t, "stat -c '%a %s %Y' out/block"), "600 512 1700000000\n");
    sha256_text(test_read_file(t, test_path(t, "out/copy")), again);
    ASSERT_TEXT(hash, again);
}

/* Only the header is wanted: the reader goes away after it and SIGPIPE ends the writer. */
static void read_header(struct test *t, const char *path, char block[512])
{
    int ends[2];
    pid_t pid;

    ASSERT_EQ(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        close(ends[0]);
        tar_add_file(ends[1], "sparse", path, 0, NULL, &t->err);
        _exit(0);
    }
    close(ends[1]);
    ASSERT_EQ(read(ends[0], block, 512), 512);
    close(ends[0]);
}

TEST(a_file_beyond_eight_gibibytes_has_its_size_in_binary)
{
    int fd = create(t, "sparse");
    char block[512];

    ASSERT_EQ(ftruncate(fd, (off_t)9 << 30), 0); /* 0x240000000 */
    close(fd);
    read_header(t, test_path(t, "sparse"), block);
    ASSERT_EQ((unsigned char)block[124], 0x80);
    ASSERT_EQ(block[124 + 7], 2);
    ASSERT_EQ(block[124 + 8], 0x40);
    ASSERT_EQ(block[124 + 11], 0);
}

TEST(what_can_not_be_read_or_written_is_an_error)
{
    int fd = create(t, "a.tar"), full = open("/dev/full", O_WRONLY);

    ASSERT_FAILS(tar_add_file(fd, "x", test_path(t, "absent"), 0, NULL, &t->err), ERR_NOT_FOUND);
    err_reset(&t->err);
    ASSERT_FAILS(tar_add_file(fd, "x", test_dir(t), 0, NULL, &t->err), ERR_BAD_REQUEST);
    err_reset(&t->err);
    ASSERT_FAILS(tar_add_bytes(full, "x", STR("y"), 0, &t->err), ERR_STORAGE_FAILED);
    err_reset(&t->err);
    ASSERT_FAILS(tar_end(full, &t->err), ERR_STORAGE_FAILED);
}
