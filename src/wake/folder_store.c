/* How far folders were read, and who watches them. Each host has its own: paths of another machine
 * are other files.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/db.h"
#include "wake/folders_int.h"

#define WATCHERS_MAX 1000

static char *stamp_key(int64_t host, const char *path, struct arena *arena)
{
    return arena_printf(arena, "folder:%lld:%s", (long long)host, path);
}

int folder_stamp(struct domain *domain, int64_t host, const char *path, int64_t *ret_ns,
                 struct err *err)
{
    AUTO(stmt) q = NULL;
    AUTO_ARENA arena = ARENA_INIT;
    int r;

    if (db_prepare(domain_db(domain), SQL("SELECT n FROM wake_cursors WHERE domain = ?"), &q, err) <
        0)
        return -1;
    stmt_bind_text(q, stamp_key(host, path, &arena));
    r = stmt_step(q, err);
    if (r == 1)
        *ret_ns = stmt_i64(q, "n");
    return r;
}

int folder_stamp_up(struct domain *domain, int64_t host, const char *path, int64_t ns,
                    int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;
    AUTO_ARENA arena = ARENA_INIT;

    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO wake_cursors (domain, txid, n, updated_at) VALUES (?, 0, ?, ?)"
                       " ON CONFLICT (domain) DO UPDATE SET n = excluded.n,"
                       " updated_at = excluded.updated_at WHERE excluded.n > wake_cursors.n"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, stamp_key(host, path, &arena));
    stmt_bind_i64(q, ns);
    stmt_bind_i64(q, now_ms);
    return stmt_run(q, err);
}

int folder_subscriptions(struct domain *domain, const char *path, struct arena *arena,
                         struct subscription **ret_list, size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT " SUBSCRIPTION_COLUMNS " FROM agent_subscriptions s"
                       " JOIN agents a ON a.n = s.agent_n"
                       " WHERE s.folder = ? AND s.active = 1 ORDER BY s.n LIMIT 1000"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, path);
    *ret_list = ARENA_NEW_N(arena, struct subscription, WATCHERS_MAX);
    *ret_count = 0;
    while ((r = stmt_step(q, err)) == 1)
        subscription_read_row(q, arena, &(*ret_list)[(*ret_count)++]);
    return r;
}
