/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/timefmt.h"
#include "harness/test.h"
#include "wake/timer.h"

static int64_t utc(const char *text)
{
    int64_t at = 0;

    if (timefmt_parse(str_from(text), &at, NULL) < 0)
        FAIL("%s is no time", text);
    return at;
}

static struct zone *zone_of(struct test *t, const char *name)
{
    struct zone *zone = NULL;

    ASSERT_OK(zone_open(str_from(name), &zone, &t->err));
    return zone;
}

/* A timer that has stood at `next` (local) since it was made. */
static struct timer timer_at(const struct zone *zone, const char *rrule, const char *start,
                             const char *next)
{
    struct timer timer = { .id = STR("t1"),
                           .kind = rrule ? TIMER_RRULE : TIMER_ONCE,
                           .rrule = rrule ? str_from(rrule) : STR_NONE,
                           .missed_cap = 10 };

    snprintf(timer.start_local, sizeof(timer.start_local), "%s", start);
    snprintf(timer.next_local, sizeof(timer.next_local), "%s", next);
    timer.next_run_at = timer_moment(zone, next);
    return timer;
}

static struct timer_plan planned(struct test *t, const struct timer *timer, const struct zone *zone,
                                 const char *now)
{
    struct timer_plan plan;

    ASSERT_OK(timer_plan(timer, zone, utc(now), &t->arena, &plan, &t->err));
    return plan;
}

#define ASSERT_SKIP(skip, first_, last_, count_, why_)                                             \
    do {                                                                                           \
        ASSERT_EQ((skip).first, utc(first_));                                                      \
        ASSERT_EQ((skip).last, utc(last_));                                                        \
        ASSERT_EQ((skip).count, (count_));                                                         \
        ASSERT_TEXT((skip).why, (why_));                                                           \
    } while (0)

TEST(a_firing_on_time_is_no_catch_up)
{
    AUTO(zone) berlin = zone_of(t, "Europe/Berlin");
    struct timer timer =
        timer_at(berlin, "FREQ=DAILY", "2026-02-18T07:00:00", "2026-02-18T07:00:00");
    struct timer_plan plan = planned(t, &timer, berlin, "2026-02-18T06:00:00.003Z");

    ASSERT_EQ(plan.firing_count, 1);
    ASSERT_EQ(plan.firings[0], utc("2026-02-18T06:00:00Z"));
    ASSERT_EQ(plan.missed_count, 0);
    ASSERT_EQ(plan.skip_count, 0);
    ASSERT_TEXT(plan.next_local, "2026-02-19T07:00:00");
    ASSERT_EQ(plan.next_run_at, utc("2026-02-19T06:00:00Z"));
}

TEST(a_minute_is_not_late_and_more_is)
{
    AUTO(zone) berlin = zone_of(t, "Europe/Berlin");
    struct timer timer =
        timer_at(berlin, "FREQ=DAILY", "2026-02-18T07:00:00", "2026-02-18T07:00:00");
    struct timer_plan plan = planned(t, &timer, berlin, "2026-02-18T06:01:00.000Z");

    ASSERT_EQ(plan.missed_count, 0);
    plan = planned(t, &timer, berlin, "2026-02-18T06:01:00.001Z");
    ASSERT_EQ(plan.firing_count, 1);
    ASSERT_EQ(plan.missed_count, 1);
}

TEST(nothing_fires_before_its_time)
{
    AUTO(zone) berlin = zone_of(t, "Europe/Berlin");
    struct timer timer =
        timer_at(berlin, "FREQ=DAILY", "2026-02-18T07:00:00", "2026-02-18T07:00:00");
    struct timer_plan plan = planned(t, &timer, berlin, "2026-02-18T05:59:59.999Z");

    ASSERT_EQ(plan.firing_count, 0);
    ASSERT_EQ(plan.skip_count, 0);
    ASSERT_EQ(plan.next_run_at, timer.next_run_at);
    ASSERT_TEXT(plan.next_local, timer.next_local);
}

