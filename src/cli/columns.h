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
    const char **cells;
};

/* head: the titles, as many as there are columns, ends with NULL. Longer cells are cut. */
void columns_init(struct columns *columns, const char *const *head);
/* Copies them; control characters and line ends become spaces. */
void columns_add(struct columns *columns, const struct str *cells);
/* The titles are bold on a terminal; the last column has any length. */
void columns_print(const struct columns *columns, FILE *out);
/* One of them, for who has something to say in between; 0: the titles. */
void columns_print_row(const struct columns *columns, size_t row, FILE *out);
void columns_release(struct columns *columns);

#define AGO_SIZE 24
/* "just now", "3 min ago", "2 h ago", "5 days ago", "in 6 days"; "" when the text is no time. */
const char *ago_text(struct str rfc3339, int64_t now_ms, char ret_text[AGO_SIZE]);

#endif
