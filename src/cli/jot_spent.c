/* When time was spent: --from, --to, --for and --day, for all commands that take them.
 *
 * --day is the day of times that name none. A --to that names none is of the day of --from.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "base/clock.h"
#include "base/limits.h"
#include "cli/cli_int.h"
#include "cli/jot.h"

struct spent {
    struct str day; /* --day; empty: it was not given */
    int64_t begin, end;
};

static struct str day_of(struct jot *jot, int64_t at)
{
    char local[TIMEFMT_SIZE];

    jot_local(jot, at, local);
    return str_from(arena_printf(&jot->arena, "%.10s", local));
}

static int read_day(struct jot *jot, struct str *ret_day)
{
    const char *typed = cli_value(jot->args, "day");

    *ret_day = STR_NONE;
    if (typed && jot_day(jot, typed, JOT_BEHIND, ret_day) < 0)
        return err_wrap(&jot->err, "--day");
    return 0;
}

static int read_moment(struct jot *jot, const char *option, struct str day, int64_t *ret_at)
{
    char text[TIMEFMT_SIZE];

    if (jot_moment(jot, cli_value(jot->args, option), day, JOT_SOUGHT, text) < 0)
        return err_wrap(&jot->err, "--%s", option);
    return timefmt_parse(str_from(text), ret_at, &jot->err);
}

/* --day friday --from "monday 9:00"; 24:00 and 0:00 are of both days. */
static int check_day(struct jot *jot, const char *option, struct str day, int64_t at)
{
    if (!day.n || str_eq(day_of(jot, at), day) || str_eq(day_of(jot, at - 1), day))
        return 0;
    return err_set(&jot->err, ERR_BAD_REQUEST,
                   "--day and --%s contradict each other: \"%.60s\" is not of %.*s", option,
                   cli_value(jot->args, option), STR_ARG(day));
}

static int read_begin(struct jot *jot, struct spent *spent, struct str day)
{
    if (read_moment(jot, "from", day, &spent->begin) < 0)
        return -1;
    return check_day(jot, "from", spent->day, spent->begin);
}

/* 23:00 to 1:00 goes on after midnight; 10:00 to 9:00 is a mistake, and refused as it is. */
static int read_end(struct jot *jot, struct spent *spent, struct str day)
{
    char next[TIMEFMT_SIZE];
    int64_t noon, later;

    if (read_moment(jot, "to", day, &spent->end) < 0 ||
        (!cli_value(jot->args, "from") && check_day(jot, "to", spent->day, spent->end) < 0))
        return -1;
    if (spent->end >= spent->begin)
        return 0;
    if (timefmt_parse(str_from(arena_printf(&jot->arena, "%.*sT12:00:00Z", STR_ARG(day))), &noon,
                      &jot->err) < 0)
        return -1;
    timefmt_rfc3339(noon + DAYS(1), next);
    if (read_moment(jot, "to", str_of(next, 10), &later) < 0)
        return -1;
    if (later > spent->begin && later - spent->begin <= HOURS(12))
        spent->end = later;
    return 0;
}

static int check_been(struct jot *jot, const char *option, int64_t at)
{
    const char *typed = cli_value(jot->args, option);

    return typed && jot_has_been(jot, typed, at) < 0 ? err_wrap(&jot->err, "--%s", option) : 0;
}

static void add_moment(struct json_object *body, const char *member, int64_t at)
{
    char text[TIMEFMT_SIZE];

    timefmt_rfc3339(at, text);
    jot_add(body, member, str_from(text));
}

/* --from and --to, or one of them and --for, or --for up to now. */
static int read_log(struct jot *jot, int64_t minutes, struct spent *spent)
{
    bool from = cli_value(jot->args, "from"), to = cli_value(jot->args, "to");
    struct str day = spent->day.n ? spent->day : str_from(jot->today);

    if (!minutes && !(from && to))
        return err_set(&jot->err, ERR_BAD_REQUEST,
                       "when was it? give --for 45m, or --from 9:00 --to 10:30");
    if (!from && !to && !str_is(day, jot->today))
        return err_set(&jot->err, ERR_BAD_REQUEST,
                       "--day and --for do not say when it was: give --from 9:00 or --to 10:30, "
                       "too");
    if ((from && read_begin(jot, spent, day) < 0) ||
        (to && read_end(jot, spent, from ? day_of(jot, spent->begin) : day) < 0) ||
        check_been(jot, "from", spent->begin) < 0 || check_been(jot, "to", spent->end) < 0)
        return -1;
    if (from && to && minutes && spent->end - spent->begin != MINUTES(minutes))
        return err_set(&jot->err, ERR_BAD_REQUEST,
                       "--for contradicts --from and --to: it is not as long as from one to the "
                       "other; leave one out");
    if (!to && from)
        spent->end = spent->begin + MINUTES(minutes);
    else if (!from)
        spent->begin = spent->end - MINUTES(minutes);
    if (spent->end > jot->now_ms)
        return err_set(&jot->err, ERR_BAD_REQUEST, "--for: less has passed since --from \"%.60s\"",
                       cli_value(jot->args, "from"));
    return 0;
}

int jot_spent(struct jot *jot, struct json_object *body)
{
    struct spent spent = { .begin = INT64_MIN, .end = jot->now_ms };
    int64_t minutes = 0;

    if (read_day(jot, &spent.day) < 0)
        return -1;
    if (cli_value(jot->args, "for") && jot_minutes(jot, cli_value(jot->args, "for"), &minutes) < 0)
        return err_wrap(&jot->err, "--for");
    if (read_log(jot, minutes, &spent) < 0)
        return -1;
    jot_says(jot, "startedAt", "--from");
    jot_says(jot, "endedAt", "--to");
    add_moment(body, "startedAt", spent.begin);
    add_moment(body, "endedAt", spent.end);
    return 0;
}

int jot_spent_anew(struct jot *jot, struct json_object *entry, struct json_object *body)
{
    const char *from = cli_value(jot->args, "from"), *to = cli_value(jot->args, "to");
    struct spent spent = { .begin = 0 };
    struct str day;

    if (read_day(jot, &spent.day) < 0 ||
        timefmt_parse(jot_member(entry, "startedAt"), &spent.begin, &jot->err) < 0)
        return -1;
    if (!from && !to)
        return err_set(&jot->err, ERR_BAD_REQUEST,
                       "--day is the day of --from and --to: give one of them");
    day = spent.day.n ? spent.day : day_of(jot, spent.begin);
    if ((from && read_begin(jot, &spent, day) < 0) ||
        (to && read_end(jot, &spent, from ? day_of(jot, spent.begin) : day) < 0) ||
        check_been(jot, "from", spent.begin) < 0 || check_been(jot, "to", spent.end) < 0)
        return -1;
    jot_says(jot, "startedAt", "--from");
    jot_says(jot, "endedAt", "--to");
    if (from)
        add_moment(body, "startedAt", spent.begin);
    if (to)
        add_moment(body, "endedAt", spent.end);
    return 0;
}
