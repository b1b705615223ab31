/* Documents, the schema resources in them, and references between them.
 *
 * Only places where the draft puts schemas are searched for $id and anchors: an $id inside enum,
 * const or an unknown keyword identifies nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/linkhash.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/schema_int.h"
#include "base/uri.h"

/* The keywords that hold subschemas. */
enum shape { SHAPE_NONE = 0, SHAPE_ONE, SHAPE_LIST, SHAPE_MAP };
struct holder {
    const char *name;
    enum shape shape;
};

static const struct holder holders[] = {
    { "$defs", SHAPE_MAP },
    { "properties", SHAPE_MAP },
    { "patternProperties", SHAPE_MAP },
    { "dependentSchemas", SHAPE_MAP },
    { "allOf", SHAPE_LIST },
    { "anyOf", SHAPE_LIST },
    { "oneOf", SHAPE_LIST },
    { "prefixItems", SHAPE_LIST },
    { "items", SHAPE_ONE },
    { "contains", SHAPE_ONE },
    { "additionalProperties", SHAPE_ONE },
    { "propertyNames", SHAPE_ONE },
    { "not", SHAPE_ONE },
    { "if", SHAPE_ONE },
    { "then", SHAPE_ONE },
    { "else", SHAPE_ONE },
    { "unevaluatedItems", SHAPE_ONE },
    { "unevaluatedProperties", SHAPE_ONE },
    { "contentSchema", SHAPE_ONE },
    /* Of earlier drafts; the meta-schema still has them. */
    { "definitions", SHAPE_MAP },
    { "dependencies", SHAPE_MAP },
    { "additionalItems", SHAPE_ONE },
};

/* One document being walked. */
struct walk {
    struct schema_registry *registry;
    const struct json_object *document;
    unsigned depth;
    struct err *err;
};

/* at: from the resource's root. */
static int walk_schema(struct walk *w, struct schema_resource *resource, struct json_object *schema,
                       const struct schema_path *at);

static struct str address_key(const void *const *address)
{
    return str_of((const char *)address, sizeof(*address));
}

void schema_registry_init(struct schema_registry *registry, const struct schema_registry *up)
{
    *registry = (struct schema_registry){ .up = up, .arena = ARENA_INIT };
}

void schema_registry_release(struct schema_registry *registry)
{
    for (struct schema_resource *r = registry->resources; r; r = r->next)
        map_release(&r->anchors);
    map_each (&registry->documents, entry)
        json_object_put(entry->value);
    map_release(&registry->documents);
    map_release(&registry->by_uri);
    map_release(&registry->by_root);
    arena_release(&registry->arena);
}

struct schema_registry *schema_registry_new(void)
{
    struct schema_registry *registry = NEW(struct schema_registry);

    schema_registry_init(registry, NULL);
    return registry;
}

void schema_registry_free(struct schema_registry *registry)
{
    if (!registry)
        return;
    schema_registry_release(registry);
    free(registry);
}

const struct schema_resource *schema_registry_find(const struct schema_registry *registry,
                                                   struct str uri)
{
    for (; registry; registry = registry->up) {
        const struct schema_resource *found = map_find(&registry->by_uri, uri);

        if (found)
            return found;
    }
    return map_find(&schema_meta_registry()->by_uri, uri);
}

const struct schema_resource *schema_registry_root(const struct schema_registry *registry,
                                                   const struct json_object *root)
{
    const void *address = root;

    return root ? map_find(&registry->by_root, address_key(&address)) : NULL;
}

/* ---- indexing ---- */

/* Where a document lies counts more than what identifiers in other documents claim; of two
 * claims the first holds. In one document an identifier stands once. */
static int publish(struct walk *w, struct str uri, struct schema_resource *resource, bool by_place)
{
    const struct schema_resource *other = map_find(&w->registry->by_uri, uri);

    if (other && other != resource) {
        if (other->document == resource->document || (by_place && other->by_place))
            return err_set(w->err, ERR_CONFLICT, "two schemas have the identifier \"%.*s\"",
                           STR_ARG(uri));
        if (!by_place)
            return 0;
    }
    map_put(&w->registry->by_uri, uri, resource);
    return 0;
}

static struct schema_resource *resource_new(struct walk *w, struct json_object *root,
                                            const struct schema_resource *outer)
{
    struct schema_resource *resource = ARENA_NEW(&w->registry->arena, struct schema_resource);
    const void *address = root;

    resource->root = root;
    resource->outer = outer;
    resource->owner = w->registry;
    resource->document = w->document;
    resource->next = w->registry->resources;
    w->registry->resources = resource;
    map_put(&w->registry->by_root, address_key(&address), resource);
    return resource;
}

/* The resource's URI, from its $id and what it is embedded in. */
static int identify(struct walk *w, struct schema_resource *resource, struct str base,
                    struct str id)
{
    AUTO_BUF uri = BUF_INIT(SCHEMA_URI_MAX);
    ptrdiff_t hash = str_find_char(id, '#');

