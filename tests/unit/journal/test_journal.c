/* Creating, changing and reading records. SPDX-License-Identifier: MIT */
#include "rig.h"

DB_TEST(a_new_task_is_there_with_its_defaults)
{
    AUTO_RIG rig;
    struct record task;
    struct str id;

    rig_open(&rig, t);
    id = rig_add(&rig, RECORD_TASK, "{'title':'Fix fence'}");
    task = rig_get(&rig, RECORD_TASK, id);
    ASSERT(task.n > 0);
    ASSERT_EQ(task.created_at, NOW);
    ASSERT_EQ(task.updated_at, NOW);
    ASSERT_EQ(task.deleted_at, 0);
    ASSERT_STR(record_str(&task, "title"), "Fix fence");
    ASSERT_STR(record_str(&task, "status"), "OPEN");
    ASSERT_STR(record_str(&task, "priority"), "P2");
    ASSERT(!record_get(&task, "due")->set);
    ASSERT(!record_get(&task, "notes")->set);
    ASSERT(!record_get(&task, "estimateMinutes")->set);
    ASSERT(!record_get(&task, "closedAt")->set);
    ASSERT_STR(task.vector_clock,
               arena_printf(&t->arena, "{\"%s\":%lld}", change_host_id(rig.change),
                            (long long)task.counter));
}

DB_TEST(an_id_that_nothing_begins_with_is_refused_with_a_command_that_helps)
{
    static const char *const typed[] = { "nothing", "x", "two words" };
    AUTO_RIG rig;
    struct str id;

    rig_open(&rig, t);
    for (enum record_type type = RECORD_NONE + 1; type < RECORD_TYPES_END; type++)
        for (size_t i = 0; i < ARRAY_LEN(typed); i++) {
            ASSERT_FAILS(
                journal_find_prefix(rig.journal, type, str_from(typed[i]), &t->arena, &id, &t->err),
                ERR_NOT_FOUND);
            ASSERT_CONTAINS(err_message(&t->err, 0),
                            arena_printf(&t->arena, " \"%s\"; `dormouse journal ", typed[i]));
            err_reset(&t->err);
        }
}

/* Every type through the same door: all fields given, stored and read back as they were. */
DB_TEST(every_type_is_read_back_as_it_was_written)
{
    static const struct {
        enum record_type type;
        const char *id, *fields;
    } records[] = {
        { RECORD_CATEGORY, "gym", "{'name':'Gym','color':'#3b82f6','archived':true}" },
        { RECORD_LABEL, "home", "{'name':'home','color':'#000000'}" },
        { RECORD_TASK, "t1",
          "{'title':'Fix','notes':'n','status':'GROOMED','priority':'P0','estimateMinutes':3,"
          "'due':'2026-02-18T10:00','language':'en','categoryId':'gym'}" },
        { RECORD_CHECKLIST, "c1", "{'taskId':'t1','title':'Parts','position':7}" },
        { RECORD_CHECKLIST_ITEM, "i1",
          "{'checklistId':'c1','title':'Nails','checked':true,'position':0}" },
        { RECORD_ENTRY, "e1",
          "{'kind':'workout','subtype':'running','categoryId':'gym','title':'Run','body':'b',"
          "'at':'2026-02-18T09:00:00.500Z','durationMs':5,'value':0.1,'unit':'km'}" },
        { RECORD_TIME_ENTRY, "x1",
          "{'taskId':'t1','categoryId':'gym','startedAt':'2026-02-18T08:00:00.000Z',"
          "'endedAt':'2026-02-18T08:30:00.000Z','description':'d','sourceEntryId':'e1'}" },
        { RECORD_DAY_PLAN, "dayplan-2026-02-18",
          "{'planDate':'2026-02-18','note':'n','pinnedTaskIds':['t1']}" },
        { RECORD_DAY_PLAN_BLOCK, "b1",
          "{'planId':'dayplan-2026-02-18','categoryId':'gym','taskId':'t1',"
          "'startTime':'2026-02-18T10:00:00.000Z','endTime':'2026-02-18T11:00:00.000Z',"
          "'note':'n'}" },
        { RECORD_RATING, "",
          "{'targetType':'task','targetId':'t1','dimension':'focus','value':5,'note':'n',"
          "'ratedAt':'2026-02-18T09:00:00.000Z','categoryId':'gym'}" },
        { RECORD_ENTRY_LINK, "",
          "{'relation':'about','fromType':'entry','fromId':'e1','toType':'task','toId':'t1'}" },
    };
    AUTO_RIG rig;

    rig_open(&rig, t);
    for (size_t i = 0; i < ARRAY_LEN(records); i++) {
        AUTO_JSON given = rig_json(t, records[i].fields);
        AUTO_JSON written = NULL;
        struct str id = rig_add_as(&rig, records[i].type, records[i].id, records[i].fields);
        struct record record = rig_get(&rig, records[i].type, id);

        ASSERT_OK(json_parse(str_from(rig_text(t, &record)), &written, &t->err));
        json_object_object_del(written, "id");
        json_object_object_del(written, "createdAt");
        json_object_object_del(written, "updatedAt");
        if (!json_equal(given, written))
            FAIL("%s: %s", record_type_name(records[i].type), rig_text(t, &record));
    }
}

