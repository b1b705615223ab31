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

#define AGENT_NAME_MAX         80   /* characters */
#define AGENT_DESCRIPTION_MAX  1000 /* characters */
#define AGENT_INSTRUCTIONS_MAX (100 * 1024)

/* Ids are lower-case letters, digits, '-', '_' and ':' (1..64), beginning with a letter. */
int agent_id_check(struct str id, struct err *err);

/* What people read as a name: 1 to AGENT_NAME_MAX characters on one line, nothing that is not seen
 * or that turns text around, no space at either end. what: "the name". */
int agent_name_check(const char *what, struct str name, struct err *err);
/* One line that people read, of any length: nothing that is not seen or that turns text around. */
int agent_line_check(const char *what, struct str line, struct err *err);
/* Prose: valid UTF-8, line breaks and tabs are fine, other control characters and bidi marks are
 * not; at most max bytes. May be empty. */
int agent_text_check(const char *what, struct str text, size_t max, struct err *err);
/* Agents of Dormouse itself: "system:...". People make none of these. */
bool agent_is_system(struct str id);

/* not_found names the id and how to list agents. */
int agent_get(struct domain *domain, struct str id, struct arena *arena, struct agent *ret_agent,
              struct err *err);
/* By row; BUG when absent. */
int agent_get_n(struct domain *domain, int64_t n, struct arena *arena, struct agent *ret_agent,
                struct err *err);
/* Inside a unit: stores a new one with its first state; conflict when the id is taken. Sets n. */
int agent_add(struct domain *domain, struct change *change, struct agent *agent, int64_t now_ms,
              struct err *err);
/* An id made of a name that no agent has, also none that was destroyed: "coach", "coach-2" ... in
 * arena. Names without a Latin letter give "agent". */
int agent_free_id(struct domain *domain, struct str name, struct arena *arena, const char **ret_id,
                  struct err *err);

/* Which members of an agent a change gives. */
enum agent_field {
    AGENT_NAME = 1,
    AGENT_DESCRIPTION = 2,
    AGENT_INSTRUCTIONS = 4,
    AGENT_MODEL = 8, /* may be NULL: the default */
    AGENT_TOOLS = 16,
    AGENT_AUTO_APPROVE = 32,
    AGENT_PAUSED = 64,
};
/* Inside a unit: sets these members and no others, checked as for a new one; two changes of
 * different members do not undo each other. agent_destroyed when it is. 1 changed, 0 was so. */
int agent_change(struct domain *domain, struct change *change, const struct agent *to,
                 unsigned fields, int64_t now_ms, struct err *err);
/* Inside a unit: its life ends, for good. 1 now, 0 had. What it did stays readable. */
int agent_set_destroyed(struct domain *domain, struct change *change, struct str id, int64_t now_ms,
                        struct err *err);
/* Inside a unit: what waits for a person and belongs to no run is withdrawn. */
int agent_withdraw_items(struct domain *domain, struct change *change, int64_t agent_n,
                         int64_t now_ms, struct err *err);

/* ---- how it is ---- */

enum agent_word {
    AGENT_WORD_NONE = 0,
    AGENT_ASLEEP,
    AGENT_AWAKE,
    AGENT_WAITING, /* for a person */
    AGENT_HELD,    /* paused */
    AGENT_FAILING,
    AGENT_GONE,
};
const char *agent_word_name(enum agent_word word);

struct agent_status {
    struct agent agent;
    enum agent_word word;
    int64_t since;        /* ms; 0: not known */
    const char *why;      /* a sentence, or "" */
    int64_t pending;      /* inbox items */
    int64_t last_run_at;  /* 0: never */
    int64_t tokens_today; /* of runs that began since day_ms */
    int64_t runs_open;
};
struct agent_status_filter {
    struct str id; /* one; empty: all */
    bool system, destroyed;
    int64_t day_ms; /* when today began */
};
/* In order of name then id, one query whatever their number. */
int agent_status_list(struct domain *domain, const struct agent_status_filter *filter,
                      struct arena *arena, struct agent_status **ret_list, size_t *ret_count,
                      struct err *err);

/* The agent that greets: made when absent (kind planner), with this display name and model. Inside
 * a unit. Its id is the name in lower case with everything else replaced by '-'. 1 made now, 0 it
 * was there. */
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
