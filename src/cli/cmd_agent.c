/* dormouse agent list, show, pause, resume, sleep. What makes and changes agents is in
 * cmd_agent_make.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "agent/budget.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "cli/alarms.h"
#include "cli/cli_int.h"
#include "cli/columns.h"
#include "cli/commands_int.h"
#include "cli/decide.h"
#include "cli/jot.h"
#include "cli/talk.h"
#include "cli/term.h"

static struct str member(struct json_object *object, const char *key)
{
    return json_str(json_find(object, key));
}

/* In the words of the page: "waiting" is "waiting for you". */
static struct str state_of(struct json_object *agent)
{
    struct str word = member(json_find(agent, "state"), "word");

    return str_is(word, "waiting") ? STR("waiting for you") : word;
}

/* ---- list ---- */

static void print_agents(struct json_object *agents)
{
    static const char *const head[] = { "ID", "NAME", "STATE", "SINCE", "MODEL", "WHY", NULL };
    size_t n = json_length(agents);
    struct columns columns;

    columns_init(&columns, head);
    for (size_t i = 0; i < n; i++) {
        struct json_object *agent = json_object_array_get_idx(agents, i);
        char ago[AGO_SIZE];

        columns_add(
            &columns,
            (struct str[]){ member(agent, "id"), member(agent, "displayName"), state_of(agent),
                            str_from(ago_text(member(json_find(agent, "state"), "since"),
                                              clock_wall_ms(clock_system()), ago)),
                            member(agent, "model").n ? member(agent, "model") : STR("default"),
                            member(json_find(agent, "state"), "why") });
    }
    columns_print(&columns, stdout);
    columns_release(&columns);
}

static int run_list(const struct cli_args *args)
{
    AUTO_JSON answer = NULL;
    struct json_object *agents;
    struct err err = ERR_INIT;

    if (talk_once(args, "GET",
                  cli_has(args, "all") ? "/api/v1/agents?system=true&destroyed=true"
                                       : "/api/v1/agents",
                  STR_NONE, &answer, &err) < 0)
        return cli_fail(args, &err);
    agents = json_find(answer, "agents");
    if (!cli_json(args)) {
        print_agents(agents);
        return CLI_DONE;
    }
    cli_print_lines(agents);
    return CLI_DONE;
}

static const struct cli_option list_options[] = {
    { .name = "all", .help = "also those that were destroyed, and Dormouse's own" },
    { .name = NULL },
};

const struct cli_command cli_cmd_agent_list = {
    .name = "agent list",
    .operands = "",
    .summary = "Lists the agents and how they are",
    .details = "With --json each agent is a line of its own.",
    .options = list_options,
    .run = run_list,
};

/* ---- one ---- */

static void print_text(const char *name, struct str text)
{
    AUTO_BUF line = BUF_INIT(LIMIT_JSON_BYTES);

    if (!text.n)
        return;
    buf_add_str(&line, text);
    printf("%-13s ", name);
    term_text(stdout, buf_text(&line));
    putchar('\n');
}

static void print_number(const char *name, struct json_object *value)
{
    if (value && json_object_get_int64(value) != 0)
        printf("%-13s %lld\n", name, (long long)json_object_get_int64(value));
}

static void print_time(const char *name, struct str time)
{
    AUTO_BUF text = BUF_INIT(256);
    char ago[AGO_SIZE];

    buf_printf(&text, "%s (%.*s)", ago_text(time, clock_wall_ms(clock_system()), ago),
               STR_ARG(time));
    print_text(name, time.n ? buf_str(&text) : STR_NONE);
}

static void print_state(struct json_object *agent)
{
    struct json_object *state = json_find(agent, "state");
    AUTO_BUF line = BUF_INIT(8 * KIB);
    char ago[AGO_SIZE];

    buf_printf(&line, "%.*s", STR_ARG(state_of(agent)));
    if (ago_text(member(state, "since"), clock_wall_ms(clock_system()), ago)[0])
        buf_printf(&line, ", since %s", ago);
    if (member(state, "why").n)
        buf_printf(&line, ": %.*s", STR_ARG(member(state, "why")));
    print_text("state", buf_str(&line));
}

