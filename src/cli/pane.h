/* What a person decides about, drawn for a terminal.
 *
 * Text of others stands behind a gutter, "│ ", in every line of the screen that it takes: long
 * lines are broken here and not by the terminal, and nothing in it can move the cursor, so it can't
 * get to where our own lines stand. Those never begin with the gutter. All of the text is there;
 * what is longer than the screen is shown page by page, and pane_ended() says when the end was
 * shown.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_PANE_H
#define DORMOUSE_CLI_PANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/str.h"
#include "cli/term.h"

struct json_object;

/* A part of a text that is marked, in bytes. */
struct pane_mark {
    size_t start, end;
    enum term_style style;
};

struct pane;
/* For this stream's width and colours. */
struct pane *pane_new(FILE *out);
void pane_free(struct pane *pane);
AUTO_DEFINE(pane)

/* A line of ours; what is too long goes on below, indented. */
void pane_own(struct pane *pane, enum term_style style, const char *mark, struct str text);
/* "  directory     /home/ada": values begin in the same column. */
void pane_fact(struct pane *pane, struct str name, struct str value, bool warn);
/* A text behind the gutter. kind: "diff" is drawn in colours. */
void pane_text(struct pane *pane, struct str kind, struct str text);
/* One line of a text; marks are places of it, sorted or not. */
void pane_line(struct pane *pane, enum term_style style, struct str line,
               const struct pane_mark *marks, size_t mark_count);

/* All of an inbox item: facts, what is dangerous, the text. */
void pane_item(struct pane *pane, struct json_object *item);

/* Prints the next lines of the screen, at most max (0: all that are left). */
void pane_show(struct pane *pane, size_t max);
/* The end was printed. */
bool pane_ended(const struct pane *pane);
size_t pane_lines(const struct pane *pane);
size_t pane_shown(const struct pane *pane);
/* From the beginning again. */
void pane_rewind(struct pane *pane);

#endif
