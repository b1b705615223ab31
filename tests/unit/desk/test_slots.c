/* set_slots and get_slots: bounded, in scope, done once.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/state.h"
#include "desk_rig.h"

/* A person changes the goal. */
static void set_goal(struct office *office, const char *goal)
{
    struct test *t = office->t;
    struct loop *loop = office->rig.loop;
    struct domain *domain = office->rig.agent;
    struct agent_state state;

    ASSERT_OK(loop_unit_begin(loop, domain, &t->err));
    ASSERT_OK(agent_state_get(domain, office->agent.n, 1, &t->arena, &state, &t->err));
    ASSERT_EQ(agent_state_set_slot(&state, AGENT_SLOT_PRIMARY_GOAL, str_from(goal),
                                   str_from(change_host_id(office->rig.change)), &t->arena,
                                   &t->err),
              1);
    ASSERT_OK(agent_state_put(domain, office->rig.change, &state, 1, &t->err));
    ASSERT_OK(loop_unit_end(loop, true, &t->err));
}

static size_t state_batches(struct office *office)
{
    struct test *t = office->t;
    struct change_row *rows;
    size_t n, count = 0;

    ASSERT_OK(change_batches_since(office->rig.agent, 0, 100, &t->arena, &rows, &n, &t->err));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; rows[i].author == CHANGE_BY_AGENT && k < rows[i].token_count; k++)
            count += str_is(rows[i].tokens[k].value, "AGENT_STATE");
    return count;
}

DB_TEST(an_agent_sets_its_slots_and_reads_them_back)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    ASSERT_OK(office_run(&office, "get_slots", "", "{}"));
    ASSERT(office_out(&office, "/primaryGoal") == NULL);
    ASSERT_TEXT(office_out(&office, "/openLoopIds"), "[]");
    ASSERT_OK(
        office_run(&office, "set_slots", "op-1",
                   "{'primaryGoal':'A calm week','activeTaskId':'legs',"
                   "'openLoopIds':['squats','letter-7'],'preferenceByKey':{'tone':'terse'}}"));
    ASSERT_TEXT(office_out(&office, "/changed"), "true");
    /* What is not given stays, null takes away. */
    ASSERT_OK(office_run(&office, "set_slots", "op-2", "{'activeTaskId':null,'openLoopIds':null}"));
    ASSERT_OK(office_run(&office, "get_slots", "", "{}"));
    ASSERT_TEXT(office_out(&office, "/primaryGoal"), "\"A calm week\"");
    ASSERT(office_out(&office, "/activeTaskId") == NULL);
    ASSERT_TEXT(office_out(&office, "/openLoopIds"), "[]");
    ASSERT_TEXT(office_out(&office, "/preferenceByKey/tone"), "\"terse\"");
    ASSERT_EQ(state_batches(&office), 2);
    /* The same again is no change, and nobody is told of it. */
    ASSERT_OK(office_run(&office, "set_slots", "op-3", "{'primaryGoal':'A calm week'}"));
    ASSERT_TEXT(office_out(&office, "/changed"), "false");
    ASSERT_EQ(state_batches(&office), 2);
}

DB_TEST(slots_that_were_set_are_not_set_again_over_what_a_person_said)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    ASSERT_OK(office_run(&office, "set_slots", "op-1", "{'primaryGoal':'Mine'}"));
    set_goal(&office, "Yours");
    /* The process died before it knew: the same operation once more. */
    ASSERT_OK(office_run(&office, "set_slots", "op-1", "{'primaryGoal':'Mine'}"));
    ASSERT_TEXT(office_out(&office, "/changed"), "false");
    ASSERT_TEXT(office_out(&office, "/primaryGoal"), "\"Yours\"");
    ASSERT_OK(office_run(&office, "set_slots", "op-2", "{'primaryGoal':'Mine'}"));
    ASSERT_TEXT(office_out(&office, "/primaryGoal"), "\"Mine\"");
}