    if (hash >= 0 && (size_t)hash + 1 != id.n)
        return err_set(w->err, ERR_BAD_REQUEST,
                       "schema $id \"%.*s\": no fragment is allowed; use $anchor", STR_ARG(id));
    uri_resolve(base, uri_without_fragment(id), &uri);
    if (uri.full)
        return err_set(w->err, ERR_TOO_LARGE, "a schema's $id has more than %d bytes",
                       SCHEMA_URI_MAX);
    resource->uri = arena_str(&w->registry->arena, buf_str(&uri));
    return publish(w, resource->uri, resource, false);
}

static bool is_anchor_name(struct str name)
{
    if (name.n == 0)
        return false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool letter = ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';

        if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '-' || c == '.')))
            return false;
    }
    return true;
}

static int add_anchor(struct walk *w, struct schema_resource *resource, struct json_object *schema,
                      const struct schema_path *at, const char *keyword, struct str name)
{
    AUTO_BUF here = BUF_INIT(SCHEMA_URI_MAX), there = BUF_INIT(SCHEMA_URI_MAX);
    struct schema_anchor *anchor, *old = map_find(&resource->anchors, name);

    if (!is_anchor_name(name)) {
        schema_path_add(at, &here);
        return err_set(w->err, ERR_BAD_REQUEST,
                       "schema #%s/%s: expected a name of letters, digits, '-', '_' and '.', "
                       "beginning with a letter or '_'",
                       buf_text(&here), keyword);
    }
    if (old && old->schema != schema) {
        schema_path_add(at, &here);
        schema_path_add(old->at, &there);
        return err_set(w->err, ERR_CONFLICT, "schema #%s/%s: \"%.*s\" is the anchor of #%s already",
                       buf_text(&here), keyword, STR_ARG(name), buf_text(&there));
    }
    anchor = ARENA_NEW(&w->registry->arena, struct schema_anchor);
    *anchor = (struct schema_anchor){
        .name = arena_str(&w->registry->arena, name),
        .schema = schema,
        .at = at,
        .dynamic = strcmp(keyword, "$dynamicAnchor") == 0 || (old && old->dynamic),
    };
    map_put(&resource->anchors, name, anchor);
    return 0;
}

static int add_anchors(struct walk *w, struct schema_resource *resource, struct json_object *schema,
                       const struct schema_path *at)
{
    static const char *const keywords[] = { "$anchor", "$dynamicAnchor" };
    struct str id = json_str(json_find(schema, "$id"));

    for (size_t i = 0; i < ARRAY_LEN(keywords); i++) {
        struct json_object *value = json_find(schema, keywords[i]);

        if (value && add_anchor(w, resource, schema, at, keywords[i], json_str(value)) < 0)
            return -1;
    }
    /* How drafts 6 and 7 wrote $anchor. */
    return id.n > 1 && id.p[0] == '#' ? add_anchor(w, resource, schema, at, "$id", str_skip(id, 1))
                                      : 0;
}

static int walk_list(struct walk *w, struct schema_resource *resource, struct json_object *list,
                     const struct schema_path *at)
{
    for (size_t i = 0; i < json_length(list); i++)
        if (walk_schema(w, resource, json_object_array_get_idx(list, i),
                        schema_path_new(&w->registry->arena, at, NULL, i)) < 0)
            return -1;
    return 0;
}

static int walk_map(struct walk *w, struct schema_resource *resource, struct json_object *map,
                    const struct schema_path *at)
{
    struct lh_entry *entry;

    lh_foreach(json_object_get_object(map), entry)
    {
        if (walk_schema(w, resource, lh_entry_v(entry),
                        schema_path_new(&w->registry->arena, at, lh_entry_k(entry), 0)) < 0)
            return -1;
    }
    return 0;
}

static int walk_holder(struct walk *w, struct schema_resource *resource,
                       const struct holder *holder, struct json_object *value,
                       const struct schema_path *up)
{
    const struct schema_path *at = schema_path_new(&w->registry->arena, up, holder->name, 0);
    enum json_type type = json_object_get_type(value);

    if (holder->shape != SHAPE_MAP && type == json_type_array)
        return walk_list(w, resource, value, at); /* also `items` of earlier drafts */
    if (holder->shape == SHAPE_ONE)
        return walk_schema(w, resource, value, at);
    if (holder->shape == SHAPE_MAP && type == json_type_object)
        return walk_map(w, resource, value, at);
    return 0;
}

static int walk_members(struct walk *w, struct schema_resource *resource,
                        struct json_object *schema, const struct schema_path *at)
{
    if (add_anchors(w, resource, schema, at) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(holders); i++) {
        struct json_object *value = json_find(schema, holders[i].name);

        if (value && walk_holder(w, resource, &holders[i], value, at) < 0)
            return -1;
    }
    return 0;
}

/* A schema with an $id: its own resource, with pointers of its own. */
static int walk_embedded(struct walk *w, struct schema_resource *outer, struct json_object *schema,
                         struct str id)
{
    struct schema_resource *inner = resource_new(w, schema, outer);

