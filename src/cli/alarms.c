/* What wakes an agent, in words; switching it on and off.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/alarms.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "change/token.h"
#include "cli/cli_int.h"
#include "cli/columns.h"
#include "cli/commands_int.h"
#include "cli/decide.h"
#include "cli/talk.h"
#include "cli/term.h"

static bool is_on(struct json_object *one)
{
    bool active = true;

    json_get_bool(one, "active", &active, NULL);
    return active;
}

/* ---- one ---- */

/* Tokens: "TASK or workoutType=running"; categories by their names. */
static void add_tokens(struct json_object *subscription, struct buf *out)
{
    struct json_object *tokens = json_find(subscription, "tokens");
    struct json_object *names = json_find(subscription, "tokenNames"), *name;

    for (size_t i = 0; i < json_length(tokens); i++) {
        struct json_object *one = json_object_array_get_idx(tokens, i);
        struct token token = { .class = token_class_of(json_member(one, "class")),
                               .name_space = json_member(one, "namespace"),
                               .value = json_member(one, "value") };

        name = token.value.n ? json_find(names, token.value.p) : NULL;
        if (name)
            token.value = json_str(name);
        buf_add_text(out, i ? " or " : "");
        if (token.class == TOKEN_SUBTYPE) /* as --subtype takes it */
            buf_printf(out, "%.*s=%.*s", STR_ARG(token.name_space), STR_ARG(token.value));
        else if (token.class == TOKEN_ENTITY_ID)
            token_text(&token, out);
        else
            buf_add_str(out, token.value);
    }
}

void alarms_what(struct json_object *one, struct buf *out)
{
    add_tokens(one, out);
    if (str_is(json_member(one, "source"), "files"))
        buf_printf(out, "files in %.*s%s%.*s", STR_ARG(json_member(one, "folder")),
                   json_member(one, "glob").n ? " like " : "", STR_ARG(json_member(one, "glob")));
    if (str_is(json_member(one, "source"), "webhook"))
        buf_add_text(out, "its webhook is called");
    if (json_member(one, "predicate").n)
        buf_printf(out, " where %.*s", STR_ARG(json_member(one, "predicate")));
}

/* "mo, tu": a list of texts. */
static void add_texts(struct json_object *list, struct buf *out)
{
    for (size_t i = 0; i < json_length(list); i++)
        buf_printf(out, "%s%.*s", i ? ", " : "",
                   STR_ARG(json_str(json_object_array_get_idx(list, i))));
}

static bool is_record(struct json_object *one)
{
    return str_is(json_member(one, "source"), "journal") ||
           str_is(json_member(one, "source"), "agent");
}

void alarms_limits(struct json_object *one, const char *before, struct buf *out)
{
    struct json_object *authors = json_find(one, "authors"), *hours = json_find(one, "activeHours");
    int64_t seconds = 0;
    char span[SPAN_SIZE];

    if (is_record(one) && json_length(authors)) {
        buf_printf(out, "%sby ", before);
        add_texts(authors, out);
    }
    if (hours) {
        buf_add_text(out, before);
        add_texts(json_find(hours, "days"), out);
        buf_printf(out, "%s%.*s-%.*s", json_length(json_find(hours, "days")) ? " " : "",
                   STR_ARG(json_member(hours, "from")), STR_ARG(json_member(hours, "to")));
        if (json_member(hours, "zone").n)
            buf_printf(out, " %.*s", STR_ARG(json_member(hours, "zone")));
    }
    if (json_get_i64(one, "cooldownSeconds", &seconds, NULL) == 1 && seconds)
        buf_printf(out, "%sonce in %s", before, span_text(seconds, span));
}

void alarms_subscription(struct json_object *one, struct buf *out)
{
    struct str name = json_member(one, "name");

    if (name.n)
        buf_printf(out, "%.*s (", STR_ARG(name));
    alarms_what(one, out);
    if (name.n)
        buf_add_text(out, ")");
    if (!is_on(one))
        buf_add_text(out, ", switched off");
}

static void add_when(struct json_object *one, struct buf *out)
{
    int64_t seconds = 0;
    char span[SPAN_SIZE];

    if (json_member(one, "rrule").n)
        buf_add_str(out, json_member(one, "rrule"));
    else if (json_get_i64(one, "intervalSeconds", &seconds, NULL) == 1)
        buf_printf(out, "every %s", span_text(seconds, span));
    else
        buf_printf(out, "once at %.*s", STR_ARG(str_take(json_member(one, "start"), 16)));
}

void alarms_timer(struct json_object *one, int64_t now_ms, struct buf *out)
{
    struct str next = json_member(one, "nextRunAt"),
               local = str_take(json_member(one, "nextLocal"), 16);
    char ago[AGO_SIZE];

    if (json_member(one, "name").n)
        buf_add_str(out, json_member(one, "name"));
    else
        add_when(one, out);
    if (!is_on(one))
        buf_add_text(out, ", switched off");
    else if (!next.n)
        buf_add_text(out, ", has ended");
    else
        buf_printf(out, " (next %s%s%.*s)", ago_text(next, now_ms, ago), local.n ? ": " : "",
                   STR_ARG(local));
}

