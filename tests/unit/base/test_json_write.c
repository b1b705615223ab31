/* SPDX-License-Identifier: MIT */
#include "base/json_write.h"

#include <math.h>

#include "base/alloc.h"
#include "base/json.h"
#include "dies.h"

TEST(json_writer_places_commas_and_colons)
{
    AUTO_BUF out = BUF_INIT(1024);
    struct json_writer w = JSON_WRITER(&out);

    json_write_object_begin(&w);
    json_write_key(&w, "a");
    json_write_array_begin(&w);
    json_write_i64(&w, INT64_MIN);
    json_write_u64(&w, UINT64_MAX);
    json_write_double(&w, 0.1);
    json_write_bool(&w, true);
    json_write_bool(&w, false);
    json_write_null(&w);
    json_write_text(&w, NULL);
    json_write_text(&w, "t");
    json_write_array_begin(&w);
    json_write_array_end(&w);
    json_write_object_begin(&w);
    json_write_object_end(&w);
    json_write_array_end(&w);
    json_write_key_str(&w, STR("b"));
    json_write_raw(&w, STR("{\"x\":1}"));
    json_write_object_end(&w);
    ASSERT_OK(json_write_end(&w));
    ASSERT_TEXT(buf_text(&out),
                "{\"a\":[-9223372036854775808,18446744073709551615,0.1,true,false,null,null,\"t\","
                "[],{}],\"b\":{\"x\":1}}");
}

