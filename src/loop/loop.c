/* What every loop does: the public functions over ticks and timers, and the decision when a tick
 * is the last one. How time passes and what wakes the loop is in loop_uv.c and loop_fake.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loop/loop.h"

#include <limits.h>
#include <stdlib.h>

#include "loop/loop_int.h"

/* Housekeeping waits until nothing was committed for a while. The timer is not moved by each
 * commit: it looks at the time of the last one when it fires. */
static void idle_fire(struct loop_timer *timer)
{
    struct loop *loop = CONTAINER(timer, struct loop, idle_timer);
    int64_t quiet = clock_mono_ms(loop->clock) - loop->worked_ms;

    if (quiet < LOOP_IDLE_MS)
        loop_timer_start(loop, timer, LOOP_IDLE_MS - quiet);
    else
        tick_idle(&loop->tick); /* what is open now is committed soon and starts the timer again */
}

/* ---- domains in trouble ---- */

#define MEND_FIRST_MS 1000
#define MEND_MAX_MS   30000
#define MEND_CALM_MS  60000 /* trouble that is back sooner is the same: the pauses go on growing */

static void mend_later(struct loop *loop)
{
    bool calm = clock_mono_ms(loop->clock) - loop->mended_ms > MEND_CALM_MS;

    if (loop->mend_timer.heap_index != 0 || loop->stopping)
        return;
    if (loop->mend_pause_ms == 0 || (calm && loop->mended_ms))
        loop->mend_pause_ms = MEND_FIRST_MS;
    loop->mended_ms = 0;
    loop_timer_start(loop, &loop->mend_timer, loop->mend_pause_ms);
}

/* The end of this tick tells who is healthy again, or starts the timer once more. */
static void mend_fire(struct loop_timer *timer)
{
    struct loop *loop = CONTAINER(timer, struct loop, mend_timer);

    loop->mend_pause_ms =
        2 * loop->mend_pause_ms < MEND_MAX_MS ? 2 * loop->mend_pause_ms : MEND_MAX_MS;
    tick_mend(&loop->tick);
    loop_wake(loop);
}

static void watch_health(struct loop *loop)
{
    if (tick_is_sick(&loop->tick))
        mend_later(loop);
    else if (loop->mend_pause_ms && !loop->mended_ms)
        loop->mended_ms = clock_mono_ms(loop->clock);
}

void loop_init(struct loop *loop, const struct loop_ops *ops, struct clock *clock)
{
    *loop = (struct loop){ .ops = ops, .clock = clock };
    loop->idle_timer.fire = idle_fire;
    loop->mend_timer.fire = mend_fire;
    loop->waiting_end = &loop->waiting;
    tick_init(&loop->tick);
}

void loop_release(struct loop *loop)
{
    struct err why = ERR_INIT;

    err_set(&why, ERR_CANCELLED, "the loop ended");
    tick_release(&loop->tick, &why);
    timers_release(&loop->timers);
    timers_release(&loop->alarms);
    free(loop->child_arg);
}

void loop_free(struct loop *loop)
{
    if (loop)
        loop->ops->free(loop);
}

struct clock *loop_clock(struct loop *loop)
{
    return loop->clock;
}

struct uv_loop_s *loop_uv(struct loop *loop)
{
    return loop->ops->uv ? loop->ops->uv(loop) : NULL;
}

int loop_run(struct loop *loop, struct err *err)
{
    return loop->ops->run(loop, err);
}

void loop_stop(struct loop *loop)
{
    loop->stopping = true;
}

/* A look every few milliseconds: only the last moment of a process waits for it. */
#define SETTLE_MS 5

struct settling {
    struct loop_timer timer;
    struct loop *loop;
};

static void settle_fire(struct loop_timer *timer)
{
    loop_stop(CONTAINER(timer, struct settling, timer)->loop);
}

void loop_settle(struct loop *loop)
{
    struct settling settling = { .timer = { .fire = settle_fire }, .loop = loop };
    struct err lost = ERR_INIT;

    while (loop->children || loop->work_running) {
        loop_timer_start(loop, &settling.timer, SETTLE_MS);
        loop_run(loop, &lost);
    }
    loop_timer_stop(loop, &settling.timer);
}

void loop_wake(struct loop *loop)
{
    loop->woken = true;
}

/* ---- ticks ---- */

void loop_attach_store(struct loop *loop, struct domain *domain, const struct tick_store_ops *ops)
{
    tick_attach(&loop->tick, domain, ops);
}

