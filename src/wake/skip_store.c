/* Rows of skips: they stand among the cursors, since they say how far something has come that only
 * grows. "skip:SUBSCRIPTION:OUTCOME": when it first was (txid), how often (n), and when it last
 * was.
 *
 * SPDX-License-Identifier: MIT
 */
#include "wake/skip.h"

#include "db/db.h"

#define LIST_MAX 1000

int skip_add(struct domain *domain, const struct skip *skip, int64_t now_ms, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO wake_cursors (domain, txid, n, updated_at) VALUES (?, ?, ?, ?)"
                       " ON CONFLICT (domain) DO UPDATE SET n = wake_cursors.n + excluded.n,"
                       " updated_at = excluded.updated_at"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, arena_printf(&arena, "skip:%lld:%s", (long long)skip->subscription_n,
                                   match_outcome_name(skip->outcome)));
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, skip->count);
    stmt_bind_i64(q, now_ms);
    return stmt_run(q, err);
}

int skip_forget(struct domain *domain, int64_t subscription_n, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), SQL("DELETE FROM wake_cursors WHERE domain LIKE ?"), &q,
                   err) < 0)
        return -1;
    stmt_bind_text(q, arena_printf(&arena, "skip:%lld:%%", (long long)subscription_n));
    return stmt_run(q, err);
}

static enum match_outcome outcome_of(struct str key)
{
    for (int outcome = MATCH_AUTHOR; outcome < MATCH_TOKENS; outcome++) {
        struct str name = str_from(match_outcome_name((enum match_outcome)outcome));

        if (str_ends(key, name) && key.p[key.n - name.n - 1] == ':')
            return (enum match_outcome)outcome;
    }
    return MATCH_TOKENS;
}

int skip_list(struct domain *domain, int64_t agent_n, struct str subscription_id, int limit,
              struct arena *arena, struct skip **ret_list, size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;
    struct skip *list;
    size_t n = 0;
    int r;

    if (limit < 1 || limit > LIST_MAX)
        limit = LIST_MAX;
    if (db_prepare(domain_db(domain),
                   SQL("SELECT s.n, s.id, s.name, a.id AS agent_id, c.domain, c.txid, c.n AS count,"
                       " c.updated_at FROM agent_subscriptions s JOIN agents a ON a.n = s.agent_n"
                       " JOIN wake_cursors c ON c.domain IN ('skip:' || s.n || ':author',"
                       " 'skip:' || s.n || ':own', 'skip:' || s.n || ':predicate',"
                       " 'skip:' || s.n || ':scope', 'skip:' || s.n || ':failed')"
                       " WHERE s.deleted_at IS NULL AND (? = 0 OR s.agent_n = ?)"
                       " AND (? = '' OR s.id = ?) ORDER BY s.n, c.domain LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    stmt_bind_i64(q, agent_n);
    stmt_bind_str(q, subscription_id.n ? subscription_id : STR(""));
    stmt_bind_str(q, subscription_id.n ? subscription_id : STR(""));
    stmt_bind_i64(q, limit);
    list = ARENA_NEW_N(arena, struct skip, (size_t)limit);
    while ((r = stmt_step(q, err)) == 1)
        list[n++] = (struct skip){
            .subscription_n = stmt_i64(q, "n"),
            .subscription_id = arena_str(arena, stmt_str(q, "id")),
            .agent_id = arena_str(arena, stmt_str(q, "agent_id")),
            .name = arena_str(arena, stmt_str(q, "name")),
            .outcome = outcome_of(stmt_str(q, "domain")),
            .count = stmt_i64(q, "count"),
            .first_at = stmt_i64(q, "txid"),
            .last_at = stmt_i64(q, "updated_at"),
        };
    *ret_list = list;
    *ret_count = n;
    return r;
}