TEST(json_writer_escapes_and_repairs_text)
{
    static const struct {
        struct str text;
        const char *expected;
    } cases[] = {
        { { "", 0 }, "\"\"" },
        { { "a\"b\\c/d", 7 }, "\"a\\\"b\\\\c/d\"" },
        { { "\b\f\n\r\t", 5 }, "\"\\b\\f\\n\\r\\t\"" },
        { { "\0\x01\x1f\x7f", 4 }, "\"\\u0000\\u0001\\u001f\x7f\"" },
        { { "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9 },
          "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"" },
        { { "a\xff"
            "b",
            3 },
          "\"a\xef\xbf\xbd"
          "b\"" },
        /* One replacement for each ill-formed part, as utf8_sanitise() does. */
        { { "\xe2\x82", 2 }, "\"\xef\xbf\xbd\"" },
        { { "\xed\xa0\x80", 3 }, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF out = BUF_INIT(256);
        AUTO_JSON back = NULL;

        json_quote(&out, cases[i].text);
        ASSERT_TEXT(buf_text(&out), cases[i].expected);
        ASSERT_OK(json_parse(buf_str(&out), &back, &t->err));
    }
}

/* Each byte at each place of texts of every length around the eight that are looked at at once. */
TEST(json_writer_finds_what_to_escape_wherever_it_stands)
{
    for (size_t n = 1; n <= 20; n++)
        for (size_t at = 0; at < n; at++)
            for (int c = 0; c < 128; c++) {
                AUTO_BUF out = BUF_INIT(256);
                AUTO_JSON back = NULL;
                char text[20];

                memset(text, 'x', n);
                text[at] = (char)c;
                json_quote(&out, str_of(text, n));
                ASSERT_EQ(out.n == n + 2, c >= 0x20 && c != '"' && c != '\\');
                ASSERT_OK(json_parse(buf_str(&out), &back, &t->err));
                ASSERT(str_eq(json_str(back), str_of(text, n)));
            }
}

TEST(json_writer_writes_integers_of_every_length)
{
    static const int64_t around[] = { 0, 9, 10, 99, 100, 999, 1000, 4294967295, 9007199254740993 };

    for (size_t i = 0; i < ARRAY_LEN(around); i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            AUTO_BUF out = BUF_INIT(64);
            struct json_writer w = JSON_WRITER(&out);
            int64_t back;

            json_write_i64(&w, sign * around[i]);
            ASSERT_OK(str_to_i64(buf_str(&out), &back));
            ASSERT_EQ(back, sign * around[i]);
        }
}

TEST(json_writer_writes_null_for_what_json_cannot_say)
{
    AUTO_BUF out = BUF_INIT(64);
    struct json_writer w = JSON_WRITER(&out);

    json_write_array_begin(&w);
    json_write_double(&w, NAN);
    json_write_double(&w, -INFINITY);
    json_write_array_end(&w);
    ASSERT_OK(json_write_end(&w));
    ASSERT_TEXT(buf_text(&out), "[null,null]");
}

TEST(json_writer_says_when_the_buffer_was_too_small)
{
    AUTO_BUF out = BUF_INIT(8);
    struct json_writer w = JSON_WRITER(&out);

    json_write_array_begin(&w);
    json_write_str(&w, STR("longer than eight"));
    json_write_array_end(&w);
    ASSERT_EQ(json_write_end(&w), -1);
}

TEST(json_writer_copies_parsed_values_with_their_numbers)
{
    static const char text[] = "{\"a\":[1,2.50,1E2,18446744073709551615,-5,true,null,\"\\u0000\"],"
                               "\"\xc3\xa9\":{}}";
    AUTO_BUF out = BUF_INIT(256);
    AUTO_JSON doc = NULL;
    struct json_writer w = JSON_WRITER(&out);

    ASSERT_OK(json_parse(str_from(text), &doc, &t->err));
    json_write_value(&w, doc);
    ASSERT_OK(json_write_end(&w));
    ASSERT_TEXT(buf_text(&out), text);
}

TEST(json_writer_formats_doubles_that_were_made_by_hand)
{
    AUTO_BUF out = BUF_INIT(256);
    AUTO_JSON made = json_object_new_double(0.1);
    struct json_writer w = JSON_WRITER(&out);

    json_write_value(&w, made);
    ASSERT_TEXT(buf_text(&out), "0.1");
}

/* Digits alone would be an integer beyond 64 bits to whoever reads them. */
TEST(json_writer_writes_big_doubles_so_that_they_are_read_back)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        { 0x1p63, "9223372036854776000" },
        { -0x1p63, "-9223372036854776000.0" },
        { 0x1.fffffffffffffp63, "18446744073709550000" },
        { 0x1p64, "18446744073709552000.0" },
        { -0x1p64, "-18446744073709552000.0" },
        { 123e18, "123000000000000000000.0" },
        { 999999999999999900000.0, "999999999999999900000.0" },
        { 1e21, "1e+21" },
        { -1e21, "-1e+21" },
        { 1e15, "1000000000000000" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF direct = BUF_INIT(64), made = BUF_INIT(64);
        AUTO_JSON value = json_object_new_double(cases[i].value);
        AUTO_JSON back = NULL;
        struct json_writer w = JSON_WRITER(&direct), w2 = JSON_WRITER(&made);

        json_write_double(&w, cases[i].value);
        json_write_value(&w2, value);
        ASSERT_TEXT(buf_text(&direct), cases[i].text);
        ASSERT_TEXT(buf_text(&made), cases[i].text);
        ASSERT_OK(json_parse(buf_str(&direct), &back, &t->err));
        ASSERT(json_object_get_double(back) == cases[i].value);
    }
}

/* One writer for all mistakes below; each runs in a process of its own. */
static struct buf mistaken = { .max = 4096 };
static struct json_writer mistake = { .out = &mistaken };

static void value_without_key(void)
{
    json_write_object_begin(&mistake);
    json_write_i64(&mistake, 1);
}

static void key_in_an_array(void)
{
    json_write_array_begin(&mistake);
    json_write_key(&mistake, "k");
}

static void key_after_key(void)
{
    json_write_object_begin(&mistake);
    json_write_key(&mistake, "a");
    json_write_key(&mistake, "b");
}

static void end_after_key(void)
{
    json_write_object_begin(&mistake);
    json_write_key(&mistake, "a");
    json_write_object_end(&mistake);
}

static void wrong_end(void)
{
    json_write_array_begin(&mistake);
    json_write_object_end(&mistake);
}

static void end_of_nothing(void)
{
    json_write_array_end(&mistake);
}

static void two_values(void)
{
    json_write_null(&mistake);
    json_write_null(&mistake);
}

static void not_closed(void)
{
    json_write_array_begin(&mistake);
    json_write_end(&mistake);
}

static void too_deep(void)
{
    for (int i = 0; i < JSON_WRITER_DEPTH; i++)
        json_write_array_begin(&mistake);
}

TEST(json_writer_takes_calls_out_of_order_for_bugs)
{
    void (*const mistakes[])(void) = { value_without_key, key_in_an_array, key_after_key,
                                       end_after_key,     wrong_end,       end_of_nothing,
                                       two_values,        not_closed,      too_deep };

    for (size_t i = 0; i < ARRAY_LEN(mistakes); i++)
        assert_dies(t, mistakes[i], "bug at ");
}

TEST(json_writer_goes_as_deep_as_it_says)
{
    AUTO_BUF out = BUF_INIT(4096);
    struct json_writer w = JSON_WRITER(&out);

    for (int i = 1; i < JSON_WRITER_DEPTH; i++)
        json_write_array_begin(&w);
    for (int i = 1; i < JSON_WRITER_DEPTH; i++)
        json_write_array_end(&w);
    ASSERT_EQ(json_write_end(&w), 0);
    ASSERT_EQ(out.n, 2 * (JSON_WRITER_DEPTH - 1));
}
