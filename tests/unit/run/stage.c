/* See stage.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "stage.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/yaml.h"
#include "bp/policy.h"
#include "db/db.h"
#include "db/migrations.h"
#include "run/program.h"

/* ---- the model ---- */

static void write_request(struct stage *stage, const struct model_request *request)
{
    AUTO_BUF out = BUF_INIT(16u << 20);
    struct json_writer w = JSON_WRITER(&out);

    json_write_object_begin(&w);
    json_put_str(&w, "system", request->system);
    json_put_array(&w, "tools");
    for (size_t i = 0; i < request->tool_count; i++)
        json_write_str(&w, request->tools[i].name);
    json_write_array_end(&w);
    json_put_array(&w, "messages");
    for (size_t i = 0; i < request->message_count; i++) {
        const struct model_message *message = &request->messages[i];

        json_write_object_begin(&w);
        json_put_i64(&w, "role", message->role);
        json_put_str(&w, "text", message->text);
        for (size_t c = 0; c < message->call_count; c++) {
            json_put_str(&w, "call", message->calls[c].id);
        }
        if (message->role == MODEL_TOOL) {
            json_put_str(&w, "call_id", message->call_id);
            json_put_bool(&w, "failed", message->failed);
        }
        json_write_object_end(&w);
    }
    json_write_array_end(&w);
    json_write_object_end(&w);
    free(stage->last_request);
    stage->last_request = buf_take(&out);
}

static void deltas(const struct model_sink *sink, void *arg, enum model_delta kind, struct str text)
{
    for (; text.n; text = str_skip(text, text.n < 5 ? text.n : 5))
        sink->on_delta(arg, kind, str_take(text, 5));
}

static void reply(const struct stage *stage, const struct model_sink *sink, void *arg,
                  const char *text)
{
    static struct model_call calls[200];
    static char ids[200][16];
    struct model_reply out = { .calls = calls, .stop = MODEL_STOP_END };
    struct err err = ERR_INIT;

    if (text[0] == '#') {
        char code[64];

        sscanf(text + 1, "%63s", code);
        err_set(&err, err_from_name(code), "%s", text);
        sink->on_done(arg, NULL, &err, stage->retry_after_ms ? stage->retry_after_ms : -1);
        return;
    }
    if (text[0] == '~' || text[0] == '^') {
        const char *bar = strchr(text, '|');
        struct str first = str_of(text + 1, (size_t)(bar - text - 1)), second = str_from(bar + 1);
        bool spoke = text[0] == '^';

        out.thinking = spoke ? second : first;
        out.text = spoke ? first : second;
        deltas(sink, arg, spoke ? MODEL_DELTA_TEXT : MODEL_DELTA_THINKING, first);
        deltas(sink, arg, spoke ? MODEL_DELTA_THINKING : MODEL_DELTA_TEXT, second);
        sink->on_done(arg, &out, NULL, -1);
        return;
    }
    for (const char *line = text; *line == '!' && out.call_count < ARRAY_LEN(calls);) {
        const char *space = strchr(line, ' ');
        const char *end = strchrnul(line, '\n');

        snprintf(ids[out.call_count], sizeof(ids[0]), "c%zu", out.call_count);
        calls[out.call_count] =
            (struct model_call){ .id = str_from(ids[out.call_count]),
                                 .name = str_of(line + 1, (size_t)(space - line - 1)),
                                 .arguments = str_of(space + 1, (size_t)(end - space - 1)) };
        out.call_count++;
        line = *end ? end + 1 : end;
    }
    if (out.call_count)
        out.stop = MODEL_STOP_CALLS;
    else
        out.text = str_from(text);
    out.usage = (struct model_usage){ .input_tokens = 10, .output_tokens = 5 };
    sink->on_done(arg, &out, NULL, -1);
}

static void drop_request(struct stage *stage)
{
    const struct model_sink *sink = stage->sink;
    struct err gone = ERR_INIT;

    stage->sink = NULL;
    err_set(&gone, ERR_CANCELLED, "nobody waits for it");
    if (sink)
        sink->on_done(stage->sink_arg, NULL, &gone, -1);
}

static int model_call(void *call_arg, const struct model_request *request,
                      const struct model_sink *sink, void *arg, struct err *err)
{
    struct stage *stage = call_arg;
    const char *text;

    (void)err;
    stage->model_calls++;
    write_request(stage, request);
    snprintf(stage->last_present, sizeof(stage->last_present), "%.*s", STR_ARG(request->present));
    if (stage->script)
        text = stage->script(stage);
    else
        text = stage->reply_next < stage->reply_count ? stage->replies[stage->reply_next++] : "?";
    if (text[0] == '?') {
        drop_request(stage); /* one that was cancelled and never answered */
        stage->sink = sink;
        stage->sink_arg = arg;
        return 0;
    }
    reply(stage, sink, arg, text);
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
    reply(stage, sink, stage->sink_arg, text);
    stage_settle(stage);
}

