/* set_alarm and list_alarms, with a keeper of alarms that writes down what it is told.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/clock.h"
#include "desk_rig.h"

struct keeper {
    struct desk_alarm alarm;
    char operation[40], thread[40];
    unsigned sets, clears;
    char cleared[40];
    size_t n; /* that are listed */
    enum err_code fails;
};

static int keep(void *arg, const struct tool_call *call, const struct desk_alarm *alarm,
                int64_t now_ms, struct arena *arena, struct desk_alarm *ret_alarm,
                bool *ret_replaced, struct err *err)
{
    struct keeper *keeper = arg;

    (void)arena;
    if (keeper->fails)
        return err_set(err, keeper->fails, "no");
    keeper->alarm = *ret_alarm = *alarm;
    keeper->alarm.set_at = now_ms;
    snprintf(keeper->operation, sizeof(keeper->operation), "%.*s", STR_ARG(call->operation_id));
    snprintf(keeper->thread, sizeof(keeper->thread), "%.*s", STR_ARG(call->thread_id));
    *ret_replaced = keeper->sets++ > 0;
    return 0;
}

static int forget(void *arg, int64_t agent_n, struct str name, int64_t now_ms, struct arena *arena,
                  struct err *err)
{
    struct keeper *keeper = arg;

    (void)agent_n, (void)now_ms, (void)arena;
    if (keeper->fails)
        return err_set(err, keeper->fails, "no");
    snprintf(keeper->cleared, sizeof(keeper->cleared), "%.*s", STR_ARG(name));
    return keeper->clears++ == 0;
}

static int list(void *arg, int64_t agent_n, struct arena *arena, struct desk_alarm **ret_alarms,
                size_t *ret_count, struct err *err)
{
    struct keeper *keeper = arg;

    (void)agent_n;
    if (keeper->fails)
        return err_set(err, keeper->fails, "no");
    *ret_alarms = ARENA_NEW_N(arena, struct desk_alarm, keeper->n + 1);
    for (size_t i = 0; i < keeper->n; i++)
        (*ret_alarms)[i] = (struct desk_alarm){ .name = STR("break"),
                                                .taint = i ? STR("web") : STR_NONE,
                                                .rings_at = 1 };
    *ret_count = keeper->n;
    return 0;
}

static const struct desk_alarms alarms = { .set = keep, .clear = forget, .list = list };

static void open_with(struct office *office, struct test *t, struct keeper *keeper)
{
    office_open(office, t);
    *keeper = (struct keeper){ .n = 0 };
    desk_set_alarms(office->desk, &alarms, keeper);
    office->agent.kind = "pomodoro";
}

DB_TEST(an_alarm_is_set_for_so_many_minutes_with_a_name_and_a_note)
{
    AUTO_OFFICE office;
    struct keeper keeper;
    int64_t now;

    open_with(&office, t, &keeper);
    now = clock_wall_ms(loop_clock(office.rig.loop));
    ASSERT_OK(office_run(&office, "set_alarm", "op-1",
                         "{'name':'session','minutes':25,'note':'Tax report'}"));
    ASSERT_EQ(keeper.alarm.rings_at, now + MINUTES(25));
    ASSERT_TEXT(keeper.operation, "op-1");
    ASSERT_TEXT(keeper.thread, "coach:session:s");
    ASSERT_TEXT(office_out(&office, "/name"), "\"session\"");
    ASSERT_TEXT(office_out(&office, "/note"), "\"Tax report\"");
    ASSERT_TEXT(office_out(&office, "/set"), "true");
    ASSERT_TEXT(office_out(&office, "/replaced"), "false");
    ASSERT(office_out(&office, "/ringsAt"));
    /* Half a minute, no name, no note. */
    ASSERT_OK(office_run(&office, "set_alarm", "op-2", "{'minutes':0.5}"));
    ASSERT_EQ(keeper.alarm.rings_at, now + 30000);
    ASSERT_TEXT(office_out(&office, "/name"), "\"alarm\"");
    ASSERT_TEXT(office_out(&office, "/replaced"), "true");
    ASSERT(office_out(&office, "/note") == NULL);
}

DB_TEST(zero_minutes_take_an_alarm_back)
{
    AUTO_OFFICE office;
    struct keeper keeper;

    open_with(&office, t, &keeper);
    ASSERT_OK(office_run(&office, "set_alarm", "op-1", "{'name':'session','minutes':0}"));
    ASSERT_TEXT(keeper.cleared, "session");
    ASSERT_TEXT(office_out(&office, "/set"), "false");
    ASSERT_TEXT(office_out(&office, "/cleared"), "true");
    ASSERT_OK(office_run(&office, "set_alarm", "op-2", "{'minutes':0}"));
    ASSERT_TEXT(keeper.cleared, "alarm");
    ASSERT_TEXT(office_out(&office, "/cleared"), "false");
    ASSERT_EQ(keeper.sets, 0);
}

DB_TEST(alarms_that_have_not_rung_are_listed)
{
    AUTO_OFFICE office;
    struct keeper keeper;

    open_with(&office, t, &keeper);
    ASSERT_OK(office_run(&office, "list_alarms", "", "{}"));
    ASSERT_TEXT(office_out(&office, "/alarms"), "[]");
    keeper.n = 2;
    ASSERT_OK(office_run(&office, "list_alarms", "", "{}"));
    ASSERT_TEXT(office_out(&office, "/alarms/1/name"), "\"break\"");
    ASSERT_TEXT(office_out(&office, "/alarms/0/ringsAt"), "\"1970-01-01T00:00:00.001Z\"");
}

