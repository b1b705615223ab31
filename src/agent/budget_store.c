/* Day budgets as rows: what was used and what is reserved, by agent and day; agent 0 is all of
 * them.
 *
 * Whoever reserves changes both rows first, so that others who share the database wait and then see
 * what was reserved.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/budget_int.h"
#include "db/db.h"

int budget_used(struct domain *domain, int64_t agent_n, const struct budget_day *day,
                struct budget *ret_used, struct budget *ret_held, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    *ret_used = *ret_held = (struct budget){ 0 };
    if (db_prepare(domain_db(domain),
                   SQL("SELECT tokens, cost, tool_calls, held_tokens, held_cost FROM budget_days"
                       " WHERE agent_n = ? AND day = ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    stmt_bind_i64(q, day->number);
    r = stmt_step(q, err);
    if (r != 1)
        return r;
    *ret_used = (struct budget){ .tokens = stmt_i64(q, "tokens"),
                                 .cost = stmt_i64(q, "cost"),
                                 .tool_calls = stmt_i64(q, "tool_calls") };
    *ret_held =
        (struct budget){ .tokens = stmt_i64(q, "held_tokens"), .cost = stmt_i64(q, "held_cost") };
    return 0;
}

/* Adds to the row, and makes it. */
static int budget_move_row(struct domain *domain, int64_t agent_n, int64_t day,
                           const struct budget *used, const struct budget *held, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO budget_days (agent_n, day, tokens, cost, tool_calls,"
                       " held_tokens, held_cost) VALUES (?, ?, ?, ?, ?, ?, ?)"
                       " ON CONFLICT (agent_n, day) DO UPDATE SET"
                       " tokens = budget_days.tokens + excluded.tokens,"
                       " cost = budget_days.cost + excluded.cost,"
                       " tool_calls = budget_days.tool_calls + excluded.tool_calls,"
                       " held_tokens = budget_days.held_tokens + excluded.held_tokens,"
                       " held_cost = budget_days.held_cost + excluded.held_cost"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    stmt_bind_i64(q, day);
    stmt_bind_i64(q, used->tokens);
    stmt_bind_i64(q, used->cost);
    stmt_bind_i64(q, used->tool_calls);
    stmt_bind_i64(q, held->tokens);
    stmt_bind_i64(q, held->cost);
    return stmt_run(q, err);
}

/* Both rows, that of all first: whoever comes later waits there. */
static int budget_move(struct domain *domain, int64_t agent_n, int64_t day,
                       const struct budget *used, const struct budget *held, struct err *err)
{
    if (budget_move_row(domain, 0, day, used, held, err) < 0)
        return -1;
    return agent_n ? budget_move_row(domain, agent_n, day, used, held, err) : 0;
}

/* Takes what a run has reserved: 1, 0 nothing. */
static int budget_take(struct domain *domain, int64_t run_n, int64_t *ret_agent_n, int64_t *ret_day,
                       struct budget *ret_held, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("DELETE FROM budget_held WHERE run_n = ?"
                       " RETURNING agent_n, day, tokens, cost"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, run_n);
    r = stmt_step(q, err);
    if (r != 1)
        return r;
    *ret_agent_n = stmt_i64(q, "agent_n");
    *ret_day = stmt_i64(q, "day");
    *ret_held = (struct budget){ .tokens = stmt_i64(q, "tokens"), .cost = stmt_i64(q, "cost") };
    return 1;
}

int budget_forfeit(struct domain *domain, int64_t run_n, struct err *err)
{
    struct budget held, back;
    int64_t agent_n, day;
    int r = budget_take(domain, run_n, &agent_n, &day, &held, err);

    if (r != 1)
        return r;
    back = (struct budget){ .tokens = -held.tokens, .cost = -held.cost };
    return budget_move(domain, agent_n, day, &held, &back, err);
}

int budget_settle(struct domain *domain, int64_t run_n, int64_t agent_n, const struct budget *used,
                  const struct budget_day *day, struct err *err)
{
    struct budget held = { 0 }, back;
    int64_t of = day->number;
    int r = budget_take(domain, run_n, &agent_n, &of, &held, err);

    if (r < 0)
        return -1;
    back = (struct budget){ .tokens = -held.tokens, .cost = -held.cost };
    return budget_move(domain, agent_n, of, used, &back, err);
}

static int budget_hold(struct domain *domain, const struct budget_need *need, int64_t day,
                       const struct budget *held, struct err *err)
{
    const struct budget nothing = { 0 };
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO budget_held (run_n, agent_n, day, tokens, cost)"
                       " VALUES (?, ?, ?, ?, ?)"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, need->run_n);
    stmt_bind_i64(q, need->agent_n);
    stmt_bind_i64(q, day);
    stmt_bind_i64(q, held->tokens);
    stmt_bind_i64(q, held->cost);
    if (stmt_run(q, err) < 0)
        return -1;
    return budget_move(domain, need->agent_n, day, &nothing, held, err);
}

/* Both rows are there and ours until the transaction ends. */
static int budget_lock(struct domain *domain, int64_t agent_n, const struct budget_day *day,
                       struct err *err)
{
    const struct budget nothing = { 0 };

    return budget_move(domain, agent_n, day->number, &nothing, &nothing, err);
}

static int budget_read(struct domain *domain, int64_t agent_n, const struct budget *limit,
                       const struct budget_day *day, struct budget_state *ret_state,
                       struct err *err)
{
    *ret_state = (struct budget_state){ .day = day, .all = agent_n == 0, .limit = *limit };
    return budget_used(domain, agent_n, day, &ret_state->used, &ret_state->held, err);
}

int budget_reserve(struct domain *domain, const struct budget_need *need,
                   const struct budget_limits *limits, const struct budget_day *day,
                   int64_t *ret_output, struct err *err)
{
    int64_t output = need->output_tokens;
    struct budget_state all, own;
    struct budget held;

    if (budget_forfeit(domain, need->run_n, err) < 0 ||
        budget_lock(domain, need->agent_n, day, err) < 0 ||
        budget_read(domain, 0, &limits->all, day, &all, err) < 0 ||
        budget_read(domain, need->agent_n, &limits->agent, day, &own, err) < 0 ||
        budget_fit(&own, need, &output, err) < 0 || budget_fit(&all, need, &output, err) < 0)
        return -1;
    held.tokens = need->input_tokens + output;
    held.cost = (int64_t)((double)need->input_tokens * need->price_input +
                          (double)output * need->price_output + 0.5);
    if (budget_hold(domain, need, day->number, &held, err) < 0)
        return -1;
    *ret_output = output;
    return 0;
}

int budget_tool_calls(struct domain *domain, int64_t agent_n, int64_t count,
                      const struct budget_limits *limits, const struct budget_day *day,
                      struct err *err)
{
    const struct budget more = { .tool_calls = count }, nothing = { 0 };
    struct budget_state all, own;

    if (limits->agent.tool_calls || limits->all.tool_calls) {
        if (budget_lock(domain, agent_n, day, err) < 0 ||
            budget_read(domain, 0, &limits->all, day, &all, err) < 0 ||
            budget_read(domain, agent_n, &limits->agent, day, &own, err) < 0 ||
            budget_fit_calls(&own, count, err) < 0 || budget_fit_calls(&all, count, err) < 0)
            return -1;
    }
    return budget_move(domain, agent_n, day->number, &more, &nothing, err);
}