/* ---- the tools ---- */

#define CONTRACT(name, strategy, approval) CONTRACT_OF(name, strategy, approval, "test", "true")
#define CONTRACT_OF(name, strategy, approval, class, parallel)                                     \
    CONTRACT_WITH(name, strategy, approval, class, parallel, CHANGES)
#define CHANGES ",\"mutating\":true"
#define CONTRACT_WITH(name, strategy, approval, class, parallel, more)                             \
    "{\"name\":\"" name "\",\"version\":\"1.0.0\","                                                \
    "\"description\":\"Does what a test wants it to do.\","                                        \
    "\"capabilitiesRequired\":[\"test\"],\"allowedWakeReasons\":[\"userInitiated\",\"manual\","    \
    "\"subscription\",\"timer\",\"recoveryCatchup\"],"                                             \
    "\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":true,"                                 \
    "\"idempotencyStrategy\":\"" strategy "\",\"scopeRules\":[],"                                  \
    "\"sideEffects\":{\"entityTypes\":[],\"notificationTokens\":[]},"                              \
    "\"riskLevel\":\"medium\",\"dataMinimizationPolicyRef\":\"workspace\","                        \
    "\"toolClass\":\"" class "\",\"approval\":\"" approval "\","                                   \
                             "\"parallelSafe\":" parallel                                          \
                             ",\"timeout\":60,\"egressHosts\":[]" more "}"

static void finish_job(struct stage *stage, struct tool_job *job)
{
    struct tool_result result = { .output = STR("{\"ok\":true}") };

    const struct tool_call *call = tool_job_call(job);
    struct stage_effect *effect = &stage->effects[stage->done_count++];

    snprintf(effect->operation, sizeof(effect->operation), "%.*s",
             STR_ARG(tool_job_operation_id(job)));
    snprintf(effect->tool, sizeof(effect->tool), "%.*s", STR_ARG(call->name));
    effect->arguments = arena_copy(&stage->t->arena, call->arguments.p, call->arguments.n);
    if (stage->unsure)
        err_set(&result.err, ERR_EFFECT_UNKNOWN, "the other side did not say whether it was done");
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

    if (stage->previewing == job)
        stage->previewing = NULL;
    for (size_t i = 0; i < STAGE_JOBS; i++) {
        if (stage->jobs[i] == job)
            stage->jobs[i] = NULL;
    }
    err_set(&result.err, ERR_CANCELLED, "stopped");
    tool_job_finish(job, &result);
}

static int ask_person(struct tool_job *job, struct err *err)
{
    struct stage *stage = tool_job_impl_arg(job);
    const struct tool_result result = {
        .waits = true,
        .question = stage->question.n ? stage->question : STR("{\"question\":\"Which?\"}"),
    };

    (void)err;
    tool_job_finish(job, &result);
    return 0;
}

static void show(struct stage *stage, struct tool_job *job)
{
    const struct tool_preview preview = { .title = STR("Put it there"),
                                          .kind = STR("diff"),
                                          .text = STR("-old\n+new\n") };

    tool_job_shown(job, &preview, str_from(stage->target));
}

static int show_target(struct tool_job *job, struct err *err)
{
    struct stage *stage = tool_job_impl_arg(job);

    if (stage->unshowable)
        return err_set(err, ERR_VERSION_CONFLICT, "%s", stage->unshowable);
    if (stage->hold_previews)
        stage->previewing = job;
    else
        show(stage, job);
    return 0;
}

void stage_show(struct stage *stage)
{
    struct tool_job *job = stage->previewing;

    ASSERT(job != NULL);
    stage->previewing = NULL;
    show(stage, job);
    stage_settle(stage);
}

