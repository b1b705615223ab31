/* The index follows the journal: every kind of record, as it is now.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/json.h"
#include "base/utf8.h"
#include "rig.h"

/* ---- writing ---- */

static struct journal_write *begin(struct rig *rig)
{
    const struct journal_author author = { .kind = CHANGE_BY_HUMAN };
    struct test *t = rig->t;
    struct journal_write *write;

    err_reset(&t->err);
    ASSERT_EQ(journal_begin(rig->journal, &author, &t->arena, &write, NULL, &t->err), 1);
    return write;
}

static void end(struct rig *rig, struct journal_write *write)
{
    struct test *t = rig->t;

    ASSERT_OK(journal_end(write, true, STR_NONE, &t->err));
    loop_fake_tick(rig->loop);
}

/* JSON with ' for ". */
static struct str add_in(struct rig *rig, struct journal_write *write, enum record_type type,
                         const char *fields)
{
    struct test *t = rig->t;
    char *text = arena_text(&t->arena, fields);
    AUTO_JSON json = NULL;
    struct record record;

    for (char *at = text; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    ASSERT_OK(json_parse(str_from(text), &json, &t->err));
    ASSERT_OK(journal_create(write, type, STR(""), json, &record, &t->err));
    return record.id;
}

static struct str add(struct rig *rig, enum record_type type, const char *fields)
{
    struct journal_write *write = begin(rig);
    struct str id = add_in(rig, write, type, fields);

    end(rig, write);
    return id;
}

static void retitle(struct rig *rig, struct str id, const char *title)
{
    struct test *t = rig->t;
    struct journal_write *write = begin(rig);
    AUTO_JSON json = json_object_new_object();

    json_object_object_add(json, "title", json_object_new_string(title));
    ASSERT_OK(journal_change(write, RECORD_TASK, id, json, NULL, &t->err));
    end(rig, write);
}

static size_t search_scope(struct rig *rig, const char *text, enum find_scope scope)
{
    const struct find_query query = { .text = str_from(text), .scope = scope, .limit = 100 };
    struct test *t = rig->t;
    size_t n;

    ASSERT_OK(find_search(rig->find, &query, &t->arena, &results, &n, &t->err));
    loop_fake_tick(rig->loop);
    return n;
}

static void in_index(struct rig *rig, struct sql sql)
{
    struct test *t = rig->t;
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(rig->index), sql, &q, &t->err));
    ASSERT_OK(loop_unit_begin(rig->loop, rig->index, &t->err));
    ASSERT_OK(stmt_run(q, &t->err));
    ASSERT_OK(loop_unit_end(rig->loop, true, NULL));
    loop_fake_tick(rig->loop);
}

/* ---- what is found ---- */

