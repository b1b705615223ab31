/* What the tools do, family by family.
 *
 * SPDX-License-Identifier: MIT
 */
#include "desk_rig.h"

static void give(struct office *office, const char *tool, const char *operation,
                 const char *arguments)
{
    struct test *t = office->t;

    if (office_run(office, tool, operation, arguments) < 0)
        FAIL("%s: %s", tool, test_err_text(t));
}

static void field_is(struct office *office, enum record_type type, const char *id,
                     const char *field, const char *value)
{
    struct test *t = office->t;
    struct record record = rig_get(&office->rig, type, str_from(id));

    (void)t;
    ASSERT_STR(record_str(&record, field), value);
}

/* ---- reading ---- */

DB_TEST(an_agent_lists_its_own_categories_and_tasks)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    give(&office, "list_allowed_categories", "", "{}");
    ASSERT_TEXT(office_out(&office, "/categories/0/name"), "\"Gym\"");
    ASSERT(!office_out(&office, "/categories/1"));
    give(&office, "list_tasks_in_scope", "", "{'limit':1}");
    ASSERT_TEXT(office_out(&office, "/tasks/0/id"), "\"legs\"");
    ASSERT(!office_out(&office, "/tasks/1"));
    give(&office, "list_tasks_in_scope", "",
         arena_printf(&t->arena, "{'limit':1,'after':%s}", office_out(&office, "/next")));
    ASSERT_TEXT(office_out(&office, "/tasks/0/id"), "\"squats\"");
    give(&office, "list_tasks_in_scope", "", "{'closed':true}");
    ASSERT_TEXT(office_out(&office, "/tasks"), "[]");
    give(&office, "list_tasks_in_scope", "", "{'text':'SQUAT','order':'updated'}");
    ASSERT_TEXT(office_out(&office, "/tasks/0/id"), "\"squats\"");
    ASSERT_STR(office.result.taint, ""); /* the person's own words */
}

DB_TEST(a_task_is_read_with_all_that_hangs_on_it)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    rig_add(&office.rig, RECORD_ENTRY_LINK,
            "{'relation':'follow_up','fromType':'task','fromId':'legs','toType':'task',"
            "'toId':'squats'}");
    rig_add(&office.rig, RECORD_ENTRY_LINK,
            "{'relation':'related','fromType':'task','fromId':'legs','toType':'task',"
            "'toId':'taxes'}");
    give(&office, "read_task", "", "{'taskId':'legs'}");
    ASSERT_TEXT(office_out(&office, "/task/title"), "\"Leg day\"");
    ASSERT_TEXT(office_out(&office, "/checklists/0/title"), "\"Warm up\"");
    ASSERT_TEXT(office_out(&office, "/checklists/0/items/1/checked"), "true");
    ASSERT_TEXT(office_out(&office, "/checklists/1/items"), "[]");
    ASSERT_TEXT(office_out(&office, "/timeMinutes"), "60");
    ASSERT_TEXT(office_out(&office, "/links/0/toId"), "\"squats\"");
    ASSERT(!office_out(&office, "/links/1"));
}

