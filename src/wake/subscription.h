/* Subscriptions: what an agent waits for.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_SUBSCRIPTION_H
#define DORMOUSE_WAKE_SUBSCRIPTION_H

#include "agent/agent.h"
#include "change/batch.h"
#include "change/token.h"
#include "journal/journal.h"

enum wake_source { WAKE_SOURCE_NONE = 0, WAKE_JOURNAL, WAKE_AGENT, WAKE_FILES, WAKE_WEBHOOK };
const char *wake_source_name(enum wake_source source);

/* When an agent may be woken: local hours of local days. */
struct active_hours {
    bool set;
    uint8_t days;             /* bit 0 Monday ... bit 6 Sunday; 0: every day */
    int16_t from_min, to_min; /* of the day; to before from: over midnight */
    char zone[65];            /* "": wherever this machine is */
};
int active_hours_parse(struct json_object *json, struct active_hours *ret_hours, struct err *err);
/* Does now lie inside? Else *ret_next is when it next does. */
bool active_hours_hold(const struct active_hours *hours, int64_t now_ms, int64_t *ret_next);

struct subscription {
    int64_t n;
    struct str id;
    int64_t agent_n;
    struct str agent_id, name, predicate, prompt;
    enum wake_source source;
    const struct token *tokens; /* any of them */
    size_t token_count;
    unsigned authors; /* 1 << enum change_author; default human */
    struct active_hours hours;
    int64_t cooldown_ms;
    struct str folder, glob;
    bool active;
    int64_t last_wake_at, created_at, updated_at;
};
#define SUBSCRIPTION_TOKENS_MAX 64

/* Inside a unit: checked whole (tokens, predicate with its column, folder absolute, hours), stored
 * with its tokens. Sets n and id. A webhook gets its token (shown once) in ret_token. */
#define WEBHOOK_TOKEN_SIZE 49
int subscription_add(struct domain *domain, struct change *change,
                     struct subscription *subscription, int64_t now_ms,
                     char ret_token[WEBHOOK_TOKEN_SIZE], struct err *err);
int subscription_change(struct domain *domain, struct change *change,
                        const struct subscription *subscription, int64_t now_ms, struct err *err);
int subscription_remove(struct domain *domain, struct change *change, struct str id, int64_t now_ms,
                        struct err *err);
/* Inside a unit: all of an agent that is destroyed. */
int subscription_remove_all(struct domain *domain, struct change *change, int64_t agent_n,
                            int64_t now_ms, struct err *err);
int subscription_get(struct domain *domain, struct str id, struct arena *arena,
                     struct subscription *ret_subscription, struct err *err);
/* agent_n 0: of all. In order of n. */
int subscription_list(struct domain *domain, int64_t agent_n, struct arena *arena,
                      struct subscription **ret_list, size_t *ret_count, struct err *err);

/* ---- matching ---- */

/* Active ones that have one of the tokens, by the index alone: the cost is what matches. */
int subscription_match(struct domain *domain, const struct token *tokens, size_t n,
                       struct arena *arena, struct subscription **ret_list, size_t *ret_count,
                       struct err *err);
/* Why a batch does or does not wake: in the order of the checks. */
enum match_outcome { MATCH_YES = 0, MATCH_AUTHOR, MATCH_OWN, MATCH_PREDICATE, MATCH_SCOPE };
struct match {
    enum match_outcome outcome;
    struct record *records; /* those that matched */
    size_t record_count;
};
int subscription_judge(struct journal *journal, const struct subscription *subscription,
                       const struct agent *agent, const struct change_row *row, struct arena *arena,
                       struct match *ret_match, struct err *err);
/* What would have matched since then: for a form. subscription need not be stored. */
struct preview_match {
    struct change_row row;
    struct match match;
};
int subscription_preview(struct domain *agent_domain, struct journal *journal,
                         const struct subscription *subscription, const struct agent *agent,
                         int64_t since_ms, int limit, struct arena *arena,
                         struct preview_match **ret_list, size_t *ret_count, struct err *err);

/* ---- webhooks ---- */

/* The subscription of a token: 1, or 0. */
int webhook_find(struct domain *domain, struct str token, struct arena *arena,
                 struct subscription *ret_subscription, struct err *err);

#endif
