/* dormouse timer next, add, list, rm
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "base/timefmt.h"
#include "cli/alarms.h"
#include "cli/cli_int.h"
#include "cli/columns.h"
#include "cli/commands_int.h"
#include "cli/decide.h"
#include "cli/keeper.h"
#include "cli/said.h"
#include "cli/talk.h"
#include "cli/term.h"
#include "cli/whose.h"
#include "wake/timer.h"

#define NEXT_COUNT  5
#define EVERY_MAX_S (3660LL * 86400)

static struct str member(struct json_object *object, const char *key)
{
    return json_str(json_find(object, key));
}

static int64_t now_ms(void)
{
    return clock_wall_ms(clock_system());
}

/* at: the start was given as --at. */
static void name_option(bool at, struct err *err)
{
    static const struct said_word words[] = {
        { "rrule", "the rule" },  { "start and zone", "--start and --zone" },
        { "start", "--start" },   { "zone", "--zone" },
        { "from", "--from" },     { "count", "--count" },
        { "missedCap", "--cap" }, { "name", "--name" },
        { "prompt", "--prompt" }, { NULL, NULL },
    };
    static const struct said_word once[] = { { "start and zone", "--at and --zone" },
                                             { "start", "--at" },
                                             { NULL, NULL } };

    if (at)
        said_by(once, err);
    said_by(words, err);
}

/* ---- next ---- */

static void print_occurrence(const struct timer_occurrence *one)
{
    if (one->gap)
        printf("%s  clocks skip %s\n", one->time, one->local + 11);
    else if (one->overlap)
        printf("%s  the first of two\n", one->time);
    else
        printf("%s\n", one->time);
}

static void print_occurrences_json(const struct timer_occurrence *list, size_t n)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    char at[TIMEFMT_SIZE];

    json_write_object_begin(&w);
    json_put_array(&w, "occurrences");
    for (size_t i = 0; i < n; i++) {
        timefmt_rfc3339(list[i].at, at);
        json_write_object_begin(&w);
        json_put_text(&w, "at", at);
        json_put_text(&w, "local", list[i].local);
        json_put_text(&w, "time", list[i].time);
        if (list[i].gap || list[i].overlap) {
            json_put_text(&w, "clocks", list[i].gap ? "gap" : "overlap");
        }
        json_write_object_end(&w);
    }
    json_write_array_end(&w);
    json_write_object_end(&w);
    BUG_IF(json_write_end(&w) < 0);
    puts(buf_text(&json));
}

static int run_next(const struct cli_args *args)
{
    AUTO(zone) zone = NULL;
    AUTO_ARENA arena = ARENA_INIT;
    struct timer_preview what = { .rrule = str_from(cli_operand(args, 0)),
                                  .start = str_from(cli_value(args, "start")),
                                  .from = str_from(cli_value(args, "from")),
                                  .count = NEXT_COUNT };
    struct timer_occurrence *list;
    struct err err = ERR_INIT;
    size_t n;

    if (cli_number(args, "count", 1, TIMER_PREVIEW_MAX, &what.count, &err) < 0)
        return cli_misused(args, &err);
    if (timer_zone_open(str_from(cli_value(args, "zone")), &zone, &err) < 0 ||
        timer_preview(&what, zone, now_ms(), &arena, &list, &n, &err) < 0) {
        name_option(false, &err);
        return cli_fail(args, &err);
    }
    if (cli_json(args)) {
        print_occurrences_json(list, n);
        return CLI_DONE;
    }
    for (size_t i = 0; i < n; i++)
        print_occurrence(&list[i]);
    return CLI_DONE;
}

static const struct cli_option next_options[] = {
    { .name = "zone", .value = "ZONE", .help = "such as Europe/Berlin; else this machine's" },
    { .name = "from", .value = "TIME", .help = "a moment, a local time or a day; else now" },
    { .name = "start", .value = "TIME", .help = "local time at which the rule begins" },
    { .name = "count", .value = "N", .help = "how many, 5 by default" },
    { .name = NULL },
};

const struct cli_command cli_cmd_timer_next = {
    .name = "timer next",
    .operands = "RRULE",
    .summary = "Shows when a recurrence rule fires, without storing anything",
    .details =
        "A rule is that of RFC 5545 without the prefix: FREQ and what narrows it down. What the "
        "rule leaves open (the time of day, the weekday) comes from --start, else from --from.\n\n"
        "Times are those of the zone's clocks. One that clocks skip fires at the next minute they "
        "show; one that they show twice fires at the first.\n\n"
        "  dormouse timer next 'FREQ=WEEKLY;BYDAY=MO,FR;BYHOUR=7' --zone Europe/Berlin\n"
        "  dormouse timer next FREQ=DAILY --from 2026-03-28T02:30 --zone Europe/Berlin",
    .options = next_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_next,
};

