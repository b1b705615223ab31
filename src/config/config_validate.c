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
#include "base/nearest.h"
#include "base/schema.h"
#include "config/config_int.h"

#define KEYS_MAX    64
#define POINTER_MAX 1024

extern const struct embed_file config_schema_files[];

struct str config_schema(void)
{
    return config_schema_files[0].bytes;
}

/* ---- unknown keys ---- */

/* Keys that were accepted once and did nothing. They come back with what reads them. */
static const char *const keys_without_use[] = {
    "/mcp", "/rules", "/retention", "/features", "/budget/runtime_per_day", "/budget/warn_at",
};

static bool is_without_use(const char *pointer)
{
    for (size_t i = 0; i < ARRAY_LEN(keys_without_use); i++)
        if (strcmp(pointer, keys_without_use[i]) == 0)
            return true;
    return false;
}

static void unknown_key(const struct config_layer *layer, const char *pointer, const char *key,
                        struct json_object *allowed, struct config_problems *problems)
{
    struct json_object_iterator at = json_object_iter_begin(allowed);
    const struct json_object_iterator end = json_object_iter_end(allowed);
    const char *names[KEYS_MAX], *near;
    AUTO_BUF list = BUF_INIT(512);
    size_t n = 0;

    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        const char *name = json_object_iter_peek_name(&at);

        if (n < KEYS_MAX)
            names[n++] = name;
        buf_printf(&list, "%s%s", list.n ? ", " : "", name);
    }
    near = nearest_name(key, names, n);
    if (is_without_use(pointer))
        config_problem_key(problems, layer, pointer,
                           "`%.64s` does not exist yet: Dormouse would ignore it; take it out of "
                           "this file",
                           key);
    else if (near)
        config_problem_key(problems, layer, pointer, "no key `%.64s`; did you mean `%s`?", key,
                           near);
    else
        config_problem_key(problems, layer, pointer, "no key `%.64s`; allowed here: %s", key,
                           buf_text(&list));
}

static void look_for_unknown(const struct config_layer *layer, const char *pointer,
                             struct json_object *value, struct json_object *schema,
                             struct config_problems *problems);

/* A key as a reference token: '~' and '/' are escaped (RFC 6901). */
static void pointer_below(const char *pointer, const char *key, char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "%s/", pointer);

    for (; *key && n + 3 < size; key++) {
        if (*key == '~' || *key == '/') {
            out[n++] = '~';
            out[n++] = *key == '~' ? '0' : '1';
        } else {
            out[n++] = *key;
        }
    }
    if (n < size)
        out[n] = '\0';
}

static void look_in_object(const struct config_layer *layer, const char *pointer,
                           struct json_object *value, struct json_object *allowed,
                           struct config_problems *problems)
{
    struct json_object_iterator at = json_object_iter_begin(value);
    const struct json_object_iterator end = json_object_iter_end(value);
    char below[POINTER_MAX];

    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        const char *key = json_object_iter_peek_name(&at);
        struct json_object *member = json_object_iter_peek_value(&at);
        struct json_object *schema = json_find(allowed, key);

        pointer_below(pointer, key, below, sizeof(below));
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
    for (size_t i = 0; i < json_length(value); i++) {
        snprintf(below, sizeof(below), "%s/%zu", pointer, i);
        look_for_unknown(layer, below, json_object_array_get_idx(value, i), items, problems);
    }
}

/* ---- all else ---- */

/* Where in the schema the keyword stands that was not satisfied; NULL: not to be told. */
static struct json_object *node_of(struct json_object *document, const struct schema_error *error,
                                   const char *keyword)
{
    struct str at = str_from(error->keyword);
    ptrdiff_t hash = str_find_char(at, '#');
    struct json_object *node = NULL;

    if (hash < 0 || !str_ends(at, str_from(keyword)))
        return NULL;
    at = str_skip(at, (size_t)hash + 1);
    at = str_take(at, at.n - strlen(keyword));
    return json_pointer_find(document, at, &node, NULL) < 0 ? NULL : node;
}

/* Limits of durations and sizes as people write them. False: it is none. */
static bool limit_in_words(struct json_object *document, const struct schema_error *error,
                           const char *path, struct buf *out)
{
    const struct config_field *field = config_fields;
    struct json_object *least = node_of(document, error, "/minimum");
    struct json_object *most = node_of(document, error, "/maximum");
    int64_t limit;

    while (field->path && strcmp(field->path, path) != 0)
        field++;
    if (!field->path || (!least && !most) ||
        (field->kind != CONFIG_DURATION && field->kind != CONFIG_BYTES))
        return false;
    limit = json_object_get_int64(least ? json_find(least, "minimum") : json_find(most, "maximum"));
    buf_printf(out, "must be at %s ", least ? "least" : "most");
    if (field->kind == CONFIG_DURATION)
        config_add_duration(limit, out);
    else
        config_add_bytes(limit, out);
    return true;
}

