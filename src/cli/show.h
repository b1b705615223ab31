/* Events of a run for people: streamed text, what a tool was asked and what it said, what waits.
 *
 * Everything that comes from a model or a tool is hostile to a terminal: control characters are
 * shown, never sent.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_SHOW_H
#define DORMOUSE_CLI_SHOW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/str.h"

struct json_object;

struct show {
    FILE *out;
    int64_t shown;   /* bytes of the partial text that are on the screen */
    int64_t seq;     /* of that text */
    bool line_open;  /* the cursor is not at the beginning of a line */
    bool said_hello; /* init was shown */
};

void show_init(struct show *show, FILE *out);
void show_release(struct show *show);
/* One public event (CONTRACTS §3), partial ones too. */
void show_event(struct show *show, struct json_object *event);

#endif
