/* Number text against ECMAScript's, and exact arithmetic.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/json_number.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/json.h"
#include "harness/test.h"

static double from_bits(uint64_t bits)
{
    double d;

    memcpy(&d, &bits, sizeof(d));
    return d;
}

/* RFC 8785, appendix B. */
TEST(json_number_formats_the_samples_of_rfc_8785)
{
    static const struct {
        uint64_t bits;
        const char *text;
    } cases[] = {
        { 0x0000000000000000, "0" },
        { 0x8000000000000000, "0" },
        { 0x0000000000000001, "5e-324" },
        { 0x8000000000000001, "-5e-324" },
        { 0x7fefffffffffffff, "1.7976931348623157e+308" },
        { 0xffefffffffffffff, "-1.7976931348623157e+308" },
        { 0x4340000000000000, "9007199254740992" },
        { 0xc340000000000000, "-9007199254740992" },
        { 0x4430000000000000, "295147905179352830000" },
        { 0x44b52d02c7e14af5, "9.999999999999997e+22" },
        { 0x44b52d02c7e14af6, "1e+23" },
        { 0x44b52d02c7e14af7, "1.0000000000000001e+23" },
        { 0x444b1ae4d6e2ef4e, "999999999999999700000" },
        { 0x444b1ae4d6e2ef4f, "999999999999999900000" },
        { 0x444b1ae4d6e2ef50, "1e+21" },
        { 0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7" },
        { 0x3eb0c6f7a0b5ed8d, "0.000001" },
        { 0x41b3de4355555553, "333333333.3333332" },
        { 0x41b3de4355555554, "333333333.33333325" },
        { 0x41b3de4355555555, "333333333.3333333" },
        { 0x41b3de4355555556, "333333333.3333334" },
        { 0x41b3de4355555557, "333333333.33333343" },
        { 0xbecbf647612f3696, "-0.0000033333333333333333" },
        { 0x43143ff3c1cb0959, "1424953923781206.2" },
        { 0x3d30000000000000, "5.684341886080802e-14" },
    };
    char text[JSON_NUMBER_MAX];

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t n = json_number_format(from_bits(cases[i].bits), text);

        ASSERT_TEXT(text, cases[i].text);
        ASSERT_EQ(n, strlen(text));
    }
}

/* data/es6_numbers.txt: bits and text of 2000 doubles (powers of two, subnormals, any bits, short
 * decimals) as a JavaScript engine prints them. */
TEST(json_number_formats_as_a_javascript_engine_does)
{
    struct str all = test_read_file(
        t, arena_printf(&t->arena, "%s/tests/unit/base/data/es6_numbers.txt", test_source_root()));
    struct str line;
    size_t lines = 0;

    while (str_split(&all, '\n', &line)) {
        char text[JSON_NUMBER_MAX], expected[JSON_NUMBER_MAX + 1];
        unsigned long long bits;

        if (line.n == 0)
            continue;
        ASSERT_EQ(sscanf(line.p, "%16llx %32s", &bits, expected), 2);
        json_number_format(from_bits(bits), text);
        ASSERT_TEXT(text, expected);
        ASSERT(json_number_read(text) == from_bits(bits));
        lines++;
    }
    ASSERT_EQ(lines, 2000);
}

TEST(json_number_does_not_depend_on_the_locale)
{
    char text[JSON_NUMBER_MAX];

    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
        SKIP("no locale with a decimal comma is installed");
    json_number_format(0.5, text);
    ASSERT_TEXT(text, "0.5");
    ASSERT(json_number_read("2.5") == 2.5);
}

/* Every digit fewer would read back as another double: shortest, checked by brute force. */
TEST(json_number_text_cannot_be_shorter)
{
    uint64_t seed = 88172645463325252u;

    for (int i = 0; i < 3000; i++) {
        char text[JSON_NUMBER_MAX], shorter[64];
        int digits = 0;
        double d;

        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        d = fabs(from_bits(seed));
        if (!isfinite(d) || d == 0)
            continue;
        json_number_format(d, text);
        ASSERT(json_number_read(text) == d);
        for (const char *p = text; *p && *p != 'e'; p++)
            digits += *p >= '0' && *p <= '9';
        if (digits < 3)
            continue;
        if (strchr(text, 'e')) {
            snprintf(shorter, sizeof(shorter), "%.*e", digits - 2, d);
            ASSERT(json_number_read(shorter) != d);
        }
    }
}

static struct json_object *number(struct test *t, const char *text)
{
    struct json_object *value = NULL;

    ASSERT_OK(json_parse_flags(str_from(text), JSON_BIG_INTEGERS, &value, &t->err));
    return value;
}

TEST(json_number_compares_exactly)
{
    static const char *const ascending[] = {
        "-1e308",
        "-123456789012345678901234567891",
        "-123456789012345678901234567890",
        "-9223372036854775808",
        "-1.5",
        "-1",
        "-1e-400",
        "0",
        "1e-400",
        "4.9e-324",
        "5e-324",
        "1.1e-310",
        "1.10000000000001e-310",
        "0.1",
        "0.1000000000000000055511151231257827",
        "1",
        "1.00000000000000000001",
        "1.5",
        "9007199254740992",
        "9007199254740993",
        "9007199254740993.5",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551614",
        "18446744073709551615",
        "18446744073709551616",
        "123456789012345678901234567890",
        "123456789012345678901234567891",
        "1e308",
    };

    for (size_t i = 0; i < ARRAY_LEN(ascending); i++) {
        for (size_t j = 0; j < ARRAY_LEN(ascending); j++) {
            AUTO_JSON a = number(t, ascending[i]);
            AUTO_JSON b = number(t, ascending[j]);
            int r = json_number_cmp(a, b), expected = (i > j) - (i < j);

            if ((r > 0) - (r < 0) != expected)
                FAIL("%s against %s gives %d", ascending[i], ascending[j], r);
        }
    }
}

