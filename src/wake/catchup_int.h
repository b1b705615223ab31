/* Inside the room: wakes that make up for others.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_CATCHUP_INT_H
#define DORMOUSE_WAKE_CATCHUP_INT_H

#include "policy/kill.h"
#include "run/run.h"
#include "wake/queue_int.h"

/* Inside the unit in which the run of this wake failed, for the nth time in a row: queues another
 * try where one may help, and says what comes of it. */
int catchup_failed(struct domain *domain, const struct run_end *end, int64_t failures,
                   int64_t now_ms, struct arena *arena, struct err *err);
/* Inside a unit: a wake for everything that this agent (0: each) missed while it was paused or
 * stopped, if there is something. Agents that still are, or are only woken by people,
 * get none. kill may be NULL. */
int catchup_missed(struct domain *domain, const struct kill_switches *kill, int64_t agent_n,
                   int64_t now_ms, struct err *err);

/* ---- catchup_store.c ---- */
/* The newest wake that the agent (0: each) missed so and has not been told of since; their keys. */
int catchup_list(struct domain *domain, int64_t agent_n, struct arena *arena, struct str **ret_keys,
                 size_t *ret_count, struct err *err);

#endif
