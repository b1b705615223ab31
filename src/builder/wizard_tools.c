/* The wizard's tools: what there is to choose from, and the form of a new agent that a person
 * accepts.
 *
 * propose_agent is keyed: the agent's row carries the operation, so that doing it again after a
 * crash finds the agent instead of making a second one.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <string.h>

#include "agent/link.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "builder/builder_int.h"
#include "builder/template.h"
#include "connect/connect.h"
#include "journal/record.h"
#include "model/model.h"
#include "tool/tool.h"

static int finish(struct tool_job *job, struct buf *json, struct json_writer *w, struct err *err)
{
    struct tool_result result = { .err = ERR_INIT };

    if (json_write_end(w) < 0)
        return err_set(err, ERR_TOO_LARGE, "the answer is too long");
    result.output = buf_str(json);
    tool_job_finish(job, &result);
    return 0;
}

/* ---- what there is ---- */

static void write_names(struct json_writer *w, const char *key, const char *const *names)
{
    json_put_array(w, key);
    for (; *names; names++)
        json_write_text(w, *names);
    json_write_array_end(w);
}

static int list_templates(struct tool_job *job, struct err *err)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    size_t n;
    const struct template *all = templates(&n);

    json_write_object_begin(&w);
    json_put_array(&w, "templates");
    for (size_t i = 0; i < n; i++) {
        json_write_object_begin(&w);
        json_put_text(&w, "id", all[i].id);
        json_put_text(&w, "name", all[i].name);
        json_put_text(&w, "description", all[i].description);
        write_names(&w, "tools", all[i].tools);
        write_names(&w, "patterns", all[i].patterns);
        json_put_text(&w, "instructions", all[i].instructions);
        json_write_object_end(&w);
    }
    json_write_array_end(&w);
    json_write_object_end(&w);
    return finish(job, &json, &w, err);
}

/* A tool that needs an account may be given to an agent before that is connected; the person should
 * hear of it. */
static void write_available(const struct builder *builder, const char *name, struct json_writer *w)
{
    const char *reason = NULL;

    if (!builder->config.connect || connect_available(builder->config.connect, name, &reason))
        return;
    json_put_bool(w, "available", false);
    json_put_text(w, "reason", reason);
}

static void write_tools(struct builder *builder, struct json_writer *w)
{
    size_t n;
    const struct tool_contract *const *all = tool_bed_contracts(builder->config.tools, &n);

    json_put_array(w, "tools");
    for (size_t i = 0; i < n; i++) {
        if (tool_is_for_system(all[i]))
            continue;
        json_write_object_begin(w);
        json_put_text(w, "name", all[i]->name);
        json_put_text(w, "description", all[i]->description);
        json_put_text(w, "asks", tool_asks(all[i]) ? "a person is asked first" : "never");
        if (strcmp(all[i]->tool_class, "journal") == 0) {
            json_put_bool(w, "journal", true);
        }
        write_available(builder, all[i]->name, w);
        json_write_object_end(w);
    }
    json_write_array_end(w);
}

static int write_categories(struct builder *builder, struct arena *arena, struct json_writer *w,
                            struct err *err)
{
    struct record *all;
    size_t n;

    if (builder_categories(builder, arena, &all, &n, err) < 0)
        return -1;
    json_put_array(w, "categories");
    for (size_t i = 0; i < n; i++)
        json_write_str(w, record_str(&all[i], "name"));
    json_write_array_end(w);
    return 0;
}

static void write_patterns(struct json_writer *w)
{
    size_t n;
    const struct pattern *parts = patterns(&n);

    json_put_array(w, "patterns");
    for (size_t i = 0; i < n; i++) {
        json_write_object_begin(w);
        json_put_text(w, "name", parts[i].name);
        json_put_text(w, "title", parts[i].title);
        json_write_object_end(w);
    }
    json_write_array_end(w);
}

static int list_tools(struct tool_job *job, struct err *err)
{
    struct builder *builder = tool_job_impl_arg(job);
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    size_t model_count;
    const struct model_spec *models = model_specs(builder->config.models, &model_count);

    json_write_object_begin(&w);
    write_tools(builder, &w);
    json_put_array(&w, "models");
    for (size_t i = 0; i < model_count; i++)
        json_write_text(&w, models[i].id);
    json_write_array_end(&w);
    write_patterns(&w);
    if (write_categories(builder, tool_job_arena(job), &w, err) < 0)
        return -1;
    json_write_object_end(&w);
    return finish(job, &json, &w, err);
}

