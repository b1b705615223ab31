/* Keywords about arrays, and the two that look at what no other keyword evaluated.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/linkhash.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/schema_int.h"

#define PAIRWISE_MAX 8 /* items that are compared with each other directly */

/* ---- prefixItems, items ---- */

struct items_data {
    const struct schema_list *prefix;
    const struct schema_node *rest;
};

/* Before 2020-12 a list under `items` was what prefixItems is now, and additionalItems the rest. */
static int old_items_compile(struct schema_compiler *c, struct json_object *value,
                             struct items_data *data)
{
    if (json_object_get_type(value) != json_type_array)
        return schema_compile_one(c, "items", &data->rest);
    if (json_length(value) > 0 && schema_compile_list(c, "items", &data->prefix) < 0)
        return -1;
    return schema_compile_one(c, "additionalItems", &data->rest) < 0 ? -1 : 1;
}

static int items_compile(struct schema_compiler *c, struct json_object *value,
                         const void **ret_data)
{
    struct items_data *data = ARENA_NEW(&c->schema->arena, struct items_data);

    *ret_data = data;
    if (c->unit->draft < 2020)
        return old_items_compile(c, value, data);
    return schema_compile_list(c, "prefixItems", &data->prefix) < 0 ||
                   schema_compile_one(c, "items", &data->rest) < 0
               ? -1
               : 1;
}

static const struct schema_node *item_node(const struct items_data *data, size_t i)
{
    return data->prefix && i < data->prefix->n ? data->prefix->nodes[i] : data->rest;
}

static bool fail_too_many(struct schema_run *run, const struct items_data *data, size_t i,
                          const struct schema_path *path)
{
    struct schema_path at = { path, NULL, i };

    return schema_fail(run, "items", &at, "no item is allowed after the first %zu",
                       data->prefix ? data->prefix->n : 0);
}

static bool items_check(struct schema_run *run, const struct schema_use *use,
                        const struct schema_value *v)
{
    const struct items_data *data = use->data;
    size_t n = json_length(v->json);
    bool valid = true;

    for (size_t i = 0; i < n; i++) {
        const struct schema_node *node = item_node(data, i);
        struct json_object *item = json_object_array_get_idx(v->json, i);

        if (!node)
            break;
        schema_marks_add(v->marks, i);
        if (node == data->rest && node->fixed == 0)
            return fail_too_many(run, data, i, v->path);
        if (!schema_go_on(run, schema_descend(run, node, item, v->path, NULL, i), &valid))
            return false;
    }
    return valid;
}

/* ---- contains, minContains, maxContains ---- */

struct contains_data {
    const struct schema_node *node;
    bool marks; /* since 2020-12 */
    int64_t min, max;
};

static int contains_compile(struct schema_compiler *c, struct json_object *value,
                            const void **ret_data)
{
    struct contains_data *data = ARENA_NEW(&c->schema->arena, struct contains_data);

    *data = (struct contains_data){ schema_compile_sub(c, value, "contains"),
                                    c->unit->draft >= 2020, 1, INT64_MAX };
    *ret_data = data;
    if (!data->node)
        return -1;
    /* The limits are of another vocabulary. */
    if ((c->unit->vocabularies & SCHEMA_VALIDATION) && c->unit->draft >= 2019 &&
        (schema_compile_count(c, "minContains", &data->min) < 0 ||
         schema_compile_count(c, "maxContains", &data->max) < 0))
        return -1;
    return 1;
}

static bool item_matches(struct schema_run *run, const struct schema_node *node,
                         struct json_object *item, const struct schema_path *up, size_t i)
{
    struct schema_report *report = run->report;
    bool valid;

    run->report = NULL;
    valid = schema_descend(run, node, item, up, NULL, i);
    run->report = report;
    return valid;
}

static bool contains_check(struct schema_run *run, const struct schema_use *use,
                           const struct schema_value *v)
{
    const struct contains_data *data = use->data;
    size_t n = json_length(v->json);
    int64_t found = 0;

    for (size_t i = 0; i < n && !run->aborted; i++) {
        if (!item_matches(run, data->node, json_object_array_get_idx(v->json, i), v->path, i))
            continue;
        found++;
        if (data->marks)
            schema_marks_add(v->marks, i);
    }
    if (run->aborted)
        return false;
    if (found < data->min)
        return schema_fail(run, data->min == 1 ? "contains" : "minContains", v->path,
                           "must contain at least %lld items that match \"contains\", found %lld",
                           (long long)data->min, (long long)found);
    if (found > data->max)
        return schema_fail(run, "maxContains", v->path,
                           "must contain at most %lld items that match \"contains\", found %lld",
                           (long long)data->max, (long long)found);
    return true;
}

