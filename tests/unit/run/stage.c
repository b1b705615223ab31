/* See stage.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "stage.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/json_write.h"
#include "db/migrations.h"

/* ---- the model ---- */

static void write_request(struct stage *stage, const struct model_request *request)
{
    AUTO_BUF out = BUF_INIT(16u << 20);
    struct json_writer w = JSON_WRITER(&out);

    json_write_object_begin(&w);
    json_write_key(&w, "system");
    json_write_str(&w, request->system);
    json_write_key(&w, "tools");
    json_write_array_begin(&w);
    for (size_t i = 0; i < request->tool_count; i++)
        json_write_str(&w, request->tools[i].name);
    json_write_array_end(&w);
    json_write_key(&w, "messages");
    json_write_array_begin(&w);
    for (size_t i = 0; i < request->message_count; i++) {
        const struct model_message *message = &request->messages[i];

        json_write_object_begin(&w);
        json_write_key(&w, "role");
        json_write_i64(&w, message->role);
        json_write_key(&w, "text");
        json_write_str(&w, message->text);
        for (size_t c = 0; c < message->call_count; c++) {
            json_write_key(&w, "call");
            json_write_str(&w, message->calls[c].id);
        }
        if (message->role == MODEL_TOOL) {
            json_write_key(&w, "call_id");
            json_write_str(&w, message->call_id);
            json_write_key(&w, "failed");
            json_write_bool(&w, message->failed);
        }
        json_write_object_end(&w);
    }
    json_write_array_end(&w);
    json_write_object_end(&w);
    free(stage->last_request);
    stage->last_request = buf_take(&out);
}

static void reply(const struct model_sink *sink, void *arg, const char *text)
{
    struct model_call calls[40];
    char ids[40][16];
    struct model_reply out = { .calls = calls, .stop = MODEL_STOP_END };
    struct err err = ERR_INIT;

    if (text[0] == '#') {
        char code[64];

        sscanf(text + 1, "%63s", code);
        err_set(&err, err_from_name(code), "%s", text);
        sink->on_done(arg, NULL, &err, -1);
        return;
    }
    for (const char *line = text; line && *line == '!'; line = strchr(line, '\n')) {
        const char *space, *end;

        line += *line == '\n';
        space = strchr(line, ' ');
        end = strchr(line, '\n');
        snprintf(ids[out.call_count], sizeof(ids[0]), "c%zu", out.call_count);
        calls[out.call_count] =
            (struct model_call){ .id = str_from(ids[out.call_count]),
                                 .name = str_of(line + 1, (size_t)(space - line - 1)),
                                 .arguments = end ? str_of(space + 1, (size_t)(end - space - 1))
                                                  : str_from(space + 1) };
        out.call_count++;
        line = end ? end + 1 : NULL;
        if (!line || *line != '!')
            break;
        line--; /* the loop looks for the newline again */
    }
    if (out.call_count)
        out.stop = MODEL_STOP_CALLS;
    else
        out.text = str_from(text);
    out.usage = (struct model_usage){ .input_tokens = 10, .output_tokens = 5 };
    sink->on_done(arg, &out, NULL, -1);
}

static int model_call(void *call_arg, const struct model_request *request,
                      const struct model_sink *sink, void *arg, struct err *err)
{
    struct stage *stage = call_arg;
    const char *text;

    (void)err;
    write_request(stage, request);
    text = stage->reply_next < stage->reply_count ? stage->replies[stage->reply_next++] : "?";
    if (text[0] == '?') {
        stage->sink = sink;
        stage->sink_arg = arg;
        return 0;
    }
    reply(sink, arg, text);
    return 0;
}

void stage_says(struct stage *stage, const char *text)
{
    stage->replies[stage->reply_count++] = arena_text(&stage->t->arena, text);
}

void stage_answer(struct stage *stage, const char *text)
{
    const struct model_sink *sink = stage->sink;

    ASSERT(sink != NULL);
    stage->sink = NULL;
    reply(sink, stage->sink_arg, text);
    stage_settle(stage);
}

/* ---- the tools ---- */

