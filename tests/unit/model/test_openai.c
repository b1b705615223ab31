/* Chat Completions as servers really stream it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "model_rig.h"

#define EVENT(json) "data: " json "\n\n"
#define CHUNK(delta, reason)                                                                       \
    EVENT("{\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"big-1\","               \
          "\"choices\":[{\"index\":0,\"delta\":" delta ",\"finish_reason\":" reason "}]}")
#define DONE         "data: [DONE]\n\n"
#define CALL(json)   CHUNK("{\"tool_calls\":[" json "]}", "null")
#define ENDS(reason) CHUNK("{}", "\"" reason "\"")

/* Asks the server that says this and nothing else. */
static void ask_openai(struct test *t, struct ask *ask, const struct say *says)
{
    struct model_rig rig;

    *ask = ASK_INIT;
    model_rig_open(&rig, t, "openai", says, NULL);
    ask_run(ask, &rig, NULL);
    model_rig_close(&rig);
}

#define SAYS(body_) ((const struct say[]){ { 200, NULL, body_ }, { 0 } })

TEST(text_reaches_the_client_as_it_comes_and_whole_in_the_reply)
{
    struct ask ask;

    ask_openai(t, &ask,
               SAYS(CHUNK("{\"role\":\"assistant\",\"content\":\"\"}", "null") CHUNK(
                   "{\"content\":\"Hel\"}", "null") CHUNK("{\"content\":\"lo.\"}", "null")
                        ENDS("stop") EVENT("{\"choices\":[],\"usage\":{\"prompt_tokens\":11,"
                                           "\"completion_tokens\":3,\"prompt_tokens_details\":"
                                           "{\"cached_tokens\":8}}}") DONE));
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT_STR(ask.text, "Hello.");
    ASSERT_TEXT(buf_text(&ask.deltas), "T:Hel|T:lo.|");
    ASSERT_STR(ask.model, "big-1");
    ASSERT_EQ(ask.usage.input_tokens, 11);
    ASSERT_EQ(ask.usage.output_tokens, 3);
    ASSERT_EQ(ask.usage.cached_tokens, 8);
    ASSERT(!ask.usage.estimated);
    ask_release(&ask);
}

TEST(a_call_is_put_together_from_its_pieces)
{
    struct ask ask;

    ask_openai(t, &ask,
               SAYS(CALL("{\"index\":0,\"id\":\"call_1\",\"type\":\"function\",\"function\":"
                         "{\"name\":\"bash\",\"arguments\":\"\"}}")
                        CALL("{\"index\":0,\"function\":{\"arguments\":\"{\\\"comm\"}}") CALL(
                            "{\"index\":0,\"function\":{\"arguments\":\"and\\\":\\\"ls\\\"}\"}}")
                            ENDS("tool_calls") DONE));
    ASSERT_REPLIED(&ask, MODEL_STOP_CALLS);
    ASSERT_EQ(ask.call_count, 1);
    ASSERT_STR(ask.calls[0].id, "call_1");
    ASSERT_STR(ask.calls[0].name, "bash");
    ASSERT_STR(ask.calls[0].arguments, "{\"command\":\"ls\"}");
    ASSERT_STR(ask.calls[0].problem, "");
    ask_release(&ask);
}

/* ---- calls that are told differently ---- */

#define PIECE(index, id, name, arguments)                                                          \
    "{\"index\":" index ",\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":\"" name  \
    "\",\"arguments\":\"" arguments "\"}}"
#define NAMED(id, name, arguments)                                                                 \
    "{\"id\":\"" id "\",\"function\":{\"name\":\"" name "\",\"arguments\":\"" arguments "\"}}"

static void assert_call(struct test *t, const struct ask *ask, size_t i, const char *name,
                        const char *arguments)
{
    (void)t;
    if (i >= ask->call_count)
        FAIL("only %zu calls", ask->call_count);
    ASSERT_STR(ask->calls[i].name, name);
    ASSERT_STR(ask->calls[i].arguments, arguments);
    ASSERT_STR(ask->calls[i].problem, "");
}

