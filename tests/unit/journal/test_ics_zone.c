/* Zones that calendars describe themselves. SPDX-License-Identifier: MIT */
#include "journal/ics_zone.h"

#include "base/timefmt.h"
#include "base/zone.h"
#include "harness/test.h"

static void read_zone(struct test *t, const char *text, struct ics_zone *ret_zone)
{
    struct ics_reader reader = { .rest = str_from(text), .arena = &t->arena };
    struct ics_line line;

    *ret_zone = (struct ics_zone){ .n = 0 };
    while (ics_next(&reader, &line) > 0)
        ics_zone_read(ret_zone, &line);
}

#define SHIFT(kind, begin, from, to, rule)                                                         \
    "BEGIN:" kind "\r\nDTSTART:" begin "\r\nTZOFFSETFROM:" from "\r\nTZOFFSETTO:" to "\r\n" rule   \
    "END:" kind "\r\n"

/* As Outlook, Google and others write them. */
static const struct {
    const char *name, *text;
} zones[] = {
    { "Europe/Berlin",
      "TZID:W. Europe Standard Time\r\n" SHIFT("STANDARD", "16011028T030000", "+0200", "+0100",
                                               "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\r\n")
          SHIFT("DAYLIGHT", "16010325T020000", "+0100", "+0200",
                "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3\r\n") },
    { "America/New_York", SHIFT("DAYLIGHT", "20070311T020000", "-0500", "-0400",
                                "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU\r\n")
                              SHIFT("STANDARD", "20071104T020000", "-0400", "-0500",
                                    "RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU\r\n") },
    { "Australia/Sydney", SHIFT("STANDARD", "20080406T030000", "+1100", "+1000",
                                "RRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=1SU\r\n")
                              SHIFT("DAYLIGHT", "20081005T020000", "+1000", "+1100",
                                    "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=1SU\r\n") },
    { "Asia/Kolkata", SHIFT("STANDARD", "16010101T000000", "+0530", "+0530", "") },
};

TEST(a_calendars_own_zone_says_what_the_systems_says)
{
    for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
        struct zone *system;
        struct ics_zone own;
        int64_t from = timefmt_days(2009, 1, 1) * 86400, to = timefmt_days(2036, 1, 1) * 86400;

        read_zone(t, zones[i].text, &own);
        ASSERT_OK(zone_open(str_from(zones[i].name), &system, &t->err));
        for (int64_t local = from; local < to; local += 1800) {
            int64_t ours, theirs;

            ASSERT(ics_zone_moment(&own, local, &ours));
            if (zone_moment(system, local, &theirs) > 0 && ours != theirs)
                FAIL("%s: %lld is %lld, not %lld", zones[i].name, (long long)local, (long long)ours,
                     (long long)theirs);
        }
        zone_free(system);
    }
}

TEST(what_clocks_skip_is_as_much_later)
{
    struct ics_zone own;
    int64_t local = timefmt_days(2026, 3, 29) * 86400 + 2 * 3600 + 1800, utc;

    read_zone(t, zones[0].text, &own);
    ASSERT(ics_zone_moment(&own, local, &utc));
    ASSERT_EQ(utc, local - 3600); /* 01:30 UTC, when clocks show 03:30 */
}

TEST(a_zone_that_says_nothing_is_none)
{
    static const char *const nothing[] = {
        "",
        "TZID:x\r\n",
        "BEGIN:STANDARD\r\nEND:STANDARD\r\n",
        SHIFT("STANDARD", "x", "+0100", "+0200", ""),
        SHIFT("STANDARD", "20260101T000000", "+0100", "9", ""),
        SHIFT("STANDARD", "20261301T000000", "+0100", "+0200", ""),
        SHIFT("OTHER", "20260101T000000", "+0100", "+0200", ""),
        "BEGIN:STANDARD\r\nDTSTART:20260101T000000\r\nTZOFFSETTO:+0100\r\n",
    };
    struct ics_zone own;
    int64_t utc;

    for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++) {
        read_zone(t, nothing[i], &own);
        ASSERT(!ics_zone_moment(&own, 0, &utc));
    }
}

TEST(rules_that_ended_or_are_strange_are_bounded)
{
    struct ics_zone own;
    int64_t utc;

    read_zone(t,
              SHIFT("STANDARD", "19700101T000000", "+0000", "+0100",
                    "RRULE:FREQ=YEARLY;BYMONTH=99;BYDAY=9XX;UNTIL=19800101T000000Z\r\n")
                  SHIFT("DAYLIGHT", "20000229T000000", "+0100", "+0200", "RRULE:FREQ=YEARLY\r\n"),
              &own);
    ASSERT(ics_zone_moment(&own, -1, &utc));
    ASSERT_EQ(utc, -1);
    ASSERT(ics_zone_moment(&own, 86400 * 400, &utc));
    ASSERT_EQ(utc, 86400 * 400 - 3600);
    ASSERT(ics_zone_moment(&own, timefmt_days(2026, 12, 1) * 86400, &utc));
    ASSERT_EQ(utc, timefmt_days(2026, 12, 1) * 86400 - 7200);
}
