/* Start, the tick hook, and the way down.
 *
 * Stopping goes in steps, each looked at again after every tick: no new connections and a last
 * word to every stream; wait until requests are answered and streams are closed, or the deadline
 * has come; cut what is left; end the daemons; then say done.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/limits.h"
#include "serve/serve_int.h"

#define SPARE_DESCRIPTORS 256 /* databases, children, logs */
#define STOP_CHECK_MS     20

void serve_wake(struct serve *serve)
{
    loop_wake(serve->loop);
}

static void wake_for_streams(void *arg)
{
    serve_wake(arg);
}

/* ---- going down ---- */

static bool requests_under_way(const struct serve *serve)
{
    return serve->conns[CONN_HEAD].first || serve->conns[CONN_BODY].first ||
           serve->conns[CONN_HELD].first || serve->conns[CONN_REPLY].first;
}

static void cut_list(struct conn_list *list)
{
    for (struct conn *conn = list->first; conn; conn = conn->next)
        conn_cut(conn, 0);
}

/* libmicrohttpd must not be stopped with suspended connections. */
static void abandon_held(struct serve *serve)
{
    struct conn *next;

    for (struct conn *conn = serve->conns[CONN_HELD].first; conn; conn = next) {
        next = conn->next;
        conn_cut(conn, 0);
        conn_resume(conn);
    }
    for (unsigned i = 0; i < serve->door_count; i++)
        door_run(&serve->doors[i]);
}

static bool doors_polling(const struct serve *serve)
{
    for (unsigned i = 0; i < serve->door_count; i++)
        if (serve->doors[i].polling)
            return true;
    return false;
}

static void stop_step(struct serve *serve)
{
    bool late = clock_mono_ms(loop_clock(serve->loop)) >= serve->stop_deadline_ms;

    if (!late && (requests_under_way(serve) || serve->streams.handles > 0))
        return;
    while (serve->streams.first)
        stream_close(serve->streams.first);
    if (serve->streams.handles > 0)
        return; /* their last callbacks come with the next iteration */
    if (serve->doors[0].daemon) {
        abandon_held(serve);
        for (unsigned i = 0; i < serve->door_count; i++)
            door_close(&serve->doors[i]);
    }
    if (doors_polling(serve) || serve->stopped)
        return;
    serve->stopped = true;
    loop_remove_tick_hook(serve->loop, &serve->hook);
    loop_timer_stop(serve->loop, &serve->sweep);
    loop_timer_stop(serve->loop, &serve->status_timer);
    if (serve->socket_path)
        unlink(serve->socket_path);
    if (serve->stop_done)
        serve->stop_done(serve->stop_arg);
}

void serve_stop(struct serve *serve, int64_t deadline_ms, void (*done)(void *arg), void *arg)
{
    if (serve->stopping)
        return;
    serve->stopping = true;
    serve->stop_done = done;
    serve->stop_arg = arg;
    serve->stop_deadline_ms = clock_mono_ms(loop_clock(serve->loop)) + deadline_ms;
    for (unsigned i = 0; i < serve->door_count; i++)
        door_quiesce(&serve->doors[i]);
    client_goodbye(serve);
    cut_list(&serve->conns[CONN_NEW]);
    cut_list(&serve->conns[CONN_ANSWERED]);
    cut_list(&serve->conns[CONN_IDLE]);
    conn_sweep_in(serve, STOP_CHECK_MS);
    serve_wake(serve);
}

/* ---- ticks ---- */

static void on_tick(struct loop_tick_hook *hook)
{
    struct serve *serve = (struct serve *)((char *)hook - offsetof(struct serve, hook));

    serve->ticks++;
    serve->writing = false; /* whatever waited was committed or dropped just now */
    for (unsigned i = 0; i < serve->door_count; i++)
        if (serve->doors[i].ready && serve->doors[i].daemon)
            door_run(&serve->doors[i]);
    stream_set_flush(&serve->streams);
    if (serve->stopping)
        stop_step(serve);
}

static void on_sweep(struct loop_timer *timer)
{
    struct serve *serve = (struct serve *)((char *)timer - offsetof(struct serve, sweep));

    conn_sweep(serve);
    if (serve->stopping)
        conn_sweep_in(serve, STOP_CHECK_MS);
}

/* ---- start ---- */

