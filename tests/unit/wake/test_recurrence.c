/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/rand.h"
#include "harness/test.h"
#include "wake/timer.h"

/* The first occurrences, "2026-01-01T07:00:00 ...", at most n. */
static const char *occurrences(struct test *t, const char *rrule, const char *start, int n)
{
    AUTO(recurrence) rule = NULL;
    AUTO_BUF out = BUF_INIT(64 * KIB);
    char at[TIMER_LOCAL_SIZE] = "";

    ASSERT_OK(recurrence_parse(str_from(rrule), str_from(start), &rule, &t->err));
    for (int i = 0; i < n && recurrence_next(rule, at, at, &t->err) == 1; i++)
        buf_printf(&out, "%s%s", i ? " " : "", at);
    return arena_text(&t->arena, buf_text(&out));
}

/* Examples of RFC 5545, 3.8.5.3; start 1997-09-02T09:00:00 unless another is named. */
static const struct example {
    const char *rrule, *start;
    int n;
    const char *want; /* days and, where they differ, times; "-" ends */
} examples[] = {
    { "FREQ=DAILY;COUNT=10", NULL, 3,
      "1997-09-02T09:00:00 1997-09-03T09:00:00 1997-09-04T09:00:00" },
    { "FREQ=DAILY;INTERVAL=10;COUNT=5", NULL, 9,
      "1997-09-02T09:00:00 1997-09-12T09:00:00 1997-09-22T09:00:00 1997-10-02T09:00:00 "
      "1997-10-12T09:00:00" },
    { "FREQ=DAILY;UNTIL=20000131T140000;BYMONTH=1", "1998-01-01T09:00:00", 2,
      "1998-01-01T09:00:00 1998-01-02T09:00:00" },
    { "FREQ=WEEKLY;INTERVAL=2;WKST=SU", NULL, 3,
      "1997-09-02T09:00:00 1997-09-16T09:00:00 1997-09-30T09:00:00" },
    { "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO", "1997-08-05T09:00:00", 9,
      "1997-08-05T09:00:00 1997-08-10T09:00:00 1997-08-19T09:00:00 1997-08-24T09:00:00" },
    { "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU", "1997-08-05T09:00:00", 9,
      "1997-08-05T09:00:00 1997-08-17T09:00:00 1997-08-19T09:00:00 1997-08-31T09:00:00" },
    { "FREQ=MONTHLY;COUNT=10;BYDAY=1FR", "1997-09-05T09:00:00", 3,
      "1997-09-05T09:00:00 1997-10-03T09:00:00 1997-11-07T09:00:00" },
    { "FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU", "1997-09-07T09:00:00", 4,
      "1997-09-07T09:00:00 1997-09-28T09:00:00 1997-11-02T09:00:00 1997-11-30T09:00:00" },
    { "FREQ=MONTHLY;BYMONTHDAY=-3", "1997-09-28T09:00:00", 3,
      "1997-09-28T09:00:00 1997-10-29T09:00:00 1997-11-28T09:00:00" },
    { "FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15", "1997-09-10T09:00:00", 7,
      "1997-09-10T09:00:00 1997-09-11T09:00:00 1997-09-12T09:00:00 1997-09-13T09:00:00 "
      "1997-09-14T09:00:00 1997-09-15T09:00:00 1999-03-10T09:00:00" },
    { "FREQ=YEARLY;COUNT=10;BYMONTH=6,7", "1997-06-10T09:00:00", 3,
      "1997-06-10T09:00:00 1997-07-10T09:00:00 1998-06-10T09:00:00" },
    { "FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200", "1997-01-01T09:00:00", 4,
      "1997-01-01T09:00:00 1997-04-10T09:00:00 1997-07-19T09:00:00 2000-01-01T09:00:00" },
    { "FREQ=YEARLY;BYDAY=20MO", "1997-05-19T09:00:00", 3,
      "1997-05-19T09:00:00 1998-05-18T09:00:00 1999-05-17T09:00:00" },
    { "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "1997-05-12T09:00:00", 3,
      "1997-05-12T09:00:00 1998-05-11T09:00:00 1999-05-17T09:00:00" },
    { "FREQ=YEARLY;BYMONTH=6,7,8;BYDAY=TH", "1997-06-05T09:00:00", 3,
      "1997-06-05T09:00:00 1997-06-12T09:00:00 1997-06-19T09:00:00" },
    { "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", NULL, 5,
      "1998-02-13T09:00:00 1998-03-13T09:00:00 1998-11-13T09:00:00 1999-08-13T09:00:00 "
      "2000-10-13T09:00:00" },
    { "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8", "1996-11-05T09:00:00",
      3, "1996-11-05T09:00:00 2000-11-07T09:00:00 2004-11-02T09:00:00" },
    { "FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3", "1997-09-04T09:00:00", 5,
      "1997-09-04T09:00:00 1997-10-07T09:00:00 1997-11-06T09:00:00" },
    { "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2", "1997-09-29T09:00:00", 3,
      "1997-09-29T09:00:00 1997-10-30T09:00:00 1997-11-27T09:00:00" },
    { "FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T170000", NULL, 5,
      "1997-09-02T09:00:00 1997-09-02T12:00:00 1997-09-02T15:00:00" },
    { "FREQ=MINUTELY;INTERVAL=90;COUNT=4", NULL, 5,
      "1997-09-02T09:00:00 1997-09-02T10:30:00 1997-09-02T12:00:00 1997-09-02T13:30:00" },
    { "FREQ=DAILY;BYHOUR=9,10;BYMINUTE=0,40", NULL, 5,
      "1997-09-02T09:00:00 1997-09-02T09:40:00 1997-09-02T10:00:00 1997-09-02T10:40:00 "
      "1997-09-03T09:00:00" },
    { "FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5", "2007-01-15T09:00:00", 9,
      "2007-01-15T09:00:00 2007-01-30T09:00:00 2007-02-15T09:00:00 2007-03-15T09:00:00 "
      "2007-03-30T09:00:00" },
    /* And others: leap days, months without the day, what comes from the start. */
    { "FREQ=YEARLY", "2024-02-29T08:00", 2, "2024-02-29T08:00:00 2028-02-29T08:00:00" },
    { "FREQ=YEARLY", "2096-02-29T08:00", 2, "2096-02-29T08:00:00 2104-02-29T08:00:00" },
    { "FREQ=MONTHLY", "2026-01-31T08:00", 3,
      "2026-01-31T08:00:00 2026-03-31T08:00:00 2026-05-31T08:00:00" },
    { "FREQ=YEARLY;BYWEEKNO=53", "2026-12-31T08:00", 2, "2026-12-31T08:00:00 2032-12-30T08:00:00" },
    { "freq=weekly;byday=mo,fr;byhour=7", "2026-02-18T00:00:30", 2,
      "2026-02-20T07:00:30 2026-02-23T07:00:30" },
    { "FREQ=DAILY;UNTIL=20260219", "2026-02-18T23:00", 5,
      "2026-02-18T23:00:00 2026-02-19T23:00:00" },
    { "FREQ=HOURLY;BYMINUTE=10,20,30;BYSETPOS=-1,1", "2026-02-18T23:00", 4,
      "2026-02-18T23:10:00 2026-02-18T23:30:00 2026-02-19T00:10:00 2026-02-19T00:30:00" },
    { "FREQ=DAILY;BYHOUR=18,6,12;BYSETPOS=2", "2026-02-18T07:00", 2,
      "2026-02-18T12:00:00 2026-02-19T12:00:00" },
    { "FREQ=MINUTELY;BYHOUR=9;BYMINUTE=58,59;BYSETPOS=-1", "2026-02-18T09:59", 2,
      "2026-02-18T09:59:00 2026-02-19T09:58:00" },
    { "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO", "2026-01-01T07:00", 2,
      "2044-02-29T07:00:00 2072-02-29T07:00:00" },
};

