/* A change is made once, whatever ends in between; what was approved is what is done; a preview
 * changes nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/report.h"
#include "desk_rig.h"

#define LOG                                                                                        \
    "{'taskId':'legs','startedAt':'2026-02-17T16:00:00+01:00',"                                    \
    "'endedAt':'2026-02-17T18:00:00+01:00','description':'heavy'}"

static void on_done(void *arg, const struct tool_result *result)
{
    struct office *office = arg;

    office->told++;
    office->job = NULL;
    office->t->err = result->err;
}

/* Starts it and lets nothing happen yet. */
static void begin_log(struct office *office, const char *operation)
{
    struct test *t = office->t;
    char *json = arena_text(&t->arena, LOG);

    for (char *at = json; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    office->call.name = STR("create_retrospective_time_entry");
    office->call.arguments = str_from(json);
    office->told = 0;
    ASSERT_OK(tool_start(office->tools, &office->call, str_from(operation), STR_NONE, NULL, on_done,
                         office, &office->job, &t->err));
}

/* ---- ends in between ---- */

DB_TEST(killed_before_the_journal_has_committed_it_is_made_by_the_next_try)
{
    AUTO_OFFICE office;
    size_t n;

    office_open(&office, t);
    office_fill(&office);
    n = office_count(&office, RECORD_TIME_ENTRY);
    begin_log(&office, "op1");
    ASSERT_EQ(office.told, 0);
    office_close(&office);
    office_open(&office, t);
    ASSERT_EQ(office_count(&office, RECORD_TIME_ENTRY), n);
    ASSERT_OK(office_run(&office, "create_retrospective_time_entry", "op1", LOG));
    ASSERT_EQ(office_count(&office, RECORD_TIME_ENTRY), n + 1);
}

DB_TEST(killed_after_the_journal_has_committed_the_next_try_answers_the_same)
{
    AUTO_OFFICE office;
    struct str first;
    size_t n;

    office_open(&office, t);
    office_fill(&office);
    n = office_count(&office, RECORD_TIME_ENTRY);
    /* The run was told and has stored nothing of it. */
    ASSERT_OK(office_run(&office, "create_retrospective_time_entry", "op1", LOG));
    first = office.result.output;
    for (int again = 0; again < 3; again++) {
        office_close(&office);
        office_open(&office, t);
        ASSERT_OK(office_run(&office, "create_retrospective_time_entry", "op1", LOG));
        ASSERT(str_eq(office.result.output, first));
        ASSERT_EQ(office_count(&office, RECORD_TIME_ENTRY), n + 1);
    }
    /* Another call of the same arguments is another operation: it finds the time taken. */
    ASSERT_FAILS(office_run(&office, "create_retrospective_time_entry", "op2", LOG), ERR_CONFLICT);
}

TEST(nobody_is_told_of_a_change_before_it_is_durable)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    office.rig.fault = (struct db_fault){ .at = DB_FAULT_COMMIT, .kind = DB_FAULT_FULL, .nth = 1 };
    begin_log(&office, "op1");
    ASSERT_EQ(office.told, 0);
    loop_fake_tick(office.rig.loop);
    loop_fake_tick(office.rig.loop);
    ASSERT_EQ(office.told, 1);
    ASSERT_EQ(t->err.code, ERR_STORAGE_FAILED);
    office.rig.fault = (struct db_fault){ .nth = 0 };
    ASSERT_EQ(office_count(&office, RECORD_TIME_ENTRY), 2);
}

TEST(a_commit_that_failed_and_yet_was_made_is_found_in_the_journal)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    office.rig.fault =
        (struct db_fault){ .at = DB_FAULT_COMMIT_AFTER, .kind = DB_FAULT_FULL, .nth = 1 };
    begin_log(&office, "op1");
    loop_fake_tick(office.rig.loop);
    loop_fake_tick(office.rig.loop);
    ASSERT_EQ(office.told, 1);
    ASSERT_EQ(t->err.code, ERR_NONE);
    ASSERT_EQ(office_count(&office, RECORD_TIME_ENTRY), 3);
}

