/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "harness/test.h"
#include "wake/subscription.h"

static int read_text(struct test *t, struct subscription *s, const char *json)
{
    AUTO_JSON object = NULL;

    t->err = ERR_INIT;
    ASSERT_OK(json_parse(str_from(json), &object, &t->err));
    return subscription_read(s, object, &t->arena, &t->err);
}

static const char *text_of(struct test *t, const struct subscription *s)
{
    AUTO_BUF text = BUF_INIT(5000);
    struct json_writer w = JSON_WRITER(&text);

    subscription_write(&w, s);
    ASSERT_OK(json_write_end(&w));
    return arena_text(&t->arena, buf_text(&text));
}

TEST(a_subscription_is_written_as_it_is_read)
{
    struct subscription s = { 0 };

    ASSERT_OK(read_text(
        t, &s,
        "{\"name\":\"Runs\",\"source\":\"journal\",\"tokens\":[{\"class\":\"semanticKey\","
        "\"value\":"
        "\"WORKOUT\"},{\"class\":\"subtypeToken\",\"namespace\":\"workoutType\",\"value\":\"run\"}]"
        ","
        "\"predicate\":\"entry.value > 1\",\"authors\":[\"human\",\"self\"],\"activeHours\":{"
        "\"from\":\"07:00\",\"to\":\"22:00\"},\"cooldownSeconds\":90,\"prompt\":\"Go\"}"));
    ASSERT(s.active);
    ASSERT_OK(subscription_check(&s, &t->err));
    s.id = STR("s-1");
    s.agent_id = STR("coach");
    s.created_at = s.updated_at = 1771405200000;
    ASSERT_TEXT(text_of(t, &s),
                "{\"id\":\"s-1\",\"agentId\":\"coach\",\"name\":\"Runs\",\"source\":\"journal\","
                "\"tokens\":[{\"class\":\"semanticKey\",\"value\":\"WORKOUT\"},{\"class\":"
                "\"subtypeToken\",\"namespace\":\"workoutType\",\"value\":\"run\"}],\"predicate\":"
                "\"entry.value > 1\",\"authors\":[\"human\",\"self\"],\"activeHours\":{\"from\":"
                "\"07:00\",\"to\":\"22:00\"},\"cooldownSeconds\":90,\"prompt\":\"Go\",\"active\":"
                "true,\"createdAt\":\"2026-02-18T09:00:00.000Z\",\"updatedAt\":"
                "\"2026-02-18T09:00:00.000Z\"}");
}

TEST(tokens_are_given_as_text_too)
{
    struct subscription s = { 0 };

    ASSERT_OK(read_text(t, &s,
                        "{\"source\":\"journal\",\"tokens\":[\"k:TASK\",\"sub:workoutType:a:b\","
                        "\"id:t-1\"]}"));
    ASSERT_EQ(s.token_count, 3);
    ASSERT_EQ(s.tokens[0].class, TOKEN_SEMANTIC_KEY);
    ASSERT_STR(s.tokens[1].name_space, "workoutType");
    ASSERT_STR(s.tokens[1].value, "a:b");
    ASSERT_STR(s.tokens[2].value, "t-1");
    ASSERT_FAILS(read_text(t, &s, "{\"tokens\":[\"k:TASK\",\"TASK\"]}"), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "/tokens/1: token \"TASK\"");
    ASSERT_CONTAINS(test_err_text(t), "expected k:KEY, id:ID or sub:NAMESPACE:VALUE");
    ASSERT_FAILS(read_text(t, &s, "{\"tokens\":[1]}"), ERR_SCHEMA_VIOLATION);
    ASSERT_CONTAINS(test_err_text(t), "/tokens/0: a text such as");
}

TEST(a_change_keeps_what_it_does_not_name)
{
    struct subscription s = { .n = 5, .source = WAKE_FILES, .folder = STR("/a"), .active = false };

    s.hours = (struct active_hours){ .set = true, .to_min = 60 };
    ASSERT_OK(read_text(t, &s, "{\"glob\":\"*.txt\"}"));
    ASSERT_STR(s.folder, "/a");
    ASSERT_STR(s.glob, "*.txt");
    ASSERT(!s.active);
    ASSERT(s.hours.set);
    ASSERT_OK(read_text(t, &s, "{\"activeHours\":null,\"active\":true,\"source\":\"files\"}"));
    ASSERT(!s.hours.set);
    ASSERT(s.active);
    ASSERT_FAILS(read_text(t, &s, "{\"source\":\"webhook\"}"), ERR_SCHEMA_VIOLATION);
    ASSERT_CONTAINS(test_err_text(t), "it is files and stays so");
}

TEST(members_that_are_wrong_are_named)
{
    static const struct {
        const char *json, *why;
    } bad[] = {
        { "[]", "a subscription is an object" },
        { "{\"nme\":\"x\"}", "nme" },
        { "{\"name\":3}", "name" },
        { "{\"source\":\"moon\"}", "/source: \"moon\" is none of" },
        { "{\"tokens\":{}}", "tokens" },
        { "{\"tokens\":[\"TASK\"]}", "/tokens/0: token \"TASK\": no prefix that there is" },
        { "{\"tokens\":[null]}", "or an object with class and value, is needed" },
        { "{\"tokens\":[{\"class\":\"key\",\"value\":\"x\"}]}", "/tokens/0: /class: \"key\"" },
        { "{\"tokens\":[{\"class\":\"entityId\"}]}", "value" },
        { "{\"authors\":[]}", "at least one" },
        { "{\"authors\":[\"human,agent\"]}", "/authors/0" },
        { "{\"authors\":[\"none\"]}", "/authors/0" },
        { "{\"authors\":[7]}", "/authors/0" },
        { "{\"activeHours\":{\"from\":\"x\",\"to\":\"y\"}}", "activeHours" },
        { "{\"cooldownSeconds\":-1}", "/cooldownSeconds" },
        { "{\"cooldownSeconds\":9223372036854775807}", "/cooldownSeconds" },
        { "{\"id\":\"x\"}", "id" },
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct subscription s = { 0 };

        if (read_text(t, &s, bad[i].json) >= 0)
            FAIL("%s was taken", bad[i].json);
        ASSERT_CONTAINS(test_err_text(t), bad[i].why);
    }
}
