/* SPDX-License-Identifier: MIT */
#include "base/rand.h"

#include "harness/test.h"

TEST(rand_system_fills_every_byte_of_big_and_small_requests)
{
    static uint8_t bytes[100000];
    unsigned seen[256] = { 0 };

    rand_fill(rand_system(), bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++)
        seen[bytes[i]]++;
    /* Each value is expected 390 times; 200 is nine standard deviations off. */
    for (int i = 0; i < 256; i++)
        ASSERT(seen[i] > 200 && seen[i] < 600);
    rand_fill(rand_system(), bytes, 0);
    ASSERT(rand_u64(rand_system()) != rand_u64(rand_system()));
}

TEST(rand_fake_repeats_for_a_seed_and_differs_between_seeds)
{
    struct rand_fake a, b, c;

    rand_fake_init(&a, 7);
    rand_fake_init(&b, 7);
    rand_fake_init(&c, 8);
    for (int i = 0; i < 100; i++) {
        uint64_t value = rand_u64(&a.rand);

        ASSERT(value == rand_u64(&b.rand));
        ASSERT(value != rand_u64(&c.rand));
    }
}

TEST(rand_fake_gives_the_published_xoshiro_sequence)
{
    struct rand_fake fake;

    rand_fake_init(&fake, 0);
    fake.state[0] = 1, fake.state[1] = 2, fake.state[2] = 3, fake.state[3] = 4;
    ASSERT(rand_u64(&fake.rand) == 11520);
    ASSERT(rand_u64(&fake.rand) == 0);
    ASSERT(rand_u64(&fake.rand) == 1509978240);
    ASSERT(rand_u64(&fake.rand) == 1215971899390074240);
}

TEST(rand_fake_stream_does_not_depend_on_how_it_is_cut)
{
    uint8_t whole[64], pieces[64];
    struct rand_fake a, b;
    size_t at = 0;

    rand_fake_init(&a, 3);
    rand_fake_init(&b, 3);
    rand_fill(&a.rand, whole, sizeof(whole));
    for (size_t n = 1; at < sizeof(pieces); at += n, n = n % 7 + 1) {
        if (n > sizeof(pieces) - at)
            n = sizeof(pieces) - at;
        rand_fill(&b.rand, pieces + at, n);
    }
    ASSERT(memcmp(whole, pieces, sizeof(whole)) == 0);
}

TEST(rand_below_reaches_every_value_and_none_else)
{
    unsigned seen[7] = { 0 };
    struct rand_fake fake;

    rand_fake_init(&fake, 1);
    for (int i = 0; i < 7000; i++) {
        uint64_t value = rand_below(&fake.rand, 7);

        ASSERT(value < 7);
        seen[value]++;
    }
    for (int i = 0; i < 7; i++)
        ASSERT(seen[i] > 800 && seen[i] < 1200);
    ASSERT_EQ(rand_below(&fake.rand, 1), 0);
    ASSERT(rand_below(&fake.rand, UINT64_MAX) < UINT64_MAX);
}
