/* RFC 3339 date-times without the C library's time zones.
 *
 * Days are counted in a year that begins in March, so that the leap day is the last one and
 * months before it have a regular length.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/timefmt.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/alloc.h"

#define DAY_MS      INT64_C(86400000)
#define ERA_DAYS    146097 /* of 400 years */
#define ERA_TO_1970 719468 /* from 0000-03-01 */

int64_t timefmt_days(int64_t year, unsigned month, unsigned day)
{
    int64_t era, year_of_era, day_of_year;

    year -= month <= 2;
    era = (year >= 0 ? year : year - 399) / 400;
    year_of_era = year - era * 400;
    day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * ERA_DAYS + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
           ERA_TO_1970;
}

unsigned timefmt_month_days(int64_t year, unsigned month)
{
    static const uint8_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    if (month < 1 || month > 12)
        return 0;
    return days[month - 1] + (unsigned)(leap && month == 2);
}

static void civil_from_days(int64_t days, int *ret_year, unsigned *ret_month, unsigned *ret_day)
{
    int64_t z = days + ERA_TO_1970;
    int64_t era = (z >= 0 ? z : z - (ERA_DAYS - 1)) / ERA_DAYS;
    unsigned doe = (unsigned)(z - era * ERA_DAYS);
    unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    unsigned month = (5 * doy + 2) / 153;

    *ret_day = doy - (153 * month + 2) / 5 + 1;
    *ret_month = month < 10 ? month + 3 : month - 9;
    *ret_year = (int)(yoe + era * 400) + (*ret_month <= 2);
}

