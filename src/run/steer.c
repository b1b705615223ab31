/* Steering from outside: cancel, mode, kill switches, limits.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/json_put.h"
#include "base/log.h"
#include "run/run_int.h"

enum err_code run_stop_code(const struct run *run)
{
    if (run->engine && bp_record(run->engine, 0) & RUN_KILLED)
        return ERR_KILL_SWITCH_ACTIVE;
    if (run->cancelled)
        return ERR_CANCELLED;
    return run->spent ? ERR_BUDGET_EXCEEDED : ERR_NONE;
}

void run_stop_effects(struct run *run)
{
    struct run_call *call;

    if (run->exchange)
        model_cancel(run->exchange);
    run_think_drop(run);
    run_each_call (run, call)
        if (call->job)
            tool_cancel(call->job);
}

/* A question that the tool itself asks has no job any more: it ends here. */
static int end_questions(struct run *run, struct err *err)
{
    struct run_call *call;

    run_each_call (run, call) {
        struct tool_result result = { .err = ERR_INIT };

        if (!call->asked)
            continue;
        call->asked = false;
        err_set(&result.err, ERR_CANCELLED, "%s", err_sentence(ERR_CANCELLED));
        if (run_call_result(call, &result, err) < 0)
            return -1;
    }
    return 0;
}

int run_withdraw(struct run_call *call, enum inbox_kind *ret_kind, struct err *err)
{
    const struct inbox_decision decision = { .state = INBOX_WITHDRAWN, .by = STR("system") };
    struct run *run = call->run;
    struct inbox_item item;

    if (!call->inbox_n)
        return 0;
    if (inbox_get_n(run->runner->config.agent_domain, call->inbox_n, &run->scratch, &item, err) < 0)
        return -1;
    if (item.state != INBOX_PENDING)
        return 0;
    if (ret_kind)
        *ret_kind = item.kind;
    return inbox_decide(run->runner->config.agent_domain, run->runner->config.change, item.id,
                        &decision, run->unit.now, &item, &run->scratch, err) < 0
               ? -1
               : 1;
}

/* ---- cancel ---- */

static int cancel(struct run *run, struct err *err)
{
    run->cancelled = true;
    if (run_offer(run, RUN_EV_CANCEL, 0, 0, NULL, err) == 0)
        return end_questions(run, err);
    run->cancelled = run->unit.rows > 0; /* refused: nothing has changed */
    return -1;
}

int run_stop(struct run *run, struct err *err)
{
    bool kept;

    if (run->cancelled)
        return 0;
    if (run_unit_begin(run, err) < 0)
        return -1;
    kept = cancel(run, err) == 0;
    if (run_unit_end(run, kept, err) < 0 || !kept)
        return -1;
    run_stop_effects(run);
    return 0;
}

/* Not: it is under way on another host. */
static bool has_ended(struct runner *runner, struct str run_id)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct run_record row;

    return run_record_get(runner->config.agent_domain, run_id, &arena, &row, NULL) == 0 &&
           row.ended_at;
}

int run_cancel(struct runner *runner, struct str run_id, struct err *err)
{
    struct run *run;
    int r = run_open(runner, run_id, &run, err);

    /* It had ended, or has ended just now because it could not go on. */
    if (r < 0 && ((err->code == ERR_CONFLICT && has_ended(runner, run_id)) ||
                  err->code == ERR_RESUME_CONFLICT || err->code == ERR_INTEGRITY_FAILED ||
                  err->code == ERR_AGENT_DESTROYED)) {
        err_reset(err);
        return 0;
    }
    if (r < 0)
        return -1;
    r = run_stop(run, err);
    run_unhold(run);
    return r;
}

/* ---- mode ---- */

int run_set_mode(struct runner *runner, struct str run_id, enum run_mode mode, struct err *err)
{
    struct run *run;
    bool kept;
    int r;

    if (run_open(runner, run_id, &run, err) < 0)
        return -1;
    r = run_unit_begin(run, err);
    if (r == 0) {
        kept =
            run_offer(run, RUN_EV_SET_MODE, 0, mode == RUN_COOK ? RUN_WIGGUM : 0, NULL, err) == 0 &&
            run_withdraw_acting(run, err) == 0;
        if (kept) {
            run->row.mode = mode == RUN_COOK ? STR("wiggum") : STR("structured");
            run->dirty = true;
        }
        r = run_unit_end(run, kept, err) < 0 || !kept ? -1 : 0;
    }
    run_unhold(run);
    return r;
}

/* Calls that act now although they were asked about: nobody needs to answer any more. */
int run_withdraw_acting(struct run *run, struct err *err)
{
    struct run_call *call;

    run_each_call (run, call)
        if (call->acting && !call->asked && run_withdraw(call, NULL, err) < 0)
            return -1;
    return 0;
}

/* ---- kill switches ---- */

static int follow_class(struct run *run, struct run_call *call, struct err *err)
{
    uint32_t before = bp_record(run->engine, call->key);
    struct run_said said = { 0 };
    uint32_t bits;

    if (!call->live)
        return 0;
    if (call->acting) {
        if (call->job &&
            kill_is_on(run->runner->config.kill, run->agent.id,
                       call->verdict.contract ? call->verdict.contract->tool_class : NULL)) {
            call->stop_code = ERR_KILL_SWITCH_ACTIVE;
            tool_cancel(call->job);
        }
        return 0;
    }
    if (call->inbox_n)
        return 0; /* waits for a person, who hears of the kill switch when saying yes */
    if (run_call_judge(call, err) < 0)
        return -1;
    bits = run_call_bits(&call->verdict);
    if ((bits & RUN_CLASS_KILLED) == (before & RUN_CLASS_KILLED))
        return 0;
    return run_offer(run, RUN_EV_JUDGED, call->key, bits, &said, err);
}

