/* set_alarm and list_alarms: an agent wakes itself, in the conversation that it is in.
 *
 * Alarms are the agent domain's own, as reports are: one unit, and the operation's id remembered
 * with it, so that setting it again changes nothing. What keeps the time is a room above.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/clock.h"
#include "base/json_put.h"
#include "change/taint.h"
#include "desk/desk_int.h"

#define NAME_PLAIN STR("alarm")

static struct str name_of(struct desk_op *op)
{
    struct str name = arg_str(op, "name");

    return name.n > 0 ? name : NAME_PLAIN;
}

static int64_t length_ms(struct desk_op *op)
{
    return (int64_t)(json_object_get_double(json_find(op->args, "minutes")) * (double)MINUTES(1));
}

static int aim_alarm(struct desk_op *op, struct err *err)
{
    if (!op->desk->alarms)
        return err_set(err, ERR_CAPABILITY_DENIED, "there are no alarms here");
    return 0;
}

static void out_alarm(struct desk_op *op, const struct desk_alarm *alarm)
{
    out_str(op, "name", alarm->name);
    out_time(op, "ringsAt", alarm->rings_at);
    if (alarm->note.n > 0)
        out_str(op, "note", alarm->note);
}

/* ---- setting ---- */

/* Inside the unit. */
static int set_or_clear(struct desk_op *op, struct err *err)
{
    const struct desk_alarms *alarms = op->desk->alarms;
    struct desk_alarm alarm = { .name = name_of(op),
                                .note = arg_str(op, "note"),
                                .rings_at = op->now + length_ms(op) };
    bool replaced;
    int r;

    if (alarm.rings_at > op->now) {
        if (alarms->set(op->desk->alarms_arg, op->call, &alarm, op->now, op->arena, &alarm,
                        &replaced, err) < 0)
            return -1;
        out_alarm(op, &alarm);
        out_bool(op, "set", true);
        out_bool(op, "replaced", replaced);
        return 0;
    }
    r = alarms->clear(op->desk->alarms_arg, op->call->agent->n, alarm.name, op->now, op->arena,
                      err);
    if (r < 0)
        return -1;
    out_str(op, "name", alarm.name);
    out_bool(op, "set", false);
    out_bool(op, "cleared", r > 0);
    return 0;
}

static int in_unit(struct desk_op *op, struct err *err)
{
    struct loop *loop = journal_loop(op->journal);
    int r;

    if (loop_unit_begin(loop, op->desk->config.agent_domain, err) < 0)
        return -1;
    r = agent_hold_alive(op->desk->config.agent_domain, op->call->agent->n, err);
    if (r == 0)
        r = set_or_clear(op, err);
    if (loop_unit_end(loop, r == 0, r == 0 ? err : NULL) < 0)
        return -1;
    return r;
}

static int start_set(struct tool_job *job, struct err *err)
{
    const struct desk_bound *bound = tool_job_impl_arg(job);
    AUTO_BUF text = BUF_INIT(DESK_OUTPUT_MAX);
    struct json_writer w = JSON_WRITER(&text);
    struct tool_result result = { .err = ERR_INIT };
    struct desk_op op;

    op_init(&op, bound->desk, bound->tool, tool_job_call(job), tool_job_arguments(job),
            tool_job_arena(job));
    op.out = &w;
    json_write_object_begin(&w);
    if (aim_alarm(&op, err) < 0 || in_unit(&op, err) < 0)
        return -1;
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_INTERNAL, "the answer does not fit");
    result.output = buf_str(&text);
    tool_job_finish(job, &result);
    return 0;
}

/* ---- reading ---- */

static int read_alarms(struct desk_op *op, struct err *err)
{
    struct desk_alarm *alarms;
    size_t n;

    if (op->desk->alarms->list(op->desk->alarms_arg, op->call->agent->n, op->arena, &alarms, &n,
                               err) < 0)
        return -1;
    json_put_array(op->out, "alarms");
    for (size_t i = 0; i < n; i++) {
        json_write_object_begin(op->out);
        out_alarm(op, &alarms[i]);
        json_write_object_end(op->out);
        op->taint = taint_join(op->taint, alarms[i].taint, op->arena);
    }
    json_write_array_end(op->out);
    return 0;
}

const struct desk_tool desk_alarm_tools[] = {
    { .name = "set_alarm", .aim = aim_alarm, .start = start_set, .everywhere = true },
    { .name = "list_alarms", .aim = aim_alarm, .read = read_alarms, .everywhere = true },
};
const size_t desk_alarm_tool_count = ARRAY_LEN(desk_alarm_tools);