/* ---- missed ---- */

TEST(nine_days_in_a_drawer_are_caught_up_once)
{
    AUTO(zone) berlin = zone_of(t, "Europe/Berlin");
    struct timer timer =
        timer_at(berlin, "FREQ=DAILY", "2026-02-01T07:00:00", "2026-02-02T07:00:00");
    struct timer_plan plan = planned(t, &timer, berlin, "2026-02-10T18:00:00Z");

    ASSERT_EQ(plan.firing_count, 1);
    ASSERT_EQ(plan.missed_count, 1);
    ASSERT_EQ(plan.firings[0], utc("2026-02-10T06:00:00Z"));
    ASSERT_EQ(plan.skip_count, 1);
    ASSERT_SKIP(plan.skips[0], "2026-02-02T06:00:00Z", "2026-02-09T06:00:00Z", 8, "missed");
    ASSERT_TEXT(plan.next_local, "2026-02-11T07:00:00");
}

TEST(one_on_time_covers_what_was_missed_before_it)
{
    AUTO(zone) berlin = zone_of(t, "Europe/Berlin");
    struct timer timer =
        timer_at(berlin, "FREQ=DAILY", "2026-02-01T07:00:00", "2026-02-02T07:00:00");
    struct timer_plan plan = planned(t, &timer, berlin, "2026-02-10T06:00:10Z");

    ASSERT_EQ(plan.firing_count, 1);
    ASSERT_EQ(plan.missed_count, 0);
    ASSERT_EQ(plan.firings[0], utc("2026-02-10T06:00:00Z"));
    ASSERT_SKIP(plan.skips[0], "2026-02-02T06:00:00Z", "2026-02-09T06:00:00Z", 8, "missed");
}

TEST(skip_fires_nothing_that_was_missed)
{
    AUTO(zone) berlin = zone_of(t, "Europe/Berlin");
    struct timer timer =
        timer_at(berlin, "FREQ=DAILY", "2026-02-01T07:00:00", "2026-02-02T07:00:00");
    struct timer_plan plan;

    timer.missed = TIMER_MISSED_SKIP;
    plan = planned(t, &timer, berlin, "2026-02-10T18:00:00Z");
    ASSERT_EQ(plan.firing_count, 0);
    ASSERT_EQ(plan.skip_count, 1);
    ASSERT_SKIP(plan.skips[0], "2026-02-02T06:00:00Z", "2026-02-10T06:00:00Z", 9, "missed");
    plan = planned(t, &timer, berlin, "2026-02-10T06:00:00Z");
    ASSERT_EQ(plan.firing_count, 1);
    ASSERT_EQ(plan.missed_count, 0);
}

TEST(all_fires_the_last_ones_up_to_its_cap)
{
    AUTO(zone) berlin = zone_of(t, "Europe/Berlin");
    struct timer timer =
        timer_at(berlin, "FREQ=DAILY", "2026-02-01T07:00:00", "2026-02-02T07:00:00");
    struct timer_plan plan;

    timer.missed = TIMER_MISSED_ALL;
    plan = planned(t, &timer, berlin, "2026-02-10T18:00:00Z");
    ASSERT_EQ(plan.firing_count, 9);
    ASSERT_EQ(plan.missed_count, 9);
    ASSERT_EQ(plan.firings[0], utc("2026-02-02T06:00:00Z"));
    ASSERT_EQ(plan.firings[8], utc("2026-02-10T06:00:00Z"));
    ASSERT_EQ(plan.skip_count, 0);
    timer.missed_cap = 3;
    plan = planned(t, &timer, berlin, "2026-02-11T06:00:00Z"); /* and one on time */
    ASSERT_EQ(plan.firing_count, 4);
    ASSERT_EQ(plan.missed_count, 3);
    ASSERT_EQ(plan.firings[0], utc("2026-02-08T06:00:00Z"));
    ASSERT_EQ(plan.firings[3], utc("2026-02-11T06:00:00Z"));
    ASSERT_SKIP(plan.skips[0], "2026-02-02T06:00:00Z", "2026-02-07T06:00:00Z", 6, "cap");
}

