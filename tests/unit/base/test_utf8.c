/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/rand.h"
#include "harness/test.h"

/* Decodes by the definition: by value ranges, not by byte ranges as the code under test does. */
static int slow_decode(const unsigned char *p, size_t n, uint32_t *ret_code)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    int bytes = p[0] < 0x80       ? 1
                : p[0] >> 5 == 6  ? 2
                : p[0] >> 4 == 14 ? 3
                : p[0] >> 3 == 30 ? 4
                                  : 0;
    uint32_t code;

    if (bytes == 0 || (size_t)bytes > n)
        return -1;
    code = bytes == 1 ? p[0] : p[0] & (0x7Fu >> bytes);
    for (int i = 1; i < bytes; i++) {
        if (p[i] >> 6 != 2)
            return -1;
        code = code << 6 | (p[i] & 0x3F);
    }
    if (code < least[bytes] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return -1;
    *ret_code = code;
    return bytes;
}

TEST(utf8_encode_and_decode_agree_on_every_code_point)
{
    for (uint32_t code = 0; code < 0x110000; code++) {
        char bytes[4];
        size_t n = utf8_encode(code, bytes);
        struct str rest = str_of(bytes, n);
        uint32_t back = 0, slow = 0;

        if (code >= 0xD800 && code <= 0xDFFF) {
            ASSERT_EQ(n, 0);
            continue;
        }
        ASSERT_EQ(slow_decode((unsigned char *)bytes, n, &slow), (int)n);
        ASSERT_EQ(slow, code);
        ASSERT(utf8_valid(rest));
        ASSERT_EQ(utf8_decode(&rest, &back), 0);
        ASSERT_EQ(back, code);
        ASSERT_EQ(rest.n, 0);
    }
    ASSERT_EQ(utf8_encode(0x110000, (char[4]){ 0 }), 0);
    ASSERT_EQ(utf8_encode(UINT32_MAX, (char[4]){ 0 }), 0);
}

TEST(utf8_decode_agrees_with_the_definition_on_random_bytes)
{
    /* Bytes near the limits, so that most sequences are almost right. */
    static const unsigned char pool[] = { 0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F,
                                          0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0,
                                          0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF };
    struct rand_fake rand;

    rand_fake_init(&rand, 5);
    for (int i = 0; i < 200000; i++) {
        unsigned char bytes[4];
        struct str rest = str_of((char *)bytes, sizeof(bytes));
        uint32_t code = 0, slow = 0;
        int expected;

        for (size_t k = 0; k < sizeof(bytes); k++)
            bytes[k] = pool[rand_below(&rand.rand, sizeof(pool))];
        expected = slow_decode(bytes, sizeof(bytes), &slow);
        if (expected < 0) {
            ASSERT_EQ(utf8_decode(&rest, &code), -1);
            ASSERT(rest.n < 4);
        } else {
            ASSERT_EQ(utf8_decode(&rest, &code), 0);
            ASSERT_EQ(code, slow);
            ASSERT_EQ(4 - rest.n, expected);
        }
    }
}

TEST(utf8_valid_refuses_overlong_surrogate_and_cut_sequences)
{
    static const char *const bad[] = {
        "\x80",
        "\xBF",
        "\xC0\xAF",
        "\xC1\xBF",
        "\xE0\x80\xAF",
        "\xE0\x9F\xBF",
        "\xED\xA0\x80",
        "\xED\xBF\xBF",
        "\xF0\x80\x80\xAF",
        "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80",
        "\xFE",
        "\xFF",
        "\xC3",
        "\xE2\x82",
        "\xF0\x9F\x98",
        "\xC3(",
        "\xE2\x28\xA1",
        "\xF8\x88\x80\x80\x80",
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        char padded[64];

        ASSERT(!utf8_valid(str_from(bad[i])));
        snprintf(padded, sizeof(padded), "eleven char%s and more", bad[i]);
        ASSERT(!utf8_valid(str_from(padded)));
        ASSERT_EQ(utf8_valid_prefix(str_from(padded)), 11);
    }
    ASSERT(utf8_valid(STR_NONE));
    ASSERT(utf8_valid(STR("plain \0 ascii longer than eight bytes")));
    ASSERT(utf8_valid(STR("žluťoučký kůň, 日本語, 😀")));
}

TEST(utf8_count_counts_code_points)
{
    ASSERT_EQ(utf8_count(STR_NONE), 0);
    ASSERT_EQ(utf8_count(STR("abc")), 3);
    ASSERT_EQ(utf8_count(STR("é日😀")), 3);
    ASSERT_EQ(utf8_count(STR("a\xE2\x82z\xFF")), 4);
}

