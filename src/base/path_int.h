/* Between the files of paths.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_PATH_INT_H
#define DORMOUSE_BASE_PATH_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tables, written by tools/make-path-fold. Sorted. */
struct path_fold_row {
    uint32_t code;
    char text[12]; /* what it folds to in UTF-8, padded with NUL */
};
struct path_range {
    uint32_t first, last;
};
extern const struct path_fold_row path_fold_rows[];
extern const size_t path_fold_row_count;
extern const struct path_range path_mark_ranges[], path_refused_ranges[];
extern const size_t path_mark_range_count, path_refused_range_count;

/* A combining mark: it changes the letter before it. */
bool path_is_mark(uint32_t code);
/* A second form of other characters (presentation forms, squared words, mathematical letters,
 * doubled ideographs) that is refused in names rather than folded. */
bool path_is_compatibility(uint32_t code);

#endif