static const struct {
    const char *contract;
    struct tool_impl impl;
} tools[] = {
    { CONTRACT("note", "keyed", "never"),
      { .name = "note", .start = tool_run, .cancel = tool_stop } },
    { CONTRACT("poke", "unkeyed", "never"),
      { .name = "poke", .start = tool_run, .cancel = tool_stop } },
    { CONTRACT("send", "unkeyed", "byRisk"),
      { .name = "send", .start = tool_run, .cancel = tool_stop } },
    { CONTRACT("post", "keyed", "always"),
      { .name = "post", .start = tool_run, .cancel = tool_stop } },
    { CONTRACT_OF("alone", "keyed", "never", "test", "false"),
      { .name = "alone", .start = tool_run, .cancel = tool_stop } },
    { CONTRACT_OF("mail", "keyed", "byRisk", "post", "true"),
      { .name = "mail", .start = tool_run, .cancel = tool_stop } },
    { CONTRACT_OF("put", "keyed", "byRisk", "files2", "true"),
      { .name = "put", .start = tool_run, .cancel = tool_stop, .preview = show_target } },
    { CONTRACT_WITH("fetch", "keyed", "never", "test", "true", CHANGES ",\"outputTaint\":\"web\""),
      { .name = "fetch", .start = tool_run, .cancel = tool_stop } },
    { CONTRACT_WITH("look", "read_only", "never", "test", "true", ",\"mutating\":false"),
      { .name = "look", .start = tool_run, .cancel = tool_stop } },
    { CONTRACT("query", "keyed", "never"), { .name = "query", .start = ask_person } },
};

bool stage_act(struct stage *stage)
{
    for (size_t i = 0; i < STAGE_JOBS; i++) {
        struct tool_job *job = stage->jobs[i];

        if (!job)
            continue;
        stage->jobs[i] = NULL;
        finish_job(stage, job);
        return true;
    }
    return false;
}

void stage_finish(struct stage *stage)
{
    ASSERT(stage_act(stage));
    stage_settle(stage);
}

/* ---- the runner ---- */

static void heard(struct run_listener *listener, const struct run_public *event)
{
    struct stage *stage = CONTAINER_OF(listener, struct stage, listener);
    struct test *t = stage->t;

    if (event->partial) {
        ASSERT(stage->partial_count < STAGE_EVENTS);
        stage->partials[stage->partial_count++] =
            arena_copy(&t->arena, event->json.p, event->json.n);
        return;
    }
    ASSERT(stage->event_count < STAGE_EVENTS);
    stage->types[stage->event_count] = event->type;
    stage->seqs[stage->event_count] = event->seq;
    stage->threads[stage->event_count] =
        arena_copy(&t->arena, event->thread_id.p, event->thread_id.n);
    stage->events[stage->event_count++] = arena_copy(&t->arena, event->json.p, event->json.n);
}

/* As the house does with DATA/policy.yaml. Read anew at every start, and kept until the test ends.
 */
static void take_policy(struct stage *stage, struct tool_bed_config *bed)
{
    struct test *t = stage->t;
    AUTO_YAML yaml = YAML_INIT;
    struct bp_policy *policy;
    char *hash =
        arena_text(&t->arena, "0123456789012345678901234567890123456789012345678901234567890123");

    bp_policy_free(stage->parsed_policy);
    stage->parsed_policy = NULL;
    stage->config.policy_text = STR_NONE;
    if (!stage->policy)
        return;
    ASSERT_OK(yaml_parse(str_from(stage->policy), "policy.yaml", &yaml, &t->err));
    ASSERT_OK(bp_policy_parse(&yaml, "policy.yaml", &policy, &t->err));
    stage->parsed_policy = policy;
    ASSERT_OK(run_program_with_policy(policy, &t->arena, &stage->config.program, &t->err));
    stage->config.policy_text = str_from(stage->policy);
    sha256_text(stage->config.policy_text, hash);
    bed->policy = policy;
    bed->program = stage->config.program;
    bed->policy_text_hash = hash;
}

static void wake(struct stage *stage)
{
    struct test *t = stage->t;
    const struct model_gateway_config models = { .loop = stage->loop,
                                                 .models = &stage->spec,
                                                 .model_count = 1 };
    const struct tool_bed_config bed = { .loop = stage->loop,
                                         .agent_domain = stage->domain,
                                         .policy_text_hash = "" };
    struct tool_bed_config with_kill = bed;

    stage->spec = (struct model_spec){
        .id = "test", .provider = "call", .call = model_call, .call_arg = stage
    };
    ASSERT_OK(change_open_as(stage->domain, stage->more ? stage->more->host_id : NULL,
                             loop_clock(stage->loop), NULL, &stage->change, &t->err));
    ASSERT_OK(kill_open(stage->domain, &stage->kill, &t->err));
    ASSERT_OK(model_gateway_new(&models, &stage->models, &t->err));
    with_kill.kill = stage->kill;
    ASSERT_OK(files_new(&(struct files_config){ .loop = stage->loop,
                                                .agent_domain = stage->domain,
                                                .change = stage->change },
                        &stage->files, &t->err));
    with_kill.files = stage->files;
    take_policy(stage, &with_kill);
    ASSERT_OK(tool_bed_new(&with_kill, &stage->tools, &t->err));
    if (stage->more && stage->more->bed)
        stage->more->bed(stage, stage->more->arg);
    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        ASSERT_OK(tool_bed_add(stage->tools, tools[i].contract, &tools[i].impl, stage, &t->err));
    stage->config = (struct runner_config){ .loop = stage->loop,
                                            .agent_domain = stage->domain,
                                            .change = stage->change,
                                            .models = stage->models,
                                            .tools = stage->tools,
                                            .kill = stage->kill,
                                            .files = stage->files,
                                            .default_agent_name = "Planner",
                                            .default_model = "test",
                                            .default_cwd = "/tmp",
                                            .program = stage->config.program,
                                            .policy_text = stage->config.policy_text,
                                            .context_tokens = stage->config.context_tokens,
                                            .max_thinking = stage->config.max_thinking };
    ASSERT_OK(runner_new(&stage->config, &stage->runner, &t->err));
    stage->listener = (struct run_listener){ .event = heard };
    runner_listen(stage->runner, &stage->listener);
    if (stage->more)
        stage->more->up(stage, stage->more->arg);
}