DB_TEST(a_record_of_every_kind_is_found_by_its_words_and_names_its_task)
{
    AUTO(rig) rig = rig_open_with(t, true);
    struct str task = add(rig, RECORD_TASK, "{'title':'Aardvark','notes':'Badger'}");
    const char *of_task = arena_printf(&t->arena, "%.*s", STR_ARG(task));
    struct str list = add(rig, RECORD_CHECKLIST,
                          arena_printf(&t->arena, "{'title':'Camel','taskId':'%s'}", of_task));
    struct str item =
        add(rig, RECORD_CHECKLIST_ITEM,
            arena_printf(&t->arena, "{'title':'Dingo','checklistId':'%.*s'}", STR_ARG(list)));
    struct str entry = add(rig, RECORD_ENTRY, "{'kind':'note','title':'Egret','body':'Ferret'}");
    const struct {
        const char *word;
        enum find_kind kind;
        struct str id;
        const char *title, *task;
    } cases[] = {
        { "aardvark", FIND_TASK, task, "Aardvark", of_task },
        { "badg", FIND_TASK, task, "Aardvark", of_task },
        { "camel", FIND_CHECKLIST, list, "Camel", of_task },
        { "dingo", FIND_CHECKLIST_ITEM, item, "Dingo", of_task },
        { "egret", FIND_ENTRY, entry, "Egret", "" },
        { "ferret", FIND_ENTRY, entry, "Egret", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ASSERT_EQ(search(rig, cases[i].word), 1);
        ASSERT_EQ(results[0].kind, cases[i].kind);
        ASSERT(str_eq(results[0].record_id, cases[i].id));
        ASSERT_STR(results[0].title, cases[i].title);
        ASSERT_STR(results[0].task_id, cases[i].task);
        ASSERT_STR(results[0].path, "");
        ASSERT_STR(results[0].agent_id, "");
    }
}

DB_TEST(a_record_is_found_as_it_is_now_and_not_when_it_is_gone)
{
    AUTO(rig) rig = rig_open_with(t, true);
    struct str id = add(rig, RECORD_TASK, "{'title':'Buy a zebra'}");
    struct journal_write *write;

    ASSERT_EQ(search(rig, "zebra"), 1);
    retitle(rig, id, "Buy a quagga");
    ASSERT_EQ(search(rig, "zebra"), 0);
    ASSERT_EQ(search(rig, "quagga"), 1);
    write = begin(rig);
    ASSERT_OK(journal_remove(write, RECORD_TASK, id, &t->err));
    end(rig, write);
    ASSERT_EQ(search(rig, "quagga"), 0);
    write = begin(rig);
    ASSERT_OK(journal_restore(write, RECORD_TASK, id, &t->err));
    end(rig, write);
    ASSERT_EQ(search(rig, "quagga"), 1);
}

DB_TEST(the_journal_and_agents_are_searched_apart_or_together)
{
    AUTO(rig) rig = rig_open_with(t, true);

    add(rig, RECORD_TASK, "{'title':'zebra task'}");
    say(rig, "coach:session:a", 1, "a zebra was said");
    ASSERT_EQ(search_scope(rig, "zebra", FIND_EVERYWHERE), 2);
    ASSERT_EQ(search_scope(rig, "zebra", FIND_IN_JOURNAL), 1);
    ASSERT_EQ(results[0].kind, FIND_TASK);
    ASSERT_EQ(search_scope(rig, "zebra", FIND_WITH_AGENTS), 1);
    ASSERT_EQ(results[0].kind, FIND_MESSAGE);
    ASSERT_EQ(search_scope(rig, "coach", FIND_IN_JOURNAL), 0); /* names are the agents' */
    ASSERT_EQ(search_in(rig, STR("zebra"), "coach", 100), 1);
    ASSERT_EQ(results[0].kind, FIND_MESSAGE);
}

DB_TEST(a_note_without_a_title_is_called_by_how_it_begins)
{
    AUTO(rig) rig = rig_open_with(t, true);
    AUTO_BUF body = BUF_INIT(1 << 20);

    buf_add_text(&body, "{'kind':'note','body':'zebra ");
    for (int i = 0; i < 30000; i++)
        buf_add_text(&body, "\xe2\x82\xac");
    buf_add_text(&body, " quagga'}");
    add(rig, RECORD_ENTRY, buf_text(&body));
    ASSERT_EQ(search(rig, "zebra"), 1);
    ASSERT(results[0].title.n > 100 && results[0].title.n <= 120);
    ASSERT(utf8_valid(results[0].title));
    ASSERT(utf8_valid(results[0].snippet));
    ASSERT_EQ(search(rig, "quagga"), 0); /* behind what is read of a record */
}

DB_TEST(records_without_words_and_of_other_kinds_are_passed_over)
{
    AUTO(rig) rig = rig_open_with(t, true);

    add(rig, RECORD_CATEGORY, "{'name':'Zebra'}");
    add(rig, RECORD_LABEL, "{'name':'Zebra'}");
    ASSERT_EQ(search(rig, "zebra"), 0);
    add(rig, RECORD_TASK, "{'title':'zebra'}");
    ASSERT_EQ(search(rig, "zebra"), 1);
}

/* ---- how it is read ---- */

DB_TEST(a_long_journal_is_read_in_slices_that_end)
{
    AUTO(rig) rig = rig_open_with(t, true);
    int slices = 0, r;

    for (int b = 0; b < 3; b++) {
        struct journal_write *write = begin(rig);

        for (int i = 0; i < FIND_SLICE / 2 + 10; i++)
            add_in(rig, write, RECORD_TASK, "{'title':'zebra'}");
        end(rig, write);
    }
    for (int i = 0; i < 45; i++)
        add(rig, RECORD_TASK, "{'title':'quagga'}");
    while ((r = find_catch_up(rig->find, &t->err)) == 1) {
        loop_fake_tick(rig->loop);
        ASSERT(++slices < 10);
    }
    ASSERT_EQ(r, 0);
    ASSERT(slices > 0);
    ASSERT_EQ(search_in(rig, STR("quagga"), "", 100), 45);
    ASSERT_EQ(search_in(rig, STR("zebra"), "", 100), 100);
}

/* A backup that was put back has fewer rows than the index has seen. Whichever source shows it,
 * what was read of the others before is not lost to the search that noticed. */
DB_TEST(an_index_of_a_younger_source_begins_again_with_all_of_them)
{
    AUTO(rig) rig = rig_open_with(t, true);
    const struct {
        const char *source;
        struct sql sql;
    } cases[] = {
        { "messages", SQL("UPDATE find_cursors SET position = 5000 WHERE source = 'messages'") },
        { "files", SQL("UPDATE find_cursors SET position = 5000 WHERE source = 'files'") },
        { "journal", SQL("UPDATE find_cursors SET position = 5000 WHERE source = 'journal'") },
        { "txid", SQL("UPDATE find_cursors SET position = 900000000 WHERE source ="
                      " 'journal.txid'") },
    };

    say(rig, "coach:session:a", 3, "zebra");
    put(rig, "agents/coach", "knowledge/a.md", STR("zebra facts"));
    add(rig, RECORD_TASK, "{'title':'zebra task'}");
    ASSERT_EQ(search(rig, "zebra"), 5);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t n;

        in_index(rig, cases[i].sql);
        n = search(rig, "zebra");
        if (n != 5)
            FAIL("%s: %zu were found", cases[i].source, n);
        ASSERT_EQ(find_catch_up(rig->find, &t->err), 0);
        loop_fake_tick(rig->loop);
    }
}