#define CONTRACT(name, strategy, approval)                                                         \
    "{\"name\":\"" name "\",\"version\":\"1.0.0\","                                                \
    "\"description\":\"Does what a test wants it to do.\","                                        \
    "\"capabilitiesRequired\":[\"test\"],\"allowedWakeReasons\":[\"userInitiated\",\"manual\"],"   \
    "\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":true,"                                 \
    "\"idempotencyStrategy\":\"" strategy "\",\"scopeRules\":[],"                                  \
    "\"sideEffects\":{\"entityTypes\":[],\"notificationTokens\":[]},"                              \
    "\"riskLevel\":\"low\",\"dataMinimizationPolicyRef\":\"workspace\","                           \
    "\"toolClass\":\"test\",\"mutating\":true,\"approval\":\"" approval "\","                      \
    "\"parallelSafe\":true,\"timeout\":60,\"egressHosts\":[]}"

static void finish_job(struct stage *stage, struct tool_job *job)
{
    struct tool_result result = { .output = STR("{\"ok\":true}") };

    snprintf(stage->done_operations[stage->done_count++], 65, "%.*s",
             STR_ARG(tool_job_operation_id(job)));
    tool_job_finish(job, &result);
}

static int tool_run(struct tool_job *job, struct err *err)
{
    struct stage *stage = tool_job_impl_arg(job);

    (void)err;
    if (!stage->hold_tools) {
        finish_job(stage, job);
        return 0;
    }
    for (size_t i = 0; i < STAGE_JOBS; i++) {
        if (!stage->jobs[i]) {
            stage->jobs[i] = job;
            return 0;
        }
    }
    return err_set(err, ERR_RATE_LIMITED, "too many jobs for the stage");
}

static void tool_stop(struct tool_job *job)
{
    struct stage *stage = tool_job_impl_arg(job);
    struct tool_result result = { .err = ERR_INIT };

    for (size_t i = 0; i < STAGE_JOBS; i++) {
        if (stage->jobs[i] == job)
            stage->jobs[i] = NULL;
    }
    err_set(&result.err, ERR_CANCELLED, "stopped");
    tool_job_finish(job, &result);
}

static const struct {
    const char *contract;
    struct tool_impl impl;
} tools[] = {
    { CONTRACT("note", "keyed", "never"),
      { .name = "note", .start = tool_run, .cancel = tool_stop } },
    { CONTRACT("poke", "unkeyed", "never"),
      { .name = "poke", .start = tool_run, .cancel = tool_stop } },
    { CONTRACT("send", "unkeyed", "always"),
      { .name = "send", .start = tool_run, .cancel = tool_stop } },
};

void stage_finish(struct stage *stage)
{
    for (size_t i = 0; i < STAGE_JOBS; i++) {
        struct tool_job *job = stage->jobs[i];

        if (!job)
            continue;
        stage->jobs[i] = NULL;
        finish_job(stage, job);
        stage_settle(stage);
        return;
    }
    ASSERT(!"a job is held");
}

/* ---- the runner ---- */

static void heard(struct run_listener *listener, const struct run_public *event)
{
    struct stage *stage = CONTAINER_OF(listener, struct stage, listener);
    struct test *t = stage->t;

    if (event->partial) {
        stage->partial_count++;
        return;
    }
    ASSERT(stage->event_count < STAGE_EVENTS);
    stage->types[stage->event_count] = event->type;
    stage->seqs[stage->event_count] = event->seq;
    stage->events[stage->event_count++] = arena_copy(&t->arena, event->json.p, event->json.n);
}

static void wake(struct stage *stage)
{
    struct test *t = stage->t;
    static struct model_spec spec;
    const struct model_gateway_config models = { .loop = stage->loop,
                                                 .models = &spec,
                                                 .model_count = 1 };
    const struct tool_bed_config bed = { .loop = stage->loop,
                                         .agent_domain = stage->domain,
                                         .policy_text_hash = "" };
    struct tool_bed_config with_kill = bed;

    spec = (struct model_spec){
        .id = "test", .provider = "call", .call = model_call, .call_arg = stage
    };
    ASSERT_OK(change_open(stage->domain, loop_clock(stage->loop), NULL, &stage->change, &t->err));
    ASSERT_OK(kill_open(stage->domain, &stage->kill, &t->err));
    ASSERT_OK(model_gateway_new(&models, &stage->models, &t->err));
    with_kill.kill = stage->kill;
    ASSERT_OK(tool_bed_new(&with_kill, &stage->tools, &t->err));
    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        ASSERT_OK(tool_bed_add(stage->tools, tools[i].contract, &tools[i].impl, stage, &t->err));
    stage->config = (struct runner_config){ .loop = stage->loop,
                                            .agent_domain = stage->domain,
                                            .change = stage->change,
                                            .models = stage->models,
                                            .tools = stage->tools,
                                            .kill = stage->kill,
                                            .default_agent_name = "Planner",
                                            .default_model = "test",
                                            .default_cwd = "/tmp" };
    ASSERT_OK(runner_new(&stage->config, &stage->runner, &t->err));
    stage->listener = (struct run_listener){ .event = heard };
    runner_listen(stage->runner, &stage->listener);
}

