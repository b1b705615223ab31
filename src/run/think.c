/* Thinking: a request to the model, its deltas to clients, its answer into the log.
 *
 * An answer with calls that a person will be asked about is held until their previews are there,
 * so that what goes into the inbox is complete when it appears.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/json.h"
#include "base/json_put.h"
#include "base/log.h"
#include "base/timefmt.h"
#include "change/taint.h"
#include "run/run_int.h"

#define REST_MIN_MS 5000
#define REST_MAX_MS (15 * 60 * 1000)
#define RESTS_MAX   12               /* in a row */
#define RESTS_MS    (60 * 60 * 1000) /* all of them together */
#define SOME_DAY_MS (INT64_C(366) * 24 * 60 * 60 * 1000)
/* Of what it says, and of the arguments of a call: six times this still fits into a message. */
#define ANSWER_BYTES (2 * MIB)

void run_turn_free(struct run *run)
{
    if (!run->turn)
        return;
    arena_release(&run->turn->arena);
    free(run->turn);
    run->turn = NULL;
}

/* ---- the answer ---- */

static struct run_call *keep_call(struct run *run, uint16_t key, const struct model_call *from)
{
    struct run_call *call = run_call_get(run, key);
    const struct tool_contract *contract;

    run_call_release(call);
    *call = (struct run_call){ .run = run, .key = key, .arena = ARENA_INIT };
    call->call_id = arena_str(&call->arena, from->id);
    contract = tool_bed_find(run->runner->config.tools, from->name);
    call->name = contract ? str_from(contract->name) : arena_str(&call->arena, from->name);
    call->problem = arena_str(&call->arena, from->problem);
    call->taint = taint_join(run->thread.taint, run->system_taint, &call->arena);
    if (from->arguments.n <= ANSWER_BYTES) {
        call->arguments = arena_str(&call->arena, from->arguments);
    } else {
        call->arguments = STR("{}");
        call->problem =
            str_from(arena_printf(&call->arena, "The arguments have %zu bytes; at most %u are kept",
                                  from->arguments.n, ANSWER_BYTES));
    }
    return call;
}

static void previewed(struct run_call *call)
{
    struct run *run = call->run;

    if (run->turn && --run->turn->previews == 0)
        run_thought_ready(run);
    run_unhold(run);
}

/* A call that can't be judged has no verdict that could be followed: nothing of the answer is. */
static int keep_calls(struct run *run, const struct model_reply *reply, struct err *err)
{
    struct run_turn *turn = run->turn;
    size_t kept = reply->call_count < RUN_CALLS_MAX ? reply->call_count : RUN_CALLS_MAX;

    turn->dropped_calls = (unsigned)(reply->call_count - kept);
    for (size_t i = 0; i < kept; i++) {
        struct run_call *call = keep_call(run, (uint16_t)(i + 1), &reply->calls[i]);

        turn->calls[turn->call_count++] = call;
        if (run_call_count(call, err) < 0)
            return -1;
    }
    return 0;
}

void run_take_reply(struct run *run, const struct model_reply *reply)
{
    struct run_turn *turn;
    struct err err = ERR_INIT;

    if (reply->text.n + reply->thinking.n + reply->opaque.n > ANSWER_BYTES) {
        err_set(&err, ERR_TOO_LARGE, "the model's answer has %zu bytes; at most %u are kept",
                reply->text.n + reply->thinking.n + reply->opaque.n, ANSWER_BYTES);
        run_take_failure(run, &err, -1);
        return;
    }
    run_turn_free(run);
    turn = NEW(struct run_turn);
    *turn = (struct run_turn){ .arena = ARENA_INIT, .usage = reply->usage, .stop = reply->stop };
    run->turn = turn;
    turn->text = arena_str(&turn->arena, reply->text);
    turn->thinking = arena_str(&turn->arena, reply->thinking);
    turn->opaque = arena_str(&turn->arena, reply->opaque);
    if (reply->stop != MODEL_STOP_FILTER && keep_calls(run, reply, &err) < 0) {
        LOG_WARN("run", "a call could not be judged", LOG_STR("run", run->row.run_key),
                 LOG_ERR(&err));
        run_turn_free(run);
        run_give_back(run);
        return;
    }
    turn->previews = 1; /* this function's own */
    for (unsigned i = 0; i < turn->call_count; i++) {
        if (run_call_needs_preview(turn->calls[i])) {
            turn->previews++;
            turn->shown = true;
            run_hold(run);
            run_call_preview(turn->calls[i], previewed);
        }
    }
    if (--turn->previews == 0)
        run_thought_ready(run);
}

