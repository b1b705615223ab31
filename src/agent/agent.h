/* Agents: who they are, their life cycle and settings.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_AGENT_AGENT_H
#define DORMOUSE_AGENT_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "change/change.h"
#include "db/domain.h"

enum agent_lifecycle {
    AGENT_LIFECYCLE_NONE = 0,
    AGENT_CREATED,
    AGENT_ACTIVE,
    AGENT_DORMANT,
    AGENT_DESTROYED,
};
const char *agent_lifecycle_name(enum agent_lifecycle lifecycle);

/* A row; texts lie in the arena it was read into. */
struct agent {
    int64_t n; /* the row, 0 before it is stored */
    const char *id, *kind, *display_name;
    enum agent_lifecycle lifecycle;
    bool paused;
    const char *mode;                 /* autonomous, interactive, hybrid */
    const char *allowed_category_ids; /* JSON list */
    const char *model_id;             /* NULL: the configured default */
    const char *prompt_id;            /* NULL: the built-in */
    const char *instructions;         /* "" when there are none */
    const char *tools;                /* JSON list of names; NULL: what its kind has */
    const char *description;          /* one sentence for people; "" when there is none */
    const char *template;             /* what it was made from; NULL: nothing */
    bool auto_approve_memory;         /* untainted, unflagged memory writes need no word */
    int64_t created_at, updated_at;
};

/* Ids are lower-case letters, digits, '-', '_' and ':' (1..64), beginning with a letter. */
int agent_id_check(struct str id, struct err *err);

/* not_found names the id and how to list agents. */
int agent_get(struct domain *domain, struct str id, struct arena *arena, struct agent *ret_agent,
              struct err *err);
/* By row; BUG when absent. */
int agent_get_n(struct domain *domain, int64_t n, struct arena *arena, struct agent *ret_agent,
                struct err *err);
/* Inside a unit: stores a new one with its first state; conflict when the id is taken. Sets n. */
int agent_add(struct domain *domain, struct change *change, struct agent *agent, int64_t now_ms,
              struct err *err);
/* The agent that greets: made when absent (kind planner), with this display name and model. Inside
 * a unit. Its id is the name in lower case with everything else replaced by '-'. */
int agent_ensure_default(struct domain *domain, struct change *change, const char *display_name,
                         int64_t now_ms, struct arena *arena, struct agent *ret_agent,
                         struct err *err);
/* In order of id. fn returns false to stop. */
int agent_each(struct domain *domain, bool (*fn)(void *arg, const struct agent *agent), void *arg,
               struct err *err);
/* Inside a unit. 1 changed, 0 was so already. */
int agent_set_paused(struct domain *domain, struct change *change, struct str id, bool paused,
                     int64_t now_ms, struct err *err);

#endif
