/* What no schema can say about the configuration as a whole.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/address.h"
#include "base/redact.h"
#include "config/config_int.h"

/* Text that the redactor would blot out is a secret. */
static bool looks_secret(const char *text)
{
    AUTO_BUF out = BUF_INIT(64 * 1024);

    return redact(str_from(text), &out) < 0 || !str_is(buf_str(&out), text);
}

/* A random text of letters of both cases and digits names nothing. */
static bool looks_random(const char *text)
{
    bool upper = false, lower = false, digit = false;
    size_t run = 0, longest = 0;

    for (; *text; text++) {
        bool is_upper = *text >= 'A' && *text <= 'Z', is_lower = *text >= 'a' && *text <= 'z';
        bool is_digit = *text >= '0' && *text <= '9';

        upper |= is_upper, lower |= is_lower, digit |= is_digit;
        run = is_upper || is_lower || is_digit ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest >= 24 && digit && (upper || lower);
}

static void check_reference(const struct config_layer *file, const char *pointer, const char *text,
                            struct config_problems *problems)
{
    if (!text || (!looks_secret(text) && !looks_random(text)))
        return;
    config_problem_at(problems, file, pointer,
                      "looks like a secret itself; here stands only the name under which it was "
                      "stored. Take it out of this file, and change it where it is used: it was "
                      "readable here");
}

/* ---- which provider takes which key ---- */

#define OF(provider) (1u << CONFIG_##provider)
#define OF_NETWORK   (OF(OPENAI) | OF(ANTHROPIC) | OF(FUNCTIONGEMMA))

static const struct {
    const char *key;
    size_t offset;
    unsigned takes;    /* providers */
    const char *whose; /* for the message */
} model_keys[] = {
    { "base_url", offsetof(struct config_model, base_url), OF_NETWORK,
      "openai, anthropic and functiongemma" },
    { "secret_ref", offsetof(struct config_model, secret_ref), OF_NETWORK,
      "openai, anthropic and functiongemma" },
    { "model", offsetof(struct config_model, model), OF_NETWORK | OF(SCRIPT),
      "openai, anthropic, functiongemma and script" },
    { "server", offsetof(struct config_model, server), OF(FUNCTIONGEMMA), "functiongemma" },
    { "gguf", offsetof(struct config_model, gguf), OF(FUNCTIONGEMMA), "functiongemma" },
    { "script", offsetof(struct config_model, script), OF(SCRIPT), "script" },
};

static const char *missing_of(const struct config_model *model)
{
    switch (model->provider) {
    case CONFIG_ANTHROPIC:
        return model->model ? NULL : "`anthropic` needs `model`, like claude-sonnet-4-5";
    case CONFIG_OPENAI:
        return model->model || model->base_url
                   ? NULL
                   : "`openai` needs `model`, or the `base_url` of a server that has only one";
    case CONFIG_FUNCTIONGEMMA:
        if (!model->server != !model->gguf)
            return "`server` and `gguf` belong together: the one runs the other";
        return model->base_url || model->server
                   ? NULL
                   : "`functiongemma` needs the `base_url` of a llama-server, or `server` and "
                     "`gguf` to start one";
    case CONFIG_SCRIPT:
        return model->script ? NULL : "`script` needs `script`: the file with the replies";
    default:
        return NULL;
    }
}

static void check_keys(const struct config_model *model, size_t i, const struct config_layer *file,
                       struct config_problems *problems)
{
    const char *missing = missing_of(model);
    char pointer[64];

    for (size_t k = 0; k < sizeof(model_keys) / sizeof(model_keys[0]); k++) {
        const char *value = *(const char *const *)((const char *)model + model_keys[k].offset);

        if (!value || (model_keys[k].takes & (1u << model->provider)))
            continue;
        snprintf(pointer, sizeof(pointer), "/models/%zu/%s", i, model_keys[k].key);
        config_problem_key(problems, file, pointer, "`%s` is only for %s", model_keys[k].key,
                           model_keys[k].whose);
    }
    snprintf(pointer, sizeof(pointer), "/models/%zu/provider", i);
    if (missing)
        config_problem_at(problems, file, pointer, "%s", missing);
    else if (model->base_url && model->server)
        config_problem_at(problems, file, pointer,
                          "`base_url` and `server` exclude each other: one that runs already, or "
                          "one to start");
    snprintf(pointer, sizeof(pointer), "/models/%zu/id", i);
    if (strcmp(model->id, "offline") == 0 && model->provider != CONFIG_OFFLINE)
        config_problem_at(problems, file, pointer,
                          "`offline` is the built-in model that needs no network; give this one "
                          "another id");
}

static void check_models(const struct config *config, const struct config_layer *file,
                         struct config_problems *problems)
{
    char pointer[64];

    for (size_t i = 0; i < config->models.n; i++) {
        const struct config_model *model = &config->models.items[i];

        snprintf(pointer, sizeof(pointer), "/models/%zu/secret_ref", i);
        check_reference(file, pointer, model->secret_ref, problems);
        snprintf(pointer, sizeof(pointer), "/models/%zu/base_url", i);
        if (model->base_url && looks_secret(model->base_url))
            check_reference(file, pointer, model->base_url, problems);
        snprintf(pointer, sizeof(pointer), "/models/%zu/id", i);
        for (size_t j = 0; j < i; j++)
            if (strcmp(config->models.items[j].id, model->id) == 0) {
                config_problem_at(problems, file, pointer,
                                  "two models are called `%s`; an id must be unique", model->id);
                break;
            }
        check_keys(model, i, file, problems);
    }
}

/* Names the place that set a key: a file's line, or the variable. */
static void problem_of_key(const struct config *config, const char *path,
                           const struct config_layer *file, struct config_problems *problems,
                           const char *message)
{
    const struct config_origin *origin = NULL;
    char pointer[128];

    for (size_t i = 0; i < config_field_count; i++)
        if (strcmp(config_fields[i].path, path) == 0)
            origin = &config->origins[i];
    config_pointer(path, pointer, sizeof(pointer));
    if (origin && origin->name && origin->line == 0)
        config_problem_add(problems, origin->name, 0, 0, "%s", message);
    else
        config_problem_at(problems, file, pointer, "%s", message);
}

static void check_agent_model(const struct config *config, const struct config_layer *file,
                              struct config_problems *problems)
{
    char message[256];

    if (strcmp(config->agent_model, "offline") == 0)
        return;
    for (size_t i = 0; i < config->models.n; i++)
        if (strcmp(config->models.items[i].id, config->agent_model) == 0)
            return;
    snprintf(message, sizeof(message),
             "there is no model `%s`; `models` must list it, or write `offline`",
             config->agent_model);
    problem_of_key(config, "agent.model", file, problems, message);
}

void config_cross_check(const struct config *config, const struct config_layer *file,
                        struct config_problems *problems)
{
    struct address address;
    struct err err = ERR_INIT;
    char message[ERR_TEXT_MAX];

    check_models(config, file, problems);
    check_agent_model(config, file, problems);
    if (address_parse(str_from(config->server_listen), &address, &err) < 0)
        problem_of_key(config, "server.listen", file, problems,
                       err_format(&err, message, sizeof(message)));
}
