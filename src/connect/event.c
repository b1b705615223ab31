/* See event.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "connect/event.h"
#include "base/json_put.h"

#include <stdio.h>

#include "base/timefmt.h"

#define DAY_S 86400

static bool digits(struct str s, size_t at, size_t n, int *ret_value)
{
    *ret_value = 0;
    for (size_t i = at; i < at + n; i++) {
        if (i >= s.n || s.p[i] < '0' || s.p[i] > '9')
            return false;
        *ret_value = 10 * *ret_value + s.p[i] - '0';
    }
    return true;
}

/* "2026-03-29": its days since 1970. */
static bool read_date(struct str s, int64_t *ret_days)
{
    int year, month, day;

    if (!digits(s, 0, 4, &year) || s.n < 10 || s.p[4] != '-' || !digits(s, 5, 2, &month) ||
        s.p[7] != '-' || !digits(s, 8, 2, &day) || day < 1 ||
        day > (int)timefmt_month_days(year, month > 0 ? (unsigned)month : 0) || year < 1970)
        return false;
    *ret_days = timefmt_days(year, (unsigned)month, (unsigned)day);
    return true;
}

/* "2026-03-29T12:00[:30]": seconds on the clock since 1970. */
static bool read_local(struct str s, int64_t *ret_s)
{
    int hour, minute, second = 0;
    int64_t days;

    if (!read_date(s, &days) || (s.n != 16 && s.n != 19) || (s.p[10] != 'T' && s.p[10] != ' ') ||
        !digits(s, 11, 2, &hour) || s.p[13] != ':' || !digits(s, 14, 2, &minute) || hour > 23 ||
        minute > 59)
        return false;
    if (s.n == 19 && (s.p[16] != ':' || !digits(s, 17, 2, &second) || second > 59))
        return false;
    *ret_s = days * DAY_S + hour * 3600 + minute * 60 + second;
    return true;
}

/* A moment as the clocks of the zone show it, with their offset. */
static void write_text(int64_t utc_s, int32_t offset, char out[32])
{
    char text[TIMEFMT_SIZE];
    unsigned minutes = (unsigned)(offset < 0 ? -offset : offset) / 60;

    timefmt_rfc3339((utc_s + offset) * 1000, text);
    snprintf(out, 32, "%.19s%c%02u:%02u", text, offset < 0 ? '-' : '+', minutes / 60 % 100,
             minutes % 60);
}

static int read_in_zone(const char *field, struct str text, const struct zone *zone, int64_t local,
                        struct event_time *ret_time, struct err *err)
{
    int n = zone_moment(zone, local, &ret_time->utc_s);

    if (n == 0)
        return err_set(err, ERR_BAD_REQUEST,
                       "%s: there is no %.*s in %s: clocks are set forward then", field,
                       STR_ARG(text), ret_time->zone);
    ret_time->twice = n > 1;
    write_text(ret_time->utc_s, zone_offset(zone, ret_time->utc_s), ret_time->text);
    return 0;
}

int event_time_read(const char *field, struct str text, struct str zone_name,
                    struct event_time *ret_time, struct err *err)
{
    AUTO(zone) zone = NULL;
    struct event_time time = { .all_day = false };
    int64_t value;

    if (zone_name.n)
        snprintf(time.zone, sizeof(time.zone), "%.*s", STR_ARG(str_take(zone_name, ZONE_NAME_MAX)));
    else
        zone_system(time.zone);
    if (zone_open(zone_name.n ? zone_name : str_from(time.zone), &zone, err) < 0)
        return err_wrap(err, "time_zone");
    if (text.n == 10 && read_date(text, &value)) {
        time.all_day = true;
        snprintf(time.text, sizeof(time.text), "%.*s", STR_ARG(text));
        /* Where a day begins later than at midnight, it begins with its first moment. */
        if (zone_moment(zone, value * DAY_S, &time.utc_s) == 0)
            time.utc_s = value * DAY_S - zone_offset(zone, value * DAY_S - DAY_S);
    } else if (read_local(text, &value)) {
        if (read_in_zone(field, text, zone, value, &time, err) < 0)
            return -1;
    } else if (text.n <= 40 && timefmt_parse(text, &value, NULL) == 0) {
        time.utc_s = value / 1000;
        write_text(time.utc_s, zone_offset(zone, time.utc_s), time.text);
    } else {
        return err_set(err, ERR_BAD_REQUEST,
                       "%s must be a day (2026-03-29), a time (2026-03-29T12:00) or a moment "
                       "(2026-03-29T12:00:00+02:00)",
                       field);
    }
    *ret_time = time;
    return 0;
}

void event_time_write(struct json_writer *w, const struct event_time *time)
{
    json_write_object_begin(w);
    json_put_text(w, time->all_day ? "date" : "dateTime", time->text);
    /* PATCH merges: what an event was before must not stay beside it. */
    json_put_null(w, time->all_day ? "dateTime" : "date");
    json_put_text(w, "timeZone", time->all_day ? NULL : time->zone);
    json_write_object_end(w);
}
