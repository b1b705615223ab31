/* Keywords about objects as a whole; those about their members are in schema_members.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/linkhash.h>

#include "base/json.h"
#include "base/schema_int.h"

/* ---- required, dependentRequired ---- */

static bool all_strings(struct json_object *list)
{
    if (json_object_get_type(list) != json_type_array)
        return false;
    for (size_t i = 0; i < json_object_array_length(list); i++)
        if (json_object_get_type(json_object_array_get_idx(list, i)) != json_type_string)
            return false;
    return true;
}

static int required_compile(struct schema_compiler *c, struct json_object *schema,
                            const void **ret_data)
{
    struct json_object *value;

    if (!schema_member(schema, "required", &value))
        return 0;
    if (!all_strings(value))
        return schema_refuse(c, "required", "must be an array of property names");
    *ret_data = value;
    return 1;
}

static bool has_member(struct json_object *instance, struct json_object *name)
{
    struct str key = json_str(name);

    /* Keys hold no NUL. */
    return strlen(key.p) == key.n && json_object_object_get_ex(instance, key.p, NULL);
}

/* with is the property that makes them required, or NULL. */
static bool check_required(struct schema_run *run, const char *keyword,
                           struct json_object *instance, struct json_object *names,
                           const char *with, const struct schema_path *path)
{
    bool valid = true;

    for (size_t i = 0; i < json_object_array_length(names); i++) {
        struct json_object *name = json_object_array_get_idx(names, i);

        if (has_member(instance, name))
            continue;
        valid = schema_fail(run, keyword, path, "the property \"%.*s\" is required%s%.100s%s",
                            STR_ARG(json_str(name)), with ? " together with \"" : "",
                            with ? with : "", with ? "\"" : "");
        if (!schema_wants_more(run))
            return false;
    }
    return valid;
}

static bool required_check(struct schema_run *run, const struct schema_use *use,
                           struct json_object *instance, const struct schema_path *path,
                           struct schema_marks *marks)
{
    (void)marks;
    return check_required(run, "required", instance, (struct json_object *)use->data, NULL, path);
}

static int dependent_required_compile(struct schema_compiler *c, struct json_object *schema,
                                      const void **ret_data)
{
    struct json_object *value;
    struct lh_entry *entry;

    if (!schema_member(schema, "dependentRequired", &value))
        return 0;
    if (json_object_get_type(value) != json_type_object)
        return schema_refuse(c, "dependentRequired", "must be an object of arrays");
    lh_foreach(json_object_get_object(value), entry)
    {
        if (!all_strings(lh_entry_v(entry)))
            return schema_refuse(c, "dependentRequired",
                                 "\"%.100s\" must be an array of property names",
                                 (const char *)lh_entry_k(entry));
    }
    *ret_data = value;
    return 1;
}

static bool dependent_required_check(struct schema_run *run, const struct schema_use *use,
                                     struct json_object *instance, const struct schema_path *path,
                                     struct schema_marks *marks)
{
    struct lh_entry *entry;
    bool valid = true;

    (void)marks;
    lh_foreach(json_object_get_object(use->data), entry)
    {
        if (!json_object_object_get_ex(instance, lh_entry_k(entry), NULL))
            continue;
        valid = check_required(run, "dependentRequired", instance, lh_entry_v(entry),
                               lh_entry_k(entry), path) &&
                valid;
        if (!valid && !schema_wants_more(run))
            return false;
    }
    return valid;
}

/* ---- dependentSchemas, dependencies, propertyNames ---- */

struct dependents_data {
    size_t n;
    struct dependent {
        const char *name;
        const struct schema_node *node; /* NULL: names */
        struct json_object *names;
    } list[];
};

/* In `dependencies`, which earlier drafts had for both, a list of names is allowed too. */
static int dependents_compile(struct schema_compiler *c, struct json_object *schema,
                              const char *key, bool names, const void **ret_data)
{
    struct dependents_data *data;
    struct json_object *value;
    struct lh_entry *entry;

    if (!schema_member(schema, key, &value))
        return 0;
    if (json_object_get_type(value) != json_type_object)
        return schema_refuse(c, key, "must be an object of schemas");
    data = arena_alloc(&c->schema->arena, 1,
                       sizeof(*data) +
                           (size_t)json_object_object_length(value) * sizeof(data->list[0]));
    lh_foreach(json_object_get_object(value), entry)
    {
        struct dependent *dependent = &data->list[data->n++];

        dependent->name = lh_entry_k(entry);
        dependent->names = lh_entry_v(entry);
        if (names && all_strings(dependent->names))
            continue;
        dependent->node = schema_compile_sub(c, lh_entry_v(entry), key, dependent->name);
        if (!dependent->node)
            return -1;
    }
    *ret_data = data;
    return 1;
}

