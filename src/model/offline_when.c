/* Days, times and lengths in people's words, on the clocks of this machine.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <stdio.h>
#include <time.h>

#include "base/timefmt.h"
#include "model/offline_when_int.h"

/* ---- words ---- */

static const char *const weekdays[] = { "sunday",   "monday", "tuesday", "wednesday",
                                        "thursday", "friday", "saturday" };

static struct tm local_now(const struct offline_turn *turn)
{
    time_t now = (time_t)(turn->now_ms / 1000);
    struct tm day;

    localtime_r(&now, &day);
    return day;
}

int64_t offline_moment(const struct offline_turn *turn, int days, int minutes)
{
    struct tm day = local_now(turn);

    day.tm_mday += days;
    day.tm_hour = minutes / 60;
    day.tm_min = minutes % 60;
    day.tm_sec = 0;
    day.tm_isdst = -1;
    return (int64_t)mktime(&day) * 1000;
}

void offline_add_clock(struct buf *out, int64_t ms)
{
    time_t at = (time_t)(ms / 1000);
    struct tm local;

    localtime_r(&at, &local);
    buf_printf(out, "%02d:%02d", local.tm_hour, local.tm_min);
}

const char *offline_clock_text(struct offline_turn *turn, int64_t ms)
{
    AUTO_BUF text = BUF_INIT(16);

    offline_add_clock(&text, ms);
    return arena_text(turn->arena, buf_text(&text));
}

const char *offline_day_text(struct offline_turn *turn, int64_t ms)
{
    time_t at = (time_t)(ms / 1000);
    struct tm local;
    char text[32];

    localtime_r(&at, &local);
    strftime(text, sizeof(text),
             local.tm_year == local_now(turn).tm_year ? "%a %e %b, %H:%M" : "%a %e %b %Y, %H:%M",
             &local);
    return arena_text(turn->arena, text);
}

const char *offline_length_text(struct offline_turn *turn, int64_t minutes)
{
    if (minutes < 60)
        return arena_printf(turn->arena, "%lld minute%s", (long long)minutes,
                            minutes == 1 ? "" : "s");
    return timefmt_length(minutes, ARENA_NEW_N(turn->arena, char, TIMEFMT_LENGTH_SIZE));
}

/* text ends with these words (or is them); what stands before is left. */
static bool take_end(struct str *text, const char *words)
{
    struct str end = str_from(words), rest;

    if (text->n < end.n || !str_eq_nocase(str_skip(*text, text->n - end.n), end))
        return false;
    rest = str_take(*text, text->n - end.n);
    if (rest.n && rest.p[rest.n - 1] != ' ')
        return false;
    *text = str_trim(rest);
    return true;
}

/* ---- a day ---- */

/* How many days back the last such day lies: 1 to 7. */
static int days_back(const struct offline_turn *turn, int weekday)
{
    int back = (local_now(turn).tm_wday - weekday + 7) % 7;

    return back ? back : 7;
}

static struct str last_word(struct str text)
{
    size_t from = text.n;

    while (from > 0 && text.p[from - 1] != ' ')
        from--;
    return str_skip(text, from);
}

/* A number of days that stands last: 1 to 366, or 0. */
static int number_of_days(struct str text)
{
    struct str word = last_word(text);
    int64_t n;

    if (str_eq_nocase(word, STR("a")) || str_eq_nocase(word, STR("one")))
        return 1;
    if (str_eq_nocase(word, STR("two")))
        return 2;
    return str_to_i64(word, &n) < 0 || n < 1 || n > 366 ? 0 : (int)n;
}

/* "3 days ago". */
static bool take_ago(struct str *text, int *ret_days)
{
    struct str rest = *text;
    int n;

    if (!take_end(&rest, "days ago") && !take_end(&rest, "day ago"))
        return false;
    n = number_of_days(rest);
    if (!n)
        return false;
    *ret_days = -n;
    *text = str_trim(str_take(rest, rest.n - last_word(rest).n));
    return true;
}

