/* The forwarder, between real sockets.
 *
 * SPDX-License-Identifier: MIT
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/http_peer.h"
#include "proxy_rig.h"
#include "sandbox/forward.h"

struct forwarder {
    pthread_t thread;
    int listen_fd, stop[2], result;
    uint16_t port;
    const char *path;
};

static void *run(void *arg)
{
    struct forwarder *forwarder = arg;

    forwarder->result = forward_run(forwarder->listen_fd, forwarder->path, forwarder->stop[0]);
    return NULL;
}

static void start(struct forwarder *forwarder, const char *path)
{
    forwarder->path = path;
    ASSERT_EQ(forward_listen(0, &forwarder->listen_fd, &forwarder->port), 0);
    ASSERT_EQ(pipe(forwarder->stop), 0);
    ASSERT_EQ(pthread_create(&forwarder->thread, NULL, run, forwarder), 0);
}

static void stop(struct forwarder *forwarder)
{
    close(forwarder->stop[1]);
    pthread_join(forwarder->thread, NULL);
    ASSERT_EQ(forwarder->result, 0);
    close(forwarder->stop[0]);
    close(forwarder->listen_fd);
}

static int tcp_client(uint16_t port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct timeval patience = { .tv_sec = 20 };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ASSERT_EQ(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    return fd;
}

static int unix_listener(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    ASSERT_EQ(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    ASSERT_EQ(listen(fd, 128), 0);
    return fd;
}

static bool hello(struct peer_conn *conn)
{
    return peer_answer(conn, 200, "", "hello") && !strstr(conn->head, "Connection: close");
}

TEST(a_command_reaches_a_listed_host_through_both)
{
    struct forwarder forwarder;
    struct http_peer peer;
    struct rig rig;
    int fd;

    peer_start(&peer, hello, NULL);
    const char *list[] = { arena_printf(&t->arena, "127.0.0.1:%u", peer.port), NULL };

    rig_start(t, &rig, &(struct proxy_config){ .allow_domains = list }, NULL);
    start(&forwarder, rig.path);
    fd = tcp_client(forwarder.port);
    rig_send(fd, arena_printf(&t->arena, "GET http://127.0.0.1:%u/ HTTP/1.1\r\n\r\n", peer.port));
    ASSERT_CONTAINS(rig_read(t, fd), "hello");
    close(fd);
    fd = tcp_client(forwarder.port);
    rig_send(fd, "GET http://evil.test/ HTTP/1.1\r\n\r\n");
    ASSERT_CONTAINS(rig_read(t, fd), " 403 ");
    close(fd);
    stop(&forwarder);
    rig_stop(t, &rig);
}

TEST(bytes_and_ends_go_both_ways)
{
    const char *path = test_path(t, "s");
    int listener = unix_listener(path), fd, far;
    struct forwarder forwarder;

    start(&forwarder, path);
    fd = tcp_client(forwarder.port);
    far = accept(listener, NULL, NULL);
    rig_send(fd, "there");
    ASSERT_TEXT(rig_read_until(t, far, "there"), "there");
    rig_send(far, "back");
    ASSERT_TEXT(rig_read_until(t, fd, "back"), "back");
    shutdown(fd, SHUT_WR);
    ASSERT_TEXT(rig_read(t, far), "");
    rig_send(far, "still open this way");
    close(far);
    ASSERT_TEXT(rig_read(t, fd), "still open this way");
    close(fd);
    stop(&forwarder);
    close(listener);
}

struct sink {
    int fd;
    size_t n;
};

static void *drain(void *arg)
{
    struct sink *sink = arg;
    char bytes[8192];
    ssize_t n;

    while ((n = read(sink->fd, bytes, sizeof(bytes))) > 0)
        sink->n += (size_t)n;
    return NULL;
}

TEST(much_passes_both_ways_at_once)
{
    const char *path = test_path(t, "s");
    int listener = unix_listener(path), fd, far;
    char *block = arena_alloc(&t->arena, 1000001, 1);
    struct forwarder forwarder;
    struct sink near, away;
    pthread_t threads[2];

    memset(block, 'm', 1000000);
    start(&forwarder, path);
    fd = tcp_client(forwarder.port);
    far = accept(listener, NULL, NULL);
    near = (struct sink){ fd, 0 };
    away = (struct sink){ far, 0 };
    pthread_create(&threads[0], NULL, drain, &near);
    pthread_create(&threads[1], NULL, drain, &away);
    for (int i = 0; i < 4; i++) {
        rig_send(fd, block);
        rig_send(far, block);
    }
    shutdown(fd, SHUT_WR);
    shutdown(far, SHUT_WR);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    ASSERT_EQ(near.n, 4000000);
    ASSERT_EQ(away.n, 4000000);
    close(fd);
    close(far);
    stop(&forwarder);
    close(listener);
}

TEST(more_connections_than_places_wait_their_turn)
{
    const char *path = test_path(t, "s");
    int listener = unix_listener(path), fds[FORWARD_PAIRS_MAX + 1], far[FORWARD_PAIRS_MAX];
    struct forwarder forwarder;
    int last;

    start(&forwarder, path);
    for (int i = 0; i <= FORWARD_PAIRS_MAX; i++)
        fds[i] = tcp_client(forwarder.port);
    for (int i = 0; i < FORWARD_PAIRS_MAX; i++)
        far[i] = accept(listener, NULL, NULL);
    rig_send(fds[FORWARD_PAIRS_MAX], "last");
    ASSERT_EQ(recv(fds[0], &(char){ 0 }, 1, MSG_DONTWAIT), -1);
    close(far[7]);
    ASSERT_TEXT(rig_read(t, fds[7]), "");
    close(fds[7]);
    last = accept(listener, NULL, NULL);
    ASSERT_TEXT(rig_read_until(t, last, "last"), "last");
    close(last);
    stop(&forwarder);
    for (int i = 0; i <= FORWARD_PAIRS_MAX; i++)
        if (i != 7)
            close(fds[i]);
    for (int i = 0; i < FORWARD_PAIRS_MAX; i++)
        if (i != 7)
            close(far[i]);
    close(listener);
}

TEST(without_a_proxy_clients_are_closed_at_once)
{
    struct forwarder forwarder;
    int fd;

    start(&forwarder, test_path(t, "nobody"));
    for (int i = 0; i < 3; i++) {
        fd = tcp_client(forwarder.port);
        ASSERT_TEXT(rig_read(t, fd), "");
        close(fd);
    }
    stop(&forwarder);
}

TEST(wrong_arguments_are_errors)
{
    char path[300];
    uint16_t port;
    int fd, other;

    memset(path, 'x', sizeof(path));
    path[299] = '\0';
    ASSERT_EQ(forward_run(0, path, -1), -ENAMETOOLONG);
    ASSERT_EQ(forward_listen(0, &fd, &port), 0);
    ASSERT_EQ(forward_listen(port, &other, &port), -EADDRINUSE);
    close(fd);
    ASSERT_EQ(forward_run(fd, "x", -1), -EBADF);
}

TEST(the_loopback_device_can_be_brought_up)
{
    int status, pid = fork();

    if (pid == 0) {
        uint16_t port;
        int fd;

        if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
            _exit(77);
        if (forward_loopback_up() < 0 || forward_loopback_up() < 0 ||
            forward_listen(8080, &fd, &port) < 0 || port != 8080)
            _exit(1);
        close(tcp_client(port));
        _exit(0);
    }
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    if (WEXITSTATUS(status) == 77)
        SKIP("no new network namespace here");
    ASSERT_EQ(status, 0);
}

TEST(commands_get_the_proxy_by_every_usual_name)
{
    static const char *const names[] = { "http_proxy", "https_proxy", "all_proxy",
                                         "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY" };
    const char *host[] = { "example.org", "127.0.0.1:8080", NULL };
    struct forward_env env;
    size_t n = 0;

    forward_env(65535, NULL, &env);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        ASSERT_TEXT(env.list[i], arena_printf(&t->arena, "%s=http://127.0.0.1:65535", names[i]));
    ASSERT_TEXT(env.list[6], "no_proxy=localhost,127.0.0.1,::1");
    ASSERT_TEXT(env.list[7], "NO_PROXY=localhost,127.0.0.1,::1");
    while (env.list[n])
        n++;
    ASSERT_EQ(n, 8);
    forward_env(1, host, &env);
    ASSERT_TEXT(env.list[6], "no_proxy=");
}
