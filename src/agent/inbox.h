/* The inbox: everything that waits for a person, in one table. The state lives only here.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_AGENT_INBOX_H
#define DORMOUSE_AGENT_INBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json_write.h"
#include "base/str.h"
#include "change/change.h"
#include "db/domain.h"

/* Kinds and states as in the table ("tool", "question", "unknown_effect" ...; "pending",
 * "approved", "edited", "answered", "rejected", "expired", "withdrawn"). */
#define INBOX_KINDS(X)                                                                             \
    X(TOOL, "tool")                                                                                \
    X(MEMORY, "memory")                                                                            \
    X(QUESTION, "question")                                                                        \
    X(CONSENT, "consent")                                                                          \
    X(SPAWN, "spawn")                                                                              \
    X(UNKNOWN_EFFECT, "unknown_effect")                                                            \
    X(INPUT_REQUIRED, "input_required")                                                            \
    X(ESCALATED, "escalated")                                                                      \
    X(AGENT_PROPOSAL, "agent_proposal")                                                            \
    X(SKILL_SCRIPT, "skill_script")                                                                \
    X(PERSONA, "persona")                                                                          \
    X(CONFIG, "config")
enum inbox_kind {
    INBOX_KIND_NONE = 0,
#define X(id, name) INBOX_##id,
    INBOX_KINDS(X)
#undef X
};
enum inbox_state {
    INBOX_STATE_NONE = 0,
    INBOX_PENDING,
    INBOX_APPROVED,
    INBOX_EDITED,
    INBOX_ANSWERED,
    INBOX_REJECTED,
    INBOX_EXPIRED,
    INBOX_WITHDRAWN,
};
const char *inbox_kind_name(enum inbox_kind kind);
/* INBOX_KIND_NONE when there is no such kind. */
enum inbox_kind inbox_kind_of(struct str name);
const char *inbox_state_name(enum inbox_state state);
enum inbox_scope { INBOX_ONCE = 0, INBOX_FOR_RUN, INBOX_ALWAYS };

/* A row. Empty (p NULL) texts are NULL in the table. */
struct inbox_item {
    int64_t n;
    struct str id;
    enum inbox_kind kind;
    enum inbox_state state;
    int64_t agent_n, thread_n, run_n; /* 0: none */
    int64_t call_key;                 /* as stored: nobody has compared it with the run yet */
    struct str tool_name, title;
    struct str body; /* JSON */
    struct str preview_kind, preview;
    struct str digest;
    int64_t created_at, expires_at, decided_at; /* 0: none */
    struct str decided_by, reason;
    enum inbox_scope scope;
    struct str answer; /* JSON */
    struct str taint;
    struct str details; /* JSON: what its kind shows beyond the preview */
    struct str pattern; /* what a grant would cover (grant_words()); empty: it is decided once */
    /* Read along for people; not stored here. */
    struct str agent_id, agent_name, run_id, thread_id;
};

/* Inside a unit. item->id given by the caller (CONTRACTS: H("id|v1|runId|seq")); adding the same id
 * again changes nothing. Sets n. */
int inbox_add(struct domain *domain, struct change *change, struct inbox_item *item,
              struct err *err);
int inbox_get(struct domain *domain, struct str id, struct arena *arena,
              struct inbox_item *ret_item, struct err *err);
int inbox_get_n(struct domain *domain, int64_t n, struct arena *arena, struct inbox_item *ret_item,
                struct err *err);
/* By a unique beginning of the id of at least 4 characters: what people type. bad_request names
 * the candidates when it is not unique. */
int inbox_find(struct domain *domain, struct str prefix, struct arena *arena,
               struct inbox_item *ret_item, struct err *err);
/* Oldest first; state NONE: all, newest first. At most limit (0: 100) after the item n `after`. */
int inbox_list(struct domain *domain, enum inbox_state state, int64_t after, int limit,
               struct arena *arena, struct inbox_item **ret_items, size_t *ret_count,
               struct err *err);
/* What a run waits for, and has waited for. */
struct inbox_waits {
    struct str pending; /* the oldest that is not decided; empty: none */
    int64_t waited_ms;  /* in which at least one was not; what is pending counts up to until */
};
/* until: when the run ended, 0 while it goes on, and then what is pending does not count yet. */
int inbox_waits_of_run(struct domain *domain, int64_t run_n, int64_t until, struct arena *arena,
                       struct inbox_waits *ret_waits, struct err *err);