/* ---- into the log ---- */

static int say(struct run *run, struct run_turn *turn, struct message *message, struct err *err)
{
    AUTO_BUF content = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&content);

    run_message_init(run, message, MESSAGE_THOUGHT);
    message->taint = run->system_taint;
    json_write_object_begin(&w);
    json_put_str(&w, "text", turn->text);
    if (turn->thinking.n) {
        json_put_str(&w, "thinking", turn->thinking);
    }
    if (turn->opaque.n) {
        json_put_str(&w, "opaque", turn->opaque);
    }
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "the model's answer is too long to keep");
    message->content = arena_str(&run->scratch, buf_str(&content));
    message->model_id = run->row.model_id;
    message->prompt_id = STR(RUN_PROMPT_ID);
    message->prompt_version = STR(RUN_PROMPT_VERSION);
    return run_message_append(run, message, err);
}

/* In the order in which they began to come: their partial events have told that order. */
static int offer_said(struct run *run, struct run_turn *turn, struct message *message,
                      struct err *err)
{
    struct run_said said = { 0 };

    message->n = 0;
    if (!turn->text.n && !turn->thinking.n && !turn->opaque.n)
        return 0;
    if (say(run, turn, message, err) < 0)
        return -1;
    said.ref = message->n;
    said.message = message;
    if (turn->text.n)
        run->last_said_n = message->n;
    for (int i = 0; i < 2; i++) {
        bool musing = (i == 0) != run->spoke_first;

        if ((musing ? turn->thinking.n : turn->text.n) &&
            run_offer(run, musing ? RUN_EV_MUSING : RUN_EV_SAID, 0, 0, &said, err) < 0)
            return -1;
    }
    return 0;
}

static int append_action(struct run *run, struct run_call *call, struct message *message,
                         struct err *err)
{
    AUTO_BUF content = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&content);

    run_message_init(run, message, MESSAGE_ACTION);
    message->taint = run->system_taint;
    json_write_object_begin(&w);
    json_put_str(&w, "arguments", call->arguments);
    if (call->problem.n) {
        json_put_str(&w, "problem", call->problem);
    }
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "the call is too long to keep");
    message->content = arena_str(&run->scratch, buf_str(&content));
    message->action_type = str_is(call->name, "ask_user") ? STR("ask_user") : STR("tool_call");
    message->tool_name = call->name;
    message->call_id = call->call_id;
    message->arguments_hash = str_from(call->verdict.arguments_hash);
    message->scope_snapshot = call->verdict.scope_snapshot;
    message->operation_n = call->operation_n;
    message->model_id = run->row.model_id;
    message->prompt_id = STR(RUN_PROMPT_ID);
    message->prompt_version = STR(RUN_PROMPT_VERSION);
    return run_message_append(run, message, err);
}

#define NEVER_ACTS (RUN_DANGEROUS | RUN_REFUSED | RUN_CLASS_KILLED)

static int offer_call(struct run *run, struct run_call *call, struct err *err)
{
    uint32_t bits = run_call_bits(&call->verdict);
    AUTO_BUF data = BUF_INIT(256);
    struct json_writer w = JSON_WRITER(&data);
    struct message message;
    struct run_said said = { 0 };

    if (!(bits & NEVER_ACTS) && run_call_prepare(call, err) < 0)
        return -1;
    if (append_action(run, call, &message, err) < 0)
        return -1;
    call->live = true;
    call->action_n = message.n;
    said.ref = message.n;
    said.message = &message;
    if (call->granted_by.n) {
        json_write_object_begin(&w);
        json_put_str(&w, "grantedBy", call->granted_by);
        json_write_object_end(&w);
        said.data = buf_str(&data);
        if (grant_used(run->runner->config.agent_domain, call->grant_id, run->unit.now, err) < 0)
            return -1;
    }
    return run_offer(run, RUN_EV_CALL, call->key, bits, &said, err);
}

