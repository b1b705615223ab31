/* Changes that had a token of a subscription and yet did not wake its agent: how often, and why.
 *
 * It is the ordinary case, so a row for each would bury the wakes; but after a restart people still
 * ask why nothing happened. So there is one number for each subscription and reason.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_SKIP_H
#define DORMOUSE_WAKE_SKIP_H

#include "wake/subscription.h"

struct skip {
    int64_t subscription_n;
    struct str subscription_id, agent_id, name; /* name: the subscription's */
    enum match_outcome outcome;
    int64_t count, first_at, last_at;
};

/* Inside a unit: so many more, the last of them now. */
int skip_add(struct domain *domain, const struct skip *skip, int64_t now_ms, struct err *err);
/* Inside a unit: the subscription is gone. */
int skip_forget(struct domain *domain, int64_t subscription_n, struct err *err);
/* Of subscriptions that are there, in order of n: of one agent, or agent_n 0: of all; of one
 * subscription, or subscription_id empty: of all. At most limit. */
int skip_list(struct domain *domain, int64_t agent_n, struct str subscription_id, int limit,
              struct arena *arena, struct skip **ret_list, size_t *ret_count, struct err *err);

#endif
