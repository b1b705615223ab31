/* Ending sessions, a page at a time.
 *
 * The look after somebody has spoken may come before the commit, or after a rollback: then the
 * alarm is set for what is stored so far, and that is right, since a session that is not stored
 * needs no end, and an alarm that rings for nothing is set anew.
 *
 * SPDX-License-Identifier: MIT
 */
#include "wake/idle.h"

#include <stdlib.h>

#include "agent/session.h"
#include "base/log.h"

#define PAGE     200
#define RETRY_MS 5000

struct idle {
    struct loop *loop;
    struct domain *domain;
    struct runner *runner;
    struct loop_timer look;  /* there may be something to do */
    struct loop_timer alarm; /* the next session ends */
    bool stopped;
};

/* 1 there is more. */
static int end_page(struct idle *idle, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    int64_t now = clock_wall_ms(loop_clock(idle->loop));
    struct session *ended;
    size_t n = 0;
    int r;

    if (sessions_due(idle->domain, now, 1, &arena, &ended, &n, err) < 0)
        return -1;
    if (n == 0) /* the common case writes nothing */
        return 0;
    if (loop_unit_begin(idle->loop, idle->domain, err) < 0)
        return -1;
    r = sessions_expire(idle->domain, now, PAGE, &arena, &ended, &n, err);
    if (loop_unit_end(idle->loop, r == 0, r == 0 ? err : NULL) < 0)
        return -1;
    return r < 0 ? -1 : n == PAGE;
}

static int set_alarm(struct idle *idle, struct err *err)
{
    int64_t at;
    int r = sessions_next(idle->domain, &at, err);

    if (r == 1)
        loop_alarm_start(idle->loop, &idle->alarm, at);
    else if (r == 0)
        loop_timer_stop(idle->loop, &idle->alarm);
    return r < 0 ? -1 : 0;
}

static void look(struct idle *idle)
{
    struct err err = ERR_INIT;
    int r;

    if (idle->stopped)
        return;
    r = end_page(idle, &err);
    if (r == 1)
        loop_timer_start(idle->loop, &idle->look, 0);
    else if (r == 0)
        r = set_alarm(idle, &err);
    if (r >= 0)
        return;
    if (!loop_is_healthy(idle->loop))
        return; /* idle_look() comes when it is again */
    LOG_WARN("wake", "sessions can't be ended now; they are looked at again", LOG_ERR(&err));
    loop_timer_start(idle->loop, &idle->look, RETRY_MS);
}

static void look_due(struct loop_timer *timer)
{
    look(CONTAINER_OF(timer, struct idle, look));
}

static void alarm_due(struct loop_timer *timer)
{
    look(CONTAINER_OF(timer, struct idle, alarm));
}

void idle_look(struct idle *idle)
{
    if (!idle->stopped)
        loop_timer_start(idle->loop, &idle->look, 0);
}

static void spoken(void *arg)
{
    idle_look(arg);
}

struct idle *idle_new(struct loop *loop, struct domain *agent_domain, struct runner *runner)
{
    struct idle *idle = NEW(struct idle);

    idle->loop = loop;
    idle->domain = agent_domain;
    idle->runner = runner;
    idle->look.fire = look_due;
    idle->alarm.fire = alarm_due;
    runner_on_speech(runner, spoken, idle);
    loop_timer_start(loop, &idle->look, 0);
    return idle;
}

void idle_stop(struct idle *idle)
{
    if (idle->stopped)
        return;
    idle->stopped = true;
    runner_on_speech(idle->runner, NULL, NULL);
    loop_timer_stop(idle->loop, &idle->look);
    loop_timer_stop(idle->loop, &idle->alarm);
}

void idle_free(struct idle *idle)
{
    if (!idle)
        return;
    idle_stop(idle);
    free(idle);
}
