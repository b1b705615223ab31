/* A journal that was exported, in parts that one request can hold.
 *
 * Each part is a journal of its own: what the file says of itself, all categories and labels (what
 * refers to them is understood by their names), and a stretch of the other lists in their order.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_JOURNAL_PARTS_H
#define DORMOUSE_CLI_JOURNAL_PARTS_H

#include "base/err.h"
#include "base/str.h"

struct journal_parts_use {
    /* known: how many records stand before the new ones in this part: the categories and labels,
     * from the second part on. Negative ends it. */
    int (*part)(struct journal_parts_use *use, struct str text, size_t known, struct err *err);
};
/* A text that fits is one part, as it is. bad_request: a longer one is no JSON object of lists;
 * too_large: one record does not fit. */
int journal_parts(struct str text, size_t max, struct journal_parts_use *use, struct err *err);

#endif
