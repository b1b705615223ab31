/* The heap of timers, and timers on the fake loop.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/buf.h"
#include "harness/test.h"
#include "loop/loop_int.h"

struct bell {
    struct loop_timer timer; /* first */
    struct loop *loop;
    struct buf *trace;
    const char *name;
    int64_t again_ms;   /* -1: not again */
    struct bell *stops; /* another one */
};

static void ring(struct loop_timer *timer)
{
    struct bell *bell = (struct bell *)timer;

    buf_printf(bell->trace, "%s@%lld ", bell->name,
               (long long)clock_mono_ms(loop_clock(bell->loop)));
    if (bell->stops)
        loop_timer_stop(bell->loop, &bell->stops->timer);
    if (bell->again_ms >= 0)
        loop_timer_start(bell->loop, timer, bell->again_ms);
}

struct tower {
    struct clock_fake clock;
    struct loop *loop;
    struct buf trace;
};

static struct tower *tower_new(void)
{
    struct tower *tower = NEW(struct tower);

    clock_fake_init(&tower->clock, 1000000);
    tower->loop = loop_new_fake(&tower->clock);
    tower->trace = BUF_INIT(1 << 20);
    return tower;
}

static void tower_free(struct tower *tower)
{
    loop_free(tower->loop);
    buf_release(&tower->trace);
    free(tower);
}
AUTO_DEFINE(tower)

static struct bell bell_of(struct tower *tower, const char *name)
{
    return (struct bell){ .timer.fire = ring,
                          .loop = tower->loop,
                          .trace = &tower->trace,
                          .name = name,
                          .again_ms = -1 };
}

TEST(timers_fire_by_due_time_and_then_in_the_order_started)
{
    AUTO(tower) w = tower_new();
    struct bell a = bell_of(w, "a"), b = bell_of(w, "b"), c = bell_of(w, "c"), d = bell_of(w, "d");

    loop_timer_start(w->loop, &a.timer, 20);
    loop_timer_start(w->loop, &b.timer, 10);
    loop_timer_start(w->loop, &c.timer, 10);
    loop_timer_start(w->loop, &d.timer, 0);
    loop_fake_advance(w->loop, 30);
    ASSERT_TEXT(buf_text(&w->trace), "d@0 b@10 c@10 a@20 ");
    ASSERT_EQ(clock_mono_ms(loop_clock(w->loop)), 30);
}

TEST(restarting_moves_a_timer_and_stopping_twice_is_harmless)
{
    AUTO(tower) w = tower_new();
    struct bell a = bell_of(w, "a"), b = bell_of(w, "b");

    loop_timer_start(w->loop, &a.timer, 5);
    loop_timer_start(w->loop, &b.timer, 6);
    loop_timer_start(w->loop, &a.timer, 7);
    loop_fake_advance(w->loop, 6);
    loop_timer_stop(w->loop, &b.timer);
    loop_timer_stop(w->loop, &a.timer);
    loop_timer_stop(w->loop, &a.timer);
    loop_fake_advance(w->loop, 10);
    ASSERT_TEXT(buf_text(&w->trace), "b@6 ");
}

TEST(a_timer_may_become_an_alarm_and_back)
{
    AUTO(tower) w = tower_new();
    struct bell a = bell_of(w, "a");

    loop_timer_start(w->loop, &a.timer, 5);
    loop_alarm_start(w->loop, &a.timer, 1000000 + 8);
    loop_fake_advance(w->loop, 7);
    ASSERT_TEXT(buf_text(&w->trace), "");
    loop_timer_start(w->loop, &a.timer, 4);
    loop_fake_advance(w->loop, 20);
    ASSERT_TEXT(buf_text(&w->trace), "a@11 ");
}

TEST(a_timer_that_restarts_itself_does_not_starve_others)
{
    AUTO(tower) w = tower_new();
    struct bell a = bell_of(w, "a"), b = bell_of(w, "b");

    a.again_ms = 0;
    loop_timer_start(w->loop, &a.timer, 0);
    loop_timer_start(w->loop, &b.timer, 0);
    loop_fake_tick(w->loop);
    ASSERT_TEXT(buf_text(&w->trace), "a@0 b@0 ");
    loop_fake_tick(w->loop);
    ASSERT_TEXT(buf_text(&w->trace), "a@0 b@0 a@0 ");
}

static void ring_in_the_past(struct loop_timer *timer)
{
    struct bell *bell = (struct bell *)timer;

    ring(timer);
    loop_alarm_start(bell->loop, timer, 5);
}

TEST(an_alarm_that_is_set_to_the_past_does_not_starve_others)
{
    AUTO(tower) tower = tower_new();
    struct bell hasty = bell_of(tower, "hasty"), other = bell_of(tower, "other");
    int64_t now = clock_wall_ms(loop_clock(tower->loop));

    hasty.timer.fire = ring_in_the_past;
    loop_alarm_start(tower->loop, &hasty.timer, now);
    loop_alarm_start(tower->loop, &other.timer, now);
    loop_fake_tick(tower->loop);
    loop_fake_tick(tower->loop);
    ASSERT_EQ(strncmp(buf_text(&tower->trace), "hasty@", 6), 0);
    ASSERT_CONTAINS(buf_text(&tower->trace), " other@");
    ASSERT(strstr(buf_text(&tower->trace), "other@") <
           strstr(buf_text(&tower->trace) + 1, "hasty@"));
}

