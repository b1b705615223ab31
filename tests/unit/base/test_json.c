/* Strict parsing, typed access, field tables, pointers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json_number.h"
#include "base/limits.h"
#include "harness/test.h"

static struct json_object *parse(struct test *t, const char *text)
{
    struct json_object *value = NULL;

    ASSERT_OK(json_parse(str_from(text), &value, &t->err));
    return value;
}

/* The parse fails with this at the start of its message. */
static void refuses(struct test *t, struct str text, const char *where, const char *what)
{
    struct json_object *value = NULL;

    t->err = ERR_INIT;
    if (json_parse(text, &value, &t->err) == 0)
        FAIL("accepted: %.*s", STR_ARG(text));
    ASSERT(value == NULL);
    ASSERT_EQ(t->err.code, ERR_BAD_REQUEST);
    if (strncmp(t->err.text, where, strlen(where)) != 0)
        FAIL("%.*s: \"%s\" does not begin with %s", STR_ARG(text), t->err.text, where);
    ASSERT_CONTAINS(t->err.text, what);
}

TEST(json_parse_reads_every_kind_of_value)
{
    AUTO_JSON doc = parse(t, " {\"a\":[1,-2,0.5,1e3,true,false,null,\"x\"],\"b\":{}}\r\n\t");
    struct json_object *a = json_find(doc, "a");

    ASSERT_EQ(json_object_array_length(a), 8);
    ASSERT_EQ(json_object_get_int64(json_object_array_get_idx(a, 1)), -2);
    ASSERT(json_object_get_double(json_object_array_get_idx(a, 2)) == 0.5);
    ASSERT(json_object_get_double(json_object_array_get_idx(a, 3)) == 1000);
    ASSERT(json_object_get_boolean(json_object_array_get_idx(a, 4)));
    ASSERT(json_object_array_get_idx(a, 6) == NULL);
    ASSERT_STR(json_str(json_object_array_get_idx(a, 7)), "x");
    ASSERT_EQ(json_object_get_type(json_find(doc, "b")), json_type_object);
    ASSERT_EQ(json_length(a), 8);
    ASSERT_EQ(json_length(doc), 0);
    ASSERT_EQ(json_length(json_object_array_get_idx(a, 7)), 0);
    ASSERT_EQ(json_length(NULL), 0);
}

TEST(json_parse_of_null_gives_the_null_pointer)
{
    struct json_object *value = (struct json_object *)t;

    ASSERT_OK(json_parse(STR("null"), &value, &t->err));
    ASSERT(value == NULL);
}

TEST(json_parse_unescapes_strings)
{
    AUTO_JSON doc =
        parse(t, "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00\\u0000z\xe2\x82\xac\"");

    ASSERT(str_eq(json_str(doc), STR("\"\\/\b\f\n\r\t\xc3\xa9\xf0\x9f\x98\x80\0z\xe2\x82\xac")));
}

