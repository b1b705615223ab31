/* Grants: what a person allowed beyond one call.
 *
 * A grant covers a call when agent, tool and pattern are the same, byte for byte, and no stranger's
 * text was read before it that the person was not warned of: the same call in a thread that mail
 * has come into since is another question. Grants of one run pile up over the years; the run is
 * part of the index, so they cost other runs nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/inbox.h"
#include "change/taint.h"
#include "db/db.h"
#include "db/prefix.h"

int grant_add(struct domain *domain, const struct approval_grant *grant, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO approval_grants (id, agent_n, run_n, tool_name, pattern,"
                       " inbox_id, granted_by, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                       " ON CONFLICT (id) DO NOTHING"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, grant->id);
    stmt_bind_i64(q, grant->agent_n);
    stmt_bind_some_i64(q, grant->run_n);
    stmt_bind_str(q, grant->tool_name);
    stmt_bind_str(q, grant->pattern);
    stmt_bind_str(q, grant->inbox_id);
    stmt_bind_str(q, grant->granted_by);
    stmt_bind_i64(q, grant->created_at);
    return stmt_run(q, err);
}

int grant_find(struct domain *domain, int64_t agent_n, int64_t run_n, struct str tool_name,
               struct str pattern, struct str taint, struct arena *arena,
               struct approval_grant *ret_grant, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT g.id, g.inbox_id, i.taint FROM approval_grants g"
                       " LEFT JOIN inbox i ON i.id = g.inbox_id"
                       " WHERE g.agent_n = ? AND g.tool_name = ? AND g.run_n IS NULL"
                       " AND g.pattern = ? AND g.revoked_at IS NULL"
                       " UNION ALL "
                       "SELECT g.id, g.inbox_id, i.taint FROM approval_grants g"
                       " LEFT JOIN inbox i ON i.id = g.inbox_id"
                       " WHERE g.agent_n = ? AND g.tool_name = ? AND g.run_n = ?"
                       " AND g.pattern = ? AND g.revoked_at IS NULL"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    stmt_bind_str(q, tool_name);
    stmt_bind_str(q, pattern);
    stmt_bind_i64(q, agent_n);
    stmt_bind_str(q, tool_name);
    stmt_bind_i64(q, run_n);
    stmt_bind_str(q, pattern);
    while ((r = stmt_step(q, err)) == 1) {
        if (!taint_covers(stmt_str(q, "taint"), taint))
            continue;
        *ret_grant =
            (struct approval_grant){ .id = arena_str(arena, stmt_str(q, "id")),
                                     .inbox_id = arena_str(arena, stmt_str(q, "inbox_id")) };
        return 1;
    }
    return r;
}

int grant_used(struct domain *domain, struct str id, int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), SQL("UPDATE approval_grants SET used_at = ? WHERE id = ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, now_ms);
    stmt_bind_str(q, id);
    return stmt_run(q, err);
}

int grant_each(struct domain *domain, bool (*fn)(void *arg, const struct approval_grant *grant),
               void *arg, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT id, agent_n, run_n, tool_name, pattern, inbox_id, granted_by,"
                       " created_at, used_at FROM approval_grants WHERE revoked_at IS NULL"
                       " ORDER BY created_at, id"),
                   &q, err) < 0)
        return -1;
    while ((r = stmt_step(q, err)) == 1) {
        const struct approval_grant grant = {
            .id = stmt_str(q, "id"),
            .agent_n = stmt_i64(q, "agent_n"),
            .run_n = stmt_i64(q, "run_n"),
            .tool_name = stmt_str(q, "tool_name"),
            .pattern = stmt_str(q, "pattern"),
            .inbox_id = stmt_str(q, "inbox_id"),
            .granted_by = stmt_str(q, "granted_by"),
            .created_at = stmt_i64(q, "created_at"),
            .used_at = stmt_i64(q, "used_at"),
        };

        if (!fn(arg, &grant))
            return 0;
    }
    return r;
}

int grant_find_id(struct domain *domain, struct str typed, struct arena *arena, struct str *ret_id,
                  struct err *err)
{
    static const struct prefix_words words = { "grant", "grants", "dormouse inbox --grants",
                                               "those that are in force" };

    if (prefix_find(domain_db(domain),
                    SQL("SELECT id FROM approval_grants WHERE revoked_at IS NULL"
                        " AND id >= ? AND id < ? || '~' ORDER BY id LIMIT 5"),
                    typed, &words, arena, ret_id, err) == 0)
        return 0;
    if (err->code != ERR_NOT_FOUND)
        return -1;
    err_reset(err);
    return prefix_find(domain_db(domain),
                       SQL("SELECT id FROM approval_grants WHERE revoked_at IS NULL"
                           " AND inbox_id >= ? AND inbox_id < ? || '~' ORDER BY id LIMIT 5"),
                       typed, &words, arena, ret_id, err);
}

/* 0 when the id is known, revoked now or before. */
static int known(struct db *db, struct str id, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(db, SQL("SELECT 1 AS one FROM approval_grants WHERE id = ?"), &q, err) < 0)
        return -1;
    stmt_bind_str(q, id);
    r = stmt_step(q, err);
    if (r == 0)
        return err_set(err, ERR_NOT_FOUND, "there is no grant \"%.*s\"", STR_ARG(id));
    return r < 0 ? -1 : 0;
}

int grant_revoke(struct domain *domain, struct str id, int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("UPDATE approval_grants SET revoked_at = ?"
                       " WHERE id = ? AND revoked_at IS NULL RETURNING id"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, now_ms);
    stmt_bind_str(q, id);
    r = stmt_step(q, err);
    return r != 0 ? r : known(domain_db(domain), id, err);
}
