/* Firing timers.
 *
 * A step does one page of work in one unit: moves timers to another zone, or fires those that are
 * due; then comes the next step, or the alarm is set. So a clock that jumps by a year over a
 * hundred thousand timers costs many short ticks, between which the loop does its other work.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/map.h"
#include "wake/alarm.h"
#include "wake/clockwork_int.h"
#include "wake/queue.h"

#define PAGE       200  /* timers of a step */
#define FIRINGS    1000 /* after so many the step ends, too */
#define RETRY_MS   5000 /* after a step that failed */
#define ZONES_KEPT 64   /* open during a step */

/* ---- zones ---- */

/* Those that the timers of a page name. */
struct zones {
    struct map by_name;
};

static void zones_release(struct zones *zones)
{
    map_each (&zones->by_name, entry)
        zone_free(entry->value);
    map_release(&zones->by_name);
}
#define AUTO_ZONES __attribute__((cleanup(zones_release))) struct zones

static int zone_for(struct clockwork *clockwork, struct zones *zones, const struct timer *timer,
                    const struct zone **ret_zone, struct err *err)
{
    struct zone *zone;

    *ret_zone = timer->zone.n ? map_find(&zones->by_name, timer->zone) : clockwork->here;
    if (*ret_zone)
        return 0;
    if (zone_open(timer->zone, &zone, err) < 0)
        return -1;
    if (map_count(&zones->by_name) >= ZONES_KEPT) {
        zones_release(zones);
        *zones = (struct zones){ MAP_INIT };
    }
    map_put(&zones->by_name, timer->zone, zone);
    *ret_zone = zone;
    return 0;
}

/* Is the machine elsewhere than when it was looked last? */
static int find_here(struct clockwork *clockwork, struct err *err)
{
    char name[ZONE_NAME_MAX + 1];
    struct zone *zone;

    if (clockwork->config.zone)
        snprintf(name, sizeof(name), "%s", clockwork->config.zone);
    else if (clockwork->config.find_zone)
        clockwork->config.find_zone(name);
    else
        zone_system(name);
    if (clockwork->here && strcmp(name, clockwork->here_name) == 0)
        return 0;
    if (zone_open(str_from(name), &zone, err) < 0)
        return err_wrap(err, "the zone of this machine");
    zone_free(clockwork->here);
    clockwork->here = zone;
    snprintf(clockwork->here_name, sizeof(clockwork->here_name), "%s", name);
    clockwork->moving = true;
    clockwork->moved_n = 0;
    return 0;
}

/* ---- firing ---- */

/* How many firings a catch-up stands for, itself among them. */
static void write_missed(struct json_writer *w, const struct timer_plan *plan, int64_t at)
{
    int64_t first = at, count = 1;

    for (size_t i = 0; i < plan->skip_count; i++)
        if (str_is(str_from(plan->skips[i].why), "missed")) {
            first = plan->skips[i].first;
            count += plan->skips[i].count;
        }
    json_put_object(w, "missed");
    json_put_i64(w, "count", count);
    json_put_time(w, "first", first);
    json_put_time(w, "last", at);
    json_write_object_end(w);
}

/* What the agent wrote to itself is no instruction of a person's, and marked as its conversation
 * was. */
static void write_alarm(struct json_writer *w, const struct alarm_ring *ring)
{
    json_put_object(w, "alarm");
    json_put_some_str(w, "name", ring->name);
    json_put_some_str(w, "note", ring->note);
    json_put_time(w, "setAt", ring->set_at);
    json_put_time(w, "ringsAt", ring->rings_at);
    json_write_object_end(w);
    json_put_some_str(w, "taint", ring->taint);
}

/* ring NULL: an ordinary timer. */
static void write_payload(struct buf *out, const struct timer *timer, const struct alarm_ring *ring,
                          const struct timer_plan *plan, size_t i)
{
    struct json_writer w = JSON_WRITER(out);

    json_write_object_begin(&w);
    if (ring)
        write_alarm(&w, ring);
    else
        json_put_some_str(&w, "prompt", timer->prompt);
    if (i < plan->missed_count)
        write_missed(&w, plan, plan->firings[i]);
    json_write_object_end(&w);
    (void)json_write_end(&w); /* a prompt is far shorter than a payload may be */
}

