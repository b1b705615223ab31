/* Connections that became streams: SSE readers, WebSockets, and the feeds they follow.
 *
 * SSE: libmicrohttpd sends the head of the answer and asks for the body. From then on it is
 * suspended and the descriptor is ours: events are written to it in chunked coding, straight from
 * the queue. At the end it is resumed, asks again, is told that there is no more, writes the last
 * chunk and closes.
 *
 * WebSocket: libmicrohttpd hands the descriptor over after the handshake and takes it back with
 * the CLOSE action.
 *
 * SPDX-License-Identifier: MIT
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/limits.h"
#include "serve/client_int.h"
#include "serve/serve_int.h"
#include "serve/sse_int.h"
#include "serve/ws_int.h"

#define SSE_RETRY_MS  2000
#define GOODBYE_MS    2000 /* for a last word to arrive */
#define ENCODED_EXTRA 4096 /* around the data of an event */

static struct serve_client *client_of(struct stream *stream)
{
    return (struct serve_client *)stream;
}

static int64_t now_ms(const struct serve *serve)
{
    return clock_mono_ms(loop_clock(serve->loop));
}

static int push_bytes(struct serve_client *client, struct str bytes)
{
    struct chunk *chunk = chunk_copy(bytes);
    int r = stream_push(&client->stream, chunk);

    chunk_unref(chunk);
    return r;
}

static void finish_soon(struct serve_client *client)
{
    if (client->stream.end_ms == 0)
        client->stream.end_ms = now_ms(client->serve) + GOODBYE_MS;
}

static void leave_feed(struct serve_client *client)
{
    struct serve_feed *feed = client->feed;

    if (!feed)
        return;
    client->feed = NULL;
    *client->feed_link = client->feed_next;
    if (client->feed_next)
        client->feed_next->feed_link = client->feed_link;
    feed->count--;
    if (feed->ops && feed->ops->left)
        feed->ops->left(feed, client, feed->arg);
}

/* It may have ended between the request and now. */
static bool feed_lives(const struct serve *serve, const struct serve_feed *feed)
{
    const struct serve_feed *at = serve->feeds;

    while (at && at != feed)
        at = at->next;
    return at != NULL;
}

static void say_goodbye(struct serve_client *client, const char *why);

static void join_feed(struct serve_client *client, struct serve_feed *feed, uint64_t after)
{
    if (!feed_lives(client->serve, feed)) {
        say_goodbye(client, "this feed has ended");
        return;
    }
    client->feed = feed;
    client->feed_next = feed->first;
    client->feed_link = &feed->first;
    if (feed->first)
        feed->first->feed_link = &client->feed_next;
    feed->first = client;
    feed->count++;
    if (feed->ops && feed->ops->joined)
        feed->ops->joined(feed, client, after, feed->arg);
}

