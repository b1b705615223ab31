/* Counts over the queue, the wakes under way, timers and what could not be read.
 *
 * SPDX-License-Identifier: MIT
 */
#include "wake/health.h"

#include "agent/link.h"
#include "db/db.h"

static int count_queue(struct domain *domain, int64_t now, struct wake_health *health,
                       struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT count(*) AS queued, coalesce(min(CASE WHEN not_before <= ? THEN"
                       " CASE WHEN not_before > created_at THEN not_before ELSE created_at END"
                       " END), 0) AS due, coalesce(min(CASE WHEN not_before > ? THEN not_before"
                       " END), 0) AS next_one FROM wake_queue"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, now);
    stmt_bind_i64(q, now);
    if (stmt_step(q, err) < 0)
        return -1;
    health->queued = stmt_i64(q, "queued");
    health->due_since = stmt_i64(q, "due");
    health->next_queued = stmt_i64(q, "next_one");
    return 0;
}

static int count_runs(struct domain *domain, struct wake_health *health, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT count(*) AS running, coalesce(sum(flying), 0) AS flying"
                       " FROM wake_runs WHERE status = 'running'"),
                   &q, err) < 0 ||
        stmt_step(q, err) < 0)
        return -1;
    health->flying = stmt_i64(q, "flying");
    health->waiting = stmt_i64(q, "running") - health->flying;
    return 0;
}

static int count_timers(struct domain *domain, struct wake_health *health, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT count(*) AS timers, coalesce(min(next_run_at), 0) AS next_one,"
                       " coalesce(min(CASE WHEN EXISTS (SELECT 1 FROM agent_links l"
                       " WHERE l.type = ? AND l.from_id = t.id) THEN next_run_at END), 0)"
                       " AS next_alarm"
                       " FROM agent_timers t WHERE active = 1 AND next_run_at IS NOT NULL"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, agent_relation_name(AGENT_LINK_TIMER_THREAD));
    if (stmt_step(q, err) < 0)
        return -1;
    health->timers = stmt_i64(q, "timers");
    health->next_timer = stmt_i64(q, "next_one");
    health->next_alarm = stmt_i64(q, "next_alarm");
    return 0;
}

static int count_dead(struct domain *domain, struct arena *arena, struct wake_health *health,
                      struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT error_message, (SELECT count(*) FROM dead_letters) AS dead"
                       " FROM dead_letters ORDER BY n DESC LIMIT 1"),
                   &q, err) < 0)
        return -1;
    r = stmt_step(q, err);
    if (r <= 0)
        return r;
    health->dead_letters = stmt_i64(q, "dead");
    health->dead_why = arena_printf(arena, "%.*s", STR_ARG(stmt_str(q, "error_message")));
    return 0;
}

int wake_health(struct domain *domain, int64_t now, struct arena *arena,
                struct wake_health *ret_health, struct err *err)
{
    struct wake_health health = { .dead_why = "" };

    if (count_queue(domain, now, &health, err) < 0 || count_runs(domain, &health, err) < 0 ||
        count_timers(domain, &health, err) < 0 || count_dead(domain, arena, &health, err) < 0)
        return err_wrap(err, "look at wakes");
    *ret_health = health;
    return 0;
}
