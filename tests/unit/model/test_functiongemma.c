/* Provider functiongemma: over a server that says what it is told, and over one that is started,
 * watched and ended.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <unistd.h>

#include "loop/child.h"
#include "model_rig.h"

#define CHUNK(text) "data: {\"content\":\"" text "\",\"stop\":false}\n\n"
#define STOP(type)                                                                                 \
    "data: {\"content\":\"\",\"stop\":true,\"stop_type\":\"" type "\",\"tokens_evaluated\":42,"    \
    "\"tokens_predicted\":5,\"timings\":{\"cache_n\":30}}\n\n"
#define HEALTHY                                                                                    \
    {                                                                                              \
        200, "Content-Type: application/json\r\n", "{\"status\":\"ok\"}", SAY_WHOLE                \
    }
#define LOADING                                                                                    \
    {                                                                                              \
        503, "Content-Type: application/json\r\n",                                                 \
            "{\"error\":{\"code\":503,\"message\":\"Loading "                                      \
            "model\",\"type\":\"unavailable_error\"}}",                                            \
            SAY_WHOLE                                                                              \
    }

/* ---- a server that is there ---- */

TEST(functiongemma_streams_text_and_hands_over_calls)
{
    const struct say says[] = {
        HEALTHY,
        { 200, NULL,
          CHUNK("I will ") CHUNK("look.<start_func") CHUNK("tion_call>call:bash{command:<esc")
              CHUNK("ape>ls<escape>}<end_function_call>") STOP("word"),
          SAY_BY_PIECES },
        { 0 },
    };
    AUTO_JSON body = NULL;
    struct model_rig rig;
    struct ask ask = ASK_INIT;

    model_rig_open(&rig, t, "functiongemma", says, NULL);
    ask_run(&ask, &rig, NULL);
    ASSERT_REPLIED(&ask, MODEL_STOP_CALLS);
    ASSERT_STR(ask.text, "I will look.");
    ASSERT_EQ(ask.call_count, 1);
    ASSERT_STR(ask.calls[0].name, "bash");
    ASSERT_STR(ask.calls[0].arguments, "{\"command\":\"ls\"}");
    ASSERT(ask.calls[0].id.n > 0);
    ASSERT_EQ(ask.usage.input_tokens, 42);
    ASSERT_EQ(ask.usage.output_tokens, 5);
    ASSERT_EQ(ask.usage.cached_tokens, 30);
    body = rig_body(&rig);
    ASSERT_STR(body_at(body, "/prompt"), "<start_of_turn>user\nHello<end_of_turn>\n"
                                         "<start_of_turn>model\n");
    ASSERT_STR(body_at(body, "/stop/1"), "<start_function_response>");
    ASSERT_STR(body_at(body, "/preserved_tokens/0"), "<start_function_call>");
    ask_release(&ask);
    model_rig_close(&rig);
}

TEST(functiongemma_reports_a_call_that_it_can_not_read)
{
    const struct say says[] = {
        HEALTHY,
        { 200, NULL, CHUNK("<start_function_call>call:bash{command:}") STOP("eos"), SAY_WHOLE },
        { 0 },
    };
    struct model_rig rig;
    struct ask ask = ASK_INIT;

    model_rig_open(&rig, t, "functiongemma", says, NULL);
    ask_run(&ask, &rig, NULL);
    ASSERT_REPLIED(&ask, MODEL_STOP_CALLS);
    ASSERT_EQ(ask.call_count, 1);
    ASSERT(str_find(ask.calls[0].problem, STR("a value is missing")) >= 0);
    ask_release(&ask);
    model_rig_close(&rig);
}