/* Every statement of the change fails once: either it was made and told so, or it was not. */
TEST(whatever_statement_fails_nothing_is_half_done, .timeout_s = 120)
{
    AUTO_OFFICE office;
    unsigned nth = 0;
    int r;

    office_open(&office, t);
    office_fill(&office);
    do {
        office.rig.fault =
            (struct db_fault){ .at = DB_FAULT_STEP, .kind = DB_FAULT_BUSY, .nth = ++nth };
        r = office_run(&office, "create_follow_up_task", arena_printf(&t->arena, "op%u", nth),
                       "{'sourceTaskId':'legs','carryOverOpenChecklistItems':true,"
                       "'closeSourceTaskAs':'DONE'}");
        office.rig.fault = (struct db_fault){ .nth = 0 };
        if (r < 0) {
            struct record task = rig_get(&office.rig, RECORD_TASK, STR("legs"));

            ASSERT_STR(record_str(&task, "status"), "OPEN");
            ASSERT_EQ(office_count(&office, RECORD_TASK), 4);
        }
        ASSERT(nth < 500);
    } while (r < 0);
    ASSERT(nth > 10);
    ASSERT_EQ(office_count(&office, RECORD_TASK), 5);
}

TEST(a_bed_that_ends_while_a_change_waits_for_its_commit_leaves_nothing_behind)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    begin_log(&office, "op1");
    tool_bed_free(office.tools);
    office.tools = NULL;
    ASSERT_EQ(office.told, 1);
    ASSERT_EQ(t->err.code, ERR_CANCELLED);
    desk_free(office.desk);
    office.desk = NULL;
    loop_fake_tick(office.rig.loop);
    ASSERT_EQ(office_count(&office, RECORD_TIME_ENTRY), 3);
}

TEST(a_cancel_while_the_commit_is_under_way_tells_what_became_of_it)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    begin_log(&office, "op1");
    tool_cancel(office.job);
    loop_fake_tick(office.rig.loop);
    loop_fake_tick(office.rig.loop);
    ASSERT_EQ(office.told, 1);
    ASSERT_EQ(t->err.code, ERR_NONE);
    ASSERT_EQ(office_count(&office, RECORD_TIME_ENTRY), 3);
}

TEST(the_same_operation_with_other_arguments_is_refused)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    ASSERT_OK(office_run(&office, "create_task", "op1", "{'title':'a'}"));
    ASSERT_FAILS(office_run(&office, "create_task", "op1", "{'title':'b'}"), ERR_CONFLICT);
    ASSERT_EQ(office_count(&office, RECORD_TASK), 5);
}

/* ---- previewOnly ---- */

DB_TEST(a_preview_says_what_would_be_done_and_changes_nothing)
{
    static const struct {
        const char *tool, *arguments, *pointer, *value;
    } cases[] = {
        { "conclude_task_with_rollover", "{'taskId':'legs','previewOnly':true}", "/movedItems",
          "2" },
        { "move_checklist_items",
          "{'itemIds':['i1'],'fromChecklistId':'l1','toChecklistId':'l2','previewOnly':true}",
          "/moved", "1" },
        { "move_checklist_items_to_new_task",
          "{'itemIds':['i1'],'fromChecklistId':'l1','newTaskTitle':'x','previewOnly':true}",
          "/task/title", "\"x\"" },
        { "replan_day_blocks", "{'planDate':'2026-02-18','blocks':[],'previewOnly':true}",
          "/removed", "1" },
    };
    AUTO_OFFICE office;
    struct tool_verdict verdict;
    size_t batches;

    office_open(&office, t);
    office_fill(&office);
    batches = office_batches(&office);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        /* Nobody is asked for a look; for the deed a person is. */
        ASSERT_OK(office_judge(&office, cases[i].tool, cases[i].arguments, &verdict));
        ASSERT(!(verdict.attributes & TOOL_RISKY));
        ASSERT_EQ(verdict.contract->risk, TOOL_RISK_HIGH);
        ASSERT(tool_asks(verdict.contract));
        if (office_run(&office, cases[i].tool, "op1", cases[i].arguments) < 0)
            FAIL("%s: %s", cases[i].tool, test_err_text(t));
        ASSERT_TEXT(office_out(&office, "/preview"), "true");
        ASSERT_TEXT(office_out(&office, cases[i].pointer), cases[i].value);
        ASSERT(!office.result.changed_entity_ids.n && !office.result.changed_tokens.n);
    }
    ASSERT_EQ(office_batches(&office), batches);
    ASSERT_EQ(office_count(&office, RECORD_TASK), 4);
}

/* ---- what a person sees ---- */

