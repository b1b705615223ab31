/* Places of YAML's values in every style, errors' places, and the budgets.
 * A text stands where its first character does, after its quote and its tag; an alias where its
 * name does.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/yaml.h"
#include "harness/test.h"

static const char *place_text(struct test *t, const struct yaml *yaml, const char *pointer)
{
    struct yaml_position value, key;

    if (!yaml_where(yaml, str_from(pointer), &value) ||
        !yaml_where_key(yaml, str_from(pointer), &key))
        FAIL("%s is not found", pointer);
    return arena_printf(&t->arena, "%u:%u %u:%u", value.line, value.column, key.line, key.column);
}

struct place {
    const char *pointer, *expected; /* value and key */
};

static void check_places(struct test *t, const char *text, const struct place *places, size_t n)
{
    AUTO_YAML yaml = YAML_INIT;

    ASSERT_OK(yaml_parse(str_from(text), "t", &yaml, &t->err));
    for (size_t i = 0; i < n; i++)
        if (strcmp(place_text(t, &yaml, places[i].pointer), places[i].expected) != 0)
            FAIL("%s stands at %s, expected %s", places[i].pointer,
                 place_text(t, &yaml, places[i].pointer), places[i].expected);
}

TEST(yaml_places_of_blocks_within_blocks)
{
    static const struct place places[] = {
        { "", "1:1 1:1" },          { "/a", "2:3 1:1" },     { "/a/b", "3:5 2:3" },
        { "/a/b/0", "3:7 3:7" },    { "/a/b/1", "4:7 4:7" }, { "/a/b/1/c", "4:10 4:7" },
        { "/a/b/1/d", "5:10 5:7" }, { "/a/b/2", "6:7 6:7" }, { "/a/b/2/0", "6:9 6:9" },
        { "/a/b/2/1", "7:9 7:9" },  { "/e", "8:4 8:1" },
    };

    check_places(t, "a:\n  b:\n    - 1\n    - c: 2\n      d: 3\n    - - 4\n      - 5\ne: 6\n",
                 places, ARRAY_LEN(places));
}

TEST(yaml_places_in_flow_style)
{
    static const struct place places[] = {
        { "", "1:1 1:1" },     { "/a", "1:5 1:2" },       { "/a/0", "1:6 1:6" },
        { "/a/1", "1:9 1:9" }, { "/a/1/b", "1:13 1:10" }, { "/c", "2:5 2:2" },
        { "/c/d", "3:6 3:3" }, { "/e", "4:7 4:3" },
    };

    check_places(t, "{a: [1, {b: 2}],\n c: {\n  d: 3},\n \"e\": 4}", places, ARRAY_LEN(places));
}

TEST(yaml_places_of_texts_in_every_style)
{
    static const struct place places[] = {
        { "/plain", "1:8 1:1" },    { "/single", "2:10 2:1" }, { "/double", "3:10 3:1" },
        { "/after", "8:8 8:1" },    { "/tagged", "9:15 9:1" }, { "/comment", "11:10 11:1" },
        { "/\u00E9", "12:4 12:1" },
    };

    check_places(t,
                 "plain: x\nsingle: 'x'\ndouble: \"x\"\nblock: |\n  one\n  two\n\nafter: x\n"
                 "tagged: !!str x\n# words\ncomment: x # more\n\u00E9: x\n",
                 places, ARRAY_LEN(places));
}

TEST(yaml_places_after_windows_line_ends_and_blank_lines)
{
    static const struct place places[] = {
        { "/a", "3:4 3:1" },
        { "/b/0", "6:5 6:5" },
    };

    check_places(t, "\r\n\r\na: 1\r\nb:\r\n\r\n  - 2\r\n", places, ARRAY_LEN(places));
}

TEST(yaml_places_of_what_is_missing_are_the_nearest_above)
{
    static const struct {
        const char *pointer;
        unsigned line, column;
    } cases[] = {
        { "/x", 1, 1 },       { "/a/x", 2, 3 },
        { "/a/x/y/z", 2, 3 }, { "/a/b/9", 3, 5 },
        { "/a/b/-", 3, 5 },   { "/a/b/0/x", 3, 7 },
        { "/a/b/x", 3, 5 },   { "/a/b/00000000000000000000001", 3, 5 },
        { "/a/b/-1", 3, 5 },  { "/A", 1, 1 },
        { "/a~", 1, 1 },      { "a", 1, 1 },
    };
    AUTO_YAML yaml = YAML_INIT;

    ASSERT_OK(yaml_parse(STR("a:\n  b:\n    - 1\n"), "t", &yaml, &t->err));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct yaml_position at, key;

        ASSERT(!yaml_where(&yaml, str_from(cases[i].pointer), &at));
        if (at.line != cases[i].line || at.column != cases[i].column)
            FAIL("%s: %u:%u", cases[i].pointer, at.line, at.column);
        ASSERT(!yaml_where_key(&yaml, str_from(cases[i].pointer), &key));
    }
}

TEST(yaml_pointers_spell_slashes_tildes_and_empty_names)
{
    AUTO_YAML yaml = YAML_INIT;

    ASSERT_OK(yaml_parse(STR("a/b: 1\nm~n: 2\n\"\": 3\n\"0\": 4\n~1x: 5\n"), "t", &yaml, &t->err));
    ASSERT_TEXT(place_text(t, &yaml, "/a~1b"), "1:6 1:1");
    ASSERT_TEXT(place_text(t, &yaml, "/m~0n"), "2:6 2:1");
    ASSERT_TEXT(place_text(t, &yaml, "/"), "3:5 3:2");
    ASSERT_TEXT(place_text(t, &yaml, "/0"), "4:6 4:2");
    ASSERT_TEXT(place_text(t, &yaml, "/~01x"), "5:6 5:1");
}

