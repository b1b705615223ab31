/* Text from outside that a person will look at, in a terminal or on the page: nothing in it moves
 * the cursor, turns the line around, hides or looks like something else.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_VISIBLE_H
#define DORMOUSE_BASE_VISIBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* The next character of *rest as a person sees it: itself when it is plain, a control picture
 * ("␛"), or its number ("<U+202E>", "<9B>" for a byte that is no UTF-8). Line feed and tab are
 * shown like the other control characters; callers that break lines look for them first. Returns
 * the code point when it stands for itself, else 0. */
uint32_t visible_next(struct str *rest, struct buf *out);
/* All of it; line feed and tab stay. */
void visible_text(struct str text, struct buf *out);
/* All of it as one line: a line feed is seen as "␊". */
void visible_line(struct str text, struct buf *out);
/* The same into a place of its own: cut after a whole character, ended with NUL. Returns out. */
const char *visible_name(const char *name, char *out, size_t size);

#endif