/* A list is what it may use; without one it may use all. */
static void print_tools(struct json_object *tools)
{
    AUTO_BUF line = BUF_INIT(LIMIT_JSON_BYTES);

    for (size_t i = 0; i < json_length(tools); i++)
        buf_printf(&line, "%s%.*s", i ? ", " : "",
                   STR_ARG(json_str(json_object_array_get_idx(tools, i))));
    print_text("tools", !tools ? STR("all") : line.n ? buf_str(&line) : STR("none"));
}

/* Of the journal; categories by their names where those could be asked for. */
static void print_reach(struct json_object *agent, struct json_object *categories)
{
    struct json_object *allowed = json_find(agent, "allowedCategoryIds");
    AUTO_BUF line = BUF_INIT(64 * KIB);

    for (size_t i = 0; i < json_length(allowed); i++) {
        struct str id = json_str(json_object_array_get_idx(allowed, i)), name = id;

        for (size_t k = 0; k < json_length(categories); k++) {
            struct json_object *one = json_object_array_get_idx(categories, k);

            if (str_eq(member(one, "id"), id))
                name = member(one, "name");
        }
        buf_printf(&line, "%s%.*s", i ? ", " : "",
                   STR_ARG(str_is(id, "*") ? STR("all of it") : name));
    }
    print_text("journal", line.n ? buf_str(&line) : STR("nothing of it"));
}

static void print_session(struct json_object *agent)
{
    AUTO_BUF line = BUF_INIT(256);
    int64_t seconds = 0;

    if (json_get_i64(agent, "sessionTtlSeconds", &seconds, NULL) != 1)
        return;
    buf_printf(&line, "ends after %lld min without a word", (long long)((seconds + 59) / 60));
    print_text("session", buf_str(&line));
}

/* "1200 of 5000 used, 3800 left" */
static void print_amount(const char *name, const char *unit, struct json_object *budget,
                         const char *key)
{
    struct json_object *amount = json_find(budget, key);
    AUTO_BUF line = BUF_INIT(512);
    double used = 0, reserved = 0, limit = 0, left = 0;

    if (json_get_double(amount, "used", &used, NULL) != 1 ||
        json_get_double(amount, "limit", &limit, NULL) != 1)
        return;
    json_get_double(amount, "reserved", &reserved, NULL);
    json_get_double(amount, "left", &left, NULL);
    buf_printf(&line, "%.10g of %.10g%s used", used, limit, unit);
    if (reserved > 0)
        buf_printf(&line, ", %.10g reserved", reserved);
    buf_printf(&line, ", %.10g left", left);
    print_text(name, buf_str(&line));
}

/* Today's, where it is limited. */
static void print_budget(struct json_object *agent)
{
    struct json_object *budget = json_find(agent, "budget"), *all = json_find(budget, "all");

    print_amount("tokens a day", "", budget, "tokens");
    print_amount("cost a day", BUDGET_CURRENCY, budget, "cost");
    print_amount("calls a day", "", budget, "toolCalls");
    print_amount("all: tokens", "", all, "tokens");
    print_amount("all: cost", BUDGET_CURRENCY, all, "cost");
    print_amount("all: calls", "", all, "toolCalls");
}

/* Sleep, failures and goal; without them when they can't be had. */
static void print_inner(const struct cli_args *args, struct json_object *agent)
{
    AUTO_BUF path = BUF_INIT(8 * KIB);
    AUTO_BUF id = BUF_INIT(4 * KIB);
    AUTO_JSON state = NULL;
    struct err ignored = ERR_INIT;

    buf_add_str(&id, member(agent, "id"));
    buf_add_text(&path, "/api/v1/agents/");
    decide_add_segment(&path, buf_text(&id));
    buf_add_text(&path, "/state");
    if (talk_once(args, "GET", buf_text(&path), STR_NONE, &state, &ignored) < 0)
        return;
    print_time("sleeps until", member(state, "sleepUntil"));
    print_number("failures", json_find(state, "consecutiveFailureCount"));
    print_time("rests until", member(state, "backoffUntil"));
    print_text("goal", member(state, "primaryGoal"));
}

static void print_agent(const struct cli_args *args, struct json_object *agent,
                        struct json_object *categories)
{
    bool automatic = false;

