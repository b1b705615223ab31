/* Random schemas and values with the verdict on which two other implementations agree.
 *
 * data/schema_cases.json is made by tests/tools/make-schema-cases.mjs: every keyword of 2020-12 in
 * random combination, above all unevaluated*, references and dynamic references under applicators.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/schema.h"
#include "harness/test.h"

static const char *show(struct test *t, struct json_object *value)
{
    AUTO_BUF text = BUF_INIT(1 << 16);
    struct json_writer w = JSON_WRITER(&text);

    json_write_value(&w, value);
    return arena_text(&t->arena, buf_text(&text));
}

/* one is [value, verdict]. With and without a report the verdict must be the same. */
static bool agrees(struct test *t, const struct schema *schema, struct json_object *one)
{
    struct json_object *value = json_object_array_get_idx(one, 0);
    bool expected = json_object_get_boolean(json_object_array_get_idx(one, 1));
    AUTO_SCHEMA_REPORT report = SCHEMA_REPORT_INIT;

    if (schema_validate(schema, value, &report, &t->err) < 0)
        return !expected && t->err.code == ERR_SCHEMA_VIOLATION && report.n > 0;
    return expected && report.n == 0;
}

static size_t check_schema(struct test *t, struct json_object *group)
{
    struct json_object *document = NULL, *tests = json_find(group, "tests");
    AUTO(schema) schema = NULL;

    json_object_object_get_ex(group, "schema", &document);
    if (schema_compile(NULL, document, STR(""), 0, &schema, &t->err) < 0)
        FAIL("%s: %s", show(t, document), test_err_text(t));
    for (size_t i = 0; i < json_object_array_length(tests); i++) {
        struct json_object *one = json_object_array_get_idx(tests, i);

        t->err = ERR_INIT;
        if (!agrees(t, schema, one))
            test_case_failed("%s with %s (%s)", show(t, document), show(t, one), test_err_text(t));
    }
    return json_object_array_length(tests);
}

TEST(schema_agrees_with_other_implementations_on_random_cases, .timeout_s = 120)
{
    const char *path =
        arena_printf(&t->arena, "%s/tests/unit/base/data/schema_cases.json", test_source_root());
    AUTO_JSON groups = NULL;
    size_t n = 0;

    ASSERT_OK(json_parse(test_read_file(t, path), &groups, &t->err));
    for (size_t i = 0; i < json_object_array_length(groups); i++)
        n += check_schema(t, json_object_array_get_idx(groups, i));
    ASSERT(n > 4000);
}
