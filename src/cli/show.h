/* Events of a run for people: streamed text, what a tool was asked and what it said, what waits.
 *
 * Everything that comes from a model or a tool is hostile to a terminal: control characters are
 * shown, never sent. Long outputs are cut; the whole is in the run's log (`dormouse trace RUN`).
 * What a person decides about is never cut: pane.h draws it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_SHOW_H
#define DORMOUSE_CLI_SHOW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct json_object;

struct show {
    FILE *out;
    int64_t shown;  /* bytes of the partial text that are on the screen */
    int64_t seq;    /* of that text */
    bool line_open; /* the cursor is not at the beginning of a line */
    bool quiet;     /* what waits is not told how to decide: somebody asks anyway */
};

void show_init(struct show *show, FILE *out);
/* Ends a line that was begun. */
void show_release(struct show *show);
/* One public event (CONTRACTS §3), partial ones too. */
void show_event(struct show *show, struct json_object *event);
/* What a run took, from GET /runs/{key}: a dim line, on a terminal only. */
void show_cost(struct show *show, struct json_object *run);

/* Why a call has no answer, from its error: what a person did not want has not failed. */
bool show_is_failure(struct json_object *error);
void show_why(struct json_object *error, struct buf *out);

/* What to type to decide an item of this kind. */
void show_how_to_decide(struct show *show, struct str item_id, struct str kind);
/* What a person can type after this error; NULL: nothing is known to help, or the message says. */
const char *show_advice(enum err_code code, struct str message);

#endif