DB_TEST(words_that_could_mean_two_tasks_are_ambiguous_and_others_are_not)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    rig_add_as(&office.rig, RECORD_TASK, "legs2", "{'title':'Leg day hard','categoryId':'gym'}");
    give(&office, "resolve_task_reference", "", "{'reference':'leg'}");
    ASSERT_TEXT(office_out(&office, "/ambiguous"), "true");
    ASSERT(office_out(&office, "/candidates/1/taskId"));
    give(&office, "resolve_task_reference", "", "{'reference':'my squats task'}");
    ASSERT_TEXT(office_out(&office, "/ambiguous"), "false");
    ASSERT_TEXT(office_out(&office, "/candidates/0/taskId"), "\"squats\"");
    ASSERT(!office_out(&office, "/candidates/1"));
    /* What is not the agent's is no candidate, not even by its id. */
    give(&office, "resolve_task_reference", "", "{'reference':'secret taxes'}");
    ASSERT_TEXT(office_out(&office, "/candidates"), "[]");
    ASSERT_TEXT(office_out(&office, "/ambiguous"), "true");
    give(&office, "resolve_task_reference", "", "{'reference':'taxes'}");
    ASSERT_TEXT(office_out(&office, "/candidates"), "[]");
    /* A person hears that it is there, when it is named in full; a wake does not. */
    rig_add_as(&office.rig, RECORD_TASK, "moon", "{'title':'Moon trip','categoryId':'finance'}");
    give(&office, "resolve_task_reference", "", "{'reference':'the moon trip'}");
    ASSERT(!office_out(&office, "/outOfReach"));
    give(&office, "resolve_task_reference", "", "{'reference':'moon trip'}");
    ASSERT_TEXT(office_out(&office, "/outOfReach"), "true");
    ASSERT_TEXT(office_out(&office, "/candidates"), "[]");
    give(&office, "resolve_task_reference", "", "{'reference':'moon'}"); /* by its id */
    ASSERT_TEXT(office_out(&office, "/outOfReach"), "true");
    give(&office, "resolve_task_reference", "", "{'reference':'trip'}");
    ASSERT(!office_out(&office, "/outOfReach"));
    office.call.wake_reason = STR("subscription");
    give(&office, "resolve_task_reference", "", "{'reference':'moon trip'}");
    ASSERT(!office_out(&office, "/outOfReach"));
    office.call.wake_reason = STR("userInitiated");
    /* Nothing that writes takes words. */
    ASSERT_FAILS(
        office_run(&office, "update_task_fields", "o", "{'taskId':'Leg day','status':'DONE'}"),
        ERR_NOT_FOUND);
}

DB_TEST(entries_and_time_are_listed_newest_first_and_the_timer_that_runs_beside_them)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    give(&office, "list_entries_in_scope", "", "{'kind':'workout','from':'2026-02-17T00:00:00Z'}");
    ASSERT_TEXT(office_out(&office, "/entries/0/id"), "\"n1\"");
    ASSERT(!office_out(&office, "/entries/1"));
    give(&office, "list_entries_in_scope", "", "{'to':'2026-02-17T00:00:00Z'}");
    ASSERT_TEXT(office_out(&office, "/entries"), "[]");
    give(&office, "start_task_timer", "o1", "{'taskId':'legs'}");
    loop_fake_advance(office.rig.loop, MINUTES(30));
    give(&office, "list_time_entries", "", "{'taskId':'legs'}");
    ASSERT_TEXT(office_out(&office, "/totalMinutes"), "90");
    ASSERT_TEXT(office_out(&office, "/timeEntries/1/id"), "\"t1\"");
    ASSERT_TEXT(office_out(&office, "/running/taskId"), "\"legs\"");
}

/* ---- tasks ---- */

DB_TEST(a_new_task_goes_to_the_only_category_with_labels_and_items)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    give(&office, "create_task", "o1",
         "{'title':'Lunges','priority':'P1','due':'2026-02-20','labels':['urgent'],"
         "'checklistItems':['left','right']}");
    ASSERT_TEXT(office_out(&office, "/task/categoryId"), "\"gym\"");
    ASSERT_TEXT(office_out(&office, "/task/priority"), "\"P1\"");
    give(&office, "read_task", "",
         arena_printf(&t->arena, "{'taskId':%s}", office_out(&office, "/task/id")));
    ASSERT_TEXT(office_out(&office, "/labels/0/name"), "\"Urgent\"");
    ASSERT_TEXT(office_out(&office, "/checklists/0/items/1/title"), "\"right\"");
    /* Of two categories one has to be said. */
    office.agent.allowed_category_ids = "[\"gym\",\"home\"]";
    ASSERT_FAILS(office_run(&office, "create_task", "o2", "{'title':'x'}"), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "which of your 2 categories");
    ASSERT_FAILS(office_run(&office, "create_task", "o3", "{'title':'x','categoryId':'home'}"),
                 ERR_NOT_FOUND);
}

