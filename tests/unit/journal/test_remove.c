/* Deleting and restoring. SPDX-License-Identifier: MIT */
#include "rig.h"

DB_TEST(what_hangs_on_a_task_goes_and_comes_with_it)
{
    AUTO_RIG rig;
    struct record task;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_TASK, "t", "{'title':'x'}");
    rig_add_as(&rig, RECORD_CHECKLIST, "c", "{'title':'x','taskId':'t'}");
    rig_add_as(&rig, RECORD_CHECKLIST, "other", "{'title':'x'}");
    rig_add_as(&rig, RECORD_CHECKLIST_ITEM, "i", "{'title':'x','checklistId':'c'}");
    rig_add_as(&rig, RECORD_CHECKLIST_ITEM, "gone", "{'title':'x','checklistId':'c'}");
    rig_add_as(
        &rig, RECORD_TIME_ENTRY, "x",
        "{'taskId':'t','startedAt':'2026-02-18T08:00:00Z','endedAt':'2026-02-18T09:00:00Z'}");
    ASSERT_EQ(rig_remove(&rig, RECORD_CHECKLIST_ITEM, STR("gone")), 1);
    clock_advance(&rig.clock, 1000);
    ASSERT_EQ(rig_remove(&rig, RECORD_TASK, STR("t")), 1);
    ASSERT(!rig_there(&rig, RECORD_TASK, STR("t")));
    ASSERT(!rig_there(&rig, RECORD_CHECKLIST, STR("c")));
    ASSERT(!rig_there(&rig, RECORD_CHECKLIST_ITEM, STR("i")));
    ASSERT(rig_there(&rig, RECORD_CHECKLIST, STR("other")));
    ASSERT(rig_there(&rig, RECORD_TIME_ENTRY, STR("x"))); /* time that was spent stays spent */
    task = rig_get(&rig, RECORD_TASK, STR("t"));
    ASSERT_EQ(task.deleted_at, NOW + 1000);
    clock_advance(&rig.clock, 1000);
    ASSERT_EQ(rig_restore(&rig, RECORD_TASK, STR("t")), 1);
    ASSERT(rig_there(&rig, RECORD_TASK, STR("t")));
    ASSERT(rig_there(&rig, RECORD_CHECKLIST, STR("c")));
    ASSERT(rig_there(&rig, RECORD_CHECKLIST_ITEM, STR("i")));
    ASSERT(!rig_there(&rig, RECORD_CHECKLIST_ITEM, STR("gone"))); /* it had gone before */
}

DB_TEST(deleting_and_restoring_twice_changes_nothing)
{
    AUTO_RIG rig;
    size_t before, after;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_TASK, "t", "{'title':'x'}");
    ASSERT_EQ(rig_restore(&rig, RECORD_TASK, STR("t")), 0);
    ASSERT_EQ(rig_remove(&rig, RECORD_TASK, STR("t")), 1);
    rig_batches(&rig, &before);
    ASSERT_EQ(rig_remove(&rig, RECORD_TASK, STR("t")), 0);
    rig_batches(&rig, &after);
    ASSERT_EQ(before, after);
    ASSERT_FAILS(rig_remove(&rig, RECORD_TASK, STR("none")), ERR_NOT_FOUND);
    ASSERT_FAILS(rig_restore(&rig, RECORD_TASK, STR("none")), ERR_NOT_FOUND);
    ASSERT_FAILS(rig_set(&rig, RECORD_TASK, STR("t"), "{'title':'y'}"), ERR_NOT_FOUND);
    ASSERT_TEXT(err_message(&t->err, 0), "task \"t\" was deleted; restore it first");
}

