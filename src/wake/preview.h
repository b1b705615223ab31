/* Previews: what a subscription would have woken its agent for in days that are over.
 *
 * All batches of that time are judged, some in each step, so that a tick of the loop stays short
 * however long the past is. Counted is everything; told of are the newest of those that match, and
 * the newest of those that do not, so that neither hides the other.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_PREVIEW_H
#define DORMOUSE_WAKE_PREVIEW_H

#include "wake/subscription.h"

#define PREVIEW_STEP_BATCHES 200   /* read in one step, */
#define PREVIEW_STEP_UNITS   10000 /* and judged as many as changed so much; one at least */

struct preview_match {
    const struct change_row *row;
    struct match match;
    int64_t not_before; /* of one that matched outside of the active hours: when they began; or 0 */
};
struct preview {
    struct domain *agent_domain;
    struct journal *journal;
    struct subscription subscription; /* need not be stored, but is checked */
    const struct agent *agent;
    int64_t since_ms;
    int64_t limit; /* how many are told of each kind */
    /* Told of one, newest first; it lives as long as the call. */
    void (*tell)(void *arg, const struct preview_match *one);
    void *arg;
    /* afterwards, of all that have one of its tokens */
    int64_t matched, unmatched;
    struct change_place before; /* its own */
};
/* What the caller has filled in outlives it. */
int preview_begin(struct preview *preview, struct err *err);
/* 1: there is more to judge, 0: this was all. Sources files and webhook have no past. */
int preview_step(struct preview *preview, struct err *err);
/* How many of each kind were told. */
int64_t preview_shown(const struct preview *preview, bool matched);

#endif
