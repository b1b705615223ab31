/* Inside the room: slots by number.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_AGENT_STATE_INT_H
#define DORMOUSE_AGENT_STATE_INT_H

#include "agent/state.h"

struct agent_slot_place {
    const char *name;
    size_t value, version, host;
};
extern const struct agent_slot_place agent_slot_places[AGENT_SLOT_COUNT];

static inline struct str *agent_slot_value(struct agent_slots *slots, enum agent_slot slot)
{
    return (struct str *)(void *)((char *)slots + agent_slot_places[slot].value);
}

static inline int64_t *agent_slot_version(struct agent_slots *slots, enum agent_slot slot)
{
    return (int64_t *)(void *)((char *)slots + agent_slot_places[slot].version);
}

static inline struct str *agent_slot_host(struct agent_slots *slots, enum agent_slot slot)
{
    return (struct str *)(void *)((char *)slots + agent_slot_places[slot].host);
}

/* What a slot may hold; the value as it is kept, in arena. */
int agent_slot_check(enum agent_slot slot, struct str value, struct arena *arena,
                     struct str *ret_value, struct err *err);

/* Inside a unit: the first value of a new agent, whose id and row are given. */
int agent_state_begin(struct domain *domain, struct change *change, const struct agent *agent,
                      struct agent_state *ret_state, struct arena *arena, struct err *err);
/* Inside a unit: the life cycle as this host now knows it, also of an agent that was destroyed. */
int agent_state_follow(struct domain *domain, struct change *change, const struct agent *agent,
                       enum agent_lifecycle lifecycle, int64_t now_ms, struct arena *arena,
                       struct agent_state *ret_state, struct err *err);

#endif
