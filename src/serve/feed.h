/* Feeds: events that many clients read at once, over SSE or WebSocket.
 *
 * serve_feed_publish() encodes an event once for each of the two forms; the clients' queues share
 * the bytes. Publish from an after-commit effect when the event speaks of something written: the
 * bytes leave at the end of the same tick.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SERVE_FEED_H
#define DORMOUSE_SERVE_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/str.h"
#include "serve/request.h"

struct serve_client; /* one reader */

struct serve_feed_ops {
    /* A client came. after is its Last-Event-ID (0: none): what it missed is sent from here with
     * serve_client_send(). May be NULL. */
    void (*joined)(struct serve_feed *feed, struct serve_client *client, uint64_t after, void *arg);
    /* A text message from a WebSocket client. NULL: it is told that nothing is read here (1003). */
    void (*message)(struct serve_feed *feed, struct serve_client *client, struct str text,
                    void *arg);
    /* The client is gone; not after serve_feed_free(). May be NULL. */
    void (*left)(struct serve_feed *feed, struct serve_client *client, void *arg);
};

/* name stands in /metrics. ops may be NULL and must outlive the feed. */
struct serve_feed *serve_feed_new(struct serve *serve, const char *name,
                                  const struct serve_feed_ops *ops, void *arg);
/* Its clients are told that the server goes away. */
void serve_feed_free(struct serve_feed *feed);
AUTO_DEFINE(serve_feed)

unsigned serve_feed_clients(const struct serve_feed *feed);
/* data is one JSON text. id 0: none. A client whose queue is full is closed (1013): it comes back
 * with the last id it saw. */
void serve_feed_publish(struct serve_feed *feed, uint64_t id, const char *event, struct str data);
/* Unsent bytes of the slowest client: for a publisher that can wait. */
size_t serve_feed_backlog(const struct serve_feed *feed);
/* To one of them. -1 when it is going away. */
int serve_client_send(struct serve_client *client, uint64_t id, const char *event, struct str data);

/* Answers the request by making its connection a reader of feed. */
void serve_feed_open_sse(struct serve_feed *feed, struct serve_request *request);
void serve_feed_open_ws(struct serve_feed *feed, struct serve_request *request);

/* ---- WebSocket without a feed ---- */

struct serve_ws_ops {
    void (*opened)(struct serve_ws *ws, void *arg);
    void (*message)(struct serve_ws *ws, bool text, struct str bytes, void *arg);
    /* The last call. code as in RFC 6455; 1006 when the connection broke. */
    void (*closed)(struct serve_ws *ws, unsigned code, void *arg);
};
/* Answers the request with the handshake, or with an error when it is not one. */
void serve_ws_accept(struct serve_request *request, const struct serve_ws_ops *ops, void *arg);
/* -1 when it is closing, or its queue is full (then it is closed with 1013). */
int serve_ws_send(struct serve_ws *ws, bool text, struct str bytes);
void serve_ws_close(struct serve_ws *ws, unsigned code, const char *reason);

#endif
