/* Day budgets: reserved, settled, forfeited; by local days.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <time.h>

#include "agent/budget.h"
#include "base/alloc.h"
#include "rig.h"

static const struct budget_day today = { .number = 20000, .ends_ms = 1728086400000 };
static const struct budget_day tomorrow = { .number = 20001, .ends_ms = 1728172800000 };

#define TOKENS(agent_, all_)                                                                       \
    ((struct budget_limits){ .agent = { .tokens = (agent_) }, .all = { .tokens = (all_) } })

struct asked {
    int64_t run, agent, input;
    struct budget_limits limits;
    const struct budget_day *day; /* NULL: today */
};

/* How many tokens the answer may have; -1: refused. */
static int64_t reserve(struct test *t, struct rig *rig, struct asked asked)
{
    const struct budget_need need = { .run_n = asked.run,
                                      .agent_n = asked.agent,
                                      .input_tokens = asked.input,
                                      .output_tokens = 100,
                                      .price_input = 2,
                                      .price_output = 10 };
    int64_t output = -1;
    int r;

    err_reset(&t->err);
    ASSERT_OK(domain_begin(rig->domain, &t->err));
    r = budget_reserve(rig->domain, &need, &asked.limits, asked.day ? asked.day : &today, &output,
                       &t->err);
    if (r == 0)
        ASSERT_OK(domain_commit(rig->domain, &t->err));
    else
        domain_rollback(rig->domain);
    return r < 0 ? -1 : output;
}

static void settle(struct test *t, struct rig *rig, int64_t run, int64_t agent, int64_t tokens,
                   int64_t cost)
{
    const struct budget used = { .tokens = tokens, .cost = cost };

    ASSERT_OK(domain_begin(rig->domain, &t->err));
    ASSERT_OK(budget_settle(rig->domain, run, agent, &used, &today, &t->err));
    ASSERT_OK(domain_commit(rig->domain, &t->err));
}

/* "used+held" of tokens. */
static const char *tokens_of(struct test *t, struct rig *rig, int64_t agent)
{
    struct budget used, held;

    ASSERT_OK(budget_used(rig->domain, agent, &today, &used, &held, &t->err));
    return arena_printf(&t->arena, "%lld+%lld", (long long)used.tokens, (long long)held.tokens);
}

DB_TEST(what_is_reserved_counts_until_it_is_settled)
{
    AUTO_RIG rig = rig_open(t);

    ASSERT_EQ(reserve(t, &rig, (struct asked){ 1, 7, 400, TOKENS(1000, 0) }), 100);
    ASSERT_TEXT(tokens_of(t, &rig, 7), "0+500");
    ASSERT_TEXT(tokens_of(t, &rig, 0), "0+500");
    /* A second one that alone would fit does not any more. */
    ASSERT_EQ(reserve(t, &rig, (struct asked){ 2, 7, 490, TOKENS(1000, 0) }), -1);
    ASSERT_EQ(t->err.code, ERR_BUDGET_EXCEEDED);
    ASSERT_CONTAINS(test_err_text(t),
                    "budget of tokens for this agent is 1000: 0 used, 500 reserved");
    settle(t, &rig, 1, 7, 450, 0);
    ASSERT_TEXT(tokens_of(t, &rig, 7), "450+0");
    ASSERT_EQ(reserve(t, &rig, (struct asked){ 2, 7, 490, TOKENS(1000, 0) }), 60);
    ASSERT_TEXT(tokens_of(t, &rig, 7), "450+550");
}

DB_TEST(an_answer_gets_what_is_left_and_no_less_than_the_smallest)
{
    AUTO_RIG rig = rig_open(t);

    ASSERT_EQ(reserve(t, &rig, (struct asked){ 1, 7, 84, TOKENS(100, 0) }), BUDGET_OUTPUT_MIN);
    settle(t, &rig, 1, 7, 0, 0);
    ASSERT_EQ(reserve(t, &rig, (struct asked){ 1, 7, 85, TOKENS(100, 0) }), -1);
    ASSERT_EQ(reserve(t, &rig, (struct asked){ 1, 7, 10, TOKENS(10, 0) }), -1);
    ASSERT_EQ(reserve(t, &rig, (struct asked){ 1, 7, 10, TOKENS(0, 0) }), 100);
}

DB_TEST(all_agents_share_a_budget)
{
    AUTO_RIG rig = rig_open(t);

    ASSERT_EQ(reserve(t, &rig, (struct asked){ 1, 7, 400, TOKENS(0, 1000) }), 100);
    ASSERT_EQ(reserve(t, &rig, (struct asked){ 2, 8, 450, TOKENS(0, 1000) }), 50);
    ASSERT_EQ(reserve(t, &rig, (struct asked){ 3, 9, 1, TOKENS(0, 1000) }), -1);
    ASSERT_CONTAINS(test_err_text(t), "for all agents is 1000");
    ASSERT_TEXT(tokens_of(t, &rig, 0), "0+1000");
}

DB_TEST(cost_is_held_by_the_prices)
{
    AUTO_RIG rig = rig_open(t);
    const struct budget_limits limits = { .agent = { .cost = 1500 } };
    struct budget used, held;

    /* 2 a token in, 10 a token out: 1000 are paid for the prompt, 500 buy 50 tokens. */
    ASSERT_EQ(reserve(t, &rig, (struct asked){ 1, 7, 500, limits }), 50);
    ASSERT_OK(budget_used(rig.domain, 7, &today, &used, &held, &t->err));
    ASSERT_EQ(held.cost, 1500);
    ASSERT_EQ(reserve(t, &rig, (struct asked){ 2, 7, 1, limits }), -1);
    ASSERT_CONTAINS(test_err_text(t), "budget of cost for this agent is 0.0015");
    settle(t, &rig, 1, 7, 510, 1100);
    ASSERT_OK(budget_used(rig.domain, 7, &today, &used, &held, &t->err));
    ASSERT_EQ(used.cost, 1100);
    ASSERT_EQ(held.cost, 0);
}

