/* The desk: the tools by which agents read and write the journal.
 *
 * Every call goes through the tool pipeline; here is what it does. Scope (the agent's categories)
 * is applied in one place, scope.c: reads get a journal_scope, writes are checked for every record
 * that they touch. A write is a saga: the intent is in the agent domain's ledger, the change is
 * made in the journal under its operationId, and the answer is kept there, so that doing it again
 * after a crash changes nothing and answers the same.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_DESK_DESK_H
#define DORMOUSE_DESK_DESK_H

#include "base/alloc.h"
#include "journal/journal.h"
#include "tool/tool.h"

struct desk;

struct desk_config {
    struct journal *journal;
    struct domain *agent_domain;
    struct change *change;
    struct tool_bed *tools;
};
/* Binds its tools to the bed. Outlives the bed, and ends before the loop ticks again. */
struct desk *desk_new(const struct desk_config *config);
void desk_free(struct desk *desk);
AUTO_DEFINE(desk)

/* ---- alarms ---- */

#define ALARMS_OF_AGENT  5
#define ALARM_ROUNDS_MAX 8 /* rings in a row without a word of a person */

struct desk_alarm {
    struct str name;  /* "session": there is one of it */
    struct str note;  /* what the agent wants to know when it rings */
    struct str taint; /* of the conversation when it was written; empty: none */
    int64_t set_at, rings_at;
};
/* Timers are kept by a room above, which says how. All but list() inside a unit of the agent
 * domain. Without it there are no alarms, and nobody is offered any. */
struct desk_alarms {
    /* For the call's agent, in its conversation; one of the same name is replaced. The same
     * operation again changes nothing. rate_limited: it rang ALARM_ROUNDS_MAX times; conflict:
     * there are ALARMS_OF_AGENT others. */
    int (*set)(void *arg, const struct tool_call *call, const struct desk_alarm *alarm,
               int64_t now_ms, struct arena *arena, struct desk_alarm *ret_alarm,
               bool *ret_replaced, struct err *err);
    /* 1 taken back, 0 there was none. */
    int (*clear)(void *arg, int64_t agent_n, struct str name, int64_t now_ms, struct arena *arena,
                 struct err *err);
    int (*list)(void *arg, int64_t agent_n, struct arena *arena, struct desk_alarm **ret_alarms,
                size_t *ret_count, struct err *err);
};
/* Kept by pointer. */
void desk_set_alarms(struct desk *desk, const struct desk_alarms *alarms, void *arg);

/* For its system text: that an agent whose kind works with the journal reaches nothing of it, and
 * so is offered none of the journal's tools. Adds nothing when that is not so. */
void desk_tell(const struct agent *agent, struct buf *out);

/* ---- words ---- */

/* What one of these tools answered, as a person reads it: a line for each record, with local times
 * and without ids. False: it is no answer of theirs. */
bool desk_say_answer(struct str tool, struct json_object *output, struct buf *out);
/* The same of what one was asked, on one line; ids alone are nothing to say. */
bool desk_say_asked(struct str tool, struct json_object *input, struct buf *out);

/* ---- capability profiles ---- */

/* What an agent of this kind may do: capabilities as contracts name them, ending with NULL; NULL:
 * there is no profile for the kind, and what its settings say is all. */
const char *const *desk_profile(struct str kind);
/* The first capability of the tool that the agent's kind does not have; NULL: it may use it, as far
 * as its kind goes. Of tools that are not the journal's its own list decides. */
const char *desk_missing(const struct agent *agent, const struct tool_contract *contract);

#endif
