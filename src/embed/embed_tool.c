/* The embedder's tools: a contract with careful defaults, and jobs that may end late.
 *
 * What the embedder holds is a record of its own: it lives until the embedder has ended it, also
 * when the job was cancelled before.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdlib.h>

#include "base/json.h"
#include "embed/embed_int.h"

struct embed_tool {
    struct embed_tool *next;
    dm_tool_fn *fn;
    void *arg;
    struct tool_impl impl;
    char *name;
};

struct dm_tool_job {
    struct tool_job *job; /* NULL: it has ended without us */
};

/* ---- jobs ---- */

static int start(struct tool_job *job, struct err *err)
{
    struct embed_tool *tool = tool_job_impl_arg(job);
    struct dm_tool_job *held = NEW(struct dm_tool_job);
    struct str id = tool_job_operation_id(job), input = tool_job_call(job)->arguments;
    struct arena *arena = tool_job_arena(job);

    held->job = job;
    tool_job_set_data(job, held);
    if (tool->fn(tool->arg, arena_copy(arena, input.p, input.n),
                 arena_copy(arena, id.p ? id.p : "", id.n), held) >= 0)
        return 0;
    free(held);
    return err_set(err, ERR_INTERNAL, "the tool %s failed", tool->name);
}

static void end(struct dm_tool_job *held, const struct tool_result *result)
{
    struct tool_job *job = held->job;

    free(held);
    if (job) {
        tool_job_set_data(job, NULL);
        tool_job_finish(job, result);
    }
}

/* The embedder hears nothing of it; what it says later is for nobody. */
static void cancel(struct tool_job *job)
{
    struct tool_result result = { .err = ERR_INIT };
    struct dm_tool_job *held = tool_job_data(job);

    if (held)
        held->job = NULL;
    tool_job_set_data(job, NULL);
    err_set(&result.err, ERR_CANCELLED, "cancelled");
    tool_job_finish(job, &result);
}

void dm_tool_done(struct dm_tool_job *held, const char *output_json)
{
    struct tool_result result = { .err = ERR_INIT,
                                  .output = str_from(output_json ? output_json : "null") };

    end(held, &result);
}

void dm_tool_fail(struct dm_tool_job *held, const char *code, const char *message)
{
    struct tool_result result = { .err = ERR_INIT };
    enum err_code known = err_from_name(code ? code : "");

    err_set(&result.err, known ? known : ERR_INTERNAL, "%s", message ? message : "it failed");
    end(held, &result);
}

/* ---- contracts ---- */

static const char careful[] =
    "{\"version\":\"1.0.0\",\"capabilitiesRequired\":[\"embedder\"],"
    "\"allowedWakeReasons\":[\"userInitiated\",\"manual\"],\"outputSchema\":true,"
    "\"idempotencyStrategy\":\"unkeyed\",\"scopeRules\":[],"
    "\"sideEffects\":{\"entityTypes\":[],\"notificationTokens\":[]},\"riskLevel\":\"high\","
    "\"dataMinimizationPolicyRef\":\"workspace\",\"toolClass\":\"embedder\",\"mutating\":true,"
    "\"approval\":\"always\",\"parallelSafe\":false,\"timeout\":30,\"egressHosts\":[]}";

static int complete(const char *given, struct json_object **ret_contract, struct err *err)
{
    AUTO_JSON contract = NULL;
    AUTO_JSON defaults = NULL;
    struct json_object_iter it;

    if (json_parse(str_from(given), &contract, err) < 0 ||
        json_parse(str_from(careful), &defaults, err) < 0)
        return err_wrap(err, "the tool's contract");
    if (!json_object_is_type(contract, json_type_object))
        return err_set(err, ERR_BAD_REQUEST, "a tool's contract is a JSON object");
    json_object_object_foreachC(defaults, it)
    {
        if (!json_object_object_get_ex(contract, it.key, NULL))
            json_object_object_add(contract, it.key, json_object_get(it.val));
    }
    *ret_contract = TAKE(contract);
    return 0;
}

int dm_add_tool(struct dm_house *house, const char *contract_json, dm_tool_fn *fn, void *arg,
                struct dm_error *error)
{
    AUTO_JSON contract = NULL;
    struct err err = ERR_INIT;
    struct embed_tool *tool;
    struct str name;

    if (!fn)
        err_set(&err, ERR_BAD_REQUEST, "a tool needs a function");
    if (err.code || complete(contract_json ? contract_json : "", &contract, &err) < 0)
        return embed_fail(error, &err);
    name = json_str(json_find(contract, "name"));
    tool = NEW(struct embed_tool);
    *tool = (struct embed_tool){
        .fn = fn, .arg = arg, .next = house->tools, .name = alloc_copy(name.p ? name.p : "", name.n)
    };
    tool->impl = (struct tool_impl){ .name = tool->name, .start = start, .cancel = cancel };
    if (tool_bed_add(house->rooms.tools, json_object_to_json_string(contract), &tool->impl, tool,
                     &err) < 0) {
        free(tool->name);
        free(tool);
        return embed_fail(error, &err);
    }
    house->tools = tool;
    return 0;
}

void embed_tools_free(struct dm_house *house)
{
    while (house->tools) {
        struct embed_tool *tool = house->tools;

        house->tools = tool->next;
        free(tool->name);
        free(tool);
    }
}