DB_TEST(a_new_record_needs_what_its_type_requires)
{
    AUTO_RIG rig;

    rig_open(&rig, t);
    ASSERT_FAILS(rig_try(&rig, RECORD_TASK, "", "{}"), ERR_SCHEMA_VIOLATION);
    ASSERT_TEXT(err_message(&t->err, 0), "/title: is missing; a new task needs it");
    ASSERT_FAILS(rig_try(&rig, RECORD_ATTACHMENT, "", "{}"), ERR_BAD_REQUEST);
    ASSERT_FAILS(rig_try(&rig, RECORD_TASK, "a b", "{'title':'x'}"), ERR_BAD_REQUEST);
    ASSERT_FAILS(rig_try(&rig, RECORD_DAY_PLAN, "plan", "{'planDate':'2026-02-18'}"),
                 ERR_BAD_REQUEST);
    ASSERT_TEXT(err_message(&t->err, 0),
                "the id of this dayPlan is dayplan-2026-02-18, not \"plan\"");
}

DB_TEST(references_must_lead_to_something)
{
    AUTO_RIG rig;
    struct str gone;

    rig_open(&rig, t);
    ASSERT_FAILS(rig_try(&rig, RECORD_TASK, "", "{'title':'x','categoryId':'nowhere'}"),
                 ERR_SCHEMA_VIOLATION);
    ASSERT_TEXT(err_message(&t->err, 0), "/categoryId: there is no category \"nowhere\"");
    gone = rig_add_as(&rig, RECORD_TASK, "gone", "{'title':'x'}");
    ASSERT_EQ(rig_remove(&rig, RECORD_TASK, gone), 1);
    ASSERT_FAILS(rig_try(&rig, RECORD_CHECKLIST, "", "{'title':'x','taskId':'gone'}"),
                 ERR_SCHEMA_VIOLATION);
    ASSERT_TEXT(err_message(&t->err, 0), "/taskId: there is no task \"gone\"; it was deleted");
    ASSERT_FAILS(rig_try(&rig, RECORD_RATING, "",
                         "{'targetType':'entry','targetId':'e','dimension':'mood','value':1}"),
                 ERR_SCHEMA_VIOLATION);
    ASSERT_TEXT(err_message(&t->err, 0), "/targetId: there is no entry \"e\"");
    ASSERT_FAILS(
        rig_try(&rig, RECORD_DAY_PLAN, "", "{'planDate':'2026-02-18','pinnedTaskIds':['gone']}"),
        ERR_SCHEMA_VIOLATION);
    /* What lies outside of the journal is not looked for. */
    rig_add_as(&rig, RECORD_ENTRY, "e", "{'kind':'note','title':'x'}");
    ASSERT_OK(rig_try(&rig, RECORD_ENTRY_LINK, "",
                      "{'relation':'report','fromType':'entry','fromId':'e',"
                      "'toType':'agentReport','toId':'r1'}"));
    ASSERT_FAILS(rig_try(&rig, RECORD_ENTRY_LINK, "",
                         "{'relation':'about','fromType':'entry','fromId':'e',"
                         "'toType':'foo','toId':'r1'}"),
                 ERR_SCHEMA_VIOLATION);
    ASSERT_TEXT(err_message(&t->err, 0),
                "/toType: \"foo\" is none of category, label, task, checklist, checklistItem, "
                "timeEntry, dayPlan, dayPlanBlock, rating, entry, attachment, entryLink, "
                "agentReport");
    ASSERT_FAILS(rig_try(&rig, RECORD_ENTRY_LINK, "",
                         "{'relation':'about','fromType':'agent','fromId':'e',"
                         "'toType':'entry','toId':'e'}"),
                 ERR_SCHEMA_VIOLATION);
    ASSERT_CONTAINS(err_message(&t->err, 0), "/fromType: \"agent\" is none of category");
    ASSERT_FAILS(rig_try(&rig, RECORD_ENTRY_LINK, "",
                         "{'relation':'about','fromType':'entry','fromId':'e',"
                         "'toType':'task','toId':'gone'}"),
                 ERR_SCHEMA_VIOLATION);
    ASSERT_TEXT(err_message(&t->err, 0), "/toId: there is no task \"gone\"; it was deleted");
}

