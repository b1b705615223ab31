/* Files that can't be read or replaced: what is said, and that nothing is left behind.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/rand.h"
#include "harness/test.h"

static size_t entries(const char *path)
{
    DIR *dir = opendir(path);
    size_t n = 0;

    ASSERT(dir != NULL);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 2;
}

TEST(file_read_refuses_all_that_is_no_regular_file)
{
    AUTO_BUF out = BUF_INIT(100);
    AUTO_FD sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    ASSERT_EQ(mkfifo(test_path(t, "fifo"), 0600), 0); /* opening it must not wait for a writer */
    ASSERT_FAILS(file_read(test_path(t, "fifo"), &out, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "fifo: not a regular file");
    ASSERT_FAILS(file_read(test_dir(t), &out, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "not a regular file");
    ASSERT_FAILS(file_read("/dev/zero", &out, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "read /dev/zero: not a regular file");
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", test_path(t, "sock"));
    ASSERT_EQ(bind(sock, (struct sockaddr *)&address, sizeof(address)), 0);
    ASSERT_FAILS(file_read(test_path(t, "sock"), &out, &t->err), ERR_INTERNAL);
    ASSERT_EQ(out.n, 0);
}

TEST(file_read_follows_a_link_to_a_file_and_tells_a_dangling_one)
{
    AUTO_BUF out = BUF_INIT(100);

    test_write_file(test_path(t, "real"), "text", 4);
    ASSERT_EQ(symlink("real", test_path(t, "link")), 0);
    ASSERT_EQ(symlink("nowhere", test_path(t, "dangling")), 0);
    ASSERT_OK(file_read(test_path(t, "link"), &out, &t->err));
    ASSERT_STR(buf_str(&out), "text");
    ASSERT_FAILS(file_read(test_path(t, "dangling"), &out, &t->err), ERR_NOT_FOUND);
}

TEST(file_read_keeps_to_the_cap_around_its_step)
{
    static const size_t sizes[] = { 2, 65535, 65536, 65537, 131072, 200001 };
    static char bytes[200001];
    struct rand_fake rand;

    rand_fake_init(&rand, 4);
    rand_fill(&rand.rand, bytes, sizeof(bytes));
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        for (int less = 0; less < 2; less++) {
            AUTO_BUF out = BUF_INIT(sizes[i] - (size_t)less);
            const char *path = test_path(t, "f");
            int r;

            test_write_file(path, bytes, sizes[i]);
            r = file_read(path, &out, &t->err);
            if (less) {
                ASSERT_FAILS(r, ERR_TOO_LARGE);
                ASSERT_CONTAINS(test_err_text(t),
                                arena_printf(&t->arena, "larger than %zu bytes", sizes[i] - 1));
                continue;
            }
            ASSERT_OK(r);
            ASSERT_EQ(out.n, sizes[i]);
            ASSERT(memcmp(out.p, bytes, sizes[i]) == 0);
        }
}

TEST(file_read_appends_to_what_is_there)
{
    AUTO_BUF out = BUF_INIT(10);

    test_write_file(test_path(t, "f"), "12345", 5);
    ASSERT_OK(file_read(test_path(t, "f"), &out, &t->err));
    ASSERT_OK(file_read(test_path(t, "f"), &out, &t->err));
    ASSERT_STR(buf_str(&out), "1234512345");
    ASSERT_FAILS(file_read(test_path(t, "f"), &out, &t->err), ERR_TOO_LARGE);
}

TEST(file_read_fd_goes_on_from_where_it_stands)
{
    AUTO_BUF out = BUF_INIT(100);
    AUTO_FD fd = -1;

    test_write_file(test_path(t, "f"), "0123456789", 10);
    fd = open(test_path(t, "f"), O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(lseek(fd, 4, SEEK_SET), 4);
    ASSERT_OK(file_read_fd(fd, "f", &out, &t->err));
    ASSERT_STR(buf_str(&out), "456789");
    ASSERT_FAILS(file_read_fd(-1, "gone", &out, &t->err), ERR_INTERNAL);
    ASSERT_CONTAINS(test_err_text(t), "read gone: Bad file descriptor");
}

TEST(file_write_atomic_over_a_directory_leaves_it_and_no_rest)
{
    ASSERT_EQ(mkdir(test_path(t, "d"), 0700), 0);
    test_write_file(test_path(t, "d/inside"), "x", 1);
    ASSERT(file_write_atomic(test_path(t, "d"), STR("text"), 0600, &t->err) < 0);
    ASSERT_CONTAINS(test_err_text(t), "Is a directory");
    ASSERT_EQ(entries(test_dir(t)), 1);
    ASSERT_STR(test_read_file(t, test_path(t, "d/inside")), "x");
}

TEST(file_write_atomic_below_what_is_no_directory_says_so)
{
    static const struct {
        const char *path;
        enum err_code code;
    } cases[] = {
        { "missing/f", ERR_NOT_FOUND },
        { "missing/deep/f", ERR_NOT_FOUND },
        { "file/f", ERR_NOT_FOUND },
        { "loop/f", ERR_PATH_DENIED },
    };

    test_write_file(test_path(t, "file"), "x", 1);
    ASSERT_EQ(symlink("loop", test_path(t, "loop")), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *path = test_path(t, cases[i].path);

        ASSERT_FAILS(file_write_atomic(path, STR("text"), 0600, &t->err), cases[i].code);
        ASSERT_CONTAINS(test_err_text(t), path);
    }
    ASSERT_EQ(entries(test_dir(t)), 2);
}

TEST(file_write_atomic_sets_the_mode_whatever_the_umask_and_the_old_file)
{
    static const mode_t modes[] = { 0600, 0644, 0666, 0400, 0755 };
    mode_t before = umask(0077);

    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        struct stat st;

        ASSERT_OK(file_write_atomic(test_path(t, "f"), STR("x"), modes[i], &t->err));
        ASSERT_EQ(stat(test_path(t, "f"), &st), 0);
        ASSERT_EQ(st.st_mode & 07777, modes[i]);
    }
    umask(before);
    ASSERT_EQ(entries(test_dir(t)), 1);
}

TEST(file_write_atomic_leaves_hard_links_and_open_readers_their_text)
{
    AUTO_BUF out = BUF_INIT(100);
    AUTO_FD fd = -1;

    test_write_file(test_path(t, "f"), "old", 3);
    ASSERT_EQ(link(test_path(t, "f"), test_path(t, "other")), 0);
    fd = open(test_path(t, "f"), O_RDONLY | O_CLOEXEC);
    ASSERT_OK(file_write_atomic(test_path(t, "f"), STR("new text"), 0600, &t->err));
    ASSERT_STR(test_read_file(t, test_path(t, "f")), "new text");
    ASSERT_STR(test_read_file(t, test_path(t, "other")), "old");
    ASSERT_OK(file_read_fd(fd, "f", &out, &t->err));
    ASSERT_STR(buf_str(&out), "old");
}

TEST(file_write_atomic_takes_any_bytes_and_none)
{
    struct str odd = STR("a\0b\xff\n");

    ASSERT_OK(file_write_atomic(test_path(t, "f"), odd, 0600, &t->err));
    ASSERT(str_eq(test_read_file(t, test_path(t, "f")), odd));
    ASSERT_OK(file_write_atomic(test_path(t, "f"), STR_NONE, 0600, &t->err));
    ASSERT_EQ(test_read_file(t, test_path(t, "f")).n, 0);
}

TEST(file_write_all_tells_a_closed_reader)
{
    int pipe_fd[2];

    ASSERT_EQ(pipe2(pipe_fd, O_CLOEXEC | O_NONBLOCK), 0);
    ASSERT_EQ(file_write_all(pipe_fd[1], STR("x")), 0);
    ASSERT_EQ(file_write_all(pipe_fd[1], STR_NONE), 0);
    ASSERT_EQ(file_write_all(pipe_fd[0], STR("x")), -1); /* the end that is read */
    close(pipe_fd[0]);
    close(pipe_fd[1]);
    ASSERT_EQ(file_write_all(-1, STR("x")), -1);
    ASSERT_EQ(file_write_all(-1, STR_NONE), 0); /* nothing to write, nothing asked */
}
