/* Reading recurrence rules (RFC 5545, 3.3.10): strict, each part once, every error names its part.
 *
 * A part is a name and a reader; lists become bits. What parts may stand together is checked when
 * all were read.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "wake/recurrence_int.h"

#define INTERVAL_MAX 1000000
#define COUNT_MAX    100000

static const char *const freq_names[] = {
    [FREQ_MINUTELY] = "MINUTELY", [FREQ_HOURLY] = "HOURLY",   [FREQ_DAILY] = "DAILY",
    [FREQ_WEEKLY] = "WEEKLY",     [FREQ_MONTHLY] = "MONTHLY", [FREQ_YEARLY] = "YEARLY",
};
static const char *const wday_names[] = { "MO", "TU", "WE", "TH", "FR", "SA", "SU" };

/* ---- lists of numbers ---- */

/* Reads a number of a list: digits with an optional sign, between low and high, not 0 unless low
 * is. */
static int take_number(const char *part, struct str text, int low, int high, int *ret_value,
                       struct err *err)
{
    struct str digits = text.n && text.p[0] == '+' ? str_skip(text, 1) : text;
    int64_t value;

    if (!digits.n || digits.n > 8 || (digits.p != text.p && digits.p[0] == '-') ||
        str_to_i64(digits, &value) < 0 || value < low || value > high || (low < 0 && !value))
        return err_set(err, ERR_BAD_REQUEST, "%s: \"%.*s\" is no number between %d and %d%s", part,
                       STR_ARG(str_take(text, 20)), low, high, low < 0 ? " other than 0" : "");
    *ret_value = (int)value;
    return 0;
}

static void set_bit(uint64_t *words, int n)
{
    words[n / 64] |= UINT64_C(1) << (n % 64);
}

/* forth and back: words of bits; back NULL: negative numbers are not allowed. */
static int take_list(const char *part, struct str list, int low, int high, uint64_t *forth,
                     uint64_t *back, struct err *err)
{
    struct str item;
    int value;

    while (str_split(&list, ',', &item)) {
        if (take_number(part, item, back ? -high : low, high, &value, err) < 0)
            return -1;
        if (value < 0)
            set_bit(back, -value);
        else
            set_bit(forth, value);
    }
    return 0;
}

/* ---- parts ---- */

static int take_freq(const char *part, struct str value, struct recurrence *rule, struct err *err)
{
    for (size_t i = FREQ_MINUTELY; i < ARRAY_LEN(freq_names); i++)
        if (str_eq_nocase(value, str_from(freq_names[i]))) {
            rule->freq = (enum freq)i;
            return 0;
        }
    return err_set(err, ERR_BAD_REQUEST,
                   "%s: \"%.*s\" is none of YEARLY, MONTHLY, WEEKLY, DAILY, HOURLY, MINUTELY", part,
                   STR_ARG(str_take(value, 20)));
}

static int take_positive(const char *part, struct str value, int high, int64_t *ret_value,
                         struct err *err)
{
    int n;

    if (take_number(part, value, 1, high, &n, err) < 0)
        return -1;
    *ret_value = n;
    return 0;
}

static int take_interval(const char *part, struct str value, struct recurrence *rule,
                         struct err *err)
{
    return take_positive(part, value, INTERVAL_MAX, &rule->interval, err);
}

static int take_count(const char *part, struct str value, struct recurrence *rule, struct err *err)
{
    return take_positive(part, value, COUNT_MAX, &rule->count, err);
}

/* 20261231 (all of that day) or 20261231T235959. */
static int take_until(const char *part, struct str value, struct recurrence *rule, struct err *err)
{
    char text[TIMER_LOCAL_SIZE];
    const char *p = value.p;

    if (value.n == 16 && (p[15] == 'Z' || p[15] == 'z'))
        return err_set(err, ERR_BAD_REQUEST,
                       "%s: a timer's end is a local time like its start; write it without Z",
                       part);
    if (value.n == 8)
        snprintf(text, sizeof(text), "%.4s-%.2s-%.2sT23:59:59", p, p + 4, p + 6);
    else if (value.n == 15 && (p[8] == 'T' || p[8] == 't'))
        snprintf(text, sizeof(text), "%.4s-%.2s-%.2sT%.2s:%.2s:%.2s", p, p + 4, p + 6, p + 9,
                 p + 11, p + 13);
    else
        return err_set(err, ERR_BAD_REQUEST,
                       "%s: \"%.*s\" is neither a day such as 20261231 nor a local time such as "
                       "20261231T180000",
                       part, STR_ARG(str_take(value, 32)));
    return local_parse(part, str_from(text), &rule->until, err);
}

