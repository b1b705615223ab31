/* sse.stream: a scripted answer of 10,000 tokens to one client of POST /run: tokens per second as
 * fast as they come, and what a token that comes by itself takes from the model to the client. Next
 * to it a bare socket in the same loop that is given the same bytes at the same moments. A second
 * process reads; each token carries the time it was said at.
 *
 * SPDX-License-Identifier: MIT
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "db/migrations.h"
#include "run/run.h"
#include "serve/api.h"
#include "serve/serve.h"

#define TOKENS      10000
#define SLOW_TOKENS 1000
#define A_TICK      64 /* deltas that a provider hands over at once */
#define EVENT_BYTES 420

struct bench {
    char dir[64], token[96], database[96];
    struct domain *domain;
    struct loop *loop;
    struct change *change;
    struct kill_switches *kill;
    struct model_gateway *models;
    struct tool_bed *tools;
    struct runner *runner;
    struct api *api;
    struct serve *serve;
    struct loop_timer next;
    const struct model_sink *sink; /* of the answer under way */
    void *sink_arg;
    unsigned left;
    bool slowly;
    int bare;
    pid_t reader;
};

static struct bench bench;

static void must(int r, const struct err *err, const char *what)
{
    char text[ERR_TEXT_MAX + 64];

    if (r >= 0)
        return;
    fprintf(stderr, "bench-stream: %s: %s\n", what, err_format(err, text, sizeof(text)));
    exit(1);
}

static uint64_t now_ns(void)
{
    return (uint64_t)clock_mono_ns(clock_system());
}

/* ---- the model ---- */

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

/* The same number of bytes as an event has, with the same stamp. */
static void say_bare(void)
{
    char bytes[EVENT_BYTES + 1];
    int n = snprintf(bytes, sizeof(bytes), "\"content\":\"%016" PRIx64, now_ns());

    memset(bytes + n, ' ', sizeof(bytes) - (size_t)n);
    bytes[EVENT_BYTES - 1] = '\n';
    write_all(bench.bare, bytes, EVENT_BYTES);
}

static void say(void)
{
    char text[17];

    snprintf(text, sizeof(text), "%016" PRIx64, now_ns());
    bench.sink->on_delta(bench.sink_arg, MODEL_DELTA_TEXT, str_from(text));
    bench.left--;
}

static void finish(void)
{
    const struct model_reply reply = { .text = STR("That was all."), .stop = MODEL_STOP_END };

    bench.sink->on_done(bench.sink_arg, &reply, NULL, -1);
}

static void speak(struct loop_timer *timer)
{
    unsigned n = bench.slowly ? 1 : A_TICK;

    for (unsigned i = 0; i < n && bench.left > 0; i++)
        say();
    if (bench.slowly)
        say_bare();
    if (bench.left > 0)
        loop_timer_start(bench.loop, timer, bench.slowly ? 1 : 0);
    else
        finish();
}

static int answer(void *call_arg, const struct model_request *request,
                  const struct model_sink *sink, void *arg, struct err *err)
{
    (void)call_arg, (void)err;
    bench.slowly = str_is(request->messages[request->message_count - 1].text, "slowly");
    bench.left = bench.slowly ? SLOW_TOKENS : TOKENS;
    bench.sink = sink;
    bench.sink_arg = arg;
    bench.next.fire = speak;
    loop_timer_start(bench.loop, &bench.next, 0);
    return 0;
}

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

struct reading {
    uint64_t delays[TOKENS + 64], first, last;
    unsigned n;
    char rest[4096];
    size_t kept;
};