DB_TEST(a_task_moves_only_between_categories_that_are_both_the_agents)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    ASSERT_FAILS(
        office_run(&office, "update_task_fields", "o1", "{'taskId':'legs','categoryId':'finance'}"),
        ERR_OUT_OF_SCOPE);
    office.agent.allowed_category_ids = "[\"finance\"]";
    ASSERT_FAILS(
        office_run(&office, "update_task_fields", "o2", "{'taskId':'legs','categoryId':'finance'}"),
        ERR_OUT_OF_SCOPE);
    ASSERT_CONTAINS(test_err_text(t), "category \"gym\"");
    field_is(&office, RECORD_TASK, "legs", "categoryId", "gym");
    office.agent.allowed_category_ids = "[\"finance\",\"gym\"]";
    give(&office, "update_task_fields", "o3", "{'taskId':'legs','categoryId':'finance'}");
    field_is(&office, RECORD_TASK, "legs", "categoryId", "finance");
}

DB_TEST(one_field_is_set_or_taken_away)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    give(&office, "set_task_language", "o1", "{'taskId':'legs','language':'de'}");
    ASSERT_TEXT(office_out(&office, "/task/language"), "\"de\"");
    give(&office, "set_task_language", "o2", "{'taskId':'legs','language':null}");
    ASSERT(!office_out(&office, "/task/language"));
    give(&office, "update_task_estimate", "o3", "{'taskId':'legs','estimateMinutes':45}");
    ASSERT_TEXT(office_out(&office, "/task/estimateMinutes"), "45");
    give(&office, "update_task_due_date", "o4", "{'taskId':'legs','due':null}");
    ASSERT(!office_out(&office, "/task/due"));
    give(&office, "update_task_priority", "o5", "{'taskId':'legs','priority':'P0'}");
    ASSERT_TEXT(office_out(&office, "/task/priority"), "\"P0\"");
    /* As it is already: said, and nothing is written. */
    give(&office, "update_task_priority", "o6", "{'taskId':'legs','priority':'P0'}");
    ASSERT_STR(office.result.changed_entity_ids, "[]");
    give(&office, "assign_task_labels", "o7", "{'taskId':'legs','labels':['LATER','urgent']}");
    ASSERT_TEXT(office_out(&office, "/labels/1/id"), "\"urgent\"");
    give(&office, "assign_task_labels", "o8", "{'taskId':'legs','labels':[]}");
    ASSERT_TEXT(office_out(&office, "/labels"), "[]");
}

DB_TEST(what_follows_a_task_takes_its_open_items_along_and_the_task_is_closed)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    give(&office, "assign_task_labels", "o0", "{'taskId':'legs','labels':['urgent']}");
    give(&office, "create_follow_up_task", "o1",
         "{'sourceTaskId':'legs','newTaskTitle':'Leg day 2','carryOverOpenChecklistItems':true,"
         "'closeSourceTaskAs':'DONE'}");
    ASSERT_TEXT(office_out(&office, "/movedItems"), "2");
    field_is(&office, RECORD_TASK, "legs", "status", "DONE");
    field_is(&office, RECORD_CHECKLIST_ITEM, "i2", "checklistId", "l1");
    give(&office, "read_task", "",
         arena_printf(&t->arena, "{'taskId':%s}", office_out(&office, "/task/id")));
    ASSERT_TEXT(office_out(&office, "/task/categoryId"), "\"gym\"");
    ASSERT_TEXT(office_out(&office, "/labels/0/id"), "\"urgent\"");
    ASSERT_TEXT(office_out(&office, "/checklists/0/items/0/id"), "\"i1\"");
    ASSERT_TEXT(office_out(&office, "/checklists/0/items/1/id"), "\"i3\"");
    ASSERT_TEXT(office_out(&office, "/links/0/toId"), "\"legs\"");
    /* Without a title it has that of the first; without a category it would be nobody's. */
    give(&office, "create_follow_up_task", "o2", "{'sourceTaskId':'squats'}");
    ASSERT_TEXT(office_out(&office, "/task/title"), "\"Squats, part 2\"");
    ASSERT_FAILS(office_run(&office, "create_follow_up_task", "o3",
                            "{'sourceTaskId':'squats','preserveCategoryAndLabels':false}"),
                 ERR_OUT_OF_SCOPE);
}