TEST(two_calls_with_one_index_are_told_apart_by_their_ids)
{
    struct ask ask;

    /* Ollama. */
    ask_openai(t, &ask,
               SAYS(CALL(PIECE("0", "call_a", "read_file", "{\\\"path\\\":\\\"a\\\"}"))
                        CALL(PIECE("0", "call_b", "read_file", "{\\\"path\\\":\\\"b\\\"}"))
                            ENDS("tool_calls") DONE));
    ASSERT_REPLIED(&ask, MODEL_STOP_CALLS);
    ASSERT_EQ(ask.call_count, 2);
    assert_call(t, &ask, 0, "read_file", "{\"path\":\"a\"}");
    assert_call(t, &ask, 1, "read_file", "{\"path\":\"b\"}");
    ask_release(&ask);
}

TEST(pieces_without_an_index_belong_to_the_call_that_was_spoken_of_last)
{
    struct ask ask;

    ask_openai(t, &ask,
               SAYS(CALL(NAMED("a", "one", "{\\\"x\\\":"))
                        CALL("{\"function\":{\"arguments\":\"1}\"}}") CALL(NAMED("b", "two", ""))
                            CALL("{\"function\":{\"arguments\":\"{}\"}}") ENDS("tool_calls") DONE));
    ASSERT_REPLIED(&ask, MODEL_STOP_CALLS);
    ASSERT_EQ(ask.call_count, 2);
    assert_call(t, &ask, 0, "one", "{\"x\":1}");
    assert_call(t, &ask, 1, "two", "{}");
    ask_release(&ask);
}

TEST(an_id_that_was_seen_names_its_call_whatever_the_index_says)
{
    struct ask ask;

    ask_openai(t, &ask,
               SAYS(CALL(PIECE("0", "a", "one", "")) CALL(PIECE("1", "b", "two", "")) CALL(
                   "{\"index\":1,\"id\":\"a\",\"function\":{\"arguments\":\"{\\\"n\\\":1}\"}}")
                        CALL("{\"index\":0,\"id\":\"b\",\"function\":{\"arguments\":"
                             "\"{\\\"n\\\":2}\"}}") ENDS("tool_calls") DONE));
    ASSERT_REPLIED(&ask, MODEL_STOP_CALLS);
    ASSERT_EQ(ask.call_count, 2);
    assert_call(t, &ask, 0, "one", "{\"n\":1}");
    assert_call(t, &ask, 1, "two", "{\"n\":2}");
    ask_release(&ask);
}

TEST(calls_without_ids_get_one_each)
{
    struct ask ask;

    ask_openai(t, &ask,
               SAYS(CALL("{\"index\":0,\"function\":{\"name\":\"a\",\"arguments\":\"{}\"}}")
                        CALL("{\"index\":1,\"function\":{\"name\":\"b\",\"arguments\":\"{}\"}}")
                            ENDS("stop") DONE));
    ASSERT_REPLIED(&ask, MODEL_STOP_CALLS); /* although it said stop */
    ASSERT_EQ(ask.call_count, 2);
    ASSERT(ask.calls[0].id.n > 5 && str_starts(ask.calls[0].id, STR("call_")));
    ASSERT(!str_eq(ask.calls[0].id, ask.calls[1].id));
    ask_release(&ask);
}

TEST(arguments_may_come_as_an_object)
{
    struct ask ask;

    ask_openai(t, &ask,
               SAYS(CALL("{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":"
                         "{\"path\":\"a/b\",\"n\":1.50}}}") ENDS("tool_calls") DONE));
    ASSERT_REPLIED(&ask, MODEL_STOP_CALLS);
    assert_call(t, &ask, 0, "f", "{\"path\":\"a/b\",\"n\":1.50}");
    ask_release(&ask);
}

TEST(a_call_that_is_sent_twice_counts_once)
{
    struct ask ask;

    ask_openai(t, &ask,
               SAYS(CALL(PIECE("0", "a", "f", "{\\\"x\\\":1}"))
                        CALL(PIECE("0", "a", "f", "{\\\"x\\\":1}")) ENDS("tool_calls") DONE));
    ASSERT_REPLIED(&ask, MODEL_STOP_CALLS);
    ASSERT_EQ(ask.call_count, 1);
    assert_call(t, &ask, 0, "f", "{\"x\":1}");
    ask_release(&ask);
}

