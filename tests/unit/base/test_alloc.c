/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"

#include <stdlib.h>

#include "dies.h"

TEST(alloc_gives_zeroed_memory_even_for_nothing)
{
    AUTO_TEXT none = alloc_zero(0, 8);
    AUTO_TEXT some = alloc_zero(3, 100);

    ASSERT(none != NULL);
    for (int i = 0; i < 300; i++)
        ASSERT_EQ(some[i], 0);
}

TEST(alloc_resize_keeps_the_bytes_and_takes_null)
{
    AUTO_TEXT p = alloc_resize(NULL, 4, 1);

    memcpy(p, "abc", 4);
    p = alloc_resize(p, 100000, 1);
    ASSERT_TEXT(p, "abc");
    p = alloc_resize(p, 0, 1);
    ASSERT(p != NULL);
}

TEST(alloc_copies_end_with_nul_and_may_hold_one)
{
    AUTO_TEXT copy = alloc_copy("a\0b", 3);
    AUTO_TEXT empty = alloc_copy(NULL, 0);
    AUTO_TEXT text = alloc_text("text");

    ASSERT(memcmp(copy, "a\0b", 4) == 0);
    ASSERT_TEXT(empty, "");
    ASSERT_TEXT(text, "text");
}

struct thing {
    int *freed;
};

static void thing_free(struct thing *thing)
{
    if (thing)
        (*thing->freed)++;
    free(thing);
}
AUTO_DEFINE(thing)

static struct thing *make(int *freed, bool keep)
{
    AUTO(thing) thing = NEW(struct thing);

    thing->freed = freed;
    return keep ? TAKE(thing) : NULL;
}

TEST(alloc_auto_frees_unless_taken)
{
    int freed = 0;
    struct thing *kept;

    ASSERT(make(&freed, false) == NULL);
    ASSERT_EQ(freed, 1);
    kept = make(&freed, true);
    ASSERT_EQ(freed, 1);
    thing_free(kept);
    ASSERT_EQ(freed, 2);
}

/* Sizes that the compiler does not know, or it would warn. */
static volatile size_t huge = SIZE_MAX;

static void zero_too_much(void)
{
    free(alloc_zero(huge, 2));
}

static void zero_more_than_there_is(void)
{
    free(alloc_zero(huge / 4, 1));
}

static void resize_too_much(void)
{
    free(alloc_resize(NULL, huge, huge));
}

static void copy_too_much(void)
{
    free(alloc_copy("", huge));
}

static void copy_more_than_there_is(void)
{
    free(alloc_copy("", huge / 4));
}

TEST(alloc_aborts_when_memory_is_exhausted_or_a_size_overflows)
{
    void (*const acts[])(void) = { zero_too_much, zero_more_than_there_is, resize_too_much,
                                   copy_too_much, copy_more_than_there_is };

    for (size_t i = 0; i < ARRAY_LEN(acts); i++)
        assert_dies(t, acts[i], "dormouse: out of memory: ");
}

static void stumble(void)
{
    BUG("%s at step %d", "stumbled", 3);
}

static void break_a_promise(void)
{
    BUG_IF(huge > 1);
}

TEST(bug_says_where_and_what)
{
    assert_dies(t, stumble, "test_alloc.c:");
    assert_dies(t, stumble, ": stumbled at step 3\n");
    assert_dies(t, break_a_promise, ": huge > 1\n");
    BUG_IF(huge == 0);
}