static int follow(struct run *run, struct err *err)
{
    const struct kill_switch *on = kill_is_on(run->runner->config.kill, run->agent.id, NULL);
    bool known = bp_record(run->engine, 0) & RUN_KILLED;
    struct run_call *call;

    if (on && !known)
        return run_offer(run, RUN_EV_KILL, 0, RUN_KILLED, NULL, err);
    if (!on && known && run_offer(run, RUN_EV_UNKILL, 0, 0, NULL, err) < 0)
        return -1;
    if (on)
        return 0;
    run_each_call (run, call)
        if (follow_class(run, call, err) < 0)
            return -1;
    return 0;
}

int run_follow_kill(struct run *run, struct err *err)
{
    bool kept;

    if (run->ended || run->cancelled)
        return 0;
    if (run_unit_begin(run, err) < 0)
        return -1;
    kept = follow(run, err) == 0;
    if (run_unit_end(run, kept, err) < 0 || !kept)
        return -1;
    if (run_stop_code(run))
        run_stop_effects(run);
    return 0;
}

/* What is known of the switches follows what is stored, also when the tick's commit fails later. */
struct kill_change {
    struct loop_effect effect;
    struct runner *runner;
};

static void kill_kept(struct loop_effect *effect)
{
    free(CONTAINER_OF(effect, struct kill_change, effect));
}

static void kill_dropped(struct loop_effect *effect, const struct err *why)
{
    struct kill_change *change = CONTAINER_OF(effect, struct kill_change, effect);
    struct err err = ERR_INIT;

    (void)why;
    if (!change->runner->stopping && kill_reload(change->runner->config.kill, &err) < 0)
        LOG_ERROR("run", "the kill switches could not be read again", LOG_ERR(&err));
    free(change);
}

static void watch_kill(struct runner *runner)
{
    struct kill_change *change = NEW(struct kill_change);

    *change = (struct kill_change){ .effect = { .run = kill_kept, .drop = kill_dropped },
                                    .runner = runner };
    loop_after_commit(runner->config.loop, &change->effect);
}

static int store_kill(struct runner *runner, enum kill_scope scope, const char *value,
                      const char *reason, bool on, struct err *err)
{
    int64_t now = clock_wall_ms(loop_clock(runner->config.loop));
    int r;

    if (loop_unit_begin(runner->config.loop, runner->config.agent_domain, err) < 0)
        return -1;
    r = on ? kill_set(runner->config.kill, scope, value, reason, now, err)
           : kill_clear(runner->config.kill, scope, value, err);
    watch_kill(runner);
    if (loop_unit_end(runner->config.loop, r >= 0, r >= 0 ? err : NULL) < 0)
        return -1;
    return r;
}

static void tell_runs(struct runner *runner)
{
    map_each (&runner->runs, entry) {
        struct run *run = entry->value;
        struct err ignored = ERR_INIT;

        run_hold(run);
        if (run_follow_kill(run, &ignored) < 0)
            LOG_WARN("run", "a run did not hear of the kill switch",
                     LOG_STR("run", run->row.run_key), LOG_ERR(&ignored));
        run_unhold(run);
    }
}

int run_kill(struct runner *runner, enum kill_scope scope, const char *value, const char *reason,
             bool on, struct err *err)
{
    int r = store_kill(runner, scope, value, reason, on, err);

    if (r > 0)
        tell_runs(runner);
    return r;
}

void run_kill_elsewhere(struct runner *runner)
{
    struct err err = ERR_INIT;
    int r = kill_reload(runner->config.kill, &err);

    if (r < 0)
        LOG_ERROR("run", "the kill switches could not be read again", LOG_ERR(&err));
    if (r > 0)
        tell_runs(runner);
}

/* ---- limits ---- */

int run_spend(struct run *run, const char *what, struct err *err)
{
    AUTO_BUF data = BUF_INIT(256);
    struct json_writer w = JSON_WRITER(&data);
    struct run_said said = { 0 };

    json_write_object_begin(&w);
    json_put_text(&w, "what", what);
    json_write_object_end(&w);
    said.data = buf_str(&data);
    run->spent = true;
    return run_offer(run, RUN_EV_SPENT, 0, 0, &said, err);
}

int run_spend_check(struct run *run, struct err *err)
{
    if (run->spent || run->ended || !run->limits.tokens ||
        run->row.input_tokens + run->row.output_tokens < run->limits.tokens)
        return 0;
    return run_spend(run, "tokens", err);
}

static void time_is_up(struct loop_timer *timer)
{
    struct run *run = CONTAINER_OF(timer, struct run, time_limit);
    struct err err = ERR_INIT;
    bool kept;

    if (run->spent || run->ended || run->cancelled)
        return;
    run_hold(run);
    if (run_unit_begin(run, &err) == 0) {
        kept = run_spend(run, "time", &err) == 0;
        run_unit_end(run, kept, &err);
        run_stop_effects(run);
    }
    run_unhold(run);
}

void run_watch_time(struct run *run)
{
    if (!run->limits.ms)
        return;
    run->time_limit.fire = time_is_up;
    loop_timer_start(run->runner->config.loop, &run->time_limit,
                     run->limits.ms > run->row.active_ms ? run->limits.ms - run->row.active_ms : 0);
}
