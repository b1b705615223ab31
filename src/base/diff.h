/* Line differences: edits, hunks and unified text.
 *
 * Lines are compared with their ends, so CRLF and a missing last newline are differences like any
 * other. The result is minimal (fewest lines deleted and inserted) unless the search passes the
 * bounds below; then it is still correct, found in bounded time, and `minimal` says so.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_DIFF_H
#define DORMOUSE_BASE_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define DIFF_BYTES_MAX (64u << 20)
#define DIFF_LINES_MAX 2000000  /* of each side */
#define DIFF_COST_MAX  2048     /* edit steps before a search gives up being minimal … */
#define DIFF_STEPS_MAX 50000000 /* … and in all, after which it gives up after DIFF_COST_MIN */
#define DIFF_COST_MIN  64
#define DIFF_CONTEXT   3

/* old lines [a, a + a_n) are replaced by new lines [b, b + b_n); counted from 0. */
struct diff_edit {
    size_t a, a_n, b, b_n;
};

struct diff {
    struct str *a, *b; /* lines with their ends; views of the two texts */
    size_t a_n, b_n;
    struct diff_edit *edits; /* in order, not touching */
    size_t edit_count;
    bool minimal;
};

#define DIFF_INIT ((struct diff){ .a = NULL })

/* The texts must outlive the diff. ERR_TOO_LARGE past DIFF_BYTES_MAX or DIFF_LINES_MAX. */
int diff_make(struct str old_text, struct str new_text, struct diff *ret_diff, struct err *err);
void diff_release(struct diff *diff);
#define AUTO_DIFF __attribute__((cleanup(diff_release))) struct diff

/* Edits with the lines around them, as a unified diff groups them. */
struct diff_hunk {
    size_t a, a_n, b, b_n; /* lines with context, from 0 */
    size_t first_edit, edit_count;
};
/* The hunk at *at (0 to begin with), which moves on; false after the last. */
bool diff_next_hunk(const struct diff *diff, size_t context, size_t *at,
                    struct diff_hunk *ret_hunk);

/* Appends what `diff -u` prints; nothing when the texts are equal. NULL as a name means that side
 * does not exist (/dev/null). Names with control characters, quotes or backslashes are quoted as
 * git quotes them. -1 when out is full. */
int diff_unified(const struct diff *diff, const char *old_name, const char *new_name,
                 size_t context, struct buf *out);

#endif
