/* Clients that mean harm, or are broken. While each does its worst, an ordinary client is asked to
 * be answered within 50 ms.
 *
 * SPDX-License-Identifier: MIT
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "server.h"

#define STOP_MS      2000
#define ANSWER_MS    50
#define ANSWER_TRIES 20
#define IDLE_WANT    10000
#define BROKEN_OFF   "POST /api/v1/test/public HTTP/1.1\r\nHost: HERE\r\n"

/* One of many within the time: another process may have had the processor, the server may not. One
 * that is held up by the abuse is late every time. */
static void assert_quick(struct test *t, struct server *server)
{
    int64_t best = INT64_MAX;

    for (int i = 0; i < ANSWER_TRIES && best > ANSWER_MS; i++) {
        int64_t began = now_ms(), took;

        ASSERT_EQ(ask(t, server, "GET", "/healthz", false, NULL, NULL).status, 200);
        took = now_ms() - began;
        best = took < best ? took : best;
    }
    if (best > ANSWER_MS)
        FAIL("the best of %d ordinary requests took %lld ms", ANSWER_TRIES, (long long)best);
}

TEST(slow_heads_are_cut_however_steadily_they_drip)
{
    struct serve_limits limits = { .header_ms = 300 };
    struct server *server = server_start(t, &limits);
    int fds[50];
    int64_t began = now_ms();

    for (int i = 0; i < 50; i++) {
        fds[i] = client_open(server);
        if (i % 2)
            client_send(fds[i], "GET / HTTP/1.1\r\n");
    }
    while (now_ms() - began < 250) {
        for (int i = 0; i < 50; i++)
            client_send(fds[i], i % 2 ? "X-A: b\r\n" : "G");
        assert_quick(t, server);
        usleep(10 * 1000); /* the drip */
    }
    for (int i = 0; i < 50; i++) {
        struct answer answer = client_answer(t, fds[i]);

        ASSERT(answer.status == 408 || answer.status == 0);
        close(fds[i]);
    }
    ASSERT(now_ms() - began < 10000);
    ASSERT(metric(t, server, "http_timeouts_total") >= 50);
    server_stop(server, STOP_MS);
}

TEST(slow_bodies_are_cut)
{
    struct serve_limits limits = { .header_ms = 200, .body_ms = 200 };
    struct server *server = server_start(t, &limits);
    int fd = client_open(server);

    client_request(server, fd, "POST", "/api/v1/test/echo", true, "Content-Length: 1000\r\n", NULL);
    client_send(fd, "some");
    assert_quick(t, server);
    ASSERT_EQ(client_answer(t, fd).status, 408);
    ASSERT(client_closed(fd));
    close(fd);
    server_stop(server, STOP_MS);
}

TEST(idle_connections_end_after_a_while)
{
    struct serve_limits limits = { .header_ms = 400, .idle_ms = 100 };
    struct server *server = server_start(t, &limits);
    int fd = client_open(server);

    client_request(server, fd, "GET", "/healthz", false, NULL, NULL);
    ASSERT_EQ(client_answer(t, fd).status, 200);
    ASSERT(client_closed(fd));
    close(fd);
    server_stop(server, STOP_MS);
}

/* A 408 that nobody asked for would be read as the answer to the next request. */
TEST(a_connection_without_a_request_ends_without_a_word)
{
    struct serve_limits limits = { .header_ms = 100, .idle_ms = 100 };
    struct server *server = server_start(t, &limits);
    int silent = client_open(server), kept = client_open(server), begun = client_open(server);
    char c;

    client_request(server, kept, "GET", "/healthz", false, NULL, NULL);
    ASSERT_EQ(client_answer(t, kept).status, 200);
    client_send(begun, "GET / HTTP/1.1\r\n");
    ASSERT_EQ(recv(silent, &c, 1, 0), 0);
    ASSERT_EQ(recv(kept, &c, 1, 0), 0);
    ASSERT_EQ(client_answer(t, begun).status, 408);
    close(silent);
    close(kept);
    close(begun);
    server_stop(server, STOP_MS);
}

TEST(readers_that_never_take_their_answer_are_cut)
{
    struct serve_limits limits = { .header_ms = 200, .reply_ms = 300 };
    struct server *server = server_start(t, &limits);
    int fd = client_open(server), small = 4096;

    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    client_request(server, fd, "GET", "/api/v1/test/big", true, NULL, NULL);
    while (metric(t, server, "http_connections") > 1)
        ;
    ASSERT(metric(t, server, "http_timeouts_total") >= 1);
    close(fd);
    server_stop(server, STOP_MS);
}

/* In a process of its own, so that descriptors suffice for both ends: connects count times to the
 * port that it reads, says so, and stays until it is told to go. */