DB_TEST(a_list_of_alarms_is_no_more_to_be_trusted_than_their_notes)
{
    AUTO_OFFICE office;
    struct keeper keeper;

    open_with(&office, t, &keeper);
    keeper.n = 1;
    ASSERT_OK(office_run(&office, "list_alarms", "", "{}"));
    ASSERT_EQ(office.result.taint.n, 0u);
    keeper.n = 2;
    ASSERT_OK(office_run(&office, "list_alarms", "", "{}"));
    ASSERT_STR(office.result.taint, "web");
}

TEST(what_is_no_alarm_is_refused_with_the_place)
{
    static const struct {
        const char *arguments, *place;
    } cases[] = {
        { "{}", "minutes" },
        { "{'minutes':'5'}", "/minutes" },
        { "{'minutes':-1}", "/minutes" },
        { "{'minutes':480.5}", "/minutes" },
        { "{'minutes':5,'name':'Session'}", "/name" },
        { "{'minutes':5,'name':'a b'}", "/name" },
        { "{'minutes':5,'name':''}", "/name" },
        { "{'minutes':5,'at':'noon'}", "at" },
    };
    AUTO_OFFICE office;
    struct keeper keeper;

    open_with(&office, t, &keeper);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ASSERT_FAILS(office_run(&office, "set_alarm", "o", cases[i].arguments),
                     ERR_SCHEMA_VIOLATION);
        ASSERT_CONTAINS(test_err_text(t), cases[i].place);
    }
    ASSERT_EQ(keeper.sets + keeper.clears, 0);
}

DB_TEST(what_the_keeper_refuses_is_told_and_leaves_nothing)
{
    static const char *const calls[] = { "{'minutes':5}", "{'minutes':0}" };
    AUTO_OFFICE office;
    struct keeper keeper;

    open_with(&office, t, &keeper);
    keeper.fails = ERR_RATE_LIMITED;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        ASSERT_FAILS(office_run(&office, "set_alarm", "o", calls[i]), ERR_RATE_LIMITED);
    ASSERT_FAILS(office_run(&office, "list_alarms", "", "{}"), ERR_RATE_LIMITED);
}

/* Who may: kinds with the capability; whom a person gave it by name; nobody where no time is kept.
 */
TEST(alarms_are_for_those_who_speak_with_people)
{
    static const struct {
        const char *kind, *tools;
        bool may;
    } cases[] = {
        { "pomodoro", NULL, true },   { "planner", NULL, true },
        { "gym_coach", NULL, false }, { "strategy", "[\"set_alarm\"]", false },
        { "custom", NULL, false },    { "custom", "[\"set_alarm\"]", true },
    };
    AUTO_OFFICE office;
    struct keeper keeper;
    const struct tool_contract *contract = tool_contract_find(STR("set_alarm"));

    open_with(&office, t, &keeper);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        office.agent.kind = cases[i].kind;
        office.agent.tools = cases[i].tools;
        if (tool_bed_offers(office.tools, contract, &office.agent, STR("userInitiated")) !=
            cases[i].may)
            FAIL("%s, %s", cases[i].kind, cases[i].tools ? cases[i].tools : "without a list");
    }
    desk_set_alarms(office.desk, NULL, NULL);
    office.agent.kind = "pomodoro";
    office.agent.tools = NULL;
    ASSERT(!tool_bed_offers(office.tools, contract, &office.agent, STR("userInitiated")));
    ASSERT_FAILS(office_run(&office, "set_alarm", "o", "{'minutes':5}"), ERR_CAPABILITY_DENIED);
    ASSERT_FAILS(office_run(&office, "list_alarms", "o", "{}"), ERR_CAPABILITY_DENIED);
}

TEST(a_change_of_data_sets_no_alarm)
{
    AUTO_OFFICE office;
    struct keeper keeper;

    open_with(&office, t, &keeper);
    office.call.wake_reason = STR("subscription");
    ASSERT_FAILS(office_run(&office, "set_alarm", "o", "{'minutes':5}"), ERR_WAKE_REASON_DENIED);
    ASSERT_OK(office_run(&office, "list_alarms", "o", "{}"));
    office.call.wake_reason = STR("timer");
    ASSERT_OK(office_run(&office, "set_alarm", "o", "{'minutes':5}"));
}

/* ---- the end of a timer that was over before ---- */

DB_TEST(a_timer_stops_when_it_was_over_and_not_before_or_after)
{
    static const struct {
        const char *ended;
        enum err_code code;
    } cases[] = {
        { "2026-02-18T09:00:00Z", ERR_BAD_REQUEST }, /* when it began */
        { "2026-02-18T08:59:00Z", ERR_BAD_REQUEST },
        { "2026-02-18T09:31:00Z", ERR_BAD_REQUEST }, /* not yet */
        { "noon", ERR_SCHEMA_VIOLATION },
    };
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    ASSERT_OK(office_run(&office, "start_task_timer", "s", "{'taskId':'legs'}"));
    loop_fake_advance(office.rig.loop, MINUTES(30));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ASSERT_FAILS(office_run(&office, "stop_task_timer", "x",
                                arena_printf(&t->arena, "{'endedAt':'%s'}", cases[i].ended)),
                     cases[i].code);
        ASSERT_CONTAINS(test_err_text(t), "endedAt");
    }
    ASSERT_OK(office_run(&office, "stop_task_timer", "e", "{'endedAt':'2026-02-18T09:25:00Z'}"));
    ASSERT_TEXT(office_out(&office, "/timeEntry/endedAt"), "\"2026-02-18T09:25:00.000Z\"");
}
