/* A client that plays a script: for tests of whatever makes requests.
 *
 * Each request takes the next line of the script. Time is the loop's: on a fake loop an answer with
 * delay_ms comes when the test moves the clock. Requests pass the same checks as real ones, and
 * cancel, pause and free behave as http.h says. No address is looked up.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_LOOP_HTTP_FAKE_H
#define DORMOUSE_LOOP_HTTP_FAKE_H

#include "loop/http.h"

struct http_fake_answer {
    int64_t delay_ms; /* before the head, and before a failure without one */
    int status;       /* 0: fail without a head */
    const struct http_field *fields;
    size_t n_fields;
    const struct str *chunks; /* one a tick */
    size_t n_chunks;
    int64_t chunk_delay_ms; /* before each */
    enum err_code fail;     /* after the last chunk; ERR_NONE: a good end */
    enum http_phase phase;  /* of the failure */
    bool silent;            /* never answers: only cancel ends it */
};

/* What was asked, copied. */
struct http_fake_seen {
    const char *method, *url;
    const struct http_header *headers;
    size_t n_headers;
    struct str body; /* a source was read to its end; HTTP_SOURCE_LATER ends it early */
};

/* answers must outlive the client. A request past the script's end fails with provider_failed. */
struct http_client *http_fake_new(struct loop *loop, const struct http_fake_answer *answers,
                                  size_t n);
size_t http_fake_count(const struct http_client *client);
/* The i-th request, 0 first. Valid until the client is freed. */
const struct http_fake_seen *http_fake_seen(const struct http_client *client, size_t i);

#endif