/* Nobody wants to read a pattern: the schema says in words what it allows. */
static const char *in_words(struct json_object *document, const struct schema_error *error,
                            const char *path, struct buf *out)
{
    struct json_object *node = node_of(document, error, "/pattern"),
                       *words = json_find(node, "errorMessage");

    if (limit_in_words(document, error, path, out))
        return buf_text(out);
    return words ? json_object_get_string(words) : error->message;
}

static void add_errors(const struct config_layer *layer, struct json_object *document,
                       const struct schema_report *report, struct config_problems *problems)
{
    for (size_t i = 0; i < report->n; i++) {
        const struct schema_error *error = &report->errors[i];
        struct str keyword = str_from(error->keyword);
        const char *name = error->instance;
        AUTO_BUF words = BUF_INIT(256);
        char path[POINTER_MAX];

        /* Said already, with a near name. */
        if (str_ends(keyword, STR("/additionalProperties")))
            continue;
        snprintf(path, sizeof(path), "%s", *name == '/' ? name + 1 : name);
        for (char *p = path; *p; p++)
            if (*p == '/')
                *p = '.';
        config_problem_at(problems, layer, name, "%s%s%s%s", *path ? "`" : "", path,
                          *path ? "` " : "", in_words(document, error, path, &words));
    }
    problems->more += report->more;
}

/* Compiled at the first file that needs it, dropped when the configuration is loaded. */
static struct {
    struct json_object *document;
    struct schema *schema;
} compiled;

static void compile_once(void)
{
    struct err err = ERR_INIT;

    if (compiled.schema)
        return;
    if (json_parse(config_schema(), &compiled.document, &err) < 0 ||
        schema_compile(NULL, compiled.document, STR(""), 0, &compiled.schema, &err) < 0)
        BUG("the schema of the configuration: %s", err_message(&err, 0));
}

void config_validate_done(void)
{
    schema_free(compiled.schema);
    json_object_put(compiled.document);
    compiled.schema = NULL;
    compiled.document = NULL;
}

static int validate_tree(const struct config_layer *layer, struct json_object *tree,
                         struct config_problems *problems)
{
    AUTO_SCHEMA_REPORT report = SCHEMA_REPORT_INIT;
    struct err err = ERR_INIT;

    if (schema_validate(compiled.schema, tree, &report, &err) == 0)
        return 0;
    if (err.code == ERR_SCHEMA_VIOLATION)
        add_errors(layer, compiled.document, &report, problems);
    else
        config_problem_at(problems, layer, "", "could not be checked: %s", err_message(&err, 0));
    return -1;
}

static bool number_of(const struct config_field *field, struct json_object *value, int64_t *ret)
{
    if (!json_object_is_type(value, json_type_string))
        return false;
    if (field->kind == CONFIG_BYTES)
        return config_parse_bytes(json_str(value), ret, NULL) == 0;
    return field->kind == CONFIG_DURATION && config_parse_duration(json_str(value), ret, NULL) == 0;
}

/* The schema's smallest and largest bind numbers only: "1B" must not pass where 1 does not. A copy
 * with the numbers that such texts mean, NULL when there is none. */
static struct json_object *with_numbers(struct json_object *tree)
{
    struct json_object *copy = NULL;

    for (const struct config_field *field = config_fields; field->path; field++) {
        int64_t number;

        if (!number_of(field, config_tree_find(tree, field->path), &number))
            continue;
        if (!copy)
            json_object_deep_copy(tree, &copy, NULL);
        config_tree_set(copy, field->path, json_object_new_int64(number));
    }
    return copy;
}

void config_validate(const struct config_layer *layer, struct config_problems *problems)
{
    if (!json_object_is_type(layer->tree, json_type_object)) {
        config_problem_at(problems, layer, "", "must be keys with values, not %s",
                          json_type_name(layer->tree));
        return;
    }
    compile_once();
    look_for_unknown(layer, "", layer->tree, compiled.document, problems);
    if (validate_tree(layer, layer->tree, problems) == 0) {
        AUTO_JSON numbers = with_numbers(layer->tree);

        if (numbers)
            validate_tree(layer, numbers, problems);
    }
}