TEST(json_number_divides_exactly)
{
    static const struct {
        const char *value, *divisor;
        bool multiple;
    } cases[] = {
        { "10", "5", true },
        { "10", "3", false },
        { "-10", "5", true },
        { "0", "0.01", true },
        { "0.0", "3", true },
        { "19.99", "0.01", true },
        { "0.0075", "0.0001", true },
        { "0.00751", "0.0001", false },
        { "4.35", "0.01", true },
        { "4.5", "1.5", true },
        { "35", "1.5", false },
        { "12391239123", "1e-8", true },
        { "1e308", "0.5", true },
        { "1e308", "0.123456789", false },
        { "1e308", "1e-308", true },
        { "1e-308", "1e308", false },
        { "1e100", "18446744073709551615", false },
        { "18446744073709551615", "5", true },
        { "18446744073709551615", "18446744073709551615", true },
        { "18446744073709551614", "18446744073709551615", false },
        { "246913578024691357802469135780", "123456789012345678901234567890", true },
        { "246913578024691357802469135781", "123456789012345678901234567890", false },
        { "1e300", "1267650600228229401496703205376", true },
        { "3e300", "3.0000000000000000000000000001", false },
        { "7", "1e-999999999", true },
        { "0.3", "0.1", true },
        { "-9223372036854775808", "2", true },
        { "1e15", "1000000007", false },
        { "5", "10", false },
        { "50", "0.25", true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON value = number(t, cases[i].value);
        AUTO_JSON divisor = number(t, cases[i].divisor);

        if (json_number_is_multiple(value, divisor) != cases[i].multiple)
            FAIL("%s by %s", cases[i].value, cases[i].divisor);
    }
}

TEST(json_number_knows_integers_by_value)
{
    static const struct {
        const char *text;
        bool integer;
    } cases[] = {
        { "1", true },       { "1.0", true },
        { "1e2", true },     { "1.5", false },
        { "1e308", true },   { "15e-1", false },
        { "10e-1", true },   { "1.0000000000000000000001", false },
        { "1e-400", false }, { "0e5", true },
        { "-0.0", true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON value = number(t, cases[i].text);

        if (json_number_is_integer(value) != cases[i].integer)
            FAIL("%s", cases[i].text);
    }
    ASSERT(!json_number_is_integer(NULL));
}

TEST(json_number_gives_int64_exactly_or_not_at_all)
{
    static const struct {
        const char *text, *value; /* NULL: it is none */
    } cases[] = {
        { "0", "0" },
        { "-0.0", "0" },
        { "0e99", "0" },
        { "-1.0", "-1" },
        { "12e2", "1200" },
        { "1200e-2", "12" },
        { "1.5e1", "15" },
        { "9007199254740993.0", "9007199254740993" },
        { "-9007199254740993.0", "-9007199254740993" },
        { "9223372036854775807", "9223372036854775807" },
        { "9223372036854775807.0", "9223372036854775807" },
        { "9223372036854775807000e-3", "9223372036854775807" },
        { "-9223372036854775808.0", "-9223372036854775808" },
        { "1e18", "1000000000000000000" },
        { "9223372036854775808.0", NULL },
        { "9223372036854775808", NULL },
        { "-9223372036854775809", NULL },
        { "-9223372036854775809.0", NULL },
        { "18446744073709551615", NULL },
        { "1e19", NULL },
        { "1e300", NULL },
        { "1e-300", NULL },
        { "0.5", NULL },
        { "9007199254740993.5", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON value = number(t, cases[i].text);
        int64_t got = 77;
        bool found = json_number_i64(value, &got);

        if (found != (cases[i].value != NULL))
            FAIL("%s", cases[i].text);
        ASSERT_TEXT(arena_printf(&t->arena, "%lld", (long long)got), found ? cases[i].value : "77");
    }
}

/* Made by code, numbers have no text of their own. */
TEST(json_number_text_is_what_was_parsed_or_the_shortest)
{
    static const char *const kept[] = { "1.50",
                                        "1E5",
                                        "-0.0",
                                        "123456789012345678901234567890",
                                        "18446744073709551615",
                                        "-9223372036854775808" };
    AUTO_JSON half = json_object_new_double(0.5);
    AUTO_JSON big = json_object_new_uint64(UINT64_MAX);
    AUTO_JSON least = json_object_new_int64(INT64_MIN);
    char out[JSON_NUMBER_MAX];

    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        AUTO_JSON value = number(t, kept[i]);

        ASSERT_TEXT(json_number_text(value, out), kept[i]);
    }
    ASSERT_TEXT(json_number_text(half, out), "0.5");
    ASSERT_TEXT(json_number_text(big, out), "18446744073709551615");
    ASSERT_TEXT(json_number_text(least, out), "-9223372036854775808");
    ASSERT(!json_number_is_integer(half));
    ASSERT_EQ(json_number_cmp(big, half), 1);
}
