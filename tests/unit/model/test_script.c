/* The scripted model: files that are refused, steps that fit, and what is played.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/clock.h"
#include "minds_rig.h"
#include "model/script_int.h"

static struct script *parsed(struct test *t, const char *text)
{
    struct script *script = NULL;

    ASSERT_OK(script_parse(str_from(text), "s.yaml", &script, &t->err));
    return script;
}

/* ---- reading ---- */

TEST(script_errors_name_file_line_and_what_is_allowed)
{
    static const struct {
        const char *text, *says;
    } broken[] = {
        { "", "s.yaml:1" },
        { "steps: []", "s.yaml:1:8" },
        { "steps:\n  - reply: {txt: hi}\n", "s.yaml:2" },
        { "steps:\n  - expect: {user: a}\n", "s.yaml:2" },
        { "steps:\n  - reply: {text: a}\n    fail: {code: timeout}\n", "s.yaml:2" },
        { "steps:\n  - fail: {code: sulking}\n", "s.yaml:2" },
        { "steps:\n  - reply: {}\n  - expect: {user_regex: \"(\"}\n    reply: {}\n", "s.yaml:3:" },
        { "steps:\n  - expect: {result: {regex: \"[\"}}\n    reply: {}\n", "s.yaml:2:" },
        { "match: sometimes\nsteps:\n  - reply: {}\n", "s.yaml:1:8: /match" },
        { "steps:\n  - reply: {stop: maybe}\n", "s.yaml:2" },
        { "steps:\n  - times: 0\n    reply: {}\n", "s.yaml:2:12" },
        { "steps:\n  - reply: {calls: [{arguments: {}}]}\n", "s.yaml:2" },
        { "steps:\n\t- x", "s.yaml:2" },
    };

    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        struct script *script = NULL;

        ASSERT_FAILS(script_parse(str_from(broken[i].text), "s.yaml", &script, &t->err),
                     ERR_BAD_REQUEST);
        if (strncmp(test_err_text(t), broken[i].says, strlen(broken[i].says)) != 0)
            test_case_failed("%s -> %s, expected %s", broken[i].text, test_err_text(t),
                             broken[i].says);
        else
            test_case_passed();
        err_reset(&t->err);
    }
}

