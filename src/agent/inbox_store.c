/* Rows of the inbox.
 *
 * An item leaves "pending" by one UPDATE that asks for that state, so of two who decide at once
 * exactly one changes the row; the other one finds out here what was decided. Lists of what is
 * pending and of what expires go by partial indexes: their cost is what waits, not what was.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "agent/agent_int.h"
#include "db/db.h"
#include "db/prefix.h"

#define LIST_DEFAULT 100
#define LIST_MAX     1000

#define INBOX_SELECT                                                                               \
    "SELECT i.n, i.id, i.kind, i.state, i.agent_n, i.thread_n, i.run_n, i.call_key, i.tool_name,"  \
    " i.title, i.body, i.preview_kind, i.preview, i.digest, i.created_at, i.expires_at,"           \
    " i.decided_at, i.decided_by, i.scope, i.reason, i.answer, i.taint, i.details, i.pattern,"     \
    " a.id AS agent_id, a.display_name AS agent_name, r.run_key AS run_id, t.id AS thread_id"      \
    " FROM inbox i LEFT JOIN agents a ON a.n = i.agent_n LEFT JOIN runs r ON r.n = i.run_n"        \
    " LEFT JOIN threads t ON t.n = i.thread_n "

/* ---- reading ---- */

/* What is NULL stays so. */
static struct str copy(struct arena *arena, struct str text)
{
    return text.p ? arena_str(arena, text) : STR_NONE;
}

static void read_row(struct stmt *q, struct arena *arena, struct inbox_item *ret_item)
{
#define TEXT(column) copy(arena, stmt_str(q, column))
    *ret_item = (struct inbox_item){
        .n = stmt_i64(q, "n"),
        .id = TEXT("id"),
        .kind = inbox_kind_of(stmt_str(q, "kind")),
        .state = inbox_state_of(stmt_str(q, "state")),
        .agent_n = stmt_i64(q, "agent_n"),
        .thread_n = stmt_i64(q, "thread_n"),
        .run_n = stmt_i64(q, "run_n"),
        .call_key = stmt_i64(q, "call_key"),
        .tool_name = TEXT("tool_name"),
        .title = TEXT("title"),
        .body = TEXT("body"),
        .preview_kind = TEXT("preview_kind"),
        .preview = TEXT("preview"),
        .digest = TEXT("digest"),
        .created_at = stmt_i64(q, "created_at"),
        .expires_at = stmt_i64(q, "expires_at"),
        .decided_at = stmt_i64(q, "decided_at"),
        .decided_by = TEXT("decided_by"),
        .scope = inbox_scope_of(stmt_str(q, "scope")),
        .reason = TEXT("reason"),
        .answer = TEXT("answer"),
        .taint = TEXT("taint"),
        .details = TEXT("details"),
        .pattern = TEXT("pattern"),
        .agent_id = TEXT("agent_id"),
        .agent_name = TEXT("agent_name"),
        .run_id = TEXT("run_id"),
        .thread_id = TEXT("thread_id"),
    };
#undef TEXT
}

static int not_found(struct str id, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND,
                   "there is no inbox item \"%.*s\"; `dormouse inbox` shows what waits",
                   STR_ARG(str_take(id, 80)));
}

static int read_one(struct stmt *q, struct str id, struct arena *arena, struct inbox_item *ret_item,
                    struct err *err)
{
    int r = stmt_step(q, err);

    if (r <= 0)
        return r < 0 ? -1 : not_found(id, err);
    read_row(q, arena, ret_item);
    return 0;
}

int inbox_get(struct domain *domain, struct str id, struct arena *arena,
              struct inbox_item *ret_item, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), SQL(INBOX_SELECT "WHERE i.id = ?"), &q, err) < 0)
        return -1;
    stmt_bind_str(q, id);
    return read_one(q, id, arena, ret_item, err);
}

