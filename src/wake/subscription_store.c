/* Rows of subscriptions and their tokens. (Finding those that a change is about:
 * subscription_match_store.c.)
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "db/db.h"
#include "db/prefix.h"
#include "wake/claim_int.h"
#include "wake/skip.h"
#include "wake/stamp_int.h"
#include "wake/subscription_int.h"

/* ---- rows ---- */

static struct str copy(struct arena *arena, struct str text)
{
    return text.n ? arena_str(arena, text) : STR("");
}

void subscription_read_hours(struct str text, struct active_hours *ret_hours)
{
    AUTO_JSON json = NULL;
    struct err err = ERR_INIT;

    if (text.n && json_parse(text, &json, &err) == 0)
        active_hours_parse(json, ret_hours, &err);
}

void subscription_read_row(struct stmt *q, struct arena *arena, struct subscription *ret)
{
#define TEXT(column) copy(arena, stmt_str(q, column))
    *ret = (struct subscription){
        .n = stmt_i64(q, "n"),
        .id = TEXT("id"),
        .agent_n = stmt_i64(q, "agent_n"),
        .agent_id = TEXT("agent_id"),
        .name = TEXT("name"),
        .source = wake_source_of(stmt_str(q, "source")),
        .predicate = TEXT("predicate"),
        .authors = subscription_authors_of(stmt_str(q, "authors")),
    };
    subscription_read_hours(stmt_str(q, "active_hours"), &ret->hours);
    ret->cooldown_ms = stmt_i64(q, "cooldown_ms");
    ret->folder = TEXT("folder");
    ret->glob = TEXT("glob");
    ret->prompt = TEXT("prompt");
    ret->active = stmt_bool(q, "active");
    ret->last_wake_at = stmt_i64(q, "last_wake_at");
    ret->created_at = stmt_i64(q, "created_at");
    ret->updated_at = stmt_i64(q, "updated_at");
#undef TEXT
}

struct subscription *subscription_list_add(struct subscription_rows *list)
{
    if (list->n == list->room) {
        size_t room = list->room ? 2 * list->room : 16;
        struct subscription *at = ARENA_NEW_N(list->arena, struct subscription, room);

        if (list->n)
            memcpy(at, list->at, list->n * sizeof(*at));
        list->at = at;
        list->room = room;
    }
    return &list->at[list->n++];
}

int subscription_read_all(struct stmt *q, struct subscription_rows *list,
                          subscription_read_fn *read, struct err *err)
{
    int r;

    while ((r = stmt_step(q, err)) == 1)
        read(q, list->arena, subscription_list_add(list));
    return r;
}

/* ---- tokens ---- */

static int read_tokens(struct domain *domain, struct subscription *s, struct arena *arena,
                       struct err *err)
{
    AUTO(stmt) q = NULL;
    struct token *tokens = ARENA_NEW_N(arena, struct token, SUBSCRIPTION_TOKENS_MAX);
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT token_class, token_namespace, token_value"
                       " FROM agent_subscription_tokens WHERE subscription_n = ?"
                       " ORDER BY token_class, token_namespace, token_value LIMIT 64"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, s->n);
    s->token_count = 0;
    while ((r = stmt_step(q, err)) == 1)
        tokens[s->token_count++] = (struct token){
            .class = token_class_of(stmt_str(q, "token_class")),
            .name_space = copy(arena, stmt_str(q, "token_namespace")),
            .value = copy(arena, stmt_str(q, "token_value")),
        };
    s->tokens = tokens;
    return r;
}

static int drop_tokens(struct domain *domain, int64_t n, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("DELETE FROM agent_subscription_tokens WHERE subscription_n = ?"), &q,
                   err) < 0)
        return -1;
    stmt_bind_i64(q, n);
    return stmt_run(q, err);
}