static int dependent_schemas_compile(struct schema_compiler *c, struct json_object *schema,
                                     const void **ret_data)
{
    return dependents_compile(c, schema, "dependentSchemas", false, ret_data);
}

static int dependencies_compile(struct schema_compiler *c, struct json_object *schema,
                                const void **ret_data)
{
    return dependents_compile(c, schema, "dependencies", true, ret_data);
}

static bool dependents_check(struct schema_run *run, const struct schema_use *use,
                             struct json_object *instance, const struct schema_path *path,
                             struct schema_marks *marks)
{
    const struct dependents_data *data = use->data;
    bool valid = true;

    for (size_t i = 0; i < data->n; i++) {
        const struct dependent *dependent = &data->list[i];

        if (!json_object_object_get_ex(instance, dependent->name, NULL))
            continue;
        if (dependent->node)
            valid = schema_apply(run, dependent->node, instance, path, marks) && valid;
        else
            valid = check_required(run, use->keyword->name, instance, dependent->names,
                                   dependent->name, path) &&
                    valid;
        if (!valid && !schema_wants_more(run))
            return false;
    }
    return valid;
}

static int property_names_compile(struct schema_compiler *c, struct json_object *schema,
                                  const void **ret_data)
{
    const struct schema_node *node;
    int r = schema_compile_one(c, schema, "propertyNames", &node);

    if (r > 0)
        *ret_data = node;
    return r;
}

static bool property_names_check(struct schema_run *run, const struct schema_use *use,
                                 struct json_object *instance, const struct schema_path *path,
                                 struct schema_marks *marks)
{
    struct lh_entry *entry;
    bool valid = true;

    (void)marks;
    lh_foreach(json_object_get_object(instance), entry)
    {
        const char *key = lh_entry_k(entry);
        AUTO_JSON name = json_object_new_string(key);

        if (!schema_descend(run, use->data, name, path, key, 0)) {
            valid = false;
            if (!schema_wants_more(run))
                return false;
        }
    }
    return valid;
}

/* ---- minProperties, maxProperties ---- */

struct size_data {
    int64_t min, max;
};

static int properties_count_compile(struct schema_compiler *c, struct json_object *schema,
                                    const void **ret_data)
{
    struct size_data *data = ARENA_NEW(&c->schema->arena, struct size_data);
    int min, max;

    data->max = INT64_MAX;
    min = schema_compile_count(c, schema, "minProperties", &data->min);
    max = schema_compile_count(c, schema, "maxProperties", &data->max);
    *ret_data = data;
    return min < 0 || max < 0 ? -1 : min || max;
}

static bool properties_count_check(struct schema_run *run, const struct schema_use *use,
                                   struct json_object *instance, const struct schema_path *path,
                                   struct schema_marks *marks)
{
    const struct size_data *data = use->data;
    int64_t n = json_object_object_length(instance);

    (void)marks;
    if (n < data->min)
        return schema_fail(run, "minProperties", path,
                           "must have at least %lld properties, found %lld", (long long)data->min,
                           (long long)n);
    if (n > data->max)
        return schema_fail(run, "maxProperties", path,
                           "must have at most %lld properties, found %lld", (long long)data->max,
                           (long long)n);
    return true;
}

#define VALUE SCHEMA_VALIDATION
#define APPLY SCHEMA_APPLICATOR

const struct schema_keyword schema_object_keywords[] = {
    { "required", VALUE, SCHEMA_OBJECT, required_compile, required_check },
    { "minProperties", VALUE, SCHEMA_OBJECT, properties_count_compile, properties_count_check },
    { "dependentRequired", VALUE, SCHEMA_OBJECT, dependent_required_compile,
      dependent_required_check, 2019 },
    { "propertyNames", APPLY, SCHEMA_OBJECT, property_names_compile, property_names_check },
    { "dependentSchemas", APPLY, SCHEMA_OBJECT, dependent_schemas_compile, dependents_check, 2019 },
    { "dependencies", APPLY, SCHEMA_OBJECT, dependencies_compile, dependents_check },
    { NULL },
};
