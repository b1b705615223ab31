/* A run from its log: the program is fed what was selected, and what the calls in flight were about
 * is read along. What nobody is doing any more is started again, or goes to a person.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/json.h"
#include "base/log.h"
#include "run/content.h"
#include "run/resume.h"
#include "run/run_int.h"

#define ACTIVE_MAX_MS (INT64_MAX / 2)

/* ---- making and ending ---- */

struct run *run_new(struct runner *runner)
{
    struct run *run = NEW(struct run);

    run->runner = runner;
    run->hand_state = BUF_INIT(LIMIT_JSON_BYTES);
    run->active_since = clock_wall_ms(loop_clock(runner->config.loop));
    return run;
}

struct run_call *run_call_get(struct run *run, uint16_t key)
{
    struct run_call *call;

    BUG_IF(key > RUN_CALLS_MAX);
    call = run->calls[key];
    if (!call) {
        call = run->calls[key] = NEW(struct run_call);
        call->run = run;
        call->key = key;
    }
    return call;
}

struct run_call *run_call_after(const struct run *run, uint16_t key)
{
    while (++key <= RUN_CALLS_MAX)
        if (run->calls[key])
            return run->calls[key];
    return NULL;
}

void run_free(struct run *run)
{
    if (!run)
        return;
    loop_timer_stop(run->runner->config.loop, &run->time_limit);
    for (uint16_t key = 0; key <= RUN_CALLS_MAX; key++) {
        if (run->calls[key])
            arena_release(&run->calls[key]->arena);
        free(run->calls[key]);
    }
    run_turn_free(run);
    run_prompt_release(run);
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

int run_engine_new(struct run *run, const struct bp_program *program, struct err *err)
{
    const struct bp_options options = { .selected = run_record_selected,
                                        .ctx = run,
                                        .limits = run->limits.engine };

    if (run_limits(run->row.settings, &run->limits, err) < 0)
        return -1;
    if (program == run->runner->config.program) {
        run->engine = runner_engine_take(run->runner);
        bp_reset(run->engine, &options);
    } else {
        run->engine = bp_new(program, RUN_CALLS_MAX, &options);
    }
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
    if (!run->rests)
        run->resting_since = row->at;
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
    run_call_follow_wait(call, &row->event);
    switch (row->event.type) {
    case RUN_EV_GATE:
        call->inbox_n = row->ref;
        break;
    case RUN_EV_EDIT:
        call->by_person = true;
        call->edit_n = row->ref;
        call->operation_n = 0;
        call->attempted = false;
        break;
    case RUN_EV_ACT:
        call->acting = call->attempted = true;
        call->operation_n = row->ref;
        break;
    case RUN_EV_ASKED:
        call->asked = true;
        call->inbox_n = row->ref;
        break;
    case RUN_EV_ACTED:
        call->acting = call->asked = false;
        call->unknown = row->event.bits & RUN_UNKNOWN;
        if (row->event.bits & RUN_UNKNOWN)
            call->inbox_n = row->ref;
        else if (row->event.bits & RUN_STALE)
            call->by_person = false;
        else
            call->result_n = row->ref;
        break;
    case RUN_EV_TOLD:
        call->unknown = false;
        break;
    case RUN_EV_SETTLED:
        run_call_release(call);
        break;
    default:
        break;
    }
}

struct reading {
    struct run *run;
    struct run_past *past;
    struct err *err;
    bool failed;
    struct arena arena; /* of the row */
};

/* ---- the rules it was recorded under ---- */

/* A start, or a change of rules: an engine of those that hold from here on. */
static int take_rules(struct reading *reading, const struct run_event_row *row)
{
    struct run *run = reading->run;
    const struct bp_program *program;
    struct run_change change;
    struct bp_event next;

    if (run_change_read(row->data, &change, reading->err) < 0 ||
        run_rulebook_get(&run->runner->rules, change.hash, &program, reading->err) < 0)
        return -1;
    if (run->engine && bp_next(run->engine, &next, NULL))
        return err_set(reading->err, ERR_INTEGRITY_FAILED,
                       "row %lld of its log changes the rules in the middle of a step",
                       (long long)run->rows + 1);
    runner_engine_give(run->runner, run->engine);
    run->engine = NULL;
    if (run_engine_new(run, program, reading->err) < 0)
        return -1;
    return row->event.type == RUN_EV_POLICY
               ? run_change_follow(run->engine, reading->past, &change, reading->err)
               : 0;
}

/* The arguments that a call has from now on, and its place among equal intents. */
static int follow_arguments(struct reading *reading, const struct run_event_row *row,
                            const struct run_named *named)
{
    struct run_call *call = run_call_get(reading->run, row->event.key);

    if (row->event.type == RUN_EV_EDIT && named->is_item) {
        call->problem = STR_NONE;
        call->arguments = arena_str(&call->arena, named->item.answer);
        return run_call_count(call, reading->err);
    }
    if (row->event.type != RUN_EV_CALL)
        return 0;
    run_call_release(call);
    call->live = true;
    call->action_n = row->ref;
    if (run_call_read(call, row->ref, reading->err) < 0)
        return -1;
    return run_call_count(call, reading->err);
}

static int check_link(const struct run *run, const struct run_event_row *row,
                      const struct run_named *named, struct err *err)
{
    struct run_link link = { .type = row->event.type,
                             .key = row->event.key,
                             .bits = row->event.bits,
                             .seq = row->seq,
                             .data = row->data,
                             .at = row->at };
    uint8_t chain[RUN_CHAIN_BYTES];

    run_content_digest(&row->event, named->is_message, named->is_item, link.content);
    run_chain_next(run->chain, &link, chain);
    if (memcmp(chain, row->chain, sizeof(chain)) == 0)
        return 0;
    return err_set(err, ERR_INTEGRITY_FAILED,
                   "row %lld of its log, or what it refers to, is not as it was recorded",
                   (long long)run->rows + 1);
}

/* The row against the chain and the program. */
static int check_row(struct reading *reading, const struct run_event_row *row,
                     const struct run_named *named)
{
    struct run *run = reading->run;
    struct bp_refusal refusal;
    AUTO_BUF why = BUF_INIT(512);

    if (row->event.key > RUN_CALLS_MAX)
        return err_set(reading->err, ERR_INTEGRITY_FAILED, "row %lld of its log names no call",
                       (long long)run->rows + 1);
    if (check_link(run, row, named, reading->err) < 0)
        return -1;
    if (!run->engine && row->event.type != RUN_EV_START)
        return err_set(reading->err, ERR_INTEGRITY_FAILED, "its log does not begin with a start");
    if ((!run->engine || row->event.type == RUN_EV_POLICY) && take_rules(reading, row) < 0)
        return -1;
    if (row->event.type == RUN_EV_POLICY || bp_force(run->engine, &row->event, &refusal) == 0)
        return 0;
    bp_refusal_text(bp_program_of(run->engine), &row->event, &refusal, &why);
    return err_set(reading->err, ERR_INTEGRITY_FAILED, "row %lld of its log: %s",
                   (long long)run->rows + 1, buf_text(&why));
}

static bool read_row(void *arg, const struct run_event_row *row)
{
    struct reading *reading = arg;
    struct run *run = reading->run;
    struct run_named named;

    arena_reset(&reading->arena);
    if (run_content_load(run->runner->config.agent_domain, &row->event, row->ref, &reading->arena,
                         &named, reading->err) < 0 ||
        check_row(reading, row, &named) < 0 || follow_arguments(reading, row, &named) < 0) {
        reading->failed = true;
        return false;
    }
    memcpy(run->chain, row->chain, sizeof(run->chain));
    run->rows++;
    run_past_add(reading->past, &row->event);
    follow_run(run, row);
    if (row->event.key)
        follow_call(run_call_get(run, row->event.key), row);
    return true;
}

/* What can still be made of rows that may be of another program, or not as they were. */
static bool read_plain_row(void *arg, const struct run_event_row *row)
{
    struct run *run = arg;
    struct run_call *call;
    struct err err = ERR_INIT;

    memcpy(run->chain, row->chain, sizeof(run->chain));
    run->rows++;
    follow_run(run, row);
    if (!row->event.key || row->event.key > RUN_CALLS_MAX)
        return true;
    call = run_call_get(run, row->event.key);
    if (row->event.type == RUN_EV_CALL) {
        run_call_release(call);
        call->live = true;
        call->action_n = row->ref;
        if (run_call_read(call, row->ref, &err) < 0)
            LOG_WARN("run", "a call can't be read", LOG_STR("run", run->row.run_key),
                     LOG_ERR(&err));
    }
    follow_call(call, row);
    return true;
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
    call->operation_n = message.operation_n;
    call->taint = message.thread_taint.n ? message.thread_taint : call->run->thread.taint_before;
    call->arguments = arena_str(&call->arena, json_str(json_find(content, "arguments")));
    call->problem = arena_str(&call->arena, json_str(json_find(content, "problem")));
    return 0;
}

int run_check_item(const struct run_call *call, const struct inbox_item *item, struct err *err)
{
    if (item->run_n == call->run->row.n && item->call_key == call->key)
        return 0;
    return err_set(err, ERR_INTEGRITY_FAILED,
                   "the item %.*s is not as it was recorded: it names another call than call %d of "
                   "the run %.12s, which waits for it",
                   STR_ARG(item->id), call->key, call->run->row.run_key.p);
}

static int read_item(struct run_call *call, struct err *err)
{
    struct inbox_item item;

    if (inbox_get_n(call->run->runner->config.agent_domain, call->inbox_n, &call->arena, &item,
                    err) < 0 ||
        run_check_item(call, &item, err) < 0)
        return -1;
    if (item.kind == INBOX_QUESTION || item.kind == INBOX_UNKNOWN_EFFECT)
        return 0;
    snprintf(call->inbox_id, sizeof(call->inbox_id), "%.*s", STR_ARG(item.id));
    call->title = item.title;
    call->preview_kind = item.preview_kind;
    call->preview = item.preview;
    call->details = item.details;
    call->shown = item.body;
    snprintf(call->digest, sizeof(call->digest), "%.*s", STR_ARG(item.digest));
    return 0;
}

static int read_call(struct run_call *call, struct err *err)
{
    struct operation operation;

    if ((call->inbox_n && read_item(call, err) < 0) || run_call_judge(call, err) < 0)
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

static void forget_counts(struct run *run)
{
    run->row.input_tokens = run->row.output_tokens = run->row.cached_tokens = 0;
    run->row.iterations = run->row.tool_calls = 0;
    run->row.cost = 0;
}

static int read_log(struct run *run, struct run_past *past, struct err *err)
{
    struct reading reading = { .run = run, .past = past, .err = err, .arena = ARENA_INIT };
    struct run_call *call;
    struct bp_event next;
    int r;

    forget_counts(run);
    r = run_events_of_run(run->runner->config.agent_domain, run->row.n, read_row, &reading, err);
    arena_release(&reading.arena);
    if (r < 0 || reading.failed)
        return -1;
    if (!run->engine)
        return err_set(err, ERR_INTEGRITY_FAILED, "the log of the run is empty");
    /* What one event leads to is stored with it. */
    if (bp_next(run->engine, &next, NULL))
        return err_set(err, ERR_INTEGRITY_FAILED,
                       "the log of the run stops in the middle of a step");
    run_each_call (run, call) {
        if (call->live && read_call(call, err) < 0)
            return -1;
        if (call->live && call->acting && !call->asked)
            run->interrupted |= UINT64_C(1) << call->key;
    }
    return 0;
}

static int read_record(struct run *run, struct str run_key, struct err *err)
{
    struct domain *domain = run->runner->config.agent_domain;

    if (run_record_get(domain, run_key, &run->arena, &run->row, err) < 0)
        return -1;
    if (run->row.ended_at)
        return err_set(err, ERR_CONFLICT, "the run has ended: it is %s",
                       run_status_name(run->row.status));
    if (run->row.active_ms < 0 || run->row.active_ms > ACTIVE_MAX_MS)
        run->row.active_ms = ACTIVE_MAX_MS; /* nobody was at it for so long: it is not what was */
    buf_add_str(&run->hand_state, run->row.hand_state);
    run->cwd = arena_printf(&run->arena, "%.*s", STR_ARG(run->row.cwd));
    run_bounds_reload(run);
    return agent_get_n(domain, run->row.agent_n, &run->arena, &run->agent, err) < 0 ||
                   thread_get_n(domain, run->row.thread_n, &run->arena, &run->thread, err) < 0
               ? -1
               : 0;
}

int run_read_plain(struct run *run, struct str run_key, struct err *err)
{
    if (read_record(run, run_key, err) < 0)
        return -1;
    forget_counts(run);
    return run_events_of_run(run->runner->config.agent_domain, run->row.n, read_plain_row, run,
                             err);
}

bool run_is_final(enum err_code code)
{
    return code == ERR_RESUME_CONFLICT || code == ERR_INTEGRITY_FAILED ||
           code == ERR_SCHEMA_VIOLATION || code == ERR_AGENT_DESTROYED;
}

/* Nothing is done any more for an agent that was destroyed while nobody was at the run. */
static int check_life(const struct run *run, struct err *err)
{
    if (run->agent.lifecycle != AGENT_DESTROYED)
        return 0;
    return err_set(err, ERR_AGENT_DESTROYED, "the agent %s no longer exists", run->agent.id);
}

/* One that waits can be gone on with by whoever hears the answer. */
static int check_host(const struct run *run, struct err *err)
{
    int64_t host = runner_host(run->runner);

    if (!host || run->row.host_n == host || run->row.status == RUN_WAITING)
        return 0;
    return err_set(err, ERR_CONFLICT,
                   "the run is under way on another host that shares the database");
}

/* Whoever comes first after a start, a person or the start itself. */
static void go_on(struct run *run, const struct run_past *past)
{
    bool waits = run->row.status == RUN_WAITING;
    struct err err = ERR_INIT;

    if (bp_program_of(run->engine) != run->runner->config.program &&
        run_adopt(run, past, &err) < 0) {
        LOG_WARN("run", "a run could not take the new policy", LOG_STR("run", run->row.run_key),
                 LOG_ERR(&err));
        run_give_back(run);
    } else if (!waits) {
        run_continue(run);
        run_hear_decided(run);
    }
}

static int load(struct runner *runner, struct str run_key, struct run **ret_run, struct err *err)
{
    struct run *run = run_new(runner);
    struct run_past past = { 0 };

    if (read_record(run, run_key, err) < 0 || check_host(run, err) < 0 ||
        check_life(run, err) < 0 || read_log(run, &past, err) < 0) {
        run_past_release(&past);
        run_free(run);
        if (run_is_final(err->code))
            run_end_with(runner, run_key, err);
        return -1;
    }
    map_put(&runner->runs, run->row.run_key, run);
    run_watch_time(run);
    run_hold(run);
    go_on(run, &past);
    run_past_release(&past);
    *ret_run = run;
    return 0;
}

int run_peek(struct runner *runner, struct str run_key, struct run **ret_run, struct err *err)
{
    struct domain *domain = runner->config.agent_domain;
    struct run *run = run_new(runner);
    struct run_past past = { 0 };
    struct run_owner owner;
    int r = -1;

    if (run_record_get(domain, run_key, &run->arena, &run->row, err) == 0 &&
        run_lock(domain, run->row.n, &owner, err) >= 0 && read_record(run, run_key, err) == 0 &&
        check_life(run, err) == 0)
        r = run->row.status == RUN_WAITING
                ? err_set(err, ERR_LEASE_LOST, "the run has begun to wait in this moment")
                : read_log(run, &past, err);
    run_past_release(&past);
    if (r < 0)
        run_free(run);
    else
        *ret_run = run;
    return r;
}

int run_open(struct runner *runner, struct str run_key, struct run **ret_run, struct err *err)
{
    struct run *run = map_find(&runner->runs, run_key);

    if (run)
        run_hold(run);
    else if (load(runner, run_key, &run, err) < 0)
        return -1;
    *ret_run = run;
    if (!run->broken && !run->ended)
        return 0;
    if (run->broken)
        err_set(err, ERR_STORAGE_FAILED, "the run is being loaded again, try once more");
    else
        err_set(err, ERR_CONFLICT, "the run has ended");
    run_unhold(run);
    return -1;
}
