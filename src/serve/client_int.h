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

#endif
