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
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_STR(message_line(str_from(cases[i].content), 100, &t->arena), cases[i].line);
}

TEST(a_line_that_is_too_long_ends_at_a_character)
{
    ASSERT_STR(message_line(STR("{\"text\":\"ab\xc3\xa4xyz\"}"), 4, &t->arena), "ab\xc3\xa4…");
    ASSERT_STR(message_line(STR("{\"text\":\"ab\xc3\xa4xyz\"}"), 3, &t->arena), "ab…");
}
