/* A journal that was exported and is read again. SPDX-License-Identifier: MIT */
#include "base/hash.h"
#include "db/db.h"
#include "journal/export.h"
#include "journal/import.h"
#include "journal/list.h"
#include "journal/moves.h"
#include "provenance.h"

static const char *exported(struct rig *rig)
{
    struct test *t = rig->t;
    AUTO_BUF out = BUF_INIT(1 << 22);

    ASSERT_OK(export_json(rig->journal, true, &out, &t->err));
    return arena_text(&t->arena, buf_text(&out));
}

static int read_json(struct test *t, const char *text, struct import *ret_import)
{
    t->err = ERR_INIT;
    return import_read(IMPORT_JSON, str_from(text), NULL, &t->arena, ret_import, &t->err);
}

/* In writes of so many records. */
static struct import_result take_in(struct rig *rig, const char *text, size_t step)
{
    struct test *t = rig->t;
    struct import_result result = { .tasks = 0 };
    struct import import;

    ASSERT_OK(read_json(t, text, &import));
    ASSERT_EQ(import.problem_count, 0u);
    for (size_t i = 0; i < import.count; i += step) {
        ASSERT_OK(import_apply(rig_begin(rig), &import, i, step, &result, &t->err));
        rig_end(rig);
    }
    return result;
}

/* As if it were another journal. */
static void empty_tables(struct rig *rig)
{
    struct test *t = rig->t;
    static const struct sql deletes[] = {
        { "DELETE FROM categories" },      { "DELETE FROM labels" },
        { "DELETE FROM tasks" },           { "DELETE FROM task_labels" },
        { "DELETE FROM checklists" },      { "DELETE FROM checklist_items" },
        { "DELETE FROM time_entries" },    { "DELETE FROM day_plans" },
        { "DELETE FROM day_plan_blocks" }, { "DELETE FROM ratings" },
        { "DELETE FROM entries" },         { "DELETE FROM attachments" },
        { "DELETE FROM entry_links" },     { "DELETE FROM change_batches" },
    };

    ASSERT_OK(domain_begin(rig->domain, &t->err));
    for (size_t i = 0; i < ARRAY_LEN(deletes); i++)
        ASSERT_OK(db_exec(domain_db(rig->domain), deletes[i], &t->err));
    ASSERT_OK(domain_commit(rig->domain, &t->err));
}

