/* sse.fanout: events per second to 100 SSE clients, against a bare loop that writes the same bytes
 * to the same kind of sockets. A second process reads everything.
 *
 * SPDX-License-Identifier: MIT
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "serve/feed.h"
#include "serve/serve.h"

#define CLIENTS 100
#define EVENTS  2000
#define ROUNDS  5
#define TARGET  0.5
#define BACKLOG (256 * KIB)

static char data[201];

/* ---- the reading process ---- */

static int connect_to(unsigned port)
{
    struct sockaddr_in sa = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
        exit(1);
    return fd;
}

static void read_all(unsigned sse_port, unsigned bare_port)
{
    static char bytes[65536];
    int epoll = epoll_create1(EPOLL_CLOEXEC);

    for (int i = 0; i < 2 * CLIENTS; i++) {
        int fd = connect_to(i < CLIENTS ? sse_port : bare_port);
        struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

        if (i < CLIENTS)
            dprintf(fd, "GET /feed HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", sse_port);
        epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    }
    for (;;) {
        struct epoll_event events[CLIENTS];
        int n = epoll_wait(epoll, events, CLIENTS, -1);

        for (int i = 0; i < n; i++)
            if (read(events[i].data.fd, bytes, sizeof(bytes)) == 0)
                _exit(0);
    }
}

/* ---- the writing one ---- */

static struct serve_feed *feed;
static int bare[CLIENTS];
static struct loop *bench_loop;
static struct loop_tick_hook hook;
static unsigned published, rounds_done;
static int64_t began_ns;
static double ours[ROUNDS], theirs[ROUNDS];

static int64_t now_ns(void)
{
    return clock_mono_ns(clock_system());
}

/* The bytes of one event on the wire, as the server makes them. */
static size_t wire(char *out, size_t size)
{
    char event[300];
    int n = snprintf(event, sizeof(event), "id: 1000\nevent: word\ndata: %s\n\n", data);

    return (size_t)snprintf(out, size, "%x\r\n%s\r\n", (unsigned)n, event);
}

static void write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t r = send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (r > 0) {
            bytes += r;
            n -= (size_t)r;
        } else if (errno == EAGAIN) {
            struct pollfd wait = { .fd = fd, .events = POLLOUT };

            poll(&wait, 1, -1);
        } else {
            exit(1);
        }
    }
}

static double run_bare(void)
{
    char bytes[512];
    size_t n = wire(bytes, sizeof(bytes));
    int64_t start = now_ns();

    for (int e = 0; e < EVENTS; e++)
        for (int i = 0; i < CLIENTS; i++)
            write_all(bare[i], bytes, n);
    return EVENTS * 1e9 / (double)(now_ns() - start);
}

/* One event a tick: publishing twenty at once would let writev() do the server's work. */
static void on_tick(struct loop_tick_hook *self)
{
    (void)self;
    loop_wake(bench_loop);
    if (serve_feed_clients(feed) < CLIENTS)
        return;
    if (published == 0)
        began_ns = now_ns();
    if (published < EVENTS) {
        if (serve_feed_backlog(feed) < BACKLOG) {
            serve_feed_publish(feed, 1000, "word", str_from(data));
            published++;
        }
        return;
    }
    if (serve_feed_backlog(feed) > 0)
        return;
    ours[rounds_done] = EVENTS * 1e9 / (double)(now_ns() - began_ns);
    theirs[rounds_done++] = run_bare();
    published = 0;
    if (rounds_done == ROUNDS)
        loop_stop(bench_loop);
}

static void run_feed(struct serve_request *request)
{
    serve_feed_open_sse(feed, request);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int listen_bare(unsigned *ret_port)
{
    struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof(sa);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (fd < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 || listen(fd, CLIENTS) < 0)
        exit(1);
    getsockname(fd, (struct sockaddr *)&sa, &n);
    *ret_port = ntohs(sa.sin_port);
    return fd;
}

int main(void)
{
    static const struct serve_route routes[] = {
        { "GET", "/feed", run_feed, SERVE_PUBLIC, SERVE_SSE, 0, "A feed." },
    };
    static const struct serve_routes tables[] = { { routes, 1, NULL } };
    char token[] = "/tmp/dormouse-bench-token-XXXXXX";
    struct serve_config config = {
        .listen = "127.0.0.1:0", .token_path = token, .routes = tables, .route_tables = 1
    };
    struct err err = ERR_INIT;
    struct serve *serve;
    unsigned bare_port;
    int listener = listen_bare(&bare_port), made = mkstemp(token);
    double ratio;
    pid_t reader;

    close(made);
    unlink(token);
    memset(data, 'd', sizeof(data) - 1);
    hook.after_tick = on_tick;
    if (loop_new(NULL, &bench_loop, &err) < 0)
        return 1;
    loop_add_tick_hook(bench_loop, &hook);
    if (serve_start(bench_loop, &config, &serve, &err) < 0)
        return 1;
    feed = serve_feed_new(serve, "bench", NULL, NULL);
    reader = fork();
    if (reader == 0)
        read_all(serve_port(serve), bare_port);
    for (int i = 0; i < CLIENTS; i++)
        bare[i] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    loop_run(bench_loop, &err);
    kill(reader, SIGKILL);
    waitpid(reader, NULL, 0);
    unlink(token);
    qsort(ours, ROUNDS, sizeof(*ours), by_value);
    qsort(theirs, ROUNDS, sizeof(*theirs), by_value);
    ratio = ours[ROUNDS / 2] / theirs[ROUNDS / 2];
    printf(
        "{\"bench\":\"sse.fanout\",\"clients\":%d,\"value\":%.0f,\"unit\":\"events/"
        "s\",\"yardstick\":"
        "\"bare send loop\",\"yardstick_value\":%.0f,\"ratio\":%.2f,\"target\":%.2f,\"ok\":%s}\n",
        CLIENTS, ours[ROUNDS / 2], theirs[ROUNDS / 2], ratio, TARGET,
        ratio >= TARGET ? "true" : "false");
    return ratio >= TARGET ? 0 : 1;
}