DB_TEST(slots_that_are_none_are_refused_and_nothing_changes)
{
    AUTO_BUF long_goal = BUF_INIT(8192);
    AUTO_BUF wide_goal = BUF_INIT(8192);
    const struct {
        const char *arguments;
        enum err_code code;
        const char *says;
    } cases[] = {
        { "{}", ERR_SCHEMA_VIOLATION, "" },
        { "{'primaryGoal':7}", ERR_SCHEMA_VIOLATION, "/primaryGoal" },
        { "{'sleepUntil':'2030-01-01T00:00:00Z'}", ERR_SCHEMA_VIOLATION, "sleepUntil" },
        { "{'extension':{}}", ERR_SCHEMA_VIOLATION, "extension" },
        { "{'openLoopIds':[7]}", ERR_SCHEMA_VIOLATION, "/openLoopIds/0" },
        { "{'openLoopIds':['']}", ERR_SCHEMA_VIOLATION, "/openLoopIds/0" },
        { "{'openLoopIds':['a\\nb']}", ERR_BAD_REQUEST, "/openLoopIds" },
        { "{'preferenceByKey':{'a':1}}", ERR_SCHEMA_VIOLATION, "/preferenceByKey/a" },
        { "{'preferenceByKey':[]}", ERR_SCHEMA_VIOLATION, "/preferenceByKey" },
        { "{'activeTaskId':'nowhere'}", ERR_NOT_FOUND, "/activeTaskId" },
        { "{'activeTaskId':'taxes'}", ERR_OUT_OF_SCOPE, "/activeTaskId" },
        { "{'openLoopIds':['legs','taxes']}", ERR_OUT_OF_SCOPE, "/openLoopIds/1" },
        { buf_text(&long_goal), ERR_SCHEMA_VIOLATION, "/primaryGoal" },
        { buf_text(&wide_goal), ERR_TOO_LARGE, "/primaryGoal" },
    };
    AUTO_OFFICE office;

    buf_add_text(&long_goal, "{'primaryGoal':'");
    buf_add_text(&wide_goal, "{'primaryGoal':'");
    for (int i = 0; i < 2001; i++)
        buf_add_char(&long_goal, 'x');
    for (int i = 0; i < 1500; i++)
        buf_add_text(&wide_goal, "ä"); /* few enough characters, too many bytes */
    buf_add_text(&long_goal, "'}");
    buf_add_text(&wide_goal, "'}");
    office_open(&office, t);
    office_fill(&office);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *arguments = i + 2 == ARRAY_LEN(cases)   ? buf_text(&long_goal)
                                : i + 1 == ARRAY_LEN(cases) ? buf_text(&wide_goal)
                                                            : cases[i].arguments;

        err_reset(&t->err);
        ASSERT_FAILS(office_run(&office, "set_slots", "o", arguments), cases[i].code);
        ASSERT_CONTAINS(test_err_text(t), cases[i].says);
        ASSERT(strstr(test_err_text(t), "secret") == NULL);
    }
    ASSERT_EQ(state_batches(&office), 0);
}

/* Everybody has slots, like a memory; who has neither a profile nor a list is not bothered. */
TEST(slots_are_for_every_kind_that_has_a_profile_or_a_list)
{
    static const struct {
        const char *kind, *tools;
        bool may;
    } cases[] = {
        { "planner", NULL, true },   { "gym_coach", NULL, true },
        { "strategy", NULL, true },  { "pomodoro", NULL, true },
        { "custom", NULL, false },   { "custom", "[\"set_slots\"]", true },
        { "strategy", "[]", false },
    };
    AUTO_OFFICE office;

    office_open(&office, t);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        office.agent.kind = cases[i].kind;
        office.agent.tools = cases[i].tools;
        ASSERT_EQ(tool_bed_offers(office.tools, tool_contract_find(STR("set_slots")), &office.agent,
                                  STR("userInitiated")),
                  cases[i].may);
    }
}
