/* /agents: making, changing, copying and destroying them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/utf8.h"
#include "serve/api_int.h"

struct agent_body {
    struct str display_name, id, description, instructions, template, confirm;
    struct str mode, lifecycle;
    struct json_object *model, *tools, *auto_approve, *paused, *categories, *session_ttl, *budget;
};

#define FIELD(member, name, kind) JSON_FIELD(struct agent_body, member, name, kind)

#define LIFE_FIELDS                                                                                \
    FIELD(mode, "mode", JSON_STR), FIELD(categories, "allowedCategoryIds", JSON_ANY),              \
        FIELD(session_ttl, "sessionTtlSeconds", JSON_ANY), FIELD(budget, "budget", JSON_ANY)

static const struct json_field create_fields[] = {
    FIELD(display_name, "displayName", JSON_STR),
    FIELD(id, "id", JSON_STR),
    FIELD(description, "description", JSON_STR),
    FIELD(instructions, "instructions", JSON_STR),
    FIELD(model, "model", JSON_ANY),
    FIELD(tools, "tools", JSON_ANY),
    FIELD(template, "template", JSON_STR),
    FIELD(auto_approve, "autoApproveMemory", JSON_ANY),
    LIFE_FIELDS,
    { .name = NULL },
};

static const struct json_field change_fields[] = {
    FIELD(display_name, "displayName", JSON_STR),
    FIELD(description, "description", JSON_STR),
    FIELD(instructions, "instructions", JSON_STR),
    FIELD(model, "model", JSON_ANY),
    FIELD(tools, "tools", JSON_ANY),
    FIELD(auto_approve, "autoApproveMemory", JSON_ANY),
    FIELD(paused, "paused", JSON_ANY),
    FIELD(lifecycle, "lifecycle", JSON_STR),
    LIFE_FIELDS,
    { .name = NULL },
};

static const struct {
    const char *name;
    unsigned field;
} members[] = {
    { "displayName", AGENT_NAME },
    { "description", AGENT_DESCRIPTION },
    { "instructions", AGENT_INSTRUCTIONS },
    { "model", AGENT_MODEL },
    { "tools", AGENT_TOOLS },
    { "autoApproveMemory", AGENT_AUTO_APPROVE },
    { "paused", AGENT_PAUSED },
    { "mode", AGENT_MODE },
    { "allowedCategoryIds", AGENT_CATEGORIES },
    { "sessionTtlSeconds", AGENT_SESSION_TTL },
    { "budget", AGENT_EXTENSION },
    { "id", BUILDER_ID },
    { "template", BUILDER_TEMPLATE },
};

/* null takes a model or a list of tools back to the default; for the rest it is as absent. */
static unsigned given_in(struct json_object *json)
{
    unsigned given = 0;

    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        struct json_object *value;
        bool there = json_object_object_get_ex(json, members[i].name, &value);

        if (there && (value || members[i].field & (AGENT_MODEL | AGENT_TOOLS)))
            given |= members[i].field;
    }
    return given;
}

static int read_flag(const char *name, struct json_object *value, bool *ret_flag, struct err *err)
{
    if (!value)
        return 0;
    if (!json_object_is_type(value, json_type_boolean))
        return err_set(err, ERR_SCHEMA_VIOLATION, "%s must be true or false, not %s", name,
                       json_type_name(value));
    *ret_flag = json_object_get_boolean(value);
    return 0;
}

static int read_list(const char *name, struct json_object *list, struct arena *arena,
                     struct str *ret_text, struct err *err)
{
    AUTO_BUF out = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&out);

    if (!list)
        return 0;
    if (!json_object_is_type(list, json_type_array))
        return err_set(err, ERR_SCHEMA_VIOLATION, "%s must be a list of names, not %s", name,
                       json_type_name(list));
    json_write_value(&w, list);
    *ret_text = arena_str(arena, buf_str(&out));
    return 0;
}

static int read_seconds(struct json_object *value, int64_t *ret_ms, struct err *err)
{
    if (!value)
        return 0;
    if (!json_object_is_type(value, json_type_int) ||
        json_object_get_int64(value) < AGENT_SESSION_TTL_MIN / 1000 ||
        json_object_get_int64(value) > AGENT_SESSION_TTL_MAX / 1000)
        return err_set(err, ERR_SCHEMA_VIOLATION,
                       "sessionTtlSeconds must be an integer from %lld to %lld",
                       AGENT_SESSION_TTL_MIN / 1000, AGENT_SESSION_TTL_MAX / 1000);
    *ret_ms = json_object_get_int64(value) * 1000;
    return 0;
}

