/* What scalars are: types of the core schema, and the text of quoted, plain and block ones.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <time.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/rand.h"
#include "base/yaml.h"
#include "harness/test.h"

static const char *type_name(struct json_object *value)
{
    static const char *const names[] = {
        [json_type_null] = "null",  [json_type_boolean] = "bool",  [json_type_double] = "float",
        [json_type_int] = "int",    [json_type_object] = "object", [json_type_array] = "array",
        [json_type_string] = "str",
    };

    return names[json_object_get_type(value)];
}

/* YAML 1.2.2, 10.3.2: every line of its table, its edges, and what YAML 1.1 took for something. */
TEST(yaml_gives_each_plain_scalar_its_type)
{
    static const struct {
        const char *type;
        const char *scalars[64];
    } rows[] = {
        { "null", { "~", "null", "Null", "NULL" } },
        { "bool", { "true", "True", "TRUE", "false", "False", "FALSE" } },
        { "int",
          { "0",
            "-0",
            "+0",
            "00",
            "007",
            "-12",
            "+12",
            "9223372036854775807",
            "-9223372036854775808",
            "18446744073709551615",
            "+18446744073709551615",
            "0o0",
            "0o7",
            "0o17",
            "0o1777777777777777777777",
            "0x0",
            "0xff",
            "0xFF",
            "0xdeadBEEF",
            "0xffffffffffffffff" } },
        { "float", { "0.",     ".0",
                     "0.0",    "-0.0",
                     "1.",     "-1.",
                     "+.5",    "-.5",
                     "1e3",    "1E3",
                     "1e+3",   "1e-3",
                     "1.5e3",  ".5e-3",
                     "1.e1",   "12e03",
                     "-2E+05", "3.14159265358979",
                     "1e308",  "1e-400",
                     "0e0",    "123456789012345678901234567890.0" } },
        { "str",
          { "nULL",    "nul",   "nil",   "None",      "tRUE",       "truE",  "yes",      "Yes",
            "no",      "NO",    "on",    "off",       "y",          "N",     "0b101",    "0O17",
            "0X1F",    "-0x1",  "+0o7",  "0o8",       "0o",         "0x",    "0xg",      "1_000",
            "0x_f",    "1,000", "12:30", "190:20:30", "2026-11-15", "1e",    "1e+",      "e3",
            ".",       "..",    "+",     ".e1",       "1.2.3",      "1..2",  "--1",      "+-1",
            "1 2",     "-.nan", "+.NaN", ".Nan",      ".iNF",       "inf",   "NaN",      "Infinity",
            "0x1.8p3", "1f",    "1L",    "=",         "~x",         "nullx", "truefalse" } },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (const char *const *scalar = rows[i].scalars; *scalar; scalar++) {
            AUTO_YAML yaml = YAML_INIT;
            AUTO_YAML quoted = YAML_INIT;
            AUTO_YAML tagged = YAML_INIT;
            const char *text = arena_printf(&t->arena, "- %s\n", *scalar);

            ASSERT_OK(yaml_parse(str_from(text), "t", &yaml, &t->err));
            if (strcmp(type_name(json_object_array_get_idx(yaml.root, 0)), rows[i].type) != 0)
                FAIL("%s is a %s, expected %s", *scalar,
                     type_name(json_object_array_get_idx(yaml.root, 0)), rows[i].type);
            /* The same in quotes, or tagged, is that text. */
            text = arena_printf(&t->arena, "'%s'", *scalar);
            ASSERT_OK(yaml_parse(str_from(text), "t", &quoted, &t->err));
            ASSERT_TEXT(json_object_get_string(quoted.root), *scalar);
            text = arena_printf(&t->arena, "!!str %s", *scalar);
            ASSERT_OK(yaml_parse(str_from(text), "t", &tagged, &t->err));
            ASSERT_TEXT(json_object_get_string(tagged.root), *scalar);
            /* As a key only a text is allowed. */
            text = arena_printf(&t->arena, "{ %s : 1 }", *scalar);
            if (strpbrk(*scalar, ",") == NULL) {
                struct yaml key = YAML_INIT;
                int r = yaml_parse(str_from(text), "t", &key, &t->err);

                if ((r == 0) != (strcmp(rows[i].type, "str") == 0))
                    FAIL("%s as a key: %s", *scalar, r ? test_err_text(t) : "taken");
                yaml_release(&key);
            }
        }
}

TEST(yaml_numbers_have_the_value_that_is_written)
{
    static const struct {
        const char *yaml, *json;
    } cases[] = {
        { "[-0, 007, +12, 0o17, 0xFF]", "[0,7,12,15,255]" },
        { "[0xffffffffffffffff, 0o1777777777777777777777]",
          "[18446744073709551615,18446744073709551615]" },
        { "[-9223372036854775808, 9223372036854775808]",
          "[-9223372036854775808,9223372036854775808]" },
        { "[.5, -.5e1, 1., 1e3, !!float 7, !!float 0]", "[0.5,-5.0,1.0,1000.0,7.0,0.0]" },
        { "[!!int 0x1F, !!int \"12\", !!bool \"true\", !!null \"\", !!null ~]",
          "[31,12,true,null,null]" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_YAML yaml = YAML_INIT;

        ASSERT_OK(yaml_parse(str_from(cases[i].yaml), "t", &yaml, &t->err));
        ASSERT_TEXT(json_object_to_json_string_ext(yaml.root, JSON_C_TO_STRING_PLAIN),
                    cases[i].json);
    }
}

TEST(yaml_unfolds_quoted_plain_and_block_texts)
{
    static const struct {
        const char *yaml, *text;
    } cases[] = {
        { "''", "" },
        { "''''", "'" },
        { "''''''", "''" },
        { "'a''''b'", "a''b" },
        { "'''''''''''''''x'", "'''''''x" },
        { "'it''s'", "it's" },
        { "'a\\nb'", "a\\nb" },
        { "'a\n b'", "a b" },
        { "'a  \n\n  \t b'", "a\nb" },
        { "'a\n\n\n b'", "a\n\nb" },
        { "' a '", " a " },
        { "'\n a\n'", " a " },
        { "'a\r\n b\r\n\r\n c'", "a b\nc" },
        { "'\"'", "\"" },
        { "\"\"", "" },
        { "\"\\\"\\\"\\\"\"", "\"\"\"" },
        { "\"'\"", "'" },
        { "\"a\\\n   b\"", "ab" },
        { "\"a \\\n   b\"", "a b" },
        { "\"a  \n   b\"", "a b" },
        { "\"a\\ \n   b\"", "a  b" },
        { "\"a\\t\n b\"", "a\t b" },
        { "\"a\\\\\\\n b\"", "a\\b" },
        { "\"a\\\n\n b\"", "a\nb" },
        { "\"a\n\n\n b\"", "a\n\nb" },
        { "\"\\a\\b\\t\\n\\v\\f\\r\\e\\ \\\"\\/\\\\\"", "\a\b\t\n\v\f\r\033 \"/\\" },
        { "\"\\N\\_\\L\\P\"", "\xc2\x85\u00A0\u2028\u2029" },
        { "\"\\x41\\u00e9\\U0001F600\"", "A\u00E9\U0001F600" },
        { "\"\\ud83d\\ude00\"", "\U0001F600" },
        { "\"\\u0041\\u004A\\u00fF\"", "AJ\u00FF" },
        { "a\n b\n\n c", "a b\nc" },
        { "|\n a\n  b\n", "a\n b\n" },
        { "|-\n a\n\n", "a" },
        { "|+\n a\n\n", "a\n\n" },
        { ">\n a\n b\n\n c\n", "a b\nc\n" },
        { ">-\n a\n  b\n c\n", "a\n b\nc" },
        { "|2\n   a\n", " a\n" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_YAML yaml = YAML_INIT;
        AUTO_YAML member = YAML_INIT;
        struct json_object_iter pair;

        ASSERT_OK(yaml_parse(str_from(cases[i].yaml), "t", &yaml, &t->err));
        ASSERT_EQ(json_object_get_string_len(yaml.root), strlen(cases[i].text));
        ASSERT_TEXT(json_object_get_string(yaml.root), cases[i].text);
        if (strchr(cases[i].yaml, '\n') || cases[i].yaml[0] == '|')
            continue;
        /* A quoted text is the same as a key and after a byte order mark. */
        ASSERT_OK(yaml_parse(
            str_from(arena_printf(&t->arena, "\uFEFF%s: %s", cases[i].yaml, cases[i].yaml)), "t",
            &member, &t->err));
        json_object_object_foreachC(member.root, pair)
        {
            ASSERT_TEXT(pair.key, cases[i].text);
            ASSERT_TEXT(json_object_get_string(pair.val), cases[i].text);
        }
    }
}

TEST(yaml_takes_any_text_that_json_can_quote)
{
    struct rand_fake rand;

    rand_fake_init(&rand, 31);
    for (int i = 0; i < 3000; i++) {
        static const char *const pieces[] = { "a",    " ",      "\n",     "\t",         "'", "\"",
                                              "\\",   "\r",     "\u00E9", "\U0001F600", "#", ": ",
                                              "\x01", "\u2028", "-",      "/" };
        AUTO_BUF text = BUF_INIT(200);
        AUTO_YAML yaml = YAML_INIT;
        struct json_object *value;

        for (size_t n = rand_below(&rand.rand, 12); n > 0; n--)
            buf_add_text(&text, pieces[rand_below(&rand.rand, ARRAY_LEN(pieces))]);
        value = json_object_new_string_len(buf_text(&text), (int)text.n);
        ASSERT_OK(yaml_parse(str_from(json_object_to_json_string(value)), "t", &yaml, &t->err));
        ASSERT_TEXT(json_object_get_string(yaml.root), buf_text(&text));
        json_object_put(value);
    }
}

TEST(yaml_refuses_escapes_and_texts_it_would_misread)
{
    static const struct {
        const char *yaml, *error;
    } cases[] = {
        { "a: \"\\q\"", "t:1:" },
        { "a: \"\\ud83d\"", "t:1:" },
        { "a: \"\\U00110000\"", "t:1:" },
        { "a: \"\\u12\"", "t:1:" },
        { "a: \"\\x4\"", "t:1:" },
        { "a: >-\n  \n  \t\n", "t:2:1: a text can't be read; put it in quotes" },
        { "\"a\\0b\": 1", "t:1:2: a key holds NUL" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct yaml yaml = YAML_INIT;

        ASSERT_FAILS(yaml_parse(str_from(cases[i].yaml), "t", &yaml, &t->err), ERR_BAD_REQUEST);
        ASSERT_CONTAINS(test_err_text(t), cases[i].error);
    }
}

/* Every shape of a document that grows: refused before it does, in little time and memory. */
TEST(yaml_refuses_every_bomb_quickly)
{
    static const struct {
        const char *first, *each, *last;
        int times;
        const char *error;
    } bombs[] = {
        { "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n",
          "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", "", 30,
          "aliases stand for more than 1000 values" },
        { "a0: &a0 {k: x}\n", "a%d: &a%d {p: *a%d, q: *a%d}\n", "", 40, "aliases stand for more" },
        { "- &a [1,2,3,4,5,6,7,8,9]\n", "- *a\n", "", 20000, "aliases stand for more" },
        { "", "[", "", 100000, "nested deeper than 128" },
        { "", "- - - - - - - - ", "x", 10000, "nested deeper than 128" },
        { "", "{a: ", "", 100000, "nested deeper than 128" },
        { "", "- 1\n", "", 200000, "more than 100000 values" },
        { "[", "1,", "]", 300000, "more than 100000 values" },
        { "", "? ", "x", 100000, "t:1:" },
    };

    for (size_t i = 0; i < ARRAY_LEN(bombs); i++) {
        AUTO_BUF text = BUF_INIT(LIMIT_YAML_BYTES);
        struct yaml yaml = YAML_INIT;
        clock_t start = clock();

        buf_add_text(&text, bombs[i].first);
        for (int k = 1; k <= bombs[i].times && text.n + 200 < LIMIT_YAML_BYTES; k++)
            if (strchr(bombs[i].each, '%'))
                buf_printf(&text, bombs[i].each, k, k, k - 1, k - 1, k - 1, k - 1, k - 1, k - 1,
                           k - 1, k - 1, k - 1);
            else
                buf_add_text(&text, bombs[i].each);
        buf_add_text(&text, bombs[i].last);
        if (yaml_parse(buf_str(&text), "t", &yaml, &t->err) >= 0)
            FAIL("bomb %zu was taken", i);
        ASSERT_CONTAINS(test_err_text(t), bombs[i].error);
        /* CPU time under sanitizers: milliseconds to a second, where growing would take for ever.
         */
        if (clock() - start > 10 * CLOCKS_PER_SEC)
            FAIL("bomb %zu took %ld ms", i, (clock() - start) / (CLOCKS_PER_SEC / 1000));
    }
}
