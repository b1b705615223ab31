/* After a start: every run that was under way goes on, or ends with a stated reason. And what waits
 * for a time: rests that are over, questions that expire.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/json_put.h"
#include "base/log.h"
#include "base/utf8.h"
#include "loop/child.h"
#include "run/run_int.h"

#define PAGE         32
#define FAILURES_MAX 3
#define AGAIN_MS     1000
#define AGAIN_MAX_MS (10 * 60 * 1000)
#define NOTE_BYTES   HAND_DETAIL_MAX

/* ---- going on ---- */

int run_call_ask_unknown(struct run_call *call, struct err *err)
{
    struct run *run = call->run;
    AUTO_BUF body = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&body);
    struct inbox_item item = { .title = STR("It is not known whether this was done") };
    struct run_said said = { 0 };

    json_write_object_begin(&w);
    json_put_str(&w, "tool", call->name);
    json_put_str(&w, "arguments", call->arguments);
    json_put_text(&w, "operationId", call->operation_id);
    json_write_object_end(&w);
    item.body = buf_str(&body);
    item.preview_kind = STR("text");
    item.preview = call->arguments;
    if (operation_mark_unknown(run->runner->config.agent_domain, call->operation_n, run->unit.now,
                               err) < 0 ||
        run_item_add(run, call, INBOX_UNKNOWN_EFFECT, &item, err) < 0)
        return -1;
    said.ref = item.n;
    said.item = &item;
    call->acting = false;
    call->unknown = true;
    return run_offer(run, RUN_EV_ACTED, call->key, RUN_UNKNOWN, &said, err);
}

static bool is_repeatable(const struct run_call *call)
{
    return call->verdict.contract && call->verdict.contract->keyed != TOOL_UNKEYED;
}

static int ask_about_all(struct run *run, struct err *err)
{
    struct run_call *call;

    run_each_call (run, call)
        if (run->interrupted >> call->key & 1 && call->live && !is_repeatable(call) &&
            run_call_ask_unknown(call, err) < 0)
            return -1;
    return 0;
}

int run_offer_note(struct run *run, const char *what, struct str detail, struct err *err)
{
    AUTO_BUF data = BUF_INIT(8 * NOTE_BYTES);
    struct json_writer w = JSON_WRITER(&data);
    struct run_said said = { 0 };

    json_write_object_begin(&w);
    json_put_text(&w, "note", what);
    if (detail.n) {
        json_put_str(&w, "detail", utf8_truncate(detail, NOTE_BYTES));
    }
    json_write_object_end(&w);
    said.data = buf_str(&data);
    return run_offer(run, RUN_EV_NOTE, 0, 0, &said, err);
}

void run_note(struct run *run, const char *what, struct str detail)
{
    struct err err = ERR_INIT;

    if (run->ended || run->unit.open || run_unit_begin(run, &err) < 0)
        return;
    run_unit_end(run, run_offer_note(run, what, detail, &err) == 0, &err);
}

static int go_on(struct run *run, struct err *err)
{
    struct run_outbox *out = run->unit.out;
    const struct run_call *call;

    if (run_offer_note(run, "recovered", STR_NONE, err) < 0 || ask_about_all(run, err) < 0)
        return -1;
    out->think |= run->thinking;
    out->check |= run->checking;
    run_each_call (run, call)
        if (run->interrupted >> call->key & 1 && call->live && call->acting)
            out->acts |= UINT64_C(1) << call->key;
    return 0;
}

void run_continue(struct run *run)
{
    struct err err = ERR_INIT;
    bool kept;

    if (run->row.hand_pid)
        child_reap((pid_t)run->row.hand_pid, (uint64_t)run->row.hand_stamp);
    if (run_follow_kill(run, &err) < 0 || (!run->ended && run_unit_begin(run, &err) < 0)) {
        run_give_back(run);
        return;
    }
    if (run->ended)
        return;
    run->unit.recovers = true;
    kept = go_on(run, &err) == 0;
    run_unit_settle(run, kept, "a run could not go on", &err);
}

