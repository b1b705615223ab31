/* A run that was begun under another policy goes on under the one of today.
 *
 * In one unit: policy_changed is recorded with what the new policy finds of the calls in flight,
 * the engine is swapped (rules.h), and whatever the new guards ask for, or no longer hold back,
 * follows. An approval given under the old policy does not carry over: its digest names that
 * policy, so the act finds it stale and asks anew.
 *
 * SPDX-License-Identifier: MIT
 */
#include "run/run_int.h"

static void judge_calls(const struct run *run, struct run_change *change)
{
    struct run_call *call;

    run_each_call (run, call)
        if (call->live)
            change->attributes[call->key] = run_call_bits(&call->verdict) & RUN_POLICY_BITS;
}

static int swap_engine(struct run *run, const struct run_past *past,
                       const struct run_change *change, struct err *err)
{
    runner_engine_give(run->runner, run->engine);
    run->engine = NULL;
    if (run_engine_new(run, run->runner->config.program, err) < 0)
        return -1;
    return run_change_follow(run->engine, past, change, err);
}

static int record_change(struct run *run, const struct run_change *change)
{
    static const struct bp_event event = { .type = RUN_EV_POLICY };
    static const struct bp_place outside = { .thread = NULL };
    AUTO_BUF data = BUF_INIT(4096);

    run_change_write(change, &data);
    run->unit.said = (struct run_said){ .data = buf_str(&data) };
    run_record_selected(run, &event, &outside);
    return run->unit.failed ? -1 : 0;
}

static int adopt(struct run *run, const struct run_past *past, struct err *err)
{
    struct domain *domain = run->runner->config.agent_domain;
    struct run_change change = { 0 };
    struct bp_refusal refusal;

    memcpy(change.hash, run->runner->rules.hash, BP_HASH_BYTES);
    judge_calls(run, &change);
    if (swap_engine(run, past, &change, err) < 0)
        return -1;
    run->row.program_hash = str_of((const char *)run->runner->rules.hash, BP_HASH_BYTES);
    if (rules_save(domain, run->row.n, run->row.program_hash, err) < 0)
        return -1;
    if (record_change(run, &change) < 0 || bp_run(run->engine, &refusal) < 0 || run->unit.failed) {
        if (run->unit.failed)
            *err = run->unit.err;
        else
            err_set(err, ERR_INTERNAL, "the program goes on and on under the new policy");
        return -1;
    }
    return run_withdraw_acting(run, err);
}

int run_adopt(struct run *run, const struct run_past *past, struct err *err)
{
    bool kept;

    if (run_unit_begin(run, err) < 0)
        return -1;
    kept = adopt(run, past, err) == 0;
    if (run_unit_end(run, kept, err) < 0 || !kept)
        return -1;
    if (run_stop_code(run))
        run_stop_effects(run);
    return 0;
}
