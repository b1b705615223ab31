/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <time.h>

#include "harness/test.h"

TEST(clock_system_tells_the_time_of_day)
{
    int64_t before = (int64_t)time(NULL) * 1000;
    int64_t now = clock_wall_ms(clock_system());

    ASSERT(now >= before - 1000);
    ASSERT(now < before + 60000);
}

TEST(clock_system_monotonic_never_goes_back)
{
    int64_t last = clock_mono_ns(clock_system());

    ASSERT(last > 0);
    for (int i = 0; i < 10000; i++) {
        int64_t now = clock_mono_ns(clock_system());

        ASSERT(now >= last);
        last = now;
    }
    ASSERT(clock_mono_ms(clock_system()) >= last / 1000000);
}

TEST(clock_fake_stands_still_until_moved)
{
    struct clock_fake fake;

    clock_fake_init(&fake, 1000);
    ASSERT_EQ(clock_wall_ms(&fake.clock), 1000);
    ASSERT_EQ(clock_wall_ms(&fake.clock), 1000);
    clock_advance(&fake, MINUTES(2));
    ASSERT_EQ(clock_wall_ms(&fake.clock), 121000);
    ASSERT_EQ(clock_mono_ms(&fake.clock), 120000);
    ASSERT_EQ(clock_mono_ns(&fake.clock), INT64_C(120000000000));
}

TEST(clock_fake_wall_may_jump_while_monotonic_stays)
{
    struct clock_fake fake;

    clock_fake_init(&fake, DAYS(20000));
    clock_advance(&fake, SECONDS(1));
    clock_set_wall(&fake, DAYS(19999) + HOURS(3));
    ASSERT_EQ(clock_wall_ms(&fake.clock), INT64_C(19999) * 86400000 + 3 * 3600000);
    ASSERT_EQ(clock_mono_ms(&fake.clock), 1000);
}
