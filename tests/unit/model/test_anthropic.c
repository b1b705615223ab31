/* The Messages API: blocks, thinking that comes back unchanged, turns.
 *
 * SPDX-License-Identifier: MIT
 */
#include "model_rig.h"

#define EVENT(type, json) "event: " type "\ndata: " json "\n\n"
#define START                                                                                      \
    EVENT("message_start",                                                                         \
          "{\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\","        \
          "\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[],\"stop_reason\":null,"     \
          "\"usage\":{\"input_tokens\":10,\"cache_creation_input_tokens\":5,"                      \
          "\"cache_read_input_tokens\":100,\"output_tokens\":1}}}")
#define BLOCK(index, json)                                                                         \
    EVENT("content_block_start",                                                                   \
          "{\"type\":\"content_block_start\",\"index\":" index ",\"content_block\":" json "}")
#define DELTA(index, json)                                                                         \
    EVENT("content_block_delta",                                                                   \
          "{\"type\":\"content_block_delta\",\"index\":" index ",\"delta\":" json "}")
#define STOP_BLOCK(index)                                                                          \
    EVENT("content_block_stop", "{\"type\":\"content_block_stop\",\"index\":" index "}")
#define TEXT_BLOCK(index, text)                                                                    \
    BLOCK(index, "{\"type\":\"text\",\"text\":\"\"}")                                              \
    DELTA(index, "{\"type\":\"text_delta\",\"text\":\"" text "\"}") STOP_BLOCK(index)
#define ENDS(reason)                                                                               \
    EVENT("message_delta", "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" reason      \
                           "\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":15}}")         \
    EVENT("message_stop", "{\"type\":\"message_stop\"}")
#define PING EVENT("ping", "{\"type\":\"ping\"}")

#define SAYS(body_) ((const struct say[]){ { 200, NULL, body_ }, { 0 } })

static void ask_anthropic(struct test *t, struct ask *ask, const struct say *says)
{
    struct model_rig rig;

    *ask = ASK_INIT;
    model_rig_open(&rig, t, "anthropic", says, NULL);
    ask_run(ask, &rig, NULL);
    model_rig_close(&rig);
}

TEST(text_of_several_blocks_is_one_text)
{
    struct ask ask;

    ask_anthropic(t, &ask,
                  SAYS(START PING TEXT_BLOCK("0", "One. ") PING TEXT_BLOCK("1", "Two.") EVENT(
                      "something_new", "{\"type\":\"something_new\",\"x\":1}") ENDS("end_turn")));
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT_STR(ask.text, "One. Two.");
    ASSERT_TEXT(buf_text(&ask.deltas), "T:One. |T:Two.|");
    ASSERT_STR(ask.model, "claude-x");
    ASSERT_STR(ask.opaque, "");
    /* Input is all of it, whether a cache had a part in it or not. */
    ASSERT_EQ(ask.usage.input_tokens, 115);
    ASSERT_EQ(ask.usage.cached_tokens, 100);
    ASSERT_EQ(ask.usage.output_tokens, 15);
    ASSERT(!ask.usage.estimated);
    ask_release(&ask);
}

TEST(calls_come_with_their_input_in_pieces_at_once_or_not_at_all)
{
    struct ask ask;

    ask_anthropic(
        t, &ask,
        SAYS(START BLOCK("0", "{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"bash\","
                              "\"input\":{}}") DELTA("0", "{\"type\":\"input_json_delta\","
                                                          "\"partial_json\":\"\"}")
                 DELTA("0", "{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"command\\\"\"}")
                     DELTA("0", "{\"type\":\"input_json_delta\",\"partial_json\":\":\\\"ls\\\"}\"}")
                         STOP_BLOCK("0")
                             BLOCK("1", "{\"type\":\"tool_use\",\"id\":\"toolu_2\",\"name\":\"f\","
                                        "\"input\":{\"a\":\"b/c\"}}") STOP_BLOCK("1")
                                 BLOCK("2", "{\"type\":\"tool_use\",\"id\":\"toolu_2\","
                                            "\"name\":\"g\",\"input\":{}}") ENDS("tool_use")));
    ASSERT_REPLIED(&ask, MODEL_STOP_CALLS);
    ASSERT_EQ(ask.call_count, 3);
    ASSERT_STR(ask.calls[0].id, "toolu_1");
    ASSERT_STR(ask.calls[0].arguments, "{\"command\":\"ls\"}");
    ASSERT_STR(ask.calls[1].arguments, "{\"a\":\"b/c\"}");
    ASSERT_STR(ask.calls[2].arguments, "{}");
    ASSERT(
        !str_eq(ask.calls[1].id, ask.calls[2].id)); /* the second of two equal ones is replaced */
    ask_release(&ask);
}

