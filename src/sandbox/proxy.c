/* The proxy's socket, and what becomes of a client up to its request.
 *
 * A connection is read until its head is whole (proxy_request.c), judged and dialled
 * (proxy_dial.c), then bytes flow (proxy_pipe.c). Each phase has a deadline of its own, so neither
 * a client that drips nor a server that hangs keeps a place for long.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/proxy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "sandbox/proxy_int.h"

#define ANSWER_MS 2000 /* for a client to take our answer */
#define BACKLOG   64

/* ---- ends ---- */

void proxy_drop(struct proxy *proxy)
{
    if (--proxy->holders > 0)
        return;
    proxy_list_release(&proxy->list);
    free(proxy);
}

static void conn_free(struct proxy_conn *conn)
{
    struct proxy *proxy = conn->proxy;

    buf_release(&conn->head);
    buf_release(&conn->out);
    free(conn->up.bytes);
    free(conn->down.bytes);
    free(conn);
    proxy_drop(proxy);
}

static void on_client_closed(uv_handle_t *handle)
{
    struct proxy_conn *conn = (struct proxy_conn *)handle;

    if (--conn->handles == 0)
        conn_free(conn);
}

static void on_server_closed(uv_handle_t *handle)
{
    struct proxy_server *server = (struct proxy_server *)handle;
    struct proxy_conn *conn = server->conn;

    free(server);
    if (--conn->handles == 0)
        conn_free(conn);
}

void proxy_server_close(struct proxy_conn *conn)
{
    if (conn->server)
        uv_close((uv_handle_t *)&conn->server->tcp, on_server_closed);
    conn->server = NULL;
}

void proxy_conn_end(struct proxy_conn *conn)
{
    if (conn->closed)
        return;
    conn->closed = true;
    loop_timer_stop(conn->proxy->loop, &conn->timer);
    dns_cancel(&conn->lookup);
    *conn->link = conn->next;
    if (conn->next)
        conn->next->link = conn->link;
    conn->proxy->counts.open--;
    proxy_server_close(conn);
    uv_close((uv_handle_t *)&conn->client, on_client_closed);
}

/* ---- answers of our own ---- */

static void on_answer_ended(uv_shutdown_t *shutdown, int status)
{
    (void)shutdown, (void)status;
}

static void on_answer_written(uv_write_t *write, int status)
{
    struct proxy_conn *conn = write->data;

    /* The client may still be sending: closing now could take the answer away from it. */
    if (status < 0)
        proxy_conn_end(conn);
    else if (!conn->closed)
        uv_shutdown(&conn->shutdown, (uv_stream_t *)&conn->client, on_answer_ended);
}

static const char *status_text(int status)
{
    switch (status) {
    case 400:
        return "Bad Request";
    case 403:
        return "Forbidden";
    case 408:
        return "Request Timeout";
    case 503:
        return "Service Unavailable";
    case 504:
        return "Gateway Timeout";
    default:
        return "Bad Gateway";
    }
}

static void report(struct proxy_conn *conn, const char *why)
{
    struct proxy *proxy = conn->proxy;
    struct proxy_refusal refusal = { .host = conn->request.host.name,
                                     .port = conn->request.host.port,
                                     .why = why };

    proxy->counts.refused++;
    if (!proxy->on_refused || proxy->reports > PROXY_REPORTS_MAX)
        return;
    if (++proxy->reports > PROXY_REPORTS_MAX)
        refusal =
            (struct proxy_refusal){ "", 0, "more was refused; from here on it is only counted" };
    proxy->on_refused(proxy->arg, &refusal);
}

void proxy_conn_answer(struct proxy_conn *conn, int status, bool told, const char *why)
{
    uv_buf_t bytes;

    conn->phase = PROXY_ANSWERED;
    proxy_server_close(conn);
    dns_cancel(&conn->lookup);
    if (told)
        report(conn, why);
    buf_clear(&conn->out);
    buf_printf(&conn->out,
               "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\n"
               "Content-Length: %zu\r\nConnection: close\r\n\r\n%s\n",
               status, status_text(status), strlen(why) + 1, why);
    bytes = uv_buf_init(conn->out.p, (unsigned)conn->out.n);
    conn->write.data = conn;
    loop_timer_start(conn->proxy->loop, &conn->timer, ANSWER_MS);
    if (uv_write(&conn->write, (uv_stream_t *)&conn->client, &bytes, 1, on_answer_written) < 0)
        proxy_conn_end(conn);
    else
        proxy_conn_listen(conn);
}

static void on_timer(struct loop_timer *timer)
{
    struct proxy_conn *conn =
        (struct proxy_conn *)((char *)timer - offsetof(struct proxy_conn, timer));

    switch (conn->phase) {
    case PROXY_HEAD:
        proxy_conn_answer(conn, 408, false, "The request did not come in time.");
        break;
    case PROXY_RESOLVE:
        proxy_conn_answer(conn, 504, false, "The host's address was not found in time.");
        break;
    case PROXY_CONNECT:
        proxy_conn_answer(conn, 504, false, "The host did not answer in time.");
        break;
    case PROXY_PIPE:
        proxy_pipe_timer(conn);
        break;
    default:
        proxy_conn_end(conn);
    }
}

/* ---- reading the head ---- */

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_bytes)
{
    static char nowhere[4096]; /* what comes after an answer is not looked at */
    struct proxy_conn *conn = (struct proxy_conn *)handle;
    size_t room = PROXY_HEAD_MAX - conn->head.n;

    (void)suggested;
    if (conn->phase != PROXY_HEAD)
        *ret_bytes = uv_buf_init(nowhere, sizeof(nowhere));
    else
        *ret_bytes = uv_buf_init(buf_reserve(&conn->head, room), (unsigned)room);
}

