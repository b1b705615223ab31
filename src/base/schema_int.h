/* Inside of JSON Schema: how documents are indexed, what a compiled schema looks like, how it runs.
 *
 * Registry: a document is walked once; each schema resource in it ($id, or the root) is
 * remembered with its URI and anchors. Compiling makes a node of every subschema that can be
 * reached, each with the keywords that apply, in the order of schema_keywords[]. Validating walks
 * nodes and instance together.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_SCHEMA_INT_H
#define DORMOUSE_BASE_SCHEMA_INT_H

#include <stdint.h>

#include "base/map.h"
#include "base/regex.h"
#include "base/schema.h"

#define SCHEMA_URI_MAX      4096
#define SCHEMA_DEPTH_MAX    1200     /* nodes inside one another while validating */
#define SCHEMA_IN_PLACE_MAX 250      /* of these, on the same part of the instance */
#define SCHEMA_WORK_MAX     20000000 /* nodes visited by one validation */

/* A place in a value or in a schema resource, from the inside out; NULL is the whole. Names belong
 * to the document. */
struct schema_path {
    const struct schema_path *up;
    const char *key; /* NULL: an item */
    size_t index;
};

const struct schema_path *schema_path_new(struct arena *arena, const struct schema_path *up,
                                          const char *key, size_t index);
/* Appends it as a JSON Pointer (schema_report.c). */
void schema_path_add(const struct schema_path *path, struct buf *out);

/* ---- resources (schema_registry.c) ---- */

struct schema_anchor {
    struct str name;
    struct json_object *schema;
    const struct schema_path *at; /* from the resource's root */
    bool dynamic;
};

/* A schema with a URI of its own. */
struct schema_resource {
    struct str uri; /* absolute where one is known; without fragment */
    struct json_object *root;
    const struct schema_resource *outer; /* the resource it is embedded in, or NULL */
    const struct schema_registry *owner;
    struct map anchors;           /* name to struct schema_anchor */
    struct schema_resource *next; /* of its owner's */
    const struct json_object *document;
    bool by_place; /* its URI is where the document was said to lie */
};

struct schema_registry {
    const struct schema_registry *up; /* asked next; the meta-schemas last of all */
    struct arena arena;
    struct schema_resource *resources;
    struct map by_uri;    /* to struct schema_resource */
    struct map by_root;   /* bytes of the root's address to struct schema_resource */
    struct map documents; /* bytes of the address to the document, a reference each */
};

/* A place that a reference leads to. */
struct schema_place {
    struct json_object *schema;
    const struct schema_resource *resource;
    const struct schema_path *at;       /* lasts as long as registry and arena of the resolver */
    const struct schema_anchor *anchor; /* when it was found by name */
};

void schema_registry_init(struct schema_registry *registry, const struct schema_registry *up);
void schema_registry_release(struct schema_registry *registry);
const struct schema_resource *schema_registry_find(const struct schema_registry *registry,
                                                   struct str uri);
/* The resource whose root this is, or NULL. */
const struct schema_resource *schema_registry_root(const struct schema_registry *registry,
                                                   const struct json_object *root);
/* Where ref leads, seen from a schema in `from`. ERR_BAD_REQUEST when it leads nowhere. */
int schema_resolve(const struct schema_registry *registry, const struct schema_resource *from,
                   struct str ref, struct arena *arena, struct schema_place *ret_place,
                   struct err *err);
/* The meta-schemas of draft 2020-12 (schema_meta.c). */
const struct schema_registry *schema_meta_registry(void);

/* ---- compiled form ---- */

enum schema_vocabulary {
    SCHEMA_CORE = 1,
    SCHEMA_APPLICATOR = 2,
    SCHEMA_UNEVALUATED = 4,
    SCHEMA_VALIDATION = 8,
    SCHEMA_META_DATA = 16,
    SCHEMA_FORMAT_ANNOTATION = 32,
    SCHEMA_FORMAT_ASSERTION = 64,
    SCHEMA_CONTENT = 128,
};

struct schema_node;

struct schema_dynamic {
    const char *name; /* interned: compared by address */
    const struct schema_node *node;
};

