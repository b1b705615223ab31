/* Archives, read back with the system's tar.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/hash.h"
#include "files/tar.h"
#include "harness/test.h"

static struct tar create(struct test *t, const char *name)
{
    int fd = open(test_path(t, name), O_WRONLY | O_CREAT | O_EXCL, 0600);

    if (fd < 0)
        FAIL("create %s", name);
    return (struct tar){ .fd = fd, .mtime_s = 1700000000 };
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

struct seen {
    int calls;
    int64_t last;
};

static void note_progress(int64_t done, int64_t all, void *arg)
{
    struct seen *seen = arg;

    if (done <= seen->last || done > all)
        FAIL("%lld of %lld after %lld", (long long)done, (long long)all, (long long)seen->last);
    seen->calls++;
    seen->last = done;
}

TEST(the_systems_tar_unpacks_what_was_written)
{
    struct tar tar = create(t, "a.tar");
    char *big = arena_alloc(&t->arena, 200001, 1), hash[SHA256_TEXT_SIZE], again[SHA256_TEXT_SIZE];

    struct seen seen = { 0 };

    tar.progress = note_progress;
    tar.arg = &seen;
    memset(big, 'x', 200001);
    test_write_file(test_path(t, "big"), big, 200001);
    ASSERT_OK(tar_add_bytes(&tar, "empty", STR(""), &t->err));
    ASSERT_OK(tar_add_bytes(&tar, "block", str_of(big, 512), &t->err));
    ASSERT_OK(tar_add_file(&tar, "copy", test_path(t, "big"), hash, &t->err));
    ASSERT_OK(tar_end(&tar, &t->err));
    close(tar.fd);
    ASSERT_EQ(seen.calls, 4); /* 64 KiB each */
    ASSERT_EQ(seen.last, 200001);
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
        tar_add_file(&(struct tar){ .fd = ends[1] }, "sparse", path, NULL, &t->err);
        _exit(0);
    }
    close(ends[1]);
    ASSERT_EQ(read(ends[0], block, 512), 512);
    close(ends[0]);
}

TEST(a_file_beyond_eight_gibibytes_has_its_size_in_binary)
{
    struct tar tar = create(t, "sparse");
    char block[512];

    ASSERT_EQ(ftruncate(tar.fd, (off_t)9 << 30), 0); /* 0x240000000 */
    close(tar.fd);
    read_header(t, test_path(t, "sparse"), block);
    ASSERT_EQ((unsigned char)block[124], 0x80);
    ASSERT_EQ(block[124 + 7], 2);
    ASSERT_EQ(block[124 + 8], 0x40);
    ASSERT_EQ(block[124 + 11], 0);
}

TEST(what_can_not_be_read_or_written_is_an_error)
{
    struct tar tar = create(t, "a.tar"), full = { .fd = open("/dev/full", O_WRONLY) };

    ASSERT_FAILS(tar_add_file(&tar, "x", test_path(t, "absent"), NULL, &t->err), ERR_NOT_FOUND);
    err_reset(&t->err);
    ASSERT_FAILS(tar_add_file(&tar, "x", test_dir(t), NULL, &t->err), ERR_BAD_REQUEST);
    err_reset(&t->err);
    ASSERT_FAILS(tar_add_bytes(&full, "x", STR("y"), &t->err), ERR_STORAGE_FAILED);
    err_reset(&t->err);
    ASSERT_FAILS(tar_end(&full, &t->err), ERR_STORAGE_FAILED);
}
