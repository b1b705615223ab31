/* A run from its log: the program is fed what was selected, and what the calls in flight were about
 * is read along. What nobody is doing any more is started again, or goes to a person.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/json.h"
#include "base/log.h"
#include "run/run_int.h"

/* ---- making and ending ---- */

struct run *run_new(struct runner *runner)
{
    struct run *run = NEW(struct run);

    *run = (struct run){ .runner = runner,
                         .arena = ARENA_INIT,
                         .scratch = ARENA_INIT,
                         .hand_state = BUF_INIT(LIMIT_JSON_BYTES) };
    for (uint16_t key = 0; key <= RUN_CALLS_MAX; key++)
        run->calls[key] = (struct run_call){ .run = run, .key = key };
    return run;
}

void run_free(struct run *run)
{
    if (!run)
        return;
    loop_timer_stop(run->runner->config.loop, &run->time_limit);
    for (uint16_t key = 1; key <= RUN_CALLS_MAX; key++)
        arena_release(&run->calls[key].arena);
    run_turn_free(run);
    runner_engine_give(run->runner, run->engine);
    map_release(&run->intents);
    buf_release(&run->hand_state);
    arena_release(&run->scratch);
    arena_release(&run->arena);
    free(run);
}

static int64_t setting(struct json_object *settings, const char *key)
{
    int64_t value = 0;

    json_get_i64(settings, key, &value, NULL);
    return value;
}

int run_engine_new(struct run *run, struct err *err)
{
    uint16_t limits[RUN_LIMIT_COUNT] = { 0 };
    const struct bp_options options = { .selected = run_record_selected,
                                        .ctx = run,
                                        .limits = limits };
    AUTO_JSON settings = NULL;

    if (json_parse(run->row.settings, &settings, err) < 0)
        return err_wrap(err, "settings of run %.*s", STR_ARG(run->row.run_key));
    limits[RUN_LIMIT_ITERATIONS] = (uint16_t)setting(settings, "maxIterations");
    limits[RUN_LIMIT_TOOL_CALLS] = (uint16_t)setting(settings, "maxToolCalls");
    run->max_tokens = setting(settings, "maxTokens");
    run->max_ms = setting(settings, "maxMs");
    run->engine = runner_engine_take(run->runner);
    bp_reset(run->engine, &options);
    return 0;
}

/* ---- reading the log ---- */

static void count_usage(struct run *run, struct str data)
{
    AUTO_JSON value = NULL;
    double cost = 0;

    if (!data.n || json_parse(data, &value, NULL) < 0)
        return;
    run->row.input_tokens += setting(value, "in");
    run->row.output_tokens += setting(value, "out");
    run->row.cached_tokens += setting(value, "cached");
    json_get_double(value, "cost", &cost, NULL);
    run->row.cost += cost;
}

static void follow_thought(struct run *run, const struct run_event_row *row)
{
    run->thinking = run->checking = false;
    run->rests = row->event.bits & RUN_LATER ? run->rests + 1 : 0;
    count_usage(run, row->data);
}

/* What a row says about the run as a whole. */
static void follow_run(struct run *run, const struct run_event_row *row)
{
    switch (row->event.type) {
    case RUN_EV_THINK:
        run->thinking = true;
        break;
    case RUN_EV_CHECK:
        run->checking = true;
        break;
    case RUN_EV_SAID:
        run->last_said_n = row->ref;
        break;
    case RUN_EV_THOUGHT:
    case RUN_EV_CHECKED:
        follow_thought(run, row);
        break;
    case RUN_EV_OBSERVE:
        run->row.iterations++;
        break;
    case RUN_EV_ACT:
        run->row.tool_calls++;
        break;
    case RUN_EV_SPENT:
        run->spent = true;
        break;
    case RUN_EV_CANCEL:
        run->cancelled = true;
        run->stop_code = ERR_CANCELLED;
        break;
    case RUN_EV_KILL:
        run->stop_code = ERR_KILL_SWITCH_ACTIVE;
        break;
    case RUN_EV_UNKILL:
        run->stop_code = ERR_NONE;
        break;
    case RUN_EV_DONE:
        run->ended = true;
        break;
    default:
        break;
    }
}

/* What a row says about its call. */
static void follow_call(struct run_call *call, const struct run_event_row *row)
{
    switch (row->event.type) {
    case RUN_EV_CALL:
        *call = (struct run_call){ .run = call->run, .key = call->key, .live = true };
        call->action_n = row->ref;
        break;
    case RUN_EV_GATE:
        call->inbox_n = row->ref;
        break;
    case RUN_EV_EDIT:
        call->by_person = true;
        break;
    case RUN_EV_ACT:
        call->acting = true;
        call->operation_n = row->ref;
        break;
    case RUN_EV_ASKED:
        call->asked = true;
        call->inbox_n = row->ref;
        break;
    case RUN_EV_ACTED:
        call->acting = false;
        call->asked = false;
        if (row->event.bits & RUN_UNKNOWN)
            call->inbox_n = row->ref;
        else if (!(row->event.bits & RUN_STALE))
            call->result_n = row->ref;
        break;
    case RUN_EV_SETTLED:
        *call = (struct run_call){ .run = call->run, .key = call->key };
        break;
    default:
        break;
    }
}

struct reading {
    struct run *run;
    struct err *err;
    bool failed;
};

static int count_intent(struct run *run, const struct run_event_row *row, struct err *err)
{
    struct run_call call = { .run = run };
    int r = run_call_read(&call, row->ref, err);

    if (r == 0)
        run_occurrence(run, call.name, call.arguments);
    arena_release(&call.arena);
    return r;
}

