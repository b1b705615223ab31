/* A person's word on a run that another process executes.
 *
 * A run that waits goes on wherever its answer is given (load.c). One that is under way and asks
 * for something at the same time stays where it is: the decision is stored, and its host is told.
 * The run's row is locked meanwhile, so its host writes nothing, and what the decision is judged by
 * is what the run will find. The host follows it when it hears of it, and at the latest in the unit
 * in which the run would begin to wait: so a run that waits has heard of every decision, and a
 * crash on either side loses none.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/log.h"
#include "run/run_int.h"

void run_call_follow_wait(struct run_call *call, const struct bp_event *event)
{
    switch (event->type) {
    case RUN_EV_GATE:
    case RUN_EV_ASKED:
        call->waits = true;
        break;
    case RUN_EV_ANSWER:
    case RUN_EV_EDIT:
    case RUN_EV_TOLD:
    case RUN_EV_ACT:
        call->waits = false;
        break;
    case RUN_EV_ACTED:
        call->waits = event->bits & RUN_UNKNOWN;
        break;
    default:
        break;
    }
}

/* ---- here: it is stored ---- */

static int decide_in_unit(struct runner *runner, const struct inbox_item *item,
                          const struct inbox_decision *decision, struct err *err)
{
    struct domain *domain = runner->config.agent_domain;
    AUTO_ARENA arena = ARENA_INIT;
    struct run_call *call;
    struct run *run;
    int r = -1;

    if (run_peek(runner, item->run_id, &run, err) < 0)
        return -1;
    if (run_decision_call(run, item, &call, err) == 0 &&
        run_decision_check(call, decision, err) == 0)
        r = inbox_decide(domain, runner->config.change, item->id, decision,
                         clock_wall_ms(loop_clock(runner->config.loop)), NULL, &arena, err);
    if (r > 0 && inbox_tell_decided(domain, err) < 0)
        r = -1;
    run_free(run);
    return r;
}

int run_decide_elsewhere(struct runner *runner, const struct inbox_item *item,
                         const struct inbox_decision *decision, struct err *err)
{
    struct loop *loop = runner->config.loop;
    int r;

    if (loop_unit_begin(loop, runner->config.agent_domain, err) < 0)
        return -1;
    r = decide_in_unit(runner, item, decision, err);
    if (loop_unit_end(loop, r >= 0, r >= 0 ? err : NULL) < 0)
        return -1;
    return r;
}

/* ---- there: it is followed ---- */

/* 1: the run does not know yet that this was decided; 0: there is nothing of that kind. What it
 * withdrew itself it knows. */
static int find_decided(struct run *run, struct run_call **ret_call, struct inbox_item *ret_item,
                        struct err *err)
{
    struct run_call *call;

    run_each_call (run, call) {
        if (!call->live || !call->waits)
            continue;
        if (inbox_get_n(run->runner->config.agent_domain, call->inbox_n, &run->scratch, ret_item,
                        err) < 0)
            return -1;
        if (ret_item->state == INBOX_PENDING || ret_item->state == INBOX_WITHDRAWN)
            continue;
        *ret_call = call;
        return 1;
    }
    return 0;
}

/* Arguments that were right there and are not here, under other settings, are a no. */
static int follow(struct run_call *call, const struct inbox_item *item, struct err *err)
{
    const struct run_said said = { .ref = item->n, .item = item };
    struct err why = ERR_INIT;
    char text[ERR_TEXT_MAX];

    if (item->state != INBOX_EDITED || run_decision_edit(call, item->answer, &why) == 0)
        return run_decision_apply(call->run, item, err);
    call->no_code = why.code;
    call->no_message = str_from(arena_text(&call->arena, err_format(&why, text, sizeof(text))));
    return run_offer(call->run, RUN_EV_ANSWER, call->key, 0, &said, err);
}

int run_follow_decided(struct run *run, struct err *err)
{
    struct inbox_item item;
    struct run_call *call;
    int r;

    while ((r = find_decided(run, &call, &item, err)) > 0)
        if (follow(call, &item, err) < 0)
            return -1;
    return r;
}

static int hear(struct run *run, struct err *err)
{
    struct inbox_item item;
    struct run_call *call;
    bool kept;
    int r;

    if (run->ended || run->broken || run->unit.open)
        return 0;
    r = find_decided(run, &call, &item, err);
    arena_reset(&run->scratch);
    if (r <= 0)
        return r;
    if (run_follow_kill(run, err) < 0)
        return -1;
    if (run->ended)
        return 0;
    if (run_unit_begin(run, err) < 0)
        return -1;
    kept = run_follow_decided(run, err) == 0;
    return run_unit_end(run, kept, kept ? err : NULL) < 0 || !kept ? -1 : 0;
}

void run_hear_decided(struct run *run)
{
    struct err err = ERR_INIT;

    if (!run->runner->fence)
        return;
    if (hear(run, &err) < 0)
        LOG_WARN("run", "a decision that was taken elsewhere could not be followed",
                 LOG_STR("run", run->row.run_key), LOG_ERR(&err));
}

void run_decided_elsewhere(struct runner *runner)
{
    map_each (&runner->runs, entry) {
        struct run *run = entry->value;

        run_hold(run);
        run_hear_decided(run);
        run_unhold(run);
    }
}
