/* Days in English words, as people type them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/timefmt.h"
#include "journal/quick_int.h"

#define YEAR_MAX 9998

struct str quick_word(struct quick_words words, size_t i)
{
    return i < words.n && !words.at[i].literal ? words.at[i].core : STR("");
}

static struct str raw_word(struct quick_words words, size_t i)
{
    return i < words.n && !words.at[i].literal ? words.at[i].raw : STR("");
}

int quick_index(struct str text, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (str_is(text, names[i]))
            return (int)i;
    }
    return -1;
}

int64_t quick_number(struct str text)
{
    int64_t value;

    if (text.n == 0 || text.n > 6 || text.p[0] == '-' || str_to_i64(text, &value) < 0)
        return -1;
    return value;
}

int64_t quick_count(struct str text)
{
    static const char *const names[] = { "a",    "one",    "two",   "three", "four",
                                         "five", "six",    "seven", "eight", "nine",
                                         "ten",  "eleven", "twelve" };
    int i = quick_index(text, names, ARRAY_LEN(names));

    if (str_is(text, "an"))
        return 1;
    return i < 0 ? quick_number(text) : i == 0 ? 1 : i;
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
    int i = quick_index(text, names, ARRAY_LEN(names));

    return i < 0 && loose ? quick_index(text, shorts, ARRAY_LEN(shorts)) : i;
}

int quick_weekday(struct str text)
{
    return weekday_named(text, true);
}

/* "2026-12-24", "2026/12/24" */
static bool iso_day(struct str text, int64_t *ret_day)
{
    char dashed[10];
    struct date date;

    if (text.n == 10 && text.p[4] == '/' && text.p[7] == '/') {
        memcpy(dashed, text.p, sizeof(dashed));
        dashed[4] = dashed[7] = '-';
        text = str_of(dashed, sizeof(dashed));
    }
    if (!record_day_valid(text, false))
        return false;
    date = (struct date){ quick_number(str_of(text.p, 4)),
                          (unsigned)quick_number(str_of(text.p + 5, 2)),
                          (unsigned)quick_number(str_of(text.p + 8, 2)) };
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
    if (quick_number(day) < 1 || quick_number(day) > 31 || quick_number(month) < 1 ||
        quick_number(month) > 12 || day.n > 2 || month.n > 2)
        return false;
    date = (struct date){ quick_number(year), (unsigned)quick_number(month),
                          (unsigned)quick_number(day) };
    if (year.n == 0)
        return next_date(date, today, ret_day);
    if (year.n != 4 || !date_valid(date))
        return false;
    *ret_day = days_of(date);
    return true;
}

/* "24", "24.", "24th"; 0: none */
static unsigned day_number(struct str text)
{
    static const char *const endings[] = { "st", "nd", "rd", "th" };
    int64_t day;

    if (text.n > 2 && quick_index(str_skip(text, text.n - 2), endings, ARRAY_LEN(endings)) >= 0)
        text = str_take(text, text.n - 2);
    day = text.n <= 2 ? quick_number(text) : -1;
    return day >= 1 && day <= 31 ? (unsigned)day : 0;
}

/* 0: none */
static unsigned month_named(struct str text)
{
    static const char *const names[] = { "january",   "february", "march",    "april",
                                         "may",       "june",     "july",     "august",
                                         "september", "october",  "november", "december" };
    static const char *const shorts[] = { "jan", "feb", "mar", "apr", "may", "jun",
                                          "jul", "aug", "sep", "oct", "nov", "dec" };
    int i = quick_index(text, names, ARRAY_LEN(names));

    if (i < 0)
        i = str_is(text, "sept") ? 8 : quick_index(text, shorts, ARRAY_LEN(shorts));
    return (unsigned)(i + 1);
}

/* "24 Dec", "December 24th", "24 Dec 2026", "24th of December" */
static size_t month_phrase(struct quick_words words, int64_t today, int64_t *ret_day)
{
    size_t of = str_is(quick_word(words, 1), "of");
    struct str first = quick_word(words, 0), second = quick_word(words, 1 + of),
               third = quick_word(words, 2 + of);
    bool month_first = month_named(first) > 0 && !of;
    struct date date = { .month = month_named(month_first ? first : second),
                         .day = day_number(month_first ? second : first) };

    if (date.month == 0 || date.day == 0)
        return 0;
    if (third.n == 4 && quick_number(third) >= 1970) {
        date.year = quick_number(third);
        if (!date_valid(date))
            return 0;
        *ret_day = days_of(date);
        return 3 + of;
    }
    return next_date(date, today, ret_day) ? 2 + of : 0;
}

/* "the 15th": the next one */
static size_t day_of_month(struct quick_words words, int64_t today, int64_t *ret_day)
{
    struct str text = quick_word(words, 1);
    unsigned day = day_number(text);

    if (!str_is(quick_word(words, 0), "the") || day == 0 || text.p[text.n - 1] <= '9')
        return 0;
    for (int i = 0; i < 3; i++) { /* every second month has 31 days, nearly */
        struct date date = date_of(months_later(today - date_of(today).day + 1, i));

        date.day = day;
        if (!date_valid(date) || days_of(date) < today)
            continue;
        *ret_day = days_of(date);
        return 2;
    }
    return 0;
}

/* "end of month", "end of the month", "end of next month" */
static size_t end_phrase(struct quick_words words, int64_t today, int64_t *ret_day)
{
    static const char *const which[] = { "the", "this", "next" };
    int i = quick_index(quick_word(words, 2), which, ARRAY_LEN(which));
    size_t the = i >= 0;
    struct date date = date_of(i == 2 ? months_later(today, 1) : today);

    if (!str_is(quick_word(words, 0), "end") || !str_is(quick_word(words, 1), "of") ||
        !str_is(quick_word(words, 2 + the), "month"))
        return 0;
    date.day = timefmt_month_days(date.year, date.month);
    *ret_day = days_of(date);
    return 3 + the;
}

