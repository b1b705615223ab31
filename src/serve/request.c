/* A request from its first line to its handler.
 *
 * libmicrohttpd calls request_begin() with the first line, request_step() when the head is whole,
 * then with pieces of the body, then once more at its end; and again after a suspended connection
 * was resumed. All checks happen at the head (request_head.c), before a byte of the body is taken.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/limits.h"
#include "serve/serve_int.h"

static struct conn *conn_of(struct MHD_Connection *mhd)
{
    return MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static struct serve_request *request_new(struct serve *serve)
{
    struct serve_request *request = serve->spare;

    if (request) {
        struct arena arena = request->arena;

        serve->spare = request->spare_next;
        serve->spare_count--;
        *request = (struct serve_request){ .arena = arena };
    } else {
        request = NEW(struct serve_request);
    }
    request->serve = serve;
    return request;
}

void request_free(struct serve_request *request)
{
    struct serve *serve = request->serve;

    reply_drop(request);
    client_free(request->pending);
    buf_release(&request->body);
    if (serve->spare_count == SERVE_SPARE_MAX) {
        arena_release(&request->arena);
        free(request);
        return;
    }
    arena_reset(&request->arena);
    request->spare_next = serve->spare;
    serve->spare = request;
    serve->spare_count++;
}

void *request_begin(void *cls, const char *uri, struct MHD_Connection *mhd)
{
    struct serve *serve = ((struct door *)cls)->serve;
    struct conn *conn = conn_of(mhd);
    struct serve_request *request = request_new(serve);

    request->conn = conn;
    request->raw_target = arena_str(&request->arena, str_from(uri));
    conn->request = request;
    conn_set_state(conn, CONN_HEAD);
    return request;
}

void request_completed(void *cls, struct MHD_Connection *mhd, void **slot,
                       enum MHD_RequestTerminationCode why)
{
    struct conn *conn = conn_of(mhd);

    (void)cls, (void)why;
    *slot = NULL;
    if (!conn || !conn->request)
        return;
    if (conn->request->held || conn->request->waiting)
        conn->request->conn = NULL;
    else
        request_free(conn->request);
    conn->request = NULL;
    conn_set_state(conn, CONN_ANSWERED);
}

static enum MHD_Result queue_reply(struct serve_request *request)
{
    struct conn *conn = request->conn;
    enum MHD_Result result;

    metrics_count(request->serve, request, request->status);
    conn_set_state(conn, CONN_REPLY);
    result = MHD_queue_response(conn->mhd, (unsigned)request->status, request->response);
    reply_drop(request);
    return result;
}

static enum MHD_Result step_head(struct serve_request *request, const char *method,
                                 const char *version)
{
    struct head head = { .hosts = 0 };
    uint64_t length;

    request->started = true;
    request->method = arena_str(&request->arena, str_from(method));
    request->safe = str_is(request->method, "GET") || str_is(request->method, "HEAD") ||
                    str_is(request->method, "OPTIONS");
    request->http_1_0 = strcmp(version, "HTTP/1.1") != 0;
    MHD_get_connection_values_n(request->conn->mhd, MHD_HEADER_KIND, request_take_header, &head);
    /* What a proxy on this machine passes on comes from somewhere else. */
    request->local = !request->conn->remote && !head.forwarded;
    request_judge(request, &head, &length);
    /* A small body is read and dropped, so that the connection lives on; for a big one, or one
     * whose end is not sure, the answer comes at once and the connection ends. */
    if (request->refused && (request->unframed || length > SERVE_SWALLOW_BYTES || head.codings))
        return queue_reply(request);
    if (length > 0 || head.codings)
        conn_set_state(request->conn, CONN_BODY);
    return MHD_YES;
}

static enum MHD_Result step_body(struct serve_request *request, const char *bytes, size_t *n)
{
    size_t got = *n;

    *n = 0;
    if (request->refused || buf_add(&request->body, bytes, got) == 0)
        return MHD_YES;
    /* Chunked, so the length was not known before. libmicrohttpd takes no answer here. */
    metrics_count(request->serve, request, 413);
    reply_raw(request->conn->fd, 413);
    return MHD_NO;
}

static void dispatch(struct serve_request *request)
{
    request->dispatched = true;
    if (!request->safe)
        request->serve->writing = true;
    request->match.route->run(request);
    if (!request->response && !request->held) {
        struct err err = ERR_INIT;

        err_set(&err, ERR_INTERNAL, "the handler of %s gave no answer",
                request->match.route->pattern);
        serve_reply_error(request, &err);
    }
}

static void on_clean(struct loop_effect *effect)
{
    struct serve_request *request = reply_request_of(effect);

    request->waiting = false;
    if (request->conn)
        dispatch(request);
    else
        request_free(request);
}

/* A handler that reads must not see what another one wrote in this tick: that is not yet safe, and
 * may never be. It runs when the tick is committed. */
static void postpone(struct serve_request *request)
{
    request->waiting = true;
    request->effect = (struct loop_effect){ .run = on_clean, .drop = reply_dropped };
    loop_after_commit(request->serve->loop, &request->effect);
}

enum MHD_Result request_step(void *cls, struct MHD_Connection *mhd, const char *url,
                             const char *method, const char *version, const char *bytes, size_t *n,
                             void **slot)
{
    struct conn *conn = conn_of(mhd);
    struct serve_request *request = conn->request;

    (void)cls, (void)url, (void)slot;
    if (!request || conn->cut)
        return MHD_NO;
    if (!request->started)
        return step_head(request, method, version);
    if (*n > 0)
        return step_body(request, bytes, n);
    if (!request->refused && !request->dispatched) {
        if (request->safe && request->serve->writing)
            postpone(request);
        else
            dispatch(request);
    }
    if (request->response && !request->waiting)
        return queue_reply(request);
    conn_set_state(conn, CONN_HELD);
    conn_suspend(conn);
    return MHD_YES;
}