TEST(the_old_function_call_is_a_call)
{
    struct ask ask;

    ask_openai(t, &ask,
               SAYS(CHUNK("{\"function_call\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\"\"}}",
                          "null") CHUNK("{\"function_call\":{\"arguments\":\":1}\"}}", "null")
                        ENDS("function_call") DONE));
    ASSERT_REPLIED(&ask, MODEL_STOP_CALLS);
    ASSERT_EQ(ask.call_count, 1);
    assert_call(t, &ask, 0, "f", "{\"x\":1}");
    ask_release(&ask);
}

TEST(broken_arguments_are_kept_with_what_is_wrong_about_them)
{
    struct ask ask;

    ask_openai(t, &ask,
               SAYS(CALL(PIECE("0", "a", "f", "{\\\"x\\\": tru")) CALL(PIECE("1", "b", "g", "[1]"))
                        CALL(PIECE("2", "c", "", "{}"))
                            CALL(PIECE("3", "d", "h", "{\\\"x\\\":1,\\\"x\\\":2}"))
                                ENDS("tool_calls") DONE));
    ASSERT_REPLIED(&ask, MODEL_STOP_CALLS);
    ASSERT_EQ(ask.call_count, 4);
    ASSERT_STR(ask.calls[0].arguments, "{\"x\": tru");
    ASSERT_CONTAINS(ask.calls[0].problem.p, "not valid JSON: 1:");
    ASSERT_STR(ask.calls[1].problem, "The arguments must be a JSON object, not array");
    ASSERT_STR(ask.calls[2].problem, "The call names no tool");
    ASSERT_CONTAINS(ask.calls[3].problem.p, "not valid JSON");
    ask_release(&ask);
}

TEST(a_call_that_the_output_limit_cut_is_marked_even_when_its_json_closes)
{
    struct ask ask;

    ask_openai(t, &ask,
               SAYS(CALL(PIECE("0", "a", "rm", "{\\\"path\\\":\\\"/\\\"}")) ENDS("length") DONE));
    ASSERT_REPLIED(&ask, MODEL_STOP_LENGTH);
    ASSERT_CONTAINS(ask.calls[0].problem.p, "cut at the output limit");
    ask_release(&ask);
}

/* ---- text that is told differently ---- */

TEST(thinking_has_two_names_and_is_kept_apart)
{
    struct ask ask;

    ask_openai(t, &ask,
               SAYS(CHUNK("{\"reasoning_content\":\"hm\"}", "null")
                        CHUNK("{\"reasoning\":\", well\"}", "null")
                            CHUNK("{\"content\":\"Yes\"}", "null") ENDS("stop") DONE));
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT_STR(ask.thinking, "hm, well");
    ASSERT_STR(ask.text, "Yes");
    ASSERT_TEXT(buf_text(&ask.deltas), "H:hm|H:, well|T:Yes|");
    ask_release(&ask);
}

TEST(content_may_come_in_typed_parts)
{
    struct ask ask;

    ask_openai(t, &ask,
               SAYS(CHUNK("{\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\","
                          "\"text\":\"why\"}]},{\"type\":\"text\",\"text\":\"so\"}]}",
                          "null") ENDS("stop") DONE));
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT_STR(ask.thinking, "why");
    ASSERT_STR(ask.text, "so");
    ask_release(&ask);
}

TEST(a_whole_answer_instead_of_a_stream_is_an_answer)
{
    static const struct say says[] = {
        { 200, "Content-Type: application/json\r\n",
          "\n {\"model\":\"m1\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
          "\"content\":\"Hi\",\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\",\"function\":"
          "{\"name\":\"f\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}],"
          "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}" },
        { 0 },
    };
    struct ask ask;

    ask_openai(t, &ask, says);
    ASSERT_REPLIED(&ask, MODEL_STOP_CALLS);
    ASSERT_STR(ask.text, "Hi");
    ASSERT_TEXT(buf_text(&ask.deltas), "T:Hi|");
    ASSERT_EQ(ask.usage.input_tokens, 5);
    assert_call(t, &ask, 0, "f", "{}");
    ask_release(&ask);
}