static int wday_of(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(wday_names); i++)
        if (str_eq_nocase(name, str_from(wday_names[i])))
            return (int)i;
    return -1;
}

static int take_wkst(const char *part, struct str value, struct recurrence *rule, struct err *err)
{
    int wday = wday_of(value);

    if (wday < 0)
        return err_set(err, ERR_BAD_REQUEST, "%s: \"%.*s\" is none of MO, TU, WE, TH, FR, SA, SU",
                       part, STR_ARG(str_take(value, 20)));
    rule->wkst = (unsigned)wday;
    return 0;
}

static int take_day(const char *part, struct str item, struct recurrence *rule, struct err *err)
{
    int wday = item.n >= 2 ? wday_of(str_skip(item, item.n - 2)) : -1, nth;

    if (wday < 0)
        return err_set(err, ERR_BAD_REQUEST,
                       "%s: \"%.*s\" is no day; days are MO, TU, WE, TH, FR, SA, SU, with a number "
                       "before them such as 2MO or -1FR",
                       part, STR_ARG(str_take(item, 20)));
    if (item.n == 2) {
        rule->week_days |= (uint8_t)(1u << wday);
        return 0;
    }
    if (take_number(part, str_take(item, item.n - 2), -53, 53, &nth, err) < 0)
        return -1;
    if (rule->nth_count == NTH_DAYS_MAX)
        return err_set(err, ERR_BAD_REQUEST, "%s: more than %d numbered days", part, NTH_DAYS_MAX);
    rule->nth_days[rule->nth_count++] =
        (struct nth_day){ .nth = (int8_t)nth, .wday = (uint8_t)wday };
    return 0;
}

static int take_days(const char *part, struct str list, struct recurrence *rule, struct err *err)
{
    struct str item;

    while (str_split(&list, ',', &item))
        if (take_day(part, item, rule, err) < 0)
            return -1;
    return 0;
}

static int take_months(const char *part, struct str list, struct recurrence *rule, struct err *err)
{
    uint64_t bits = 0;

    if (take_list(part, list, 1, 12, &bits, NULL, err) < 0)
        return -1;
    rule->months = (uint16_t)bits;
    return 0;
}

static int take_month_days(const char *part, struct str list, struct recurrence *rule,
                           struct err *err)
{
    uint64_t forth = 0, back = 0;

    if (take_list(part, list, 1, 31, &forth, &back, err) < 0)
        return -1;
    rule->month_days = (uint32_t)forth;
    rule->month_days_back = (uint32_t)back;
    return 0;
}

static int take_year_days(const char *part, struct str list, struct recurrence *rule,
                          struct err *err)
{
    rule->by_year_day = true;
    return take_list(part, list, 1, 366, rule->year_days, rule->year_days_back, err);
}

static int take_weeks(const char *part, struct str list, struct recurrence *rule, struct err *err)
{
    return take_list(part, list, 1, 53, &rule->weeks, &rule->weeks_back, err);
}

static int take_hours(const char *part, struct str list, struct recurrence *rule, struct err *err)
{
    uint64_t bits = 0;

    if (take_list(part, list, 0, 23, &bits, NULL, err) < 0)
        return -1;
    rule->hours = (uint32_t)bits;
    return 0;
}

static int take_minutes(const char *part, struct str list, struct recurrence *rule, struct err *err)
{
    return take_list(part, list, 0, 59, &rule->minutes, NULL, err);
}

static int take_second(const char *part, struct str value, struct recurrence *rule, struct err *err)
{
    if (str_find_char(value, ',') >= 0)
        return err_set(err, ERR_BAD_REQUEST,
                       "%s: one value only; a timer fires at most once a minute", part);
    return take_number(part, value, 0, 59, &rule->second, err);
}

static int take_set_pos(const char *part, struct str list, struct recurrence *rule, struct err *err)
{
    struct str item;
    int value;

    while (str_split(&list, ',', &item)) {
        if (take_number(part, item, -366, 366, &value, err) < 0)
            return -1;
        if (rule->set_count == SET_POS_MAX)
            return err_set(err, ERR_BAD_REQUEST, "%s: more than %d numbers", part, SET_POS_MAX);
        rule->set_pos[rule->set_count++] = (int16_t)value;
    }
    return 0;
}

