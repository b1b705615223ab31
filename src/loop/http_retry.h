/* A client that tries again: wraps another one and speaks the same interface.
 *
 * Only requests that may be sent twice are repeated: idempotent methods, and others when the
 * request says safe. It happens when the connection failed or broke before an answer, and on the
 * listed statuses; never once a head was handed to the caller, and never for refused certificates
 * or addresses, which would only be refused again. Between attempts it waits a random time up to a
 * bound that doubles ("full jitter"), or longer when the server says Retry-After. The wait counts
 * from the head of an answer; what is left of its body by then is given up.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_LOOP_HTTP_RETRY_H
#define DORMOUSE_LOOP_HTTP_RETRY_H

#include "loop/http.h"

struct rand;

/* 0 or NULL takes the default. */
struct http_retry_policy {
    unsigned max_attempts;      /* with the first; 4 */
    int64_t base_ms;            /* bound of the first wait; 500 */
    int64_t cap_ms;             /* bound of all waits; 30 s */
    int64_t retry_after_cap_ms; /* a server that asks for more is not asked again; 60 s */
    int64_t budget_ms;          /* no attempt begins later than this; 120 s */
    const int *statuses;        /* 408, 425, 429, 500, 502, 503, 504, 529 */
    size_t n_statuses;
    struct rand *rand; /* the system's */
};

/* inner is not owned and must outlive this client; policy is copied, statuses too. An answer that
 * can't be tried again (any more) reaches the handler as it is. result.attempts counts. */
struct http_client *http_retry_new(struct loop *loop, struct http_client *inner,
                                   const struct http_retry_policy *policy);

/* Retry-After as seconds or an HTTP date of any of the three forms, counted from wall_ms; never
 * negative; -1 when it is neither. */
int64_t http_retry_after_ms(struct str value, int64_t wall_ms);

#endif
