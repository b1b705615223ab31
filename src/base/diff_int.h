/* Between the files of diff and patch.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_DIFF_INT_H
#define DORMOUSE_BASE_DIFF_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* Lines with their ends; the last may lack one. *ret_lines is from the heap, NULL when there are
 * none. -1 when there are more than max. */
int diff_split_lines(struct str text, size_t max, struct str **ret_lines, size_t *ret_n);

/* Marks in a_changed and b_changed (one per element, zeroed) what a shortest edit from a to b
 * deletes and inserts. Returns whether it is the shortest. */
bool diff_search(const uint32_t *a, size_t a_n, const uint32_t *b, size_t b_n, bool *a_changed,
                 bool *b_changed);

#endif