TEST(utf8_truncate_never_cuts_a_code_point)
{
    struct str s = STR("aé日😀z");

    for (size_t max = 0; max <= s.n + 2; max++) {
        struct str cut = utf8_truncate(s, max);

        ASSERT(cut.n <= max);
        ASSERT(utf8_valid(cut));
        ASSERT(cut.n + UTF8_MAX_BYTES > max || cut.n == s.n);
    }
    ASSERT_EQ(utf8_truncate(STR("日本"), 2).n, 0);
    ASSERT_EQ(utf8_truncate(STR("日本"), 5).n, 3);
    ASSERT_EQ(utf8_truncate(STR("\x80\x80\x80\x80\x80\x80\x80"), 5).n, 5);
}

TEST(utf8_sanitise_replaces_each_ill_formed_part_once)
{
    AUTO_BUF out = BUF_INIT(100);
    AUTO_BUF small = BUF_INIT(4);

    /* The example of the Unicode standard, table 3-8. */
    ASSERT_EQ(utf8_sanitise(STR("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64"), &out), 0);
    ASSERT_TEXT(buf_text(&out), "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd");
    buf_clear(&out);
    ASSERT_EQ(utf8_sanitise(STR("déjà vu"), &out), 0);
    ASSERT_TEXT(buf_text(&out), "déjà vu");
    ASSERT_EQ(utf8_sanitise(STR("\xFF\xFF"), &small), -1);
    ASSERT(utf8_valid(buf_str(&small)));
}

TEST(utf8_oddity_names_what_a_reader_does_not_see)
{
    static const struct {
        uint32_t code;
        enum utf8_oddity oddity;
    } cases[] = {
        { 'a', UTF8_PLAIN },        { ' ', UTF8_PLAIN },        { 0x00E9, UTF8_PLAIN },
        { 0x65E5, UTF8_PLAIN },     { 0x1F600, UTF8_PLAIN },    { 0x00, UTF8_CONTROL },
        { '\n', UTF8_CONTROL },     { 0x1B, UTF8_CONTROL },     { 0x7F, UTF8_CONTROL },
        { 0x85, UTF8_CONTROL },     { 0x2028, UTF8_CONTROL },   { 0x202E, UTF8_BIDI },
        { 0x200F, UTF8_BIDI },      { 0x2066, UTF8_BIDI },      { 0x061C, UTF8_BIDI },
        { 0x200B, UTF8_HIDDEN },    { 0xFEFF, UTF8_HIDDEN },    { 0xE0041, UTF8_HIDDEN },
        { 0x00AD, UTF8_HIDDEN },    { 0xFE0F, UTF8_HIDDEN },    { 0x3164, UTF8_HIDDEN },
        { 0x00A0, UTF8_ODD_SPACE }, { 0x2003, UTF8_ODD_SPACE }, { 0x3000, UTF8_ODD_SPACE },
        { 0xE000, UTF8_PRIVATE },   { 0x10FFFD, UTF8_PRIVATE }, { 0xFFFE, UTF8_INVALID },
        { 0xFDD0, UTF8_INVALID },   { 0x1FFFF, UTF8_INVALID },  { 0x110000, UTF8_INVALID },
        { 0x200A, UTF8_ODD_SPACE }, { 0x2010, UTF8_PLAIN },     { 0x2070, UTF8_PLAIN },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (utf8_oddity_of(cases[i].code) != cases[i].oddity)
            FAIL("U+%04X is called a %s", cases[i].code,
                 utf8_oddity_name(utf8_oddity_of(cases[i].code)));
}

/* Each run of them by its first and last, so that none is missing and none ends early. */
TEST(utf8_oddities_begin_and_end_where_unicode_says)
{
    static const struct {
        uint32_t first, last;
        enum utf8_oddity oddity;
    } runs[] = {
        { 0x0000, 0x001F, UTF8_CONTROL },     { 0x007F, 0x009F, UTF8_CONTROL },
        { 0x00A0, 0x00A0, UTF8_ODD_SPACE },   { 0x00AD, 0x00AD, UTF8_HIDDEN },
        { 0x034F, 0x034F, UTF8_HIDDEN },      { 0x061C, 0x061C, UTF8_BIDI },
        { 0x115F, 0x1160, UTF8_HIDDEN },      { 0x1680, 0x1680, UTF8_ODD_SPACE },
        { 0x17B4, 0x17B5, UTF8_HIDDEN },      { 0x180B, 0x180F, UTF8_HIDDEN },
        { 0x2000, 0x200A, UTF8_ODD_SPACE },   { 0x200B, 0x200D, UTF8_HIDDEN },
        { 0x200E, 0x200F, UTF8_BIDI },        { 0x2028, 0x2029, UTF8_CONTROL },
        { 0x202A, 0x202E, UTF8_BIDI },        { 0x202F, 0x202F, UTF8_ODD_SPACE },
        { 0x205F, 0x205F, UTF8_ODD_SPACE },   { 0x2060, 0x2065, UTF8_HIDDEN },
        { 0x2066, 0x2069, UTF8_BIDI },        { 0x206A, 0x206F, UTF8_HIDDEN },
        { 0x2800, 0x2800, UTF8_HIDDEN },      { 0x3000, 0x3000, UTF8_ODD_SPACE },
        { 0x3164, 0x3164, UTF8_HIDDEN },      { 0xE000, 0xF8FF, UTF8_PRIVATE },
        { 0xFDD0, 0xFDEF, UTF8_INVALID },     { 0xFE00, 0xFE0F, UTF8_HIDDEN },
        { 0xFEFF, 0xFEFF, UTF8_HIDDEN },      { 0xFFA0, 0xFFA0, UTF8_HIDDEN },
        { 0xFFF0, 0xFFFB, UTF8_HIDDEN },      { 0x1BCA0, 0x1BCA3, UTF8_HIDDEN },
        { 0x1D159, 0x1D159, UTF8_HIDDEN },    { 0x1D173, 0x1D17A, UTF8_HIDDEN },
        { 0xE0000, 0xE0FFF, UTF8_HIDDEN },    { 0xF0000, 0xFFFFD, UTF8_PRIVATE },
        { 0x100000, 0x10FFFD, UTF8_PRIVATE },
    };

    for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
        bool joined = i > 0 && runs[i - 1].last + 1 == runs[i].first;

        if (utf8_oddity_of(runs[i].first) != runs[i].oddity ||
            utf8_oddity_of(runs[i].last) != runs[i].oddity ||
            (runs[i].first && !joined && utf8_oddity_of(runs[i].first - 1) == runs[i].oddity))
            FAIL("U+%04X to U+%04X", runs[i].first, runs[i].last);
    }
}

