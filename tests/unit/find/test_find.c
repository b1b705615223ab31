/* The index follows the agent domain, on both engines, and can be thrown away at any time.
 *
 * SPDX-License-Identifier: MIT
 */
#include <unistd.h>

#include "base/utf8.h"
#include "rig.h"

DB_TEST(a_message_is_found_with_its_conversation_right_after_it_was_said)
{
    AUTO(rig) rig = rig_open(t);

    say(rig, "coach:session:a", 1, "the zebra crossing");
    ASSERT_EQ(search(rig, "zebra"), 1);
    ASSERT_EQ(results[0].kind, FIND_MESSAGE);
    ASSERT_STR(results[0].agent_id, "coach");
    ASSERT_STR(results[0].thread_id, "coach:session:a");
    ASSERT_CONTAINS(results[0].snippet.p, "zebra crossing");
    ASSERT_EQ(results[0].at, NOW);
    ASSERT_EQ(search(rig, "crossing zeb"), 1); /* any order, the last may be a beginning */
    ASSERT_EQ(search(rig, "zeb crossing"), 0);
    ASSERT_EQ(search(rig, "zebra unicorn"), 0);
}

DB_TEST(a_backlog_is_read_in_slices_that_end)
{
    AUTO(rig) rig = rig_open(t);
    int slices = 0, r;

    say(rig, "coach:session:a", 2 * FIND_SLICE + 50, "backlog");
    while ((r = find_catch_up(rig->find, &t->err)) == 1) {
        loop_fake_tick(rig->loop);
        ASSERT(++slices < 10);
    }
    ASSERT_EQ(r, 0);
    ASSERT_EQ(slices, 2);
    ASSERT_EQ(search_in(rig, STR("number449"), "", 100), 1);
    ASSERT_EQ(search_in(rig, STR("backlog"), "", 7), 7);
    ASSERT_EQ(search_in(rig, STR("backlog"), "", 0), 20);
    ASSERT_EQ(search_in(rig, STR("backlog"), "", 100000), 100);
    ASSERT_EQ(find_catch_up(rig->find, &t->err), 0);
}