    json_get_bool(agent, "autoApproveMemory", &automatic, NULL);
    print_text("name", member(agent, "displayName"));
    print_text("id", member(agent, "id"));
    print_state(agent);
    print_text("description", member(agent, "description"));
    print_text("template", member(agent, "template"));
    print_text("model", member(agent, "model").n ? member(agent, "model") : STR("default"));
    print_tools(json_find(agent, "tools"));
    print_text("life", member(agent, "lifecycle"));
    print_text("mode", member(agent, "mode"));
    print_inner(args, agent);
    print_session(agent);
    alarms_print(agent, "wakes         ", false);
    print_reach(agent, categories);
    print_text("memory", automatic ? STR("harmless writes need no approval")
                                   : STR("every write needs your approval"));
    print_number("waiting", json_find(agent, "pending"));
    print_number("tokens today", json_find(agent, "tokensToday"));
    print_budget(agent);
    print_number("talking", json_find(agent, "openSessions"));
    print_time("made", member(agent, "createdAt"));
    print_time("last run", member(agent, "lastRunAt"));
    if (member(agent, "instructions").n) {
        putchar('\n');
        term_text(stdout, member(agent, "instructions").p);
        putchar('\n');
    }
}

static void print_links(struct json_object *links)
{
    static const char *const head[] = { "RELATION", "TO", "BY", "WHEN", "FROM", NULL };
    struct columns columns;

    columns_init(&columns, head);
    for (size_t i = 0; i < json_length(links); i++) {
        struct json_object *one = json_object_array_get_idx(links, i);
        struct str by = member(json_find(one, "metadata"), "toolName");
        char ago[AGO_SIZE];

        columns_add(&columns,
                    (struct str[]){ member(one, "relation"), member(one, "to"),
                                    by.n ? by : member(json_find(one, "metadata"), "scope"),
                                    str_from(ago_text(member(one, "createdAt"),
                                                      clock_wall_ms(clock_system()), ago)),
                                    member(one, "from") });
    }
    putchar('\n');
    columns_print(&columns, stdout);
    columns_release(&columns);
}

static int get_agent(const struct cli_args *args, const char *method, const char *verb,
                     struct json_object **ret_agent, struct err *err)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);

    buf_add_text(&path, "/api/v1/agents/");
    decide_add_segment(&path, cli_operand(args, 0));
    buf_add_text(&path, verb);
    return talk_once(args, method, buf_text(&path),
                     strcmp(method, "POST") == 0 ? STR("{}") : STR_NONE, ret_agent, err);
}

static int add_links(const struct cli_args *args, struct json_object *agent, struct err *err)
{
    AUTO_JSON links = NULL;

    if (get_agent(args, "GET", "/links", &links, err) < 0)
        return -1;
    json_object_object_add(agent, "links", json_object_get(json_find(links, "items")));
    return 0;
}

static int run_show(const struct cli_args *args)
{
    AUTO_JSON agent = NULL;
    AUTO_JSON categories = NULL;
    struct err err = ERR_INIT;

    if (get_agent(args, "GET", "", &agent, &err) < 0 || alarms_get(args, agent, &err) < 0 ||
        (cli_has(args, "links") && add_links(args, agent, &err) < 0))
        return cli_fail(args, &err);
    if (cli_json(args)) {
        cli_print_json(json_object_get(agent));
        return CLI_DONE;
    }
    /* Without names ids will do. */
    (void)talk_once(args, "GET", "/api/v1/journal/categories?limit=1000", STR_NONE, &categories,
                    &err);
    print_agent(args, agent, json_find(categories, "items"));
    if (cli_has(args, "links"))
        print_links(json_find(agent, "links"));
    return CLI_DONE;
}

static const struct cli_option show_options[] = {
    { .name = "links", .help = "also records that it changed and that its reports rest on" },
    { .name = NULL },
};

const struct cli_command cli_cmd_agent_show = {
    .name = "agent show",
    .operands = "AGENT",
    .summary = "Shows an agent: state, model, tools, when it wakes, instructions",
    .options = show_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_show,
};

