/* Keywords about objects as a whole; those about their members are in schema_members.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/linkhash.h>

#include "base/json.h"
#include "base/schema_int.h"

/* ---- required ---- */

static bool all_strings(struct json_object *list)
{
    if (json_object_get_type(list) != json_type_array)
        return false;
    for (size_t i = 0; i < json_length(list); i++)
        if (json_object_get_type(json_object_array_get_idx(list, i)) != json_type_string)
            return false;
    return true;
}

static int required_compile(struct schema_compiler *c, struct json_object *value,
                            const void **ret_data)
{
    if (!all_strings(value))
        return schema_refuse(c, NULL, "must be an array of property names");
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

    for (size_t i = 0; i < json_length(names); i++) {
        struct json_object *name = json_object_array_get_idx(names, i);

        if (has_member(instance, name))
            continue;
        valid = schema_fail(run, keyword, path, "the property \"%.*s\" is required%s%.100s%s",
                            STR_ARG(json_str(name)), with ? " together with \"" : "",
                            with ? with : "", with ? "\"" : "");
        if (!schema_wants_more(run))
            break;
    }
    return valid;
}

static bool required_check(struct schema_run *run, const struct schema_use *use,
                           const struct schema_value *v)
{
    return check_required(run, "required", v->json, (struct json_object *)use->data, NULL, v->path);
}

/* ---- dependentRequired, dependentSchemas, dependencies ---- */

struct dependents_data {
    size_t n;
    struct dependent {
        const char *name;
        const struct schema_node *node; /* NULL: names */
        struct json_object *names;
    } list[];
};

/* `dependencies`, which earlier drafts had for both, takes lists of names and schemas. */
static int compile_dependent(struct schema_compiler *c, struct dependent *dependent)
{
    bool names = strcmp(c->keyword->name, "dependentSchemas") != 0;
    bool schemas = strcmp(c->keyword->name, "dependentRequired") != 0;

    if (names && all_strings(dependent->names))
        return 0;
    if (!schemas)
        return schema_refuse(c, NULL, "\"%.100s\" must be an array of property names",
                             dependent->name);
    dependent->node = schema_compile_member(c, dependent->names, c->keyword->name, dependent->name);
    return dependent->node ? 0 : -1;
}

static int dependents_compile(struct schema_compiler *c, struct json_object *value,
                              const void **ret_data)
{
    struct dependents_data *data;
    struct lh_entry *entry;

    if (json_object_get_type(value) != json_type_object)
        return schema_refuse(c, NULL, "must be an object");
    data = arena_alloc(&c->schema->arena, 1,
                       sizeof(*data) +
                           (size_t)json_object_object_length(value) * sizeof(data->list[0]));
    lh_foreach(json_object_get_object(value), entry)
    {
        struct dependent *dependent = &data->list[data->n++];

        *dependent = (struct dependent){ .name = lh_entry_k(entry), .names = lh_entry_v(entry) };
        if (compile_dependent(c, dependent) < 0)
            return -1;
    }
    *ret_data = data;
    return 1;
}

static bool check_dependent(struct schema_run *run, const struct schema_use *use,
                            const struct dependent *dependent, const struct schema_value *v)
{
    if (!json_object_object_get_ex(v->json, dependent->name, NULL))
        return true;
    if (dependent->node)
        return schema_apply(run, dependent->node, v);
    return check_required(run, use->keyword->name, v->json, dependent->names, dependent->name,
                          v->path);
}

static bool dependents_check(struct schema_run *run, const struct schema_use *use,
                             const struct schema_value *v)
{
    const struct dependents_data *data = use->data;
    bool valid = true;

    for (size_t i = 0; i < data->n; i++)
        if (!schema_go_on(run, check_dependent(run, use, &data->list[i], v), &valid))
            return false;
    return valid;
}

/* ---- propertyNames ---- */

static bool property_names_check(struct schema_run *run, const struct schema_use *use,
                                 const struct schema_value *v)
{
    struct lh_entry *entry;
    bool valid = true;

    lh_foreach(json_object_get_object(v->json), entry)
    {
        const char *key = lh_entry_k(entry);
        AUTO_JSON name = json_object_new_string(key);

        if (!schema_go_on(run, schema_descend(run, use->data, name, v->path, key, 0), &valid))
            return false;
    }
    return valid;
}

#define VALUE SCHEMA_VALIDATION
#define APPLY SCHEMA_APPLICATOR

const struct schema_keyword schema_object_keywords[] = {
    { "required", VALUE, SCHEMA_OBJECT, required_compile, required_check },
    { "dependentRequired", VALUE, SCHEMA_OBJECT, dependents_compile, dependents_check, 2019 },
    { "propertyNames", APPLY, SCHEMA_OBJECT, schema_keyword_one, property_names_check, 6 },
    { "dependentSchemas", APPLY, SCHEMA_OBJECT, dependents_compile, dependents_check, 2019 },
    { "dependencies", APPLY, SCHEMA_OBJECT, dependents_compile, dependents_check },
    { NULL },
};
