/* Which edits were applied.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/db.h"
#include "memory/edit.h"

/* A file that was deleted before counts as none: that is how it was proposed. */
int memory_applied(struct domain *domain, struct str operation_id, int64_t *ret_base,
                   int64_t *ret_version, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (!operation_id.n)
        return 0;
    if (db_prepare(domain_db(domain),
                   SQL("SELECT COALESCE(v.version, 0) AS base,"
                       " COALESCE(e.version_after, 0) AS version"
                       " FROM file_events AS e LEFT JOIN file_versions AS v"
                       " ON v.file_n = e.file_n AND v.version = e.version_before"
                       " AND v.hash IS NOT NULL WHERE e.operation_id = ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, operation_id);
    r = stmt_step(q, err);
    if (r > 0) {
        *ret_base = stmt_i64(q, "base");
        *ret_version = stmt_i64(q, "version");
    }
    return r;
}