DB_TEST(everything_that_goes_along_is_in_the_batch)
{
    AUTO_RIG rig;
    struct change_row *rows;
    size_t n;

    rig_open(&rig, t);
    rig_add(&rig, RECORD_DAY_PLAN, "{'planDate':'2026-02-18'}");
    rig_add_as(&rig, RECORD_DAY_PLAN_BLOCK, "b",
               "{'planId':'dayplan-2026-02-18','startTime':'2026-02-18T10:00:00Z',"
               "'endTime':'2026-02-18T11:00:00Z'}");
    ASSERT_EQ(rig_remove(&rig, RECORD_DAY_PLAN, STR("dayplan-2026-02-18")), 1);
    rows = rig_batches(&rig, &n);
    ASSERT_EQ(rows[n - 1].unit_count, 2);
    ASSERT_EQ(rig_restore(&rig, RECORD_DAY_PLAN, STR("dayplan-2026-02-18")), 1);
    rows = rig_batches(&rig, &n);
    ASSERT_EQ(rows[n - 1].unit_count, 2);
    ASSERT(rig_there(&rig, RECORD_DAY_PLAN_BLOCK, STR("b")));
}

DB_TEST(a_part_is_not_restored_without_what_it_belongs_to)
{
    AUTO_RIG rig;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_CHECKLIST, "c", "{'title':'x'}");
    rig_add_as(&rig, RECORD_CHECKLIST_ITEM, "i", "{'title':'x','checklistId':'c'}");
    ASSERT_EQ(rig_remove(&rig, RECORD_CHECKLIST_ITEM, STR("i")), 1);
    clock_advance(&rig.clock, 1);
    ASSERT_EQ(rig_remove(&rig, RECORD_CHECKLIST, STR("c")), 1);
    ASSERT_FAILS(rig_restore(&rig, RECORD_CHECKLIST_ITEM, STR("i")), ERR_SCHEMA_VIOLATION);
    ASSERT_TEXT(err_message(&t->err, 0), "restore checklistItem i");
    ASSERT_TEXT(err_message(&t->err, 1),
                "/checklistId: there is no checklist \"c\"; it was deleted");
    ASSERT_EQ(rig_restore(&rig, RECORD_CHECKLIST, STR("c")), 1);
    ASSERT_EQ(rig_restore(&rig, RECORD_CHECKLIST_ITEM, STR("i")), 1);
}

DB_TEST(a_category_in_use_is_kept_and_archiving_is_offered)
{
    AUTO_RIG rig;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_CATEGORY, "gym", "{'name':'Gym'}");
    rig_add_as(&rig, RECORD_TASK, "t", "{'title':'x','categoryId':'gym'}");
    rig_add_as(&rig, RECORD_ENTRY, "e", "{'kind':'workout','categoryId':'gym'}");
    ASSERT_FAILS(rig_remove(&rig, RECORD_CATEGORY, STR("gym")), ERR_CONFLICT);
    ASSERT_TEXT(err_message(&t->err, 0),
                "category \"Gym\" is used by 2 records; archive it instead ({\"archived\": true}),"
                " or give them another category first");
    ASSERT_EQ(rig_remove(&rig, RECORD_TASK, STR("t")), 1);
    ASSERT_FAILS(rig_remove(&rig, RECORD_CATEGORY, STR("gym")), ERR_CONFLICT);
    ASSERT_CONTAINS(err_message(&t->err, 0), "is used by 1 record;");
    ASSERT_EQ(rig_set(&rig, RECORD_ENTRY, STR("e"), "{'categoryId':null}"), 1);
    ASSERT_EQ(rig_remove(&rig, RECORD_CATEGORY, STR("gym")), 1);
    /* A deleted task comes back with the category it had, though that is gone. */
    ASSERT_EQ(rig_restore(&rig, RECORD_TASK, STR("t")), 1);
}

DB_TEST(a_timer_is_not_restored_beside_one_that_runs)
{
    AUTO_RIG rig;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_TIME_ENTRY, "a", "{'startedAt':'2026-02-18T08:00:00Z'}");
    ASSERT_EQ(rig_remove(&rig, RECORD_TIME_ENTRY, STR("a")), 1);
    rig_add_as(&rig, RECORD_TIME_ENTRY, "b", "{'startedAt':'2026-02-18T08:00:00Z'}");
    ASSERT_FAILS(rig_restore(&rig, RECORD_TIME_ENTRY, STR("a")), ERR_CONFLICT);
}