/* What validating needs of a resource. */
struct schema_unit {
    struct str uri;
    const struct schema_resource *source; /* while compiling */
    unsigned vocabularies;
    unsigned draft; /* 4, 6, 7, 2019, 2020 */
    struct schema_dynamic *dynamic;
    size_t dynamic_count;
};

struct schema_use {
    const struct schema_keyword *keyword;
    const void *data; /* as its compile function made it */
};

struct schema_node {
    const struct schema_unit *unit;
    const struct schema_path *at; /* of the schema, from its resource's root */
    int8_t fixed;                 /* 1: true, 0: false, -1: has keywords */
    bool marks; /* has an unevaluated keyword: needs to know what others evaluated */
    uint16_t uses_count;
    struct schema_use *uses;
};

struct schema {
    struct arena arena;
    const struct schema_node *root;
    struct map documents; /* references, as in the registry */
    struct regex **regexes;
    size_t regexes_count;
};

struct schema_compiler;
struct schema_run;
struct schema_value;

/* Types of an instance, as bits. */
enum schema_type {
    SCHEMA_NULL = 1,
    SCHEMA_BOOLEAN = 2,
    SCHEMA_OBJECT = 4,
    SCHEMA_ARRAY = 8,
    SCHEMA_STRING = 16,
    SCHEMA_NUMBER = 32,
    SCHEMA_INTEGER = 64, /* besides NUMBER */
    SCHEMA_ANY = 127,
};

struct schema_keyword {
    const char *name; /* of the keyword that errors speak of */
    unsigned vocabularies;
    unsigned types; /* of instances that it looks at */
    /* Reads value, the member of the schema that has the keyword's name, and what it needs of the
     * others in c->object. 1: use it, *ret_data is its data; 0: it says nothing; -1: malformed. */
    int (*compile)(struct schema_compiler *c, struct json_object *value, const void **ret_data);
    bool (*check)(struct schema_run *run, const struct schema_use *use,
                  const struct schema_value *v);
    unsigned since; /* the first draft that has it; 0: all */
    /* It is also compiled (with value NULL when its own is absent) for these. */
    const char *also[2];
};

/* Each ends with name NULL. They run in this order: what needs the marks of others comes last. */
extern const struct schema_keyword schema_scalar_keywords[];
extern const struct schema_keyword schema_logic_keywords[];
extern const struct schema_keyword schema_object_keywords[];
extern const struct schema_keyword schema_member_keywords[];
extern const struct schema_keyword schema_array_keywords[];
extern const struct schema_keyword schema_unevaluated_keywords[];

/* ---- compiling (schema_compile.c) ---- */

struct schema_compiler {
    struct schema *schema;
    struct schema_registry local; /* the document itself */
    unsigned flags;
    struct map nodes; /* by place */
    struct map units; /* by resource address */
    struct map names; /* interned names of dynamic references */
    struct schema_pending *pending, **pending_end;
    /* The schema being compiled. */
    const struct schema_resource *resource;
    struct schema_unit *unit;
    struct json_object *object;
    const struct schema_path *at;
    const struct schema_keyword *keyword;
    struct err *err;
};

/* Sets draft and vocabularies by the resource's own $schema, else by that of what it is embedded
 * in, else those of 2020-12 (schema_dialect.c). */
int schema_find_dialect(struct schema_compiler *c, const struct schema_resource *resource,
                        struct schema_unit *unit);
/* The node of the subschema value, which stands at c->at/key, or at c->at/key/name or an item of
 * it. NULL when it is no schema: err. */
const struct schema_node *schema_compile_sub(struct schema_compiler *c, struct json_object *value,
                                             const char *key);
const struct schema_node *schema_compile_member(struct schema_compiler *c,
                                                struct json_object *value, const char *key,
                                                const char *name);
const struct schema_node *schema_compile_ref(struct schema_compiler *c, struct str ref,
                                             const struct schema_anchor **ret_anchor);
const struct regex *schema_compile_regex(struct schema_compiler *c, struct str pattern,
                                         const char *key);

