/* A loop for tests: never sleeps, never runs libuv. Time moves with loop_fake_advance() only.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "loop/loop_int.h"

/* More ticks than this at one instant: something asks for the next one for ever. */
#define TICKS_AT_ONCE 1000000

struct loop_fake {
    struct loop loop; /* first */
    struct clock_fake *fake;
    struct loop_work_job *jobs, **jobs_end; /* run at the beginning of the next tick */
};

static struct loop_fake *fake_of(struct loop *loop)
{
    return (struct loop_fake *)loop;
}

static void fake_submit(struct loop *loop, struct loop_work_job *job)
{
    struct loop_fake *fake = fake_of(loop);

    job->next = NULL;
    *fake->jobs_end = job;
    fake->jobs_end = &job->next;
}

static void run_jobs(struct loop_fake *fake)
{
    struct loop_work_job *job = fake->jobs;

    fake->jobs = NULL;
    fake->jobs_end = &fake->jobs;
    for (struct loop_work_job *next; job; job = next) {
        next = job->next;
        loop_work_run(job);
        loop_work_finished(job);
    }
}

static int64_t next_step(struct loop_fake *fake)
{
    int64_t timer = timers_next(&fake->loop.timers), alarm = timers_next(&fake->loop.alarms);
    int64_t wait = TIMERS_NONE;

    if (timer != TIMERS_NONE)
        wait = timer - clock_mono_ms(&fake->fake->clock);
    if (alarm != TIMERS_NONE && alarm - clock_wall_ms(&fake->fake->clock) < wait)
        wait = alarm - clock_wall_ms(&fake->fake->clock);
    return wait > 0 ? wait : 0;
}

void loop_fake_tick(struct loop *loop)
{
    loop_fire_timers(loop);
    run_jobs(fake_of(loop));
    loop_end_tick(loop);
}

static bool has_work(struct loop_fake *fake)
{
    return loop_pending(&fake->loop) || fake->jobs || next_step(fake) == 0;
}

static void tick_until_quiet(struct loop *loop)
{
    for (unsigned i = 0; has_work(fake_of(loop)) && !loop_finished(loop); i++) {
        if (i == TICKS_AT_ONCE)
            BUG("the loop does not become quiet");
        loop_fake_tick(loop);
    }
}

void loop_fake_advance(struct loop *loop, int64_t ms)
{
    struct loop_fake *fake = fake_of(loop);
    int64_t step;

    tick_until_quiet(loop);
    while (ms > 0 && !loop_finished(loop)) {
        step = next_step(fake);
        if (step > ms)
            step = ms;
        clock_advance(fake->fake, step);
        ms -= step;
        tick_until_quiet(loop);
    }
}

static int fake_run(struct loop *loop, struct err *err)
{
    tick_until_quiet(loop);
    loop->stopping = false;
    loop->last_ticks = 0;
    return loop_result(loop, err);
}

static void fake_free(struct loop *loop)
{
    BUG_IF(loop->work_running || loop->children);
    loop_release(loop);
    free(loop);
}

static const struct loop_ops fake_ops = {
    .run = fake_run,
    .free = fake_free,
    .submit = fake_submit,
};

struct loop *loop_new_fake(struct clock_fake *clock)
{
    struct loop_fake *fake = NEW(struct loop_fake);

    loop_init(&fake->loop, &fake_ops, &clock->clock);
    fake->fake = clock;
    fake->jobs_end = &fake->jobs;
    return &fake->loop;
}
