/* Judging batches, and the wakes that come of it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_MATCH_H
#define DORMOUSE_WAKE_MATCH_H

#include "journal/list.h"
#include "wake/queue.h"
#include "wake/subscription.h"

/* A batch with the records that it changed: read once, when the first subscription needs them. */
struct match_batch {
    enum wake_source source; /* journal, agent */
    struct journal *journal;
    const struct change_row *row;
    struct arena *arena; /* of records */
    bool loaded;
    struct record *records; /* as they are now; deleted ones too */
    struct str *categories; /* of each; NULL: not looked up yet */
    struct str *label_ids;  /* likewise: of tasks a JSON list of ids */
    size_t count;
};
/* The record that a unit changed: of a task's label the task. RECORD_NONE: none. */
enum record_type match_unit_record(const struct change_unit *unit, struct str *ret_id);
int match_judge(struct match_batch *batch, const struct subscription *subscription,
                const struct agent *agent, struct arena *arena, struct match *ret_match,
                struct err *err);

/* When a wake that comes now may be: now, or when hours and cooldown allow, and which of the two it
 * waits for in the end. Pure.
 *
 * Wakes that wait for the same end of a cooldown wait for the same moment, so that the queue makes
 * one run of them. A last wake that lies further ahead than any of this explains (the clock was set
 * back) counts for nothing. */
int64_t match_when(const struct subscription *subscription, int64_t now_ms,
                   enum wake_held *ret_held);

/* ---- payloads ---- */

#define MATCH_RECORDS_MAX 50  /* named in a payload; of the rest only their number is */
#define MATCH_UNITS_MAX   200 /* ... likewise, and the highest counter of each host */
/* What waits for its hours says so: others that came later are told before. */
void match_payload(const struct match_batch *batch, const struct subscription *subscription,
                   const struct match *match, enum wake_held held, struct buf *out);
/* The member affectedTokens: tokens of the batch as text, keys first, at most MATCH_RECORDS_MAX. Of
 * a batch that also changed what the agent must not see: keys, and ids of what it may. */
void match_write_tokens(struct json_writer *w, const struct change_row *row,
                        const struct match *match);

/* ---- wakes ---- */

/* Inside a unit: queued with its time, or known already (0). */
int match_wake(struct domain *domain, const struct match_batch *batch,
               const struct subscription *subscription, const struct match *match, int64_t now_ms,
               struct err *err);
/* Of files and webhooks. */
int match_wake_source(struct domain *domain, const struct subscription *subscription,
                      struct str event_id, struct str payload, int64_t now_ms, struct err *err);
/* Inside a unit: it matched, and yet the agent must not see it: a wake that has ended already. */
int match_skip(struct domain *domain, const struct match_batch *batch,
               const struct subscription *subscription, const struct match *match, int64_t now_ms,
               struct err *err);

/* ---- match_store.c ---- */

/* Inside a unit: a wake that is queued ends as skipped. */
int match_end_skipped(struct domain *domain, struct str run_key, enum wake_status status,
                      const char *why, int64_t now_ms, struct err *err);

#endif
