/* UUIDs under clocks and randomness that do their worst, and every damaged text.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/alloc.h"
#include "base/uuid.h"
#include "harness/test.h"

#define NOON     INT64_C(1700000000000)
#define LOW_MAX  ((UINT64_C(1) << 62) - 1)
#define HIGH_MAX UINT64_C(0xfff)
#define MS_MAX   ((INT64_C(1) << 48) - 1)

/* Gives one byte again and again. */
struct rand_byte {
    struct rand rand;
    uint8_t byte;
};

static void fill_byte(struct rand *rand, void *ret_bytes, size_t n)
{
    memset(ret_bytes, ((struct rand_byte *)rand)->byte, n);
}

static int order(struct uuid a, struct uuid b)
{
    return memcmp(a.b, b.b, sizeof(a.b));
}

TEST(uuid_grows_under_random_jumps_of_the_clock)
{
    struct uuid_source source;
    struct clock_fake clock;
    struct rand_fake rand, jumps;
    struct uuid last;
    int64_t latest = NOON;

    clock_fake_init(&clock, NOON);
    rand_fake_init(&rand, 1);
    rand_fake_init(&jumps, 2);
    uuid_source_init(&source, &clock.clock, &rand.rand);
    last = uuid_next(&source);
    for (int i = 0; i < 20000; i++) {
        int64_t now = NOON + (int64_t)rand_below(&jumps.rand, 200000) - 100000;
        struct uuid next;

        clock_set_wall(&clock, now);
        latest = now > latest ? now : latest;
        next = uuid_next(&source);
        ASSERT(order(last, next) < 0);
        ASSERT_EQ(uuid_ms(next), latest); /* never behind, never ahead of what was seen */
        last = next;
    }
}

TEST(uuid_text_sorts_like_its_bytes)
{
    struct uuid_source source;
    struct clock_fake clock;
    struct rand_fake rand;
    char last[UUID_TEXT_SIZE], next[UUID_TEXT_SIZE];

    clock_fake_init(&clock, NOON);
    rand_fake_init(&rand, 3);
    uuid_source_init(&source, &clock.clock, &rand.rand);
    uuid_next_text(&source, last);
    for (int i = 0; i < 5000; i++) {
        if (i % 10 == 0)
            clock_set_wall(&clock, NOON + i * 97);
        uuid_next_text(&source, next);
        ASSERT(strcmp(last, next) < 0);
        memcpy(last, next, sizeof(last));
    }
}

TEST(uuid_carries_from_the_low_bits_into_the_high_ones)
{
    struct rand_byte ones = { { fill_byte }, 0xff };
    struct uuid_source source;
    struct clock_fake clock;
    struct uuid before, after;

    clock_fake_init(&clock, NOON);
    uuid_source_init(&source, &clock.clock, &ones.rand);
    uuid_next(&source);
    source.last_high = 0x123;
    source.last_low = LOW_MAX - 0xffffffff; /* the greatest step, 2^32, passes the top by one */
    before = uuid_next(&source);
    ASSERT_EQ(source.last_high, 0x124);
    ASSERT_EQ(source.last_low, 0);
    ASSERT_EQ(uuid_ms(before), NOON);
    source.last_low = LOW_MAX - 0x100000000;
    after = uuid_next(&source);
    ASSERT_EQ(source.last_high, 0x124);
    ASSERT(source.last_low == LOW_MAX);
    ASSERT(order(before, after) < 0);
}

TEST(uuid_that_ran_over_goes_on_in_the_borrowed_millisecond)
{
    struct rand_byte zeros = { { fill_byte }, 0 };
    struct uuid_source source;
    struct clock_fake clock;
    struct uuid last, next;

    clock_fake_init(&clock, NOON);
    uuid_source_init(&source, &clock.clock, &zeros.rand);
    last = uuid_next(&source);
    for (int i = 1; i <= 5; i++) {
        source.last_high = HIGH_MAX;
        source.last_low = LOW_MAX;
        next = uuid_next(&source);
        ASSERT_EQ(uuid_ms(next), NOON + i);
        ASSERT(order(last, next) < 0);
        last = next;
    }
    /* The clock comes to where the ids are already: still no step back, no jump ahead. */
    clock_set_wall(&clock, NOON + 5);
    next = uuid_next(&source);
    ASSERT_EQ(uuid_ms(next), NOON + 5);
    ASSERT(order(last, next) < 0);
    clock_set_wall(&clock, NOON + 6);
    ASSERT_EQ(uuid_ms(uuid_next(&source)), NOON + 6);
}