/* ---- add ---- */

/* "90m", "2h", "1d", "45s" or seconds. */
static int read_duration(const char *typed, int64_t *ret_s, struct err *err)
{
    struct str text = str_from(typed);
    static const struct {
        char unit;
        int seconds;
    } units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
    int64_t scale = 1, n;

    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (text.n > 1 && text.p[text.n - 1] == units[i].unit) {
            scale = units[i].seconds;
            text = str_take(text, text.n - 1);
            break;
        }
    if (str_to_i64(text, &n) < 0 || n < 1)
        return err_set(err, ERR_BAD_REQUEST, "--every: \"%.20s\" is no time such as 90m, 2h or 1d",
                       typed);
    if (n > EVERY_MAX_S / scale || n * scale < 60)
        return err_set(err, ERR_BAD_REQUEST, "--every: is from 1m to 3660d");
    *ret_s = n * scale;
    return 0;
}

static int put_numbers(struct json_writer *w, const struct cli_args *args, struct err *err)
{
    const char *every = cli_value(args, "every"), *cap = cli_value(args, "cap");
    int64_t n;

    if (every) {
        if (read_duration(every, &n, err) < 0)
            return -1;
        json_put_i64(w, "intervalSeconds", n);
    }
    if (cap && (!cli_value(args, "missed") || strcmp(cli_value(args, "missed"), "all") != 0))
        return err_set(err, ERR_BAD_REQUEST,
                       "--cap says how many firings --missed all catches up on; give --missed all "
                       "too");
    if (cap) {
        if (cli_number(args, "cap", 1, TIMER_CAP_MAX, &n, err) < 0)
            return -1;
        json_put_i64(w, "missedCap", n);
    }
    return 0;
}

static int write_form(const struct cli_args *args, struct buf *body, struct err *err)
{
    struct json_writer w = JSON_WRITER(body);
    const char *more = cli_operand(args, 1);
    int given = (cli_operand_count(args) > 0) + cli_has(args, "at") + cli_has(args, "every");

    if (more)
        return err_set(err, ERR_BAD_REQUEST,
                       "a timer has one rule, and \"%.60s\" stands where it belongs, before "
                       "\"%.60s\"; whose it is says --agent",
                       cli_operand(args, 0), more);
    if (given != 1)
        return err_set(err, ERR_BAD_REQUEST,
                       "a timer needs one of these: a rule such as FREQ=DAILY;BYHOUR=7, --at TIME, "
                       "or --every DURATION");
    json_write_object_begin(&w);
    json_put_given(&w, "rrule", cli_operand(args, 0));
    json_put_given(&w, "start", cli_value(args, cli_has(args, "at") ? "at" : "start"));
    json_put_given(&w, "zone", cli_value(args, "zone"));
    json_put_given(&w, "name", cli_value(args, "name"));
    json_put_given(&w, "prompt", cli_value(args, "prompt"));
    json_put_given(&w, "missed", cli_value(args, "missed"));
    if (put_numbers(&w, args, err) < 0)
        return -1;
    json_write_object_end(&w);
    return json_write_end(&w) < 0 ? err_set(err, ERR_TOO_LARGE, "that is too long for a timer") : 0;
}

static int run_add(const struct cli_args *args)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_BUF body = BUF_INIT(256 * KIB);
    AUTO(talk) talk = NULL;
    AUTO_JSON timer = NULL;
    struct err err = ERR_INIT;
    char ago[AGO_SIZE];

    if (write_form(args, &body, &err) < 0)
        return cli_misused(args, &err);
    if (talk_open(args, &talk, &err) < 0)
        return cli_fail(args, &err);
    buf_add_text(&path, "/api/v1/agents/");
    if (whose_add(args, talk, "timer", &path, &err) < 0)
        return cli_fail(args, &err);
    buf_add_text(&path, "/timers");
    if (talk_ask(talk, "POST", buf_text(&path), buf_str(&body), &timer, &err) < 0) {
        name_option(cli_has(args, "at"), &err);
        return cli_fail(args, &err);
    }
    if (cli_json(args))
        cli_print_json(json_object_get(timer));
    else
        printf("made timer %.*s of %.*s; it fires %s\n", STR_ARG(member(timer, "id")),
               STR_ARG(member(timer, "agentId")),
               ago_text(member(timer, "nextRunAt"), now_ms(), ago));
    alarms_print_warnings(timer);
    keeper_hint(args, "timers fire");
    return CLI_DONE;
}

