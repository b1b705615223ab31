/* Clients of other machines, played by this one over an address that is not loopback; and sockets
 * that a service manager opened.
 *
 * SPDX-License-Identifier: MIT
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/address.h"
#include "serve/guard.h"
#include "server.h"

#define STOP_MS 2000

/* An IPv4 address of this machine that others could use. */
static const char *far_ip(struct test *t)
{
    struct ifaddrs *all, *at;
    char text[INET_ADDRSTRLEN] = "";

    ASSERT_EQ(getifaddrs(&all), 0);
    for (at = all; at && !*text; at = at->ifa_next)
        if (at->ifa_addr && at->ifa_addr->sa_family == AF_INET && (at->ifa_flags & IFF_UP) &&
            !address_is_loopback(at->ifa_addr))
            inet_ntop(AF_INET, &((struct sockaddr_in *)at->ifa_addr)->sin_addr, text, sizeof(text));
    freeifaddrs(all);
    if (!*text)
        SKIP("this machine has no address but loopback");
    return arena_text(&t->arena, text);
}

/* Host is the name that the configuration added, as a proxy would send it. */
static int ask_far(struct test *t, struct server *server, const char *ip, const char *path,
                   const char *more)
{
    int fd = client_open_to(server, ip), status;

    client_send_template(
        server, fd,
        arena_printf(&t->arena, "GET %s HTTP/1.1\r\nHost: mouse.example\r\n%s\r\n", path, more));
    status = client_answer(t, fd).status;
    close(fd);
    return status;
}

static const char *const hosts[] = { "mouse.example", NULL };

TEST(other_machines_get_the_page_and_with_the_token_the_rest)
{
    const char *ip = far_ip(t);
    AUTO_BUF said = BUF_INIT(1000);
    struct server *server = server_start_at(t, NULL, "0.0.0.0:0", hosts, &said);

    ASSERT_CONTAINS(buf_text(&said), "can be reached from other machines");
    ASSERT_CONTAINS(buf_text(&said), test_path(t, "token"));
    ASSERT_EQ(ask_far(t, server, ip, "/healthz", ""), 200);
    ASSERT_EQ(ask_far(t, server, ip, "/metrics", ""), 403);
    ASSERT_EQ(ask_far(t, server, ip, "/metrics", "Authorization: Bearer TOKEN\r\n"), 403);
    ASSERT_EQ(ask_far(t, server, ip, "/api/v1/openapi.json", ""), 401);
    ASSERT_EQ(ask_far(t, server, ip, "/api/v1/openapi.json", "Authorization: Bearer TOKEN\r\n"),
              200);
    ASSERT_EQ(ask_far(t, server, "127.0.0.1", "/metrics", ""), 200);
    server_stop(server, STOP_MS);
}

TEST(another_machine_that_guesses_tokens_has_to_wait)
{
    const char *ip = far_ip(t);
    struct server *server = server_start_at(t, NULL, "0.0.0.0:0", hosts, NULL);
    static const char path[] = "/api/v1/openapi.json";
    static const char *const wrong[] = { "Authorization: Bearer x\r\n",
                                         "Authorization: Basic x\r\n",
                                         "Cookie: dormouse_PORT=v1.9.x\r\n" };
    int fd;
    struct answer answer;

    for (int i = 0; i < GUARD_FAILURES_MAX; i++)
        ASSERT_EQ(ask_far(t, server, ip, path, wrong[i % 3]), 401);
    /* The right token, too: else the answer would tell the guesser. */
    ASSERT_EQ(ask_far(t, server, ip, path, "Authorization: Bearer TOKEN\r\n"), 429);
    fd = client_open_to(server, ip);
    client_send_template(server, fd, "GET /api/v1/events HTTP/1.1\r\nHost: mouse.example\r\n\r\n");
    answer = client_answer(t, fd);
    ASSERT_EQ(answer.status, 429);
    ASSERT_TEXT(answer_header(t, &answer, "Retry-After"), "60");
    close(fd);
    ASSERT_EQ(ask_far(t, server, ip, "/healthz", ""), 200);
    ASSERT_EQ(ask_far(t, server, "127.0.0.1", path, "Authorization: Bearer TOKEN\r\n"), 200);
    server_stop(server, STOP_MS);
}