static void take_limits(struct serve *serve, const struct serve_limits *given)
{
    struct serve_limits *limits = &serve->limits;

    *limits = *given;
#define DEFAULT(field, value) limits->field = limits->field ? limits->field : (value)
    DEFAULT(connections, 12288);
    DEFAULT(connections_per_ip, 256);
    DEFAULT(streams, 1024);
    DEFAULT(header_ms, SECONDS(20));
    DEFAULT(body_ms, SECONDS(60));
    DEFAULT(idle_ms, SECONDS(75));
    DEFAULT(reply_ms, SECONDS(120));
    DEFAULT(heartbeat_ms, SECONDS(15));
    DEFAULT(status_ms, SECONDS(5));
    DEFAULT(queue_bytes, LIMIT_CLIENT_QUEUE_BYTES);
#undef DEFAULT
}

/* Enough descriptors for the connections allowed, or fewer connections. */
static void raise_nofile(struct serve *serve)
{
    struct rlimit limit;
    rlim_t want = serve->limits.connections + SPARE_DESCRIPTORS;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    serve->nofile_before = limit.rlim_cur;
    if (limit.rlim_cur < want) {
        limit.rlim_cur = limit.rlim_max < want ? limit.rlim_max : want;
        setrlimit(RLIMIT_NOFILE, &limit);
        getrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur < want)
        serve->limits.connections = limit.rlim_cur > 2 * SPARE_DESCRIPTORS
                                        ? (unsigned)limit.rlim_cur - SPARE_DESCRIPTORS
                                        : SPARE_DESCRIPTORS;
}

static void take_tables(struct serve *serve, const struct serve_config *config)
{
    BUG_IF(config->route_tables + 1 > SERVE_TABLES_MAX);
    serve->tables[0] = (struct serve_routes){ builtin_routes, builtin_route_count, serve };
    for (size_t i = 0; i < config->route_tables; i++)
        serve->tables[i + 1] = config->routes[i];
    serve->table_count = config->route_tables + 1;
    for (size_t i = 0; i < serve->table_count; i++)
        serve->route_count += (unsigned)serve->tables[i].count;
    serve->route_counts = NEW_N(uint64_t, (serve->route_count + 1) * 6);
}

static void warn(struct serve *serve, const char *text)
{
    if (serve->warn)
        serve->warn(serve->arg, text);
    else
        fprintf(stderr, "dormouse: %s\n", text);
}

/* The names that clients may use: ours, and those the configuration adds. Those are likely to stand
 * for a proxy in front, which passes them on without our port. */
static int allow_names(struct serve *serve, const char *own, const char *const *more,
                       struct err *err)
{
    const char *const always[] = { "localhost", "127.0.0.1", "[::1]", own };
    struct guard *guard = &serve->guard;

    for (size_t i = 0; i < ARRAY_LEN(always); i++)
        if (guard_allow_host(guard, str_from(always[i]), serve->port, serve->port == 80, err) < 0)
            return -1;
    for (; more && *more; more++)
        if (guard_allow_host(guard, str_from(*more), serve->port, true, err) < 0)
            return err_wrap(err, "server.hosts");
    return 0;
}

static int open_tcp(struct serve *serve, int fd, const struct serve_config *config, struct err *err)
{
    struct sockaddr_storage sa = { .ss_family = AF_UNSPEC };
    socklen_t n = sizeof(sa);
    char text[ADDRESS_TEXT_MAX], own[ADDRESS_TEXT_MAX], said[300];

    getsockname(fd, (struct sockaddr *)&sa, &n);
    if (sa.ss_family == AF_UNIX)
        return door_open(serve, fd, true, err);
    address_format((struct sockaddr *)&sa, text);
    snprintf(own, sizeof(own), "%.*s", (int)(strrchr(text, ':') - text), text);
    serve->port = address_port((struct sockaddr *)&sa);
    if (allow_names(serve, own, config->hosts, err) < 0)
        return -1;
    if (address_is_any((struct sockaddr *)&sa)) {
        guard_allow_addresses(&serve->guard, serve->port);
        snprintf(own, sizeof(own), "127.0.0.1"); /* for a link that works here */
    }
    if (serve->url[0] == '\0')
        snprintf(serve->url, sizeof(serve->url), "http://%s:%u", own, serve->port);
    snprintf(serve->guard.cookie_name, sizeof(serve->guard.cookie_name), "dormouse_%u",
             serve->port);
    if (!address_is_loopback((struct sockaddr *)&sa)) {
        snprintf(said, sizeof(said),
                 "%s can be reached from other machines, in plain text. Every request needs the "
                 "token in %s; put a TLS proxy in front, or listen on 127.0.0.1.",
                 text, config->token_path);
        warn(serve, said);
    }
    return door_open(serve, fd, false, err);
}

static int open_inherited(struct serve *serve, const struct serve_config *config, struct err *err)
{
    int fds[SERVE_DOORS_MAX - 1];
    int count = address_inherited(fds, SERVE_DOORS_MAX - 1, err);

    for (int i = 0; i < count; i++)
        if (open_tcp(serve, fds[i], config, err) < 0)
            return -1;
    return count;
}

