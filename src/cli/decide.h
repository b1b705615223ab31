/* A person's word on an inbox item, as every front end sends it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_DECIDE_H
#define DORMOUSE_CLI_DECIDE_H

#include "cli/talk.h"

/* NULL and empty: not given. */
struct decide {
    const char *decision;      /* "approve", "reject", "edit", "answer" */
    const char *scope;         /* "once", "run", "always": approve only */
    const char *reason;        /* why not */
    const char *answer;        /* to a question */
    struct json_object *input; /* the arguments to use instead; borrowed */
    const struct buf *content; /* the text of a memory file to use instead */
};

/* id: a unique beginning is enough. *ret_answer: {"applied","item"}, to be put. */
int decide_send(struct talk *talk, const char *id, const struct decide *decide,
                struct json_object **ret_answer, struct err *err);

/* 'y', 'n', 'e', 'r' or 'a' when the line is just that or its word (yes, no, edit, run, always), in
 * any case; else '\0': a sentence that begins like one decides nothing. */
char decide_letter(struct str line);

/* Appends text as one segment of a path or one value of a query: nothing in it can end either. */
void decide_add_segment(struct buf *out, const char *text);

/* $VISUAL or $EDITOR on the item's arguments. 1: *ret_input holds what they are now, to be put; 0:
 * nothing was changed; -1. */
int decide_edit(struct json_object *input, struct json_object **ret_input, struct err *err);

/* The same on a text. *ret_text is appended to. */
int decide_edit_text(struct str text, struct buf *ret_text, struct err *err);

#endif
