/* Sessions: a person speaks with an agent. A session is named as its conversation is
 * (AGENT:session:NAME), so two agents may have one of the same name. It ends after the agent's
 * session_ttl_ms without a word, when the person closes it, or when the agent is destroyed; then
 * the agent is again what its mode says. Speaking in one that ended opens it again.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_AGENT_SESSION_H
#define DORMOUSE_AGENT_SESSION_H

#include "agent/agent.h"

enum session_why {
    SESSION_OPEN = 0,
    SESSION_IDLE,
    SESSION_BY_PERSON,
    SESSION_DESTROYED,
};
const char *session_why_name(enum session_why why); /* "open", "idle", "person", "destroyed" */

struct session {
    struct str id;
    int64_t agent_n, thread_n;
    int64_t created_at, last_at, expires_at, closed_at; /* closed_at 0: it is open */
    enum session_why why;
};

#define SESSION_ID_MAX 400 /* bytes */

/* Inside a unit: somebody speaks in it; made when absent. It now expires after the agent's
 * session_ttl_ms, or up to a second before. 1 it is new or open again, 0 it was open.
 * agent_destroyed; conflict when it is another agent's or another thread's. */
int session_touch(struct domain *domain, const struct agent *agent, struct str id, int64_t thread_n,
                  int64_t now_ms, struct err *err);
/* Inside a unit. 1 closed, 0 it was; not_found. */
int session_close(struct domain *domain, struct str id, enum session_why why, int64_t now_ms,
                  struct err *err);
/* Inside a unit: those of an agent that are open. How many. */
int sessions_close_all(struct domain *domain, int64_t agent_n, enum session_why why, int64_t now_ms,
                       struct err *err);
/* Inside a unit: closes those that have expired, at most limit, the longest expired first; which.
 * Whoever sweeps looks at all that is due, however long it slept. */
int sessions_expire(struct domain *domain, int64_t now_ms, int limit, struct arena *arena,
                    struct session **ret_sessions, size_t *ret_count, struct err *err);
/* Those that have expired and are not closed yet. */
int sessions_due(struct domain *domain, int64_t now_ms, int limit, struct arena *arena,
                 struct session **ret_sessions, size_t *ret_count, struct err *err);
/* When the next open one expires: 1 *ret_at, 0 none is open. For one timer instead of polling. */
int sessions_next(struct domain *domain, int64_t *ret_at, struct err *err);
/* 1 found, 0 absent. */
int session_find(struct domain *domain, struct str id, struct arena *arena,
                 struct session *ret_session, struct err *err);
/* An agent's, the newest word first; open_only: without those that are closed. */
int session_list(struct domain *domain, int64_t agent_n, bool open_only, int limit,
                 struct arena *arena, struct session **ret_sessions, size_t *ret_count,
                 struct err *err);

#endif