/* Of an optional member of the schema. 1 found, 0 absent, -1 malformed. */
int schema_compile_count(struct schema_compiler *c, const char *key, int64_t *ret_count);
int schema_compile_one(struct schema_compiler *c, const char *key,
                       const struct schema_node **ret_node);
/* A list of nodes. */
struct schema_list {
    size_t n;
    const struct schema_node *nodes[];
};
int schema_compile_list(struct schema_compiler *c, const char *key,
                        const struct schema_list **ret_list);

/* Compile functions of keywords whose data is that alone: a schema, a list, a count (int64_t). */
int schema_keyword_one(struct schema_compiler *c, struct json_object *value, const void **ret_data);
int schema_keyword_list(struct schema_compiler *c, struct json_object *value,
                        const void **ret_data);
int schema_keyword_count(struct schema_compiler *c, struct json_object *value,
                         const void **ret_data);

const char *schema_intern(struct schema_compiler *c, struct str name);
/* -1, with a message about the member `key` of the schema, or the keyword when it is NULL. */
int schema_refuse(struct schema_compiler *c, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- validating (schema_validate.c) ---- */

/* Which members or items were evaluated, for unevaluatedProperties and unevaluatedItems. Members
 * are numbered in the order of the object. */
struct schema_marks {
    size_t n;
    uint64_t small;
    uint64_t *big; /* when n > 64 */
};

/* A part of the instance. */
struct schema_value {
    struct json_object *json;
    const struct schema_path *path;
    struct schema_marks *marks; /* NULL: nobody asks */
};

struct schema_scope {
    const struct schema_scope *up;
    const struct schema_unit *unit;
};

struct schema_run {
    struct schema_report *report; /* NULL: only yes or no matters */
    const struct schema_scope *scope;
    const struct schema_node *node; /* whose keyword is checked */
    unsigned depth, in_place;
    uint64_t work;
    size_t fail_rank; /* how deep the last attempt got, see schema_fail() */
    bool aborted;     /* err is set; every result is void */
    struct err *err;
};

void schema_marks_init(struct schema_marks *marks, struct json_object *instance);
void schema_marks_release(struct schema_marks *marks);
void schema_marks_add(struct schema_marks *marks, size_t i); /* marks may be NULL */
void schema_marks_add_all(struct schema_marks *marks);
bool schema_marks_has(const struct schema_marks *marks, size_t i);
void schema_marks_merge(struct schema_marks *marks, const struct schema_marks *more);

/* On the same part of the instance. What it evaluates is added to v->marks. */
bool schema_apply(struct schema_run *run, const struct schema_node *node,
                  const struct schema_value *v);
/* The same, but reports nothing, and adds to the marks only when valid. */
bool schema_try(struct schema_run *run, const struct schema_node *node,
                const struct schema_value *v);
/* On a member or item. */
bool schema_descend(struct schema_run *run, const struct schema_node *node,
                    struct json_object *value, const struct schema_path *up, const char *key,
                    size_t index);
/* OBJECT … NULL; a number is NUMBER. */
unsigned schema_type_bit(struct json_object *instance);
/* Returns false, so that a check can end with it. */
bool schema_abort(struct schema_run *run, enum err_code code, const char *message);
/* Whether checks should go on after a failure, to find more. */
static inline bool schema_wants_more(const struct schema_run *run)
{
    return run->report && !run->aborted;
}
/* Notes one result among several; false when the rest need not be looked at. */
static inline bool schema_go_on(const struct schema_run *run, bool result, bool *valid)
{
    *valid = *valid && result;
    return result || schema_wants_more(run);
}

/* ---- reporting (schema_report.c) ---- */

/* Returns false. keyword is the name below the node, NULL for the node itself. */
bool schema_fail(struct schema_run *run, const char *keyword, const struct schema_path *path,
                 const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* A short text of the value for messages, in out. */
const char *schema_show(struct json_object *value, char *out, size_t size);

/* ---- formats (schema_format.c) ---- */

struct schema_format {
    const char *name;
    const char *what; /* "a date (2026-11-15)" */
    bool (*check)(struct str text);
};
/* NULL when format is not asserted. */
const struct schema_format *schema_format_find(struct str name);

#endif