DB_TEST(concluding_makes_a_follow_up_only_for_items_that_are_open)
{
    AUTO_OFFICE office;
    size_t tasks;

    office_open(&office, t);
    office_fill(&office);
    tasks = office_count(&office, RECORD_TASK);
    give(&office, "conclude_task_with_rollover", "o1",
         "{'taskId':'squats','followUpTitle':'More','closeAs':'REJECTED'}");
    ASSERT_TEXT(office_out(&office, "/task/status"), "\"REJECTED\"");
    ASSERT_TEXT(office_out(&office, "/movedItems"), "0");
    ASSERT(!office_out(&office, "/followUp"));
    ASSERT_EQ(office_count(&office, RECORD_TASK), tasks);
    give(&office, "conclude_task_with_rollover", "o2",
         "{'taskId':'legs','followUpTitle':'More legs'}");
    ASSERT_TEXT(office_out(&office, "/task/status"), "\"DONE\"");
    ASSERT_TEXT(office_out(&office, "/followUp/title"), "\"More legs\"");
    ASSERT_TEXT(office_out(&office, "/movedItems"), "2");
    ASSERT_EQ(office_count(&office, RECORD_TASK), tasks + 1);
}

/* ---- checklists ---- */

DB_TEST(items_are_added_to_a_list_or_to_a_tasks_first_one)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    give(&office, "create_checklist", "o1", "{'taskId':'squats','title':'Sets'}");
    ASSERT_TEXT(office_out(&office, "/items"), "[]");
    give(&office, "add_multiple_checklist_items", "o2", "{'taskId':'squats','items':['1','2']}");
    ASSERT_TEXT(office_out(&office, "/items/1/title"), "\"2\"");
    give(&office, "add_multiple_checklist_items", "o3", "{'taskId':'legs','items':['3']}");
    ASSERT_TEXT(office_out(&office, "/checklistId"), "\"l1\"");
    ASSERT_TEXT(office_out(&office, "/items/0/position"), "3");
    give(&office, "add_multiple_checklist_items", "o4", "{'checklistId':'l2','items':['4']}");
    ASSERT_TEXT(office_out(&office, "/items/0/checklistId"), "\"l2\"");
    ASSERT_EQ(office_count(&office, RECORD_CHECKLIST), 4);
    give(&office, "create_task", "o5", "{'title':'Bare'}");
    give(&office, "add_multiple_checklist_items", "o6",
         arena_printf(&t->arena, "{'taskId':%s,'items':['5']}", office_out(&office, "/task/id")));
    ASSERT_EQ(office_count(&office, RECORD_CHECKLIST), 5);
}

