/* Keywords about objects.
 *
 * properties, patternProperties and additionalProperties are one keyword here: each member of the
 * instance is looked at once. Names of properties are found by hashing.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/linkhash.h>
#include <stdio.h>

#include "base/json.h"
#include "base/schema_int.h"

#define NAME_MAX_SHOWN 64

/* ---- properties, patternProperties, additionalProperties ---- */

struct property {
    const char *name; /* NULL: free slot */
    const struct schema_node *node;
};

struct pattern_property {
    const struct regex *regex;
    const struct schema_node *node;
};

struct members_data {
    struct property *slots;
    struct json_object *source; /* properties, or NULL */
    size_t mask;                /* slots - 1; a power of two minus one */
    struct pattern_property *patterns;
    size_t patterns_count;
    const struct schema_node *additional; /* NULL: anything goes */
};

static size_t name_hash(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return (size_t)(hash ^ hash >> 32);
}

static struct property *find_slot(const struct members_data *data, const char *name)
{
    for (size_t i = name_hash(name);; i++) {
        struct property *slot = &data->slots[i & data->mask];

        if (!slot->name || strcmp(slot->name, name) == 0)
            return slot;
    }
}

static int compile_properties(struct schema_compiler *c, struct json_object *schema,
                              struct members_data *data)
{
    struct json_object *value;
    struct lh_entry *entry;
    size_t slots = 4;

    data->mask = 0;
    data->slots = ARENA_NEW(&c->schema->arena, struct property);
    if (!schema_member(schema, "properties", &value))
        return 0;
    if (json_object_get_type(value) != json_type_object)
        return schema_refuse(c, "properties", "must be an object of schemas");
    data->source = value;
    while (slots < (size_t)json_object_object_length(value) * 2)
        slots *= 2;
    data->mask = slots - 1;
    data->slots = ARENA_NEW_N(&c->schema->arena, struct property, slots);
    lh_foreach(json_object_get_object(value), entry)
    {
        const char *name = lh_entry_k(entry);
        const struct schema_node *node =
            schema_compile_sub(c, lh_entry_v(entry), "properties", name);

        if (!node)
            return -1;
        *find_slot(data, name) = (struct property){ name, node };
    }
    return 1;
}

static int compile_patterns(struct schema_compiler *c, struct json_object *schema,
                            struct members_data *data)
{
    struct json_object *value;
    struct lh_entry *entry;

    if (!schema_member(schema, "patternProperties", &value))
        return 0;
    if (json_object_get_type(value) != json_type_object)
        return schema_refuse(c, "patternProperties", "must be an object of schemas");
    data->patterns = ARENA_NEW_N(&c->schema->arena, struct pattern_property,
                                 (size_t)json_object_object_length(value));
    lh_foreach(json_object_get_object(value), entry)
    {
        const char *pattern = lh_entry_k(entry);
        struct pattern_property *property = &data->patterns[data->patterns_count++];

        property->regex = schema_compile_regex(c, str_from(pattern), "patternProperties");
        if (!property->regex)
            return -1;
        property->node = schema_compile_sub(c, lh_entry_v(entry), "patternProperties", pattern);
        if (!property->node)
            return -1;
    }
    return 1;
}

static int members_compile(struct schema_compiler *c, struct json_object *schema,
                           const void **ret_data)
{
    struct members_data *data;
    int properties, patterns, additional;

    if (!json_object_object_get_ex(schema, "properties", NULL) &&
        !json_object_object_get_ex(schema, "patternProperties", NULL) &&
        !json_object_object_get_ex(schema, "additionalProperties", NULL))
        return 0;
    data = ARENA_NEW(&c->schema->arena, struct members_data);
    properties = compile_properties(c, schema, data);
    patterns = compile_patterns(c, schema, data);
    additional = schema_compile_one(c, schema, "additionalProperties", &data->additional);
    if (properties < 0 || patterns < 0 || additional < 0)
        return -1;
    *ret_data = data;
    return 1;
}

