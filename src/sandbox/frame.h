/* Frames: how keeper and hand speak. Four bytes, the length in network order, then that many bytes
 * of JSON.
 *
 *     hand -> keeper  {"hello":1}                        the walls stand; then, in any order:
 *                     {"id":7,"result":...,"state":{}?}  state when it has changed
 *                     {"id":7,"error":{"code","message"}}
 *                     {"notice":{"kind","detail"}}
 *     keeper -> hand  {"id":7,"op":"bash","args":{},"limit":30000}
 *                     {"cancel":7}
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_FRAME_H
#define DORMOUSE_SANDBOX_FRAME_H

#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/str.h"

#define FRAME_HEAD        4
#define FRAME_BYTES       (12 * MIB) /* of one frame's JSON */
#define FRAME_SMALL_BYTES (256 * KIB)

/* Appends a frame; -1 when it is longer than FRAME_BYTES or out is full. */
int frame_put(struct buf *out, struct str json);
/* The first whole frame at in: 1 with *ret_json inside in and *ret_used bytes to skip, 0 when more
 * must come first, -1 (too_large) when it announces more than max. An empty frame is refused
 * (bad_request). */
int frame_take(struct str in, size_t max, struct str *ret_json, size_t *ret_used, struct err *err);

#endif
