/* Asking a person at a terminal about an inbox item: the same words, in the same way, in `run`,
 * `chat` and `approve`.
 *
 * The item is shown whole (pane.h), page by page where it is longer than the screen; nothing can be
 * approved before its end was shown. Only whole words decide. What was typed before the question
 * stood on the screen is forgotten. Where something about the item is dangerous, approving takes a
 * second word.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_ASK_H
#define DORMOUSE_CLI_ASK_H

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/str.h"
#include "cli/decide.h"
#include "cli/pane.h"

/* ---- the words: one table for prompts, help and what is understood ---- */

enum ask_word {
    ASK_NONE = 0, /* no such word */
    ASK_YES,
    ASK_NO,
    ASK_EDIT,
    ASK_RUN,
    ASK_ALWAYS,
    ASK_SHOW,
    ASK_HELP,
};
/* One of the words that `offered` (bits 1u << ask_word) has, alone on its line in any case; ASK_NO
 * may be followed by a reason. A sentence that begins like a word is none. */
enum ask_word ask_word_of(struct str line, unsigned offered, struct str *ret_reason);
/* "yes, no, edit, run, always, show" */
void ask_list_words(unsigned offered, struct buf *out);
/* A line for each: the word and what it does. */
void ask_help(unsigned offered, FILE *out);

/* ---- one question ---- */

struct ask {
    FILE *out;
    struct json_object *item; /* owned */
    struct pane *pane;
    unsigned offered;
    bool paged;            /* on a terminal */
    int width, height;     /* of the window that it was drawn for */
    int continues;         /* term_continues() then */
    bool sure;             /* asked whether they are sure */
    bool anyway;           /* the second step was taken before */
    enum ask_word pending; /* what for */
    char *reason;          /* of a no; valid until the next call */
    bool has_edited;       /* what was written brought in danger, and waits for the second step */
    struct decide_edited edited;
};

/* Shows the item's title and the first page of it, all of it when out is no terminal. item is
 * taken over. without: words that are not offered here. */
void ask_begin(struct ask *ask, FILE *out, struct json_object *item, unsigned without);
void ask_release(struct ask *ask);
/* The program was stopped and went on, or the window has another size: what is on the screen is not
 * what was drawn. Only after term_watch(). */
bool ask_is_lost(const struct ask *ask);
/* Draws it from its beginning, for the window as it is now; a yes that was to be confirmed has to
 * be said again. The caller waits again before it reads (TERM_ARM_MS). */
void ask_draw(struct ask *ask);
/* What stands before the cursor now. */
void ask_prompt(const struct ask *ask, struct buf *out);
/* More pages are to come: what is typed turns them. */
bool ask_is_paging(const struct ask *ask);

enum ask_result {
    ASK_AGAIN = 0, /* nothing is decided: prompt again */
    ASK_DECIDED,   /* *ret_decide is the answer */
    ASK_EDITING,   /* the caller opens what is to be edited, and adds it to *ret_decide */
};
enum ask_result ask_take(struct ask *ask, struct str line, struct decide *ret_decide);
/* What was written was refused as dangerous: it is kept, and the second step is asked for. edited
 * is taken over. */
void ask_edit_refused(struct ask *ask, struct decide_edited *edited);
/* What was kept so, when this decision is the second step to it: taken out of ask. */
bool ask_take_edited(struct ask *ask, const struct decide *decide,
                     struct decide_edited *ret_edited);

#endif
