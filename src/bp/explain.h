/* Why can't this happen? What an engine's threads request, wait for and block, by name.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BP_EXPLAIN_H
#define DORMOUSE_BP_EXPLAIN_H

#include <json-c/json.h>

#include "bp/engine.h"

/* What stands for and against one event now. */
struct bp_why {
    struct bp_event event;
    enum bp_reason reason;                         /* FINE: it can be selected, or offered */
    bool next;                                     /* it is what would be selected next */
    struct bp_place *requested, *waited, *blocked; /* in arena, by priority */
    unsigned requested_count, waited_count, blocked_count;
    const struct bp_thread *full; /* FULL: the one with as many instances as it may have */
};

/* Answers for any event, one that nobody has made yet included. The places lie in arena. For a
 * KEYED event that is not EXT the bits are what its key would give it, whatever event->bits says.
 */
void bp_explain(struct bp_engine *engine, const struct bp_event *event, struct arena *arena,
                struct bp_why *ret_why);
/* A sentence and a line for each thread concerned. */
void bp_why_text(const struct bp_program *program, const struct bp_why *why, struct buf *out);
/* {"event","possible","reason","requested":[place],"waited":[place],"blocked":[place]}; the caller
 * owns it. */
struct json_object *bp_why_json(const struct bp_program *program, const struct bp_why *why);

/* Every instance that lives, where it stands, what it requests, waits for and blocks there. */
void bp_snapshot_text(struct bp_engine *engine, struct buf *out);
struct json_object *bp_snapshot_json(struct bp_engine *engine);

/* {"thread","key","point","doing"} */
struct json_object *bp_place_json(const struct bp_place *place);

#endif
