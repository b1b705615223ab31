/* Lives of agents: the steps there are, and what the last one takes with it.
 *
 * Subscriptions, timers and wakes belong to a higher room. Their rows are ended here all the same,
 * in the transaction that ends the agent: between the two there would be an agent that is gone and
 * still woken.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/agent_int.h"
#include "agent/session.h"
#include "agent/state_int.h"
#include "db/db.h"

/* ---- the steps ---- */

static bool may_become(enum agent_lifecycle from, enum agent_lifecycle to)
{
    switch (from) {
    case AGENT_CREATED:
        return to == AGENT_ACTIVE || to == AGENT_DESTROYED;
    case AGENT_ACTIVE:
        return to == AGENT_DORMANT || to == AGENT_DESTROYED;
    case AGENT_DORMANT:
        return to == AGENT_ACTIVE || to == AGENT_DESTROYED;
    default:
        return false;
    }
}

static int refuse_step(const struct agent *agent, enum agent_lifecycle to, struct err *err)
{
    static const char *const next[] = {
        [AGENT_LIFECYCLE_NONE] = "nothing",      [AGENT_CREATED] = "active or destroyed",
        [AGENT_ACTIVE] = "dormant or destroyed", [AGENT_DORMANT] = "active or destroyed",
        [AGENT_DESTROYED] = "nothing",
    };

    if (agent->lifecycle == AGENT_DESTROYED)
        return err_set(err, ERR_AGENT_DESTROYED, "the agent %s no longer exists", agent->id);
    return err_set(err, ERR_CONFLICT, "the agent %s is %s; it can become %s, not %s", agent->id,
                   agent_lifecycle_name(agent->lifecycle), next[agent->lifecycle],
                   to <= AGENT_DESTROYED ? agent_lifecycle_name(to) : "that");
}

/* ---- the end ---- */

/* One statement with the time, this host and a counter, for the rows of an agent. */
static int end_rows(struct domain *domain, struct change *change, struct sql sql, int64_t agent_n,
                    int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), sql, &q, err) < 0)
        return -1;
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, change_host(change));
    stmt_bind_i64(q, change_next(change));
    stmt_bind_i64(q, agent_n);
    return stmt_run(q, err);
}

static int end_triggers(struct domain *domain, struct change *change, int64_t agent_n,
                        int64_t now_ms, struct err *err)
{
    AUTO(stmt) tokens = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("UPDATE agent_subscription_tokens SET active = 0 WHERE subscription_n IN"
                       " (SELECT n FROM agent_subscriptions WHERE agent_n = ?)"),
                   &tokens, err) < 0)
        return -1;
    stmt_bind_i64(tokens, agent_n);
    if (stmt_run(tokens, err) < 0 ||
        end_rows(domain, change,
                 SQL("UPDATE agent_subscriptions SET active = 0, deleted_at = ?, updated_at = ?,"
                     " host_n = ?, counter = ? WHERE agent_n = ? AND deleted_at IS NULL"),
                 agent_n, now_ms, err) < 0)
        return -1;
    return end_rows(domain, change,
                    SQL("UPDATE agent_timers SET active = 0, next_run_at = NULL, deleted_at = ?,"
                        " updated_at = ?, host_n = ?, counter = ?"
                        " WHERE agent_n = ? AND deleted_at IS NULL"),
                    agent_n, now_ms, err);
}

/* Every wake has an end that can be looked up, also those that never began. */
static int end_wakes(struct domain *domain, int64_t agent_n, int64_t now_ms, struct err *err)
{
    AUTO(stmt) told = NULL;
    AUTO(stmt) gone = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO wake_runs (n, run_key, agent_n, reason, reason_id, thread_id,"
                       " scheduled_at, logical_change_key, payload, status, why, error_code,"
                       " attempts, created_at, ended_at)"
                       " SELECT n, run_key, agent_n, reason, reason_id, thread_id, scheduled_at,"
                       " logical_change_key, payload, 'skipped_destroyed',"
                       " 'the agent was destroyed', 'agent_destroyed', attempts, created_at, ?"
                       " FROM wake_queue WHERE agent_n = ? ORDER BY n"
                       " ON CONFLICT (run_key) DO NOTHING"),
                   &told, err) < 0 ||
        db_prepare(domain_db(domain), SQL("DELETE FROM wake_queue WHERE agent_n = ?"), &gone, err) <
            0)
        return -1;
    stmt_bind_i64(told, now_ms);
    stmt_bind_i64(told, agent_n);
    stmt_bind_i64(gone, agent_n);
    return stmt_run(told, err) < 0 ? -1 : stmt_run(gone, err);
}