int inbox_get_n(struct domain *domain, int64_t n, struct arena *arena, struct inbox_item *ret_item,
                struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), SQL(INBOX_SELECT "WHERE i.n = ?"), &q, err) < 0)
        return -1;
    stmt_bind_i64(q, n);
    return read_one(q, str_from(arena_printf(arena, "row %lld", (long long)n)), arena, ret_item,
                    err);
}

/* The rows that q has, at most max. */
static int read_all(struct stmt *q, size_t max, struct arena *arena, struct inbox_item **ret_items,
                    size_t *ret_count, struct err *err)
{
    struct inbox_item *items = NULL;
    size_t count = 0, cap = 0;
    int r;

    while ((r = stmt_step(q, err)) == 1 && count < max) {
        ARENA_ROOM(arena, items, count, cap);
        read_row(q, arena, &items[count++]);
    }
    if (r < 0)
        return -1;
    *ret_items = items;
    *ret_count = count;
    return 0;
}

int inbox_find(struct domain *domain, struct str prefix, struct arena *arena,
               struct inbox_item *ret_item, struct err *err)
{
    static const struct prefix_words words = { "inbox item", "inbox items", "dormouse inbox",
                                               "what waits" };
    struct str id;

    if (prefix_find(domain_db(domain),
                    SQL("SELECT id FROM inbox WHERE id >= ? AND id < ? || '~' ORDER BY id LIMIT 5"),
                    prefix, &words, arena, &id, err) < 0)
        return -1;
    return inbox_get(domain, id, arena, ret_item, err);
}

/* When the item that a list goes on after was made; items are listed by that time and their row. */
static int created_at_of(struct db *db, int64_t n, int64_t *ret_at, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    *ret_at = INT64_MIN;
    if (n == 0)
        return 0;
    if (db_prepare(db, SQL("SELECT created_at FROM inbox WHERE n = ?"), &q, err) < 0)
        return -1;
    stmt_bind_i64(q, n);
    r = stmt_step(q, err);
    if (r == 1)
        *ret_at = stmt_i64(q, "created_at");
    return r < 0 ? -1 : 0;
}

static int prepare_list(struct db *db, enum inbox_state state, int64_t after, struct stmt **ret_q,
                        struct err *err)
{
    struct sql pending = SQL(INBOX_SELECT "WHERE i.state = 'pending' AND (i.created_at, i.n) >"
                                          " (?, ?) ORDER BY i.created_at, i.n LIMIT ?");
    struct sql decided = SQL(INBOX_SELECT "WHERE i.state = ? AND i.n > ? ORDER BY i.n LIMIT ?");
    struct sql newest = SQL(INBOX_SELECT "WHERE i.n < ? ORDER BY i.n DESC LIMIT ?");
    int64_t at;

    if (created_at_of(db, after, &at, err) < 0)
        return -1;
    if (db_prepare(db,
                   state == INBOX_PENDING      ? pending
                   : state == INBOX_STATE_NONE ? newest
                                               : decided,
                   ret_q, err) < 0)
        return -1;
    if (state == INBOX_PENDING)
        stmt_bind_i64(*ret_q, at);
    else if (state != INBOX_STATE_NONE)
        stmt_bind_text(*ret_q, inbox_state_name(state));
    stmt_bind_i64(*ret_q, state == INBOX_STATE_NONE && after == 0 ? INT64_MAX : after);
    return 0;
}

int inbox_list(struct domain *domain, enum inbox_state state, int64_t after, int limit,
               struct arena *arena, struct inbox_item **ret_items, size_t *ret_count,
               struct err *err)
{
    AUTO(stmt) q = NULL;

    if (limit <= 0)
        limit = LIST_DEFAULT;
    if (limit > LIST_MAX)
        limit = LIST_MAX;
    if (prepare_list(domain_db(domain), state, after, &q, err) < 0)
        return -1;
    stmt_bind_i64(q, limit);
    return read_all(q, (size_t)limit, arena, ret_items, ret_count, err);
}

/* Items that are asked at the same time are waited for once. */
static void waits_add(struct inbox_waits *waits, int64_t from, int64_t to, int64_t *until)
{
    if (from < *until)
        from = *until;
    if (to <= from)
        return;
    waits->waited_ms += to - from;
    *until = to;
}