/* ---- all of an agent ---- */

static int add_list(const struct cli_args *args, struct json_object *agent, const char *key,
                    struct err *err)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_JSON answer = NULL;

    buf_add_text(&path, "/api/v1/agents/");
    decide_add_segment(&path, json_object_get_string(json_find(agent, "id")));
    buf_printf(&path, "/%s", key);
    if (talk_once(args, "GET", buf_text(&path), STR_NONE, &answer, err) < 0)
        return -1;
    json_object_object_add(agent, key, json_object_get(json_find(answer, "items")));
    return 0;
}

int alarms_get(const struct cli_args *args, struct json_object *agent, struct err *err)
{
    return add_list(args, agent, "subscriptions", err) < 0 ? -1
                                                           : add_list(args, agent, "timers", err);
}

static void print_line(const char *head, bool first, const char *text)
{
    if (first)
        fputs(head, stdout);
    else
        printf("%*s", (int)strlen(head), "");
    term_text(stdout, text);
    putchar('\n');
}

void alarms_print(struct json_object *agent, const char *head, bool quiet)
{
    struct json_object *waits = json_find(agent, "subscriptions"),
                       *fires = json_find(agent, "timers");
    size_t n = json_length(waits), all = n + json_length(fires);

    for (size_t i = 0; i < all; i++) {
        AUTO_BUF line = BUF_INIT(8 * KIB);

        if (i < n)
            alarms_subscription(json_object_array_get_idx(waits, i), &line);
        else
            alarms_timer(json_object_array_get_idx(fires, i - n), clock_wall_ms(clock_system()),
                         &line);
        print_line(head, i == 0, buf_text(&line));
    }
    if (!all && !quiet)
        print_line(head, true, "when you talk to it");
    if (all && str_is(json_member(agent, "lifecycle"), "dormant"))
        print_line(head, false, "(not now: it is dormant)");
}

void alarms_print_hooks(struct json_object *agent)
{
    struct json_object *hooks = json_find(agent, "webhooks");

    for (size_t i = 0; i < json_length(hooks); i++) {
        struct json_object *one = json_object_array_get_idx(hooks, i);
        AUTO_BUF line = BUF_INIT(4 * KIB);

        buf_printf(&line, "  webhook %.*s: POST %.*s (shown once)",
                   STR_ARG(json_member(one, "name").n ? json_member(one, "name")
                                                      : json_member(one, "subscriptionId")),
                   STR_ARG(json_member(one, "url")));
        print_line("", true, buf_text(&line));
    }
}

/* ---- on and off ---- */

static int turn(const struct cli_args *args, const char *where, bool on)
{
    AUTO_BUF path = BUF_INIT(4 * KIB), line = BUF_INIT(8 * KIB);
    AUTO_JSON one = NULL;
    struct err err = ERR_INIT;

    buf_printf(&path, "/api/v1/%s/", where);
    decide_add_segment(&path, cli_operand(args, 0));
    if (talk_once(args, "PATCH", buf_text(&path),
                  on ? STR("{\"active\":true}") : STR("{\"active\":false}"), &one, &err) < 0)
        return cli_fail(args, &err);
    if (cli_json(args)) {
        cli_print_json(json_object_get(one));
        return CLI_DONE;
    }
    buf_printf(&line, "%.*s wakes: ", STR_ARG(json_member(one, "agentId")));
    if (strcmp(where, "timers") == 0)
        alarms_timer(one, clock_wall_ms(clock_system()), &line);
    else
        alarms_subscription(one, &line);
    print_line("", true, buf_text(&line));
    return CLI_DONE;
}

static int run_subscribe_enable(const struct cli_args *args)
{
    return turn(args, "subscriptions", true);
}

static int run_subscribe_disable(const struct cli_args *args)
{
    return turn(args, "subscriptions", false);
}

static int run_timer_enable(const struct cli_args *args)
{
    return turn(args, "timers", true);
}

static int run_timer_disable(const struct cli_args *args)
{
    return turn(args, "timers", false);
}

const struct cli_command cli_cmd_subscribe_enable = {
    .name = "subscribe enable",
    .operands = "ID",
    .summary = "Switches a subscription on",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_subscribe_enable,
};

const struct cli_command cli_cmd_subscribe_disable = {
    .name = "subscribe disable",
    .operands = "ID",
    .summary = "Switches a subscription off; it stays",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_subscribe_disable,
};

const struct cli_command cli_cmd_timer_enable = {
    .name = "timer enable",
    .operands = "ID",
    .summary = "Switches a timer on",
    .details = "It fires next when its rule says so, after now: what it missed meanwhile stays so.",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_timer_enable,
};

const struct cli_command cli_cmd_timer_disable = {
    .name = "timer disable",
    .operands = "ID",
    .summary = "Switches a timer off; it stays",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_timer_disable,
};

void alarms_print_warnings(struct json_object *answer)
{
    struct json_object *warnings = json_find(answer, "warnings");

    for (size_t i = 0; i < json_length(warnings); i++) {
        fputs("warning: ", stderr);
        term_text(stderr, json_object_get_string(json_object_array_get_idx(warnings, i)));
        putc('\n', stderr);
    }
}
