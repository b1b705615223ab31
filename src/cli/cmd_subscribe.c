/* dormouse subscribe, subscribe list, show, rm.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/alarms.h"
#include "cli/cli_int.h"
#include "cli/columns.h"
#include "cli/commands_int.h"
#include "cli/decide.h"
#include "cli/keeper.h"
#include "cli/subscribe_form.h"
#include "cli/talk.h"
#include "cli/term.h"

static int run_subscribe(const struct cli_args *args)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_JSON body = json_object_new_object();
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;

    buf_add_text(&path, "/api/v1/agents/");
    decide_add_segment(&path, cli_operand(args, 0));
    buf_add_text(&path, "/subscriptions");
    if (subscribe_form(args, body, &err) < 0 ||
        subscribe_send(args, buf_text(&path), body, &answer, &err) < 0)
        return cli_fail(args, &err);
    /* What commands change in the journal wakes agents: their keeper sees to it. */
    if (cli_value(args, "folder") || cli_has(args, "webhook"))
        keeper_hint(args, "files and webhooks wake agents");
    if (cli_json(args)) {
        cli_print_json(json_object_get(answer));
        return CLI_DONE;
    }
    printf("Subscribed %.*s: %.*s\n", STR_ARG(json_member(answer, "agentId")),
           STR_ARG(json_member(answer, "id")));
    if (json_member(answer, "url").n)
        printf("Call POST %.*s at the daemon's address. It is not shown again.\n",
               STR_ARG(json_member(answer, "url")));
    alarms_print_warnings(answer);
    return CLI_DONE;
}

static const struct cli_option subscribe_options[] = {
    SUBSCRIBE_FORM_OPTIONS,
    { .name = NULL },
};

const struct cli_command cli_cmd_subscribe = {
    .name = "subscribe",
    .operands = "AGENT",
    .summary = "Lets an agent wake when something changes",
    .details = "  dormouse subscribe coach --key WORKOUT --where 'entry.subtype == \"run\"'\n"
               "  dormouse subscribe filer --folder ~/Downloads --glob '*.pdf'\n"
               "  dormouse subscribe planner --key TASK --where 'task.labelIds in [\"urgent\"]'\n\n"
               "Categories and labels in --where, and categories in --subtype categoryId=NAME, are "
               "given by "
               "name or id.\n\n"
               "What agents write themselves wakes nobody, unless --authors says so.",
    .options = subscribe_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_subscribe,
};

/* ---- list ---- */

/* Empty: it never has. A wake that waits for its cooldown or hours lies ahead. */
static const char *last_text(struct json_object *one, char ret_text[AGO_SIZE + 8])
{
    char ago[AGO_SIZE];

    ago_text(json_member(one, "lastWakeAt"), clock_wall_ms(clock_system()), ago);
    snprintf(ret_text, AGO_SIZE + 8, "%s%s", str_starts(str_from(ago), STR("in ")) ? "due " : "",
             ago);
    return ret_text;
}

static bool is_on(struct json_object *one)
{
    bool active = false;

    json_get_bool(one, "active", &active, NULL);
    return active;
}

static void add_row(struct columns *columns, struct json_object *one)
{
    AUTO_BUF what = BUF_INIT(128 * KIB);
    char last[AGO_SIZE + 8];

    alarms_what(one, &what);
    alarms_limits(one, "; ", &what);
    columns_add(columns,
                (struct str[]){ json_member(one, "id"), json_member(one, "agentId"),
                                is_on(one) ? STR("on") : STR("off"), str_from(last_text(one, last)),
                                json_member(one, "name"), buf_str(&what) });
}

static int run_list(const struct cli_args *args)
{
    static const char *const head[] = { "ID", "AGENT", "IS", "LAST", "NAME", "WAKES FOR", NULL };
    const char *agent = cli_value(args, "agent");
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_JSON answer = NULL;
    struct json_object *items;
    struct columns columns;
    struct err err = ERR_INIT;

    if (agent && cli_operand_count(args)) {
        err_set(&err, ERR_BAD_REQUEST, "the agent is given once: as AGENT or with --agent");
        return cli_fail(args, &err);
    }
    agent = agent ? agent : cli_operand(args, 0);
    buf_add_text(&path, "/api/v1/subscriptions");
    if (agent) {
        buf_add_text(&path, "?agent=");
        decide_add_segment(&path, agent);
    }
    if (talk_once(args, "GET", buf_text(&path), STR_NONE, &answer, &err) < 0)
        return cli_fail(args, &err);
    items = json_find(answer, "items");
    columns_init(&columns, head);
    for (size_t i = 0; i < json_length(items); i++) {
        if (cli_json(args))
            cli_print_json(json_object_get(json_object_array_get_idx(items, i)));
        else
            add_row(&columns, json_object_array_get_idx(items, i));
    }
    if (!cli_json(args) && json_length(items))
        columns_print(&columns, stdout);
    else if (!cli_json(args) && agent)
        printf("%s waits for nothing. `dormouse subscribe %s --key TASK` lets it.\n", agent, agent);
    else if (!cli_json(args))
        printf("No agent waits for anything. `dormouse subscribe AGENT --key TASK` lets one.\n");
    columns_release(&columns);
    return CLI_DONE;
}