TEST(uuid_stays_version_7_at_the_ends_of_time_and_randomness)
{
    static const int64_t walls[] = {
        INT64_MIN, -1, 0, 1, MS_MAX - 1, MS_MAX, MS_MAX + 1, INT64_MAX
    };
    static const uint8_t bytes[] = { 0, 0x7f, 0x80, 0xff };

    for (size_t i = 0; i < ARRAY_LEN(walls); i++)
        for (size_t k = 0; k < ARRAY_LEN(bytes); k++) {
            struct rand_byte rand = { { fill_byte }, bytes[k] };
            int64_t expected = walls[i] < 0 ? 0 : walls[i] > MS_MAX ? MS_MAX : walls[i];
            struct uuid_source source;
            struct clock_fake clock;

            clock_fake_init(&clock, walls[i]);
            uuid_source_init(&source, &clock.clock, &rand.rand);
            for (int n = 0; n < 3; n++) {
                struct uuid uuid = uuid_next(&source);

                ASSERT_EQ(uuid_version(uuid), 7);
                ASSERT_EQ(uuid.b[8] >> 6, 2);
                /* All bits set leave no room within the millisecond: the next is borrowed. */
                if (bytes[k] == 0xff && expected < MS_MAX - 2)
                    ASSERT_EQ(uuid_ms(uuid), expected + n);
                else if (bytes[k] != 0xff)
                    ASSERT_EQ(uuid_ms(uuid), expected);
                ASSERT(uuid_ms(uuid) <= MS_MAX);
            }
        }
}

TEST(uuid_puts_every_random_bit_where_the_layout_says)
{
    struct rand_byte ones = { { fill_byte }, 0xff }, zeros = { { fill_byte }, 0 };
    char text[UUID_TEXT_SIZE];
    struct uuid_source source;
    struct clock_fake clock;

    clock_fake_init(&clock, 0x0123456789ab);
    uuid_source_init(&source, &clock.clock, &ones.rand);
    uuid_next_text(&source, text);
    ASSERT_TEXT(text, "01234567-89ab-7fff-bfff-ffffffffffff");
    uuid_source_init(&source, &clock.clock, &zeros.rand);
    uuid_next_text(&source, text);
    ASSERT_TEXT(text, "01234567-89ab-7000-8000-000000000000");
    uuid_next_text(&source, text);
    ASSERT_TEXT(text, "01234567-89ab-7000-8000-000000000001");
}

TEST(uuid_parse_refuses_every_other_byte_at_every_place)
{
    static const char good[] = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
    struct uuid uuid, before;

    memset(&uuid, 0x5a, sizeof(uuid));
    before = uuid;
    for (size_t i = 0; i < sizeof(good) - 1; i++)
        for (int c = 0; c < 256; c++) {
            bool hex = c && strchr("0123456789abcdefABCDEF", c);
            bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
            char text[sizeof(good)];

            memcpy(text, good, sizeof(good));
            text[i] = (char)c;
            if (uuid_valid(str_of(text, sizeof(good) - 1)) != (hyphen ? c == '-' : hex))
                FAIL("byte %d at %zu", c, i);
            if (hyphen ? c == '-' : hex)
                continue;
            ASSERT_EQ(uuid_parse(str_of(text, sizeof(good) - 1), &uuid), -1);
            ASSERT_EQ(order(uuid, before), 0);
        }
    for (size_t n = 0; n < sizeof(good) - 1; n++)
        ASSERT(!uuid_valid(str_of(good, n)));
    ASSERT(!uuid_valid(str_of(good, sizeof(good)))); /* with its NUL */
}

TEST(uuid_format_and_parse_agree_on_random_bytes)
{
    struct rand_fake rand;

    rand_fake_init(&rand, 9);
    for (int i = 0; i < 5000; i++) {
        struct uuid uuid, back;
        char text[UUID_TEXT_SIZE], upper[UUID_TEXT_SIZE];

        rand_fill(&rand.rand, uuid.b, sizeof(uuid.b));
        uuid_format(uuid, text);
        ASSERT_EQ(uuid_parse(str_from(text), &back), 0);
        ASSERT_EQ(order(uuid, back), 0);
        for (size_t k = 0; k < sizeof(text); k++)
            upper[k] = text[k] >= 'a' && text[k] <= 'f' ? (char)(text[k] - 32) : text[k];
        ASSERT_EQ(uuid_parse(str_from(upper), &back), 0);
        ASSERT_EQ(order(uuid, back), 0);
        ASSERT_EQ(uuid_version(uuid), text[14] <= '9' ? text[14] - '0' : text[14] - 'a' + 10);
        ASSERT_EQ(uuid_ms(uuid) >= 0, text[14] == '7');
    }
}
