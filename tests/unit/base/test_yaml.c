/* SPDX-License-Identifier: MIT */
#include "base/yaml.h"

#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/limits.h"
#include "harness/test.h"

static const char *as_json(struct test *t, const char *text)
{
    AUTO_YAML yaml = YAML_INIT;

    ASSERT_OK(yaml_parse(str_from(text), "t.yaml", &yaml, &t->err));
    return arena_text(&t->arena, yaml.root ? json_object_to_json_string_ext(
                                                 yaml.root, JSON_C_TO_STRING_PLAIN |
                                                                JSON_C_TO_STRING_NOSLASHESCAPE)
                                           : "null");
}

TEST(yaml_resolves_the_core_schema)
{
    static const struct {
        const char *yaml, *json;
    } cases[] = {
        { "", "null" },
        { "# only a comment\n", "null" },
        { "~", "null" },
        { "[null, Null, NULL, ~, ]", "[null,null,null,null]" },
        { "[true, True, TRUE, false, False, FALSE]", "[true,true,true,false,false,false]" },
        { "[yes, no, on, off, y, n]", "[\"yes\",\"no\",\"on\",\"off\",\"y\",\"n\"]" },
        { "[0, -1, +7, 0o17, 0x1F, 017, 12e3, 1.5, -.5, 1., 0.0]",
          "[0,-1,7,15,31,17,12000.0,1.5,-0.5,1.0,0.0]" },
        { "[9223372036854775807, -9223372036854775808, 18446744073709551615]",
          "[9223372036854775807,-9223372036854775808,18446744073709551615]" },
        { "[0o8, 0xG, 1_000, 1e, ., +, 0x, 12:30, 2026-11-15]",
          "[\"0o8\",\"0xG\",\"1_000\",\"1e\",\".\",\"+\",\"0x\",\"12:30\",\"2026-11-15\"]" },
        { "['1', \"true\", !!str 1, ! 2, !!int 3, !!float 4, !!null ~, !!bool true]",
          "[\"1\",\"true\",\"1\",\"2\",3,4.0,null,true]" },
        { "a: 1\nb:\n  - x\n  - y: |\n      two\n      lines\nc: >\n  folded\n  text\n",
          "{\"a\":1,\"b\":[\"x\",{\"y\":\"two\\nlines\\n\"}],\"c\":\"folded text\\n\"}" },
        { "{\"json\": [1, {\"is\": \"yaml\"}]}", "{\"json\":[1,{\"is\":\"yaml\"}]}" },
        { "--- {a: b}\n...\n", "{\"a\":\"b\"}" },
        { "%YAML 1.2\n---\na: b\n", "{\"a\":\"b\"}" },
        { "\"1\": a\n'true': b\n!!str 3: c\n", "{\"1\":\"a\",\"true\":\"b\",\"3\":\"c\"}" },
        { "s: \"\\u00e9 \\x41 \\\\\"\nt: 'it''s'\n", "{\"s\":\"é A \\\\\",\"t\":\"it's\"}" },
        { "k:\r\n  - 1\r\n", "{\"k\":[1]}" },
        { "empty: {}\nnone: []\n", "{\"empty\":{},\"none\":[]}" },
        { "!!map {a: !!seq [1]}", "{\"a\":[1]}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ASSERT_TEXT(as_json(t, cases[i].yaml), cases[i].json);
}

TEST(yaml_copies_aliases_within_a_budget)
{
    ASSERT_TEXT(as_json(t, "a: &x {n: [1, 2]}\nb: *x\nc: &s text\nd: *s\ne: &n ~\nf: *n\n"),
                "{\"a\":{\"n\":[1,2]},\"b\":{\"n\":[1,2]},\"c\":\"text\",\"d\":\"text\","
                "\"e\":null,\"f\":null}");
}

TEST(yaml_refuses_with_line_and_column)
{
    static const struct {
        const char *yaml, *error;
    } cases[] = {
        { "a: 1\nb: 2\na: 3\n", "t.yaml:3:1: key \"a\" is there twice" },
        { "x:\n  1: one\n", "t.yaml:2:3: key 1 is not a string; put it in quotes" },
        { "true: x", "t.yaml:1:1: key true is not a string" },
        { "~: x", "is not a string" },
        { ": x", "is not a string" },
        { "[a]: x", "t.yaml:1:1: a mapping or sequence is no key" },
        { "? {a: b}\n: x", "is no key" },
        { "&k a: 1\n*k : 2\n", "an alias is no key" },
        { "<<: {a: 1}\n", "t.yaml:1:1: merge keys (<<) are not allowed" },
        { "a: !ruby/object x\n",
          "t.yaml:1:4: tag !ruby/object is not allowed here; allowed: !!str" },
        { "a: !!binary aGk=\n", "is not allowed here" },
        { "!!seq {a: 1}\n", "allowed: !!map" },
        { "!!map [a]\n", "allowed: !!seq" },
        { "a: !!int x\n", "\"x\": tagged !!int, but no integer" },
        { "a: !!float x\n", "tagged !!float" },
        { "a: !!bool 1\n", "tagged !!bool" },
        { "a: !!null 1\n", "tagged !!null" },
        { "a: .inf\n", "t.yaml:1:4: \".inf\": infinity and NaN are not allowed" },
        { "a: -.INF\n", "infinity" },
        { "a: .nan\n", "infinity" },
        { "a: 1e999\n", "no double can hold" },
        { "a: 18446744073709551616\n", "outside -2^63 .. 2^64-1" },
        { "a: -9223372036854775809\n", "outside" },
        { "a: 0x10000000000000000\n", "outside" },
        { "a: 1\n---\nb: 2\n", "a second document begins" },
        { "a: *nothing\n", "alias *nothing has no finished anchor" },
        { "a: &a [*a]\n", "alias *a has no finished anchor" },
        { "\"a\\0b\": 1\n", "a key holds NUL" },
        { "a: [1, 2\n", "t.yaml:" },
        { "a: b: c\n", "t.yaml:1:" },
        { "a:\n\t- b\n", "t.yaml:2:" },
        { "a: \"unclosed\n", "t.yaml:" },
        { "- a\nb: c\n", "t.yaml:2:" },
        { "a: 'x' y\n", "t.yaml:1:" },
        { "ok: 1\nbad: \xff\n", "t.yaml:2: not valid UTF-8" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct yaml yaml = YAML_INIT;

        ASSERT_FAILS(yaml_parse(str_from(cases[i].yaml), "t.yaml", &yaml, &t->err),
                     ERR_BAD_REQUEST);
        ASSERT_CONTAINS(test_err_text(t), cases[i].error);
        ASSERT(yaml.root == NULL && yaml.places == NULL);
    }
}

TEST(yaml_refuses_nul_and_what_is_too_large)
{
    struct yaml yaml = YAML_INIT;
    AUTO_BUF big = BUF_INIT(2 * LIMIT_YAML_BYTES);

    ASSERT_FAILS(yaml_parse(STR("a: 1\nb: \0x"), "n", &yaml, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "n:2: NUL is not allowed");
    while (big.n <= LIMIT_YAML_BYTES)
        buf_add_text(&big, "# comment\n");
    ASSERT_FAILS(yaml_parse(buf_str(&big), "n", &yaml, &t->err), ERR_TOO_LARGE);
    buf_clear(&big);
    while (big.n < LIMIT_YAML_BYTES / 2)
        buf_add_text(&big, "- 1\n");
    ASSERT_FAILS(yaml_parse(buf_str(&big), "n", &yaml, &t->err), ERR_TOO_LARGE);
    ASSERT_CONTAINS(test_err_text(t), "n:100000:3: more than 100000 values");
}

TEST(yaml_refuses_deep_nesting_and_takes_what_is_allowed)
{
    for (int flow = 0; flow < 2; flow++)
        for (int depth = LIMIT_JSON_DEPTH; depth<3000; depth += depth> 200 ? 900 : 1) {
            AUTO_BUF text = BUF_INIT(100000);
            AUTO_YAML yaml = YAML_INIT;
            int r;

            for (int i = 0; i < depth; i++)
                buf_add_text(&text, flow ? "[" : "- ");
            buf_add_text(&text, "x");
            for (int i = 0; i < depth && flow; i++)
                buf_add_text(&text, "]");
            r = yaml_parse(buf_str(&text), "deep", &yaml, &t->err);
            if (depth == LIMIT_JSON_DEPTH)
                ASSERT_OK(r);
            else
                ASSERT_FAILS(r, ERR_TOO_LARGE);
        }
}

TEST(yaml_refuses_a_billion_laughs)
{
    AUTO_BUF text = BUF_INIT(10000);
    struct yaml yaml = YAML_INIT;

    buf_add_text(&text, "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for (int i = 1; i < 10; i++)
        buf_printf(&text, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i,
                   i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    ASSERT_FAILS(yaml_parse(buf_str(&text), "lol", &yaml, &t->err), ERR_TOO_LARGE);
    ASSERT_CONTAINS(test_err_text(t), "aliases stand for more than 1000 values");
}

static void check_place(struct test *t, const struct yaml *yaml, const char *pointer,
                        const char *value, const char *key)
{
    struct yaml_position at;
    char text[64];

    ASSERT(yaml_where(yaml, str_from(pointer), &at));
    snprintf(text, sizeof(text), "%u:%u", at.line, at.column);
    ASSERT_TEXT(text, value);
    ASSERT(yaml_where_key(yaml, str_from(pointer), &at));
    snprintf(text, sizeof(text), "%u:%u", at.line, at.column);
    ASSERT_TEXT(text, key);
    (void)t;
}

TEST(yaml_knows_where_every_value_stands)
{
    AUTO_YAML yaml = YAML_INIT;
    AUTO_YAML empty = YAML_INIT;
    struct yaml_position at;

    ASSERT_OK(yaml_parse(STR("server:\n  listen: 127.0.0.1\nmodels:\n  - id: a\n    url: b\n"
                             "  - id: c\n\"a/b~c\": [1, 2]\n"),
                         "t", &yaml, &t->err));
    check_place(t, &yaml, "", "1:1", "1:1");
    check_place(t, &yaml, "/server/listen", "2:11", "2:3");
    check_place(t, &yaml, "/models/0/url", "5:10", "5:5");
    check_place(t, &yaml, "/models/1", "6:5", "6:5");
    check_place(t, &yaml, "/models/1/id", "6:9", "6:5");
    check_place(t, &yaml, "/a~1b~0c/1", "7:14", "7:14");
    ASSERT(!yaml_where(&yaml, STR("/server/token"), &at));
    ASSERT_EQ(at.line, 2); /* the mapping that lacks it */
    ASSERT(!yaml_where(&yaml, STR("/models/7/id"), &at));
    ASSERT(!yaml_where(&yaml, STR("/models/x"), &at));
    ASSERT(!yaml_where(&yaml, STR("server"), &at));
    ASSERT(!yaml_where(&empty, STR(""), &at));
    ASSERT_EQ(at.line, 1);
}

TEST(yaml_prints_nothing_by_itself)
{
    const char *path = test_path(t, "out");
    int fd = open(path, O_CREAT | O_RDWR, 0600);
    struct yaml yaml = YAML_INIT;

    dup2(fd, 1);
    dup2(fd, 2);
    for (int i = 0; i < 3; i++)
        ASSERT_FAILS(yaml_parse(STR("a: [\n b: }\n"), "t", &yaml, &t->err), ERR_BAD_REQUEST);
    ASSERT_EQ(lseek(fd, 0, SEEK_END), 0);
    close(fd);
}