/* Every stamp in these bytes; one that is cut stays for the next ones. */
static void take(struct reading *reading, const char *bytes, size_t n)
{
    static const char mark[] = "\"content\":\"";
    static char text[4096 + 65536 + 1];
    const char *at = text;
    uint64_t now = now_ns();

    memcpy(text, reading->rest, reading->kept);
    memcpy(text + reading->kept, bytes, n);
    text[n += reading->kept] = '\0';
    for (const char *found; (found = strstr(at, mark)) && found + 27 <= text + n; at = found + 27) {
        uint64_t stamp = strtoull(found + sizeof(mark) - 1, NULL, 16);

        if (stamp < now / 2 || stamp > now || reading->n == TOKENS + 64)
            continue; /* the whole text at the end is no stamp */
        reading->delays[reading->n++] = now - stamp;
        reading->first = reading->first ? reading->first : stamp;
        reading->last = now;
    }
    reading->kept = (size_t)(text + n - at) < 64 ? (size_t)(text + n - at) : 64;
    memcpy(reading->rest, text + n - reading->kept, reading->kept);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static double at(struct reading *reading, double part)
{
    qsort(reading->delays, reading->n, sizeof(uint64_t), by_value);
    return (double)reading->delays[(size_t)(part * (reading->n - 1))] / 1000;
}

static void ask(int fd, const char *token, const char *prompt)
{
    char body[64];
    int n = snprintf(body, sizeof(body), "{\"prompt\":\"%s\"}", prompt);

    dprintf(fd,
            "POST /run HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
            "Content-Length: %d\r\n\r\n%s",
            token, n, body);
}

/* Until the stream's end; the bare socket is read beside it. */
static void read_answer(int fd, int bare, struct reading *ours, struct reading *theirs)
{
    static char bytes[65536];
    struct pollfd polls[2] = { { .fd = fd, .events = POLLIN }, { .fd = bare, .events = POLLIN } };
    ssize_t n;

    for (;;) {
        poll(polls, 2, -1);
        if (polls[1].revents && (n = read(bare, bytes, sizeof(bytes))) > 0)
            take(theirs, bytes, (size_t)n);
        if (!polls[0].revents)
            continue;
        if ((n = read(fd, bytes, sizeof(bytes))) <= 0)
            return;
        take(ours, bytes, (size_t)n);
    }
}

static void read_all(unsigned port, int bare, const char *token)
{
    static struct reading ours, theirs, fast, none;
    int fd = connect_to(port);

    ask(fd, token, "slowly");
    read_answer(fd, bare, &ours, &theirs);
    printf("{\"bench\":\"sse.stream\",\"what\":\"added latency of a token, median\",\"tokens\":%u,"
           "\"value\":%.1f,\"unit\":\"us\",\"p99\":%.1f,\"yardstick\":\"a bare socket in the same "
           "loop\",\"yardstick_value\":%.1f,\"yardstick_p99\":%.1f}\n",
           ours.n, at(&ours, 0.5) - at(&theirs, 0.5), at(&ours, 0.99), at(&theirs, 0.5),
           at(&theirs, 0.99));
    close(fd);
    fd = connect_to(port);
    ask(fd, token, "quickly");
    read_answer(fd, bare, &fast, &none);
    printf("{\"bench\":\"sse.stream\",\"what\":\"tokens to one client\",\"tokens\":%u,"
           "\"value\":%.0f,\"unit\":\"tokens/s\",\"ok\":%s}\n",
           fast.n, fast.n * 1e9 / (double)(fast.last - fast.first),
           fast.n == TOKENS && ours.n == SLOW_TOKENS ? "true" : "false");
    fflush(stdout);
    _exit(fast.n == TOKENS && ours.n == SLOW_TOKENS ? 0 : 1);
}

/* ---- the daemon ---- */

static void open_runner(struct bench *b)
{
    static struct model_spec spec = { .id = "inside", .provider = "call", .call = answer };
    struct domain_config domain = { .name = "agent",
                                    .url = b->database,
                                    .migrations = migrations_agent,
                                    .migration_count = migrations_agent_count };
    struct model_gateway_config models = { .models = &spec, .model_count = 1 };
    struct tool_bed_config tools = { .policy_text_hash = "" };
    struct runner_config runner = { .default_agent_name = "Planner",
                                    .default_model = "inside",
                                    .default_cwd = "/tmp" };
    struct err err = ERR_INIT;

    must(domain_open(&domain, &b->domain, &err), &err, "open");
    must(loop_new(NULL, &b->loop, &err), &err, "loop");
    loop_attach(b->loop, b->domain);
    must(change_open(b->domain, NULL, NULL, &b->change, &err), &err, "change");
    must(kill_open(b->domain, &b->kill, &err), &err, "kill");
    models.loop = tools.loop = runner.loop = b->loop;
    must(model_gateway_new(&models, &b->models, &err), &err, "models");
    tools.agent_domain = runner.agent_domain = b->domain;
    tools.kill = runner.kill = b->kill;
    must(tool_bed_new(&tools, &b->tools, &err), &err, "tools");
    runner.change = b->change;
    runner.models = b->models;
    runner.tools = b->tools;
    must(runner_new(&runner, &b->runner, &err), &err, "runner");
}

static void open_server(struct bench *b)
{
    static const char *const hosts[] = { "localhost", NULL };
    struct serve_config how = { .listen = "127.0.0.1:0",
                                .token_path = b->token,
                                .hosts = hosts,
                                .route_tables = API_ROUTE_TABLES };
    struct err err = ERR_INIT;

    b->api = api_new(&(struct api_config){ .runner = b->runner,
                                           .agent_domain = b->domain,
                                           .loop = b->loop,
                                           .change = b->change,
                                           .kill = b->kill,
                                           .models = b->models });
    how.routes = api_routes(b->api);
    must(serve_start(b->loop, &how, &b->serve, &err), &err, "serve");
}

static void check_reader(struct loop_timer *timer)
{
    int status;

    if (waitpid(bench.reader, &status, WNOHANG) == 0)
        loop_timer_start(bench.loop, timer, 50);
    else
        exit(status == 0 ? 0 : 1);
}

int main(void)
{
    static struct loop_timer check = { .fire = check_reader };
    struct bench *b = &bench;
    char token[64] = "", command[128];
    struct err err = ERR_INIT;
    int pair[2], on = 1;
    FILE *file;

    snprintf(b->dir, sizeof(b->dir), "/tmp/bench-stream-XXXXXX");
    if (!mkdtemp(b->dir) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        return 1;
    snprintf(b->token, sizeof(b->token), "%s/token", b->dir);
    snprintf(b->database, sizeof(b->database), "sqlite:%s/agent.sqlite", b->dir);
    open_runner(b);
    open_server(b);
    file = fopen(b->token, "r");
    if (!file || !fgets(token, sizeof(token), file))
        return 1;
    token[strcspn(token, "\n")] = '\0';
    b->bare = pair[0];
    setsockopt(b->bare, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    b->reader = fork();
    if (b->reader == 0)
        read_all(serve_port(b->serve), pair[1], token);
    loop_timer_start(b->loop, &check, 50);
    snprintf(command, sizeof(command), "rm -rf %s", b->dir);
    if (system(command) != 0) /* the open files stay until we end */
        return 1;
    loop_run(b->loop, &err);
    return 1;
}
