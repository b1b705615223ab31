/* The server's own structs. Who calls whom:
 *
 *   serve.c    start and stop; the tick hook: resume, run libmicrohttpd, flush streams
 *   door.c     one libmicrohttpd daemon per listening socket, polled by libuv
 *   conn.c     every connection, its deadline and its place in the order of idleness
 *   request.c  a request from its first line to its dispatch
 *   reply.c    answers, and the wait for the commit
 *   client.c   connections that became streams, with client_sse.c and client_ws.c
 *   feed.c     what many of them read at once
 *   builtin.c  the server's own routes;  page.c the embedded files;  metrics.c  /metrics
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SERVE_SERVE_INT_H
#define DORMOUSE_SERVE_SERVE_INT_H

#include <microhttpd.h>
#include <uv.h>

#include "base/address.h"
#include "base/map.h"
#include "serve/feed.h"
#include "serve/guard.h"
#include "serve/request.h"
#include "serve/serve.h"
#include "serve/stream_int.h"

#define SERVE_DOORS_MAX     4
#define SERVE_TABLES_MAX    16
#define SERVE_SPARE_MAX     64    /* request structs kept for reuse */
#define SERVE_POOL_BYTES    8192  /* libmicrohttpd's memory for one connection */
#define SERVE_ANSWERED_MS   1000  /* until it is looked whether the client is still there */
#define SERVE_SWALLOW_BYTES 65536 /* body of a refused request that is read and dropped */

struct door {
    struct serve *serve;
    struct MHD_Daemon *daemon;
    uv_poll_t poll;
    int fd;
    bool is_unix, polling, ready;
};

enum conn_state {
    CONN_NEW = 0,  /* nothing was asked yet */
    CONN_ANSWERED, /* just now: many ask again at once, some have gone */
    CONN_IDLE,     /* waiting for another request */
    CONN_HEAD,     /* its first line is there */
    CONN_BODY,
    CONN_HELD,  /* the handler or the commit has it */
    CONN_REPLY, /* the answer is being sent */
    CONN_STREAM,
};

struct conn {
    struct door *door;
    struct MHD_Connection *mhd;
    struct serve_request *request;
    struct conn *next, **link; /* oldest first in one of the serve->conns lists */
    int64_t deadline_ms;       /* 0: none */
    int fd;
    enum conn_state state;
    bool remote, suspended, cut;
};

/* The headers that decide, gathered in one pass. */
struct head {
    struct str host, origin, authorization, cookie, length, coding;
    unsigned hosts, lengths, codings;
    bool forwarded, malformed;
};

struct serve_request {
    struct serve *serve;
    struct conn *conn; /* NULL: the client left while the request was held */
    struct arena arena;
    struct str raw_target, method;
    struct target target;
    struct route_match match;
    struct buf body;
    struct MHD_Response *response;
    int status;
    struct {
        const char *name, *value;
    } headers[8];
    unsigned header_count;
    struct serve_client *pending; /* a WebSocket that waits for its handshake */
    struct loop_effect effect;
    bool started, refused, dispatched, local, http_1_0, held, waiting, safe;
    bool unframed; /* nobody knows where it ends */
    bool shared;   /* response is one of the pages, which stay */
    struct serve_request *spare_next;
};

struct conn_list {
    struct conn *first, **end;
};

struct serve {
    struct loop *loop;
    struct guard guard;
    struct serve_limits limits;
    struct serve_routes tables[SERVE_TABLES_MAX];
    size_t table_count;
    struct door doors[SERVE_DOORS_MAX];
    unsigned door_count;
    struct loop_tick_hook hook;
    struct loop_timer sweep, status_timer;
    int64_t sweep_due_ms;
    struct stream_set streams;
    struct conn_list conns[CONN_STREAM + 1];
    unsigned conn_count;
    struct map per_ip;
    struct serve_request *spare;
    unsigned spare_count;
    bool writing; /* a handler that may write ran in this tick */
    bool stopping, stopped;
    void (*stop_done)(void *arg);
    void *stop_arg;
    int64_t stop_deadline_ms;
    struct serve_feed *feeds;
    struct serve_feed *status;
    uint64_t status_seq;
    char *socket_path, *version;
    char url[80];
    uint16_t port;
    uint64_t nofile_before;
    int64_t started_ms;
    size_t (*health)(void *arg, struct serve_health *out, size_t max);
    void (*warn)(void *arg, const char *text);
    void (*idle)(void *arg);
    void *arg;
    struct MHD_Response **pages; /* of each embedded file, by form */
    uint64_t *route_counts;      /* [route id + 1][status class] */
    unsigned route_count;
    uint64_t accepted, refused_connections, timeouts, ticks;
};

