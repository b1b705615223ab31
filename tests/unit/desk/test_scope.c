/* Ways around the categories of an agent, each shut before anybody is asked.
 *
 * SPDX-License-Identifier: MIT
 */
#include "desk_rig.h"

#define BLOCK(more)                                                                                \
    "{'planDate':'2026-02-18','upserts':[{'startTime':'2026-02-18T18:00:00+01:00',"                \
    "'endTime':'2026-02-18T19:00:00+01:00'," more "}]}"
#define SPAN "'startedAt':'2026-02-17T10:00:00Z','endedAt':'2026-02-17T11:00:00Z'"

struct door {
    const char *tool, *arguments;
    enum err_code code;
};

static const struct door doors[] = {
    /* what is there, and another's */
    { "list_tasks_in_scope", "{'categoryId':'finance'}", ERR_OUT_OF_SCOPE },
    { "read_task", "{'taskId':'loose'}", ERR_OUT_OF_SCOPE },
    { "list_time_entries", "{'taskId':'taxes'}", ERR_OUT_OF_SCOPE },
    { "update_checklist_items",
      "{'items':[{'id':'i1','checked':true},{'id':'fi1','checked':true}]}", ERR_OUT_OF_SCOPE },
    { "add_multiple_checklist_items", "{'checklistId':'f1','items':['x']}", ERR_OUT_OF_SCOPE },
    { "add_multiple_checklist_items", "{'checklistId':'f1','taskId':'legs','items':['x']}",
      ERR_OUT_OF_SCOPE },
    { "get_rating_for_target", "{'targetType':'timeEntry','targetId':'ft1'}", ERR_OUT_OF_SCOPE },
    { "get_rating_for_target", "{'targetType':'dayPlan','targetId':'dayplan-2026-02-18'}",
      ERR_OUT_OF_SCOPE },
    { "create_retrospective_time_entry", "{'taskId':'legs','sourceEntryId':'fn1'," SPAN "}",
      ERR_OUT_OF_SCOPE },
    { "write_report", "{'title':'x','text':'y','sources':[{'type':'journal','id':'fi1'}]}",
      ERR_OUT_OF_SCOPE },
    /* into another's */
    { "update_task_fields", "{'taskId':'legs','categoryId':'finance'}", ERR_OUT_OF_SCOPE },
    { "update_task_fields", "{'taskId':'legs','title':'x','categoryId':'finance'}",
      ERR_OUT_OF_SCOPE },
    { "create_task", "{'title':'x','categoryId':'finance'}", ERR_OUT_OF_SCOPE },
    { "create_retrospective_time_entry", "{'categoryId':'finance'," SPAN "}", ERR_OUT_OF_SCOPE },
    { "move_checklist_items",
      "{'itemIds':['i1'],'fromChecklistId':'l1','toChecklistId':'f1','previewOnly':true}",
      ERR_OUT_OF_SCOPE },
    { "upsert_day_plan_blocks", BLOCK("'categoryId':'finance'"), ERR_OUT_OF_SCOPE },
    { "upsert_day_plan_blocks", BLOCK("'categoryId':'gym','taskId':'taxes'"), ERR_OUT_OF_SCOPE },
    { "upsert_day_plan_blocks", BLOCK("'id':'fb1','categoryId':'gym'"), ERR_OUT_OF_SCOPE },
    /* out of another's */
    { "update_task_fields", "{'taskId':'taxes','categoryId':'gym'}", ERR_OUT_OF_SCOPE },
    { "update_task_fields", "{'taskId':'loose','categoryId':'gym'}", ERR_OUT_OF_SCOPE },
    { "move_checklist_items", "{'itemIds':['fi1'],'fromChecklistId':'f1','toChecklistId':'l1'}",
      ERR_OUT_OF_SCOPE },
    { "move_checklist_items", "{'itemIds':['fi1'],'fromChecklistId':'l1','toChecklistId':'l2'}",
      ERR_OUT_OF_SCOPE },
    { "move_checklist_items_to_new_task",
      "{'itemIds':['fi1'],'fromChecklistId':'f1','newTaskTitle':'x'}", ERR_OUT_OF_SCOPE },
    { "create_follow_up_task", "{'sourceTaskId':'taxes','carryOverOpenChecklistItems':true}",
      ERR_OUT_OF_SCOPE },
    { "conclude_task_with_rollover", "{'taskId':'taxes','previewOnly':true}", ERR_OUT_OF_SCOPE },
    /* into no category at all, which is nobody's */
    { "update_task_fields", "{'taskId':'legs','categoryId':null}", ERR_SCHEMA_VIOLATION },
    { "create_follow_up_task", "{'sourceTaskId':'legs','preserveCategoryAndLabels':false}",
      ERR_OUT_OF_SCOPE },
    { "upsert_day_plan_blocks", BLOCK("'id':'b1','categoryId':null,'taskId':null"),
      ERR_SCHEMA_VIOLATION },
    /* into one that there is none of */
    { "update_task_fields", "{'taskId':'legs','categoryId':'nowhere'}", ERR_OUT_OF_SCOPE },
};

DB_TEST(every_way_out_of_the_categories_is_shut_before_anybody_is_asked)
{
    AUTO_OFFICE office;
    size_t batches;

    office_open(&office, t);
    office_fill(&office);
    batches = office_batches(&office);
    for (const struct door *d = doors; d < doors + ARRAY_LEN(doors); d++) {
        struct tool_verdict verdict;

        if (office_judge(&office, d->tool, d->arguments, &verdict) == 0)
            FAIL("%s %s is let through", d->tool, d->arguments);
        if (verdict.code != d->code || strstr(verdict.message, "secret"))
            FAIL("%s %s: %s: %s", d->tool, d->arguments, err_name(verdict.code), verdict.message);
        ASSERT(office_run(&office, d->tool, d->tool, d->arguments) < 0);
    }
    ASSERT_EQ(office_batches(&office), batches);
}