static void write_usage(struct json_writer *w, const struct run_turn *turn)
{
    json_put_i64(w, "in", turn->usage.input_tokens);
    json_put_i64(w, "out", turn->usage.output_tokens);
    if (turn->usage.cached_tokens) {
        json_put_i64(w, "cached", turn->usage.cached_tokens);
    }
    if (turn->usage.cost > 0) {
        json_put_double(w, "cost", turn->usage.cost);
    }
    if (turn->usage.estimated) {
        json_put_bool(w, "estimated", true);
    }
}

static void count_usage(struct run *run, const struct run_turn *turn)
{
    run->row.input_tokens += turn->usage.input_tokens;
    run->row.output_tokens += turn->usage.output_tokens;
    run->row.cached_tokens += turn->usage.cached_tokens;
    run->row.cost += turn->usage.cost;
}

/* The model, the trace and whoever follows the run hear of the same. */
static int tell_dropped(struct run *run, unsigned dropped, struct err *err)
{
    struct run_said said = { 0 };
    struct message message;

    if (!dropped)
        return 0;
    run_message_init(run, &message, MESSAGE_SYSTEM);
    message.content = str_from(
        arena_printf(&run->scratch, "{\"text\":\"%u more %s not made: at most %d in one answer.\"}",
                     dropped, dropped == 1 ? "call was" : "calls were", RUN_CALLS_MAX));
    if (run_message_append(run, &message, err) < 0)
        return -1;
    said.data = message.content;
    return run_offer(run, RUN_EV_NOTE, 0, RUN_MORE, &said, err);
}

static int offer_thought(struct run *run, struct run_turn *turn, const struct message *spoken,
                         struct err *err)
{
    bool filtered = turn->stop == MODEL_STOP_FILTER;
    AUTO_BUF data = BUF_INIT(4096);
    struct json_writer w = JSON_WRITER(&data);
    struct run_said said = { 0 };

    /* What no other event refers to: the provider's own form of an answer without text. */
    if (spoken->n && !turn->text.n && !turn->thinking.n) {
        said.ref = spoken->n;
        said.message = spoken;
    }
    json_write_object_begin(&w);
    write_usage(&w, turn);
    if (turn->stop == MODEL_STOP_LENGTH) {
        json_put_text(&w, "stop", "length");
    }
    if (filtered) {
        run->row.error_code = STR("provider_failed");
        run->row.error_message = STR("the provider's content filter stopped the answer");
        json_put_str(&w, "code", run->row.error_code);
        json_put_str(&w, "message", run->row.error_message);
    }
    json_write_object_end(&w);
    said.data = buf_str(&data);
    return run_offer(run, RUN_EV_THOUGHT, 0,
                     filtered           ? RUN_FAILED
                     : turn->call_count ? RUN_MORE
                                        : 0,
                     &said, err);
}

/* What was judged before the previews came may be judged otherwise now: kill switches, grants. */
static int judge_again(struct run_turn *turn, struct err *err)
{
    for (unsigned i = 0; turn->shown && i < turn->call_count; i++) {
        if (run_call_judge(turn->calls[i], err) < 0)
            return -1;
    }
    return 0;
}

/* Calls that the day's budget has no room for do not act. */
static int count_calls(struct run *run, const struct run_turn *turn, struct err *err)
{
    int r = run->spent ? 1 : run_budget_calls(run, turn->call_count, err);

    return r == 0 ? run_spend(run, "toolCallsPerDay", err) : r < 0 ? -1 : 0;
}

