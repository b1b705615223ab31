/* Local days across zones and clock changes. SPDX-License-Identifier: MIT */
#include "rig.h"

static const struct db_test_engine engine = { "sqlite", false };

static struct journal *in_zone(struct rig *rig, const char *zone)
{
    journal_free(rig->journal);
    return rig->journal = journal_new(&(struct journal_config){
               .loop = rig->loop, .domain = rig->domain, .change = rig->change, .zone = zone });
}

TEST(days_begin_and_end_by_the_clocks_of_their_zone)
{
    static const struct {
        const char *zone, *day, *from;
        double hours;
    } cases[] = {
        { "UTC", "2026-02-18", "2026-02-18T00:00:00.000Z", 24 },
        { "Europe/Berlin", "2026-02-18", "2026-02-17T23:00:00.000Z", 24 },
        { "Europe/Berlin", "2026-07-01", "2026-06-30T22:00:00.000Z", 24 },
        { "Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00.000Z", 23 },
        { "Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00.000Z", 25 },
        { "America/New_York", "2026-03-08", "2026-03-08T05:00:00.000Z", 23 },
        { "America/New_York", "2026-11-01", "2026-11-01T04:00:00.000Z", 25 },
        { "Asia/Kathmandu", "2026-02-18", "2026-02-17T18:15:00.000Z", 24 },
        /* Half an hour forward, and back. */
        { "Australia/Lord_Howe", "2026-10-04", "2026-10-03T13:30:00.000Z", 23.5 },
        { "Australia/Lord_Howe", "2026-04-05", "2026-04-04T13:00:00.000Z", 24.5 },
        /* Midnight itself is skipped: the day begins at one. */
        { "America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00.000Z", 23 },
        { "Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00.000Z", 23 },
        /* Clocks go back at midnight: the day before is the longer one. */
        { "America/Sao_Paulo", "2018-02-17", "2018-02-17T02:00:00.000Z", 25 },
        { "America/Sao_Paulo", "2018-02-18", "2018-02-18T03:00:00.000Z", 24 },
        /* A day that was left out. */
        { "Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00.000Z", 0 },
        { "Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00.000Z", 24 },
    };
    AUTO_RIG rig;

    t->param = &engine;
    rig_open(&rig, t);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct journal *journal = in_zone(&rig, cases[i].zone);
        char text[TIMEFMT_SIZE];
        int64_t from, to;

        ASSERT_OK(journal_day_span(journal, str_from(cases[i].day), &from, &to, &t->err));
        timefmt_rfc3339(from, text);
        if (strcmp(text, cases[i].from) != 0 || (double)(to - from) != cases[i].hours * 3600000)
            test_case_failed("%s %s: from %s for %.2f hours, expected %s for %.2f", cases[i].zone,
                             cases[i].day, text, (double)(to - from) / 3600000, cases[i].from,
                             cases[i].hours);
        else
            test_case_passed();
    }
}

/* A year of days in several zones: each ends where the next begins, and its moments are of it. */
TEST(days_follow_each_other_without_gaps)
{
    static const char *const zones[] = { "Europe/Berlin", "America/New_York", "Australia/Lord_Howe",
                                         "Africa/Cairo",  "America/St_Johns", "Asia/Tehran" };
    AUTO_RIG rig;

    t->param = &engine;
    rig_open(&rig, t);
    for (size_t i = 0; i < ARRAY_LEN(zones); i++) {
        struct journal *journal = in_zone(&rig, zones[i]);
        int64_t end = 0;

        for (int64_t day = timefmt_days(2026, 1, 1); day < timefmt_days(2027, 1, 1); day++) {
            char name[TIMEFMT_SIZE], of[JOURNAL_DAY_SIZE];
            int64_t from, to;

            timefmt_rfc3339(day * DAYS(1), name);
            name[10] = '\0';
            ASSERT_OK(journal_day_span(journal, str_from(name), &from, &to, &t->err));
            ASSERT(end == 0 || from == end);
            ASSERT(to > from);
            journal_day_at(journal, from, of);
            ASSERT_TEXT(of, name);
            journal_day_at(journal, to - 1, of);
            ASSERT_TEXT(of, name);
            end = to;
        }
    }
}

TEST(today_is_that_of_the_zone)
{
    AUTO_RIG rig;
    char day[JOURNAL_DAY_SIZE];

    t->param = &engine;
    rig_open(&rig, t);
    journal_today(rig.journal, day);
    ASSERT_TEXT(day, "2026-02-18");
    clock_set_wall(&rig.clock, INT64_C(1771455600000) - 1); /* 23:00 UTC */
    journal_today(rig.journal, day);
    ASSERT_TEXT(day, "2026-02-18");
    clock_advance(&rig.clock, 1);
    journal_today(rig.journal, day);
    ASSERT_TEXT(day, "2026-02-19");
    journal_today(in_zone(&rig, "Pacific/Honolulu"), day);
    ASSERT_TEXT(day, "2026-02-18");
    journal_today(in_zone(&rig, NULL), day); /* this machine's, whatever that is */
    ASSERT(record_day_valid(str_from(day), false));
}

TEST(a_zone_that_is_none_is_taken_for_utc)
{
    AUTO_RIG rig;
    char day[JOURNAL_DAY_SIZE];
    int64_t from, to;

    t->param = &engine;
    rig_open(&rig, t);
    clock_set_wall(&rig.clock, INT64_C(1771455600000));
    journal_today(in_zone(&rig, "Nowhere/At_All"), day);
    ASSERT_TEXT(day, "2026-02-18");
    ASSERT_OK(journal_day_span(rig.journal, STR("2026-02-18"), &from, &to, &t->err));
    ASSERT_EQ(to - from, DAYS(1));
    ASSERT_EQ(from % DAYS(1), 0);
}

TEST(what_is_no_day_has_no_span)
{
    static const char *const bad[] = { "", "today", "2026-02-30", "2026-02-18T10:00", "20260218" };
    AUTO_RIG rig;
    int64_t from, to;

    t->param = &engine;
    rig_open(&rig, t);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ASSERT_FAILS(journal_day_span(rig.journal, str_from(bad[i]), &from, &to, &t->err),
                     ERR_BAD_REQUEST);
    journal_day_at(rig.journal, -1, (char[JOURNAL_DAY_SIZE]){ 0 });
}