TEST(years_of_missed_minutes_are_one_catch_up)
{
    AUTO(zone) berlin = zone_of(t, "Europe/Berlin");
    struct timer timer =
        timer_at(berlin, "FREQ=MINUTELY", "2026-02-01T07:00:00", "2026-02-01T07:00:00");
    struct timer_plan plan = planned(t, &timer, berlin, "2026-03-01T06:00:30Z");

    ASSERT_EQ(plan.firing_count, 1);
    ASSERT_EQ(plan.missed_count, 0);
    ASSERT_SKIP(plan.skips[0], "2026-02-01T06:00:00Z", "2026-03-01T05:59:00Z", 28 * 1440, "missed");
    plan = planned(t, &timer, berlin, "2066-03-01T06:00:30Z"); /* not counted one by one */
    ASSERT_EQ(plan.firing_count, 1);
    ASSERT_EQ(plan.firings[0], utc("2066-03-01T06:00:00Z"));
    ASSERT_EQ(plan.skips[0].first, utc("2026-02-01T06:00:00Z"));
    ASSERT_EQ(plan.skips[0].last, utc("2066-03-01T05:59:00Z"));
    ASSERT(plan.skips[0].count > 1000000);
}

/* ---- gaps and overlaps ---- */

TEST(a_time_that_clocks_skip_fires_at_the_next_minute_they_show)
{
    AUTO(zone) berlin = zone_of(t, "Europe/Berlin");
    struct timer timer =
        timer_at(berlin, "FREQ=DAILY", "2026-03-28T02:30:00", "2026-03-29T02:30:00");
    struct timer_plan plan = planned(t, &timer, berlin, "2026-03-29T01:00:00Z");

    ASSERT_EQ(plan.firing_count, 1);
    ASSERT_EQ(plan.firings[0], utc("2026-03-29T01:00:00Z")); /* 03:00 there */
    ASSERT_TEXT(plan.next_local, "2026-03-30T02:30:00");     /* and not 03:30 */
    ASSERT_EQ(plan.next_run_at, utc("2026-03-30T00:30:00Z"));
}

TEST(a_time_that_clocks_show_twice_fires_at_the_first)
{
    AUTO(zone) berlin = zone_of(t, "Europe/Berlin");
    struct timer timer =
        timer_at(berlin, "FREQ=DAILY", "2026-10-24T02:30:00", "2026-10-25T02:30:00");
    struct timer_plan plan = planned(t, &timer, berlin, "2026-10-25T00:30:00Z");

    ASSERT_EQ(plan.firing_count, 1);
    ASSERT_EQ(plan.firings[0], utc("2026-10-25T00:30:00Z"));
    ASSERT_TEXT(plan.next_local, "2026-10-26T02:30:00");
    ASSERT_EQ(plan.next_run_at, utc("2026-10-26T01:30:00Z"));
}

TEST(two_occurrences_at_one_moment_fire_once)
{
    AUTO(zone) berlin = zone_of(t, "Europe/Berlin");
    struct timer timer =
        timer_at(berlin, "FREQ=DAILY;BYHOUR=2,3", "2026-03-28T02:00:00", "2026-03-29T02:00:00");
    struct timer_plan plan = planned(t, &timer, berlin, "2026-03-29T01:00:00Z");

    ASSERT_EQ(plan.firing_count, 1);
    ASSERT_EQ(plan.skip_count, 1);
    ASSERT_SKIP(plan.skips[0], "2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z", 1, "gap");
    ASSERT_TEXT(plan.next_local, "2026-03-30T02:00:00");
    /* Also when the first has fired already. */
    memcpy(timer.next_local, "2026-03-29T03:00:00", TIMER_LOCAL_SIZE);
    timer.last_run_at = utc("2026-03-29T01:00:00Z");
    plan = planned(t, &timer, berlin, "2026-03-29T01:00:00Z");
    ASSERT_EQ(plan.firing_count, 0);
    ASSERT_SKIP(plan.skips[0], "2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z", 1, "gap");
}

