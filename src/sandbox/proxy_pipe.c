/* Bytes between client and server, both ways, each with back-pressure.
 *
 * What was read is tried at once; what does not fit is queued and reading stops until it is gone.
 * An end on one side is passed on as an end of that direction only, so half-open connections work;
 * when both directions are done, or no byte moved for too long, everything is closed.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sandbox/proxy_int.h"

static void read_on(struct proxy_conn *conn, struct proxy_flow *flow);

static void moved(struct proxy_conn *conn)
{
    conn->moved_ms = clock_mono_ms(loop_clock(conn->proxy->loop));
}

void proxy_pipe_timer(struct proxy_conn *conn)
{
    int64_t quiet = clock_mono_ms(loop_clock(conn->proxy->loop)) - conn->moved_ms;

    if (quiet >= conn->proxy->idle_ms)
        proxy_conn_end(conn);
    else
        loop_timer_start(conn->proxy->loop, &conn->timer, conn->proxy->idle_ms - quiet);
}

/* ---- ends ---- */

static void on_shut(uv_shutdown_t *shutdown, int status)
{
    struct proxy_conn *conn = shutdown->data;

    if (conn->closed)
        return;
    if (status < 0 || (conn->up.done && conn->down.done))
        proxy_conn_end(conn);
}

/* Nothing more comes this way: pass the end on once all is written. */
static void finish(struct proxy_conn *conn, struct proxy_flow *flow)
{
    if (flow->writing || flow->done)
        return;
    flow->done = true;
    flow->shutdown.data = conn;
    if (uv_shutdown(&flow->shutdown, flow->to, on_shut) < 0)
        proxy_conn_end(conn);
}

/* ---- moving ---- */

static void on_written(uv_write_t *write, int status)
{
    struct proxy_flow *flow = write->data;
    struct proxy_conn *conn = flow->write.handle->data;

    flow->writing = false;
    if (conn->closed)
        return;
    if (status < 0) {
        proxy_conn_end(conn);
        return;
    }
    moved(conn);
    if (flow->ended)
        finish(conn, flow);
    else
        read_on(conn, flow);
}

/* Passes bytes of flow->bytes on; true when all went at once. */
static bool pass(struct proxy_conn *conn, struct proxy_flow *flow, char *bytes, size_t n)
{
    uv_buf_t left = uv_buf_init(bytes, (unsigned)n);
    int r = uv_try_write(flow->to, &left, 1);

    if (r == (int)n)
        return true;
    if (r < 0 && r != UV_EAGAIN) {
        proxy_conn_end(conn);
        return false;
    }
    if (r > 0)
        left = uv_buf_init(bytes + r, (unsigned)n - (unsigned)r);
    uv_read_stop(flow->from);
    flow->started = false;
    flow->writing = true;
    flow->write.data = flow;
    if (uv_write(&flow->write, flow->to, &left, 1, on_written) < 0) {
        flow->writing = false;
        proxy_conn_end(conn);
    }
    return false;
}

static void stop_reading(struct proxy_flow *flow)
{
    uv_read_stop(flow->from);
    flow->started = false;
    flow->ended = true;
}

/* The part of a plain request's bytes that is still its body. A second request behind it is never
 * passed on: the server is told that there is no more, and ends. */
static ptrdiff_t body_part(struct proxy_conn *conn, const char *bytes, size_t n)
{
    ptrdiff_t own;

    if (conn->request.connect)
        return (ptrdiff_t)n;
    own = proxy_body_take(&conn->body, str_of(bytes, n));
    if (own >= 0 && (size_t)own < n)
        stop_reading(&conn->up);
    return own;
}

static void forward(struct proxy_conn *conn, struct proxy_flow *flow, char *bytes, size_t n)
{
    ptrdiff_t own = flow == &conn->up ? body_part(conn, bytes, n) : (ptrdiff_t)n;

    if (own < 0) {
        proxy_conn_end(conn);
        return;
    }
    if (own > 0 && !pass(conn, flow, bytes, (size_t)own))
        return;
    if (flow->ended)
        finish(conn, flow);
}

static struct proxy_flow *flow_of(uv_stream_t *stream, struct proxy_conn *conn)
{
    return stream == conn->up.from ? &conn->up : &conn->down;
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_bytes)
{
    struct proxy_flow *flow = flow_of((uv_stream_t *)handle, handle->data);

    (void)suggested;
    if (!flow->bytes)
        flow->bytes = alloc_resize(NULL, PROXY_FLOW_BYTES, 1);
    *ret_bytes = uv_buf_init(flow->bytes, PROXY_FLOW_BYTES);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes)
{
    struct proxy_conn *conn = stream->data;
    struct proxy_flow *flow = flow_of(stream, conn);

    if (n == 0)
        return;
    moved(conn);
    if (n > 0) {
        forward(conn, flow, bytes->base, (size_t)n);
    } else if (n == UV_EOF) {
        stop_reading(flow);
        finish(conn, flow);
    } else {
        proxy_conn_end(conn);
    }
}

static void read_on(struct proxy_conn *conn, struct proxy_flow *flow)
{
    if (flow->started || flow->ended)
        return;
    flow->started = true;
    if (uv_read_start(flow->from, on_alloc, on_read) < 0)
        proxy_conn_end(conn);
}

/* ---- the beginning ---- */

static void on_first_written(uv_write_t *write, int status)
{
    struct proxy_conn *conn = write->data;
    size_t early = conn->head.n - conn->head_n;

    if (conn->closed)
        return;
    if (status < 0) {
        proxy_conn_end(conn);
        return;
    }
    read_on(conn, &conn->down);
    /* What the client sent right behind its head. */
    if (early > 0 && !conn->closed)
        forward(conn, &conn->up, conn->head.p + conn->head_n, early);
    if (!conn->closed && !conn->up.writing)
        read_on(conn, &conn->up);
}

void proxy_conn_pipe(struct proxy_conn *conn)
{
    uv_stream_t *client = (uv_stream_t *)&conn->client, *server = (uv_stream_t *)&conn->server->tcp;
    uv_buf_t bytes;
    int r;

    conn->phase = PROXY_PIPE;
    conn->up.from = conn->down.to = client;
    conn->up.to = conn->down.from = server;
    client->data = server->data = conn;
    proxy_body_init(&conn->body, &conn->request);
    moved(conn);
    loop_timer_start(conn->proxy->loop, &conn->timer, conn->proxy->idle_ms);
    if (conn->request.connect)
        buf_add_text(&conn->out, "HTTP/1.1 200 Connection established\r\n\r\n");
    else if (proxy_request_write(&conn->request, &conn->out) < 0) {
        proxy_conn_answer(conn, 400, true, "The request grew too large.");
        return;
    }
    bytes = uv_buf_init(conn->out.p, (unsigned)conn->out.n);
    conn->write.data = conn;
    r = uv_write(&conn->write, conn->request.connect ? client : server, &bytes, 1,
                 on_first_written);
    if (r < 0)
        proxy_conn_end(conn);
}