int inbox_waits_of_run(struct domain *domain, int64_t run_n, int64_t until, struct arena *arena,
                       struct inbox_waits *ret_waits, struct err *err)
{
    AUTO(stmt) q = NULL;
    struct inbox_waits waits = { .waited_ms = 0 };
    int64_t counted = 0;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT id, state, created_at, decided_at FROM inbox WHERE run_n = ?"
                       " AND kind <> 'escalated' ORDER BY created_at, n"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, run_n);
    while ((r = stmt_step(q, err)) == 1) {
        int64_t decided = stmt_i64(q, "decided_at");

        if (!waits.pending.n && str_is(stmt_str(q, "state"), "pending"))
            waits.pending = arena_str(arena, stmt_str(q, "id"));
        waits_add(&waits, stmt_i64(q, "created_at"), decided ? decided : until, &counted);
    }
    if (r < 0)
        return -1;
    *ret_waits = waits;
    return 0;
}

int inbox_count_pending(struct domain *domain, int64_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT count(*) AS count FROM inbox WHERE state = 'pending'"), &q, err) < 0)
        return -1;
    if (stmt_step(q, err) != 1)
        return -1;
    *ret_count = stmt_i64(q, "count");
    return 0;
}

int inbox_next_expiry(struct domain *domain, int64_t *ret_at, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT expires_at FROM inbox WHERE state = 'pending'"
                       " AND expires_at IS NOT NULL ORDER BY expires_at LIMIT 1"),
                   &q, err) < 0)
        return -1;
    r = stmt_step(q, err);
    if (r < 0)
        return -1;
    *ret_at = r == 1 ? stmt_i64(q, "expires_at") : 0;
    return 0;
}

int inbox_due(struct domain *domain, int64_t now_ms, int limit, struct arena *arena,
              struct inbox_item **ret_items, size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (limit <= 0)
        limit = LIST_DEFAULT;
    if (limit > LIST_MAX)
        limit = LIST_MAX;
    if (db_prepare(domain_db(domain),
                   SQL(INBOX_SELECT "WHERE i.state = 'pending' AND i.expires_at IS NOT NULL"
                                    " AND i.expires_at <= ? ORDER BY i.expires_at, i.n LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, limit);
    return read_all(q, (size_t)limit, arena, ret_items, ret_count, err);
}

/* ---- writing ---- */

static void bind_item(struct stmt *q, struct change *change, const struct inbox_item *item)
{
    stmt_bind_str(q, item->id);
    stmt_bind_text(q, inbox_kind_name(item->kind));
    stmt_bind_some_i64(q, item->agent_n);
    stmt_bind_some_i64(q, item->thread_n);
    stmt_bind_some_i64(q, item->run_n);
    stmt_bind_i64(q, item->call_key);
    stmt_bind_some_str(q, item->tool_name);
    stmt_bind_str(q, item->title.p ? item->title : STR(""));
    stmt_bind_str(q, item->body.n ? item->body : STR("{}"));
    stmt_bind_some_str(q, item->preview_kind);
    stmt_bind_some_str(q, item->preview);
    stmt_bind_some_str(q, item->digest);
    stmt_bind_i64(q, item->created_at);
    stmt_bind_some_i64(q, item->expires_at);
    stmt_bind_some_str(q, item->taint);
    stmt_bind_some_str(q, item->details);
    stmt_bind_some_str(q, item->pattern);
    stmt_bind_i64(q, change_host(change));
    stmt_bind_i64(q, change_next(change));
}

/* Of an item that was there before. */
static int find_n(struct db *db, struct inbox_item *item, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(db, SQL("SELECT n FROM inbox WHERE id = ?"), &q, err) < 0)
        return -1;
    stmt_bind_str(q, item->id);
    if (stmt_step(q, err) != 1)
        return -1;
    item->n = stmt_i64(q, "n");
    return 0;
}

int inbox_add(struct domain *domain, struct change *change, struct inbox_item *item,
              struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    BUG_IF(item->kind == INBOX_KIND_NONE || item->id.n == 0);
    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO inbox (id, kind, agent_n, thread_n, run_n, call_key, tool_name,"
                       " title, body, preview_kind, preview, digest, created_at, expires_at, taint,"
                       " details, pattern, host_n, counter)"
                       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                       " ON CONFLICT (id) DO NOTHING RETURNING n"),
                   &q, err) < 0)
        return -1;
    bind_item(q, change, item);
    r = stmt_step(q, err);
    if (r < 0)
        return -1;
    if (r == 0)
        return find_n(domain_db(domain), item, err);
    item->n = stmt_i64(q, "n");
    item->state = INBOX_PENDING;
    return 0;
}