static void sleep_down(struct stage *stage)
{
    if (stage->more)
        stage->more->down(stage, stage->more->arg);
    runner_stop(stage->runner);
    model_gateway_free(stage->models);
    drop_request(stage);
    tool_bed_free(stage->tools);
    files_free(stage->files);
    loop_free(stage->loop);
    if (stage->more)
        stage->more->gone(stage, stage->more->arg);
    runner_free(stage->runner);
    kill_switches_free(stage->kill);
    change_free(stage->change);
}

static void open_domain(struct stage *stage)
{
    struct test *t = stage->t;
    const struct domain_config config = { .name = "agent",
                                          .url = db_test_domain_url(t, "agent"),
                                          .migrations = migrations_agent,
                                          .migration_count = migrations_agent_count,
                                          .fault = &stage->fault };

    ASSERT_OK(domain_open(&config, &stage->domain, &t->err));
}

static void open_loop(struct stage *stage)
{
    stage->loop = loop_new_fake(&stage->clock);
    if (stage->more && stage->more->loop)
        stage->more->loop(stage, stage->more->arg);
    loop_attach(stage->loop, stage->domain);
}

struct stage *stage_new(struct test *t)
{
    return stage_new_with(t, NULL);
}

struct stage *stage_new_with(struct test *t, const struct stage_more *more)
{
    struct stage *stage = NEW(struct stage);

    *stage = (struct stage){ .t = t, .target = "1", .more = more };
    clock_fake_init(&stage->clock, 1700000000000);
    open_domain(stage);
    open_loop(stage);
    wake(stage);
    return stage;
}

/* Nobody calls back any more: then no run is kept in memory as if somebody would. */
static void check_held(struct stage *stage)
{
    bool under_way = stage->sink || stage->previewing;

    for (size_t i = 0; i < STAGE_JOBS; i++)
        under_way = under_way || stage->jobs[i];
    if (!under_way)
        ASSERT_EQ(runner_active(stage->runner), 0u);
}

void stage_free(struct stage *stage)
{
    stage_settle(stage);
    check_held(stage);
    if (!stage->altered)
        stage_check(stage);
    sleep_down(stage);
    bp_policy_free(stage->parsed_policy);
    domain_free(stage->domain);
    free(stage->last_request);
    free(stage);
}

static void rise(struct stage *stage)
{
    memset(stage->jobs, 0, sizeof(stage->jobs));
    stage->previewing = NULL;
    open_loop(stage);
    wake(stage);
}

void stage_crash(struct stage *stage)
{
    sleep_down(stage); /* the loop rolls back what is open */
    rise(stage);
}

void stage_restart(struct stage *stage)
{
    sleep_down(stage);
    domain_free(stage->domain);
    open_domain(stage);
    rise(stage);
}

