/* A day, a time of day or both, where nothing else is said: what commands take for options.
 *
 * Quick add looks ahead: "friday" is the next one. What was done, noted or measured lies behind:
 * there "friday" is the last one, and "12.10." that of the year in which it has been.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/utf8.h"
#include "journal/quick_int.h"

#define MINUTES_OF_DAY INT64_C(1440)

static struct quick_words rest_of(struct quick_words words, size_t n)
{
    return (struct quick_words){ words.at + n, words.n - n };
}

/* "yesterday", "last friday", "friday", "3 Oct" */
static size_t day_behind(struct quick_words words, int64_t today, int64_t *ret_day)
{
    static const char *const ahead[] = { "next", "in", "tomorrow", "tmrw", "day" };
    bool last = str_is(quick_word(words, 0), "last");
    struct quick_words named = rest_of(words, last);
    bool weekday =
        quick_weekday(quick_word(named, 0)) >= 0 || quick_weekday(quick_word(named, 1)) >= 0;
    size_t n;

    if (str_is(quick_word(words, 0), "yesterday")) {
        *ret_day = today - 1;
        return 1;
    }
    if (last && quick_weekday(quick_word(named, 0)) < 0)
        return 0;
    n = quick_day(named, today - last, true, ret_day);
    if (n > 0 && *ret_day > today - last &&
        quick_index(quick_word(named, 0), ahead, ARRAY_LEN(ahead)) < 0)
        n = quick_day(named, today - last - (weekday ? 7 : 365), true, ret_day);
    return n > 0 ? n + last : 0;
}

/* "3 days ago", "90m ago", "a week ago": as "in 3 days", backwards. What begins there; 0: nothing.
 */
static size_t ago(struct quick_words words, int64_t now, struct quick_when *when)
{
    struct quick_word in[4] = { { .core = STR("in"), .raw = STR("in") } };
    int64_t today = now / MINUTES_OF_DAY, at;
    struct quick_words ahead;

    words.n = str_is(quick_word(words, 1), "ago") ? 2 : str_is(quick_word(words, 2), "ago") ? 3 : 0;
    if (words.n == 0)
        return 0;
    ahead = (struct quick_words){ in, words.n + 1 };
    memcpy(in + 1, words.at, words.n * sizeof(*in));
    if (quick_day(ahead, today, true, &at) == words.n) {
        if (str_starts(quick_word(words, 1), STR("month"))) /* not all are of the same length */
            return 0;
        *when = (struct quick_when){ .has_day = true, .day = today - (at - today) };
    } else if (quick_later(ahead, &at) == words.n && at < now) {
        *when = (struct quick_when){ .has_day = true,
                                     .has_clock = true,
                                     .day = (now - at) / MINUTES_OF_DAY,
                                     .minutes = (int)((now - at) % MINUTES_OF_DAY) };
    } else {
        return 0;
    }
    return words.n;
}

static size_t later(struct quick_words words, int64_t now, struct quick_when *when)
{
    int64_t at;
    size_t n = quick_later(words, &at);

    if (n == 0)
        return 0;
    *when = (struct quick_when){ .has_day = true,
                                 .has_clock = true,
                                 .day = (now + at) / MINUTES_OF_DAY,
                                 .minutes = (int)((now + at) % MINUTES_OF_DAY) };
    return n;
}

/* A day that has been says so itself, also where days are those to come. */
static size_t read_day(struct quick_words words, int64_t now, bool behind, int64_t *ret_day)
{
    static const char *const been[] = { "yesterday", "last" };
    int64_t today = now / MINUTES_OF_DAY;
    struct quick_when when;
    size_t n = ago(words, now, &when);

    if (n > 0) {
        *ret_day = when.day;
        return when.has_clock ? 0 : n;
    }
    return behind || quick_index(quick_word(words, 0), been, ARRAY_LEN(been)) >= 0
               ? day_behind(words, today, ret_day)
               : quick_day(words, today, true, ret_day);
}

/* Either first; each once. */
static bool read_both(struct quick_words words, int64_t now, bool behind, struct quick_when *when)
{
    while (words.n > 0) {
        size_t n = 0;

        if (!when->has_day) {
            n = read_day(words, now, behind, &when->day);
            when->has_day = n > 0;
        }
        if (n == 0 && !when->has_clock) {
            n = quick_clock(words, true, &when->minutes);
            when->has_clock = n > 0;
        }
        if (n == 0)
            return false;
        words = rest_of(words, n);
    }
    return when->has_day || when->has_clock;
}

bool quick_when(struct str text, struct str now, bool behind, struct arena *arena,
                struct quick_when *ret_when)
{
    struct quick_parse *p;
    struct quick_words words;
    int64_t minutes;

    BUG_IF(now.n < 16 || !record_day_valid(now, true));
    *ret_when = (struct quick_when){ .has_day = false };
    if (text.n > QUICK_WHEN_MAX || !utf8_valid(text) || str_find_char(text, '\0') >= 0)
        return false;
    p = ARENA_NEW(arena, struct quick_parse);
    p->arena = arena;
    quick_split(p, text);
    words = (struct quick_words){ p->words, p->n };
    minutes = quick_minutes_of(now);
    if (words.n > 0 &&
        (later(words, minutes, ret_when) == words.n || ago(words, minutes, ret_when) == words.n))
        return true;
    *ret_when = (struct quick_when){ .has_day = false };
    return read_both(words, minutes, behind, ret_when);
}
