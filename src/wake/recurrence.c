/* Occurrences of recurrence rules, in local time.
 *
 * Every part of a rule that speaks of days is a test that a day passes or not, within periods
 * (years, months, weeks, days) of which every interval-th counts. So the walk can begin at any
 * day: it jumps over periods and months that don't count, tests the days of the others, and looks
 * at HORIZON_DAYS at most. The times of a day are a set of minutes. Positions (BYSETPOS) number
 * the occurrences of one period: those of a day or an hour are the same in each, and are resolved
 * when the rule is made; those of longer periods need all days of the period.
 *
 * Why not libical: docs/design/0009-recurrence.md.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/timefmt.h"
#include "wake/recurrence_int.h"

#define HORIZON_DAYS 36890   /* a hundred years and one */
#define LAST_DAY     2932531 /* 9998-12-31 */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static bool has_bit(const uint64_t *words, int n)
{
    return words[n / 64] >> (n % 64) & 1;
}

/* ---- does a day pass ---- */

/* The week of the year that the day's week belongs to, by WKST; *ret_back counts from the end. */
static int week_of(const struct recurrence *rule, const struct day *day, int *ret_back)
{
    int into = (day->wday - (int)rule->wkst + 7) % 7;
    int fourth = day->yday - into + 3, len = day->year_len; /* its year is the week's */

    if (fourth < 1) {
        len = timefmt_month_days(day->year - 1, 2) == 29 ? 366 : 365;
        fourth += len;
    } else if (fourth > len) {
        fourth -= len;
        len = timefmt_month_days(day->year + 1, 2) == 29 ? 366 : 365;
    }
    *ret_back = (len - fourth) / 7 + 1;
    return (fourth - 1) / 7 + 1;
}

static bool week_passes(const struct recurrence *rule, const struct day *day)
{
    int back, week = week_of(rule, day, &back);

    return (rule->weeks >> week & 1) || (rule->weeks_back >> back & 1);
}

static bool week_day_passes(const struct recurrence *rule, const struct day *day)
{
    int into = rule->nth_in_month ? day->mday : day->yday;
    int len = rule->nth_in_month ? day->month_len : day->year_len;
    int nth = (into - 1) / 7 + 1, back = -((len - into) / 7 + 1);

    if (rule->week_days >> day->wday & 1)
        return true;
    for (unsigned i = 0; i < rule->nth_count; i++)
        if (rule->nth_days[i].wday == day->wday &&
            (rule->nth_days[i].nth == nth || rule->nth_days[i].nth == back))
            return true;
    return false;
}

static bool passes(const struct recurrence *rule, const struct day *day)
{
    if ((rule->month_days || rule->month_days_back) && !(rule->month_days >> day->mday & 1) &&
        !(rule->month_days_back >> (day->month_len - day->mday + 1) & 1))
        return false;
    if ((rule->week_days || rule->nth_count) && !week_day_passes(rule, day))
        return false;
    if (rule->by_year_day && !has_bit(rule->year_days, day->yday) &&
        !has_bit(rule->year_days_back, day->year_len - day->yday + 1))
        return false;
    return !(rule->weeks || rule->weeks_back) || week_passes(rule, day);
}

/* ---- periods ---- */

static int64_t week_start(const struct recurrence *rule, const struct day *day)
{
    return day->n - (day->wday - (int)rule->wkst + 7) % 7;
}

static int64_t period_of(const struct recurrence *rule, const struct day *day)
{
    switch (rule->freq) {
    case FREQ_YEARLY:
        return day->year;
    case FREQ_MONTHLY:
        return (int64_t)day->year * 12 + day->month - 1;
    case FREQ_WEEKLY:
        return floor_div(week_start(rule, day), 7);
    default:
        return day->n;
    }
}