DB_TEST(a_change_that_changes_nothing_writes_nothing)
{
    AUTO_RIG rig;
    struct record before, after;
    size_t batches, more;
    struct str id;

    rig_open(&rig, t);
    id = rig_add(&rig, RECORD_TASK, "{'title':'Fix','due':'2026-02-18'}");
    before = rig_get(&rig, RECORD_TASK, id);
    rig_batches(&rig, &batches);
    clock_advance(&rig.clock, 1000);
    ASSERT_EQ(rig_set(&rig, RECORD_TASK, id, "{'title':' Fix ','due':'2026-02-18','notes':''}"), 0);
    ASSERT_EQ(rig_set(&rig, RECORD_TASK, id, "{}"), 0);
    after = rig_get(&rig, RECORD_TASK, id);
    rig_batches(&rig, &more);
    ASSERT_EQ(after.counter, before.counter);
    ASSERT_EQ(after.updated_at, before.updated_at);
    ASSERT_EQ(more, batches);
}

DB_TEST(a_change_advances_counter_and_clock_and_sets_what_follows)
{
    AUTO_RIG rig;
    struct record before, after;
    struct str id;

    rig_open(&rig, t);
    id = rig_add(&rig, RECORD_TASK, "{'title':'Fix'}");
    before = rig_get(&rig, RECORD_TASK, id);
    clock_advance(&rig.clock, 1000);
    ASSERT_EQ(rig_set(&rig, RECORD_TASK, id, "{'status':'DONE'}"), 1);
    after = rig_get(&rig, RECORD_TASK, id);
    ASSERT(after.counter > before.counter);
    ASSERT(!str_eq(after.vector_clock, before.vector_clock));
    ASSERT_EQ(after.updated_at, NOW + 1000);
    ASSERT_EQ(record_i64(&after, "closedAt"), NOW + 1000);
    clock_advance(&rig.clock, 1000);
    ASSERT_EQ(rig_set(&rig, RECORD_TASK, id, "{'status':'REJECTED'}"), 1);
    after = rig_get(&rig, RECORD_TASK, id);
    ASSERT_EQ(record_i64(&after, "closedAt"), NOW + 1000);
    ASSERT_EQ(rig_set(&rig, RECORD_TASK, id, "{'status':'OPEN'}"), 1);
    after = rig_get(&rig, RECORD_TASK, id);
    ASSERT(!record_get(&after, "closedAt")->set);
    ASSERT_FAILS(rig_set(&rig, RECORD_TASK, STR("none"), "{}"), ERR_NOT_FOUND);
    ASSERT_TEXT(err_message(&t->err, 0), "there is no task \"none\"");
}

