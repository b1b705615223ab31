/* Readers of server-sent events.
 *
 * libmicrohttpd sends the head of the answer and asks for the body. From then on it is suspended
 * and the descriptor is ours: events are written to it in chunked coding, straight from the queue.
 * At the end it is resumed, asks again, is told that there is no more, writes the last chunk and
 * closes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <sys/socket.h>

#include "base/json_write.h"
#include "serve/client_int.h"
#include "serve/serve_int.h"
#include "serve/sse_int.h"

#define SSE_RETRY_MS 2000

static void sse_send(struct serve_client *client, const struct buf *text)
{
    AUTO_BUF wire = BUF_INIT(text->n + 64);

    sse_wire(&wire, buf_str(text), client->chunked);
    client_push(client, buf_str(&wire));
}

static void sse_overflow(struct stream *stream)
{
    stream_close(stream);
}

/* libmicrohttpd asks again, and is told that it was all. */
static void hand_back(struct serve_client *client)
{
    client->over = true;
    conn_set_state(client->conn, CONN_REPLY);
    conn_resume(client->conn);
}

static void sse_closed(struct stream *stream)
{
    struct serve_client *client = client_of(stream);

    feed_leave(client);
    if (!stream->flushed)
        shutdown(client->conn->fd, SHUT_RDWR); /* what libmicrohttpd writes next fails: it closes */
    hand_back(client);
}

static const struct stream_ops sse_ops = {
    .overflow = sse_overflow,
    .closed = sse_closed,
    .drained = feed_drained,
};

static void sse_begin(struct serve_client *client)
{
    AUTO_BUF text = BUF_INIT(256);
    struct serve_feed *feed = TAKE(client->feed);
    struct conn *conn = client->conn;

    conn_suspend(conn);
    client_detach_request(conn);
    client->begun = true;
    if (client_start(client, &sse_ops, conn->fd) < 0) {
        hand_back(client);
        return;
    }
    sse_retry(&text, SSE_RETRY_MS);
    sse_send(client, &text);
    feed_join(client, feed, client->after);
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
    client_free(cls);
}

struct serve_client *serve_feed_open_sse(struct serve_feed *feed, struct serve_request *request)
{
    struct str last = serve_request_header(request, "Last-Event-ID");
    struct MHD_Response *response;
    struct serve_client *client;

    if (client_too_many(request))
        return NULL;
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
    return client;
}

void client_sse_heartbeat(struct serve_client *client)
{
    AUTO_BUF text = BUF_INIT(64);

    sse_comment(&text, "still here");
    sse_send(client, &text);
}

void client_sse_goodbye(struct serve_client *client, const char *why)
{
    AUTO_BUF text = BUF_INIT(1024);

    buf_add_text(&text, "event: goodbye\ndata: {\"reason\":");
    json_quote(&text, str_from(why));
    buf_add_text(&text, "}\n\n");
    sse_send(client, &text);
    client_finish_soon(client);
    stream_finish(&client->stream);
}
