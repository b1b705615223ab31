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

/* ---- what an operation made ---- */

/* In the extension as {"operationId":"..."}: looked for in the few newest agents only, because an
 * operation is repeated soon or never. */
#define OPERATION_SCAN 1000

int agent_of_operation(struct domain *domain, struct str operation_id, struct arena *arena,
                       struct agent *ret_agent, struct err *err)
{
    const char *extension =
        arena_printf(arena, "{\"operationId\":\"%.*s\"}", STR_ARG(operation_id));
    AUTO(stmt) q = NULL;
    int64_t n;
    int r;

    if (!operation_id.n)
        return 0;
    if (db_prepare(domain_db(domain),
                   SQL("SELECT n FROM (SELECT n, extension FROM agents ORDER BY n DESC LIMIT ?)"
                       " AS newest WHERE extension = ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, OPERATION_SCAN);
    stmt_bind_text(q, extension);
    r = stmt_step(q, err);
    if (r <= 0)
        return r;
    n = stmt_i64(q, "n");
    stmt_reset(q);
    return agent_get_n(domain, n, arena, ret_agent, err) < 0 ? -1 : 1;
}

int agent_set_operation(struct domain *domain, int64_t agent_n, struct str operation_id,
                        struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), SQL("UPDATE agents SET extension = ? WHERE n = ?"), &q, err) <
        0)
        return -1;
    stmt_bind_text(q, arena_printf(&arena, "{\"operationId\":\"%.*s\"}", STR_ARG(operation_id)));
    stmt_bind_i64(q, agent_n);
    return stmt_run(q, err);
}