/* One of everything, made and changed at different times. */
static void fill(struct rig *rig)
{
    struct test *t = rig->t;
    static char bytes[] = { 0, 1, '\xff', 'x', '\n' };
    struct attachment_file file = { .entry_id = STR("memo"),
                                    .file_name = STR("memo.ogg"),
                                    .content_type = STR("audio/ogg") };
    struct str labels[] = { STR("wet"), STR("Ünïcode") };

    rig_add_as(rig, RECORD_CATEGORY, "home", "{'name':'Home','color':'#ff0000','archived':true}");
    rig_add_as(rig, RECORD_TASK, "fence",
               "{'title':'Fix fence','categoryId':'home','due':'2026-03-01T16:30','priority':'P0',"
               "'estimateMinutes':90,'language':'de-CH','notes':'two\\nlines \\u2028 \\\"'}");
    clock_advance(&rig->clock, 1234);
    rig_add_as(rig, RECORD_TASK, "done", "{'title':'Done','status':'REJECTED'}");
    rig_add_as(rig, RECORD_TASK, "gone", "{'title':'Gone'}");
    rig_add_as(rig, RECORD_TIME_ENTRY, "spent",
               "{'taskId':'gone','startedAt':'2026-02-18T07:00:00.123Z','endedAt':'2026-02-18T08:"
               "00:00Z'}");
    rig_remove(rig, RECORD_TASK, STR("gone"));
    rig_begin(rig);
    ASSERT_OK(task_set_labels(rig->write, STR("fence"), labels, 2, true, &t->err));
    rig_end(rig);
    rig_add_as(rig, RECORD_CHECKLIST, "list", "{'taskId':'fence','title':'Steps'}");
    rig_add_as(rig, RECORD_CHECKLIST, "alone", "{'title':'By itself','position':7}");
    rig_add_as(rig, RECORD_CHECKLIST_ITEM, "i1",
               "{'checklistId':'list','title':'wood','position':4}");
    rig_add_as(rig, RECORD_CHECKLIST_ITEM, "i0",
               "{'checklistId':'list','title':'nails','position':1,'checked':true}");
    clock_advance(&rig->clock, 777);
    rig_add_as(rig, RECORD_TIME_ENTRY, "runs", "{'startedAt':'2026-02-18T09:00:00Z'}");
    rig_add(rig, RECORD_DAY_PLAN,
            "{'planDate':'2026-02-18','note':'calm','pinnedTaskIds':['fence']}");
    rig_add_as(rig, RECORD_DAY_PLAN_BLOCK, "b1",
               "{'planId':'dayplan-2026-02-18','startTime':'2026-02-18T10:00:00Z',"
               "'endTime':'2026-02-18T11:00:00Z','taskId':'fence'}");
    rig_add(
        rig, RECORD_RATING,
        "{'targetType':'dayPlan','targetId':'dayplan-2026-02-18','dimension':'mood','value':4}");
    rig_add_as(rig, RECORD_ENTRY, "memo", "{'kind':'audio','title':'memo'}");
    rig_add_as(rig, RECORD_ENTRY, "kg",
               "{'kind':'measurement','subtype':'weight','value':71.5,'unit':'kg'}");
    for (size_t n = 0; n <= sizeof(bytes); n++) {
        file.bytes = str_of(bytes, n);
        rig_begin(rig);
        ASSERT_OK(attachment_add(rig->write, &file, NULL, &t->err));
        rig_end(rig);
    }
    rig_add(
        rig, RECORD_ENTRY_LINK,
        "{'relation':'about','fromType':'entry','fromId':'memo','toType':'task','toId':'fence'}");
    clock_advance(&rig->clock, 99);
    ASSERT_EQ(rig_set(rig, RECORD_TASK, STR("fence"), "{'status':'DONE'}"), 1);
}

DB_TEST(what_was_exported_comes_back_byte_for_byte)
{
    static const size_t steps[] = { 100000, 1, 3 };
    AUTO_RIG rig;
    const char *before;

    rig_open(&rig, t);
    fill(&rig);
    before = exported(&rig);
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        struct import_result result;

        empty_tables(&rig);
        clock_advance(&rig.clock, 3600000); /* times are those of the file */
        result = take_in(&rig, before, steps[i]);
        ASSERT_EQ(result.tasks, 2u);
        ASSERT_EQ(result.categories, 1u);
        ASSERT_EQ(result.there, 0u);
        ASSERT_TEXT(exported(&rig), before);
        result = take_in(&rig, before, 7);
        ASSERT_EQ(result.tasks + result.others + result.categories, 0u);
        ASSERT_TEXT(exported(&rig), before);
    }
}

DB_TEST(what_was_deleted_or_changed_meanwhile_stays_so)
{
    AUTO_RIG rig;
    struct record fence;
    const char *before;

    rig_open(&rig, t);
    fill(&rig);
    before = exported(&rig);
    ASSERT_EQ(rig_remove(&rig, RECORD_ENTRY, STR("kg")), 1);
    ASSERT_EQ(rig_set(&rig, RECORD_TASK, STR("fence"), "{'title':'Mend fence'}"), 1);
    ASSERT_EQ(take_in(&rig, before, 1000).others, 0u);
    ASSERT_EQ(rig_there(&rig, RECORD_ENTRY, STR("kg")), false);
    fence = rig_get(&rig, RECORD_TASK, STR("fence"));
    ASSERT_STR(record_str(&fence, "title"), "Mend fence");
}

