/* Reading TZif tables, and the rule that they end with for the years to come.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/zone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/timefmt.h"

#define FILE_MAX_BYTES (256u << 10)
#define TIMES_MAX      4000
#define TYPES_MAX      256
#define DAY_S          86400
#define ROOT           "/usr/share/zoneinfo/"

/* A day of the year and a time of it: J60, 59 or M3.2.0, then /2:00:00. */
struct rule {
    char kind; /* 'J', '0' or 'M'; 0: there is none */
    int month, week, day;
    int32_t time_s;
};

struct zone {
    size_t n_times, n_types;
    int64_t times[TIMES_MAX];
    uint8_t type_of[TIMES_MAX];
    int32_t offsets[TYPES_MAX];
    /* After the last time: */
    bool has_rule;
    int32_t std, dst;
    struct rule begin, end; /* of dst */
};

/* ---- POSIX rules ---- */

static bool skip_name(struct str *s)
{
    size_t n = 0;

    if (s->n && s->p[0] == '<') {
        ptrdiff_t end = str_find_char(*s, '>');

        if (end < 0)
            return false;
        *s = str_skip(*s, (size_t)end + 1);
        return true;
    }
    while (n < s->n && ((s->p[n] >= 'a' && s->p[n] <= 'z') || (s->p[n] >= 'A' && s->p[n] <= 'Z')))
        n++;
    *s = str_skip(*s, n);
    return n >= 3;
}

static bool take_number(struct str *s, int *ret_value)
{
    size_t n = 0;
    int value = 0;

    while (n < s->n && n < 4 && s->p[n] >= '0' && s->p[n] <= '9')
        value = 10 * value + s->p[n++] - '0';
    *s = str_skip(*s, n);
    *ret_value = value;
    return n > 0;
}

static bool take_char(struct str *s, char c)
{
    if (!s->n || s->p[0] != c)
        return false;
    *s = str_skip(*s, 1);
    return true;
}

/* [+-]h[:m[:s]] in seconds. */
static bool take_time(struct str *s, int32_t *ret_s)
{
    int sign = take_char(s, '-') ? -1 : 1, hours, part;
    int32_t seconds;

    take_char(s, '+');
    if (!take_number(s, &hours) || hours > 167)
        return false;
    seconds = hours * 3600;
    if (take_char(s, ':')) {
        if (!take_number(s, &part))
            return false;
        seconds += part * 60;
        if (take_char(s, ':') && take_number(s, &part))
            seconds += part;
    }
    *ret_s = sign * seconds;
    return true;
}

static bool take_rule(struct str *s, struct rule *ret_rule)
{
    struct rule rule = { .kind = '0', .time_s = 7200 };

    if (take_char(s, 'M')) {
        rule.kind = 'M';
        if (!take_number(s, &rule.month) || !take_char(s, '.') || !take_number(s, &rule.week) ||
            !take_char(s, '.') || !take_number(s, &rule.day) || rule.month < 1 || rule.month > 12 ||
            rule.week < 1 || rule.week > 5 || rule.day > 6)
            return false;
    } else {
        if (take_char(s, 'J'))
            rule.kind = 'J';
        if (!take_number(s, &rule.day) || rule.day > 366)
            return false;
    }
    if (take_char(s, '/') && !take_time(s, &rule.time_s))
        return false;
    *ret_rule = rule;
    return true;
}

/* "CET-1CEST,M3.5.0,M10.5.0/3"; signs are those of POSIX: west is positive. */
static bool parse_rule(struct str s, struct zone *zone)
{
    int32_t offset;

    if (!skip_name(&s) || !take_time(&s, &offset))
        return false;
    zone->std = zone->dst = -offset;
    if (!s.n)
        return true;
    if (!skip_name(&s))
        return false;
    zone->dst = zone->std + 3600;
    if (s.n && s.p[0] != ',') {
        if (!take_time(&s, &offset))
            return false;
        zone->dst = -offset;
    }
    return take_char(&s, ',') && take_rule(&s, &zone->begin) && take_char(&s, ',') &&
           take_rule(&s, &zone->end) && !s.n;
}

static bool is_leap(int64_t year)
{
    return timefmt_month_days(year, 2) == 29;
}

