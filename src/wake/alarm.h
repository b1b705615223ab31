/* Alarms: what an agent sets for itself while it speaks with somebody.
 *
 * An alarm is a timer of one moment with a link to the conversation in which it was set: its wake
 * goes on there, so that whoever reads that conversation is told. An agent has one of a name and at
 * most ALARMS_OF_AGENT; it may ring ALARM_ROUNDS_MAX times in a row before a person has to speak
 * again, so that nothing goes on for ever by itself.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_ALARM_H
#define DORMOUSE_WAKE_ALARM_H

#include "desk/desk.h"
#include "wake/timer.h"

/* ---- all inside a unit of the agent domain, but for those that only read ---- */

/* As struct desk_alarms says. */
int alarm_set(struct domain *domain, struct change *change, const struct tool_call *call,
              const struct desk_alarm *alarm, int64_t now_ms, struct arena *arena,
              struct desk_alarm *ret_alarm, bool *ret_replaced, struct err *err);
int alarm_clear(struct domain *domain, struct change *change, int64_t agent_n, struct str name,
                int64_t now_ms, struct arena *arena, struct err *err);
int alarm_list(struct domain *domain, int64_t agent_n, struct arena *arena,
               struct desk_alarm **ret_alarms, size_t *ret_count, struct err *err);

/* What a timer rings of, if it is an alarm: 1, 0 it is an ordinary timer. */
struct alarm_ring {
    struct str thread_id, name, note;
    struct str taint; /* of the conversation when the note was written */
    int64_t set_at, rings_at;
};
int alarm_of_timer(struct domain *domain, const struct timer *timer, struct arena *arena,
                   struct alarm_ring *ret_ring, struct err *err);

#endif