TEST(occurrences_are_those_of_the_standard)
{
    for (size_t i = 0; i < ARRAY_LEN(examples); i++) {
        const struct example *e = &examples[i];
        const char *start = e->start ? e->start : "1997-09-02T09:00:00";
        const char *got = occurrences(t, e->rrule, start, e->n);

        if (strcmp(got, e->want) == 0)
            test_case_passed();
        else
            test_case_failed("%s: got %s, not %s", e->rrule, got, e->want);
    }
}

static const struct refusal {
    const char *rrule, *word; /* of the message */
} refusals[] = {
    { "", "empty" },
    { "RRULE:FREQ=DAILY", "RRULE:" },
    { "DAILY", "no part" },
    { "FREQ=", "FREQ: has no value" },
    { "FREQ", "FREQ: has no value" },
    { "FREQ=SECONDLY", "FREQ:" },
    { "FREQ=DAILYX", "FREQ:" },
    { "BYHOUR=7", "FREQ: is missing" },
    { "FREQ=DAILY;", "no part" },
    { "FREQ=DAILY;;BYHOUR=7", "no part" },
    { "FREQ=DAILY;FREQ=DAILY", "FREQ: stands twice" },
    { "FREQ=DAILY;BYHOUR=24", "BYHOUR: \"24\"" },
    { "FREQ=DAILY;BYHOUR=-1", "BYHOUR:" },
    { "FREQ=DAILY;BYHOUR=7,", "BYHOUR:" },
    { "FREQ=DAILY;BYHOUR= 7", "BYHOUR:" },
    { "FREQ=DAILY;BYHOUR=99999999999999999999", "BYHOUR:" },
    { "FREQ=DAILY;BYMINUTE=60", "BYMINUTE:" },
    { "FREQ=DAILY;BYSECOND=60", "BYSECOND:" },
    { "FREQ=DAILY;BYSECOND=0,30", "BYSECOND: one value" },
    { "FREQ=DAILY;BYMONTH=0", "BYMONTH:" },
    { "FREQ=DAILY;BYMONTH=13", "BYMONTH:" },
    { "FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY:" },
    { "FREQ=MONTHLY;BYMONTHDAY=32", "BYMONTHDAY:" },
    { "FREQ=MONTHLY;BYMONTHDAY=+-3", "BYMONTHDAY:" },
    { "FREQ=WEEKLY;BYMONTHDAY=3", "BYMONTHDAY: is not for" },
    { "FREQ=DAILY;BYYEARDAY=3", "BYYEARDAY: is not for" },
    { "FREQ=YEARLY;BYYEARDAY=367", "BYYEARDAY:" },
    { "FREQ=MONTHLY;BYWEEKNO=3", "BYWEEKNO: is for" },
    { "FREQ=YEARLY;BYWEEKNO=54", "BYWEEKNO:" },
    { "FREQ=WEEKLY;BYDAY=XX", "BYDAY: \"XX\"" },
    { "FREQ=WEEKLY;BYDAY=M", "BYDAY:" },
    { "FREQ=WEEKLY;BYDAY=1MO", "BYDAY: numbered" },
    { "FREQ=MONTHLY;BYDAY=0MO", "BYDAY:" },
    { "FREQ=MONTHLY;BYDAY=54MO", "BYDAY:" },
    { "FREQ=YEARLY;BYWEEKNO=2;BYDAY=1MO", "BYDAY: numbered" },
    { "FREQ=DAILY;BYSETPOS=1", "BYSETPOS: needs" },
    { "FREQ=DAILY;BYHOUR=1;BYSETPOS=0", "BYSETPOS:" },
    { "FREQ=DAILY;COUNT=0", "COUNT:" },
    { "FREQ=DAILY;COUNT=100001", "COUNT:" },
    { "FREQ=DAILY;COUNT=2;UNTIL=20300101", "COUNT: can't" },
    { "FREQ=DAILY;INTERVAL=0", "INTERVAL:" },
    { "FREQ=DAILY;INTERVAL=-1", "INTERVAL:" },
    { "FREQ=DAILY;INTERVAL=1000001", "INTERVAL:" },
    { "FREQ=DAILY;UNTIL=20300101T000000Z", "UNTIL: a timer's end is a local time" },
    { "FREQ=DAILY;UNTIL=2030", "UNTIL:" },
    { "FREQ=DAILY;UNTIL=20300230", "UNTIL:" },
    { "FREQ=DAILY;UNTIL=20200101", "UNTIL: lies before" },
    { "FREQ=DAILY;WKST=XX", "WKST:" },
    { "FREQ=DAILY;X-COLOR=red", "\"X-COLOR\" is no part" },
    { "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "never occurs" },
    { "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "never occurs" },
    { "FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30", "never occurs" },
    { "FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30", "never occurs" },
    { "FREQ=MINUTELY;INTERVAL=2;BYMINUTE=1", "never occurs" },
    { "FREQ=MINUTELY;INTERVAL=11;BYHOUR=3;BYMINUTE=5;BYMONTH=4;BYMONTHDAY=31", "never occurs" },
    { "FREQ=MINUTELY;BYHOUR=3;BYSETPOS=2", "never occurs" },
    { "FREQ=MONTHLY;BYMONTHDAY=3;BYSETPOS=2", "never occurs" },
    { "FREQ=DAILY;BYMONTH=3;UNTIL=20260228", "never occurs" },
};

TEST(a_rule_that_is_wrong_is_refused_by_its_part)
{
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        struct err err = ERR_INIT;
        struct recurrence *rule = NULL;
        char text[ERR_TEXT_MAX];

        if (recurrence_parse(str_from(refusals[i].rrule), STR("2026-01-01T00:00"), &rule, &err) ==
            0)
            test_case_failed("%s was taken", refusals[i].rrule);
        else if (err.code != ERR_BAD_REQUEST ||
                 !strstr(err_format(&err, text, sizeof(text)), refusals[i].word))
            test_case_failed("%s: %s", refusals[i].rrule, err_format(&err, text, sizeof(text)));
        else
            test_case_passed();
        recurrence_free(rule);
    }
}

TEST(a_rule_of_absurd_length_is_refused)
{
    AUTO_BUF text = BUF_INIT(KIB);
    struct recurrence *rule;

    buf_add_str(&text, STR("FREQ=DAILY;BYHOUR=1"));
    while (text.n <= TIMER_RRULE_MAX)
        buf_add_str(&text, STR(",1"));
    ASSERT_FAILS(recurrence_parse(buf_str(&text), STR("2026-01-01T00:00"), &rule, &t->err),
                 ERR_BAD_REQUEST);
}

TEST(a_start_that_is_no_local_time_is_refused)
{
    static const char *const starts[] = { "",
                                          "2026-01-01",
                                          "2026-01-01T00:00Z",
                                          "2026-01-01T00:00:00Z",
                                          "2026-01-01 00:00",
                                          "2026-13-01T00:00",
                                          "2026-02-29T00:00",
                                          "2026-00-10T00:00",
                                          "2026-01-00T00:00",
                                          "2026-01-01T24:00",
                                          "2026-01-01T00:60",
                                          "2026-01-01T00:00:60",
                                          "1899-01-01T00:00",
                                          "9999-01-01T00:00",
                                          "20x6-01-01T00:00" };

    for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
        struct recurrence *rule;

        ASSERT_FAILS(recurrence_parse(STR("FREQ=DAILY"), str_from(starts[i]), &rule, &t->err),
                     ERR_BAD_REQUEST);
        err_reset(&t->err);
    }
}

