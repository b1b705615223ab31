/* Loading: read each source, check it, merge it, fill the struct, check the whole.
 *
 * Without files and variables no schema is compiled: a first start is quick.
 *
 * SPDX-License-Identifier: MIT
 */
#include "config/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/redact.h"
#include "config/config_int.h"

#define SHOWN_SECRET     "(set)"
#define CONFIG_DATA_MARK "lock" /* a data directory has it */

struct loading {
    struct config *config;
    struct config_problems *problems;
    const struct config_texts *texts;
    struct config_layer file;
};

void config_free(struct config *config)
{
    if (!config)
        return;
    json_object_put(config->tree);
    arena_release(&config->arena);
    free(config);
}

/* Every key that a checked layer sets. */
static void take_layer(struct config *config, const struct config_layer *layer,
                       const char *const *names)
{
    char pointer[256];

    for (size_t i = 0; i < config_field_count; i++) {
        struct json_object *value = config_tree_find(layer->tree, config_fields[i].path);
        struct config_origin *origin = &config->origins[i];

        if (!value)
            continue;
        config_tree_set(config->tree, config_fields[i].path, json_object_get(value));
        config_pointer(config_fields[i].path, pointer, sizeof(pointer));
        origin->name = names ? arena_printf(&config->arena, "$%s", names[i]) : layer->name;
        origin->line = config_layer_line(layer, pointer);
    }
}

static const char *path_below(struct config *config, const char *dir, const char *name)
{
    return arena_printf(&config->arena, "%s/%s", dir, name);
}

/* As config_layer_read(), from the given text if there is one. */
static int read_layer(const char *path, const struct str *text, struct config_layer *layer,
                      struct config_problems *problems)
{
    if (text)
        return text->p ? config_layer_parse(*text, path, layer, problems) : 0;
    return config_layer_read(path, layer, problems);
}

static void load_file(struct loading *load, const char *data_dir)
{
    struct config *config = load->config;
    const char *path = path_below(config, data_dir, "config.yaml");

    if (read_layer(path, load->texts ? &load->texts->file : NULL, &load->file, load->problems) <= 0)
        return;
    config_validate(&load->file, load->problems);
    if (load->problems->n == 0)
        take_layer(config, &load->file, NULL);
}

/* A wrong value is told of by the name of its variable. */
static void rename_to_variables(const char *const *names, struct config_problems *problems,
                                size_t from)
{
    for (size_t i = from; i < problems->n; i++)
        for (size_t f = 0; f < config_field_count; f++)
            if (names[f] && strstr(problems->items[i].message, config_fields[f].path))
                problems->items[i].file = names[f];
}

static void load_environment(struct loading *load, char *const *environment)
{
    const char **names = ARENA_NEW_N(&load->config->arena, const char *, config_field_count);
    AUTO_JSON tree = config_environment(environment, names, load->problems);
    const struct config_layer layer = { .name = "environment", .tree = tree };
    size_t before = load->problems->n;

    if (!tree)
        return;
    config_validate(&layer, load->problems);
    rename_to_variables(names, load->problems, before);
    if (load->problems->n == 0)
        take_layer(load->config, &layer, names);
}

static int fail_with_first(const struct config_problems *problems, struct err *err)
{
    const struct config_problem *first = &problems->items[0];
    size_t others = problems->n + problems->more - 1;

    if (first->line)
        err_set(err, ERR_BAD_REQUEST, "%s:%u:%u: %s", first->file, first->line, first->column,
                first->message);
    else
        err_set(err, ERR_BAD_REQUEST, "%s: %s", first->file, first->message);
    if (others)
        err_wrap(err, "%zu problems in the configuration (`dormouse config check` lists all)",
                 others + 1);
    return -1;
}