static int64_t period_first_day(const struct recurrence *rule, int64_t period)
{
    switch (rule->freq) {
    case FREQ_YEARLY:
        return timefmt_days(period, 1, 1);
    case FREQ_MONTHLY:
        return timefmt_days(floor_div(period, 12),
                            (unsigned)(period - floor_div(period, 12) * 12) + 1, 1);
    case FREQ_WEEKLY: /* period 0 holds the first Thursday and its week's own beginning */
        return period * 7 + ((int)rule->wkst + 4) % 7;
    default:
        return period;
    }
}

/* How many periods on the next one lies that counts; 0: this one does. */
static int64_t periods_off(const struct recurrence *rule, int64_t period)
{
    int64_t past = (period - rule->first_period) % rule->interval;

    if (rule->freq < FREQ_DAILY || !past)
        return 0;
    return past < 0 ? -past : rule->interval - past;
}

/* Moves day on to the first that counts and passes, itself included. */
static bool find_day(const struct recurrence *rule, struct day *day, int64_t last)
{
    while (day->n <= last) {
        int64_t period = period_of(rule, day), off = periods_off(rule, period);

        if (off) {
            *day = day_of(period_first_day(rule, period + off));
            continue;
        }
        if (!(rule->months >> day->month & 1)) {
            *day = day_of(day->n + day->month_len - day->mday + 1);
            continue;
        }
        if (passes(rule, day))
            return true;
        *day = day_of(day->n + 1);
    }
    return false;
}

/* ---- times of a day ---- */

/* The first minute of the set from this one on, or -1. */
static int next_minute(const struct recurrence *rule, int from)
{
    for (int word = from / 64; word < TIME_WORDS; word++) {
        uint64_t bits = rule->times[word];

        if (word == from / 64)
            bits &= UINT64_MAX << (from % 64);
        if (bits)
            return word * 64 + __builtin_ctzll(bits);
    }
    return -1;
}

/* The minute of the day from which on hours or minutes are counted again that an interval leaves
 * out; minute itself when it counts. */
static int64_t next_counted(const struct recurrence *rule, int64_t day, int64_t minute)
{
    int64_t unit = rule->freq == FREQ_HOURLY ? 60 : 1;
    int64_t index = floor_div(day * DAY_MINUTES + minute, unit);
    int64_t past = (index - floor_div(rule->start, 60 * unit)) % rule->interval;

    if (rule->freq >= FREQ_DAILY || !past)
        return minute;
    index += past < 0 ? -past : rule->interval - past;
    return index * unit - day * DAY_MINUTES;
}

/* The first second of the day's occurrences from this one on, or -1. */
static int64_t time_in(const struct recurrence *rule, int64_t day, int64_t from)
{
    int64_t minute = from <= rule->second ? 0 : (from - rule->second + 59) / 60;

    while (minute < DAY_MINUTES) {
        int64_t counted;

        minute = next_minute(rule, (int)minute);
        if (minute < 0)
            return -1;
        counted = next_counted(rule, day, minute);
        if (counted == minute)
            return minute * 60 + rule->second;
        minute = counted;
    }
    return -1;
}

static int nth_minute(const struct recurrence *rule, unsigned nth)
{
    for (int minute = next_minute(rule, 0);; minute = next_minute(rule, minute + 1))
        if (!nth--)
            return minute;
}

/* ---- walking ---- */

static int walk_days(const struct recurrence *rule, int64_t from, int64_t *ret_at)
{
    struct day day = day_of(floor_div(from, DAY_S));
    int64_t second = from - day.n * DAY_S, last = day.n + HORIZON_DAYS, first = day.n, time;

    last = last < LAST_DAY ? last : LAST_DAY;
    while (find_day(rule, &day, last)) {
        time = time_in(rule, day.n, day.n == first ? second : 0);
        if (time >= 0) {
            *ret_at = day.n * DAY_S + time;
            return 1;
        }
        day = day_of(day.n + 1);
    }
    return 0;
}