/* "this friday", "this weekend" */
static size_t this_phrase(struct quick_words words, int64_t today, int64_t *ret_day)
{
    bool weekend = str_is(quick_word(words, 1), "weekend");
    int weekday = weekend ? 5 : weekday_named(quick_word(words, 1), true);

    if (!str_is(quick_word(words, 0), "this") || weekday < 0)
        return 0;
    *ret_day = today + (weekday - weekday_of(today) + 7) % 7;
    if (weekend && weekday_of(today) == 6)
        *ret_day = today;
    return 2;
}

/* "next week", "next friday", "next month" */
static size_t next_phrase(struct quick_words words, int64_t today, int64_t *ret_day)
{
    int64_t next_monday = today - weekday_of(today) + 7;
    int weekday = weekday_named(quick_word(words, 1), true);

    if (!str_is(quick_word(words, 0), "next"))
        return 0;
    if (weekday >= 0) {
        *ret_day = next_monday + weekday;
    } else if (str_is(quick_word(words, 1), "week")) {
        *ret_day = next_monday;
    } else if (str_is(quick_word(words, 1), "month")) {
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
    int unit = quick_index(quick_word(words, 2), units, ARRAY_LEN(units));
    struct str count = quick_word(words, 1);
    int64_t n = quick_count(count);

    if (!str_is(quick_word(words, 0), "in") || unit < 0 || n < 1 || n > 1200)
        return 0;
    if (unit >= 4)
        *ret_day = months_later(today, n);
    else
        *ret_day = today + n * (unit >= 2 ? 7 : 1);
    return 3;
}

bool quick_is_doubtful(struct str text)
{
    char sign = str_find_char(text, '/') >= 0 ? '/' : '-';
    struct str rest = text, first, second;

    return str_split(&rest, sign, &first) && rest.p && str_split(&rest, sign, &second) && rest.p &&
           first.n <= 2 && second.n <= 2 && (rest.n == 2 || rest.n == 4) &&
           quick_number(first) >= 1 && quick_number(first) <= 31 && quick_number(second) >= 1 &&
           quick_number(second) <= 31 && quick_number(rest) >= 0;
}

/* Three numbers; the year has four digits. */
static bool is_dated(struct str text, char sign, bool year_first)
{
    struct str rest = text, part[2];

    if (!str_split(&rest, sign, &part[0]) || !rest.p || !str_split(&rest, sign, &part[1]) ||
        !rest.p || quick_number(part[0]) < 0 || quick_number(part[1]) < 0 || quick_number(rest) < 0)
        return false;
    return part[1].n <= 2 &&
           (year_first ? part[0].n == 4 && rest.n <= 2 : part[0].n <= 2 && rest.n == 4);
}

/* "31.2.", but neither "31.2" nor "99.2." */
static bool is_dotted(struct str text)
{
    struct str rest = text, day, month;

    return str_split(&rest, '.', &day) && rest.p && str_split(&rest, '.', &month) && rest.p &&
           rest.n == 0 && day_number(day) > 0 && quick_number(month) >= 1 &&
           quick_number(month) <= 12 && quick_number(day) > 0;
}

bool quick_is_date(struct str text)
{
    return is_dated(text, '-', true) || is_dated(text, '.', false) || is_dotted(text);
}

static size_t bare_day(struct quick_words words, int64_t today, bool loose, int64_t *ret_day)
{
    static size_t (*const phrases[])(struct quick_words words, int64_t today,
                                     int64_t * ret_day) = { next_phrase, this_phrase, in_phrase,
                                                            month_phrase, end_phrase };
    int weekday = weekday_named(quick_word(words, 0), loose);
    size_t n = 0;

    for (size_t i = 0; n == 0 && i < ARRAY_LEN(phrases); i++)
        n = phrases[i](words, today, ret_day);
    if (n > 0)
        return n;
    if (str_is(quick_word(words, 0), "day") && str_is(quick_word(words, 1), "after") &&
        str_is(quick_word(words, 2), "tomorrow")) {
        *ret_day = today + 2;
        return 3;
    }
    if (str_is(quick_word(words, 0), "today") || str_is(quick_word(words, 0), "tonight")) {
        *ret_day = today;
        return 1;
    }
    if (str_is(quick_word(words, 0), "tomorrow") || str_is(quick_word(words, 0), "tmrw")) {
        *ret_day = today + 1;
        return 1;
    }
    if (weekday >= 0) { /* the next one after today */
        *ret_day = today + 1 + (weekday - weekday_of(today + 1) + 7) % 7;
        return 1;
    }
    return iso_day(quick_word(words, 0), ret_day) ||
           dotted_day(raw_word(words, 0), today, loose, ret_day) ||
           dotted_day(quick_word(words, 0), today, loose, ret_day);
}

size_t quick_day(struct quick_words words, int64_t today, bool loose, int64_t *ret_day)
{
    static const char *const before[] = { "on", "by", "until", "due" };
    size_t n = bare_day(words, today, loose, ret_day);
    struct quick_words after = { words.at + 1, words.n - 1 };

    if (n > 0 || words.n < 2 || quick_index(quick_word(words, 0), before, ARRAY_LEN(before)) < 0)
        return n;
    n = bare_day(after, today, true, ret_day);
    if (n == 0)
        n = day_of_month(after, today, ret_day);
    return n > 0 ? n + 1 : 0;
}
