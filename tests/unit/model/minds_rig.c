/* A gateway on a fake loop: models that need no network, and what they answer.
 *
 * SPDX-License-Identifier: MIT
 */
#include "minds_rig.h"

void minds_open(struct minds *minds, struct test *t, const char *provider, const char *script)
{
    struct model_gateway_config config = { .models = &minds->spec, .model_count = 1 };

    *minds = (struct minds){ .t = t, .spec = { .id = "m", .provider = provider } };
    clock_fake_init(&minds->clock, INT64_C(1794744000000));
    minds->loop = loop_new_fake(&minds->clock);
    if (script) {
        minds->spec.script_path = test_path(t, "script.yaml");
        test_write_file(minds->spec.script_path, script, strlen(script));
    }
    config.loop = minds->loop;
    ASSERT_OK(model_gateway_new(&config, &minds->gateway, &t->err));
}

void minds_close(struct minds *minds)
{
    model_gateway_free(minds->gateway);
    loop_free(minds->loop);
}

static void on_delta(void *arg, enum model_delta kind, struct str text)
{
    struct told *told = arg;

    (void)kind;
    told->deltas++;
    if (text.n > told->longest)
        told->longest = text.n;
}

static const char *copy(struct told *told, struct str text)
{
    return arena_copy(&told->t->arena, text.p ? text.p : "", text.n);
}

static void on_done(void *arg, const struct model_reply *reply, const struct err *err,
                    int64_t retry_after_ms)
{
    struct told *told = arg;

    told->dones++;
    told->x = NULL;
    told->retry_after_ms = retry_after_ms;
    if (!reply) {
        told->err = *err;
        return;
    }
    told->replied = true;
    told->text = copy(told, reply->text);
    told->thinking = copy(told, reply->thinking);
    told->model = copy(told, reply->model);
    told->stop = reply->stop;
    told->usage = reply->usage;
    told->calls = "";
    for (size_t i = 0; i < reply->call_count; i++)
        told->calls =
            arena_printf(&told->t->arena, "%s%s%.*s %.*s %.*s%s%.*s", told->calls, i ? "; " : "",
                         STR_ARG(reply->calls[i].id), STR_ARG(reply->calls[i].name),
                         STR_ARG(reply->calls[i].arguments), reply->calls[i].problem.n ? "!" : "",
                         STR_ARG(reply->calls[i].problem));
}

void minds_start(struct minds *minds, struct told *told, const char *model,
                 const struct model_message *messages, size_t n)
{
    struct test *t = minds->t;
    static const struct model_sink sink = { on_delta, on_done };
    const struct model_request request = { .model_id = model,
                                           .system = STR("You are a test."),
                                           .tools = minds->tools,
                                           .tool_count = minds->tool_count,
                                           .messages = messages,
                                           .message_count = n };

    *told = (struct told){ .t = minds->t };
    ASSERT_OK(model_start(minds->gateway, &request, &sink, told, &told->x, &t->err));
    ASSERT_EQ(told->dones, 0);
}

void minds_ask(struct minds *minds, struct told *told, const char *model, const char *text)
{
    const struct model_message message = { .role = MODEL_USER, .text = str_from(text) };

    minds_start(minds, told, model, &message, 1);
    for (int i = 0; i < 100000 && !told->dones; i++)
        loop_fake_advance(minds->loop, 1);
    ASSERT_EQ(told->dones, 1);
}

const char *told_error(struct told *told)
{
    char text[ERR_TEXT_MAX];

    return arena_text(&told->t->arena, err_format(&told->err, text, sizeof(text)));
}
