/* Whether numbers below a limit are even, by chi-square over a fixed seed, and which draws are
 * refused.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/rand.h"
#include "harness/test.h"

#define BUCKETS_MAX 64

static double chi_square(const unsigned *seen, size_t buckets, size_t draws)
{
    double expected = (double)draws / (double)buckets, sum = 0;

    for (size_t i = 0; i < buckets; i++)
        sum += ((double)seen[i] - expected) * ((double)seen[i] - expected) / expected;
    return sum;
}

TEST(rand_below_is_even_for_every_small_limit)
{
    struct rand_fake rand;

    rand_fake_init(&rand, 2026);
    for (uint64_t limit = 2; limit <= BUCKETS_MAX; limit++) {
        unsigned seen[BUCKETS_MAX] = { 0 };
        size_t draws = 500 * (size_t)limit;
        double freedom = (double)(limit - 1), sum;

        for (size_t i = 0; i < draws; i++)
            seen[rand_below(&rand.rand, limit)]++;
        sum = chi_square(seen, limit, draws);
        /* Mean k, variance 2k: (sum - k)^2 < 25 * 2k is five standard deviations. Too even is as
         * suspect, but few degrees of freedom reach down to 0. */
        if (sum > freedom && (sum - freedom) * (sum - freedom) > 50 * freedom + 100)
            FAIL("limit %d: chi-square %f", (int)limit, sum);
    }
}

TEST(rand_below_is_even_where_a_plain_remainder_would_not_be)
{
    /* Of 2^64 values a remainder by 3 * 2^62 would hit the lower third twice as often. */
    uint64_t limit = UINT64_C(3) << 62;
    unsigned seen[3] = { 0 };
    struct rand_fake rand;

    rand_fake_init(&rand, 5);
    for (int i = 0; i < 30000; i++) {
        uint64_t value = rand_below(&rand.rand, limit);

        ASSERT(value < limit);
        seen[value >> 62]++;
    }
    ASSERT(chi_square(seen, 3, 30000) < 30); /* two degrees of freedom: one in three million */
}

TEST(rand_fake_bits_are_even)
{
    unsigned ones[64] = { 0 };
    struct rand_fake rand;

    rand_fake_init(&rand, 6);
    for (int i = 0; i < 10000; i++) {
        uint64_t value = rand_u64(&rand.rand);

        for (int bit = 0; bit < 64; bit++)
            ones[bit] += value >> bit & 1;
    }
    for (int bit = 0; bit < 64; bit++)
        ASSERT(ones[bit] > 4750 && ones[bit] < 5250); /* five standard deviations */
}

/* Gives the listed words, one after the other. */
struct rand_list {
    struct rand rand;
    const uint64_t *words;
    size_t at;
};

static void fill_list(struct rand *rand, void *ret_bytes, size_t n)
{
    struct rand_list *list = (struct rand_list *)rand;
    uint8_t *p = ret_bytes;

    ASSERT_EQ(n, 8);
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(list->words[list->at] >> (8 * i));
    list->at++;
}

TEST(rand_below_draws_again_for_the_values_too_many)
{
    static const struct {
        uint64_t limit, words[3];
        size_t draws;
        uint64_t result;
    } cases[] = {
        { 10, { 5, 16, 99 }, 2, 6 }, /* 2^64 mod 10 is 6: 0 .. 5 are drawn again */
        { 10, { 0, 5, 6 }, 3, 6 },
        { 10, { 6, 0, 0 }, 1, 6 },
        { 10, { UINT64_MAX, 0, 0 }, 1, 5 },
        { 16, { 0, 1, 2 }, 1, 0 }, /* a power of two wastes nothing */
        { 1, { 7, 0, 0 }, 1, 0 },
        { UINT64_MAX, { 0, 1, 0 }, 2, 1 },
        { UINT64_MAX, { UINT64_MAX, 1, 0 }, 1, 0 },
        { UINT64_C(1) << 63, { UINT64_MAX, 0, 0 }, 1, (UINT64_C(1) << 63) - 1 },
        { (UINT64_C(1) << 63) + 1,
          { (UINT64_C(1) << 63) - 2, UINT64_C(1) << 63, 0 },
          2,
          UINT64_C(1) << 63 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rand_list list = { { fill_list }, cases[i].words, 0 };
        uint64_t result = rand_below(&list.rand, cases[i].limit);

        if (result != cases[i].result || list.at != cases[i].draws)
            FAIL("case %zu: %ju after %zu draws", i, (uintmax_t)result, list.at);
    }
}

TEST(rand_u64_reads_the_lowest_byte_first)
{
    struct rand_fake a, b;
    uint8_t bytes[8];
    uint64_t value;

    rand_fake_init(&a, 13);
    rand_fake_init(&b, 13);
    rand_fill(&a.rand, bytes, sizeof(bytes));
    value = rand_u64(&b.rand);
    for (size_t i = 0; i < sizeof(bytes); i++)
        ASSERT_EQ(bytes[i], value >> (8 * i) & 0xff);
}

TEST(rand_fill_touches_no_byte_beyond)
{
    struct rand_fake fake;

    rand_fake_init(&fake, 1);
    for (size_t n = 0; n <= 40; n++) {
        uint8_t bytes[64];

        memset(bytes, 0xa5, sizeof(bytes));
        rand_fill(&fake.rand, bytes + 8, n);
        rand_fill(rand_system(), bytes + 8, n);
        for (size_t i = 0; i < sizeof(bytes); i++)
            if (i < 8 || i >= 8 + n)
                ASSERT_EQ(bytes[i], 0xa5);
    }
}
