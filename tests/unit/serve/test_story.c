/* Streams that have an end: told in pieces, ended without a goodbye.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>
#include <unistd.h>

#include "peer.h"
#include "server.h"

#define STOP_MS 2000

static void wait_for(unsigned (*count)(struct server *server), struct server *server, unsigned n)
{
    int64_t end = now_ms() + 20000;

    while (count(server) < n && now_ms() < end)
        usleep(1000);
    ASSERT_EQ(count(server), n);
}

TEST(a_stream_is_told_in_pieces_and_ends_quietly)
{
    struct server *server = server_start(t, NULL);
    int fd = peer_open_sse(t, server, "/api/v1/test/story", NULL);
    struct str text = client_read_until(t, fd, "\r\n0\r\n\r\n");

    ASSERT_CONTAINS(text.p, "id: 1\nevent: part\ndata: {\"part\":1}\n\n");
    ASSERT_CONTAINS(text.p, "id: 5\nevent: part\ndata: {\"part\":5}\n\n");
    ASSERT(strstr(text.p, "goodbye") == NULL);
    ASSERT(client_closed(fd));
    close(fd);
    wait_for(server_released, server, 1);
    server_stop(server, STOP_MS);
    ASSERT_EQ(server_released(server), 1);
}

TEST(a_websocket_that_has_said_all_closes_with_1000)
{
    struct server *server = server_start(t, NULL);
    int fd = peer_open_ws(t, server, "/api/v1/test/story/ws");
    struct str payload;

    for (unsigned i = 1; i <= STORY_EVENTS; i++) {
        ASSERT_EQ(peer_read_frame(t, fd, &payload), 1);
        ASSERT_EQ(payload.p[8], (char)('0' + i));
    }
    ASSERT_EQ(peer_read_close(t, fd), 1000);
    close(fd);
    wait_for(server_released, server, 1);
    server_stop(server, STOP_MS);
}

TEST(what_is_attached_to_a_client_is_released_once_however_it_leaves)
{
    struct server *server = server_start(t, NULL);
    unsigned n = 20;

    /* Gone before the head was sent, after it, in the middle; and refused. */
    for (unsigned i = 0; i < n; i++) {
        int fd = client_open(server);

        client_request(server, fd, "GET", "/api/v1/test/story", true, NULL, NULL);
        if (i % 2)
            client_read_until(t, fd, "\r\n\r\n");
        close(fd);
    }
    wait_for(server_released, server, n);
    server_stop(server, STOP_MS);
    ASSERT_EQ(server_released(server), n);
}

TEST(the_last_connection_is_noticed_when_it_goes)
{
    struct server *server = server_start(t, NULL);
    int a = client_open(server), b = client_open(server);

    client_request(server, a, "GET", "/healthz", false, NULL, NULL);
    ASSERT_EQ(client_answer(t, a).status, 200);
    client_request(server, b, "GET", "/healthz", false, NULL, NULL);
    ASSERT_EQ(client_answer(t, b).status, 200);
    ASSERT_EQ(server_idles(server), 0);
    close(a);
    client_request(server, b, "GET", "/healthz", false, NULL, NULL);
    ASSERT_EQ(client_answer(t, b).status, 200);
    ASSERT_EQ(server_idles(server), 0);
    close(b);
    wait_for(server_idles, server, 1);
    ASSERT_EQ(serve_connections(server_serve(server)), 0);
    server_stop(server, STOP_MS);
}
