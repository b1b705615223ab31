/* A unit of a run: events go in, rows are written, and what they ask for leaves when it is durable.
 *
 * A unit that is not kept after rows were written leaves the engine ahead of the log. The run is
 * broken then: its effects are ended without a record, it goes from memory, and the next tick
 * loads it again from what is stored.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/log.h"
#include "run/run_int.h"

#define THREAD_MOMENT_MS 1000
#define THREAD_BEHIND_MS 10000

static struct loop *loop_of(const struct run *run)
{
    return run->runner->config.loop;
}

/* ---- letting out ---- */

static bool asks(const struct run_outbox *out)
{
    return out->think || out->check;
}

static void outbox_free(struct run_outbox *out)
{
    struct run_out_event *next;

    if (!out)
        return;
    for (struct run_out_event *event = out->first; event; event = next) {
        next = event->next;
        buf_release(&event->json);
        free(event);
    }
    free(out);
}

static void publish_all(struct run_outbox *out)
{
    struct run *run = out->run;

    for (struct run_out_event *event = out->first; event; event = event->next) {
        const struct run_public public = { .thread_id = run->thread.id,
                                           .run_id = run->row.run_key,
                                           .seq = event->seq,
                                           .type = event->type,
                                           .json = buf_str(&event->json) };

        run_publish(run->runner, &public);
    }
}

#define STUCK                                                                                      \
    "the run came to a place from which no rule lets it go on; `dormouse verify` looks for it"

/* It waits and nothing will wake it: a mistake of ours, or of a policy. It ends with that reason,
 * and its rules are not asked: they may not even let it stop. */
static void end_stuck(struct run *run)
{
    struct err err = ERR_INIT, why = ERR_INIT;

    LOG_ERROR("run", "a run waits for nothing", LOG_STR("run", run->row.run_key));
    err_set(&why, ERR_INTERNAL, "%s", STUCK);
    if (run_abort(run->runner, run->row.run_key, &why, &err) < 0)
        LOG_ERROR("run", "and could not be ended", LOG_ERR(&err));
}

static void outbox_run(struct loop_effect *effect)
{
    struct run_outbox *out = (struct run_outbox *)effect;
    struct run *run = out->run;

    run->asking -= asks(out);
    publish_all(out);
    if (str_is(run->row.wait_kind, "nothing") && !run->ended)
        end_stuck(run);
    if (!run->runner->stopping && !run->broken) {
        run->thinking |= out->think;
        run->checking |= out->check;
        if (asks(out))
            run_think_start(run);
        for (uint16_t key = 1; key <= RUN_CALLS_MAX; key++) {
            if (out->acts >> key & 1)
                run_act_start(run, key);
        }
    }
    outbox_free(out);
    run_unhold(run);
}

static void break_run(struct run *run)
{
    run->broken = true;
    prompt_cache_forget(run);
    run_stop_effects(run);
}

void run_give_back(struct run *run)
{
    if (!run->runner->stopping && !run->broken)
        break_run(run);
}

static void outbox_drop(struct loop_effect *effect, const struct err *why)
{
    struct run_outbox *out = (struct run_outbox *)effect;
    struct run *run = out->run;

    run->asking -= asks(out);
    if (!run->runner->stopping && loop_is_healthy(loop_of(run)))
        LOG_WARN("run", "not stored, the run is loaded again", LOG_STR("run", run->row.run_key),
                 LOG_ERR(why));
    break_run(run);
    outbox_free(out);
    run_unhold(run);
}

static struct run_outbox *outbox_new(struct run *run)
{
    struct run_outbox *out = NEW(struct run_outbox);

    *out = (struct run_outbox){ .effect = { .run = outbox_run, .drop = outbox_drop }, .run = run };
    out->last = &out->first;
    return out;
}

/* ---- the unit ---- */

int run_unit_begin(struct run *run, struct err *err)
{
    if (run->broken || run->runner->stopping)
        return err_set(err, ERR_STORAGE_FAILED, "the run is being loaded again");
    if (loop_unit_begin(loop_of(run), run->runner->config.agent_domain, err) < 0)
        return -1;
    if (run_check_own(run, err) < 0 || run_check_alive(run, err) < 0) {
        loop_unit_end(loop_of(run), false, NULL);
        break_run(run);
        return -1;
    }
    run->unit = (struct run_unit){ .open = true,
                                   .err = ERR_INIT,
                                   .now = clock_wall_ms(loop_clock(loop_of(run))),
                                   .last_message_n = run->thread.last_message_n,
                                   .out = outbox_new(run) };
    return 0;
}

static enum err_code refusal_code(const struct run *run)
{
    if (bp_record(run->engine, 0) & RUN_KILLED)
        return ERR_KILL_SWITCH_ACTIVE;
    return run->cancelled ? ERR_CANCELLED : ERR_CONFLICT;
}

