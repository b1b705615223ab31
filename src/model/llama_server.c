/* Starting, watching and ending a llama-server: see llama_server_int.h.
 *
 * The process lives in a struct of its own, because its end is reported after the server was freed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "model/llama_server_int.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "loop/child.h"
#include "loop/http.h"

#define DEATHS_IN_A_ROW 3
#define STEADY_MS       10000 /* ready for so long, an earlier death is forgotten */
#define LINE_MAX_BYTES  400

enum phase { DOWN = 0, RESTING, STARTING, READY, FAILED };

struct process {
    struct llama_server *server; /* NULL: freed before the process ended */
    struct child *child;
    struct buf line; /* of its output, not complete */
    char last[LINE_MAX_BYTES];
};

struct probe {
    struct llama_server *server; /* NULL: nobody wants to know any more */
    struct http_exchange *http;
    int status;
};

struct llama_server {
    struct llama_server_config config;
    char *url;
    enum phase phase;
    struct process *process;
    struct probe *probe;
    struct err failure;         /* FAILED */
    struct loop_timer timer;    /* the next probe, or the end of a rest */
    struct loop_timer deadline; /* of becoming ready */
    unsigned deaths;            /* in a row */
    int64_t rest_until_ms, ready_since_ms;
    struct llama_wait *first, *last; /* those who wait */
};

/* Processes of this program that have not ended: their reports outlive their servers. */
static unsigned living;

static bool is_ours(const struct llama_server *server)
{
    return server->config.server_path != NULL;
}

static int64_t now_ms(struct llama_server *server)
{
    return clock_mono_ms(loop_clock(server->config.loop));
}

/* ---- waits ---- */

void llama_server_drop(struct llama_wait *wait)
{
    struct llama_server *server = wait->server;

    if (!server)
        return;
    *(wait->prev ? &wait->prev->next : &server->first) = wait->next;
    *(wait->next ? &wait->next->prev : &server->last) = wait->prev;
    wait->server = NULL;
}

static void tell_all(struct llama_server *server, const struct err *err)
{
    loop_timer_stop(server->config.loop, &server->deadline);
    while (server->first) {
        struct llama_wait *wait = server->first;

        llama_server_drop(wait);
        wait->ready(wait, err ? NULL : server->url, err);
    }
}

/* In the next tick. */
static void tell_failure(struct llama_server *server, const struct err *err)
{
    server->phase = FAILED;
    server->failure = *err;
    loop_timer_start(server->config.loop, &server->timer, 0);
}

/* ---- the process ---- */

static int free_port(struct err *err)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int result = -1;

    if (fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 &&
        getsockname(fd, (struct sockaddr *)&at, &size) == 0)
        result = ntohs(at.sin_port);
    if (fd >= 0)
        close(fd);
    if (result < 0)
        err_set(err, ERR_INTERNAL, "no free port on loopback: %s", strerror(errno));
    return result;
}

static void log_lines(struct process *process, struct str bytes)
{
    const char *id = process->server ? process->server->config.id : "";
    struct str line;

    while (bytes.n && str_split(&bytes, '\n', &line)) {
        buf_add_str(&process->line, line);
        if (!bytes.p) /* no line feed came: the rest follows */
            return;
        snprintf(process->last, sizeof(process->last), "%s", buf_text(&process->line));
        LOG_DEBUG("model", "llama-server", LOG_TEXT("model", id),
                  LOG_STR("line", buf_str(&process->line)));
        buf_clear(&process->line);
        process->line.full = false;
    }
}

static void on_output(struct child *child, enum child_stream stream, struct str bytes, void *arg)
{
    (void)child;
    (void)stream;
    log_lines(arg, bytes);
}

static void start(struct llama_server *server);

static void fail_start(struct llama_server *server, enum err_code code, const char *what,
                       const char *detail)
{
    struct err err = ERR_INIT;

    err_set(&err, code, "model %s: %s%s%s", server->config.id, what, *detail ? ": " : "", detail);
    tell_all(server, &err);
}

static int64_t backoff_ms(unsigned deaths)
{
    int64_t ms = LLAMA_BACKOFF_MS;

    for (unsigned i = 1; i < deaths && ms < LLAMA_BACKOFF_MAX_MS; i++)
        ms *= 2;
    return ms < LLAMA_BACKOFF_MAX_MS ? ms : LLAMA_BACKOFF_MAX_MS;
}

static void forget_probe(struct llama_server *server)
{
    struct probe *probe = TAKE(server->probe);

    if (!probe)
        return;
    probe->server = NULL;
    http_cancel(probe->http);
}

