/* A person's word on an inbox item, as every front end sends it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_DECIDE_H
#define DORMOUSE_CLI_DECIDE_H

#include "base/limits.h"
#include "cli/talk.h"

/* NULL and empty: not given. */
struct decide {
    const char *decision;      /* "approve", "reject", "edit", "answer" */
    const char *scope;         /* "once", "run", "always": approve only */
    const char *reason;        /* why not */
    const char *answer;        /* to a question */
    struct json_object *input; /* the arguments to use instead; borrowed */
    bool anyway;               /* although it is dangerous */
    const struct buf *content; /* the text of a memory file to use instead */
};

/* id: a unique beginning is enough. *ret_answer: {"applied","item"}, to be put. */
int decide_send(struct talk *talk, const char *id, const struct decide *decide,
                struct json_object **ret_answer, struct err *err);

/* GET of one, to be put. */
int decide_get_item(struct talk *talk, struct str id, struct json_object **ret_item,
                    struct err *err);

/* Appends text as one segment of a path or one value of a query: nothing in it can end either. */
void decide_add_segment(struct buf *out, const char *text);

/* $VISUAL or $EDITOR on the item's arguments. 1: *ret_input holds what they are now, to be put; 0:
 * nothing was changed; -1. */
int decide_edit(struct json_object *input, struct json_object **ret_input, struct err *err);

/* The same on a text. *ret_text is appended to. */
int decide_edit_text(struct str text, struct buf *ret_text, struct err *err);

/* What the editor made of an item: arguments, or for memory the text of the file. */
struct decide_edited {
    struct json_object *input;
    struct buf content;
    bool is_text;
};
#define DECIDE_EDITED_INIT                                                                         \
    {                                                                                              \
        .content = BUF_INIT(LIMIT_HTTP_BODY_BYTES)                                                 \
    }
/* As decide_edit(), for whichever it is. */
int decide_edit_item(struct json_object *item, struct decide_edited *edited, struct err *err);
void decide_edited_release(struct decide_edited *edited);

#endif