TEST(utf8_find_odd_looks_only_for_what_is_asked)
{
    struct str s = STR("tab\tand \u202Ebidi\u200B\xFF");
    uint32_t code = 0;
    size_t at = 0;

    ASSERT_EQ(utf8_find_odd(s, ~0u, &at, &code), UTF8_CONTROL);
    ASSERT_EQ(at, 3);
    ASSERT_EQ(utf8_find_odd(s, 1u << UTF8_BIDI, &at, &code), UTF8_BIDI);
    ASSERT_EQ(at, 8);
    ASSERT_EQ(code, 0x202E);
    ASSERT_EQ(utf8_find_odd(s, 1u << UTF8_HIDDEN, &at, NULL), UTF8_HIDDEN);
    ASSERT_EQ(utf8_find_odd(s, 1u << UTF8_INVALID, &at, &code), UTF8_INVALID);
    ASSERT_EQ(at, s.n - 1);
    ASSERT_EQ(utf8_find_odd(s, 1u << UTF8_PRIVATE, NULL, NULL), UTF8_PLAIN);
}

TEST(one_line_for_a_person_steers_nothing)
{
    static const struct {
        const char *text, *line;
    } cases[] = {
        { "", "" },
        { "plain \u00e4 \u4f60 \U0001F600", "plain \u00e4 \u4f60 \U0001F600" },
        { "a\nb\tc\rd", "a b c d" },
        { "a\033[2Jb\x7F", "a [2Jb " },
        { "a\xC2\x9B"
          "2Jb",
          "a 2Jb" },
        { "a\u2028b\u202Ec\u2066d\u200Fe", "a b c d e" },
        { "a\xFF\xC3", "a\uFFFD\uFFFD" },
        { "a\u200Bb", "a\u200Bb" }, /* unseen, and steers nothing */
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF out = BUF_INIT(100);

        ASSERT_EQ(utf8_one_line(str_from(cases[i].text), &out), 0);
        ASSERT_TEXT(buf_text(&out), cases[i].line);
    }
    {
        AUTO_BUF small = BUF_INIT(3);

        ASSERT_EQ(utf8_one_line(STR("abc"), &small), 0);
        ASSERT_EQ(utf8_one_line(STR("d"), &small), -1);
        ASSERT_TEXT(buf_text(&small), "abc");
    }
}