    if (identify(w, inner, outer->uri, id) < 0)
        return -1;
    return walk_members(w, inner, schema, NULL);
}

static int walk_schema(struct walk *w, struct schema_resource *resource, struct json_object *schema,
                       const struct schema_path *at)
{
    struct json_object *value;
    struct str id;
    int r;

    if (json_object_get_type(schema) != json_type_object)
        return 0;
    if (json_object_object_get_ex(schema, "$id", &value) && !json_str(value).p)
        return err_set(w->err, ERR_BAD_REQUEST,
                       "schema %.*s: an $id must be a URI reference in a string, found %s",
                       STR_ARG(resource->uri), json_type_name(value));
    if (w->depth >= LIMIT_JSON_DEPTH)
        return err_set(w->err, ERR_BAD_REQUEST, "schema nested deeper than %d levels",
                       LIMIT_JSON_DEPTH);
    w->depth++;
    id = json_str(json_find(schema, "$id"));
    r = schema != resource->root && id.p && !str_starts(id, STR("#"))
            ? walk_embedded(w, resource, schema, id)
            : walk_members(w, resource, schema, at);
    w->depth--;
    return r;
}

static int walk_document(struct walk *w, struct str uri, struct json_object *document)
{
    struct schema_resource *resource = resource_new(w, document, NULL);
    struct str id = json_str(json_find(document, "$id"));

    resource->uri = arena_str(&w->registry->arena, uri);
    if (publish(w, uri, resource, true) < 0)
        return -1;
    resource->by_place = true;
    if (id.p && !str_starts(id, STR("#")) && identify(w, resource, uri, id) < 0)
        return -1;
    return walk_schema(w, resource, document, NULL);
}

int schema_registry_add(struct schema_registry *registry, struct str uri,
                        struct json_object *document, struct err *err)
{
    struct walk w = { .registry = registry, .document = document, .err = err };
    const void *address = document;
    enum json_type type = json_object_get_type(document);

    if (type != json_type_object && type != json_type_boolean)
        return err_set(err, ERR_BAD_REQUEST,
                       "schema %.*s: expected an object or a boolean, found %s", STR_ARG(uri),
                       json_type_name(document));
    if (!map_put(&registry->documents, address_key(&address), document))
        json_object_get(document);
    return walk_document(&w, uri_without_fragment(uri), document);
}

/* ---- references ---- */

/* Follows a JSON Pointer; an embedded resource on the way becomes the place's own. */
static int follow(struct schema_place *place, struct str pointer, struct arena *arena)
{
    char text[JSON_POINTER_MAX];
    struct str token;
    int r;

    while ((r = json_pointer_next(&pointer, text, sizeof(text), &token)) > 0) {
        const struct schema_resource *inner;

        if (json_pointer_step(&place->schema, token) < 0)
            return -1;
        place->at = schema_path_new(arena, place->at, arena_text(arena, text), 0);
        inner = schema_registry_root(place->resource->owner, place->schema);
        if (inner && inner != place->resource) {
            place->resource = inner;
            place->at = NULL;
        }
    }
    return r;
}

static int find_fragment(struct schema_place *place, struct str fragment, struct arena *arena)
{
    AUTO_BUF decoded = BUF_INIT(SCHEMA_URI_MAX);

    place->schema = place->resource->root;
    place->at = NULL;
    if (uri_decode(fragment, &decoded) < 0 || decoded.full)
        return -1;
    if (decoded.n == 0)
        return 0;
    if (decoded.p[0] == '/')
        return follow(place, buf_str(&decoded), arena);
    place->anchor = map_find(&place->resource->anchors, buf_str(&decoded));
    if (!place->anchor)
        return -1;
    place->schema = place->anchor->schema;
    place->at = place->anchor->at;
    return 0;
}

int schema_resolve(const struct schema_registry *registry, const struct schema_resource *from,
                   struct str ref, struct arena *arena, struct schema_place *ret_place,
                   struct err *err)
{
    struct schema_place place = { .resource = from };
    AUTO_BUF uri = BUF_INIT(SCHEMA_URI_MAX);

    uri_resolve(from->uri, uri_without_fragment(ref), &uri);
    if (uri.full)
        return err_set(err, ERR_TOO_LARGE, "a reference has more than %d bytes", SCHEMA_URI_MAX);
    if (uri_without_fragment(ref).n > 0)
        place.resource = schema_registry_find(registry, buf_str(&uri));
    if (!place.resource)
        return err_set(
            err, ERR_BAD_REQUEST,
            "\"%.*s\" leads to %s, which is not known here; documents are never fetched, "
            "add it to the registry",
            STR_ARG(ref), buf_text(&uri));
    if (find_fragment(&place, uri_split(ref).fragment, arena) < 0)
        return err_set(err, ERR_BAD_REQUEST, "\"%.*s\": there is no such place in \"%.*s\"",
                       STR_ARG(ref), STR_ARG(place.resource->uri));
    *ret_place = place;
    return 0;
}