/* It has died, or could not even be executed; somebody may be waiting for it. */
static void note_death(struct llama_server *server, bool never_ran, const char *detail)
{
    bool steady = server->phase == READY && now_ms(server) - server->ready_since_ms > STEADY_MS;

    forget_probe(server);
    loop_timer_stop(server->config.loop, &server->timer);
    server->deaths = steady ? 1 : server->deaths + 1;
    server->rest_until_ms = now_ms(server) + backoff_ms(server->deaths);
    server->phase = DOWN;
    LOG_WARN("model", "llama-server ended", LOG_TEXT("model", server->config.id),
             LOG_TEXT("detail", detail), LOG_U64("deaths", server->deaths));
    if (!server->first)
        return;
    if (never_ran)
        fail_start(server, ERR_PROVIDER_FAILED, "llama-server can't be started", detail);
    else if (server->deaths >= DEATHS_IN_A_ROW)
        fail_start(server, ERR_PROVIDER_FAILED, "llama-server does not stay up", detail);
    else
        start(server);
}

static void on_ended(struct child *child, const struct child_result *result, void *arg)
{
    struct process *process = arg;
    struct llama_server *server = process->server;
    char detail[LINE_MAX_BYTES + 100], why[ERR_TEXT_MAX];
    bool never_ran = result->err.code != ERR_NONE;

    (void)child;
    if (never_ran)
        snprintf(detail, sizeof(detail), "%s", err_format(&result->err, why, sizeof(why)));
    else if (result->signal)
        snprintf(detail, sizeof(detail), "signal %d; it last said: %s", result->signal,
                 process->last);
    else
        snprintf(detail, sizeof(detail), "exit code %d; it last said: %s", result->exit_code,
                 process->last);
    buf_release(&process->line);
    free(process);
    living--;
    if (!server)
        return;
    server->process = NULL;
    note_death(server, never_ran, detail);
}

static int spawn(struct llama_server *server, int port, struct err *err)
{
    struct process *process = NEW(struct process);
    char port_text[16], context[24], libraries[4200];
    const char *slash = strrchr(server->config.server_path, '/');
    const char *argv[16] = { server->config.server_path,
                             "--model",
                             server->config.gguf_path,
                             "--host",
                             "127.0.0.1",
                             "--port",
                             port_text,
                             "--special" };
    const char *env[] = { "PATH=/usr/local/bin:/usr/bin:/bin", libraries, NULL };
    size_t n = 8;
    const struct child_config config = { .path = server->config.server_path,
                                         .argv = argv,
                                         .env = env,
                                         .merge = true,
                                         .grace_ms = 500,
                                         .on_output = on_output,
                                         .done = on_ended,
                                         .arg = process };

    snprintf(port_text, sizeof(port_text), "%d", port);
    snprintf(context, sizeof(context), "%lld", (long long)server->config.context_tokens);
    /* Builds carry their libraries beside the program. */
    snprintf(libraries, sizeof(libraries), "LD_LIBRARY_PATH=%.*s",
             slash ? (int)(slash - server->config.server_path) : 0, server->config.server_path);
    if (server->config.context_tokens > 0) {
        argv[n++] = "--ctx-size";
        argv[n++] = context;
    }
    process->line = BUF_INIT(LINE_MAX_BYTES);
    process->server = server;
    if (child_start(server->config.loop, &config, &process->child, err) < 0) {
        free(process);
        return -1;
    }
    server->process = process;
    living++;
    return 0;
}

static void start(struct llama_server *server)
{
    struct err err = ERR_INIT;
    char url[64];
    int port;

    if (server->rest_until_ms > now_ms(server)) {
        server->phase = RESTING;
        loop_timer_start(server->config.loop, &server->timer,
                         server->rest_until_ms - now_ms(server));
        return;
    }
    port = free_port(&err);
    if (port < 0 || spawn(server, port, &err) < 0) {
        tell_failure(server, &err);
        return;
    }
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", port);
    free(server->url);
    server->url = alloc_text(url);
    server->phase = STARTING;
    LOG_INFO("model", "llama-server starts", LOG_TEXT("model", server->config.id),
             LOG_TEXT("url", url));
    loop_timer_start(server->config.loop, &server->timer, LLAMA_POLL_MS);
}

/* ---- health ---- */

static void become_ready(struct llama_server *server)
{
    server->phase = READY;
    server->ready_since_ms = now_ms(server);
    tell_all(server, NULL);
}

static void on_head(struct http_exchange *x, const struct http_head *head, void *arg)
{
    struct probe *probe = arg;

    (void)x;
    probe->status = head->status;
}

static enum http_flow on_body(struct http_exchange *x, struct str chunk, void *arg)
{
    (void)x;
    (void)chunk;
    (void)arg;
    return HTTP_GO;
}

