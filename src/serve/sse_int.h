/* Encoding of server-sent events, as the WHATWG rules read them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SERVE_SSE_INT_H
#define DORMOUSE_SERVE_SSE_INT_H

#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* One event: id 0 leaves it out, event NULL too. Data of several lines becomes several data:
 * lines (CR, LF and CRLF all end one). event must not hold a line end. */
int sse_event(struct buf *out, uint64_t id, const char *event, struct str data);
/* A line that readers ignore: keeps proxies and dead-peer detection awake. */
int sse_comment(struct buf *out, const char *text);
int sse_retry(struct buf *out, unsigned ms);
/* Bytes of HTTP chunked coding around body. */
int sse_http_chunk(struct buf *out, struct str body);

#endif
