/* Records that an import makes: once, taken back, and the same that were exported.
 *
 * SPDX-License-Identifier: MIT
 */
#include <unistd.h>

#include "import_rig.h"
#include "journal/export.h"
#include "journal/list.h"

static struct import_result apply(struct rig *rig, const struct import *import)
{
    struct import_result result = { .tasks = 0 };
    struct test *t = rig->t;

    rig_begin(rig);
    ASSERT_OK(import_apply(rig->write, import, 0, import->count, &result, &t->err));
    rig_end(rig);
    return result;
}

DB_TEST(importing_twice_makes_nothing_twice)
{
    AUTO_RIG rig;
    struct import import =
        read_as(t, IMPORT_MARKDOWN, "# Home\n- [ ] a #x\n  - [x] i1\n  - [ ] i2\n- [x] b #x #y\n");
    struct import_result first, again;
    struct record task;

    rig_open(&rig, t);
    first = apply(&rig, &import);
    again = apply(&rig, &import);
    ASSERT_EQ(first.tasks, 2);
    ASSERT_EQ(first.categories, 1);
    ASSERT_EQ(again.tasks, 0);
    ASSERT_EQ(again.there, 2);
    task = rig_get(&rig, RECORD_TASK, import.records[1].id);
    ASSERT_STR(record_str(&task, "status"), "DONE");
    ASSERT(record_get(&task, "closedAt")->set);
    ASSERT_OK(rig_remove(&rig, RECORD_TASK, import.records[0].id));
    again = apply(&rig, &import);
    ASSERT_EQ(again.there, 1);
    ASSERT_EQ(again.deleted, 1); /* what was deleted stays so */
    ASSERT(!rig_there(&rig, RECORD_TASK, import.records[0].id));
}

DB_TEST(a_task_was_done_when_the_file_says)
{
    struct import import =
        read_as(t, IMPORT_TODOTXT, "x 2020-01-02 Call mum\nx Just now\n(A) Open\n");
    struct record task;
    AUTO_RIG rig;

    rig_open(&rig, t);
    apply(&rig, &import);
    task = rig_get(&rig, RECORD_TASK, import.records[0].id);
    ASSERT_EQ(record_i64(&task, "closedAt"), INT64_C(1577919600000)); /* its midnight in Berlin */
    task = rig_get(&rig, RECORD_TASK, import.records[1].id);
    ASSERT_EQ(record_i64(&task, "closedAt"), NOW);
    task = rig_get(&rig, RECORD_TASK, import.records[2].id);
    ASSERT(!record_get(&task, "closedAt")->set);
}

DB_TEST(a_part_of_a_task_that_says_more_than_its_title_is_linked_to_it)
{
    struct import import = read_as(t, IMPORT_CSV,
                                   TODOIST "task,Move,,4,1,,,,\n"
                                           "task,Move,,4,1,,,,\n"
                                           "task,Child,said,4,2,,,,\n");
    struct record_filter filter = { .type = RECORD_ENTRY_LINK, .limit = 10 };
    struct record *links;
    size_t n;
    bool more;
    AUTO_RIG rig;

    rig_open(&rig, t);
    ASSERT_EQ(apply(&rig, &import).tasks, 3u);
    ASSERT_EQ(apply(&rig, &import).there, 3u);
    ASSERT_OK(record_list(rig.journal, &filter, &t->arena, &links, &n, &more, &t->err));
    ASSERT_EQ(n, 1u);
    ASSERT(str_eq(record_str(&links[0], "fromId"), import.records[2].id));
    ASSERT(str_eq(record_str(&links[0], "toId"), import.records[1].id));
}

static const char *exported(struct rig *rig, bool ics)
{
    AUTO_BUF out = BUF_INIT(1 << 22);
    struct test *t = rig->t;

    ASSERT_OK(ics ? export_ics(rig->journal, &out, &t->err)
                  : export_json(rig->journal, true, &out, &t->err));
    return arena_text(&t->arena, buf_text(&out));
}

