/* Readers of feeds and WebSocket peers.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SERVE_CLIENT_INT_H
#define DORMOUSE_SERVE_CLIENT_INT_H

#include <microhttpd.h>

#include "serve/feed.h"
#include "serve/stream_int.h"

struct conn;
struct ws;

enum client_kind {
    CLIENT_SSE = 1,
    CLIENT_WS,
};

struct serve_client {
    struct stream stream; /* first */
    struct serve *serve;
    struct conn *conn;
    enum client_kind kind;
    struct serve_feed *feed;
    struct serve_client *feed_next, **feed_link;
    uint64_t after; /* Last-Event-ID */
    struct ws *ws;
    struct MHD_UpgradeResponseHandle *urh;
    const struct serve_ws_ops *ws_ops;
    void *ws_arg;
    unsigned close_code; /* what we said */
    void *data;          /* of the feed's owner */
    void (*release)(void *data);
    bool chunked, begun, over, refused_input;
};

struct serve_ws {
    struct serve_client client; /* first and only */
};

struct serve_feed {
    struct serve *serve;
    struct serve_feed *next;
    const char *name;
    const struct serve_feed_ops *ops;
    void *arg;
    struct serve_client *first;
    unsigned count;
    uint64_t published;
};

/* client.c */
struct serve_client *client_of(struct stream *stream);
struct serve_client *client_new(struct serve_request *request, enum client_kind kind);
/* Refuses the request when there are too many streams, or the server stops. */
bool client_too_many(struct serve_request *request);
/* The request has become a stream: what was needed to answer it ends here. */
void client_detach_request(struct conn *conn);
int client_start(struct serve_client *client, const struct stream_ops *ops, int fd);
int client_push(struct serve_client *client, struct str bytes);
/* A deadline for what was said last. */
void client_finish_soon(struct serve_client *client);
/* Gives up what its owner attached. */
void client_release_data(struct serve_client *client);
void client_say_goodbye(struct serve_client *client, const char *why);
int64_t client_now_ms(const struct serve_client *client);

/* client_sse.c */
void client_sse_heartbeat(struct serve_client *client);
void client_sse_goodbye(struct serve_client *client, const char *why);

/* client_ws.c */
/* Pings, or gives up a peer that was not heard for too long. */
void client_ws_heartbeat(struct serve_client *client, int64_t now);
void client_ws_goodbye(struct serve_client *client, const char *why);
void client_ws_end(struct serve_client *client);

/* feed.c */
/* Says goodbye instead when the feed has ended meanwhile. */
void feed_join(struct serve_client *client, struct serve_feed *feed, uint64_t after);
void feed_leave(struct serve_client *client);
void feed_drained(struct stream *stream);

#endif
