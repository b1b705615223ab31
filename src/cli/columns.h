/* Rows in aligned columns, and times as people say them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_COLUMNS_H
#define DORMOUSE_CLI_COLUMNS_H

#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/str.h"

#define COLUMNS_MAX 8

struct columns {
    struct arena arena;
    size_t count, n, cap;
    size_t width[COLUMNS_MAX];
    size_t shrinks; /* which column, from 0, is cut where lines are too short for all but the last;
                       0: none is, for the first names the row */
    const char **cells;
};

/* head: the titles, as many as there are columns, ends with NULL. Cells that are too long end
 * with "…". */
void columns_init(struct columns *columns, const char *const *head);
/* Copies them; control characters and line ends become spaces. */
void columns_add(struct columns *columns, const struct str *cells);
/* The titles are bold on a terminal, and its lines hold what they can: the last column is broken
 * there at spaces, or goes below the others when they leave no room. */
void columns_print(const struct columns *columns, FILE *out);
/* For a width; 0: lines may have any length. */
void columns_print_within(const struct columns *columns, int width, FILE *out);
/* One of them, for who has something to say in between; 0: the titles. */
void columns_print_row(const struct columns *columns, size_t row, FILE *out);
void columns_release(struct columns *columns);

#define AGO_SIZE 24
/* "just now", "3 min ago", "2 h ago", "5 days ago", "in 6 days"; "" when the text is no time. */
const char *ago_text(struct str rfc3339, int64_t now_ms, char ret_text[AGO_SIZE]);

#define SPAN_SIZE 32
/* In the greatest unit that it is a whole number of: "2 h", "90 min"; "day" for one. */
const char *span_text(int64_t seconds, char ret_text[SPAN_SIZE]);

#endif
