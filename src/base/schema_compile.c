/* From a schema document to nodes.
 *
 * Subschemas and targets of references are queued, not compiled by recursion, so neither depth nor
 * cycles matter. When the queue is empty, the $dynamicAnchor's that a $dynamicRef could reach at
 * run time are compiled too, until nothing new appears.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/json_number.h"
#include "base/schema_int.h"

struct schema_pending {
    struct schema_pending *next;
    struct schema_node *node;
    struct json_object *schema;
    struct schema_unit *unit;
};

int schema_refuse(struct schema_compiler *c, const char *key, const char *fmt, ...)
{
    AUTO_BUF pointer = BUF_INIT(SCHEMA_URI_MAX);
    char message[512];
    va_list args;

    schema_path_add(c->at, &pointer);
    va_start(args, fmt);
    vsnprintf(message, sizeof(message), fmt, args);
    va_end(args);
    return err_set(c->err, ERR_BAD_REQUEST, "schema %.*s#%s/%s: %s", STR_ARG(c->resource->uri),
                   buf_text(&pointer), key ? key : c->keyword->name, message);
}

const char *schema_intern(struct schema_compiler *c, struct str name)
{
    char *known = map_find(&c->names, name);

    if (!known) {
        known = arena_copy(&c->schema->arena, name.p, name.n);
        map_put(&c->names, name, known);
    }
    return known;
}

/* ---- nodes ---- */

static struct schema_unit *unit_for(struct schema_compiler *c,
                                    const struct schema_resource *resource)
{
    const void *address = resource;
    struct str key = str_of((const char *)&address, sizeof(address));
    struct schema_unit *unit = map_find(&c->units, key);

    if (unit)
        return unit;
    unit = ARENA_NEW(&c->schema->arena, struct schema_unit);
    if (schema_find_dialect(c, resource, unit) < 0)
        return NULL;
    unit->uri = arena_str(&c->schema->arena, resource->uri);
    unit->source = resource;
    map_put(&c->units, key, unit);
    /* The nodes point into the document, which must outlive the registry. */
    address = resource->root;
    if (!map_put(&c->schema->documents, str_of((const char *)&address, sizeof(address)),
                 resource->root))
        json_object_get(resource->root);
    return unit;
}

const struct schema_path *schema_path_new(struct arena *arena, const struct schema_path *up,
                                          const char *key, size_t index)
{
    struct schema_path *path = ARENA_NEW(arena, struct schema_path);

    *path = (struct schema_path){ up, key, index };
    return path;
}

/* Where a reference led: the path there belongs to the registry. */
static const struct schema_path *path_copy(struct arena *arena, const struct schema_path *path)
{
    if (!path)
        return NULL;
    return schema_path_new(arena, path_copy(arena, path->up),
                           path->key ? arena_text(arena, path->key) : NULL, path->index);
}

static struct schema_node *node_new(struct schema_compiler *c, struct json_object *schema,
                                    struct schema_unit *unit)
{
    struct schema_node *node = ARENA_NEW(&c->schema->arena, struct schema_node);

    node->unit = unit;
    node->fixed = -1;
    if (json_object_get_type(schema) == json_type_boolean) {
        node->fixed = (int8_t)json_object_get_boolean(schema);
    } else {
        struct schema_pending *pending = ARENA_NEW(&c->local.arena, struct schema_pending);

        *pending = (struct schema_pending){ NULL, node, schema, unit };
        *c->pending_end = pending;
        c->pending_end = &pending->next;
    }
    return node;
}

/* passing: place.at does not last. */
static const struct schema_node *node_for(struct schema_compiler *c, struct schema_place place,
                                          bool passing, const char *key)
{
    const struct schema_resource *own = schema_registry_root(place.resource->owner, place.schema);
    enum json_type type = json_object_get_type(place.schema);
    const void *address[2];
    struct schema_node *node;
    struct schema_unit *unit;

    if (type != json_type_object && type != json_type_boolean) {
        schema_refuse(c, key, "a schema must be an object or a boolean, found %s",
                      json_type_name(place.schema));
        return NULL;
    }
    if (own && own != place.resource) {
        place.resource = own;
        place.at = NULL;
    }
    address[0] = place.schema;
    address[1] = place.resource;
    node = map_find(&c->nodes, str_of((const char *)address, sizeof(address)));
    if (node)
        return node;
    unit = unit_for(c, place.resource);
    if (!unit)
        return NULL;
    node = node_new(c, place.schema, unit);
    node->at = passing ? path_copy(&c->schema->arena, place.at) : place.at;
    map_put(&c->nodes, str_of((const char *)address, sizeof(address)), node);
    return node;
}

static const struct schema_node *node_at(struct schema_compiler *c, struct json_object *value,
                                         const char *key, const struct schema_path *at)
{
    return node_for(c, (struct schema_place){ value, c->resource, at, NULL }, false, key);
}

const struct schema_node *schema_compile_sub(struct schema_compiler *c, struct json_object *value,
                                             const char *key)
{
    return node_at(c, value, key, schema_path_new(&c->schema->arena, c->at, key, 0));
}