DB_TEST(items_are_checked_renamed_and_moved_together_or_not_at_all)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    give(&office, "update_checklist_items", "o1",
         "{'items':[{'id':'i1','checked':true},{'id':'i2','checked':false,'title':'Bicycle'}]}");
    ASSERT_TEXT(office_out(&office, "/items/1/title"), "\"Bicycle\"");
    ASSERT_FAILS(office_run(&office, "move_checklist_items", "o2",
                            "{'itemIds':['i1','fi1'],'fromChecklistId':'l1','toChecklistId':'l2'}"),
                 ERR_OUT_OF_SCOPE);
    field_is(&office, RECORD_CHECKLIST_ITEM, "i1", "checklistId", "l1");
    give(&office, "move_checklist_items", "o3",
         "{'itemIds':['i1','i3'],'fromChecklistId':'l1','toChecklistId':'l2',"
         "'preserveCheckedState':false}");
    ASSERT_TEXT(office_out(&office, "/moved"), "2");
    give(&office, "read_task", "", "{'taskId':'legs'}");
    ASSERT_TEXT(office_out(&office, "/checklists/1/items/0/checked"), "false");
    give(&office, "move_checklist_items_to_new_task", "o4",
         "{'itemIds':['i1'],'fromChecklistId':'l2','newTaskTitle':'Rope work'}");
    ASSERT_TEXT(office_out(&office, "/task/categoryId"), "\"gym\"");
    give(&office, "read_task", "",
         arena_printf(&t->arena, "{'taskId':%s}", office_out(&office, "/task/id")));
    ASSERT_TEXT(office_out(&office, "/checklists/0/title"), "\"Stretch\"");
    ASSERT_TEXT(office_out(&office, "/checklists/0/items/0/id"), "\"i1\"");
}

/* ---- time ---- */

DB_TEST(time_is_logged_once_for_the_task_or_a_category)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    give(&office, "create_retrospective_time_entry", "o1",
         "{'taskId':'legs','startedAt':'2026-02-17T16:00:00+01:00',"
         "'endedAt':'2026-02-17T18:00:00+01:00','description':'heavy','sourceEntryId':'n1'}");
    ASSERT_TEXT(office_out(&office, "/timeEntry/startedAt"), "\"2026-02-17T15:00:00.000Z\"");
    ASSERT_TEXT(office_out(&office, "/timeEntry/categoryId"), "\"gym\"");
    ASSERT_FAILS(office_run(&office, "create_retrospective_time_entry", "o2",
                            "{'taskId':'legs','startedAt':'2026-02-17T17:59:00+01:00',"
                            "'endedAt':'2026-02-17T19:00:00+01:00'}"),
                 ERR_CONFLICT);
    /* What only touches is no overlap; another task's time is none either. */
    give(&office, "create_retrospective_time_entry", "o3",
         "{'taskId':'legs','startedAt':'2026-02-17T18:00:00+01:00',"
         "'endedAt':'2026-02-17T19:00:00+01:00'}");
    give(&office, "create_retrospective_time_entry", "o4",
         "{'taskId':'squats','startedAt':'2026-02-17T18:00:00+01:00',"
         "'endedAt':'2026-02-17T19:00:00+01:00'}");
    give(&office, "create_retrospective_time_entry", "o5",
         "{'categoryId':'gym','startedAt':'2026-02-17T18:00:00+01:00',"
         "'endedAt':'2026-02-17T19:00:00+01:00'}");
    ASSERT_FAILS(office_run(&office, "create_retrospective_time_entry", "o6",
                            "{'categoryId':'finance','startedAt':'2026-02-17T18:00:00+01:00',"
                            "'endedAt':'2026-02-17T19:00:00+01:00'}"),
                 ERR_OUT_OF_SCOPE);
    ASSERT_FAILS(office_run(&office, "create_retrospective_time_entry", "o7",
                            "{'taskId':'squats','startedAt':'2026-02-16T18:00:00+01:00',"
                            "'endedAt':'2026-02-16T19:00:00+01:00','sourceEntryId':'fn1'}"),
                 ERR_OUT_OF_SCOPE);
    /* What o1 was of has its time, whichever task is named. */
    ASSERT_FAILS(office_run(&office, "create_retrospective_time_entry", "o8",
                            "{'taskId':'squats','startedAt':'2026-02-17T15:30:00+01:00',"
                            "'endedAt':'2026-02-17T16:30:00+01:00','sourceEntryId':'n1'}"),
                 ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "of this sourceEntryId covers part");
    ASSERT_FAILS(office_run(&office, "create_retrospective_time_entry", "o9",
                            "{'categoryId':'gym','startedAt':'2026-02-17T17:00:00+01:00',"
                            "'endedAt':'2026-02-17T17:30:00+01:00','sourceEntryId':'n1'}"),
                 ERR_CONFLICT);
    ASSERT_EQ(office_count(&office, RECORD_TIME_ENTRY), 6);
}

