/* Keywords that apply other schemas to the same value: references, and, or, not, if.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"
#include "base/schema_int.h"

/* ---- references ---- */

static int ref_compile(struct schema_compiler *c, struct json_object *value, const void **ret_data)
{
    const struct schema_anchor *anchor;

    if (json_object_get_type(value) != json_type_string)
        return schema_refuse(c, NULL, "must be a URI reference in a string");
    *ret_data = schema_compile_ref(c, json_str(value), &anchor);
    return *ret_data ? 1 : -1;
}

static bool ref_check(struct schema_run *run, const struct schema_use *use,
                      const struct schema_value *v)
{
    return schema_apply(run, use->data, v);
}

struct dynamic_data {
    const struct schema_node *start;
    const char *name; /* NULL: it is an ordinary reference after all */
};

static int dynamic_ref_compile(struct schema_compiler *c, struct json_object *value,
                               const void **ret_data)
{
    struct dynamic_data *data = ARENA_NEW(&c->schema->arena, struct dynamic_data);
    const struct schema_anchor *anchor = NULL;

    if (json_object_get_type(value) != json_type_string)
        return schema_refuse(c, NULL, "must be a URI reference in a string");
    data->start = schema_compile_ref(c, json_str(value), &anchor);
    if (!data->start)
        return -1;
    if (anchor && anchor->dynamic)
        data->name = schema_intern(c, anchor->name);
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
                              const struct schema_value *v)
{
    const struct dynamic_data *data = use->data;

    return schema_apply(run, data->name ? find_dynamic(run, data) : data->start, v);
}

/* Of 2019-09 only; ignoring it would make a schema laxer than its author meant. */
static int recursive_ref_compile(struct schema_compiler *c, struct json_object *value,
                                 const void **ret_data)
{
    (void)value, (void)ret_data;
    if (c->unit->draft == 2019)
        return schema_refuse(c, NULL, "is not supported; use $dynamicRef of 2020-12");
    return 0;
}

/* ---- allOf, anyOf, oneOf, not ---- */

static bool all_of_check(struct schema_run *run, const struct schema_use *use,
                         const struct schema_value *v)
{
    const struct schema_list *list = use->data;
    bool valid = true;

    for (size_t i = 0; i < list->n; i++)
        if (!schema_go_on(run, schema_apply(run, list->nodes[i], v), &valid))
            return false;
    return valid;
}

/* The closest alternative, by how far it got before its first failure. */
struct closest {
    const struct schema_node *node;
    size_t rank;
};

static size_t try_all(struct schema_run *run, const struct schema_list *list,
                      const struct schema_value *v, size_t enough, struct closest *closest)
{
    size_t valid = 0;

    for (size_t i = 0; i < list->n && valid < enough && !run->aborted; i++) {
        if (schema_try(run, list->nodes[i], v)) {
            valid++;
        } else if (run->fail_rank > closest->rank) {
            *closest = (struct closest){ list->nodes[i], run->fail_rank };
        }
    }
    return valid;
}

/* Says what the closest alternative misses. A type that does not fit is no news. Returns false. */
static bool explain(struct schema_run *run, const struct closest *closest,
                    const struct schema_value *v)
{
    size_t here = 0;

    for (const struct schema_path *p = v->path; p; p = p->up)
        here += 2;
    if (closest->node && closest->rank > here && schema_wants_more(run))
        schema_apply(run, closest->node, &(struct schema_value){ v->json, v->path, NULL });
    run->fail_rank = closest->rank;
    return false;
}

static bool any_of_check(struct schema_run *run, const struct schema_use *use,
                         const struct schema_value *v)
{
    const struct schema_list *list = use->data;
    struct closest closest = { NULL, 0 };
    /* With marks every alternative counts, else the first is enough. */
    size_t valid = try_all(run, list, v, v->marks ? list->n : 1, &closest);

    if (run->aborted)
        return false;
    if (valid > 0)
        return true;
    schema_fail(run, "anyOf", v->path, "must match at least one of %zu alternatives", list->n);
    return explain(run, &closest, v);
}

static bool one_of_check(struct schema_run *run, const struct schema_use *use,
                         const struct schema_value *v)
{
    const struct schema_list *list = use->data;
    struct closest closest = { NULL, 0 };
    size_t valid = try_all(run, list, v, 2, &closest);

    if (run->aborted)
        return false;
    if (valid == 1)
        return true;
    if (valid > 1)
        return schema_fail(run, "oneOf", v->path,
                           "must match exactly one of %zu alternatives, and matches several",
                           list->n);
    schema_fail(run, "oneOf", v->path,
                "must match exactly one of %zu alternatives, and matches none", list->n);
    return explain(run, &closest, v);
}

static bool not_check(struct schema_run *run, const struct schema_use *use,
                      const struct schema_value *v)
{
    bool matches = schema_try(run, use->data, &(struct schema_value){ v->json, v->path, NULL });

    if (run->aborted)
        return false;
    return !matches || schema_fail(run, "not", v->path, "must not match the schema under \"not\"");
}

/* ---- if, then, else ---- */

struct if_data {
    const struct schema_node *condition, *then, *otherwise;
};

static int if_compile(struct schema_compiler *c, struct json_object *value, const void **ret_data)
{
    struct if_data *data = ARENA_NEW(&c->schema->arena, struct if_data);

    *ret_data = data;
    data->condition = schema_compile_sub(c, value, "if");
    return !data->condition || schema_compile_one(c, "then", &data->then) < 0 ||
                   schema_compile_one(c, "else", &data->otherwise) < 0
               ? -1
               : 1;
}

static bool if_check(struct schema_run *run, const struct schema_use *use,
                     const struct schema_value *v)
{
    const struct if_data *data = use->data;
    const struct schema_node *next =
        schema_try(run, data->condition, v) ? data->then : data->otherwise;

    if (run->aborted)
        return false;
    return !next || schema_apply(run, next, v);
}

const struct schema_keyword schema_logic_keywords[] = {
    { "$ref", SCHEMA_CORE, SCHEMA_ANY, ref_compile, ref_check },
    { "$dynamicRef", SCHEMA_CORE, SCHEMA_ANY, dynamic_ref_compile, dynamic_ref_check, 2020 },
    { "$recursiveRef", SCHEMA_CORE, 0, recursive_ref_compile, NULL, 2019 },
    { "allOf", SCHEMA_APPLICATOR, SCHEMA_ANY, schema_keyword_list, all_of_check },
    { "anyOf", SCHEMA_APPLICATOR, SCHEMA_ANY, schema_keyword_list, any_of_check },
    { "oneOf", SCHEMA_APPLICATOR, SCHEMA_ANY, schema_keyword_list, one_of_check },
    { "not", SCHEMA_APPLICATOR, SCHEMA_ANY, schema_keyword_one, not_check },
    { "if", SCHEMA_APPLICATOR, SCHEMA_ANY, if_compile, if_check, 7 },
    { NULL },
};
