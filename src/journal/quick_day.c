/* Days, times of day and durations in English words, as people type them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/timefmt.h"
#include "journal/quick_int.h"

#define MINUTES_MAX 100000
#define YEAR_MAX    9998

static struct str word(struct quick_words words, size_t i)
{
    return i < words.n && !words.at[i].literal ? words.at[i].core : STR("");
}

static struct str raw_word(struct quick_words words, size_t i)
{
    return i < words.n && !words.at[i].literal ? words.at[i].raw : STR("");
}

/* -1: none of them. */
static int index_of(struct str text, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (str_is(text, names[i]))
            return (int)i;
    }
    return -1;
}

static bool is_one_of(struct str text, const char *const *names, size_t n)
{
    return index_of(text, names, n) >= 0;
}

/* Digits only, small. -1: no number. */
static int64_t number(struct str text)
{
    int64_t value;

    if (text.n == 0 || text.n > 6 || text.p[0] == '-' || str_to_i64(text, &value) < 0)
        return -1;
    return value;
}

/* ---- the calendar ---- */

struct date {
    int64_t year;
    unsigned month, day;
};

static struct date date_of(int64_t days)
{
    char text[TIMEFMT_SIZE];
    int64_t year = 0, month = 0, day = 0;

    timefmt_rfc3339(days * 24 * 3600 * 1000, text);
    str_to_i64(str_of(text, 4), &year);
    str_to_i64(str_of(text + 5, 2), &month);
    str_to_i64(str_of(text + 8, 2), &day);
    return (struct date){ year, (unsigned)month, (unsigned)day };
}

static bool date_valid(struct date date)
{
    return date.year >= 1970 && date.year <= YEAR_MAX && date.day >= 1 &&
           date.day <= timefmt_month_days(date.year, date.month);
}

static int64_t days_of(struct date date)
{
    return timefmt_days(date.year, date.month, date.day);
}

/* Monday is 0; the first of January 1970 was a Thursday. */
static int weekday_of(int64_t days)
{
    return (int)(((days + 3) % 7 + 7) % 7);
}

/* The same day some months later, or the last that the month has. */
static int64_t months_later(int64_t today, int64_t months)
{
    struct date date = date_of(today);
    int64_t month = date.month - 1 + months;
    unsigned last;

    date.year += month / 12;
    date.month = (unsigned)(month % 12) + 1;
    last = timefmt_month_days(date.year, date.month);
    date.day = date.day < last ? date.day : last;
    return days_of(date);
}

/* ---- days ---- */

static int weekday_named(struct str text, bool loose)
{
    static const char *const names[] = { "monday", "tuesday",  "wednesday", "thursday",
                                         "friday", "saturday", "sunday" };
    static const char *const shorts[] = { "mon", "tue", "wed", "thu", "fri", "sat", "sun" };
    int i = index_of(text, names, ARRAY_LEN(names));

    return i < 0 && loose ? index_of(text, shorts, ARRAY_LEN(shorts)) : i;
}

/* "2026-12-24" */
static bool iso_day(struct str text, int64_t *ret_day)
{
    struct date date;

    if (!record_day_valid(text, false))
        return false;
    date = (struct date){ number(str_of(text.p, 4)), (unsigned)number(str_of(text.p + 5, 2)),
                          (unsigned)number(str_of(text.p + 8, 2)) };
    if (!date_valid(date))
        return false;
    *ret_day = days_of(date);
    return true;
}

/* The next time that the calendar has this day and month. */
static bool next_date(struct date date, int64_t today, int64_t *ret_day)
{
    date.year = date_of(today).year;
    for (int i = 0; i < 9; i++, date.year++) { /* a leap day is at most eight years away */
        if (!date_valid(date) || days_of(date) < today)
            continue;
        *ret_day = days_of(date);
        return true;
    }
    return false;
}

