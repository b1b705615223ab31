/* How fresh a report is.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/report.h"
#include "harness/test.h"

#define NOW  INT64_C(1700000000000)
#define HOUR (3600ll * 1000)
#define DAY  (24 * HOUR)

static struct report_freshness judge(struct test *t, const char *scope, int64_t age, int64_t newer)
{
    const struct report report = { .scope = str_from(scope), .created_at = NOW - age };
    struct report_freshness fresh;

    report_judge(&report, NOW, newer, newer ? NOW - 30 * 60000 : 0, &t->arena, &fresh);
    return fresh;
}

TEST(a_report_is_stale_when_its_time_is_over)
{
    static const struct {
        const char *scope;
        int64_t limit;
    } cases[] = {
        { "current", 36 * HOUR },
        { "daily", 48 * HOUR },
        { "weekly", 9 * DAY },
        { "monthly", 35 * DAY },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct report_freshness fresh = judge(t, cases[i].scope, cases[i].limit, 0);

        ASSERT(!fresh.stale);
        ASSERT_TEXT(fresh.why, "");
        ASSERT_EQ(fresh.age_ms, cases[i].limit);
        fresh = judge(t, cases[i].scope, cases[i].limit + 1, 0);
        ASSERT(fresh.stale);
        ASSERT_CONTAINS(fresh.why, "older than");
    }
}

TEST(a_report_is_stale_when_something_happened_that_it_had_not_seen)
{
    struct report_freshness fresh = judge(t, "current", HOUR, 1);

    ASSERT(fresh.stale);
    ASSERT_EQ(fresh.newer_events, 1);
    ASSERT_TEXT(fresh.why, "1 change happened since it was written, the last 30 minutes ago");
    fresh = judge(t, "monthly", HOUR, 7);
    ASSERT_CONTAINS(fresh.why, "7 changes happened");
    fresh = judge(t, "current", 40 * HOUR, 7);
    ASSERT_TEXT(fresh.why, "it is older than 36 hours, and 7 changes happened since it was written,"
                           " the last 30 minutes ago");
}

TEST(how_long_ago_something_happened_is_said_as_people_say_it)
{
    static const struct {
        int64_t ago;
        const char *text;
    } cases[] = {
        { 0, "just now" },           { 59999, "just now" },
        { 60000, "1 minute ago" },   { 119 * 60000, "119 minutes ago" },
        { 2 * HOUR, "2 hours ago" }, { 2 * DAY - 1, "47 hours ago" },
        { 2 * DAY, "2 days ago" },   { -5000, "just now" }, /* the clock was set back */
    };
    const struct report report = { .scope = STR("current"), .created_at = NOW - HOUR };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct report_freshness fresh;

        report_judge(&report, NOW, 1, NOW - cases[i].ago, &t->arena, &fresh);
        ASSERT_TEXT(fresh.why,
                    arena_printf(&t->arena, "1 change happened since it was written, the last %s",
                                 cases[i].text));
    }
}

TEST(a_clock_that_was_set_back_makes_no_report_stale)
{
    struct report_freshness fresh = judge(t, "current", -DAY, 0);

    ASSERT(!fresh.stale);
    ASSERT_EQ(fresh.age_ms, 0);
    fresh = judge(t, "current", 0, -3);
    ASSERT(!fresh.stale);
    ASSERT_EQ(fresh.newer_events, 0);
}

TEST(scopes_are_those_that_there_are)
{
    static const char *const good[] = { "current", "daily", "weekly", "monthly" };
    static const char *const bad[] = { "", "Current", "yearly", "current " };

    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        ASSERT_OK(report_scope_check(str_from(good[i]), &t->err));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ASSERT_FAILS(report_scope_check(str_from(bad[i]), &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "current, daily, weekly, monthly");
}
