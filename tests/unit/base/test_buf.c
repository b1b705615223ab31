/* SPDX-License-Identifier: MIT */
#include "base/buf.h"

#include "base/alloc.h"
#include "harness/test.h"

TEST(buf_grows_and_stays_terminated)
{
    AUTO_BUF b = BUF_INIT(1000);

    ASSERT_TEXT(buf_text(&b), "");
    for (int i = 0; i < 100; i++)
        ASSERT_EQ(buf_printf(&b, "%d,", i % 10), 0);
    ASSERT_EQ(b.n, 200);
    ASSERT_EQ(strlen(buf_text(&b)), 200);
}

TEST(buf_refuses_what_passes_its_cap_and_keeps_the_rest)
{
    AUTO_BUF b = BUF_INIT(5);

    ASSERT_EQ(buf_add_text(&b, "12345"), 0);
    ASSERT_EQ(buf_add_char(&b, '6'), -1);
    ASSERT(b.full);
    ASSERT_TEXT(buf_text(&b), "12345");
    buf_clear(&b);
    ASSERT_EQ(buf_add_text(&b, "1"), 0);
    ASSERT_EQ(buf_add_text(&b, "23456"), -1);
    ASSERT_EQ(buf_add_text(&b, "2"), -1);
    ASSERT(buf_reserve(&b, SIZE_MAX) == NULL);
}

TEST(buf_consume_removes_the_front)
{
    AUTO_BUF b = BUF_INIT(100);

    buf_add_text(&b, "hello world");
    buf_consume(&b, 6);
    ASSERT_TEXT(buf_text(&b), "world");
    buf_consume(&b, 5);
    ASSERT_TEXT(buf_text(&b), "");
}

TEST(buf_take_hands_over_even_when_empty)
{
    AUTO_BUF b = BUF_INIT(100);
    AUTO_TEXT first = NULL;
    AUTO_TEXT second = NULL;

    buf_add_text(&b, "text");
    first = buf_take(&b);
    second = buf_take(&b);
    ASSERT_TEXT(first, "text");
    ASSERT_TEXT(second, "");
}