/* Going step by step and jumping give the same. */
TEST(asking_from_the_middle_gives_what_walking_gives)
{
    static const char *const rules[] = {
        "FREQ=WEEKLY;INTERVAL=3;BYDAY=MO,SU;WKST=WE",        "FREQ=MONTHLY;INTERVAL=5;BYDAY=-1FR",
        "FREQ=YEARLY;INTERVAL=2;BYWEEKNO=1,-1;BYDAY=MO,SU",  "FREQ=HOURLY;INTERVAL=7;BYMINUTE=5,50",
        "FREQ=MONTHLY;BYDAY=MO,TU;BYHOUR=7,9;BYSETPOS=2,-3", "FREQ=DAILY;COUNT=300;INTERVAL=2"
    };

    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        AUTO(recurrence) walked = NULL;
        char at[TIMER_LOCAL_SIZE] = "", next[TIMER_LOCAL_SIZE], jumped[TIMER_LOCAL_SIZE];

        ASSERT_OK(
            recurrence_parse(str_from(rules[i]), STR("2001-03-04T05:06:07"), &walked, &t->err));
        for (int n = 0; n < 290; n++) {
            AUTO(recurrence) fresh = NULL;

            ASSERT_EQ(recurrence_next(walked, at, next, &t->err), 1);
            ASSERT(strcmp(next, at) > 0);
            ASSERT_OK(
                recurrence_parse(str_from(rules[i]), STR("2001-03-04T05:06:07"), &fresh, &t->err));
            ASSERT_EQ(recurrence_next(fresh, at, jumped, &t->err), 1);
            ASSERT_TEXT(jumped, next);
            memcpy(at, next, sizeof(at));
        }
        /* And back again, with a rule that has come far. */
        ASSERT_EQ(recurrence_next(walked, "", at, &t->err), 1);
        ASSERT(strcmp(at, next) < 0);
    }
}

