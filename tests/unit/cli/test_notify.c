/* Notification of the service manager.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/notify.h"
#include "harness/test.h"

static int listen_at(const char *name)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

    memcpy(address.sun_path, name, strlen(name));
    if (name[0] == '@')
        address.sun_path[0] = '\0';
    if (bind(fd, (struct sockaddr *)&address,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))) < 0)
        FAIL("bind %s", name);
    setenv("NOTIFY_SOCKET", name, 1);
    return fd;
}

static void expect(int fd, const char *text)
{
    char got[64] = "";

    ASSERT(recv(fd, got, sizeof(got) - 1, MSG_DONTWAIT) > 0);
    ASSERT_TEXT(got, text);
}

TEST(the_state_arrives_at_a_socket_file)
{
    int fd = listen_at(test_path(t, "notify"));

    ASSERT_EQ(notify_send("READY=1"), 1);
    expect(fd, "READY=1");
}

TEST(the_state_arrives_in_the_abstract_namespace)
{
    char name[64];
    int fd;

    snprintf(name, sizeof(name), "@dormouse-test-%d", (int)getpid());
    fd = listen_at(name);
    ASSERT_EQ(notify_send("STOPPING=1"), 1);
    expect(fd, "STOPPING=1");
}

TEST(nobody_who_asks_is_no_failure)
{
    unsetenv("NOTIFY_SOCKET");
    ASSERT_EQ(notify_send("READY=1"), 0);
    setenv("NOTIFY_SOCKET", "", 1);
    ASSERT_EQ(notify_send("READY=1"), 0);
}

TEST(a_strange_socket_name_is_refused)
{
    char name[300];

    setenv("NOTIFY_SOCKET", "relative", 1);
    ASSERT_EQ(notify_send("READY=1"), -1);
    ASSERT_EQ(errno, EINVAL);
    memset(name, '/', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    setenv("NOTIFY_SOCKET", name, 1);
    ASSERT_EQ(notify_send("READY=1"), -1);
    setenv("NOTIFY_SOCKET", "/nowhere/at/all", 1);
    ASSERT_EQ(notify_send("READY=1"), -1);
}

TEST(each_state_is_a_datagram_of_its_own)
{
    int fd = listen_at(test_path(t, "notify"));

    ASSERT_EQ(notify_send("READY=1"), 1);
    ASSERT_EQ(notify_send("STATUS=busy\nWATCHDOG=1"), 1);
    ASSERT_EQ(notify_send("STOPPING=1"), 1);
    expect(fd, "READY=1");
    expect(fd, "STATUS=busy\nWATCHDOG=1");
    expect(fd, "STOPPING=1");
    ASSERT(recv(fd, (char[1]){ 0 }, 1, MSG_DONTWAIT) < 0);
}

TEST(a_manager_that_went_away_is_an_error_and_no_signal)
{
    int fd = listen_at(test_path(t, "notify"));

    close(fd);
    ASSERT_EQ(notify_send("READY=1"), -1);
    ASSERT_EQ(errno, ECONNREFUSED);
}
