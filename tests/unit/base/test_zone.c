/* Time zones from the system's tables, beside what is known of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <time.h>

#include "base/timefmt.h"
#include "base/zone.h"
#include "harness/test.h"

static int64_t at(const char *text)
{
    int64_t ms = 0;

    if (timefmt_parse(str_from(text), &ms, NULL) < 0)
        abort();
    return ms / 1000;
}

TEST(offsets_follow_summer_time_also_in_years_to_come)
{
    static const struct {
        const char *zone, *moment;
        int32_t offset;
    } cases[] = {
        { "UTC", "2026-07-01T00:00:00Z", 0 },
        { "Europe/Berlin", "2026-01-01T00:00:00Z", 3600 },
        { "Europe/Berlin", "2026-07-01T00:00:00Z", 7200 },
        { "Europe/Berlin", "2026-03-29T00:59:59Z", 3600 },
        { "Europe/Berlin", "2026-03-29T01:00:00Z", 7200 },
        { "Europe/Berlin", "2060-10-31T00:59:59Z", 7200 },
        { "Europe/Berlin", "2060-10-31T01:00:00Z", 3600 },
        { "America/New_York", "2045-03-12T06:59:59Z", -18000 },
        { "America/New_York", "2045-03-12T07:00:00Z", -14400 },
        { "Australia/Sydney", "2050-01-01T00:00:00Z", 39600 }, /* summer over the new year */
        { "Australia/Sydney", "2050-07-01T00:00:00Z", 36000 },
        { "Asia/Kolkata", "2030-01-01T00:00:00Z", 19800 },
        { "Asia/Kathmandu", "2030-01-01T00:00:00Z", 20700 },
        { "Australia/Lord_Howe", "2040-01-01T00:00:00Z", 39600 }, /* half an hour of summer */
        { "Australia/Lord_Howe", "2040-07-01T00:00:00Z", 37800 },
        { "Pacific/Apia", "2040-07-01T00:00:00Z", 46800 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(zone) zone = NULL;

        ASSERT_OK(zone_open(str_from(cases[i].zone), &zone, &t->err));
        ASSERT_EQ(zone_offset(zone, at(cases[i].moment)), cases[i].offset);
    }
}

/* The C library is asked the same, for every fifth day of a century. */
TEST(the_c_library_says_the_same)
{
    static const char *const names[] = { "Europe/Berlin",    "Europe/Dublin",  "America/New_York",
                                         "America/Santiago", "Africa/Cairo",   "Asia/Tehran",
                                         "Asia/Jerusalem",   "Pacific/Chatham" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        AUTO(zone) zone = NULL;

        ASSERT_OK(zone_open(str_from(names[i]), &zone, &t->err));
        setenv("TZ", names[i], 1);
        tzset();
        for (int64_t s = 0; s < INT64_C(100) * 366 * 86400; s += 5 * 86400 + 1234) {
            time_t when = (time_t)s;
            struct tm tm;

            localtime_r(&when, &tm);
            if (zone_offset(zone, s) != tm.tm_gmtoff)
                FAIL("%s at %lld: %d, the C library says %ld", names[i], (long long)s,
                     zone_offset(zone, s), tm.tm_gmtoff);
        }
    }
    unsetenv("TZ");
    tzset();
}

TEST(clocks_skip_a_time_and_show_another_twice)
{
    AUTO(zone) zone = NULL;
    int64_t utc = 0;

    ASSERT_OK(zone_open(STR("Europe/Berlin"), &zone, &t->err));
    ASSERT_EQ(zone_moment(zone, at("2026-03-29T02:30:00Z"), &utc), 0);
    ASSERT_EQ(zone_moment(zone, at("2026-03-29T03:00:00Z"), &utc), 1);
    ASSERT_EQ(utc, at("2026-03-29T01:00:00Z"));
    ASSERT_EQ(zone_moment(zone, at("2026-10-25T02:30:00Z"), &utc), 2);
    ASSERT_EQ(utc, at("2026-10-25T00:30:00Z"));
    ASSERT_EQ(zone_moment(zone, at("2026-10-25T03:00:00Z"), &utc), 1);
    ASSERT_EQ(utc, at("2026-10-25T02:00:00Z"));
}

TEST(names_that_are_none_are_refused)
{
    static const char *const names[] = { "",
                                         "Mars/Base",
                                         "../../etc/passwd",
                                         "/etc/passwd",
                                         "Europe",
                                         "Europe/Berlin ",
                                         "Europe/../UTC",
                                         "posixrules\n",
                                         "zone.tab",
                                         "-x" };
    struct zone *zone = NULL;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        ASSERT_FAILS(zone_open(str_from(names[i]), &zone, &t->err), ERR_BAD_REQUEST);
        ASSERT_CONTAINS(test_err_text(t), "time zone");
    }
    ASSERT(!zone);
}

/* Every table that is cut short or changed in one byte is refused or read; nothing else happens. */
TEST(damaged_tables_do_no_harm)
{
    struct str bytes = test_read_file(t, "/usr/share/zoneinfo/Europe/Berlin");
    char *copy = alloc_copy(bytes.p, bytes.n);
    unsigned refused = 0;

    for (size_t n = 0; n < bytes.n; n += 7) {
        AUTO(zone) zone = NULL;
        char was = copy[n];
        int64_t utc;

        refused += zone_parse(str_of(bytes.p, n), &zone, NULL) < 0;
        copy[n] = (char)(was ^ 0x81);
        zone_free(TAKE(zone));
        if (zone_parse(str_of(copy, bytes.n), &zone, NULL) == 0)
            zone_moment(zone, at("2026-10-25T02:30:00Z"), &utc);
        copy[n] = was;
    }
    free(copy);
    ASSERT(refused > 50);
}

TEST(the_environment_names_a_zone_before_the_machine_does)
{
    static const struct {
        const char *tz, *zone; /* NULL: the machine's */
    } cases[] = {
        { "Asia/Tokyo", "Asia/Tokyo" },
        { ":America/New_York", "America/New_York" },
        { "UTC", "UTC" },
        { "", NULL },
        { ":", NULL },
        { "CET-1CEST", NULL },
        { "Mars/Olympus", NULL },
        { "../../etc/passwd", NULL },
        { "/etc/localtime", NULL },
    };
    char here[ZONE_NAME_MAX + 1], name[ZONE_NAME_MAX + 1];

    unsetenv("TZ");
    zone_system(here);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        setenv("TZ", cases[i].tz, 1);
        zone_system(name);
        unsetenv("TZ");
        ASSERT_TEXT(name, cases[i].zone ? cases[i].zone : here);
    }
}

TEST(this_machine_has_a_zone)
{
    char name[ZONE_NAME_MAX + 1];
    AUTO(zone) zone = NULL;

    zone_system(name);
    ASSERT_OK(zone_open(str_from(name), &zone, &t->err));
}