TEST(comments_blank_lines_and_carriage_returns_between_chunks_do_not_matter)
{
    struct ask ask;

    ask_openai(t, &ask,
               SAYS(": OPENROUTER PROCESSING\n\n\r\n: keep-alive\r\n\r\n"
                    "data:{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\n\r\n"
                    "event: message\r\nid: 4\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\"},"
                    "\"finish_reason\":\"stop\"}]}\r\n\r\ndata: \n\ndata:[DONE]\n\n"));
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT_STR(ask.text, "ab");
    ask_release(&ask);
}

TEST(a_stream_may_be_cut_at_every_byte)
{
    static const struct say says[] = {
        { 200, NULL,
          CHUNK("{\"content\":\"Gr\303\274\303\237e \360\237\220\255\"}", "null") ENDS("stop") DONE,
          SAY_BY_PIECES },
        { 0 },
    };
    struct ask ask;

    ask_openai(t, &ask, says);
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT_STR(ask.text, "Gr\303\274\303\237e \360\237\220\255");
    ask_release(&ask);
}

TEST(a_server_that_counts_nothing_has_not_counted)
{
    struct ask ask;

    ask_openai(t, &ask,
               SAYS(CHUNK("{\"content\":\"a\"}", "null") ENDS("stop")
                        EVENT("{\"choices\":[],\"usage\":{\"prompt_tokens\":0,"
                              "\"completion_tokens\":0}}") DONE));
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT(ask.usage.estimated && ask.usage.input_tokens > 0 && ask.usage.output_tokens > 0);
    ask_release(&ask);
}

TEST(a_stream_without_its_last_word_is_whole_when_a_reason_came)
{
    struct ask ask;

    ask_openai(t, &ask, SAYS(CHUNK("{\"content\":\"a\"}", "null") ENDS("stop")));
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT_STR(ask.text, "a");
    ASSERT(ask.usage.estimated && ask.usage.input_tokens > 0 && ask.usage.output_tokens > 0);
    ask_release(&ask);
}

TEST(a_server_that_keeps_the_connection_open_is_not_waited_for)
{
    static const struct say says[] = {
        { 200, NULL, CHUNK("{\"content\":\"a\"}", "null") ENDS("stop") DONE, SAY_OPEN },
        { 0 },
    };
    struct ask ask;

    ask_openai(t, &ask, says);
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT_STR(ask.text, "a");
    ask_release(&ask);
}

TEST(every_reason_to_stop_has_its_meaning)
{
    static const struct {
        const char *reason;
        enum model_stop stop;
    } cases[] = {
        { "stop", MODEL_STOP_END },          { "eos", MODEL_STOP_END },
        { "STOP", MODEL_STOP_END },          { "length", MODEL_STOP_LENGTH },
        { "max_tokens", MODEL_STOP_LENGTH }, { "content_filter", MODEL_STOP_FILTER },
        { "tool_calls", MODEL_STOP_END }, /* and there are none */
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct say says[] = {
            { 200, NULL,
              arena_printf(&t->arena,
                           CHUNK("{\"content\":\"a\"}", "null") CHUNK("{}", "\"%s\"") DONE,
                           cases[i].reason) },
            { 0 },
        };
        struct ask ask;

        ask_openai(t, &ask, says);
        ASSERT_REPLIED(&ask, cases[i].stop);
        ASSERT_STR(ask.text, "a");
        ask_release(&ask);
    }
}

TEST(a_server_that_gives_up_in_its_last_chunk_has_failed)
{
    struct ask ask;

    ask_openai(t, &ask, SAYS(CHUNK("{\"content\":\"a\"}", "null") ENDS("error") DONE));
    ASSERT_ASK_FAILED(&ask, ERR_PROVIDER_FAILED);
    ASSERT_CONTAINS(ask_error(&ask), "stopped with \"error\"");
    ask_release(&ask);
}

TEST(a_refusal_is_shown_and_counts_as_filtered)
{
    struct ask ask;

    ask_openai(t, &ask, SAYS(CHUNK("{\"refusal\":\"I can't.\"}", "null") ENDS("stop") DONE));
    ASSERT_REPLIED(&ask, MODEL_STOP_FILTER);
    ASSERT_STR(ask.text, "I can't.");
    ask_release(&ask);
}

