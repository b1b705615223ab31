/* JSON Schema, draft 2020-12: compiled once, validated many times.
 *
 *     AUTO(schema) schema = NULL;
 *     if (schema_compile(NULL, doc, STR(""), 0, &schema, err) < 0) ...
 *     if (schema_validate(schema, instance, &report, err) < 0) ...
 *
 * All vocabularies of the draft are understood. References reach the document itself, the
 * meta-schemas of the draft (built in) and the documents of a registry that the caller fills;
 * nothing is ever fetched. A compiled schema is constant and may be used by several threads at
 * once.
 *
 * A schema whose $schema names draft 2019-09, 7 or 6 is read by the rules of that draft; what has
 * no counterpart in 2020-12 is refused. Without $schema it is 2020-12.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_SCHEMA_H
#define DORMOUSE_BASE_SCHEMA_H

#include <json-c/json_object.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* ---- documents that schemas may refer to ---- */

struct schema_registry;

struct schema_registry *schema_registry_new(void);
void schema_registry_free(struct schema_registry *registry);
AUTO_DEFINE(schema_registry)

/* Makes document known under uri (where it would be retrieved) and under the $id's in it. Keeps a
 * reference. ERR_BAD_REQUEST when an identifier in it is malformed, ERR_CONFLICT when one is taken;
 * after that the registry is only good for schema_registry_free(). */
int schema_registry_add(struct schema_registry *registry, struct str uri,
                        struct json_object *document, struct err *err);

/* ---- compiling ---- */

struct schema;

enum schema_flags {
    /* `format` fails for date-time, date, time, duration, email, uri, uri-reference, uuid, ipv4,
     * ipv6, json-pointer, relative-json-pointer and regex; other names stay annotations. */
    SCHEMA_ASSERT_FORMAT = 1,
};

/* registry may be NULL and may be freed before the schema. base_uri is that of the document, or
 * empty. On failure (ERR_BAD_REQUEST) err names the place in the schema and what is allowed. Parse
 * documents with json_parse_flags(JSON_BIG_INTEGERS) when numbers beyond 64 bits matter. */
int schema_compile(const struct schema_registry *registry, struct json_object *document,
                   struct str base_uri, unsigned flags, struct schema **ret_schema,
                   struct err *err);
void schema_free(struct schema *schema);
AUTO_DEFINE(schema)

/* ---- validating ---- */

#define SCHEMA_ERRORS_MAX 32

struct schema_error {
    const char *instance; /* JSON Pointer of what is wrong, "" for the whole */
    const char *keyword;  /* URI of the keyword that says so: "https://…#/properties/a/type" */
    const char *message;  /* "must be one of openai, anthropic" */
};

struct schema_report {
    size_t n;
    bool more; /* there were more than SCHEMA_ERRORS_MAX */
    struct schema_error errors[SCHEMA_ERRORS_MAX];
    struct arena arena; /* holds the texts */
};

#define SCHEMA_REPORT_INIT ((struct schema_report){ .n = 0 })
void schema_report_release(struct schema_report *report);
#define AUTO_SCHEMA_REPORT __attribute__((cleanup(schema_report_release))) struct schema_report
/* Appends one line an error: "/models/0/provider: must be … (schema https://…#/…)". */
void schema_report_text(const struct schema_report *report, struct buf *out);

/* 0 when instance (NULL is JSON null) is valid. ERR_SCHEMA_VIOLATION when it is not: err has the
 * first error, report (unless NULL; released or fresh) all up to the cap. Any other code: validity
 * is not known, since the work was unbounded or a pattern too slow. */
int schema_validate(const struct schema *schema, struct json_object *instance,
                    struct schema_report *report, struct err *err);

#endif
