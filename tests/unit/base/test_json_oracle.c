/* Random JSON texts against a JavaScript engine: what it refuses is refused here, and what it reads
 * has the same canonical form. data/json_cases.json is made by tests/tools/make-json-cases.mjs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/json.h"
#include "base/json_canonical.h"
#include "harness/test.h"

/* Where this house is stricter than JavaScript, on purpose. */
static bool is_stricter(const char *message)
{
    static const char *const reasons[] = { "appears twice",
                                           "a lone surrogate",
                                           "a key holds no NUL",
                                           "beyond 64 bits",
                                           "beyond what a double can hold",
                                           "does not survive as a double" };

    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (strstr(message, reasons[i]))
            return true;
    return false;
}

TEST(json_reads_and_writes_as_a_javascript_engine_does)
{
    const char *path =
        arena_printf(&t->arena, "%s/tests/unit/base/data/json_cases.json", test_source_root());
    AUTO_JSON cases = NULL;
    size_t same = 0, refused = 0, stricter = 0;

    ASSERT_OK(json_parse(test_read_file(t, path), &cases, &t->err));
    for (size_t i = 0; i < json_object_array_length(cases); i++) {
        struct json_object *one = json_object_array_get_idx(cases, i);
        struct str text = json_str(json_object_array_get_idx(one, 0));
        struct str expected = json_str(json_object_array_get_idx(one, 1));
        AUTO_BUF out = BUF_INIT(1 << 16);
        AUTO_JSON value = NULL;

        if (json_parse(text, &value, &t->err) < 0 || json_canonical(value, &out, &t->err) < 0) {
            if (expected.p && !is_stricter(t->err.text))
                FAIL("%s: %s", text.p, t->err.text);
            *(expected.p ? &stricter : &refused) += 1;
            continue;
        }
        if (!expected.p)
            FAIL("%s was accepted", text.p);
        ASSERT_STR(buf_str(&out), expected.p);
        same++;
    }
    ASSERT(same > 500 && refused > 300 && stricter < same / 10);
}