TEST(functiongemma_marks_what_the_output_limit_cut)
{
    const struct say says[] = {
        HEALTHY,
        { 200, NULL, CHUNK("<start_function_call>call:bash{command:<escape>rm -r") STOP("limit"),
          SAY_WHOLE },
        { 0 },
    };
    struct model_rig rig;
    struct ask ask = ASK_INIT;

    model_rig_open(&rig, t, "functiongemma", says, NULL);
    ask_run(&ask, &rig, NULL);
    ASSERT_REPLIED(&ask, MODEL_STOP_LENGTH);
    ASSERT_EQ(ask.call_count, 1);
    ASSERT(ask.calls[0].problem.n > 0);
    ask_release(&ask);
    model_rig_close(&rig);
}

TEST(functiongemma_takes_an_answer_in_one_document)
{
    const struct say says[] = {
        HEALTHY,
        { 200, "Content-Type: application/json\r\n",
          "{\"content\":\"whole\",\"stop\":true,\"stop_type\":\"eos\",\"model\":\"g\"}",
          SAY_WHOLE },
        { 200, "Content-Type: application/json\r\n", "{\"choices\":[]}", SAY_WHOLE },
        { 0 },
    };
    struct model_rig rig;
    struct ask ask = ASK_INIT, other = ASK_INIT;

    model_rig_open(&rig, t, "functiongemma", says, NULL);
    ask_run(&ask, &rig, NULL);
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT_STR(ask.text, "whole");
    ASSERT_STR(ask.model, "g");
    ask_run(&other, &rig, NULL); /* its health is known */
    ASSERT_ASK_FAILED(&other, ERR_PROVIDER_FAILED);
    ASSERT_CONTAINS(ask_error(&other), "is this llama-server's /completion?");
    ask_release(&ask);
    ask_release(&other);
    model_rig_close(&rig);
}

TEST(functiongemma_waits_while_the_server_loads)
{
    const struct say says[] = {
        LOADING, LOADING, HEALTHY, { 200, NULL, CHUNK("hi") STOP("eos"), SAY_WHOLE }, { 0 },
    };
    struct model_rig rig;
    struct ask ask = ASK_INIT;

    model_rig_open(&rig, t, "functiongemma", says, NULL);
    ask_run(&ask, &rig, NULL);
    ASSERT_REPLIED(&ask, MODEL_STOP_END);
    ASSERT_STR(ask.text, "hi");
    ask_release(&ask);
    model_rig_close(&rig);
}

static void short_patience(struct model_rig *rig, struct model_gateway_config *config)
{
    (void)rig;
    config->limits.first_byte_ms = 400;
}

TEST(functiongemma_gives_up_on_a_server_that_loads_for_ever)
{
    const struct say says[] = { LOADING, { 0 } };
    struct model_rig rig;
    struct ask ask = ASK_INIT;

    model_rig_open(&rig, t, "functiongemma", says, short_patience);
    ask_run(&ask, &rig, NULL);
    ASSERT_ASK_FAILED(&ask, ERR_TIMEOUT);
    ASSERT_CONTAINS(ask_error(&ask), "not ready in time");
    ask_release(&ask);
    model_rig_close(&rig);
}

TEST(functiongemma_says_that_the_prompt_does_not_fit_or_the_answer_broke_off)
{
    static const struct {
        struct say say;
        enum err_code code;
    } cases[] = {
        { { 400, "Content-Type: application/json\r\n",
            "{\"error\":{\"code\":400,\"message\":\"the request exceeds the available context "
            "size\""
            ",\"type\":\"exceed_context_size_error\"}}",
            SAY_WHOLE },
          ERR_CONTEXT_TOO_LONG },
        { { 200, NULL, CHUNK("half"), SAY_WHOLE }, ERR_PROVIDER_FAILED },
        { { 200, NULL, CHUNK("half"), SAY_CUT }, ERR_PROVIDER_FAILED },
        { { 200, NULL, CHUNK("half"), SAY_RESET }, ERR_PROVIDER_FAILED },
        { { 200, NULL, "data: {broken\n\n", SAY_WHOLE }, ERR_PROVIDER_FAILED },
        { { 200, "Content-Type: text/html\r\n", "<html>", SAY_WHOLE }, ERR_PROVIDER_FAILED },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct say says[] = { HEALTHY, cases[i].say, { 0 } };
        struct model_rig rig;
        struct ask ask = ASK_INIT;

        model_rig_open(&rig, t, "functiongemma", says, NULL);
        ask_run(&ask, &rig, NULL);
        ASSERT_ASK_FAILED(&ask, cases[i].code);
        ask_release(&ask);
        model_rig_close(&rig);
    }
}