DB_TEST(a_person_reads_what_will_change)
{
    static const struct {
        const char *tool, *arguments, *title, *text;
    } cases[] = {
        { "create_retrospective_time_entry", LOG, "Log time",
          "Log 2 h on \"Leg day\" (Gym): 17 Feb 16:00–18:00, \"heavy\"\n" },
        { "create_retrospective_time_entry",
          "{'categoryId':'gym','startedAt':'2026-02-16T23:30:00+01:00',"
          "'endedAt':'2026-02-17T00:15:00+01:00'}",
          "Log time", "Log 45 min (Gym): 16 Feb 23:30–17 Feb 00:15\n" },
        { "create_retrospective_time_entry",
          "{'categoryId':'gym','startedAt':'2025-02-16T12:00:00+01:00',"
          "'endedAt':'2025-02-16T13:00:00+01:00'}",
          "Log time", "Log 1 h (Gym): 16 Feb 2025 12:00–13:00\n" },
        { "create_task", "{'title':'Lunges','due':'2026-02-20','estimateMinutes':90}",
          "Create a task", "New task \"Lunges\" (Gym): estimate 1 h 30 min; due 2026-02-20\n" },
        { "update_task_fields", "{'taskId':'legs','status':'DONE','due':null,'title':'Legs'}",
          "Change a task",
          "Change task \"Leg day\" (Gym): title \"Leg day\" → \"Legs\"; status OPEN → DONE; "
          "due 2026-02-18 → none\n" },
        { "assign_task_labels", "{'taskId':'legs','labels':['later','Urgent']}",
          "Change the labels of a task", "Labels of \"Leg day\": Later, Urgent\n" },
        { "conclude_task_with_rollover", "{'taskId':'legs','followUpTitle':'More'}",
          "Conclude a task",
          "New task \"More\" (Gym)\n"
          "New checklist \"Warm up\" of \"More\"\n"
          "Move item \"Rope\" from \"Warm up\" of \"Leg day\" to \"Warm up\" of \"More\"\n"
          "Move item \"Row\" from \"Warm up\" of \"Leg day\" to \"Warm up\" of \"More\"\n"
          "Change task \"Leg day\" (Gym): status OPEN → DONE\n" },
        { "upsert_day_plan_blocks",
          "{'planDate':'2026-02-18','upserts':[{'taskId':'squats','note':'quick',"
          "'startTime':'2026-02-18T19:00:00+01:00','endTime':'2026-02-18T20:00:00+01:00'}],"
          "'deletes':['b1']}",
          "Change the plan of a day",
          "Remove block 18 Feb 17:00–18:00 \"Leg day\" (Gym)\n"
          "New block 18 Feb 19:00–20:00 \"Squats\" (Gym): note \"quick\"\n" },
        { "pin_day_plan_tasks", "{'planDate':'2026-02-18','taskIds':['legs']}",
          "Pin tasks to a day",
          "Change plan of the day 2026-02-18: pinned tasks \"Squats\" → \"Leg day\"\n" },
        { "update_task_priority", "{'taskId':'legs','priority':'P2'}",
          "Change the priority of a task", "Nothing changes: it is so already.\n" },
        { "create_or_update_rating",
          "{'targetType':'task','targetId':'legs','dimension':'energy','value':5}", "Rate",
          "Change rating energy of \"Leg day\" (Gym): value 4 → 5\n" },
        { "create_or_update_rating",
          "{'targetType':'timeEntry','targetId':'t1','dimension':'energy','value':5}", "Rate",
          "New rating energy of time 16 Feb 16:00 \"Leg day\" (Gym): value 5\n" },
        { "create_or_update_rating",
          "{'targetType':'entry','targetId':'n1','dimension':'energy','value':5}", "Rate",
          "New rating energy of workout \"Gym\" of 17 Feb 17:00 (Gym): value 5\n" },
    };
    AUTO_OFFICE office;
    size_t batches;

    office_open(&office, t);
    office_fill(&office);
    batches = office_batches(&office);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (office_show(&office, cases[i].tool, "", cases[i].arguments) < 0)
            FAIL("%s: %s", cases[i].tool, test_err_text(t));
        ASSERT_STR(office.preview.title, cases[i].title);
        ASSERT_STR(office.preview.text, cases[i].text);
        ASSERT_STR(office.preview.kind, "text");
    }
    ASSERT_EQ(office_batches(&office), batches);
}