DB_TEST(the_loop_catches_up_by_itself)
{
    AUTO(rig) rig = rig_open(t);
    AUTO(stmt) q = NULL;

    say(rig, "coach:session:a", 3 * FIND_SLICE, "alone");
    find_wake(rig->find);
    loop_fake_advance(rig->loop, 5000);
    ASSERT_OK(db_prepare(domain_db(rig->index), SQL("SELECT count(*) AS n FROM find_documents"), &q,
                         &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT_EQ(stmt_i64(q, "n"), 3 * FIND_SLICE);
}

DB_TEST(an_index_that_was_thrown_away_is_made_again)
{
    AUTO(rig) rig = rig_open(t);
    struct domain *old = rig->index;

    say(rig, "coach:session:a", 3, "zebra");
    put(rig, "agents/coach", "knowledge/a.md", STR("zebra facts"));
    ASSERT_EQ(search(rig, "zebra"), 4);
    find_free(rig->find);
    open_find(rig, "another.sqlite");
    ASSERT_EQ(search(rig, "zebra"), 4);
    loop_fake_tick(rig->loop);
    domain_free(rig->index == old ? NULL : old);
}

/* A backup that was put back has fewer rows than the index has seen. */
DB_TEST(an_index_of_a_younger_domain_begins_again)
{
    AUTO(rig) rig = rig_open(t);
    AUTO(stmt) q = NULL;

    say(rig, "coach:session:a", 5, "zebra");
    catch_up(rig);
    ASSERT_OK(db_prepare(domain_db(rig->index), SQL("UPDATE find_cursors SET position = ?"), &q,
                         &t->err));
    stmt_bind_i64(q, 5000);
    ASSERT_OK(loop_unit_begin(rig->loop, rig->index, &t->err));
    ASSERT_OK(stmt_run(q, &t->err));
    ASSERT_OK(loop_unit_end(rig->loop, true, NULL));
    loop_fake_tick(rig->loop);
    say(rig, "coach:session:b", 1, "quagga");
    ASSERT_EQ(search(rig, "quagga"), 1);
    ASSERT_EQ(search(rig, "zebra"), 5);
}

DB_TEST(what_was_put_away_is_not_found_until_it_is_back)
{
    AUTO(rig) rig = rig_open(t);
    struct thread gone = say(rig, "coach:session:a", 90, "zebra zebra zebra");

    say(rig, "coach:session:b", 1, "one zebra among other animals");
    ASSERT_OK(UNIT(rig, conversation_delete(rig->domain, gone.n, NOW, &t->err)));
    ASSERT_EQ(search_in(rig, STR("zebra"), "", 3), 1); /* however many better ones were put away */
    ASSERT_STR(results[0].thread_id, "coach:session:b");
    ASSERT_OK(UNIT(rig, conversation_restore(rig->domain, gone.n, &t->err)));
    ASSERT_EQ(search(rig, "zebra"), 91);
}

DB_TEST(a_file_is_found_as_it_is_now)
{
    AUTO(rig) rig = rig_open(t);

    put(rig, "agents/coach", "knowledge/animals.md", STR("Zebras have stripes."));
    ASSERT_EQ(search(rig, "stripes"), 1);
    ASSERT_EQ(results[0].kind, FIND_FILE);
    ASSERT_STR(results[0].path, "knowledge/animals.md");
    ASSERT_EQ(search(rig, "animals"), 1);
    put(rig, "agents/coach", "knowledge/animals.md", STR("Quaggas had some."));
    ASSERT_EQ(search(rig, "stripes"), 0);
    ASSERT_EQ(search(rig, "quaggas"), 1);
    put(rig, "agents/coach", "knowledge/animals.md", STR_NONE);
    ASSERT_EQ(search(rig, "quaggas"), 0);
    ASSERT_EQ(search(rig, "animals"), 0);
}

DB_TEST(files_of_nobody_and_of_no_text_do_no_harm)
{
    AUTO(rig) rig = rig_open(t);
    AUTO_BUF long_text = BUF_INIT(1 << 20);

    for (int i = 0; i < 40000; i++)
        buf_add_text(&long_text, "\xc3\xa4\xe2\x82\xac");
    put(rig, "agents/coach", "skills/x/assets/logo.png", STR("\x89PNG\xff\xfe zebra"));
    put(rig, "users/me", "garden/a.md", STR("zebra"));
    put(rig, "agents/coach", "knowledge/long.md", buf_str(&long_text));
    ASSERT_EQ(search(rig, "zebra"), 0);
    ASSERT_EQ(search(rig, "logo"), 1);
    ASSERT(utf8_valid(results[0].snippet));
    ASSERT_EQ(search(rig, "long"), 1);
    ASSERT(utf8_valid(results[0].snippet));
}

static void forget(struct rig *rig, struct sql sql)
{
    struct test *t = rig->t;
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(rig->index), sql, &q, &t->err));
    ASSERT_OK(loop_unit_begin(rig->loop, rig->index, &t->err));
    ASSERT_OK(stmt_run(q, &t->err));
    ASSERT_OK(loop_unit_end(rig->loop, true, NULL));
    loop_fake_tick(rig->loop);
}

