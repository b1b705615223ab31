/* Rows of leases.
 *
 * SPDX-License-Identifier: MIT
 */
#include "wake/lease_int.h"

#include "base/clock.h"
#include "db/db.h"

int lease_now(struct domain *domain, int64_t *ret_now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (!domain_is_shared(domain)) {
        *ret_now_ms = clock_wall_ms(clock_system());
        return 0;
    }
    if (db_prepare(domain_db(domain),
                   SQL("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now"), &q,
                   err) < 0 ||
        stmt_step(q, err) != 1)
        return -1;
    *ret_now_ms = stmt_i64(q, "now");
    return 0;
}

int lease_take(struct domain *domain, struct str name, struct str holder, int64_t until,
               int64_t *ret_fence, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO leases (name, holder, fence, expires_at) VALUES (?, ?, 1, ?)"
                       " ON CONFLICT (name) DO UPDATE SET holder = excluded.holder,"
                       " fence = leases.fence + 1, expires_at = excluded.expires_at"
                       " RETURNING fence"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, name);
    stmt_bind_str(q, holder);
    stmt_bind_i64(q, until);
    if (stmt_step(q, err) != 1)
        return -1;
    *ret_fence = stmt_i64(q, "fence");
    return 0;
}

static int change(struct domain *domain, struct sql sql, int64_t until, struct str name,
                  struct str holder, int64_t fence, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), sql, &q, err) < 0)
        return -1;
    stmt_bind_i64(q, until);
    stmt_bind_str(q, name);
    stmt_bind_str(q, holder);
    stmt_bind_i64(q, fence);
    return stmt_step(q, err);
}

int lease_renew(struct domain *domain, struct str name, struct str holder, int64_t fence,
                int64_t until, struct err *err)
{
    return change(domain,
                  SQL("UPDATE leases SET expires_at = ? WHERE name = ? AND holder = ? AND fence = ?"
                      " RETURNING fence"),
                  until, name, holder, fence, err);
}

int lease_release(struct domain *domain, struct str name, struct str holder, int64_t fence,
                  struct err *err)
{
    return change(domain,
                  SQL("UPDATE leases SET expires_at = ? WHERE name = ? AND holder = ? AND fence = ?"
                      " RETURNING fence"),
                  0, name, holder, fence, err);
}

int lease_hold(struct domain *domain, struct str name, struct str holder, int64_t fence,
               int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   domain_is_shared(domain)
                       ? SQL("SELECT fence FROM leases WHERE name = ? AND holder = ? AND fence = ?"
                             " AND expires_at > ? FOR SHARE")
                       : SQL("SELECT fence FROM leases WHERE name = ? AND holder = ? AND"
                             " fence = ? AND expires_at > ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, name);
    stmt_bind_str(q, holder);
    stmt_bind_i64(q, fence);
    stmt_bind_i64(q, now_ms);
    return stmt_step(q, err);
}

int lease_break(struct domain *domain, struct str name, int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO leases (name, holder, fence, expires_at) VALUES (?, '', 1, 0)"
                       " ON CONFLICT (name) DO UPDATE SET holder = '', fence = leases.fence + 1,"
                       " expires_at = 0 WHERE leases.expires_at <= ? RETURNING fence"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, name);
    stmt_bind_i64(q, now_ms);
    return stmt_step(q, err);
}

int lease_dead_hosts(struct domain *domain, int64_t but_host_n, int64_t now_ms, int limit,
                     struct arena *arena, struct lease_host **ret_hosts, size_t *ret_count,
                     struct err *err)
{
    struct lease_host *hosts = ARENA_NEW_N(arena, struct lease_host, (size_t)limit);
    AUTO(stmt) q = NULL;
    size_t n = 0;
    int r = 1;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT h.n, h.id FROM hosts h WHERE h.n <> ?"
                       " AND EXISTS (SELECT 1 FROM runs r WHERE r.host_n = h.n"
                       " AND r.ended_at IS NULL)"
                       " AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.name = 'host:' || h.id"
                       " AND l.expires_at > ?) ORDER BY h.n LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, but_host_n);
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, limit);
    while (n < (size_t)limit && (r = stmt_step(q, err)) == 1) {
        hosts[n++] = (struct lease_host){ stmt_i64(q, "n"), arena_str(arena, stmt_str(q, "id")) };
    }
    if (r < 0)
        return -1;
    *ret_hosts = hosts;
    *ret_count = n;
    return 0;
}