static const struct part {
    const char *name;
    int (*take)(const char *part, struct str value, struct recurrence *rule, struct err *err);
} parts[] = {
    { "FREQ", take_freq },       { "INTERVAL", take_interval },   { "COUNT", take_count },
    { "UNTIL", take_until },     { "WKST", take_wkst },           { "BYMONTH", take_months },
    { "BYWEEKNO", take_weeks },  { "BYYEARDAY", take_year_days }, { "BYMONTHDAY", take_month_days },
    { "BYDAY", take_days },      { "BYHOUR", take_hours },        { "BYMINUTE", take_minutes },
    { "BYSECOND", take_second }, { "BYSETPOS", take_set_pos },
};

static int take_part(struct str text, struct recurrence *rule, unsigned *seen, struct err *err)
{
    ptrdiff_t equals = str_find_char(text, '=');
    struct str name = equals < 0 ? text : str_take(text, (size_t)equals);

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (!str_eq_nocase(name, str_from(parts[i].name)))
            continue;
        if (equals < 0 || (size_t)equals + 1 == text.n)
            return err_set(err, ERR_BAD_REQUEST, "%s: has no value", parts[i].name);
        if (*seen & 1u << i)
            return err_set(err, ERR_BAD_REQUEST, "%s: stands twice", parts[i].name);
        *seen |= 1u << i;
        return parts[i].take(parts[i].name, str_skip(text, (size_t)equals + 1), rule, err);
    }
    return err_set(err, ERR_BAD_REQUEST,
                   "\"%.*s\" is no part of a rule; parts are FREQ, INTERVAL, COUNT, UNTIL, WKST, "
                   "BYMONTH, BYWEEKNO, BYYEARDAY, BYMONTHDAY, BYDAY, BYHOUR, BYMINUTE, BYSECOND, "
                   "BYSETPOS, such as FREQ=WEEKLY;BYDAY=MO,FR;BYHOUR=7;BYMINUTE=0",
                   STR_ARG(str_take(name, 20)));
}

/* ---- what may stand together ---- */

static bool has_by(const struct recurrence *rule)
{
    return rule->months || rule->month_days || rule->month_days_back || rule->by_year_day ||
           rule->weeks || rule->weeks_back || rule->week_days || rule->nth_count || rule->hours ||
           rule->minutes || rule->second >= 0;
}

static int refuse(struct err *err, const char *part, const char *why)
{
    return err_set(err, ERR_BAD_REQUEST, "%s: %s", part, why);
}

static int check(const struct recurrence *rule, struct err *err)
{
    enum freq freq = rule->freq;
    bool weeks = rule->weeks || rule->weeks_back;

    if (!freq)
        return refuse(err, "FREQ", "is missing; a rule says how often, such as FREQ=DAILY");
    if (rule->count && rule->until != INT64_MAX)
        return refuse(err, "COUNT", "can't stand together with UNTIL");
    if (weeks && freq != FREQ_YEARLY)
        return refuse(err, "BYWEEKNO", "is for FREQ=YEARLY only");
    if (rule->by_year_day && freq >= FREQ_DAILY && freq <= FREQ_MONTHLY)
        return refuse(err, "BYYEARDAY", "is not for FREQ=DAILY, WEEKLY or MONTHLY");
    if ((rule->month_days || rule->month_days_back) && freq == FREQ_WEEKLY)
        return refuse(err, "BYMONTHDAY", "is not for FREQ=WEEKLY");
    if (rule->nth_count && freq < FREQ_MONTHLY)
        return refuse(err, "BYDAY", "numbered days are for FREQ=MONTHLY and YEARLY only");
    if (rule->nth_count && weeks)
        return refuse(err, "BYDAY", "numbered days can't stand together with BYWEEKNO");
    if (rule->set_count && !has_by(rule))
        return refuse(err, "BYSETPOS", "needs another part that begins with BY");
    return 0;
}

int recurrence_read(struct str rrule, struct recurrence *rule, struct err *err)
{
    struct str rest = rrule, text;
    unsigned seen = 0;

    if (!rrule.n)
        return err_set(err, ERR_BAD_REQUEST, "the rule is empty; write such as FREQ=DAILY");
    if (rrule.n > TIMER_RRULE_MAX)
        return err_set(err, ERR_BAD_REQUEST, "the rule is longer than %d bytes", TIMER_RRULE_MAX);
    if (str_starts(rrule, STR("RRULE:")))
        return err_set(err, ERR_BAD_REQUEST, "leave off RRULE: and begin with FREQ=");
    rule->interval = 1;
    rule->until = INT64_MAX;
    rule->second = -1;
    while (str_split(&rest, ';', &text))
        if (take_part(text, rule, &seen, err) < 0)
            return -1;
    return check(rule, err);
}
