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
enum agent_lifecycle agent_lifecycle_of(struct str name);
enum inbox_state inbox_state_of(struct str name);
enum inbox_scope inbox_scope_of(struct str name);
const char *inbox_scope_name(enum inbox_scope scope);

/* Empty when the name holds no letter. */
void agent_id_of_name(const char *name, char ret_id[AGENT_ID_MAX + 1]);

/* Those members of fields (enum agent_field) that have rules of their own. */
int agent_check_members(const struct agent *agent, unsigned fields, struct err *err);

/* Columns of an agent, for queries that join more to them; a is the table. */
struct stmt;
void agent_read_row(struct stmt *q, struct arena *arena, struct agent *ret_agent);

#endif