static void on_probed(struct http_exchange *x, const struct http_result *result, void *arg)
{
    struct probe *probe = arg;
    struct llama_server *server = probe->server;
    bool loading = probe->status == 503;

    (void)x;
    free(probe);
    if (!server)
        return;
    server->probe = NULL;
    if (server->phase != STARTING)
        return;
    /* A server of ours that does not listen yet is loading, too. */
    if (loading || (result->err.code && is_ours(server)))
        loop_timer_start(server->config.loop, &server->timer, LLAMA_POLL_MS);
    else /* healthy, or another kind of server, or unreachable: the request itself will tell */
        become_ready(server);
}

static void ask_health(struct llama_server *server)
{
    static const struct http_handler handler = { .on_headers = on_head,
                                                 .on_data = on_body,
                                                 .on_done = on_probed };
    struct http_request request = { .limits = { .connect_ms = 2000,
                                                .first_byte_ms = 5000,
                                                .total_ms = 8000,
                                                .max_body_bytes = 65536 } };
    AUTO_BUF url = BUF_INIT(HTTP_URL_MAX);
    struct probe *probe = NEW(struct probe);
    struct err err = ERR_INIT;
    size_t n = strlen(server->url);

    while (n && server->url[n - 1] == '/')
        n--;
    buf_printf(&url, "%.*s/health", (int)n, server->url);
    request.url = buf_text(&url);
    probe->server = server;
    if (http_start(server->config.http, &request, &handler, probe, &probe->http, &err) < 0) {
        free(probe);
        tell_failure(server, &err);
        return;
    }
    server->probe = probe;
}

static void on_timer(struct loop_timer *timer)
{
    struct llama_server *server =
        (struct llama_server *)(void *)((char *)timer - offsetof(struct llama_server, timer));

    if (server->phase == RESTING)
        start(server);
    else if (server->phase == READY)
        tell_all(server, NULL);
    else if (server->phase == STARTING && !server->probe)
        ask_health(server);
    else if (server->phase == FAILED) {
        server->phase = DOWN;
        tell_all(server, &server->failure);
    }
}

static void on_deadline(struct loop_timer *timer)
{
    struct llama_server *server =
        (struct llama_server *)(void *)((char *)timer - offsetof(struct llama_server, deadline));

    forget_probe(server);
    loop_timer_stop(server->config.loop, &server->timer);
    if (server->process) {
        struct process *process = TAKE(server->process);

        process->server = NULL;
        child_cancel(process->child);
        server->deaths++;
        server->rest_until_ms = now_ms(server) + backoff_ms(server->deaths);
    }
    server->phase = DOWN;
    fail_start(server, ERR_TIMEOUT, "llama-server was not ready in time", "");
}

/* ---- for its users ---- */

struct llama_server *llama_server_new(const struct llama_server_config *config)
{
    struct llama_server *server = NEW(struct llama_server);

    server->config = *config;
    server->timer.fire = on_timer;
    server->deadline.fire = on_deadline;
    if (config->base_url)
        server->url = alloc_text(config->base_url);
    return server;
}

void llama_server_free(struct llama_server *server)
{
    struct err err = ERR_INIT;

    if (!server)
        return;
    loop_timer_stop(server->config.loop, &server->timer);
    forget_probe(server);
    if (server->process) {
        server->process->server = NULL;
        child_cancel(server->process->child);
    }
    err_set(&err, ERR_CANCELLED, "the model gateway is closed");
    tell_all(server, &err);
    free(server->url);
    free(server);
}

void llama_server_need(struct llama_server *server, struct llama_wait *wait)
{
    bool first = !server->first;

    wait->server = server;
    wait->next = NULL;
    wait->prev = server->last;
    *(server->last ? &server->last->next : &server->first) = wait;
    server->last = wait;
    if (first)
        loop_timer_start(server->config.loop, &server->deadline,
                         server->config.start_ms ? server->config.start_ms : LLAMA_START_MS);
    if (server->phase == READY) {
        loop_timer_start(server->config.loop, &server->timer, 0);
    } else if (server->phase == DOWN && is_ours(server)) {
        start(server);
    } else if (server->phase == DOWN) {
        server->phase = STARTING;
        loop_timer_start(server->config.loop, &server->timer, 0);
    }
}

void llama_server_doubt(struct llama_server *server)
{
    if (server->phase != READY)
        return;
    server->phase = server->process ? STARTING : DOWN;
    if (server->process)
        loop_timer_start(server->config.loop, &server->timer, 0);
}

unsigned llama_servers_living(void)
{
    return living;
}
