/* /templates and /tools: what agents can be made of.
 *
 * SPDX-License-Identifier: MIT
 */
#include "builder/template.h"
#include "connect/connect.h"
#include "serve/api_int.h"

static void put_names(struct json_writer *w, const char *key, const char *const *names)
{
    json_put_array(w, key);
    for (; *names; names++)
        json_write_text(w, *names);
    json_write_array_end(w);
}

/* As they are asked for: what the agent's own will say besides is not there yet. */
static void put_subscriptions(struct json_writer *w, const struct template *from)
{
    json_put_array(w, "subscriptions");
    for (size_t i = 0; i < from->subscription_count; i++) {
        const struct subscription *one = &from->subscriptions[i];

        json_write_object_begin(w);
        json_put_some_str(w, "name", one->name);
        json_put_some_text(w, "source", wake_source_name(one->source));
        json_put_array(w, "tokens");
        for (size_t k = 0; k < one->token_count; k++) {
            json_write_object_begin(w);
            json_put_some_text(w, "class", token_class_name(one->tokens[k].class));
            json_put_some_str(w, "namespace", one->tokens[k].name_space);
            json_put_some_str(w, "value", one->tokens[k].value);
            json_write_object_end(w);
        }
        json_write_array_end(w);
        json_put_some_str(w, "predicate", one->predicate);
        json_put_some_str(w, "prompt", one->prompt);
        json_write_object_end(w);
    }
    json_write_array_end(w);
}

static void put_timers(struct json_writer *w, const struct template *from)
{
    json_put_array(w, "timers");
    for (size_t i = 0; i < from->timer_count; i++) {
        json_write_object_begin(w);
        json_put_some_text(w, "name", from->timers[i].name);
        json_put_some_text(w, "rrule", from->timers[i].rrule);
        json_put_some_text(w, "prompt", from->timers[i].prompt);
        json_write_object_end(w);
    }
    json_write_array_end(w);
}

static void write_template(struct json_writer *w, const struct template *from)
{
    AUTO_BUF instructions = BUF_INIT(LIMIT_JSON_BYTES);

    template_instructions(from, &instructions);
    json_write_object_begin(w);
    json_put_some_text(w, "id", from->id);
    json_put_some_text(w, "name", from->name);
    json_put_some_text(w, "kind", from->kind);
    json_put_some_text(w, "mode", from->mode);
    json_put_some_text(w, "description", from->description);
    json_put_some_str(w, "instructions", buf_str(&instructions));
    put_names(w, "tools", from->tools);
    put_subscriptions(w, from);
    put_timers(w, from);
    json_write_object_end(w);
}

void api_templates_list(struct serve_request *request)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    size_t n;
    const struct template *all = templates(&n);

    if (api_check_query(request) < 0)
        return;
    json_write_object_begin(&w);
    json_put_array(&w, "templates");
    for (size_t i = 0; i < n; i++)
        write_template(&w, &all[i]);
    json_write_array_end(&w);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

/* ---- tools ---- */

static const char *risk_name(enum tool_risk risk)
{
    static const char *const names[] = {
        [TOOL_RISK_NONE] = "none",
        [TOOL_RISK_LOW] = "low",
        [TOOL_RISK_MEDIUM] = "medium",
        [TOOL_RISK_HIGH] = "high",
    };

    return names[risk];
}

static const char *approval_name(enum tool_approval approval)
{
    static const char *const names[] = {
        [TOOL_ASK_NONE] = "never",
        [TOOL_ASK_ALWAYS] = "always",
        [TOOL_ASK_BY_RISK] = "byRisk",
        [TOOL_ASK_NEVER] = "never",
    };

    return names[approval];
}

/* A kill switch of its class takes a tool away from everybody; one of an account needs it. */
static void put_available(struct serve_request *request, struct json_writer *w,
                          const struct tool_contract *contract, const struct agent *agent)
{
    const struct kill_switch *on =
        kill_is_on(api_of(request)->config.kill, agent ? agent->id : "", contract->tool_class);
    struct err err = ERR_INIT;
    const char *reason = NULL;

    if (on) {
        kill_refuse(on, &err);
        reason = err_message(&err, 0);
    } else {
        connect_available(api_of(request)->config.connect, contract->name, &reason);
    }
    json_put_bool(w, "available", !reason);
    if (reason)
        json_put_some_text(w, "reason", reason);
}

/* agent NULL: of everybody. */
static void reply_tools(struct serve_request *request, const struct agent *agent)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    size_t n;
    const struct tool_contract *const *all = tool_bed_contracts(api_of(request)->config.tools, &n);

    json_write_object_begin(&w);
    json_put_array(&w, "tools");
    for (size_t i = 0; i < n; i++) {
        bool offered = agent && tool_offered(all[i], agent, STR("userInitiated"));

        if (tool_is_for_system(all[i]) && !offered)
            continue;
        json_write_object_begin(&w);
        json_put_some_text(&w, "name", all[i]->name);
        json_put_some_text(&w, "description", all[i]->description);
        json_put_some_text(&w, "toolClass", all[i]->tool_class);
        json_put_some_text(&w, "risk", risk_name(all[i]->risk));
        json_put_some_text(&w, "approval", approval_name(all[i]->approval));
        json_put_bool(&w, "asks", tool_asks(all[i]));
        if (agent)
            json_put_bool(&w, "enabled", offered);
        put_available(request, &w, all[i], agent);
        json_write_object_end(&w);
    }
    json_write_array_end(&w);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

void api_tools_list(struct serve_request *request)
{
    if (api_check_query(request) == 0)
        reply_tools(request, NULL);
}

void api_agents_tools(struct serve_request *request)
{
    struct agent agent;

    if (api_check_query(request) == 0 && api_agent(request, &agent) == 0)
        reply_tools(request, &agent);
}