/* A category that was deleted stays in the list of the agent, and is nothing. */
DB_TEST(what_is_put_into_a_category_that_is_gone_is_refused_by_name)
{
    static const struct door cases[] = {
        { "create_task", "{'title':'x','categoryId':'gone'}", ERR_NOT_FOUND },
        { "create_retrospective_time_entry", "{'categoryId':'gone'," SPAN "}", ERR_NOT_FOUND },
        { "update_task_fields", "{'taskId':'legs','categoryId':'gone'}", ERR_NOT_FOUND },
        { "upsert_day_plan_blocks", BLOCK("'categoryId':'gone'"), ERR_NOT_FOUND },
    };
    static const char *const allowed[] = { "[\"gym\",\"gone\"]", "[\"*\"]" };
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    for (size_t k = 0; k < ARRAY_LEN(allowed); k++) {
        office.agent.allowed_category_ids = allowed[k];
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
            struct tool_verdict verdict;

            if (office_judge(&office, cases[i].tool, cases[i].arguments, &verdict) == 0)
                FAIL("%s %s is let through", cases[i].tool, cases[i].arguments);
            ASSERT_EQ(verdict.code, ERR_NOT_FOUND);
            ASSERT_CONTAINS(verdict.message, "there is no category \"gone\"");
        }
    }
    /* The only one there is, and gone: where a new task would go by itself. */
    office.agent.allowed_category_ids = "[\"gone\"]";
    ASSERT_FAILS(office_run(&office, "create_task", "o", "{'title':'x'}"), ERR_NOT_FOUND);
}

/* What can't be read as a list gives nothing; what looks like more than it is, no more. */
DB_TEST(a_list_of_categories_that_is_none_gives_nothing)
{
    static const char *const broken[] = {
        "",        "[",        "null",        "{}",       "\"*\"",         "7",
        "[7]",     "[null]",   "[[\"gym\"]]", "[\"\"]",   "[\"GYM\"]",     "[\"gym \"]",
        "[\"%\"]", "[\"g*\"]", "[\"gy_\"]",   "[\"**\"]", "{\"0\":\"*\"}",
    };
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        office.agent.allowed_category_ids = broken[i];
        if (office_run(&office, "read_task", "o", "{'taskId':'legs'}") == 0)
            FAIL("%s reads", broken[i]);
        if (t->err.code != ERR_OUT_OF_SCOPE)
            FAIL("%s: %s", broken[i], test_err_text(t));
        if (office_run(&office, "list_allowed_categories", "o", "{}") < 0)
            FAIL("%s: %s", broken[i], test_err_text(t));
        ASSERT_TEXT(office_out(&office, "/categories"), "[]");
    }
    office.agent.allowed_category_ids = NULL;
    ASSERT_FAILS(office_run(&office, "read_task", "o", "{'taskId':'legs'}"), ERR_OUT_OF_SCOPE);
}

/* Links show neither that nor what lies beyond. */
DB_TEST(a_link_into_another_category_is_not_shown)
{
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    rig_add_as(&office.rig, RECORD_ENTRY_LINK, "",
               "{'fromType':'task','fromId':'legs','toType':'task','toId':'taxes',"
               "'relation':'related'}");
    rig_add_as(&office.rig, RECORD_ENTRY_LINK, "",
               "{'fromType':'task','fromId':'squats','toType':'task','toId':'legs',"
               "'relation':'related'}");
    ASSERT_OK(office_run(&office, "read_task", "o", "{'taskId':'legs'}"));
    ASSERT_TEXT(office_out(&office, "/links/0/fromId"), "\"squats\"");
    ASSERT(office_out(&office, "/links/1") == NULL);
    ASSERT(str_find(office.result.output, STR("taxes")) < 0);
}

/* A task that leaves takes what hangs on it along, also for who knows the ids. */
DB_TEST(what_moved_to_another_category_is_out_of_reach_with_all_of_its_parts)
{
    static const struct door parts[] = {
        { "read_task", "{'taskId':'legs'}", ERR_OUT_OF_SCOPE },
        { "update_checklist_items", "{'items':[{'id':'i1','checked':true}]}", ERR_OUT_OF_SCOPE },
        { "add_multiple_checklist_items", "{'taskId':'legs','items':['x']}", ERR_OUT_OF_SCOPE },
        { "get_rating_for_target", "{'targetType':'task','targetId':'legs'}", ERR_OUT_OF_SCOPE },
        { "annotate_time_entry", "{'timeEntryId':'t1','description':'x'}", ERR_OUT_OF_SCOPE },
    };
    AUTO_OFFICE office;

    office_open(&office, t);
    office_fill(&office);
    office.agent.allowed_category_ids = "[\"*\"]";
    ASSERT_OK(office_run(&office, "update_task_fields", "move",
                         "{'taskId':'legs','categoryId':'finance'}"));
    office.agent.allowed_category_ids = "[\"gym\"]";
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (office_run(&office, parts[i].tool, "o", parts[i].arguments) == 0)
            FAIL("%s still reaches it", parts[i].tool);
        if (t->err.code != parts[i].code)
            FAIL("%s: %s", parts[i].tool, test_err_text(t));
    }
    ASSERT_OK(office_run(&office, "list_tasks_in_scope", "o", "{'text':'leg'}"));
    ASSERT_TEXT(office_out(&office, "/tasks"), "[]");
    ASSERT_OK(office_run(&office, "resolve_task_reference", "o", "{'reference':'leg day'}"));
    ASSERT(str_find(office.result.output, STR("Leg day")) < 0);
}
