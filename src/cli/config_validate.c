/* A layer against the schema.
 *
 * Unknown keys are looked for by a walk of our own, because a near name can be offered then; all
 * else is the validator's work.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/embed.h"
#include "base/json.h"
#if __has_include("base/schema.h")
#include "base/schema.h"
#define HAVE_SCHEMA 1
#endif
#include "cli/args_int.h"
#include "cli/config_int.h"

#define KEYS_MAX    64
#define POINTER_MAX 1024

extern const struct embed_file config_schema_files[];

struct str config_schema(void)
{
    return config_schema_files[0].bytes;
}

/* ---- unknown keys ---- */

static void unknown_key(const struct config_layer *layer, const char *pointer, const char *key,
                        struct json_object *allowed, struct config_problems *problems)
{
    const char *names[KEYS_MAX], *near;
    char list[512] = "";
    size_t n = 0;

    json_object_object_foreach(allowed, name, schema)
    {
        (void)schema;
        if (n < KEYS_MAX)
            names[n++] = name;
        if (strlen(list) + strlen(name) + 3 < sizeof(list))
            sprintf(list + strlen(list), "%s%s", *list ? ", " : "", name);
    }
    near = cli_nearest(key, names, n);
    if (near)
        config_problem_at(problems, layer, pointer, "no key `%.64s`; did you mean `%s`?", key,
                          near);
    else
        config_problem_at(problems, layer, pointer, "no key `%.64s`; allowed here: %s", key, list);
}

static void look_for_unknown(const struct config_layer *layer, const char *pointer,
                             struct json_object *value, struct json_object *schema,
                             struct config_problems *problems);

static void look_in_object(const struct config_layer *layer, const char *pointer,
                           struct json_object *value, struct json_object *allowed,
                           struct config_problems *problems)
{
    char below[POINTER_MAX];

    json_object_object_foreach(value, key, member)
    {
        struct json_object *schema = json_find(allowed, key);

        snprintf(below, sizeof(below), "%s/%s", pointer, key);
        if (schema)
            look_for_unknown(layer, below, member, schema, problems);
        else
            unknown_key(layer, below, key, allowed, problems);
    }
}

static void look_for_unknown(const struct config_layer *layer, const char *pointer,
                             struct json_object *value, struct json_object *schema,
                             struct config_problems *problems)
{
    struct json_object *allowed = json_find(schema, "properties"),
                       *items = json_find(schema, "items");
    char below[POINTER_MAX];

    if (allowed && json_object_is_type(value, json_type_object))
        look_in_object(layer, pointer, value, allowed, problems);
    if (!items || !json_object_is_type(value, json_type_array))
        return;
    for (size_t i = 0; i < json_object_array_length(value); i++) {
        snprintf(below, sizeof(below), "%s/%zu", pointer, i);
        look_for_unknown(layer, below, json_object_array_get_idx(value, i), items, problems);
    }
}

/* ---- all else ---- */
#ifdef HAVE_SCHEMA

static void add_errors(const struct config_layer *layer, const struct schema_report *report,
                       struct config_problems *problems)
{
    for (size_t i = 0; i < report->n; i++) {
        const struct schema_error *error = &report->errors[i];
        struct str keyword = str_from(error->keyword);
        const char *name = error->instance;
        char path[POINTER_MAX];

        /* Said already, with a near name. */
        if (str_ends(keyword, STR("/additionalProperties")))
            continue;
        snprintf(path, sizeof(path), "%s", *name == '/' ? name + 1 : name);
        for (char *p = path; *p; p++)
            if (*p == '/')
                *p = '.';
        config_problem_at(problems, layer, name, "%s%s%s%s", *path ? "`" : "", path,
                          *path ? "` " : "", error->message);
    }
    problems->more += report->more;
}

#endif
void config_validate(const struct config_layer *layer, struct config_problems *problems)
{
    AUTO_JSON document = NULL;
#ifdef HAVE_SCHEMA
    AUTO(schema) schema = NULL;
    AUTO_SCHEMA_REPORT report = SCHEMA_REPORT_INIT;
#endif
    struct err err = ERR_INIT;

    if (!json_object_is_type(layer->tree, json_type_object)) {
        config_problem_at(problems, layer, "", "must be keys with values, not %s",
                          json_type_name(layer->tree));
        return;
    }
    if (json_parse(config_schema(), &document, &err) < 0
#ifdef HAVE_SCHEMA
        || schema_compile(NULL, document, STR(""), 0, &schema, &err) < 0
#endif
    )
        BUG("the schema of the configuration: %s", err_message(&err, 0));
    look_for_unknown(layer, "", layer->tree, document, problems);
#ifdef HAVE_SCHEMA
    if (schema_validate(schema, layer->tree, &report, &err) < 0)
        add_errors(layer, &report, problems);
#endif
}
