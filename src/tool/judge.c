/* The stages of every call up to risk. Each may say no with its code, the first one that does wins,
 * and none is skipped: the table below is the order.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/nearest.h"
#include "base/schema.h"
#include "base/utf8.h"
#include "policy/kill.h"
#include "tool/tool_int.h"

#define MESSAGE_MAX 1000
#define ERRORS_TOLD 3

static int refuse(struct judging *j, enum err_code code, const char *message)
{
    j->verdict->attributes |= TOOL_REFUSED;
    j->verdict->code = code;
    j->verdict->message = message;
    return -1;
}

static int refuse_err(struct judging *j, enum err_code code, const char *what,
                      const struct err *err)
{
    char text[MESSAGE_MAX];

    err_format(err, text, sizeof(text));
    return refuse(
        j, code,
        arena_printf(j->arena, "%s%s", what, shown_word(str_from(text), MESSAGE_MAX, j->arena)));
}

/* ---- is there such a tool, and can the call be read ---- */

/* The tool that was meant, by the names that models know. */
static const char *meant(const struct judging *j)
{
    struct tool_bed *bed = j->bed;
    const char **names = ARENA_NEW_N(j->arena, const char *, bed->count);

    for (size_t i = 0; i < bed->count; i++)
        names[i] = bed->contracts[i]->wire;
    return nearest_name(shown_word(j->call->name, TOOL_NAME_MAX, j->arena), names, bed->count);
}

static int stage_known(struct judging *j)
{
    AUTO_BUF names = BUF_INIT(4096);
    struct tool_bed *bed = j->bed;
    const char *near;

    if (j->binding)
        return 0;
    near = meant(j);
    for (size_t i = 0; i < bed->count && i < TOOL_NAMES_SHOWN; i++)
        buf_printf(&names, "%s%s", i ? ", " : "", bed->contracts[i]->wire);
    return refuse(j, ERR_NOT_FOUND,
                  arena_printf(j->arena, "There is no tool \"%s\"%s%s%s There are: %s%s.",
                               shown_word(j->call->name, 80, j->arena),
                               near ? ", did you mean " : "", near ? near : "", near ? "?" : ".",
                               buf_text(&names), bed->count > TOOL_NAMES_SHOWN ? " and more" : ""));
}

static int stage_readable(struct judging *j)
{
    if (!j->call->problem.n)
        return 0;
    return refuse(j, ERR_BAD_REQUEST,
                  arena_printf(j->arena, "The call could not be read: %s",
                               shown_word(j->call->problem, 600, j->arena)));
}

/* ---- schema ---- */

static int refuse_unread(struct judging *j)
{
    struct str text = j->call->arguments;
    AUTO_JSON value = NULL;
    struct err err = ERR_INIT;

    if (text.n > TOOL_ARGUMENTS_MAX)
        return refuse(j, ERR_TOO_LARGE,
                      arena_printf(j->arena, "The arguments have %zu bytes; at most %u are taken.",
                                   text.n, TOOL_ARGUMENTS_MAX));
    if (json_parse(text, &value, &err) < 0)
        return refuse_err(j, ERR_SCHEMA_VIOLATION, "The arguments are no valid JSON: ", &err);
    return refuse(j, ERR_SCHEMA_VIOLATION,
                  arena_printf(j->arena, "The arguments are of type %s; an object is wanted.",
                               json_type_name(value)));
}

/* "command (string), timeout_s (integer)": what the model may give. */
static void allowed_names(const struct tool_contract *contract, struct buf *out)
{
    AUTO_JSON schema = NULL;
    struct json_object *properties;
    struct json_object_iter it;
    struct err err = ERR_INIT;
    bool first = true;

    if (json_parse(str_from(contract->input_schema), &schema, &err) < 0)
        return;
    properties = json_find(schema, "properties");
    if (!properties)
        return;
    json_object_object_foreachC(properties, it)
    {
        struct str type = json_str(json_find(it.val, "type"));

        buf_printf(out, "%s%s", first ? "" : ", ", it.key);
        if (type.n)
            buf_printf(out, " (%.*s)", STR_ARG(type));
        first = false;
    }
}

