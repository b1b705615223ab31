/* RFC 8785: its own examples, and properties over generated documents.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json_canonical.h"

#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/limits.h"
#include "harness/test.h"

static const char *canon(struct test *t, const char *text)
{
    AUTO_JSON doc = NULL;
    AUTO_BUF out = BUF_INIT(LIMIT_JSON_BYTES);

    ASSERT_OK(json_parse(str_from(text), &doc, &t->err));
    ASSERT_OK(json_canonical(doc, &out, &t->err));
    return arena_text(&t->arena, buf_text(&out));
}

/* Section 3.2.2. */
TEST(json_canonical_gives_the_text_of_the_rfc_example)
{
    ASSERT_TEXT(
        canon(t, "{\"numbers\": [333333333.33333329, 1E30, 4.50, 2e-3,\n"
                 "0.000000000000000000000000001],\n"
                 "\"string\": \"\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\\"\\/\",\n"
                 "\"literals\": [null, true, false]}"),
        "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
        "\"string\":\"\xe2\x82\xac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
}

/* Section 3.2.3. */
TEST(json_canonical_sorts_keys_by_utf16_code_units)
{
    ASSERT_TEXT(
        canon(t, "{\"\\u20ac\":\"Euro Sign\",\"\\r\":\"Carriage Return\","
                 "\"\\ufb33\":\"Hebrew Letter Dalet With Dagesh\",\"1\":\"One\","
                 "\"\\ud83d\\ude00\":\"Emoji: Grinning Face\",\"\\u0080\":\"Control\","
                 "\"\\u00f6\":\"Latin Small Letter O With Diaeresis\"}"),
        "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\xc2\x80\":\"Control\","
        "\"\xc3\xb6\":\"Latin Small Letter O With Diaeresis\",\"\xe2\x82\xac\":\"Euro Sign\","
        "\"\xf0\x9f\x98\x80\":\"Emoji: Grinning Face\","
        "\"\xef\xac\xb3\":\"Hebrew Letter Dalet With Dagesh\"}");
}

TEST(json_canonical_sorts_prefixes_and_nested_objects)
{
    ASSERT_TEXT(canon(t, "{\"ab\":{\"b\":1,\"a\":[{\"d\":1,\"c\":2}]},\"a\":2,\"\":0,\"B\":3}"),
                "{\"\":0,\"B\":3,\"a\":2,\"ab\":{\"a\":[{\"c\":2,\"d\":1}],\"b\":1}}");
    ASSERT_TEXT(canon(t, " [ ] "), "[]");
    ASSERT_TEXT(canon(t, "null"), "null");
    ASSERT_TEXT(canon(t, "-0.0"), "0");
    ASSERT_TEXT(
        canon(t, "[1.0,10,1e0,-5,1152921504606847000,9007199254740992,1152921504606846976.0]"),
        "[1,10,1,-5,1152921504606847000,9007199254740992,1152921504606847000]");
}

TEST(json_canonical_refuses_values_that_would_share_a_text)
{
    static const char *const bad[] = { "9007199254740993", "[18446744073709551615]",
                                       "9223372036854775807", "1152921504606846976",
                                       "123456789012345678901234567890" };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO_JSON doc = NULL;
        AUTO_BUF out = BUF_INIT(256);

        ASSERT_OK(json_parse_flags(str_from(bad[i]), JSON_BIG_INTEGERS, &doc, &t->err));
        ASSERT_FAILS(json_canonical(doc, &out, &t->err), ERR_BAD_REQUEST);
        ASSERT_CONTAINS(t->err.text, "send it as a string");
    }
}

TEST(json_canonical_refuses_values_made_by_hand_that_are_no_json)
{
    AUTO_JSON text = json_object_new_string("\xff");
    AUTO_JSON infinite = json_object_new_double(INFINITY);
    AUTO_JSON deep = NULL;
    AUTO_BUF out = BUF_INIT(4096);
    AUTO_BUF tiny = BUF_INIT(2);
    AUTO_JSON three = json_object_new_int(123);

    ASSERT_FAILS(json_canonical(text, &out, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(json_canonical(infinite, &out, &t->err), ERR_BAD_REQUEST);
    for (int i = 0; i < LIMIT_JSON_DEPTH + 1; i++) {
        struct json_object *outer = json_object_new_array();

        json_object_array_add(outer, deep);
        deep = outer;
    }
    ASSERT_FAILS(json_canonical(deep, &out, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(json_canonical(three, &tiny, &t->err), ERR_TOO_LARGE);
}

static uint64_t seed = 1;

static unsigned pick(unsigned n)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (unsigned)((seed >> 11) % n);
}

static void random_string(struct buf *out)
{
    static const char *const parts[] = { "a",
                                         "Z",
                                         "\\n",
                                         "\\u0007",
                                         "\xc3\xa9",
                                         "\xef\xbf\xbf",
                                         "\xf0\x9f\x98\x80",
                                         "\\ud834\\udd1e",
                                         "\\\"",
                                         "/",
                                         "" };

    buf_add_char(out, '"');
    for (unsigned n = pick(4); n > 0; n--)
        buf_add_text(out, parts[pick(ARRAY_LEN(parts))]);
    buf_printf(out, "%u\"", pick(1000000));
}

static void random_value(struct buf *out, int depth)
{
    unsigned n = pick(4);

    switch (depth > 5 ? 2 + pick(4) : pick(6)) {
    case 0:
        buf_add_char(out, '{');
        for (unsigned i = 0; i < n; i++) {
            if (i)
                buf_add_text(out, " ,");
            random_string(out);
            buf_add_text(out, "\t:");
            random_value(out, depth + 1);
        }
        buf_add_char(out, '}');
        break;
    case 1:
        buf_add_char(out, '[');
        for (unsigned i = 0; i < n; i++) {
            if (i)
                buf_add_text(out, ",\n");
            random_value(out, depth + 1);
        }
        buf_add_char(out, ']');
        break;
    case 2:
        random_string(out);
        break;
    case 3:
        buf_printf(out, "%s%u", pick(2) ? "-" : "", pick(4000000000u));
        break;
    case 4:
        buf_printf(out, "%u.%ue%d", pick(100), pick(1000000000u), (int)pick(600) - 300);
        break;
    default:
        buf_add_text(out, pick(3) == 0 ? "null" : pick(2) ? "true" : "false");
    }
}

/* The canonical text means the same value, is a fixed point, and does not see the order of keys. */
TEST(json_canonical_is_a_fixed_point_and_keeps_the_value)
{
    for (int i = 0; i < 2000; i++) {
        AUTO_BUF text = BUF_INIT(LIMIT_JSON_BYTES);
        AUTO_BUF once = BUF_INIT(LIMIT_JSON_BYTES);
        AUTO_BUF twice = BUF_INIT(LIMIT_JSON_BYTES);
        AUTO_JSON doc = NULL;
        AUTO_JSON again = NULL;

        random_value(&text, 0);
        /* Generated keys may collide; that is the parser's business, not this test's. */
        if (json_parse(buf_str(&text), &doc, &t->err) < 0)
            continue;
        ASSERT_OK(json_canonical(doc, &once, &t->err));
        ASSERT_OK(json_parse_flags(buf_str(&once), JSON_BIG_INTEGERS, &again, &t->err));
        ASSERT_OK(json_canonical(again, &twice, &t->err));
        ASSERT_TEXT(buf_text(&twice), buf_text(&once));
    }
}