TEST(a_rule_that_has_ended_has_no_next)
{
    AUTO(recurrence) rule = NULL;
    char at[TIMER_LOCAL_SIZE];

    ASSERT_OK(recurrence_parse(STR("FREQ=DAILY;COUNT=3"), STR("2026-01-01T07:00"), &rule, &t->err));
    ASSERT_EQ(recurrence_next(rule, "2026-01-02T07:00:00", at, &t->err), 1);
    ASSERT_TEXT(at, "2026-01-03T07:00:00");
    ASSERT_EQ(recurrence_next(rule, at, at, &t->err), 0);
    ASSERT_EQ(recurrence_next(rule, "2026-01-01T06:59:59", at, &t->err), 1);
    ASSERT_TEXT(at, "2026-01-01T07:00:00");
    ASSERT_EQ(recurrence_next(rule, "9998-12-31T23:00:00", at, &t->err), 0);
    ASSERT_FAILS(recurrence_next(rule, "tomorrow", at, &t->err), ERR_BAD_REQUEST);
}

static int64_t cpu_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Another library looks at each minute of 550 years for these. */
TEST(no_rule_keeps_the_loop_from_its_work)
{
    static const char *const rules[] = {
        "FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MINUTELY;INTERVAL=7;BYDAY=MO;BYHOUR=3;BYMINUTE=5;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MINUTELY;INTERVAL=11;BYMINUTE=7;BYHOUR=23;BYMONTHDAY=31;BYMONTH=6",
        "FREQ=MINUTELY;INTERVAL=2;BYMINUTE=1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37",
        "FREQ=HOURLY;INTERVAL=24;BYHOUR=1",
        "FREQ=YEARLY;BYSETPOS=366;BYDAY=MO;BYHOUR=1,2,3,4,5,6",
        "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=9;BYMONTH=2",
        "FREQ=DAILY;INTERVAL=1000000;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;COUNT=100000;BYMONTH=1;BYMONTHDAY=1",
        "FREQ=MINUTELY;COUNT=100000;INTERVAL=1000000",
    };

    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        AUTO(recurrence) rule = NULL;
        struct err err = ERR_INIT;
        int64_t began = cpu_ms();
        char at[TIMER_LOCAL_SIZE];

        if (recurrence_parse(str_from(rules[i]), STR("2026-01-01T00:00"), &rule, &err) == 0)
            recurrence_next(rule, "2999-01-01T00:00:00", at, &err);
        if (cpu_ms() - began < 5000) /* with sanitizers, on a busy machine; libical took a minute */
            test_case_passed();
        else
            test_case_failed("%s took %d ms", rules[i], (int)(cpu_ms() - began));
    }
}

