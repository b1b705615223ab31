/* Labels, checklists, follow-ups, timers, plans, ratings, files. SPDX-License-Identifier: MIT */
#include "journal/list.h"
#include "journal/moves.h"
#include "rig.h"

static size_t batch_count(struct rig *rig)
{
    size_t n;

    rig_batches(rig, &n);
    return n;
}

/* Names of a task's labels, in order, joined by commas. */
static const char *labels_of(struct rig *rig, struct str id)
{
    struct test *t = rig->t;
    struct record task = rig_get(rig, RECORD_TASK, id), **labels;
    AUTO_BUF out = BUF_INIT(1000);
    size_t *counts;

    ASSERT_OK(task_labels_of(rig->journal, &task, 1, &t->arena, &labels, &counts, &t->err));
    for (size_t i = 0; i < counts[0]; i++)
        buf_printf(&out, "%s%.*s", i ? "," : "", STR_ARG(record_str(&labels[0][i], "name")));
    return arena_text(&t->arena, buf_text(&out));
}

static int set_labels(struct rig *rig, const char *task, const struct str *labels, size_t n,
                      bool make)
{
    struct test *t = rig->t;
    int r;

    t->err = ERR_INIT;
    r = task_set_labels(rig_begin(rig), str_from(task), labels, n, make, &t->err);
    r < 0 ? rig_drop(rig) : rig_end(rig);
    return r;
}

DB_TEST(labels_are_set_by_name_or_id_and_made_when_asked)
{
    AUTO_RIG rig;
    struct str names[] = { STR("Home"), STR("urgent") }, again[] = { STR("URGENT"), STR("lx") };
    size_t before;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_TASK, "t", "{'title':'x'}");
    rig_add_as(&rig, RECORD_LABEL, "lx", "{'name':'garden'}");
    ASSERT_FAILS(set_labels(&rig, "t", names, 2, false), ERR_NOT_FOUND);
    ASSERT_TEXT(err_message(&t->err, 0), "there is no label \"Home\"");
    ASSERT_TEXT(labels_of(&rig, STR("t")), "");
    ASSERT_EQ(set_labels(&rig, "t", names, 2, true), 1);
    ASSERT_TEXT(labels_of(&rig, STR("t")), "Home,urgent");
    before = batch_count(&rig);
    ASSERT_EQ(set_labels(&rig, "t", names, 2, true), 0);
    ASSERT_EQ(batch_count(&rig), before);
    ASSERT_EQ(set_labels(&rig, "t", again, 2, false), 1);
    ASSERT_TEXT(labels_of(&rig, STR("t")), "garden,urgent");
    ASSERT_EQ(set_labels(&rig, "t", names, 1, false), 1);
    ASSERT_TEXT(labels_of(&rig, STR("t")), "Home");
    ASSERT_EQ(set_labels(&rig, "t", NULL, 0, false), 1);
    ASSERT_TEXT(labels_of(&rig, STR("t")), "");
    ASSERT_FAILS(set_labels(&rig, "none", NULL, 0, false), ERR_NOT_FOUND);
}

DB_TEST(a_set_label_tells_who_watches_the_task_or_the_label)
{
    AUTO_RIG rig;
    struct str label = STR("l");
    struct change_row *rows;
    size_t n, ids = 0;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_TASK, "t", "{'title':'x'}");
    rig_add_as(&rig, RECORD_LABEL, "l", "{'name':'garden'}");
    ASSERT_EQ(set_labels(&rig, "t", &label, 1, false), 1);
    rows = rig_batches(&rig, &n);
    ASSERT_EQ(n, 3);
    ASSERT_EQ(rows[2].unit_count, 1);
    ASSERT_STR(rows[2].unit[0].payload_type, "taskLabel");
    ASSERT_STR(rows[2].unit[0].payload_id, "t:l");
    for (size_t i = 0; i < rows[2].token_count; i++)
        ids += rows[2].tokens[i].class == TOKEN_ENTITY_ID &&
               (str_is(rows[2].tokens[i].value, "t") || str_is(rows[2].tokens[i].value, "l"));
    ASSERT_EQ(ids, 2);
}