/* A peer that vanished without a word is noticed by the kernel, too. */
static void set_timeouts(const struct serve_client *client)
{
    unsigned ms = (unsigned)(3 * client->serve->limits.heartbeat_ms);

    setsockopt(client->stream.fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
}

static int client_start(struct serve_client *client, const struct stream_ops *ops, int fd)
{
    struct serve *serve = client->serve;

    if (stream_start(&client->stream, &serve->streams, ops, fd) < 0)
        return -1;
    client->stream.heard_ms = client->stream.sent_ms = now_ms(serve);
    set_timeouts(client);
    return 0;
}

/* The request has become a stream: what was needed to answer it ends here. */
static void detach_request(struct conn *conn)
{
    struct serve_request *request = TAKE(conn->request);

    conn_set_state(conn, CONN_STREAM);
    request_free(request);
}

static bool too_many(struct serve_request *request)
{
    struct serve *serve = request->serve;
    struct err err = ERR_INIT;

    if (serve->stopping)
        err_set(&err, ERR_STORAGE_FAILED, "the server is stopping");
    else if (serve->streams.handles >= serve->limits.streams)
        err_set(&err, ERR_RATE_LIMITED, "%u streams are open already", serve->streams.handles);
    else
        return false;
    serve_reply_error_status(request, serve->stopping ? 503 : 429, &err);
    return true;
}

static struct serve_client *client_new(struct serve_request *request, enum client_kind kind)
{
    struct serve_client *client = NEW(struct serve_client);

    client->serve = request->serve;
    client->conn = request->conn;
    client->kind = kind;
    client->chunked = !request->http_1_0;
    return client;
}

void client_free(struct serve_client *client)
{
    if (!client)
        return;
    ws_free(client->ws);
    free(client);
}

/* ---- SSE ---- */

/* What goes over the wire for an event's text. */
static int sse_wrap(struct buf *out, struct str text, bool chunked)
{
    return chunked ? sse_http_chunk(out, text) : buf_add_str(out, text);
}

static void sse_send(struct serve_client *client, const struct buf *text)
{
    AUTO_BUF wire = BUF_INIT(text->n + 64);

    sse_wrap(&wire, buf_str(text), client->chunked);
    push_bytes(client, buf_str(&wire));
}

static void sse_overflow(struct stream *stream)
{
    stream_close(stream);
}

static void sse_closed(struct stream *stream)
{
    struct serve_client *client = client_of(stream);
    struct conn *conn = client->conn;

    leave_feed(client);
    client->over = true;
    if (!stream->flushed)
        shutdown(conn->fd, SHUT_RDWR); /* what libmicrohttpd writes next fails, and it closes */
    conn_set_state(conn, CONN_REPLY);
    conn->suspended = false;
    MHD_resume_connection(conn->mhd);
    conn->door->ready = true;
    serve_wake(client->serve);
}

static const struct stream_ops sse_ops = { .overflow = sse_overflow, .closed = sse_closed };

static void sse_begin(struct serve_client *client)
{
    AUTO_BUF text = BUF_INIT(256);
    struct serve_feed *feed = TAKE(client->feed);
    struct conn *conn = client->conn;

    MHD_suspend_connection(conn->mhd);
    conn->suspended = true;
    detach_request(conn);
    client->begun = true;
    if (client_start(client, &sse_ops, conn->fd) < 0) {
        client->over = true;
        conn_set_state(conn, CONN_REPLY);
        conn->suspended = false;
        MHD_resume_connection(conn->mhd);
        conn->door->ready = true;
        serve_wake(client->serve);
        return;
    }
    sse_retry(&text, SSE_RETRY_MS);
    sse_send(client, &text);
    join_feed(client, feed, client->after);
}

/* Called when the head is out, and again when the stream has ended. */
static ssize_t sse_read(void *cls, uint64_t at, char *out, size_t n)
{
    struct serve_client *client = cls;

    (void)at, (void)out, (void)n;
    /* Not END_WITH_ERROR: after it, 0.9.75 forgets a connection whose peer is gone already. */
    if (client->over)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (!client->begun)
        sse_begin(client);
    return 0;
}

static void sse_free(void *cls)
{
    free(cls);
}

void serve_feed_open_sse(struct serve_feed *feed, struct serve_request *request)
{
    struct str last = serve_request_header(request, "Last-Event-ID");
    struct MHD_Response *response;
    struct serve_client *client;

    if (too_many(request))
        return;
    client = client_new(request, CLIENT_SSE);
    client->feed = feed;
    if (last.n == 0 || str_to_u64(last, &client->after) < 0)
        client->after = 0;
    response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 64, sse_read, client, sse_free);
    if (!response)
        BUG("out of memory for a response");
    MHD_add_response_header(response, "Content-Type", "text/event-stream; charset=utf-8");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "X-Accel-Buffering", "no");
    MHD_add_response_header(response, "Connection", "close");
    reply_set(request, 200, response);
}

/* ---- WebSocket ---- */

static void ws_drain(struct serve_client *client)
{
    struct buf *out = ws_output(client->ws);

    if (out->n > 0)
        push_bytes(client, buf_str(out));
    buf_clear(out);
    if (ws_done(client->ws)) {
        finish_soon(client);
        stream_finish(&client->stream);
    }
}

static void ws_say_close(struct serve_client *client, unsigned code, const char *reason)
{
    if (client->close_code == 0)
        client->close_code = code;
    ws_close(client->ws, (uint16_t)code, reason);
    finish_soon(client);
    ws_drain(client);
}

static void on_ws_message(void *arg, bool text, struct str bytes)
{
    struct serve_client *client = arg;

    if (client->ws_ops) {
        if (client->ws_ops->message)
            client->ws_ops->message((struct serve_ws *)client, text, bytes, client->ws_arg);
    } else if (text && client->feed && client->feed->ops && client->feed->ops->message) {
        client->feed->ops->message(client->feed, client, bytes, client->feed->arg);
    } else {
        client->refused_input = true;
    }
}

static void ws_input(struct stream *stream, struct str bytes)
{
    struct serve_client *client = client_of(stream);

    stream->heard_ms = now_ms(client->serve);
    ws_feed(client->ws, bytes);
    if (client->refused_input)
        ws_say_close(client, WS_UNSUPPORTED, "nothing is read here");
    else
        ws_drain(client);
}

