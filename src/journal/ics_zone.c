/* SPDX-License-Identifier: MIT */
#include "journal/ics_zone.h"

#include "base/timefmt.h"

#define DAY_S 86400

/* ---- reading ---- */

static bool take_number(struct str text, size_t at, size_t n, int64_t *ret_value)
{
    return text.n >= at + n && str_to_i64(str_of(text.p + at, n), ret_value) == 0 &&
           *ret_value >= 0;
}

/* "16010325T020000", "20301231"; what follows (Z) is not looked at. */
static bool read_time(struct str text, int64_t *ret_s)
{
    int64_t y, m, d, h = 0, min = 0, s = 0;

    if (!take_number(text, 0, 4, &y) || !take_number(text, 4, 2, &m) ||
        !take_number(text, 6, 2, &d) || m < 1 || m > 12 || d < 1 ||
        d > timefmt_month_days(y, (unsigned)m))
        return false;
    if (text.n >= 15 && (!take_number(text, 9, 2, &h) || !take_number(text, 11, 2, &min) ||
                         !take_number(text, 13, 2, &s) || h > 23 || min > 59 || s > 60))
        return false;
    *ret_s = timefmt_days(y, (unsigned)m, (unsigned)d) * DAY_S + h * 3600 + min * 60 + s;
    return true;
}

/* "+0100", "-033000" */
static bool read_offset(struct str text, int64_t *ret_s)
{
    int64_t h, m, s = 0;

    if (text.n < 5 || (text.p[0] != '+' && text.p[0] != '-') || !take_number(text, 1, 2, &h) ||
        !take_number(text, 3, 2, &m) || h > 23 || m > 59 ||
        (text.n >= 7 && (!take_number(text, 5, 2, &s) || s > 59)))
        return false;
    *ret_s = (h * 3600 + m * 60 + s) * (text.p[0] == '-' ? -1 : 1);
    return true;
}

/* "-1SU", "2SU" */
static void read_weekday(struct str text, struct ics_shift *shift)
{
    static const char days[] = "MOTUWETHFRSASU";
    struct str day = text.n >= 2 ? str_skip(text, text.n - 2) : STR("");
    struct str number = str_take(text, text.n >= 2 ? text.n - 2 : 0);
    int64_t nth;

    if (str_starts(number, STR("+")))
        number = str_skip(number, 1);
    if (str_to_i64(number, &nth) < 0 || nth < -5 || nth > 5)
        return;
    for (int i = 0; i < 7; i++) {
        if (!str_eq_nocase(day, str_of(days + 2 * i, 2)))
            continue;
        shift->nth = (int)nth;
        shift->weekday = i;
    }
}

static void read_rule(struct str rule, struct ics_shift *shift)
{
    struct str part, name;
    int64_t number;

    while (rule.p && str_split(&rule, ';', &part)) {
        str_split(&part, '=', &name);
        if (!part.p)
            continue;
        if (str_eq_nocase(name, STR("FREQ")))
            shift->yearly = str_eq_nocase(part, STR("YEARLY"));
        else if (str_eq_nocase(name, STR("BYMONTH")) && str_to_i64(part, &number) == 0 &&
                 number >= 1 && number <= 12)
            shift->month = (unsigned)number;
        else if (str_eq_nocase(name, STR("BYDAY")))
            read_weekday(part, shift);
        else if (str_eq_nocase(name, STR("UNTIL")))
            read_time(part, &shift->until);
    }
}

static void read_begin(struct ics_shift *shift, struct str value)
{
    int64_t month, day;

    shift->has_begin = read_time(value, &shift->begin) && take_number(value, 4, 2, &month) &&
                       take_number(value, 6, 2, &day);
    if (!shift->has_begin)
        return;
    shift->begin_month = (unsigned)month;
    shift->begin_day = (unsigned)day;
}

