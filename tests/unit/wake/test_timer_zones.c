/* Ten years and more over every zone that there is: a daily timer fires once on each local day,
 * when the clocks show its time, by the C library's reading of the same tables.
 *
 * The quick run looks at the days around each change of a zone's clocks; DORMOUSE_TEST_LONG at all
 * days.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <time.h>

#include "base/timefmt.h"
#include "harness/test.h"
#include "wake/timer.h"

#define DAY_S     INT64_C(86400)
#define ZONES_MAX 1000

struct zones {
    char names[ZONES_MAX][ZONE_NAME_MAX + 1];
    size_t n;
};

/* Lines "Z NAME ..." and "L TARGET NAME" of the compiled source. */
static void read_zones(struct test *t, struct zones *zones)
{
    FILE *file = fopen("/usr/share/zoneinfo/tzdata.zi", "r");
    char line[512], a[128], b[128];

    ASSERT(file);
    while (fgets(line, sizeof(line), file)) {
        char kind;
        int n = sscanf(line, "%c %127s %127s", &kind, a, b);
        const char *name = n == 3 && kind == 'Z' ? a : n == 3 && kind == 'L' ? b : NULL;

        if (!name)
            continue;
        ASSERT(zones->n < ZONES_MAX);
        snprintf(zones->names[zones->n++], ZONE_NAME_MAX + 1, "%s", name);
    }
    fclose(file);
    ASSERT(zones->n > 400);
    (void)t;
}

static void tz_set(const char *name)
{
    setenv("TZ", name, 1);
    tzset();
}

/* What the C library says clocks show, as seconds. */
static int64_t shown(int64_t utc_s)
{
    time_t at = (time_t)utc_s;
    struct tm tm;

    localtime_r(&at, &tm);
    return timefmt_days(tm.tm_year + 1900, (unsigned)tm.tm_mon + 1, (unsigned)tm.tm_mday) * DAY_S +
           tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec;
}

/* Is utc_s the first moment that shows local, or the first minute after clocks skipped it? */
static bool is_moment_of(int64_t utc_s, int64_t local)
{
    static const int before[] = { 1200, 1800, 3600, 5400, 7200, 10800, 86400 };

    if (shown(utc_s) == local) {
        for (size_t i = 0; i < ARRAY_LEN(before); i++)
            if (shown(utc_s - before[i]) == local)
                return false;
        return true;
    }
    return shown(utc_s) > local && shown(utc_s - 60) < local && shown(utc_s) % 60 == 0;
}

static int64_t offset_at(int64_t utc_s)
{
    return shown(utc_s) - utc_s;
}

struct sweep {
    struct test *t;
    const char *name;
    struct zone *zone;
    int64_t fired, gaps;
};

/* Lives through the days from..to with a timer at this minute of the day. */
static void live(struct sweep *sweep, int minute, int64_t from_day, int64_t to_day)
{
    struct test *t = sweep->t;
    struct timer timer = { .id = STR("t"), .kind = TIMER_RRULE, .rrule = STR("FREQ=DAILY") };
    char start[TIMER_LOCAL_SIZE];
    int64_t day = from_day;
    struct timer_plan plan;

    snprintf(timer.start_local, sizeof(start), "2000-01-01T%02d:%02d:00", minute / 60, minute % 60);
    timer_local(sweep->zone, 0, start);
    memcpy(timer.next_local, timer.start_local, sizeof(timer.next_local));
    {
        AUTO(recurrence) rule = NULL;
        char after[TIMER_LOCAL_SIZE];
        time_t at = (time_t)(from_day * DAY_S - 1);
        struct tm tm;

        strftime(after, sizeof(after), "%Y-%m-%dT%H:%M:%S", gmtime_r(&at, &tm));
        ASSERT_OK(recurrence_parse(timer.rrule, str_from(timer.start_local), &rule, &t->err));
        ASSERT_EQ(recurrence_next(rule, after, timer.next_local, &t->err), 1);
    }
    timer.next_run_at = timer_moment(sweep->zone, timer.next_local);
    while (day < to_day) {
        AUTO_ARENA arena = ARENA_INIT;

        ASSERT_OK(timer_plan(&timer, sweep->zone, timer.next_run_at, &arena, &plan, &t->err));
        ASSERT_EQ(plan.missed_count, 0);
        for (size_t i = 0; i < plan.firing_count; i++, day++, sweep->fired++)
            if (!is_moment_of(plan.firings[i] / 1000, day * DAY_S + minute * 60))
                FAIL("%s %02d:%02d: %lld is not the moment of day %lld", sweep->name, minute / 60,
                     minute % 60, (long long)plan.firings[i], (long long)day);
        /* Where a whole day is skipped, midnight of the next one is the moment of both. */
        for (size_t i = 0; i < plan.skip_count; i++) {
            ASSERT_TEXT(plan.skips[i].why, "gap");
            ASSERT(is_moment_of(plan.skips[i].first / 1000, day * DAY_S + minute * 60));
            day += plan.skips[i].count;
            sweep->gaps += plan.skips[i].count;
        }
        ASSERT(plan.next_run_at > timer.next_run_at);
        timer.last_run_at = timer.next_run_at;
        timer.next_run_at = plan.next_run_at;
        memcpy(timer.next_local, plan.next_local, sizeof(plan.next_local));
    }
}

static const int minutes_of_day[] = { 0, 30, 120, 150, 180, 1439 };

static void sweep_zone(struct sweep *sweep, int from_year, int to_year, bool whole)
{
    int64_t first = timefmt_days(from_year, 1, 1), last = timefmt_days(to_year, 1, 1);

    tz_set(sweep->name);
    for (int64_t day = first; !whole && day < last; day++) {
        if (offset_at(day * DAY_S) == offset_at((day + 1) * DAY_S))
            continue;
        for (size_t i = 0; i < ARRAY_LEN(minutes_of_day); i++)
            live(sweep, minutes_of_day[i], day - 1, day + 3);
    }
    for (size_t i = 0; whole && i < ARRAY_LEN(minutes_of_day); i++)
        live(sweep, minutes_of_day[i], first, last);
}

TEST(a_daily_timer_fires_once_on_each_local_day_of_every_zone, .timeout_s = 3600)
{
    bool whole = test_long();
    struct zones *zones = arena_alloc(&t->arena, 1, sizeof(*zones));
    struct sweep sweep = { .t = t };
    size_t swept = 0;

    read_zones(t, zones);
    for (size_t i = 0; i < zones->n; i++) {
        sweep.name = zones->names[i];
        ASSERT_OK(zone_open(str_from(sweep.name), &sweep.zone, &t->err));
        sweep_zone(&sweep, whole ? 2005 : 2022, whole ? 2040 : 2032, whole);
        zone_free(sweep.zone);
        swept++;
    }
    fprintf(stderr, "%zu of %zu zones, %d years%s, %lld firings\n", swept, zones->n,
            whole ? 35 : 10, whole ? "" : " around their changes", (long long)sweep.fired);
    ASSERT(sweep.fired > (whole ? 40000000 : 50000));
}

TEST(a_timer_keeps_its_place_where_a_whole_day_is_skipped)
{
    struct sweep sweep = { .t = t, .name = "Pacific/Apia" };

    ASSERT_OK(zone_open(str_from(sweep.name), &sweep.zone, &t->err));
    sweep_zone(&sweep, 2011, 2013, true);
    zone_free(sweep.zone);
    ASSERT_EQ(sweep.gaps, 1); /* 2011-12-30T00:00 is 2011-12-31T00:00, which fires */
}