const struct schema_node *schema_compile_member(struct schema_compiler *c,
                                                struct json_object *value, const char *key,
                                                const char *name)
{
    const struct schema_path *holder = schema_path_new(&c->schema->arena, c->at, key, 0);

    return node_at(c, value, key, schema_path_new(&c->schema->arena, holder, name, 0));
}

const struct schema_node *schema_compile_ref(struct schema_compiler *c, struct str ref,
                                             const struct schema_anchor **ret_anchor)
{
    struct schema_place place;
    struct err why = ERR_INIT;

    if (schema_resolve(&c->local, c->resource, ref, &c->local.arena, &place, &why) < 0) {
        schema_refuse(c, NULL, "%s", err_message(&why, 0));
        return NULL;
    }
    *ret_anchor = place.anchor;
    return node_for(c, place, true, NULL);
}

const struct regex *schema_compile_regex(struct schema_compiler *c, struct str pattern,
                                         const char *key)
{
    struct schema *schema = c->schema;
    struct regex *regex = NULL;
    struct err why = ERR_INIT;

    if (regex_compile(pattern, &regex, &why) < 0) {
        schema_refuse(c, key, "%s", err_message(&why, 0));
        return NULL;
    }
    schema->regexes = alloc_resize(schema->regexes, schema->regexes_count + 1, sizeof(void *));
    schema->regexes[schema->regexes_count++] = regex;
    return regex;
}

int schema_compile_one(struct schema_compiler *c, const char *key,
                       const struct schema_node **ret_node)
{
    struct json_object *value;

    if (!json_object_object_get_ex(c->object, key, &value))
        return 0;
    *ret_node = schema_compile_sub(c, value, key);
    return *ret_node ? 1 : -1;
}

int schema_compile_list(struct schema_compiler *c, const char *key,
                        const struct schema_list **ret_list)
{
    struct arena *arena = &c->schema->arena;
    const struct schema_path *at;
    struct json_object *value;
    struct schema_list *list;
    size_t n;

    if (!json_object_object_get_ex(c->object, key, &value))
        return 0;
    if (json_object_get_type(value) != json_type_array || json_length(value) == 0)
        return schema_refuse(c, key, "must be an array of at least one schema");
    n = json_length(value);
    list = arena_alloc(arena, 1, sizeof(*list) + n * sizeof(void *));
    list->n = n;
    at = schema_path_new(arena, c->at, key, 0);
    for (size_t i = 0; i < n; i++) {
        list->nodes[i] = node_at(c, json_object_array_get_idx(value, i), key,
                                 schema_path_new(arena, at, NULL, i));
        if (!list->nodes[i])
            return -1;
    }
    *ret_list = list;
    return 1;
}

int schema_compile_count(struct schema_compiler *c, const char *key, int64_t *ret_count)
{
    struct json_object *value;

    if (!json_object_object_get_ex(c->object, key, &value))
        return 0;
    if (!json_number_is_integer(value) || json_number_double(value) < 0)
        return schema_refuse(c, key, "must be an integer of at least 0");
    /* More than anything can have. */
    if (!json_number_i64(value, ret_count))
        *ret_count = INT64_MAX;
    return 1;
}

int schema_keyword_one(struct schema_compiler *c, struct json_object *value, const void **ret_data)
{
    *ret_data = schema_compile_sub(c, value, c->keyword->name);
    return *ret_data ? 1 : -1;
}

int schema_keyword_list(struct schema_compiler *c, struct json_object *value, const void **ret_data)
{
    const struct schema_list *list = NULL;
    int r = schema_compile_list(c, c->keyword->name, &list);

    (void)value;
    *ret_data = list;
    return r;
}

int schema_keyword_count(struct schema_compiler *c, struct json_object *value,
                         const void **ret_data)
{
    int64_t *count = ARENA_NEW(&c->schema->arena, int64_t);

    (void)value;
    *ret_data = count;
    return schema_compile_count(c, c->keyword->name, count);
}

/* ---- keywords ---- */

static const struct schema_keyword *const keyword_groups[] = {
    schema_scalar_keywords, schema_logic_keywords, schema_object_keywords,
    schema_member_keywords, schema_array_keywords, schema_unevaluated_keywords,
};

/* More than there are keywords. */
#define USES_MAX 64

/* The keyword's own member, or NULL when it is there for the sake of another. */
static bool find_member(struct json_object *schema, const struct schema_keyword *keyword,
                        struct json_object **ret_value)
{
    if (json_object_object_get_ex(schema, keyword->name, ret_value))
        return true;
    *ret_value = NULL;
    for (size_t i = 0; i < ARRAY_LEN(keyword->also) && keyword->also[i]; i++)
        if (json_object_object_get_ex(schema, keyword->also[i], NULL))
            return true;
    return false;
}

