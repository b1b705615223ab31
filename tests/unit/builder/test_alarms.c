/* What wakes an agent that is made from a template, and what it reaches.
 *
 * SPDX-License-Identifier: MIT
 */
#include "builder/template.h"
#include "desk/desk.h"
#include "rig.h"
#include "wake/timer.h"

static struct agent create(struct rig *rig, const char *template, const char *categories)
{
    struct test *t = rig->t;
    struct builder_form form = { .given = BUILDER_TEMPLATE, .template = str_from(template) };
    struct agent agent;

    if (categories) {
        form.given |= AGENT_CATEGORIES;
        form.categories = str_from(categories);
    }
    rig_begin(rig);
    ASSERT_OK(rig_end(rig, builder_create(rig->builder, &form, &t->arena, &agent, &t->err)));
    return agent;
}

static size_t subscriptions_of(struct rig *rig, int64_t agent_n, struct subscription **ret_list)
{
    struct test *t = rig->t;
    size_t n;

    ASSERT_OK(subscription_list(rig->domain, agent_n, &t->arena, ret_list, &n, &t->err));
    return n;
}

static size_t timers_of(struct rig *rig, int64_t agent_n, struct timer **ret_list)
{
    struct test *t = rig->t;
    size_t n;

    ASSERT_OK(timer_list(rig->domain, agent_n, &t->arena, ret_list, &n, &t->err));
    return n;
}

DB_TEST(a_planner_waits_for_the_morning_and_for_tasks_that_are_done)
{
    AUTO(rig) rig = rig_open(t);
    struct agent agent = create(rig, "planner", NULL);
    struct subscription *waits;
    struct timer *timers;

    ASSERT_TEXT(agent.kind, "planner");
    ASSERT_TEXT(agent.mode, "hybrid");
    ASSERT_EQ(subscriptions_of(rig, agent.n, &waits), 1);
    ASSERT_STR(waits[0].name, "A task is done");
    ASSERT_EQ(waits[0].token_count, 1);
    ASSERT_EQ(waits[0].tokens[0].class, TOKEN_SUBTYPE);
    ASSERT_STR(waits[0].tokens[0].value, "DONE");
    ASSERT_EQ(waits[0].authors, 1u << CHANGE_BY_HUMAN);
    ASSERT(waits[0].active);
    ASSERT_EQ(timers_of(rig, agent.n, &timers), 1);
    ASSERT_STR(timers[0].rrule, "FREQ=DAILY;BYHOUR=7");
    ASSERT_TEXT(timers[0].next_local + 10, "T07:00:00");
    ASSERT(timers[0].next_run_at > NOW);
    ASSERT(timers[0].active);
    ASSERT_EQ(timers[0].zone.n, 0);
}

DB_TEST(each_first_agent_has_its_kind_and_what_wakes_it)
{
    static const struct {
        const char *template, *kind, *mode;
        size_t subscriptions, timers;
    } want[] = {
        { "planner", "planner", "hybrid", 1, 1 },
        { "gym-coach", "gym_coach", "hybrid", 1, 0 },
        { "strategist", "strategy", "hybrid", 0, 1 },
        { "pomodoro", "pomodoro", "interactive", 0, 0 },
        { "inbox-helper", "inbox-helper", "hybrid", 0, 0 },
        { "research-assistant", "research-assistant", "hybrid", 0, 0 },
    };
    AUTO(rig) rig = rig_open(t);

    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        struct agent agent = create(rig, want[i].template, NULL);
        struct subscription *waits;
        struct timer *timers;

        ASSERT_TEXT(agent.kind, want[i].kind);
        ASSERT_TEXT(agent.mode, want[i].mode);
        ASSERT_EQ(subscriptions_of(rig, agent.n, &waits), want[i].subscriptions);
        ASSERT_EQ(timers_of(rig, agent.n, &timers), want[i].timers);
    }
}

TEST(no_template_names_a_tool_that_its_kind_may_not_use)
{
    size_t n;
    const struct template *all = templates(&n);

    for (size_t i = 0; i < n; i++) {
        struct agent agent = { .id = all[i].id, .kind = all[i].kind, .tools = "[]" };

        for (const char *const *name = all[i].tools; *name; name++) {
            const struct tool_contract *contract = tool_contract_find(str_from(*name));

            ASSERT(contract != NULL);
            if (desk_missing(&agent, contract))
                FAIL("%s has %s, but not %s", all[i].id, *name, desk_missing(&agent, contract));
        }
    }
}

