/* dormouse kill, dormouse unkill: the emergency stop.
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
#include "cli/cli_int.h"
#include "cli/columns.h"
#include "cli/commands_int.h"
#include "cli/decide.h"
#include "cli/talk.h"

struct target {
    const char *scope, *value;
};

/* 1 one was typed, 0 none, -1 several. */
static int find_target(const struct cli_args *args, struct target *ret_target, struct err *err)
{
    int n = cli_has(args, "all") + cli_has(args, "agent") + cli_has(args, "tools");

    if (n > 1)
        return err_set(err, ERR_BAD_REQUEST, "only one of --all, --agent and --tools can be given");
    if (cli_has(args, "all"))
        *ret_target = (struct target){ "all", NULL };
    else if (cli_has(args, "agent"))
        *ret_target = (struct target){ "agent", cli_value(args, "agent") };
    else if (cli_has(args, "tools"))
        *ret_target = (struct target){ "tools", cli_value(args, "tools") };
    return n;
}

/* ---- what is on ---- */

static void add_row(struct columns *columns, struct json_object *on)
{
    char ago[AGO_SIZE];

    columns_add(columns,
                (struct str[]){ json_str(json_find(on, "scope")), json_str(json_find(on, "value")),
                                str_from(ago_text(json_str(json_find(on, "since")),
                                                  clock_wall_ms(clock_system()), ago)),
                                json_str(json_find(on, "reason")) });
}

static void print_switches(struct json_object *switches)
{
    static const char *const head[] = { "STOPPED", "WHICH", "SINCE", "REASON", NULL };
    size_t n = json_length(switches);
    struct columns columns;

    if (n == 0) {
        puts("Nothing is stopped.");
        return;
    }
    columns_init(&columns, head);
    for (size_t i = 0; i < n; i++)
        add_row(&columns, json_object_array_get_idx(switches, i));
    columns_print(&columns, stdout);
    columns_release(&columns);
}

static int finish(const struct cli_args *args, struct json_object *answer)
{
    if (cli_json(args)) {
        cli_print_json(answer);
        return CLI_DONE;
    }
    print_switches(json_find(answer, "switches"));
    json_object_put(answer);
    return CLI_DONE;
}

/* ---- kill ---- */

static int turn_on(const struct cli_args *args, const struct target *target,
                   struct json_object **ret_answer, struct err *err)
{
    AUTO_BUF body = BUF_INIT(64 * KIB);
    struct json_writer w = JSON_WRITER(&body);

    json_write_object_begin(&w);
    json_put_text(&w, "scope", target->scope);
    if (target->value) {
        json_put_text(&w, "value", target->value);
    }
    if (cli_value(args, "reason")) {
        json_put_text(&w, "reason", cli_value(args, "reason"));
    }
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "the reason is too long");
    return talk_once(args, "POST", "/api/v1/kill", buf_str(&body), ret_answer, err);
}

static int run_kill(const struct cli_args *args)
{
    struct target target = { NULL, NULL };
    struct json_object *answer = NULL;
    struct err err = ERR_INIT;
    int n = find_target(args, &target, &err);

    if (n == 0 && cli_has(args, "reason"))
        n = err_set(&err, ERR_BAD_REQUEST, "--reason goes with --all, --agent or --tools");
    if (n < 0)
        return cli_misused(args, &err);
    if ((n == 0 ? talk_once(args, "GET", "/api/v1/kill", STR_NONE, &answer, &err)
                : turn_on(args, &target, &answer, &err)) < 0)
        return cli_fail(args, &err);
    return finish(args, answer);
}

static const struct cli_option kill_options[] = {
    { .name = "all", .help = "everything" },
    { .name = "agent", .value = "AGENT", .help = "one agent" },
    { .name = "tools",
      .value = "CLASS",
      .help = "one class of tools, such as shell, files or people" },
    { .name = "reason", .value = "TEXT", .help = "why, for whoever finds it stopped" },
    { .name = NULL },
};

const struct cli_command cli_cmd_kill = {
    .name = "kill",
    .operands = "",
    .summary =
        "Stops all agents, one, or a class of tools; without options it lists what is stopped",
    .details =
        "No new effect starts from then on, and those under way are ended and recorded. What "
        "waits for a person keeps waiting. It holds until `dormouse unkill`, over restarts.",
    .options = kill_options,
    .run = run_kill,
};

/* ---- unkill ---- */

static int run_unkill(const struct cli_args *args)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);
    struct target target = { NULL, NULL };
    struct json_object *answer = NULL;
    struct err err = ERR_INIT;
    int n = find_target(args, &target, &err);

    if (n == 0)
        err_set(&err, ERR_BAD_REQUEST,
                "say what: --all, --agent AGENT or --tools CLASS; `dormouse kill` lists what is "
                "stopped");
    if (n <= 0)
        return cli_misused(args, &err);
    buf_printf(&path, "/api/v1/kill?scope=%s", target.scope);
    if (target.value) {
        buf_add_text(&path, "&value=");
        decide_add_segment(&path, target.value);
    }
    if (talk_once(args, "DELETE", buf_text(&path), STR_NONE, &answer, &err) < 0)
        return cli_fail(args, &err);
    return finish(args, answer);
}

static const struct cli_option unkill_options[] = {
    { .name = "all", .help = "the stop of everything; stops of one agent or class stay" },
    { .name = "agent", .value = "AGENT", .help = "the stop of one agent" },
    { .name = "tools", .value = "CLASS", .help = "the stop of one class of tools" },
    { .name = NULL },
};

const struct cli_command cli_cmd_unkill = {
    .name = "unkill",
    .operands = "",
    .summary = "Lifts a stop that `kill` set",
    .options = unkill_options,
    .run = run_unkill,
};