TEST(script_model_without_a_file_does_not_open)
{
    struct clock_fake clock;
    struct model_spec spec = { .id = "m", .provider = "script" };
    struct model_gateway_config config = { .models = &spec, .model_count = 1 };
    struct model_gateway *gateway = NULL;
    AUTO(loop) loop = NULL;

    clock_fake_init(&clock, 0);
    config.loop = loop = loop_new_fake(&clock);
    ASSERT_FAILS(model_gateway_new(&config, &gateway, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "needs script_path");
    err_reset(&t->err);
    spec.script_path = test_path(t, "absent.yaml");
    ASSERT_FAILS(model_gateway_new(&config, &gateway, &t->err), ERR_NOT_FOUND);
    ASSERT_CONTAINS(test_err_text(t), "absent.yaml");
}

/* ---- matching ---- */

static const struct model_message thread[] = {
    { .role = MODEL_USER, .text = { "first question", 14 } },
    { .role = MODEL_ASSISTANT, .text = { "answer", 6 } },
    { .role = MODEL_USER, .text = { "second question", 15 } },
    { .role = MODEL_TOOL,
      .call_id = { "c1", 2 },
      .tool_name = { "bash", 4 },
      .text = { "one line", 8 } },
    { .role = MODEL_TOOL,
      .call_id = { "c2", 2 },
      .tool_name = { "read_file", 9 },
      .text = { "refused", 7 },
      .failed = true },
};

TEST(script_expectations_look_at_everything_a_request_has)
{
    static const struct {
        const char *expect, *wrong; /* NULL: it fits */
    } cases[] = {
        { "{}", NULL },
        { "{user: second}", NULL },
        { "{user: first}", "the user message should contain \"first\", got \"second question\"" },
        { "{user: [second, question]}", NULL },
        { "{user: [second, answer]}", "should contain \"answer\"" },
        { "{user_regex: \"^sec.*n$\"}", NULL },
        { "{user_regex: \"^question\"}", "should match the expression" },
        { "{system: careful}", NULL },
        { "{system: careless}", "the system prompt should contain" },
        { "{tools: [bash]}", NULL },
        { "{tools: [bash, absent]}", "the tool absent should be offered" },
        { "{no_tools: absent}", NULL },
        { "{no_tools: bash}", "the tool bash should not be offered" },
        { "{results: 2}", NULL },
        { "{results: 0}", "expected 0 tool results, got 2" },
        { "{turn: 2}", NULL },
        { "{turn: 1}", "expected 1 user messages, got 2" },
        { "{messages: 5}", NULL },
        { "{messages: 4}", "expected 4 messages, got 5" },
        { "{result: refused}", NULL },
        { "{result: line}", "the result should contain \"line\", got \"refused\"" },
        { "{result: {call: c1, contains: line}}", NULL },
        { "{result: {call: c1, tool: bash, failed: false, regex: \"^one\"}}", NULL },
        { "{result: {call: c2, failed: false}}", "should not have failed" },
        { "{result: {call: c1, failed: true}}", "should have failed" },
        { "{result: {call: c3}}", "there is no tool result of c3" },
        { "{result: {call: c1, tool: search}}", "should be of search, is of bash" },
        { "{result: {regex: \"^x\"}}", "the result should match" },
    };
    const struct model_tool tool = { STR("bash"), STR(""), STR("{}") };
    const struct model_request request = { .system = STR("be careful"),
                                           .tools = &tool,
                                           .tool_count = 1,
                                           .messages = thread,
                                           .message_count = ARRAY_LEN(thread) };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(script)
        script = parsed(t, arena_printf(&t->arena, "steps:\n  - expect: %s\n    reply: {text: x}\n",
                                        cases[i].expect));
        struct script_step *step = script_find(script, &request, &t->err);

        if (!cases[i].wrong != (step != NULL) ||
            (cases[i].wrong && !strstr(test_err_text(t), cases[i].wrong)))
            test_case_failed("%s -> %s", cases[i].expect, step ? "fits" : test_err_text(t));
        else
            test_case_passed();
        err_reset(&t->err);
    }
}

TEST(script_in_order_goes_step_by_step_and_says_when_it_is_over)
{
    const struct model_message hi = { .role = MODEL_USER, .text = STR("hi") };
    const struct model_request request = { .messages = &hi, .message_count = 1 };
    AUTO(script)
    script = parsed(t, "steps:\n"
                       "  - {times: 2, reply: {text: a}}\n"
                       "  - {reply: {text: b}}\n"
                       "  - {expect: {user: bye}, reply: {text: c}}\n");

    ASSERT_STR(script_find(script, &request, &t->err)->text, "a");
    ASSERT_STR(script_find(script, &request, &t->err)->text, "a");
    ASSERT_STR(script_find(script, &request, &t->err)->text, "b");
    ASSERT(!script_find(script, &request, &t->err));
    ASSERT_CONTAINS(test_err_text(t), "s.yaml:4: step 3: the user message should contain \"bye\"");
    script->next = 3;
    err_reset(&t->err);
    ASSERT(!script_find(script, &request, &t->err));
    ASSERT_CONTAINS(test_err_text(t), "has ended after 3 steps, but a request came: \"hi\"");
}

TEST(script_any_takes_each_step_once_whatever_the_order)
{
    const struct model_message texts[] = { { .role = MODEL_USER, .text = STR("thread b") },
                                           { .role = MODEL_USER, .text = STR("thread a") } };
    struct model_request request = { .messages = texts, .message_count = 1 };
    AUTO(script)
    script = parsed(t, "match: any\nsteps:\n"
                       "  - {expect: {user: thread a}, reply: {text: for a}}\n"
                       "  - {expect: {user: thread b}, reply: {text: for b}}\n");

    ASSERT_STR(script_find(script, &request, &t->err)->text, "for b");
    ASSERT(!script_find(script, &request, &t->err));
    ASSERT_CONTAINS(test_err_text(t), "no step fits the request \"thread b\" with 0 tool results; "
                                      "step 1 (line 3)");
    request.messages = &texts[1];
    ASSERT_STR(script_find(script, &request, &t->err)->text, "for a");
    err_reset(&t->err);
    ASSERT(!script_find(script, &request, &t->err));
    ASSERT_CONTAINS(test_err_text(t), "all steps are used up");
}