/* Instructions that speak of a tool that is not there make a model invent one. */
TEST(instructions_name_only_tools_that_the_template_has)
{
    size_t n, contracts;
    const struct template *all = templates(&n);
    const struct tool_contract *known = tool_contracts(&contracts);

    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < contracts; k++) {
            bool has = false;

            for (const char *const *name = all[i].tools; *name; name++)
                has |= strcmp(*name, known[k].name) == 0;
            if (!has && strchr(known[k].name, '_') && strstr(all[i].instructions, known[k].name))
                FAIL("%s speaks of %s, which it has not", all[i].id, known[k].name);
        }
    }
}

static struct builder_warnings advice(struct rig *rig, const struct agent *agent)
{
    struct test *t = rig->t;
    struct builder_warnings warnings = { .n = 0 };

    ASSERT_OK(builder_advise(rig->builder, agent, &t->arena, &warnings, &t->err));
    return warnings;
}

DB_TEST(who_has_no_categories_is_told_what_is_missing)
{
    AUTO(rig) rig = rig_open(t);
    struct agent coach = create(rig, "gym-coach", NULL), some = create(rig, "planner", "[\"*\"]"),
                 reader = create(rig, "research-assistant", NULL);
    struct builder_warnings told = advice(rig, &coach);

    ASSERT_EQ(told.n, 1);
    ASSERT_CONTAINS(told.text[0], "Gym Coach has no categories yet");
    ASSERT_CONTAINS(told.text[0], "dormouse agent set gym-coach --categories");
    ASSERT_EQ(advice(rig, &some).n, 0);
    ASSERT_EQ(advice(rig, &reader).n, 0);
}

DB_TEST(an_agent_that_can_not_be_made_leaves_nothing_behind)
{
    AUTO(rig) rig = rig_open(t);
    struct builder_form form = { .given = BUILDER_TEMPLATE | AGENT_CATEGORIES,
                                 .template = STR("planner"),
                                 .categories = STR("{\"no\":\"list\"}") };
    struct subscription *waits;
    struct timer *timers;
    struct agent agent;

    rig_begin(rig);
    ASSERT_FAILS(rig_end(rig, builder_create(rig->builder, &form, &t->arena, &agent, &t->err)),
                 ERR_BAD_REQUEST);
    ASSERT_EQ(subscriptions_of(rig, 0, &waits), 0);
    ASSERT_EQ(timers_of(rig, 0, &timers), 0);
}

DB_TEST(the_agent_that_greets_reaches_all_and_wakes_like_its_template)
{
    AUTO(rig) rig = rig_open(t);
    struct subscription *waits;
    struct timer *timers;
    struct agent first;

    rig_begin(rig);
    ASSERT_OK(
        rig_end(rig, builder_ensure_first(rig->builder, "Planner", &t->arena, &first, &t->err)));
    ASSERT_TEXT(first.allowed_category_ids, "[\"*\"]");
    ASSERT_EQ(subscriptions_of(rig, first.n, &waits), 1);
    ASSERT_STR(waits[0].name, "A task is done");
    ASSERT_EQ(timers_of(rig, first.n, &timers), 1);
    ASSERT_STR(timers[0].rrule, "FREQ=DAILY;BYHOUR=7");
}

DB_TEST(what_a_person_removed_of_the_first_agent_does_not_come_back)
{
    AUTO(rig) rig = rig_open(t);
    struct subscription *waits;
    struct timer *timers;
    struct agent first;

    rig_begin(rig);
    ASSERT_OK(
        rig_end(rig, builder_ensure_first(rig->builder, "Planner", &t->arena, &first, &t->err)));
    ASSERT_EQ(timers_of(rig, first.n, &timers), 1);
    rig_begin(rig);
    ASSERT_OK(rig_end(rig, timer_remove(rig->domain, rig->change, timers[0].id, 1, &t->err)));
    rig_begin(rig);
    ASSERT_OK(
        rig_end(rig, builder_ensure_first(rig->builder, "Planner", &t->arena, &first, &t->err)));
    ASSERT_EQ(timers_of(rig, first.n, &timers), 0);
    ASSERT_EQ(subscriptions_of(rig, first.n, &waits), 1);
}

DB_TEST(a_first_agent_beside_others_is_woken_by_nothing)
{
    AUTO(rig) rig = rig_open(t);
    struct agent other = { .id = "old", .kind = "planner", .display_name = "Old" }, first;
    struct subscription *waits;
    struct timer *timers;

    rig_begin(rig);
    ASSERT_OK(rig_end(rig, agent_add(rig->domain, rig->change, &other, 1, &t->err)));
    rig_begin(rig);
    ASSERT_OK(
        rig_end(rig, builder_ensure_first(rig->builder, "Planner", &t->arena, &first, &t->err)));
    ASSERT_EQ(subscriptions_of(rig, first.n, &waits), 0);
    ASSERT_EQ(timers_of(rig, first.n, &timers), 0);
}