static const struct cli_option list_options[] = {
    { .name = "agent", .value = "AGENT", .help = "only this agent's, as AGENT says too" },
    { .name = NULL },
};

const struct cli_command cli_cmd_subscribe_list = {
    .name = "subscribe list",
    .operands = "[AGENT]",
    .summary = "Lists what agents wait for",
    .options = list_options,
    .operands_max = 1,
    .run = run_list,
};

/* ---- show ---- */

static void print_field(const char *label, struct str text)
{
    AUTO_BUF line = BUF_INIT(128 * KIB);

    if (!text.n)
        return;
    buf_printf(&line, "%-11s ", label);
    term_wrap(&line, text, 12, 12, term_width(stdout));
    term_text(stdout, buf_text(&line));
}

static void print_calls(struct json_object *one)
{
    struct json_object *calls = json_find(one, "calls");
    int64_t received = 0, refused = 0;
    char text[96], ago[AGO_SIZE];

    if (!calls)
        return;
    json_get_i64(calls, "received", &received, NULL);
    json_get_i64(calls, "refused", &refused, NULL);
    ago_text(json_member(calls, "lastAt"), clock_wall_ms(clock_system()), ago);
    snprintf(text, sizeof(text), "%lld received, %lld refused%s%s", (long long)received,
             (long long)refused, *ago ? ", the last " : "", ago);
    print_field("calls", str_from(text));
}

static void print_one(struct json_object *one)
{
    AUTO_BUF what = BUF_INIT(128 * KIB), limits = BUF_INIT(4 * KIB);
    char last[AGO_SIZE + 8], made[AGO_SIZE];

    alarms_what(one, &what);
    alarms_limits(one, "; ", &limits);
    print_field("id", json_member(one, "id"));
    print_field("agent", json_member(one, "agentId"));
    print_field("name", json_member(one, "name"));
    print_field("is", is_on(one) ? STR("on") : STR("off"));
    print_field("wakes for", buf_str(&what));
    print_field("only", str_skip(buf_str(&limits), limits.n ? 2 : 0));
    print_field("tells it", json_member(one, "prompt"));
    print_calls(one);
    print_field("last woke", *last_text(one, last) ? str_from(last) : STR("never yet"));
    print_field("made", str_from(ago_text(json_member(one, "createdAt"),
                                          clock_wall_ms(clock_system()), made)));
}

static int run_show(const struct cli_args *args)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_JSON one = NULL;
    struct err err = ERR_INIT;

    buf_add_text(&path, "/api/v1/subscriptions/");
    decide_add_segment(&path, cli_operand(args, 0));
    if (talk_once(args, "GET", buf_text(&path), STR_NONE, &one, &err) < 0)
        return cli_fail(args, &err);
    if (cli_json(args))
        cli_print_json(json_object_get(one));
    else
        print_one(one);
    return CLI_DONE;
}

const struct cli_command cli_cmd_subscribe_show = {
    .name = "subscribe show",
    .operands = "ID",
    .summary = "Shows a subscription whole: what it waits for, whose changes, when and how often",
    .details = "The beginning of its id is enough; `dormouse subscribe list` shows them.",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_show,
};

/* ---- rm ---- */

static int run_rm(const struct cli_args *args)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;

    buf_add_text(&path, "/api/v1/subscriptions/");
    decide_add_segment(&path, cli_operand(args, 0));
    if (talk_once(args, "DELETE", buf_text(&path), STR_NONE, &answer, &err) < 0)
        return cli_fail(args, &err);
    if (!cli_json(args))
        printf("Removed %s\n", cli_operand(args, 0));
    return CLI_DONE;
}

const struct cli_command cli_cmd_subscribe_rm = {
    .name = "subscribe rm",
    .operands = "ID",
    .summary = "Removes a subscription",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_rm,
};