/* ---- deciding ---- */

static bool by_the_system(enum inbox_state state)
{
    return state == INBOX_EXPIRED || state == INBOX_WITHDRAWN;
}

static int check_decision(const struct inbox_decision *decision, struct err *err)
{
    BUG_IF(decision->state <= INBOX_PENDING);
    if (decision->by.n == 0 || str_starts(decision->by, STR("agent:")))
        return err_set(err, ERR_UNAUTHORIZED, "only a person decides what waits for a person");
    return 0;
}

/* 1 when this call changed it. A time that has passed is not decided by a person any more. */
static int settle(struct db *db, struct change *change, struct str id,
                  const struct inbox_decision *decision, int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(db,
                   SQL("UPDATE inbox SET state = ?, decided_at = ?, decided_by = ?, scope = ?,"
                       " reason = ?, answer = ?, host_n = ?, counter = ?"
                       " WHERE id = ? AND state = 'pending'"
                       " AND (expires_at IS NULL OR expires_at > ?) RETURNING n"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, inbox_state_name(decision->state));
    stmt_bind_i64(q, now_ms);
    stmt_bind_str(q, decision->by);
    stmt_bind_text(q, inbox_scope_name(decision->scope));
    stmt_bind_some_str(q, decision->reason);
    stmt_bind_some_str(q, decision->answer);
    stmt_bind_i64(q, change_host(change));
    stmt_bind_i64(q, change_next(change));
    stmt_bind_str(q, id);
    stmt_bind_i64(q, by_the_system(decision->state) ? INT64_MIN : now_ms);
    return stmt_step(q, err);
}

static bool decided_so(const struct inbox_item *item, const struct inbox_decision *decision)
{
    return item->state == decision->state && item->scope == decision->scope &&
           str_eq(item->reason, decision->reason) && str_eq(item->answer, decision->answer);
}

int inbox_decide(struct domain *domain, struct change *change, struct str id,
                 const struct inbox_decision *decision, int64_t now_ms, struct inbox_item *ret_item,
                 struct arena *arena, struct err *err)
{
    struct inbox_item item;
    int r;

    if (check_decision(decision, err) < 0)
        return -1;
    r = settle(domain_db(domain), change, id, decision, now_ms, err);
    if (r < 0 || inbox_get(domain, id, arena, &item, err) < 0)
        return -1;
    if (r == 0 && item.state == INBOX_PENDING)
        return err_set(err, ERR_EXPIRED, "inbox item %.*s has expired: its time to decide is over",
                       STR_ARG(str_take(id, 80)));
    if (r == 0 && !decided_so(&item, decision))
        return err_set(err, ERR_CONFLICT, "inbox item %.*s is %s already%s",
                       STR_ARG(str_take(id, 80)), inbox_state_name(item.state),
                       item.state == decision->state ? ", in another way" : "");
    if (ret_item)
        *ret_item = item;
    return r;
}

int inbox_tell_decided(struct domain *domain, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (!domain_is_shared(domain))
        return 0;
    if (db_prepare(domain_db(domain), SQL("SELECT pg_notify('" INBOX_CHANNEL "', '') AS told"), &q,
                   err) < 0)
        return -1;
    return stmt_step(q, err) < 0 ? -1 : 0;
}