DB_TEST(a_name_that_is_taken_is_the_one_that_has_it)
{
    AUTO_RIG rig;
    struct record task, **labels;
    size_t *counts;
    const char *before;

    rig_open(&rig, t);
    fill(&rig);
    before = exported(&rig);
    empty_tables(&rig);
    rig_add_as(&rig, RECORD_CATEGORY, "other", "{'name':'HOME'}");
    rig_add_as(&rig, RECORD_LABEL, "rain", "{'name':'WET'}");
    ASSERT_EQ(take_in(&rig, before, 1).there, 2u);
    task = rig_get(&rig, RECORD_TASK, STR("fence"));
    ASSERT_STR(record_str(&task, "categoryId"), "other");
    ASSERT_OK(task_labels_of(rig.journal, &task, 1, &t->arena, &labels, &counts, &t->err));
    ASSERT_EQ(counts[0], 2u);
    ASSERT_STR(labels[0][1].id, "rain");
}

DB_TEST(an_import_writes_as_everything_does)
{
    AUTO_RIG rig;
    const char *before;

    rig_open(&rig, t);
    fill(&rig);
    before = exported(&rig);
    empty_tables(&rig);
    take_in(&rig, before, 5);
    ASSERT(check_provenance(&rig) > 20);
}

DB_TEST(a_second_timer_can_not_come_with_a_file)
{
    AUTO_RIG rig;
    struct import_result result = { .tasks = 0 };
    struct import import;
    const char *before;

    rig_open(&rig, t);
    fill(&rig);
    before = exported(&rig);
    empty_tables(&rig);
    rig_add_as(&rig, RECORD_TIME_ENTRY, "mine", "{'startedAt':'2026-02-18T08:00:00Z'}");
    ASSERT_OK(read_json(t, before, &import));
    ASSERT_FAILS(import_apply(rig_begin(&rig), &import, 0, import.count, &result, &t->err),
                 ERR_CONFLICT);
    ASSERT_CONTAINS(err_format(&t->err, (char[ERR_TEXT_MAX]){ 0 }, ERR_TEXT_MAX),
                    "timeEntry runs: /endedAt: the timer mine runs already");
    rig_drop(&rig);
    ASSERT_EQ(rig_there(&rig, RECORD_TASK, STR("fence")), false);
}

/* A file with one record. */
#define STAMPS            "'createdAt':'2026-02-18T09:00:00Z','updatedAt':'2026-02-18T09:00:00Z'"
#define ONE(list, fields) "{'format':'dormouse-journal','version':1,'" list "':[{" fields "}]}"

static const char *double_quotes(struct test *t, const char *text)
{
    char *json = arena_text(&t->arena, text);

    for (char *at = json; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    return json;
}

TEST(what_can_not_be_is_named_with_its_place)
{
    static const struct {
        const char *text, *problem;
    } cases[] = {
        { ONE("tasks", "'id':'x y','title':'T'," STAMPS), "/tasks/0/id: is no id" },
        { ONE("tasks", "'title':'T'," STAMPS), "/tasks/0/id: is no id" },
        { ONE("tasks", "'id':'x','title':'T'"), "/tasks/0/createdAt: is no time" },
        { ONE("tasks", "'id':'x','title':'T','createdAt':1"), "/tasks/0/createdAt: is no time" },
        { ONE("tasks", "'id':'x','title':'T','createdAt':'2026-02-18T09:00:00Z'"),
          "/tasks/0/updatedAt: is no time" },
        { ONE("tasks", "'id':'x','title':'T','closedAt':'now'," STAMPS),
          "/tasks/0/closedAt: is no time" },
        { ONE("tasks", "'id':'x'," STAMPS), "/tasks/0/title: is missing" },
        { ONE("tasks", "'id':'x','title':'T','due':'soon'," STAMPS), "/tasks/0/due: \"soon\"" },
        { ONE("tasks", "'id':'x','title':'T','colour':'red'," STAMPS), "/tasks/0/colour: a task" },
        { ONE("tasks", "'id':'x','title':'T','labelIds':7," STAMPS),
          "/tasks/0/labelIds: is no list" },
        { ONE("tasks", "'id':'x','title':'T','labelIds':['a',3]," STAMPS), "/tasks/0/labelIds/1" },
        { ONE("dayPlans", "'id':'x','planDate':'2026-02-18'," STAMPS),
          "/dayPlans/0/id: that of this dayPlan is dayplan-2026-02-18" },
        { ONE("attachments", "'id':'x','content':7," STAMPS),
          "/attachments/0/content: is no base64" },
        { ONE("attachments", "'id':'x','content':'abc'," STAMPS), "/content: is no base64" },
        { ONE("attachments", "'id':'x','content':'a=bc'," STAMPS), "/content: is no base64" },
        { ONE("attachments", "'id':'x','content':'ab-_'," STAMPS), "/content: is no base64" },
        { ONE("attachments", "'id':'x','content':'YQ==','sha256':'00'," STAMPS),
          "/attachments/0/sha256: is not that of the content" },
        { "{'format':'dormouse-journal','version':1,'tasks':{}}", "/tasks: is no list" },
        { "{'format':'dormouse-journal','version':1,'tasks':[3]}", "/tasks/0: is no object" },
        { "{'format':'dormouse-journal','version':1,'unicorns':[]}",
          "/unicorns: a journal has no" },
    };
    struct import import;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ASSERT_OK(read_json(t, double_quotes(t, cases[i].text), &import));
        ASSERT_EQ(import.problem_count, 1u);
        ASSERT_EQ(import.problems[0].line, 0u);
        ASSERT_CONTAINS(arena_printf(&t->arena, "%.*s", STR_ARG(import.problems[0].text)),
                        cases[i].problem);
        ASSERT_EQ(import.count, 0u);
    }
}