/* ---- one of them ---- */

static void recover_one(struct runner *runner, struct str run_key)
{
    struct err err = ERR_INIT;
    struct run *run;

    if (map_find(&runner->runs, run_key))
        return; /* under way, or about to be let go and looked for again */
    if ((uintptr_t)map_find(&runner->failures, run_key) >= FAILURES_MAX) {
        err_set(&err, ERR_INTERNAL, "its next step could not be stored %d times in a row",
                FAILURES_MAX);
        run_end_with(runner, run_key, &err);
        return;
    }
    if (run_open(runner, run_key, &run, &err) < 0) {
        if (err.code == ERR_STORAGE_FAILED)
            runner_reload(runner, AGAIN_MS);
        else if (err.code != ERR_CONFLICT)
            run_end_with(runner, run_key, &err);
        return;
    }
    run_unhold(run);
}

/* ---- all of them, a page a tick ----
 *
 * Those that wait under the rules of this process are not even read: thousands may. */

/* Under rules that this build can't make: it can't wait for something that will not be followed.
 * Under a former policy it waits on, and hears of the new one when it is woken. */
static bool is_foreign(struct runner *runner, const struct run_record *row)
{
    const struct bp_program *program;

    return row->program_hash.n != BP_HASH_BYTES ||
           run_rulebook_find(&runner->rules, (const uint8_t *)row->program_hash.p, &program,
                             NULL) == 0;
}

static void recover_page(struct loop_timer *timer)
{
    struct runner *runner = CONTAINER_OF(timer, struct runner, recover);
    struct str waits_well = str_of((const char *)runner->rules.hash, BP_HASH_BYTES);
    AUTO_ARENA arena = ARENA_INIT;
    struct run_record *rows;
    struct err err = ERR_INIT;
    size_t n;

    if (!loop_is_healthy(runner->config.loop))
        return; /* runner_look_again() comes when it is */
    if (run_open_page(runner->config.agent_domain, runner_host(runner), waits_well,
                      runner->recover_after, PAGE, &arena, &rows, &n, &err) < 0) {
        LOG_ERROR("run", "the open runs could not be read", LOG_ERR(&err));
        runner_reload(runner, AGAIN_MS);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        runner->recover_after = rows[i].thread_n;
        if (rows[i].status != RUN_WAITING || is_foreign(runner, &rows[i]))
            recover_one(runner, rows[i].run_key);
    }
    if (n == PAGE)
        loop_timer_start(runner->config.loop, timer, 0);
}

/* The run is among the open ones again: look through them from the start. */
void runner_reload(struct runner *runner, int64_t delay_ms)
{
    runner->recover_after = 0;
    loop_timer_start(runner->config.loop, &runner->recover, delay_ms);
}

void runner_look_again(struct runner *runner)
{
    runner_reload(runner, 0);
    runner_watch_waits(runner);
}

/* ---- what waits for a time ---- */

static int resume_rested(struct runner *runner, int64_t n)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct run_record row;
    struct err err = ERR_INIT;
    struct run *run;
    int r = -1;

    if (run_load_n(runner->config.agent_domain, n, &arena, &row, &err) <= 0 ||
        run_open(runner, row.run_key, &run, &err) < 0)
        return -1;
    if (run_follow_kill(run, &err) == 0 && !run->ended && run_unit_begin(run, &err) == 0) {
        r = run_offer(run, RUN_EV_RESUME, 0, 0, NULL, &err);
        if (r == 0) {
            run->row.wait_until = 0;
            run->dirty = true;
        }
        if (run_unit_end(run, r == 0, &err) < 0)
            r = -1;
    }
    if (r < 0 && err.code)
        LOG_WARN("run", "a run could not go on after its rest", LOG_STR("run", row.run_key),
                 LOG_ERR(&err));
    run_unhold(run);
    return r;
}