/* Changes needed to turn a into b, for short names. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t n = strlen(b), row[NAME_MAX_SHOWN + 1];

    if (strlen(a) > NAME_MAX_SHOWN || n > NAME_MAX_SHOWN)
        return SIZE_MAX;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];

        row[0] = i + 1;
        for (size_t j = 1; j <= n; j++) {
            size_t best = diagonal + (a[i] != b[j - 1]);

            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n];
}

static const char *similar_name(const struct members_data *data, const char *name)
{
    size_t best = strlen(name) / 3 + 2;
    const char *found = NULL;

    for (size_t i = 0; i <= data->mask; i++) {
        const char *known = data->slots[i].name;
        size_t distance = known ? edit_distance(name, known) : SIZE_MAX;

        if (distance < best) {
            best = distance;
            found = known;
        }
    }
    return found;
}

/* In the order of the schema. */
static void list_names(const struct members_data *data, struct buf *out)
{
    struct lh_entry *entry;

    if (!data->source)
        return;
    lh_foreach(json_object_get_object(data->source), entry)
        buf_printf(out, "%s%s", out->n ? ", " : "", (const char *)lh_entry_k(entry));
}

static bool fail_unknown(struct schema_run *run, const struct members_data *data, const char *name,
                         const struct schema_path *path)
{
    struct schema_path at = { path, name, 0 };
    const char *similar;
    AUTO_BUF names = BUF_INIT(300);

    if (!run->report)
        return schema_fail(run, "additionalProperties", &at, "unknown");
    similar = similar_name(data, name);
    if (similar)
        return schema_fail(run, "additionalProperties", &at,
                           "unknown property; did you mean \"%s\"?", similar);
    list_names(data, &names);
    if (names.n == 0)
        return schema_fail(run, "additionalProperties", &at, "unknown property; none is allowed");
    return schema_fail(run, "additionalProperties", &at, "unknown property; allowed are %s%s",
                       buf_text(&names), names.full ? ", …" : "");
}

/* The patterns that fit the name; *known is set when one does. */
static bool check_patterns(struct schema_run *run, const struct members_data *data,
                           const char *name, struct json_object *value,
                           const struct schema_path *path, bool *known)
{
    bool valid = true;

    for (size_t i = 0; i < data->patterns_count; i++) {
        struct err why = ERR_INIT;
        int r = regex_match(data->patterns[i].regex, str_from(name), &why);

        if (r < 0)
            return schema_abort(run, why.code, err_message(&why, 0));
        if (r == 0)
            continue;
        *known = true;
        valid = schema_descend(run, data->patterns[i].node, value, path, name, 0) && valid;
    }
    return valid;
}

static bool check_member(struct schema_run *run, const struct members_data *data, const char *name,
                         struct json_object *value, const struct schema_path *path, bool *known)
{
    const struct property *property = find_slot(data, name);
    bool valid = true;

    if (property->name) {
        *known = true;
        valid = schema_descend(run, property->node, value, path, name, 0);
        if (!valid && !schema_wants_more(run))
            return false;
    }
    if (data->patterns_count)
        valid = check_patterns(run, data, name, value, path, known) && valid;
    if (*known || !data->additional)
        return valid;
    *known = true;
    if (data->additional->fixed == 0)
        return fail_unknown(run, data, name, path);
    return schema_descend(run, data->additional, value, path, name, 0);
}

static bool members_check(struct schema_run *run, const struct schema_use *use,
                          struct json_object *instance, const struct schema_path *path,
                          struct schema_marks *marks)
{
    const struct members_data *data = use->data;
    struct lh_entry *entry;
    bool valid = true;
    size_t i = 0;

    lh_foreach(json_object_get_object(instance), entry)
    {
        bool known = false;

        if (!check_member(run, data, lh_entry_k(entry), lh_entry_v(entry), path, &known)) {
            valid = false;
            if (!schema_wants_more(run))
                return false;
        }
        if (known)
            schema_marks_add(marks, i);
        i++;
    }
    return valid;
}

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
    { "properties", APPLY, SCHEMA_OBJECT, members_compile, members_check },
    { "dependentSchemas", APPLY, SCHEMA_OBJECT, dependent_schemas_compile, dependents_check, 2019 },
    { "dependencies", APPLY, SCHEMA_OBJECT, dependencies_compile, dependents_check },
    { NULL },
};