int inbox_count_pending(struct domain *domain, int64_t *ret_count, struct err *err);

/* The members "facts" (stored in details: what the page and the terminal show in our own words),
 * "danger" (sentences: why approving it takes a second step), "choices" (what each yes covers), and
 * the rest of "details" when asked for, each where there are any. */
void inbox_put_view(struct json_writer *w, const struct inbox_item *item, bool with_details);
/* Appends the sentences of "danger", a space between them; nothing when there are none. */
void inbox_danger(const struct inbox_item *item, struct buf *out);
/* Appends a sentence about this many suspicious places of a text; nothing for none. */
void inbox_say_flags(size_t count, struct buf *out);

struct inbox_decision {
    enum inbox_state state; /* approved, edited, answered, rejected, expired, withdrawn */
    enum inbox_scope scope;
    bool anyway;   /* although the item is dangerous: without it a yes to such a one is refused */
    struct str by; /* "owner"; "system" for expired and withdrawn; never an agent */
    struct str reason; /* may be empty */
    struct str answer; /* JSON: edited arguments or the answer */
};
/* Inside a unit. 1: decided now. 0: it had been decided in exactly this way before (state, scope,
 * reason, answer). -1: conflict, naming the state that it has (decided otherwise); expired, when a
 * person comes too late, though nobody has marked it yet; unauthorized, when `by` is nobody or an
 * agent ("agent:..."); not_found. ret_item may be NULL. */
int inbox_decide(struct domain *domain, struct change *change, struct str id,
                 const struct inbox_decision *decision, int64_t now_ms, struct inbox_item *ret_item,
                 struct arena *arena, struct err *err);
/* Inside a unit: other processes on the database hear that something was decided which a run of
 * theirs waits for. */
#define INBOX_CHANNEL "dormouse_inbox"
int inbox_tell_decided(struct domain *domain, struct err *err);
/* When the next pending item expires; 0: none does. */
int inbox_next_expiry(struct domain *domain, int64_t *ret_at, struct err *err);
/* Inside a unit: pending items whose time has passed; the caller decides each as expired. */
int inbox_due(struct domain *domain, int64_t now_ms, int limit, struct arena *arena,
              struct inbox_item **ret_items, size_t *ret_count, struct err *err);

/* ---- grants: what a person allowed beyond one call ----
 *
 * A pattern is canonical JSON of all that a grant is bound to: the tool, exactly these arguments,
 * and where it matters the directory, the walls and the files that would run. The inbox item that
 * offers it holds it, and says in words what it covers; a decision grants that and nothing else. */

struct approval_grant {
    struct str id;
    int64_t agent_n, run_n; /* run_n 0: always */
    struct str tool_name, pattern, inbox_id, granted_by;
    int64_t created_at, used_at; /* used_at 0: not yet */
};
/* Inside a unit, as using and revoking. Adding the same id again changes nothing. */
int grant_add(struct domain *domain, const struct approval_grant *grant, struct err *err);
/* 1, its id and its inbox_id when one covers this call, else 0. taint: what was read before the
 * call: a grant covers what was asked with the same strangers' text, or more of it, in view. */
int grant_find(struct domain *domain, int64_t agent_n, int64_t run_n, struct str tool_name,
               struct str pattern, struct str taint, struct arena *arena,
               struct approval_grant *ret_grant, struct err *err);
int grant_used(struct domain *domain, struct str id, int64_t now_ms, struct err *err);
/* Those in force, oldest first. The grant is valid during the call. */
int grant_each(struct domain *domain, bool (*fn)(void *arg, const struct approval_grant *grant),
               void *arg, struct err *err);
/* The id of the one in force that a person means: by the beginning of its id, or of the id of the
 * item that it was granted by, as lists print both; see prefix_find(). */
int grant_find_id(struct domain *domain, struct str typed, struct arena *arena, struct str *ret_id,
                  struct err *err);
/* 1 revoked now, 0 it was before, -1 not_found. */
int grant_revoke(struct domain *domain, struct str id, int64_t now_ms, struct err *err);
/* Appends a sentence: what a yes of this scope covers. */
void grant_words(struct str pattern, enum inbox_scope scope, struct buf *out);

#endif
