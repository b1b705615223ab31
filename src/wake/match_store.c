/* Rows of wakes that end before they begin.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/db.h"
#include "wake/match.h"

static int forget_queued(struct db *db, struct str run_key, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(db, SQL("DELETE FROM wake_queue WHERE run_key = ?"), &q, err) < 0)
        return -1;
    stmt_bind_str(q, run_key);
    return stmt_run(q, err);
}

int match_end_skipped(struct domain *domain, struct str run_key, enum wake_status status,
                      const char *why, int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO wake_runs (n, run_key, agent_n, reason, reason_id, thread_id,"
                       " scheduled_at, logical_change_key, payload, status, why, created_at,"
                       " ended_at) SELECT n, run_key, agent_n, reason, reason_id, thread_id,"
                       " scheduled_at, logical_change_key, payload, ?, ?, created_at, ?"
                       " FROM wake_queue WHERE run_key = ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, wake_status_name(status));
    stmt_bind_text(q, why);
    stmt_bind_i64(q, now_ms);
    stmt_bind_str(q, run_key);
    if (stmt_run(q, err) < 0)
        return -1;
    return forget_queued(domain_db(domain), run_key, err);
}
