/* Agents that missed wakes while they were paused, stopped or dormant.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/db.h"
#include "wake/catchup_int.h"

/* The newest one of each says which; a success after it has told of it. Of all agents, those that
 * were stopped: the others are not concerned by the end of a stop. */
int catchup_list(struct domain *domain, int64_t agent_n, struct arena *arena, struct str **ret_keys,
                 size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;
    struct str *keys = NULL;
    size_t n = 0, cap = 0;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT w.run_key FROM wake_runs w WHERE w.n IN (SELECT max(n) FROM"
                       " wake_runs WHERE status IN ('skipped_paused', 'skipped_killed',"
                       " CASE ? WHEN 0 THEN '' ELSE 'skipped_sleeping' END)"
                       " AND (? = 0 OR agent_n = ?) GROUP BY agent_n)"
                       " AND NOT EXISTS (SELECT 1 FROM wake_runs c WHERE c.agent_n = w.agent_n"
                       " AND c.n > w.n AND c.status = 'completed') ORDER BY w.n"),
                   &q, err) < 0)
        return -1;
    for (int i = 0; i < 3; i++)
        stmt_bind_i64(q, agent_n);
    while ((r = stmt_step(q, err)) == 1) {
        ARENA_ROOM(arena, keys, n, cap);
        keys[n++] = arena_str(arena, stmt_str(q, "run_key"));
    }
    *ret_keys = keys;
    *ret_count = n;
    return r;
}
