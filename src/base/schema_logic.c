/* Keywords that apply other schemas to the same value: references, and, or, not, if.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/schema_int.h"

/* ---- references ---- */

static int ref_compile(struct schema_compiler *c, struct json_object *schema, const void **ret_data)
{
    const struct schema_anchor *anchor;
    struct json_object *value;

    if (!schema_member(schema, "$ref", &value))
        return 0;
    if (json_object_get_type(value) != json_type_string)
        return schema_refuse(c, "$ref", "must be a URI reference in a string");
    *ret_data = schema_compile_ref(c, json_str(value), &anchor, "$ref");
    return *ret_data ? 1 : -1;
}

static bool ref_check(struct schema_run *run, const struct schema_use *use,
                      struct json_object *instance, const struct schema_path *path,
                      struct schema_marks *marks)
{
    return schema_apply(run, use->data, instance, path, marks);
}

struct dynamic_data {
    const struct schema_node *start;
    const char *name; /* NULL: it is an ordinary reference after all */
};

static int dynamic_ref_compile(struct schema_compiler *c, struct json_object *schema,
                               const void **ret_data)
{
    const struct schema_anchor *anchor = NULL;
    struct dynamic_data *data;
    struct json_object *value;
    ptrdiff_t hash;

    if (!schema_member(schema, "$dynamicRef", &value))
        return 0;
    if (json_object_get_type(value) != json_type_string)
        return schema_refuse(c, "$dynamicRef", "must be a URI reference in a string");
    data = ARENA_NEW(&c->schema->arena, struct dynamic_data);
    data->start = schema_compile_ref(c, json_str(value), &anchor, "$dynamicRef");
    if (!data->start)
        return -1;
    hash = str_find_char(json_str(value), '#');
    if (anchor && anchor->dynamic)
        data->name = schema_intern(c, str_skip(json_str(value), (size_t)hash + 1));
    *ret_data = data;
    return 1;
}

/* The outermost resource on the way here that has such a $dynamicAnchor. */
static const struct schema_node *find_dynamic(const struct schema_run *run,
                                              const struct dynamic_data *data)
{
    const struct schema_node *found = data->start;

    for (const struct schema_scope *scope = run->scope; scope; scope = scope->up)
        for (size_t i = 0; i < scope->unit->dynamic_count; i++)
            if (scope->unit->dynamic[i].name == data->name)
                found = scope->unit->dynamic[i].node;
    return found;
}

static bool dynamic_ref_check(struct schema_run *run, const struct schema_use *use,
                              struct json_object *instance, const struct schema_path *path,
                              struct schema_marks *marks)
{
    const struct dynamic_data *data = use->data;

    return schema_apply(run, data->name ? find_dynamic(run, data) : data->start, instance, path,
                        marks);
}

/* Of 2019-09 only; ignoring it would make a schema laxer than its author meant. */
static int recursive_ref_compile(struct schema_compiler *c, struct json_object *schema,
                                 const void **ret_data)
{
    (void)ret_data;
    if (c->unit->draft == 2019 && json_object_object_get_ex(schema, "$recursiveRef", NULL))
        return schema_refuse(c, "$recursiveRef", "is not supported; use $dynamicRef of 2020-12");
    return 0;
}

/* ---- allOf, anyOf, oneOf, not ---- */

static int list_compile(struct schema_compiler *c, struct json_object *schema, const char *key,
                        const void **ret_data)
{
    const struct schema_list *list;
    int r = schema_compile_list(c, schema, key, &list);

    if (r > 0)
        *ret_data = list;
    return r;
}

static int all_of_compile(struct schema_compiler *c, struct json_object *schema,
                          const void **ret_data)
{
    return list_compile(c, schema, "allOf", ret_data);
}

static int any_of_compile(struct schema_compiler *c, struct json_object *schema,
                          const void **ret_data)
{
    return list_compile(c, schema, "anyOf", ret_data);
}

static int one_of_compile(struct schema_compiler *c, struct json_object *schema,
                          const void **ret_data)
{
    return list_compile(c, schema, "oneOf", ret_data);
}

static bool all_of_check(struct schema_run *run, const struct schema_use *use,
                         struct json_object *instance, const struct schema_path *path,
                         struct schema_marks *marks)
{
    const struct schema_list *list = use->data;
    bool valid = true;

    for (size_t i = 0; i < list->n; i++) {
        if (!schema_apply(run, list->nodes[i], instance, path, marks)) {
            valid = false;
            if (!schema_wants_more(run))
                return false;
        }
    }
    return valid;
}

/* The closest alternative, by how far it got before its first failure. */
struct closest {
    const struct schema_node *node;
    size_t rank;
};

static size_t try_all(struct schema_run *run, const struct schema_list *list,
                      struct json_object *instance, const struct schema_path *path,
                      struct schema_marks *marks, size_t enough, struct closest *closest)
{
    size_t valid = 0;

