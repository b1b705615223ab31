/* SPDX-License-Identifier: MIT */
#include "base/str.h"

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
