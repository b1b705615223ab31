/* A recurrence rule as sets of bits, between its parser and its walk over the calendar.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_RECURRENCE_INT_H
#define DORMOUSE_WAKE_RECURRENCE_INT_H

#include "wake/timer.h"

#define DAY_S          86400
#define DAY_MINUTES    1440
#define TIME_WORDS     ((DAY_MINUTES + 63) / 64)
#define YEAR_DAY_WORDS 6 /* bits 0..366 */
#define NTH_DAYS_MAX   64
#define SET_POS_MAX    64

/* The order matters: what comes after is a longer period. */
enum freq {
    FREQ_NONE = 0,
    FREQ_MINUTELY,
    FREQ_HOURLY,
    FREQ_DAILY,
    FREQ_WEEKLY,
    FREQ_MONTHLY,
    FREQ_YEARLY
};

struct nth_day {
    int8_t nth;   /* 1 the first, -1 the last; not 0 */
    uint8_t wday; /* 0 Monday */
};

/* Local times are seconds since 1970 as if clocks showed UTC. */
struct recurrence {
    enum freq freq;
    int64_t interval, count; /* count 0: without end */
    int64_t until;           /* INT64_MAX: without end */
    unsigned wkst;

    /* Bit n: n is in the list. No bit at all: there was no such part. The back ones count from the
     * end, 1 is the last. */
    uint16_t months;
    uint32_t month_days, month_days_back;
    bool by_year_day;
    uint64_t year_days[YEAR_DAY_WORDS], year_days_back[YEAR_DAY_WORDS];
    uint64_t weeks, weeks_back;
    uint8_t week_days;
    struct nth_day nth_days[NTH_DAYS_MAX];
    unsigned nth_count;
    bool nth_in_month; /* of the month, else of the year */
    uint32_t hours;
    uint64_t minutes;
    int second; /* -1: there was none */
    int16_t set_pos[SET_POS_MAX];
    unsigned set_count;

    int64_t start, first_period;
    uint64_t times[TIME_WORDS]; /* minutes of a day */
    unsigned time_count;

    /* Of a rule with COUNT: the seen'th occurrence was at `at`. */
    int64_t at, seen;
};

/* Reads the parts; fills neither start nor what comes of it. */
int recurrence_read(struct str rrule, struct recurrence *rule, struct err *err);

struct day {
    int64_t n; /* since 1970-01-01 */
    int year;
    int month, mday, yday, wday; /* from 1; wday from 0, Monday */
    int month_len, year_len;
};
struct day day_of(int64_t n);

/* The first occurrence after this local second (INT64_MIN: from the start): 1, or 0. */
int recurrence_after(struct recurrence *rule, int64_t after, int64_t *ret_at);

/* "2026-02-18T07:00:00" or without seconds. what names it in the error. */
int local_parse(const char *what, struct str text, int64_t *ret_local, struct err *err);
void local_text(int64_t local, char ret_text[TIMER_LOCAL_SIZE]);
int64_t local_moment(const struct zone *zone, int64_t local);
/* Do clocks there skip it? */
bool local_in_gap(const struct zone *zone, int64_t local);
int64_t local_of(const struct zone *zone, int64_t wall_ms);

#endif
