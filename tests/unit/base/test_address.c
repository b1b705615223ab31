/* SPDX-License-Identifier: MIT */
#include "base/address.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "harness/test.h"

TEST(address_reads_every_form_and_writes_it_back)
{
    static const struct {
        const char *text, *shown;
        bool loopback;
    } cases[] = {
        { "127.0.0.1:7117", "127.0.0.1:7117", true },
        { "127.0.0.1", "127.0.0.1:7117", true },
        { "localhost", "127.0.0.1:7117", true },
        { "LocalHost:80", "127.0.0.1:80", true },
        { "127.9.9.9:0", "127.9.9.9:0", true },
        { "[::1]:65535", "[::1]:65535", true },
        { "[::1]", "[::1]:7117", true },
        { "[::ffff:127.0.0.1]:1", "[::ffff:127.0.0.1]:1", true },
        { "0.0.0.0:7117", "0.0.0.0:7117", false },
        { "[::]:7117", "[::]:7117", false },
        { "192.168.1.2:1", "192.168.1.2:1", false },
        { "128.0.0.1:1", "128.0.0.1:1", false },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct address address;
        char shown[ADDRESS_TEXT_MAX];

        ASSERT_OK(address_parse(str_from(cases[i].text), &address, &t->err));
        ASSERT_TEXT(address_format((struct sockaddr *)&address.sa, shown), cases[i].shown);
        ASSERT_EQ(address_is_loopback((struct sockaddr *)&address.sa), cases[i].loopback);
    }
}

TEST(address_refuses_what_it_does_not_understand_and_says_what_it_would)
{
    static const char *const bad[] = { "",
                                       ":7117",
                                       "::1",
                                       "[::1",
                                       "[::1]7117",
                                       "127.0.0.1:",
                                       "127.0.0.1:x",
                                       "127.0.0.1:65536",
                                       "127.0.0.1:-1",
                                       "1.2.3",
                                       "example.com",
                                       "example.com:80",
                                       "[127.0.0.1]:1",
                                       "127.0.0.1:1:1",
                                       "256.0.0.1",
                                       "127.0.0.1:000080" };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct address address;

        ASSERT_FAILS(address_parse(str_from(bad[i]), &address, &t->err), ERR_BAD_REQUEST);
        ASSERT_CONTAINS(test_err_text(t), "127.0.0.1:7117");
        err_reset(&t->err);
    }
    struct address address;
    ASSERT_FAILS(address_parse(STR("127.0.0.1\0:80"), &address, &t->err), ERR_BAD_REQUEST);
}

TEST(address_says_what_to_do_when_the_port_is_taken)
{
    struct address address;
    struct sockaddr_storage sa;
    socklen_t n = sizeof(sa);
    char text[ADDRESS_TEXT_MAX];
    int first, second;

    ASSERT_OK(address_parse(STR("127.0.0.1:0"), &address, &t->err));
    ASSERT_OK(address_listen(&address, &first, &t->err));
    getsockname(first, (struct sockaddr *)&sa, &n);
    address_format((struct sockaddr *)&sa, text);
    ASSERT_OK(address_parse(str_from(text), &address, &t->err));
    ASSERT_FAILS(address_listen(&address, &second, &t->err), ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), text);
    ASSERT_CONTAINS(test_err_text(t), "--listen 127.0.0.1:PORT");
    close(first);
}

TEST(address_says_when_it_is_not_of_this_machine)
{
    struct address address;
    int fd;

    ASSERT_OK(address_parse(STR("192.0.2.1:7117"), &address, &t->err));
    ASSERT_FAILS(address_listen(&address, &fd, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "not an address of this machine");
}

TEST(unix_socket_is_for_its_owner_and_replaces_a_dead_one)
{
    const char *path = test_path(t, "s.sock");
    struct stat st;
    int fd;

    for (int round = 0; round < 2; round++) {
        ASSERT_OK(address_listen_unix(path, &fd, &t->err));
        ASSERT_EQ(stat(path, &st), 0);
        ASSERT_EQ(st.st_mode & 0777, 0600);
        ASSERT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        close(fd); /* the file stays, as after a crash */
    }
}

TEST(unix_socket_leaves_other_files_alone)
{
    const char *path = test_path(t, "precious");
    int fd;

    test_write_file(path, "x", 1);
    ASSERT_FAILS(address_listen_unix(path, &fd, &t->err), ERR_CONFLICT);
    ASSERT_STR(test_read_file(t, path), "x");
}

TEST(unix_socket_name_that_is_too_long_is_named)
{
    const char *path = arena_printf(&t->arena, "%s/%0120d", test_dir(t), 7);
    int fd;

    ASSERT_FAILS(address_listen_unix(path, &fd, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "too long for the name of a socket");
}

TEST(unix_socket_may_lie_in_a_deep_directory)
{
    const char *dir = arena_printf(&t->arena, "%s/%0120d", test_dir(t), 7);
    const char *path = arena_printf(&t->arena, "%s/s.sock", dir);
    struct stat st;
    int fd;

    ASSERT_EQ(mkdir(dir, 0700), 0);
    ASSERT_OK(address_listen_unix(path, &fd, &t->err));
    ASSERT_EQ(stat(path, &st), 0);
    ASSERT(S_ISSOCK(st.st_mode));
    ASSERT_EQ(st.st_mode & 0777, 0600);
    close(fd);
}

static void set_inherited(int count)
{
    char text[16];

    snprintf(text, sizeof(text), "%d", getpid());
    setenv("LISTEN_PID", text, 1);
    snprintf(text, sizeof(text), "%d", count);
    setenv("LISTEN_FDS", text, 1);
}

TEST(inherited_sockets_are_taken_once)
{
    struct address address;
    int fd, fds[2];

    ASSERT_EQ(address_inherited(fds, 2, &t->err), 0);
    ASSERT_OK(address_parse(STR("127.0.0.1:0"), &address, &t->err));
    ASSERT_OK(address_listen(&address, &fd, &t->err));
    ASSERT_EQ(dup2(fd, 3), 3);
    set_inherited(1);
    ASSERT_EQ(address_inherited(fds, 2, &t->err), 1);
    ASSERT_EQ(fds[0], 3);
    ASSERT(fcntl(3, F_GETFD) & FD_CLOEXEC);
    ASSERT(getenv("LISTEN_FDS") == NULL);
    ASSERT_EQ(address_inherited(fds, 2, &t->err), 0);
}

TEST(inherited_descriptors_that_are_not_listening_sockets_are_refused)
{
    int pair[2], fds[2];

    ASSERT_EQ(pipe(pair), 0);
    dup2(pair[0], 3);
    set_inherited(1);
    ASSERT_FAILS(address_inherited(fds, 2, &t->err), ERR_BAD_REQUEST);
    set_inherited(3);
    ASSERT_FAILS(address_inherited(fds, 2, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "at most 2");
    setenv("LISTEN_PID", "1", 1); /* meant for another process */
    ASSERT_EQ(address_inherited(fds, 2, &t->err), 0);
}
