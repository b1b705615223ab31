/* WebSocket peers: libmicrohttpd hands the descriptor over after the handshake and takes it back
 * with the CLOSE action.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sys/socket.h>

#include "base/limits.h"
#include "serve/client_int.h"
#include "serve/serve_int.h"
#include "serve/ws_int.h"

static void ws_drain(struct serve_client *client)
{
    struct buf *out = ws_output(client->ws);

    if (out->n > 0)
        client_push(client, buf_str(out));
    buf_clear(out);
    if (ws_done(client->ws)) {
        client_finish_soon(client);
        stream_finish(&client->stream);
    }
}

static void say_close(struct serve_client *client, unsigned code, const char *reason)
{
    if (client->close_code == 0)
        client->close_code = code;
    ws_close(client->ws, (uint16_t)code, reason);
    client_finish_soon(client);
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

    stream->heard_ms = client_now_ms(client);
    ws_feed(client->ws, bytes);
    if (client->refused_input)
        say_close(client, WS_UNSUPPORTED, "nothing is read here");
    else
        ws_drain(client);
}

static void ws_overflow(struct stream *stream)
{
    stream_truncate(stream);
    say_close(client_of(stream), WS_TRY_LATER, "too slow: come back and resume");
    stream_finish(stream);
}

static void ws_closed(struct stream *stream)
{
    struct serve_client *client = client_of(stream);
    struct conn *conn = client->conn;
    unsigned code = ws_client_code(client->ws);

    feed_leave(client);
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
    .drained = feed_drained,
};

static void on_upgrade(void *cls, struct MHD_Connection *mhd, void *slot, const char *extra,
                       size_t extra_n, MHD_socket fd, struct MHD_UpgradeResponseHandle *urh)
{
    struct serve_client *client = cls;
    struct serve_feed *feed = TAKE(client->feed);

    (void)mhd, (void)slot;
    client->urh = urh;
    client->conn->request->pending = NULL;
    client_detach_request(client->conn);
    if (client_start(client, &ws_ops, fd) < 0) {
        MHD_upgrade_action(urh, MHD_UPGRADE_ACTION_CLOSE);
        client_free(client);
        return;
    }
    if (feed)
        feed_join(client, feed, 0);
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
    if (client_too_many(request))
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

struct serve_client *serve_feed_open_ws(struct serve_feed *feed, struct serve_request *request)
{
    struct serve_client *client = ws_begin(request);

    if (client)
        client->feed = feed;
    return client;
}

int serve_ws_send(struct serve_ws *ws, bool text, struct str bytes)
{
    struct serve_client *client = (struct serve_client *)ws;
    AUTO_BUF frame = BUF_INIT(bytes.n + 16);

    if (ws_close_sent(client->ws))
        return -1;
    ws_frame(&frame, text, bytes);
    return client_push(client, buf_str(&frame));
}

void serve_ws_close(struct serve_ws *ws, unsigned code, const char *reason)
{
    say_close((struct serve_client *)ws, code, reason);
}

void client_ws_heartbeat(struct serve_client *client, int64_t now)
{
    if (now - client->stream.heard_ms > client->serve->limits.heartbeat_ms * 5 / 2) {
        stream_close(&client->stream);
        return;
    }
    ws_ping(client->ws);
    ws_drain(client);
}

void client_ws_goodbye(struct serve_client *client, const char *why)
{
    say_close(client, WS_GOING_AWAY, why);
}

void client_ws_end(struct serve_client *client)
{
    say_close(client, WS_NORMAL, "");
}
