/* Exact replacements in a text, several at once, all or none.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_OP_EDIT_H
#define DORMOUSE_SANDBOX_OP_EDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define EDIT_COUNT_MAX 100

struct edit {
    struct str old_text, new_text;
    bool all; /* every occurrence; else there must be exactly one */
};

/* Applies the edits in order, each to the result of the one before, and gives the new text in
 * ret_text (empty before; its cap is the most that the text may grow to). Where the text ends its
 * lines in CR LF throughout, the edits may be written with LF alone and what is put in gets CR LF.
 *
 * ERR_CONFLICT when an edit does not apply: how often `old` was found and where, or what comes near
 * it. ERR_BAD_REQUEST when it is empty or changes nothing, ERR_TOO_LARGE past the cap. The edit is
 * named by its number from 1 when there are several. */
int edit_apply(struct str text, const struct edit *edits, size_t n, struct buf *ret_text,
               size_t *ret_replacements, struct err *err);

/* Appends what comes near old_text in text: lines that differ from it in white space or case only,
 * or that are like its longest line; with line numbers, at most three. Nothing when nothing does.
 */
void edit_near(struct str text, struct str old_text, struct buf *out);

#endif