/* The running timer covers everything since it was started. */
DB_TEST(time_that_a_running_timer_counts_is_not_logged_beside_it)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    give(&office, "start_task_timer", "o1", "{'taskId':'legs'}");
    loop_fake_advance(office.rig.loop, HOURS(2));
    ASSERT_FAILS(office_run(&office, "create_retrospective_time_entry", "o2",
                            "{'taskId':'legs','startedAt':'2026-02-18T10:00:00Z',"
                            "'endedAt':'2026-02-18T10:30:00Z'}"),
                 ERR_CONFLICT);
}

DB_TEST(the_timer_starts_goes_over_and_stops)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    give(&office, "start_task_timer", "o1", "{'taskId':'legs','description':'set 1'}");
    ASSERT(!office_out(&office, "/stopped"));
    loop_fake_advance(office.rig.loop, MINUTES(25));
    give(&office, "start_task_timer", "o2", "{'taskId':'squats'}");
    ASSERT_TEXT(office_out(&office, "/stopped/endedAt"), "\"2026-02-18T09:25:00.000Z\"");
    ASSERT_FAILS(office_run(&office, "stop_task_timer", "o3", "{'taskId':'legs'}"), ERR_NOT_FOUND);
    loop_fake_advance(office.rig.loop, MINUTES(5));
    give(&office, "stop_task_timer", "o4", "{}");
    ASSERT_TEXT(office_out(&office, "/timeEntry/taskId"), "\"squats\"");
    give(&office, "annotate_time_entry", "o5",
         arena_printf(&t->arena, "{'timeEntryId':%s,'description':'good'}",
                      office_out(&office, "/timeEntry/id")));
    ASSERT_TEXT(office_out(&office, "/timeEntry/description"), "\"good\"");
    /* Done before: no second stop, although nothing runs. */
    give(&office, "stop_task_timer", "o4", "{}");
    ASSERT_TEXT(office_out(&office, "/timeEntry/taskId"), "\"squats\"");
}

DB_TEST(a_timer_of_another_category_is_neither_stopped_nor_named)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    rig_begin(&office.rig);
    ASSERT_OK(
        timer_start(office.rig.write, STR("taxes"), STR("secret"), &(struct record){ 0 }, &t->err));
    rig_end(&office.rig);
    ASSERT_FAILS(office_run(&office, "stop_task_timer", "o1", "{}"), ERR_NOT_FOUND);
    ASSERT(!strstr(test_err_text(t), "taxes"));
    ASSERT_FAILS(office_run(&office, "stop_task_timer", "o1", "{'taskId':'legs'}"), ERR_NOT_FOUND);
    ASSERT(!strstr(test_err_text(t), "taxes"));
    ASSERT_FAILS(office_run(&office, "start_task_timer", "o2", "{'taskId':'legs'}"),
                 ERR_OUT_OF_SCOPE);
    ASSERT(!strstr(test_err_text(t), "taxes") && !strstr(test_err_text(t), "finance"));
    give(&office, "list_time_entries", "", "{}");
    ASSERT(!office_out(&office, "/running"));
}

/* ---- plans ---- */

DB_TEST(of_others_blocks_a_plan_shows_only_when_the_time_is_taken)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    give(&office, "get_or_create_day_plan", "o1", "{'planDate':'2026-02-18'}");
    ASSERT_TEXT(office_out(&office, "/busy"), "[{\"startTime\":\"2026-02-18T11:00:00.000Z\","
                                              "\"endTime\":\"2026-02-18T12:00:00.000Z\"}]");
    ASSERT_TEXT(office_out(&office, "/blocks/0/id"), "\"b1\"");
    ASSERT(!office_out(&office, "/blocks/1"));
    ASSERT_TEXT(office_out(&office, "/dayPlan/pinnedTaskIds"), "[\"squats\"]");
    ASSERT(!office_out(&office, "/dayPlan/note"));
    ASSERT_TEXT(office_out(&office, "/created"), "false");
    ASSERT_STR(office.result.changed_entity_ids, "[]");
    give(&office, "get_or_create_day_plan", "o2", "{'planDate':'2026-02-19'}");
    ASSERT_TEXT(office_out(&office, "/created"), "true");
    ASSERT_STR(office.result.changed_entity_ids, "[\"dayplan-2026-02-19\"]");
}

