/* SPDX-License-Identifier: MIT */
#include "base/str.h"

#include "base/rand.h"
#include "harness/test.h"

TEST(str_compares_bytes_and_lengths)
{
    ASSERT(str_eq(STR("a\0b"), str_of("a\0b", 3)));
    ASSERT(!str_eq(STR("a"), STR("ab")));
    ASSERT(str_eq(STR_NONE, STR("")));
    ASSERT(str_cmp(STR("a"), STR("ab")) < 0);
    ASSERT(str_cmp(STR("b"), STR("ab")) > 0);
    ASSERT_EQ(str_cmp(STR_NONE, STR("")), 0);
    ASSERT(str_eq_nocase(STR("Content-Type"), STR("content-type")));
    ASSERT(!str_eq_nocase(STR("\xc3\x84"), STR("\xc3\xa4")));
}

TEST(str_finds_and_cuts)
{
    struct str s = STR("memory/knowledge");

    ASSERT(str_starts(s, STR("memory/")));
    ASSERT(!str_starts(STR("me"), STR("memory")));
    ASSERT(str_ends(s, STR("ledge")));
    ASSERT_EQ(str_find(s, STR("know")), 7);
    ASSERT_EQ(str_find(s, STR("none")), -1);
    ASSERT_EQ(str_find(s, STR("")), 0);
    ASSERT_EQ(str_find_char(s, '/'), 6);
    ASSERT_STR(str_trim(STR(" \t x y\r\n")), "x y");
    ASSERT_STR(str_trim(STR(" \n ")), "");
    ASSERT_EQ(str_skip(STR("abc"), 9).n, 0);
}

TEST(str_split_returns_empty_fields_and_ends)
{
    struct str rest = STR("a,,b,"), field;

    ASSERT(str_split(&rest, ',', &field));
    ASSERT_STR(field, "a");
    ASSERT(str_split(&rest, ',', &field));
    ASSERT_STR(field, "");
    ASSERT(str_split(&rest, ',', &field));
    ASSERT_STR(field, "b");
    ASSERT(str_split(&rest, ',', &field));
    ASSERT_STR(field, "");
    ASSERT(!str_split(&rest, ',', &field));
}

TEST(str_reads_whole_numbers_and_refuses_the_rest)
{
    int64_t i;
    uint64_t u;

    ASSERT_EQ(str_to_i64(STR("-9223372036854775808"), &i), 0);
    ASSERT(i == INT64_MIN);
    ASSERT_EQ(str_to_i64(STR("9223372036854775807"), &i), 0);
    ASSERT(i == INT64_MAX);
    ASSERT_EQ(str_to_u64(STR("18446744073709551615"), &u), 0);
    ASSERT(u == UINT64_MAX);
    ASSERT_EQ(str_to_u64(STR("18446744073709551616"), &u), -1);
    ASSERT_EQ(str_to_i64(STR("9223372036854775808"), &i), -1);
    ASSERT_EQ(str_to_i64(STR("-9223372036854775809"), &i), -1);
    ASSERT_EQ(str_to_i64(STR(""), &i), -1);
    ASSERT_EQ(str_to_i64(STR("-"), &i), -1);
    ASSERT_EQ(str_to_i64(STR(" 1"), &i), -1);
    ASSERT_EQ(str_to_i64(STR("1x"), &i), -1);
    ASSERT_EQ(str_to_u64(STR("-1"), &u), -1);
}

TEST(str_parts_of_nothing_are_nothing)
{
    struct str rest = STR_NONE, field = STR("kept");

    ASSERT(str_from(NULL).p == NULL && str_from(NULL).n == 0);
    ASSERT(str_skip(STR_NONE, 3).p == NULL);
    ASSERT_EQ(str_take(STR_NONE, 3).n, 0);
    ASSERT_EQ(str_trim(STR_NONE).n, 0);
    ASSERT_EQ(str_find(STR_NONE, STR("a")), -1);
    ASSERT_EQ(str_find(STR_NONE, STR_NONE), 0);
    ASSERT_EQ(str_find_char(STR_NONE, 'a'), -1);
    ASSERT(str_starts(STR_NONE, STR_NONE) && str_ends(STR("a"), STR_NONE));
    ASSERT(!str_split(&rest, ',', &field));
    ASSERT_STR(field, "kept");
    rest = STR("");
    ASSERT(str_split(&rest, ',', &field));
    ASSERT_STR(field, "");
    ASSERT(!str_split(&rest, ',', &field));
}

TEST(str_compare_is_by_unsigned_bytes)
{
    static const char *const ascending[] = { "",   "\x01", "A",    "a",    "aa",
                                             "ab", "b",    "\x7f", "\x80", "\xff" };

    for (size_t i = 0; i < sizeof(ascending) / sizeof(*ascending); i++) {
        for (size_t j = 0; j < sizeof(ascending) / sizeof(*ascending); j++) {
            int r = str_cmp(str_from(ascending[i]), str_from(ascending[j]));

            ASSERT_EQ((r > 0) - (r < 0), (i > j) - (i < j));
            ASSERT_EQ(str_eq(str_from(ascending[i]), str_from(ascending[j])), i == j);
        }
    }
    ASSERT(str_cmp(STR("a\0a"), STR("a\0b")) < 0);
}