/* The first of the period's numbered occurrences from then on. */
static bool pick_position(const struct recurrence *rule, const int64_t *days, int64_t n,
                          int64_t from, int64_t *ret_at)
{
    int64_t size = n * rule->time_count, best = INT64_MAX;

    for (unsigned i = 0; i < rule->set_count; i++) {
        int64_t pos = rule->set_pos[i] > 0 ? rule->set_pos[i] - 1 : size + rule->set_pos[i], at;

        if (pos < 0 || pos >= size)
            continue;
        at = days[pos / rule->time_count] * DAY_S +
             nth_minute(rule, (unsigned)(pos % rule->time_count)) * INT64_C(60) + rule->second;
        if (at >= from && at < best)
            best = at;
    }
    *ret_at = best;
    return best != INT64_MAX;
}

static int walk_periods(const struct recurrence *rule, int64_t from, int64_t *ret_at)
{
    struct day day = day_of(floor_div(from, DAY_S));
    int64_t period = period_of(rule, &day), last = day.n + HORIZON_DAYS, days[366];

    last = last < LAST_DAY ? last : LAST_DAY;
    for (;; period++) {
        int64_t n = 0, end;

        period += periods_off(rule, period);
        day = day_of(period_first_day(rule, period));
        if (day.n > last)
            return 0;
        end = period_first_day(rule, period + 1) - 1;
        while (n < 366 && find_day(rule, &day, end)) {
            days[n++] = day.n;
            day = day_of(day.n + 1);
        }
        if (pick_position(rule, days, n, from, ret_at))
            return 1;
    }
}

/* COUNT apart. */
static int step(const struct recurrence *rule, int64_t after, int64_t *ret_at)
{
    int64_t from = after < rule->start ? rule->start : after + 1;
    bool by_period = rule->set_count && rule->freq > FREQ_DAILY;

    if ((by_period ? walk_periods : walk_days)(rule, from, ret_at) == 0)
        return 0;
    return *ret_at <= rule->until;
}

int recurrence_after(struct recurrence *rule, int64_t after, int64_t *ret_at)
{
    if (!rule->count)
        return step(rule, after, ret_at);
    if (!rule->seen || after < rule->at) {
        rule->seen = 0;
        rule->at = INT64_MIN;
    }
    while (rule->seen < rule->count) {
        int64_t at;

        if (step(rule, rule->at, &at) == 0)
            return 0;
        if (at > after) {
            *ret_at = at;
            return 1;
        }
        rule->seen++;
        rule->at = at;
    }
    return 0;
}

/* ---- making ---- */

static void fill_days(struct recurrence *rule, const struct day *start)
{
    bool days = rule->month_days || rule->month_days_back || rule->week_days || rule->nth_count;

    rule->nth_in_month = rule->freq == FREQ_MONTHLY || rule->months;
    if (rule->freq == FREQ_YEARLY && !days && !rule->by_year_day) {
        if (rule->weeks || rule->weeks_back) {
            rule->week_days = (uint8_t)(1u << start->wday);
        } else {
            rule->month_days = 1u << start->mday;
            rule->months = rule->months ? rule->months : (uint16_t)(1u << start->month);
        }
    } else if (rule->freq == FREQ_MONTHLY && !days) {
        rule->month_days = 1u << start->mday;
    } else if (rule->freq == FREQ_WEEKLY && !rule->week_days) {
        rule->week_days = (uint8_t)(1u << start->wday);
    }
    rule->months = rule->months ? rule->months : 0x1ffe;
}

/* Of equal periods (a day's times, an hour's minutes) only the numbered ones stay. */
static uint64_t only_positions(const struct recurrence *rule, uint64_t minutes)
{
    int size = __builtin_popcountll(minutes), nth = 0;
    uint64_t kept = 0;

    for (int minute = 0; minute < 60; minute++) {
        if (!(minutes >> minute & 1))
            continue;
        for (unsigned i = 0; i < rule->set_count; i++)
            if (rule->set_pos[i] == nth + 1 || rule->set_pos[i] == nth - size)
                kept |= UINT64_C(1) << minute;
        nth++;
    }
    return kept;
}