static void read_shift(struct ics_shift *shift, const struct ics_line *line)
{
    struct str value = str_trim(line->value);

    if (str_eq_nocase(line->name, STR("DTSTART")))
        read_begin(shift, value);
    else if (str_eq_nocase(line->name, STR("TZOFFSETFROM")))
        read_offset(value, &shift->from);
    else if (str_eq_nocase(line->name, STR("TZOFFSETTO")))
        shift->has_to = read_offset(value, &shift->to);
    else if (str_eq_nocase(line->name, STR("RRULE")))
        read_rule(value, shift);
}

void ics_zone_read(struct ics_zone *zone, const struct ics_line *line)
{
    struct str value = str_trim(line->value);
    struct ics_shift *shift = &zone->shifts[zone->n];

    if (zone->n == ICS_SHIFTS_MAX)
        return;
    if (str_eq_nocase(line->name, STR("BEGIN"))) {
        zone->open = str_eq_nocase(value, STR("STANDARD")) || str_eq_nocase(value, STR("DAYLIGHT"));
        *shift = (struct ics_shift){ .until = INT64_MAX };
    } else if (str_eq_nocase(line->name, STR("END"))) {
        zone->n += zone->open && shift->has_begin && shift->has_to;
        zone->open = false;
    } else if (zone->open) {
        read_shift(shift, line);
    }
}

/* ---- when ---- */

static int64_t year_of(int64_t days)
{
    int64_t year = 1971 + days / 365;

    while (timefmt_days(year, 1, 1) > days)
        year--;
    return year;
}

/* Monday is 0; the first of January 1970 was a Thursday. */
static int weekday_of(int64_t days)
{
    return (int)(((days + 3) % 7 + 7) % 7);
}

static int64_t floor_days(int64_t s)
{
    return s / DAY_S - (s % DAY_S < 0);
}

/* When clocks are set in a year, where a rule says it. */
static int64_t shift_in(const struct ics_shift *shift, int64_t year)
{
    unsigned month = shift->month ? shift->month : shift->begin_month;
    unsigned length = timefmt_month_days(year, month);
    int64_t first = timefmt_days(year, month, 1), last = first + length - 1, day;

    if (shift->nth > 0)
        day = first + (shift->weekday - weekday_of(first) + 7) % 7 + 7 * (shift->nth - 1);
    else if (shift->nth < 0)
        day = last - (weekday_of(last) - shift->weekday + 7) % 7 + 7 * (shift->nth + 1);
    else
        day = first + (shift->begin_day < length ? shift->begin_day : length) - 1;
    return day * DAY_S + (shift->begin - floor_days(shift->begin) * DAY_S);
}

/* The last time before that clocks were set so; false: never. */
static bool last_before(const struct ics_shift *shift, int64_t local_s, int64_t *ret_at)
{
    int64_t year = year_of(floor_days(local_s));

    if (shift->begin > local_s)
        return false;
    *ret_at = shift->begin;
    for (int back = 0; shift->yearly && back < 2; back++) {
        int64_t at = shift_in(shift, year - back);

        if (at > local_s || at < shift->begin || at > shift->until)
            continue;
        *ret_at = at;
        break;
    }
    return true;
}

bool ics_zone_moment(const struct ics_zone *zone, int64_t local_s, int64_t *ret_utc_s)
{
    const struct ics_shift *last = NULL, *first = zone->shifts;
    int64_t at, latest = INT64_MIN;

    if (zone->n == 0)
        return false;
    for (size_t i = 0; i < zone->n; i++) {
        const struct ics_shift *shift = &zone->shifts[i];

        if (shift->begin < first->begin)
            first = shift;
        if (last_before(shift, local_s, &at) && at >= latest) {
            latest = at;
            last = shift;
        }
    }
    if (!last)
        *ret_utc_s = local_s - first->from;
    else if (local_s < latest + last->to - last->from) /* skipped: as clocks showed it before */
        *ret_utc_s = local_s - last->from;
    else
        *ret_utc_s = local_s - last->to;
    return true;
}
