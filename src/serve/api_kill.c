/* /kill: the emergency stop.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/nearest.h"
#include "serve/api_int.h"
#include "wake/wake.h"

static void write_switch(void *arg, const struct kill_switch *on)
{
    struct json_writer *w = arg;

    json_write_object_begin(w);
    json_put_some_text(w, "scope", kill_scope_name(on->scope));
    json_put_some_text(w, "value", on->value);
    json_put_some_text(w, "reason", on->reason);
    json_put_some_time(w, "since", on->since_ms);
    json_write_object_end(w);
}

static void reply_switches(struct serve_request *request, const bool *changed)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);

    json_write_object_begin(&w);
    if (changed)
        json_put_bool(&w, "changed", *changed);
    json_put_array(&w, "switches");
    kill_each(api_of(request)->config.kill, write_switch, &w);
    json_write_array_end(&w);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

void api_kill_list(struct serve_request *request)
{
    if (api_check_query(request) == 0)
        reply_switches(request, NULL);
}

/* ---- turning ---- */

struct kill_body {
    struct str scope, value, reason;
};

static const struct json_field kill_fields[] = {
    JSON_FIELD(struct kill_body, scope, "scope", JSON_STR, .required = true),
    JSON_FIELD(struct kill_body, value, "value", JSON_STR),
    JSON_FIELD(struct kill_body, reason, "reason", JSON_STR),
    { .name = NULL },
};

static int read_scope(struct arena *arena, struct str text, enum kill_scope *ret_scope,
                      struct err *err)
{
    *ret_scope = kill_scope_from(arena_copy(arena, text.p, text.n));
    if (*ret_scope == KILL_NONE)
        return err_set(err, ERR_SCHEMA_VIOLATION, "scope must be all, agent or tools, not \"%.*s\"",
                       STR_ARG(str_take(text, 80)));
    return 0;
}

#define CLASSES_MAX 64 /* that are named */

static int check_class(struct str name, struct err *err)
{
    const char *known[CLASSES_MAX];
    size_t n, count = 0;
    const struct tool_contract *contracts = tool_contracts(&n);

    for (size_t i = 0; i < n; i++) {
        size_t k = 0;

        if (str_is(name, contracts[i].tool_class))
            return 0;
        while (k < count && strcmp(known[k], contracts[i].tool_class) != 0)
            k++;
        if (k == count && count < CLASSES_MAX)
            known[count++] = contracts[i].tool_class;
    }
    return nearest_refuse("class of tools", name, known, count, err);
}

/* A switch that stops nothing would be a false comfort. One can be lifted whatever has become of
 * what it stopped, and by the beginning of an id as it was turned on. */
static int check_value(struct api *api, enum kill_scope scope, bool on, struct str *value,
                       struct arena *arena, struct err *err)
{
    struct agent agent;

    if (scope == KILL_TOOLS && on)
        return check_class(*value, err);
    if (scope != KILL_AGENT)
        return 0;
    if (api_find_agent(api, *value, arena, &agent, err) == 0) {
        *value = str_from(agent.id);
        return 0;
    }
    if (on || err->code != ERR_NOT_FOUND)
        return -1;
    err_reset(err);
    return 0;
}

/* Committed together with what the switch did. Should it fail, lifting it again does it. */
static int make_up(struct api *api, struct err *err)
{
    const struct api_config *config = &api->config;
    int r;

    if (!config->waker)
        return 0;
    if (loop_unit_begin(config->loop, config->agent_domain, err) < 0)
        return -1;
    r = waker_resumed(config->waker, 0, err);
    if (loop_unit_end(config->loop, r == 0, r == 0 ? err : NULL) < 0)
        return -1;
    return r;
}

static void turn(struct serve_request *request, const struct kill_body *body, bool on)
{
    struct api *api = api_of(request);
    struct arena *arena = serve_request_arena(request);
    struct str value = body->value;
    enum kill_scope scope;
    struct err err = ERR_INIT;
    bool changed;
    int r = read_scope(arena, body->scope, &scope, &err);

    if (r == 0)
        r = check_value(api, scope, on, &value, arena, &err);
    if (r == 0)
        r = run_kill(api->config.runner, scope, arena_copy(arena, value.p, value.n),
                     arena_copy(arena, body->reason.p, body->reason.n), on, &err);
    changed = r > 0;
    if (r >= 0 && !on && scope != KILL_TOOLS)
        r = make_up(api, &err);
    if (r < 0)
        serve_reply_error(request, &err);
    else
        reply_switches(request, &changed);
}

void api_kill_on(struct serve_request *request)
{
    AUTO_JSON body = NULL;
    struct kill_body read = { .scope = STR_NONE };

    if (api_check_query(request) == 0 && api_body(request, kill_fields, &read, &body) == 0)
        turn(request, &read, true);
}

void api_kill_off(struct serve_request *request)
{
    const struct kill_body asked = { .scope = serve_request_query(request, "scope"),
                                     .value = serve_request_query(request, "value") };

    if (api_check_query(request) == 0)
        turn(request, &asked, false);
}
