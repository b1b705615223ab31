/* Conversations, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "memory/conversation.h"

#include "rig.h"

/* An agent that has said nothing yet. */
static struct rig fresh(struct test *t)
{
    struct rig rig = rig_open(t);

    rig.agent = (struct agent){ .id = "a", .kind = "custom", .display_name = "A" };
    ASSERT_OK(agent_add(rig.domain, rig.change, &rig.agent, NOW, &t->err));
    return rig;
}

static struct thread talk(struct test *t, struct rig *rig, const char *id, const char *text,
                          int64_t at)
{
    struct thread thread;
    struct message message = { .id = str_from(id), .kind = MESSAGE_USER, .created_at = at };

    ASSERT_OK(
        thread_open(rig->domain, str_from(id), rig->agent.n, at, &t->arena, &thread, &t->err));
    if (!text)
        return thread;
    message.content = str_from(text);
    ASSERT_OK(message_append(rig->domain, rig->change, &thread, &message, &t->err));
    ASSERT_OK(thread_save(rig->domain, &thread, at, &t->err));
    return thread;
}

static size_t list(struct test *t, struct rig *rig, struct conversation_filter filter,
                   struct conversation **ret_list)
{
    size_t n;

    filter.agent_n = rig->agent.n;
    ASSERT_OK(conversation_list(rig->domain, &filter, &t->arena, ret_list, &n, &t->err));
    return n;
}

DB_TEST(conversations_come_by_their_last_word_with_the_first_as_title)
{
    AUTO_RIG rig = fresh(t);
    struct conversation *all;

    talk(t, &rig, "a:session:1", "{\"text\":\"first  \\n words\"}", 10);
    talk(t, &rig, "a:session:2", "{\"text\":\"second\"}", 20);
    talk(t, &rig, "a:session:3", NULL, 15);
    talk(t, &rig, "a:session:1", "{\"text\":\"more\"}", 30);
    ASSERT_EQ(list(t, &rig, (struct conversation_filter){ .limit = 0 }, &all), 3);
    ASSERT_STR(all[0].title, "first words");
    ASSERT_STR(all[0].preview, "more");
    ASSERT_STR(all[1].title, "second");
    ASSERT_EQ(all[2].title.n, 0);
    ASSERT_EQ(list(t, &rig, (struct conversation_filter){ .limit = 1 }, &all), 1);
    ASSERT_EQ(
        list(t, &rig, (struct conversation_filter){ .limit = 5, .before = all[0].thread.n }, &all),
        2);
    ASSERT_STR(all[0].title, "second");
}

DB_TEST(a_title_can_be_given_and_taken_back)
{
    AUTO_RIG rig = fresh(t);
    struct thread thread = talk(t, &rig, "a:session:1", "{\"text\":\"hi\"}", 10);
    struct conversation c;

    ASSERT_OK(conversation_rename(rig.domain, thread.n, STR("100% <b>_"), &t->err));
    ASSERT_OK(conversation_get(rig.domain, thread.n, &t->arena, &c, &t->err));
    ASSERT_STR(c.title, "100% <b>_");
    ASSERT(c.named);
    ASSERT_OK(conversation_rename(rig.domain, thread.n, STR_NONE, &t->err));
    ASSERT_OK(conversation_get(rig.domain, thread.n, &t->arena, &c, &t->err));
    ASSERT_STR(c.title, "hi");
    ASSERT(!c.named);
    ASSERT_FAILS(conversation_get(rig.domain, 999, &t->arena, &c, &t->err), ERR_INTEGRITY_FAILED);
}

DB_TEST(a_query_is_taken_literally)
{
    AUTO_RIG rig = fresh(t);
    struct thread thread = talk(t, &rig, "a:session:1", "{\"text\":\"Half PRICE\"}", 10);
    struct conversation *all;

    talk(t, &rig, "a:session:2", "{\"text\":\"other\"}", 10);
    ASSERT_OK(conversation_rename(rig.domain, thread.n, STR("50% off_now"), &t->err));
    ASSERT_EQ(list(t, &rig, (struct conversation_filter){ .query = STR("0% OFF_") }, &all), 1);
    ASSERT_EQ(list(t, &rig, (struct conversation_filter){ .query = STR("price") }, &all), 1);
    ASSERT_EQ(list(t, &rig, (struct conversation_filter){ .query = STR("0_ off") }, &all), 0);
    ASSERT_EQ(list(t, &rig, (struct conversation_filter){ .query = STR("\\") }, &all), 0);
}