TEST(str_nocase_knows_ascii_letters_only)
{
    for (int c = 0; c < 256; c++) {
        char a[1] = { (char)c }, b[1] = { (char)(c ^ 0x20) };
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        ASSERT(str_eq_nocase(str_of(a, 1), str_of(a, 1)));
        ASSERT_EQ(str_eq_nocase(str_of(a, 1), str_of(b, 1)), letter);
    }
    ASSERT(!str_eq_nocase(STR("a"), STR("ab")));
}

TEST(str_trim_takes_ascii_white_space_only)
{
    for (int c = 0; c < 256; c++) {
        char text[3] = { (char)c, 'x', (char)c };
        bool space = c == ' ' || (c >= '\t' && c <= '\r');

        ASSERT_EQ(str_trim(str_of(text, 3)).n, space ? 1 : 3);
    }
    ASSERT_STR(str_trim(STR("a b")), "a b");
}

TEST(str_finds_at_the_edges)
{
    ASSERT_EQ(str_find(STR("abc"), STR("abc")), 0);
    ASSERT_EQ(str_find(STR("abc"), STR("c")), 2);
    ASSERT_EQ(str_find(STR("ab"), STR("abc")), -1);
    ASSERT_EQ(str_find(STR("a\0b"), STR("\0b")), 1);
    ASSERT_EQ(str_find_char(STR("a\0b"), '\0'), 1);
    ASSERT_EQ(str_find_char(STR("abc"), 'c'), 2);
    ASSERT(str_ends(STR("abc"), STR("abc")) && !str_ends(STR("bc"), STR("abc")));
    ASSERT(!str_starts(STR("abc"), STR("abd")) && !str_ends(STR("abc"), STR("bbc")));
}

TEST(str_numbers_leave_the_result_alone_when_refused)
{
    static const char *const bad[] = {
        "", "-", "+1", "1 ", "0x1", "1e3", "1.0", "--1", "/", ":", "99999999999999999999"
    };
    int64_t i = 7;
    uint64_t u = 7;

    for (size_t n = 0; n < sizeof(bad) / sizeof(*bad); n++) {
        ASSERT_EQ(str_to_i64(str_from(bad[n]), &i), -1);
        ASSERT_EQ(str_to_u64(str_from(bad[n]), &u), -1);
        ASSERT(i == 7 && u == 7);
    }
    ASSERT_EQ(str_to_i64(STR("-0"), &i), 0);
    ASSERT_EQ(i, 0);
    ASSERT_EQ(str_to_u64(STR("007"), &u), 0);
    ASSERT_EQ(u, 7);
}

/* Few letters, so that random texts often share parts. */
static struct str random_text(struct rand *rand, char *out, size_t max)
{
    size_t n = rand_below(rand, max + 1);

    for (size_t i = 0; i < n; i++)
        out[i] = "ab,\0"[rand_below(rand, 4)];
    return str_of(out, n);
}

static ptrdiff_t naive_find(struct str s, struct str needle)
{
    for (size_t i = 0; i + needle.n <= s.n; i++)
        if (needle.n == 0 || memcmp(s.p + i, needle.p, needle.n) == 0)
            return (ptrdiff_t)i;
    return -1;
}

TEST(str_finds_what_a_plain_search_finds)
{
    struct rand_fake rand;
    char a[24], b[4];

    rand_fake_init(&rand, 1);
    for (int round = 0; round < 50000; round++) {
        struct str s = random_text(&rand.rand, a, sizeof(a));
        struct str part = random_text(&rand.rand, b, sizeof(b));
        ptrdiff_t at = naive_find(s, part);

        ASSERT_EQ(str_find(s, part), at);
        ASSERT_EQ(str_find_char(s, ','), naive_find(s, STR(",")));
        ASSERT_EQ(str_starts(s, part), at == 0);
        ASSERT_EQ(str_ends(s, part),
                  part.n <= s.n && naive_find(str_skip(s, s.n - part.n), part) == 0);
    }
}

TEST(str_split_and_joined_is_the_text)
{
    struct rand_fake rand;
    char text[24];

    rand_fake_init(&rand, 2);
    for (int round = 0; round < 20000; round++) {
        struct str s = random_text(&rand.rand, text, sizeof(text)), rest = s, field;
        char joined[64];
        size_t n = 0, fields = 0;

        while (str_split(&rest, ',', &field)) {
            ASSERT_EQ(str_find_char(field, ','), -1);
            if (fields++)
                joined[n++] = ',';
            memcpy(joined + n, field.p, field.n);
            n += field.n;
        }
        ASSERT(str_eq(str_of(joined, n), s));
    }
}

TEST(str_taken_and_skipped_are_the_whole)
{
    struct str s = STR("abcdef");

    for (size_t n = 0; n < 10; n++) {
        struct str head = str_take(s, n), tail = str_skip(s, n);

        ASSERT_EQ(head.n, n < 6 ? n : 6);
        ASSERT_EQ(head.n + tail.n, 6);
        ASSERT(head.p == s.p && tail.p == s.p + head.n);
    }
}

TEST(hex_digits_have_values_and_nothing_else_has)
{
    static const char digits[] = "0123456789abcdef";

    for (int c = -200; c < 400; c++) {
        int expected = -1;

        for (int i = 0; i < 16; i++)
            if (c == digits[i] || (i >= 10 && c == digits[i] - 'a' + 'A'))
                expected = i;
        ASSERT_EQ(hex_digit(c), expected);
    }
}
