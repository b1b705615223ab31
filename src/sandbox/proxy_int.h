/* Parts of the proxy that need no sockets: the allow-list, the request, the body's framing.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_PROXY_INT_H
#define DORMOUSE_SANDBOX_PROXY_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "base/buf.h"
#include "sandbox/proxy.h"

/* ---- hosts ---- */

struct proxy_host {
    char name[DNS_NAME_MAX + 1]; /* lower case; for an address as it is usually written */
    bool numeric;
    struct dns_addr addr; /* when numeric */
    uint16_t port;        /* 0: none was given */
};

/* "name", "name:port", "1.2.3.4:80", "[::1]:80". The error does not repeat the text. */
int proxy_host_parse(struct str text, struct proxy_host *ret, struct err *err);

/* ---- the list ---- */

struct proxy_entry {
    struct proxy_host host;
    bool below; /* *.name */
};

struct proxy_list {
    struct proxy_entry *entries;
    size_t n;
};

int proxy_list_init(struct proxy_list *list, const char *const *texts, struct err *err);
void proxy_list_release(struct proxy_list *list);
/* Is this host with this port (not 0) listed? */
bool proxy_list_has(const struct proxy_list *list, const struct proxy_host *host);
/* May an address that a listed name leads to be connected to? */
bool proxy_list_reaches(const struct proxy_list *list, const struct dns_addr *addr, uint16_t port);

/* ---- a request ---- */

enum proxy_framing { PROXY_BODY_NONE = 0, PROXY_BODY_LENGTH, PROXY_BODY_CHUNKED };

struct proxy_request {
    bool connect;
    struct proxy_host host; /* with its port */
    struct str method;
    struct str target; /* origin form without leading authority; "" means "/" */
    struct str fields; /* header lines */
    enum proxy_framing framing;
    uint64_t length; /* PROXY_BODY_LENGTH */
};

/* Bytes of a whole head (up to and with the empty line) at the start of text, 0 when there is none
 * yet. */
size_t proxy_head_size(struct str text);
/* head is one whole head; ret_request points into it. bad_request for whatever two readers could
 * read differently. */
int proxy_request_parse(struct str head, struct proxy_request *ret_request, struct err *err);
/* Appends the head as the origin server gets it: origin form, its own Host, no hop-by-hop fields,
 * Connection: close. -1 when out is full. */
int proxy_request_write(const struct proxy_request *request, struct buf *out);

/* ---- its body ---- */

struct proxy_body {
    enum proxy_framing framing;
    uint64_t left; /* of the body or the chunk */
    unsigned state, line;
    bool done;
};

void proxy_body_init(struct proxy_body *body, const struct proxy_request *request);
/* How many of these bytes belong to the body, or -1 when they break its framing. body->done when
 * it ended; what follows is not its own. */
ptrdiff_t proxy_body_take(struct proxy_body *body, struct str bytes);

/* ---- connections ---- */

#define PROXY_FLOW_BYTES (32 * 1024)

struct proxy_conn;

/* One direction. At most PROXY_FLOW_BYTES wait in it: reading goes on when they are written. */
struct proxy_flow {
    uv_stream_t *from, *to;
    char *bytes;
    uv_write_t write;
    uv_shutdown_t shutdown;
    bool started;
    bool writing;
    bool ended; /* nothing more will be read */
    bool done;  /* and all of it was passed on */
};

enum proxy_phase { PROXY_HEAD = 0, PROXY_RESOLVE, PROXY_CONNECT, PROXY_PIPE, PROXY_ANSWERED };

/* A try to reach one address; outlives the connection until libuv is done with it. */
struct proxy_server {
    uv_tcp_t tcp; /* first */
    uv_connect_t connect;
    struct proxy_conn *conn;
};

struct proxy_conn {
    uv_pipe_t client; /* first */
    struct proxy *proxy;
    struct proxy_conn *next, **link; /* of the proxy's list */
    enum proxy_phase phase;
    bool closed;      /* proxy_conn_end() was called */
    unsigned handles; /* not yet closed by libuv; then it is freed */
    struct loop_timer timer;
    int64_t moved_ms; /* when a byte last moved */
    struct buf head;  /* as received, with what came after it */
    size_t head_n;
    struct proxy_request request; /* points into head */
    struct proxy_body body;
    struct dns_lookup lookup;
    struct dns_addr addrs[DNS_ADDRS_MAX];
    size_t addrs_n, addrs_tried;
    struct proxy_server *server;
    struct proxy_flow up, down;
    struct buf out; /* the head for the server, or an answer of our own */
    uv_write_t write;
    uv_shutdown_t shutdown;
};

struct proxy {
    struct loop *loop;
    uv_pipe_t listener;
    bool listening;
    struct proxy_list list;
    struct dns_resolver *resolver;
    bool resolver_owned;
    void (*on_refused)(void *arg, const struct proxy_refusal *refusal);
    void *arg;
    unsigned connections_max;
    int64_t head_ms, connect_ms, idle_ms;
    struct proxy_conn *conns;
    unsigned holders; /* the listener and connections that are not yet freed */
    unsigned reports;
    struct proxy_counts counts;
};

void proxy_drop(struct proxy *proxy);
/* Takes the next client of the listener. */
void proxy_conn_accept(struct proxy *proxy);
/* Closes everything; does nothing the second time. */
void proxy_conn_end(struct proxy_conn *conn);
/* Answers with a status and a sentence, then closes. told: it is a refusal, which is counted and
 * reported. */
void proxy_conn_answer(struct proxy_conn *conn, int status, bool told, const char *why);
/* The request was read: admit it, find its address and connect. */
void proxy_conn_dial(struct proxy_conn *conn);
/* Connected: bytes flow both ways. */
void proxy_conn_pipe(struct proxy_conn *conn);
/* Reads from the client: the head, and after an answer whatever still comes, to no use. */
void proxy_conn_listen(struct proxy_conn *conn);
/* Gives up the server, if there is one. */
void proxy_server_close(struct proxy_conn *conn);
/* The timer's answer while bytes flow. */
void proxy_pipe_timer(struct proxy_conn *conn);

#endif