DB_TEST(a_label_that_is_deleted_leaves_its_tasks_and_comes_back_to_them)
{
    AUTO_RIG rig;
    struct str both[] = { STR("l"), STR("m") }, only = STR("m");

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_TASK, "t", "{'title':'x'}");
    rig_add_as(&rig, RECORD_TASK, "u", "{'title':'x'}");
    rig_add_as(&rig, RECORD_LABEL, "l", "{'name':'garden'}");
    rig_add_as(&rig, RECORD_LABEL, "m", "{'name':'home'}");
    ASSERT_EQ(set_labels(&rig, "t", both, 2, false), 1);
    ASSERT_EQ(set_labels(&rig, "u", both, 2, false), 1);
    clock_advance(&rig.clock, 10);
    ASSERT_EQ(set_labels(&rig, "u", &only, 1, false), 1);
    clock_advance(&rig.clock, 10);
    ASSERT_EQ(rig_remove(&rig, RECORD_LABEL, STR("l")), 1);
    ASSERT_TEXT(labels_of(&rig, STR("t")), "home");
    ASSERT_EQ(rig_restore(&rig, RECORD_LABEL, STR("l")), 1);
    ASSERT_TEXT(labels_of(&rig, STR("t")), "garden,home");
    ASSERT_TEXT(labels_of(&rig, STR("u")), "home"); /* it had been taken away before */
}

/* ---- checklists ---- */

/* Titles of a checklist, checked ones with an x. */
static const char *items_of(struct rig *rig, struct str checklist)
{
    struct test *t = rig->t;
    struct record_filter filter = { .type = RECORD_CHECKLIST_ITEM, .parent = checklist };
    AUTO_BUF out = BUF_INIT(10000);
    struct record *items;
    size_t n;
    bool more;

    ASSERT_OK(record_list(rig->journal, &filter, &t->arena, &items, &n, &more, &t->err));
    for (size_t i = 0; i < n; i++)
        buf_printf(&out, "%s%s%.*s", i ? "," : "", record_i64(&items[i], "checked") ? "x" : "",
                   STR_ARG(record_str(&items[i], "title")));
    return arena_text(&t->arena, buf_text(&out));
}

DB_TEST(items_are_added_at_the_end_and_moved_in_order)
{
    AUTO_RIG rig;
    struct str titles[] = { STR("nails"), STR("wood"), STR("paint") }, ids[2];
    struct record *items;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_CHECKLIST, "a", "{'title':'A'}");
    rig_add_as(&rig, RECORD_CHECKLIST, "b", "{'title':'B'}");
    rig_add_as(&rig, RECORD_CHECKLIST_ITEM, "old", "{'checklistId':'b','title':'old'}");
    rig_begin(&rig);
    ASSERT_OK(checklist_add(rig.write, STR("a"), titles, 3, &items, &t->err));
    rig_end(&rig);
    ASSERT_TEXT(items_of(&rig, STR("a")), "nails,wood,paint");
    ASSERT_EQ(rig_set(&rig, RECORD_CHECKLIST_ITEM, items[2].id, "{'checked':true}"), 1);
    ids[0] = items[2].id;
    ids[1] = items[0].id;
    ASSERT_OK(checklist_move(rig_begin(&rig), ids, 2, STR("a"), STR("b"), true, &t->err));
    rig_end(&rig);
    ASSERT_TEXT(items_of(&rig, STR("a")), "wood");
    ASSERT_TEXT(items_of(&rig, STR("b")), "old,xpaint,nails");
    ASSERT_OK(checklist_move(rig_begin(&rig), ids, 1, STR("b"), STR("a"), false, &t->err));
    rig_end(&rig);
    ASSERT_TEXT(items_of(&rig, STR("a")), "wood,paint");
    ASSERT_FAILS(checklist_move(rig_begin(&rig), ids, 2, STR("a"), STR("b"), true, &t->err),
                 ERR_CONFLICT);
    rig_drop(&rig);
    /* All or nothing. */
    ASSERT_TEXT(items_of(&rig, STR("a")), "wood,paint");
    ASSERT_FAILS(checklist_move(rig_begin(&rig), ids, 1, STR("a"), STR("a"), true, &t->err),
                 ERR_BAD_REQUEST);
    rig_drop(&rig);
    ASSERT_FAILS(checklist_move(rig_begin(&rig), ids, 1, STR("a"), STR("zz"), true, &t->err),
                 ERR_NOT_FOUND);
    rig_drop(&rig);
    titles[1] = STR("");
    ASSERT_FAILS(checklist_add(rig_begin(&rig), STR("a"), titles, 3, NULL, &t->err),
                 ERR_SCHEMA_VIOLATION);
    ASSERT_TEXT(err_message(&t->err, 0), "item 2");
    rig_drop(&rig);
    ASSERT_TEXT(items_of(&rig, STR("a")), "wood,paint");
}

