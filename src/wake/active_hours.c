/* Active hours: the local hours of local days in which an agent may be woken.
 *
 * Whether a moment lies inside is read off the clock of the zone, so it is what people see there,
 * also on days on which clocks jump. The next moment inside is looked for forwards from now: in
 * leaps to where a window or a day may begin while the zone's offset stays the same, and minute by
 * minute across a jump.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/json_put.h"
#include "base/zone.h"
#include "wake/subscription.h"

#define DAY_MIN   1440
#define MINUTE_MS 60000
/* A week and a day on which clocks jump. */
#define LOOK_MIN (9 * DAY_MIN)

static const char *const day_names[] = { "mo", "tu", "we", "th", "fr", "sa", "su" };

/* ---- JSON ---- */

static int parse_clock(const char *what, struct str text, int16_t *ret_min, struct err *err)
{
    uint64_t hour, minute;

    if (text.n != 5 || text.p[2] != ':' || str_to_u64(str_take(text, 2), &hour) < 0 ||
        str_to_u64(str_skip(text, 3), &minute) < 0 || hour > 24 || minute > 59 ||
        (hour == 24 && minute))
        return err_set(err, ERR_BAD_REQUEST,
                       "activeHours: %s \"%.*s\" is no time of the day, as 07:00 is", what,
                       text.n > 20 ? 20 : (int)text.n, text.p);
    *ret_min = (int16_t)(hour * 60 + minute);
    return 0;
}

static int parse_days(struct json_object *list, uint8_t *ret_days, struct err *err)
{
    size_t n = json_length(list);

    for (size_t i = 0; i < n; i++) {
        struct str name = json_str(json_object_array_get_idx(list, i));
        unsigned day = 0;

        while (day < ARRAY_LEN(day_names) && !str_is(name, day_names[day]))
            day++;
        if (day == ARRAY_LEN(day_names))
            return err_set(err, ERR_BAD_REQUEST,
                           "activeHours: a day \"%.*s\"; days are mo tu we th fr sa su",
                           name.n > 20 ? 20 : (int)name.n, name.p ? name.p : "");
        *ret_days |= (uint8_t)(1u << day);
    }
    return 0;
}

static int parse_zone(struct str name, char ret_zone[65], struct err *err)
{
    AUTO(zone) zone = NULL;

    if (!name.n)
        return 0;
    if (name.n > ZONE_NAME_MAX)
        return err_set(err, ERR_BAD_REQUEST, "activeHours: the zone's name is longer than %d bytes",
                       ZONE_NAME_MAX);
    if (zone_open(name, &zone, err) < 0)
        return err_wrap(err, "activeHours");
    memcpy(ret_zone, name.p, name.n);
    ret_zone[name.n] = '\0';
    return 0;
}

int active_hours_parse(struct json_object *json, struct active_hours *ret_hours, struct err *err)
{
    struct {
        struct json_object *days;
        struct str from, to, zone;
    } given = { 0 };
    const struct json_field fields[] = {
        JSON_FIELD(__typeof__(given), days, "days", JSON_ARRAY),
        JSON_FIELD(__typeof__(given), from, "from", JSON_STR, .required = true),
        JSON_FIELD(__typeof__(given), to, "to", JSON_STR, .required = true),
        JSON_FIELD(__typeof__(given), zone, "zone", JSON_STR),
        { 0 },
    };
    struct active_hours hours = { .set = true };

    if (!json_object_is_type(json, json_type_object))
        return err_set(
            err, ERR_BAD_REQUEST,
            "activeHours: an object with from and to is needed, and maybe days and zone");
    if (json_read(json, fields, JSON_REFUSE_UNKNOWN, &given, err) < 0)
        return err_wrap(err, "activeHours");
    if (parse_days(given.days, &hours.days, err) < 0 ||
        parse_clock("from", given.from, &hours.from_min, err) < 0 ||
        parse_clock("to", given.to, &hours.to_min, err) < 0 ||
        parse_zone(given.zone, hours.zone, err) < 0)
        return -1;
    if (hours.from_min == hours.to_min || hours.from_min == DAY_MIN)
        return err_set(err, ERR_BAD_REQUEST,
                       "activeHours: from %.*s to %.*s is no time at all; a whole day is 00:00 to "
                       "24:00",
                       STR_ARG(given.from), STR_ARG(given.to));
    *ret_hours = hours;
    return 0;
}