DB_TEST(an_id_is_taken_once)
{
    AUTO_RIG rig;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_TASK, "one", "{'title':'x'}");
    ASSERT_FAILS(rig_try(&rig, RECORD_TASK, "one", "{'title':'y'}"), ERR_CONFLICT);
    ASSERT_TEXT(err_message(&t->err, 0), "there is a task \"one\" already");
    ASSERT_EQ(rig_remove(&rig, RECORD_TASK, STR("one")), 1);
    ASSERT_FAILS(rig_try(&rig, RECORD_TASK, "one", "{'title':'y'}"), ERR_CONFLICT);
    ASSERT_TEXT(err_message(&t->err, 0),
                "task \"one\" was deleted; restore it, or take another id");
    /* Ids that follow from the content come back to life with it. */
    rig_add(&rig, RECORD_DAY_PLAN, "{'planDate':'2026-02-18','note':'old'}");
    ASSERT_FAILS(rig_try(&rig, RECORD_DAY_PLAN, "", "{'planDate':'2026-02-18'}"), ERR_CONFLICT);
    ASSERT_EQ(rig_remove(&rig, RECORD_DAY_PLAN, STR("dayplan-2026-02-18")), 1);
    ASSERT_OK(rig_try(&rig, RECORD_DAY_PLAN, "", "{'planDate':'2026-02-18'}"));
    ASSERT(rig_there(&rig, RECORD_DAY_PLAN, STR("dayplan-2026-02-18")));
}

DB_TEST(names_of_categories_and_labels_are_taken_without_regard_to_case)
{
    AUTO_RIG rig;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_CATEGORY, "g", "{'name':'Größe'}");
    ASSERT_FAILS(rig_try(&rig, RECORD_CATEGORY, "", "{'name':'GRÖSSE'}"), ERR_CONFLICT);
    ASSERT_TEXT(err_message(&t->err, 0), "/name: there is a category \"Größe\" already: g");
    ASSERT_OK(rig_try(&rig, RECORD_LABEL, "l", "{'name':'grösse'}"));
    ASSERT_EQ(rig_set(&rig, RECORD_CATEGORY, STR("g"), "{'name':'grösse'}"), 1);
    ASSERT_EQ(rig_remove(&rig, RECORD_CATEGORY, STR("g")), 1);
    ASSERT_OK(rig_try(&rig, RECORD_CATEGORY, "h", "{'name':'Größe'}"));
    ASSERT_FAILS(rig_restore(&rig, RECORD_CATEGORY, STR("g")), ERR_CONFLICT);
}

DB_TEST(time_ends_after_it_begins_and_one_timer_runs)
{
    AUTO_RIG rig;

    rig_open(&rig, t);
    ASSERT_FAILS(rig_try(&rig, RECORD_TIME_ENTRY, "",
                         "{'startedAt':'2026-02-18T09:00:00Z','endedAt':'2026-02-18T08:00:00Z'}"),
                 ERR_SCHEMA_VIOLATION);
    ASSERT_TEXT(err_message(&t->err, 0), "/endedAt: lies before startedAt");
    rig_add_as(&rig, RECORD_TIME_ENTRY, "a", "{'startedAt':'2026-02-18T09:00:00Z'}");
    ASSERT_FAILS(rig_try(&rig, RECORD_TIME_ENTRY, "b", "{'startedAt':'2026-02-18T09:10:00Z'}"),
                 ERR_CONFLICT);
    ASSERT_EQ(rig_set(&rig, RECORD_TIME_ENTRY, STR("a"), "{'description':'x'}"), 1);
    ASSERT_EQ(rig_set(&rig, RECORD_TIME_ENTRY, STR("a"), "{'endedAt':'2026-02-18T09:05:00Z'}"), 1);
    rig_add_as(&rig, RECORD_TIME_ENTRY, "b", "{'startedAt':'2026-02-18T09:10:00Z'}");
    ASSERT_FAILS(rig_set(&rig, RECORD_TIME_ENTRY, STR("a"), "{'endedAt':null}"), ERR_CONFLICT);
}