TEST(functiongemma_can_be_cancelled_while_it_waits_and_while_it_streams)
{
    const struct say loading[] = { LOADING, { 0 } };
    const struct say streaming[] = { HEALTHY,
                                     { 200, NULL, CHUNK("a") CHUNK("b"), SAY_OPEN },
                                     { 0 } };
    struct model_rig rig;
    struct ask ask = ASK_INIT, other = ASK_INIT;

    model_rig_open(&rig, t, "functiongemma", loading, NULL);
    ask_start(&ask, &rig, NULL);
    model_cancel(ask.x);
    rig_wait(&rig);
    ASSERT_ASK_FAILED(&ask, ERR_CANCELLED);
    ask_start(&other, &rig, NULL); /* and closed while it waits */
    model_rig_close(&rig);
    ASSERT_ASK_FAILED(&other, ERR_CANCELLED);
    ask_release(&ask);
    ask_release(&other);

    ask = ASK_INIT;
    model_rig_open(&rig, t, "functiongemma", streaming, NULL);
    ask.cancel_after = 1;
    ask_run(&ask, &rig, NULL);
    ASSERT_ASK_FAILED(&ask, ERR_CANCELLED);
    ask_release(&ask);
    model_rig_close(&rig);
}

TEST(functiongemma_refuses_half_a_configuration)
{
    static const struct {
        struct model_spec spec;
        const char *says;
    } cases[] = {
        { { .id = "m", .provider = "functiongemma" }, "needs base_url" },
        { { .id = "m", .provider = "functiongemma", .server_path = "/bin/x" }, "belong together" },
        { { .id = "m", .provider = "functiongemma", .gguf_path = "/x" }, "belong together" },
        { { .id = "m", .provider = "functiongemma", .server_path = "x", .gguf_path = "y" },
          "a path with a slash, not \"x\"" },
    };
    struct clock_fake clock;
    AUTO(loop) loop = NULL;

    clock_fake_init(&clock, 0);
    loop = loop_new_fake(&clock);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct model_gateway_config config = { .loop = loop,
                                                     .models = &cases[i].spec,
                                                     .model_count = 1 };
        struct model_gateway *gateway = NULL;

        ASSERT_FAILS(model_gateway_new(&config, &gateway, &t->err), ERR_BAD_REQUEST);
        ASSERT_CONTAINS(test_err_text(t), cases[i].says);
        err_reset(&t->err);
    }
}

/* ---- a server that is ours ---- */

static const char *how; /* the fake's behaviour */

static void own_server(struct model_rig *rig, struct model_gateway_config *config)
{
    (void)config;
    child_set_launcher(LAUNCHER_PATH);
    rig->spec.server_path = FAKE_LLAMA_PATH;
    rig->spec.gguf_path = test_path(rig->t, "model.gguf");
    rig->spec.context_tokens = 512;
    test_write_file(rig->spec.gguf_path, how, strlen(how));
}

static void own_server_soon(struct model_rig *rig, struct model_gateway_config *config)
{
    own_server(rig, config);
    config->limits.first_byte_ms = 700;
}

/* Processes that this test has started and that have not ended. */
static int test_children(void)
{
    char path[64], text[4096] = "";
    int n = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    file = fopen(path, "re");
    ASSERT(file);
    if (fgets(text, sizeof(text), file))
        for (char *at = strtok(text, " "); at; at = strtok(NULL, " "))
            n++;
    fclose(file);
    return n;
}

