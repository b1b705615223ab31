/* Local times: as text, as seconds, and when they are.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/timefmt.h"
#include "wake/recurrence_int.h"

#define YEAR_MIN 1900
#define YEAR_MAX 9998

struct day day_of(int64_t n)
{
    /* Years begin in March here, so that the day that comes and goes is their last. */
    int64_t shifted = n + 719468;
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t of_era = shifted - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153;
    struct day day = { .n = n, .mday = (int)(of_year - (153 * month + 2) / 5 + 1) };
    bool leap;

    day.month = (int)(month < 10 ? month + 3 : month - 9);
    day.year = (int)(year + era * 400 + (day.month <= 2));
    leap = timefmt_month_days(day.year, 2) == 29;
    day.month_len = (int)timefmt_month_days(day.year, (unsigned)day.month);
    day.year_len = 365 + leap;
    day.yday = (int)(day.month > 2 ? of_year + 60 + leap : of_year - 305);
    day.wday = (int)(((n + 3) % 7 + 7) % 7); /* 1970-01-01 was a Thursday */
    return day;
}

static bool digits(const char *p, int n, int *ret_value)
{
    *ret_value = 0;
    for (int i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9')
            return false;
        *ret_value = 10 * *ret_value + p[i] - '0';
    }
    return true;
}

static bool read_local(struct str text, int64_t *ret_local)
{
    int year, month, day, hour, minute, second = 0;
    const char *p = text.p;

    if ((text.n != 16 && text.n != 19) || p[4] != '-' || p[7] != '-' || p[10] != 'T' ||
        p[13] != ':' || (text.n == 19 && p[16] != ':'))
        return false;
    if (!digits(p, 4, &year) || !digits(p + 5, 2, &month) || !digits(p + 8, 2, &day) ||
        !digits(p + 11, 2, &hour) || !digits(p + 14, 2, &minute) ||
        (text.n == 19 && !digits(p + 17, 2, &second)))
        return false;
    if (year < YEAR_MIN || year > YEAR_MAX || day < 1 || hour > 23 || minute > 59 || second > 59 ||
        day > (int)timefmt_month_days(year, (unsigned)month))
        return false;
    *ret_local = timefmt_days(year, (unsigned)month, (unsigned)day) * DAY_S + hour * 3600 +
                 minute * 60 + second;
    return true;
}

int local_parse(const char *what, struct str text, int64_t *ret_local, struct err *err)
{
    if (!read_local(text, ret_local))
        return err_set(err, ERR_BAD_REQUEST,
                       "%s: \"%.*s\" is no local time such as 2026-02-18T07:00", what,
                       STR_ARG(str_take(text, 32)));
    return 0;
}

void local_text(int64_t local, char ret_text[TIMER_LOCAL_SIZE])
{
    int64_t second = (local % DAY_S + DAY_S) % DAY_S;
    struct day day = day_of((local - second) / DAY_S);

    snprintf(ret_text, TIMER_LOCAL_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d", day.year, day.month,
             day.mday, (int)(second / 3600), (int)(second / 60 % 60), (int)(second % 60));
}

/* ---- when ---- */

/* The moment at which clocks jump over local. Before it they show less, from it on more. */
static int64_t gap_end(const struct zone *zone, int64_t local)
{
    int64_t low = local - 2 * (int64_t)DAY_S, high = local + 2 * (int64_t)DAY_S;

    while (high - low > 1) {
        int64_t mid = low + (high - low) / 2;

        if (mid + zone_offset(zone, mid) > local)
            high = mid;
        else
            low = mid;
    }
    return high;
}

bool local_in_gap(const struct zone *zone, int64_t local)
{
    int64_t utc;

    return zone_moment(zone, local, &utc) == 0;
}

int64_t local_moment(const struct zone *zone, int64_t local)
{
    int64_t utc, past;

    if (zone_moment(zone, local, &utc) > 0)
        return utc * 1000;
    utc = gap_end(zone, local);
    past = ((utc + zone_offset(zone, utc)) % 60 + 60) % 60; /* of a minute that began in the gap */
    return (past ? utc + 60 - past : utc) * 1000;
}

int64_t local_of(const struct zone *zone, int64_t wall_ms)
{
    int64_t utc = wall_ms / 1000 - (wall_ms % 1000 < 0);

    return utc + zone_offset(zone, utc);
}

int64_t timer_moment(const struct zone *zone, const char *local)
{
    int64_t at;

    if (!read_local(str_from(local), &at))
        BUG("\"%s\" is no local time", local);
    return local_moment(zone, at);
}

void timer_local(const struct zone *zone, int64_t wall_ms, char ret_local[TIMER_LOCAL_SIZE])
{
    local_text(local_of(zone, wall_ms), ret_local);
}