static const char turn_script[] =
    "match: state\nsteps:\n"
    "  - expect: {results: 0}\n"
    "    reply: {calls: [{id: c1, name: bash, arguments: {command: \"echo '${user}'\"}}]}\n"
    "  - expect: {results: 1}\n"
    "    reply: {text: \"${user}: ${result} (${results}) ${other}\"}\n";

TEST(script_by_state_counts_nothing_and_serves_runs_side_by_side)
{
    struct minds minds;
    struct told told[64];
    struct model_message messages[64][2];

    minds_open(&minds, t, "script", turn_script);
    for (int i = 0; i < 64; i++) {
        messages[i][0] =
            (struct model_message){ .role = MODEL_USER,
                                    .text = str_from(arena_printf(&t->arena, "run \"%d\"", i)) };
        messages[i][1] =
            (struct model_message){ .role = MODEL_TOOL,
                                    .text = str_from(arena_printf(&t->arena, "out %d", i)) };
        minds_start(&minds, &told[i], "m", messages[i], 1 + (i & 1));
    }
    loop_fake_advance(minds.loop, 10);
    for (int i = 0; i < 64; i++) {
        ASSERT_EQ(told[i].dones, 1);
        if (i & 1)
            ASSERT_TEXT(told[i].text,
                        arena_printf(&t->arena, "run \"%d\": out %d (1) ${other}", i, i));
        else
            ASSERT_TEXT(
                told[i].calls,
                arena_printf(&t->arena, "c1 bash {\"command\":\"echo 'run \\\"%d\\\"'\"}", i));
        ASSERT_EQ(told[i].stop, i & 1 ? MODEL_STOP_END : MODEL_STOP_CALLS);
    }
    minds_close(&minds);
}

TEST(script_by_state_finds_a_step_in_microseconds)
{
    AUTO(script) script = parsed(t, turn_script);
    const struct model_request request = { .messages = thread, .message_count = 4 };
    int64_t start = clock_mono_ns(clock_system()), each;

    for (int i = 0; i < 10000; i++)
        ASSERT(script_find(script, &request, &t->err));
    each = (clock_mono_ns(clock_system()) - start) / 10000;
    if (each > 100000)
        FAIL("%lld ns for one request", (long long)each);
}

/* ---- playing ---- */

TEST(script_plays_text_thinking_calls_usage_and_stop)
{
    struct minds minds;
    struct told told;

    minds_open(&minds, t, "script",
               "steps:\n"
               "  - reply:\n"
               "      thinking: hm\n"
               "      text: abcdefghij\n"
               "      repeat: 3\n"
               "      model: tester-1\n"
               "      chunk: {size: 4}\n"
               "      usage: {input: 7, output: 9, cached: 2}\n"
               "      calls:\n"
               "        - {name: ls}\n"
               "        - {name: bash, arguments: '{\"command\": oops'}\n"
               "        - {name: x, problem: cut}\n"
               "  - reply: {text: cut, stop: length}\n"
               "  - reply: {text: no, stop: filter}\n"
               "  - reply: {}\n");
    minds_ask(&minds, &told, "m", "go");
    ASSERT(told.replied);
    ASSERT_TEXT(told.text, "abcdefghijabcdefghijabcdefghij");
    ASSERT_TEXT(told.thinking, "hm");
    ASSERT_TEXT(told.model, "tester-1");
    ASSERT_EQ(told.longest, 4);
    ASSERT_EQ(told.deltas, 10);
    ASSERT_CONTAINS(told.calls, " ls {}; ");
    ASSERT_CONTAINS(told.calls, " bash {\"command\": oops!The arguments are not valid JSON");
    ASSERT_CONTAINS(told.calls, " x {}!cut");
    ASSERT_EQ(told.stop, MODEL_STOP_CALLS);
    ASSERT_EQ(told.usage.input_tokens, 7);
    ASSERT_EQ(told.usage.output_tokens, 9);
    ASSERT_EQ(told.usage.cached_tokens, 2);
    ASSERT(!told.usage.estimated);
    minds_ask(&minds, &told, "m", "go");
    ASSERT_EQ(told.stop, MODEL_STOP_LENGTH);
    ASSERT(told.usage.estimated);
    minds_ask(&minds, &told, "m", "go");
    ASSERT_EQ(told.stop, MODEL_STOP_FILTER);
    minds_ask(&minds, &told, "m", "go");
    ASSERT_EQ(told.stop, MODEL_STOP_END);
    ASSERT_TEXT(told.text, "");
    minds_ask(&minds, &told, "m", "one more");
    ASSERT_EQ(told.err.code, ERR_PROVIDER_FAILED);
    ASSERT_CONTAINS(told_error(&told), "has ended after 4 steps");
    minds_close(&minds);
}