/* ---- the form ---- */

struct proposal {
    struct str display_name, description, instructions, model, template;
    struct json_object *tools, *patterns, *categories;
};

static const struct json_field proposal_fields[] = {
    JSON_FIELD(struct proposal, display_name, "displayName", JSON_STR, .required = true),
    JSON_FIELD(struct proposal, description, "description", JSON_STR, .required = true),
    JSON_FIELD(struct proposal, instructions, "instructions", JSON_STR, .required = true),
    JSON_FIELD(struct proposal, tools, "tools", JSON_ARRAY, .required = true),
    JSON_FIELD(struct proposal, model, "model", JSON_STR),
    JSON_FIELD(struct proposal, template, "template", JSON_STR),
    JSON_FIELD(struct proposal, patterns, "patterns", JSON_ARRAY),
    JSON_FIELD(struct proposal, categories, "categories", JSON_ARRAY),
    { .name = NULL },
};

static struct str json_text(struct json_object *value, struct arena *arena)
{
    AUTO_BUF out = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&out);

    if (!value)
        return STR_NONE;
    json_write_value(&w, value);
    return arena_str(arena, buf_str(&out));
}

static int read_proposal(struct json_object *arguments, struct arena *arena,
                         struct builder_form *ret_form, struct err *err)
{
    struct proposal from = { .tools = NULL };

    if (json_read(arguments, proposal_fields, JSON_REFUSE_UNKNOWN, &from, err) < 0)
        return -1;
    *ret_form = (struct builder_form){
        .given = AGENT_NAME | AGENT_DESCRIPTION | AGENT_INSTRUCTIONS | AGENT_TOOLS | AGENT_MODEL |
                 BUILDER_TEMPLATE | BUILDER_PATTERNS | (from.categories ? AGENT_CATEGORIES : 0),
        .display_name = from.display_name,
        .description = from.description,
        .instructions = from.instructions,
        .model = from.model,
        .tools = json_text(from.tools, arena),
        .template = from.template,
        .patterns = json_text(from.patterns, arena),
        .categories = json_text(from.categories, arena),
    };
    return 0;
}

static int proposal_check(void *impl_arg, const struct tool_call *call,
                          struct json_object *arguments, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct builder_form form;

    (void)call;
    if (read_proposal(arguments, &arena, &form, err) < 0)
        return -1;
    return builder_check(impl_arg, &form, err);
}

/* What the page shows as a form: the agent as it would be, patterns included. */
static void write_form(const struct agent *agent, const char *categories, struct buf *out)
{
    struct json_writer w = JSON_WRITER(out);

    json_write_object_begin(&w);
    json_put_text(&w, "displayName", agent->display_name);
    json_put_text(&w, "description", agent->description);
    json_put_text(&w, "instructions", agent->instructions);
    json_put_raw(&w, "tools", str_from(agent->tools ? agent->tools : "[]"));
    json_put_raw(&w, "categories", str_from(categories));
    if (agent->model_id)
        json_put_text(&w, "model", agent->model_id);
    if (agent->template)
        json_put_text(&w, "template", agent->template);
    json_write_object_end(&w);
}

/* What it waits for, what it reaches, and what is missing for that. */
static int show_reach(struct builder *builder, struct tool_job *job, const struct agent *agent,
                      const char *categories, struct err *err)
{
    const struct template *from = agent->template ? template_find(str_from(agent->template)) : NULL;
    struct builder_warnings warnings = { .n = 0 };

    for (size_t i = 0; from && i < from->subscription_count; i++)
        tool_job_fact(job, "wakes", from->subscriptions[i].name);
    for (size_t i = 0; from && i < from->timer_count; i++)
        tool_job_fact(job, "wakes", str_from(from->timers[i].name));
    tool_job_fact(job, "reads in the journal",
                  str_from(strcmp(categories, "[]") == 0        ? "no categories"
                           : strcmp(categories, "[\"*\"]") == 0 ? "all categories"
                                                                : categories));
    if (builder_advise(builder, agent, tool_job_arena(job), &warnings, err) < 0)
        return -1;
    for (size_t i = 0; i < warnings.n; i++)
        tool_job_fact(job, "note", str_from(warnings.text[i]));
    return 0;
}

