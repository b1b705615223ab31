/* The system's clocks and a fake one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/clock.h"

#include <time.h>

static int64_t system_wall_ms(struct clock *clock)
{
    struct timespec ts;

    (void)clock;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int64_t system_mono_ns(struct clock *clock)
{
    struct timespec ts;

    (void)clock;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

struct clock *clock_system(void)
{
    static struct clock system = { system_wall_ms, system_mono_ns };

    return &system;
}

static int64_t fake_wall_ms(struct clock *clock)
{
    return ((struct clock_fake *)clock)->wall_now_ms;
}

static int64_t fake_mono_ns(struct clock *clock)
{
    return ((struct clock_fake *)clock)->mono_now_ns;
}

void clock_fake_init(struct clock_fake *fake, int64_t wall_ms)
{
    *fake = (struct clock_fake){ .clock = { fake_wall_ms, fake_mono_ns }, .wall_now_ms = wall_ms };
}

void clock_advance(struct clock_fake *fake, int64_t ms)
{
    fake->wall_now_ms += ms;
    fake->mono_now_ns += ms * 1000000;
}

void clock_set_wall(struct clock_fake *fake, int64_t wall_ms)
{
    fake->wall_now_ms = wall_ms;
}
