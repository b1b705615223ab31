/* Making, changing and destroying agents.
 *
 * SPDX-License-Identifier: MIT
 */
#include "builder/builder.h"

#include <json-c/json.h>
#include <json-c/json_object_iterator.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_write.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "builder/builder_int.h"
#include "builder/template.h"
#include "files/files.h"
#include "model/model.h"
#include "run/run.h"
#include "tool/tool.h"
#include "wake/wake.h"

struct builder *builder_new(const struct builder_config *config)
{
    struct builder *builder = NEW(struct builder);

    builder->config = *config;
    if (config->tools)
        wizard_bind(builder);
    return builder;
}

void builder_set_runner(struct builder *builder, struct runner *runner)
{
    builder->runner = runner;
}

void builder_set_waker(struct builder *builder, struct waker *waker)
{
    builder->waker = waker;
}

void builder_free(struct builder *builder)
{
    free(builder);
}

int64_t builder_now(const struct builder *builder)
{
    return clock_wall_ms(loop_clock(builder->config.loop));
}

struct str builder_tree(const char *agent_id, struct arena *arena)
{
    return str_from(arena_printf(arena, "agents/%s", agent_id));
}

/* ---- checking against what there is ---- */

bool builder_has_model(struct builder *builder, struct str model)
{
    AUTO_ARENA arena = ARENA_INIT;

    return model.n <= 256 && !memchr(model.p, '\0', model.n) &&
           model_spec_find(builder->config.models, arena_copy(&arena, model.p, model.n));
}

static int check_model(struct builder *builder, struct str model, struct err *err)
{
    size_t n;
    const struct model_spec *all = model_specs(builder->config.models, &n);
    AUTO_ARENA arena = ARENA_INIT;
    const char **names;

    if (!model.n || builder_has_model(builder, model))
        return 0;
    names = ARENA_NEW_N(&arena, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        names[i] = all[i].id;
    return nearest_refuse("model", model, names, n, err);
}

bool builder_has_tool(struct builder *builder, struct str name)
{
    const struct tool_contract *contract = tool_bed_find(builder->config.tools, name);

    return contract && str_is(name, contract->name) && !tool_is_for_system(contract);
}

static int check_tool(struct builder *builder, struct str name, struct err *err)
{
    size_t n;
    const struct tool_contract *const *all = tool_bed_contracts(builder->config.tools, &n);
    AUTO_ARENA arena = ARENA_INIT;
    const char **names;
    size_t count = 0;

    if (builder_has_tool(builder, name))
        return 0;
    names = ARENA_NEW_N(&arena, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        if (!tool_is_for_system(all[i]))
            names[count++] = all[i]->name;
    return nearest_refuse("tool", name, names, count, err);
}

/* A JSON list of texts. */
static int read_names(const char *what, struct str text, struct json_object **ret_list,
                      struct err *err)
{
    bool good;

    if (json_parse(text, ret_list, err) < 0)
        return err_wrap(err, "%s", what);
    good = json_object_is_type(*ret_list, json_type_array);
    for (size_t i = 0; good && i < json_length(*ret_list); i++)
        good = json_object_is_type(json_object_array_get_idx(*ret_list, i), json_type_string);
    return good ? 0 : err_set(err, ERR_BAD_REQUEST, "%s must be a list of names", what);
}

static int check_tools(struct builder *builder, struct str tools, struct err *err)
{
    AUTO_JSON list = NULL;

    if (!tools.n)
        return 0;
    if (read_names("tools", tools, &list, err) < 0)
        return -1;
    for (size_t i = 0; i < json_length(list); i++)
        if (check_tool(builder, json_str(json_object_array_get_idx(list, i)), err) < 0)
            return -1;
    return 0;
}

/* ---- from form to agent ---- */

static const char *text_or_null(struct str text, struct arena *arena)
{
    return text.n ? arena_copy(arena, text.p, text.n) : NULL;
}

static const char *text_of(struct str text, struct arena *arena)
{
    return text.n ? arena_copy(arena, text.p, text.n) : "";
}

static int no_nul(const char *what, struct str text, struct err *err)
{
    if (text.n && memchr(text.p, '\0', text.n))
        return err_set(err, ERR_BAD_REQUEST, "%s has a control character (U+0000)", what);
    return 0;
}

/* is: what it had; NULL: nothing. */
static int read_extension(struct str given, const struct agent *is, struct arena *arena,
                          struct agent *ret_agent, struct err *err)
{
    AUTO_JSON all = NULL;
    AUTO_JSON more = NULL;
    AUTO_BUF out = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&out);
    struct json_object_iterator at, end;

    if (json_parse(str_from(is && is->extension ? is->extension : "{}"), &all, err) < 0 ||
        json_parse(given, &more, err) < 0)
        return err_wrap(err, "the extension");
    at = json_object_iter_begin(more);
    end = json_object_iter_end(more);
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        struct json_object *value = json_object_iter_peek_value(&at);

        json_object_object_del(all, json_object_iter_peek_name(&at));
        if (value)
            json_object_object_add(all, json_object_iter_peek_name(&at), json_object_get(value));
    }
    json_write_value(&w, all);
    ret_agent->extension = arena_copy(arena, out.p, out.n);
    return 0;
}

