/* A real llama-server with a real model: `make test-llm`. What the model says does not matter, only
 * that the protocols are spoken.
 *
 * LLM_URL is a server that runs; LLM_SERVER and LLM_GGUF are one that can be started.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "harness/test.h"
#include "loop/child.h"
#include "loop/loop.h"
#include "model/model.h"

struct talk {
    struct test *t;
    struct loop *loop;
    struct model_gateway *gateway;
    unsigned deltas, dones;
    struct err err;
    bool replied;
    const char *text, *model;
    enum model_stop stop;
    struct model_usage usage;
};

static const char *needed(const char *name)
{
    const char *value = getenv(name);

    if (!value)
        SKIP("%s is not set: make test-llm", name);
    return value;
}

static void on_delta(void *arg, enum model_delta kind, struct str text)
{
    struct talk *talk = arg;

    (void)kind;
    (void)text;
    talk->deltas++;
}

static void on_done(void *arg, const struct model_reply *reply, const struct err *err,
                    int64_t retry_after_ms)
{
    struct talk *talk = arg;

    (void)retry_after_ms;
    talk->dones++;
    talk->replied = reply != NULL;
    if (reply) {
        talk->text = arena_copy(&talk->t->arena, reply->text.p, reply->text.n);
        talk->model = arena_copy(&talk->t->arena, reply->model.p, reply->model.n);
        talk->stop = reply->stop;
        talk->usage = reply->usage;
    } else {
        talk->err = *err;
    }
    loop_stop(talk->loop);
}

static void open_talk(struct talk *talk, struct test *t, const struct model_spec *spec)
{
    struct model_gateway_config config = { .models = spec, .model_count = 1 };

    *talk = (struct talk){ .t = t };
    ASSERT_OK(loop_new(NULL, &talk->loop, &t->err));
    config.loop = talk->loop;
    ASSERT_OK(model_gateway_new(&config, &talk->gateway, &t->err));
}

static void close_talk(struct talk *talk)
{
    model_gateway_free(talk->gateway);
    model_wait(talk->loop);
    loop_free(talk->loop);
}

static void ask(struct talk *talk, const char *text, const struct model_tool *tools, size_t n)
{
    static const struct model_sink sink = { on_delta, on_done };
    struct test *t = talk->t;
    const struct model_message message = { .role = MODEL_USER, .text = str_from(text) };
    const struct model_request request = { .model_id = "m",
                                           .system = STR("Answer briefly."),
                                           .tools = tools,
                                           .tool_count = n,
                                           .messages = &message,
                                           .message_count = 1,
                                           .max_output_tokens = 24 };
    struct model_exchange *x;

    talk->deltas = talk->dones = 0;
    ASSERT_OK(model_start(talk->gateway, &request, &sink, talk, &x, &t->err));
    ASSERT_OK(loop_run(talk->loop, &t->err));
    ASSERT_EQ(talk->dones, 1);
}

static void assert_answered(struct talk *talk)
{
    char why[ERR_TEXT_MAX];

    if (!talk->replied)
        FAIL("%s", err_format(&talk->err, why, sizeof(why)));
    printf("  %lld tokens in, %lld out, %u deltas, by %s: %s\n",
           (long long)talk->usage.input_tokens, (long long)talk->usage.output_tokens, talk->deltas,
           talk->model, talk->text);
    ASSERT(!talk->usage.estimated);
    ASSERT(talk->usage.input_tokens > 5);
    ASSERT(talk->usage.output_tokens > 0 && talk->usage.output_tokens <= 25);
    ASSERT(talk->stop == MODEL_STOP_END || talk->stop == MODEL_STOP_LENGTH ||
           talk->stop == MODEL_STOP_CALLS);
}

TEST(a_real_llama_server_answers_a_chat_through_provider_openai, .timeout_s = 300)
{
    const char *url = arena_printf(&t->arena, "%s/v1", needed("LLM_URL"));
    const struct model_spec spec = {
        .id = "m", .provider = "openai", .base_url = url, .model = "tinyllama"
    };
    struct talk talk;

    open_talk(&talk, t, &spec);
    ask(&talk, "What is the capital of France?", NULL, 0);
    assert_answered(&talk);
    ASSERT(talk.deltas > 1);
    ASSERT(strlen(talk.text) > 0);
    close_talk(&talk);
}

TEST(a_real_llama_server_says_that_a_prompt_does_not_fit, .timeout_s = 300)
{
    const char *url = arena_printf(&t->arena, "%s/v1", needed("LLM_URL"));
    const struct model_spec spec = {
        .id = "m", .provider = "openai", .base_url = url, .model = "tinyllama"
    };
    char *text = arena_alloc(&t->arena, 1, 60001);
    struct talk talk;

    for (int i = 0; i < 60000; i++)
        text[i] = i % 6 ? 'a' + (char)(i % 23) : ' ';
    open_talk(&talk, t, &spec);
    ask(&talk, text, NULL, 0);
    ASSERT(!talk.replied);
    ASSERT_EQ(talk.err.code, ERR_CONTEXT_TOO_LONG);
    close_talk(&talk);
}

TEST(a_real_llama_server_takes_raw_prompts_of_provider_functiongemma, .timeout_s = 300)
{
    const struct model_spec spec = { .id = "m",
                                     .provider = "functiongemma",
                                     .base_url = needed("LLM_URL") };
    const struct model_tool tool = {
        STR("bash"), STR("Runs a command."),
        STR("{\"type\":\"object\",\"properties\":{\"command\":{\"type\":\"string\"}}}")
    };
    struct talk talk;

    open_talk(&talk, t, &spec);
    ask(&talk, "List the files here.", &tool, 1);
    assert_answered(&talk);
    close_talk(&talk);
}

TEST(a_real_llama_server_is_started_and_ended_by_provider_functiongemma, .timeout_s = 300)
{
    const struct model_spec spec = { .id = "m",
                                     .provider = "functiongemma",
                                     .server_path = needed("LLM_SERVER"),
                                     .gguf_path = needed("LLM_GGUF"),
                                     .context_tokens = 512 };
    struct talk talk;
    int64_t start = clock_mono_ms(clock_system()), first;

    child_set_launcher(LAUNCHER_PATH);
    open_talk(&talk, t, &spec);
    ask(&talk, "Hello", NULL, 0);
    assert_answered(&talk);
    first = clock_mono_ms(clock_system()) - start;
    ask(&talk, "Hello again", NULL, 0);
    assert_answered(&talk);
    printf("  first answer after %lld ms, second after %lld ms more\n", (long long)first,
           (long long)(clock_mono_ms(clock_system()) - start - first));
    close_talk(&talk);
}
