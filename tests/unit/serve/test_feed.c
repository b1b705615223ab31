/* Feeds and WebSockets as other rooms use them: who hears what, and what is told at the end.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peer.h"
#include "server.h"

#define STOP_MS 2000

TEST(feed_hears_its_websocket_clients_and_answers_one_or_all)
{
    struct server *server = server_start(t, NULL);
    int a = peer_open_ws(t, server, "/api/v1/test/talk");
    int b = peer_open_ws(t, server, "/api/v1/test/talk");
    struct str payload;

    peer_send_frame(a, 0x81, "\"private\"", 9);
    ASSERT_EQ(peer_read_frame(t, a, &payload), 1);
    ASSERT_STR(payload, "\"for you alone\"");
    peer_send_frame(b, 0x81, "\"all\"", 5);
    ASSERT_EQ(peer_read_frame(t, a, &payload), 1);
    ASSERT_STR(payload, "\"all\"");
    ASSERT_EQ(peer_read_frame(t, b, &payload), 1);
    ASSERT_STR(payload, "\"all\"");
    close(b);
    ASSERT_EQ(peer_read_frame(t, a, &payload), 1);
    ASSERT_STR(payload, "\"left\"");
    /* It hears text only. */
    peer_send_frame(a, 0x82, "\1", 1);
    ASSERT_EQ(peer_read_close(t, a), 1003);
    close(a);
    server_stop(server, STOP_MS);
}

static void count_clients(struct server *server, void *arg)
{
    *(unsigned *)arg = serve_feed_clients(server_talk(server));
}

static void measure_backlog(struct server *server, void *arg)
{
    static char big[30000];

    memset(big, 'b', sizeof(big) - 1);
    serve_feed_publish(server_feed(server), 0, NULL, str_from(big));
    ((size_t *)arg)[0] = serve_feed_backlog(server_feed(server));
    ((size_t *)arg)[1] = serve_feed_backlog(server_talk(server));
}

TEST(feed_knows_how_many_read_it_and_how_far_behind_they_are)
{
    struct server *server = server_start(t, NULL);
    int talk = peer_open_ws(t, server, "/api/v1/test/talk");
    int sse = peer_open_sse(t, server, "/api/v1/test/feed", NULL);
    size_t backlog[2];
    unsigned count = 9;

    client_read_until(t, sse, "joined");
    server_do(server, count_clients, &count);
    ASSERT_EQ(count, 1);
    server_do(server, measure_backlog, backlog);
    ASSERT(backlog[0] >= 30000 && backlog[0] < 31000); /* it leaves at the end of the tick */
    ASSERT_EQ(backlog[1], 0);
    client_read_until(t, sse, "bbbb");
    close(talk), close(sse);
    do
        server_do(server, count_clients, &count);
    while (count > 0);
    server_stop(server, STOP_MS);
}

TEST(client_of_a_feed_that_has_ended_is_told)
{
    struct server *server = server_start(t, NULL);
    int fd = peer_open_sse(t, server, "/api/v1/test/gone", NULL);

    client_read_until(t, fd, "event: goodbye\ndata: {\"reason\":\"this feed has ended\"}\n\n");
    ASSERT(client_closed(fd));
    close(fd);
    server_stop(server, STOP_MS);
}

static void end_feed(struct server *server, void *arg)
{
    (void)arg;
    server_end_talk(server);
}

TEST(clients_of_a_feed_that_ends_are_told_and_not_heard_any_more)
{
    struct server *server = server_start(t, NULL);
    int a = peer_open_ws(t, server, "/api/v1/test/talk");
    int b = peer_open_ws(t, server, "/api/v1/test/talk");
    struct str payload;

    peer_send_frame(b, 0x81, "\"x\"", 3);
    ASSERT_EQ(peer_read_frame(t, a, &payload), 1); /* both have joined */
    server_do(server, end_feed, NULL);
    peer_send_frame(a, 0x81, "\"anyone?\"", 9);
    ASSERT_EQ(peer_read_close(t, a), 1001);
    ASSERT_EQ(peer_read_close(t, b), 1001);
    close(a), close(b);
    server_stop(server, STOP_MS);
}

TEST(websocket_owner_learns_how_it_ended)
{
    static const struct {
        const char *how;
        struct str frame;
        unsigned code;
    } cases[] = {
        { "the client says goodbye", { "\x88\x82\0\0\0\0\x03\xe8", 8 }, 1000 },
        { "with a code of its own", { "\x88\x82\0\0\0\0\x0f\xa0", 8 }, 4000 },
        { "without a code", { "\x88\x80\0\0\0\0", 6 }, 1005 },
        { "it breaks the protocol", { "\x81\x02hi", 4 }, 1006 },
        { "it vanishes", { NULL, 0 }, 1006 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct server *server = server_start(t, NULL);
        int fd = peer_open_ws(t, server, "/api/v1/test/ws");

        client_send_bytes(fd, cases[i].frame.p, cases[i].frame.n);
        if (cases[i].frame.p)
            ASSERT(client_closed(fd));
        close(fd);
        while (metric(t, server, "streams") > 0 || server_ws_closed(server) == 0)
            ;
        if (server_ws_closed(server) != cases[i].code)
            FAIL("%s: %u", cases[i].how, server_ws_closed(server));
        server_stop(server, STOP_MS);
    }
}

/* The server said the code, and the client never answered. */
TEST(websocket_that_we_closed_ends_with_our_code)
{
    struct server *server = server_start(t, NULL);
    int fd = peer_open_ws(t, server, "/api/v1/test/ws");

    peer_send_frame(fd, 0x81, "close", 5);
    ASSERT_EQ(peer_read_close(t, fd), 1000);
    close(fd);
    while (server_ws_closed(server) == 0)
        ;
    ASSERT_EQ(server_ws_closed(server), 1000);
    server_stop(server, STOP_MS);
}

TEST(streams_are_refused_while_the_server_stops)
{
    struct server *server = server_start(t, NULL);
    int half = client_open(server), sse = client_open(server);
    struct answer answer;

    client_send_template(server, sse, "GET /api/v1/test/feed HTTP/1.1\r\nHost: HERE\r\n");
    client_request(server, half, "POST", "/api/v1/test/echo", true, "Content-Length: 1\r\n", NULL);
    ASSERT_EQ(ask(t, server, "GET", "/healthz", false, NULL, NULL).status, 200);
    server_begin_stop(server, 5000);
    client_send_template(server, sse, "Authorization: Bearer TOKEN\r\n\r\n");
    answer = client_answer(t, sse);
    ASSERT_EQ(answer.status, 503);
    ASSERT_CONTAINS(answer.body.p, "stopping");
    client_send(half, "x");
    ASSERT_EQ(client_answer(t, half).status, 200);
    server_join(server);
    close(half), close(sse);
}