static int read_life(struct builder *builder, const struct builder_form *form,
                     const struct agent *is, struct arena *arena, struct agent *ret_agent,
                     struct err *err)
{
    const char *kept = is ? is->allowed_category_ids : NULL;

    if (no_nul("the mode", form->mode, err) < 0 ||
        no_nul("the categories", form->categories, err) < 0)
        return -1;
    if (form->given & AGENT_MODE)
        ret_agent->mode = text_of(form->mode, arena);
    if (form->given & AGENT_CATEGORIES &&
        builder_category_ids(builder, form->categories, kept, arena,
                             &ret_agent->allowed_category_ids, err) < 0)
        return -1;
    if (form->given & AGENT_SESSION_TTL)
        ret_agent->session_ttl_ms = form->session_ttl_ms;
    if (form->given & AGENT_EXTENSION)
        return read_extension(form->extension, is, arena, ret_agent, err);
    return 0;
}

/* What is given, as members of an agent. */
static int read_form(struct builder *builder, const struct builder_form *form,
                     const struct agent *is, struct arena *arena, struct agent *ret_agent,
                     struct err *err)
{
    if (no_nul("the name", form->display_name, err) < 0 ||
        no_nul("the description", form->description, err) < 0 ||
        no_nul("the instructions", form->instructions, err) < 0 ||
        (form->given & AGENT_MODEL && check_model(builder, form->model, err) < 0) ||
        (form->given & AGENT_TOOLS && check_tools(builder, form->tools, err) < 0))
        return -1;
    if (form->given & AGENT_NAME)
        ret_agent->display_name = text_of(form->display_name, arena);
    if (form->given & AGENT_DESCRIPTION)
        ret_agent->description = text_of(form->description, arena);
    if (form->given & AGENT_INSTRUCTIONS)
        ret_agent->instructions = text_of(form->instructions, arena);
    if (form->given & AGENT_MODEL)
        ret_agent->model_id = text_or_null(form->model, arena);
    if (form->given & AGENT_TOOLS)
        ret_agent->tools = text_or_null(form->tools, arena);
    if (form->given & AGENT_AUTO_APPROVE)
        ret_agent->auto_approve_memory = form->auto_approve_memory;
    if (form->given & AGENT_PAUSED)
        ret_agent->paused = form->paused;
    return read_life(builder, form, is, arena, ret_agent, err);
}

static const char *tool_list(const char *const *names, struct arena *arena)
{
    AUTO_BUF out = BUF_INIT(16384);

    buf_add_text(&out, "[");
    for (size_t i = 0; names[i]; i++) {
        if (i)
            buf_add_text(&out, ",");
        json_quote(&out, str_from(names[i]));
    }
    buf_add_text(&out, "]");
    return arena_text(arena, buf_text(&out));
}

static int begin_with_template(const struct builder_form *form, struct arena *arena,
                               struct agent *agent, struct err *err)
{
    AUTO_BUF instructions = BUF_INIT(AGENT_INSTRUCTIONS_MAX);
    const struct template *from;

    if (!(form->given & BUILDER_TEMPLATE) || !form->template.n)
        return 0;
    if (template_get(form->template, &from, err) < 0)
        return -1;
    template_instructions(from, &instructions);
    agent->template = from->id;
    agent->kind = from->kind;
    agent->mode = from->mode;
    agent->display_name = from->name;
    agent->description = from->description;
    agent->instructions = arena_text(arena, buf_text(&instructions));
    agent->tools = tool_list(from->tools, arena);
    return 0;
}