static int proposal_preview(struct tool_job *job, struct err *err)
{
    struct builder *builder = tool_job_impl_arg(job);
    struct arena *arena = tool_job_arena(job);
    AUTO_BUF details = BUF_INIT(LIMIT_JSON_BYTES);
    struct tool_preview preview = { .kind = STR("text") };
    const char *categories;
    struct builder_form form;
    struct agent agent;

    if (read_proposal(tool_job_arguments(job), arena, &form, err) < 0 ||
        builder_preview(builder, &form, arena, &agent, err) < 0)
        return -1;
    agent.id = "AGENT"; /* it has none yet */
    tool_job_fact(job, "name", str_from(agent.display_name));
    tool_job_fact(job, "what for", str_from(agent.description));
    tool_job_fact(job, "template", str_from(agent.template));
    tool_job_fact(job, "model", str_from(agent.model_id));
    tool_job_fact(job, "may use", str_from(agent.tools ? agent.tools : "all tools"));
    if (builder_category_names(builder, agent.allowed_category_ids, arena, &categories, err) < 0 ||
        show_reach(builder, job, &agent, categories, err) < 0)
        return -1;
    write_form(&agent, categories, &details);
    preview.title = str_from(arena_printf(arena, "Make the agent %s", agent.display_name));
    preview.text = str_from(agent.instructions);
    preview.details = buf_str(&details);
    tool_job_shown(job, &preview, STR(""));
    return 0;
}

/* Who made it, in the unit that does. */
static int link_maker(struct builder *builder, struct tool_job *job, const struct agent *made,
                      struct err *err)
{
    const struct agent_link link = { .relation = AGENT_LINK_AGENT_PARENT,
                                     .from_id = str_from(made->id),
                                     .to_id = str_from(tool_job_call(job)->agent->id) };

    return agent_link_add(builder->config.agent_domain, builder->config.change, &link, NULL,
                          builder_now(builder), err) < 0
               ? -1
               : 0;
}

static int make(struct builder *builder, struct tool_job *job, const struct builder_form *form,
                struct agent *ret_agent, struct err *err)
{
    const struct builder_config *config = &builder->config;
    const struct builder_once once = { .id = tool_job_operation_id(job) };
    struct arena *arena = tool_job_arena(job);
    int r;

    if (loop_unit_begin(config->loop, config->agent_domain, err) < 0)
        return -1;
    r = agent_hold_alive(config->agent_domain, tool_job_call(job)->agent->n, err);
    if (r >= 0)
        r = builder_made(builder, &once, arena, ret_agent, err);
    if (r == 0) {
        r = builder_create(builder, form, arena, ret_agent, err);
        if (r == 0)
            r = builder_remember(builder, &once, ret_agent->n, err);
        if (r == 0)
            r = link_maker(builder, job, ret_agent, err);
    }
    if (loop_unit_end(config->loop, r >= 0, r >= 0 ? err : NULL) < 0)
        return -1;
    return r < 0 ? -1 : 0;
}

static int propose_agent(struct tool_job *job, struct err *err)
{
    struct arena *arena = tool_job_arena(job);
    AUTO_BUF json = BUF_INIT(64 * KIB);
    struct json_writer w = JSON_WRITER(&json);
    struct builder_warnings warnings = { .n = 0 };
    struct builder_form form;
    struct agent agent;

    if (read_proposal(tool_job_arguments(job), arena, &form, err) < 0)
        return -1;
    form.taint = tool_job_call(job)->taint;
    if (make(tool_job_impl_arg(job), job, &form, &agent, err) < 0 ||
        builder_advise(tool_job_impl_arg(job), &agent, arena, &warnings, err) < 0)
        return -1;
    json_write_object_begin(&w);
    json_put_text(&w, "agent_id", agent.id);
    json_put_text(&w, "name", agent.display_name);
    if (warnings.n) {
        json_put_array(&w, "warnings");
        for (size_t i = 0; i < warnings.n; i++)
            json_write_text(&w, warnings.text[i]);
        json_write_array_end(&w);
    }
    json_write_object_end(&w);
    return finish(job, &json, &w, err);
}

static const struct tool_impl impls[] = {
    { .name = "list_templates", .start = list_templates },
    { .name = "list_tools", .start = list_tools },
    { .name = "propose_agent",
      .check = proposal_check,
      .start = propose_agent,
      .preview = proposal_preview },
};

void wizard_bind(struct builder *builder)
{
    for (size_t i = 0; i < ARRAY_LEN(impls); i++)
        tool_bed_bind(builder->config.tools, &impls[i], builder);
}
