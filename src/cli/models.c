/* From configured models to the gateway's.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/models.h"

#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "loop/loop.h"
#include "policy/secret.h"

static const char *const provider_names[] = {
    [CONFIG_OPENAI] = "openai",
    [CONFIG_ANTHROPIC] = "anthropic",
    [CONFIG_FUNCTIONGEMMA] = "functiongemma",
    [CONFIG_OFFLINE] = "offline",
    [CONFIG_SCRIPT] = "script",
};

static const struct model_spec offline = { .id = "offline", .provider = "offline" };

/* "~/x" in the home directory, "x" in the data directory. */
static const char *absolute(struct arena *arena, const char *data_dir, const char *path)
{
    const char *home = getenv("HOME");

    if (!path || path[0] == '/')
        return path;
    if (path[0] == '~' && path[1] == '/' && home)
        return arena_printf(arena, "%s%s", home, path + 1);
    return arena_printf(arena, "%s/%s", data_dir, path);
}

/* A name without a slash is looked for on PATH. */
static const char *program(struct arena *arena, const char *data_dir, const char *path)
{
    return path && strchr(path, '/') ? absolute(arena, data_dir, path) : path;
}

void models_init(struct models *models, const struct config *config, const char *data_dir)
{
    *models = (struct models){ .n = config->models.n };
    models->items = ARENA_NEW_N(&models->arena, struct model_spec, models->n + 1);
    for (size_t i = 0; i < models->n; i++) {
        const struct config_model *from = &config->models.items[i];

        models->items[i] = (struct model_spec){
            .id = from->id,
            .provider = provider_names[from->provider],
            .base_url = from->base_url,
            .model = from->model,
            .secret_ref = from->secret_ref,
            .script_path = absolute(&models->arena, data_dir, from->script),
            .server_path = program(&models->arena, data_dir, from->server),
            .gguf_path = absolute(&models->arena, data_dir, from->gguf),
            .price_input = from->price_input,
            .price_output = from->price_output,
            .price_cached = from->price_cached,
            .context_tokens = from->context_tokens,
            .privacy_trains = from->privacy_trains,
            .policy_version = from->privacy_policy_version,
            .retention = from->privacy_retention,
            .jurisdiction = from->privacy_jurisdiction,
        };
    }
}

void models_release(struct models *models)
{
    arena_release(&models->arena);
    *models = (struct models){ .items = NULL };
}

const struct model_spec *models_find(const struct models *models, const char *id)
{
    for (size_t i = 0; i < models->n; i++)
        if (strcmp(models->items[i].id, id) == 0)
            return &models->items[i];
    return strcmp(id, offline.id) == 0 ? &offline : NULL;
}

int models_check(const struct config *config, const char *data_dir, struct err *err)
{
    AUTO_MODELS models = { .n = 0 };
    AUTO(loop) loop = NULL;
    AUTO(model_gateway) gateway = NULL;
    struct model_gateway_config how;

    models_init(&models, config, data_dir);
    if (loop_new(NULL, &loop, err) < 0)
        return -1;
    how = (struct model_gateway_config){ .loop = loop,
                                         .models = models.items,
                                         .model_count = models.n };
    if (model_gateway_new(&how, &gateway, err) < 0)
        return -1;
    model_gateway_free(TAKE(gateway));
    model_wait(loop);
    return 0;
}

/* ---- what the gateway asks for ---- */

int models_secret(void *arg, const char *ref, struct buf *out, struct err *err)
{
    struct models_access *access = arg;

    if (!access->secrets)
        return err_set(err, ERR_SECRET_UNAVAILABLE,
                       "the secret \"%s\" is not set: dormouse secret set %s", ref, ref);
    return secrets_get(access->secrets, ref, out, err);
}

const char *models_where(const struct model_spec *spec, struct arena *arena)
{
    const char *url = spec->base_url ? spec->base_url : model_default_url(spec->provider);
    struct str host;

    if (model_spec_is_local(spec) || !url)
        return "this machine";
    host = model_url_host(url);
    return arena_copy(arena, host.p, host.n);
}

static const char *said(const char *text)
{
    return text ? text : "";
}

void models_terms(const struct model_spec *spec, struct arena *arena,
                  struct consent_terms *ret_terms)
{
    *ret_terms = (struct consent_terms){
        .model_id = spec->id,
        .provider = spec->provider,
        .host = models_where(spec, arena),
        .policy_version = said(spec->policy_version),
        .retention = said(spec->retention),
        .jurisdiction = said(spec->jurisdiction),
        .trains = spec->privacy_trains,
    };
}

int models_consent(void *arg, const struct model_spec *spec, struct err *err)
{
    struct models_access *access = arg;
    AUTO_ARENA arena = ARENA_INIT;
    struct consent_terms terms;
    int given = 0;

    models_terms(spec, &arena, &terms);
    if (access->agent)
        given = consent_given(access->agent, &terms, err);
    if (given < 0)
        return -1;
    if (given == 0)
        return err_set(err, ERR_PRIVACY_CONFIRMATION_REQUIRED,
                       "nobody has agreed to send text to %s for model %s%s%s: dormouse model"
                       " consent %s",
                       terms.host, spec->id, *terms.policy_version ? " under terms " : "",
                       terms.policy_version, spec->id);
    return 0;
}
