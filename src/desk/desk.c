/* The desk: its tools on the bed, and who may use them.
 *
 * Whether an agent's kind may use a tool, and whether what a call names lies in its categories, is
 * said when the call is judged, before anybody is asked.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "desk/desk_int.h"

/* ---- reading ---- */

static int read_start(struct tool_job *job, struct err *err)
{
    const struct desk_bound *bound = tool_job_impl_arg(job);
    struct tool_result result = { .err = ERR_INIT };
    AUTO_BUF text = BUF_INIT(DESK_OUTPUT_MAX);
    struct json_writer w = JSON_WRITER(&text);
    struct desk_op op;

    op_init(&op, bound->desk, bound->tool, tool_job_call(job), tool_job_arguments(job),
            tool_job_arena(job));
    op.out = &w;
    json_write_object_begin(&w);
    if ((op.tool->aim && op.tool->aim(&op, err) < 0) || op.tool->read(&op, err) < 0 ||
        out_names(&op, err) < 0)
        return -1;
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "the answer is longer than %u bytes; ask for less",
                       DESK_OUTPUT_MAX);
    result.output = buf_str(&text);
    result.taint = op.taint;
    tool_job_finish(job, &result);
    return 0;
}

/* ---- the guard ---- */

static const struct desk_tool *find_tool(const struct desk *desk, const char *name)
{
    for (size_t i = 0; i < desk->bound_count; i++) {
        if (strcmp(desk->bound[i].tool->name, name) == 0)
            return desk->bound[i].tool;
    }
    return NULL;
}

static bool is_of(const struct tool_contract *contract, const char *tool_class)
{
    return strcmp(contract->tool_class, tool_class) == 0;
}

bool desk_owns(const struct tool_contract *contract)
{
    return is_of(contract, "journal") || is_of(contract, "reports") || is_of(contract, "alarms") ||
           is_of(contract, "slots");
}

static int judge_scope(struct desk *desk, const struct desk_tool *tool,
                       const struct tool_call *call, struct json_object *arguments, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct desk_op op;
    struct str kept;
    int r = 0;

    op_init(&op, desk, tool, call, arguments, &arena);
    if (!tool->everywhere && scope_is_empty(&op.scope))
        return err_set(err, ERR_OUT_OF_SCOPE,
                       "you were given no category of the journal; a person can give you some");
    if (!tool->aim)
        return 0;
    if (tool->act && call->operation_id.n > 0)
        r = desk_done(&op, &kept, err);
    /* Done, with these arguments or those a person gave instead. */
    if (r < 0 && err->code == ERR_CONFLICT)
        err_reset(err);
    else if (r < 0)
        return -1;
    return r != 0 ? 0 : tool->aim(&op, err);
}

static int guard_judge(struct tool_guard *guard, const struct tool_call *call,
                       const struct tool_contract *contract, struct json_object *arguments,
                       struct err *err)
{
    struct desk *desk = CONTAINER_OF(guard, struct desk, guard);
    const char *missing = desk_missing(call->agent, contract);
    const struct desk_tool *tool;

    if (missing)
        return err_set(err, ERR_CAPABILITY_DENIED,
                       "%s needs the capability %s, which agents of kind \"%s\" do not have",
                       contract->name, missing, call->agent->kind);
    tool = desk_owns(contract) ? find_tool(desk, contract->name) : NULL;
    return tool ? judge_scope(desk, tool, call, arguments, err) : 0;
}

/* Tools of the journal are no use to who reaches nothing of it, unless they are given by name. */
static bool guard_offers(struct tool_guard *guard, const struct tool_contract *contract,
                         const struct agent *agent)
{
    const struct desk *desk = CONTAINER_OF(guard, struct desk, guard);
    AUTO_ARENA arena = ARENA_INIT;
    struct journal_scope scope;

    if (desk_missing(agent, contract))
        return false;
    if (!desk_owns(contract))
        return true;
    if (is_of(contract, "alarms") || is_of(contract, "slots"))
        return (desk->alarms || is_of(contract, "slots")) &&
               (agent->tools || desk_profile(str_from(agent->kind)));
    scope_of(agent, &arena, &scope);
    return !scope_is_empty(&scope) || (agent->tools && is_of(contract, "reports"));
}

void desk_tell(const struct agent *agent, struct buf *out)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct journal_scope scope;

    scope_of(agent, &arena, &scope);
    if (desk_profile(str_from(agent->kind)) && scope_is_empty(&scope))
        buf_printf(out,
                   "You have no categories, so you reach nothing of the journal and have none of "
                   "its tools. A person gives you some: `dormouse agent set %s --categories "
                   "NAMES`.\n",
                   agent->id);
}

/* ---- life ---- */

static void bind_tools(struct desk *desk, const struct desk_tool *tools, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct desk_bound *bound = &desk->bound[desk->bound_count++];

        bound->desk = desk;
        bound->tool = &tools[i];
        bound->impl.name = tools[i].name;
        bound->impl.start = tools[i].start  ? tools[i].start
                            : tools[i].read ? read_start
                                            : desk_write_start;
        if (tools[i].act) {
            bound->impl.spared = desk_write_spared;
            bound->impl.preview = desk_write_preview;
            bound->impl.cancel = desk_write_cancel;
        }
        tool_bed_bind(desk->config.tools, &bound->impl, bound);
    }
}

struct desk *desk_new(const struct desk_config *config)
{
    const struct {
        const struct desk_tool *tools;
        size_t n;
    } families[] = {
        { desk_read_tools, desk_read_tool_count },
        { desk_task_tools, desk_task_tool_count },
        { desk_checklist_tools, desk_checklist_tool_count },
        { desk_time_tools, desk_time_tool_count },
        { desk_plan_tools, desk_plan_tool_count },
        { desk_rating_tools, desk_rating_tool_count },
        { desk_report_tools, desk_report_tool_count },
        { desk_alarm_tools, desk_alarm_tool_count },
        { desk_slot_tools, desk_slot_tool_count },
    };
    struct desk *desk = NEW(struct desk);
    size_t n = 0;

    desk->config = *config;
    for (size_t i = 0; i < ARRAY_LEN(families); i++)
        n += families[i].n;
    desk->bound = NEW_N(struct desk_bound, n);
    for (size_t i = 0; i < ARRAY_LEN(families); i++)
        bind_tools(desk, families[i].tools, families[i].n);
    desk->guard.judge = guard_judge;
    desk->guard.offers = guard_offers;
    tool_bed_guard(config->tools, &desk->guard);
    return desk;
}

void desk_set_alarms(struct desk *desk, const struct desk_alarms *alarms, void *arg)
{
    desk->alarms = alarms;
    desk->alarms_arg = arg;
}

void desk_free(struct desk *desk)
{
    if (!desk)
        return;
    desk_forget(desk);
    free(desk->bound);
    free(desk);
}
