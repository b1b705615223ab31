/* SPDX-License-Identifier: MIT */
#include "base/tokens.h"
#include "harness/test.h"

TEST(tokens_of_nothing_are_none)
{
    ASSERT_EQ(tokens_estimate(STR("")), 0);
    ASSERT_EQ(tokens_estimate(STR_NONE), 0);
}

TEST(tokens_of_any_text_are_at_least_one)
{
    ASSERT_EQ(tokens_estimate(STR("a")), 1);
    ASSERT_EQ(tokens_estimate(STR("\x80")), 1);
}

TEST(tokens_count_four_letters_as_one)
{
    ASSERT_EQ(tokens_estimate(STR("abcdefghijkl")), 4);
}

TEST(tokens_count_other_scripts_higher)
{
    ASSERT_EQ(tokens_estimate(STR("日本語")), 3);
    ASSERT(tokens_estimate(STR("ζζζζζζζζ")) > tokens_estimate(STR("zzzzzzzz")));
}

TEST(tokens_never_fall_when_text_grows)
{
    static const char text[] = "plain, ünïcødé, 日本語, and \xff\xfe bytes that are no text at all";
    int64_t last = 0;

    for (size_t n = 0; n < sizeof(text); n++) {
        int64_t now = tokens_estimate((struct str){ text, n });

        ASSERT(now >= last);
        last = now;
    }
}
