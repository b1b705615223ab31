/* Inside the room: names to numbers.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_AGENT_AGENT_INT_H
#define DORMOUSE_AGENT_AGENT_INT_H

#include "agent/agent.h"
#include "agent/inbox.h"

#define AGENT_ID_MAX 64

/* NONE for a name that is none. */
enum inbox_state inbox_state_of(struct str name);
enum inbox_scope inbox_scope_of(struct str name);
const char *inbox_scope_name(enum inbox_scope scope);

/* Empty when the name holds no letter. */
void agent_id_of_name(const char *name, char ret_id[AGENT_ID_MAX + 1]);

/* Those members of fields (enum agent_field) that have rules of their own. */
int agent_check_members(const struct agent *agent, unsigned fields, struct err *err);

/* Inside a unit: a write of the agent's row. The counter that it takes, and the row's clock with
 * it; adds the unit, AGENT and the id to batch. */
int agent_next_write(struct domain *domain, struct change *change, const char *id,
                     struct change_batch *batch, struct arena *arena, int64_t *ret_counter,
                     struct str *ret_clock, struct err *err);
/* Inside a unit: its row says so, and what follows from it is done; its state is not touched. batch
 * may be NULL: somebody else told. */
int agent_live_as(struct domain *domain, struct change *change, const struct agent *agent,
                  enum agent_lifecycle to, struct change_batch *batch, int64_t now_ms,
                  struct err *err);

/* Columns of an agent, for queries that join more to them; a is the table. */
struct stmt;
void agent_read_row(struct stmt *q, struct arena *arena, struct agent *ret_agent);

#endif