static int refuse_report(struct judging *j, const struct schema_report *report)
{
    AUTO_BUF text = BUF_INIT(8192);
    AUTO_BUF allowed = BUF_INIT(2048);

    for (size_t i = 0; i < report->n && i < ERRORS_TOLD; i++)
        buf_printf(&text, "%s%.200s: %.300s", i ? "; " : "",
                   report->errors[i].instance[0] ? report->errors[i].instance : "arguments",
                   report->errors[i].message);
    allowed_names(j->binding->entry->contract, &allowed);
    return refuse(j, ERR_SCHEMA_VIOLATION,
                  arena_printf(j->arena, "The arguments do not fit: %s. %s takes: %s.",
                               shown_word(buf_str(&text), MESSAGE_MAX, j->arena),
                               j->binding->entry->contract->name, buf_text(&allowed)));
}

/* Before the stages: ids are made of the arguments whatever a stage says. What is wrong is said
 * when the turn comes. */
static void read_quietly(struct judging *j)
{
    struct str text = j->call->arguments.n ? j->call->arguments : STR("{}");
    struct err err = ERR_INIT;

    if (text.n > TOOL_ARGUMENTS_MAX || json_parse(text, &j->arguments, &err) < 0)
        return;
    if (!json_object_is_type(j->arguments, json_type_object)) {
        json_object_put(j->arguments);
        j->arguments = NULL;
    }
}

static int stage_schema(struct judging *j)
{
    const struct tool_binding *binding = j->binding;
    const struct tool_impl *impl = binding->impl;
    AUTO_SCHEMA_REPORT report = SCHEMA_REPORT_INIT;
    struct err err = ERR_INIT;

    if (!j->arguments)
        return refuse_unread(j);
    if (schema_validate(binding->entry->contract->input, j->arguments, &report, &err) < 0)
        return report.n ? refuse_report(j, &report)
                        : refuse_err(j, ERR_SCHEMA_VIOLATION, "The arguments do not fit: ", &err);
    if (impl->check && impl->check(binding->impl_arg, j->call, j->arguments, &err) < 0)
        return refuse_err(
            j, err.code,
            err.code == ERR_SECRET_UNAVAILABLE ? "" : "The arguments do not fit: ", &err);
    return 0;
}

/* ---- who may, and when ---- */

static int stage_kill(struct judging *j)
{
    const struct kill_switch *on = NULL;
    const char *what;

    if (j->bed->config.kill)
        on = kill_is_on(j->bed->config.kill, j->call->agent->id,
                        j->binding->entry->contract->tool_class);
    if (!on)
        return 0;
    what = on->scope == KILL_ALL     ? "everything"
           : on->scope == KILL_AGENT ? "this agent"
                                     : "this class of tools";
    j->verdict->attributes |= TOOL_KILLED;
    j->verdict->code = ERR_KILL_SWITCH_ACTIVE;
    j->verdict->message = arena_printf(
        j->arena, "A person has stopped %s%s%s.", what, on->reason && on->reason[0] ? ": " : "",
        on->reason ? shown_word(str_from(on->reason), 200, j->arena) : "");
    return -1;
}

static int stage_life(struct judging *j)
{
    const struct agent *agent = j->call->agent;

    if (agent->lifecycle == AGENT_DESTROYED)
        return refuse(j, ERR_AGENT_DESTROYED, "The agent was destroyed; it does nothing more.");
    if (agent->paused)
        return refuse(j, ERR_AGENT_PAUSED,
                      "The agent is paused; it acts again when a person resumes it.");
    return 0;
}

static bool has_reason(const struct tool_contract *contract, struct str reason)
{
    for (const char *const *p = contract->wake_reasons; *p; p++)
        if (str_is(reason, *p))
            return true;
    return false;
}

static int stage_wake(struct judging *j)
{
    const struct tool_contract *contract = j->binding->entry->contract;
    AUTO_BUF reasons = BUF_INIT(1024);

    if (has_reason(contract, j->call->wake_reason))
        return 0;
    for (const char *const *p = contract->wake_reasons; *p; p++)
        buf_printf(&reasons, "%s%s", p == contract->wake_reasons ? "" : ", ", *p);
    return refuse(j, ERR_WAKE_REASON_DENIED,
                  arena_printf(j->arena,
                               "%s may not be used in a run that began by \"%s\"; only: %s.",
                               contract->name, shown_word(j->call->wake_reason, 64, j->arena),
                               buf_text(&reasons)));
}

bool tool_is_for_system(const struct tool_contract *contract)
{
    for (const char *const *p = contract->capabilities; *p; p++)
        if (str_starts(str_from(*p), STR("system.")))
            return true;
    return false;
}

