/* dormouse report: what an agent has to say for now.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/cli_int.h"
#include "cli/columns.h"
#include "cli/commands_int.h"
#include "cli/decide.h"
#include "cli/talk.h"
#include "cli/term.h"

static void print_report(struct json_object *report)
{
    struct json_object *fresh = json_find(report, "freshness");
    AUTO_BUF head = BUF_INIT(4 * KIB);
    AUTO_BUF text = BUF_INIT(MIB);
    char ago[AGO_SIZE];
    bool stale = false;

    json_get_bool(fresh, "stale", &stale, NULL);
    ago_text(json_member(report, "createdAt"), clock_wall_ms(clock_system()), ago);
    buf_printf(&head, "%.*s (%s)\n", STR_ARG(json_member(report, "title")), ago);
    fputs(term_style(stdout, TERM_BOLD), stdout);
    term_text(stdout, buf_text(&head));
    fputs(term_style(stdout, TERM_PLAIN), stdout);
    if (stale)
        printf("%sstale: %.*s%s\n", term_style(stdout, TERM_YELLOW),
               STR_ARG(json_member(fresh, "why")), term_style(stdout, TERM_PLAIN));
    buf_printf(&text, "\n%.*s\n", STR_ARG(json_member(report, "text")));
    term_text(stdout, buf_text(&text));
}

static int run_report(const struct cli_args *args)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;

    buf_add_text(&path, "/api/v1/agents/");
    decide_add_segment(&path, cli_operand(args, 0));
    buf_add_text(&path, "/reports/current");
    if (cli_value(args, "scope"))
        buf_printf(&path, "?scope=%s", cli_value(args, "scope"));
    if (talk_once(args, "GET", buf_text(&path), STR_NONE, &answer, &err) < 0)
        return cli_fail(args, &err);
    if (cli_json(args))
        cli_print_json(json_object_get(answer));
    else if (json_find(answer, "report"))
        print_report(json_find(answer, "report"));
    else
        printf("%s has no report yet. `dormouse wake %s` lets it look.\n", cli_operand(args, 0),
               cli_operand(args, 0));
    return CLI_DONE;
}

static const struct cli_option report_options[] = {
    { .name = "scope",
      .value = "SCOPE",
      .help = "current unless given",
      .choices = "current daily weekly monthly" },
    { .name = NULL },
};

const struct cli_command cli_cmd_report = {
    .name = "report",
    .operands = "AGENT",
    .summary = "Shows what an agent has to say for now, and whether it is stale",
    .options = report_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_report,
};