/* The C library numbers weeks, too. */
TEST(weeks_are_those_of_the_calendar)
{
    for (int week = 1; week <= 53; week++) {
        AUTO(recurrence) rule = NULL;
        char text[80], at[TIMER_LOCAL_SIZE] = "", shown[40];
        time_t day = 946684800; /* 2000-01-01 */
        int days = 0;

        snprintf(text, sizeof(text), "FREQ=YEARLY;BYWEEKNO=%d;BYDAY=MO,TU,WE,TH,FR,SA,SU", week);
        ASSERT_OK(recurrence_parse(str_from(text), STR("2000-01-01T00:00"), &rule, &t->err));
        for (; day < 946684800 + 60 * INT64_C(365) * 86400; day += 86400) {
            struct tm tm;

            strftime(shown, sizeof(shown), "%V", gmtime_r(&day, &tm));
            if (atoi(shown) != week)
                continue;
            ASSERT_EQ(recurrence_next(rule, at, at, &t->err), 1);
            strftime(shown, sizeof(shown), "%Y-%m-%dT%H:%M:%S", &tm);
            ASSERT_TEXT(at, shown);
            days++;
        }
        ASSERT(days >= (week == 53 ? 70 : 400));
    }
}

/* ---- against another implementation ---- */

static void check_vector(struct test *t, char *line)
{
    char *start = strchr(line, '\t'), *want, *end;
    AUTO(recurrence) rule = NULL;
    struct err err = ERR_INIT;

    ASSERT(start);
    *start++ = '\0';
    want = strchr(start, '\t');
    ASSERT(want);
    *want++ = '\0';
    end = strchr(want, '\n');
    ASSERT(end);
    *end = '\0';
    if (!*want) { /* not within 90 years */
        char at[TIMER_LOCAL_SIZE] = "9999";

        if (recurrence_parse(str_from(line), str_from(start), &rule, &err) == 0)
            ASSERT_EQ(recurrence_next(rule, "", at, &t->err), 1);
        if (strtol(at, NULL, 10) > strtol(start, NULL, 10) + 90)
            test_case_passed();
        else
            test_case_failed("%s from %s gives %s", line, start, at);
        return;
    }
    if (strcmp(occurrences(t, line, start, 15), want) == 0) {
        test_case_passed();
        return;
    }
    {
        const char *got = occurrences(t, line, start, 15);

        /* The other one stops after 90 years. */
        if (strlen(want) < 15 * 20 - 1 && strncmp(got, want, strlen(want)) == 0 &&
            got[strlen(want)] &&
            strtol(got + strlen(want), NULL, 10) > strtol(start, NULL, 10) + 90)
            test_case_passed();
        else
            test_case_failed("%s from %s:\n got  %s\n want %s", line, start, got, want);
    }
}

TEST(occurrences_are_those_of_dateutil, .timeout_s = 300)
{
    const char *many = getenv("DORMOUSE_TEST_LONG"), *script;
    AUTO_BUF command = BUF_INIT(4 * KIB);
    char line[4096];
    FILE *pipe;
    int status, lines = 0;

    script = "tests/unit/wake/rrule_vectors.py";
    buf_printf(&command, "exec python3 %s/%s 7 %d", test_source_root(), script, many ? 20000 : 300);
    pipe = popen(buf_text(&command), "r");
    ASSERT(pipe);
    for (; fgets(line, sizeof(line), pipe); lines++)
        check_vector(t, line);
    status = pclose(pipe);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        SKIP("python3-dateutil is not installed");
    ASSERT_EQ(status, 0);
    ASSERT(lines > 200);
}
