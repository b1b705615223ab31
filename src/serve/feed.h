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

struct chunk;
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
    /* All that was queued for it is written: for a publisher that sends a long past in pieces.
     * Comes often, after the commit, and before the next tick's. May be NULL. */
    void (*drained)(struct serve_feed *feed, struct serve_client *client, void *arg);
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

/* An event for some of them: encoded at most once for each form, however many get it. data outlives
 * it. */
struct serve_event {
    uint64_t id;
    const char *event;
    struct str data;
    struct chunk *encoded[3];
};
int serve_client_send_event(struct serve_client *client, struct serve_event *event);
void serve_event_release(struct serve_event *event);

/* Unsent bytes. */
size_t serve_client_backlog(const struct serve_client *client);
/* What was sent was all: SSE ends without a last event, a WebSocket is closed with 1000. */
void serve_client_end(struct serve_client *client);
/* The owner's own; release is called once, when the client is no more, joined or not. */
void serve_client_set_data(struct serve_client *client, void *data, void (*release)(void *data));
void *serve_client_data(const struct serve_client *client);

/* Closes it as if its queue were full (1013): it does not keep up. */
void serve_client_overflow(struct serve_client *client);

/* Answers the request by making its connection a reader of feed, which joins when the head of the
 * answer was sent. NULL when it was refused; the request is answered then, too. */
struct serve_client *serve_feed_open_sse(struct serve_feed *feed, struct serve_request *request);
struct serve_client *serve_feed_open_ws(struct serve_feed *feed, struct serve_request *request);

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