static const struct cli_option add_options[] = {
    { .name = "agent", .value = "AGENT", .help = "whose; needed when there are several" },
    { .name = "at", .value = "TIME", .help = "fires once, at this local time" },
    { .name = "every", .value = "DURATION", .help = "fires in this interval: 90m, 2h, 1d" },
    { .name = "start", .value = "TIME", .help = "local time at which the rule begins; else now" },
    { .name = "zone", .value = "ZONE", .help = "whose clocks; else wherever this machine is" },
    { .name = "missed",
      .value = "POLICY",
      .help = "what becomes of firings that were missed, once by default",
      .choices = "once skip all" },
    { .name = "cap", .value = "N", .help = "of --missed all: at most so many, 10 by default" },
    { .name = "name", .value = "NAME", .help = "what it is called" },
    { .name = "prompt", .value = "TEXT", .help = "what the agent is told" },
    { .name = NULL },
};

const struct cli_command cli_cmd_timer_add = {
    .name = "timer add",
    .operands = "[RRULE]",
    .summary = "Makes a timer that wakes an agent",
    .details =
        "  dormouse timer add 'FREQ=DAILY;BYHOUR=7' --prompt 'Plan my day.'\n"
        "  dormouse timer add --at 2026-12-24T18:00 --zone Europe/Berlin\n"
        "  dormouse timer add --every 2h\n\n"
        "After the machine was off, --missed once fires one time for all that was missed, skip "
        "not at all, all each of the last ones up to --cap.",
    .options = add_options,
    .operands_max = 2, /* the second is one too many, and write_form() says why */
    .run = run_add,
};

/* ---- list ---- */

static struct str when_of(struct json_object *timer, char text[48])
{
    int64_t seconds = 0;
    char span[SPAN_SIZE];

    if (member(timer, "rrule").n)
        return member(timer, "rrule");
    if (json_get_i64(timer, "intervalSeconds", &seconds, NULL) == 1)
        snprintf(text, 48, "every %s", span_text(seconds, span));
    else
        snprintf(text, 48, "at %.*s", STR_ARG(str_take(member(timer, "start"), 19)));
    return str_from(text);
}

static void print_timers(struct json_object *timers)
{
    static const char *const head[] = {
        "ID", "AGENT", "NEXT", "LOCAL", "ZONE", "NAME", "WHEN", NULL
    };
    struct columns columns;

    columns_init(&columns, head);
    for (size_t i = 0; i < json_length(timers); i++) {
        struct json_object *one = json_object_array_get_idx(timers, i);
        char ago[AGO_SIZE], when[48];
        bool active = true;

        json_get_bool(one, "active", &active, NULL);
        columns_add(&columns, (struct str[]){
                                  member(one, "id"), member(one, "agentId"),
                                  !active ? STR("off")
                                  : !member(one, "nextRunAt").n
                                      ? STR("ended")
                                      : str_from(ago_text(member(one, "nextRunAt"), now_ms(), ago)),
                                  str_take(member(one, "nextLocal"), 16), member(one, "zone"),
                                  member(one, "name"), when_of(one, when) });
    }
    columns_print(&columns, stdout);
    columns_release(&columns);
}

static int run_list(const struct cli_args *args)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;
    struct json_object *timers;

    buf_add_text(&path, "/api/v1/timers");
    if (cli_value(args, "agent")) {
        buf_add_text(&path, "?agent=");
        decide_add_segment(&path, cli_value(args, "agent"));
    }
    if (talk_once(args, "GET", buf_text(&path), STR_NONE, &answer, &err) < 0)
        return cli_fail(args, &err);
    timers = json_find(answer, "items");
    if (cli_json(args))
        cli_print_lines(timers);
    else if (!json_length(timers))
        puts("no timers; make one with `dormouse timer add`");
    else
        print_timers(timers);
    return CLI_DONE;
}

static const struct cli_option list_options[] = {
    { .name = "agent", .value = "AGENT", .help = "only this agent's" },
    { .name = NULL },
};

const struct cli_command cli_cmd_timer_list = {
    .name = "timer list",
    .operands = "",
    .summary = "Lists timers and when they fire next",
    .details = "With --json each timer is a line of its own.",
    .options = list_options,
    .run = run_list,
};

/* ---- rm ---- */

static int run_rm(const struct cli_args *args)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;

    buf_add_text(&path, "/api/v1/timers/");
    decide_add_segment(&path, cli_operand(args, 0));
    if (talk_once(args, "DELETE", buf_text(&path), STR_NONE, &answer, &err) < 0)
        return cli_fail(args, &err);
    if (!cli_json(args))
        puts("removed");
    return CLI_DONE;
}

const struct cli_command cli_cmd_timer_rm = {
    .name = "timer rm",
    .operands = "ID",
    .summary = "Removes a timer",
    .details = "The beginning of its id is enough; `dormouse timer list` shows them.",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_rm,
};
