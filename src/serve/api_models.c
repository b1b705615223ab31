/* /models: which there are, and whether a person agreed to send text to them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "policy/consent.h"
#include "serve/api_int.h"

static int consent_state(const struct api_config *config, const struct model_spec *spec,
                         const struct consent_terms *terms, const char **ret_state, struct err *err)
{
    int given;

    if (model_spec_is_local(spec)) {
        *ret_state = "not_needed";
        return 0;
    }
    given = consent_given(config->agent_domain, terms, err);
    if (given < 0)
        return -1;
    *ret_state = given ? "given" : "needed";
    return 0;
}

static void write_privacy(struct json_writer *w, const struct consent_terms *terms)
{
    json_put_object(w, "privacy");
    json_put_some_text(w, "policyVersion", terms->policy_version);
    json_put_bool(w, "trains", terms->trains);
    json_put_some_text(w, "retention", terms->retention);
    json_put_some_text(w, "jurisdiction", terms->jurisdiction);
    json_write_object_end(w);
}

static void write_price(struct json_writer *w, const struct model_spec *spec)
{
    json_put_object(w, "price");
    json_put_double(w, "input", spec->price_input);
    json_put_double(w, "output", spec->price_output);
    json_put_double(w, "cached", spec->price_cached);
    json_write_object_end(w);
}

static int write_model(struct json_writer *w, const struct api_config *config,
                       const struct model_spec *spec, struct arena *arena, struct err *err)
{
    struct consent_terms terms;
    const char *state;

    config->terms(spec, arena, &terms);
    if (consent_state(config, spec, &terms, &state, err) < 0)
        return -1;
    json_write_object_begin(w);
    json_put_some_text(w, "id", spec->id);
    json_put_some_text(w, "provider", spec->provider);
    json_put_some_text(w, "model", spec->model);
    json_put_some_text(w, "host", terms.host);
    json_put_bool(w, "local", model_spec_is_local(spec));
    json_put_some_text(w, "consent", state);
    write_privacy(w, &terms);
    write_price(w, spec);
    if (spec->context_tokens)
        json_put_i64(w, "contextTokens", spec->context_tokens);
    json_write_object_end(w);
    return 0;
}

static void reply_models(struct serve_request *request)
{
    const struct api_config *config = &api_of(request)->config;
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct err err = ERR_INIT;
    size_t n;
    const struct model_spec *specs = model_specs(config->models, &n);

    json_write_object_begin(&w);
    json_put_array(&w, "models");
    for (size_t i = 0; i < n; i++) {
        if (write_model(&w, config, &specs[i], serve_request_arena(request), &err) < 0) {
            serve_reply_error(request, &err);
            return;
        }
    }
    json_write_array_end(&w);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

void api_models_list(struct serve_request *request)
{
    if (api_check_query(request) == 0)
        reply_models(request);
}

static const struct json_field no_fields[] = { { .name = NULL } };

void api_models_reload(struct serve_request *request)
{
    const struct api_config *config = &api_of(request)->config;
    AUTO_JSON body = NULL;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || api_body(request, no_fields, NULL, &body) < 0)
        return;
    if (!config->reload)
        err_set(&err, ERR_NOT_FOUND, "there is no configuration to read again");
    if (!config->reload || config->reload(config->reload_arg, &err) < 0)
        serve_reply_error(request, &err);
    else
        reply_models(request);
}

/* ---- consent ---- */

static const struct model_spec *find_model(struct serve_request *request)
{
    struct str id = serve_request_param(request, "id");
    const struct model_spec *spec = model_spec_find(
        api_of(request)->config.models, arena_copy(serve_request_arena(request), id.p, id.n));
    struct err err = ERR_INIT;

    if (spec)
        return spec;
    err_set(&err, ERR_NOT_FOUND, "there is no model %.*s (GET /api/v1/models lists them)",
            STR_ARG(str_take(id, 80)));
    serve_reply_error(request, &err);
    return NULL;
}

static int check_terms(const struct model_spec *spec, const struct consent_terms *terms,
                       struct str version, struct err *err)
{
    if (model_spec_is_local(spec))
        return err_set(err, ERR_BAD_REQUEST,
                       "%s runs on this machine: nobody needs to agree to anything", spec->id);
    if (!str_is(version, terms->policy_version))
        return err_set(err, ERR_VERSION_CONFLICT, "the terms of %s have version \"%s\"", spec->id,
                       terms->policy_version);
    return 0;
}

static int record(const struct api_config *config, const struct consent_terms *terms, bool give,
                  struct err *err)
{
    int64_t now = clock_wall_ms(loop_clock(config->loop));
    int r;

    if (loop_unit_begin(config->loop, config->agent_domain, err) < 0)
        return -1;
    r = give ? consent_give(config->agent_domain, terms, "owner", now, err)
             : consent_withdraw(config->agent_domain, terms->model_id, now, err);
    if (loop_unit_end(config->loop, r >= 0, r >= 0 ? err : NULL) < 0)
        return -1;
    return r < 0 ? -1 : 0;
}

static void reply_model(struct serve_request *request, const struct model_spec *spec, int r,
                        struct err *err)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);

    if (r < 0 ||
        write_model(&w, &api_of(request)->config, spec, serve_request_arena(request), err) < 0)
        serve_reply_error(request, err);
    else
        api_reply(request, 200, &json, &w);
}

struct consent_body {
    struct str policy_version;
};

static const struct json_field consent_fields[] = {
    JSON_FIELD(struct consent_body, policy_version, "policy_version", JSON_STR, .required = true),
    { .name = NULL },
};

void api_models_agree(struct serve_request *request)
{
    const struct api_config *config = &api_of(request)->config;
    AUTO_JSON body = NULL;
    struct consent_body read = { .policy_version = STR_NONE };
    const struct model_spec *spec;
    struct consent_terms terms;
    struct err err = ERR_INIT;
    int r;

    if (api_check_query(request) < 0 || api_body(request, consent_fields, &read, &body) < 0 ||
        !(spec = find_model(request)))
        return;
    config->terms(spec, serve_request_arena(request), &terms);
    r = check_terms(spec, &terms, read.policy_version, &err);
    if (r == 0)
        r = record(config, &terms, true, &err);
    reply_model(request, spec, r, &err);
}

void api_models_withdraw(struct serve_request *request)
{
    const struct api_config *config = &api_of(request)->config;
    const struct model_spec *spec;
    struct consent_terms terms;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || !(spec = find_model(request)))
        return;
    config->terms(spec, serve_request_arena(request), &terms);
    reply_model(request, spec, record(config, &terms, false, &err), &err);
}
