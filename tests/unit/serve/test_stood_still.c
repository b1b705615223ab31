/* A server that stood still (SIGSTOP) reads what came meanwhile before it judges anybody's silence.
 *
 * SPDX-License-Identifier: MIT
 */
#include <time.h>
#include <unistd.h>

#include "peer.h"
#include "server.h"

#define STOP_MS 2000

/* Every limit is shorter than the standstill. */
static const struct serve_limits limits = {
    .header_ms = 2000, .body_ms = 2000, .idle_ms = 2000, .heartbeat_ms = 800
};
#define STILL_MS 3000

struct clients {
    int fresh, kept, head, body, ws;
};

/* In the loop's thread, which does nothing else meanwhile. */
static void stand_still(struct server *server, void *arg)
{
    const struct timespec still = { STILL_MS / 1000, STILL_MS % 1000 * 1000000L };
    struct clients *c = arg;

    client_request(server, c->fresh, "GET", "/healthz", false, NULL, NULL);
    client_request(server, c->kept, "GET", "/healthz", false, NULL, NULL);
    client_send_template(server, c->head, "Host: HERE\r\n\r\n");
    client_send(c->body, "-thing");
    peer_send_frame(c->ws, 0x81, "cancel", 6);
    nanosleep(&still, NULL);
}

TEST(what_came_while_the_server_stood_still_is_read_before_silence_is_judged)
{
    struct server *server = server_start(t, &limits);
    struct clients c = { .ws = peer_open_ws(t, server, "/api/v1/test/ws"),
                         .fresh = client_open(server),
                         .kept = client_open(server),
                         .head = client_open(server),
                         .body = client_open(server) };
    struct answer answer;
    struct str payload = STR_NONE;

    client_send(c.head, "GET /healthz HTTP/1.1\r\n");
    client_request(server, c.body, "POST", "/api/v1/test/echo", true, "Content-Length: 10\r\n",
                   NULL);
    client_send(c.body, "some");
    client_request(server, c.kept, "GET", "/healthz", false, NULL, NULL);
    ASSERT_EQ(client_answer(t, c.kept).status, 200);
    server_do(server, stand_still, &c);
    while (!str_is(payload, "cancel"))
        ASSERT(peer_read_frame(t, c.ws, &payload) >= 0);
    ASSERT_EQ(client_answer(t, c.fresh).status, 200);
    ASSERT_EQ(client_answer(t, c.kept).status, 200);
    ASSERT_EQ(client_answer(t, c.head).status, 200);
    answer = client_answer(t, c.body);
    ASSERT_EQ(answer.status, 200);
    ASSERT_STR(answer.body, "some-thing");
    ASSERT_EQ(metric(t, server, "http_timeouts_total"), 0);
    close(c.fresh);
    close(c.kept);
    close(c.head);
    close(c.body);
    close(c.ws);
    server_stop(server, STOP_MS);
}
