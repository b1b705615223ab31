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
