/* properties, patternProperties and additionalProperties, as one keyword: each member of the
 * instance is looked at once. Names of properties are found by hashing.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/linkhash.h>

#include "base/json.h"
#include "base/schema_int.h"

#define NAME_MAX_SHOWN 64

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

static int compile_properties(struct schema_compiler *c, struct members_data *data)
{
    struct json_object *value;
    struct lh_entry *entry;
    size_t slots = 4;

    data->mask = 0;
    data->slots = ARENA_NEW(&c->schema->arena, struct property);
    if (!json_object_object_get_ex(c->object, "properties", &value))
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
            schema_compile_member(c, lh_entry_v(entry), "properties", name);

        if (!node)
            return -1;
        *find_slot(data, name) = (struct property){ name, node };
    }
    return 1;
}

static int compile_patterns(struct schema_compiler *c, struct members_data *data)
{
    struct json_object *value;
    struct lh_entry *entry;

    if (!json_object_object_get_ex(c->object, "patternProperties", &value))
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
        property->node = schema_compile_member(c, lh_entry_v(entry), "patternProperties", pattern);
        if (!property->node)
            return -1;
    }
    return 1;
}

static int members_compile(struct schema_compiler *c, struct json_object *value,
                           const void **ret_data)
{
    struct members_data *data = ARENA_NEW(&c->schema->arena, struct members_data);

    (void)value;
    *ret_data = data;
    return compile_properties(c, data) < 0 || compile_patterns(c, data) < 0 ||
                   schema_compile_one(c, "additionalProperties", &data->additional) < 0
               ? -1
               : 1;
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
                          const struct schema_value *v)
{
    const struct members_data *data = use->data;
    struct lh_entry *entry;
    bool valid = true;
    size_t i = 0;

    lh_foreach(json_object_get_object(v->json), entry)
    {
        bool known = false, member = check_member(run, data, lh_entry_k(entry), lh_entry_v(entry),
                                                  v->path, &known);

        if (!schema_go_on(run, member, &valid))
            return false;
        if (known)
            schema_marks_add(v->marks, i);
        i++;
    }
    return valid;
}

const struct schema_keyword schema_member_keywords[] = {
    { "properties", SCHEMA_APPLICATOR, SCHEMA_OBJECT, members_compile, members_check,
      .also = { "patternProperties", "additionalProperties" } },
    { NULL },
};
