/* A directory's file may only tighten.
 *
 * Whoever gives you a directory also gives you its .dormouse/config.yaml. So such a file can make
 * the sandbox narrower and the budgets smaller, and nothing else: it can't widen what commands may
 * touch, send prompts to another model, name a secret or add a server.
 *
 * Places are judged where they lie, not by their text: a name in a directory that somebody gave
 * you, or that an agent writes to, may be a link to anywhere.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/place.h"
#include "config/config_int.h"

#define PATH_TEXT_MAX 4096

static const struct config_field *find_field(const char *path)
{
    for (const struct config_field *field = config_fields; field->path; field++)
        if (strcmp(field->path, path) == 0)
            return field;
    return NULL;
}

static const struct config_list *list_of(const struct config *config,
                                         const struct config_field *field)
{
    return (const struct config_list *)(const void *)((const char *)config + field->offset);
}

/* ---- places ---- */

static bool place_in_any(const char *path, const struct config_list *places)
{
    for (size_t i = 0; i < places->n; i++)
        if (place_within(path, places->items[i]))
            return true;
    return false;
}

static void place_add(struct config_list *list, const char *path)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i], path) == 0)
            return;
    list->items[list->n++] = path;
}

/* What lies in the run's directory by its name, or where agents may write, must lie there in truth:
 * else whoever gave you the directory, or an agent, makes a link of it and a run may write, or
 * connect, wherever that leads. A `..` that the owner wrote is meant. */
static int place_stays(const char *key, const char *path, const char *real, const char *cwd,
                       const struct config_list *places, struct arena *arena, struct err *err)
{
    const char *named = place_absolute(path, cwd, arena), *left = NULL;

    if (place_climbs(named))
        return 0;
    if (path[0] != '/' && path[0] != '~' && !place_within(real, cwd))
        left = cwd;
    for (size_t i = 0; i < places->n && !left; i++)
        if (place_within(named, places->items[i]) && !place_within(real, places->items[i]))
            left = places->items[i];
    if (!left)
        return 0;
    return err_set(err, ERR_BAD_REQUEST,
                   "`sandbox.security.%s`: %.512s is a link in %.512s that leads out of it, "
                   "to %.512s: remove the link, or name the place by its real path",
                   key, path, left, real);
}

static int places_real(const char *key, const struct config_list *given, const char *cwd,
                       struct arena *arena, struct config_list *ret_real, struct err *err)
{
    *ret_real = (struct config_list){ ARENA_NEW_N(arena, const char *, given->n + 1), given->n };
    for (size_t i = 0; i < given->n; i++) {
        ret_real->items[i] = place_real(given->items[i], cwd, arena);
        if (!ret_real->items[i])
            return err_set(err, ERR_BAD_REQUEST,
                           "`sandbox.security.%s`: %.512s is no path in %.512s", key,
                           given->items[i], cwd);
    }
    return 0;
}

int config_places(struct config *config, const char *cwd, struct err *err)
{
    struct {
        const char *key;
        struct config_list *given, real;
    } lists[] = { { .key = "allowWrite", .given = &config->sandbox_allow_write },
                  { .key = "allowUnixSockets", .given = &config->sandbox_unix_sockets } };

    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        if (places_real(lists[i].key, lists[i].given, cwd, &config->arena, &lists[i].real, err) < 0)
            return -1;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (size_t k = 0; k < lists[i].given->n; k++)
            if (place_stays(lists[i].key, lists[i].given->items[k], lists[i].real.items[k], cwd,
                            &lists[0].real, &config->arena, err) < 0)
                return -1;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        *lists[i].given = lists[i].real;
    return 0;
}

/* Where both the places before and those of the file allow it. NULL after a problem. */
static struct json_object *place_common(struct config *config, const struct config_list *before,
                                        struct json_object *paths, const char *dir,
                                        const char **ret_wrong)
{
    struct config_list common = { .n = 0 };
    struct json_object *out;

    common.items =
        ARENA_NEW_N(&config->arena, const char *, before->n *(json_length(paths) + 1) + 1);
    for (size_t i = 0; i < json_length(paths); i++) {
        const char *path = json_object_get_string(json_object_array_get_idx(paths, i));
        const char *real = place_real(path, dir, &config->arena);

        if (!real || !(place_within(real, dir) || place_in_any(real, before))) {
            *ret_wrong = real && strcmp(path, real) != 0
                             ? arena_printf(&config->arena, "%s leads to %s", path, real)
                             : path;
            return NULL;
        }
        for (size_t j = 0; j < before->n; j++) {
            if (place_within(real, before->items[j]))
                place_add(&common, real);
            else if (place_within(before->items[j], real))
                place_add(&common, before->items[j]);
        }
    }
    out = json_object_new_array();
    for (size_t i = 0; i < common.n; i++)
        json_object_array_add(out, json_object_new_string(common.items[i]));
    return out;
}

/* ---- what is tighter ---- */

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

static bool hosts_within(const struct config_list *inner, const struct config_list *outer)
{
    for (size_t i = 0; i < inner->n; i++) {
        bool found = false;

        for (size_t j = 0; j < outer->n && !found; j++)
            found = host_within(inner->items[i], outer->items[j]);
        if (!found)
            return false;
    }
    return true;
}