/* The next journal of this test is a new one. */
static void start_empty(struct test *t)
{
    static const char *const names[] = { "journal.sqlite", "journal.sqlite-wal",
                                         "journal.sqlite-shm" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        unlink(test_path(t, names[i]));
}

DB_TEST(what_is_exported_comes_back_the_same)
{
    AUTO_RIG rig = { .t = NULL };
    struct import import;
    const char *before, *after;
    struct str task;

    if (db_test_is_postgres(t))
        return; /* what is written into the file is the same there */
    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_CATEGORY, "home", "{'name':'Home, sweet; home'}");
    task =
        rig_add_as(&rig, RECORD_TASK, "t1",
                   "{'title':'Fix \\\\ fence','notes':'a\\nb, c; d','due':'2026-03-01T16:00',"
                   "'priority':'P0','status':'BLOCKED','estimateMinutes':90,'categoryId':'home'}");
    rig_add_as(&rig, RECORD_TASK, "t2", "{'title':'Done'}");
    clock_set_wall(&rig.clock, NOW - DAYS(30));
    ASSERT_EQ(rig_set(&rig, RECORD_TASK, STR("t2"), "{'status':'DONE'}"), 1);
    clock_set_wall(&rig.clock, NOW);
    ASSERT_EQ(rig_set(&rig, RECORD_TASK, STR("t2"), "{'title':'Done long ago'}"), 1);
    rig_add_as(&rig, RECORD_DAY_PLAN, "", "{'planDate':'2026-02-18'}");
    rig_add_as(&rig, RECORD_DAY_PLAN_BLOCK, "b1",
               "{'planId':'dayplan-2026-02-18','taskId':'t1','startTime':'2026-02-18T08:00:00Z',"
               "'endTime':'2026-02-18T09:00:00Z','note':'early'}");
    rig_add_as(&rig, RECORD_TIME_ENTRY, "e1",
               "{'taskId':'t1','startedAt':'2026-02-18T06:00:00Z','endedAt':'2026-02-18T07:00:00Z',"
               "'description':'dug'}");
    rig_add_as(&rig, RECORD_ENTRY, "m1",
               "{'kind':'measurement','subtype':'weight','value':71.25,'unit':'kg',"
               "'at':'2026-02-18T05:00:00Z'}");
    rig_add_as(&rig, RECORD_ENTRY, "w1",
               "{'kind':'workout','subtype':'run','title':'river','durationMs':1800000,"
               "'at':'2026-02-18T05:30:00Z'}");
    before = exported(&rig, true);
    ASSERT_TEXT(exported(&rig, false), exported(&rig, false));
    rig_close(&rig);

    import = read_as(t, IMPORT_ICS, before);
    ASSERT_EQ(import.problem_count, 0);
    ASSERT_EQ(import.count, 6);
    start_empty(t);
    rig_open(&rig, t);
    ASSERT(!rig_there(&rig, RECORD_TASK, task));
    apply(&rig, &import);
    after = exported(&rig, true);
    ASSERT_TEXT(after, before);
}

DB_TEST(an_export_that_does_not_fit_says_so)
{
    AUTO_RIG rig;
    AUTO_BUF out = BUF_INIT(400);

    rig_open(&rig, t);
    for (int i = 0; i < 5; i++)
        rig_add(&rig, RECORD_TASK, "{'title':'a task with some words in its title'}");
    ASSERT_EQ(export_ics(rig.journal, &out, &t->err), -1);
    ASSERT_EQ(t->err.code, ERR_TOO_LARGE);
    buf_release(&out);
    out = BUF_INIT(400);
    t->err = ERR_INIT;
    ASSERT_EQ(export_json(rig.journal, false, &out, &t->err), -1);
    ASSERT_EQ(t->err.code, ERR_TOO_LARGE);
}

static void apply_as(struct rig *rig, const struct import *import, const char *id)
{
    struct test *t = rig->t;
    struct journal_author author = { .kind = CHANGE_BY_HUMAN,
                                     .operation_id = import_step_id(str_from(id), 0, &t->arena),
                                     .operation = STR("import") };
    struct import_result result = { .tasks = 0 };
    struct journal_write *write;
    struct str done;

    ASSERT_EQ(journal_begin(rig->journal, &author, &t->arena, &write, &done, &t->err), 1);
    ASSERT_OK(import_apply(write, import, 0, import->count, &result, &t->err));
    ASSERT_OK(journal_end(write, true, import_made(write, &t->arena), &t->err));
}

DB_TEST(an_import_is_taken_back_but_for_what_others_use)
{
    struct import first =
        read_as(t, IMPORT_CSV, "title,category,labels\nFix,Home,wood\nPaint,Yard,\n");
    struct import second = read_as(t, IMPORT_CSV, "title,category\nRake,Home\n");
    struct import_undone undone;
    AUTO_RIG rig;

    rig_open(&rig, t);
    apply_as(&rig, &first, "one.0");
    apply_as(&rig, &second, "oneself");
    ASSERT_OK(import_undo(rig.journal, STR("one"), &t->arena, &undone, &t->err));
    ASSERT_EQ(undone.removed, 4u); /* two tasks, a label, the category that nothing uses */
    ASSERT_EQ(undone.kept, 1u);
    ASSERT(!rig_there(&rig, RECORD_TASK, first.records[0].id));
    ASSERT(rig_there(&rig, RECORD_TASK, second.records[0].id));
    ASSERT_OK(import_undo(rig.journal, STR("one"), &t->arena, &undone, &t->err));
    ASSERT_EQ(undone.removed, 0u);
    ASSERT_FAILS(import_undo(rig.journal, STR("on"), &t->arena, &undone, &t->err), ERR_NOT_FOUND);
}