/* As the members of an extension; null takes one away. */
static int read_budget(struct json_object *budget, struct arena *arena, struct str *ret_text,
                       struct err *err)
{
    AUTO_BUF out = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&out);
    struct json_object_iterator at, end;

    if (!budget)
        return 0;
    if (!json_object_is_type(budget, json_type_object))
        return err_set(err, ERR_SCHEMA_VIOLATION, "budget must be an object, not %s",
                       json_type_name(budget));
    at = json_object_iter_begin(budget);
    end = json_object_iter_end(budget);
    json_write_object_begin(&w);
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        json_write_key(&w, arena_printf(arena, "budget.%s", json_object_iter_peek_name(&at)));
        json_write_value(&w, json_object_iter_peek_value(&at));
    }
    json_write_object_end(&w);
    *ret_text = arena_str(arena, buf_str(&out));
    return 0;
}

static int read_form(const struct agent_body *body, struct json_object *json, struct arena *arena,
                     struct builder_form *ret_form, struct err *err)
{
    *ret_form = (struct builder_form){ .given = given_in(json),
                                       .id = body->id,
                                       .display_name = body->display_name,
                                       .description = body->description,
                                       .instructions = body->instructions,
                                       .template = body->template,
                                       .mode = body->mode,
                                       .lifecycle = body->lifecycle,
                                       .model = json_str(body->model) };
    if (body->lifecycle.p && !body->lifecycle.n)
        return err_set(err, ERR_SCHEMA_VIOLATION, "lifecycle must be active or dormant, not empty");
    if (body->model && !json_object_is_type(body->model, json_type_string))
        return err_set(err, ERR_SCHEMA_VIOLATION, "model must be text, not %s",
                       json_type_name(body->model));
    if (read_list("tools", body->tools, arena, &ret_form->tools, err) < 0 ||
        read_list("allowedCategoryIds", body->categories, arena, &ret_form->categories, err) < 0 ||
        read_seconds(body->session_ttl, &ret_form->session_ttl_ms, err) < 0 ||
        read_budget(body->budget, arena, &ret_form->extension, err) < 0 ||
        read_flag("autoApproveMemory", body->auto_approve, &ret_form->auto_approve_memory, err) < 0)
        return -1;
    return read_flag("paused", body->paused, &ret_form->paused, err);
}

static int form_of(struct serve_request *request, const struct json_field *fields,
                   struct builder_form *ret_form, struct json_object **ret_json)
{
    struct agent_body body = { .model = NULL };
    struct err err = ERR_INIT;

    if (api_body(request, fields, &body, ret_json) < 0)
        return -1;
    if (read_form(&body, *ret_json, serve_request_arena(request), ret_form, &err) == 0)
        return 0;
    serve_reply_error(request, &err);
    return -1;
}

/* ---- once ---- */

#define KEY_MAX 200

/* A client that lost the answer asks again with the same key. */
static int read_once(struct serve_request *request, struct builder_once *ret_once)
{
    struct arena *arena = serve_request_arena(request);
    struct str key = serve_request_header(request, "idempotency-key");
    char *hash = arena_alloc(arena, SHA256_TEXT_SIZE, 1);
    struct err err = ERR_INIT;

    *ret_once = (struct builder_once){ .id = STR_NONE };
    if (!key.p)
        return 0;
    if (!key.n || key.n > KEY_MAX || !utf8_valid(key)) {
        err_set(&err, ERR_BAD_REQUEST, "Idempotency-Key must have 1 to %d characters", KEY_MAX);
        serve_reply_error(request, &err);
        return -1;
    }
    api_hash_request(request, hash);
    ret_once->id = str_from(arena_printf(arena, "request:%.*s", STR_ARG(key)));
    ret_once->hash = str_from(hash);
    return 0;
}

/* ---- in a unit ---- */

struct making {
    struct serve_request *request;
    const struct agent *from; /* what is copied; NULL: a new one */
    const struct builder_form *form;
    struct str archive; /* empty: of the form */
    struct agent agent;
    struct builder_warnings warnings;
};

static int make_new(struct making *making, struct err *err)
{
    struct builder *builder = api_of(making->request)->config.builder;
    struct arena *arena = serve_request_arena(making->request);

    if (making->archive.n)
        return builder_import(builder, making->archive, serve_request_query(making->request, "id"),
                              arena, &making->agent, &making->warnings, err);
    if (making->from)
        return builder_duplicate(builder, making->from, making->form->display_name, arena,
                                 &making->agent, &making->warnings, err);
    if (builder_create(builder, making->form, arena, &making->agent, err) < 0)
        return -1;
    return builder_advise(builder, &making->agent, arena, &making->warnings, err);
}

static int make_once(struct making *making, const struct builder_once *once, struct err *err)
{
    struct builder *builder = api_of(making->request)->config.builder;
    int r = builder_made(builder, once, serve_request_arena(making->request), &making->agent, err);

    if (r != 0)
        return r;
    if (make_new(making, err) < 0)
        return -1;
    return builder_remember(builder, once, making->agent.n, err);
}