static int add_tokens(struct domain *domain, const struct subscription *s, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO agent_subscription_tokens"
                       " (subscription_n, token_class, token_namespace, token_value, active)"
                       " VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"),
                   &q, err) < 0)
        return -1;
    for (size_t i = 0; i < s->token_count; i++) {
        const struct token *token = &s->tokens[i];

        stmt_bind_i64(q, s->n);
        stmt_bind_text(q, token_class_name(token->class));
        stmt_bind_str(q, token->name_space.n ? token->name_space : STR(""));
        stmt_bind_str(q, token->value);
        stmt_bind_i64(q, s->active);
        if (stmt_run(q, err) < 0)
            return -1;
        stmt_reset(q);
    }
    return 0;
}

/* ---- writing ---- */

static struct str none_if_empty(struct str text)
{
    return text.n ? text : STR_NONE;
}

static struct str some(struct str text)
{
    return text.n ? text : STR("");
}

static struct str hours_text(const struct active_hours *hours, struct arena *arena)
{
    AUTO_BUF text = BUF_INIT(512);
    struct json_writer w = JSON_WRITER(&text);

    if (!hours->set)
        return STR_NONE;
    active_hours_write(&w, hours);
    return arena_str(arena, buf_str(&text));
}

/* The columns that both a new and a changed one have, in this order. */
static void bind_settings(struct stmt *q, const struct subscription *s, struct arena *arena)
{
    AUTO_BUF authors = BUF_INIT(64);

    subscription_authors_text(s->authors, &authors);
    stmt_bind_str(q, some(s->name));
    stmt_bind_text(q, subscription_key(s, arena));
    stmt_bind_str(q, some(s->predicate));
    stmt_bind_str(q, arena_str(arena, buf_str(&authors)));
    stmt_bind_str(q, hours_text(&s->hours, arena));
    stmt_bind_i64(q, s->cooldown_ms);
    stmt_bind_str(q, none_if_empty(s->folder));
    stmt_bind_str(q, none_if_empty(s->glob));
    stmt_bind_str(q, some(s->prompt));
    stmt_bind_i64(q, s->active);
}

static int insert(struct domain *domain, struct subscription *s, const struct stamp *stamp,
                  int64_t now_ms, struct arena *arena, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO agent_subscriptions (id, agent_n, source, name,"
                       " notification_key, predicate, authors, active_hours, cooldown_ms, folder,"
                       " glob, prompt, active, created_at, updated_at, vector_clock, host_n,"
                       " counter) SELECT ?, n, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"
                       " FROM agents WHERE n = ? AND lifecycle <> 'destroyed' RETURNING n"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, s->id);
    stmt_bind_text(q, wake_source_name(s->source));
    bind_settings(q, s, arena);
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, now_ms);
    stamp_bind(q, stamp);
    stmt_bind_i64(q, s->agent_n);
    r = stmt_step(q, err);
    if (r == 0)
        return err_set(err, ERR_AGENT_DESTROYED, "the agent %.*s no longer exists",
                       STR_ARG(s->agent_id));
    if (r == 1)
        s->n = stmt_i64(q, "n");
    return r < 0 ? -1 : 0;
}

static int not_found(struct err *err)
{
    return err_set(
        err, ERR_NOT_FOUND,
        "there is no such subscription; `dormouse subscribe list` shows those there are");
}

/* Of one that was not removed, what a further write and its batch need to know. */
struct before {
    struct str id, agent_id, clock;
    enum wake_source source;
};

static int read_before(struct domain *domain, int64_t n, struct arena *arena, struct before *ret,
                       struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT s.id, s.source, s.vector_clock, a.id AS agent_id"
                       " FROM agent_subscriptions s JOIN agents a ON a.n = s.agent_n"
                       " WHERE s.n = ? AND s.deleted_at IS NULL"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, n);
    r = stmt_step(q, err);
    if (r <= 0)
        return r < 0 ? -1 : not_found(err);
    *ret = (struct before){
        .id = copy(arena, stmt_str(q, "id")),
        .agent_id = copy(arena, stmt_str(q, "agent_id")),
        .clock = copy(arena, stmt_str(q, "vector_clock")),
        .source = wake_source_of(stmt_str(q, "source")),
    };
    return 0;
}

