/* Timers: what one may be, and where its occurrences lie.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "wake/timer_int.h"

#define MISSED_CAP 10

static const char *const kinds[] = {
    [TIMER_RRULE] = "rrule", [TIMER_ONCE] = "once", [TIMER_INTERVAL] = "interval"
};
static const char *const missed_names[] = {
    [TIMER_MISSED_ONCE] = "once", [TIMER_MISSED_SKIP] = "skip", [TIMER_MISSED_ALL] = "all"
};

const char *timer_kind_name(enum timer_kind kind)
{
    return kinds[kind];
}

enum timer_kind timer_kind_of(struct str name)
{
    for (size_t i = TIMER_RRULE; i < ARRAY_LEN(kinds); i++)
        if (str_is(name, kinds[i]))
            return (enum timer_kind)i;
    return TIMER_KIND_NONE;
}

const char *timer_missed_name(enum timer_missed missed)
{
    return missed_names[missed];
}

int timer_missed_of(struct str name, enum timer_missed *ret_missed, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(missed_names); i++)
        if (str_is(name, missed_names[i])) {
            *ret_missed = (enum timer_missed)i;
            return 0;
        }
    return err_set(err, ERR_BAD_REQUEST, "missed: \"%.*s\" is none of once, skip, all",
                   STR_ARG(str_take(name, 20)));
}

int timer_zone_open(struct str name, struct zone **ret_zone, struct err *err)
{
    char here[ZONE_NAME_MAX + 1];

    if (name.n)
        return zone_open(name, ret_zone, err);
    zone_system(here);
    return zone_open(str_from(here), ret_zone, err);
}

/* ---- rules on the clocks of a zone ---- */

int recurrence_start(struct str rrule, const char *from_local, char ret_start[TIMER_LOCAL_SIZE],
                     struct err *err)
{
    struct recurrence rule = { 0 };
    int64_t from;

    if (recurrence_read(rrule, &rule, err) < 0 ||
        local_parse("start", str_from(from_local), &from, err) < 0)
        return -1;
    if (rule.minutes || rule.hours)
        from -= (from % 60 + 60) % 60;
    if (rule.hours && !rule.minutes)
        from -= (from % 3600 + 3600) % 3600;
    local_text(from, ret_start);
    return 0;
}

/* The first whose moment lies after floor_ms: 1, or 0. Clocks show no time after it earlier than
 * that moment's own, but those of an overlap, which have passed: the loop leaves them behind. */
static int next_after(struct recurrence *rule, const struct zone *zone, int64_t floor_ms,
                      int64_t *ret_local, int64_t *ret_at)
{
    int64_t local = local_of(zone, floor_ms), at;

    do {
        if (recurrence_after(rule, local, &local) == 0)
            return 0;
        at = local_moment(zone, local);
    } while (at <= floor_ms);
    *ret_local = local;
    *ret_at = at;
    return 1;
}

int recurrence_next_moment(struct recurrence *recurrence, const struct zone *zone, int64_t after_ms,
                           char ret_local[TIMER_LOCAL_SIZE], int64_t *ret_ms)
{
    int64_t local;

    if (next_after(recurrence, zone, after_ms, &local, ret_ms) == 0)
        return 0;
    local_text(local, ret_local);
    return 1;
}

/* ---- one after the other ---- */

static int open_rule(const struct timer *timer, struct timer_walk *walk, struct err *err)
{
    struct err why = ERR_INIT;
    char text[ERR_TEXT_MAX];

    if (timer->kind != TIMER_INTERVAL &&
        local_parse("next", str_from(timer->next_local), &walk->local, &why) < 0)
        return err_set(err, ERR_INTEGRITY_FAILED, "timer %.*s: %s", STR_ARG(timer->id),
                       err_format(&why, text, sizeof(text)));
    if (timer->kind == TIMER_RRULE &&
        recurrence_parse(timer->rrule, str_from(timer->start_local), &walk->rule, &why) < 0)
        return err_set(err, ERR_INTEGRITY_FAILED, "timer %.*s: %s", STR_ARG(timer->id),
                       err_format(&why, text, sizeof(text)));
    if (timer->kind == TIMER_KIND_NONE || (timer->kind == TIMER_INTERVAL && timer->interval_ms < 1))
        return err_set(err, ERR_INTEGRITY_FAILED, "timer %.*s: can't be read", STR_ARG(timer->id));
    return 0;
}

int timer_walk_open(const struct timer *timer, const struct zone *zone, struct timer_walk *ret_walk,
                    struct err *err)
{
    struct timer_walk walk = { .timer = timer, .zone = zone, .at = timer->next_run_at };

    if (open_rule(timer, &walk, err) < 0)
        return -1;
    if (walk.at && timer->kind != TIMER_INTERVAL)
        walk.at = local_moment(zone, walk.local);
    *ret_walk = walk;
    return 0;
}

void timer_walk_next(struct timer_walk *walk)
{
    if (walk->timer->kind == TIMER_INTERVAL)
        walk->at += walk->timer->interval_ms;
    else if (walk->rule && recurrence_after(walk->rule, walk->local, &walk->local) == 1)
        walk->at = local_moment(walk->zone, walk->local);
    else
        walk->at = 0;
}

void timer_walk_close(struct timer_walk *walk)
{
    recurrence_free(walk->rule);
    walk->rule = NULL;
}

/* ---- checks ---- */

static int check_texts(const struct timer *timer, struct err *err)
{
    if (timer->name.n && agent_name_check("name", timer->name, err) < 0)
        return -1;
    return agent_text_check("prompt", timer->prompt, TIMER_PROMPT_MAX, err);
}