TEST(halves_of_a_character_in_escapes_become_a_mark)
{
    struct ask ask;

    ask_openai(
        t, &ask,
        SAYS(CHUNK("{\"content\":\"a\\ud83d\"}", "null") CHUNK("{\"content\":\"\\udc2d \\\\ud83d "
                                                               "\\ud83d\\udc2d\"}",
                                                               "null") ENDS("stop") DONE));
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT_STR(ask.text, "a\357\277\275\357\277\275 \\ud83d \360\237\220\255");
    ask_release(&ask);
}

/* ---- what is asked ---- */

static const struct model_tool list_tool = {
    .name = { "fs__list", 8 },
    .description = { "Lists", 5 },
    .input_schema = { "{\"type\":\"object\",\"properties\":{}}", 33 },
};

TEST(a_request_has_its_stable_part_first_and_every_kind_of_message)
{
    static const struct model_call calls[] = {
        { .id = { "c1", 2 }, .name = { "fs__list", 8 }, .arguments = { "{\"a\":1}", 7 } },
        { .id = { "c2", 2 }, .name = { "no such tool", 12 }, .arguments = { "{broken", 7 } },
    };
    static const struct model_message messages[] = {
        { .role = MODEL_USER, .text = { "look", 4 } },
        { .role = MODEL_ASSISTANT, .calls = calls, .call_count = 2 },
        { .role = MODEL_TOOL,
          .call_id = { "c1", 2 },
          .tool_name = { "fs__list", 8 },
          .text = { "files", 5 } },
        { .role = MODEL_USER, .text = { "go on", 5 } },
    };
    static const struct model_request request = {
        .model_id = "m",
        .system = { "Be kind.", 8 },
        .tools = &list_tool,
        .tool_count = 1,
        .messages = messages,
        .message_count = 4,
        .present = { "[It is May.]", 12 },
        .max_output_tokens = 77,
    };
    struct model_rig rig;
    struct ask ask = ASK_INIT;
    AUTO_JSON body = NULL;
    const char *text;

    model_rig_open(&rig, t, "openai", SAYS(ENDS("stop") DONE), NULL);
    ask_run(&ask, &rig, &request);
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    body = rig_body(&rig);
    ASSERT_CONTAINS(rig.peer.shared->last_head, "POST /chat/completions HTTP/1.1");
    ASSERT_CONTAINS(rig.peer.shared->last_head, "Content-Type: application/json");
    ASSERT(!strstr(rig.peer.shared->last_head, "Authorization"));
    ASSERT_STR(body_at(body, "/model"), "the-model");
    ASSERT_STR(body_at(body, "/stream"), "true");
    ASSERT_STR(body_at(body, "/stream_options/include_usage"), "true");
    ASSERT_STR(body_at(body, "/max_tokens"), "77");
    ASSERT_STR(body_at(body, "/tools/0/function/name"), "fs__list");
    ASSERT_STR(body_at(body, "/tools/0/function/parameters/type"), "object");
    ASSERT_STR(body_at(body, "/messages/0/role"), "system");
    ASSERT_STR(body_at(body, "/messages/1/content"), "look");
    ASSERT_STR(body_at(body, "/messages/2/content"), "");
    ASSERT_STR(body_at(body, "/messages/2/tool_calls/0/function/arguments"), "{\"a\":1}");
    /* What servers would refuse the whole request for. */
    ASSERT_STR(body_at(body, "/messages/2/tool_calls/1/function/name"), "no_such_tool");
    ASSERT_STR(body_at(body, "/messages/2/tool_calls/1/function/arguments"), "{}");
    ASSERT_STR(body_at(body, "/messages/3/role"), "tool");
    ASSERT_STR(body_at(body, "/messages/3/tool_call_id"), "c1");
    /* The call whose result was lost gets one. */
    ASSERT_STR(body_at(body, "/messages/4/tool_call_id"), "c2");
    ASSERT_CONTAINS(body_at(body, "/messages/4/content").p, "No result was recorded");
    /* Behind everything, and no message of its own. */
    ASSERT_STR(body_at(body, "/messages/5/content"), "go on\n\n[It is May.]");
    ASSERT_STR(body_at(body, "/messages/6"), "");
    text = rig.peer.shared->last_body;
    ASSERT(strstr(text, "\"tools\"") < strstr(text, "\"messages\""));
    ask_release(&ask);
    model_rig_close(&rig);
}