TEST(json_parse_refuses_what_is_not_json)
{
    static const struct {
        const char *text, *where, *what;
    } cases[] = {
        { "", "1:1: ", "ends where a value" },
        { "  ", "1:3: ", "ends where a value" },
        { "{\"a\":1,}", "1:8: ", "expected a key" },
        { "[1,]", "1:4: ", "expected a value" },
        { "[1 2]", "1:4: ", "',' or ']'" },
        { "{\"a\" 1}", "1:6: ", "':'" },
        { "{\"a\":1 \"b\":2}", "1:8: ", "',' or '}'" },
        { "{a:1}", "1:2: ", "unexpected character 'a'" },
        { "[1] x", "1:5: ", "unexpected" },
        { "[1] 2", "1:5: ", "after the value" },
        { "// hi\n1", "1:1: ", "comments" },
        { "[1, /* x */ 2]", "1:5: ", "comments" },
        { "# x", "1:1: ", "comments" },
        { "NaN", "1:1: ", "NaN" },
        { "-Infinity", "1:2: ", "digit after '-'" },
        { "Infinity", "1:1: ", "Infinity" },
        { "nan", "1:1: ", "null" },
        { "+1", "1:1: ", "'+'" },
        { "01", "1:1: ", "leading zeros" },
        { "-01", "1:1: ", "leading zeros" },
        { "1.", "1:3: ", "decimal point" },
        { ".5", "1:1: ", "unexpected character '.'" },
        { "1e", "1:3: ", "exponent" },
        { "1e+", "1:4: ", "exponent" },
        { "0x10", "1:2: ", "unexpected character 'x'" },
        { "'a'", "1:1: ", "double quotes" },
        { "tru", "1:1: ", "true" },
        { "\"abc", "1:5: ", "no end" },
        { "\"abc\\", "1:5: ", "no end" },
        { "\"a\nb\"", "1:3: ", "no end on its line" },
        { "\"a\tb\"", "1:3: ", "0x09" },
        { "\"\\x\"", "1:2: ", "unknown escape" },
        { "\"\\u12g4\"", "1:2: ", "four hexadecimal" },
        { "\"\\u12\"", "1:2: ", "four hexadecimal" },
        { "\"\\uD800\"", "1:2: ", "lone surrogate" },
        { "\"\\uDC00\"", "1:2: ", "lone surrogate" },
        { "\"\\uD800\\u0041\"", "1:2: ", "lone surrogate" },
        { "\"\\uD800\\uD800\"", "1:2: ", "lone surrogate" },
        { "\xef\xbb\xbf{}", "1:1: ", "byte order mark" },
        { "{\"a\":1,\n \"b\":2,\n \"a\":3}", "3:2: ", "\"a\" appears twice" },
        { "{\"a\":1,\"\\u0061\":2}", "1:8: ", "appears twice" },
        { "[{\"x\":{\"a\":1,\"a\":1}}]", "1:14: ", "appears twice" },
        { "{\"a\\u0000\":1}", "1:2: ", "NUL" },
        { "18446744073709551616", "1:1: ", "64 bits" },
        { "-9223372036854775809", "1:1: ", "64 bits" },
        { "1e309", "1:1: ", "double" },
        { "[\n\n  -1e999]", "3:3: ", "double" },
        { "{\"\xc3\xa9\xc3\xa9\": x}", "1:8: ", "unexpected character 'x'" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        refuses(t, str_from(cases[i].text), cases[i].where, cases[i].what);
    refuses(t, STR("\0"), "1:1: ", "byte 0x00");
    refuses(t, STR("\"a\0b\""), "1:3: ", "0x00");
}

TEST(json_parse_refuses_invalid_utf8)
{
    static const char *const bad[] = {
        "\"\x80\"",
        "\"\xc0\x80\"",
        "\"\xc1\xbf\"",
        "\"\xe0\x80\x80\"",
        "\"\xed\xa0\x80\"",
        "\"\xf0\x80\x80\x80\"",
        "\"\xf4\x90\x80\x80\"",
        "\"\xf5\x80\x80\x80\"",
        "\"\xc3\"",
        "\"\xe2\x82\"",
        "\"\xff\"",
        "\"\xe2\x28\xa1\"",
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        refuses(t, str_from(bad[i]), "1:2: ", "invalid UTF-8");
}

TEST(json_parse_keeps_the_edges_of_64_bits)
{
    AUTO_JSON doc = parse(t, "[9223372036854775807,-9223372036854775808,18446744073709551615,-0]");

    ASSERT(json_object_get_int64(json_object_array_get_idx(doc, 0)) == INT64_MAX);
    ASSERT(json_object_get_int64(json_object_array_get_idx(doc, 1)) == INT64_MIN);
    ASSERT(json_object_get_uint64(json_object_array_get_idx(doc, 2)) == UINT64_MAX);
    ASSERT_EQ(json_object_get_int64(json_object_array_get_idx(doc, 3)), 0);
}

TEST(json_parse_keeps_big_integers_when_asked)
{
    AUTO_JSON doc = NULL;

    ASSERT_OK(
        json_parse_flags(STR("123456789012345678901234567890"), JSON_BIG_INTEGERS, &doc, &t->err));
    ASSERT(json_number_is_integer(doc));
    ASSERT_TEXT(json_object_to_json_string(doc), "123456789012345678901234567890");
}

static struct str nested(struct test *t, size_t depth, char open, char close)
{
    char *text = arena_alloc(&t->arena, depth * 2 + 1, 1);

    memset(text, open, depth);
    memset(text + depth, close, depth);
    return str_of(text, depth * 2);
}

TEST(json_parse_bounds_depth_and_size)
{
    AUTO_JSON doc = NULL;
    AUTO_BUF big = BUF_INIT(LIMIT_JSON_BYTES + 8);

    ASSERT_OK(json_parse(nested(t, LIMIT_JSON_DEPTH, '[', ']'), &doc, &t->err));
    refuses(t, nested(t, LIMIT_JSON_DEPTH + 1, '[', ']'), "1:129: ", "deeper than 128");
    refuses(t, nested(t, 100000, '[', ']'), "1:129: ", "deeper than 128");
    while (big.n <= LIMIT_JSON_BYTES)
        buf_add_text(&big, "        ");
    ASSERT_FAILS(json_parse(buf_str(&big), &doc, &t->err), ERR_TOO_LARGE);
}

TEST(json_parse_bounds_the_length_of_a_number)
{
    AUTO_BUF text = BUF_INIT(4096);
    AUTO_JSON doc = NULL;

    buf_add_text(&text, "0.");
    while (text.n < LIMIT_JSON_NUMBER_BYTES)
        buf_add_char(&text, '3');
    ASSERT_OK(json_parse(buf_str(&text), &doc, &t->err));
    buf_add_char(&text, '3');
    refuses(t, buf_str(&text), "1:1: ", "at most 1024 characters");
}

/* Quadratic search would take minutes here. */
TEST(json_parse_finds_a_duplicate_among_many_keys, .timeout_s = 30)
{
    AUTO_BUF text = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_object *doc = NULL;

    buf_add_char(&text, '{');
    for (int i = 0; i < 300000; i++)
        buf_printf(&text, "\"key%d\":%d,", i, i);
    buf_add_text(&text, "\"key7\":0}");
    ASSERT_FAILS(json_parse(buf_str(&text), &doc, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(t->err.text, "\"key7\" appears twice");
}

TEST(json_getters_tell_absent_from_wrong)
{
    AUTO_JSON doc =
        parse(t, "{\"s\":\"x\",\"i\":3.0,\"f\":1.5,\"b\":true,\"n\":null,\"o\":{},\"a\":[],"
                 "\"u\":18446744073709551615}");
    struct str s = STR("untouched");
    struct json_object *v = NULL;
    int64_t i = 0;
    double d = 0;
    bool b = false;

    ASSERT_EQ(json_get_str(doc, "s", &s, &t->err), 1);
    ASSERT_STR(s, "x");
    ASSERT_EQ(json_get_str(doc, "absent", &s, &t->err), 0);
    ASSERT_EQ(json_get_str(doc, "n", &s, &t->err), 0);
    ASSERT_STR(s, "x");
    ASSERT_FAILS(json_get_str(doc, "i", &s, &t->err), ERR_SCHEMA_VIOLATION);
    ASSERT_TEXT(t->err.text, "\"i\": expected a string, found integer");
    ASSERT_EQ(json_get_i64(doc, "i", &i, &t->err), 1);
    ASSERT_EQ(i, 3);
    ASSERT_FAILS(json_get_i64(doc, "f", &i, &t->err), ERR_SCHEMA_VIOLATION);
    ASSERT_FAILS(json_get_i64(doc, "u", &i, &t->err), ERR_SCHEMA_VIOLATION);
    ASSERT_EQ(json_get_double(doc, "f", &d, &t->err), 1);
    ASSERT(d == 1.5);
    ASSERT_EQ(json_get_double(doc, "u", &d, &t->err), 1);
    ASSERT(d == 0x1p64);
    ASSERT_FAILS(json_get_double(doc, "s", &d, &t->err), ERR_SCHEMA_VIOLATION);
    ASSERT_EQ(json_get_bool(doc, "b", &b, &t->err), 1);
    ASSERT(b);
    ASSERT_FAILS(json_get_bool(doc, "i", &b, &t->err), ERR_SCHEMA_VIOLATION);
    ASSERT_EQ(json_get_object(doc, "o", &v, &t->err), 1);
    ASSERT_FAILS(json_get_object(doc, "a", &v, &t->err), ERR_SCHEMA_VIOLATION);
    ASSERT_EQ(json_get_array(doc, "a", &v, &t->err), 1);
    ASSERT_FAILS(json_get_array(doc, "o", &v, &t->err), ERR_SCHEMA_VIOLATION);
    ASSERT_EQ(json_get_bool(doc, "absent", &b, &t->err), 0);
    ASSERT_EQ(json_get_i64(NULL, "x", &i, &t->err), 0);
}

struct limits_record {
    int64_t tokens;
    uint32_t seconds;
};

struct record {
    struct str name;
    double weight;
    bool on;
    struct json_object *tags, *extra, *any;
    struct limits_record limits;
};

static const struct json_field limits_fields[] = {
    JSON_FIELD(struct limits_record, tokens, "tokens", JSON_I64, .required = true),
    JSON_FIELD(struct limits_record, seconds, "seconds", JSON_U32),
    { NULL },
};

static const struct json_field record_fields[] = {
    JSON_FIELD(struct record, name, "name", JSON_STR, .required = true),
    JSON_FIELD(struct record, weight, "weight", JSON_DOUBLE),
    JSON_FIELD(struct record, on, "on", JSON_BOOL),
    JSON_FIELD(struct record, tags, "tags", JSON_ARRAY),
    JSON_FIELD(struct record, extra, "a/b~c", JSON_OBJECT),
    JSON_FIELD(struct record, any, "any", JSON_ANY),
    JSON_FIELD(struct record, limits, "limits", JSON_STRUCT, .nested = limits_fields),
    { NULL },
};

TEST(json_read_fills_a_struct_and_keeps_defaults)
{
    AUTO_JSON doc = parse(t, "{\"name\":\"coach\",\"on\":true,\"tags\":[1],\"a/b~c\":{},\"any\":7,"
                             "\"limits\":{\"tokens\":5e3}}");
    struct record r = { .weight = 2.5, .limits.seconds = 60 };

    ASSERT_OK(json_read(doc, record_fields, JSON_REFUSE_UNKNOWN, &r, &t->err));
    ASSERT_STR(r.name, "coach");
    ASSERT(r.weight == 2.5);
    ASSERT(r.on);
    ASSERT_EQ(json_object_array_length(r.tags), 1);
    ASSERT(r.extra != NULL && r.any != NULL);
    ASSERT_EQ(r.limits.tokens, 5000);
    ASSERT_EQ(r.limits.seconds, 60);
}

TEST(json_read_names_pointer_and_expectation)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "[]", "/: expected an object, found array" },
        { "{}", "/name: required but absent" },
        { "{\"name\":null}", "/name: required but absent" },
        { "{\"name\":1}", "/name: expected a string, found integer" },
        { "{\"name\":\"x\",\"weight\":\"1\"}", "/weight: expected a number, found string" },
        { "{\"name\":\"x\",\"on\":1}", "/on: expected true or false, found integer" },
        { "{\"name\":\"x\",\"tags\":{}}", "/tags: expected an array, found object" },
        { "{\"name\":\"x\",\"a/b~c\":[]}", "/a~1b~0c: expected an object, found array" },
        { "{\"name\":\"x\",\"limits\":{}}", "/limits/tokens: required but absent" },
        { "{\"name\":\"x\",\"limits\":{\"tokens\":1.5}}",
          "/limits/tokens: expected an integer, found number" },
        { "{\"name\":\"x\",\"limits\":{\"tokens\":1,\"seconds\":-1}}",
          "/limits/seconds: expected 0 to 4294967295, found -1" },
        { "{\"name\":\"x\",\"limits\":{\"tokens\":1,\"secs\":1}}",
          "/limits/secs: unknown key; allowed are tokens, seconds" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON doc = parse(t, cases[i].text);
        struct record r = { .on = false };

        ASSERT_FAILS(json_read(doc, record_fields, JSON_REFUSE_UNKNOWN, &r, &t->err),
                     ERR_SCHEMA_VIOLATION);
        ASSERT_TEXT(t->err.text, cases[i].message);
    }
}

TEST(json_read_ignores_unknown_keys_unless_told)
{
    AUTO_JSON doc = parse(t, "{\"name\":\"x\",\"new\":1}");
    struct record r = { .on = false };

    ASSERT_OK(json_read(doc, record_fields, 0, &r, &t->err));
    ASSERT_FAILS(json_read(doc, record_fields, JSON_REFUSE_UNKNOWN, &r, &t->err),
                 ERR_SCHEMA_VIOLATION);
}

/* RFC 6901, section 5. */
TEST(json_pointer_follows_the_examples_of_the_rfc)
{
    AUTO_JSON doc =
        parse(t, "{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\"e^f\":3,\"g|h\":4,"
                 "\"i\\\\j\":5,\"k\\\"l\":6,\" \":7,\"m~n\":8}");
    static const char *const pointers[] = { "/",     "/a~1b", "/c%d", "/e^f", "/g|h",
                                            "/i\\j", "/k\"l", "/ ",   "/m~0n" };
    struct json_object *v = NULL;

    ASSERT_OK(json_pointer_find(doc, STR(""), &v, &t->err));
    ASSERT(v == doc);
    ASSERT_OK(json_pointer_find(doc, STR("/foo/0"), &v, &t->err));
    ASSERT_STR(json_str(v), "bar");
    for (size_t i = 0; i < ARRAY_LEN(pointers); i++) {
        ASSERT_OK(json_pointer_find(doc, str_from(pointers[i]), &v, &t->err));
        ASSERT_EQ(json_object_get_int64(v), i);
    }
}

TEST(json_pointer_names_what_is_absent_or_malformed)
{
    AUTO_JSON doc = parse(t, "{\"a\":[1,{\"b\":null}]}");
    struct json_object *v = doc;

    ASSERT_OK(json_pointer_find(doc, STR("/a/1/b"), &v, &t->err));
    ASSERT(v == NULL);
    ASSERT_FAILS(json_pointer_find(doc, STR("/a/2"), &v, &t->err), ERR_NOT_FOUND);
    ASSERT_CONTAINS(t->err.text, "there is no \"2\" in array");
    ASSERT_FAILS(json_pointer_find(doc, STR("/a/-"), &v, &t->err), ERR_NOT_FOUND);
    ASSERT_FAILS(json_pointer_find(doc, STR("/a/01"), &v, &t->err), ERR_NOT_FOUND);
    ASSERT_FAILS(json_pointer_find(doc, STR("/a/1/b/c"), &v, &t->err), ERR_NOT_FOUND);
    ASSERT_FAILS(json_pointer_find(doc, STR("/a\0"), &v, &t->err), ERR_NOT_FOUND);
    ASSERT_FAILS(json_pointer_find(doc, STR("/a/99999999999999999999"), &v, &t->err),
                 ERR_NOT_FOUND);
    ASSERT_FAILS(json_pointer_find(doc, STR("a"), &v, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(json_pointer_find(doc, STR("/a~2"), &v, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(json_pointer_find(doc, STR("/a~"), &v, &t->err), ERR_BAD_REQUEST);
}

TEST(json_equal_follows_json_and_not_c)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } cases[] = {
        { "1", "1.0", true },
        { "0", "-0.0", true },
        { "100", "1e2", true },
        { "1", "true", false },
        { "0", "false", false },
        { "null", "false", false },
        { "\"1\"", "1", false },
        { "{\"a\":1,\"b\":[2]}", "{\"b\":[2.0],\"a\":1}", true },
        { "{\"a\":1}", "{\"a\":1,\"b\":2}", false },
        { "{\"a\":null}", "{\"b\":null}", false },
        { "[1,2]", "[2,1]", false },
        { "[1]", "[1,1]", false },
        { "\"a\\u0000b\"", "\"a\\u0000c\"", false },
        { "9007199254740993", "9007199254740992", false },
        { "9007199254740993", "9007199254740993.0", true },
        { "18446744073709551615", "18446744073709551614", false },
        { "0.1", "0.10", true },
        { "0.1", "0.1000000000000000055511151231257827", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON a = parse(t, cases[i].a);
        AUTO_JSON b = parse(t, cases[i].b);

        if (json_equal(a, b) != cases[i].equal || json_equal(b, a) != cases[i].equal)
            FAIL("%s and %s", cases[i].a, cases[i].b);
        if (cases[i].equal)
            ASSERT(json_hash(a) == json_hash(b));
    }
}

TEST(json_type_names_are_those_of_json_schema)
{
    static const char *const cases[][2] = {
        { "{}", "object" },   { "[]", "array" },   { "\"\"", "string" },  { "1", "integer" },
        { "1.0", "integer" }, { "1.5", "number" }, { "true", "boolean" }, { "null", "null" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON v = parse(t, cases[i][0]);

        ASSERT_TEXT(json_type_name(v), cases[i][1]);
    }
}

TEST(json_pointer_tokens_are_escaped_and_stepped_by)
{
    AUTO_JSON doc = parse(t, "{\"a/b\":{\"m~n\":[10,{\"\":\"deep\"}]}}");
    static const char *const tokens[] = { "a/b", "m~n", "1", "" };
    struct json_object *value = doc, *found = NULL;
    AUTO_BUF pointer = BUF_INIT(64);

    for (size_t i = 0; i < ARRAY_LEN(tokens); i++) {
        json_pointer_add(&pointer, str_from(tokens[i]));
        ASSERT_EQ(json_pointer_step(&value, str_from(tokens[i])), 0);
    }
    ASSERT_TEXT(buf_text(&pointer), "/a~1b/m~0n/1/");
    ASSERT_STR(json_str(value), "deep");
    ASSERT_OK(json_pointer_find(doc, buf_str(&pointer), &found, &t->err));
    ASSERT(found == value);
    ASSERT_EQ(json_pointer_step(&value, STR("0")), -1);
    ASSERT(found == value);
}

TEST(json_pointer_tokens_have_a_limit)
{
    AUTO_JSON doc = parse(t, "{}");
    AUTO_BUF pointer = BUF_INIT(2 * JSON_POINTER_MAX);
    struct json_object *found;
    struct str rest = STR("/abc/d"), token;
    char small[4];

    ASSERT_EQ(json_pointer_next(&rest, small, sizeof(small), &token), 1);
    ASSERT_STR(token, "abc");
    ASSERT_STR(rest, "/d");
    rest = STR("/abcd");
    ASSERT_EQ(json_pointer_next(&rest, small, sizeof(small), &token), -1);
    buf_add_char(&pointer, '/');
    while (pointer.n < JSON_POINTER_MAX + 1)
        buf_add_char(&pointer, 'x');
    ASSERT_FAILS(json_pointer_find(doc, buf_str(&pointer), &found, &t->err), ERR_BAD_REQUEST);
    pointer.p[--pointer.n] = '\0';
    ASSERT_FAILS(json_pointer_find(doc, buf_str(&pointer), &found, &t->err), ERR_NOT_FOUND);
}

/* A table with a long name: the message is cut, the rest of it stays. */
TEST(json_read_bounds_its_messages)
{
    AUTO_BUF text = BUF_INIT(4096);
    AUTO_JSON doc = NULL;
    struct record r = { .on = false };

    buf_add_text(&text, "{\"name\":\"x\",\"");
    for (int i = 0; i < 2000; i++)
        buf_add_char(&text, 'k');
    buf_add_text(&text, "\":1}");
    doc = parse(t, buf_text(&text));
    ASSERT_FAILS(json_read(doc, record_fields, JSON_REFUSE_UNKNOWN, &r, &t->err),
                 ERR_SCHEMA_VIOLATION);
    ASSERT_CONTAINS(t->err.text, "unknown key; allowed are name, weight, on, tags, a/b~c, any");
}

TEST(json_read_takes_a_table_without_kind_for_our_mistake)
{
    static const struct json_field fields[] = { { .name = "x" }, { NULL } };
    AUTO_JSON doc = parse(t, "{\"x\":1}");
    int record = 0;

    ASSERT_FAILS(json_read(doc, fields, 0, &record, &t->err), ERR_INTERNAL);
}

/* Equal values have equal hashes; values that differ a little have others. */
TEST(json_hash_follows_json_equal)
{
    static const char *const same[][2] = {
        { "1", "1.0" },
        { "0", "-0.0" },
        { "100", "1e2" },
        { "{\"a\":1,\"b\":[2]}", "{\"b\":[2.0],\"a\":1}" },
        { "18446744073709551615", "18446744073709551615.0" },
        { "9007199254740993", "9007199254740993.0" },
        { "\"\\u00e9\"", "\"\xc3\xa9\"" },
    };
    static const char *const different[] = {
        "null",  "false",   "true",      "0",         "1",           "\"\"",
        "\"0\"", "[]",      "{}",        "[0]",       "[[]]",        "[null]",
        "[0,1]", "[1,0]",   "{\"a\":1}", "{\"a\":2}", "{\"b\":1}",   "{\"a\":null}",
        "\"a\"", "[\"a\"]", "{\"\":1}",  "[1,[0]]",   "{\"a\":[1]}", "{\"1\":\"a\"}",
        "0.5",   "-1",      "\"null\"",  "[true]",    "[false]",     "[{}]",
    };

    for (size_t i = 0; i < ARRAY_LEN(same); i++) {
        AUTO_JSON a = parse(t, same[i][0]);
        AUTO_JSON b = parse(t, same[i][1]);

        ASSERT(json_equal(a, b) && json_equal(b, a));
        ASSERT(json_hash(a) == json_hash(b));
    }
    for (size_t i = 0; i < ARRAY_LEN(different); i++) {
        for (size_t j = 0; j < i; j++) {
            AUTO_JSON a = parse(t, different[i]);
            AUTO_JSON b = parse(t, different[j]);

            if (json_equal(a, b) || json_equal(b, a) || json_hash(a) == json_hash(b))
                FAIL("%s and %s", different[i], different[j]);
        }
    }
}