/* kind by what is given; what belongs to another kind is refused. */
static int check_kind(struct timer *timer, struct err *err)
{
    if (!timer->kind)
        timer->kind = timer->rrule.n       ? TIMER_RRULE
                      : timer->interval_ms ? TIMER_INTERVAL
                                           : TIMER_ONCE;
    if ((timer->kind == TIMER_RRULE) != (timer->rrule.n > 0))
        return err_set(err, ERR_BAD_REQUEST,
                       "rrule: is for timers of kind rrule, and they need it");
    if ((timer->kind == TIMER_INTERVAL) != (timer->interval_ms != 0))
        return err_set(err, ERR_BAD_REQUEST,
                       "intervalSeconds: is for timers of kind interval, and they need it");
    if (timer->kind == TIMER_ONCE && !timer->start_local[0])
        return err_set(err, ERR_BAD_REQUEST,
                       "a timer needs rrule (such as FREQ=DAILY;BYHOUR=7), start (such as "
                       "2026-02-18T07:00) or intervalSeconds");
    if (timer->kind == TIMER_INTERVAL && (timer->start_local[0] || timer->zone.n))
        return err_set(err, ERR_BAD_REQUEST,
                       "start and zone: are not for timers of kind interval, which begin when they "
                       "are made");
    if (timer->kind == TIMER_INTERVAL &&
        (timer->interval_ms < TIMER_INTERVAL_MIN || timer->interval_ms > TIMER_INTERVAL_MAX))
        return err_set(err, ERR_BAD_REQUEST, "intervalSeconds: is from %d to %d",
                       (int)(TIMER_INTERVAL_MIN / 1000), (int)(TIMER_INTERVAL_MAX / 1000));
    return 0;
}

/* Whole, with seconds, and there where the rule leaves it out. */
static int check_start(struct timer *timer, const struct zone *zone, int64_t now_ms,
                       struct err *err)
{
    AUTO(recurrence) rule = NULL;
    int64_t start;

    if (timer->kind == TIMER_INTERVAL)
        return 0;
    if (!timer->start_local[0]) {
        timer_local(zone, now_ms - now_ms % MINUTES(1), timer->start_local);
        if (recurrence_start(timer->rrule, timer->start_local, timer->start_local, err) < 0)
            return err_wrap(err, "rrule");
    }
    if (local_parse("start", str_from(timer->start_local), &start, err) < 0)
        return -1;
    local_text(start, timer->start_local);
    if (timer->kind == TIMER_RRULE &&
        recurrence_parse(timer->rrule, str_from(timer->start_local), &rule, err) < 0)
        return err_wrap(err, "rrule");
    return 0;
}

int timer_check(struct timer *timer, const struct zone *zone, int64_t now_ms, struct err *err)
{
    if (!timer->missed_cap)
        timer->missed_cap = MISSED_CAP;
    if (timer->missed_cap < 1 || timer->missed_cap > TIMER_CAP_MAX)
        return err_set(err, ERR_BAD_REQUEST, "missedCap: is from 1 to %d", TIMER_CAP_MAX);
    if (check_texts(timer, err) < 0 || check_kind(timer, err) < 0)
        return -1;
    return check_start(timer, zone, now_ms, err);
}

/* ---- the first ---- */

static void set_next(struct timer *timer, int64_t local, int64_t at)
{
    timer->next_run_at = at;
    timer->next_local[0] = '\0';
    if (at && timer->kind != TIMER_INTERVAL)
        local_text(local, timer->next_local);
}

static int first_once(struct timer *timer, const struct zone *zone, int64_t floor_ms,
                      struct err *err)
{
    int64_t at, local;

    if (local_parse("start", str_from(timer->start_local), &local, err) < 0)
        return -1;
    at = local_moment(zone, local);
    set_next(timer, local, at > floor_ms ? at : 0);
    return 0;
}

static int first_rule(struct timer *timer, const struct zone *zone, int64_t floor_ms,
                      struct err *err)
{
    AUTO(recurrence) rule = NULL;
    int64_t local = 0, at = 0;

    if (recurrence_parse(timer->rrule, str_from(timer->start_local), &rule, err) < 0)
        return -1;
    if (next_after(rule, zone, floor_ms, &local, &at) == 0)
        at = 0;
    set_next(timer, local, at);
    return 0;
}

int timer_first(struct timer *timer, const struct zone *zone, int64_t floor_ms, struct err *err)
{
    int64_t past;

    switch (timer->kind) {
    case TIMER_ONCE:
        return first_once(timer, zone, floor_ms, err);
    case TIMER_INTERVAL:
        past =
            floor_ms < timer->created_at ? 0 : (floor_ms - timer->created_at) / timer->interval_ms;
        set_next(timer, 0, timer->created_at + (past + 1) * timer->interval_ms);
        return 0;
    default:
        return first_rule(timer, zone, floor_ms, err);
    }
}

int timer_moved(struct timer *timer, const struct zone *zone, struct err *err)
{
    struct timer_walk walk;
    bool of_hours;

    if (timer->kind == TIMER_INTERVAL || !timer->next_run_at)
        return 0;
    if (timer_walk_open(timer, zone, &walk, err) < 0)
        return -1;
    of_hours = walk.rule && walk.rule->freq < FREQ_DAILY;
    timer_walk_close(&walk);
    if (of_hours)
        return timer_first(timer, zone, timer->last_run_at ? timer->last_run_at : timer->created_at,
                           err);
    timer->next_run_at = walk.at;
    return 0;
}