/* "12.5.", "12.5.2026", and where a day is expected "12.5" */
static bool dotted_day(struct str text, int64_t today, bool loose, int64_t *ret_day)
{
    struct str rest = text, day, month, year = STR("");
    struct date date;

    if (!str_split(&rest, '.', &day) || !rest.p || !str_split(&rest, '.', &month))
        return false;
    if (rest.p && rest.n > 0)
        year = rest;
    else if (!loose && (text.n == 0 || text.p[text.n - 1] != '.'))
        return false;
    if (number(day) < 1 || number(day) > 31 || number(month) < 1 || number(month) > 12 ||
        day.n > 2 || month.n > 2)
        return false;
    date = (struct date){ number(year), (unsigned)number(month), (unsigned)number(day) };
    if (year.n == 0)
        return next_date(date, today, ret_day);
    if (year.n != 4 || !date_valid(date))
        return false;
    *ret_day = days_of(date);
    return true;
}

/* "next week", "next friday", "next month" */
static size_t next_phrase(struct quick_words words, int64_t today, int64_t *ret_day)
{
    int64_t next_monday = today - weekday_of(today) + 7;
    int weekday = weekday_named(word(words, 1), true);

    if (!str_is(word(words, 0), "next"))
        return 0;
    if (weekday >= 0) {
        *ret_day = next_monday + weekday;
    } else if (str_is(word(words, 1), "week")) {
        *ret_day = next_monday;
    } else if (str_is(word(words, 1), "month")) {
        struct date first = date_of(months_later(today, 1));

        first.day = 1;
        *ret_day = days_of(first);
    } else {
        return 0;
    }
    return 2;
}

/* "in 3 days", "in a week" */
static size_t in_phrase(struct quick_words words, int64_t today, int64_t *ret_day)
{
    static const char *const units[] = { "day", "days", "week", "weeks", "month", "months" };
    int unit = index_of(word(words, 2), units, ARRAY_LEN(units));
    struct str count = word(words, 1);
    int64_t n = str_is(count, "a") || str_is(count, "one") ? 1 : number(count);

    if (!str_is(word(words, 0), "in") || unit < 0 || n < 1 || n > 1200)
        return 0;
    if (unit >= 4)
        *ret_day = months_later(today, n);
    else
        *ret_day = today + n * (unit >= 2 ? 7 : 1);
    return 3;
}

static size_t bare_day(struct quick_words words, int64_t today, bool loose, int64_t *ret_day)
{
    int weekday = weekday_named(word(words, 0), loose);
    size_t n = next_phrase(words, today, ret_day);

    if (n == 0)
        n = in_phrase(words, today, ret_day);
    if (n > 0)
        return n;
    if (str_is(word(words, 0), "today") || str_is(word(words, 0), "tonight")) {
        *ret_day = today;
        return 1;
    }
    if (str_is(word(words, 0), "tomorrow")) {
        *ret_day = today + 1;
        return 1;
    }
    if (weekday >= 0) { /* the next one after today */
        *ret_day = today + 1 + (weekday - weekday_of(today + 1) + 7) % 7;
        return 1;
    }
    return iso_day(word(words, 0), ret_day) ||
           dotted_day(raw_word(words, 0), today, loose, ret_day) ||
           dotted_day(word(words, 0), today, loose, ret_day);
}

size_t quick_day(struct quick_words words, int64_t today, bool loose, int64_t *ret_day)
{
    static const char *const before[] = { "on", "by", "until", "due" };
    size_t n = bare_day(words, today, loose, ret_day);

    if (n > 0 || words.n < 2 || !is_one_of(word(words, 0), before, ARRAY_LEN(before)))
        return n;
    n = bare_day((struct quick_words){ words.at + 1, words.n - 1 }, today, true, ret_day);
    return n > 0 ? n + 1 : 0;
}

/* ---- times of day ---- */

/* "16:00", "4pm", "4:30pm"; -1: none. */
static int minutes_of(struct str text)
{
    bool pm = str_ends(text, STR("pm")), am = str_ends(text, STR("am"));
    struct str rest = am || pm ? str_take(text, text.n - 2) : text, hour, minute = STR("00");
    bool colon = str_find_char(rest, ':') >= 0;
    int64_t h, m;

    if (!str_split(&rest, ':', &hour) || (colon && !str_split(&rest, ':', &minute)) ||
        (!colon && !am && !pm))
        return -1;
    h = number(hour);
    m = number(minute);
    if ((rest.p && rest.n > 0) || hour.n > 2 || minute.n != 2 || h < 0 || m < 0 || m > 59)
        return -1;
    if (am || pm) {
        if (h < 1 || h > 12)
            return -1;
        h = h % 12 + (pm ? 12 : 0);
    }
    return h > 23 ? -1 : (int)(h * 60 + m);
}

