/* The hands of the runs in memory: one a run, started at its first call, ended when it has rested
 * for long, when too many are there, or when the run ends.
 *
 *     hands_get(hands, run_id, &spec, state, &hand, err)   before a tool is shown or started
 *     hands_rest(hands, run_id)                             after its completion
 *     hands_end(hands, run_id)                              when the run is over
 *
 * A hand knows things that a run goes on with: its directory and the files that were read. That
 * state is handed to `save` whenever it changed, and comes back by hands_get() when a later hand of
 * the run begins, after a rest or in another process.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TOOL_HANDS_H
#define DORMOUSE_TOOL_HANDS_H

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"
#include "sandbox/hand.h"

#define HANDS_MAX     64
#define HANDS_IDLE_MS MINUTES(10)

struct hands;

struct hands_config {
    struct loop *loop;
    unsigned max;    /* 0: HANDS_MAX */
    int64_t idle_ms; /* 0: HANDS_IDLE_MS */
    /* From inside hands_rest(), when the state is another than before. May be NULL. */
    void (*save)(void *arg, struct str run_id, struct str state);
    /* Something that the walls saw. May be NULL. */
    void (*notice)(void *arg, struct str run_id, const struct hand_notice *notice);
    void *arg;
};

struct hands *hands_new(const struct hands_config *config);
/* Ends all of them; jobs under way get their completion (cancelled) first. */
void hands_free(struct hands *hands);
AUTO_DEFINE(hands)

/* The hand of this run, made when there is none with the state that was saved (may be empty). Each
 * get is matched by a rest. When `max` are there, the one that has rested longest is ended; when
 * none rests, rate_limited. */
int hands_get(struct hands *hands, struct str run_id, const struct sandbox_spec *spec,
              struct str state, struct hand **ret_hand, struct err *err);
/* Does nothing for a run that has none any more. */
void hands_rest(struct hands *hands, struct str run_id);
/* Ends it with everything that it started. Does nothing when there is none. */
void hands_end(struct hands *hands, struct str run_id);
/* NULL when there is none now. */
struct hand *hands_find(const struct hands *hands, struct str run_id);
size_t hands_count(const struct hands *hands);

#endif