TEST(every_stop_reason_has_its_meaning)
{
    static const struct {
        const char *reason;
        enum model_stop stop;
    } cases[] = {
        { "end_turn", MODEL_STOP_END },      { "stop_sequence", MODEL_STOP_END },
        { "max_tokens", MODEL_STOP_LENGTH }, { "model_context_window_exceeded", MODEL_STOP_LENGTH },
        { "pause_turn", MODEL_STOP_LENGTH }, { "refusal", MODEL_STOP_FILTER },
        { "something_new", MODEL_STOP_END },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct say says[] = {
            { 200, NULL,
              arena_printf(&t->arena, START TEXT_BLOCK("0", "a") ENDS("%s"), cases[i].reason) },
            { 0 },
        };
        struct ask ask;

        ask_anthropic(t, &ask, says);
        ASSERT_REPLIED(&ask, cases[i].stop);
        ASSERT_STR(ask.text, "a");
        ask_release(&ask);
    }
}

TEST(a_message_at_once_is_read_like_a_stream)
{
    static const struct say says[] = {
        { 200, "Content-Type: application/json\r\n",
          "{\"type\":\"message\",\"model\":\"claude-x\",\"content\":[{\"type\":\"thinking\","
          "\"thinking\":\"hm\",\"signature\":\"S\"},{\"type\":\"text\",\"text\":\"Hi\"},"
          "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{\"x\":1}}],"
          "\"stop_reason\":\"tool_use\",\"usage\":{\"input_tokens\":3,\"output_tokens\":4}}" },
        { 0 },
    };
    struct ask ask;

    ask_anthropic(t, &ask, says);
    ASSERT_REPLIED(&ask, MODEL_STOP_CALLS);
    ASSERT_STR(ask.text, "Hi");
    ASSERT_STR(ask.thinking, "hm");
    ASSERT_STR(ask.calls[0].arguments, "{\"x\":1}");
    ASSERT_EQ(ask.usage.input_tokens, 3);
    ask_release(&ask);
}

TEST(an_error_in_the_middle_of_a_stream_is_no_reply)
{
    static const struct {
        const char *type;
        enum err_code code;
    } cases[] = {
        { "overloaded_error", ERR_RATE_LIMITED },
        { "rate_limit_error", ERR_RATE_LIMITED },
        { "api_error", ERR_PROVIDER_FAILED },
        { "authentication_error", ERR_SECRET_UNAVAILABLE },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct say says[] = {
            { 200, NULL,
              arena_printf(&t->arena,
                           START TEXT_BLOCK("0", "half")
                               EVENT("error", "{\"type\":\"error\",\"error\":{\"type\":\"%s\","
                                              "\"message\":\"Busy just now\"}}"),
                           cases[i].type) },
            { 0 },
        };
        struct ask ask;

        ask_anthropic(t, &ask, says);
        ASSERT_ASK_FAILED(&ask, cases[i].code);
        ASSERT_CONTAINS(ask_error(&ask), "Busy just now");
        ASSERT_EQ(ask.delta_count, 1);
        ask_release(&ask);
    }
}

TEST(a_stream_that_ends_early_is_no_reply)
{
    struct ask ask;

    ask_anthropic(t, &ask, SAYS(START TEXT_BLOCK("0", "half")));
    ASSERT_ASK_FAILED(&ask, ERR_PROVIDER_FAILED);
    ASSERT_CONTAINS(ask_error(&ask), "ended before the answer did");
    ask_release(&ask);
}

TEST(numbers_of_tokens_that_cant_be_are_not_believed_nor_added_up)
{
    struct ask ask;

    ask_anthropic(t, &ask,
                  SAYS(EVENT("message_start",
                             "{\"type\":\"message_start\",\"message\":{\"usage\":{"
                             "\"input_tokens\":9223372036854775807,\"cache_read_input_tokens\":"
                             "9223372036854775807,\"output_tokens\":-3}}}") TEXT_BLOCK("0", "a")
                           EVENT("message_stop", "{\"type\":\"message_stop\"}")));
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT(ask.usage.estimated && ask.usage.input_tokens > 0 && ask.usage.input_tokens < 100);
    ASSERT_EQ(ask.usage.cached_tokens, 0);
    ask_release(&ask);
}