static void ws_overflow(struct stream *stream)
{
    stream_truncate(stream);
    ws_say_close(client_of(stream), WS_TRY_LATER, "too slow: come back and resume");
    stream_finish(stream);
}

static void ws_closed(struct stream *stream)
{
    struct serve_client *client = client_of(stream);
    struct conn *conn = client->conn;
    unsigned code = ws_client_code(client->ws);

    leave_feed(client);
    if (client->ws_ops && client->ws_ops->closed)
        client->ws_ops->closed(
            (struct serve_ws *)client,
            code == WS_ABNORMAL && client->close_code ? client->close_code : code, client->ws_arg);
    shutdown(conn->fd, SHUT_WR);
    conn->door->ready = true;
    serve_wake(client->serve);
    MHD_upgrade_action(client->urh, MHD_UPGRADE_ACTION_CLOSE);
    client_free(client);
}

static const struct stream_ops ws_ops = {
    .input = ws_input,
    .overflow = ws_overflow,
    .closed = ws_closed,
};

static void on_upgrade(void *cls, struct MHD_Connection *mhd, void *slot, const char *extra,
                       size_t extra_n, MHD_socket fd, struct MHD_UpgradeResponseHandle *urh)
{
    struct serve_client *client = cls;
    struct serve_feed *feed = TAKE(client->feed);

    (void)mhd, (void)slot;
    client->urh = urh;
    client->conn->request->pending = NULL;
    detach_request(client->conn);
    if (client_start(client, &ws_ops, fd) < 0) {
        MHD_upgrade_action(urh, MHD_UPGRADE_ACTION_CLOSE);
        client_free(client);
        return;
    }
    if (feed)
        join_feed(client, feed, 0);
    if (client->ws_ops && client->ws_ops->opened)
        client->ws_ops->opened((struct serve_ws *)client, client->ws_arg);
    if (extra_n > 0)
        ws_input(&client->stream, str_of(extra, extra_n));
}

static struct serve_client *ws_begin(struct serve_request *request)
{
    struct ws_handshake handshake = {
        .upgrade = serve_request_header(request, "Upgrade"),
        .connection = serve_request_header(request, "Connection"),
        .version = serve_request_header(request, "Sec-WebSocket-Version"),
        .key = serve_request_header(request, "Sec-WebSocket-Key"),
        .http_1_1 = !request->http_1_0,
        .is_get = str_is(request->method, "GET"),
    };
    char accept[WS_ACCEPT_TEXT + 1];
    struct MHD_Response *response;
    struct serve_client *client;
    struct err err = ERR_INIT;

    if (ws_handshake_check(&handshake, &err) < 0) {
        bool plain = !handshake.upgrade.p || !str_is(handshake.version, "13");

        serve_reply_header(request, "Sec-WebSocket-Version", "13");
        serve_reply_error_status(request, plain ? 426 : 400, &err);
        return NULL;
    }
    if (too_many(request))
        return NULL;
    client = client_new(request, CLIENT_WS);
    client->ws = ws_new(LIMIT_WEBSOCKET_BYTES, on_ws_message, client);
    ws_accept(handshake.key, accept);
    response = MHD_create_response_for_upgrade(on_upgrade, client);
    if (!response)
        BUG("out of memory for a response");
    MHD_add_response_header(response, "Upgrade", "websocket");
    MHD_add_response_header(response, "Sec-WebSocket-Accept", accept);
    request->pending = client;
    reply_set(request, 101, response);
    return client;
}

void serve_ws_accept(struct serve_request *request, const struct serve_ws_ops *ops, void *arg)
{
    struct serve_client *client = ws_begin(request);

    if (!client)
        return;
    client->ws_ops = ops;
    client->ws_arg = arg;
}

void serve_feed_open_ws(struct serve_feed *feed, struct serve_request *request)
{
    struct serve_client *client = ws_begin(request);

    if (client)
        client->feed = feed;
}

int serve_ws_send(struct serve_ws *ws, bool text, struct str bytes)
{
    struct serve_client *client = (struct serve_client *)ws;
    AUTO_BUF frame = BUF_INIT(bytes.n + 16);

    if (ws_close_sent(client->ws))
        return -1;
    ws_frame(&frame, text, bytes);
    return push_bytes(client, buf_str(&frame));
}

void serve_ws_close(struct serve_ws *ws, unsigned code, const char *reason)
{
    ws_say_close((struct serve_client *)ws, code, reason);
}

/* ---- feeds ---- */

