/* Changes of a state.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/state.h"
#include "harness/test.h"

#define NOW INT64_C(1700000000000)

TEST(a_success_begins_a_new_count_of_failures)
{
    struct agent_state state = { 0 };

    agent_state_failed(&state, NOW);
    agent_state_failed(&state, NOW + 1);
    ASSERT_EQ(state.failures, 2);
    ASSERT_EQ(state.successes, 0);
    ASSERT_EQ(state.last_wake_at, NOW + 1);
    agent_state_succeeded(&state, NOW + 2);
    ASSERT_EQ(state.failures, 0);
    ASSERT_EQ(state.successes, 1);
    ASSERT_EQ(state.last_wake_at, NOW + 2);
}

TEST(the_wait_after_failures_doubles_from_half_a_minute_to_six_hours)
{
    static const int64_t seconds[] = {
        0, 30, 60, 120, 240, 480, 960, 1920, 3840, 7680, 15360, 21600
    };

    for (size_t i = 0; i < ARRAY_LEN(seconds); i++)
        ASSERT_EQ(agent_backoff_ms((int64_t)i), seconds[i] * 1000);
    ASSERT_EQ(agent_backoff_ms(INT64_MAX), 21600000);
    ASSERT_EQ(agent_backoff_ms(-1), 0);
}

TEST(a_slot_that_changes_gets_a_new_version_and_its_host)
{
    struct agent_state state = { 0 };

    ASSERT_EQ(agent_state_set_slot(&state, AGENT_SLOT_PRIMARY_GOAL, STR("run 5 km"), STR("h1"),
                                   &t->arena, &t->err),
              1);
    ASSERT_EQ(agent_state_set_slot(&state, AGENT_SLOT_PRIMARY_GOAL, STR("run 5 km"), STR("h2"),
                                   &t->arena, &t->err),
              0);
    ASSERT_EQ(state.slots.primary_goal_version, 1);
    ASSERT_STR(state.slots.primary_goal_host, "h1");
    ASSERT_EQ(agent_state_set_slot(&state, AGENT_SLOT_PRIMARY_GOAL, STR(""), STR("h2"), &t->arena,
                                   &t->err),
              1);
    ASSERT_EQ(state.slots.primary_goal_version, 2);
    ASSERT_EQ(state.slots.active_task_id_version, 0);
}

TEST(json_of_a_slot_is_kept_in_one_form)
{
    struct agent_state state = { 0 };

    ASSERT_EQ(agent_state_set_slot(&state, AGENT_SLOT_PREFERENCE_BY_KEY,
                                   STR(" {\"b\":\"2\", \"a\":\"\\u0031\"}"), STR("h"), &t->arena,
                                   &t->err),
              1);
    ASSERT_STR(state.slots.preference_by_key, "{\"a\":\"1\",\"b\":\"2\"}");
    ASSERT_EQ(agent_state_set_slot(&state, AGENT_SLOT_PREFERENCE_BY_KEY,
                                   STR("{\"a\":\"1\",\"b\":\"2\"}"), STR("h"), &t->arena, &t->err),
              0);
    ASSERT_EQ(agent_state_set_slot(&state, AGENT_SLOT_OPEN_LOOP_IDS, STR("[ \"x\" ]"), STR("h"),
                                   &t->arena, &t->err),
              1);
    ASSERT_STR(state.slots.open_loop_ids, "[\"x\"]");
    ASSERT_EQ(agent_state_set_slot(&state, AGENT_SLOT_EXTENSION, STR("{ }"), STR("h"), &t->arena,
                                   &t->err),
              1);
}

TEST(a_slot_refuses_what_it_may_not_hold_and_says_which_it_was)
{
    static const struct {
        enum agent_slot slot;
        const char *value;
        enum err_code code;
        const char *says;
    } cases[] = {
        { AGENT_SLOT_PRIMARY_GOAL, "a\x01", ERR_BAD_REQUEST, "primaryGoal" },
        { AGENT_SLOT_PRIMARY_GOAL, "\xff", ERR_BAD_REQUEST, "UTF-8" },
        { AGENT_SLOT_ACTIVE_TASK_ID, "a|b", ERR_BAD_REQUEST, "activeTaskId" },
        { AGENT_SLOT_OPEN_LOOP_IDS, "", ERR_BAD_REQUEST, "openLoopIds" },
        { AGENT_SLOT_OPEN_LOOP_IDS, "{}", ERR_BAD_REQUEST, "list of ids" },
        { AGENT_SLOT_OPEN_LOOP_IDS, "[7]", ERR_BAD_REQUEST, "entry 1" },
        { AGENT_SLOT_PREFERENCE_BY_KEY, "[]", ERR_BAD_REQUEST, "object of texts" },
        { AGENT_SLOT_PREFERENCE_BY_KEY, "{\"a\":1}", ERR_BAD_REQUEST, "\"a\"" },
        { AGENT_SLOT_PREFERENCE_BY_KEY, "{\"\":\"x\"}", ERR_BAD_REQUEST, "key" },
        { AGENT_SLOT_EXTENSION, "{\"my.key\":1}", ERR_SCHEMA_VIOLATION, "my.key" },
        { AGENT_SLOT_EXTENSION, "[]", ERR_SCHEMA_VIOLATION, "object" },
    };
    struct agent_state state = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ASSERT_FAILS(agent_state_set_slot(&state, cases[i].slot, str_from(cases[i].value), STR("h"),
                                          &t->arena, &t->err),
                     cases[i].code);
        ASSERT_CONTAINS(test_err_text(t), cases[i].says);
    }
    ASSERT_EQ(state.slots.primary_goal_version + state.slots.extension_version, 0);
}

TEST(slots_hold_so_many_and_no_more)
{
    AUTO_BUF list = BUF_INIT(1 << 20);
    AUTO_BUF map = BUF_INIT(1 << 20);
    struct agent_state state = { 0 };
    char *goal = ARENA_NEW_N(&t->arena, char, AGENT_GOAL_MAX + 1);

    memset(goal, 'g', AGENT_GOAL_MAX + 1);
    ASSERT_FAILS(agent_state_set_slot(&state, AGENT_SLOT_PRIMARY_GOAL,
                                      str_of(goal, AGENT_GOAL_MAX + 1), STR("h"), &t->arena,
                                      &t->err),
                 ERR_TOO_LARGE);
    ASSERT_EQ(agent_state_set_slot(&state, AGENT_SLOT_PRIMARY_GOAL, str_of(goal, AGENT_GOAL_MAX),
                                   STR("h"), &t->arena, &t->err),
              1);
    buf_add_text(&list, "[\"0\"");
    buf_add_text(&map, "{\"0\":\"\"");
    for (int i = 1; i <= AGENT_OPEN_LOOPS_MAX; i++) {
        buf_printf(&list, ",\"%d\"", i);
        buf_printf(&map, ",\"%d\":\"\"", i);
    }
    buf_add_text(&list, "]");
    buf_add_text(&map, "}");
    ASSERT_FAILS(agent_state_set_slot(&state, AGENT_SLOT_OPEN_LOOP_IDS, buf_str(&list), STR("h"),
                                      &t->arena, &t->err),
                 ERR_BAD_REQUEST);
    ASSERT_FAILS(agent_state_set_slot(&state, AGENT_SLOT_PREFERENCE_BY_KEY, buf_str(&map), STR("h"),
                                      &t->arena, &t->err),
                 ERR_BAD_REQUEST);
}