/* Seconds from 1970 to the rule's time in this year, on the clocks of the zone. */
static int64_t rule_time(const struct rule *rule, int64_t year)
{
    int64_t day = timefmt_days(year, 1, 1);

    if (rule->kind == 'M') {
        int64_t first = timefmt_days(year, (unsigned)rule->month, 1);
        int64_t weekday = ((first + 4) % 7 + 7) % 7; /* 1970-01-01 was a Thursday */

        day = first + (rule->day - weekday + 7) % 7 + 7 * (rule->week - 1);
        while (day - first >= (int64_t)timefmt_month_days(year, (unsigned)rule->month))
            day -= 7;
    } else if (rule->kind == 'J') {
        day += rule->day - 1 + (is_leap(year) && rule->day >= 60);
    } else {
        day += rule->day;
    }
    return day * DAY_S + rule->time_s;
}

static int64_t year_of(int64_t utc_s)
{
    int64_t day = utc_s / DAY_S - (utc_s % DAY_S < 0), year = 1970 + day / 366;

    while (timefmt_days(year + 1, 1, 1) <= day)
        year++;
    while (timefmt_days(year, 1, 1) > day)
        year--;
    return year;
}

static int32_t rule_offset(const struct zone *zone, int64_t utc_s)
{
    int64_t year, begin, end;
    bool in;

    if (!zone->begin.kind)
        return zone->std;
    year = year_of(utc_s + zone->std);
    begin = rule_time(&zone->begin, year) - zone->std;
    end = rule_time(&zone->end, year) - zone->dst;
    in = begin < end ? utc_s >= begin && utc_s < end : utc_s >= begin || utc_s < end;
    return in ? zone->dst : zone->std;
}

/* ---- tables ---- */

static int64_t big_endian(const char *p, unsigned n)
{
    uint64_t value = p[0] & 0x80 ? UINT64_MAX : 0;

    for (unsigned i = 0; i < n; i++)
        value = value << 8 | (unsigned char)p[i];
    return (int64_t)value;
}

struct head {
    size_t ut, std, leap, times, types, chars;
};

static bool take_head(struct str *s, struct head *ret_head)
{
    size_t *const counts[] = { &ret_head->ut,    &ret_head->std,   &ret_head->leap,
                               &ret_head->times, &ret_head->types, &ret_head->chars };

    if (s->n < 44 || memcmp(s->p, "TZif", 4) != 0)
        return false;
    for (size_t i = 0; i < 6; i++) {
        int64_t n = big_endian(s->p + 20 + 4 * i, 4);

        if (n < 0 || n > 100000)
            return false;
        *counts[i] = (size_t)n;
    }
    *s = str_skip(*s, 44);
    return true;
}

static size_t body_bytes(const struct head *h, size_t word)
{
    return h->times * (word + 1) + h->types * 6 + h->chars + h->leap * (word + 4) + h->std + h->ut;
}

static bool take_body(struct str s, const struct head *h, struct zone *zone)
{
    const char *types = s.p + h->times * 8, *infos = types + h->times;

    if (h->times > TIMES_MAX || !h->types || h->types > TYPES_MAX)
        return false;
    zone->n_times = h->times;
    zone->n_types = h->types;
    for (size_t i = 0; i < h->times; i++) {
        zone->times[i] = big_endian(s.p + 8 * i, 8);
        zone->type_of[i] = (uint8_t)types[i];
        if (zone->type_of[i] >= h->types || (i && zone->times[i] <= zone->times[i - 1]))
            return false;
    }
    for (size_t i = 0; i < h->types; i++) {
        zone->offsets[i] = (int32_t)big_endian(infos + 6 * i, 4);
        if (zone->offsets[i] < -2 * DAY_S || zone->offsets[i] > 2 * DAY_S)
            return false;
    }
    return true;
}

static bool parse(struct str s, struct zone *zone)
{
    struct head head;

    if (!take_head(&s, &head) || s.n < body_bytes(&head, 4))
        return false;
    s = str_skip(s, body_bytes(&head, 4)); /* the old form for 32 bits */
    if (!take_head(&s, &head) || s.n < body_bytes(&head, 8) || !take_body(s, &head, zone))
        return false;
    s = str_trim(str_skip(s, body_bytes(&head, 8)));
    zone->has_rule = s.n > 0;
    return !zone->has_rule || parse_rule(s, zone);
}

