/* Times of events, as people write them and as Calendar wants them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "connect/event.h"
#include "harness/test.h"

TEST(a_time_gets_the_offset_that_holds_then)
{
    static const struct {
        const char *text, *zone, *is;
        int64_t utc_s;
    } cases[] = {
        { "2026-01-15T14:00", "Europe/Berlin", "2026-01-15T14:00:00+01:00", 1768482000 },
        { "2026-07-15T14:00:30", "Europe/Berlin", "2026-07-15T14:00:30+02:00", 1784116830 },
        { "2026-07-15 14:00", "America/New_York", "2026-07-15T14:00:00-04:00", 1784138400 },
        { "2026-07-15T14:00", "Asia/Kathmandu", "2026-07-15T14:00:00+05:45", 1784103300 },
        { "2026-07-15T12:00:00Z", "Europe/Berlin", "2026-07-15T14:00:00+02:00", 1784116800 },
        { "2026-07-15T12:00:00-07:00", "UTC", "2026-07-15T19:00:00+00:00", 1784142000 },
        { "2026-07-15", "Europe/Berlin", "2026-07-15", 1784066400 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct event_time time;

        ASSERT_OK(event_time_read("start", str_from(cases[i].text), str_from(cases[i].zone), &time,
                                  &t->err));
        ASSERT_TEXT(time.text, cases[i].is);
        ASSERT_EQ(time.utc_s, cases[i].utc_s);
        ASSERT_EQ(time.all_day, i == ARRAY_LEN(cases) - 1);
    }
}

TEST(a_time_that_clocks_skip_is_refused_and_one_shown_twice_is_told)
{
    struct event_time time;

    ASSERT_FAILS(
        event_time_read("start", STR("2026-03-29T02:30"), STR("Europe/Berlin"), &time, &t->err),
        ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "set forward");
    ASSERT_OK(
        event_time_read("start", STR("2026-10-25T02:30"), STR("Europe/Berlin"), &time, &t->err));
    ASSERT(time.twice);
    ASSERT_TEXT(time.text, "2026-10-25T02:30:00+02:00");
}

TEST(what_is_no_time_is_refused)
{
    static const char *const texts[] = { "",
                                         "tomorrow",
                                         "2026-02-30",
                                         "2026-13-01",
                                         "2026-00-10",
                                         "2026-1-1",
                                         "2026-01-15T25:00",
                                         "2026-01-15T14:60",
                                         "2026-01-15T14:00:61",
                                         "2026-01-15T14",
                                         "2026-01-15T14:00\n",
                                         "20260115",
                                         "2026-01-15T14:00:00+02:00; DROP" };
    struct event_time time;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        ASSERT_FAILS(event_time_read("end", str_from(texts[i]), STR("UTC"), &time, &t->err),
                     ERR_BAD_REQUEST);
        ASSERT_CONTAINS(test_err_text(t), "end must be");
    }
    ASSERT_FAILS(event_time_read("end", STR("2026-01-15"), STR("Nowhere/At_All"), &time, &t->err),
                 ERR_BAD_REQUEST);
}

TEST(days_and_times_replace_each_other)
{
    struct event_time time;
    AUTO_BUF json = BUF_INIT(1024);
    struct json_writer w = JSON_WRITER(&json);

    ASSERT_OK(event_time_read("start", STR("2026-07-15"), STR("UTC"), &time, &t->err));
    event_time_write(&w, &time);
    ASSERT_TEXT(buf_text(&json), "{\"date\":\"2026-07-15\",\"dateTime\":null,\"timeZone\":null}");
    buf_clear(&json);
    w = JSON_WRITER(&json);
    ASSERT_OK(event_time_read("start", STR("2026-07-15T10:00"), STR("UTC"), &time, &t->err));
    event_time_write(&w, &time);
    ASSERT_TEXT(buf_text(&json),
                "{\"dateTime\":\"2026-07-15T10:00:00+00:00\",\"date\":null,\"timeZone\":\"UTC\"}");
}

/* Where clocks are set forward at midnight, the day begins at one. */
TEST(a_day_without_midnight_begins_with_its_first_moment)
{
    struct event_time time;

    ASSERT_OK(
        event_time_read("start", STR("2018-11-04"), STR("America/Sao_Paulo"), &time, &t->err));
    ASSERT(time.all_day);
    ASSERT_EQ(time.utc_s, 1541300400); /* 01:00 -02:00 */
    ASSERT_FAILS(
        event_time_read("start", STR("2018-11-04T00:30"), STR("America/Sao_Paulo"), &time, &t->err),
        ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "start: there is no 2018-11-04T00:30 in America/Sao_Paulo");
}

TEST(the_first_and_the_last_times_are_taken_and_none_beyond)
{
    static const struct {
        const char *text;
        bool taken;
    } cases[] = {
        { "1970-01-01", true },          { "1969-12-31", false },
        { "9999-12-31", true },          { "2024-02-29", true },
        { "2100-02-29", false },         { "2026-01-15T00:00:00", true },
        { "2026-01-15T23:59:59", true }, { "2026-01-15T24:00", false },
        { "2026-01-15x10:00", false },   { "2026-01-15T10:00+02:00", false },
        { "2026/01/15", false },         { "2026-01-15T10.00", false },
    };
    struct event_time time;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int r = event_time_read("start", str_from(cases[i].text), STR("UTC"), &time, &t->err);

        if ((r == 0) != cases[i].taken)
            FAIL("%s was %s", cases[i].text, r ? "refused" : "taken");
        err_reset(&t->err);
    }
    ASSERT_FAILS(event_time_read("end", STR("2026-01-15"),
                                 STR("Europe/Berlin/And/Then/Some/More/Of/It/Until/It/Is/Too/Long/"
                                     "To/Be/A/Zone"),
                                 &time, &t->err),
                 ERR_BAD_REQUEST);
}
