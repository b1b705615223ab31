/* /secrets: names, what uses them, setting and removing. A value is taken and never given.
 *
 * SPDX-License-Identifier: MIT
 */
#include "connect/connect.h"
#include "policy/secret.h"
#include "serve/api_int.h"

static struct secrets *secrets_of(struct serve_request *request)
{
    struct secrets *secrets = api_of(request)->config.secrets;
    struct err err = ERR_INIT;

    if (secrets)
        return secrets;
    err_set(&err, ERR_NOT_FOUND, "no secrets are kept here");
    serve_reply_error(request, &err);
    return NULL;
}

/* The {name}, in a form that a store takes. */
static const char *name_of(struct serve_request *request)
{
    struct str param = serve_request_param(request, "name");
    const char *name = arena_copy(serve_request_arena(request), param.p, param.n);
    struct err err = ERR_INIT;

    if (strlen(name) == param.n && secrets_check_name(name, &err) == 0)
        return name;
    if (!err.code)
        err_set(&err, ERR_BAD_REQUEST, "the name of a secret has no NUL");
    serve_reply_error(request, &err);
    return NULL;
}

struct listing {
    struct json_writer *w;
    struct api *api;
    const char *where;
    struct arena *arena;
};

/* What uses the secret, one after the other: "model near", "Slack". */
static void each_user(const struct api *api, const char *name, struct arena *arena,
                      void (*fn)(void *arg, const char *user), void *arg)
{
    const struct api_config *config = &api->config;
    const char *account = config->connect ? connect_uses_secret(config->connect, name) : NULL;
    size_t n = 0;
    const struct model_spec *specs = config->models ? model_specs(config->models, &n) : NULL;

    for (size_t i = 0; i < n; i++)
        if (specs[i].secret_ref && strcmp(specs[i].secret_ref, name) == 0)
            fn(arg, arena_printf(arena, "model %s", specs[i].id));
    if (account)
        fn(arg, account);
}

static void write_user(void *arg, const char *user)
{
    json_write_text(arg, user);
}

static void write_one(void *arg, const char *name)
{
    const struct listing *list = arg;

    json_write_object_begin(list->w);
    json_put_some_text(list->w, "name", name);
    json_put_some_text(list->w, "store", list->where);
    json_put_array(list->w, "usedBy");
    each_user(list->api, name, list->arena, write_user, list->w);
    json_write_array_end(list->w);
    json_write_object_end(list->w);
}

void api_secrets_list(struct serve_request *request)
{
    struct secrets *secrets;
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    AUTO_BUF where = BUF_INIT(16384);
    struct json_writer w = JSON_WRITER(&json);
    struct listing list = { .w = &w,
                            .api = api_of(request),
                            .arena = serve_request_arena(request) };
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || !(secrets = secrets_of(request)))
        return;
    if (secrets_where(secrets, &where, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    list.where = buf_text(&where);
    json_write_object_begin(&w);
    json_put_array(&w, "secrets");
    if (secrets_list(secrets, write_one, &list, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    json_write_array_end(&w);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

struct value_body {
    struct str value;
};

static const struct json_field value_fields[] = {
    JSON_FIELD(struct value_body, value, "value", JSON_STR, .required = true),
    { .name = NULL },
};

void api_secrets_set(struct serve_request *request)
{
    struct secrets *secrets;
    const char *name;
    struct value_body read = { .value = STR_NONE };
    AUTO_JSON body = NULL;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || api_body(request, value_fields, &read, &body) < 0 ||
        !(secrets = secrets_of(request)) || !(name = name_of(request)))
        return;
    if (secrets_set(secrets, name, read.value, &err) < 0)
        serve_reply_error(request, &err);
    else
        serve_reply_empty(request, 204);
}

static const struct json_field no_fields[] = { { .name = NULL } };

static void add_user(void *arg, const char *user)
{
    struct buf *out = arg;

    buf_printf(out, "%s%s", out->n ? ", " : " It is used by: ", user);
}

/* Whether it can be read, and what for. Whether its owner takes it is asked where it is used: with
 * `dormouse model test`, or by testing the account. */
void api_secrets_test(struct serve_request *request)
{
    struct secrets *secrets;
    const char *name;
    struct buf value = BUF_INIT(SECRET_VALUE_MAX);
    AUTO_BUF users = BUF_INIT(64u << 10);
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    AUTO_JSON body = NULL;
    struct err err = ERR_INIT;
    char text[ERR_TEXT_MAX];
    bool ok;

    if (api_check_query(request) < 0 || api_body(request, no_fields, NULL, &body) < 0 ||
        !(secrets = secrets_of(request)) || !(name = name_of(request)))
        return;
    ok = secrets_get(secrets, name, &value, &err) == 0;
    secrets_wipe(&value);
    json_write_object_begin(&w);
    json_put_bool(&w, "ok", ok);
    each_user(api_of(request), name, serve_request_arena(request), add_user, &users);
    json_put_some_text(&w, "message",
                       ok ? arena_printf(serve_request_arena(request),
                                         "The secret is set and can be read.%s%s", buf_text(&users),
                                         users.n ? "." : "")
                          : err_format(&err, text, sizeof(text)));
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

void api_secrets_remove(struct serve_request *request)
{
    struct secrets *secrets;
    const char *name;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || !(secrets = secrets_of(request)) ||
        !(name = name_of(request)))
        return;
    if (secrets_remove(secrets, name, &err) < 0)
        serve_reply_error(request, &err);
    else
        serve_reply_empty(request, 204);
}