static int tell(struct domain *domain, struct change *change, const struct stamp *stamp,
                struct str id, struct str agent_id, int64_t now_ms, struct err *err)
{
    return stamp_tell(domain, change, stamp, STR("agentSubscription"), id, agent_id, now_ms, err);
}

int subscription_add(struct domain *domain, struct change *change, struct subscription *s,
                     int64_t now_ms, char ret_token[WEBHOOK_TOKEN_SIZE], struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct subscription row = *s;
    struct before before;
    struct stamp stamp;

    ret_token[0] = '\0';
    if (subscription_check(&row, err) < 0)
        return -1;
    change_new_id(change, s->id_text);
    row.id = str_from(s->id_text);
    if (stamp_next(domain, change, row.id, STR_NONE, &arena, &stamp, err) < 0 ||
        insert(domain, &row, &stamp, now_ms, &arena, err) < 0 ||
        add_tokens(domain, &row, err) < 0 || read_before(domain, row.n, &arena, &before, err) < 0 ||
        tell(domain, change, &stamp, row.id, before.agent_id, now_ms, err) < 0)
        return -1;
    if (row.source == WAKE_WEBHOOK && webhook_add(domain, row.n, now_ms, ret_token, err) < 0)
        return -1;
    s->id = row.id;
    s->n = row.n;
    s->authors = row.authors;
    s->created_at = s->updated_at = now_ms;
    return 0;
}

static int update(struct domain *domain, const struct subscription *s, const struct stamp *stamp,
                  int64_t now_ms, struct arena *arena, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("UPDATE agent_subscriptions SET name = ?, notification_key = ?,"
                       " predicate = ?, authors = ?, active_hours = ?, cooldown_ms = ?,"
                       " folder = ?, glob = ?, prompt = ?, active = ?, updated_at = ?,"
                       " vector_clock = ?, host_n = ?, counter = ? WHERE n = ?"),
                   &q, err) < 0)
        return -1;
    bind_settings(q, s, arena);
    stmt_bind_i64(q, now_ms);
    stamp_bind(q, stamp);
    stmt_bind_i64(q, s->n);
    return stmt_run(q, err);
}

int subscription_change(struct domain *domain, struct change *change, const struct subscription *s,
                        int64_t now_ms, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct subscription row = *s;
    struct before before;
    struct stamp stamp;

    if (read_before(domain, s->n, &arena, &before, err) < 0)
        return -1;
    row.source = before.source;
    if (subscription_check(&row, err) < 0 ||
        stamp_next(domain, change, before.id, before.clock, &arena, &stamp, err) < 0 ||
        update(domain, &row, &stamp, now_ms, &arena, err) < 0 ||
        drop_tokens(domain, row.n, err) < 0 || add_tokens(domain, &row, err) < 0 ||
        (!row.active && claim_drop_of(domain, before.agent_id, before.id,
                                      "its subscription was switched off", now_ms, err) < 0))
        return -1;
    return tell(domain, change, &stamp, before.id, before.agent_id, now_ms, err);
}

static int remove_row(struct domain *domain, struct change *change, int64_t n, int64_t now_ms,
                      struct err *err)
{
    AUTO(stmt) q = NULL;
    AUTO_ARENA arena = ARENA_INIT;
    struct before before;
    struct stamp stamp;

