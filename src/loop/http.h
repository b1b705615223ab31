/* The outgoing HTTP client: requests go out, callbacks come back inside the loop's ticks.
 *
 * The client sends at once and opens no transaction: whoever starts a request whose intent must be
 * on record first does so from a loop_after_commit() effect. Callbacks run inside a tick and may
 * begin units of their own; they are never called from inside http_start(), http_cancel() or
 * http_resume(), and every exchange that was started has exactly one on_done.
 *
 * Not negotiable, so there is no switch: TLS certificates and host names are verified, only http
 * and https are spoken, no credentials in URLs, environment proxies do not count, every address is
 * checked by the client's dns policy before it is connected to, and neither headers, bodies nor the
 * path and query of a URL appear in an error's text.
 *
 * struct http_ops is the seam: http_client_new() speaks through libcurl, http_retry.h wraps
 * another client, http_fake.h plays a script.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_LOOP_HTTP_H
#define DORMOUSE_LOOP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"

struct loop;
struct dns_policy;
struct dns_resolver;
struct http_client;
struct http_exchange;

/* ---- what is asked ---- */

#define HTTP_URL_MAX         8192
#define HTTP_HEADERS_MAX     64          /* of a request */
#define HTTP_HEADER_SENT_MAX (32u << 10) /* name and value of one, and of all together */
#define HTTP_BODY_SENT_MAX   (64u << 20) /* given as bytes; a source may be longer */
#define HTTP_REDIRECTS_MAX   10

struct http_header {
    struct str name, value;
    /* Not sent to another host when a redirect leads there. Authorization, Cookie and
     * Proxy-Authorization are secret anyway. */
    bool secret;
};

/* A body that is made while it is sent. Embedded in the owner's struct; lives until on_done. */
#define HTTP_SOURCE_LATER (-2)
struct http_source {
    int64_t size; /* -1: not known, sent chunked */
    /* Up to max bytes into out: how many, 0 at the end, HTTP_SOURCE_LATER when there is nothing yet
     * (call http_source_ready() then), -1 with err when it failed. */
    ssize_t (*read)(struct http_source *source, char *out, size_t max, struct err *err);
    /* From the beginning again, for redirects, retries and stale connections. NULL: can't. */
    int (*rewind)(struct http_source *source, struct err *err);
};

/* Milliseconds; 0 takes the default. HTTP_NEVER switches one off. */
#define HTTP_NEVER            (-1)
#define HTTP_CONNECT_MS       10000
#define HTTP_FIRST_BYTE_MS    120000
#define HTTP_IDLE_MS          60000
#define HTTP_TOTAL_MS         900000
#define HTTP_MAX_HEADER_BYTES (64u << 10)
#define HTTP_MAX_BODY_BYTES   (16u << 20)
struct http_limits {
    int64_t connect_ms;    /* name, TCP, TLS, proxy; again after each redirect */
    int64_t first_byte_ms; /* from the request's last byte to the end of the answer's head */
    int64_t idle_ms;       /* between two pieces of a body; stands still while paused */
    int64_t total_ms;
    int64_t max_header_bytes; /* of the answer; 0 takes the default */
    int64_t max_body_bytes;   /* after decompression; 0 takes the default */
};

struct http_request {
    const char *method; /* NULL: GET */
    const char *url;
    const struct http_header *headers;
    size_t n_headers;
    struct str body;            /* copied */
    struct http_source *source; /* instead of body */
    struct http_limits limits;
    unsigned max_redirects; /* 0: a redirect is an answer like others */
    bool decompress;        /* ask for gzip, deflate or br and undo it */
    /* May be sent twice although its method is not idempotent. Else a request of which it is not
     * known whether it arrived fails: nothing sends it again. */
    bool safe;
    /* NULL: the client's */
    const char *proxy_url; /* http://[user:password@]host:port, "" for none */
    const char *no_proxy;  /* "localhost,.example.org,10.0.0.1" or "*" */
    const char *ca_file;   /* with either of these the system's authorities do not count */
    const char *ca_path;
    const char *user_agent;
};

/* ---- what comes back ---- */

struct http_field {
    struct str name, value;
};

