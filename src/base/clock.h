/* Time, injectable. Nothing else in the house asks the system what time it is.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_CLOCK_H
#define DORMOUSE_BASE_CLOCK_H

#include <stdint.h>

struct clock {
    /* Unix time in milliseconds: what records carry. May jump. */
    int64_t (*wall_ms)(struct clock *clock);
    /* Monotonic nanoseconds: what durations are measured with. Never goes back. */
    int64_t (*mono_ns)(struct clock *clock);
};

static inline int64_t clock_wall_ms(struct clock *clock)
{
    return clock->wall_ms(clock);
}

static inline int64_t clock_mono_ns(struct clock *clock)
{
    return clock->mono_ns(clock);
}

static inline int64_t clock_mono_ms(struct clock *clock)
{
    return clock->mono_ns(clock) / 1000000;
}

/* The system's clocks. Never NULL, not to be freed. */
struct clock *clock_system(void);

/* A clock that stands still until a test moves it. */
struct clock_fake {
    struct clock clock; /* first */
    int64_t wall_now_ms;
    int64_t mono_now_ns;
};

#define SECONDS(n) ((int64_t)(n)*1000)
#define MINUTES(n) (SECONDS(n) * 60)
#define HOURS(n)   (MINUTES(n) * 60)
#define DAYS(n)    (HOURS(n) * 24)

void clock_fake_init(struct clock_fake *fake, int64_t wall_ms);
/* Both clocks forward. */
void clock_advance(struct clock_fake *fake, int64_t ms);
/* Only the wall clock, in either direction: somebody set it. */
void clock_set_wall(struct clock_fake *fake, int64_t wall_ms);

#endif