static int no_pattern(struct str name, struct err *err)
{
    AUTO_BUF names = BUF_INIT(1024);
    size_t n;
    const struct pattern *all = patterns(&n);

    for (size_t i = 0; i < n; i++)
        buf_printf(&names, "%s%s", i ? ", " : "", all[i].name);
    return err_set(err, ERR_BAD_REQUEST, "there is no pattern \"%.*s\"; there are: %s",
                   STR_ARG(utf8_truncate(name, 80)), buf_text(&names));
}

/* Those that the instructions have not got already. */
static int add_patterns(const struct builder_form *form, struct arena *arena, struct agent *agent,
                        struct err *err)
{
    AUTO_BUF out = BUF_INIT(2 * AGENT_INSTRUCTIONS_MAX);
    AUTO_JSON list = NULL;

    if (!(form->given & BUILDER_PATTERNS) || !form->patterns.n)
        return 0;
    if (read_names("patterns", form->patterns, &list, err) < 0)
        return -1;
    buf_add_text(&out, agent->instructions ? agent->instructions : "");
    for (size_t i = 0; i < json_length(list); i++) {
        struct str name = json_str(json_object_array_get_idx(list, i));
        const struct pattern *pattern = pattern_find(name);

        if (!pattern)
            return no_pattern(name, err);
        if (str_find(buf_str(&out), pattern->text) >= 0)
            continue;
        if (out.n && out.p[out.n - 1] != '\n')
            buf_add_text(&out, "\n");
        pattern_add(pattern, &out);
    }
    agent->instructions = arena_text(arena, buf_text(&out));
    return 0;
}

static int make(struct builder *builder, const struct builder_form *form, struct arena *arena,
                struct agent *ret_agent, struct err *err)
{
    *ret_agent = (struct agent){ .kind = "custom" };
    if (begin_with_template(form, arena, ret_agent, err) < 0 ||
        read_form(builder, form, NULL, arena, ret_agent, err) < 0 ||
        add_patterns(form, arena, ret_agent, err) < 0)
        return -1;
    if (!ret_agent->display_name)
        return err_set(err, ERR_BAD_REQUEST, "displayName is missing: every agent has a name");
    if (agent_name_check("the name", str_from(ret_agent->display_name), err) < 0 ||
        agent_text_check("the instructions",
                         str_from(ret_agent->instructions ? ret_agent->instructions : ""),
                         AGENT_INSTRUCTIONS_MAX, err) < 0 ||
        (form->given & AGENT_MODE && agent_mode_check(str_from(ret_agent->mode), err) < 0) ||
        (form->given & AGENT_CATEGORIES &&
         agent_categories_check(str_from(ret_agent->allowed_category_ids), err) < 0))
        return -1;
    if (!(form->given & BUILDER_ID))
        return 0;
    if (agent_id_check(form->id, err) < 0)
        return -1;
    if (agent_is_system(form->id))
        return err_set(err, ERR_BAD_REQUEST, "ids that begin with \"system:\" are Dormouse's own");
    ret_agent->id = arena_copy(arena, form->id.p, form->id.n);
    return 0;
}

int builder_preview(struct builder *builder, const struct builder_form *form, struct arena *arena,
                    struct agent *ret_agent, struct err *err)
{
    return make(builder, form, arena, ret_agent, err);
}

int builder_check(struct builder *builder, const struct builder_form *form, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct agent agent;

    return make(builder, form, &arena, &agent, err);
}

/* What an agent was made from is a word for people: one that is not known here says nothing. */
static void remember_template(struct agent *agent, struct str template)
{
    const struct template *found = template_find(template);

    agent->template = found ? found->id : NULL;
    if (found)
        agent->kind = found->kind;
}

int builder_create_from(struct builder *builder, const struct builder_form *form,
                        struct str template, struct arena *arena, struct agent *ret_agent,
                        struct err *err)
{
    const struct builder_config *config = &builder->config;
    struct agent agent;