struct serve_feed *serve_feed_new(struct serve *serve, const char *name,
                                  const struct serve_feed_ops *ops, void *arg)
{
    struct serve_feed *feed = NEW(struct serve_feed);

    feed->serve = serve;
    feed->name = name;
    feed->ops = ops;
    feed->arg = arg;
    feed->next = serve->feeds;
    serve->feeds = feed;
    return feed;
}

static void say_goodbye(struct serve_client *client, const char *why)
{
    AUTO_BUF text = BUF_INIT(512);

    if (client->stream.dead || client->stream.ending)
        return;
    if (client->kind == CLIENT_WS) {
        ws_say_close(client, WS_GOING_AWAY, why);
        return;
    }
    buf_printf(&text, "event: goodbye\ndata: {\"reason\":\"%s\"}\n\n", why);
    sse_send(client, &text);
    finish_soon(client);
    stream_finish(&client->stream);
}

void serve_feed_free(struct serve_feed *feed)
{
    if (!feed)
        return;
    feed->ops = NULL;
    while (feed->first) {
        struct serve_client *client = feed->first;

        leave_feed(client);
        say_goodbye(client, "this feed has ended");
    }
    for (struct serve_feed **at = &feed->serve->feeds; *at; at = &(*at)->next) {
        if (*at == feed) {
            *at = feed->next;
            break;
        }
    }
    free(feed);
}

unsigned serve_feed_clients(const struct serve_feed *feed)
{
    return feed->count;
}

size_t serve_feed_backlog(const struct serve_feed *feed)
{
    size_t most = 0;

    for (const struct serve_client *client = feed->first; client; client = client->feed_next)
        if (client->stream.queued > most)
            most = client->stream.queued;
    return most;
}

/* An event in the form a client reads: form 0 SSE chunked, 1 SSE plain, 2 WebSocket. */
static struct chunk *encode(int form, uint64_t id, const char *event, struct str data)
{
    AUTO_BUF text = BUF_INIT(2 * data.n + ENCODED_EXTRA);
    AUTO_BUF wire = BUF_INIT(2 * data.n + 2 * ENCODED_EXTRA);

    if (form == 2) {
        ws_frame(&wire, true, data);
    } else {
        sse_event(&text, id, event, data);
        sse_wrap(&wire, buf_str(&text), form == 0);
    }
    return chunk_copy(buf_str(&wire));
}

static int form_of(const struct serve_client *client)
{
    return client->kind == CLIENT_WS ? 2 : client->chunked ? 0 : 1;
}

static int send_chunk(struct serve_client *client, struct chunk *chunk)
{
    if (client->kind == CLIENT_WS && ws_close_sent(client->ws))
        return -1;
    return stream_push(&client->stream, chunk);
}

void serve_feed_publish(struct serve_feed *feed, uint64_t id, const char *event, struct str data)
{
    struct chunk *encoded[3] = { NULL };
    struct serve_client *next;

    feed->published++;
    for (struct serve_client *client = feed->first; client; client = next) {
        int form = form_of(client);

        next = client->feed_next;
        if (!encoded[form])
            encoded[form] = encode(form, id, event, data);
        send_chunk(client, encoded[form]);
    }
    for (size_t i = 0; i < ARRAY_LEN(encoded); i++)
        chunk_unref(encoded[i]);
}

int serve_client_send(struct serve_client *client, uint64_t id, const char *event, struct str data)
{
    struct chunk *chunk = encode(form_of(client), id, event, data);
    int r = send_chunk(client, chunk);

    chunk_unref(chunk);
    return r;
}

/* ---- time ---- */

static void heartbeat(struct serve_client *client, int64_t now)
{
    int64_t every = client->serve->limits.heartbeat_ms;

    if (now - client->stream.sent_ms < every)
        return;
    client->stream.sent_ms = now;
    if (client->kind == CLIENT_WS) {
        if (now - client->stream.heard_ms > every * 5 / 2) {
            stream_close(&client->stream);
            return;
        }
        ws_ping(client->ws);
        ws_drain(client);
    } else {
        AUTO_BUF text = BUF_INIT(64);

        sse_comment(&text, "still here");
        sse_send(client, &text);
    }
}

void client_heartbeats(struct serve *serve, int64_t now)
{
    struct stream *next;

    for (struct stream *stream = serve->streams.first; stream; stream = next) {
        next = stream->next;
        if (stream->end_ms > 0 && stream->end_ms <= now)
            stream_close(stream);
        else if (!stream->ending)
            heartbeat(client_of(stream), now);
    }
}

void client_goodbye(struct serve *serve)
{
    struct stream *next;

    for (struct stream *stream = serve->streams.first; stream; stream = next) {
        next = stream->next;
        say_goodbye(client_of(stream), "the server is stopping");
    }
}