    if (read_before(domain, n, &arena, &before, err) < 0 ||
        stamp_next(domain, change, before.id, before.clock, &arena, &stamp, err) < 0 ||
        db_prepare(domain_db(domain),
                   SQL("UPDATE agent_subscriptions SET active = 0, deleted_at = ?, updated_at = ?,"
                       " vector_clock = ?, host_n = ?, counter = ? WHERE n = ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, now_ms);
    stamp_bind(q, &stamp);
    stmt_bind_i64(q, n);
    if (stmt_run(q, err) < 0 || drop_tokens(domain, n, err) < 0 ||
        claim_drop_of(domain, before.agent_id, before.id, "its subscription was removed", now_ms,
                      err) < 0 ||
        (before.source == WAKE_WEBHOOK && webhook_remove(domain, n, err) < 0))
        return -1;
    return tell(domain, change, &stamp, before.id, before.agent_id, now_ms, err);
}

int subscription_remove(struct domain *domain, struct change *change, struct str id, int64_t now_ms,
                        struct err *err)
{
    AUTO(stmt) q = NULL;
    int64_t n;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT n FROM agent_subscriptions WHERE id = ? AND deleted_at IS NULL"), &q,
                   err) < 0)
        return -1;
    stmt_bind_str(q, id);
    r = stmt_step(q, err);
    if (r <= 0)
        return r < 0 ? -1 : not_found(err);
    n = stmt_i64(q, "n");
    stmt_reset(q);
    return remove_row(domain, change, n, now_ms, err);
}

int subscription_woke(struct domain *domain, int64_t n, int64_t at_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("UPDATE agent_subscriptions SET last_wake_at = ? WHERE n = ?"), &q, err) < 0)
        return -1;
    stmt_bind_i64(q, at_ms);
    stmt_bind_i64(q, n);
    return stmt_run(q, err);
}

/* ---- reading ---- */

#define SELECT_FROM                                                                                \
    "SELECT " SUBSCRIPTION_COLUMNS " FROM agent_subscriptions s JOIN agents a ON a.n = s.agent_n "

int subscription_get(struct domain *domain, struct str id, struct arena *arena,
                     struct subscription *ret_subscription, struct err *err)
{
    static const struct prefix_words words = { "subscription", "subscriptions",
                                               "dormouse subscribe list", "those there are" };
    AUTO(stmt) q = NULL;
    struct str whole;
    int r;

    if (prefix_find(domain_db(domain),
                    SQL("SELECT id FROM agent_subscriptions WHERE id >= ? AND id < ? || '~'"
                        " AND deleted_at IS NULL ORDER BY id LIMIT 5"),
                    id, &words, arena, &whole, err) < 0 ||
        db_prepare(domain_db(domain), SQL(SELECT_FROM "WHERE s.id = ?"), &q, err) < 0)
        return -1;
    stmt_bind_str(q, whole);
    r = stmt_step(q, err);
    if (r <= 0)
        return r < 0 ? -1 : not_found(err);
    subscription_read_row(q, arena, ret_subscription);
    stmt_reset(q);
    return read_tokens(domain, ret_subscription, arena, err);
}

static int select_list(struct db *db, int64_t agent_n, struct stmt **ret_q, struct err *err)
{
    if (!agent_n)
        return db_prepare(db, SQL(SELECT_FROM "WHERE s.deleted_at IS NULL ORDER BY s.n"), ret_q,
                          err);
    if (db_prepare(db, SQL(SELECT_FROM "WHERE s.agent_n = ? AND s.deleted_at IS NULL ORDER BY s.n"),
                   ret_q, err) < 0)
        return -1;
    stmt_bind_i64(*ret_q, agent_n);
    return 0;
}

int subscription_list(struct domain *domain, int64_t agent_n, struct arena *arena,
                      struct subscription **ret_list, size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;
    struct subscription_rows list = { .arena = arena };

    if (select_list(domain_db(domain), agent_n, &q, err) < 0 ||
        subscription_read_all(q, &list, subscription_read_row, err) < 0)
        return -1;
    for (size_t i = 0; i < list.n; i++) {
        if (read_tokens(domain, &list.at[i], arena, err) < 0)
            return -1;
    }
    *ret_list = list.at;
    *ret_count = list.n;
    return 0;
}

int subscription_folders(struct domain *domain, struct arena *arena, struct subscription **ret_list,
                         size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;
    struct subscription_rows list = { .arena = arena };

    if (db_prepare(domain_db(domain),
                   SQL(SELECT_FROM "WHERE s.folder IS NOT NULL AND s.active = 1 ORDER BY s.n"), &q,
                   err) < 0 ||
        subscription_read_all(q, &list, subscription_read_row, err) < 0)
        return -1;
    *ret_list = list.at;
    *ret_count = list.n;
    return 0;
}
