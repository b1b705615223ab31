/* Encoding of server-sent events, as the WHATWG rules read them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SERVE_SSE_INT_H
#define DORMOUSE_SERVE_SSE_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* One event: id 0 leaves it out, event NULL too. Data of several lines becomes several data:
 * lines (CR, LF and CRLF all end one). event must not hold a line end. */
int sse_event(struct buf *out, uint64_t id, const char *event, struct str data);
/* A line that readers ignore: keeps proxies and dead-peer detection awake. */
int sse_comment(struct buf *out, const char *text);
int sse_retry(struct buf *out, unsigned ms);
/* text as it goes over the wire: in HTTP's chunked coding, or (HTTP/1.0) as it is. */
int sse_wire(struct buf *out, struct str text, bool chunked);

#endif
