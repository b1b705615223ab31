/* The HTTP server: routes, static pages, event streams, WebSocket; inside the loop's thread.
 *
 *   serve_start(loop, &config, &serve, &err);   listens; answers from the next tick on
 *   loop_run(loop, &err);
 *   serve_stop(serve, deadline_ms, done, arg);  says goodbye; done when nothing is left
 *   serve_free(serve);
 *
 * Other rooms bring routes (serve/route.h) whose handlers use serve/request.h, and publish to
 * feeds (serve/feed.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SERVE_SERVE_H
#define DORMOUSE_SERVE_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/err.h"
#include "loop/loop.h"
#include "serve/route.h"

struct serve;
struct serve_feed;

/* Zero means the default that stands beside it. */
struct serve_limits {
    unsigned connections;        /* 12288, less when the system allows fewer descriptors */
    unsigned connections_per_ip; /* 256; addresses of this machine are not counted */
    unsigned streams;            /* 1024 SSE and WebSocket clients */
    int64_t header_ms;           /* 20 s for the head of a request */
    int64_t body_ms;             /* 60 s for its body */
    int64_t idle_ms;             /* 75 s between requests */
    int64_t reply_ms;            /* 120 s for the client to take the answer */
    int64_t heartbeat_ms;        /* 15 s: comment (SSE) or ping (WebSocket) */
    int64_t status_ms;           /* 5 s between events of the status feed */
    size_t queue_bytes;          /* LIMIT_CLIENT_QUEUE_BYTES unsent for one client */
};

/* What /healthz says of one part. */
struct serve_health {
    char name[32];
    char status[16]; /* "ok", or what is wrong: "away", "read_only", "lost", "failing" */
};

struct serve_config {
    const char *listen;      /* NULL: 127.0.0.1:7117; "": only inherited sockets and the Unix one */
    const char *token_path;  /* DATA/token; made when absent. NULL: nobody has a token */
    const char *socket_path; /* DATA/dormouse.sock; NULL: none */
    bool inherit;            /* take the service manager's sockets; then listen is not used */
    const char *const *hosts; /* further names clients may use, ends with NULL; NULL: none */
    const char *version;      /* NULL: "0" */
    const struct serve_routes *routes; /* of other rooms; must outlive the server */
    size_t route_tables;
    /* Fills at most max parts, returns how many. NULL: none. */
    size_t (*health)(void *arg, struct serve_health *out, size_t max);
    /* Something a person should know (an address that others can reach). NULL: stderr. */
    void (*warn)(void *arg, const char *text);
    /* The last connection has gone; not while the server stops. NULL: nobody asks. */
    void (*idle)(void *arg);
    void *arg; /* for health, warn and idle */
    struct serve_limits limits;
};

/* What it points to is copied, but for the routes. Raises the limit of open descriptors; children
 * get serve_nofile() back. */
int serve_start(struct loop *loop, const struct serve_config *config, struct serve **ret_serve,
                struct err *err);
/* Stops accepting, tells streams why, finishes answers under way, up to deadline_ms; then done. */
void serve_stop(struct serve *serve, int64_t deadline_ms, void (*done)(void *arg), void *arg);
/* Only after done, or before the loop ran. */
void serve_free(struct serve *serve);
AUTO_DEFINE(serve)

/* "http://127.0.0.1:7117", for people; "" when only a Unix socket is open. */
const char *serve_url(const struct serve *serve);
uint16_t serve_port(const struct serve *serve);
/* Open connections, streams among them. */
unsigned serve_connections(const struct serve *serve);
/* A link that logs a browser in once: URL/login?code=... */
void serve_login_url(struct serve *serve, struct buf *out);
/* Server status, published while somebody reads it. Other rooms may publish to it too. */
struct serve_feed *serve_status_feed(struct serve *serve);
/* The soft descriptor limit before serve_start() raised it. */
uint64_t serve_nofile(const struct serve *serve);

#endif
