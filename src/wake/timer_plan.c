/* What to do about a timer that is due: which of its occurrences fire, which are skipped and why,
 * and when it is due again.
 *
 * All occurrences up to now are walked over once, those that are late go into a ring of the last
 * few: more than those never fire. Nothing is read and nothing is written.
 *
 * SPDX-License-Identifier: MIT
 */
#include "wake/timer_int.h"

#define WALK_MAX (1 << 20) /* two years of minutes */
#define ON_TIME  8         /* within TIMER_LATE_MS, one a minute */

struct tally {
    int64_t last_at; /* of the occurrence before; the floor of what may fire */
    int64_t late_count, late_first, ring[TIMER_CAP_MAX + 1], keep;
    int64_t on_time[ON_TIME];
    size_t on_time_count;
    struct timer_skip gap;
};

static void skip_add(struct timer_skip *skip, int64_t at)
{
    if (!skip->count++)
        skip->first = at;
    skip->last = at;
}

static void count_late(struct tally *tally, int64_t at)
{
    if (!tally->late_count)
        tally->late_first = at;
    tally->ring[tally->late_count++ % (tally->keep + 1)] = at;
}

static void count(struct tally *tally, int64_t at, int64_t now_ms)
{
    if (at == tally->last_at) {
        skip_add(&tally->gap, at);
        return;
    }
    tally->last_at = at;
    if (at < now_ms - TIMER_LATE_MS || tally->on_time_count == ON_TIME)
        count_late(tally, at);
    else
        tally->on_time[tally->on_time_count++] = at;
}

/* Intervals need no walk: all but the last few are counted at once. */
static void jump_interval(struct timer_walk *walk, struct tally *tally, int64_t now_ms)
{
    int64_t step = walk->timer->interval_ms, due = (now_ms - walk->at) / step + 1;
    int64_t jump = due - TIMER_CAP_MAX - ON_TIME;

    if (walk->timer->kind != TIMER_INTERVAL || walk->at > now_ms || jump < 1)
        return;
    tally->late_first = walk->at;
    tally->late_count = jump;
    walk->at += jump * step;
}

/* Far behind: goes on a week before now. What lies between is not counted one by one. */
static void jump_rule(struct timer_walk *walk, int64_t now_ms)
{
    int64_t local = local_of(walk->zone, now_ms) - INT64_C(7) * DAY_S;

    if (walk->rule && local > walk->local)
        walk->local = local;
}

static void walk_due(struct timer_walk *walk, struct tally *tally, int64_t now_ms)
{
    int steps = 0;

    if (walk->timer->kind == TIMER_INTERVAL)
        jump_interval(walk, tally, now_ms);
    while (walk->at && walk->at <= now_ms) {
        count(tally, walk->at, now_ms);
        if (++steps == WALK_MAX)
            jump_rule(walk, now_ms);
        timer_walk_next(walk);
    }
}

static void plan_skip(struct timer_plan *plan, int64_t first, int64_t last, int64_t n,
                      const char *why)
{
    if (n > 0)
        plan->skips[plan->skip_count++] =
            (struct timer_skip){ .first = first, .last = last, .count = n, .why = why };
}

/* How many of those that are late fire. */
static int64_t late_firings(const struct timer *timer, const struct tally *tally)
{
    switch (timer->missed) {
    case TIMER_MISSED_SKIP:
        return 0;
    case TIMER_MISSED_ALL:
        return tally->late_count < tally->keep ? tally->late_count : tally->keep;
    default: /* one that is on time is the catch-up */
        return tally->late_count && !tally->on_time_count;
    }
}

static void plan_firings(const struct timer *timer, const struct tally *tally, struct arena *arena,
                         struct timer_plan *plan)
{
    int64_t late = late_firings(timer, tally), skipped = tally->late_count - late;
    int64_t slots = tally->keep + 1;

    plan->firings =
        arena_alloc(arena, (size_t)late + tally->on_time_count + 1, sizeof(*plan->firings));
    for (int64_t i = skipped; i < tally->late_count; i++)
        plan->firings[plan->firing_count++] = tally->ring[i % slots];
    plan->missed_count = plan->firing_count;
    for (size_t i = 0; i < tally->on_time_count; i++)
        plan->firings[plan->firing_count++] = tally->on_time[i];
    if (skipped)
        plan_skip(plan, tally->late_first, tally->ring[(skipped - 1) % slots], skipped,
                  timer->missed == TIMER_MISSED_ALL ? "cap" : "missed");
    plan_skip(plan, tally->gap.first, tally->gap.last, tally->gap.count, "gap");
}

int timer_plan(const struct timer *timer, const struct zone *zone, int64_t now_ms,
               struct arena *arena, struct timer_plan *ret_plan, struct err *err)
{
    struct timer_plan plan = { 0 };
    struct tally tally = { .last_at = timer->last_run_at };
    struct timer_walk walk;

    if (timer_walk_open(timer, zone, &walk, err) < 0)
        return -1;
    tally.keep = timer->missed == TIMER_MISSED_ALL ? timer->missed_cap : 1;
    tally.keep = tally.keep < TIMER_CAP_MAX ? tally.keep : TIMER_CAP_MAX;
    walk_due(&walk, &tally, now_ms);
    timer_walk_close(&walk);
    plan_firings(timer, &tally, arena, &plan);
    plan.next_run_at = walk.at;
    if (walk.at && timer->kind != TIMER_INTERVAL)
        local_text(walk.local, plan.next_local);
    *ret_plan = plan;
    return 0;
}