TEST(a_timer_may_stop_one_that_is_due_with_it)
{
    AUTO(tower) w = tower_new();
    struct bell a = bell_of(w, "a"), b = bell_of(w, "b");

    a.stops = &b;
    loop_timer_start(w->loop, &a.timer, 3);
    loop_timer_start(w->loop, &b.timer, 3);
    loop_fake_advance(w->loop, 10);
    ASSERT_TEXT(buf_text(&w->trace), "a@3 ");
}

TEST(an_alarm_fires_when_somebody_sets_the_clock_forward)
{
    AUTO(tower) w = tower_new();
    struct bell a = bell_of(w, "a"), past = bell_of(w, "past");

    loop_alarm_start(w->loop, &a.timer, 1000000 + HOURS(8));
    loop_alarm_start(w->loop, &past.timer, 12);
    loop_fake_advance(w->loop, 10);
    ASSERT_TEXT(buf_text(&w->trace), "past@0 ");
    clock_set_wall(&w->clock, 1000000 + HOURS(9));
    loop_fake_tick(w->loop);
    ASSERT_TEXT(buf_text(&w->trace), "past@0 a@10 ");
}

TEST(an_alarm_waits_longer_when_somebody_sets_the_clock_back)
{
    AUTO(tower) w = tower_new();
    struct bell a = bell_of(w, "a");

    loop_alarm_start(w->loop, &a.timer, 1000000 + 50);
    clock_set_wall(&w->clock, 1000000 - 100);
    loop_fake_advance(w->loop, 149);
    ASSERT_TEXT(buf_text(&w->trace), "");
    loop_fake_advance(w->loop, 1);
    ASSERT_TEXT(buf_text(&w->trace), "a@150 ");
}

TEST(absurd_delays_neither_overflow_nor_fire)
{
    AUTO(tower) w = tower_new();
    struct bell a = bell_of(w, "a"), b = bell_of(w, "b"), c = bell_of(w, "c");

    loop_fake_advance(w->loop, 5);
    loop_timer_start(w->loop, &a.timer, INT64_MAX);
    loop_alarm_start(w->loop, &b.timer, INT64_MAX);
    loop_timer_start(w->loop, &c.timer, INT64_MIN);
    loop_fake_advance(w->loop, DAYS(365));
    ASSERT_TEXT(buf_text(&w->trace), "c@5 ");
}

TEST(a_timer_started_within_a_millisecond_is_rounded_up)
{
    AUTO(tower) w = tower_new();
    struct bell a = bell_of(w, "a");

    w->clock.mono_now_ns = 900000;
    loop_timer_start(w->loop, &a.timer, 1);
    w->clock.mono_now_ns = 1899999;
    loop_fake_tick(w->loop);
    ASSERT_TEXT(buf_text(&w->trace), "");
    w->clock.mono_now_ns = 2000000;
    loop_fake_tick(w->loop);
    ASSERT_TEXT(buf_text(&w->trace), "a@2 ");
}

TEST(freeing_the_loop_forgets_running_timers)
{
    struct tower *w = tower_new();
    struct bell a = bell_of(w, "a");

    loop_timer_start(w->loop, &a.timer, 5);
    tower_free(w);
    ASSERT_EQ(a.timer.heap_index, 0);
}

/* ---- the heap against a plain search ---- */

#define MANY 500

static unsigned fired_count;
static struct loop_timer *fired_last;

static void count_fire(struct loop_timer *timer)
{
    /* Never one that should have come after the previous one. */
    if (fired_last && (fired_last->due_ms > timer->due_ms ||
                       (fired_last->due_ms == timer->due_ms && fired_last->order > timer->order)))
        FAIL("due %lld fired after due %lld", (long long)timer->due_ms,
             (long long)fired_last->due_ms);
    fired_last = timer;
    fired_count++;
}

static unsigned count_due(const struct loop_timer *timers, int64_t now)
{
    unsigned n = 0;

    for (int i = 0; i < MANY; i++)
        n += timers[i].heap_index && timers[i].due_ms <= now;
    return n;
}

TEST(the_heap_agrees_with_a_plain_search_over_random_starts_and_stops)
{
    struct timers heap = { 0 };
    struct loop_timer timers[MANY] = { 0 };
    uint64_t x = 7;
    int64_t now = 0;

    for (int i = 0; i < MANY; i++)
        timers[i].fire = count_fire;
    for (int round = 0; round < 50000; round++) {
        struct loop_timer *timer;
        unsigned due;

        x = x * 6364136223846793005u + 1442695040888963407u;
        timer = &timers[(x >> 33) % MANY];
        if ((x >> 20) % 4 == 0)
            timers_stop(&heap, timer);
        else
            timers_start(&heap, timer, now + (int64_t)((x >> 40) % 300));
        if (round % 16 != 0)
            continue;
        due = count_due(timers, ++now);
        fired_last = NULL;
        fired_count = 0;
        ASSERT_EQ(timers_fire(&heap, now), due);
        ASSERT_EQ(fired_count, due);
        ASSERT_EQ(count_due(timers, now), 0);
    }
    timers_release(&heap);
}