/* ---- thinking ---- */

#define THINKING_TURN                                                                              \
    START BLOCK("0", "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}") DELTA(        \
        "0", "{\"type\":\"thinking_delta\",\"thinking\":\"Let me \"}")                             \
        DELTA("0", "{\"type\":\"thinking_delta\",\"thinking\":\"see\"}") DELTA(                    \
            "0", "{\"type\":\"signature_delta\",\"signature\":\"EqQBCg+/==\"}") STOP_BLOCK("0")    \
            BLOCK("1", "{\"type\":\"redacted_thinking\",\"data\":\"EmwKAhgB/x==\"}")               \
                STOP_BLOCK("1") TEXT_BLOCK("2", "I look. ") BLOCK(                                 \
                    "3", "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"two\"}")        \
                    STOP_BLOCK("3") BLOCK(                                                         \
                        "4",                                                                       \
                        "{\"type\":\"tool_use\",\"id\":\"toolu_9\",\"name\":\"f\",\"input\":{}}")  \
                        DELTA(                                                                     \
                            "4",                                                                   \
                            "{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"x\\\":1}\"}")  \
                            STOP_BLOCK("4") TEXT_BLOCK("5", "Then.") ENDS("tool_use")

/* The next request with the first one's reply in it; its assistant message as JSON. */
static struct json_object *second_turn(struct test *t, const char *opaque_model,
                                       struct str changed_text)
{
    static const struct say says[] = { { 200, NULL, THINKING_TURN },
                                       { 200, NULL, START TEXT_BLOCK("0", "ok") ENDS("end_turn") },
                                       { 0 } };
    struct model_rig rig;
    struct ask ask = ASK_INIT, next = ASK_INIT;
    struct model_message messages[3];
    struct model_request request = { .model_id = "m", .messages = messages, .message_count = 3 };
    struct json_object *body;

    model_rig_open(&rig, t, "anthropic", says, NULL);
    ask_run(&ask, &rig, NULL);
    ASSERT_REPLIED(&ask, MODEL_STOP_CALLS);
    ASSERT_STR(ask.thinking, "Let me see");
    ASSERT_STR(ask.text, "I look. Then.");
    messages[0] = (struct model_message){ .role = MODEL_USER, .text = STR("Hello") };
    messages[1] = (struct model_message){ .role = MODEL_ASSISTANT,
                                          .text = changed_text.n ? changed_text : ask.text,
                                          .thinking = ask.thinking,
                                          .opaque = ask.opaque,
                                          .opaque_model = str_from(opaque_model),
                                          .calls = ask.calls,
                                          .call_count = ask.call_count };
    messages[2] = (struct model_message){
        .role = MODEL_TOOL, .call_id = ask.calls[0].id, .text = STR("42"), .failed = true
    };
    ask_run(&next, &rig, &request);
    ASSERT_REPLIED(&next, MODEL_STOP_END);
    body = rig_body(&rig);
    ask_release(&ask);
    ask_release(&next);
    model_rig_close(&rig);
    return body;
}

TEST(thinking_goes_back_exactly_as_it_came_and_in_its_order)
{
    AUTO_JSON body = second_turn(t, "m", STR_NONE);

    ASSERT_STR(body_at(body, "/messages/1/content/0"),
               "{ \"type\": \"thinking\", \"thinking\": \"Let me see\", \"signature\": "
               "\"EqQBCg+\\/==\" }");
    ASSERT_STR(body_at(body, "/messages/1/content/1"),
               "{ \"type\": \"redacted_thinking\", \"data\": \"EmwKAhgB\\/x==\" }");
    ASSERT_STR(body_at(body, "/messages/1/content/2/text"), "I look. ");
    ASSERT_STR(body_at(body, "/messages/1/content/3/signature"), "two");
    ASSERT_STR(body_at(body, "/messages/1/content/4/type"), "tool_use");
    ASSERT_STR(body_at(body, "/messages/1/content/4/id"), "toolu_9");
    ASSERT_STR(body_at(body, "/messages/1/content/4/input/x"), "1");
    ASSERT_STR(body_at(body, "/messages/1/content/5/text"), "Then.");
    ASSERT_STR(body_at(body, "/messages/1/content/6"), "");
    ASSERT_STR(body_at(body, "/messages/2/content/0/type"), "tool_result");
    ASSERT_STR(body_at(body, "/messages/2/content/0/tool_use_id"), "toolu_9");
    ASSERT_STR(body_at(body, "/messages/2/content/0/content"), "42");
    ASSERT_STR(body_at(body, "/messages/2/content/0/is_error"), "true");
}