static int load_base(struct loading *load, const struct config_sources *sources, struct err *err)
{
    struct err wrong = ERR_INIT;

    load_file(load, sources->data_dir);
    load_environment(load, sources->environment);
    if (load->problems->n > 0)
        return fail_with_first(load->problems, err);
    if (config_fill(load->config, &wrong) < 0)
        config_problem_add(load->problems, "configuration", 0, 0, "%s: %s", err_message(&wrong, 0),
                           err_message(&wrong, 1));
    else
        config_cross_check(load->config, &load->file, load->problems);
    return load->problems->n > 0 ? fail_with_first(load->problems, err) : 0;
}

/* ---- directories ---- */

/* Where a run takes place, and whose settings it begins with. */
struct folders {
    struct config *config;
    const char *data_dir, *dir;
    const struct str *text; /* of dir's own file; NULL: files are read */
    struct config_problems *problems;
};

static int folders_settle(const struct folders *f)
{
    struct err err = ERR_INIT;

    if (config_fill(f->config, &err) == 0 && config_places(f->config, f->dir, &err) == 0)
        return 0;
    config_problem_add(f->problems, f->dir, 0, 0, "%s", err_message(&err, 0));
    return -1;
}

/* Somebody's data directory may be called .dormouse: its file is its owner's and overlays nothing.
 */
static bool folder_is_data(const struct folders *f, const char *folder)
{
    struct stat first, second;

    return access(arena_printf(&f->config->arena, "%s/" CONFIG_DATA_MARK, folder), F_OK) == 0 ||
           (stat(folder, &first) == 0 && stat(f->data_dir, &second) == 0 &&
            first.st_dev == second.st_dev && first.st_ino == second.st_ino);
}

static int folder_tighten(const struct folders *f, const char *dir, const struct str *text)
{
    const char *folder = arena_printf(&f->config->arena, "%s/.dormouse", dir);
    const char *path = path_below(f->config, folder, "config.yaml");
    struct config_layer layer = { .name = NULL };
    size_t before = f->problems->n;
    int r = 0;

    if (!text && folder_is_data(f, folder))
        return 0;
    if (read_layer(path, text, &layer, f->problems) > 0) {
        config_validate(&layer, f->problems);
        if (f->problems->n == before)
            config_overlay(f->config, &layer, *dir ? dir : "/", f->problems);
        r = f->problems->n == before ? folders_settle(f) : -1;
    }
    config_layer_release(&layer);
    return f->problems->n > before ? -1 : r;
}

/* The outermost directory first: each tightens what holds above it. */
static int folders_tighten(const struct folders *f)
{
    char *dir = arena_text(&f->config->arena, strcmp(f->dir, "/") == 0 ? "" : f->dir);

    if (folders_settle(f) < 0)
        return -1;
    if (f->text)
        return folder_tighten(f, dir, f->text);
    for (char *end = dir;; end++) {
        char was = *end;

        if (was && was != '/')
            continue;
        *end = '\0';
        if (folder_tighten(f, dir, NULL) < 0)
            return -1;
        if (!was)
            return 0;
        *end = was;
    }
}

static struct config *config_new(void)
{
    struct config *config = NEW(struct config);

    config->tree = json_object_new_object();
    config->origins = ARENA_NEW_N(&config->arena, struct config_origin, config_field_count);
    return config;
}

static struct config *config_copy(const struct config *from)
{
    struct config *config = config_new();

    json_object_put(config->tree);
    config->tree = NULL;
    if (json_object_deep_copy(from->tree, &config->tree, NULL) < 0)
        BUG("out of memory");
    for (size_t i = 0; i < config_field_count; i++) {
        config->origins[i] = from->origins[i];
        if (from->origins[i].name)
            config->origins[i].name = arena_text(&config->arena, from->origins[i].name);
    }
    return config;
}

int config_for_dir(const struct config *base, const char *data_dir, const char *dir,
                   struct config **ret_config, struct config_problems *problems, struct err *err)
{
    AUTO_CONFIG_PROBLEMS own = { .n = 0 };
    AUTO(config) config = config_copy(base);
    const struct folders folders = {
        .config = config, .data_dir = data_dir, .dir = dir, .problems = problems ? problems : &own
    };
    int r = folders_tighten(&folders);

