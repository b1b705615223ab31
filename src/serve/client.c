/* What SSE readers and WebSocket peers have in common: a stream, a beginning, heartbeats, and a
 * last word.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/client_int.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "serve/serve_int.h"
#include "serve/ws_int.h"

#define GOODBYE_MS  2000   /* for a last word to arrive */
#define PATIENCE_MS 120000 /* for all of it, as long as the client takes some */

struct serve_client *client_of(struct stream *stream)
{
    return (struct serve_client *)stream;
}

int64_t client_now_ms(const struct serve_client *client)
{
    return clock_mono_ms(loop_clock(client->serve->loop));
}

int client_push(struct serve_client *client, struct str bytes)
{
    struct chunk *chunk = chunk_copy(bytes);
    int r = stream_push(&client->stream, chunk);

    chunk_unref(chunk);
    return r;
}

void client_finish_soon(struct serve_client *client)
{
    if (client->stream.end_ms == 0)
        client->stream.end_ms = client_now_ms(client) + GOODBYE_MS;
}

/* A peer that vanished without a word is noticed by the kernel, too. */
static void set_timeouts(const struct serve_client *client)
{
    unsigned ms = (unsigned)(3 * client->serve->limits.heartbeat_ms);

    setsockopt(client->stream.fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
}

int client_start(struct serve_client *client, const struct stream_ops *ops, int fd)
{
    struct serve *serve = client->serve;

    if (stream_start(&client->stream, &serve->streams, ops, fd) < 0)
        return -1;
    client->stream.heard_ms = client->stream.sent_ms = client_now_ms(client);
    set_timeouts(client);
    return 0;
}

void client_detach_request(struct conn *conn)
{
    struct serve_request *request = TAKE(conn->request);

    conn_set_state(conn, CONN_STREAM);
    request_free(request);
}

bool client_too_many(struct serve_request *request)
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

struct serve_client *client_new(struct serve_request *request, enum client_kind kind)
{
    struct serve_client *client = NEW(struct serve_client);

    client->serve = request->serve;
    client->conn = request->conn;
    client->kind = kind;
    client->chunked = !request->http_1_0;
    return client;
}

void client_release_data(struct serve_client *client)
{
    void *data = TAKE(client->data);

    if (data && client->release)
        client->release(data);
}

void serve_client_set_data(struct serve_client *client, void *data, void (*release)(void *data))
{
    client->data = data;
    client->release = release;
}

void *serve_client_data(const struct serve_client *client)
{
    return client->data;
}

size_t serve_client_backlog(const struct serve_client *client)
{
    return client->stream.queued;
}

void serve_client_end(struct serve_client *client)
{
    if (client->stream.dead || client->stream.ending)
        return;
    if (client->kind == CLIENT_WS) {
        client_ws_end(client);
        return;
    }
    client_finish_soon(client);
    client->stream.left = SIZE_MAX;
    client->stream.patience_ms = client_now_ms(client) + PATIENCE_MS;
    stream_finish(&client->stream);
}

void client_free(struct serve_client *client)
{
    if (!client)
        return;
    client_release_data(client);
    ws_free(client->ws);
    free(client);
}

void client_say_goodbye(struct serve_client *client, const char *why)
{
    if (client->stream.dead || client->stream.ending)
        return;
    if (client->kind == CLIENT_WS)
        client_ws_goodbye(client, why);
    else
        client_sse_goodbye(client, why);
}

/* ---- time ---- */

static void heartbeat(struct serve_client *client, int64_t now)
{
    if (now - client->stream.sent_ms < client->serve->limits.heartbeat_ms)
        return;
    client->stream.sent_ms = now;
    if (client->kind == CLIENT_WS)
        client_ws_heartbeat(client, now);
    else
        client_sse_heartbeat(client);
}

/* Nothing more is said, but the client has not taken all of it: it keeps its place as long as what
 * is left, here and in the kernel, becomes less. */
static bool still_takes(const struct serve *serve, struct stream *stream, int64_t now)
{
    int unsent = 0;
    size_t left;

    if (serve->stopping || now >= stream->patience_ms)
        return false;
    ioctl(stream->fd, SIOCOUTQ, &unsent);
    left = stream->queued + (size_t)unsent;
    if (left >= stream->left)
        return false;
    stream->left = left;
    stream->end_ms = now + GOODBYE_MS;
    return true;
}

void client_heartbeats(struct serve *serve, int64_t now)
{
    struct stream *next;

    for (struct stream *stream = serve->streams.first; stream; stream = next) {
        next = stream->next;
        if (stream->end_ms > 0 && stream->end_ms <= now) {
            if (!still_takes(serve, stream, now))
                stream_close(stream);
        } else if (!stream->ending) {
            heartbeat(client_of(stream), now);
        }
    }
}

void client_forgive(struct serve *serve, int64_t now, int64_t late_ms)
{
    for (struct stream *stream = serve->streams.first; stream; stream = stream->next) {
        stream->heard_ms = stream->heard_ms + late_ms < now ? stream->heard_ms + late_ms : now;
        if (stream->end_ms > 0)
            stream->end_ms += late_ms;
        if (stream->patience_ms > 0)
            stream->patience_ms += late_ms;
    }
}

void client_goodbye(struct serve *serve)
{
    struct stream *next;

    for (struct stream *stream = serve->streams.first; stream; stream = next) {
        next = stream->next;
        client_say_goodbye(client_of(stream), "the server is stopping");
    }
}
