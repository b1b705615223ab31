/* The index follows the agent domain, on both engines, and can be thrown away at any time.
 *
 * SPDX-License-Identifier: MIT
 */
#include <unistd.h>

#include "agent/agent.h"
#include "base/utf8.h"
#include "db/db.h"
#include "db/migrations.h"
#include "files/files.h"
#include "find/find.h"
#include "harness/db_test.h"
#include "memory/conversation.h"

#define NOW INT64_C(1700000000000)

struct rig {
    struct test *t;
    struct domain *domain, *index;
    struct change *change;
    struct clock_fake clock;
    struct loop *loop;
    struct files *files;
    struct find *find;
    struct agent agent;
};

static struct domain *open_index(struct test *t, const char *name)
{
    struct domain_config config = { .name = "index",
                                    .url = arena_printf(&t->arena, "sqlite:%s", test_path(t, name)),
                                    .migrations = migrations_index,
                                    .migration_count = migrations_index_count };
    struct domain *domain;

    ASSERT_OK(domain_open(&config, &domain, &t->err));
    return domain;
}

static void open_find(struct rig *rig, const char *name)
{
    rig->index = open_index(rig->t, name);
    loop_attach(rig->loop, rig->index);
    rig->find = find_new(&(struct find_config){
        .loop = rig->loop, .agent_domain = rig->domain, .index_domain = rig->index });
}

#define UNIT(rig, expr)                                                                            \
    __extension__({                                                                                \
        int r_;                                                                                    \
        err_reset(&(rig)->t->err);                                                                 \
        if (loop_unit_begin((rig)->loop, (rig)->domain, &(rig)->t->err) < 0)                       \
            FAIL("no unit: %s", test_err_text((rig)->t));                                          \
        r_ = (expr);                                                                               \
        if (loop_unit_end((rig)->loop, r_ >= 0, NULL) < 0)                                         \
            FAIL("the unit was not kept");                                                         \
        loop_fake_tick((rig)->loop);                                                               \
        r_;                                                                                        \
    })

static void add_agent(struct rig *rig, const char *id, const char *name, const char *description,
                      struct agent *ret_agent)
{
    struct test *t = rig->t;

    *ret_agent = (struct agent){
        .id = id, .kind = "custom", .display_name = name, .description = description
    };
    ASSERT_OK(UNIT(rig, agent_add(rig->domain, rig->change, ret_agent, NOW, &t->err)));
}

static struct rig *rig_open(struct test *t)
{
    struct rig *rig = NEW(struct rig);

    rig->t = t;
    rig->domain = db_test_open(t, migrations_agent, migrations_agent_count);
    ASSERT_OK(change_open(rig->domain, NULL, NULL, &rig->change, &t->err));
    clock_fake_init(&rig->clock, NOW);
    rig->loop = loop_new_fake(&rig->clock);
    loop_attach(rig->loop, rig->domain);
    ASSERT_OK(files_new(&(struct files_config){ .loop = rig->loop,
                                                .agent_domain = rig->domain,
                                                .change = rig->change },
                        &rig->files, &t->err));
    open_find(rig, "index.sqlite");
    add_agent(rig, "coach", "Coach", "", &rig->agent);
    return rig;
}

static void rig_free(struct rig *rig)
{
    find_free(rig->find);
    files_free(rig->files);
    loop_free(rig->loop);
    change_free(rig->change);
    domain_free(rig->index);
    domain_free(rig->domain);
    free(rig);
}
AUTO_DEFINE(rig)

/* ---- writing ---- */

static int append(struct rig *rig, struct thread *thread, int count, const char *text)
{
    struct test *t = rig->t;

    for (int i = 0; i < count; i++) {
        char id[UUID_TEXT_SIZE];
        struct message message = { .kind = i % 2 ? MESSAGE_THOUGHT : MESSAGE_USER,
                                   .created_at = NOW };

        change_new_id(rig->change, id);
        message.id = str_from(id);
        message.content = str_from(arena_printf(&t->arena, "{\"text\":\"%s number%d\"}", text, i));
        if (message_append(rig->domain, rig->change, thread, &message, &t->err) < 0)
            return -1;
    }
    return thread_save(rig->domain, thread, NOW, &t->err);
}

static struct thread say_as(struct rig *rig, const struct agent *agent, const char *thread_id,
                            int count, const char *text)
{
    struct test *t = rig->t;
    struct thread thread;

    ASSERT_OK(UNIT(rig, thread_open(rig->domain, str_from(thread_id), agent->n, NOW, &t->arena,
                                    &thread, &t->err)));
    ASSERT_OK(UNIT(rig, append(rig, &thread, count, text)));
    return thread;
}

static struct thread say(struct rig *rig, const char *thread_id, int count, const char *text)
{
    return say_as(rig, &rig->agent, thread_id, count, text);
}

static void put(struct rig *rig, const char *tree, const char *path, struct str content)
{
    struct test *t = rig->t;
    struct file_write write = { .tree = str_from(tree),
                                .path = str_from(path),
                                .content = content,
                                .base = FILE_ANY_VERSION,
                                .remove = !content.p,
                                .author = STR("owner") };
    struct file file;

    ASSERT_OK(UNIT(rig, file_put(rig->files, &write, &t->arena, &file, &t->err)));
}

/* ---- asking ---- */

static struct find_result *results;

static size_t search_in(struct rig *rig, struct str text, const char *agent_id, int limit)
{
    struct test *t = rig->t;
    struct find_query query = { .text = text, .agent_id = str_from(agent_id), .limit = limit };
    size_t n;

    err_reset(&t->err);
    ASSERT_OK(find_search(rig->find, &query, &t->arena, &results, &n, &t->err));
    loop_fake_tick(rig->loop);
    return n;
}

static size_t search(struct rig *rig, const char *text)
{
    return search_in(rig, str_from(text), "", 100);
}

static void catch_up(struct rig *rig)
{
    struct test *t = rig->t;
    int r;

    while ((r = find_catch_up(rig->find, &t->err)) == 1)
        ;
    ASSERT_EQ(r, 0);
    loop_fake_tick(rig->loop);
}

/* ---- the tests ---- */

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