static int set_pause(const struct cli_args *args, const char *verb)
{
    AUTO_JSON agent = NULL;
    AUTO_BUF line = BUF_INIT(4 * KIB);
    struct err err = ERR_INIT;

    if (get_agent(args, "POST", verb, &agent, &err) < 0)
        return cli_fail(args, &err);
    if (cli_json(args)) {
        cli_print_json(json_object_get(agent));
        return CLI_DONE;
    }
    buf_printf(&line, "%.*s is %.*s", STR_ARG(member(agent, "id")), STR_ARG(state_of(agent)));
    term_text(stdout, buf_text(&line));
    putchar('\n');
    return CLI_DONE;
}

static int run_pause(const struct cli_args *args)
{
    return set_pause(args, "/pause");
}

const struct cli_command cli_cmd_agent_pause = {
    .name = "agent pause",
    .operands = "AGENT",
    .summary = "Lets an agent start nothing more until it is resumed",
    .details = "Runs under way go on; `dormouse kill --agent` ends those too.",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_pause,
};

static int run_resume(const struct cli_args *args)
{
    return set_pause(args, "/resume");
}

const struct cli_command cli_cmd_agent_resume = {
    .name = "agent resume",
    .operands = "AGENT",
    .summary = "Ends a pause",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_resume,
};

/* ---- sleep ---- */

/* "2h", "tomorrow 8:00", a time; none: null. */
static int read_until(struct jot *jot, const char *typed, char ret_text[TIMEFMT_SIZE])
{
    int64_t minutes;

    if (jot_moment(jot, typed, STR_NONE, JOT_AHEAD, ret_text) == 0) /* 22:00 is no length here */
        return 0;
    err_reset(&jot->err);
    if (jot_minutes(jot, typed, &minutes) == 0) {
        timefmt_rfc3339(jot->now_ms + minutes * 60000, ret_text);
        return 0;
    }
    err_reset(&jot->err);
    return err_set(&jot->err, ERR_BAD_REQUEST,
                   "\"%.60s\" is neither how long nor a moment; write 2h, 22:00, "
                   "\"tomorrow 8:00\" or none",
                   typed);
}

static int write_sleep(struct jot *jot, struct buf *body)
{
    const char *typed = cli_operand(jot->args, 1);
    struct json_writer w = JSON_WRITER(body);
    char until[TIMEFMT_SIZE];

    json_write_object_begin(&w);
    json_write_key(&w, "sleepUntil");
    if (strcmp(typed, "none") == 0)
        json_write_null(&w);
    else if (read_until(jot, typed, until) < 0)
        return -1;
    else
        json_write_text(&w, until);
    json_write_object_end(&w);
    return 0;
}

static int run_sleep(const struct cli_args *args)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_BUF body = BUF_INIT(4 * KIB);
    AUTO_JSON state = NULL;
    AUTO_JOT jot;
    char ago[AGO_SIZE];

    buf_add_text(&path, "/api/v1/agents/");
    decide_add_segment(&path, cli_operand(args, 0));
    buf_add_text(&path, "/state");
    if (jot_open(&jot, args) < 0)
        return jot_fail(&jot);
    if (write_sleep(&jot, &body) < 0)
        return cli_misused(args, &jot.err);
    if (talk_ask(jot.talk, "PATCH", buf_text(&path), buf_str(&body), &state, &jot.err) < 0)
        return jot_fail(&jot);
    if (cli_json(args))
        cli_print_json(json_object_get(state));
    else if (member(state, "sleepUntil").n)
        printf("%.*s sleeps; it ends %s\n", STR_ARG(member(state, "agentId")),
               ago_text(member(state, "sleepUntil"), jot.now_ms, ago));
    else
        printf("%.*s does not sleep\n", STR_ARG(member(state, "agentId")));
    return CLI_DONE;
}

const struct cli_command cli_cmd_agent_sleep = {
    .name = "agent sleep",
    .operands = "AGENT UNTIL",
    .summary = "Lets changes and timers not wake an agent until a time",
    .details = "UNTIL is how long, a moment, or none, which ends a sleep. What comes meanwhile is "
               "not lost: one wake at the end covers all of it. A person may speak to it.\n\n"
               "  dormouse agent sleep coach 2h\n"
               "  dormouse agent sleep coach 'tomorrow 8:00'",
    .operands_min = 2,
    .operands_max = 2,
    .run = run_sleep,
};