/* ---- follow-ups ---- */

static void fence_with_items(struct rig *rig)
{
    struct str labels[] = { STR("garden"), STR("home") };

    rig_add_as(rig, RECORD_CATEGORY, "home", "{'name':'Home'}");
    rig_add_as(rig, RECORD_TASK, "fence",
               "{'title':'Fix fence','categoryId':'home','priority':'P1','language':'en',"
               "'due':'2026-02-18'}");
    rig_add_as(rig, RECORD_CHECKLIST, "parts", "{'title':'Parts','taskId':'fence'}");
    rig_add_as(rig, RECORD_CHECKLIST, "tools", "{'title':'Tools','taskId':'fence'}");
    rig_add_as(rig, RECORD_CHECKLIST_ITEM, "i1",
               "{'checklistId':'parts','title':'nails','checked':true}");
    rig_add_as(rig, RECORD_CHECKLIST_ITEM, "i2", "{'checklistId':'parts','title':'wood'}");
    rig_add_as(rig, RECORD_CHECKLIST_ITEM, "i3", "{'checklistId':'parts','title':'paint'}");
    rig_add_as(rig, RECORD_CHECKLIST_ITEM, "i4",
               "{'checklistId':'tools','title':'hammer','checked':true}");
    ASSERT_EQ(set_labels(rig, "fence", labels, 2, true), 1);
}