    if (make(builder, form, arena, &agent, err) < 0)
        return -1;
    if (template.n)
        remember_template(&agent, template);
    agent.taint = form->taint.n ? arena_copy(arena, form->taint.p, form->taint.n) : NULL;
    if (!agent.id && agent_free_id(config->agent_domain, str_from(agent.display_name), arena,
                                   &agent.id, err) < 0)
        return -1;
    if (agent_add(config->agent_domain, config->change, &agent, builder_now(builder), err) < 0)
        return -1;
    *ret_agent = agent;
    return 0;
}

int builder_create(struct builder *builder, const struct builder_form *form, struct arena *arena,
                   struct agent *ret_agent, struct err *err)
{
    const struct template *from = NULL;

    if (form->given & BUILDER_TEMPLATE && form->template.n &&
        template_get(form->template, &from, err) < 0)
        return -1;
    if (builder_create_from(builder, form, STR_NONE, arena, ret_agent, err) < 0)
        return -1;
    return from ? builder_add_alarms(builder, from, ret_agent, arena, err) : 0;
}

/* The end of a life is no setting: it is asked for by name. */
static int change_life(struct builder *builder, struct str id, struct str lifecycle,
                       struct err *err)
{
    const struct builder_config *config = &builder->config;
    enum agent_lifecycle to = agent_lifecycle_of(lifecycle);

    if (!lifecycle.n)
        return 0;
    if (to != AGENT_ACTIVE && to != AGENT_DORMANT)
        return err_set(err, ERR_BAD_REQUEST,
                       "lifecycle can be set to active or dormant, not to \"%.*s\"",
                       STR_ARG(utf8_truncate(lifecycle, 40)));
    return agent_set_lifecycle(config->agent_domain, config->change, id, to, builder_now(builder),
                               err);
}

static bool wakes_by_itself(const struct agent *agent)
{
    return agent->lifecycle == AGENT_ACTIVE && strcmp(agent->mode, "interactive") != 0;
}

/* Does it hear again of what it did not before? */
static bool begins_again(const struct agent *before, const struct agent *after)
{
    return (before->paused && !after->paused) ||
           (!wakes_by_itself(before) && wakes_by_itself(after));
}

int builder_change(struct builder *builder, struct str id, const struct builder_form *form,
                   struct arena *arena, struct agent *ret_agent, struct err *err)
{
    const struct builder_config *config = &builder->config;
    struct agent is, to = { .id = arena_copy(arena, id.p, id.n) };

    if (agent_is_system(id))
        return err_set(err, ERR_BAD_REQUEST, "%s is part of Dormouse and can't be changed", to.id);
    if (agent_get(config->agent_domain, id, arena, &is, err) < 0 ||
        read_form(builder, form, &is, arena, &to, err) < 0 ||
        agent_change(config->agent_domain, config->change, &to, form->given & 0xffff,
                     builder_now(builder), err) < 0 ||
        change_life(builder, id, form->lifecycle, err) < 0)
        return -1;
    if (agent_get(config->agent_domain, id, arena, ret_agent, err) < 0)
        return -1;
    return builder->waker && begins_again(&is, ret_agent) ? waker_resumed(builder->waker, is.n, err)
                                                          : 0;
}

static bool is_other(void *arg, const struct agent *agent)
{
    int64_t *n = arg;

    if (agent->n != *n)
        *n = 0;
    return *n != 0;
}

/* 1 where nobody else is or was there, else 0: what is in use is not changed behind a person's
 * back, whatever the first agent is called now. */
static int is_fresh(struct builder *builder, const struct agent *first, struct err *err)
{
    int64_t n = first->n;

    if (agent_each(builder->config.agent_domain, is_other, &n, err) < 0)
        return -1;
    return n != 0;
}

/* Its tools stay those of its kind: whom everything is asked needs all that there are. */
int builder_ensure_first(struct builder *builder, const char *display_name, struct arena *arena,
                         struct agent *ret_agent, struct err *err)
{
    const struct builder_config *config = &builder->config;
    const struct builder_form form = { .given = BUILDER_TEMPLATE, .template = STR("planner") };
    const struct template *from;
    struct agent to = { .id = NULL };
    int r = agent_ensure_default(config->agent_domain, config->change, display_name,
                                 builder_now(builder), arena, ret_agent, err);

