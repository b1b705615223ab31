/* Times over the whole range: calendars, offsets, and what is refused with which words.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <time.h>

#include "base/alloc.h"
#include "base/rand.h"
#include "base/timefmt.h"
#include "harness/test.h"

#define DAY_MS INT64_C(86400000)

/* By the rule as it is taught, day by day; no arithmetic in common with the code under test. */
static bool is_leap(int year)
{
    if (year % 400 == 0)
        return true;
    if (year % 100 == 0)
        return false;
    return year % 4 == 0;
}

TEST(timefmt_counts_every_day_of_ten_thousand_years)
{
    static const unsigned plain[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    int64_t day_number = TIMEFMT_MIN_MS / DAY_MS;

    for (int year = 0; year <= 9999; year++)
        for (unsigned month = 1; month <= 12; month++) {
            unsigned days = plain[month - 1] + (month == 2 && is_leap(year));

            ASSERT_EQ(timefmt_month_days(year, month), days);
            ASSERT_EQ(timefmt_days(year, month, 1), day_number);
            ASSERT_EQ(timefmt_days(year, month, days), day_number + days - 1);
            day_number += days;
        }
    ASSERT_EQ(day_number, (TIMEFMT_MAX_MS + 1) / DAY_MS);
}

TEST(timefmt_writes_the_first_and_last_moment_of_every_month)
{
    for (int year = 0; year <= 9999; year += 7)
        for (unsigned month = 1; month <= 12; month++) {
            int64_t first = timefmt_days(year, month, 1) * DAY_MS;
            char text[TIMEFMT_SIZE], expected[64];

            snprintf(expected, sizeof(expected), "%04d-%02u-01T00:00:00.000Z", year, month);
            timefmt_rfc3339(first, text);
            ASSERT_TEXT(text, expected);
            if (month == 1)
                continue;
            snprintf(expected, sizeof(expected), "%04d-%02u-%02uT23:59:59.999Z", year, month - 1,
                     timefmt_month_days(year, month - 1));
            timefmt_rfc3339(first - 1, text);
            ASSERT_TEXT(text, expected);
        }
}

TEST(timefmt_days_agrees_with_the_c_library_beyond_the_range_of_text)
{
    struct rand_fake rand;

    rand_fake_init(&rand, 8);
    for (int i = 0; i < 5000; i++) {
        int64_t days = (int64_t)rand_below(&rand.rand, 20000000) - 10000000;
        time_t seconds = (time_t)(days * 86400);
        struct tm tm;

        ASSERT(gmtime_r(&seconds, &tm) != NULL);
        ASSERT_EQ(
            timefmt_days((int64_t)tm.tm_year + 1900, (unsigned)tm.tm_mon + 1, (unsigned)tm.tm_mday),
            days);
    }
}

TEST(timefmt_parse_moves_by_every_offset)
{
    int64_t utc, ms;

    ASSERT_OK(timefmt_parse(STR("2024-02-29T12:00:00Z"), &utc, &t->err));
    for (int minutes = -1439; minutes <= 1439; minutes++) {
        int away = minutes < 0 ? -minutes : minutes;
        char text[64];

        snprintf(text, sizeof(text), "2024-02-29T12:00:00%c%02d:%02d", minutes < 0 ? '-' : '+',
                 away / 60, away % 60);
        ASSERT_OK(timefmt_parse(str_from(text), &ms, &t->err));
        ASSERT_EQ(ms, utc - (int64_t)minutes * 60000);
    }
}

TEST(timefmt_parse_reads_the_same_moment_from_any_offset)
{
    struct rand_fake rand;

    rand_fake_init(&rand, 21);
    for (int i = 0; i < 5000; i++) {
        int minutes = (int)rand_below(&rand.rand, 2879) - 1439;
        int away = minutes < 0 ? -minutes : minutes;
        /* A day inside the range, so that the local time can be written, too. */
        int64_t ms = TIMEFMT_MIN_MS + DAY_MS +
                     (int64_t)rand_below(&rand.rand,
                                         (uint64_t)(TIMEFMT_MAX_MS - TIMEFMT_MIN_MS - 2 * DAY_MS));
        char local[TIMEFMT_SIZE], text[64];
        int64_t back;

        timefmt_rfc3339(ms + (int64_t)minutes * 60000, local);
        snprintf(text, sizeof(text), "%.23s%c%02d:%02d", local, minutes < 0 ? '-' : '+', away / 60,
                 away % 60);
        ASSERT_OK(timefmt_parse(str_from(text), &back, &t->err));
        ASSERT_EQ(back, ms);
    }
}

TEST(timefmt_parse_cuts_fractions_and_never_rounds)
{
    static const struct {
        const char *fraction;
        int ms;
    } cases[] = {
        { ".0", 0 },
        { ".9", 900 },
        { ".09", 90 },
        { ".009", 9 },
        { ".0009", 0 },
        { ".9999", 999 },
        { ".12", 120 },
        { ".1", 100 },
        { ".001", 1 },
        { ".100", 100 },
        { ".010", 10 },
        { ".000999999999999999999", 0 },
        { ".99999999999999999999999999999999", 999 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *after = arena_printf(&t->arena, "1970-01-01T00:00:00%sZ", cases[i].fraction);
        const char *before = arena_printf(&t->arena, "1969-12-31T23:59:59%sZ", cases[i].fraction);
        int64_t ms;

        ASSERT_OK(timefmt_parse(str_from(after), &ms, &t->err));
        ASSERT_EQ(ms, cases[i].ms);
        ASSERT_OK(timefmt_parse(str_from(before), &ms, &t->err));
        ASSERT_EQ(ms, cases[i].ms - 1000);
    }
}

TEST(timefmt_parse_takes_leap_seconds_at_the_end_of_a_utc_month_only)
{
    static const struct {
        const char *text, *same; /* NULL: refused */
    } cases[] = {
        { "2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z" },
        { "2016-12-31T23:59:60.5Z", "2017-01-01T00:00:00.500Z" },
        { "2015-06-30T23:59:60.999Z", "2015-07-01T00:00:00.999Z" },
        { "2024-02-29T23:59:60Z", "2024-03-01T00:00:00.000Z" },
        { "2017-01-01T05:29:60+05:30", "2017-01-01T00:00:00.000Z" },
        { "2016-12-31T18:59:60-05:00", "2017-01-01T00:00:00.000Z" },
        { "1969-12-31T23:59:60Z", "1970-01-01T00:00:00.000Z" },
        { "1955-12-31T23:59:60Z", "1956-01-01T00:00:00.000Z" },
        { "2024-02-28T23:59:60Z", NULL },
        { "2016-12-31T23:58:60Z", NULL },
        { "2016-12-31T22:59:60Z", NULL },
        { "2016-12-31T23:59:60+01:00", NULL },
        { "1955-12-30T23:59:60Z", NULL },
        { "9999-12-31T23:59:60Z", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[TIMEFMT_SIZE];
        int64_t ms;

        if (!cases[i].same) {
            ASSERT_FAILS(timefmt_parse(str_from(cases[i].text), &ms, &t->err), ERR_BAD_REQUEST);
            continue;
        }
        ASSERT_OK(timefmt_parse(str_from(cases[i].text), &ms, &t->err));
        timefmt_rfc3339(ms, text);
        ASSERT_TEXT(text, cases[i].same);
    }
}

TEST(timefmt_parse_says_what_is_wrong)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        { "2026-02-30T00:00:00Z", "\"2026-02-30T00:00:00Z\" names a day that does not exist" },
        { "2026-00-10T00:00:00Z", "names a day that does not exist" },
        { "2026-01-01T24:00:00Z", "names a time of day that does not exist" },
        { "2026-01-01T23:60:00Z", "names a time of day that does not exist" },
        { "2026-01-01T23:59:61Z", "names a time of day that does not exist" },
        { "2026-01-01T12:00:60Z", "has a leap second where none can be" },
        { "0000-01-01T00:00:00+00:01", "lies outside the years 0000 to 9999 in UTC" },
        { "9999-12-31T23:59:59-00:01", "lies outside the years 0000 to 9999 in UTC" },
        { "tomorrow", "\"tomorrow\" is not a date and time" },
        { "2026-01-01T00:00:00+01:00Z", "is not a date and time" },
        { "10000-01-01T00:00:00Z", "is not a date and time" },
        { "2026-01-01T00:00:00 +01:00", "is not a date and time" },
        { "2026-01-01T00:00:00+1:00", "is not a date and time" },
        { "2026-01-01T00:00:00\xe2\x88\x92"
          "01:00",
          "is not a date and time" },
    };
    int64_t ms;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ASSERT_FAILS(timefmt_parse(str_from(cases[i].text), &ms, &t->err), ERR_BAD_REQUEST);
        ASSERT_CONTAINS(test_err_text(t), cases[i].error);
    }
    ASSERT_FAILS(timefmt_parse(STR("2026-01-01T00:00:00Z\0"), &ms, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(timefmt_parse(STR_NONE, &ms, &t->err), ERR_BAD_REQUEST);
}

TEST(timefmt_parse_refuses_each_good_text_cut_or_damaged)
{
    static const char good[] = "2026-11-15T20:14:47.123+05:30";
    int64_t ms;

    ASSERT_OK(timefmt_parse(str_from(good), &ms, &t->err));
    for (size_t n = 0; n < sizeof(good) - 1; n++)
        ASSERT_FAILS(timefmt_parse(str_of(good, n), &ms, &t->err), ERR_BAD_REQUEST);
    for (size_t i = 0; i < sizeof(good) - 1; i++) {
        static const char wrong[] = "x /\x01\xff";

        for (size_t k = 0; k < sizeof(wrong); k++) { /* the NUL, too */
            char text[sizeof(good)];

            memcpy(text, good, sizeof(good));
            text[i] = wrong[k];
            ASSERT_FAILS(timefmt_parse(str_of(text, sizeof(good) - 1), &ms, &t->err),
                         ERR_BAD_REQUEST);
        }
    }
}

TEST(timefmt_text_sorts_like_time)
{
    struct rand_fake rand;

    rand_fake_init(&rand, 31);
    for (int i = 0; i < 5000; i++) {
        uint64_t range = (uint64_t)(TIMEFMT_MAX_MS - TIMEFMT_MIN_MS);
        int64_t a = TIMEFMT_MIN_MS + (int64_t)rand_below(&rand.rand, range);
        int64_t b = i % 2 ? a + 1 : TIMEFMT_MIN_MS + (int64_t)rand_below(&rand.rand, range);
        char text_a[TIMEFMT_SIZE], text_b[TIMEFMT_SIZE];
        int order;

        timefmt_rfc3339(a, text_a);
        timefmt_rfc3339(b, text_b);
        order = strcmp(text_a, text_b);
        ASSERT_EQ((order > 0) - (order < 0), (a > b) - (a < b));
    }
}