    config_validate_done();
    if (r < 0)
        return fail_with_first(folders.problems, err);
    *ret_config = TAKE(config);
    return 0;
}

/* ---- both ---- */

int config_builtin(struct config **ret_config, struct err *err)
{
    AUTO(config) config = config_new();

    if (config_fill(config, err) < 0)
        return -1;
    *ret_config = TAKE(config);
    return 0;
}

int config_set(struct config *config, const char *key, struct json_object *value, struct err *err)
{
    config_tree_set(config->tree, key, value);
    return config_fill(config, err);
}

int config_load(const struct config_sources *sources, struct config **ret_config,
                struct config_problems *problems, struct err *err)
{
    int r = config_load_texts(sources, NULL, ret_config, problems, err);

    config_validate_done();
    return r;
}

int config_load_texts(const struct config_sources *sources, const struct config_texts *texts,
                      struct config **ret_config, struct config_problems *problems, struct err *err)
{
    AUTO_CONFIG_PROBLEMS own = { .n = 0 };
    AUTO(config) config = config_new();
    struct loading load = { .config = config,
                            .problems = problems ? problems : &own,
                            .texts = texts };
    const struct folders folders = { .config = config,
                                     .data_dir = sources->data_dir,
                                     .dir = sources->work_dir,
                                     .text = texts ? &texts->work : NULL,
                                     .problems = load.problems };
    int r = load_base(&load, sources, err);

    if (r == 0 && sources->work_dir && folders_tighten(&folders) < 0)
        r = fail_with_first(load.problems, err);
    config_layer_release(&load.file);
    if (r < 0)
        return -1;
    *ret_config = TAKE(config);
    return 0;
}

/* ---- showing ---- */

struct showing {
    void (*fn)(void *arg, const char *key, struct json_object *value, const char *origin);
    void *arg;
};

static struct json_object *shown(const struct config_field *field, struct json_object *value)
{
    if (value && field->secret)
        return json_object_new_string(SHOWN_SECRET);
    return redact_json(value);
}

static void show_one(const struct showing *show, const char *key, const struct config_field *field,
                     struct json_object *value, const char *origin)
{
    AUTO_JSON safe = shown(field, value);

    show->fn(show->arg, key, safe, origin);
}

static void show_records(const struct showing *show, const struct config_field *field,
                         struct json_object *list, const char *origin)
{
    char key[256];

    for (size_t i = 0; i < json_length(list); i++)
        for (const struct config_field *f = field->record; f->path; f++) {
            struct json_object *value =
                config_tree_find(json_object_array_get_idx(list, i), f->path);

            snprintf(key, sizeof(key), "%s[%zu].%s", field->path, i, f->path);
            if (value)
                show_one(show, key, f, value, origin);
        }
}

static void show_field(const struct config *config, const struct showing *show, size_t i)
{
    const struct config_field *field = &config_fields[i];
    const struct config_origin *origin = &config->origins[i];
    struct json_object *value = config_tree_find(config->tree, field->path);
    AUTO_JSON initial = NULL;
    char where[LIMIT_PATH_BYTES + 32] = "default";

    if (origin->name && origin->line)
        snprintf(where, sizeof(where), "%s:%u", origin->name, origin->line);
    else if (origin->name)
        snprintf(where, sizeof(where), "%s", origin->name);
    if (!value && field->initial &&
        config_value_from_text(field, str_from(field->initial), &initial, NULL) == 0)
        value = initial;
    if (value && field->kind == CONFIG_RECORDS && json_length(value) > 0)
        show_records(show, field, value, where);
    else
        show_one(show, field->path, field, value, where);
}

void config_each(const struct config *config,
                 void (*fn)(void *arg, const char *key, struct json_object *value,
                            const char *origin),
                 void *arg)
{
    const struct showing show = { fn, arg };

    for (size_t i = 0; i < config_field_count; i++)
        show_field(config, &show, i);
}