DB_TEST(a_follow_up_carries_what_is_open_and_closes_the_source)
{
    AUTO_RIG rig;
    struct follow_up how = { .source_id = STR("fence"),
                             .carry_open_items = true,
                             .close_as = STR("DONE"),
                             .keep_category_and_labels = true };
    struct record_filter lists = { .type = RECORD_CHECKLIST },
                         links = { .type = RECORD_ENTRY_LINK };
    struct follow_up_result result;
    struct record source, *found;
    size_t n, before;
    bool more;

    rig_open(&rig, t);
    fence_with_items(&rig);
    before = batch_count(&rig);
    ASSERT_OK(task_follow_up(rig_begin(&rig), &how, &result, &t->err));
    rig_end(&rig);
    ASSERT_EQ(batch_count(&rig), before + 1);
    ASSERT_EQ(result.moved, 2);
    ASSERT_STR(record_str(&result.task, "title"), "Fix fence, part 2");
    ASSERT_STR(record_str(&result.task, "categoryId"), "home");
    ASSERT_STR(record_str(&result.task, "priority"), "P1");
    ASSERT(!record_get(&result.task, "due")->set);
    ASSERT_TEXT(labels_of(&rig, result.task.id), "garden,home");
    source = rig_get(&rig, RECORD_TASK, STR("fence"));
    ASSERT_STR(record_str(&source, "status"), "DONE");
    ASSERT_TEXT(items_of(&rig, STR("parts")), "xnails");
    lists.parent = result.task.id;
    ASSERT_OK(record_list(rig.journal, &lists, &t->arena, &found, &n, &more, &t->err));
    ASSERT_EQ(n, 1); /* nothing was open among the tools */
    ASSERT_STR(record_str(&found[0], "title"), "Parts");
    ASSERT_TEXT(items_of(&rig, found[0].id), "wood,paint");
    links.target_id = STR("fence");
    ASSERT_OK(record_list(rig.journal, &links, &t->arena, &found, &n, &more, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_STR(record_str(&found[0], "relation"), "follow_up");
    ASSERT(str_eq(record_str(&found[0], "fromId"), result.task.id));
}

TEST(a_task_that_follows_has_a_title_of_its_own)
{
    static const char *const cases[][2] = {
        { "Paint", "Paint, part 2" },
        { "Paint, part 2", "Paint, part 3" },
        { "Paint, part 99", "Paint, part 100" },
        { "Room 101", "Room 101, part 2" },
        { ", part 7", ", part 8" },
        { "2026", "2026, part 2" },
        { "Paint, part 1234567", "Paint, part 1234567, part 2" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_STR(task_title_after(str_from(cases[i][0]), &t->arena), cases[i][1]);
}

DB_TEST(a_follow_up_without_anything_to_carry_makes_no_task)
{
    AUTO_RIG rig;
    struct follow_up how = { .source_id = STR("t"),
                             .carry_open_items = true,
                             .close_as = STR("REJECTED") };
    struct follow_up_result result;
    struct record source;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_TASK, "t", "{'title':'x'}");
    ASSERT_OK(task_follow_up(rig_begin(&rig), &how, &result, &t->err));
    rig_end(&rig);
    ASSERT_EQ(result.task.n, 0);
    source = rig_get(&rig, RECORD_TASK, STR("t"));
    ASSERT_STR(record_str(&source, "status"), "REJECTED");
    how.title = STR("Next");
    how.close_as = STR("");
    ASSERT_OK(task_follow_up(rig_begin(&rig), &how, &result, &t->err));
    rig_end(&rig);
    ASSERT_STR(record_str(&result.task, "title"), "Next");
    how.close_as = STR("OPEN");
    ASSERT_FAILS(task_follow_up(rig_begin(&rig), &how, &result, &t->err), ERR_BAD_REQUEST);
    rig_drop(&rig);
    how.source_id = STR("none");
    ASSERT_FAILS(task_follow_up(rig_begin(&rig), &how, &result, &t->err), ERR_NOT_FOUND);
    rig_drop(&rig);
}

/* ---- the timer ---- */

DB_TEST(a_timer_that_is_started_stops_the_one_that_runs)
{
    AUTO_RIG rig;
    struct record first, second, running;
    size_t before;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_TASK, "t", "{'title':'x'}");
    ASSERT_EQ(timer_running(rig.journal, &t->arena, &running, &t->err), 0);
    ASSERT_OK(timer_start(rig_begin(&rig), STR("t"), STR("go"), &first, &t->err));
    rig_end(&rig);
    clock_advance(&rig.clock, MINUTES(5));
    before = batch_count(&rig);
    ASSERT_OK(timer_start(rig_begin(&rig), STR("t"), STR("go"), &second, &t->err));
    rig_end(&rig);
    ASSERT(str_eq(first.id, second.id));
    ASSERT_EQ(batch_count(&rig), before);
    ASSERT_OK(timer_start(rig_begin(&rig), STR(""), STR(""), &second, &t->err));
    rig_end(&rig);
    ASSERT(!str_eq(first.id, second.id));
    first = rig_get(&rig, RECORD_TIME_ENTRY, first.id);
    ASSERT_EQ(record_i64(&first, "endedAt"), NOW + MINUTES(5));
    ASSERT_EQ(timer_running(rig.journal, &t->arena, &running, &t->err), 1);
    ASSERT(str_eq(running.id, second.id));
    ASSERT_FAILS(timer_start(rig_begin(&rig), STR("none"), STR(""), &second, &t->err),
                 ERR_SCHEMA_VIOLATION);
    rig_drop(&rig);
    /* What did not start did not stop the other one. */
    ASSERT_EQ(timer_running(rig.journal, &t->arena, &running, &t->err), 1);
}

DB_TEST(a_timer_is_stopped_now_or_at_a_time_and_only_for_its_task)
{
    AUTO_RIG rig;
    struct record entry;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_TASK, "t", "{'title':'x'}");
    ASSERT_FAILS(timer_stop(rig_begin(&rig), STR(""), 0, &entry, &t->err), ERR_NOT_FOUND);
    ASSERT_TEXT(err_message(&t->err, 0), "no timer runs");
    rig_drop(&rig);
    ASSERT_OK(timer_start(rig_begin(&rig), STR("t"), STR(""), &entry, &t->err));
    rig_end(&rig);
    ASSERT_FAILS(timer_stop(rig_begin(&rig), STR("u"), 0, &entry, &t->err), ERR_NOT_FOUND);
    ASSERT_CONTAINS(err_message(&t->err, 0), "no timer runs for task \"u\"");
    rig_drop(&rig);
    ASSERT_FAILS(timer_stop(rig_begin(&rig), STR("t"), NOW - 1, &entry, &t->err), ERR_BAD_REQUEST);
    rig_drop(&rig);
    clock_advance(&rig.clock, HOURS(1));
    ASSERT_OK(timer_stop(rig_begin(&rig), STR("t"), NOW + 1000, &entry, &t->err));
    rig_end(&rig);
    ASSERT_EQ(record_i64(&entry, "endedAt"), NOW + 1000);
}

DB_TEST(a_clock_that_was_set_back_ends_a_timer_where_it_began)
{
    AUTO_RIG rig;
    struct record entry;

    rig_open(&rig, t);
    ASSERT_OK(timer_start(rig_begin(&rig), STR(""), STR(""), &entry, &t->err));
    rig_end(&rig);
    clock_set_wall(&rig.clock, NOW - DAYS(1));
    ASSERT_OK(timer_stop(rig_begin(&rig), STR(""), 0, &entry, &t->err));
    rig_end(&rig);
    ASSERT_EQ(record_i64(&entry, "endedAt"), NOW);
}

/* ---- plans ---- */

static int put_blocks(struct rig *rig, const char *upserts, const struct str *deletes, size_t n)
{
    struct test *t = rig->t;
    AUTO_JSON json = upserts ? rig_json(t, upserts) : NULL;
    int r;

    t->err = ERR_INIT;
    r = day_plan_put_blocks(rig_begin(rig), STR("2026-02-18"), json, deletes, n, &t->err);
    r < 0 ? rig_drop(rig) : rig_end(rig);
    return r;
}

static size_t count_blocks(struct rig *rig)
{
    struct test *t = rig->t;
    struct record_filter filter = { .type = RECORD_DAY_PLAN_BLOCK,
                                    .parent = STR("dayplan-2026-02-18") };
    struct record *blocks;
    size_t n;
    bool more;

    ASSERT_OK(record_list(rig->journal, &filter, &t->arena, &blocks, &n, &more, &t->err));
    return n;
}

DB_TEST(blocks_lie_in_their_day_and_do_not_overlap)
{
    AUTO_RIG rig;
    struct str gone = STR("a");

    rig_open(&rig, t);
    ASSERT_OK(put_blocks(&rig,
                         "[{'id':'a','startTime':'2026-02-18T08:00:00Z',"
                         "'endTime':'2026-02-18T09:00:00Z'},"
                         "{'id':'b','startTime':'2026-02-18T09:00:00Z',"
                         "'endTime':'2026-02-18T10:00:00Z','note':'b'}]",
                         NULL, 0));
    ASSERT_EQ(count_blocks(&rig), 2);
    /* Two that change places never overlap once both have moved. */
    ASSERT_OK(put_blocks(&rig,
                         "[{'id':'a','startTime':'2026-02-18T09:00:00Z',"
                         "'endTime':'2026-02-18T10:00:00Z'},"
                         "{'id':'b','startTime':'2026-02-18T08:00:00Z',"
                         "'endTime':'2026-02-18T09:00:00Z'}]",
                         NULL, 0));
    ASSERT_FAILS(put_blocks(&rig,
                            "[{'startTime':'2026-02-18T08:59:00Z',"
                            "'endTime':'2026-02-18T09:01:00Z'}]",
                            NULL, 0),
                 ERR_CONFLICT);
    ASSERT_EQ(count_blocks(&rig), 2);
    /* The day ends at 23:00 UTC in Berlin in winter. */
    ASSERT_FAILS(put_blocks(&rig,
                            "[{'startTime':'2026-02-18T22:30:00Z',"
                            "'endTime':'2026-02-18T23:00:01Z'}]",
                            NULL, 0),
                 ERR_SCHEMA_VIOLATION);
    ASSERT_CONTAINS(err_message(&t->err, 1), "/endTime: lies outside of 2026-02-18");
    ASSERT_OK(put_blocks(&rig,
                         "[{'startTime':'2026-02-17T23:00:00Z',"
                         "'endTime':'2026-02-17T23:30:00Z'}]",
                         NULL, 0));
    ASSERT_FAILS(put_blocks(&rig,
                            "[{'startTime':'2026-02-18T12:00:00Z',"
                            "'endTime':'2026-02-18T12:00:00Z'}]",
                            NULL, 0),
                 ERR_SCHEMA_VIOLATION);
    ASSERT_OK(put_blocks(&rig, NULL, &gone, 1));
    ASSERT_EQ(count_blocks(&rig), 2);
    ASSERT_FAILS(put_blocks(&rig, "{}", NULL, 0), ERR_SCHEMA_VIOLATION);
    ASSERT_FAILS(put_blocks(&rig, "[1]", NULL, 0), ERR_SCHEMA_VIOLATION);
    ASSERT_TEXT(err_message(&t->err, 0), "/upserts/0");
}

DB_TEST(a_block_by_itself_keeps_the_same_rules)
{
    AUTO_RIG rig;
    const char *block = "{'planId':'dayplan-2026-02-18','startTime':'2026-02-18T08:00:00Z',"
                        "'endTime':'2026-02-18T09:00:00Z'}";

    rig_open(&rig, t);
    rig_add(&rig, RECORD_DAY_PLAN, "{'planDate':'2026-02-18'}");
    rig_add_as(&rig, RECORD_DAY_PLAN_BLOCK, "a", block);
    ASSERT_FAILS(rig_try(&rig, RECORD_DAY_PLAN_BLOCK, "b", block), ERR_CONFLICT);
    ASSERT_EQ(rig_remove(&rig, RECORD_DAY_PLAN_BLOCK, STR("a")), 1);
    ASSERT_OK(rig_try(&rig, RECORD_DAY_PLAN_BLOCK, "b", block));
    ASSERT_FAILS(rig_restore(&rig, RECORD_DAY_PLAN_BLOCK, STR("a")), ERR_CONFLICT);
    ASSERT_FAILS(
        rig_set(&rig, RECORD_DAY_PLAN_BLOCK, STR("b"), "{'endTime':'2026-02-19T09:00:00Z'}"),
        ERR_SCHEMA_VIOLATION);
}

DB_TEST(tasks_are_pinned_to_a_day)
{
    AUTO_RIG rig;
    struct str tasks[] = { STR("b"), STR("a") };
    struct record plan;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_TASK, "a", "{'title':'x'}");
    rig_add_as(&rig, RECORD_TASK, "b", "{'title':'x'}");
    ASSERT_EQ(day_plan_pin(rig_begin(&rig), STR("2026-02-18"), tasks, 2, &t->err), 1);
    rig_end(&rig);
    plan = rig_get(&rig, RECORD_DAY_PLAN, STR("dayplan-2026-02-18"));
    ASSERT_STR(record_str(&plan, "pinnedTaskIds"), "[\"b\",\"a\"]");
    ASSERT_EQ(day_plan_pin(rig_begin(&rig), STR("2026-02-18"), tasks, 2, &t->err), 0);
    rig_end(&rig);
    ASSERT_FAILS(day_plan_pin(rig_begin(&rig), STR("tomorrow"), tasks, 2, &t->err),
                 ERR_BAD_REQUEST);
    rig_drop(&rig);
}

