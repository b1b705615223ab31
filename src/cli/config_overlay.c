/* The working directory's file may only tighten.
 *
 * Whoever gives you a directory also gives you its .dormouse/config.yaml. So such a file can make
 * the sandbox narrower and the budgets smaller, and nothing else: it can't widen what commands may
 * touch, send prompts to another model, name a secret or add a server.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cli/config_int.h"

#define PATH_TEXT_MAX 4096

static const struct config_field *find_field(const char *path)
{
    for (const struct config_field *field = config_fields; field->path; field++)
        if (strcmp(field->path, path) == 0)
            return field;
    return NULL;
}

/* ---- what is tighter ---- */

static const char *without_dot(const char *path)
{
    while (path[0] == '.' && path[1] == '/')
        for (path += 2; *path == '/';)
            path++;
    return strcmp(path, ".") == 0 ? "" : path;
}

static bool climbs(const char *path)
{
    struct str rest = str_from(path), name;

    while (str_split(&rest, '/', &name))
        if (str_is(name, ".."))
            return true;
    return false;
}

/* By the text alone: both are relative to the same directory, and `..` is never inside. */
static bool path_within(const char *inner, const char *outer)
{
    size_t n;

    if (climbs(inner) || climbs(outer))
        return false;
    inner = without_dot(inner);
    outer = without_dot(outer);
    n = strlen(outer);
    while (n > 1 && outer[n - 1] == '/')
        n--;
    if (n == 0)
        return inner[0] != '/' && inner[0] != '~';
    if (n == 1 && outer[0] == '/')
        return inner[0] == '/';
    return strncmp(inner, outer, n) == 0 && (inner[n] == '/' || inner[n] == '\0');
}

static bool host_within(const char *inner, const char *outer)
{
    struct str in = str_from(inner), out = str_from(outer);

    if (str_eq_nocase(in, out))
        return true;
    if (!str_starts(out, STR("*.")))
        return false;
    out = str_skip(out, 1); /* ".example.org" */
    return in.n > out.n && str_eq_nocase(str_skip(in, in.n - out.n), out);
}

static bool all_within(const struct config_list *inner, const struct config_list *outer,
                       bool (*within)(const char *inner, const char *outer))
{
    for (size_t i = 0; i < inner->n; i++) {
        bool found = false;

        for (size_t j = 0; j < outer->n && !found; j++)
            found = within(inner->items[i], outer->items[j]);
        if (!found)
            return false;
    }
    return true;
}

/* A number that is not set does not limit, and neither does "forever". */
static double limit_of(const struct config_field *field, const struct config *config)
{
    const void *at = (const char *)config + field->offset;
    double value =
        field->kind == CONFIG_NUMBER ? *(const double *)at : (double)*(const int64_t *)at;

    return value <= 0 && !field->initial ? __builtin_inf() : value < 0 ? __builtin_inf() : value;
}

static bool is_tighter(const struct config_field *field, const struct config *before,
                       const struct config *after)
{
    const void *was = (const char *)before + field->offset;
    const void *is = (const char *)after + field->offset;

    switch (field->tighten) {
    case CONFIG_LOWER:
        return limit_of(field, after) <= limit_of(field, before);
    case CONFIG_HIGHER:
        return limit_of(field, after) >= limit_of(field, before);
    case CONFIG_TRUE:
        return *(const bool *)is;
    case CONFIG_FALSE:
        return !*(const bool *)is;
    case CONFIG_FEWER_PATHS:
        return all_within(is, was, path_within);
    case CONFIG_FEWER_HOSTS:
        return all_within(is, was, host_within);
    case CONFIG_MORE:
        return true;
    case CONFIG_NEVER:
        break;
    }
    return false;
}

static const char *allowed_here(const struct config_field *field)
{
    switch (field->tighten) {
    case CONFIG_LOWER:
        return "only a lower value is allowed here";
    case CONFIG_HIGHER:
        return "only a higher value is allowed here";
    case CONFIG_TRUE:
        return "only true is allowed here";
    case CONFIG_FALSE:
        return "only false is allowed here";
    case CONFIG_FEWER_PATHS:
        return "only paths at or below those already allowed may be named here";
    case CONFIG_FEWER_HOSTS:
        return "only hosts already allowed may be named here";
    case CONFIG_MORE:
    case CONFIG_NEVER:
        break;
    }
    return "it can't be set here";
}

/* ---- merging ---- */

static struct json_object *joined(const struct config_list *before, struct json_object *more)
{
    struct json_object *out = json_object_new_array();

    for (size_t i = 0; i < before->n; i++)
        json_object_array_add(out, json_object_new_string(before->items[i]));
    for (size_t i = 0; i < json_length(more); i++)
        json_object_array_add(out, json_object_get(json_object_array_get_idx(more, i)));
    return out;
}

static void take_leaf(struct config *config, const struct config_field *field,
                      const struct config_layer *layer, struct json_object *value)
{
    struct config_origin *origin = &config->origins[field - config_fields];
    char pointer[PATH_TEXT_MAX];

    if (field->tighten == CONFIG_MORE)
        value = joined((const struct config_list *)(void *)((char *)config + field->offset), value);
    else
        json_object_get(value);
    config_tree_set(config->tree, field->path, value);
    config_pointer(field->path, pointer, sizeof(pointer));
    origin->name = layer->name;
    origin->line = config_layer_line(layer, pointer);
}

static void overlay_leaf(struct config *config, const struct config_field *field,
                         const struct config_layer *layer, struct json_object *value,
                         struct config_problems *problems)
{
    struct config after = { .arena = ARENA_INIT };
    struct err err = ERR_INIT;
    char pointer[PATH_TEXT_MAX];
    bool tighter;

    config_pointer(field->path, pointer, sizeof(pointer));
    if (field->tighten == CONFIG_NEVER) {
        config_problem_key(problems, layer, pointer,
                           "`%s` can't be set by a working directory, which may only tighten; "
                           "anything else needs a person's approval of this file, which can't be "
                           "given yet: move the key to DATA/config.yaml",
                           field->path);
        return;
    }
    if (config_field_set(field, value, &after, &after.arena, &err) < 0)
        config_problem_at(problems, layer, pointer, "%s", err_message(&err, 0));
    tighter = err.code == ERR_NONE && is_tighter(field, config, &after);
    arena_release(&after.arena);
    if (tighter)
        take_leaf(config, field, layer, value);
    else if (err.code == ERR_NONE)
        config_problem_at(problems, layer, pointer,
                          "`%s` would loosen what DATA/config.yaml says: %s", field->path,
                          allowed_here(field));
}

static void overlay_object(struct config *config, const char *prefix, struct json_object *object,
                           const struct config_layer *layer, struct config_problems *problems)
{
    struct json_object_iterator at = json_object_iter_begin(object);
    const struct json_object_iterator end = json_object_iter_end(object);
    char path[256];

    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        struct json_object *value = json_object_iter_peek_value(&at);
        const struct config_field *field;

        snprintf(path, sizeof(path), "%s%s%s", prefix, *prefix ? "." : "",
                 json_object_iter_peek_name(&at));
        field = find_field(path);
        if (field)
            overlay_leaf(config, field, layer, value, problems);
        else if (json_object_is_type(value, json_type_object))
            overlay_object(config, path, value, layer, problems);
    }
}

void config_overlay(struct config *config, const struct config_layer *layer,
                    struct config_problems *problems)
{
    overlay_object(config, "", layer->tree, layer, problems);
}