/* NULL tools: whatever its kind has, which is every tool that is for everybody. A list that can't
 * be read gives nothing. */
static bool has_tool(const struct agent *agent, const struct tool_contract *contract)
{
    const char *name = contract->name;
    AUTO_JSON list = NULL;
    struct err err = ERR_INIT;

    if (tool_is_for_system(contract) && !agent_is_system(str_from(agent->id)))
        return false;
    if (!agent->tools)
        return true;
    if (json_parse(str_from(agent->tools), &list, &err) < 0 ||
        !json_object_is_type(list, json_type_array))
        return false;
    for (size_t i = 0; i < json_length(list); i++)
        if (str_is(json_str(json_object_array_get_idx(list, i)), name))
            return true;
    return false;
}

bool tool_offered(const struct tool_contract *contract, const struct agent *agent,
                  struct str wake_reason)
{
    return has_tool(agent, contract) && has_reason(contract, wake_reason);
}

static int stage_capability(struct judging *j)
{
    const struct tool_contract *contract = j->binding->entry->contract;

    if (has_tool(j->call->agent, contract))
        return 0;
    if (!j->call->agent->tools)
        return refuse(j, ERR_CAPABILITY_DENIED,
                      arena_printf(j->arena, "The tool %s is Dormouse's own; no agent is given it.",
                                   contract->name));
    return refuse(j, ERR_CAPABILITY_DENIED,
                  arena_printf(j->arena, "The agent was not given the tool %s; its tools are: %s.",
                               contract->name,
                               shown_word(str_from(j->call->agent->tools), 400, j->arena)));
}

static int stage_guards(struct judging *j)
{
    const struct tool_contract *contract = j->binding->entry->contract;
    struct err err = ERR_INIT;

    for (struct tool_guard *guard = j->bed->guards; guard; guard = guard->next)
        if (guard->judge && guard->judge(guard, j->call, contract, j->arguments, &err) < 0)
            return refuse_err(j, err.code, "", &err);
    return 0;
}

/* Dormouse's own data belongs to no agent; that holds without walls, too. What else a path may
 * reach is known where it is opened: in the hand. */
static int stage_scope(struct judging *j)
{
    const struct tool_entry *entry = j->binding->entry;
    const struct sandbox_spec *spec = &j->call->sandbox;
    struct str path;
    const char *full;

    if (!entry->path_argument)
        return 0;
    path = json_str(json_find(j->arguments, entry->path_argument));
    if (!path.n)
        return 0;
    if (path.n > LIMIT_PATH_BYTES || memchr(path.p, '\0', path.n) || !utf8_valid(path))
        return refuse(j, ERR_OUT_OF_SCOPE,
                      arena_printf(j->arena, "A path is text without NUL, of at most %d bytes.",
                                   LIMIT_PATH_BYTES));
    full = risk_target(j->call, path, j->arena);
    if (full && spec->data_dir && risk_below(full, spec->data_dir))
        return refuse(j, ERR_OUT_OF_SCOPE, "Dormouse's own data is out of reach for agents.");
    return 0;
}

static int (*const stages[])(struct judging *j) = {
    stage_known, stage_readable,   stage_schema, stage_kill,  stage_life,
    stage_wake,  stage_capability, stage_guards, stage_scope,
};

static void judge_call(struct judging *j, bool with_ids)
{
    *j->verdict = (struct tool_verdict){ .contract = NULL };
    j->binding = bed_find(j->bed, j->call->name);
    if (j->binding)
        j->verdict->contract = j->binding->entry->contract;
    read_quietly(j);
    if (with_ids)
        judge_ids(j);
    for (size_t i = 0; i < ARRAY_LEN(stages); i++)
        if (stages[i](j) < 0)
            break;
    if (!(j->verdict->attributes & TOOL_REFUSED))
        judge_risk(j);
}

void judge_again(struct tool_bed *bed, const struct tool_call *call, struct arena *arena,
                 struct tool_verdict *ret_verdict, struct json_object **ret_arguments)
{
    struct judging j = { .bed = bed, .call = call, .arena = arena, .verdict = ret_verdict };

    judge_call(&j, false);
    *ret_arguments = j.arguments;
}

void tool_judge(struct tool_bed *bed, const struct tool_call *call, struct arena *arena,
                struct tool_verdict *ret_verdict)
{
    struct judging j = { .bed = bed, .call = call, .arena = arena, .verdict = ret_verdict };

    judge_call(&j, true);
    json_object_put(j.arguments);
}
