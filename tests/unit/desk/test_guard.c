/* Which kinds of agents may use which tools, and for which wakes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "desk_rig.h"

static const char *denied(struct office *office, const char *tool, const char *arguments)
{
    struct tool_verdict verdict;

    if (office_judge(office, tool, arguments, &verdict) == 0)
        return NULL;
    if (verdict.code != ERR_CAPABILITY_DENIED)
        FAIL("%s: %s: %s", tool, err_name(verdict.code), verdict.message);
    return verdict.message;
}

static bool offered(struct office *office, const char *tool)
{
    const struct tool_contract *contract = tool_bed_find(office->tools, str_from(tool));

    return tool_bed_offers(office->tools, contract, &office->agent, STR("userInitiated"));
}

TEST(a_kind_may_use_what_its_profile_has_and_the_missing_capability_is_named)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    office.agent.kind = "gym_coach";
    ASSERT(!denied(&office, "start_task_timer", "{'taskId':'legs'}"));
    ASSERT_CONTAINS(denied(&office, "create_task", "{'title':'x'}"), "task.write");
    ASSERT_CONTAINS(denied(&office, "get_or_create_day_plan", "{'planDate':'2026-02-18'}"),
                    "dayPlan.read");
    ASSERT(offered(&office, "start_task_timer") && !offered(&office, "create_task"));
    office.agent.kind = "strategy";
    ASSERT(!denied(&office, "get_ratings_summary", "{}"));
    ASSERT_CONTAINS(denied(&office, "start_task_timer", "{'taskId':'legs'}"), "time.write");
    office.agent.kind = "pomodoro";
    ASSERT_CONTAINS(denied(&office, "write_report", "{'title':'x','text':'y'}"), "report.write");
    office.agent.kind = "planner";
    ASSERT(!denied(&office, "create_task", "{'title':'x'}"));
    ASSERT_CONTAINS(denied(&office, "create_or_update_rating",
                           "{'targetType':'task','targetId':'legs','dimension':'a','value':1}"),
                    "rating.write");
}

/* Two capabilities: both are needed. */
TEST(a_tool_that_needs_two_capabilities_is_denied_by_either)
{
    AUTO_OFFICE office;
    static const char move[] = "{'itemIds':['i1'],'fromChecklistId':'l1','newTaskTitle':'Cardio'}";

    office_open(&office, t);
    office_fill(&office);
    office.agent.kind = "planner";
    ASSERT(!denied(&office, "move_checklist_items_to_new_task", move));
    office.agent.kind = "gym_coach";
    ASSERT_CONTAINS(denied(&office, "move_checklist_items_to_new_task", move), "checklist.write");
}

TEST(a_list_of_tools_does_not_widen_what_a_kind_may_do_with_the_journal)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    office.agent.kind = "strategy";
    office.agent.tools = "[\"create_task\",\"read_task\",\"bash\"]";
    ASSERT_CONTAINS(denied(&office, "create_task", "{'title':'x'}"), "task.write");
    ASSERT(!denied(&office, "read_task", "{'taskId':'legs'}"));
    ASSERT_CONTAINS(denied(&office, "get_ratings_summary", "{}"), "was not given");
    /* What no profile speaks of is the list's to give. */
    ASSERT(!denied(&office, "bash", "{'command':'ls'}"));
    office.agent.tools = NULL;
    ASSERT_CONTAINS(denied(&office, "bash", "{'command':'ls'}"), "shell.run");
    ASSERT(!offered(&office, "bash"));
    ASSERT(!denied(&office, "ask_user", "{'question':'which?'}"));
    /* The agent that greets, and kinds without a profile, have what everybody has. */
    office.agent.kind = "planner";
    ASSERT(!denied(&office, "bash", "{'command':'ls'}"));
    office.agent.kind = "custom";
    ASSERT(!denied(&office, "bash", "{'command':'ls'}"));
    ASSERT(offered(&office, "bash") && offered(&office, "create_task"));
}

TEST(every_capability_of_the_journal_is_in_some_profile)
{
    static const char *const kinds[] = { "planner", "gym_coach", "strategy", "pomodoro" };
    size_t n;
    const struct tool_contract *contracts = tool_contracts(&n);

    for (size_t i = 0; i < n; i++) {
        bool some = false;

        if (strcmp(contracts[i].tool_class, "journal") != 0)
            continue;
        for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
            struct agent agent = { .kind = kinds[k] };

            some = some || !desk_missing(&agent, &contracts[i]);
        }
        if (!some)
            FAIL("no kind may use %s", contracts[i].name);
    }
}

TEST(a_wake_that_a_tool_is_not_for_is_refused_by_name)
{
    AUTO_OFFICE office;
    struct tool_verdict verdict;
    static const char *const reasons[] = { "userInitiated", "manual", "subscription", "timer",
                                           "recoveryCatchup" };

    office_open(&office, t);
    office_fill(&office);
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
        office.call.wake_reason = str_from(reasons[i]);
        ASSERT_OK(office_judge(&office, "read_task", "{'taskId':'legs'}", &verdict));
    }
    office.call.wake_reason = STR("somethingElse");
    ASSERT(office_judge(&office, "read_task", "{'taskId':'legs'}", &verdict) < 0);
    ASSERT_EQ(verdict.code, ERR_WAKE_REASON_DENIED);
    ASSERT_CONTAINS(verdict.message, "somethingElse");
}
