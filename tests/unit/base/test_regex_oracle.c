/* Random ECMA-262 patterns and texts with the verdict of a JavaScript engine.
 *
 * data/regex_cases.json is made by tests/tools/make-regex-cases.mjs: pairs of a pattern and either
 * null (it is malformed) or an object of texts, each with whether it matches in Unicode mode.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/linkhash.h>

#include "base/json.h"
#include "base/regex.h"
#include "harness/test.h"

static void check_texts(struct test *t, const struct regex *regex, const char *pattern,
                        struct json_object *texts)
{
    struct lh_entry *entry;

    lh_foreach(json_object_get_object(texts), entry)
    {
        const char *text = lh_entry_k(entry);
        int r = regex_match(regex, str_from(text), &t->err);

        if (r != json_object_get_boolean(lh_entry_v(entry)))
            test_case_failed("%s on \"%s\": %d", pattern, text, r);
    }
}

TEST(regex_agrees_with_a_javascript_engine_on_random_patterns, .timeout_s = 120)
{
    const char *path =
        arena_printf(&t->arena, "%s/tests/unit/base/data/regex_cases.json", test_source_root());
    AUTO_JSON cases = NULL;
    size_t refused = 0, n;

    ASSERT_OK(json_parse(test_read_file(t, path), &cases, &t->err));
    n = json_object_array_length(cases);
    for (size_t i = 0; i < n; i++) {
        struct json_object *one = json_object_array_get_idx(cases, i);
        struct str pattern = json_str(json_object_array_get_idx(one, 0));
        struct json_object *texts = json_object_array_get_idx(one, 1);
        AUTO(regex) regex = NULL;
        int r = regex_compile(pattern, &regex, &t->err);

        refused += !texts;
        if ((r < 0) != !texts)
            test_case_failed("%s: %s", pattern.p, r < 0 ? t->err.text : "accepted");
        else if (texts)
            check_texts(t, regex, pattern.p, texts);
    }
    ASSERT(n > 1000 && refused > 50);
}
