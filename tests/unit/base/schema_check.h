/* What the tests of JSON Schema share: schemas and values written with single quotes, and tables of
 * both with the verdict.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_SCHEMA_CHECK_H
#define DORMOUSE_TESTS_SCHEMA_CHECK_H

#include "base/json.h"
#include "base/schema.h"
#include "harness/test.h"

/* Single quotes stand for double ones here, for the reader's sake. */
static inline struct json_object *parse(struct test *t, const char *quoted)
{
    struct json_object *value = NULL;
    char *text = arena_text(&t->arena, quoted);

    for (char *p = text; *p; p++)
        if (*p == '\'')
            *p = '"';

    t->err = ERR_INIT;
    if (json_parse_flags(str_from(text), JSON_BIG_INTEGERS, &value, &t->err) < 0)
        FAIL("%s: %s", text, test_err_text(t));
    return value;
}

static inline struct schema *compile(struct test *t, const char *text, unsigned flags)
{
    AUTO_JSON doc = parse(t, text);
    struct schema *schema = NULL;

    if (schema_compile(NULL, doc, STR(""), flags, &schema, &t->err) < 0)
        FAIL("%s: %s", text, test_err_text(t));
    return schema;
}

static inline bool is_valid(struct test *t, const struct schema *schema, const char *text)
{
    AUTO_JSON instance = parse(t, text);
    int r = schema_validate(schema, instance, NULL, &t->err);

    if (r < 0 && t->err.code != ERR_SCHEMA_VIOLATION)
        FAIL("%s: %s", text, test_err_text(t));
    return r == 0;
}

struct row {
    const char *schema, *instance;
    bool valid;
};

static inline void check_rows(struct test *t, const struct row *rows, size_t n, unsigned flags)
{
    for (size_t i = 0; i < n; i++) {
        AUTO(schema) schema = compile(t, rows[i].schema, flags);

        if (is_valid(t, schema, rows[i].instance) != rows[i].valid)
            FAIL("%s with %s: expected %s", rows[i].schema, rows[i].instance,
                 rows[i].valid ? "valid" : "invalid");
    }
}
#define CHECK_ROWS(rows, flags) check_rows(t, (rows), ARRAY_LEN(rows), (flags))

static inline void add_document(struct test *t, struct schema_registry *registry, const char *uri,
                                const char *text)
{
    AUTO_JSON doc = parse(t, text);

    ASSERT_OK(schema_registry_add(registry, str_from(uri), doc, &t->err));
}

#endif