/* A number that is not set does not limit. */
static double limit_of(const struct config_field *field, const struct config *config)
{
    const void *at = (const char *)config + field->offset;
    double value =
        field->kind == CONFIG_NUMBER ? *(const double *)at : (double)*(const int64_t *)at;

    return value <= 0 && !field->initial ? __builtin_inf() : value;
}

static bool is_tighter(const struct config_field *field, const struct config *before,
                       const struct config *after)
{
    const void *is = (const char *)after + field->offset;

    switch (field->tighten) {
    case CONFIG_LOWER:
        return limit_of(field, after) <= limit_of(field, before);
    case CONFIG_TRUE:
        return *(const bool *)is;
    case CONFIG_FALSE:
        return !*(const bool *)is;
    case CONFIG_FEWER_HOSTS:
        return hosts_within(list_of(after, field), list_of(before, field));
    case CONFIG_MORE:
    case CONFIG_FEWER_PATHS: /* place_common() */
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
    case CONFIG_TRUE:
        return "only true is allowed here";
    case CONFIG_FALSE:
        return "only false is allowed here";
    case CONFIG_FEWER_PATHS:
        return "only places in this directory, or in those already allowed, may be named here";
    case CONFIG_FEWER_HOSTS:
        return "only hosts already allowed may be named here";
    case CONFIG_MORE:
    case CONFIG_NEVER:
        break;
    }
    return "it can't be set here";
}

/* ---- merging ---- */

/* What is denied counts from the file's directory, as it is named and as it lies now: a link that
 * is moved meanwhile frees neither. */
static struct json_object *denied_joined(struct config *config, const struct config_list *before,
                                         struct json_object *more, const char *dir)
{
    struct json_object *out = json_object_new_array();

    for (size_t i = 0; i < before->n; i++)
        json_object_array_add(out, json_object_new_string(before->items[i]));
    for (size_t i = 0; i < json_length(more); i++) {
        const char *path = json_object_get_string(json_object_array_get_idx(more, i));
        const char *named = place_absolute(path, dir, &config->arena);
        const char *real = place_real(path, dir, &config->arena);

        if (place_is_name(path) || !named) {
            json_object_array_add(out, json_object_new_string(path));
            continue;
        }
        json_object_array_add(out, json_object_new_string(named));
        if (real && strcmp(real, named) != 0)
            json_object_array_add(out, json_object_new_string(real));
    }
    return out;
}

static void take_leaf(struct config *config, const struct config_field *field,
                      const struct config_layer *layer, struct json_object *value)
{
    struct config_origin *origin = &config->origins[field - config_fields];
    char pointer[PATH_TEXT_MAX];

    config_tree_set(config->tree, field->path, value);
    config_pointer(field->path, pointer, sizeof(pointer));
    origin->name = arena_text(&config->arena, layer->name);
    origin->line = config_layer_line(layer, pointer);
}

/* The value that holds from now on; NULL: it would loosen what held before. */
static struct json_object *tightened(struct config *config, const struct config_field *field,
                                     const struct config *after, struct json_object *value,
                                     const char *dir, const char **ret_wrong)
{
    if (!is_tighter(field, config, after))
        return NULL;
    if (field->tighten == CONFIG_FEWER_PATHS)
        return place_common(config, list_of(config, field), value, dir, ret_wrong);
    if (field->tighten == CONFIG_MORE)
        return denied_joined(config, list_of(config, field), value, dir);
    return json_object_get(value);
}

static void overlay_leaf(struct config *config, const struct config_field *field,
                         const struct config_layer *layer, struct json_object *value,
                         const char *dir, struct config_problems *problems)
{
    struct config after = { .arena = ARENA_INIT };
    struct err err = ERR_INIT;
    struct json_object *taken = NULL;
    const char *wrong = NULL;
    char pointer[PATH_TEXT_MAX];

    config_pointer(field->path, pointer, sizeof(pointer));
    if (field->tighten == CONFIG_NEVER) {
        config_problem_key(problems, layer, pointer,
                           "`%s` can't be set by a working directory, which may only tighten: move "
                           "the key to DATA/config.yaml",
                           field->path);
        return;
    }
    if (config_field_set(field, value, &after, &after.arena, &err) < 0)
        config_problem_at(problems, layer, pointer, "%s", err_message(&err, 0));
    else
        taken = tightened(config, field, &after, value, dir, &wrong);
    arena_release(&after.arena);
    if (taken)
        take_leaf(config, field, layer, taken);
    else if (err.code == ERR_NONE)
        config_problem_at(problems, layer, pointer,
                          "`%s` would loosen what holds without this file: %s%s%s", field->path,
                          wrong ? wrong : "", wrong ? "; " : "", allowed_here(field));
}

static void overlay_object(struct config *config, const char *prefix, struct json_object *object,
                           const struct config_layer *layer, const char *dir,
                           struct config_problems *problems)
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
            overlay_leaf(config, field, layer, value, dir, problems);
        else if (json_object_is_type(value, json_type_object))
            overlay_object(config, path, value, layer, dir, problems);
    }
}

void config_overlay(struct config *config, const struct config_layer *layer, const char *dir,
                    struct config_problems *problems)
{
    overlay_object(config, "", layer->tree, layer, dir, problems);
}