    for (size_t i = 0; i < list->n && valid < enough && !run->aborted; i++) {
        if (schema_try(run, list->nodes[i], instance, path, marks)) {
            valid++;
        } else if (run->fail_rank > closest->rank) {
            *closest = (struct closest){ list->nodes[i], run->fail_rank };
        }
    }
    return valid;
}

/* A type that does not fit is no news; what the closest alternative misses is. */
static bool explain(struct schema_run *run, const struct closest *closest,
                    struct json_object *instance, const struct schema_path *path)
{
    size_t here = 0;

    for (const struct schema_path *p = path; p; p = p->up)
        here += 2;
    if (closest->node && closest->rank > here && schema_wants_more(run))
        schema_apply(run, closest->node, instance, path, NULL);
    return false;
}

static bool any_of_check(struct schema_run *run, const struct schema_use *use,
                         struct json_object *instance, const struct schema_path *path,
                         struct schema_marks *marks)
{
    const struct schema_list *list = use->data;
    struct closest closest = { NULL, 0 };
    size_t rank;

    /* With marks every alternative counts, else the first is enough. */
    if (try_all(run, list, instance, path, marks, marks ? list->n : 1, &closest) > 0)
        return !run->aborted;
    if (run->aborted)
        return false;
    schema_fail(run, "anyOf", path, "must match at least one of %zu alternatives", list->n);
    rank = closest.rank;
    explain(run, &closest, instance, path);
    run->fail_rank = rank;
    return false;
}

static bool one_of_check(struct schema_run *run, const struct schema_use *use,
                         struct json_object *instance, const struct schema_path *path,
                         struct schema_marks *marks)
{
    const struct schema_list *list = use->data;
    struct closest closest = { NULL, 0 };
    size_t valid = try_all(run, list, instance, path, marks, 2, &closest), rank;

    if (run->aborted)
        return false;
    if (valid == 1)
        return true;
    if (valid > 1)
        return schema_fail(run, "oneOf", path,
                           "must match exactly one of %zu alternatives, and matches several",
                           list->n);
    schema_fail(run, "oneOf", path, "must match exactly one of %zu alternatives, and matches none",
                list->n);
    rank = closest.rank;
    explain(run, &closest, instance, path);
    run->fail_rank = rank;
    return false;
}

static int not_compile(struct schema_compiler *c, struct json_object *schema, const void **ret_data)
{
    const struct schema_node *node;
    int r = schema_compile_one(c, schema, "not", &node);

    if (r > 0)
        *ret_data = node;
    return r;
}

static bool not_check(struct schema_run *run, const struct schema_use *use,
                      struct json_object *instance, const struct schema_path *path,
                      struct schema_marks *marks)
{
    bool matches = schema_try(run, use->data, instance, path, NULL);

    (void)marks;
    if (run->aborted)
        return false;
    return !matches || schema_fail(run, "not", path, "must not match the schema under \"not\"");
}

/* ---- if, then, else ---- */

struct if_data {
    const struct schema_node *condition, *then, *otherwise;
};

static int if_compile(struct schema_compiler *c, struct json_object *schema, const void **ret_data)
{
    struct if_data *data = ARENA_NEW(&c->schema->arena, struct if_data);
    int r = schema_compile_one(c, schema, "if", &data->condition);

    if (r <= 0)
        return r;
    if (schema_compile_one(c, schema, "then", &data->then) < 0 ||
        schema_compile_one(c, schema, "else", &data->otherwise) < 0)
        return -1;
    *ret_data = data;
    return 1;
}

static bool if_check(struct schema_run *run, const struct schema_use *use,
                     struct json_object *instance, const struct schema_path *path,
                     struct schema_marks *marks)
{
    const struct if_data *data = use->data;
    const struct schema_node *next =
        schema_try(run, data->condition, instance, path, marks) ? data->then : data->otherwise;

    if (run->aborted)
        return false;
    return !next || schema_apply(run, next, instance, path, marks);
}

const struct schema_keyword schema_logic_keywords[] = {
    { "$ref", SCHEMA_CORE, SCHEMA_ANY, ref_compile, ref_check },
    { "$dynamicRef", SCHEMA_CORE, SCHEMA_ANY, dynamic_ref_compile, dynamic_ref_check, 2020 },
    { "$recursiveRef", SCHEMA_CORE, 0, recursive_ref_compile, NULL, 2019 },
    { "allOf", SCHEMA_APPLICATOR, SCHEMA_ANY, all_of_compile, all_of_check },
    { "anyOf", SCHEMA_APPLICATOR, SCHEMA_ANY, any_of_compile, any_of_check },
    { "oneOf", SCHEMA_APPLICATOR, SCHEMA_ANY, one_of_compile, one_of_check },
    { "not", SCHEMA_APPLICATOR, SCHEMA_ANY, not_compile, not_check },
    { "if", SCHEMA_APPLICATOR, SCHEMA_ANY, if_compile, if_check },
    { NULL },
};