TEST(yaml_alias_stands_where_it_is_written)
{
    AUTO_YAML yaml = YAML_INIT;
    struct yaml_position at;

    ASSERT_OK(yaml_parse(STR("a: &x\n  n: 1\nb: *x\n"), "t", &yaml, &t->err));
    ASSERT_TEXT(place_text(t, &yaml, "/a/n"), "2:6 2:3");
    ASSERT(yaml_where(&yaml, STR("/b"), &at));
    ASSERT_EQ(at.line, 3);
    ASSERT(!yaml_where(&yaml, STR("/b/n"), &at)); /* the copy has no place of its own … */
    ASSERT_EQ(at.line, 3);                        /* … but the alias has */
}

TEST(yaml_errors_name_the_place_of_what_is_wrong)
{
    static const struct {
        const char *yaml, *error;
    } cases[] = {
        { "a:\n  b:\n    c: 1\n    c: 2\n", "t:4:5: key \"c\" is there twice" },
        { "{a: 1, b: 2, a: 3}", "t:1:14: key \"a\" is there twice" },
        { "\"a\": 1\na: 2\n", "t:2:1: key \"a\" is there twice" },
        { "- x\n- 1: y\n", "t:2:3: key 1 is not a string" },
        { "- [1, .inf]\n", "t:1:7: \".inf\"" },
        { "a:\n  - !!int x\n", "t:2:11: \"x\": tagged !!int" },
        { "a: {b: !x y}\n", "t:1:8: tag !x is not allowed here" },
        { "a:\n  <<: *b\n", "t:2:3: merge keys" },
        { "a: [*no]\n", "t:1:6: alias *no has no finished anchor" },
        { "a: 1\n...\n---\nb: 2\n", "t:3:1: a second document begins" },
        { "1.5: x\n", "t:1:1: key 1.5 is not a string" },
        { "null: x\n", "t:1:1: key null is not a string" },
        { "0x1F: x\n", "t:1:1: key 0x1F is not a string" },
        { "a: 1e400\n", "t:1:4: \"1e400\"" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct yaml yaml = YAML_INIT;

        ASSERT_FAILS(yaml_parse(str_from(cases[i].yaml), "t", &yaml, &t->err), ERR_BAD_REQUEST);
        ASSERT_CONTAINS(test_err_text(t), cases[i].error);
    }
}

/* `items` values in the anchor's list make items + 1 for each alias. */
static int parse_aliases(struct test *t, int items, int aliases)
{
    AUTO_BUF text = BUF_INIT(1u << 20);
    AUTO_YAML yaml = YAML_INIT;

    buf_add_text(&text, "a: &a [");
    for (int i = 0; i < items; i++)
        buf_add_text(&text, i ? ", 1" : "1");
    buf_add_text(&text, "]\nb:\n");
    for (int i = 0; i < aliases; i++)
        buf_add_text(&text, "  - *a\n");
    return yaml_parse(buf_str(&text), "t", &yaml, &t->err);
}

TEST(yaml_budget_of_aliases_is_exact)
{
    ASSERT_OK(parse_aliases(t, 9, 100));
    ASSERT_FAILS(parse_aliases(t, 9, 101), ERR_TOO_LARGE);
    ASSERT_CONTAINS(test_err_text(t), "t:103:6: aliases stand for more than 1000 values");
    ASSERT_OK(parse_aliases(t, 999, 1));
    ASSERT_FAILS(parse_aliases(t, 1000, 1), ERR_TOO_LARGE);
    ASSERT_OK(parse_aliases(t, 5000, 0)); /* an anchor alone costs nothing */
}

TEST(yaml_budget_of_values_is_exact)
{
    for (int extra = 0; extra < 2; extra++) {
        AUTO_BUF text = BUF_INIT(1u << 20);
        AUTO_YAML yaml = YAML_INIT;
        int r;

        for (int i = 1; i < YAML_NODES_MAX + extra; i++) /* the list counts as one */
            buf_add_text(&text, "- 1\n");
        r = yaml_parse(buf_str(&text), "t", &yaml, &t->err);
        if (extra == 0) {
            ASSERT_OK(r);
            ASSERT_EQ(json_object_array_length(yaml.root), YAML_NODES_MAX - 1);
        } else {
            ASSERT_FAILS(r, ERR_TOO_LARGE);
        }
    }
}

TEST(yaml_copies_of_an_alias_are_apart)
{
    AUTO_YAML yaml = YAML_INIT;
    struct json_object *a, *b;

    ASSERT_OK(yaml_parse(STR("a: &x {n: 1}\nb: *x\n"), "t", &yaml, &t->err));
    a = json_object_object_get(yaml.root, "a");
    b = json_object_object_get(yaml.root, "b");
    json_object_object_add(a, "n", json_object_new_int(2));
    ASSERT_EQ(json_object_get_int(json_object_object_get(b, "n")), 1);
}

TEST(yaml_anchor_may_be_given_again)
{
    AUTO_YAML yaml = YAML_INIT;

    ASSERT_OK(yaml_parse(STR("[&a 1, *a, &a 2, *a, &b [*a, &b 3, *b], *b]"), "t", &yaml, &t->err));
    ASSERT_TEXT(json_object_to_json_string_ext(yaml.root, JSON_C_TO_STRING_PLAIN),
                "[1,1,2,2,[2,3,3],[2,3,3]]");
}
