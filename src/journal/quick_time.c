/* Times of day and durations in English words, as people type them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/alloc.h"
#include "journal/quick_int.h"

#define MINUTES_MAX 100000

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
    h = quick_number(hour);
    m = quick_number(minute);
    if ((rest.p && rest.n > 0) || hour.n > 2 || minute.n != 2 || h < 0 || m < 0 || m > 59)
        return -1;
    if (am || pm) {
        if (h < 1 || h > 12)
            return -1;
        h = h % 12 + (pm ? 12 : 0);
    }
    return h > 23 ? -1 : (int)(h * 60 + m);
}

/* "16:00", "4pm": a time of day wherever it stands. "4:30" may be how paint is mixed. */
static bool is_plainly_a_time(struct str text)
{
    return text.n == 5 || str_ends(text, STR("am")) || str_ends(text, STR("pm"));
}

/* "4 pm", "4:30 p.m."; -1: none. */
static int minutes_apart(struct str text, struct str half)
{
    char joined[8];

    if (text.n > 5 || (!str_is(half, "am") && !str_is(half, "pm") && !str_is(half, "a.m") &&
                       !str_is(half, "p.m")))
        return -1;
    return minutes_of(str_of(
        joined, (size_t)snprintf(joined, sizeof(joined), "%.*s%cm", STR_ARG(text), half.p[0])));
}

/* "at 9" beside a day; whether "at 5" is early or late nobody knows. */
static int bare_hour(struct str text)
{
    int64_t hour = text.n <= 2 ? quick_number(text) : -1;

    return hour >= 7 && hour <= 23 ? (int)hour * 60 : -1;
}

size_t quick_clock(struct quick_words words, bool bare, int *ret_minutes)
{
    size_t at = str_is(quick_word(words, 0), "at") ? 1 : 0;
    struct str text = quick_word(words, at);
    int minutes = minutes_apart(text, quick_word(words, at + 1));

    if (minutes >= 0) {
        *ret_minutes = minutes;
        return at + 2;
    }
    if (at == 0 && !bare && !is_plainly_a_time(text))
        return 0;
    minutes = str_is(text, "noon") ? 12 * 60 : minutes_of(text);
    if (minutes < 0 && at == 1 && bare)
        minutes = bare_hour(text);
    if (minutes < 0)
        return 0;
    *ret_minutes = minutes;
    return at + 1;
}

/* "14:00-15:30" */
static size_t joined_clocks(struct quick_words words, int *ret_begin, int *ret_end)
{
    struct str rest = quick_word(words, 0), first;

    if (!str_split(&rest, '-', &first) || !rest.p)
        return 0;
    *ret_begin = minutes_of(first);
    *ret_end = minutes_of(rest);
    return *ret_begin >= 0 && *ret_end >= 0 ? 1 : 0;
}

/* "from 14:00 to 15:30", "3 pm - 4 pm" */
static size_t clocks_apart(struct quick_words words, int *ret_begin, int *ret_end)
{
    static const char *const to[] = { "to", "until", "till", "-" };
    size_t at = str_is(quick_word(words, 0), "from") ? 1 : 0, n, more;

    if (words.n < at + 3)
        return 0;
    n = quick_clock((struct quick_words){ words.at + at, words.n - at }, true, ret_begin);
    at += n;
    if (n == 0 || at + 1 >= words.n || quick_index(quick_word(words, at), to, ARRAY_LEN(to)) < 0)
        return 0;
    at++;
    more = quick_clock((struct quick_words){ words.at + at, words.n - at }, true, ret_end);
    return more > 0 ? at + more : 0;
}

size_t quick_clocks(struct quick_words words, int *ret_minutes, int *ret_long)
{
    int begin = 0, end = 0;
    size_t n = joined_clocks(words, &begin, &end);

    if (n == 0)
        n = clocks_apart(words, &begin, &end);
    *ret_minutes = begin;
    *ret_long = end - begin;
    return n;
}

/* ---- durations ---- */

static const char *const hours[] = { "h", "hr", "hrs", "hour", "hours" };
static const char *const minutes[] = { "m", "min", "mins", "minute", "minutes" };

/* Minutes in one of this unit; 0: no unit. */
static int64_t unit_of(struct str text)
{
    if (quick_index(text, hours, ARRAY_LEN(hours)) >= 0)
        return 60;
    return quick_index(text, minutes, ARRAY_LEN(minutes)) >= 0 ? 1 : 0;
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
    if (n + 1 < rest->n && (rest->p[n] == '.' || rest->p[n] == ',') && rest->p[n + 1] >= '0' &&
        rest->p[n + 1] <= '9') {
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

/* "2h", "2 hours", but not "2 m" of cable. *ret_unit: minutes in what it was given in. */
static size_t one_duration(struct quick_words words, int64_t *ret_minutes, int64_t *ret_unit)
{
    struct str rest = quick_word(words, 0);
    int64_t value = joined(rest);
    size_t n = 1;

    if (value > 0) {
        *ret_unit = str_find_char(rest, 'h') >= 0 ? 60 : 1;
    } else {
        value = hundredths(&rest);
        *ret_unit = unit_of(quick_word(words, 1));
        if (value < 0 || rest.n > 0 || quick_word(words, 1).n < 2 || *ret_unit == 0)
            return 0;
        value = value * *ret_unit / 100;
        n = 2;
    }
    if (value < 1 || value > MINUTES_MAX)
        return 0;
    *ret_minutes = value;
    return n;
}

/* "1h 30m" and "1 hour and 30 minutes" are one. */
static size_t bare_duration(struct quick_words words, int64_t *ret_minutes)
{
    int64_t unit, more;
    size_t n, then, second;

    if (str_is(quick_word(words, 0), "half") && str_is(quick_word(words, 1), "an") &&
        str_is(quick_word(words, 2), "hour")) {
        *ret_minutes = 30;
        return 3;
    }
    n = one_duration(words, ret_minutes, &unit);
    if (n == 0 || unit != 60)
        return n;
    then = n + str_is(quick_word(words, n), "and");
    if (then >= words.n)
        return n;
    second = one_duration((struct quick_words){ words.at + then, words.n - then }, &more, &unit);
    if (second == 0 || unit != 1 || more > 59)
        return n;
    *ret_minutes += more;
    return then + second;
}

size_t quick_later(struct quick_words words, int64_t *ret_minutes)
{
    int64_t unit = unit_of(quick_word(words, 2)), n = quick_count(quick_word(words, 1));

    if (!str_is(quick_word(words, 0), "in"))
        return 0;
    if (unit == 0 || n < 1) { /* "in 90m", "in 1.5 hours" */
        size_t count =
            bare_duration((struct quick_words){ words.at + 1, words.n - 1 }, ret_minutes);

        return count > 0 ? count + 1 : 0;
    }
    if (n * unit > MINUTES_MAX)
        return 0;
    *ret_minutes = n * unit;
    return 3;
}

size_t quick_duration(struct quick_words words, int64_t *ret_minutes)
{
    size_t n = bare_duration(words, ret_minutes);

    if (n > 0 || words.n < 2 || !str_is(quick_word(words, 0), "for"))
        return n;
    if (str_is(quick_word(words, 1), "an") && str_is(quick_word(words, 2), "hour")) {
        *ret_minutes = 60;
        return 3;
    }
    n = bare_duration((struct quick_words){ words.at + 1, words.n - 1 }, ret_minutes);
    return n > 0 ? n + 1 : 0;
}
