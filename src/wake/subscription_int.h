/* Between the files of subscriptions.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_SUBSCRIPTION_INT_H
#define DORMOUSE_WAKE_SUBSCRIPTION_INT_H

#include "base/buf.h"
#include "wake/subscription.h"

struct stmt;

/* "human,agent" */
void subscription_authors_text(unsigned authors, struct buf *out);
unsigned subscription_authors_of(struct str text);
/* What its tokens begin with, or what its source has for a key; NULL: none of its tokens is one. */
const char *subscription_key(const struct subscription *subscription, struct arena *arena);

/* ---- subscription_store.c ---- */

/* In order of n, every column that struct subscription has but its tokens. */
#define SUBSCRIPTION_COLUMNS                                                                       \
    "s.n, s.id, s.agent_n, a.id AS agent_id, s.name, s.source, s.predicate, s.authors,"            \
    " s.active_hours, s.cooldown_ms, s.folder, s.glob, s.prompt, s.active, s.last_wake_at,"        \
    " s.created_at, s.updated_at"
void subscription_read_row(struct stmt *q, struct arena *arena,
                           struct subscription *ret_subscription);
void subscription_read_hours(struct str text, struct active_hours *ret_hours);
/* A list that grows in an arena. */
struct subscription_rows {
    struct arena *arena;
    struct subscription *at;
    size_t n, room;
};
struct subscription *subscription_list_add(struct subscription_rows *list);
typedef void subscription_read_fn(struct stmt *q, struct arena *arena, struct subscription *ret);
/* All rows of a statement that is bound. */
int subscription_read_all(struct stmt *q, struct subscription_rows *list,
                          subscription_read_fn *read, struct err *err);
/* Those active ones that watch a folder, without their tokens. */
int subscription_folders(struct domain *domain, struct arena *arena, struct subscription **ret_list,
                         size_t *ret_count, struct err *err);
/* Inside a unit: it wakes its agent, now or at this planned time. */
int subscription_woke(struct domain *domain, int64_t n, int64_t at_ms, struct err *err);

/* ---- webhook_store.c ---- */

/* Inside a unit: a new token for a subscription that has none. */
int webhook_add(struct domain *domain, int64_t subscription_n, int64_t now_ms,
                char ret_token[WEBHOOK_TOKEN_SIZE], struct err *err);
int webhook_remove(struct domain *domain, int64_t subscription_n, struct err *err);

#endif