static void only_positions_of_day(struct recurrence *rule)
{
    uint64_t kept[TIME_WORDS] = { 0 };
    int nth = 0, size = (int)rule->time_count;

    rule->time_count = 0;
    for (int minute = next_minute(rule, 0); minute >= 0; minute = next_minute(rule, minute + 1)) {
        for (unsigned i = 0; i < rule->set_count; i++)
            if ((rule->set_pos[i] == nth + 1 || rule->set_pos[i] == nth - size) &&
                !has_bit(kept, minute)) {
                kept[minute / 64] |= UINT64_C(1) << (minute % 64);
                rule->time_count++;
            }
        nth++;
    }
    memcpy(rule->times, kept, sizeof(kept));
}

static void add_hour(struct recurrence *rule, int hour, uint64_t minutes)
{
    int bit = hour * 60, word = bit / 64, shift = bit % 64;

    rule->times[word] |= minutes << shift;
    if (shift > 4)
        rule->times[word + 1] |= minutes >> (64 - shift);
    rule->time_count += (unsigned)__builtin_popcountll(minutes);
}

static void fill_times(struct recurrence *rule)
{
    int64_t second = rule->start - floor_div(rule->start, DAY_S) * DAY_S;
    uint32_t hours = rule->hours;
    uint64_t minutes = rule->minutes;

    rule->second = rule->second < 0 ? (int)(second % 60) : rule->second;
    if (!hours)
        hours = rule->freq < FREQ_DAILY ? (1u << 24) - 1 : 1u << (second / 3600);
    if (!minutes)
        minutes =
            rule->freq < FREQ_HOURLY ? (UINT64_C(1) << 60) - 1 : UINT64_C(1) << (second / 60 % 60);
    if (rule->set_count && rule->freq == FREQ_HOURLY)
        minutes = only_positions(rule, minutes);
    for (int hour = 0; hour < 24; hour++)
        if (hours >> hour & 1)
            add_hour(rule, hour, minutes);
    if (rule->set_count && rule->freq == FREQ_DAILY)
        only_positions_of_day(rule);
}

/* A minute holds one occurrence: it is the first and the last. */
static bool minute_has_position(const struct recurrence *rule)
{
    for (unsigned i = 0; i < rule->set_count; i++)
        if (rule->set_pos[i] == 1 || rule->set_pos[i] == -1)
            return true;
    return !rule->set_count;
}

static int check_occurs(struct recurrence *rule, struct err *err)
{
    int64_t first;

    if (rule->until < rule->start)
        return err_set(err, ERR_BAD_REQUEST, "UNTIL: lies before the start");
    if ((rule->freq == FREQ_MINUTELY && !minute_has_position(rule)) ||
        recurrence_after(rule, INT64_MIN, &first) == 0)
        return err_set(err, ERR_BAD_REQUEST,
                       "the rule never occurs: no day and time from its start on%s fits all its "
                       "parts",
                       rule->until == INT64_MAX ? ", a hundred years long," : " until its end");
    return 0;
}

int recurrence_parse(struct str rrule, struct str start_local, struct recurrence **ret_recurrence,
                     struct err *err)
{
    AUTO(recurrence) rule = NEW(struct recurrence);
    struct day start;

    if (recurrence_read(rrule, rule, err) < 0 ||
        local_parse("start", start_local, &rule->start, err) < 0)
        return -1;
    start = day_of(floor_div(rule->start, DAY_S));
    rule->first_period = period_of(rule, &start);
    fill_days(rule, &start);
    fill_times(rule);
    if (check_occurs(rule, err) < 0)
        return -1;
    *ret_recurrence = TAKE(rule);
    return 0;
}

void recurrence_free(struct recurrence *recurrence)
{
    free(recurrence);
}

int recurrence_next(struct recurrence *recurrence, const char *after_local,
                    char ret_local[TIMER_LOCAL_SIZE], struct err *err)
{
    int64_t after = INT64_MIN, at;

    if (after_local[0] && local_parse("after", str_from(after_local), &after, err) < 0)
        return -1;
    if (recurrence_after(recurrence, after, &at) == 0)
        return 0;
    local_text(at, ret_local);
    return 1;
}