static bool read_row(void *arg, const struct run_event_row *row)
{
    struct reading *reading = arg;
    struct run *run = reading->run;
    struct bp_refusal refusal;
    AUTO_BUF why = BUF_INIT(512);

    if (bp_force(run->engine, &row->event, &refusal) < 0) {
        bp_refusal_text(run->runner->config.program, &row->event, &refusal, &why);
        err_set(reading->err, ERR_RESUME_CONFLICT, "row %lld of the log: %s", (long long)row->n,
                buf_text(&why));
        reading->failed = true;
        return false;
    }
    memcpy(run->chain, row->chain, sizeof(run->chain));
    run->rows++;
    follow_run(run, row);
    if (row->event.key)
        follow_call(&run->calls[row->event.key], row);
    if (row->event.type == RUN_EV_CALL && count_intent(run, row, reading->err) < 0)
        reading->failed = true;
    return !reading->failed;
}

/* ---- the calls in flight ---- */

int run_call_read(struct run_call *call, int64_t action_n, struct err *err)
{
    struct message message;
    AUTO_JSON content = NULL;

    if (message_get_n(call->run->runner->config.agent_domain, action_n, &call->arena, &message,
                      err) < 0 ||
        json_parse(message.content, &content, err) < 0)
        return -1;
    call->call_id = message.call_id;
    call->name = message.tool_name;
    call->arguments = arena_str(&call->arena, json_str(json_find(content, "arguments")));
    call->problem = arena_str(&call->arena, json_str(json_find(content, "problem")));
    return 0;
}

static int read_item(struct run_call *call, struct err *err)
{
    struct inbox_item item;

    if (inbox_get_n(call->run->runner->config.agent_domain, call->inbox_n, &call->arena, &item,
                    err) < 0)
        return -1;
    if (item.kind != INBOX_TOOL)
        return 0;
    snprintf(call->inbox_id, sizeof(call->inbox_id), "%.*s", STR_ARG(item.id));
    call->title = item.title;
    call->preview_kind = item.preview_kind;
    call->preview = item.preview;
    if (call->by_person && item.state == INBOX_EDITED)
        call->arguments = item.answer;
    else
        snprintf(call->digest, sizeof(call->digest), "%.*s", STR_ARG(item.digest));
    return 0;
}

static int read_call(struct run_call *call, struct err *err)
{
    struct operation operation;

    if (run_call_read(call, call->action_n, err) < 0 ||
        (call->inbox_n && read_item(call, err) < 0) || run_call_judge(call, err) < 0)
        return -1;
    if (!call->operation_n)
        return 0;
    if (operation_load(call->run->runner->config.agent_domain, call->operation_n, &call->arena,
                       &operation, err) <= 0)
        return err->code ? -1 : err_set(err, ERR_INTEGRITY_FAILED, "an operation is missing");
    snprintf(call->operation_id, sizeof(call->operation_id), "%.*s",
             STR_ARG(operation.operation_id));
    return 0;
}

/* ---- the whole ---- */

static int read_log(struct run *run, struct err *err)
{
    struct reading reading = { .run = run, .err = err };

    run->row.input_tokens = run->row.output_tokens = run->row.cached_tokens = 0;
    run->row.iterations = run->row.tool_calls = 0;
    run->row.cost = 0;
    if (run_events_of_run(run->runner->config.agent_domain, run->row.n, read_row, &reading, err) <
            0 ||
        reading.failed)
        return -1;
    for (uint16_t key = 1; key <= RUN_CALLS_MAX; key++) {
        if (run->calls[key].live && read_call(&run->calls[key], err) < 0)
            return -1;
    }
    return 0;
}

static int read_run(struct run *run, struct str run_key, struct err *err)
{
    struct domain *domain = run->runner->config.agent_domain;

    if (run_record_get(domain, run_key, &run->arena, &run->row, err) < 0)
        return -1;
    if (run->row.ended_at)
        return err_set(err, ERR_CONFLICT, "the run has ended: it is %s",
                       run_status_name(run->row.status));
    buf_add_str(&run->hand_state, run->row.hand_state);
    run->cwd = arena_printf(&run->arena, "%.*s", STR_ARG(run->row.cwd));
    if (!str_eq(run->row.program_hash,
                str_of((const char *)run->runner->program_hash, BP_HASH_BYTES)))
        return err_set(err, ERR_RESUME_CONFLICT,
                       "the run was begun with other rules than this program has now");
    if (agent_get_n(domain, run->row.agent_n, &run->arena, &run->agent, err) < 0 ||
        thread_get_n(domain, run->row.thread_n, &run->arena, &run->thread, err) < 0 ||
        run_engine_new(run, err) < 0)
        return -1;
    return read_log(run, err);
}

int run_open(struct runner *runner, struct str run_key, struct run **ret_run, struct err *err)
{
    struct run *run = map_find(&runner->runs, run_key);

    if (run && run->broken)
        return err_set(err, ERR_STORAGE_FAILED, "the run is being loaded again, try once more");
    if (run && run->ended)
        return err_set(err, ERR_CONFLICT, "the run has ended");
    if (!run) {
        run = run_new(runner);
        if (read_run(run, run_key, err) < 0) {
            run_free(run);
            return -1;
        }
        map_put(&runner->runs, run->row.run_key, run);
        run_watch_time(run);
    }
    run_hold(run);
    *ret_run = run;
    return 0;
}
