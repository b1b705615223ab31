/* SPDX-License-Identifier: MIT */
#include "serve/range.h"

#include "base/alloc.h"
#include "harness/test.h"

TEST(a_range_is_a_part_of_the_file)
{
    static const struct {
        const char *header;
        size_t from, n;
    } parts[] = {
        { "bytes=0-0", 0, 1 },
        { "bytes=0-", 0, 100 },
        { "bytes=10-19", 10, 10 },
        { "bytes=99-", 99, 1 },
        { "bytes=90-1000", 90, 10 },
        { "bytes=-1", 99, 1 },
        { "bytes=-100", 0, 100 },
        { "bytes=-1000", 0, 100 },
        { "Bytes=5-5", 5, 1 },
        { "bytes=5-99999999999999999999999999", 5, 95 },
        { "bytes=-99999999999999999999999999", 0, 100 },
    };

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        struct range range;

        ASSERT_EQ(range_parse(str_from(parts[i].header), 100, &range), 1);
        ASSERT_EQ(range.from, parts[i].from);
        ASSERT_EQ(range.n, parts[i].n);
    }
}

TEST(a_range_beyond_the_file_can_not_be_given)
{
    struct range range;

    ASSERT_EQ(range_parse(STR("bytes=100-"), 100, &range), -1);
    ASSERT_EQ(range_parse(STR("bytes=100-200"), 100, &range), -1);
    ASSERT_EQ(range_parse(STR("bytes=99999999999999999999999-"), 100, &range), -1);
    ASSERT_EQ(range_parse(STR("bytes=-0"), 100, &range), -1);
    ASSERT_EQ(range_parse(STR("bytes=-5"), 0, &range), -1);
    ASSERT_EQ(range_parse(STR("bytes=0-"), 0, &range), -1);
}

TEST(what_is_no_single_range_means_the_whole)
{
    static const char *const others[] = {
        "",          "bytes",       "bytes=",     "bytes=-",     "items=0-1",
        "bytes=5",   "bytes=a-",    "bytes=5-4",  "bytes=+1-2",  "bytes=1-2,4-5",
        "bytes=--1", "bytes=1-2-3", "bytes=1 -2", "bytes=0x1-2", "bytes=-1,-2",
    };
    struct range range;

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        ASSERT_EQ(range_parse(str_from(others[i]), 100, &range), 0);
}
