/* Markdown for a terminal, while it is still being written.
 *
 * Text goes in as it arrives, in pieces of any size, and comes out at once as far as its meaning is
 * settled: a word when it has ended, emphasis and links when they are closed, a table when its last
 * row is there. What came out is never taken back, so nothing flickers and a pipe gets the same
 * text as a terminal. The result depends on the text alone, not on how it was cut into pieces.
 *
 * Source line breaks are kept; lines longer than the width are wrapped at spaces. Control
 * characters and those that turn text around are shown (\x1b, \u{202e}), never sent.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_MARKDOWN_H
#define DORMOUSE_CLI_MARKDOWN_H

#include <stdbool.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/str.h"

struct markdown;

/* width 0: lines are not wrapped. colours false: no escape sequences at all. Widths of characters
 * are those of the process's locale (LC_CTYPE). */
struct markdown *markdown_new(int width, bool colours);
void markdown_free(struct markdown *markdown);
AUTO_DEFINE(markdown)
/* Counts from the next row on. */
void markdown_set_width(struct markdown *markdown, int width);
/* Appends to out what can be shown now. */
void markdown_add(struct markdown *markdown, struct str text, struct buf *out);
/* The text is over: the rest is shown, a line that was begun is ended, and the next text begins
 * anew. */
void markdown_end(struct markdown *markdown, struct buf *out);

#endif