static void crowd_main(int orders, int news, unsigned count)
{
    struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    unsigned port = 0, made = 0;

    if (read(orders, &port, sizeof(port)) != sizeof(port))
        _exit(1);
    sa.sin_port = htons((uint16_t)port);
    for (; made < count; made++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);

        if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
            break;
    }
    if (write(news, &made, sizeof(made)) != sizeof(made))
        _exit(1);
    while (read(orders, &port, sizeof(port)) < 0)
        ;
    _exit(0);
}

struct crowd {
    pid_t pid;
    int orders, news;
};

/* To be called before there are threads. */
static struct crowd crowd_start(unsigned count)
{
    int orders[2], news[2];
    struct crowd crowd;

    ASSERT(pipe(orders) == 0 && pipe(news) == 0);
    crowd.pid = fork();
    ASSERT(crowd.pid >= 0);
    if (crowd.pid == 0) {
        close(orders[1]);
        crowd_main(orders[0], news[1], count);
    }
    close(orders[0]);
    close(news[1]);
    crowd.orders = orders[1];
    crowd.news = news[0];
    return crowd;
}

static void crowd_go(struct crowd *crowd)
{
    close(crowd->orders);
    ASSERT_EQ(waitpid(crowd->pid, NULL, 0), crowd->pid);
    close(crowd->news);
}

/* How many connections one process can have, up to IDLE_WANT. */
static unsigned descriptors(void)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max >= IDLE_WANT + 500)
        return IDLE_WANT;
    printf("  fewer connections: the system allows %llu descriptors\n",
           (unsigned long long)limit.rlim_max);
    return (unsigned)limit.rlim_max - 500;
}

TEST(ten_thousand_idle_connections_leave_room_for_others, .timeout_s = 240)
{
    unsigned count = descriptors(), port, made = 0;
    struct crowd crowd = crowd_start(count);
    struct serve_limits limits = { .connections = count + 300, .header_ms = MINUTES(10) };
    struct server *server = server_start(t, &limits);
    size_t before, grown;

    assert_quick(t, server);
    before = resident_bytes();
    port = server_port(server);
    ASSERT_EQ(write(crowd.orders, &port, sizeof(port)), sizeof(port));
    for (int i = 0; i < 20; i++)
        assert_quick(t, server); /* while they come */
    ASSERT_EQ(read(crowd.news, &made, sizeof(made)), sizeof(made));
    ASSERT_EQ(made, count);
    while (metric(t, server, "http_connections") <= (int64_t)count)
        ;
    assert_quick(t, server);
    grown = resident_bytes() - before;
    printf("  %u idle connections: %zu MB, %zu bytes each\n", count, grown >> 20, grown / count);
    ASSERT(grown < (size_t)count * 16 * KIB);
    crowd_go(&crowd);
    assert_quick(t, server);
    while (metric(t, server, "http_connections") > 1)
        ;
    server_stop(server, STOP_MS);
}

TEST(at_the_cap_the_longest_idle_connection_makes_room)
{
    struct serve_limits limits = { .connections = 40 };
    struct server *server = server_start(t, &limits);
    int fds[100];

    for (int i = 0; i < 100; i++) {
        fds[i] = client_open(server);
        if (i % 10 == 0)
            assert_quick(t, server);
    }
    ASSERT(client_closed(fds[0]));
    assert_quick(t, server);
    for (int i = 0; i < 100; i++)
        close(fds[i]);
    server_stop(server, STOP_MS);
}

TEST(oversized_heads_and_targets_are_refused)
{
    struct server *server = server_start(t, NULL);
    char *big = arena_alloc(&t->arena, 20001, 1);
    int fd;
    struct answer answer;

    memset(big, 'a', 20000);
    fd = client_open(server);
    client_send(fd, "GET /%s HTTP/1.1\r\nHost: x\r\n\r\n", big);
    answer = client_answer(t, fd);
    ASSERT_EQ(answer.status, 414);
    close(fd);
    fd = client_open(server);
    client_send(fd, "GET / HTTP/1.1\r\nHost: x\r\nX-Big: %s\r\n\r\n", big);
    answer = client_answer(t, fd);
    ASSERT_EQ(answer.status, 431);
    close(fd);
    fd = client_open(server);
    client_send(fd, "GET / HTTP/1.1\r\nHost: x\r\n");
    for (int i = 0; i < 1000; i++)
        client_send(fd, "X-%d: y\r\n", i);
    answer = client_answer(t, fd);
    ASSERT(answer.status == 431 || answer.status == 0);
    close(fd);
    assert_quick(t, server);
    server_stop(server, STOP_MS);
}