/* What was said, not how it is kept: in JSON. */
DB_TEST(a_query_finds_words_that_were_said_and_no_others)
{
    static const struct {
        const char *query;
        size_t found;
    } queries[] = {
        { "say \"hi\"", 1 },
        { "two lines", 1 },
        { "back\\slash", 1 },
        { "\xc3\x9c"
          "bung",
          1 },
        { "\xc3\xbc"
          "BUNG",
          1 },
        { "gr\xc3\xbc"
          "ezi",
          1 },
        { "GR\xc3\x9c"
          "EZI",
          1 },
        { "text", 0 },
        { "{", 0 },
        { "}", 0 },
        { "\"}", 0 },
        { ":\"", 0 },
        { "nlines", 0 },
        { "\\n", 0 },
        { "at the very end", 1 },
        { "beyond", 0 },
        { "\xff", 0 },
        { " ", 4 },
        { "zzz", 0 },
    };
    AUTO_RIG rig = fresh(t);
    struct conversation *all;
    AUTO_BUF longest = BUF_INIT(10000);

    buf_add_text(&longest, "{\"text\":\"");
    for (int i = 0; i < 1900; i++)
        buf_add_char(&longest, 'x');
    buf_add_text(&longest, " at the very end ");
    for (int i = 0; i < 3000; i++)
        buf_add_char(&longest, 'x');
    buf_add_text(&longest, " beyond\"}");
    talk(t, &rig, "a:session:1", "{\"text\":\"say \\\"hi\\\"\"}", 10);
    talk(t, &rig, "a:session:2", "{\"text\":\"two\\nlines back\\\\slash\"}", 11);
    talk(t, &rig, "a:session:3",
         "{\"text\":\"\xc3\x9c"
         "bung: Gr\xc3\xbc"
         "ezi\"}",
         12);
    talk(t, &rig, "a:session:4", buf_text(&longest), 13);
    talk(t, &rig, "a:session:5", NULL, 14);
    for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
        struct conversation_filter filter = { .query = str_from(queries[i].query) };
        size_t n = list(t, &rig, filter, &all);

        if (n != queries[i].found)
            FAIL("\"%s\" is found %zu times, not %zu", queries[i].query, n, queries[i].found);
    }
}

DB_TEST(what_a_query_finds_comes_in_pages_too)
{
    AUTO_RIG rig = fresh(t);
    struct conversation *all;
    struct conversation_filter filter = { .query = STR("plum"), .limit = 2 };

    /* The ones that are found lie far apart. */
    for (int i = 0; i < 150; i++)
        talk(t, &rig, arena_printf(&t->arena, "a:session:%d", i),
             i % 50 == 0 ? "{\"text\":\"Plums\"}" : "{\"text\":\"pears\"}", 10 + i);
    ASSERT_EQ(list(t, &rig, filter, &all), 2);
    ASSERT_STR(all[0].thread.id, "a:session:100");
    ASSERT_STR(all[1].thread.id, "a:session:50");
    filter.before = all[1].thread.n;
    ASSERT_EQ(list(t, &rig, filter, &all), 1);
    ASSERT_STR(all[0].thread.id, "a:session:0");
    filter.before = all[0].thread.n;
    ASSERT_EQ(list(t, &rig, filter, &all), 0);
}

DB_TEST(a_list_has_as_many_as_are_asked_for_and_a_hundred_unasked)
{
    AUTO_RIG rig = fresh(t);
    struct conversation *all;

    for (int i = 0; i < 101; i++)
        talk(t, &rig, arena_printf(&t->arena, "a:session:%d", i), NULL, 10);
    ASSERT_EQ(list(t, &rig, (struct conversation_filter){ .limit = 0 }, &all), 100);
    ASSERT_EQ(list(t, &rig, (struct conversation_filter){ .limit = 101 }, &all), 101);
    ASSERT_EQ(list(t, &rig, (struct conversation_filter){ .limit = 102 }, &all), 101);
    /* At the same time, the newer row is first. */
    ASSERT_STR(all[0].thread.id, "a:session:100");
    ASSERT_STR(all[100].thread.id, "a:session:0");
}