static void write_clock(struct json_writer *w, const char *key, int minute)
{
    char text[8];

    snprintf(text, sizeof(text), "%02u:%02u", (unsigned)minute / 60 % 100, (unsigned)minute % 60);
    json_put_text(w, key, text);
}

void active_hours_write(struct json_writer *w, const struct active_hours *hours)
{
    json_write_object_begin(w);
    if (hours->days) {
        json_put_array(w, "days");
        for (unsigned day = 0; day < ARRAY_LEN(day_names); day++) {
            if (hours->days & (1u << day))
                json_write_text(w, day_names[day]);
        }
        json_write_array_end(w);
    }
    write_clock(w, "from", hours->from_min);
    write_clock(w, "to", hours->to_min);
    if (hours->zone[0]) {
        json_put_text(w, "zone", hours->zone);
    }
    json_write_object_end(w);
}

/* ---- time ---- */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static bool on_day(const struct active_hours *hours, int64_t day)
{
    /* 1970-01-01 was a Thursday. */
    int64_t weekday = day + 3 - floor_div(day + 3, 7) * 7;

    return !hours->days || (hours->days & (1u << weekday));
}

/* A window belongs to the day on which it begins. */
static bool inside(const struct active_hours *hours, int64_t local_min)
{
    int64_t day = floor_div(local_min, DAY_MIN), minute = local_min - day * DAY_MIN;

    if (hours->from_min < hours->to_min)
        return on_day(hours, day) && minute >= hours->from_min && minute < hours->to_min;
    return (on_day(hours, day) && minute >= hours->from_min) ||
           (on_day(hours, day - 1) && minute < hours->to_min);
}

/* Seconds that the zone is ahead; NULL: UTC, for a zone that is not there any more. */
static int64_t offset_at(const struct zone *zone, int64_t minute)
{
    return zone ? zone_offset(zone, minute * 60) : 0;
}

static int64_t local_of(const struct zone *zone, int64_t minute)
{
    return floor_div(minute * 60 + offset_at(zone, minute), 60);
}

/* Minutes to where a window or a day begins, if clocks do not jump before. */
static int64_t leap(const struct active_hours *hours, int64_t local_min)
{
    int64_t minute = local_min - floor_div(local_min, DAY_MIN) * DAY_MIN;

    return minute < hours->from_min ? hours->from_min - minute : DAY_MIN - minute;
}

static int64_t next_inside(const struct active_hours *hours, const struct zone *zone,
                           int64_t minute)
{
    int64_t end = minute + LOOK_MIN;

    while (minute < end && !inside(hours, local_of(zone, minute))) {
        int64_t step = leap(hours, local_of(zone, minute));

        minute += offset_at(zone, minute) == offset_at(zone, minute + step) ? step : 1;
    }
    return minute;
}

bool active_hours_hold(const struct active_hours *hours, int64_t now_ms, int64_t *ret_next)
{
    AUTO(zone) zone = NULL;
    char here[ZONE_NAME_MAX + 1];
    struct err err = ERR_INIT;
    const char *name = hours->zone;

    *ret_next = now_ms;
    if (!hours->set)
        return true;
    if (!name[0]) {
        zone_system(here);
        name = here;
    }
    zone_open(str_from(name), &zone, &err);
    if (inside(hours, local_of(zone, floor_div(now_ms, MINUTE_MS))))
        return true;
    *ret_next = next_inside(hours, zone, floor_div(now_ms, MINUTE_MS) + 1) * MINUTE_MS;
    return false;
}
