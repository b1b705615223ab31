/* Adding to config.yaml: what the owner wrote stays, byte for byte.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/alloc.h"
#include "base/json.h"
#include "cli/config_edit.h"
#include "harness/test.h"

static struct json_object *record(struct test *t, const char *json)
{
    struct json_object *value = NULL;

    ASSERT_OK(json_parse(str_from(json), &value, &t->err));
    return value;
}

static const char *edited(struct test *t, const char *text, const char *json)
{
    AUTO_JSON added = record(t, json);
    AUTO_BUF out = BUF_INIT(1 << 20);

    ASSERT_OK(config_edit_append(str_from(text), "config.yaml", "models", added, &out, &t->err));
    return arena_text(&t->arena, buf_text(&out));
}

#define ONE "{\"id\":\"b\",\"provider\":\"openai\"}"

TEST(a_first_record_makes_the_list)
{
    ASSERT_TEXT(edited(t, "", ONE), "models:\n  - id: b\n    provider: openai\n");
    ASSERT_TEXT(edited(t, "# mine\n", ONE), "# mine\n\nmodels:\n  - id: b\n    provider: openai\n");
    ASSERT_TEXT(edited(t, "agent: { name: Ada }", ONE),
                "agent: { name: Ada }\n\nmodels:\n  - id: b\n    provider: openai\n");
    ASSERT_TEXT(edited(t, "models: [] # none yet\nagent:\n  name: Ada\n", ONE),
                "models: # none yet\n  - id: b\n    provider: openai\nagent:\n  name: Ada\n");
    ASSERT_TEXT(edited(t, "models:\nagent:\n  name: Ada\n", ONE),
                "models:\n  - id: b\n    provider: openai\nagent:\n  name: Ada\n");
}

TEST(a_record_is_added_behind_the_last_one)
{
    ASSERT_TEXT(edited(t,
                       "# before\n"
                       "models:   # which\n"
                       "  # the first\n"
                       "  - id: a\n"
                       "    provider: offline  # no network\n"
                       "\n"
                       "# behind\n"
                       "agent:\n"
                       "  name: Ada\n",
                       ONE),
                "# before\n"
                "models:   # which\n"
                "  # the first\n"
                "  - id: a\n"
                "    provider: offline  # no network\n"
                "  - id: b\n"
                "    provider: openai\n"
                "\n"
                "# behind\n"
                "agent:\n"
                "  name: Ada\n");
    ASSERT_TEXT(edited(t, "models:\n- id: a\n  provider: offline\nagent:\n  name: x\n", ONE),
                "models:\n- id: a\n  provider: offline\n- id: b\n  provider: openai\nagent:\n"
                "  name: x\n");
    ASSERT_TEXT(edited(t, "models:\n    - { id: a, provider: offline }", ONE),
                "models:\n    - { id: a, provider: offline }\n    - id: b\n      provider: "
                "openai\n");
}

TEST(texts_are_quoted_where_they_could_be_read_as_something_else)
{
    ASSERT_TEXT(
        edited(t, "",
               "{\"id\":\"x\",\"base_url\":\"http://h:1/v1\",\"model\":\"7\",\"a\":\"true\","
               "\"b\":\"\",\"c\":\"a: b\",\"d\":\"2026-01-01\",\"e\":\"#x\",\"f\":\"a\\nb\","
               "\"g\":\"Null\",\"price\":{\"input\":3,\"output\":0.5},\"t\":true,\"h\":\"x:\"}"),
        "models:\n  - id: x\n    base_url: http://h:1/v1\n    model: \"7\"\n    a: \"true\"\n"
        "    b: \"\"\n    c: \"a: b\"\n    d: \"2026-01-01\"\n    e: \"#x\"\n    f: \"a\\nb\"\n"
        "    g: \"Null\"\n    price:\n      input: 3\n      output: 0.5\n    t: true\n    h: "
        "\"x:\"\n");
}

TEST(what_cant_be_edited_by_lines_is_left_to_the_owner)
{
    static const char *const texts[] = {
        "models: [ { id: a, provider: offline } ]\n",
        "{ models: [] }\n",
        "{ agent: { name: Ada } }\n",
        "models:\n  [ { id: a, provider: offline } ]\n",
        "\"models\": []\n",
        "models: &anchor\n  - { id: a }\nmore: *anchor\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        AUTO_JSON added = record(t, ONE);
        AUTO_BUF out = BUF_INIT(1 << 20);

        err_reset(&t->err);
        ASSERT_FAILS(
            config_edit_append(str_from(texts[i]), "config.yaml", "models", added, &out, &t->err),
            ERR_BAD_REQUEST);
        ASSERT_CONTAINS(test_err_text(t), "Add it yourself:\nmodels:\n  - id: b\n");
        ASSERT_EQ(out.n, 0);
    }
}

TEST(a_file_that_is_no_yaml_is_not_touched)
{
    AUTO_JSON added = record(t, ONE);
    AUTO_BUF out = BUF_INIT(1 << 20);

    ASSERT_FAILS(
        config_edit_append(str_from("a: [\n"), "config.yaml", "models", added, &out, &t->err),
        ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "config.yaml:");
    ASSERT_EQ(out.n, 0);
}