/* The process ends after its gateway; the loop sees it go. */
static void close_own(struct model_rig *rig)
{
    model_gateway_free(rig->gateway);
    model_wait(rig->loop);
    ASSERT_EQ(test_children(), 0);
    loop_free(rig->loop);
}

TEST(a_server_of_ours_is_started_when_it_is_needed_and_ended_with_the_gateway)
{
    struct model_rig rig;
    struct ask ask = ASK_INIT, other = ASK_INIT;

    how = "loading 2\nlog model loaded\nsay [\"Hel\", \"lo <start_function_call>call:ls{}\"]\n";
    model_rig_open(&rig, t, "functiongemma", NULL, own_server);
    ASSERT_EQ(test_children(), 0);
    ask_start(&ask, &rig, NULL);
    ask_start(&other, &rig, NULL); /* one server for both */
    rig_wait(&rig);
    ASSERT_REPLIED(&ask, MODEL_STOP_CALLS);
    ASSERT_REPLIED(&other, MODEL_STOP_CALLS);
    ASSERT_STR(ask.text, "Hello ");
    ASSERT_STR(ask.calls[0].name, "ls");
    ASSERT_STR(ask.model, "fake ctx 512");
    ASSERT_EQ(test_children(), 1);
    ask_release(&ask);
    ask_release(&other);
    close_own(&rig);
}

TEST(a_server_that_died_is_started_again)
{
    struct model_rig rig;
    struct ask ask = ASK_INIT, other = ASK_INIT;

    how = arena_printf(&t->arena, "crash %s\nsay [\"back\"]\n", test_path(t, "crashed"));
    model_rig_open(&rig, t, "functiongemma", NULL, own_server);
    ask_run(&ask, &rig, NULL);
    ASSERT_ASK_FAILED(&ask, ERR_PROVIDER_FAILED);
    ask_run(&other, &rig, NULL);
    ASSERT_REPLIED(&other, MODEL_STOP_END);
    ASSERT_STR(other.text, "back");
    ask_release(&ask);
    ask_release(&other);
    close_own(&rig);
}

TEST(a_server_that_does_not_stay_up_is_given_up_with_what_it_said)
{
    struct model_rig rig;
    struct ask ask = ASK_INIT;

    how = "die gguf: bad magic\n";
    model_rig_open(&rig, t, "functiongemma", NULL, own_server);
    ask_run(&ask, &rig, NULL);
    ASSERT_ASK_FAILED(&ask, ERR_PROVIDER_FAILED);
    ASSERT_CONTAINS(ask_error(&ask),
                    "does not stay up: exit code 3; it last said: gguf: bad magic");
    ask_release(&ask);
    close_own(&rig);
}

TEST(a_server_that_never_gets_ready_is_ended)
{
    struct model_rig rig;
    struct ask ask = ASK_INIT;

    how = "hang\n";
    model_rig_open(&rig, t, "functiongemma", NULL, own_server_soon);
    ask_run(&ask, &rig, NULL);
    ASSERT_ASK_FAILED(&ask, ERR_TIMEOUT);
    ask_release(&ask);
    close_own(&rig);
}

static void absent_server(struct model_rig *rig, struct model_gateway_config *config)
{
    own_server(rig, config);
    rig->spec.server_path = "/nonexistent/llama-server";
}

TEST(a_server_that_is_not_there_is_said)
{
    struct model_rig rig;
    struct ask ask = ASK_INIT;

    how = "";
    model_rig_open(&rig, t, "functiongemma", NULL, absent_server);
    ask_run(&ask, &rig, NULL);
    ASSERT_ASK_FAILED(&ask, ERR_PROVIDER_FAILED);
    ASSERT_CONTAINS(ask_error(&ask), "can't be started: start /nonexistent/llama-server");
    ask_release(&ask);
    close_own(&rig);
}