int run_offer(struct run *run, enum run_event_type type, uint16_t key, uint32_t bits,
              const struct run_said *said, struct err *err)
{
    const struct bp_event event = { .type = (uint8_t)type, .key = key, .bits = bits };
    struct bp_refusal refusal;
    AUTO_BUF why = BUF_INIT(512);

    run->unit.said = said ? *said : (struct run_said){ 0 };
    if (bp_offer(run->engine, &event, &refusal) < 0) {
        bp_refusal_text(run->runner->config.program, &event, &refusal, &why);
        return err_set(err, refusal_code(run), "%s", buf_text(&why));
    }
    if (!run->unit.failed)
        return 0;
    *err = run->unit.err;
    return -1;
}

static bool waits_for_person(const struct run *run)
{
    const struct run_call *call;

    run_each_call (run, call)
        if (call->live && call->waits)
            return true;
    return false;
}

/* Is something under way that will call back by itself? */
static bool has_effect(const struct run *run)
{
    const struct run_outbox *out = run->unit.out;
    const struct run_call *call;

    if (asks(out) || run->asking || out->acts || run->thinking || run->checking)
        return true;
    run_each_call (run, call)
        if (call->job || (call->acting && !call->asked))
            return true;
    return false;
}

static void set_status(struct run *run)
{
    bool waits = !has_effect(run);
    enum run_status status = waits ? RUN_WAITING : RUN_RUNNING;
    struct str kind = !waits                  ? STR_NONE
                      : run->row.wait_until   ? STR("rate_limit")
                      : waits_for_person(run) ? STR("inbox")
                                              : STR("nothing");

    if (run->ended || (run->row.status == status && str_eq(run->row.wait_kind, kind)))
        return;
    run->row.status = status;
    run->row.wait_kind = kind;
    run->dirty = true;
}

/* True: from here on it waits for a person. */
static bool begins_to_wait(struct run *run)
{
    bool waited = str_is(run->row.wait_kind, "inbox");

    set_status(run);
    return !waited && str_is(run->row.wait_kind, "inbox");
}

/* When a conversation was last used is what its run began at, or ended at if that was a while
 * later: not every step of it, and not every run of those that follow each other in a moment. Lists
 * are ordered by it; what it holds they count themselves. */
static bool is_behind(const struct run *run)
{
    const struct thread *thread = &run->thread;
    int64_t behind = run->unit.now - thread->updated_at;

    if (!run->unit.rows)
        return false;
    if (run->rows == run->unit.rows) /* it begins */
        return behind < 0 || behind >= THREAD_MOMENT_MS || thread->updated_at == thread->created_at;
    return run->ended && behind >= THREAD_BEHIND_MS;
}

static int save_thread(struct run *run, struct err *err)
{
    if (!is_behind(run))
        return 0;
    if (thread_save(run->runner->config.agent_domain, &run->thread, run->unit.now, err) < 0)
        return -1;
    run->thread.updated_at = run->unit.now;
    return 0;
}

/* What waits has heard of every decision that was taken elsewhere (elsewhere.c). */
static int hear_before_waiting(struct run *run, struct err *err)
{
    if (!run->runner->fence || run->ended || has_effect(run))
        return 0;
    return run_follow_decided(run, err);
}

static int save(struct run *run, struct err *err)
{
    if (hear_before_waiting(run, err) < 0)
        return -1;
    if (begins_to_wait(run) && run_tell_wait(run, err) < 0)
        return -1;
    if (run->unit.out->ended && run_tell_end(run, err) < 0)
        return -1;
    if (save_thread(run, err) < 0)
        return -1;
    if (!run->dirty)
        return 0;
    run->row.updated_at = run->unit.now;
    run->row.active_ms += run->unit.now - run->active_since;
    run->active_since = run->unit.now;
    return run_update(run->runner->config.agent_domain, &run->row, err);
}

int run_unit_end(struct run *run, bool keep, struct err *err)
{
    struct run_outbox *out = run->unit.out;
    bool moved;
    int r = 0;

    keep = keep && !run->unit.failed;
    if (keep && save(run, err) < 0) {
        keep = false;
        r = -1;
    }
    moved = run->unit.rows > 0 || run->thread.last_message_n != run->unit.last_message_n;
    run->unit.open = false;
    run->unit.out = NULL;
    arena_reset(&run->scratch);
    if (keep) {
        run->dirty = false;
        if (run->unit.rows && !run->unit.recovers) /* a step was stored */
            map_remove(&run->runner->failures, run->row.run_key);
        run_hold(run);
        run->asking += asks(out);
        loop_after_commit(loop_of(run), &out->effect);
        return loop_unit_end(loop_of(run), true, err);
    }
    loop_unit_end(loop_of(run), false, NULL);
    outbox_free(out);
    if (moved)
        break_run(run);
    return r;
}

void run_unit_settle(struct run *run, bool kept, const char *what, struct err *err)
{
    if (run_unit_end(run, kept, err) == 0 && kept)
        return;
    LOG_WARN("run", what, LOG_STR("run", run->row.run_key), LOG_ERR(err));
    run_give_back(run);
}
