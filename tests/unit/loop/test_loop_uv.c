/* The loop on libuv: real time, real descriptors.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <unistd.h>
#include <uv.h>

#include "harness/test.h"
#include "loop/loop.h"

struct stopper {
    struct loop_timer timer; /* first */
    struct loop *loop;
    int fired;
};

static void stop_now(struct loop_timer *timer)
{
    struct stopper *stopper = (struct stopper *)timer;

    stopper->fired++;
    loop_stop(stopper->loop);
}

TEST(a_timer_never_fires_early)
{
    AUTO(loop) loop = NULL;
    struct stopper stopper = { .timer.fire = stop_now };
    int64_t before;

    ASSERT_OK(loop_new(NULL, &loop, &t->err));
    stopper.loop = loop;
    for (int delay = 0; delay < 12; delay++) {
        before = clock_mono_ns(loop_clock(loop));
        loop_timer_start(loop, &stopper.timer, delay);
        ASSERT_OK(loop_run(loop, &t->err));
        ASSERT(clock_mono_ns(loop_clock(loop)) - before >= delay * 1000000LL);
    }
    ASSERT_EQ(stopper.fired, 12);
}