/* Of one change that can't be read the others are found all the same. */
DB_TEST(a_damaged_change_is_passed_over)
{
    AUTO(rig) rig = rig_open_with(t, true);
    AUTO(stmt) q = NULL;

    add(rig, RECORD_TASK, "{'title':'zebra'}");
    add(rig, RECORD_TASK, "{'title':'quagga'}");
    add(rig, RECORD_TASK, "{'title':'okapi'}");
    ASSERT_OK(db_prepare(domain_db(rig->journal_domain),
                         SQL("UPDATE change_batches SET units = 'nonsense' WHERE n ="
                             " (SELECT min(n) + 1 FROM change_batches)"),
                         &q, &t->err));
    ASSERT_OK(loop_unit_begin(rig->loop, rig->journal_domain, &t->err));
    ASSERT_OK(stmt_run(q, &t->err));
    ASSERT_OK(loop_unit_end(rig->loop, true, NULL));
    loop_fake_tick(rig->loop);
    ASSERT_EQ(search(rig, "zebra"), 1);
    ASSERT_EQ(search(rig, "okapi"), 1);
    ASSERT_EQ(search(rig, "quagga"), 0);
    add(rig, RECORD_TASK, "{'title':'giraffe'}");
    ASSERT_EQ(search(rig, "giraffe"), 1);
}
