/* Links between an agent's records: what follows what, what summarises what, what an act changed.
 *
 * They live in the agent domain only; the person's own links are the journal's. What every message
 * has anyway (its predecessor, its payload) is a column of the message and no row here: a row for
 * each would double what a turn writes. agent_links_of_*() show both alike.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_AGENT_LINK_H
#define DORMOUSE_AGENT_LINK_H

#include "agent/agent.h"
#include "change/batch.h"

/* name, whether it is a column of a record and never a row */
#define AGENT_RELATIONS(X)                                                                         \
    X(STATE, "agent_state", true)             /* agent -> its state */                             \
    X(HEAD, "agent_head", true)               /* agent -> newest message */                        \
    X(REPORT_HEAD, "agent_report_head", true) /* agent -> report that a scope shows */             \
    X(MESSAGE_PREV, "message_prev", true)                                                          \
    X(MESSAGE_PAYLOAD, "message_payload", true)                                                    \
    X(ACTION_REF, "action_ref", true) /* result -> the act that it answers */                      \
    X(SUMMARY_START, "summary_start", true)                                                        \
    X(SUMMARY_END, "summary_end", true)                                                            \
    X(TOOL_EFFECT, "tool_effect", false)     /* result of an act -> record that it changed */      \
    X(REPORT_SOURCE, "report_source", false) /* report -> message or record it rests on */         \
    X(AGENT_PARENT, "agent_parent", false)   /* agent -> the one that made it */                   \
    X(THREAD_SOURCE, "thread_source", false) /* conversation -> what began it */                   \
    X(TIMER_THREAD, "timer_thread", false)   /* alarm -> conversation in which it rings */

enum agent_relation {
    AGENT_RELATION_NONE = 0,
#define X(id, name, column) AGENT_LINK_##id,
    AGENT_RELATIONS(X)
#undef X
};
const char *agent_relation_name(enum agent_relation relation);
/* NONE for a name that is none. */
enum agent_relation agent_relation_of(struct str name);

struct agent_link {
    struct str id; /* H("link|v1|relation|from|to"): the same link made twice is one */
    enum agent_relation relation;
    struct str from_id, to_id;
    struct str metadata; /* JSON object; empty: {} */
    bool hidden;
    int64_t created_at;
};

#define AGENT_LINK_METADATA_MAX (16 * 1024)
#define AGENT_LINKS_MAX         1000 /* of one answer */

/* Inside a unit: stores it and adds a unit to batch (may be NULL). 1 stored or shown again, 0 it
 * was there. bad_request: a relation that is a column of a record, an id or metadata that is none.
 */
int agent_link_add(struct domain *domain, struct change *change, const struct agent_link *link,
                   struct change_batch *batch, int64_t now_ms, struct err *err);
/* Inside a unit. 1 hidden now, 0 it was; not_found. */
int agent_link_hide(struct domain *domain, struct change *change, struct str id,
                    struct change_batch *batch, struct err *err);
/* Rows that are not hidden, the newest first, at most limit. */
int agent_links_from(struct domain *domain, enum agent_relation relation, struct str from_id,
                     int limit, struct arena *arena, struct agent_link **ret_links,
                     size_t *ret_count, struct err *err);
int agent_links_to(struct domain *domain, enum agent_relation relation, struct str to_id, int limit,
                   struct arena *arena, struct agent_link **ret_links, size_t *ret_count,
                   struct err *err);

/* Whether an id can stand at an end of a link: 1 to 200 bytes on one line. */
bool agent_link_id_valid(struct str id);
/* Rows that begin at results of this agent's acts, then those that begin at its reports; each the
 * newest first, at most limit. */
int agent_links_made(struct domain *domain, int64_t agent_n, int limit, struct arena *arena,
                     struct agent_link **ret_links, size_t *ret_count, struct err *err);
/* Rows of any relation that end there, the newest of each relation first. */
int agent_links_at(struct domain *domain, struct str to_id, int limit, struct arena *arena,
                   struct agent_link **ret_links, size_t *ret_count, struct err *err);

/* All links that begin at an agent or a message, columns and rows alike; those of columns have no
 * id. not_found. */
int agent_links_of_agent(struct domain *domain, struct str agent_id, struct arena *arena,
                         struct agent_link **ret_links, size_t *ret_count, struct err *err);
int agent_links_of_message(struct domain *domain, int64_t message_n, struct arena *arena,
                           struct agent_link **ret_links, size_t *ret_count, struct err *err);

#endif