static int end_all(struct domain *domain, struct change *change, int64_t agent_n, int64_t now_ms,
                   struct err *err)
{
    if (end_triggers(domain, change, agent_n, now_ms, err) < 0 ||
        end_wakes(domain, agent_n, now_ms, err) < 0)
        return -1;
    return sessions_close_all(domain, agent_n, SESSION_DESTROYED, now_ms, err);
}

/* ---- writing ---- */

/* 1 written; 0 somebody destroyed it first. */
static int write_row(struct domain *domain, struct change *change, const struct agent *agent,
                     enum agent_lifecycle to, struct change_batch *batch, int64_t now_ms,
                     struct err *err)
{
    AUTO(stmt) q = NULL;
    AUTO_ARENA arena = ARENA_INIT;
    struct str clock;
    int64_t counter;

    if (agent_next_write(domain, change, agent->id, batch, &arena, &counter, &clock, err) < 0 ||
        db_prepare(domain_db(domain),
                   SQL("UPDATE agents SET lifecycle = ?, destroyed_at = ?, updated_at = ?,"
                       " vector_clock = ?, host_n = ?, counter = ?"
                       " WHERE n = ? AND lifecycle <> 'destroyed' RETURNING n"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, agent_lifecycle_name(to));
    if (to == AGENT_DESTROYED)
        stmt_bind_i64(q, now_ms);
    else
        stmt_bind_null(q);
    stmt_bind_i64(q, now_ms);
    stmt_bind_str(q, clock);
    stmt_bind_i64(q, change_host(change));
    stmt_bind_i64(q, counter);
    stmt_bind_i64(q, agent->n);
    return stmt_step(q, err);
}

int agent_live_as(struct domain *domain, struct change *change, const struct agent *agent,
                  enum agent_lifecycle to, struct change_batch *batch, int64_t now_ms,
                  struct err *err)
{
    int r;

    if (agent->lifecycle == to || agent->lifecycle == AGENT_DESTROYED)
        return 0;
    r = write_row(domain, change, agent, to, batch, now_ms, err);
    if (r == 1 && to == AGENT_DESTROYED && end_all(domain, change, agent->n, now_ms, err) < 0)
        return -1;
    return r;
}

int agent_set_lifecycle_in(struct domain *domain, struct change *change, struct str id,
                           enum agent_lifecycle to, struct change_batch *batch, int64_t now_ms,
                           struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct agent_state state;
    struct agent agent;
    int r;

    if (agent_get(domain, id, &arena, &agent, err) < 0)
        return -1;
    if (agent.lifecycle == to)
        return 0;
    if (!may_become(agent.lifecycle, to))
        return refuse_step(&agent, to, err);
    r = agent_live_as(domain, change, &agent, to, batch, now_ms, err);
    if (r == 1 && agent_state_follow(domain, change, &agent, to, now_ms, &arena, &state, err) < 0)
        return -1;
    if (r == 1)
        agent_state_tell(batch, change, &state, agent.id);
    return r;
}

int agent_set_lifecycle(struct domain *domain, struct change *change, struct str id,
                        enum agent_lifecycle to, int64_t now_ms, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct change_batch batch = CHANGE_BATCH(&arena, CHANGE_BY_HUMAN);
    int r = agent_set_lifecycle_in(domain, change, id, to, &batch, now_ms, err);

    if (r == 1 && change_batch_write(domain, change, &batch, now_ms, err) < 0)
        return -1;
    return r;
}

int agent_set_destroyed(struct domain *domain, struct change *change, struct str id, int64_t now_ms,
                        struct err *err)
{
    return agent_set_lifecycle(domain, change, id, AGENT_DESTROYED, now_ms, err);
}

int agent_hold_alive(struct domain *domain, int64_t agent_n, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    /* With one writer nobody can come in between. */
    if (db_prepare(domain_db(domain),
                   domain_is_shared(domain)
                       ? SQL("SELECT id, lifecycle FROM agents WHERE n = ? FOR SHARE")
                       : SQL("SELECT id, lifecycle FROM agents WHERE n = ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    r = stmt_step(q, err);
    if (r < 0)
        return -1;
    if (r == 0 || str_is(stmt_str(q, "lifecycle"), "destroyed"))
        return err_set(err, ERR_AGENT_DESTROYED, "the agent %.*s no longer exists",
                       STR_ARG(r ? stmt_str(q, "id") : STR("of this row")));
    return 0;
}

int agent_withdraw_items(struct domain *domain, struct change *change, int64_t agent_n,
                         int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("UPDATE inbox SET state = 'withdrawn', decided_at = ?, decided_by ="
                       " 'system', reason = 'the agent was destroyed', host_n = ?, counter = ?"
                       " WHERE agent_n = ? AND state = 'pending' AND run_n IS NULL"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, change_host(change));
    stmt_bind_i64(q, change_next(change));
    stmt_bind_i64(q, agent_n);
    return stmt_run(q, err);
}