int zone_parse(struct str bytes, struct zone **ret_zone, struct err *err)
{
    AUTO(zone) zone = NEW(struct zone);

    if (!parse(bytes, zone))
        return err_set(err, ERR_BAD_REQUEST, "the table of the time zone can't be read");
    *ret_zone = TAKE(zone);
    return 0;
}

static bool is_name(struct str name)
{
    if (!name.n || name.n > ZONE_NAME_MAX || name.p[0] == '/' || name.p[0] == '-')
        return false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              strchr("_+-/", c ? c : '!')))
            return false;
    }
    return true;
}

int zone_open(struct str name, struct zone **ret_zone, struct err *err)
{
    AUTO_BUF bytes = BUF_INIT(FILE_MAX_BYTES);
    struct err absent = ERR_INIT;
    char path[sizeof(ROOT) + ZONE_NAME_MAX];
    struct zone *utc;

    if (str_is(name, "UTC") || str_is(name, "Etc/UTC")) {
        utc = NEW(struct zone);
        utc->n_types = 1;
        *ret_zone = utc;
        return 0;
    }
    if (is_name(name)) {
        snprintf(path, sizeof(path), ROOT "%.*s", STR_ARG(name));
        if (file_read(path, &bytes, &absent) == 0 &&
            zone_parse(buf_str(&bytes), ret_zone, &absent) == 0)
            return 0;
    }
    return err_set(err, ERR_BAD_REQUEST,
                   "there is no time zone \"%.*s\"; names are such as Europe/Berlin or UTC",
                   STR_ARG(str_take(name, 64)));
}

void zone_free(struct zone *zone)
{
    free(zone);
}

int32_t zone_offset(const struct zone *zone, int64_t utc_s)
{
    size_t low = 0, high = zone->n_times;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (zone->times[mid] <= utc_s)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == zone->n_times && zone->has_rule)
        return rule_offset(zone, utc_s);
    return zone->offsets[low ? zone->type_of[low - 1] : 0];
}

int zone_moment(const struct zone *zone, int64_t local_s, int64_t *ret_utc_s)
{
    /* Whatever offset holds then, it holds a little before or a little after. */
    const int32_t offsets[] = { zone_offset(zone, local_s - DAY_S),
                                zone_offset(zone, local_s + DAY_S), zone_offset(zone, local_s) };
    int64_t found[3];
    int n = 0;

    for (size_t i = 0; i < ARRAY_LEN(offsets); i++) {
        int64_t utc = local_s - offsets[i];
        bool known = false;

        for (int k = 0; k < n; k++)
            known |= found[k] == utc;
        if (!known && zone_offset(zone, utc) == offsets[i])
            found[n++] = utc;
    }
    for (int k = 0; k < n; k++)
        if (k == 0 || found[k] < *ret_utc_s)
            *ret_utc_s = found[k];
    return n;
}

/* As the C library has it: a name with or without a colon before it. Rules that are written out
 * ("CET-1CEST") name no zone, and neither does what is not there. */
static bool zone_of_environment(char ret_name[ZONE_NAME_MAX + 1])
{
    const char *name = getenv("TZ");
    AUTO(zone) zone = NULL;

    if (!name)
        return false;
    name += *name == ':';
    if (strlen(name) > ZONE_NAME_MAX || !is_name(str_from(name)) ||
        zone_open(str_from(name), &zone, NULL) < 0)
        return false;
    snprintf(ret_name, ZONE_NAME_MAX + 1, "%s", name);
    return true;
}

void zone_system(char ret_name[ZONE_NAME_MAX + 1])
{
    char link[512];
    ssize_t n = readlink("/etc/localtime", link, sizeof(link) - 1);
    const char *at = NULL;

    if (zone_of_environment(ret_name))
        return;
    if (n > 0) {
        link[n] = '\0';
        at = strstr(link, "zoneinfo/");
    }
    if (at && strlen(at + 9) <= ZONE_NAME_MAX && is_name(str_from(at + 9)))
        snprintf(ret_name, ZONE_NAME_MAX + 1, "%s", at + 9);
    else
        snprintf(ret_name, ZONE_NAME_MAX + 1, "UTC");
}