/* On Postgres several daemons write: a row may become visible after one that came later. */
DB_TEST(a_row_that_becomes_visible_late_is_still_read)
{
    AUTO(rig) rig = rig_open(t);
    AUTO(stmt) q = NULL;

    say(rig, "coach:session:a", 60, "early");
    put(rig, "agents/coach", "knowledge/early.md", STR("early file"));
    catch_up(rig);
    forget(rig, SQL("DELETE FROM find_text WHERE rowid IN (SELECT n FROM find_documents WHERE ref"
                    " IN ('message:7', 'file:1'))"));
    forget(rig, SQL("DELETE FROM find_documents WHERE ref IN ('message:7', 'file:1')"));
    say(rig, "coach:session:a", 1, "late");
    put(rig, "agents/coach", "knowledge/late.md", STR("late file"));
    catch_up(rig);
    ASSERT_OK(db_prepare(domain_db(rig->index),
                         SQL("SELECT count(*) AS n FROM find_documents WHERE ref IN"
                             " ('message:7', 'file:1')"),
                         &q, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT_EQ(stmt_i64(q, "n"), 2);
}

DB_TEST(agents_and_conversations_come_by_name_before_texts)
{
    AUTO(rig) rig = rig_open(t);
    struct agent other, wizard;
    struct thread thread = say(rig, "coach:session:a", 2, "zebra");

    add_agent(rig, "zoo", "Zebra Keeper", "Feeds them.", &other);
    add_agent(rig, "system:keeper", "Zebra System", "", &wizard);
    say_as(rig, &wizard, "system:keeper:session:a", 1, "zebra of the house");
    ASSERT_OK(UNIT(rig, conversation_rename(rig->domain, thread.n, STR("About ZEBRAS"), &t->err)));
    ASSERT_EQ(search(rig, "zebra"), 4);
    ASSERT_EQ(results[0].kind, FIND_AGENT);
    ASSERT_STR(results[0].title, "Zebra Keeper");
    ASSERT_EQ(results[1].kind, FIND_THREAD);
    ASSERT_STR(results[1].title, "About ZEBRAS");
    ASSERT_EQ(results[2].kind, FIND_MESSAGE);
    ASSERT_EQ(search_in(rig, STR("zebra"), "coach", 100), 3);
    ASSERT_EQ(search_in(rig, STR("zebra"), "system:keeper", 100), 2);
    ASSERT_EQ(search_in(rig, STR("zebra"), "nobody", 100), 0);
    ASSERT_EQ(search_in(rig, STR("zebra"), "", 1), 1);
}

DB_TEST(a_destroyed_agent_is_not_found_by_name)
{
    AUTO(rig) rig = rig_open(t);

    say(rig, "coach:session:a", 1, "zebra");
    ASSERT_EQ(UNIT(rig, agent_set_destroyed(rig->domain, rig->change, STR("coach"), NOW, &t->err)),
              1);
    ASSERT_EQ(search(rig, "coach"), 0);
    ASSERT_EQ(search(rig, "zebra"), 1); /* what was said stays readable */
}

DB_TEST(a_snippet_is_text_wherever_it_is_cut)
{
    AUTO(rig) rig = rig_open(t);
    AUTO_BUF text = BUF_INIT(1 << 16);
    struct agent other;

    buf_add_text(&text, "zebra ");
    for (int i = 0; i < 300; i++)
        buf_add_text(&text, "\xf0\x9f\x90\xad");
    for (int i = 0; i < 4; i++) {
        add_agent(rig, arena_printf(&t->arena, "a%d", i), "Other",
                  arena_printf(&t->arena, "%.*s%s", i, "xxxx", buf_text(&text)), &other);
        ASSERT_EQ(search_in(rig, STR("zebra"), other.id, 10), 1);
        ASSERT(utf8_valid(results[0].snippet));
        ASSERT(results[0].snippet.n <= 240);
    }
}

DB_TEST(hostile_queries_find_nothing_and_break_nothing)
{
    static const char *const queries[] = {
        "\"",
        "zebra\"",
        "' OR 1=1 --",
        "zebra*",
        "*",
        "NEAR(zebra)",
        "body:",
        "{zebra}",
        "(zebra",
        "zebra)",
        "-zebra",
        "^zebra",
        "a AND",
        "OR",
        "NOT zebra",
        "zebra\\",
        "zebra;",
        "%",
        "\x01\x02",
        "\xff\xfe",
        "\xc3",
        "\xed\xa0\x80",
        "",
        "   ",
        "zebra\n;DROP TABLE find_documents;",
        "\xe2\x80\xaezebra",
        "AND OR NOT NEAR",
    };
    AUTO(rig) rig = rig_open(t);
    AUTO_BUF huge = BUF_INIT(1 << 20);

    say(rig, "coach:session:a", 1, "zebra");
    for (size_t i = 0; i < ARRAY_LEN(queries); i++)
        ASSERT(search(rig, queries[i]) <= 1);
    for (int i = 0; i < 100000; i++)
        buf_add_text(&huge, i % 7 ? "z" : "\" ");
    ASSERT_EQ(search_in(rig, buf_str(&huge), "", 10), 0);
    ASSERT_EQ(search_in(rig, str_of("zebra\0quagga", 12), "", 10), 0);
    ASSERT_EQ(search(rig, "zebra"), 1);
}

DB_TEST(what_tools_answered_is_not_searched)
{
    AUTO(rig) rig = rig_open(t);
    struct thread thread = say(rig, "coach:session:a", 1, "hello");
    struct message message = { .kind = MESSAGE_TOOL_RESULT,
                               .id = STR("m-tool"),
                               .content = STR("{\"text\":\"zebra\"}"),
                               .created_at = NOW };

    ASSERT_OK(UNIT(rig, message_append(rig->domain, rig->change, &thread, &message, &t->err)));
    say(rig, "coach:session:b", 1, "quagga");
    ASSERT_EQ(search(rig, "zebra"), 0);
    ASSERT_EQ(search(rig, "quagga"), 1);
}

TEST(every_kind_has_its_name)
{
    ASSERT_TEXT(find_kind_name(FIND_MESSAGE), "message");
    ASSERT_TEXT(find_kind_name(FIND_THREAD), "thread");
    ASSERT_TEXT(find_kind_name(FIND_FILE), "file");
    ASSERT_TEXT(find_kind_name(FIND_AGENT), "agent");
}