DB_TEST(what_was_put_away_comes_back_when_asked_or_spoken_in)
{
    AUTO_RIG rig = fresh(t);
    struct thread thread = talk(t, &rig, "a:session:1", "{\"text\":\"hi\"}", 10);
    struct conversation *all;

    ASSERT_EQ(conversation_delete(rig.domain, thread.n, 20, &t->err), 1);
    ASSERT_EQ(conversation_delete(rig.domain, thread.n, 21, &t->err), 0);
    ASSERT_EQ(list(t, &rig, (struct conversation_filter){ .limit = 0 }, &all), 0);
    ASSERT_EQ(conversation_restore(rig.domain, thread.n, &t->err), 1);
    ASSERT_EQ(conversation_restore(rig.domain, thread.n, &t->err), 0);
    ASSERT_EQ(conversation_delete(rig.domain, thread.n, 22, &t->err), 1);
    talk(t, &rig, "a:session:1", "{\"text\":\"again\"}", 30);
    ASSERT_EQ(list(t, &rig, (struct conversation_filter){ .limit = 0 }, &all), 1);
}

TEST(a_line_is_what_was_said_without_breaks)
{
    static const struct {
        const char *content, *line;
    } cases[] = {
        { "{\"text\":\"a\\n\\t b\"}", "a b" },
        { "{\"text\":\"\"}", "" },
        { "{\"text\":5}", "" },
        { "{\"output\":\"x\"}", "" },
        { "[]", "" },
        { "", "" },
        { "{\"text\":\"cut off he", "cut off he" },
        { "{\"text\":\"cut \\", "cut" },
        { "{\"text\":\"cut \\u00", "cut" },
        { "{\"text\":\"cut \\ud83d", "cut" },
        { "{\"text\":\"cut \xc3", "cut" },
        { "{\"text\":\"e\\u001b[2J\"}", "e [2J" },
        { "{\"text\":\"a\\u202eb\\u2066c\\u200fd\"}", "abcd" },
        { "{\"text\":\"\\u202e\\u202e\"}", "" },
        { "{\"text\":\"a\\u2028b\\u0085c\"}", "a b c" },
        { "{\"text\":\"  \\n \"}", "" },
        { "{\"text\":null}", "" },
        { "{\"text\":\"cut \\ud83d\\ude00", "cut \xf0\x9f\x98\x80" },
        { "{\"text\":\"cut \\ud83d\\ude0", "cut" },
        { "{\"text\":\"cut \\uDBFF", "cut" },
        { "{\"text\":\"cut \\\\", "cut \\" },
        { "{\"text\":\"cut \xf0\x9f\x98", "cut" },
        { "{\"text\":\"whole\",\"more\":\"x", "whole" },
        { "{\"other\":\"cut", "" },
        { "{\"text\":7", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_STR(message_line(str_from(cases[i].content), 100, &t->arena), cases[i].line);
}

TEST(a_line_that_is_too_long_ends_at_a_character)
{
    ASSERT_STR(message_line(STR("{\"text\":\"abc\"}"), 3, &t->arena), "abc");
    ASSERT_STR(message_line(STR("{\"text\":\"abcd\"}"), 3, &t->arena), "abc…");
    ASSERT_STR(message_line(STR("{\"text\":\"ab c\"}"), 3, &t->arena), "ab…");
    ASSERT_STR(message_line(STR("{\"text\":\"abc \\n\"}"), 3, &t->arena), "abc");
    ASSERT_STR(message_line(STR("{\"text\":\"abc\\u202e\"}"), 3, &t->arena), "abc");
    ASSERT_STR(message_line(STR("{\"text\":\"abc\\u0085\"}"), 3, &t->arena), "abc");
    ASSERT_STR(message_line(STR("{\"text\":\"a\"}"), 0, &t->arena), "…");
    ASSERT_STR(message_line(STR("{\"text\":\"ab\xc3\xa4xyz\"}"), 4, &t->arena), "ab\xc3\xa4…");
    ASSERT_STR(message_line(STR("{\"text\":\"ab\xc3\xa4xyz\"}"), 3, &t->arena), "ab…");
}
