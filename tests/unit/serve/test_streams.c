/* SSE and WebSocket clients of a real server.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "peer.h"
#include "server.h"

#define STOP_MS 2000

static void publish(struct server *server, void *arg)
{
    static uint64_t id = 100;

    serve_feed_publish(server_feed(server), ++id, "word", str_from(arg));
}

TEST(sse_begins_with_where_the_client_left_off)
{
    struct server *server = server_start(t, NULL);
    int fd = peer_open_sse(t, server, "/api/v1/test/feed", "Last-Event-ID: 41\r\n");
    struct str text = client_read_until(t, fd, "{\"after\":41}\n\n");

    ASSERT_CONTAINS(text.p, "retry: 2000\n\n");
    ASSERT_CONTAINS(text.p, "id: 42\nevent: joined\n");
    close(fd);
    fd = peer_open_sse(t, server, "/api/v1/test/feed", "Last-Event-ID: rubbish\r\n");
    client_read_until(t, fd, "{\"after\":0}");
    close(fd);
    server_stop(server, STOP_MS);
}

TEST(feed_reaches_sse_and_websocket_clients_alike)
{
    struct server *server = server_start(t, NULL);
    int sse = peer_open_sse(t, server, "/api/v1/test/feed", NULL);
    int ws = peer_open_ws(t, server, "/api/v1/test/feed/ws");
    int old = client_open(server);
    struct str payload;

    client_send(
        old,
        "GET /api/v1/test/feed HTTP/1.0\r\nHost: localhost:%u\r\nAuthorization: Bearer %s\r\n\r\n",
        server_port(server), server_token(server));
    client_read_until(t, sse, "joined");
    client_read_until(t, old, "joined");
    ASSERT_EQ(peer_read_frame(t, ws, &payload), 1);
    ASSERT_STR(payload, "{\"after\":0}");
    server_do(server, publish, (char[]){ "\"one\"" });
    server_do(server, publish, (char[]){ "\"two\"" });
    client_read_until(t, sse, "event: word\ndata: \"one\"\n\n");
    client_read_until(t, sse, "event: word\ndata: \"two\"\n\n");
    client_read_until(t, old, "event: word\ndata: \"two\"\n\n");
    ASSERT_EQ(peer_read_frame(t, ws, &payload), 1);
    ASSERT_STR(payload, "\"one\"");
    ASSERT_EQ(peer_read_frame(t, ws, &payload), 1);
    ASSERT_STR(payload, "\"two\"");
    /* Nothing is read from the clients of this feed. */
    peer_send_frame(ws, 0x81, "hi", 2);
    ASSERT_EQ(peer_read_close(t, ws), 1003);
    close(sse), close(ws), close(old);
    server_stop(server, STOP_MS);
}

TEST(status_feed_speaks_again_by_itself_and_only_while_read)
{
    struct serve_limits limits = { .status_ms = 30 };
    struct server *server = server_start(t, &limits);
    int sse = peer_open_sse(t, server, "/api/v1/events", NULL);
    int ws = peer_open_ws(t, server, "/api/v1/events/ws");
    struct str payload;
    int64_t count;

    client_read_until(t, sse, "\"seq\":3,");
    ASSERT_EQ(peer_read_frame(t, ws, &payload), 1);
    ASSERT_CONTAINS(payload.p, "\"type\":\"status\"");
    close(sse), close(ws);
    while (metric(t, server, "streams") > 0)
        ;
    count = metric(t, server, "ticks_total");
    usleep(200 * 1000); /* nothing may happen in this time */
    ASSERT(metric(t, server, "ticks_total") - count < 12);
    server_stop(server, STOP_MS);
}

TEST(sse_client_that_leaves_is_noticed_without_traffic)
{
    struct server *server = server_start(t, NULL);
    int fd = peer_open_sse(t, server, "/api/v1/test/feed", NULL);

    client_read_until(t, fd, "joined");
    ASSERT_EQ(metric(t, server, "streams"), 1);
    close(fd);
    while (metric(t, server, "streams") > 0)
        ; /* the test's time limit is the bound */
    while (metric(t, server, "http_connections") > 1)
        ;
    server_stop(server, STOP_MS);
}

TEST(sse_heartbeats_keep_a_silent_feed_alive)
{
    struct serve_limits limits = { .heartbeat_ms = 50, .header_ms = 100 };
    struct server *server = server_start(t, &limits);
    int fd = peer_open_sse(t, server, "/api/v1/test/feed", NULL);

    client_read_until(t, fd, ": still here\n\n");
    client_read_until(t, fd, ": still here\n\n");
    close(fd);
    server_stop(server, STOP_MS);
}