    if (r <= 0)
        return r;
    if (template_get(form.template, &from, err) < 0 ||
        begin_with_template(&form, arena, &to, err) < 0)
        return -1;
    to.id = ret_agent->id;
    to.allowed_category_ids = "[\"*\"]";
    if (agent_change(config->agent_domain, config->change, &to,
                     AGENT_DESCRIPTION | AGENT_INSTRUCTIONS | AGENT_CATEGORIES,
                     builder_now(builder), err) < 0)
        return -1;
    r = is_fresh(builder, ret_agent, err);
    if (r < 0 || (r && builder_add_alarms(builder, from, ret_agent, arena, err) < 0))
        return -1;
    return agent_get(config->agent_domain, str_from(to.id), arena, ret_agent, err);
}

/* ---- copying ---- */

/* "NAME (copy)" within the length of names. */
static const char *copy_name(const char *name, struct arena *arena)
{
    struct str suffix = STR(" (copy)"), rest = str_from(name);
    size_t characters = 0;
    uint32_t code;

    while (rest.n && characters < AGENT_NAME_MAX - suffix.n) {
        if (utf8_decode(&rest, &code) < 0)
            break;
        characters++;
    }
    return arena_printf(arena, "%.*s%s", (int)(strlen(name) - rest.n), name, suffix.p);
}

int builder_duplicate(struct builder *builder, const struct agent *from, struct str name,
                      struct arena *arena, struct agent *ret_agent,
                      struct builder_warnings *warnings, struct err *err)
{
    const struct builder_config *config = &builder->config;
    struct agent agent = *from;

    if (agent_is_system(str_from(from->id)))
        return err_set(err, ERR_BAD_REQUEST, "%s is part of Dormouse; there is only one", from->id);
    if (no_nul("the name", name, err) < 0)
        return -1;
    agent.n = 0;
    agent.lifecycle = AGENT_ACTIVE;
    agent.paused = false;
    agent.display_name =
        name.n ? arena_copy(arena, name.p, name.n) : copy_name(from->display_name, arena);
    if (agent_free_id(config->agent_domain, str_from(agent.display_name), arena, &agent.id, err) <
            0 ||
        agent_add(config->agent_domain, config->change, &agent, builder_now(builder), err) < 0 ||
        builder_copy_files(builder, from->id, agent.id, arena, err) < 0 ||
        builder_wakes_copy(builder, from, &agent, arena, warnings, err) < 0)
        return -1;
    *ret_agent = agent;
    return 0;
}

/* ---- ending ---- */

static int end_record(struct builder *builder, const struct agent *agent, struct err *err)
{
    const struct builder_config *config = &builder->config;
    AUTO_ARENA arena = ARENA_INIT;
    int r;

    if (loop_unit_begin(config->loop, config->agent_domain, err) < 0)
        return -1;
    r = agent_set_destroyed(config->agent_domain, config->change, str_from(agent->id),
                            builder_now(builder), err);
    if (r > 0)
        r = agent_withdraw_items(config->agent_domain, config->change, agent->n,
                                 builder_now(builder), err);
    if (r >= 0 && config->files)
        r = file_tree_remove(config->files, builder_tree(agent->id, &arena), STR("owner"),
                             STR("the agent was destroyed"), err);
    if (loop_unit_end(config->loop, r >= 0, r >= 0 ? err : NULL) < 0)
        return -1;
    return r < 0 ? -1 : 0;
}

static int end_runs(struct builder *builder, const struct agent *agent, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct err why = ERR_INIT;
    struct str *keys;
    size_t n;

    if (builder_open_runs(builder->config.agent_domain, agent->n, &arena, &keys, &n, err) < 0)
        return -1;
    err_set(&why, ERR_AGENT_DESTROYED, "the agent %s was destroyed", agent->id);
    for (size_t i = 0; i < n; i++)
        if (run_abort(builder->runner, keys[i], &why, err) < 0)
            return -1;
    return 0;
}

int builder_destroy(struct builder *builder, const struct agent *agent, struct str confirm,
                    struct err *err)
{
    if (agent_is_system(str_from(agent->id)))
        return err_set(err, ERR_BAD_REQUEST, "%s is part of Dormouse and can't be destroyed",
                       agent->id);
    if (!str_is(confirm, agent->display_name))
        return err_set(err, ERR_BAD_REQUEST,
                       "to destroy %s, confirm with its name exactly as it is written: %s",
                       agent->id, agent->display_name);
    if (end_record(builder, agent, err) < 0)
        return -1;
    return builder->runner ? end_runs(builder, agent, err) : 0;
}