void loop_on_health(struct loop *loop,
                    void (*fn)(struct domain *domain, enum domain_health health,
                               const struct err *why, void *arg),
                    void *arg)
{
    loop->tick.on_health = fn;
    loop->tick.on_health_arg = arg;
}

bool loop_is_healthy(const struct loop *loop)
{
    return tick_is_healthy(&loop->tick);
}

int loop_unit_begin(struct loop *loop, struct domain *domain, struct err *err)
{
    return tick_unit_begin(&loop->tick, domain, err);
}

int loop_unit_end(struct loop *loop, bool keep, struct err *err)
{
    return tick_unit_end(&loop->tick, keep, err);
}

int loop_unit_leave(struct loop *loop, struct err *err)
{
    return tick_unit_leave(&loop->tick, err);
}

void loop_after_commit(struct loop *loop, struct loop_effect *effect)
{
    tick_after_commit(&loop->tick, effect);
}

void loop_add_tick_hook(struct loop *loop, struct loop_tick_hook *hook)
{
    tick_add_hook(&loop->tick, hook);
}

void loop_remove_tick_hook(struct loop *loop, struct loop_tick_hook *hook)
{
    tick_remove_hook(&loop->tick, hook);
}

struct arena *loop_arena(struct loop *loop)
{
    return tick_arena(&loop->tick);
}

void loop_end_tick(struct loop *loop)
{
    loop->woken = false;
    if (loop->stopping || loop->tick.lost)
        loop->last_ticks++;
    if (!tick_end(&loop->tick)) {
        watch_health(loop);
        return;
    }
    watch_health(loop);
    loop->worked_ms = clock_mono_ms(loop->clock);
    if (loop->idle_timer.heap_index == 0)
        loop_timer_start(loop, &loop->idle_timer, LOOP_IDLE_MS);
}

bool loop_pending(const struct loop *loop)
{
    return loop->woken || loop->stopping || loop->tick.lost || tick_pending(&loop->tick);
}

bool loop_finished(const struct loop *loop)
{
    if (!loop->stopping && !loop->tick.lost)
        return false;
    if (loop->last_ticks == 0)
        return false;
    return loop->last_ticks >= LOOP_LAST_TICKS || (!loop->woken && !tick_pending(&loop->tick));
}

int loop_result(const struct loop *loop, struct err *err)
{
    if (!loop->tick.lost)
        return 0;
    if (err)
        *err = loop->tick.lost_why;
    return err_wrap(err, "a database was lost; the next start recovers it");
}

/* ---- timers ---- */

static int64_t add_saturated(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? TIMERS_NONE - 1 : sum;
}

void loop_timer_start(struct loop *loop, struct loop_timer *timer, int64_t delay_ms)
{
    int64_t now_ns = clock_mono_ns(loop->clock), due_ms = now_ns / 1000000;

    /* Rounded up: a timer never fires early. Without delay there is nothing to be early for. */
    if (delay_ms > 0)
        due_ms = add_saturated((now_ns + 999999) / 1000000, delay_ms);
    loop_timer_stop(loop, timer);
    timer->alarm = false;
    timers_start(&loop->timers, timer, due_ms);
}

void loop_alarm_start(struct loop *loop, struct loop_timer *timer, int64_t wall_ms)
{
    int64_t now_ms = clock_wall_ms(loop->clock);

    loop_timer_stop(loop, timer);
    timer->alarm = true;
    timers_start(&loop->alarms, timer, wall_ms > now_ms ? wall_ms : now_ms);
}

void loop_timer_stop(struct loop *loop, struct loop_timer *timer)
{
    timers_stop(timer->alarm ? &loop->alarms : &loop->timers, timer);
}

void loop_fire_timers(struct loop *loop)
{
    timers_fire(&loop->timers, clock_mono_ms(loop->clock));
    timers_fire(&loop->alarms, clock_wall_ms(loop->clock));
}

/* Milliseconds from now until due, of a heap that may be empty; the sooner of that and wait. */
static int64_t sooner(int64_t wait, int64_t due, int64_t now)
{
    int64_t mine = due > now ? due - now : 0;

    if (due == TIMERS_NONE)
        return wait;
    return wait < 0 || mine < wait ? mine : wait;
}

int loop_wait_ms(struct loop *loop)
{
    int64_t wait = -1;

    if (loop_pending(loop))
        return 0;
    wait = sooner(wait, timers_next(&loop->timers), clock_mono_ms(loop->clock));
    wait = sooner(wait, timers_next(&loop->alarms), clock_wall_ms(loop->clock));
    return wait > INT_MAX ? INT_MAX : (int)wait;
}