void timefmt_rfc3339(int64_t wall_ms, char ret_text[TIMEFMT_SIZE])
{
    unsigned month, day, ms;
    int64_t days;
    int year;

    if (wall_ms < TIMEFMT_MIN_MS)
        wall_ms = TIMEFMT_MIN_MS;
    if (wall_ms > TIMEFMT_MAX_MS)
        wall_ms = TIMEFMT_MAX_MS;
    days = wall_ms / DAY_MS - (wall_ms % DAY_MS < 0);
    ms = (unsigned)(wall_ms - days * DAY_MS);
    civil_from_days(days, &year, &month, &day);
    snprintf(ret_text, TIMEFMT_SIZE, "%04d-%02u-%02uT%02u:%02u:%02u.%03uZ", year, month, day,
             ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
}

/* Takes exactly `count` digits off the front. */
static bool take_number(struct str *s, size_t count, unsigned *ret_value)
{
    uint64_t value;

    if (s->n < count || str_to_u64(str_take(*s, count), &value) < 0)
        return false;
    *s = str_skip(*s, count);
    *ret_value = (unsigned)value;
    return true;
}

static bool take_char(struct str *s, char upper)
{
    if (s->n == 0 || (s->p[0] != upper && !(upper >= 'A' && s->p[0] == upper + ('a' - 'A'))))
        return false;
    *s = str_skip(*s, 1);
    return true;
}

/* ".digits" if there is any; false for a point without digits. */
static bool take_fraction(struct str *s, unsigned *ret_ms)
{
    unsigned weight = 100;
    size_t digits = 0;

    *ret_ms = 0;
    if (!take_char(s, '.'))
        return true;
    for (; s->n && s->p[0] >= '0' && s->p[0] <= '9'; digits++) {
        *ret_ms += weight * (unsigned)(s->p[0] - '0');
        weight /= 10;
        *s = str_skip(*s, 1);
    }
    return digits > 0;
}

static bool take_offset(struct str *s, int *ret_minutes)
{
    unsigned hours, minutes;
    int sign;

    *ret_minutes = 0;
    if (take_char(s, 'Z'))
        return true;
    sign = take_char(s, '+') ? 1 : take_char(s, '-') ? -1 : 0;
    if (!sign || !take_number(s, 2, &hours) || !take_char(s, ':') || !take_number(s, 2, &minutes) ||
        hours > 23 || minutes > 59)
        return false;
    *ret_minutes = sign * (int)(hours * 60 + minutes);
    return true;
}

/* A leap second stands at the end of a UTC month: the moment after it is the first of a month. */
static bool ends_month_utc(int64_t wall_ms)
{
    unsigned month, day;
    int year;

    if (wall_ms % DAY_MS >= 1000 || wall_ms % DAY_MS < 0)
        return false;
    civil_from_days(wall_ms / DAY_MS, &year, &month, &day);
    return day == 1;
}

static int bad_time(struct str text, const char *what, struct err *err)
{
    return err_set(err, ERR_BAD_REQUEST,
                   "\"%.*s\" %s; expected RFC 3339 like 2026-11-15T20:14:47.123Z",
                   (int)(text.n < 64 ? text.n : 64), text.p ? text.p : "", what);
}

int timefmt_parse(struct str text, int64_t *ret_wall_ms, struct err *err)
{
    unsigned year, month, day, hour, minute, second, ms;
    struct str s = text;
    int64_t wall_ms;
    int offset;

    if (!take_number(&s, 4, &year) || !take_char(&s, '-') || !take_number(&s, 2, &month) ||
        !take_char(&s, '-') || !take_number(&s, 2, &day) || !take_char(&s, 'T') ||
        !take_number(&s, 2, &hour) || !take_char(&s, ':') || !take_number(&s, 2, &minute) ||
        !take_char(&s, ':') || !take_number(&s, 2, &second) || !take_fraction(&s, &ms) ||
        !take_offset(&s, &offset) || s.n != 0)
        return bad_time(text, "is not a date and time", err);
    if (day < 1 || day > timefmt_month_days(year, month))
        return bad_time(text, "names a day that does not exist", err);
    if (hour > 23 || minute > 59 || second > 60)
        return bad_time(text, "names a time of day that does not exist", err);
    wall_ms = timefmt_days(year, month, day) * DAY_MS +
              ((int64_t)hour * 3600 + (int64_t)minute * 60 + second) * 1000 + ms -
              (int64_t)offset * 60000;
    if (second == 60 && !ends_month_utc(wall_ms))
        return bad_time(text, "has a leap second where none can be", err);
    if (wall_ms < TIMEFMT_MIN_MS || wall_ms > TIMEFMT_MAX_MS)
        return bad_time(text, "lies outside the years 0000 to 9999 in UTC", err);
    *ret_wall_ms = wall_ms;
    return 0;
}

const char *timefmt_length(int64_t minutes, char ret_text[TIMEFMT_LENGTH_SIZE])
{
    long long hours = (long long)(minutes / 60), rest = (long long)(minutes % 60);

    if (hours == 0)
        snprintf(ret_text, TIMEFMT_LENGTH_SIZE, "%lld min", rest);
    else if (rest == 0)
        snprintf(ret_text, TIMEFMT_LENGTH_SIZE, "%lld h", hours);
    else
        snprintf(ret_text, TIMEFMT_LENGTH_SIZE, "%lld h %lld min", hours, rest);
    return ret_text;
}

const char *timefmt_span(int64_t ms, char ret_text[TIMEFMT_SPAN_SIZE])
{
    static const struct {
        int64_t ms;
        const char *word;
    } units[] = { { 3600000, "hour" }, { 60000, "minute" }, { 1000, "second" } };

    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (ms < units[i].ms || ms % units[i].ms)
            continue;
        snprintf(ret_text, TIMEFMT_SPAN_SIZE, "%lld %s%s", (long long)(ms / units[i].ms),
                 units[i].word, ms == units[i].ms ? "" : "s");
        return ret_text;
    }
    if (ms < 1000)
        snprintf(ret_text, TIMEFMT_SPAN_SIZE, "%lld ms", (long long)ms);
    else
        snprintf(ret_text, TIMEFMT_SPAN_SIZE, "%lld.%lld seconds", (long long)(ms / 1000),
                 (long long)(ms % 1000 / 100));
    return ret_text;
}