static bool take_weekday(const struct offline_turn *turn, struct str *text, int *ret_days)
{
    for (int i = 0; i < 7; i++) {
        if (!take_end(text, weekdays[i]))
            continue;
        (void)(take_end(text, "last") || take_end(text, "on"));
        *ret_days = -days_back(turn, i);
        return true;
    }
    return false;
}

bool offline_take_day(const struct offline_turn *turn, struct str *text, int *ret_days)
{
    static const struct {
        const char *words;
        int days;
    } plain[] = {
        { "the day before yesterday", -2 },
        { "yesterday morning", -1 },
        { "yesterday evening", -1 },
        { "yesterday", -1 },
        { "last night", -1 },
        { "this morning", 0 },
        { "today", 0 },
        { "just now", 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        if (take_end(text, plain[i].words)) {
            *ret_days = plain[i].days;
            return true;
        }
    }
    return take_ago(text, ret_days) || take_weekday(turn, text, ret_days);
}

/* ---- a time of day ---- */

/* Up to two digits at *at. */
static bool take_number(struct str text, size_t *at, int *ret_number)
{
    size_t from = *at;

    *ret_number = 0;
    while (*at < text.n && *at < from + 2 && isdigit((unsigned char)text.p[*at]))
        *ret_number = 10 * *ret_number + (text.p[(*at)++] - '0');
    return *at > from;
}

/* "18:00", "9.30", "6pm", "6:15 pm", "9": minutes of the day, or -1. */
int offline_clock(struct str text)
{
    int hour, minute = 0;
    size_t at = 0;

    text = str_trim(text);
    if (str_eq_nocase(text, STR("noon")))
        return 12 * 60;
    if (str_eq_nocase(text, STR("midnight")))
        return 0;
    if (!take_number(text, &at, &hour))
        return -1;
    if (at < text.n && (text.p[at] == ':' || text.p[at] == '.')) {
        at++;
        if (!take_number(text, &at, &minute) || minute > 59)
            return -1;
    }
    text = str_trim(str_skip(text, at));
    if (str_eq_nocase(text, STR("pm")) || str_eq_nocase(text, STR("am"))) {
        if (hour < 1 || hour > 12)
            return -1;
        hour = hour % 12 + (str_eq_nocase(text, STR("pm")) ? 12 : 0);
        text = STR_NONE;
    }
    return text.n || hour > 23 ? -1 : 60 * hour + minute;
}

/* ---- a stretch of days ---- */

/* Monday of this week, in days from today. */
static int monday(const struct offline_turn *turn)
{
    return -((local_now(turn).tm_wday + 6) % 7);
}

static struct offline_span days_from(const struct offline_turn *turn, int first, int after)
{
    return (struct offline_span){ .first = first,
                                  .last = after - 1,
                                  .from = offline_moment(turn, first, 0),
                                  .to = offline_moment(turn, after, 0) };
}

static bool last_days(struct str words, int *ret_days)
{
    *ret_days = take_end(&words, "days") ? number_of_days(words) : 0;
    return *ret_days > 0;
}

bool offline_span_of(const struct offline_turn *turn, struct str words,
                     struct offline_span *ret_span)
{
    int days = 0, of_month = local_now(turn).tm_mday;

    words = str_trim(words);
    if (!words.n)
        *ret_span = days_from(turn, 0, 1);
    else if (str_eq_nocase(words, STR("this week")) || str_eq_nocase(words, STR("the week")))
        *ret_span = days_from(turn, monday(turn), monday(turn) + 7);
    else if (str_eq_nocase(words, STR("last week")))
        *ret_span = days_from(turn, monday(turn) - 7, monday(turn));
    else if (str_eq_nocase(words, STR("this month")))
        *ret_span = days_from(turn, 1 - of_month, 1);
    else if (last_days(words, &days))
        *ret_span = days_from(turn, 1 - days, 1);
    else if (offline_take_day(turn, &words, &days) && !words.n)
        *ret_span = days_from(turn, days, days + 1);
    else
        return false;
    return true;
}