static void sleep_down(struct stage *stage)
{
    struct err gone = ERR_INIT;

    runner_stop(stage->runner);
    model_gateway_free(stage->models);
    err_set(&gone, ERR_CANCELLED, "the stage is taken down");
    if (stage->sink)
        stage->sink->on_done(stage->sink_arg, NULL, &gone, -1);
    stage->sink = NULL;
    tool_bed_free(stage->tools);
    loop_free(stage->loop);
    runner_free(stage->runner);
    kill_switches_free(stage->kill);
    change_free(stage->change);
}

struct stage *stage_new(struct test *t)
{
    struct stage *stage = NEW(struct stage);

    *stage = (struct stage){ .t = t };
    clock_fake_init(&stage->clock, 1700000000000);
    stage->domain = db_test_open(t, migrations_agent, migrations_agent_count);
    stage->loop = loop_new_fake(&stage->clock);
    loop_attach(stage->loop, stage->domain);
    wake(stage);
    return stage;
}

void stage_free(struct stage *stage)
{
    sleep_down(stage);
    domain_free(stage->domain);
    free(stage->last_request);
    free(stage);
}

void stage_crash(struct stage *stage)
{
    if (domain_in_transaction(stage->domain))
        domain_rollback(stage->domain);
    sleep_down(stage);
    memset(stage->jobs, 0, sizeof(stage->jobs));
    stage->loop = loop_new_fake(&stage->clock);
    loop_attach(stage->loop, stage->domain);
    wake(stage);
}

void stage_settle(struct stage *stage)
{
    loop_fake_advance(stage->loop, 10);
}

struct str stage_run_with(struct stage *stage, struct run_request *request)
{
    struct test *t = stage->t;

    ASSERT_OK(run_start(stage->runner, request, &t->arena, &stage->info, &t->err));
    stage_settle(stage);
    return stage->info.run_id;
}

struct str stage_run(struct stage *stage, const char *prompt)
{
    struct run_request request = { .prompt = str_from(prompt), .session_id = STR("s") };

    return stage_run_with(stage, &request);
}

/* ---- looking ---- */

const char *stage_story(struct stage *stage)
{
    AUTO_BUF out = BUF_INIT(1u << 16);

    for (size_t i = 0; i < stage->event_count; i++)
        buf_printf(&out, "%s%s", i ? " " : "", stage->types[i]);
    return arena_text(&stage->t->arena, buf_text(&out));
}

void stage_forget(struct stage *stage)
{
    stage->event_count = 0;
}

const char *stage_last(struct stage *stage, const char *type)
{
    for (size_t i = stage->event_count; i-- > 0;) {
        if (strcmp(stage->types[i], type) == 0)
            return stage->events[i];
    }
    return NULL;
}

struct str stage_item(struct stage *stage)
{
    struct test *t = stage->t;
    struct inbox_item *items;
    size_t n;

    ASSERT_OK(inbox_list(stage->domain, INBOX_PENDING, 0, 0, &t->arena, &items, &n, &t->err));
    ASSERT(n > 0);
    return items[0].id;
}

int stage_decide(struct stage *stage, enum inbox_state state, const char *answer)
{
    const struct inbox_decision decision = { .state = state,
                                             .by = STR("owner"),
                                             .reason = state == INBOX_REJECTED ? STR("not today")
                                                                               : STR_NONE,
                                             .answer = str_from(answer) };
    int r = run_decide(stage->runner, stage_item(stage), &decision, &stage->t->err);

    stage_settle(stage);
    return r;
}

const char *stage_status(struct stage *stage, struct str run_id)
{
    struct test *t = stage->t;
    struct run_info info;

    ASSERT_OK(run_get(stage->runner, run_id, &t->arena, &info, &t->err));
    return arena_printf(&t->arena, "%.*s", STR_ARG(info.status));
}