TEST(thinking_of_another_model_stays_at_home)
{
    AUTO_JSON body = second_turn(t, "other", STR_NONE);

    ASSERT_STR(body_at(body, "/messages/1/content/0/type"), "text");
    ASSERT_STR(body_at(body, "/messages/1/content/0/text"), "I look. Then.");
    ASSERT_STR(body_at(body, "/messages/1/content/1/type"), "tool_use");
    ASSERT_STR(body_at(body, "/messages/1/content/2"), "");
}

TEST(a_message_that_was_changed_goes_back_without_its_thinking)
{
    AUTO_JSON body = second_turn(t, "m", STR("Changed"));

    ASSERT_STR(body_at(body, "/messages/1/content/0/text"), "Changed");
    ASSERT_STR(body_at(body, "/messages/1/content/1/type"), "tool_use");
}

/* ---- what is asked ---- */

static const struct model_tool tools[] = {
    { .name = { "a", 1 },
      .description = { "A", 1 },
      .input_schema = { "{\"type\":\"object\"}", 17 } },
    { .name = { "b", 1 },
      .description = { "B", 1 },
      .input_schema = { "{\"type\":\"object\"}", 17 } },
};

static struct json_object *asked(struct test *t, const struct model_request *request,
                                 const char **ret_head)
{
    struct model_rig rig;
    struct ask ask = ASK_INIT;
    struct json_object *body;

    model_rig_open(&rig, t, "anthropic", SAYS(START ENDS("end_turn")), NULL);
    ask_run(&ask, &rig, request);
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    body = rig_body(&rig);
    if (ret_head)
        *ret_head = arena_text(&t->arena, rig.peer.shared->last_head);
    ask_release(&ask);
    model_rig_close(&rig);
    return body;
}

TEST(results_of_one_turn_are_one_user_message_with_what_the_user_says_behind_them)
{
    static const struct model_call calls[] = {
        { .id = { "functions.a:0", 13 }, .name = { "a", 1 }, .arguments = { "{}", 2 } },
        { .id = { "c2", 2 }, .name = { "b", 1 }, .arguments = { "{\"k\":[1]}", 9 } },
    };
    static const struct model_message messages[] = {
        { .role = MODEL_USER, .text = { "one", 3 } },
        { .role = MODEL_USER, .text = { " ", 1 } },
        { .role = MODEL_ASSISTANT, .text = { "", 0 }, .calls = calls, .call_count = 2 },
        { .role = MODEL_USER, .text = { "stop", 4 } },
        { .role = MODEL_TOOL, .call_id = { "c2", 2 }, .text = { "two", 3 } },
        { .role = MODEL_TOOL, .call_id = { "functions.a:0", 13 }, .text = { "", 0 } },
    };
    static const struct model_request request = {
        .model_id = "m",
        .system = { "Rules", 5 },
        .tools = tools,
        .tool_count = 2,
        .messages = messages,
        .message_count = 6,
        .present = { "[It is May.]", 12 },
    };
    const char *head;
    AUTO_JSON body = asked(t, &request, &head);

    ASSERT_CONTAINS(head, "POST /v1/messages HTTP/1.1");
    ASSERT_CONTAINS(head, "anthropic-version: 2023-06-01");
    ASSERT_STR(body_at(body, "/max_tokens"), "8192");
    ASSERT_STR(body_at(body, "/messages/0/content/0/text"), "one");
    ASSERT_STR(body_at(body, "/messages/0/content/1/text"), "(no text)");
    ASSERT_STR(body_at(body, "/messages/1/role"), "assistant");
    ASSERT_STR(body_at(body, "/messages/1/content/0/type"), "tool_use");
    ASSERT_STR(body_at(body, "/messages/1/content/1/input/k/0"), "1");
    ASSERT_STR(body_at(body, "/messages/2/role"), "user");
    ASSERT_STR(body_at(body, "/messages/2/content/0/type"), "tool_result");
    /* An id this API refuses is another one, the same on both sides. */
    ASSERT(str_starts(body_at(body, "/messages/1/content/0/id"), STR("toolu_")));
    ASSERT_STR(body_at(body, "/messages/2/content/0/tool_use_id"),
               body_at(body, "/messages/1/content/0/id").p);
    ASSERT_STR(body_at(body, "/messages/2/content/0/content"), "");
    ASSERT_STR(body_at(body, "/messages/2/content/1/content"), "two");
    ASSERT_STR(body_at(body, "/messages/2/content/2/text"), "stop");
    ASSERT_STR(body_at(body, "/messages/3"), "");
    /* Cache marks: behind the stable front, and at the end of a conversation. */
    ASSERT_STR(body_at(body, "/system/0/cache_control/type"), "ephemeral");
    ASSERT_STR(body_at(body, "/tools/1/cache_control/type"), "");
    ASSERT_STR(body_at(body, "/messages/2/content/2/cache_control/type"), "ephemeral");
    ASSERT_STR(body_at(body, "/messages/2/content/1/cache_control/type"), "");
    /* What is another in the next request stands behind the mark. */
    ASSERT_STR(body_at(body, "/messages/2/content/3/text"), "[It is May.]");
    ASSERT_STR(body_at(body, "/messages/2/content/3/cache_control/type"), "");
}

