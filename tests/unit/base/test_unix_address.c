/* Unix sockets at paths longer than the system's struct.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unix_address.h"
#include "harness/test.h"

/* A path of exactly n bytes below the test's directory, whose directories exist. */
static const char *path_of(struct test *t, size_t n)
{
    char *path = arena_alloc(&t->arena, n + 1, 1);
    size_t at = (size_t)snprintf(path, n + 1, "%s", test_dir(t));

    while (at + 2 + 60 < n) {
        at += (size_t)snprintf(path + at, n + 1 - at, "/%059d", 0);
        mkdir(path, 0700);
    }
    path[at++] = '/';
    while (at < n)
        path[at++] = 's';
    path[n] = '\0';
    return path;
}

static int listening(const struct unix_address *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ASSERT_EQ(bind(fd, (const struct sockaddr *)&address->sa, sizeof(address->sa)), 0);
    ASSERT_EQ(listen(fd, 1), 0);
    return fd;
}

static int connected(const struct unix_address *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int r = connect(fd, (const struct sockaddr *)&address->sa, sizeof(address->sa));

    close(fd);
    return r;
}

TEST(sockets_meet_at_paths_around_and_beyond_the_limit)
{
    static const size_t lengths[] = { 90, 106, 107, 108, 109, 140, 300, 1000 };

    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        AUTO_UNIX_ADDRESS server = UNIX_ADDRESS_INIT, client = UNIX_ADDRESS_INIT;
        const char *path = path_of(t, lengths[i]);
        struct stat st;
        int fd;

        ASSERT_EQ(strlen(path), lengths[i]);
        ASSERT_OK(unix_address_init(&server, path, &t->err));
        fd = listening(&server);
        ASSERT_EQ(stat(path, &st), 0);
        ASSERT(S_ISSOCK(st.st_mode));
        ASSERT_OK(unix_address_init(&client, path, &t->err));
        ASSERT_EQ(connected(&client), 0);
        close(fd);
        ASSERT_EQ(connected(&client), -1);
    }
}

TEST(a_short_path_needs_no_directory)
{
    AUTO_UNIX_ADDRESS address = UNIX_ADDRESS_INIT;

    ASSERT_OK(unix_address_init(&address, "/nowhere/at/all", &t->err));
    ASSERT_EQ(address.dir_fd, -1);
    ASSERT_TEXT(address.sa.sun_path, "/nowhere/at/all");
}

TEST(paths_that_no_socket_can_have_are_refused)
{
    AUTO_UNIX_ADDRESS address = UNIX_ADDRESS_INIT;
    const char *name = arena_printf(&t->arena, "%0120d", 1);

    ASSERT_FAILS(unix_address_init(&address, name, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(unix_address_init(&address, arena_printf(&t->arena, "/tmp/%s", name), &t->err),
                 ERR_BAD_REQUEST);
    ASSERT_FAILS(
        unix_address_init(&address, arena_printf(&t->arena, "/no-such/%s/s", name), &t->err),
        ERR_NOT_FOUND);
    ASSERT_FAILS(unix_address_init(&address, arena_printf(&t->arena, "/%05000d/s", 1), &t->err),
                 ERR_BAD_REQUEST);
    ASSERT_EQ(address.dir_fd, -1);
}