static int expire(struct runner *runner, int64_t now)
{
    static const struct inbox_decision decision = { .state = INBOX_EXPIRED, .by = { "system", 6 } };
    AUTO_ARENA arena = ARENA_INIT;
    struct inbox_item *items;
    struct err err = ERR_INIT;
    size_t n;
    int r = 0;

    if (inbox_due(runner->config.agent_domain, now, PAGE, &arena, &items, &n, &err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        err_reset(&err);
        if (run_decide(runner, items[i].id, &decision, &err) >= 0)
            continue;
        LOG_WARN("run", "an item could not expire", LOG_STR("item", items[i].id), LOG_ERR(&err));
        r = -1;
    }
    return r;
}

static void watch_waits(struct runner *runner, int64_t earliest);

static int64_t longer(int64_t pause_ms)
{
    return pause_ms == 0 ? AGAIN_MS : pause_ms < AGAIN_MAX_MS / 2 ? 2 * pause_ms : AGAIN_MAX_MS;
}

static void come_due(struct runner *runner, int64_t now)
{
    struct err err = ERR_INIT;
    int64_t rested[PAGE];
    size_t n = 0;
    int r = run_waits_due(runner->config.agent_domain, runner_host(runner), now, rested, PAGE, &n,
                          &err);

    loop_timer_stop(runner->config.loop, &runner->waits);
    loop_timer_stop(runner->config.loop, &runner->waited);
    if (r < 0)
        LOG_ERROR("run", "rests could not be read", LOG_ERR(&err));
    for (size_t i = 0; i < n; i++) {
        if (resume_rested(runner, rested[i]) < 0)
            r = -1;
    }
    if (expire(runner, now) < 0)
        r = -1;
    /* What could not be done now is tried again, but not all the time. */
    runner->waits_pause_ms = r < 0 ? longer(runner->waits_pause_ms) : 0;
    watch_waits(runner, r < 0 ? now + runner->waits_pause_ms : 0);
}

static int64_t wall(const struct runner *runner)
{
    return clock_wall_ms(loop_clock(runner->config.loop));
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void waits_due(struct loop_timer *timer)
{
    struct runner *runner = CONTAINER_OF(timer, struct runner, waits);

    come_due(runner, wall(runner));
}

static void waited_due(struct loop_timer *timer)
{
    struct runner *runner = CONTAINER_OF(timer, struct runner, waited);

    come_due(runner, later(wall(runner), runner->waited_at));
}

/* By the wall clock, which goes on while the machine sleeps, and by as much time as lies between
 * now and then: when somebody sets the wall clock back, what waits does not wait for longer. */
void runner_wait_until(struct runner *runner, int64_t at)
{
    int64_t now = wall(runner);

    runner->waits.fire = waits_due;
    runner->waited.fire = waited_due;
    if (runner->waits.heap_index && at >= runner->waits.due_ms)
        return;
    runner->waited_at = at;
    loop_alarm_start(runner->config.loop, &runner->waits, at);
    loop_timer_start(runner->config.loop, &runner->waited, later(at - now, 0));
}

static void watch_waits(struct runner *runner, int64_t earliest)
{
    int64_t rest = 0, expiry = 0;
    struct err err = ERR_INIT;

    if (run_next_wait(runner->config.agent_domain, runner_host(runner), &rest, &err) < 0 ||
        inbox_next_expiry(runner->config.agent_domain, &expiry, &err) < 0) {
        LOG_ERROR("run", "what waits for a time could not be read", LOG_ERR(&err));
        rest = wall(runner) + AGAIN_MS;
    }
    if (rest)
        runner_wait_until(runner, later(rest, earliest));
    if (expiry)
        runner_wait_until(runner, later(expiry, earliest));
}

void runner_watch_waits(struct runner *runner)
{
    watch_waits(runner, 0);
}

void runner_recover(struct runner *runner)
{
    runner->recover.fire = recover_page;
    runner_reload(runner, 0);
    watch_waits(runner, 0);
}