/* Valid during the call. */
struct http_head {
    int status;
    const struct http_field *fields;
    size_t n;
};
/* The first field of this name in any case; STR_NONE when there is none. */
struct str http_head_find(const struct http_head *head, const char *name);

/* How far an exchange came. */
enum http_phase {
    HTTP_PHASE_NONE = 0,
    HTTP_PHASE_RESOLVE,
    HTTP_PHASE_CONNECT,
    HTTP_PHASE_TLS, /* refused certificates; time-outs of the handshake count as connect */
    HTTP_PHASE_SEND,
    HTTP_PHASE_WAIT, /* for the answer's head */
    HTTP_PHASE_BODY,
    HTTP_PHASE_REDIRECT,
    HTTP_PHASE_DONE,
};
const char *http_phase_name(enum http_phase phase);

struct http_result {
    /* code ERR_NONE: a whole answer came, whatever its status. Else timeout, too_large,
     * network_denied, cancelled, bad_request (the source failed) or provider_failed. */
    struct err err;
    enum http_phase phase;                                   /* in which it ended */
    int status;                                              /* 0 when no head came */
    int64_t resolve_ms, connect_ms, first_byte_ms, total_ms; /* since the start; -1: not reached */
    int64_t sent_bytes, header_bytes, body_bytes;            /* bodies, but for header_bytes */
    unsigned attempts;                                       /* 1 but for http_retry */
    unsigned redirects;
    bool reused; /* the last hop went over a kept connection */
};

enum http_flow { HTTP_GO = 0, HTTP_PAUSE };

struct http_handler {
    /* The head of the answer; not of interim (1xx) answers nor of redirects that are followed. */
    void (*on_headers)(struct http_exchange *x, const struct http_head *head, void *arg);
    /* The chunk counts as read in either case; HTTP_PAUSE stops further ones until http_resume().
     */
    enum http_flow (*on_data)(struct http_exchange *x, struct str chunk, void *arg);
    /* x ends when this returns. Success is not reported while paused; failure is. */
    void (*on_done)(struct http_exchange *x, const struct http_result *result, void *arg);
};

/* ---- doing it ---- */

/* Copies what it needs of the request. Fails, without callbacks, with bad_request when the request
 * is malformed and rate_limited when the client is full; all else comes by on_done. */
int http_start(struct http_client *client, const struct http_request *request,
               const struct http_handler *handler, void *arg, struct http_exchange **ret_exchange,
               struct err *err);
/* on_done(cancelled) follows in a later tick and no other callback before it. From any callback. */
void http_cancel(struct http_exchange *x);
/* From anywhere; more data may come in a later tick. Nothing when not paused. */
void http_resume(struct http_exchange *x);
/* The source that said HTTP_SOURCE_LATER has bytes, or its end, now. */
void http_source_ready(struct http_exchange *x);
/* Cancels all exchanges: their on_done is called before this returns. Not from on_headers, on_data
 * or a source; from on_done it may be called. */
void http_client_free(struct http_client *client);
AUTO_DEFINE(http_client)

struct http_options {
    const struct dns_policy *policy; /* NULL: public and loopback addresses */
    struct dns_resolver *resolver;   /* NULL: the system's; not owned */
    unsigned max_active;             /* exchanges at a time, 0: 64 */
    unsigned max_kept;               /* idle connections, 0: 16 */
    const char *proxy_url, *no_proxy, *ca_file, *ca_path, *user_agent; /* for all requests */
};
/* Opens libcurl at the first request, not here. Never NULL. options may be NULL. loop is a real
 * one: a fake loop takes http_fake_new(). */
struct http_client *http_client_new(struct loop *loop, const struct http_options *options);

/* ---- for those who implement a client ---- */

struct http_ops {
    /* request has been checked. */
    int (*start)(struct http_client *client, const struct http_request *request,
                 const struct http_handler *handler, void *arg, struct http_exchange **ret_exchange,
                 struct err *err);
    void (*cancel)(struct http_exchange *x);
    void (*resume)(struct http_exchange *x);
    void (*source_ready)(struct http_exchange *x);
    void (*free)(struct http_client *client);
};
struct http_client {
    const struct http_ops *ops;
};
struct http_exchange {
    struct http_client *client;
};

#endif