/* ---- ratings and files ---- */

DB_TEST(a_rating_is_made_once_and_changed_after)
{
    AUTO_RIG rig;
    AUTO_JSON good = rig_json(t, "{'targetType':'dayPlan','targetId':'dayplan-2026-02-18',"
                                 "'dimension':'mood','value':4}");
    AUTO_JSON bad = rig_json(t, "{'targetType':'dayPlan','targetId':'dayplan-2026-02-18',"
                                "'dimension':'mood','value':2,'note':'tired'}");
    struct record first, second;
    struct rating_summary *sums;
    size_t n;

    rig_open(&rig, t);
    ASSERT_OK(rate(rig_begin(&rig), good, &first, &t->err));
    rig_end(&rig);
    ASSERT(rig_there(&rig, RECORD_DAY_PLAN, STR("dayplan-2026-02-18")));
    ASSERT_EQ(record_i64(&first, "ratedAt"), NOW);
    ASSERT_OK(rate(rig_begin(&rig), bad, &second, &t->err));
    rig_end(&rig);
    ASSERT(str_eq(first.id, second.id));
    ASSERT_OK(rating_summaries(rig.journal, &journal_all, 0, 0, &t->arena, &sums, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_EQ(sums[0].count, 1);
    ASSERT(sums[0].mean == 2);
}

static int64_t rated_at(struct rig *rig, const char *fields)
{
    struct test *t = rig->t;
    AUTO_JSON json = rig_json(t, fields);
    struct record rating;

    ASSERT_OK(rate(rig_begin(rig), json, &rating, &t->err));
    rig_end(rig);
    return record_i64(&rating, "ratedAt");
}

DB_TEST(a_rating_counts_for_the_day_that_it_rates)
{
    AUTO_RIG rig;
    struct rating_summary *sums;
    int64_t from, to, at;
    size_t n;

    rig_open(&rig, t);
    ASSERT_OK(journal_day_span(rig.journal, STR("2025-08-01"), &from, &to, &t->err));
    at = rated_at(&rig, "{'targetType':'dayPlan','targetId':'dayplan-2025-08-01',"
                        "'dimension':'energy','value':1}");
    ASSERT(at >= from && at < to);
    at = rated_at(&rig, "{'targetType':'dayPlan','targetId':'dayplan-2025-08-01',"
                        "'dimension':'energy','value':2,'ratedAt':'2026-02-18T09:00:00Z'}");
    ASSERT(at >= from && at < to);
    ASSERT_OK(rating_summaries(rig.journal, NULL, from, to, &t->arena, &sums, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_EQ(sums[0].count, 1);
    ASSERT_OK(rating_summaries(rig.journal, NULL, to, 0, &t->arena, &sums, &n, &t->err));
    ASSERT_EQ(n, 0);
}

DB_TEST(a_rating_counts_for_the_moment_of_what_it_rates_and_moves_along)
{
    AUTO_RIG rig;
    struct record_filter filter = { .type = RECORD_RATING, .target_id = STR("run") };
    struct record *ratings;
    const int64_t day = INT64_C(24) * 3600 * 1000;
    int64_t was, given;
    size_t n;
    bool more;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_ENTRY, "run", "{'kind':'workout','at':'2026-02-10T08:00:00Z'}");
    rig_add_as(&rig, RECORD_TASK, "open", "{'title':'Fence'}");
    rig_add_as(&rig, RECORD_TIME_ENTRY, "time",
               "{'startedAt':'2026-02-11T08:00:00Z','endedAt':'2026-02-11T09:00:00Z'}");
    was = rated_at(&rig, "{'targetType':'entry','targetId':'run','dimension':'joy','value':3}");
    ASSERT_EQ(rated_at(&rig, "{'targetType':'timeEntry','targetId':'time','dimension':'joy',"
                             "'value':3}"),
              was + day);
    ASSERT_EQ(rated_at(&rig, "{'targetType':'task','targetId':'open','dimension':'joy','value':3}"),
              NOW);
    given = rated_at(&rig, "{'targetType':'entry','targetId':'run','dimension':'mood','value':3,"
                           "'ratedAt':'2026-02-12T08:00:00Z'}");
    ASSERT_EQ(given, was + 2 * day);

    ASSERT_EQ(rig_set(&rig, RECORD_ENTRY, STR("run"), "{'at':'2026-02-13T08:00:00Z'}"), 1);
    ASSERT_OK(record_list(rig.journal, &filter, &t->arena, &ratings, &n, &more, &t->err));
    ASSERT_EQ(n, 2);
    ASSERT_EQ(record_i64(&ratings[0], "ratedAt"), given);
    ASSERT_EQ(record_i64(&ratings[1], "ratedAt"), was + 3 * day);
}

DB_TEST(a_file_comes_with_its_size_and_hash_and_goes_with_its_entry)
{
    AUTO_RIG rig;
    struct attachment_file file = { STR("e"), STR("a.ogg"), STR("audio/ogg"), STR("a\0b\xff") };
    struct record attachment;
    struct str bytes;

    rig_open(&rig, t);
    rig_add_as(&rig, RECORD_ENTRY, "e", "{'kind':'audio'}");
    ASSERT_OK(attachment_add(rig_begin(&rig), &file, &attachment, &t->err));
    rig_end(&rig);
    attachment = rig_get(&rig, RECORD_ATTACHMENT, attachment.id);
    ASSERT_EQ(record_i64(&attachment, "size"), 4);
    ASSERT_STR(record_str(&attachment, "sha256"),
               "a37cc3026aae4d519e0b19c298fa913b4dccfdf0658cbccbb7deaa0226d5acdb");
    ASSERT_EQ(attachment_content(rig.journal, attachment.id, &t->arena, &bytes, &t->err), 1);
    ASSERT(str_eq(bytes, file.bytes));
    ASSERT_EQ(rig_remove(&rig, RECORD_ENTRY, STR("e")), 1);
    ASSERT(!rig_there(&rig, RECORD_ATTACHMENT, attachment.id));
    ASSERT_EQ(attachment_content(rig.journal, attachment.id, &t->arena, &bytes, &t->err), 0);
    ASSERT_EQ(rig_restore(&rig, RECORD_ENTRY, STR("e")), 1);
    ASSERT_EQ(attachment_content(rig.journal, attachment.id, &t->arena, &bytes, &t->err), 1);
    file.entry_id = STR("none");
    ASSERT_FAILS(attachment_add(rig_begin(&rig), &file, NULL, &t->err), ERR_SCHEMA_VIOLATION);
    rig_drop(&rig);
    file.entry_id = STR("e");
    file.file_name = STR_NONE;
    ASSERT_FAILS(attachment_add(rig_begin(&rig), &file, NULL, &t->err), ERR_SCHEMA_VIOLATION);
    rig_drop(&rig);
}
