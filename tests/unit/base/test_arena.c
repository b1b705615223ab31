/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include "base/alloc.h"
#include "base/rand.h"
#include "dies.h"

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

TEST(arena_allocations_never_overlap)
{
    AUTO_ARENA a = ARENA_INIT;
    char *all[300];
    size_t sizes[300], sum = 0;

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        sizes[i] = (i * 7919) % 6000;
        all[i] = arena_alloc(&a, sizes[i], 1);
        memset(all[i], (int)(i & 0x7f), sizes[i]);
        sum += sizes[i];
    }
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        for (size_t j = 0; j < sizes[i]; j++)
            ASSERT_EQ(all[i][j], i & 0x7f);
    ASSERT(a.total >= sum && a.total < sum + ARRAY_LEN(all) * _Alignof(max_align_t));
}

TEST(arena_reset_keeps_one_chunk_and_reuses_it)
{
    AUTO_ARENA a = ARENA_INIT;
    void *first, *large;

    arena_reset(&a);
    ASSERT(a.chunks == NULL);
    first = arena_alloc(&a, 10, 1);
    arena_reset(&a);
    ASSERT(arena_alloc(&a, 10, 1) == first);
    /* Of several a larger one, which holds more the next time. */
    large = arena_alloc(&a, 4000, 1);
    arena_reset(&a);
    ASSERT(arena_alloc(&a, 4000, 1) == large);
    arena_release(&a);
    /* A chunk that was made for one big request is not kept. */
    arena_alloc(&a, 1 << 20, 1);
    arena_reset(&a);
    ASSERT(a.chunks == NULL);
    arena_release(&a);
    ASSERT_EQ(a.total, 0);
}

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>

TEST(arena_poisons_what_was_not_handed_out_or_has_ended)
{
    AUTO_ARENA a = ARENA_INIT;
    char *p = arena_alloc(&a, 32, 1);

    ASSERT(!__asan_address_is_poisoned(p + 31));
    ASSERT(__asan_address_is_poisoned(p + 32));
    arena_reset(&a);
    ASSERT(__asan_address_is_poisoned(p));
    ASSERT(arena_alloc(&a, 16, 1) == p);
    ASSERT(!__asan_address_is_poisoned(p));
    ASSERT(__asan_address_is_poisoned(p + 16));
}
#endif

static volatile size_t huge = SIZE_MAX;

static void overflow(void)
{
    AUTO_ARENA a = ARENA_INIT;

    arena_alloc(&a, huge / 2, 3);
}

static void too_much(void)
{
    AUTO_ARENA a = ARENA_INIT;

    arena_alloc(&a, huge / 2 + 1, 1);
}

TEST(arena_refuses_sizes_that_overflow)
{
    assert_dies(t, overflow, "arena: ");
    assert_dies(t, too_much, "arena: ");
}

/* Every block keeps its own bytes, whatever is allocated around it, round after round. */
TEST(arena_blocks_keep_what_was_written)
{
    enum { BLOCKS = 300 };
    AUTO_ARENA a = ARENA_INIT;
    unsigned char *blocks[BLOCKS];
    size_t sizes[BLOCKS];
    struct rand_fake rand;

    rand_fake_init(&rand, 4);
    for (int round = 0; round < 20; round++) {
        size_t least = 0;

        for (int i = 0; i < BLOCKS; i++) {
            size_t n = rand_below(&rand.rand, 40), size = rand_below(&rand.rand, 64) + 1;

            sizes[i] = n * size;
            blocks[i] = arena_alloc(&a, n, size);
            ASSERT(blocks[i] != NULL);
            ASSERT_EQ((uintptr_t)blocks[i] % _Alignof(max_align_t), 0);
            for (size_t j = 0; j < sizes[i]; j++)
                ASSERT_EQ(blocks[i][j], 0);
            if (sizes[i])
                memset(blocks[i], i % 255 + 1, sizes[i]);
            least += sizes[i];
        }
        for (int i = 0; i < BLOCKS; i++)
            for (size_t j = 0; j < sizes[i]; j++)
                ASSERT_EQ(blocks[i][j], i % 255 + 1);
        ASSERT(a.total >= least);
        arena_reset(&a);
        ASSERT_EQ(a.total, 0);
    }
}

TEST(arena_text_of_any_length_is_terminated_and_its_own)
{
    AUTO_ARENA a = ARENA_INIT;
    char source[300];

    memset(source, 'x', sizeof(source));
    for (size_t n = 0; n < sizeof(source); n++) {
        char *copy = arena_copy(&a, source, n);
        struct str view = arena_str(&a, str_of(source, n));
        char *printed = arena_printf(&a, "%.*s", (int)n, source);

        ASSERT_EQ(strlen(copy), n);
        ASSERT_EQ(strlen(printed), n);
        ASSERT(str_eq(view, str_of(source, n)));
        ASSERT(copy != source && (n == 0 || view.p != source));
        copy[0] = n ? 'y' : '\0';
        ASSERT(n == 0 || (printed[0] == 'x' && view.p[0] == 'x' && source[0] == 'x'));
    }
}

TEST(arena_lists_grow_and_keep_what_they_have)
{
    AUTO_ARENA arena = ARENA_INIT;
    int *list = NULL;
    const int *before;
    size_t n = 0, cap = 0, moves = 0;

    for (int i = 0; i < 1000; i++) {
        before = list;
        ARENA_ROOM(&arena, list, n, cap);
        moves += list != before;
        ASSERT(n < cap);
        list[n++] = i;
    }
    for (int i = 0; i < 1000; i++)
        ASSERT_EQ(list[i], i);
    ASSERT_EQ(moves, 7); /* 8, 24, 56, 120, 248, 504, 1016 */
    ASSERT_EQ(cap, 1016);
}