static int queue_firing(struct clockwork *clockwork, const struct timer *timer,
                        const struct timer_plan *plan, size_t i, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    AUTO_BUF payload = BUF_INIT(WAKE_PAYLOAD_MAX);
    char key[SHA256_TEXT_SIZE];
    struct alarm_ring ring;
    struct wake_job job = {
        .run_key = str_of(key, SHA256_TEXT_SIZE - 1),
        .agent_id = timer->agent_id,
        .agent_n = timer->agent_n,
        .reason = i < plan->missed_count ? STR("recoveryCatchup") : STR("timer"),
        .reason_id = timer->id,
        .scheduled_at = plan->firings[i],
        .priority = 1,
        .created_at = clock_wall_ms(loop_clock(clockwork->config.loop)),
    };
    int r = alarm_of_timer(clockwork->config.domain, timer, &arena, &ring, err);

    if (r < 0)
        return -1;
    wake_key_timer(timer->agent_id.p, timer->id, plan->firings[i], key);
    write_payload(&payload, timer, r ? &ring : NULL, plan, i);
    job.payload = buf_str(&payload);
    if (r)
        job.thread_id = ring.thread_id;
    return wake_enqueue(clockwork->config.domain, &job, err);
}

/* Its wakes and where it goes on, or nothing: somebody else was quicker. How many were queued. */
static int fire_planned(struct clockwork *clockwork, const struct timer *timer,
                        const struct timer_plan *plan, int64_t now_ms, struct err *err)
{
    const struct clockwork_config *c = &clockwork->config;
    int r = timer_advance(c->domain, c->change, timer, plan, now_ms, err), queued = 0;

    if (r <= 0)
        return r;
    for (size_t i = 0; i < plan->firing_count; i++) {
        r = queue_firing(clockwork, timer, plan, i, err);
        if (r < 0)
            return -1;
        queued += r;
    }
    return queued;
}

static int end_timer(struct clockwork *clockwork, const struct timer *timer, const char *why,
                     int64_t now_ms, struct err *err)
{
    LOG_WARN("wake", "a timer ends: it can't fire", LOG_STR("timer", timer->id),
             LOG_STR("agent", timer->agent_id), LOG_ERR(err));
    err_reset(err);
    return timer_end(clockwork->config.domain, clockwork->config.change, timer, why, now_ms, err);
}

static int fire_timer(struct clockwork *clockwork, struct zones *zones, const struct timer *timer,
                      int64_t now_ms, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    const struct zone *zone;
    struct timer_plan plan;
    int r;

    if (zone_for(clockwork, zones, timer, &zone, err) < 0 ||
        timer_plan(timer, zone, now_ms, &arena, &plan, err) < 0)
        return end_timer(clockwork, timer, "damaged", now_ms, err);
    r = fire_planned(clockwork, timer, &plan, now_ms, err);
    if (r < 0 && err->code == ERR_AGENT_DESTROYED)
        return end_timer(clockwork, timer, "destroyed", now_ms, err);
    return r;
}

/* A page of those that are due. *ret_more: the page was full. */
static int fire_page(struct clockwork *clockwork, int64_t now_ms, int *ret_queued, bool *ret_more,
                     struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    AUTO_ZONES zones = { MAP_INIT };
    struct timer *due;
    size_t n;

    if (timer_due(clockwork->config.domain, now_ms, PAGE, &arena, &due, &n, err) < 0)
        return -1;
    *ret_more = n == PAGE;
    for (size_t i = 0; i < n; i++) {
        int r;

        if (*ret_queued >= FIRINGS) {
            *ret_more = true;
            break;
        }
        r = fire_timer(clockwork, &zones, &due[i], now_ms, err);
        if (r < 0)
            return -1;
        *ret_queued += r;
    }
    return 0;
}

/* ---- steps ---- */

struct told {
    struct loop_effect effect;
    struct clockwork *clockwork; /* NULL: it is gone */
    bool queued;
};

static void on_durable(struct loop_effect *effect)
{
    struct told *told = CONTAINER_OF(effect, struct told, effect);
    struct clockwork *clockwork = told->clockwork;
    bool queued = told->queued;

    free(told);
    if (!clockwork)
        return;
    clockwork->told = NULL;
    if (clockwork->again)
        clockwork_look(clockwork);
    clockwork->again = false;
    if (queued && !clockwork->stopped && clockwork->config.queued)
        clockwork->config.queued(clockwork->config.arg);
}

/* When the store is healthy again everybody is told to look. */
static void retry(struct clockwork *clockwork)
{
    if (!clockwork->stopped && loop_is_healthy(clockwork->config.loop))
        loop_timer_start(clockwork->config.loop, &clockwork->step, RETRY_MS);
}

/* What the page did has not happened. */
static void on_dropped(struct loop_effect *effect, const struct err *why)
{
    struct told *told = CONTAINER_OF(effect, struct told, effect);
    struct clockwork *clockwork = told->clockwork;

    (void)why;
    free(told);
    if (!clockwork)
        return;
    clockwork->told = NULL;
    clockwork->moving = true;
    clockwork->moved_n = 0;
    retry(clockwork);
}