static void publish_much(struct server *server, void *arg)
{
    static char big[60001];

    (void)arg;
    memset(big, 'x', sizeof(big) - 1);
    for (int i = 0; i < 300; i++)
        serve_feed_publish(server_feed(server), 0, NULL, str_from(big));
}

TEST(client_that_does_not_read_is_dropped_and_the_others_are_not)
{
    struct server *server = server_start(t, NULL);
    int slow = peer_open_sse(t, server, "/api/v1/test/feed", NULL);
    int slow_ws = peer_open_ws(t, server, "/api/v1/test/feed/ws"), late;

    for (int i = 0; i < 3; i++) {
        server_do(server, publish_much, NULL);
        ASSERT(metric(t, server, "stream_queued_bytes") <= 2 << 20);
    }
    ASSERT_EQ(metric(t, server, "stream_overflows_total"), 2);
    ASSERT_EQ(peer_read_close(t, slow_ws), 1013);
    ASSERT(client_closed(slow));
    late = peer_open_sse(t, server, "/api/v1/test/feed", NULL);
    server_do(server, publish, (char[]){ "\"fine\"" });
    client_read_until(t, late, "\"fine\"");
    close(slow), close(slow_ws), close(late);
    server_stop(server, STOP_MS);
}

TEST(websocket_echoes_pings_and_closes)
{
    struct server *server = server_start(t, NULL);
    int fd = peer_open_ws(t, server, "/api/v1/test/ws");
    struct str payload;

    peer_send_frame(fd, 0x81, "hello", 5);
    ASSERT_EQ(peer_read_frame(t, fd, &payload), 1);
    ASSERT_STR(payload, "hello");
    peer_send_frame(fd, 0x89, "p", 1);
    ASSERT_EQ(peer_read_frame(t, fd, &payload), 10);
    ASSERT_STR(payload, "p");
    peer_send_frame(fd, 0x81, "close", 5);
    ASSERT_EQ(peer_read_close(t, fd), 1000);
    peer_send_frame(fd, 0x88, "\x03\xe8", 2);
    ASSERT(client_closed(fd));
    close(fd);
    while (metric(t, server, "http_connections") > 1)
        ;
    server_stop(server, STOP_MS);
}

TEST(websocket_frames_that_came_with_the_handshake_are_not_lost)
{
    struct server *server = server_start(t, NULL);
    int fd = client_open(server);
    AUTO_BUF text = BUF_INIT(2000);
    struct str payload;

    buf_printf(&text,
               "GET /api/v1/test/ws HTTP/1.1\r\nHost: localhost:%u\r\nAuthorization: Bearer %s\r\n"
               "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
               "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
               server_port(server), server_token(server));
    buf_add(&text, "\x81\x82\0\0\0\0hi", 8);
    client_send_bytes(fd, text.p, text.n);
    client_read_until(t, fd, "\r\n\r\n");
    ASSERT_EQ(peer_read_frame(t, fd, &payload), 1);
    ASSERT_STR(payload, "hi");
    close(fd);
    server_stop(server, STOP_MS);
}

TEST(websocket_handshakes_are_checked)
{
    static const struct {
        const char *headers;
        int status;
    } cases[] = {
        { "", 426 },
        { "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: "
          "8\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
          426 },
        { "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: "
          "13\r\nSec-WebSocket-Key: short\r\n",
          400 },
        { "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n", 400 },
        { "Origin: http://evil.example\r\nConnection: Upgrade\r\nUpgrade: "
          "websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
          "dGhlIHNhbXBsZSBub25jZQ==\r\n",
          403 },
    };
    struct server *server = server_start(t, NULL);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ASSERT_EQ(ask(t, server, "GET", "/api/v1/test/ws", true, cases[i].headers, NULL).status,
                  cases[i].status);
    ASSERT_EQ(ask(t, server, "GET", "/api/v1/test/ws", false, cases[4].headers + 29, NULL).status,
              401);
    server_stop(server, STOP_MS);
}

TEST(websocket_that_floods_itself_is_told_to_come_back)
{
    struct server *server = server_start(t, NULL);
    int fd = peer_open_ws(t, server, "/api/v1/test/ws");

    peer_send_frame(fd, 0x81, "flood", 5);
    ASSERT_EQ(peer_read_close(t, fd), 1013);
    close(fd);
    server_stop(server, STOP_MS);
}

TEST(websocket_peer_that_never_answers_is_given_up)
{
    struct serve_limits limits = { .heartbeat_ms = 40, .header_ms = 100 };
    struct server *server = server_start(t, &limits);
    int fd = peer_open_ws(t, server, "/api/v1/test/ws");
    struct str payload;
    unsigned pings = 0;
    int opcode;

    while ((opcode = peer_read_frame(t, fd, &payload)) >= 0)
        pings += opcode == 9;
    ASSERT(pings >= 1);
    close(fd);
    server_stop(server, STOP_MS);
}

