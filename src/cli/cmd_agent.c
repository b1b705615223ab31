/* dormouse agent list, show, pause, resume. What makes and changes agents is in cmd_agent_make.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "cli/cli_int.h"
#include "cli/columns.h"
#include "cli/commands_int.h"
#include "cli/decide.h"
#include "cli/talk.h"
#include "cli/term.h"

static struct str member(struct json_object *object, const char *key)
{
    return json_str(json_find(object, key));
}

static size_t length(struct json_object *list)
{
    return list ? json_object_array_length(list) : 0;
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
    size_t n = agents ? json_object_array_length(agents) : 0;
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
    for (size_t i = 0; agents && i < json_object_array_length(agents); i++)
        cli_print_json(json_object_get(json_object_array_get_idx(agents, i)));
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

    for (size_t i = 0; tools && i < json_object_array_length(tools); i++)
        buf_printf(&line, "%s%.*s", i ? ", " : "",
                   STR_ARG(json_str(json_object_array_get_idx(tools, i))));
    print_text("tools", !tools ? STR("all") : line.n ? buf_str(&line) : STR("none"));
}

/* The name of a category; its id when there is none of that. */
static struct str category_name(struct json_object *categories, struct str id)
{
    for (size_t i = 0; i < length(categories); i++) {
        struct json_object *one = json_object_array_get_idx(categories, i);

        if (str_eq(member(one, "id"), id))
            return member(one, "name");
    }
    return id;
}

static void print_categories(struct json_object *ids, struct json_object *categories)
{
    AUTO_BUF line = BUF_INIT(LIMIT_JSON_BYTES);

    for (size_t i = 0; i < length(ids); i++) {
        struct str id = json_str(json_object_array_get_idx(ids, i));

        buf_printf(&line, "%s%.*s", i ? ", " : "",
                   STR_ARG(str_is(id, "*") ? STR("all") : category_name(categories, id)));
    }
    print_text("categories", line.n ? buf_str(&line) : STR("none: nothing of the journal"));
}

/* What it wakes for, a line each; when tells of timers. */
static void print_alarms(struct json_object *items, bool when)
{
    for (size_t i = 0; i < length(items); i++) {
        struct json_object *one = json_object_array_get_idx(items, i);
        AUTO_BUF line = BUF_INIT(8 * KIB);
        char ago[AGO_SIZE];
        bool active = true;

        json_get_bool(one, "active", &active, NULL);
        buf_add_str(&line, member(one, "name").n    ? member(one, "name")
                           : member(one, "rrule").n ? member(one, "rrule")
                                                    : member(one, "id"));
        if (!active)
            buf_add_text(&line, " (off)");
        else if (when && member(one, "nextRunAt").n)
            buf_printf(&line, ", %s",
                       ago_text(member(one, "nextRunAt"), clock_wall_ms(clock_system()), ago));
        print_text(when ? "timer" : "wakes for", buf_str(&line));
    }
}

/* What stands beside the agent itself. */
struct around {
    struct json_object *categories, *subscriptions, *timers; /* answers */
};

static void around_release(struct around *around)
{
    json_object_put(around->categories);
    json_object_put(around->subscriptions);
    json_object_put(around->timers);
}

static int look_around(struct talk *talk, struct str id, struct around *around, struct err *err)
{
    AUTO_BUF agent = BUF_INIT(4 * KIB);
    AUTO_BUF path = BUF_INIT(16 * KIB);
    struct {
        const char *path;
        struct json_object **answer;
    } asks[] = { { "/api/v1/subscriptions?agent=", &around->subscriptions },
                 { "/api/v1/timers?agent=", &around->timers } };

    buf_add_str(&agent, id);
    for (size_t i = 0; i < ARRAY_LEN(asks); i++) {
        buf_clear(&path);
        buf_add_text(&path, asks[i].path);
        decide_add_segment(&path, buf_text(&agent));
        if (talk_ask(talk, "GET", buf_text(&path), STR_NONE, asks[i].answer, err) < 0)
            return -1;
    }
    return talk_ask(talk, "GET", "/api/v1/journal/categories?limit=1000", STR_NONE,
                    &around->categories, err);
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

static void print_agent(struct json_object *agent, const struct around *around)
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
    print_session(agent);
    print_categories(json_find(agent, "allowedCategoryIds"),
                     json_find(around->categories, "items"));
    print_alarms(json_find(around->subscriptions, "items"), false);
    print_alarms(json_find(around->timers, "items"), true);
    print_text("memory", automatic ? STR("harmless writes need no approval")
                                   : STR("every write needs your approval"));
    print_number("waiting", json_find(agent, "pending"));
    print_number("tokens today", json_find(agent, "tokensToday"));
    print_time("made", member(agent, "createdAt"));
    print_time("last run", member(agent, "lastRunAt"));
    if (member(agent, "instructions").n) {
        putchar('\n');
        term_text(stdout, member(agent, "instructions").p);
        putchar('\n');
    }
}

static int set_agent(const struct cli_args *args, const char *verb, struct json_object **ret_agent,
                     struct err *err)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);

    buf_add_text(&path, "/api/v1/agents/");
    decide_add_segment(&path, cli_operand(args, 0));
    buf_add_text(&path, verb);
    return talk_once(args, "POST", buf_text(&path), STR("{}"), ret_agent, err);
}

static int run_show(const struct cli_args *args)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO(talk) talk = NULL;
    AUTO_JSON agent = NULL;
    struct around around = { 0 };
    struct err err = ERR_INIT;
    int r = talk_open(args, &talk, &err);

    buf_add_text(&path, "/api/v1/agents/");
    decide_add_segment(&path, cli_operand(args, 0));
    if (r == 0)
        r = talk_ask(talk, "GET", buf_text(&path), STR_NONE, &agent, &err);
    if (r == 0 && !cli_json(args))
        r = look_around(talk, member(agent, "id"), &around, &err);
    if (r < 0)
        r = cli_fail(args, &err);
    else if (cli_json(args))
        cli_print_json(json_object_get(agent));
    else
        print_agent(agent, &around);
    around_release(&around);
    return r;
}

const struct cli_command cli_cmd_agent_show = {
    .name = "agent show",
    .operands = "AGENT",
    .summary = "Shows an agent: state, model, tools, what wakes it, instructions",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_show,
};

static int set_pause(const struct cli_args *args, const char *verb)
{
    AUTO_JSON agent = NULL;
    AUTO_BUF line = BUF_INIT(4 * KIB);
    struct err err = ERR_INIT;

    if (set_agent(args, verb, &agent, &err) < 0)
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