TEST(one_other_machine_can_not_take_all_connections)
{
    const char *ip = far_ip(t);
    struct serve_limits limits = { .connections_per_ip = 3 };
    struct server *server = server_start_at(t, &limits, "0.0.0.0:0", hosts, NULL);
    int fds[3];

    for (int i = 0; i < 3; i++) {
        fds[i] = client_open_to(server, ip);
        client_send_template(server, fds[i],
                             "GET /healthz HTTP/1.1\r\nHost: mouse.example\r\n\r\n");
        ASSERT_EQ(client_answer(t, fds[i]).status, 200);
    }
    ASSERT_EQ(ask_far(t, server, ip, "/healthz", ""), 0); /* refused without a word */
    ASSERT_EQ(metric(t, server, "http_connections_refused_total"), 1);
    ASSERT_EQ(metric(t, server, "http_connections"), 4);
    close(fds[1]);
    while (metric(t, server, "http_connections") > 3)
        ;
    ASSERT_EQ(ask_far(t, server, ip, "/healthz", ""), 200);
    close(fds[0]), close(fds[2]);
    server_stop(server, STOP_MS);
}

TEST(bad_names_in_the_configuration_are_refused_at_start)
{
    static const char *const bad[] = { "fine.example", "not a name", NULL };
    struct serve_config config = { .listen = "127.0.0.1:0",
                                   .token_path = test_path(t, "token"),
                                   .hosts = bad };
    AUTO(loop) loop = NULL;
    struct serve *serve = NULL;

    ASSERT_OK(loop_new(NULL, &loop, &t->err));
    ASSERT_FAILS(serve_start(loop, &config, &serve, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "server.hosts");
    ASSERT_CONTAINS(test_err_text(t), "not a name");
}

/* ---- inherited sockets ---- */

static void inherit(struct test *t, const int *fds, int count)
{
    for (int i = 0; i < count; i++)
        ASSERT_EQ(dup2(fds[i], 3 + i), 3 + i);
    setenv("LISTEN_PID", arena_printf(&t->arena, "%d", getpid()), 1);
    setenv("LISTEN_FDS", arena_printf(&t->arena, "%d", count), 1);
}

static int listen_on(struct test *t, const char *text)
{
    struct address address;
    int fd;

    ASSERT_OK(address_parse(str_from(text), &address, &t->err));
    ASSERT_OK(address_listen(&address, &fd, &t->err));
    return fcntl(fd, F_DUPFD, 20); /* out of the way of 3, 4, ... */
}

TEST(inherited_sockets_are_served_each_in_its_own_way)
{
    const char *path = test_path(t, "inherited.sock");
    struct sockaddr_un sa = { .sun_family = AF_UNIX };
    int fds[2] = { listen_on(t, "127.0.0.1:0"), -1 }, fd;
    struct server *server;

    ASSERT_OK(address_listen_unix(path, &fd, &t->err));
    fds[1] = fcntl(fd, F_DUPFD, 20);
    inherit(t, fds, 2);
    server = server_start_at(t, NULL, NULL, NULL, NULL);
    ASSERT(getenv("LISTEN_FDS") == NULL);
    ASSERT_EQ(ask(t, server, "GET", "/healthz", false, NULL, NULL).status, 200);
    ASSERT_EQ(ask(t, server, "GET", "/api/v1/openapi.json", false, NULL, NULL).status, 401);
    snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    ASSERT_EQ(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
    client_send(fd, "GET /api/v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n");
    ASSERT_EQ(client_answer(t, fd).status, 200);
    close(fd);
    server_stop(server, STOP_MS);
}

static void expect_no_start(struct test *t, int count, const char *why)
{
    struct serve_config config = { .inherit = true, .token_path = test_path(t, "token") };
    struct serve *serve = NULL;
    AUTO(loop) loop = NULL;
    int fds[4];

    for (int i = 0; i < count; i++)
        fds[i] = fcntl(STDIN_FILENO, F_DUPFD, 20);
    inherit(t, fds, count); /* before the loop takes these numbers for its own */
    ASSERT_OK(loop_new(NULL, &loop, &t->err));
    ASSERT_FAILS(serve_start(loop, &config, &serve, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), why);
    err_reset(&t->err);
}

TEST(inherited_descriptors_that_can_not_be_served_stop_the_start)
{
    expect_no_start(t, 1, "ListenStream=");
    expect_no_start(t, 4, "at most 3");
}
