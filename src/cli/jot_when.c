/* Days and moments as people type them. What quick add understands is understood here too.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/jot.h"

#include <string.h>

#include "journal/quick.h"

#define DAY_S INT64_C(86400)

static bool read_when(struct jot *jot, const char *typed, enum jot_sense sense,
                      struct quick_when *ret_when)
{
    char now[TIMEFMT_SIZE];

    jot_local(jot, jot->now_ms, now);
    return quick_when(str_from(typed), str_of(now, 16), sense != JOT_AHEAD, &jot->arena, ret_when);
}

static struct str day_text(struct jot *jot, int64_t day)
{
    char text[TIMEFMT_SIZE];

    timefmt_rfc3339(day * DAY_S * 1000, text);
    return str_from(arena_printf(&jot->arena, "%.10s", text));
}

/* Local clocks show this at the moment; the first of two, the next valid one of none. */
static int64_t moment_of(struct jot *jot, struct str day, int64_t minutes)
{
    int64_t year = 0, month = 0, of_month = 0, local, utc;

    str_to_i64(str_of(day.p, 4), &year);
    str_to_i64(str_of(day.p + 5, 2), &month);
    str_to_i64(str_of(day.p + 8, 2), &of_month);
    local = timefmt_days(year, (unsigned)month, (unsigned)of_month) * DAY_S + minutes * 60;
    for (int tries = 0; tries < 24 * 60; tries++, local += 60)
        if (zone_moment(jot->zone, local, &utc) > 0)
            return utc * 1000;
    return local * 1000;
}

int jot_has_been(struct jot *jot, const char *typed, int64_t at_ms)
{
    if (at_ms <= jot->now_ms)
        return 0;
    return err_set(&jot->err, ERR_BAD_REQUEST, "\"%.60s\" has not come yet", typed);
}

int jot_day(struct jot *jot, const char *typed, enum jot_sense sense, struct str *ret_day)
{
    struct quick_when when;

    if (!read_when(jot, typed, sense, &when) || !when.has_day || when.has_clock)
        return err_set(&jot->err, ERR_BAD_REQUEST,
                       "\"%.60s\" is not a day; write 2026-02-18, today, %s, friday", typed,
                       sense == JOT_AHEAD ? "tomorrow" : "yesterday");
    *ret_day = day_text(jot, when.day);
    return sense == JOT_BEHIND ? jot_has_been(jot, typed, moment_of(jot, *ret_day, 0)) : 0;
}

int jot_due(struct jot *jot, const char *typed, struct str *ret_due)
{
    struct quick_when when;

    if (record_day_valid(str_from(typed), true)) {
        *ret_due = str_from(typed);
        return 0;
    }
    if (!read_when(jot, typed, JOT_AHEAD, &when))
        return err_set(
            &jot->err, ERR_BAD_REQUEST,
            "\"%.60s\" is not a day; write 2026-02-18, today, tomorrow, friday, tomorrow 16:00",
            typed);
    *ret_due = when.has_day ? day_text(jot, when.day) : str_from(jot->today);
    if (when.has_clock)
        *ret_due = str_from(arena_printf(&jot->arena, "%.*sT%02d:%02d", STR_ARG(*ret_due),
                                         when.minutes / 60, when.minutes % 60));
    return 0;
}

/* "2026-02-18T09:30" */
static bool read_written(const char *typed, struct str *ret_day, int64_t *ret_minutes)
{
    int64_t hour = 0, minute = 0;

    if (strlen(typed) != 16 || !record_day_valid(str_from(typed), true))
        return false;
    str_to_i64(str_of(typed + 11, 2), &hour);
    str_to_i64(str_of(typed + 14, 2), &minute);
    *ret_day = str_of(typed, 10);
    *ret_minutes = hour * 60 + minute;
    return true;
}

static bool read_moment(struct jot *jot, const char *typed, struct str day, enum jot_sense sense,
                        int64_t *ret_at)
{
    struct quick_when when;
    int64_t minutes;

    if (!day.n)
        day = str_from(jot->today);
    if (strcmp(typed, "24:00") == 0) {
        minutes = 24 * 60;
    } else if (!read_written(typed, &day, &minutes)) {
        if (!read_when(jot, typed, sense, &when) || !when.has_clock)
            return false;
        if (when.has_day)
            day = day_text(jot, when.day);
        minutes = when.minutes;
    }
    *ret_at = moment_of(jot, day, minutes);
    return true;
}

int jot_when_it_was(struct jot *jot, const char *typed, char ret_text[TIMEFMT_SIZE])
{
    struct quick_when when;
    struct str day;
    int64_t at;

    if (!read_when(jot, typed, JOT_BEHIND, &when) || when.has_clock)
        return jot_moment(jot, typed, STR_NONE, JOT_BEHIND, ret_text);
    if (jot_day(jot, typed, JOT_BEHIND, &day) < 0)
        return -1;
    at = str_is(day, jot->today) ? jot->now_ms : moment_of(jot, day, 12 * 60);
    timefmt_rfc3339(at, ret_text);
    return 0;
}

int jot_moment(struct jot *jot, const char *typed, struct str day, enum jot_sense sense,
               char ret_text[TIMEFMT_SIZE])
{
    struct err ignored = ERR_INIT;
    int64_t at = jot->now_ms;
    struct quick_when when;

    if (strcmp(typed, "now") != 0 && timefmt_parse(str_from(typed), &at, &ignored) < 0 &&
        !read_moment(jot, typed, day, sense, &at))
        return read_when(jot, typed, sense, &when)
                   ? err_set(&jot->err, ERR_BAD_REQUEST,
                             "\"%.60s\" is a day; give the time, too: \"%.60s 9:30\"", typed, typed)
                   : err_set(&jot->err, ERR_BAD_REQUEST,
                             "\"%.60s\" is no moment; write 09:30, 9am, now, 2026-02-18T09:30 or "
                             "\"yesterday 9:30\"",
                             typed);
    timefmt_rfc3339(at, ret_text);
    return sense == JOT_BEHIND ? jot_has_been(jot, typed, at) : 0;
}