TEST(oversized_bodies_are_refused_before_they_are_taken)
{
    struct server *server = server_start(t, NULL);
    int fd = client_open(server);
    char *chunk = arena_alloc(&t->arena, 65537, 1);
    struct answer answer;

    client_request(server, fd, "POST", "/api/v1/test/echo", true,
                   "Content-Length: 99999999999\r\nExpect: 100-continue\r\n", NULL);
    answer = client_answer(t, fd);
    ASSERT_EQ(answer.status, 413);
    ASSERT_CONTAINS(answer.body.p, "1048576");
    close(fd);
    /* A small one that is not wanted is read, and the connection lives on. */
    fd = client_open(server);
    client_request(server, fd, "POST", "/api/v1/test/public", false, NULL,
                   memset(arena_alloc(&t->arena, 2001, 1), 'x', 2000));
    ASSERT_EQ(client_answer(t, fd).status, 413);
    client_request(server, fd, "GET", "/healthz", false, NULL, "no body here");
    ASSERT_EQ(client_answer(t, fd).status, 413);
    client_request(server, fd, "GET", "/healthz", false, NULL, NULL);
    ASSERT_EQ(client_answer(t, fd).status, 200);
    close(fd);
    /* Chunked: known only when it has become too much. */
    fd = client_open(server);
    memset(chunk, 'c', 65536);
    client_request(server, fd, "POST", "/api/v1/test/echo", true, "Transfer-Encoding: chunked\r\n",
                   NULL);
    for (int i = 0; i < 20; i++)
        client_send(fd, "10000\r\n%s\r\n", chunk);
    answer = client_answer(t, fd);
    ASSERT(answer.status == 413 || answer.status == 0);
    close(fd);
    assert_quick(t, server);
    server_stop(server, STOP_MS);
}

/* Whether or not they get an answer, they get no good one. test_framing.c has those that matter. */
TEST(rubbish_is_refused_and_nobody_else_suffers)
{
    static const char *const bad[] = {
        "\r\n\r\n\r\n\r\nrubbish\r\n\r\n",
        "GET\r\n\r\n",
        "GET /\r\n\r\n",
        "GET / HTTP/9.9\r\nHost: HERE\r\n\r\n",
        "GET\t/\tHTTP/1.1\r\nHost: HERE\r\n\r\n",
        "GET /a b HTTP/1.1\r\nHost: HERE\r\n\r\n",
        "GET / HTTP/1.1\r\nHost\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: HERE\r\n folded: x\r\n\r\n",
        "G\1T / HTTP/1.1\r\nHost: HERE\r\n\r\n",
        "GET relative HTTP/1.1\r\nHost: HERE\r\n\r\n",
        "GET https://HERE/ HTTP/1.1\r\nHost: HERE\r\n\r\n",
        "CONNECT HERE HTTP/1.1\r\nHost: HERE\r\n\r\n",
        "TRACE /healthz HTTP/1.1\r\nHost: HERE\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "\x16\x03\x01\x02\x01\x01\xfc\x03\x03", /* TLS */
        BROKEN_OFF "Content-Length: 5\r\n\r\nhalf",
        BROKEN_OFF "Transfer-Encoding: chunked\r\n\r\n5\r\nha",
    };
    struct serve_limits limits = { .header_ms = 300, .body_ms = 300 };
    struct server *server = server_start(t, &limits);

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int fd = client_open(server);
        struct answer answer;

        client_send_template(server, fd, bad[i]);
        answer = client_answer(t, fd);
        if (answer.status >= 200 && answer.status < 400)
            test_case_failed("%s: %d %.*s", bad[i], answer.status, STR_ARG(answer.body));
        else
            test_case_passed();
        close(fd);
    }
    assert_quick(t, server);
    server_stop(server, STOP_MS);
}

TEST(half_closed_and_vanishing_clients_cost_nothing)
{
    struct serve_limits limits = { .header_ms = 1000, .idle_ms = 200 };
    struct server *server = server_start(t, &limits);
    int fd = client_open(server);

    /* Half-closed after asking: still answered. */
    client_request(server, fd, "GET", "/healthz", false, NULL, NULL);
    shutdown(fd, SHUT_WR);
    ASSERT_EQ(client_answer(t, fd).status, 200);
    close(fd);
    for (int i = 0; i < 200; i++) {
        struct linger hard = { .l_onoff = 1 };

        fd = client_open(server);
        client_request(server, fd, "GET", i % 2 ? "/api/v1/test/big" : "/api/v1/test/feed", true,
                       NULL, NULL);
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
        close(fd); /* a reset, while the answer is on its way */
    }
    while (metric(t, server, "http_connections") > 1)
        ;
    assert_quick(t, server);
    server_stop(server, STOP_MS);
}

TEST(wrong_tokens_do_not_lock_the_owner_out)
{
    struct server *server = server_start(t, NULL);

    for (int i = 0; i < 50; i++)
        ASSERT_EQ(ask(t, server, "GET", "/api/v1/openapi.json", false,
                      "Authorization: Bearer x\r\n", NULL)
                      .status,
                  401);
    ASSERT_EQ(ask(t, server, "GET", "/api/v1/openapi.json", true, NULL, NULL).status, 200);
    server_stop(server, STOP_MS);
}