static void on_head(struct proxy_conn *conn)
{
    char why[600];
    struct err err = ERR_INIT;

    conn->head_n = proxy_head_size(buf_str(&conn->head));
    if (conn->head_n == 0) {
        if (conn->head.n == PROXY_HEAD_MAX)
            proxy_conn_answer(conn, 400, true,
                              "The request line and headers have more than 16 KiB.");
        return;
    }
    if (proxy_request_parse(str_take(buf_str(&conn->head), conn->head_n), &conn->request, &err) <
        0) {
        char text[500];

        snprintf(why, sizeof(why), "The request was refused: %s.",
                 err_format(&err, text, sizeof(text)));
        proxy_conn_answer(conn, 400, true, why);
        return;
    }
    uv_read_stop((uv_stream_t *)&conn->client);
    proxy_conn_dial(conn);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes)
{
    struct proxy_conn *conn = (struct proxy_conn *)stream;

    (void)bytes;
    if (n < 0) {
        proxy_conn_end(conn);
    } else if (n > 0 && conn->phase == PROXY_HEAD) {
        buf_grown(&conn->head, (size_t)n);
        on_head(conn);
    }
}

void proxy_conn_listen(struct proxy_conn *conn)
{
    uv_read_stop((uv_stream_t *)&conn->client);
    if (uv_read_start((uv_stream_t *)&conn->client, on_alloc, on_read) < 0)
        proxy_conn_end(conn);
}

void proxy_conn_accept(struct proxy *proxy)
{
    struct proxy_conn *conn = NEW(struct proxy_conn);

    conn->proxy = proxy;
    conn->timer.fire = on_timer;
    conn->head = BUF_INIT(PROXY_HEAD_MAX + 1);
    conn->out = BUF_INIT(2 * PROXY_HEAD_MAX);
    conn->handles = 1;
    proxy->holders++;
    conn->next = proxy->conns;
    conn->link = &proxy->conns;
    if (conn->next)
        conn->next->link = &conn->next;
    proxy->conns = conn;
    proxy->counts.open++;
    uv_pipe_init(loop_uv(proxy->loop), &conn->client, 0);
    if (uv_accept((uv_stream_t *)&proxy->listener, (uv_stream_t *)&conn->client) < 0) {
        proxy_conn_end(conn);
        return;
    }
    loop_timer_start(proxy->loop, &conn->timer, proxy->head_ms);
    if (proxy->counts.open > proxy->connections_max)
        proxy_conn_answer(conn, 503, true, "There are too many connections at a time.");
    else
        proxy_conn_listen(conn);
}

/* ---- the proxy ---- */

static void on_connection(uv_stream_t *listener, int status)
{
    if (status == 0)
        proxy_conn_accept(listener->data);
}

static int listen_at(struct proxy *proxy, const char *path, struct err *err)
{
    int r;

    if (strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
        return err_set(err, ERR_BAD_REQUEST, "the path of the proxy's socket is too long: %s",
                       path);
    uv_pipe_init(loop_uv(proxy->loop), &proxy->listener, 0);
    proxy->listener.data = proxy;
    proxy->listening = true;
    r = uv_pipe_bind(&proxy->listener, path);
    /* Nobody can connect before listen(), so the mode is right from the first moment on. */
    if (r == 0 && chmod(path, 0600) < 0)
        r = uv_translate_sys_error(errno);
    if (r == 0)
        r = uv_listen((uv_stream_t *)&proxy->listener, BACKLOG, on_connection);
    if (r < 0)
        return err_set(err, ERR_SANDBOX_UNAVAILABLE, "listen on the proxy's socket %s: %s", path,
                       uv_strerror(r));
    return 0;
}

static int64_t or_default(int64_t value, int64_t otherwise)
{
    return value ? value : otherwise;
}

int proxy_start(struct loop *loop, const struct proxy_config *config, struct proxy **ret_proxy,
                struct err *err)
{
    AUTO(proxy) proxy = NEW(struct proxy);

    proxy->loop = loop;
    proxy->holders = 1;
    proxy->on_refused = config->on_refused;
    proxy->arg = config->arg;
    proxy->connections_max = (unsigned)or_default(config->connections_max, 64);
    proxy->head_ms = or_default(config->head_ms, 10000);
    proxy->connect_ms = or_default(config->connect_ms, 20000);
    proxy->idle_ms = or_default(config->idle_ms, 300000);
    if (proxy_list_init(&proxy->list, config->allow_domains, err) < 0)
        return -1;
    proxy->resolver_owned = !config->resolver;
    proxy->resolver = config->resolver ? config->resolver : dns_resolver_system(loop);
    if (listen_at(proxy, config->socket_path, err) < 0)
        return -1;
    *ret_proxy = TAKE(proxy);
    return 0;
}

static void on_listener_closed(uv_handle_t *handle)
{
    proxy_drop(handle->data);
}

void proxy_free(struct proxy *proxy)
{
    if (!proxy)
        return;
    proxy->on_refused = NULL;
    while (proxy->conns)
        proxy_conn_end(proxy->conns);
    if (proxy->resolver_owned)
        dns_resolver_free(proxy->resolver);
    if (proxy->listening)
        uv_close((uv_handle_t *)&proxy->listener, on_listener_closed);
    else
        proxy_drop(proxy);
}

struct proxy_counts proxy_counts(const struct proxy *proxy)
{
    return proxy->counts;
}