TEST(broken_frames_close_the_connection_with_a_code)
{
    static const struct {
        struct str bytes;
        unsigned code;
    } cases[] = {
        { { "\x81\x02hi", 4 }, 1002 },
        { { "\xC1\x80\0\0\0\0", 6 }, 1002 },
        { { "\x83\x80\0\0\0\0", 6 }, 1002 },
        { { "\x09\x80\0\0\0\0", 6 }, 1002 },
        { { "\x80\x80\0\0\0\0", 6 }, 1002 },
        { { "\x81\x81\0\0\0\0\xff", 7 }, 1007 },
        { { "\x88\x82\0\0\0\0\x03\xee", 8 }, 1002 },
        { { "\x82\xff\0\0\0\0\0\x10\0\x01\0\0\0\0x", 15 }, 1009 },
        { { "\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", 14 }, 1002 },
    };
    struct server *server = server_start(t, NULL);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int fd = peer_open_ws(t, server, "/api/v1/test/ws");

        client_send_bytes(fd, cases[i].bytes.p, cases[i].bytes.n);
        ASSERT_EQ(peer_read_close(t, fd), cases[i].code);
        ASSERT(client_closed(fd));
        close(fd);
    }
    ASSERT_EQ(ask(t, server, "GET", "/healthz", false, NULL, NULL).status, 200);
    server_stop(server, STOP_MS);
}

/* What the client was still sending must not reset the connection under the close frame. */
TEST(a_client_that_goes_on_sending_still_learns_why_it_was_closed)
{
    enum { FRAME = 2 * LIMIT_WEBSOCKET_BYTES, PIECE = 65536 };
    static const char head[] = "\x82\xff\0\0\0\0\0\x20\0\0\0\0\0\0"; /* FRAME bytes, no mask */
    static char piece[PIECE];
    struct server *server = server_start(t, NULL);
    int fd = peer_open_ws(t, server, "/api/v1/test/ws");

    client_send_bytes(fd, head, sizeof(head) - 1);
    for (size_t sent = 0; sent < FRAME; sent += PIECE)
        client_send_bytes(fd, piece, PIECE);
    ASSERT_EQ(peer_read_close(t, fd), 1009);
    for (int i = 0; i < 64; i++)
        ASSERT(send(fd, piece, PIECE, MSG_NOSIGNAL) > 0);
    ASSERT(client_closed(fd));
    close(fd);
    server_stop(server, STOP_MS);
}

TEST(streams_are_told_why_they_end)
{
    struct server *server = server_start(t, NULL);
    int sse = peer_open_sse(t, server, "/api/v1/test/feed", NULL);
    int ws = peer_open_ws(t, server, "/api/v1/test/ws");

    client_read_until(t, sse, "joined");
    server_begin_stop(server, STOP_MS);
    client_read_until(
        t, sse, "event: goodbye\ndata: {\"reason\":\"the server is stopping\"}\n\n\r\n0\r\n\r\n");
    ASSERT_EQ(peer_read_close(t, ws), 1001);
    peer_send_frame(ws, 0x88, "\x03\xe9", 2);
    ASSERT(client_closed(sse) && client_closed(ws));
    server_join(server);
    close(sse), close(ws);
}

TEST(stop_does_not_wait_for_streams_that_do_not_listen)
{
    struct server *server = server_start(t, NULL);
    int ws = peer_open_ws(t, server, "/api/v1/test/ws");
    int64_t began = now_ms();

    server_stop(server, 200);
    ASSERT(now_ms() - began < 1500);
    close(ws);
}

TEST(streams_have_a_cap)
{
    struct serve_limits limits = { .streams = 2 };
    struct server *server = server_start(t, &limits);
    int a = peer_open_sse(t, server, "/api/v1/test/feed", NULL);
    int b = peer_open_sse(t, server, "/api/v1/test/feed", NULL);

    client_read_until(t, a, "joined");
    client_read_until(t, b, "joined");
    ASSERT_EQ(ask(t, server, "GET", "/api/v1/test/feed", true, NULL, NULL).status, 429);
    close(a), close(b);
    server_stop(server, STOP_MS);
}

TEST(half_closed_sockets_end_their_streams)
{
    struct server *server = server_start(t, NULL);
    int sse = peer_open_sse(t, server, "/api/v1/test/feed", NULL);
    int ws = peer_open_ws(t, server, "/api/v1/test/ws");

    shutdown(sse, SHUT_WR);
    shutdown(ws, SHUT_WR);
    ASSERT(client_closed(sse) && client_closed(ws));
    close(sse), close(ws);
    server_stop(server, STOP_MS);
}
