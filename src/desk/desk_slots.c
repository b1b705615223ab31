/* set_slots and get_slots: what an agent keeps in mind between its runs: its goal, the task at
 * hand, open loops, preferences.
 *
 * Slots are part of the agent's state (agent/state.h), which the agent domain keeps: one unit with
 * its batch. The batch names the operation, so that doing it again after a crash changes nothing,
 * also when a person has set something else since. What they name of the journal lies in the
 * agent's categories. What an agent wrote to itself comes back as data, with the taint of the
 * conversations that it was written in: it may hold what somebody else's text made it write.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "agent/state.h"
#include "base/json_put.h"
#include "change/taint.h"
#include "desk/desk_int.h"

#define SLOTS AGENT_SLOT_EXTENSION /* those before it are the agent's own */

/* ---- scope ---- */

/* A loop may be anything with an id; of the journal's records only the agent's own. */
static int check_loop(struct desk_op *op, struct str id, struct err *err)
{
    struct record record;
    int r;

    if (!record_id_valid(id))
        return 0;
    r = journal_find_id(op->journal, id, op->arena, &record, err);
    if (r <= 0 || record.type == RECORD_DAY_PLAN || record.type == RECORD_LABEL)
        return r < 0 ? -1 : 0;
    return scope_record(op, &record, err);
}

static int aim_slots(struct desk_op *op, struct err *err)
{
    struct str task = arg_str(op, "activeTaskId"), *loops;
    size_t n = arg_list(op, "openLoopIds", &loops);
    struct record record;

    if (task.n && scope_get(op, RECORD_TASK, task, &record, err) < 0)
        return err_wrap(err, "/activeTaskId");
    for (size_t i = 0; i < n; i++) {
        if (check_loop(op, loops[i], err) < 0)
            return err_wrap(err, "/openLoopIds/%zu", i);
    }
    return 0;
}

/* ---- answering ---- */

static void out_slots(struct desk_op *op, const struct agent_slots *slots)
{
    op->taint = taint_join(op->taint, slots->taint, op->arena);
    if (slots->primary_goal.n)
        out_str(op, "primaryGoal", slots->primary_goal);
    if (slots->active_task_id.n)
        out_str(op, "activeTaskId", slots->active_task_id);
    json_put_raw(op->out, "openLoopIds", slots->open_loop_ids.n ? slots->open_loop_ids : STR("[]"));
    json_put_raw(op->out, "preferenceByKey",
                 slots->preference_by_key.n ? slots->preference_by_key : STR("{}"));
}

static int read_slots(struct desk_op *op, struct err *err)
{
    struct agent_state state;

    if (agent_state_get(op->desk->config.agent_domain, op->call->agent->n, op->now, op->arena,
                        &state, err) < 0)
        return -1;
    out_slots(op, &state.slots);
    return 0;
}

/* ---- setting ---- */

static struct str value_of(enum agent_slot slot, struct json_object *value)
{
    if (slot == AGENT_SLOT_OPEN_LOOP_IDS)
        return str_from(value ? json_object_to_json_string(value) : "[]");
    if (slot == AGENT_SLOT_PREFERENCE_BY_KEY)
        return str_from(value ? json_object_to_json_string(value) : "{}");
    return json_str(value);
}

/* How many became others; what is not given stays, null takes it away. */
static int set_given(struct desk_op *op, struct agent_state *state, struct err *err)
{
    struct str host = str_from(change_host_id(op->desk->config.change));
    int changed = 0;

    for (enum agent_slot slot = 0; slot < SLOTS; slot++) {
        struct json_object *value;
        int r;

        if (!json_object_object_get_ex(op->args, agent_slot_name(slot), &value))
            continue;
        r = agent_state_set_slot(state, slot, value_of(slot, value), host, op->arena, err);
        if (r < 0)
            return err_wrap(err, "/%s", agent_slot_name(slot));
        changed += r;
    }
    if (changed)
        state->slots.taint = taint_join(state->slots.taint, op->call->taint, op->arena);
    return changed;
}

static int keep(struct desk_op *op, struct agent_state *state, struct err *err)
{
    const struct desk_config *config = &op->desk->config;
    struct change_batch batch = CHANGE_BATCH(op->arena, CHANGE_BY_AGENT);

    batch.author_id = str_from(op->call->agent->id);
    batch.operation_id = op->call->operation_id;
    if (agent_state_put(config->agent_domain, config->change, state, op->now, err) < 0)
        return -1;
    agent_state_tell(&batch, config->change, state, op->call->agent->id);
    return change_batch_write(config->agent_domain, config->change, &batch, op->now, err);
}

/* Inside the unit: 1 something is another now. */
static int set_once(struct desk_op *op, struct agent_state *state, struct err *err)
{
    struct domain *domain = op->desk->config.agent_domain;
    int done = change_operation_done(domain, op->call->operation_id, err), changed;

    if (done < 0 || agent_state_get(domain, op->call->agent->n, op->now, op->arena, state, err) < 0)
        return -1;
    changed = done ? 0 : set_given(op, state, err);
    if (changed <= 0)
        return changed;
    return keep(op, state, err) < 0 ? -1 : 1;
}

static int set_in_unit(struct desk_op *op, struct agent_state *state, struct err *err)
{
    struct loop *loop = journal_loop(op->journal);
    int r;

    if (loop_unit_begin(loop, op->desk->config.agent_domain, err) < 0)
        return -1;
    r = set_once(op, state, err);
    if (loop_unit_end(loop, r >= 0, r >= 0 ? err : NULL) < 0)
        return -1;
    return r;
}

static int start_set(struct tool_job *job, struct err *err)
{
    const struct desk_bound *bound = tool_job_impl_arg(job);
    AUTO_BUF text = BUF_INIT(DESK_OUTPUT_MAX);
    struct json_writer w = JSON_WRITER(&text);
    struct tool_result result = { .err = ERR_INIT };
    struct agent_state state;
    struct desk_op op;
    int changed;

    op_init(&op, bound->desk, bound->tool, tool_job_call(job), tool_job_arguments(job),
            tool_job_arena(job));
    op.out = &w;
    if (aim_slots(&op, err) < 0)
        return -1;
    changed = set_in_unit(&op, &state, err);
    if (changed < 0)
        return -1;
    json_write_object_begin(&w);
    out_bool(&op, "changed", changed > 0);
    out_slots(&op, &state.slots);
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_INTERNAL, "the answer does not fit");
    result.output = buf_str(&text);
    result.taint = op.taint;
    tool_job_finish(job, &result);
    return 0;
}

const struct desk_tool desk_slot_tools[] = {
    { .name = "set_slots", .aim = aim_slots, .start = start_set, .everywhere = true },
    { .name = "get_slots", .read = read_slots, .everywhere = true },
};
const size_t desk_slot_tool_count = ARRAY_LEN(desk_slot_tools);