/* ---- uniqueItems ---- */

static int unique_compile(struct schema_compiler *c, struct json_object *value,
                          const void **ret_data)
{
    (void)ret_data;
    if (json_object_get_type(value) != json_type_boolean)
        return schema_refuse(c, NULL, "must be true or false");
    return json_object_get_boolean(value);
}

struct hashed {
    uint64_t hash;
    size_t index;
};

static int hashed_cmp(const void *a, const void *b)
{
    const struct hashed *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool same_items(struct json_object *array, size_t i, size_t j)
{
    return json_equal(json_object_array_get_idx(array, i), json_object_array_get_idx(array, j));
}

/* Few items pairwise, many by sorted hashes. */
static bool find_twins(struct json_object *array, size_t *ret_i, size_t *ret_j)
{
    size_t n = json_length(array);
    struct hashed *items;
    bool found = false;

    if (n <= PAIRWISE_MAX) {
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1; j < n; j++)
                if (same_items(array, i, j))
                    return *ret_i = i, *ret_j = j, true;
        return false;
    }
    items = NEW_N(struct hashed, n);
    for (size_t i = 0; i < n; i++)
        items[i] = (struct hashed){ json_hash(json_object_array_get_idx(array, i)), i };
    qsort(items, n, sizeof(*items), hashed_cmp);
    for (size_t i = 0; i < n && !found; i++)
        for (size_t j = i + 1; j < n && items[j].hash == items[i].hash && !found; j++)
            if (same_items(array, items[i].index, items[j].index))
                *ret_i = items[i].index, *ret_j = items[j].index, found = true;
    free(items);
    return found;
}

static bool unique_check(struct schema_run *run, const struct schema_use *use,
                         const struct schema_value *v)
{
    size_t i, j;

    (void)use;
    return !find_twins(v->json, &i, &j) ||
           schema_fail(run, "uniqueItems", v->path, "items must differ; %zu and %zu are the same",
                       i, j);
}

/* ---- unevaluatedItems, unevaluatedProperties ---- */

static bool check_unevaluated(struct schema_run *run, const struct schema_use *use,
                              struct json_object *value, const struct schema_path *path,
                              const char *key, size_t i)
{
    const struct schema_node *node = use->data;
    struct schema_path at = { path, key, i };

    if (node->fixed == 0)
        return schema_fail(run, use->keyword->name, &at, "%s is not allowed here",
                           key ? "this property" : "this item");
    return schema_descend(run, node, value, path, key, i);
}

static bool unevaluated_items_check(struct schema_run *run, const struct schema_use *use,
                                    const struct schema_value *v)
{
    size_t n = json_length(v->json);
    bool valid = true;

    for (size_t i = 0; i < n; i++) {
        struct json_object *item = json_object_array_get_idx(v->json, i);

        if (!schema_marks_has(v->marks, i) &&
            !schema_go_on(run, check_unevaluated(run, use, item, v->path, NULL, i), &valid))
            return false;
    }
    schema_marks_add_all(v->marks);
    return valid;
}

static bool unevaluated_properties_check(struct schema_run *run, const struct schema_use *use,
                                         const struct schema_value *v)
{
    struct lh_entry *entry;
    bool valid = true;
    size_t i = 0;

    lh_foreach(json_object_get_object(v->json), entry)
    {
        if (!schema_marks_has(v->marks, i++) &&
            !schema_go_on(
                run, check_unevaluated(run, use, lh_entry_v(entry), v->path, lh_entry_k(entry), 0),
                &valid))
            return false;
    }
    schema_marks_add_all(v->marks);
    return valid;
}

#define VALUE SCHEMA_VALIDATION
#define APPLY SCHEMA_APPLICATOR

const struct schema_keyword schema_array_keywords[] = {
    { "uniqueItems", VALUE, SCHEMA_ARRAY, unique_compile, unique_check },
    { "items", APPLY, SCHEMA_ARRAY, items_compile, items_check, .also = { "prefixItems" } },
    { "contains", APPLY, SCHEMA_ARRAY, contains_compile, contains_check, 6 },
    { NULL },
};

const struct schema_keyword schema_unevaluated_keywords[] = {
    { "unevaluatedItems", SCHEMA_UNEVALUATED, SCHEMA_ARRAY, schema_keyword_one,
      unevaluated_items_check, 2019 },
    { "unevaluatedProperties", SCHEMA_UNEVALUATED, SCHEMA_OBJECT, schema_keyword_one,
      unevaluated_properties_check, 2019 },
    { NULL },
};