/* serve.c */
void serve_wake(struct serve *serve);

/* door.c */
int door_open(struct serve *serve, int fd, bool is_unix, struct err *err);
void door_run(struct door *door);
/* No new connections. */
void door_quiesce(struct door *door);
void door_close(struct door *door);

/* conn.c */
void conn_notify(void *cls, struct MHD_Connection *mhd, void **slot,
                 enum MHD_ConnectionNotificationCode what);
enum MHD_Result conn_admit(void *cls, const struct sockaddr *sa, socklen_t n);
void conn_set_state(struct conn *conn, enum conn_state state);
/* libmicrohttpd leaves a suspended one alone; resumed, it calls again. */
void conn_suspend(struct conn *conn);
void conn_resume(struct conn *conn);
/* Ends the connection from our side; libmicrohttpd notices and closes it. status 0: silently. */
void conn_cut(struct conn *conn, int status);
void conn_sweep(struct serve *serve);
void conn_sweep_in(struct serve *serve, int64_t delay_ms);

/* request.c */
void *request_begin(void *cls, const char *uri, struct MHD_Connection *mhd);
enum MHD_Result request_step(void *cls, struct MHD_Connection *mhd, const char *url,
                             const char *method, const char *version, const char *bytes, size_t *n,
                             void **slot);
void request_completed(void *cls, struct MHD_Connection *mhd, void **slot,
                       enum MHD_RequestTerminationCode why);
/* Back to the spare ones. */
void request_free(struct serve_request *request);

/* request_head.c */
/* An iterator of libmicrohttpd; cls is the struct head. */
enum MHD_Result request_take_header(void *cls, enum MHD_ValueKind kind, const char *name,
                                    size_t name_n, const char *value, size_t value_n);
/* Sets a reply when the request is refused. *ret_length: of the body, as its head says. */
void request_judge(struct serve_request *request, const struct head *head, uint64_t *ret_length);

/* reply.c */
/* Takes over response. */
void reply_set(struct serve_request *request, int status, struct MHD_Response *response);
struct MHD_Response *reply_response(struct str bytes, const char *type);
/* A page: many requests answer with the same one. */
void reply_shared(struct serve_request *request, int status, struct MHD_Response *response);
/* Gives the response up. */
void reply_drop(struct serve_request *request);
struct serve_request *reply_request_of(struct loop_effect *effect);
/* An effect's drop: the client is told why. */
void reply_dropped(struct loop_effect *effect, const struct err *why);
/* Lets libmicrohttpd call request_step() again. */
void reply_resume(struct serve_request *request);
void reply_raw(int fd, int status);

/* client.c */
void client_heartbeats(struct serve *serve, int64_t now);
/* We stood still for so long: it counts as nobody's silence. */
void client_forgive(struct serve *serve, int64_t now, int64_t late_ms);
void client_goodbye(struct serve *serve);
void client_free(struct serve_client *client);

/* builtin.c */
extern const struct serve_route builtin_routes[];
extern const size_t builtin_route_count;
void builtin_status_joined(struct serve_feed *feed, struct serve_client *client, uint64_t after,
                           void *arg);
void builtin_status_tick(struct loop_timer *timer);

/* page.c */
void page_init(struct serve *serve);
void page_release(struct serve *serve);
/* 0, or -1 when there is no such file. */
int page_reply(struct serve_request *request, const char *name);
/* 404 with the page, which says it in its own words, to a browser that wants to show something; -1
 * when it is not one, or the path is never a view. */
int page_reply_missing(struct serve_request *request, struct str path);
void page_run(struct serve_request *request);
void page_home(struct serve_request *request);
/* "/inbox", "/agents/coach": a view of the page. */
bool page_is_view(struct str path);

/* metrics.c */
void metrics_count(struct serve *serve, const struct serve_request *request, int status);
void metrics_run(struct serve_request *request);

#endif
