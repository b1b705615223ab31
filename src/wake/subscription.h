/* Subscriptions: what an agent waits for.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_SUBSCRIPTION_H
#define DORMOUSE_WAKE_SUBSCRIPTION_H

#include "agent/agent.h"
#include "base/json_write.h"
#include "change/batch.h"
#include "change/token.h"
#include "journal/journal.h"

enum wake_source { WAKE_SOURCE_NONE = 0, WAKE_JOURNAL, WAKE_AGENT, WAKE_FILES, WAKE_WEBHOOK };
const char *wake_source_name(enum wake_source source); /* "journal" */
enum wake_source wake_source_of(struct str name);

/* When an agent may be woken: local hours of local days. */
struct active_hours {
    bool set;
    uint8_t days;             /* bit 0 Monday ... bit 6 Sunday; 0: every day */
    int16_t from_min, to_min; /* of the day; to before from: over midnight, into the next day */
    char zone[65];            /* "": wherever this machine is */
};
struct json_object;
int active_hours_parse(struct json_object *json, struct active_hours *ret_hours, struct err *err);
void active_hours_write(struct json_writer *w, const struct active_hours *hours);
/* Does now lie inside? Else *ret_next is when it next does. */
bool active_hours_hold(const struct active_hours *hours, int64_t now_ms, int64_t *ret_next);

/* Also what the agent itself wrote; without it nothing that an agent writes wakes that agent. */
#define SUBSCRIPTION_BY_SELF 0x80u

struct subscription {
    int64_t n;
    struct str id;
    int64_t agent_n;
    struct str agent_id, name, prompt;
    struct str predicate; /* as it is stored, with the ids of what it names (predicate.h) */
    enum wake_source source;
    const struct token *tokens; /* any of them */
    size_t token_count;
    unsigned authors; /* 1 << enum change_author, SUBSCRIPTION_BY_SELF; default human */
    struct active_hours hours;
    int64_t cooldown_ms;
    struct str folder, glob;
    bool active;
    int64_t last_wake_at; /* may lie ahead: when a wake that waits for its cooldown is due */
    int64_t created_at, updated_at;
    char id_text[UUID_TEXT_SIZE]; /* where subscription_add() puts the id */
};
#define SUBSCRIPTION_TOKENS_MAX    64
#define SUBSCRIPTION_PREDICATE_MAX (64 * 1024)                      /* bytes, as it is stored */
#define SUBSCRIPTION_PROMPT_MAX    4000                             /* bytes */
#define SUBSCRIPTION_GLOB_MAX      200                              /* bytes */
#define SUBSCRIPTION_COOLDOWN_MAX  (INT64_C(30) * 24 * 3600 * 1000) /* ms */

/* All that can be said about one without looking at the database: names, tokens that its source
 * has, the predicate (with its column), hours, folder. What is not given gets its default (authors:
 * human). Tokens are for the sources journal and agent, a predicate is for journal alone, folder
 * and glob are for files. */
int subscription_check(struct subscription *subscription, struct err *err);
/* Before that, of one that a person wrote: categories and labels that its predicate and its tokens
 * name become ids, in arena; records that its tokens name must be there. What stands in stored
 * (NULL: it is new) as well stays as it is. bad_request says what there is instead, in a predicate
 * with the column. journal NULL: nothing is looked up. */
int subscription_name(struct subscription *subscription, const struct subscription *stored,
                      struct journal *journal, struct arena *arena, struct err *err);

/* Inside a unit, as are the next two, and each leaves a batch of the agent domain (the key AGENT,
 * the ids of the agent and of the subscription): checked, and stored with its tokens. Sets n and
 * id. A webhook gets its token (shown once, 32 random bytes in base64url) in ret_token; else that
 * is "". agent_destroyed when the agent is. */
#define WEBHOOK_TOKEN_SIZE 49
int subscription_add(struct domain *domain, struct change *change,
                     struct subscription *subscription, int64_t now_ms,
                     char ret_token[WEBHOOK_TOKEN_SIZE], struct err *err);
/* The one with this n becomes so; its id, agent and source stay. not_found. */
int subscription_change(struct domain *domain, struct change *change,
                        const struct subscription *subscription, int64_t now_ms, struct err *err);
/* not_found; a webhook's token is forgotten. What is queued of it ends without a run, also when it
 * is switched off. */
int subscription_remove(struct domain *domain, struct change *change, struct str id, int64_t now_ms,
                        struct err *err);
/* By its id, or what no other id begins with. */
int subscription_get(struct domain *domain, struct str id, struct arena *arena,
                     struct subscription *ret_subscription, struct err *err);
/* agent_n 0: of all. In order of n. Those that were removed are not listed. */
int subscription_list(struct domain *domain, int64_t agent_n, struct arena *arena,
                      struct subscription **ret_list, size_t *ret_count, struct err *err);

/* ---- JSON ---- */

/* Sets what object gives: name, source, tokens ["k:TASK", {class, namespace, value}], predicate,
 * authors
 * [human, agent, sync, self], activeHours (null: none), cooldownSeconds, folder, glob, prompt,
 * active; other members are refused. Of a stored one the source can't be given. Texts and tokens
 * are copied into arena. schema_violation or bad_request names the member. */
int subscription_read(struct subscription *subscription, struct json_object *object,
                      struct arena *arena, struct err *err);
/* All of it, with id, agentId and times. */
void subscription_write(struct json_writer *w, const struct subscription *subscription);
/* The members alone, for who adds more. */
void subscription_write_members(struct json_writer *w, const struct subscription *subscription);

/* ---- matching ---- */

/* Active ones that have one of the tokens, each once in order of n, found by the index alone: the
 * cost is what matches. The first limit (SUBSCRIPTION_PAGE_MAX at most) of those after after_n;
 * fewer than that: there are no more. Only what judging needs is read: not tokens, agent_id, folder
 * and times. */
#define SUBSCRIPTION_PAGE_MAX 1000
int subscription_match(struct domain *domain, const struct token *tokens, size_t n, int64_t after_n,
                       int limit, struct arena *arena, struct subscription **ret_list,
                       size_t *ret_count, struct err *err);
/* Why a batch does or does not wake: in the order of the checks, but for the last three.
 * MATCH_TOKENS: it has none of the subscription's tokens, which is for previews;
 * subscription_match() has seen to that before. */
enum match_outcome {
    MATCH_YES = 0,
    MATCH_AUTHOR,
    MATCH_OWN,
    MATCH_PREDICATE,
    MATCH_SCOPE,
    MATCH_FAILED,       /* it could not be judged; dead_letters says why */
    MATCH_RATE_LIMITED, /* of webhooks: it was called too often */
    MATCH_TOKENS
};
/* A sentence about it: "the agent wrote it itself". */
const char *match_outcome_why(enum match_outcome outcome);
const char *match_outcome_name(enum match_outcome outcome); /* "own" */
struct match {
    enum match_outcome outcome;
    struct record *records; /* those that matched, and that the agent may see */
    size_t record_count;
    size_t hidden_count; /* matched, but lie outside of its categories */
};
int subscription_judge(struct journal *journal, const struct subscription *subscription,
                       const struct agent *agent, const struct change_row *row, struct arena *arena,
                       struct match *ret_match, struct err *err);

/* ---- webhooks ---- */

/* The subscription of a token: 1, or 0. */
int webhook_find(struct domain *domain, struct str token, struct arena *arena,
                 struct subscription *ret_subscription, struct err *err);

#endif