static int record_turn(struct run *run, struct err *err)
{
    struct run_turn *turn = run->turn;
    struct message spoken;

    if (judge_again(turn, err) < 0 || offer_said(run, turn, &spoken, err) < 0)
        return -1;
    for (unsigned i = 0; i < turn->call_count; i++) {
        if (offer_call(run, turn->calls[i], err) < 0)
            return -1;
    }
    count_usage(run, turn);
    run->rests = 0;
    if (run_budget_settle(run, &turn->usage, err) < 0 || count_calls(run, turn, err) < 0)
        return -1;
    if (tell_dropped(run, turn->dropped_calls, err) < 0)
        return -1;
    /* Calls of an answer that used up the tokens do not act; an answer without calls still counts.
     */
    if (turn->call_count && run_spend_check(run, err) < 0)
        return -1;
    if (offer_thought(run, turn, &spoken, err) < 0)
        return -1;
    return run_spend_check(run, err);
}

static void record_answer(struct run *run)
{
    struct err err = ERR_INIT;
    bool kept;

    if (run_unit_begin(run, &err) < 0) {
        run_give_back(run);
        return;
    }
    run->thinking = false;
    kept = record_turn(run, &err) == 0;
    run_unit_settle(run, kept, "an answer was not taken", &err);
}

void run_thought_ready(struct run *run)
{
    struct err err = ERR_INIT;

    if (run_stop_code(run)) {
        err_set(&err, ERR_CANCELLED, "stopped before it was taken");
        run_take_failure(run, &err, -1);
    } else {
        record_answer(run);
    }
    run_turn_free(run);
}

/* ---- when it fails ---- */

static int64_t rest_ms(const struct run *run, int64_t retry_after_ms)
{
    int64_t ms = REST_MIN_MS;

    for (unsigned i = 0; i < run->rests && ms < REST_MAX_MS; i++)
        ms *= 2;
    if (ms > REST_MAX_MS)
        ms = REST_MAX_MS;
    return retry_after_ms > ms ? retry_after_ms : ms;
}

/* Until when the run rests; 0: it ends instead. A provider that asks for more time than is left is
 * not asked again: the person hears of it now, not tomorrow. */
static int64_t rest_until(struct run *run, const struct err *why, int64_t retry_after_ms)
{
    int64_t since = run->rests ? run->resting_since : run->unit.now;
    int64_t ms = rest_ms(run, retry_after_ms);

    if (why->code != ERR_RATE_LIMITED || run->rests >= RESTS_MAX || run_stop_code(run) ||
        ms > since + RESTS_MS - run->unit.now)
        return 0;
    run->resting_since = since;
    return run->unit.now + ms;
}

/* What a run that was rate limited for the last time says. */
static void end_rests(const struct run *run, int64_t retry_after_ms, struct err *why)
{
    char until[TIMEFMT_SIZE];

    if (retry_after_ms > RESTS_MS && retry_after_ms < SOME_DAY_MS) {
        timefmt_rfc3339(run->unit.now + retry_after_ms, until);
        err_wrap(why, "the provider asks to wait until %s; a run rests for %d minutes at most",
                 until, RESTS_MS / 60000);
    } else {
        err_wrap(why, "still rate limited after %u rests of at most %d minutes together",
                 run->rests, RESTS_MS / 60000);
    }
}

/* turn: an answer that came and is not taken; its tokens are paid for. May be NULL. */
static void write_failure(struct buf *out, const struct err *why, int64_t until,
                          const struct run_turn *turn)
{
    struct json_writer w = JSON_WRITER(out);
    char text[ERR_TEXT_MAX];

    json_write_object_begin(&w);
    json_put_text(&w, "code", err_name(why->code));
    json_put_text(&w, "message", err_format(why, text, sizeof(text)));
    if (until) {
        json_put_i64(&w, "until", until);
    }
    if (turn)
        write_usage(&w, turn);
    json_write_object_end(&w);
}

