/* What a write of a subscription or timer leaves behind: who wrote it with which counter, what its
 * row has seen, and a batch that says so to whoever follows changes of agents.
 *
 * That is for what somebody decided. What the house notes down by itself (when a timer is due next,
 * when a subscription last woke) moves on with every wake, says nothing new about anybody, and
 * makes no batch.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_STAMP_INT_H
#define DORMOUSE_WAKE_STAMP_INT_H

#include "base/arena.h"
#include "change/change.h"

struct stmt;

struct stamp {
    struct str clock; /* in arena */
    int64_t host, counter;
};
/* before: the row's vector clock as it is stored; empty: there is none. what: "timer ID". */
int stamp_next(struct domain *domain, struct change *change, struct str what, struct str before,
               struct arena *arena, struct stamp *ret_stamp, struct err *err);
/* vector_clock, host_n, counter */
void stamp_bind(struct stmt *q, const struct stamp *stamp);
/* Inside a unit: a person wrote this row of the agent: "agentTimer" and its id. */
int stamp_tell(struct domain *domain, struct change *change, const struct stamp *stamp,
               struct str payload_type, struct str id, struct str agent_id, int64_t now_ms,
               struct err *err);

#endif
