/* Inside the room: what a run that was woken is told first.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_OBSERVE_INT_H
#define DORMOUSE_WAKE_OBSERVE_INT_H

#include "base/buf.h"
#include "change/vclock.h"
#include "journal/journal.h"
#include "wake/claim_int.h"

/* Bounds of what is shown; the rest is counted. */
#define OBSERVE_RECORDS_MAX      50
#define OBSERVE_RECORD_BYTES_MAX (4 * KIB)
#define OBSERVE_BYTES_MAX        (64 * KIB)
#define OBSERVE_WORDS_BYTES_MAX  (16 * KIB) /* of one wake: what was said, or sent */

struct observed {
    struct str text;    /* begins with "[wake: REASON ID]" */
    struct str taint;   /* of what came from outside; empty: nothing did */
    struct vclock seen; /* of the journal */
    size_t shown;       /* records that are there and that the agent may see */
    bool names_records; /* something named records at all */
    bool has_words;     /* there is something to do even without them */
};
/* The first of jobs is the one that the run is of; `earlier` of them at the end are from before.
 * allowed: the agent's allowed_category_ids. journal may be NULL. */
int observe(struct journal *journal, const char *allowed, const struct wake_job *jobs, size_t n,
            size_t earlier, struct arena *arena, struct observed *ret_observed, struct err *err);

#endif
