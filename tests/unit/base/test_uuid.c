/* SPDX-License-Identifier: MIT */
#include "base/uuid.h"

#include "base/alloc.h"
#include "harness/test.h"

#define NOON INT64_C(0x019a8a7b6c5d)

static void source_at(struct uuid_source *source, struct clock_fake *clock, struct rand_fake *rand)
{
    clock_fake_init(clock, NOON);
    rand_fake_init(rand, 42);
    uuid_source_init(source, &clock->clock, &rand->rand);
}

TEST(uuid_carries_time_version_and_variant)
{
    char text[UUID_TEXT_SIZE];
    struct uuid_source source;
    struct clock_fake clock;
    struct rand_fake rand;
    struct uuid uuid;

    source_at(&source, &clock, &rand);
    for (int i = 0; i < 1000; i++) {
        uuid_next_text(&source, text);
        ASSERT(str_starts(str_from(text), STR("019a8a7b-6c5d-7")));
        ASSERT(strchr("89ab", text[19]) != NULL);
        ASSERT_EQ(uuid_parse(str_from(text), &uuid), 0);
        ASSERT_EQ(uuid_version(uuid), 7);
        ASSERT_EQ(uuid_ms(uuid), NOON);
    }
}

TEST(uuid_grows_within_a_millisecond_and_when_the_clock_goes_back)
{
    struct uuid_source source;
    struct clock_fake clock;
    struct rand_fake rand;
    struct uuid last, next;

    source_at(&source, &clock, &rand);
    last = uuid_next(&source);
    for (int i = 0; i < 20000; i++) {
        if (i % 100 == 0)
            clock_set_wall(&clock, NOON + (i % 300) - 150);
        next = uuid_next(&source);
        ASSERT(memcmp(last.b, next.b, 16) < 0);
        last = next;
    }
}

TEST(uuid_that_overflows_its_random_bits_borrows_a_millisecond)
{
    struct uuid_source source;
    struct clock_fake clock;
    struct rand_fake rand;
    struct uuid last, next;

    source_at(&source, &clock, &rand);
    last = uuid_next(&source);
    source.last_low = (UINT64_C(1) << 62) - 1;
    next = uuid_next(&source);
    ASSERT_EQ(uuid_ms(next), NOON);
    source.last_high = 0xfff;
    source.last_low = (UINT64_C(1) << 62) - 1;
    last = next;
    next = uuid_next(&source);
    ASSERT_EQ(uuid_ms(next), NOON + 1);
    ASSERT(memcmp(last.b, next.b, 16) < 0);
}

TEST(uuid_clamps_times_that_do_not_fit)
{
    struct uuid_source source;
    struct clock_fake clock;
    struct rand_fake rand;

    source_at(&source, &clock, &rand);
    clock_set_wall(&clock, -5);
    ASSERT_EQ(uuid_ms(uuid_next(&source)), 0);
    clock_set_wall(&clock, INT64_MAX);
    ASSERT_EQ(uuid_ms(uuid_next(&source)), (INT64_C(1) << 48) - 1);
}

TEST(uuid_text_round_trips_through_parse)
{
    char text[UUID_TEXT_SIZE];
    struct uuid uuid;

    ASSERT_EQ(uuid_parse(STR("017F22E2-79B0-7CC3-98C4-DC0C0C07398F"), &uuid), 0);
    uuid_format(uuid, text);
    ASSERT_TEXT(text, "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"); /* RFC 9562, A.6 */
    ASSERT_EQ(uuid_ms(uuid), INT64_C(1645557742000));
    ASSERT_EQ(uuid_parse(STR("919108f7-52d1-4320-9bac-f847db4148a8"), &uuid), 0);
    ASSERT_EQ(uuid_version(uuid), 4);
    ASSERT_EQ(uuid_ms(uuid), -1);
}

TEST(uuid_parse_refuses_all_other_forms)
{
    static const char *const bad[] = {
        "",
        "017f22e2",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398ff",
        "017f22e279b07cc398c4dc0c0c07398f",
        "{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398g",
        "017f22e-279b0-7cc3-98c4-dc0c0c07398f",
        "017f22e2_79b0_7cc3_98c4_dc0c0c07398f",
        " 17f22e2-79b0-7cc3-98c4-dc0c0c07398f",
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ASSERT(!uuid_valid(str_from(bad[i])));
    ASSERT(!uuid_valid(STR_NONE));
    ASSERT(uuid_valid(STR("00000000-0000-0000-0000-000000000000")));
}

TEST(uuids_of_two_sources_do_not_meet)
{
    struct uuid_source a, b;

    uuid_source_init(&a, clock_system(), rand_system());
    uuid_source_init(&b, clock_system(), rand_system());
    for (int i = 0; i < 1000; i++) {
        struct uuid x = uuid_next(&a), y = uuid_next(&b);

        ASSERT(memcmp(x.b, y.b, 16) != 0);
    }
}

static void fill_zeros(struct rand *rand, void *ret_bytes, size_t n)
{
    (void)rand;
    memset(ret_bytes, 0, n);
}

TEST(uuids_differ_even_when_randomness_only_gives_zeros)
{
    struct rand zeros = { fill_zeros };
    struct uuid_source source;
    struct clock_fake clock;
    struct uuid last;

    clock_fake_init(&clock, 1700000000000);
    uuid_source_init(&source, &clock.clock, &zeros);
    last = uuid_next(&source);
    for (int i = 0; i < 1000; i++) {
        struct uuid next = uuid_next(&source);

        ASSERT(memcmp(next.b, last.b, sizeof(last.b)) > 0);
        ASSERT_EQ(uuid_ms(next), 1700000000000);
        last = next;
    }
}
