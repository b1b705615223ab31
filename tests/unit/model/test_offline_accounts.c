/* What the offline model does with Slack, mail and the calendar.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/utf8.h"
#include "offline_rig.h"

#define S(literal)                                                                                 \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }
#define TOOL(name_)                                                                                \
    {                                                                                              \
        .name = S(name_), .description = S(""), .input_schema = S("{\"type\":\"object\"}")         \
    }

static const struct model_tool accounts[] = {
    TOOL("list_slack_channels"),
    TOOL("send_slack_message"),
    TOOL("list_emails"),
    TOOL("list_events"),
};

static const char *first(struct test *t, const char *text)
{
    return rig_ask(t, accounts, ARRAY_LEN(accounts), text);
}

/* What it says after the tool has answered so. */
static const char *told(struct test *t, const char *text, const char *answer)
{
    struct rig rig;
    const char *says;

    rig_begin(&rig, t, accounts, ARRAY_LEN(accounts));
    rig_user(&rig, text);
    rig_think(&rig);
    ASSERT_EQ(rig.turn.call_count, 1);
    rig_result(&rig, 0, answer);
    says = rig_think(&rig);
    ASSERT_EQ(rig.turn.call_count, 0);
    ASSERT(utf8_valid(str_from(says)));
    rig_end(&rig);
    return says;
}

/* {"KEY":[ITEM, ITEM, ...]} */
static const char *list(struct test *t, const char *key, const char *item, int n)
{
    AUTO_BUF out = BUF_INIT(1u << 20);

    buf_printf(&out, "{\"%s\":[", key);
    for (int i = 0; i < n; i++)
        buf_printf(&out, "%s%s", i ? "," : "", item);
    buf_add_text(&out, "]}");
    return arena_text(&t->arena, buf_text(&out));
}

static const char *repeated(struct test *t, const char *text, int n)
{
    AUTO_BUF out = BUF_INIT(1u << 16);

    for (int i = 0; i < n; i++)
        buf_add_text(&out, text);
    return arena_text(&t->arena, buf_text(&out));
}