TEST(without_a_system_text_the_mark_stands_on_the_last_tool)
{
    static const struct model_message messages[] = {
        { .role = MODEL_ASSISTANT, .text = { "Before", 6 } },
        { .role = MODEL_USER, .text = { "Hi", 2 } },
    };
    static const struct model_request request = {
        .model_id = "m",
        .tools = tools,
        .tool_count = 2,
        .messages = messages,
        .message_count = 2,
        .max_output_tokens = 5,
    };
    AUTO_JSON body = asked(t, &request, NULL);

    ASSERT_STR(body_at(body, "/tools/1/cache_control/type"), "ephemeral");
    ASSERT_STR(body_at(body, "/tools/0/cache_control/type"), "");
    ASSERT_STR(body_at(body, "/max_tokens"), "5");
    /* A history whose beginning is left out still begins with the user. */
    ASSERT_STR(body_at(body, "/messages/0/role"), "user");
    ASSERT_STR(body_at(body, "/messages/1/content/0/text"), "Before");
}

static void with_v1(struct model_rig *rig, struct model_gateway_config *config)
{
    (void)config;
    rig->spec.secret_ref = "anthropic-key";
    rig->secret = "sk-ant-0123456789";
    rig->spec.base_url = arena_printf(&rig->t->arena, "%s/v1", rig->spec.base_url);
}

TEST(the_key_has_a_header_of_its_own_and_the_version_stands_in_the_path_once)
{
    struct model_rig rig;
    struct ask ask = ASK_INIT;

    model_rig_open(&rig, t, "anthropic", SAYS(START ENDS("end_turn")), with_v1);
    ask_run(&ask, &rig, NULL);
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT_CONTAINS(rig.peer.shared->last_head, "POST /v1/messages HTTP/1.1");
    ASSERT_CONTAINS(rig.peer.shared->last_head, "x-api-key: sk-ant-0123456789\r");
    ask_release(&ask);
    model_rig_close(&rig);
}

static void without_model(struct model_rig *rig, struct model_gateway_config *config)
{
    (void)config;
    rig->spec.model = NULL;
}

TEST(a_spec_without_a_model_sends_nothing)
{
    static const struct model_message hello = { .role = MODEL_USER, .text = { "Hello", 5 } };
    static const struct model_request request = { .model_id = "m",
                                                  .messages = &hello,
                                                  .message_count = 1 };
    static const struct model_sink sink = { NULL, NULL };
    struct model_exchange *x;
    struct model_rig rig;

    model_rig_open(&rig, t, "anthropic", SAYS(START ENDS("end_turn")), without_model);
    ASSERT_FAILS(model_start(rig.gateway, &request, &sink, NULL, &x, &t->err), ERR_BAD_REQUEST);
    ASSERT_EQ(rig.peer.shared->requests, 0);
    model_rig_close(&rig);
}