static int compile_keyword(struct schema_compiler *c, struct schema_node *node,
                           const struct schema_keyword *keyword, struct schema_use *uses)
{
    struct json_object *value;
    const void *data = NULL;
    int r;

    if (!(keyword->vocabularies & c->unit->vocabularies) || keyword->since > c->unit->draft ||
        !find_member(c->object, keyword, &value))
        return 0;
    /* Up to draft 7 a reference stands alone. */
    if (c->unit->draft <= 7 && strcmp(keyword->name, "$ref") != 0 &&
        json_object_object_get_ex(c->object, "$ref", NULL))
        return 0;
    c->keyword = keyword;
    r = keyword->compile(c, value, &data);
    if (r <= 0)
        return r;
    BUG_IF(node->uses_count == USES_MAX);
    uses[node->uses_count++] = (struct schema_use){ keyword, data };
    if (keyword->vocabularies == SCHEMA_UNEVALUATED)
        node->marks = true;
    return 0;
}

static int compile_node(struct schema_compiler *c, const struct schema_pending *pending)
{
    struct schema_node *node = pending->node;
    struct schema_use uses[USES_MAX];

    c->unit = pending->unit;
    c->resource = pending->unit->source;
    c->object = pending->schema;
    c->at = node->at;
    for (size_t i = 0; i < ARRAY_LEN(keyword_groups); i++)
        for (const struct schema_keyword *keyword = keyword_groups[i]; keyword->name; keyword++)
            if (compile_keyword(c, node, keyword, uses) < 0)
                return -1;
    node->uses = ARENA_NEW_N(&c->schema->arena, struct schema_use, node->uses_count);
    memcpy(node->uses, uses, node->uses_count * sizeof(*uses));
    return 0;
}

static int compile_pending(struct schema_compiler *c)
{
    while (c->pending) {
        struct schema_pending *pending = c->pending;

        c->pending = pending->next;
        if (!c->pending)
            c->pending_end = &c->pending;
        if (compile_node(c, pending) < 0)
            return -1;
    }
    return 0;
}

static bool has_dynamic(const struct schema_unit *unit, const char *name)
{
    for (size_t i = 0; i < unit->dynamic_count; i++)
        if (unit->dynamic[i].name == name)
            return true;
    return false;
}

static int add_dynamic(struct schema_compiler *c, struct schema_unit *unit, const char *name,
                       const struct schema_anchor *anchor)
{
    struct schema_dynamic *grown =
        ARENA_NEW_N(&c->schema->arena, struct schema_dynamic, unit->dynamic_count + 1);
    const struct schema_node *node;

    c->resource = unit->source;
    c->at = anchor->at;
    node = node_for(c, (struct schema_place){ anchor->schema, unit->source, anchor->at, NULL },
                    true, "$dynamicAnchor");
    if (!node)
        return -1;
    if (unit->dynamic_count)
        memcpy(grown, unit->dynamic, unit->dynamic_count * sizeof(*grown));
    grown[unit->dynamic_count++] = (struct schema_dynamic){ name, node };
    unit->dynamic = grown;
    return 0;
}

/* 1 when something was added, which may have made new units and names. */
static int add_dynamics(struct schema_compiler *c)
{
    int added = 0;

    map_each (&c->units, unit_entry) {
        struct schema_unit *unit = unit_entry->value;

        map_each (&c->names, name_entry) {
            const char *name = name_entry->value;
            const struct schema_anchor *anchor = map_find(&unit->source->anchors, name_entry->key);

            if (!anchor || !anchor->dynamic || has_dynamic(unit, name))
                continue;
            if (add_dynamic(c, unit, name, anchor) < 0)
                return -1;
            added = 1;
        }
    }
    return added;
}

static int compile_all(struct schema_compiler *c, struct json_object *document)
{
    const struct schema_resource *resource = schema_registry_root(&c->local, document);
    int r;

    c->resource = resource;
    c->schema->root = node_at(c, document, "", NULL);
    if (!c->schema->root)
        return -1;
    do {
        if (compile_pending(c) < 0)
            return -1;
        r = add_dynamics(c);
    } while (r > 0);
    return r;
}

static void compiler_release(struct schema_compiler *c)
{
    map_release(&c->nodes);
    map_release(&c->units);
    map_release(&c->names);
    schema_registry_release(&c->local);
}

int schema_compile(const struct schema_registry *registry, struct json_object *document,
                   struct str base_uri, unsigned flags, struct schema **ret_schema, struct err *err)
{
    AUTO(schema) schema = NEW(struct schema);
    struct schema_compiler c = { .schema = schema, .flags = flags, .err = err };
    int r;

    c.pending_end = &c.pending;
    schema_registry_init(&c.local, registry);
    r = schema_registry_add(&c.local, base_uri, document, err);
    if (r >= 0)
        r = compile_all(&c, document);
    compiler_release(&c);
    if (r < 0)
        return -1;
    *ret_schema = TAKE(schema);
    return 0;
}

void schema_free(struct schema *schema)
{
    if (!schema)
        return;
    for (size_t i = 0; i < schema->regexes_count; i++)
        regex_free(schema->regexes[i]);
    free(schema->regexes);
    map_each (&schema->documents, entry)
        json_object_put(entry->value);
    map_release(&schema->documents);
    arena_release(&schema->arena);
    free(schema);
}