size_t quick_clock(struct quick_words words, bool bare, int *ret_minutes)
{
    size_t at = str_is(word(words, 0), "at") ? 1 : 0;
    struct str text = word(words, at);
    int minutes;

    if (at == 0 && !bare)
        return 0;
    minutes = at == 1 && str_is(text, "noon") ? 12 * 60 : minutes_of(text);
    if (minutes < 0)
        return 0;
    *ret_minutes = minutes;
    return at + 1;
}

/* ---- durations ---- */

static const char *const hours[] = { "h", "hr", "hrs", "hour", "hours" };
static const char *const minutes[] = { "m", "min", "mins", "minute", "minutes" };

/* Minutes in one of this unit; 0: no unit. */
static int64_t unit_of(struct str text)
{
    if (is_one_of(text, hours, ARRAY_LEN(hours)))
        return 60;
    return is_one_of(text, minutes, ARRAY_LEN(minutes)) ? 1 : 0;
}

/* A number with at most two places after its point, in hundredths; -1: none. *rest is what follows.
 */
static int64_t hundredths(struct str *rest)
{
    size_t n = 0, after = 0;
    int64_t value = 0;

    while (n < rest->n && rest->p[n] >= '0' && rest->p[n] <= '9' && n < 6)
        value = value * 10 + (rest->p[n++] - '0');
    if (n == 0)
        return -1;
    value *= 100;
    if (n + 1 < rest->n && rest->p[n] == '.' && rest->p[n + 1] >= '0' && rest->p[n + 1] <= '9') {
        for (n++; n < rest->n && rest->p[n] >= '0' && rest->p[n] <= '9' && after < 2; after++)
            value += (rest->p[n++] - '0') * (after == 0 ? 10 : 1);
    }
    *rest = str_skip(*rest, n);
    return value;
}

/* "2h", "90m", "1h30", "1h30m", "1.5h", 0: none */
static int64_t joined(struct str text)
{
    struct str rest = text, unit;
    int64_t first = hundredths(&rest), second = 0;
    size_t n = 0;

    while (n < rest.n && rest.p[n] >= 'a' && rest.p[n] <= 'z')
        n++;
    unit = str_take(rest, n);
    rest = str_skip(rest, n);
    if (first < 0 || unit_of(unit) == 0)
        return 0;
    if (rest.n > 0) {
        if (unit_of(unit) != 60)
            return 0;
        second = hundredths(&rest);
        if (second < 0 || second >= 6000 || (rest.n > 0 && unit_of(rest) != 1))
            return 0;
    }
    return (first * unit_of(unit) + second) / 100;
}

static size_t bare_duration(struct quick_words words, int64_t *ret_minutes)
{
    struct str first = word(words, 0), rest;
    int64_t value = joined(first);
    size_t n = 1;

    if (value == 0) { /* "2 hours", but not "2 m" of cable */
        rest = first;
        value = hundredths(&rest);
        if (value < 0 || rest.n > 0 || word(words, 1).n < 2 || unit_of(word(words, 1)) == 0)
            return 0;
        value = value * unit_of(word(words, 1)) / 100;
        n = 2;
    }
    if (value < 1 || value > MINUTES_MAX)
        return 0;
    *ret_minutes = value;
    return n;
}

size_t quick_duration(struct quick_words words, int64_t *ret_minutes)
{
    size_t n = bare_duration(words, ret_minutes);

    if (n > 0 || words.n < 2 || !str_is(word(words, 0), "for"))
        return n;
    n = bare_duration((struct quick_words){ words.at + 1, words.n - 1 }, ret_minutes);
    return n > 0 ? n + 1 : 0;
}