TEST(a_plain_request_becomes_one_call)
{
    static const struct {
        const char *text, *call;
    } cases[] = {
        { "list slack channels", "list_slack_channels {}" },
        { "which channels are there on slack?", "list_slack_channels {}" },
        { "show my unread mail", "list_emails {\"unread_only\":true}" },
        { "do I have any new emails?", "list_emails {\"unread_only\":true}" },
        { "list my mails", "list_emails {\"unread_only\":false}" },
        { "what is in my calendar today",
          "list_events {\"from\":\"2026-11-15\",\"to\":\"2026-11-16\"}" },
        { "what is on my calendar tomorrow?",
          "list_events {\"from\":\"2026-11-16\",\"to\":\"2026-11-17\"}" },
        { "what is in my calendar this week",
          "list_events {\"from\":\"2026-11-15\",\"to\":\"2026-11-22\"}" },
        { "send \"Lunch?\" to the slack channel #food", "list_slack_channels {\"limit\":1000}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_TEXT(first(t, cases[i].text), cases[i].call);
}

TEST(what_tools_list_is_told_and_what_is_left_out_is_counted)
{
    const struct {
        const char *text, *answer, *says;
    } cases[] = {
        { "list slack channels",
          "{\"channels\":[{\"id\":\"C1\",\"name\":\"food\",\"is_private\":true}]}",
          "1 channel:\n\n    #food (private) (C1)\n" },
        { "list slack channels", "{\"channels\":[]}", "I see no Slack channels." },
        { "list my mails", "{\"emails\":[{\"from\":\"Bo\",\"subject\":\"Hi\"}]}",
          "1 mail:\n\n    Bo: Hi\n" },
        { "list my mails", "{\"emails\":[]}", "There is no such mail." },
        { "list my mails", list(t, "emails", "{\"from\":\"a\",\"subject\":\"b\"}", 21),
          arena_printf(&t->arena, "21 mails:\n\n%s    and 1 more\n",
                       repeated(t, "    a: b\n", 20)) },
        { "what is in my calendar", "{\"events\":[{\"start\":\"2026-11-15\",\"title\":\"Nap\"}]}",
          "1 event:\n\n    2026-11-15  Nap\n" },
        { "what is in my calendar", "{\"events\":[]}", "Nothing is in your calendar then." },
        { "what is in my calendar", list(t, "events", "{\"start\":\"s\",\"title\":\"t\"}", 23),
          arena_printf(&t->arena, "23 events:\n\n%s    and 3 more\n",
                       repeated(t, "    s  t\n", 20)) },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_TEXT(told(t, cases[i].text, cases[i].answer), cases[i].says);
    ASSERT_CONTAINS(
        told(t, "list slack channels", list(t, "channels", "{\"id\":\"C1\",\"name\":\"n\"}", 25)),
        "    and 5 more\n");
}

/* Names and subjects come from strangers: they are cut between characters, whatever they are. */
TEST(long_names_are_cut_between_two_characters)
{
    const char *mouse = repeated(t, "\xf0\x9f\x90\xad", 100);

    for (int shift = 0; shift < 4; shift++) {
        const char *text = arena_printf(&t->arena, "%.*s%s", shift, "xxxx", mouse);

        ASSERT_CONTAINS(
            told(t, "list my mails",
                 arena_printf(&t->arena, "{\"emails\":[{\"from\":\"%s\",\"subject\":\"%s\"}]}",
                              text, text)),
            "1 mail:\n");
        ASSERT_CONTAINS(
            told(
                t, "what is in my calendar",
                arena_printf(&t->arena, "{\"events\":[{\"start\":\"s\",\"title\":\"%s\"}]}", text)),
            "1 event:\n");
    }
}

TEST(an_answer_that_makes_no_sense_harms_nothing)
{
    static const char *const answers[] = {
        "",
        "not JSON",
        "[]",
        "7",
        "{}",
        "{\"emails\":7,\"events\":{},\"channels\":null}",
        "{\"emails\":[7,null,{}],\"events\":[7,null,{}],\"channels\":[7,null,{}]}",
    };

    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        ASSERT(told(t, "list my mails", answers[i])[0]);
        ASSERT(told(t, "what is in my calendar", answers[i])[0]);
        ASSERT(told(t, "list slack channels", answers[i])[0]);
    }
}

TEST(a_message_is_sent_to_the_channel_of_that_name)
{
    static const char *const channels =
        "{\"channels\":[{\"id\":\"C1\",\"name\":\"food\"},{\"id\":\"C2\",\"name\":\"Work\"}]}";
    static const struct {
        const char *text, *then;
    } cases[] = {
        { "send \"Lunch?\" to the slack channel #food",
          "send_slack_message {\"channel_id\":\"C1\",\"text\":\"Lunch?\"}" },
        { "post hello there to slack channel work",
          "send_slack_message {\"channel_id\":\"C2\",\"text\":\"hello there\"}" },
        { "post hello to slack channel C2",
          "send_slack_message {\"channel_id\":\"C2\",\"text\":\"hello\"}" },
        { "post hello to slack channel #nowhere",
          "I see no Slack channel #nowhere. \"list slack channels\" shows those I see." },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig rig;

        rig_begin(&rig, t, accounts, ARRAY_LEN(accounts));
        rig_user(&rig, cases[i].text);
        rig_think(&rig);
        rig_result(&rig, 0, channels);
        ASSERT_TEXT(rig_think(&rig), cases[i].then);
        if (rig.turn.call_count) {
            rig_result(&rig, 0, "{\"ok\":true}");
            ASSERT_CONTAINS(rig_think(&rig), "Sent to ");
        }
        rig_end(&rig);
    }
}

TEST(a_refusal_is_told_and_nothing_is_tried_again)
{
    struct rig rig;

    rig_begin(&rig, t, accounts, ARRAY_LEN(accounts));
    rig_user(&rig, "post hello to slack channel food");
    rig_think(&rig);
    rig_result(&rig, 0, "{\"channels\":[{\"id\":\"C1\",\"name\":\"food\"}]}");
    rig_think(&rig);
    rig_failure(&rig, 0, "rejected: not now");
    ASSERT_CONTAINS(rig_think(&rig), "not now");
    ASSERT_EQ(rig.turn.call_count, 0);
    rig_end(&rig);
}

TEST(a_missing_tool_is_named_once)
{
    static const char *const texts[] = { "list slack channels", "list my mails",
                                         "what is in my calendar",
                                         "post hello to slack channel food" };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const char *says = rig_ask(t, NULL, 0, texts[i]);

        ASSERT_CONTAINS(says, "I need the tool");
        ASSERT(!strstr(strstr(says, "I need the tool") + 1, "I need the tool"));
    }
}