DB_TEST(blocks_are_put_changed_and_deleted_and_do_not_overlap_what_is_taken)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    give(&office, "upsert_day_plan_blocks", "o1",
         "{'planDate':'2026-02-18','upserts':[{'id':'mine','taskId':'squats',"
         "'startTime':'2026-02-18T18:00:00Z','endTime':'2026-02-18T19:00:00Z'},"
         "{'startTime':'2026-02-18T19:00:00Z','endTime':'2026-02-18T19:30:00Z'}],"
         "'deletes':['b1']}");
    ASSERT_TEXT(office_out(&office, "/blocks/0/id"), "\"mine\"");
    ASSERT_TEXT(office_out(&office, "/blocks/1/categoryId"), "\"gym\"");
    ASSERT(!office_out(&office, "/blocks/2"));
    ASSERT(!rig_there(&office.rig, RECORD_DAY_PLAN_BLOCK, STR("b1")));
    ASSERT_FAILS(
        office_run(&office, "upsert_day_plan_blocks", "o2",
                   "{'planDate':'2026-02-18','upserts':[{"
                   "'startTime':'2026-02-18T11:30:00Z','endTime':'2026-02-18T12:30:00Z'}]}"),
        ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "time that is taken");
    ASSERT(!strstr(test_err_text(t), "fb1"));
    ASSERT_FAILS(
        office_run(&office, "upsert_day_plan_blocks", "o3",
                   "{'planDate':'2026-02-18','upserts':[{'id':'fb1',"
                   "'startTime':'2026-02-18T13:30:00Z','endTime':'2026-02-18T14:30:00Z'}]}"),
        ERR_OUT_OF_SCOPE);
    give(&office, "upsert_day_plan_blocks", "o4",
         "{'planDate':'2026-02-18','upserts':[{'id':'mine',"
         "'startTime':'2026-02-18T17:00:00Z','endTime':'2026-02-18T18:00:00Z','note':'early'}]}");
    ASSERT_TEXT(office_out(&office, "/blocks/0/note"), "\"early\"");
    ASSERT_TEXT(office_out(&office, "/blocks/0/taskId"), "\"squats\"");
}

DB_TEST(pins_of_others_stay_where_they_are)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    give(&office, "pin_day_plan_tasks", "o1", "{'planDate':'2026-02-18','taskIds':['legs']}");
    ASSERT_TEXT(office_out(&office, "/dayPlan/pinnedTaskIds"), "[\"legs\"]");
    field_is(&office, RECORD_DAY_PLAN, "dayplan-2026-02-18", "pinnedTaskIds",
             "[\"legs\",\"taxes\"]");
    give(&office, "pin_day_plan_tasks", "o2", "{'planDate':'2026-02-18','taskIds':[]}");
    field_is(&office, RECORD_DAY_PLAN, "dayplan-2026-02-18", "pinnedTaskIds", "[\"taxes\"]");
    give(&office, "pin_day_plan_tasks", "o3", "{'planDate':'2026-02-21','taskIds':['squats']}");
    field_is(&office, RECORD_DAY_PLAN, "dayplan-2026-02-21", "pinnedTaskIds", "[\"squats\"]");
}

