/* A window of numbered lines cut out of a text that comes in pieces.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_OP_LINES_H
#define DORMOUSE_SANDBOX_OP_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

#define LINES_LINE_MAX 2000         /* bytes of a line that are shown */
#define LINES_TEXT_MAX (192 * 1024) /* of the window */

struct lines {
    uint64_t first, count; /* wanted: from 1 */
    uint64_t at;           /* the line that is being read, from 1 */
    uint64_t last;         /* last line shown, 0 when none */
    struct buf text;       /* the window: number, tab, line */
    struct buf line;       /* beginning of the current line */
    uint64_t line_bytes;   /* of the current line */
    uint64_t shortened;    /* lines */
    uint64_t invalid;      /* lines with bytes that are no UTF-8 */
    uint64_t with_cr;      /* lines of the window that end in CR LF */
    bool full;             /* the window did not fit */
};

void lines_init(struct lines *lines, uint64_t first, uint64_t count);
void lines_release(struct lines *lines);
void lines_add(struct lines *lines, struct str piece);
/* After the last piece: a last line without a newline counts. Returns how many lines there were. */
uint64_t lines_end(struct lines *lines);
/* Nothing that comes can change the window any more. */
bool lines_done(const struct lines *lines);

#endif
