/* Agents with timers on a loop that never sleeps: 18 February 2026, half past six in the morning in
 * Berlin.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_WAKE_TIMER_RIG_H
#define DORMOUSE_TESTS_WAKE_TIMER_RIG_H

#include <stdio.h>

#include "base/timefmt.h"
#include "db/db_fault.h"
#include "db/migrations.h"
#include "harness/db_test.h"
#include "wake/clockwork.h"
#include "wake/queue.h"

#define TIMER_NOW INT64_C(1771392600000) /* 2026-02-18T05:30:00Z */

struct timer_rig {
    struct test *t;
    struct clock_fake clock;
    struct db_fault fault;
    struct loop *loop;
    struct domain *domain;
    struct change *change;
    struct clockwork *clockwork;
    struct agent coach;
    int told; /* how often wakes were said to be there */
};

/* Where the machine is. */
extern const char *timer_rig_zone;

static inline void timer_rig_find_zone(char ret_name[ZONE_NAME_MAX + 1])
{
    snprintf(ret_name, ZONE_NAME_MAX + 1, "%s", timer_rig_zone);
}

static inline void timer_rig_told(void *arg)
{
    ((struct timer_rig *)arg)->told++;
}

/* As at a start: the database may be there already. */
/* As the house does when the store takes writes again. */
static inline void timer_rig_health(struct domain *domain, enum domain_health health,
                                    const struct err *why, void *arg)
{
    struct timer_rig *rig = arg;

    (void)domain, (void)why;
    if (health == DOMAIN_OK)
        clockwork_look(rig->clockwork);
}

static inline void timer_rig_start(struct timer_rig *rig)
{
    struct test *t = rig->t;
    struct domain_config config = { .name = "agent",
                                    .url = db_test_domain_url(t, "agent"),
                                    .migrations = migrations_agent,
                                    .migration_count = migrations_agent_count,
                                    .fault = &rig->fault };

    rig->loop = loop_new_fake(&rig->clock);
    ASSERT_OK(domain_open(&config, &rig->domain, &t->err));
    ASSERT_OK(change_open(rig->domain, &rig->clock.clock, NULL, &rig->change, &t->err));
    loop_attach(rig->loop, rig->domain);
    rig->clockwork = clockwork_new(&(struct clockwork_config){ .loop = rig->loop,
                                                               .domain = rig->domain,
                                                               .change = rig->change,
                                                               .queued = timer_rig_told,
                                                               .arg = rig,
                                                               .find_zone = timer_rig_find_zone });
    loop_on_health(rig->loop, timer_rig_health, rig);
}

/* As by kill -9: what was not committed is gone. */
static inline void timer_rig_kill(struct timer_rig *rig)
{
    clockwork_free(rig->clockwork);
    loop_free(rig->loop);
    change_free(rig->change);
    domain_free(rig->domain);
}

static inline void timer_rig_open(struct timer_rig *rig, struct test *t)
{
    *rig = (struct timer_rig){ .t = t };
    timer_rig_zone = "Europe/Berlin";
    clock_fake_init(&rig->clock, TIMER_NOW);
    timer_rig_start(rig);
    rig->coach = (struct agent){ .id = "coach", .kind = "coach", .display_name = "Coach" };
    ASSERT_OK(loop_unit_begin(rig->loop, rig->domain, &t->err));
    ASSERT_OK(agent_add(rig->domain, rig->change, &rig->coach, TIMER_NOW, &t->err));
    ASSERT_OK(loop_unit_end(rig->loop, true, &t->err));
    loop_fake_tick(rig->loop);
}
#define AUTO_TIMER_RIG __attribute__((cleanup(timer_rig_kill))) struct timer_rig

static inline int64_t timer_rig_now(struct timer_rig *rig)
{
    return clock_wall_ms(&rig->clock.clock);
}

/* Adds a timer of the coach, which is looked at in the next tick. */
static inline struct timer timer_rig_add(struct timer_rig *rig, struct timer timer)
{
    AUTO(zone) here = NULL;
    struct test *t = rig->t;

    timer.agent_n = rig->coach.n;
    ASSERT_OK(zone_open(str_from(timer_rig_zone), &here, &t->err));
    timer.here = here;
    ASSERT_OK(loop_unit_begin(rig->loop, rig->domain, &t->err));
    ASSERT_OK(timer_add(rig->domain, rig->change, &timer, timer_rig_now(rig), &t->arena, &t->err));
    ASSERT_OK(loop_unit_end(rig->loop, true, &t->err));
    clockwork_look(rig->clockwork);
    loop_fake_tick(rig->loop);
    timer.here = NULL;
    return timer;
}

/* Wakes so far, oldest first. */
static inline size_t timer_rig_wakes(struct timer_rig *rig, struct wake_job **ret_jobs)
{
    struct test *t = rig->t;
    struct wake_filter filter = { .limit = 500 };
    struct wake_job *jobs;
    size_t n;

    ASSERT_OK(wake_list(rig->domain, &filter, &t->arena, &jobs, &n, &t->err));
    for (size_t i = 0; i < n / 2; i++) {
        struct wake_job swap = jobs[i];

        jobs[i] = jobs[n - 1 - i];
        jobs[n - 1 - i] = swap;
    }
    *ret_jobs = jobs;
    return n;
}

static inline int64_t utc(const char *text)
{
    int64_t at = 0;

    if (timefmt_parse(str_from(text), &at, NULL) < 0)
        FAIL("%s is no time", text);
    return at;
}

#endif
