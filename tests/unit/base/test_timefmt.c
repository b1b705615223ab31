/* SPDX-License-Identifier: MIT */
#include "base/timefmt.h"

#include <stdio.h>
#include <time.h>

#include "base/alloc.h"
#include "base/rand.h"
#include "harness/test.h"

TEST(a_length_is_said_in_the_units_that_it_has)
{
    char text[TIMEFMT_LENGTH_SIZE];

    ASSERT_TEXT(timefmt_length(0, text), "0 min");
    ASSERT_TEXT(timefmt_length(35, text), "35 min");
    ASSERT_TEXT(timefmt_length(60, text), "1 h");
    ASSERT_TEXT(timefmt_length(65, text), "1 h 5 min");
    ASSERT_TEXT(timefmt_length(1500, text), "25 h");
}

TEST(timefmt_writes_utc_with_milliseconds)
{
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {
        { 0, "1970-01-01T00:00:00.000Z" },
        { -1, "1969-12-31T23:59:59.999Z" },
        { 1700000000123, "2023-11-14T22:13:20.123Z" },
        { 951782400000, "2000-02-29T00:00:00.000Z" },
        { -2203891200000, "1900-03-01T00:00:00.000Z" },
        { TIMEFMT_MIN_MS, "0000-01-01T00:00:00.000Z" },
        { TIMEFMT_MAX_MS, "9999-12-31T23:59:59.999Z" },
        { INT64_MIN, "0000-01-01T00:00:00.000Z" },
        { INT64_MAX, "9999-12-31T23:59:59.999Z" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[TIMEFMT_SIZE];

        timefmt_rfc3339(cases[i].ms, text);
        ASSERT_TEXT(text, cases[i].text);
    }
}

TEST(timefmt_agrees_with_the_c_library_on_random_times)
{
    struct rand_fake rand;

    rand_fake_init(&rand, 11);
    for (int i = 0; i < 20000; i++) {
        int64_t ms = TIMEFMT_MIN_MS +
                     (int64_t)rand_below(&rand.rand, (uint64_t)(TIMEFMT_MAX_MS - TIMEFMT_MIN_MS));
        char text[TIMEFMT_SIZE], expected[64];
        int64_t back, ms_part = ((ms % 1000) + 1000) % 1000;
        time_t seconds = (time_t)((ms - ms_part) / 1000);
        struct tm tm;

        gmtime_r(&seconds, &tm);
        snprintf(expected, sizeof(expected), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
                 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
                 (int)ms_part);
        timefmt_rfc3339(ms, text);
        ASSERT_TEXT(text, expected);
        ASSERT_OK(timefmt_parse(str_from(text), &back, &t->err));
        ASSERT_EQ(back, ms);
    }
}

TEST(timefmt_parse_takes_offsets_fractions_and_leap_seconds)
{
    static const struct {
        const char *text, *same;
    } cases[] = {
        { "2026-11-15T20:14:47Z", "2026-11-15T20:14:47.000Z" },
        { "2026-11-15t20:14:47.5z", "2026-11-15T20:14:47.500Z" },
        { "2026-11-15T20:14:47.123999999999Z", "2026-11-15T20:14:47.123Z" },
        { "2026-11-15T20:14:47+05:30", "2026-11-15T14:44:47.000Z" },
        { "2026-12-31T20:14:47-08:00", "2027-01-01T04:14:47.000Z" },
        { "1985-04-12T23:20:50.52Z", "1985-04-12T23:20:50.520Z" },
        { "1990-12-31T23:59:60Z", "1991-01-01T00:00:00.000Z" },
        { "1990-12-31T15:59:60-08:00", "1991-01-01T00:00:00.000Z" },
        { "2000-02-29T00:00:00-00:00", "2000-02-29T00:00:00.000Z" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[TIMEFMT_SIZE];
        int64_t ms;

        ASSERT_OK(timefmt_parse(str_from(cases[i].text), &ms, &t->err));
        timefmt_rfc3339(ms, text);
        ASSERT_TEXT(text, cases[i].same);
    }
}

TEST(timefmt_parse_refuses_what_is_no_time)
{
    static const char *const bad[] = {
        "",
        "2026-11-15",
        "2026-11-15T20:14:47",
        "2026-11-15 20:14:47Z",
        "2026-11-15T20:14:47.Z",
        "2026-11-15T20:14:47,5Z",
        "2026-11-15T20:14Z",
        "2026-1-15T20:14:47Z",
        "+026-11-15T20:14:47Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-04-00T00:00:00Z",
        "2026-04-01T24:00:00Z",
        "2026-04-01T00:60:00Z",
        "2026-04-01T00:00:61Z",
        "2026-04-01T00:00:60Z",
        "2026-04-15T23:59:60Z",
        "2026-04-01T00:00:00+24:00",
        "2026-04-01T00:00:00+00:60",
        "2026-04-01T00:00:00+0000",
        "2026-04-01T00:00:00Zx",
        "0000-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
    };
    int64_t ms = 77;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        ASSERT_FAILS(timefmt_parse(str_from(bad[i]), &ms, &t->err), ERR_BAD_REQUEST);
        ASSERT_CONTAINS(test_err_text(t), "expected RFC 3339");
    }
    ASSERT_EQ(ms, 77);
}

TEST(timefmt_knows_the_days_of_months)
{
    ASSERT_EQ(timefmt_month_days(2024, 2), 29);
    ASSERT_EQ(timefmt_month_days(2023, 2), 28);
    ASSERT_EQ(timefmt_month_days(2000, 2), 29);
    ASSERT_EQ(timefmt_month_days(2100, 2), 28);
    ASSERT_EQ(timefmt_month_days(2024, 12), 31);
    ASSERT_EQ(timefmt_month_days(2024, 0), 0);
    ASSERT_EQ(timefmt_month_days(2024, 13), 0);
    ASSERT_EQ(timefmt_days(1970, 1, 1), 0);
    ASSERT_EQ(timefmt_days(1969, 12, 31), -1);
    ASSERT_EQ(timefmt_days(-1, 3, 1), -719834);
}

TEST(timefmt_says_how_long_something_was_waited_for)
{
    static const struct {
        int64_t ms;
        const char *words;
    } spans[] = {
        { 0, "0 ms" },
        { 30, "30 ms" },
        { 999, "999 ms" },
        { 1000, "1 second" },
        { 2000, "2 seconds" },
        { 2590, "2.5 seconds" },
        { 60000, "1 minute" },
        { 90000, "90 seconds" },
        { 1800000, "30 minutes" },
        { 3600000, "1 hour" },
        { 5400000, "90 minutes" },
        { 7200000, "2 hours" },
        { 86400000, "24 hours" },
    };
    char text[TIMEFMT_SPAN_SIZE];

    for (size_t i = 0; i < ARRAY_LEN(spans); i++)
        ASSERT_TEXT(timefmt_span(spans[i].ms, text), spans[i].words);
}
