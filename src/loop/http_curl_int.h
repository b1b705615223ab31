/* The libcurl client's insides: the library, the client, one transfer.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_LOOP_HTTP_CURL_INT_H
#define DORMOUSE_LOOP_HTTP_CURL_INT_H

#include <curl/curl.h>

#include "base/arena.h"
#include "loop/http_int.h"
#include "loop/loop.h"

/* ---- the library (http_lib.c) ---- */

/* libcurl's functions under their names without "curl_". */
struct http_lib {
    CURLcode (*global_init)(long flags);
    CURLM *(*multi_init)(void);
    CURLMcode (*multi_cleanup)(CURLM *multi);
    CURLMcode (*multi_setopt)(CURLM *multi, CURLMoption option, ...);
    CURLMcode (*multi_add_handle)(CURLM *multi, CURL *easy);
    CURLMcode (*multi_remove_handle)(CURLM *multi, CURL *easy);
    CURLMcode (*multi_socket_action)(CURLM *multi, curl_socket_t fd, int events, int *running);
    CURLMcode (*multi_assign)(CURLM *multi, curl_socket_t fd, void *data);
    CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
    CURL *(*easy_init)(void);
    void (*easy_cleanup)(CURL *easy);
    void (*easy_reset)(CURL *easy);
    CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
    CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
    CURLcode (*easy_pause)(CURL *easy, int bits);
    const char *(*easy_strerror)(CURLcode code);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
    void (*slist_free_all)(struct curl_slist *list);
    CURLU *(*url)(void);
    void (*url_cleanup)(CURLU *url);
    CURLUcode (*url_set)(CURLU *url, CURLUPart part, const char *text, unsigned flags);
    CURLUcode (*url_get)(const CURLU *url, CURLUPart part, char **ret_text, unsigned flags);
    void (*free)(void *text);
};
/* Opens libcurl at the first call and keeps it. */
int http_lib_load(const struct http_lib **ret_lib, struct err *err);
/* A multi handle. libcurl gives it a pair of sockets to wake itself with, which nobody can reach
 * and which children would inherit: they are made close-on-exec here. NULL when it fails. */
CURLM *http_lib_multi(const struct http_lib *lib);

/* ---- the client (http_client.c) ---- */

struct curl_client {
    struct http_client client;  /* first */
    const struct http_lib *lib; /* NULL before the first request */
    CURLM *multi;
    struct loop *loop;
    const struct dns_policy *policy;
    struct dns_resolver *resolver;
    struct dns_resolver *own_resolver; /* NULL when it was given */
    struct arena arena;                /* the texts below */
    const char *proxy_url, *no_proxy, *ca_file, *ca_path, *user_agent;
    unsigned max_active, max_kept, active;
    struct transfer *transfers;
    struct loop_timer timer; /* libcurl's */
    unsigned depth;          /* callbacks of ours that are on the stack */
    bool in_curl;            /* inside libcurl: it must not be called again */
    bool freed;              /* its memory goes when depth is 0 */
};

/* Around everything that may end in a handler's callback: the client outlives it. */
void http_client_enter(struct curl_client *client);
void http_client_leave(struct curl_client *client);

/* ---- one transfer (http_transfer.c, http_setup.c, http_answer.c) ---- */

struct transfer {
    struct http_exchange exchange; /* first */
    struct curl_client *client;
    struct transfer *prev, *next;
    struct arena arena;          /* the request, URLs of redirects */
    struct http_request request; /* of this hop: redirects change it */
    struct http_handler handler;
    void *arg;
    struct http_url url, proxy;

    struct dns_lookup lookup;
    struct dns_addr pins[DNS_ADDRS_MAX]; /* the addresses that may be connected to */
    size_t n_pins;
    CURL *easy;
    struct curl_slist *headers, *resolve;
    bool proxied;
    bool in_multi;
    bool begun; /* the first lookup, or connection, is under way */

    struct loop_timer phase_timer, total_timer;
    struct loop_timer later; /* what must not happen inside a caller's call */
    enum http_phase phase;
    struct err fail; /* why it is being ended; counts more than libcurl's code */

    struct arena head_arena; /* names and values */
    struct http_field *fields;
    size_t n_fields, cap_fields;
    int status;
    bool head_done;
    bool redirect; /* this answer is a redirect that is followed, to location */
    bool drained;  /* its body was too long to read to the end */
    const char *location;

    size_t body_at; /* of request.body */
    bool paused;    /* by the handler */
    bool source_waits;
    bool held; /* complete, but the handler is paused */
    int64_t started_ms, resolve_ms, connect_ms, first_byte_ms;
    int64_t sent_bytes, header_bytes, body_bytes, drained_bytes;
    unsigned redirects;
    bool reused;
    bool again; /* a dead connection was met */
};

int http_transfer_start(struct curl_client *client, const struct http_request *request,
                        const struct http_handler *handler, void *arg,
                        struct transfer **ret_transfer, struct err *err);
/* libcurl is done with it. */
void http_transfer_done(struct transfer *transfer, CURLcode code);
/* Ends it with fail, now; not inside libcurl. */
void http_transfer_abort(struct transfer *transfer);
void http_transfer_cancel(struct transfer *transfer);
void http_transfer_resume(struct transfer *transfer);
void http_transfer_source_ready(struct transfer *transfer);

/* Sets fail unless something failed before. Returns -1. */
int http_transfer_fail(struct transfer *transfer, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Moves on; the timer of that phase runs from now. */
void http_transfer_enter(struct transfer *transfer, enum http_phase phase);
/* Something moved: the phase's timer begins again, or stands still while somebody waits on us. */
void http_transfer_moved(struct transfer *transfer);

/* http_setup.c: an easy handle that is ready to be added. */
int http_setup(struct transfer *transfer);
void http_setup_release(struct transfer *transfer);

/* http_answer.c: libcurl's callbacks for what comes and goes. */
size_t http_on_header(char *bytes, size_t size, size_t n, void *arg);
size_t http_on_write(char *bytes, size_t size, size_t n, void *arg);
size_t http_on_read(char *out, size_t size, size_t n, void *arg);
int http_on_seek(void *arg, curl_off_t offset, int origin);
/* Forgets the head of the last hop. */
void http_answer_reset(struct transfer *transfer);
void http_answer_release(struct transfer *transfer);

/* http_redirect.c: makes request and url those of the next hop; -1 with fail set. */
int http_redirect_take(struct transfer *transfer);

#endif
