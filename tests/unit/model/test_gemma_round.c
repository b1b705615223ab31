/* What is written in FunctionGemma's format is read back as what it was.
 *
 * Arguments are made up at random, sent as a call of the history through gemma_prompt(), cut out of
 * the prompt as the model would have said them, and read with the reader of answers. The two were
 * written apart and meet nowhere else.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/json.h"
#include "base/rand.h"
#include "harness/test.h"
#include "model/gemma_int.h"

static struct json_object *make_value(struct rand *rand, int depth);

static struct json_object *make_text(struct rand *rand)
{
    static const char *const texts[] = { "",     "a",           "two words", "{x:1}", "a,b",
                                         "true", "12",          "null",      "\"q\"", "line\nfeed",
                                         "it's", "gr\xC3\xBCn", "call:f{}",  "[1,2]", "a:b",
                                         "\\",   " lead",       "trail ",    "}" };

    return json_object_new_string(texts[rand_below(rand, ARRAY_LEN(texts))]);
}

static struct json_object *make_object(struct rand *rand, int depth)
{
    static const char *const keys[] = { "a", "b_c", "path", "Zeta", "n1", "location" };
    struct json_object *out = json_object_new_object();
    size_t n = rand_below(rand, 4);

    for (size_t i = 0; i < n; i++)
        json_object_object_add(out, keys[rand_below(rand, ARRAY_LEN(keys))],
                               make_value(rand, depth - 1));
    return out;
}

static struct json_object *make_list(struct rand *rand, int depth)
{
    struct json_object *out = json_object_new_array();
    size_t n = rand_below(rand, 4);

    for (size_t i = 0; i < n; i++)
        json_object_array_add(out, make_value(rand, depth - 1));
    return out;
}

static struct json_object *make_value(struct rand *rand, int depth)
{
    switch (rand_below(rand, depth > 0 ? 7 : 4)) {
    case 0:
        return make_text(rand);
    case 1:
        return json_object_new_int64((int64_t)rand_below(rand, 2000001) - 1000000);
    case 2:
        return json_object_new_boolean(rand_below(rand, 2) == 1);
    case 3:
        return json_object_new_double((double)rand_below(rand, 1000) / 8);
    case 4:
        return make_object(rand, depth);
    case 5:
        return make_list(rand, depth);
    default:
        return make_text(rand);
    }
}

/* What stands between the tokens of the prompt's only call. */
static struct str written_call(struct test *t, struct str arguments)
{
    const struct model_call call = { .id = STR("c1"), .name = STR("f"), .arguments = arguments };
    const struct model_message messages[] = {
        { .role = MODEL_USER, .text = STR("do it") },
        { .role = MODEL_ASSISTANT, .calls = &call, .call_count = 1 },
        { .role = MODEL_TOOL, .call_id = STR("c1"), .tool_name = STR("f"), .text = STR("{}") },
    };
    const struct model_request request = { .model_id = "m",
                                           .messages = messages,
                                           .message_count = 3 };
    AUTO_BUF prompt = BUF_INIT(1u << 20);
    struct str text, start = STR("<start_function_call>");
    ptrdiff_t at;

    ASSERT_OK(gemma_prompt(&request, &prompt, &t->err));
    text = arena_str(&t->arena, buf_str(&prompt));
    at = str_find(text, start);
    ASSERT(at >= 0);
    text = str_skip(text, (size_t)at + start.n);
    at = str_find(text, STR("<end_function_call>"));
    ASSERT(at >= 0);
    return str_take(text, (size_t)at);
}

TEST(gemma_reads_what_it_wrote)
{
    struct rand_fake rand;

    rand_fake_init(&rand, 41);
    for (int round = 0; round < 1500; round++) {
        AUTO_JSON arguments = make_object(&rand.rand, 3);
        AUTO_JSON back = NULL;
        const char *text = json_object_to_json_string_ext(arguments, JSON_C_TO_STRING_PLAIN);
        struct gemma_call call;
        struct str body = written_call(t, str_from(text));

        gemma_call_read(body, NULL, 0, &t->arena, &call);
        if (call.problem.n || call.repairs)
            FAIL("round %d: %.*s: repairs %u, %.*s", round, STR_ARG(body), call.repairs,
                 STR_ARG(call.problem));
        ASSERT_STR(call.name, "f");
        ASSERT_OK(json_parse(call.arguments, &back, &t->err));
        if (!json_object_equal(arguments, back))
            FAIL("round %d: %s became %.*s by %.*s", round, text, STR_ARG(call.arguments),
                 STR_ARG(body));
    }
}
