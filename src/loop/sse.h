/* The client side of server-sent events: bytes in, events out.
 *
 * Follows "parsing an event stream" of the WHATWG HTML standard: feed chunks as they arrive, cut
 * anywhere, and get the same events. An event that the stream ends in the middle of is never
 * given out. The parser owns no descriptor and knows no clock: reconnecting, with the last event
 * id and after the retry time, is the caller's.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_LOOP_SSE_H
#define DORMOUSE_LOOP_SSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Views into the parser, valid during the call. All are UTF-8: bytes that were not have become
 * U+FFFD. id is the last event id, which stays from event to event until the stream changes it. */
struct sse_event {
    struct str type; /* "message" when the stream named none */
    struct str data;
    struct str id;
};

struct sse_parser {
    /* Not 0 ends the feed at once: the rest of the chunk is dropped, sse_feed() returns it. The
     * parser must not be released inside. */
    int (*on_event)(const struct sse_event *event, void *arg);
    void *arg;
    size_t max;      /* bytes of one line, and of one event's data */
    struct buf line; /* the raw start of a line whose end has not come */
    struct buf text; /* a line made valid, when it was not */
    struct buf data; /* each line of data followed by LF */
    struct buf type;
    struct buf id; /* as read so far; counts from the next blank line on */
    struct buf last_id;
    int64_t retry_ms;
    bool started; /* the first line, which may carry a byte order mark, is over */
    bool skip_lf; /* the last byte was CR: an LF that follows belongs to it */
    bool broken;
};

/* No line and no event's data may be longer than max_bytes. */
void sse_init(struct sse_parser *sse, size_t max_bytes,
              int (*on_event)(const struct sse_event *event, void *arg), void *arg);
void sse_release(struct sse_parser *sse);

/* 0 when all was read; what on_event returned when that was not 0; -1 with too_large when a line
 * or an event is longer than allowed. After too_large the parser stays broken: every feed fails. */
int sse_feed(struct sse_parser *sse, struct str chunk, struct err *err);

/* For the Last-Event-ID header of the next connection; empty when there is none. */
struct str sse_last_id(const struct sse_parser *sse);
/* What the server asked to wait before reconnecting (more than a day counts as a day), -1 when it
 * said nothing. */
#define SSE_RETRY_MAX_MS ((int64_t)24 * 60 * 60 * 1000)
int64_t sse_retry_ms(const struct sse_parser *sse);

#endif