TEST(the_minutes_of_a_gap_fire_once_together)
{
    AUTO(zone) berlin = zone_of(t, "Europe/Berlin");
    struct timer timer =
        timer_at(berlin, "FREQ=MINUTELY", "2026-03-28T02:00:00", "2026-03-29T02:00:00");
    struct timer_plan plan = planned(t, &timer, berlin, "2026-03-29T01:00:59Z");

    ASSERT_EQ(plan.firing_count, 1);
    ASSERT_EQ(plan.firings[0], utc("2026-03-29T01:00:00Z"));
    ASSERT_SKIP(plan.skips[0], "2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z", 60, "gap");
    ASSERT_TEXT(plan.next_local, "2026-03-29T03:01:00");
}

TEST(a_gap_of_half_an_hour_ends_on_its_minute)
{
    AUTO(zone) howe = zone_of(t, "Australia/Lord_Howe"); /* 02:00 -> 02:30 */

    ASSERT_EQ(timer_moment(howe, "2026-10-04T02:10:00"), utc("2026-10-03T15:30:00Z"));
    ASSERT_EQ(timer_moment(howe, "2026-10-04T01:59:00"), utc("2026-10-03T15:29:00Z"));
    ASSERT_EQ(timer_moment(howe, "2026-10-04T02:30:00"), utc("2026-10-03T15:30:00Z"));
    ASSERT_EQ(timer_moment(howe, "2026-04-05T01:45:00"), utc("2026-04-04T14:45:00Z"));
}

TEST(a_gap_that_ends_within_a_minute_gives_the_next_whole_one)
{
    AUTO(zone) amsterdam = zone_of(t, "Africa/Monrovia"); /* 1972-01-07: -0:44:30 -> 0 */
    char shown[TIMER_LOCAL_SIZE];
    int64_t at = timer_moment(amsterdam, "1972-01-07T00:20:00");

    timer_local(amsterdam, at, shown);
    ASSERT_EQ(at % 60000, 0);
    ASSERT(strcmp(shown, "1972-01-07T00:44:00") >= 0);
    ASSERT(strcmp(shown, "1972-01-07T00:46:00") < 0);
}

/* ---- clocks and places ---- */

TEST(a_clock_that_is_set_back_fires_nothing_again)
{
    AUTO(zone) berlin = zone_of(t, "Europe/Berlin");
    struct timer timer =
        timer_at(berlin, "FREQ=DAILY", "2026-02-18T07:00:00", "2026-02-18T07:00:00");
    struct timer_plan plan = planned(t, &timer, berlin, "2026-02-18T06:00:00Z");

    timer.last_run_at = plan.firings[0];
    timer.next_run_at = plan.next_run_at;
    memcpy(timer.next_local, plan.next_local, sizeof(timer.next_local));
    for (int hour = 0; hour < 24 + 23; hour++) {
        ASSERT_OK(timer_plan(&timer, berlin, utc("2026-02-17T06:30:00Z") + HOURS(hour), &t->arena,
                             &plan, &t->err));
        ASSERT_EQ(plan.firing_count, 0);
        ASSERT_EQ(plan.skip_count, 0);
    }
    plan = planned(t, &timer, berlin, "2026-02-19T06:00:00Z");
    ASSERT_EQ(plan.firing_count, 1);
}

