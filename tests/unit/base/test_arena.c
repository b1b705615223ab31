/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include "harness/test.h"

TEST(arena_memory_is_zeroed_and_aligned)
{
    AUTO_ARENA a = ARENA_INIT;

    for (size_t n = 1; n < 5000; n += 37) {
        char *p = arena_alloc(&a, n, 1);

        ASSERT_EQ((uintptr_t)p % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < n; i++)
            ASSERT_EQ(p[i], 0);
        memset(p, 0xff, n);
    }
}

TEST(arena_reset_zeroes_again_and_drops_big_chunks)
{
    AUTO_ARENA a = ARENA_INIT;
    char *p;

    memset(arena_alloc(&a, 100, 1), 0xff, 100);
    memset(arena_alloc(&a, 100000, 1), 0xff, 100000);
    arena_reset(&a);
    ASSERT_EQ(a.total, 0);
    p = arena_alloc(&a, 100, 1);
    for (int i = 0; i < 100; i++)
        ASSERT_EQ(p[i], 0);
}

TEST(arena_copies_and_formats_text)
{
    AUTO_ARENA a = ARENA_INIT;

    ASSERT_TEXT(arena_printf(&a, "%s-%d", "x", 7), "x-7");
    ASSERT_TEXT(arena_text(&a, "abc"), "abc");
    ASSERT_STR(arena_str(&a, STR("view")), "view");
    ASSERT_TEXT(arena_copy(&a, NULL, 0), "");
}
