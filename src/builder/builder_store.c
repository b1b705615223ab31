/* What the room reads by itself.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "builder/builder_int.h"
#include "db/db.h"

int builder_open_runs(struct domain *domain, int64_t agent_n, struct arena *arena,
                      struct str **ret_keys, size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;
    struct str *keys = NULL;
    size_t n = 0, room = 0;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT run_key FROM runs WHERE ended_at IS NULL"
                       " AND agent_n = ? ORDER BY created_at, n"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    while ((r = stmt_step(q, err)) == 1) {
        if (n == room) {
            struct str *more = ARENA_NEW_N(arena, struct str, room = 2 * room + 4);

            if (n)
                memcpy(more, keys, n * sizeof(*keys));
            keys = more;
        }
        keys[n++] = arena_str(arena, stmt_str(q, "run_key"));
    }
    *ret_keys = keys;
    *ret_count = n;
    return r;
}

/* ---- once ---- */

static int compare(struct stmt *q, const struct builder_once *once, struct err *err)
{
    struct str hash = stmt_str(q, "operation_hash");

    if (!once->hash.n || !hash.n || str_eq(once->hash, hash))
        return 0;
    return err_set(err, ERR_CONFLICT,
                   "this Idempotency-Key came with another request before; a new request needs a "
                   "new key");
}

int builder_made(struct builder *builder, const struct builder_once *once, struct arena *arena,
                 struct agent *ret_agent, struct err *err)
{
    struct domain *domain = builder->config.agent_domain;
    AUTO(stmt) q = NULL;
    int64_t n;
    int r;

    if (!once->id.n)
        return 0;
    if (db_prepare(domain_db(domain),
                   SQL("SELECT n, operation_hash FROM agents WHERE operation_id = ?"), &q, err) < 0)
        return -1;
    stmt_bind_str(q, once->id);
    r = stmt_step(q, err);
    if (r <= 0)
        return r;
    if (compare(q, once, err) < 0)
        return -1;
    n = stmt_i64(q, "n");
    stmt_reset(q);
    return agent_get_n(domain, n, arena, ret_agent, err) < 0 ? -1 : 1;
}

int builder_remember(struct builder *builder, const struct builder_once *once, int64_t agent_n,
                     struct err *err)
{
    AUTO(stmt) q = NULL;

    if (!once->id.n)
        return 0;
    if (db_prepare(domain_db(builder->config.agent_domain),
                   SQL("UPDATE agents SET operation_id = ?, operation_hash = ? WHERE n = ?"), &q,
                   err) < 0)
        return -1;
    stmt_bind_str(q, once->id);
    stmt_bind_some_str(q, once->hash);
    stmt_bind_i64(q, agent_n);
    return stmt_run(q, err);
}