/* Whoever asks again for a run, or ends it, does not know what became of the first request. */
DB_TEST(what_nobody_settled_counts_as_used)
{
    AUTO_RIG rig = rig_open(t);

    ASSERT_EQ(reserve(t, &rig, (struct asked){ 1, 7, 400, TOKENS(1200, 0) }), 100);
    ASSERT_EQ(reserve(t, &rig, (struct asked){ 1, 7, 400, TOKENS(1200, 0) }), 100);
    ASSERT_TEXT(tokens_of(t, &rig, 7), "500+500");
    ASSERT_EQ(reserve(t, &rig, (struct asked){ 1, 7, 400, TOKENS(1200, 0) }), -1);
    ASSERT_OK(domain_begin(rig.domain, &t->err));
    ASSERT_OK(budget_forfeit(rig.domain, 1, &t->err));
    ASSERT_OK(budget_forfeit(rig.domain, 1, &t->err));
    ASSERT_OK(domain_commit(rig.domain, &t->err));
    ASSERT_TEXT(tokens_of(t, &rig, 7), "1000+0");
}

DB_TEST(each_day_begins_anew_and_is_settled_on_its_own)
{
    AUTO_RIG rig = rig_open(t);

    ASSERT_EQ(reserve(t, &rig, (struct asked){ 1, 7, 400, TOKENS(500, 0) }), 100);
    ASSERT_EQ(reserve(t, &rig, (struct asked){ 2, 7, 400, TOKENS(500, 0) }), -1);
    ASSERT_EQ(reserve(t, &rig, (struct asked){ 2, 7, 400, TOKENS(500, 0), &tomorrow }), 100);
    settle(t, &rig, 1, 7, 300, 0);
    settle(t, &rig, 2, 7, 200, 0); /* of tomorrow's reservation */
    ASSERT_TEXT(tokens_of(t, &rig, 7), "300+0");
}

DB_TEST(tool_calls_are_counted_up_to_the_limit)
{
    AUTO_RIG rig = rig_open(t);
    const struct budget_limits limits = { .agent = { .tool_calls = 3 } };

    ASSERT_OK(domain_begin(rig.domain, &t->err));
    ASSERT_OK(budget_tool_calls(rig.domain, 7, 2, &limits, &today, &t->err));
    ASSERT_FAILS(budget_tool_calls(rig.domain, 7, 2, &limits, &today, &t->err),
                 ERR_BUDGET_EXCEEDED);
    err_reset(&t->err);
    ASSERT_OK(budget_tool_calls(rig.domain, 7, 1, &limits, &today, &t->err));
    ASSERT_OK(budget_tool_calls(rig.domain, 8, 3, &limits, &today, &t->err));
    ASSERT_OK(domain_commit(rig.domain, &t->err));
}

/* ---- days ---- */

#define HOUR INT64_C(3600000)

TEST(days_are_those_of_the_local_calendar)
{
    const char *before = getenv("TZ") ? arena_text(&t->arena, getenv("TZ")) : NULL;
    static const struct {
        const char *zone;
        int64_t now_ms, number, begins_ms, hours;
    } cases[] = {
        { "UTC", 0, 0, 0, 24 },
        { "UTC", -1, -1, -24 * HOUR, 24 },
        { "Europe/Berlin", INT64_C(1711843200000), 19813, INT64_C(1711839600000), 23 },
        { "Europe/Berlin", INT64_C(1729980000000), 20023, INT64_C(1729980000000), 25 },
        { "Europe/Berlin", INT64_C(1729979999999), 20022, INT64_C(1729893600000), 24 },
        { "Asia/Kolkata", INT64_C(1700000000000), 19676, INT64_C(1699986600000), 24 },
        { "America/Sao_Paulo", INT64_C(1541296800000) + HOUR, 17839, INT64_C(1541300400000), 23 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct budget_day day;

        setenv("TZ", cases[i].zone, 1);
        budget_day_of(cases[i].now_ms, &day);
        if (day.number != cases[i].number || day.begins_ms != cases[i].begins_ms ||
            day.ends_ms != day.begins_ms + cases[i].hours * HOUR)
            FAIL("%s at %lld: day %lld from %lld to %lld", cases[i].zone,
                 (long long)cases[i].now_ms, (long long)day.number, (long long)day.begins_ms,
                 (long long)day.ends_ms);
    }
    if (before)
        setenv("TZ", before, 1);
    else
        unsetenv("TZ");
    tzset();
}

TEST(an_agents_own_limits_lower_those_of_all)
{
    struct agent agent = { .extension =
                               "{\"budget.tokensPerDay\": 50, \"budget.costPerDay\": 0.5}" };
    struct budget_limits limits = { .agent = { .tokens = 100, .cost = 400000, .tool_calls = 9 } };

    budget_limits_of(&agent, &limits);
    ASSERT_EQ(limits.agent.tokens, 50);
    ASSERT_EQ(limits.agent.cost, 400000);
    ASSERT_EQ(limits.agent.tool_calls, 9);
    ASSERT(budget_limits_model(&limits));
    agent.extension = "{}";
    limits = (struct budget_limits){ .agent = { .tool_calls = 1 } };
    budget_limits_of(&agent, &limits);
    ASSERT(!budget_limits_model(&limits));
}