TEST(a_machine_that_travels_keeps_the_wall_clock_time)
{
    AUTO(zone) berlin = zone_of(t, "Europe/Berlin");
    AUTO(zone) york = zone_of(t, "America/New_York");
    struct timer timer =
        timer_at(berlin, "FREQ=DAILY", "2026-02-18T07:00:00", "2026-02-18T07:00:00");
    /* It was due in Berlin, but the machine is in New York, where it is half past one. */
    struct timer_plan plan = planned(t, &timer, york, "2026-02-18T06:30:00Z");

    ASSERT_EQ(plan.firing_count, 0);
    ASSERT_EQ(plan.next_run_at, utc("2026-02-18T12:00:00Z"));
    ASSERT_TEXT(plan.next_local, "2026-02-18T07:00:00");
    /* Fired in Berlin at seven, then flown to where it becomes seven again: not a second time. */
    memcpy(timer.next_local, "2026-02-19T07:00:00", TIMER_LOCAL_SIZE);
    timer.last_run_at = utc("2026-02-18T06:00:00Z");
    plan = planned(t, &timer, york, "2026-02-18T12:00:00Z");
    ASSERT_EQ(plan.firing_count, 0);
    ASSERT_EQ(plan.next_run_at, utc("2026-02-19T12:00:00Z"));
}

/* ---- other kinds ---- */

TEST(a_moment_fires_once_and_ends)
{
    AUTO(zone) berlin = zone_of(t, "Europe/Berlin");
    struct timer timer = timer_at(berlin, NULL, "2026-02-18T07:00:00", "2026-02-18T07:00:00");
    struct timer_plan plan = planned(t, &timer, berlin, "2026-02-18T06:00:00Z");

    ASSERT_EQ(plan.firing_count, 1);
    ASSERT_EQ(plan.next_run_at, 0);
    ASSERT_TEXT(plan.next_local, "");
    plan = planned(t, &timer, berlin, "2026-02-28T06:00:00Z");
    ASSERT_EQ(plan.firing_count, 1);
    ASSERT_EQ(plan.missed_count, 1);
    timer.missed = TIMER_MISSED_SKIP;
    plan = planned(t, &timer, berlin, "2026-02-28T06:00:00Z");
    ASSERT_EQ(plan.firing_count, 0);
    ASSERT_EQ(plan.skip_count, 1);
    ASSERT_EQ(plan.next_run_at, 0);
}

TEST(a_rule_that_ends_ends_its_timer)
{
    AUTO(zone) berlin = zone_of(t, "Europe/Berlin");
    struct timer timer =
        timer_at(berlin, "FREQ=DAILY;COUNT=2", "2026-02-18T07:00:00", "2026-02-19T07:00:00");
    struct timer_plan plan = planned(t, &timer, berlin, "2026-02-19T06:00:00Z");

    ASSERT_EQ(plan.firing_count, 1);
    ASSERT_EQ(plan.next_run_at, 0);
}

TEST(an_interval_counts_from_its_beginning)
{
    AUTO(zone) zone = zone_of(t, "UTC");
    int64_t made = utc("2026-02-18T07:00:13Z");
    struct timer timer = { .id = STR("t"),
                           .kind = TIMER_INTERVAL,
                           .interval_ms = MINUTES(5),
                           .created_at = made,
                           .next_run_at = made + MINUTES(5),
                           .missed_cap = 10 };
    struct timer_plan plan;

    ASSERT_OK(timer_plan(&timer, zone, made + MINUTES(5) + 20, &t->arena, &plan, &t->err));
    ASSERT_EQ(plan.firing_count, 1);
    ASSERT_EQ(plan.firings[0], made + MINUTES(5));
    ASSERT_EQ(plan.next_run_at, made + MINUTES(10));
    /* A year later: as many as there are, without counting them one by one. */
    ASSERT_OK(timer_plan(&timer, zone, made + DAYS(365) + MINUTES(4), &t->arena, &plan, &t->err));
    ASSERT_EQ(plan.firing_count, 1);
    ASSERT_EQ(plan.missed_count, 1);
    ASSERT_EQ(plan.firings[0], made + DAYS(365));
    ASSERT_EQ(plan.skips[0].count, 365 * 288 - 1);
    ASSERT_EQ(plan.skips[0].first, made + MINUTES(5));
    ASSERT_EQ(plan.skips[0].last, made + DAYS(365) - MINUTES(5));
    ASSERT_EQ(plan.next_run_at, made + DAYS(365) + MINUTES(5));
    timer.missed = TIMER_MISSED_ALL;
    timer.missed_cap = TIMER_CAP_MAX;
    ASSERT_OK(timer_plan(&timer, zone, made + DAYS(365) + MINUTES(4), &t->arena, &plan, &t->err));
    ASSERT_EQ(plan.firing_count, TIMER_CAP_MAX);
    ASSERT_EQ(plan.firings[0], made + DAYS(365) - MINUTES(5) * (TIMER_CAP_MAX - 1));
    ASSERT_EQ(plan.skips[0].count, 365 * 288 - TIMER_CAP_MAX);
    ASSERT_EQ(plan.skips[0].last, made + DAYS(365) - MINUTES(5) * TIMER_CAP_MAX);
}