/* Inside the unit: what is told when it is durable. One page a tick. */
static void tell(struct clockwork *clockwork, bool queued)
{
    struct told *told = NEW(struct told);

    told->effect.run = on_durable;
    told->effect.drop = on_dropped;
    told->clockwork = clockwork;
    told->queued = queued;
    clockwork->told = told;
    loop_after_commit(clockwork->config.loop, &told->effect);
}

static int move_page(struct clockwork *clockwork, int64_t now_ms, struct err *err)
{
    const struct clockwork_config *c = &clockwork->config;
    struct str known;
    int r;

    if (!clockwork->moved_n) {
        if (timer_zone_known(c->domain, loop_arena(c->loop), &known, err) < 0)
            return -1;
        if (str_is(known, clockwork->here_name)) {
            clockwork->moving = false;
            return 0;
        }
    }
    r = timer_rezone(c->domain, c->change, clockwork->here, now_ms, &clockwork->moved_n, err);
    if (r == 0) {
        clockwork->moving = false;
        clockwork->moved_n = 0;
        r = timer_zone_remember(c->domain, str_from(clockwork->here_name), err);
    }
    return r < 0 ? -1 : 0;
}

/* One page of what there is to do, inside a unit. */
static int do_page(struct clockwork *clockwork, int *ret_queued, bool *ret_more, struct err *err)
{
    int64_t now = clock_wall_ms(loop_clock(clockwork->config.loop));

    if (clockwork->moving) {
        *ret_more = true;
        return move_page(clockwork, now, err);
    }
    return fire_page(clockwork, now, ret_queued, ret_more, err);
}

static int set_alarm(struct clockwork *clockwork, struct err *err)
{
    int64_t at;

    if (timer_next_due(clockwork->config.domain, &at, err) < 0)
        return -1;
    if (at)
        loop_alarm_start(clockwork->config.loop, &clockwork->alarm, at);
    else
        loop_timer_stop(clockwork->config.loop, &clockwork->alarm);
    return 0;
}

static int do_step(struct clockwork *clockwork, struct err *err)
{
    struct loop *loop = clockwork->config.loop;
    bool more = false;
    int queued = 0, r;

    if (find_here(clockwork, err) < 0 || loop_unit_begin(loop, clockwork->config.domain, err) < 0)
        return -1;
    r = do_page(clockwork, &queued, &more, err);
    tell(clockwork, queued > 0);
    if (loop_unit_end(loop, r == 0, r == 0 ? err : NULL) < 0 || r < 0)
        return -1;
    if (more) {
        loop_timer_start(loop, &clockwork->step, 0);
        return 0;
    }
    return set_alarm(clockwork, err);
}

static void step(struct clockwork *clockwork)
{
    struct err err = ERR_INIT;

    if (clockwork->stopped || clockwork->told) {
        clockwork->again = clockwork->told != NULL;
        return;
    }
    if (do_step(clockwork, &err) == 0) {
        clockwork->failing = false;
        return;
    }
    if (!clockwork->failing && loop_is_healthy(clockwork->config.loop))
        LOG_WARN("wake", "timers can't be fired now; they are looked at again", LOG_ERR(&err));
    clockwork->failing = true;
    retry(clockwork);
}

static void step_due(struct loop_timer *timer)
{
    step(CONTAINER_OF(timer, struct clockwork, step));
}

static void alarm_due(struct loop_timer *timer)
{
    step(CONTAINER_OF(timer, struct clockwork, alarm));
}

/* ---- life ---- */

struct clockwork *clockwork_new(const struct clockwork_config *config)
{
    struct clockwork *clockwork = NEW(struct clockwork);

    clockwork->config = *config;
    clockwork->alarm.fire = alarm_due;
    clockwork->step.fire = step_due;
    clockwork_watch_start(clockwork);
    clockwork_look(clockwork);
    return clockwork;
}

void clockwork_look(struct clockwork *clockwork)
{
    if (!clockwork->stopped)
        loop_timer_start(clockwork->config.loop, &clockwork->step, 0);
}

void clockwork_stop(struct clockwork *clockwork)
{
    if (clockwork->stopped)
        return;
    clockwork->stopped = true;
    loop_timer_stop(clockwork->config.loop, &clockwork->alarm);
    loop_timer_stop(clockwork->config.loop, &clockwork->step);
    clockwork_watch_stop(clockwork);
}

void clockwork_free(struct clockwork *clockwork)
{
    if (!clockwork)
        return;
    clockwork_stop(clockwork);
    if (clockwork->told)
        clockwork->told->clockwork = NULL;
    zone_free(clockwork->here);
    free(clockwork);
}
