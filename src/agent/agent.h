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
#include "change/batch.h"
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
/* NONE for a name that is none. */
enum agent_lifecycle agent_lifecycle_of(struct str name);

/* A row; texts lie in the arena it was read into. */
struct agent {
    int64_t n; /* the row, 0 before it is stored */
    const char *id, *kind, *display_name;
    enum agent_lifecycle lifecycle;
    bool paused;
    const char *mode;                 /* autonomous, interactive, hybrid */
    const char *allowed_category_ids; /* JSON list; [] reaches nothing of the journal, ["*"] all */
    int64_t session_ttl_ms;           /* sessions end after this long without a word; 0: 30 min */
    const char *profile;              /* what it may do; NULL: as its kind says */
    int64_t config_version;           /* of what is below; 0: AGENT_CONFIG_VERSION */
    const char *extension;            /* JSON object of registered keys; NULL: {} */
    const char *model_id;             /* NULL: the configured default */
    const char *prompt_id;            /* NULL: the built-in */
    const char *instructions;         /* "" when there are none */
    const char *tools;                /* JSON list of names; NULL: what its kind has */
    const char *description;          /* one sentence for people; "" when there is none */
    const char *template;             /* what it was made from; NULL: nothing */
    const char *taint;                /* of its name, instructions and what it is told when it
                                       * wakes (change/taint.h), for its life; NULL: a person's */
    bool auto_approve_memory;         /* untainted, unflagged memory writes need no word */
    int64_t created_at, updated_at;
};

#define AGENT_NAME_MAX         80   /* characters */
#define AGENT_DESCRIPTION_MAX  1000 /* characters */
#define AGENT_INSTRUCTIONS_MAX (100 * 1024)
#define AGENT_CATEGORIES_MAX   200
#define AGENT_SESSION_TTL_MS   (30ll * 60 * 1000) /* when none is said */
#define AGENT_SESSION_TTL_MIN  (60ll * 1000)
#define AGENT_SESSION_TTL_MAX  (30ll * 24 * 3600 * 1000)
#define AGENT_CONFIG_VERSION   1

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
/* autonomous: it wakes by itself; interactive: only a person wakes it, and alarms that it set while
 * they spoke; hybrid: both. */
#define AGENT_MODE_DEFAULT "hybrid"

int agent_mode_check(struct str mode, struct err *err);
/* A JSON list of category ids, each once, or ["*"]. */
int agent_categories_check(struct str json, struct err *err);
/* An extension holds registered keys only ("NAMESPACE.name"): those of budget.h. schema_violation
 * names the key. */
struct json_object;
int agent_extension_check(const struct json_object *extension, struct err *err);
/* Agents of Dormouse itself: "system:...". People make none of these. */
bool agent_is_system(struct str id);

/* not_found names the id and how to list agents. */
int agent_get(struct domain *domain, struct str id, struct arena *arena, struct agent *ret_agent,
              struct err *err);
/* By row; integrity_failed when absent: what names it was altered. */
int agent_get_n(struct domain *domain, int64_t n, struct arena *arena, struct agent *ret_agent,
                struct err *err);
/* Inside a unit: stores a new one with its first state; conflict when the id is taken. Sets n.
 *
 * This and the changes below write a batch whose author is the person: AGENT and the agent's id,
 * and AGENT_STATE where the state changes. Those that take a batch add to it instead: its writer
 * says who it was. */
int agent_add(struct domain *domain, struct change *change, struct agent *agent, int64_t now_ms,
              struct err *err);
int agent_add_in(struct domain *domain, struct change *change, struct agent *agent,
                 struct change_batch *batch, int64_t now_ms, struct err *err);
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
    AGENT_MODE = 128,
    AGENT_CATEGORIES = 256,
    AGENT_SESSION_TTL = 512,
    AGENT_PROFILE = 1024, /* may be NULL: as its kind says */
    AGENT_EXTENSION = 2048,
};
/* Inside a unit: sets these members and no others, checked as for a new one; two changes of
 * different members do not undo each other. agent_destroyed when it is. 1 changed, 0 was so. */
int agent_change(struct domain *domain, struct change *change, const struct agent *to,
                 unsigned fields, int64_t now_ms, struct err *err);
int agent_change_in(struct domain *domain, struct change *change, const struct agent *to,
                    unsigned fields, struct change_batch *batch, int64_t now_ms, struct err *err);
/* Inside a unit: created -> active <-> dormant -> destroyed, and to destroyed from each. Another
 * step is a conflict that says which there are; agent_destroyed when it is. 1 changed, 0 was so. A
 * dormant agent is not woken by changes and timers; a person may speak to it. */
int agent_set_lifecycle(struct domain *domain, struct change *change, struct str id,
                        enum agent_lifecycle to, int64_t now_ms, struct err *err);
int agent_set_lifecycle_in(struct domain *domain, struct change *change, struct str id,
                           enum agent_lifecycle to, struct change_batch *batch, int64_t now_ms,
                           struct err *err);
/* Inside a unit: its life ends, for good. 1 now, 0 had. What it did stays readable. Its
 * subscriptions and timers become tombstones, wakes that wait end as skipped_destroyed, its
 * sessions close: nothing wakes it any more, on no device. */
int agent_set_destroyed(struct domain *domain, struct change *change, struct str id, int64_t now_ms,
                        struct err *err);
/* Inside a unit: agent_destroyed when it is. Otherwise it lives until the transaction ends: whoever
 * destroys it meanwhile, also from another process, waits for that. For whatever writes on behalf
 * of an agent that it looked at earlier. */
int agent_hold_alive(struct domain *domain, int64_t agent_n, struct err *err);
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
    int64_t sessions_open; /* conversations that a person has with it */
    int64_t session_until; /* when the last of them ends without a word; 0: none is open */
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