TEST(an_attachment_without_its_content_is_left_out_and_counted)
{
    static const char text[] =
        ONE("attachments", "'id':'x','entryId':'e','fileName':'f','contentType':'a/b'," STAMPS);
    struct import import;

    ASSERT_OK(read_json(t, double_quotes(t, text), &import));
    ASSERT_EQ(import.count, 0u);
    ASSERT_EQ(import.problem_count, 0u);
    ASSERT_EQ(import.left_out, 1u);
}

TEST(a_file_that_is_no_journal_is_refused)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "", "no JSON" },
        { "{", "no JSON" },
        { "[]", "what `dormouse journal export` writes" },
        { "{}", "/format is not \"dormouse-journal\"" },
        { "{'format':'dormouse-journal'}", "/version: this program reads version 1" },
        { "{'format':'dormouse-journal','version':2}", "/version: this program reads version 1" },
        { "{'format':'dormouse-journal','version':1,'version':1}", "no JSON" },
    };
    struct import import;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[ERR_TEXT_MAX];

        ASSERT_EQ(read_json(t, double_quotes(t, cases[i].text), &import), -1);
        ASSERT_CONTAINS(err_format(&t->err, text, sizeof(text)), cases[i].message);
    }
}

DB_TEST(a_part_of_something_that_is_not_there_is_refused)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { ONE("checklistItems", "'id':'x','checklistId':'none','title':'T'," STAMPS),
          "/checklistId: there is no checklist \"none\"" },
        { ONE("checklists", "'id':'x','taskId':'none','title':'T'," STAMPS),
          "/taskId: there is no task \"none\"" },
        { ONE("attachments",
              "'id':'x','entryId':'none','fileName':'f','contentType':'a/b',"
              "'content':'','sha256':'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934"
              "ca495991b7852b855'," STAMPS),
          "/entryId: there is no entry \"none\"" },
        { ONE("dayPlanBlocks",
              "'id':'x','planId':'dayplan-2026-02-18','startTime':'2026-02-18T09:00"
              ":00Z','endTime':'2026-02-18T09:00:00Z'," STAMPS),
          "/planId: there is no dayPlan" },
        { ONE("tasks", "'id':'x','title':'T','labelIds':['none']," STAMPS), "no label \"none\"" },
    };
    AUTO_RIG rig;

    rig_open(&rig, t);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct import_result result = { .tasks = 0 };
        struct import import;
        char text[ERR_TEXT_MAX];

        ASSERT_OK(read_json(t, double_quotes(t, cases[i].text), &import));
        ASSERT_EQ(import.count, 1u);
        ASSERT_EQ(import_apply(rig_begin(&rig), &import, 0, 1, &result, &t->err), -1);
        ASSERT_CONTAINS(err_format(&t->err, text, sizeof(text)), cases[i].message);
        rig_drop(&rig);
    }
}