TEST(a_result_whose_call_is_gone_becomes_text)
{
    static const struct model_message messages[] = {
        { .role = MODEL_TOOL,
          .call_id = { "c0", 2 },
          .tool_name = { "bash", 4 },
          .text = { "done", 4 } },
        { .role = MODEL_USER, .text = { "and now?", 8 } },
    };
    static const struct model_request request = { .model_id = "m",
                                                  .messages = messages,
                                                  .message_count = 2 };
    struct model_rig rig;
    struct ask ask = ASK_INIT;
    AUTO_JSON body = NULL;

    model_rig_open(&rig, t, "openai", SAYS(ENDS("stop") DONE), NULL);
    ask_run(&ask, &rig, &request);
    body = rig_body(&rig);
    ASSERT_STR(body_at(body, "/messages/0/role"), "user");
    ASSERT_STR(body_at(body, "/messages/0/content"), "[Result of an earlier call of bash]\ndone");
    ASSERT_STR(body_at(body, "/messages/1/content"), "and now?");
    ASSERT_STR(body_at(body, "/max_tokens"), "");
    ask_release(&ask);
    model_rig_close(&rig);
}

static void with_key(struct model_rig *rig, struct model_gateway_config *config)
{
    (void)config;
    rig->spec.secret_ref = "the-key";
    rig->secret = "sk-test-0123456789abcdef";
    rig->spec.base_url = arena_printf(&rig->t->arena, "%s/api/v2/?version=3", rig->spec.base_url);
}

TEST(the_key_goes_into_its_header_and_the_path_before_the_query)
{
    struct model_rig rig;
    struct ask ask = ASK_INIT;

    model_rig_open(&rig, t, "openai", SAYS(ENDS("stop") DONE), with_key);
    ask_run(&ask, &rig, NULL);
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT_CONTAINS(rig.peer.shared->last_head, "POST /api/v2/chat/completions?version=3 ");
    ASSERT_CONTAINS(rig.peer.shared->last_head, "Authorization: Bearer sk-test-0123456789abcdef\r");
    ASSERT(!strstr(rig.peer.shared->last_body, "sk-test"));
    ask_release(&ask);
    model_rig_close(&rig);
}

/* ---- servers that know less ---- */

TEST(a_server_that_refuses_stream_options_is_asked_once_more_without)
{
    static const char refusal[] =
        "{\"error\":{\"message\":\"Unrecognized request argument supplied: "
        "stream_options\",\"type\":\"invalid_request_error\"}}";
    static const struct {
        int status;
        const char *body;
        unsigned requests;
    } cases[] = {
        { 400, refusal, 2 },
        { 422, "{\"detail\":[{\"loc\":[\"body\",\"stream_options\"]}]}", 2 },
        { 400, "{\"error\":\"unknown field temperature\"}", 1 },
        { 404, refusal, 1 }, /* another matter */
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct say says[] = { { cases[i].status, NULL, cases[i].body },
                                    { 200, NULL, ENDS("stop") DONE },
                                    { 0 } };
        struct model_rig rig;
        struct ask ask = ASK_INIT;

        model_rig_open(&rig, t, "openai", says, NULL);
        ask_run(&ask, &rig, NULL);
        ASSERT_EQ(rig.peer.shared->requests, cases[i].requests);
        ASSERT_EQ(ask.replied, cases[i].requests == 2);
        if (ask.replied) {
            ASSERT(!strstr(rig.peer.shared->last_body, "stream_options"));
            ASSERT_CONTAINS(rig.peer.shared->last_body, "\"stream\":true");
            ASSERT(ask.usage.estimated);
        }
        ask_release(&ask);
        model_rig_close(&rig);
    }
}

TEST(a_server_that_refuses_every_form_is_asked_twice_and_no_more)
{
    static const struct say says[] = { { 400, NULL, "{\"error\":\"stream_options\"}" }, { 0 } };
    struct model_rig rig;
    struct ask ask = ASK_INIT;

    model_rig_open(&rig, t, "openai", says, NULL);
    ask_run(&ask, &rig, NULL);
    ASSERT_ASK_FAILED(&ask, ERR_BAD_REQUEST);
    ASSERT_EQ(rig.peer.shared->requests, 2);
    ask_release(&ask);
    model_rig_close(&rig);
}