DB_TEST(positions_that_nobody_gave_are_at_the_end)
{
    AUTO_RIG rig;
    struct record item;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_CHECKLIST, "c", "{'title':'x'}");
    rig_add_as(&rig, RECORD_CHECKLIST_ITEM, "a", "{'checklistId':'c','title':'a'}");
    rig_add_as(&rig, RECORD_CHECKLIST_ITEM, "b", "{'checklistId':'c','title':'b','position':10}");
    rig_add_as(&rig, RECORD_CHECKLIST_ITEM, "d", "{'checklistId':'c','title':'d'}");
    item = rig_get(&rig, RECORD_CHECKLIST_ITEM, STR("a"));
    ASSERT_EQ(record_i64(&item, "position"), 0);
    item = rig_get(&rig, RECORD_CHECKLIST_ITEM, STR("d"));
    ASSERT_EQ(record_i64(&item, "position"), 11);
}

DB_TEST(whatever_has_an_id_is_found_by_it)
{
    AUTO_RIG rig;
    struct record found;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_LABEL, "l", "{'name':'x'}");
    rig_add_as(&rig, RECORD_ENTRY, "e", "{'kind':'note'}");
    ASSERT_EQ(journal_find_id(rig.journal, STR("e"), &t->arena, &found, &t->err), 1);
    ASSERT_EQ(found.type, RECORD_ENTRY);
    ASSERT_EQ(rig_remove(&rig, RECORD_LABEL, STR("l")), 1);
    ASSERT_EQ(journal_find_id(rig.journal, STR("l"), &t->arena, &found, &t->err), 1);
    ASSERT_EQ(found.type, RECORD_LABEL);
    ASSERT(found.deleted_at > 0);
    ASSERT_EQ(journal_find_id(rig.journal, STR("none"), &t->arena, &found, &t->err), 0);
}

static const char *category_of(struct rig *rig, enum record_type type, struct str id)
{
    struct test *t = rig->t;
    struct record record = rig_get(rig, type, id);
    struct str category;

    ASSERT_OK(journal_category_of(rig->journal, &record, &t->arena, &category, &t->err));
    return arena_copy(&t->arena, category.n ? category.p : "", category.n);
}

DB_TEST(a_record_counts_for_the_category_of_what_it_belongs_to)
{
    AUTO_RIG rig;
    struct str rating, link;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_CATEGORY, "gym", "{'name':'Gym'}");
    rig_add_as(&rig, RECORD_CATEGORY, "home", "{'name':'Home'}");
    rig_add_as(&rig, RECORD_TASK, "t", "{'title':'x','categoryId':'gym'}");
    rig_add_as(&rig, RECORD_CHECKLIST, "c", "{'title':'x','taskId':'t'}");
    rig_add_as(&rig, RECORD_CHECKLIST_ITEM, "i", "{'title':'x','checklistId':'c'}");
    rig_add_as(&rig, RECORD_TIME_ENTRY, "x",
               "{'taskId':'t','categoryId':'home','startedAt':'2026-02-18T09:00:00Z'}");
    rig_add_as(&rig, RECORD_ENTRY, "e", "{'kind':'note','categoryId':'home'}");
    rating = rig_add(&rig, RECORD_RATING,
                     "{'targetType':'timeEntry','targetId':'x','dimension':'focus','value':3}");
    link = rig_add(&rig, RECORD_ENTRY_LINK,
                   "{'relation':'about','fromType':'entry','fromId':'e','toType':'task',"
                   "'toId':'t'}");
    rig_add_as(&rig, RECORD_LABEL, "l", "{'name':'l'}");
    ASSERT_TEXT(category_of(&rig, RECORD_CATEGORY, STR("gym")), "gym");
    ASSERT_TEXT(category_of(&rig, RECORD_TASK, STR("t")), "gym");
    ASSERT_TEXT(category_of(&rig, RECORD_CHECKLIST_ITEM, STR("i")), "gym");
    ASSERT_TEXT(category_of(&rig, RECORD_TIME_ENTRY, STR("x")), "gym");
    ASSERT_TEXT(category_of(&rig, RECORD_RATING, rating), "gym");
    ASSERT_TEXT(category_of(&rig, RECORD_ENTRY_LINK, link), "home");
    ASSERT_TEXT(category_of(&rig, RECORD_LABEL, STR("l")), "");
}