TEST(what_is_stored_and_no_timer_is_said_to_be_damaged)
{
    AUTO(zone) berlin = zone_of(t, "Europe/Berlin");
    struct timer good =
        timer_at(berlin, "FREQ=DAILY", "2026-02-18T07:00:00", "2026-02-18T07:00:00");
    struct timer_plan plan;
    struct timer bad[4] = { good, good, good, good };

    bad[0].rrule = STR("FREQ=NEVER");
    bad[1].next_local[0] = 'x';
    bad[2].kind = TIMER_KIND_NONE;
    bad[3].kind = TIMER_INTERVAL;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        ASSERT_FAILS(
            timer_plan(&bad[i], berlin, utc("2026-02-18T06:00:00Z"), &t->arena, &plan, &t->err),
            ERR_INTEGRITY_FAILED);
        err_reset(&t->err);
    }
}

/* ---- the first after a moment ---- */

TEST(the_next_moment_is_asked_without_a_timer)
{
    AUTO(zone) berlin = zone_of(t, "Europe/Berlin");
    AUTO(recurrence) rule = NULL;
    char local[TIMER_LOCAL_SIZE];
    int64_t at = utc("2026-10-25T00:30:00Z"); /* 02:30 for the first time */

    ASSERT_OK(recurrence_parse(STR("FREQ=HOURLY"), STR("2026-10-01T00:30:00"), &rule, &t->err));
    ASSERT_EQ(recurrence_next_moment(rule, berlin, at, local, &at), 1);
    ASSERT_TEXT(local, "2026-10-25T03:30:00");
    ASSERT_EQ(at, utc("2026-10-25T02:30:00Z"));
    /* In the hour that is shown again, nothing of it comes again. */
    ASSERT_EQ(recurrence_next_moment(rule, berlin, utc("2026-10-25T01:10:00Z"), local, &at), 1);
    ASSERT_TEXT(local, "2026-10-25T03:30:00");
    ASSERT_EQ(recurrence_next_moment(rule, berlin, utc("2026-03-29T00:59:00Z"), local, &at), 1);
    ASSERT_EQ(at, utc("2026-09-30T22:30:00Z"));
}

TEST(a_start_is_made_of_what_the_rule_leaves_open)
{
    char start[TIMER_LOCAL_SIZE];

    ASSERT_OK(recurrence_start(STR("FREQ=DAILY;BYHOUR=7"), "2026-02-18T12:34:56", start, &t->err));
    ASSERT_TEXT(start, "2026-02-18T12:00:00");
    ASSERT_OK(recurrence_start(STR("FREQ=DAILY;BYHOUR=7;BYMINUTE=5"), "2026-02-18T12:34:56", start,
                               &t->err));
    ASSERT_TEXT(start, "2026-02-18T12:34:00");
    ASSERT_OK(recurrence_start(STR("FREQ=DAILY"), "2026-02-18T12:34:56", start, &t->err));
    ASSERT_TEXT(start, "2026-02-18T12:34:56");
    ASSERT_FAILS(recurrence_start(STR("FREQ=X"), "2026-02-18T12:34:56", start, &t->err),
                 ERR_BAD_REQUEST);
}