void stage_alter(struct stage *stage, const char *sql)
{
    struct test *t = stage->t;

    ASSERT_OK(domain_begin(stage->domain, &t->err));
    ASSERT_OK(db_exec(domain_db(stage->domain), (struct sql){ sql }, &t->err));
    ASSERT_OK(domain_commit(stage->domain, &t->err));
    stage->altered = true;
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
    stage->event_count = stage->partial_count = 0;
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

int stage_decide_with(struct stage *stage, struct inbox_decision decision)
{
    int r;

    if (!decision.by.n)
        decision.by = STR("owner");
    r = run_decide(stage->runner, stage_item(stage), &decision, &stage->t->err);
    stage_settle(stage);
    return r;
}

int stage_decide(struct stage *stage, enum inbox_state state, const char *answer)
{
    return stage_decide_with(
        stage,
        (struct inbox_decision){ .state = state,
                                 .reason = state == INBOX_REJECTED ? STR("not today") : STR_NONE,
                                 .anyway = true,
                                 .answer = str_from(answer) });
}

struct run_info stage_info(struct stage *stage, struct str id)
{
    struct test *t = stage->t;
    struct run_info info;

    ASSERT_OK(run_get(stage->runner, id, &t->arena, &info, &t->err));
    return info;
}

const char *stage_status(struct stage *stage, struct str run_id)
{
    return arena_printf(&stage->t->arena, "%.*s", STR_ARG(stage_info(stage, run_id).status));
}

size_t stage_pending(struct stage *stage)
{
    struct test *t = stage->t;
    int64_t n;

    ASSERT_OK(inbox_count_pending(stage->domain, &n, &t->err));
    return (size_t)n;
}

/* ---- what must hold ---- */

struct checking {
    struct stage *stage;
    struct str thread_id;
    int64_t seq;
    size_t heard;
    struct map open; /* call ids of the run under way */
};

static void check_pair(struct checking *c, const struct run_public *event)
{
    struct test *t = c->stage->t;
    AUTO_JSON value = NULL;
    struct str id;

    ASSERT_OK(json_parse(event->json, &value, &t->err));
    ASSERT_STR(json_str(json_find(value, "type")), event->type);
    id = json_str(json_find(value, "toolCallId"));
    if (strcmp(event->type, "tool_use") == 0) {
        ASSERT(map_put(&c->open, id, c) == NULL);
    } else if (strcmp(event->type, "tool_result") == 0) {
        ASSERT(map_remove(&c->open, id) != NULL);
    } else if (strcmp(event->type, "done") == 0) {
        ASSERT_EQ(map_count(&c->open), 0);
    }
}

/* Gapless, and what was told live is what is read. */
static bool check_event(void *arg, const struct run_public *event)
{
    struct checking *c = arg;
    struct stage *stage = c->stage;

    ASSERT_EQ(event->seq, ++c->seq);
    check_pair(c, event);
    for (size_t i = 0; i < stage->event_count; i++) {
        if (stage->seqs[i] != event->seq || !str_is(c->thread_id, stage->threads[i]))
            continue;
        ASSERT_STR(event->json, stage->events[i]);
        ASSERT_TEXT(event->type, stage->types[i]);
        c->heard++;
    }
    return true;
}

static void check_thread(struct stage *stage, struct str thread_id)
{
    struct test *t = stage->t;
    struct checking c = { .stage = stage, .thread_id = thread_id, .open = MAP_INIT };
    size_t told = 0;

    for (size_t i = 0; i < stage->event_count; i++)
        told += str_is(thread_id, stage->threads[i]);
    ASSERT_OK(run_events_after(stage->runner, thread_id, STR_NONE, 0, check_event, &c, &t->err));
    ASSERT_EQ(c.heard, told);
    map_release(&c.open);
}

/* Ended, or something will come: the model, a tool, a time, a person. */
static void check_alive(struct stage *stage, const struct run_info *info)
{
    if (str_is(info->status, "waiting"))
        ASSERT(info->wait_item.n > 0 || str_is(info->wait_kind, "rate_limit"));
    else if (info->ended_at)
        ASSERT_EQ(info->wait_item.n, 0);
    else
        ASSERT(runner_active(stage->runner) > 0);
}

static void check_run(struct stage *stage, const struct run_info *info)
{
    struct test *t = stage->t;
    struct run_replay_report report;

    ASSERT_OK(run_replay_check(stage->domain, info->n, &run_program, &report, &t->err));
    ASSERT_EQ(report.ended, info->ended_at != 0);
    check_alive(stage, info);
    check_thread(stage, info->thread_id);
}

void stage_check_run(struct stage *stage, struct str run_id)
{
    struct test *t = stage->t;
    AUTO_ARENA arena = ARENA_INIT;
    struct run_info info;

    ASSERT_OK(run_get(stage->runner, run_id, &arena, &info, &t->err));
    check_run(stage, &info);
}

void stage_check(struct stage *stage)
{
    struct test *t = stage->t;
    AUTO_ARENA arena = ARENA_INIT;
    struct run_info *infos;
    size_t n;

    ASSERT_OK(run_list(stage->runner, STR_NONE, 0, 1000, &arena, &infos, &n, &t->err));
    for (size_t i = 0; i < n; i++)
        check_run(stage, &infos[i]);
}