/* All that is there, without what says when. */
static const char *exported_tasks(struct rig *rig)
{
    AUTO_JSON all = rig_json(rig->t, exported(rig, false));
    AUTO_BUF out = BUF_INIT(1 << 20);
    struct json_object *tasks = json_find(all, "tasks");

    for (size_t i = 0; i < json_length(tasks); i++) {
        struct json_object *task = json_object_array_get_idx(tasks, i);

        buf_printf(&out, "%s %zu|", json_object_get_string(json_find(task, "title")),
                   json_length(json_find(task, "labelIds")));
    }
    buf_printf(&out, "%zu items, %zu labels, %zu categories, %zu blocks",
               json_length(json_find(all, "checklistItems")), json_length(json_find(all, "labels")),
               json_length(json_find(all, "categories")),
               json_length(json_find(all, "dayPlanBlocks")));
    return arena_text(&rig->t->arena, buf_text(&out));
}

DB_TEST(what_was_taken_back_is_made_again_but_not_what_somebody_deleted)
{
    struct import import = read_as(
        t, IMPORT_MARKDOWN, "# Home\n- [ ] a #x\n  - [x] i1\n  - [ ] i2\n- [x] b #x #y\n- [ ] c\n");
    struct import_undone undone;
    struct import_look look;
    struct import_result again;
    const char *before;
    AUTO_RIG rig;

    rig_open(&rig, t);
    apply_as(&rig, &import, "one");
    ASSERT_OK(rig_remove(&rig, RECORD_TASK, import.records[2].id));
    before = exported_tasks(&rig);
    ASSERT_TEXT(before, "a 1|b 2|2 items, 2 labels, 1 categories, 0 blocks");
    for (int round = 0; round < 2; round++) {
        clock_advance(&rig.clock, SECONDS(1));
        ASSERT_OK(
            import_undo(rig.journal, round ? STR("two") : STR("one"), &t->arena, &undone, &t->err));
        ASSERT_TEXT(exported_tasks(&rig), "0 items, 0 labels, 0 categories, 0 blocks");
        ASSERT_OK(import_look(rig.journal, &import, &t->arena, &look, &t->err));
        ASSERT_EQ(look.counts.tasks, 2u);
        ASSERT_EQ(look.counts.deleted, 1u);
        ASSERT_EQ(look.counts.there, 0u);
        clock_advance(&rig.clock, SECONDS(1));
        apply_as(&rig, &import, round ? "three" : "two");
        ASSERT_TEXT(exported_tasks(&rig), before);
    }
    again = apply(&rig, &import);
    ASSERT_EQ(again.there, 2u);
    ASSERT_EQ(again.deleted, 1u);
}

DB_TEST(a_journal_whose_import_was_taken_back_comes_back)
{
    AUTO_RIG rig = { .t = NULL };
    struct import import;
    struct import_undone undone;
    const char *before;

    if (db_test_is_postgres(t))
        return; /* what is written into the file is the same there */
    rig_open(&rig, t);
    import = read_as(t, IMPORT_MARKDOWN, "# Home\n- [ ] a #x\n  - [x] i1\n- [x] b #x #y\n");
    apply(&rig, &import);
    rig_add_as(&rig, RECORD_DAY_PLAN, "", "{'planDate':'2026-02-18'}");
    rig_add_as(&rig, RECORD_DAY_PLAN_BLOCK, "b1",
               "{'planId':'dayplan-2026-02-18','startTime':'2026-02-18T08:00:00Z',"
               "'endTime':'2026-02-18T09:00:00Z','note':'early'}");
    before = exported(&rig, false);
    rig_close(&rig);

    import = read_as(t, IMPORT_JSON, before);
    start_empty(t);
    rig_open(&rig, t);
    apply_as(&rig, &import, "one");
    clock_advance(&rig.clock, SECONDS(1));
    ASSERT_OK(import_undo(rig.journal, STR("one"), &t->arena, &undone, &t->err));
    ASSERT_TEXT(exported_tasks(&rig), "0 items, 0 labels, 0 categories, 0 blocks");
    apply_as(&rig, &import, "two");
    ASSERT_TEXT(exported(&rig, false), before);
}