DB_TEST(planning_anew_replaces_own_blocks_that_have_not_ended)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    rig_add_as(&office.rig, RECORD_DAY_PLAN_BLOCK, "past",
               "{'planId':'dayplan-2026-02-18','categoryId':'gym',"
               "'startTime':'2026-02-18T07:00:00Z','endTime':'2026-02-18T08:00:00Z'}");
    give(&office, "replan_day_blocks", "o1",
         "{'planDate':'2026-02-18','reason':'late','blocks':[{'taskId':'squats',"
         "'startTime':'2026-02-18T16:30:00Z','endTime':'2026-02-18T17:30:00Z'}]}");
    ASSERT_TEXT(office_out(&office, "/removed"), "1");
    ASSERT_TEXT(office_out(&office, "/blocks/0/id"), "\"past\"");
    ASSERT_TEXT(office_out(&office, "/blocks/1/taskId"), "\"squats\"");
    ASSERT(rig_there(&office.rig, RECORD_DAY_PLAN_BLOCK, STR("fb1")));
    ASSERT(!rig_there(&office.rig, RECORD_DAY_PLAN_BLOCK, STR("b1")));
    /* One that is given by its id stays the same block. */
    rig_add_as(&office.rig, RECORD_DAY_PLAN_BLOCK, "kept",
               "{'planId':'dayplan-2026-02-18','categoryId':'gym',"
               "'startTime':'2026-02-18T19:00:00Z','endTime':'2026-02-18T20:00:00Z'}");
    give(&office, "replan_day_blocks", "o2",
         "{'planDate':'2026-02-18','blocks':[{'id':'kept',"
         "'startTime':'2026-02-18T15:00:00Z','endTime':'2026-02-18T16:00:00Z'}]}");
    ASSERT_TEXT(office_out(&office, "/removed"), "1");
    ASSERT_TEXT(office_out(&office, "/blocks/1/id"), "\"kept\"");
}

/* ---- ratings ---- */

DB_TEST(ratings_are_given_read_and_summed_up)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    give(&office, "create_or_update_rating", "o1",
         "{'targetType':'timeEntry','targetId':'t1','dimension':'energy','value':1,"
         "'note':'tired'}");
    give(&office, "create_or_update_rating", "o2",
         "{'targetType':'timeEntry','targetId':'t1','dimension':'energy','value':2}");
    give(&office, "get_rating_for_target", "", "{'targetType':'timeEntry','targetId':'t1'}");
    ASSERT_TEXT(office_out(&office, "/ratings/0/value"), "2");
    ASSERT_TEXT(office_out(&office, "/ratings/0/note"), "\"tired\"");
    ASSERT(!office_out(&office, "/ratings/1"));
    give(&office, "get_ratings_summary", "", "{'byDay':true}");
    ASSERT_TEXT(office_out(&office, "/summaries"),
                "[{\"dimension\":\"energy\",\"count\":2,\"mean\":3,\"lowest\":2,\"highest\":4}]");
    ASSERT_TEXT(office_out(&office, "/days"),
                "[{\"day\":\"2026-02-17\",\"dimension\":\"energy\",\"count\":1,\"mean\":4},"
                "{\"day\":\"2026-02-16\",\"dimension\":\"energy\",\"count\":1,\"mean\":2}]");
    give(&office, "get_ratings_summary", "", "{'to':'2026-02-17T00:00:00Z'}");
    ASSERT_TEXT(office_out(&office, "/summaries/0/count"), "1");
}

DB_TEST(a_whole_day_is_rated_by_agents_of_all_categories_only)
{
    static const char day[] =
        "{'targetType':'dayPlan','targetId':'dayplan-2026-02-19','dimension':'mood','value':5}";
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    ASSERT_FAILS(office_run(&office, "create_or_update_rating", "o1", day), ERR_OUT_OF_SCOPE);
    office.agent.allowed_category_ids = "[\"*\"]";
    give(&office, "create_or_update_rating", "o2", day);
    give(&office, "get_rating_for_target", "",
         "{'targetType':'dayPlan','targetId':'dayplan-2026-02-19'}");
    ASSERT_TEXT(office_out(&office, "/ratings/0/value"), "5");
}