/* ---- thinking that goes back ---- */

#define DETAIL(piece)                                                                              \
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_details\":[" piece "]}}]}\n\n"

TEST(pieces_of_reasoning_details_become_the_blocks_that_they_are)
{
    static const struct {
        const char *says, *kept;
    } cases[] = {
        { DETAIL("{\"type\":\"reasoning.text\",\"index\":0,\"text\":\"a\"}")
              DETAIL("{\"type\":\"reasoning.text\",\"index\":0,\"text\":\"b\",\"signature\":null}")
                  DETAIL("{\"type\":\"reasoning.text\",\"index\":0,\"signature\":\"s1\"}"),
          "[{\"type\":\"reasoning.text\",\"index\":0,\"text\":\"ab\",\"signature\":\"s1\"}]" },
        { DETAIL("{\"type\":\"reasoning.summary\",\"index\":0,\"summary\":\"x\"}")
              DETAIL("{\"type\":\"reasoning.encrypted\",\"index\":0,\"data\":\"QQ\"}")
                  DETAIL("{\"type\":\"reasoning.encrypted\",\"index\":1,\"data\":\"RR\"}"),
          "[{\"type\":\"reasoning.summary\",\"index\":0,\"summary\":\"x\"},"
          "{\"type\":\"reasoning.encrypted\",\"index\":0,\"data\":\"QQ\"},"
          "{\"type\":\"reasoning.encrypted\",\"index\":1,\"data\":\"RR\"}]" },
        /* Without an index nothing tells that they belong together. */
        { DETAIL("{\"type\":\"t\",\"text\":\"a\"},{\"type\":\"t\",\"text\":\"b\"}"),
          "[{\"type\":\"t\",\"text\":\"a\"},{\"type\":\"t\",\"text\":\"b\"}]" },
        { DETAIL("7,null,\"x\",[]"), "" },
        { "data: {\"choices\":[{\"delta\":{\"reasoning_details\":\"no list\"}}]}\n\n", "" },
        { DETAIL(""), "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct say says[] = {
            { 200, NULL, arena_printf(&t->arena, "%s" ENDS("stop") DONE, cases[i].says) }, { 0 }
        };
        struct model_rig rig;
        struct ask ask = ASK_INIT;

        model_rig_open(&rig, t, "openai", says, NULL);
        ask_run(&ask, &rig, NULL);
        ASSERT_REPLIED(&ask, MODEL_STOP_END);
        ASSERT_STR(ask.opaque, cases[i].kept);
        ask_release(&ask);
        model_rig_close(&rig);
    }
}

TEST(reasoning_details_go_back_to_the_model_that_made_them_only)
{
    static const struct {
        const char *opaque, *made_by, *sent;
    } cases[] = {
        { "[{\"type\":\"t\",\"data\":\"Q\"}]", "m", "Q" },
        { "[{\"type\":\"t\",\"data\":\"Q\"}]", "other", "" },
        { "{\"type\":\"t\"}", "m", "" }, /* no list: of another kind of provider */
        { "not json", "m", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct model_message messages[] = {
            { .role = MODEL_USER, .text = STR("a") },
            { .role = MODEL_ASSISTANT,
              .text = STR("b"),
              .opaque = str_from(cases[i].opaque),
              .opaque_model = str_from(cases[i].made_by) },
            { .role = MODEL_USER, .text = STR("c") },
        };
        const struct model_request request = { .model_id = "m",
                                               .messages = messages,
                                               .message_count = 3 };
        struct model_rig rig;
        struct ask ask = ASK_INIT;
        AUTO_JSON body = NULL;

        model_rig_open(&rig, t, "openai", SAYS(ENDS("stop") DONE), NULL);
        ask_run(&ask, &rig, &request);
        body = rig_body(&rig);
        ASSERT_STR(body_at(body, "/messages/1/content"), "b");
        ASSERT_STR(body_at(body, "/messages/1/reasoning_details/0/data"), cases[i].sent);
        if (!cases[i].sent[0])
            ASSERT(!strstr(rig.peer.shared->last_body, "reasoning_details"));
        ask_release(&ask);
        model_rig_close(&rig);
    }
}