static int record_failure(struct run *run, struct err *why, int64_t retry_after_ms, struct err *err)
{
    int64_t until = rest_until(run, why, retry_after_ms);
    bool later = until > 0;
    AUTO_BUF data = BUF_INIT(8192);
    struct run_said said = { 0 };
    char text[ERR_TEXT_MAX];

    if (why->code == ERR_RATE_LIMITED && !later && !run_stop_code(run))
        end_rests(run, retry_after_ms, why);
    write_failure(&data, why, until, run->turn);
    if (run->turn)
        count_usage(run, run->turn);
    if ((run->turn ? run_budget_settle(run, &run->turn->usage, err)
                   : run_budget_failed(run, why->code, err)) < 0)
        return -1;
    said.data = buf_str(&data);
    if (later) {
        run->rests++;
        run->row.wait_until = until;
        run->dirty = true;
        runner_wait_until(run->runner, until);
    } else if (!run->row.error_code.n) {
        run->row.error_code = str_from(err_name(why->code));
        run->row.error_message =
            str_from(arena_text(&run->arena, err_format(why, text, sizeof(text))));
    }
    return run_offer(run, run->checking ? RUN_EV_CHECKED : RUN_EV_THOUGHT, 0,
                     RUN_FAILED | (later ? RUN_LATER : 0), &said, err);
}

void run_take_failure(struct run *run, const struct err *failure, int64_t retry_after_ms)
{
    struct err err = ERR_INIT, why = *failure;
    enum err_code stop = run_stop_code(run);
    bool kept;

    if (why.code == ERR_CANCELLED && stop) {
        err_reset(&why);
        err_set(&why, stop, "%s", err_sentence(stop));
    }
    if (run_unit_begin(run, &err) < 0) {
        run_give_back(run);
        return;
    }
    kept = record_failure(run, &why, retry_after_ms, &err) == 0;
    run->thinking = run->checking = false;
    run_unit_settle(run, kept, "a failed request was not taken", &err);
}

/* ---- the check of wiggum mode ---- */

/* {"done": true} anywhere in the answer; what is not understood counts as no. */
static bool says_done(struct str text)
{
    ptrdiff_t at;

    for (struct str rest = text; (at = str_find_char(rest, '{')) >= 0;
         rest = str_skip(rest, (size_t)at + 1)) {
        struct str from = str_skip(rest, (size_t)at);
        ptrdiff_t end = str_find_char(from, '}');
        AUTO_JSON value = NULL;
        bool done = false;

        if (end < 0)
            break;
        if (json_parse(str_take(from, (size_t)end + 1), &value, NULL) == 0 &&
            json_get_bool(value, "done", &done, NULL) == 1)
            return done;
    }
    return false;
}

static int record_checked(struct run *run, const struct model_reply *reply, struct err *err)
{
    const struct run_turn counted = { .usage = reply->usage };
    AUTO_BUF data = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&data);
    struct run_said said = { 0 };
    bool done = says_done(reply->text);

    json_write_object_begin(&w);
    json_put_bool(&w, "done", done);
    if (done && str_find(reply->text, STR("\"gave_up\"")) >= 0)
        json_put_bool(&w, "gaveUp", true); /* for who learns from it: the run ends all the same */
    json_put_str(&w, "text", str_take(reply->text, 2048));
    write_usage(&w, &counted);
    json_write_object_end(&w);
    said.data = buf_str(&data);
    count_usage(run, &counted);
    run->rests = 0;
    if (run_budget_settle(run, &counted.usage, err) < 0)
        return -1;
    if (run_offer(run, RUN_EV_CHECKED, 0, done ? RUN_FINISHED : 0, &said, err) < 0)
        return -1;
    return run_spend_check(run, err);
}

void run_take_check(struct run *run, const struct model_reply *reply)
{
    struct err err = ERR_INIT;
    bool kept;

    if (run_unit_begin(run, &err) < 0) {
        run_give_back(run);
        return;
    }
    kept = record_checked(run, reply, &err) == 0;
    run->checking = false;
    run_unit_settle(run, kept, "a check was not taken", &err);
}