static int open_listen(struct serve *serve, const struct serve_config *config, struct err *err)
{
    struct address address;
    char fallback[32];
    const char *text = config->listen;
    int fd;

    if (text && !*text)
        return 0;
    snprintf(fallback, sizeof(fallback), "127.0.0.1:%d", SERVE_PORT_DEFAULT);
    if (address_parse(str_from(text ? text : fallback), &address, err) < 0 ||
        address_listen(&address, &fd, err) < 0)
        return -1;
    if (open_tcp(serve, fd, config, err) < 0) {
        close(fd);
        return -1;
    }
    return 0;
}

static int open_doors(struct serve *serve, const struct serve_config *config, struct err *err)
{
    int inherited = config->inherit ? open_inherited(serve, config, err) : 0, fd;

    if (inherited < 0 || (inherited == 0 && open_listen(serve, config, err) < 0))
        return -1;
    if (!config->socket_path)
        return 0;
    if (address_listen_unix(config->socket_path, &fd, err) < 0)
        return -1;
    serve->socket_path = alloc_text(config->socket_path);
    return door_open(serve, fd, true, err);
}

static struct serve *serve_new(struct loop *loop, const struct serve_config *config)
{
    struct serve *serve = NEW(struct serve);

    serve->loop = loop;
    serve->health = config->health;
    serve->warn = config->warn;
    serve->idle = config->idle;
    serve->arg = config->arg;
    serve->version = alloc_text(config->version ? config->version : "0");
    serve->started_ms = clock_mono_ms(loop_clock(loop));
    for (int i = 0; i <= CONN_STREAM; i++)
        serve->conns[i].end = &serve->conns[i].first;
    take_limits(serve, &config->limits);
    raise_nofile(serve);
    take_tables(serve, config);
    serve->streams = (struct stream_set){
        .uv = loop_uv(loop),
        .queue_max = serve->limits.queue_bytes,
        .wake = wake_for_streams,
        .arg = serve,
    };
    serve->hook.after_tick = on_tick;
    serve->sweep.fire = on_sweep;
    serve->status_timer.fire = builtin_status_tick;
    page_init(serve);
    return serve;
}

/* A door that was opened has a handle in the loop; it is closed the ordinary way. */
static void give_up(struct serve *serve)
{
    for (unsigned i = 0; i < serve->door_count; i++)
        door_close(&serve->doors[i]);
    while (doors_polling(serve))
        uv_run(loop_uv(serve->loop), UV_RUN_NOWAIT);
    if (serve->socket_path)
        unlink(serve->socket_path);
    serve_free(serve);
}

int serve_start(struct loop *loop, const struct serve_config *config, struct serve **ret_serve,
                struct err *err)
{
    static const struct serve_feed_ops status_ops = { .joined = builtin_status_joined };
    struct serve *serve = serve_new(loop, config);

    if (route_check(serve->tables, serve->table_count, err) < 0 ||
        guard_init(&serve->guard, config->token_path, loop_clock(loop), err) < 0 ||
        open_doors(serve, config, err) < 0) {
        give_up(serve);
        return err_wrap(err, "start the server");
    }
    serve->status = serve_feed_new(serve, "status", &status_ops, serve);
    loop_add_tick_hook(loop, &serve->hook);
    serve_wake(serve);
    *ret_serve = serve;
    return 0;
}

void serve_free(struct serve *serve)
{
    if (!serve)
        return;
    serve_feed_free(serve->status);
    while (serve->spare) {
        struct serve_request *request = serve->spare;

        serve->spare = request->spare_next;
        arena_release(&request->arena);
        free(request);
    }
    page_release(serve);
    map_release(&serve->per_ip);
    guard_release(&serve->guard);
    free(serve->route_counts);
    free(serve->socket_path);
    free(serve->version);
    free(serve);
}

const char *serve_url(const struct serve *serve)
{
    return serve->url;
}

uint16_t serve_port(const struct serve *serve)
{
    return serve->port;
}

unsigned serve_connections(const struct serve *serve)
{
    return serve->conn_count;
}

uint64_t serve_nofile(const struct serve *serve)
{
    return serve->nofile_before;
}

void serve_login_url(struct serve *serve, struct buf *out)
{
    char code[GUARD_CODE_TEXT + 1];

    guard_make_code(&serve->guard, code);
    buf_printf(out, "%s/login?code=%s", serve->url, code);
}

struct serve_feed *serve_status_feed(struct serve *serve)
{
    return serve->status;
}
