/* What did not wake an agent although it could have: changes that had a token of a subscription,
 * calls of a webhook that came too often, firings of timers, and batches that nobody could judge.
 * How often, and why.
 *
 * It is the ordinary case, so a row for each would bury the wakes; but after a restart people still
 * ask why nothing happened. So there is one number for each subscription or timer, and reason.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_SKIP_H
#define DORMOUSE_WAKE_SKIP_H

#include "wake/subscription.h"

enum skip_of { SKIP_OF_NONE = 0, SKIP_OF_SUBSCRIPTION, SKIP_OF_TIMER, SKIP_OF_BATCH };

struct skip {
    enum skip_of of;
    struct str of_id, agent_id, name; /* the subscription's or the timer's; of batches the newest's
                                         place, and no agent */
    const char *kind;                 /* "author", "missed" */
    const char *why;                  /* a sentence */
    bool removed;                     /* the subscription or timer was, meanwhile */
    int64_t count, first_at, last_at;
};

/* Inside a unit: so many changes more, the last of them now. */
int skip_add(struct domain *domain, int64_t subscription_n, enum match_outcome outcome,
             int64_t count, int64_t now_ms, struct err *err);
/* Of batches, the newest problem first; of subscriptions that are there in order of n, then of
 * timers, then of those that were removed: of one agent, or agent_n 0: of all; of the one with this
 * id, or empty: of all. Batches concern no agent of whom it is known: they are told of with all. At
 * most limit; 0: SKIPS_MAX. */
#define SKIPS_MAX 1000
int skip_list(struct domain *domain, int64_t agent_n, struct str of_id, int limit,
              struct arena *arena, struct skip **ret_list, size_t *ret_count, struct err *err);

/* The id of the one subscription or timer, removed ones too, that begins so. not_found, or
 * bad_request when several begin so. */
int skip_find_of(struct domain *domain, struct str prefix, struct arena *arena, struct str *ret_id,
                 struct err *err);

const char *skip_of_name(enum skip_of of);

#endif