DB_TEST(an_approval_of_what_changed_since_is_stale)
{
    AUTO_OFFICE office;
    char digest[65];

    office_open(&office, t);
    office_fill(&office);
    ASSERT_OK(office_show(&office, "update_task_fields", "", "{'taskId':'legs','status':'DONE'}"));
    memcpy(digest, office.preview.digest, sizeof(digest));
    ASSERT_EQ(rig_set(&office.rig, RECORD_TASK, STR("legs"), "{'notes':'not yet!'}"), 1);
    ASSERT_OK(office_run_approved(&office, "update_task_fields", "op1",
                                  "{'taskId':'legs','status':'DONE'}", digest));
    ASSERT(office.result.stale);
    ASSERT_OK(office_show(&office, "update_task_fields", "", "{'taskId':'legs','status':'DONE'}"));
    memcpy(digest, office.preview.digest, sizeof(digest));
    ASSERT_OK(office_run_approved(&office, "update_task_fields", "op1",
                                  "{'taskId':'legs','status':'DONE'}", digest));
    ASSERT(!office.result.stale);
    ASSERT_TEXT(office_out(&office, "/task/status"), "\"DONE\"");
    /* Done under the same approval, and asked again after a crash: not stale, not done twice. */
    ASSERT_OK(office_run_approved(&office, "update_task_fields", "op1",
                                  "{'taskId':'legs','status':'DONE'}", digest));
    ASSERT(!office.result.stale);
    ASSERT_TEXT(office_out(&office, "/task/status"), "\"DONE\"");
}

/* An item that came since is not in the task's own version, but in what was shown. */
DB_TEST(an_approval_covers_only_what_was_shown)
{
    AUTO_OFFICE office;
    char digest[65];

    office_open(&office, t);
    office_fill(&office);
    ASSERT_OK(office_show(&office, "conclude_task_with_rollover", "", "{'taskId':'legs'}"));
    memcpy(digest, office.preview.digest, sizeof(digest));
    rig_add_as(&office.rig, RECORD_CHECKLIST_ITEM, "i9", "{'checklistId':'l2','title':'New one'}");
    ASSERT_OK(office_run_approved(&office, "conclude_task_with_rollover", "op1",
                                  "{'taskId':'legs'}", digest));
    ASSERT(office.result.stale);
    ASSERT_EQ(office_count(&office, RECORD_TASK), 4);
}

DB_TEST(what_a_person_changed_and_was_done_is_not_looked_at_again)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    ASSERT_OK(office_run(&office, "create_task", "op1", "{'title':'as the person wrote it'}"));
    ASSERT_FAILS(office_show(&office, "create_task", "op1", "{'title':'as the agent wrote it'}"),
                 ERR_CANCELLED);
    ASSERT_OK(office_show(&office, "create_task", "op1", "{'title':'as the person wrote it'}"));
    ASSERT_STR(office.preview.text, "This was done already.");
}

DB_TEST(what_would_fail_is_said_instead_of_shown)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    ASSERT_FAILS(office_show(&office, "create_task", "", "{'title':'x','labels':['nope']}"),
                 ERR_NOT_FOUND);
    ASSERT_CONTAINS(test_err_text(t), "/labels");
}

TEST(a_very_long_change_is_shown_whole)
{
    AUTO_OFFICE office;
    AUTO_BUF args = BUF_INIT(1 << 20);

    office_open(&office, t);
    office_fill(&office);
    buf_add_text(&args, "{'taskId':'legs','items':['0'");
    for (int i = 1; i < 100; i++)
        buf_printf(&args, ",'%d'", i);
    buf_add_text(&args, "]}");
    ASSERT_OK(office_show(&office, "add_multiple_checklist_items", "", buf_text(&args)));
    ASSERT_CONTAINS(office.preview.text.p, "New item \"99\"");
}

/* ---- an agent that is gone ---- */

DB_TEST(what_an_agent_does_late_is_refused_once_it_was_destroyed)
{
    static const struct {
        const char *tool, *arguments;
    } cases[] = {
        { "create_task", "{'title':'Late','categoryId':'gym'}" },
        { "update_task_fields", "{'taskId':'legs','title':'Late'}" },
        { "write_report", "{'title':'Late','text':'I am gone.'}" },
    };
    AUTO_OFFICE office;
    struct report report;
    size_t tasks, batches;

    office_open(&office, t);
    office_fill(&office);
    tasks = office_count(&office, RECORD_TASK);
    batches = office_batches(&office);
    office_destroy_agent(&office);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ASSERT_FAILS(office_run(&office, cases[i].tool, cases[i].tool, cases[i].arguments),
                     ERR_AGENT_DESTROYED);
        ASSERT_CONTAINS(test_err_text(t), "coach");
    }
    ASSERT_EQ(office_count(&office, RECORD_TASK), tasks);
    ASSERT_EQ(office_batches(&office), batches);
    ASSERT_EQ(report_current(office.rig.agent, office.agent.n, STR("current"), &t->arena, &report,
                             &t->err),
              0);
}