TEST(script_waits_as_long_as_it_is_told_and_no_longer)
{
    const struct model_message go = { .role = MODEL_USER, .text = STR("go") };
    struct minds minds;
    struct told told;

    minds_open(&minds, t, "script",
               "steps:\n  - reply: {text: abcd, delay_ms: 50, chunk: {size: 2, delay_ms: 10}}\n");
    minds_start(&minds, &told, "m", &go, 1);
    loop_fake_advance(minds.loop, 49);
    ASSERT_EQ(told.deltas, 0);
    loop_fake_advance(minds.loop, 1);
    ASSERT_EQ(told.deltas, 1);
    loop_fake_advance(minds.loop, 10);
    ASSERT_EQ(told.deltas, 2);
    ASSERT_EQ(told.dones, 0);
    loop_fake_advance(minds.loop, 10);
    ASSERT_EQ(told.dones, 1);
    minds_close(&minds);
}

TEST(script_fails_as_it_is_told)
{
    struct minds minds;
    struct told told;

    minds_open(
        &minds, t, "script",
        "steps:\n"
        "  - fail: {code: rate_limited, message: slow down, retry_after_ms: 1500}\n"
        "  - fail: {code: provider_failed, text: abcdefgh, after_bytes: 5, chunk: {size: 2}}\n"
        "  - fail: {code: context_too_long}\n");
    minds_ask(&minds, &told, "m", "go");
    ASSERT_EQ(told.err.code, ERR_RATE_LIMITED);
    ASSERT_CONTAINS(told_error(&told), "slow down");
    ASSERT_EQ(told.retry_after_ms, 1500);
    minds_ask(&minds, &told, "m", "go");
    ASSERT_EQ(told.err.code, ERR_PROVIDER_FAILED);
    ASSERT_EQ(told.deltas, 3);
    ASSERT_EQ(told.longest, 2);
    minds_ask(&minds, &told, "m", "go");
    ASSERT_EQ(told.err.code, ERR_CONTEXT_TOO_LONG);
    ASSERT_EQ(told.retry_after_ms, -1);
    minds_close(&minds);
}

TEST(script_can_be_cancelled_and_closed_in_the_middle)
{
    const struct model_message go = { .role = MODEL_USER, .text = STR("go") };
    struct minds minds;
    struct told told, other;

    minds_open(&minds, t, "script",
               "match: state\nsteps:\n  - reply: {text: abcd, chunk: {size: 1, delay_ms: 10}}\n");
    minds_start(&minds, &told, "m", &go, 1);
    minds_start(&minds, &other, "m", &go, 1);
    loop_fake_advance(minds.loop, 15);
    model_cancel(told.x);
    ASSERT_EQ(told.dones, 0);
    loop_fake_advance(minds.loop, 1);
    ASSERT_EQ(told.err.code, ERR_CANCELLED);
    ASSERT_EQ(other.dones, 0);
    minds_close(&minds);
    ASSERT_EQ(other.err.code, ERR_CANCELLED);
    ASSERT_EQ(other.dones, 1);
}