static void make(struct making *making)
{
    const struct api_config *config = &api_of(making->request)->config;
    struct builder_once once;
    struct err err = ERR_INIT;
    int r;

    if (read_once(making->request, &once) < 0)
        return;
    if (loop_unit_begin(config->loop, config->agent_domain, &err) < 0) {
        serve_reply_error(making->request, &err);
        return;
    }
    r = make_once(making, &once, &err);
    if (loop_unit_end(config->loop, r >= 0, r >= 0 ? &err : NULL) < 0 || r < 0)
        serve_reply_error(making->request, &err);
    else
        api_reply_agent(making->request, 201, making->agent.id, &making->warnings);
}

void api_agents_create(struct serve_request *request)
{
    AUTO_JSON json = NULL;
    struct builder_form form;

    if (api_check_query(request) == 0 && form_of(request, create_fields, &form, &json) == 0)
        make(&(struct making){ .request = request, .form = &form });
}

static int change(struct serve_request *request, const struct agent *agent,
                  const struct builder_form *form, struct builder_warnings *ret_warnings,
                  struct err *err)
{
    const struct api_config *config = &api_of(request)->config;
    struct agent changed;
    int r;

    if (loop_unit_begin(config->loop, config->agent_domain, err) < 0)
        return -1;
    r = builder_change(config->builder, str_from(agent->id), form, serve_request_arena(request),
                       &changed, err);
    if (r == 0 && form->given & (AGENT_CATEGORIES | AGENT_TOOLS))
        r = builder_advise(config->builder, &changed, serve_request_arena(request), ret_warnings,
                           err);
    if (loop_unit_end(config->loop, r >= 0, r >= 0 ? err : NULL) < 0)
        return -1;
    return r;
}

void api_agents_change(struct serve_request *request)
{
    AUTO_JSON json = NULL;
    struct builder_form form;
    struct builder_warnings warnings = { .n = 0 };
    struct agent agent;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || form_of(request, change_fields, &form, &json) < 0 ||
        api_agent(request, &agent) < 0)
        return;
    if (change(request, &agent, &form, &warnings, &err) < 0)
        serve_reply_error(request, &err);
    else
        api_reply_agent(request, 200, agent.id, &warnings);
}

static const struct json_field copy_fields[] = {
    FIELD(display_name, "displayName", JSON_STR),
    { .name = NULL },
};

void api_agents_duplicate(struct serve_request *request)
{
    AUTO_JSON json = NULL;
    struct builder_form form;
    struct agent agent;

    if (api_check_query(request) == 0 && form_of(request, copy_fields, &form, &json) == 0 &&
        api_agent(request, &agent) == 0)
        make(&(struct making){ .request = request, .form = &form, .from = &agent });
}

/* ---- destroying ---- */

static const struct json_field destroy_fields[] = {
    FIELD(confirm, "confirm", JSON_STR),
    { .name = NULL },
};

void api_agents_destroy(struct serve_request *request)
{
    struct agent_body body = { .confirm = STR_NONE };
    AUTO_JSON json = NULL;
    struct agent agent;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || api_body(request, destroy_fields, &body, &json) < 0)
        return;
    if (!body.confirm.n)
        body.confirm = serve_request_query(request, "confirm");
    /* The whole id: the beginning of one is too little to destroy by. */
    if (agent_get(api_of(request)->config.agent_domain, serve_request_param(request, "id"),
                  serve_request_arena(request), &agent, &err) < 0 ||
        builder_destroy(api_of(request)->config.builder, &agent, body.confirm, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    if (api_reply_begin(request) < 0)
        return;
    serve_reply_empty(request, 204);
    api_reply_end(request);
}

/* ---- archives ---- */

#define ARCHIVE_BYTES (32 * MIB)

void api_agents_export(struct serve_request *request)
{
    AUTO_BUF bytes = BUF_INIT(ARCHIVE_BYTES);
    struct arena *arena = serve_request_arena(request);
    struct agent agent;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || api_agent(request, &agent) < 0)
        return;
    if (builder_export(api_of(request)->config.builder, &agent, arena, &bytes, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    serve_reply_header(
        request, "Content-Disposition",
        arena_printf(arena, "attachment; filename=\"%s.dormouse-agent.tar.gz\"", agent.id));
    serve_reply_text(request, 200, "application/gzip", buf_str(&bytes));
}

void api_agents_import(struct serve_request *request)
{
    struct str bytes = serve_request_body(request);
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0)
        return;
    if (bytes.n) {
        make(&(struct making){ .request = request, .archive = bytes });
        return;
    }
    err_set(&err, ERR_BAD_REQUEST, "the body is empty; it must be an agent's archive");
    serve_reply_error(request, &err);
}
