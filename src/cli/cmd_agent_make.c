/* dormouse agent create, set, duplicate, destroy
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "cli/alarms.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/decide.h"
#include "cli/keeper.h"
#include "cli/talk.h"
#include "cli/term.h"

#define INSTRUCTIONS_MAX (1 * MIB) /* what is too long for an agent is the daemon's to say */

/* "none" is an empty list, "all" every tool. */
static void put_tools(struct json_writer *w, const char *typed)
{
    struct str rest = str_from(typed), name;

    if (!typed)
        return;
    json_write_key(w, "tools");
    if (strcmp(typed, "all") == 0) {
        json_write_null(w);
        return;
    }
    json_write_array_begin(w);
    while (strcmp(typed, "none") != 0 && str_split(&rest, ',', &name))
        if (str_trim(name).n)
            json_write_str(w, str_trim(name));
    json_write_array_end(w);
}

static int put_instructions(struct json_writer *w, const struct cli_args *args, struct err *err)
{
    const char *path = cli_value(args, "instructions");
    AUTO_BUF text = BUF_INIT(INSTRUCTIONS_MAX);

    if (!path)
        return 0;
    if (strcmp(path, "-") == 0 ? cli_read_stdin(&text, err) < 0 : file_read(path, &text, err) < 0)
        return err_wrap(err, "the instructions");
    json_put_str(w, "instructions", buf_str(&text));
    return 0;
}

static int put_auto_approve(struct json_writer *w, const struct cli_args *args)
{
    const char *typed = cli_value(args, "auto-approve-memory");

    if (!typed)
        return 0;
    json_put_bool(w, "autoApproveMemory", strcmp(typed, "on") == 0);
    return 0;
}

/* "none" is an empty list, "all" every category. */
static void put_categories(struct json_writer *w, const char *typed)
{
    struct str rest = str_from(typed), id;

    if (!typed)
        return;
    json_put_array(w, "allowedCategoryIds");
    if (strcmp(typed, "all") == 0)
        json_write_text(w, "*");
    else
        while (strcmp(typed, "none") != 0 && str_split(&rest, ',', &id))
            if (str_trim(id).n)
                json_write_str(w, str_trim(id));
    json_write_array_end(w);
}

#define BUDGET_WHOLE "a whole number from 1, such as 2000000"
#define BUDGET_COST                                                                                \
    "an amount above 0 with a point, such as 0.5, in the currency of your models' prices"

static const struct {
    const char *option, *key, *takes;
    bool whole;
} budget_options[] = {
    { "tokens-per-day", "tokensPerDay", BUDGET_WHOLE, true },
    { "cost-per-day", "costPerDay", BUDGET_COST, false },
    { "tool-calls-per-day", "toolCallsPerDay", BUDGET_WHOLE, true },
};

static int put_limit(struct json_writer *w, size_t i, const char *typed, struct err *err)
{
    AUTO_JSON value = NULL;
    bool number;

    if (strcmp(typed, "none") == 0) {
        json_put_null(w, budget_options[i].key);
        return 0;
    }
    number = json_parse(str_from(typed), &value, NULL) == 0 &&
             (json_object_is_type(value, json_type_int) ||
              (!budget_options[i].whole && json_object_is_type(value, json_type_double)));
    if (!number || json_object_get_double(value) <= 0)
        return err_set(err, ERR_BAD_REQUEST, "--%s takes %s, or none for no limit; not \"%.40s\"",
                       budget_options[i].option, budget_options[i].takes, typed);
    json_write_key(w, budget_options[i].key);
    json_write_value(w, value);
    return 0;
}

static int put_budget(struct json_writer *w, const struct cli_args *args, struct err *err)
{
    bool open = false;

    for (size_t i = 0; i < ARRAY_LEN(budget_options); i++) {
        const char *typed = cli_value(args, budget_options[i].option);

        if (typed && !open)
            json_put_object(w, "budget");
        open |= typed != NULL;
        if (typed && put_limit(w, i, typed, err) < 0)
            return -1;
    }
    if (open)
        json_write_object_end(w);
    return 0;
}

static int put_life(struct json_writer *w, const struct cli_args *args, bool create,
                    struct err *err)
{
    const char *seconds = cli_value(args, "session-ttl");
    int64_t value;

    json_put_given(w, "mode", cli_value(args, "mode"));
    if (!create)
        json_put_given(w, "lifecycle", cli_value(args, "lifecycle"));
    put_categories(w, cli_value(args, "categories"));
    if (!seconds)
        return 0;
    if (str_to_i64(str_from(seconds), &value) < 0)
        return err_set(err, ERR_BAD_REQUEST, "--session-ttl takes seconds, not \"%.40s\"", seconds);
    json_put_i64(w, "sessionTtlSeconds", value);
    return 0;
}

static int write_form(struct buf *body, const struct cli_args *args, bool create, struct err *err)
{
    struct json_writer w = JSON_WRITER(body);
    const char *model = cli_value(args, "model");

    json_write_object_begin(&w);
    if (create) {
        json_put_given(&w, "displayName", cli_operand(args, 0));
        json_put_given(&w, "id", cli_value(args, "id"));
        json_put_given(&w, "template", cli_value(args, "template"));
    } else {
        json_put_given(&w, "displayName", cli_value(args, "name"));
    }
    json_put_given(&w, "description", cli_value(args, "description"));
    if (model && strcmp(model, "default") == 0) {
        json_put_null(&w, "model");
    } else {
        json_put_given(&w, "model", model);
    }
    put_tools(&w, cli_value(args, "tools"));
    if (put_instructions(&w, args, err) < 0 || put_auto_approve(&w, args) < 0 ||
        put_life(&w, args, create, err) < 0 || put_budget(&w, args, err) < 0)
        return -1;
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "that is too long for an agent");
    return 0;
}

static void say(const char *what, struct json_object *agent)
{
    AUTO_BUF line = BUF_INIT(4 * KIB);

    buf_printf(&line, "%s %.*s (%.*s)", what, STR_ARG(json_str(json_find(agent, "id"))),
               STR_ARG(json_str(json_find(agent, "displayName"))));
    term_text(stdout, buf_text(&line));
    putchar('\n');
}

/* It is made: that this can't be told is no failure. */
static void say_wakes(const struct cli_args *args, struct json_object *agent)
{
    struct err err = ERR_INIT;

    if (alarms_get(args, agent, &err) < 0)
        return;
    alarms_print(agent, "  it wakes: ", true);
    if (json_length(json_find(agent, "timers")))
        keeper_hint(args, "timers fire");
}

static int finish(const struct cli_args *args, const char *what, struct json_object *agent)
{
    if (cli_json(args)) {
        cli_print_json(json_object_get(agent));
        return CLI_DONE;
    }
    say(what, agent);
    alarms_print_hooks(agent);
    alarms_print_warnings(agent);
    return CLI_DONE;
}

static void agent_path(const struct cli_args *args, const char *rest, struct buf *out)
{
    buf_add_text(out, "/api/v1/agents/");
    decide_add_segment(out, cli_operand(args, 0));
    buf_add_text(out, rest);
}

/* ---- create ---- */

static int run_create(const struct cli_args *args)
{
    AUTO_BUF body = BUF_INIT(2 * INSTRUCTIONS_MAX);
    AUTO_JSON agent = NULL;
    struct err err = ERR_INIT;

    if (cli_operand_count(args) == 0 && !cli_value(args, "template")) {
        err_set(&err, ERR_BAD_REQUEST, "give a name, or --template");
        cli_fail(args, &err);
        return CLI_USAGE;
    }
    if (write_form(&body, args, true, &err) < 0 ||
        talk_once(args, "POST", "/api/v1/agents", buf_str(&body), &agent, &err) < 0)
        return cli_fail(args, &err);
    finish(args, "made", agent);
    if (!cli_json(args))
        say_wakes(args, agent);
    return CLI_DONE;
}

#define FORM_OPTIONS                                                                               \
    { .name = "description", .value = "TEXT", .help = "one sentence about what it is for" },       \
        { .name = "instructions",                                                                  \
          .value = "FILE",                                                                         \
          .help = "how it works and talks; - reads standard input" },                              \
        { .name = "model",                                                                         \
          .value = "ID",                                                                           \
          .help = "what it thinks with; default: the configured one" },                            \
        { .name = "tools",                                                                         \
          .value = "NAMES",                                                                        \
          .help = "what it may use, separated by commas; all, none" },                             \
        { .name = "mode",                                                                          \
          .value = "MODE",                                                                         \
          .help = "whether it wakes by itself, is spoken to, or both",                             \
          .choices = "autonomous interactive hybrid" },                                            \
        { .name = "categories",                                                                    \
          .value = "NAMES",                                                                        \
          .help = "what it reaches of the journal, names or ids with commas; all, none" },         \
        { .name = "session-ttl",                                                                   \
          .value = "SECONDS",                                                                      \
          .help = "after how long without a word a conversation ends" },                           \
        { .name = "tokens-per-day",                                                                \
          .value = "N",                                                                            \
          .help = "tokens that it may use in a day, or none for no limit of its own" },            \
        { .name = "cost-per-day",                                                                  \
          .value = "AMOUNT",                                                                       \
          .help = "what its models may cost in a day, by their prices, or none" },                 \
        { .name = "tool-calls-per-day",                                                            \
          .value = "N",                                                                            \
          .help = "tool calls that it may make in a day, or none" },                               \
    {                                                                                              \
        .name = "auto-approve-memory", .value = "STATE",                                           \
        .help = "whether harmless memory writes need no approval", .choices = "on off"             \
    }

static const struct cli_option create_options[] = {
    { .name = "template", .value = "ID", .help = "begin with a template" },
    { .name = "id", .value = "ID", .help = "its id; made from the name unless given" },
    FORM_OPTIONS,
    { .name = NULL },
};

const struct cli_command cli_cmd_agent_create = {
    .name = "agent create",
    .operands = "[NAME]",
    .summary = "Makes an agent",
    .details =
        "Templates are planner, gym-coach, strategist, pomodoro, research-assistant and "
        "inbox-helper; what is not given comes from the template, and what wakes it is made with "
        "it. Without --tools and --template it has every tool. Without --categories it reaches "
        "nothing of the journal.\n\n"
        "  dormouse agent create \"My coach\" --template gym-coach --categories Sport",
    .options = create_options,
    .operands_max = 1,
    .run = run_create,
};

/* ---- set ---- */

static int run_set(const struct cli_args *args)
{
    AUTO_BUF body = BUF_INIT(2 * INSTRUCTIONS_MAX);
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_JSON agent = NULL;
    struct err err = ERR_INIT;

    agent_path(args, "", &path);
    if (write_form(&body, args, false, &err) < 0)
        return cli_fail(args, &err);
    if (str_is(buf_str(&body), "{}")) {
        err_set(&err, ERR_BAD_REQUEST, "say what to change; `dormouse help agent set` lists it");
        cli_fail(args, &err);
        return CLI_USAGE;
    }
    if (talk_once(args, "PATCH", buf_text(&path), buf_str(&body), &agent, &err) < 0)
        return cli_fail(args, &err);
    return finish(args, "changed", agent);
}

static const struct cli_option set_options[] = {
    { .name = "name", .value = "TEXT", .help = "what people call it; its id stays" },
    { .name = "lifecycle",
      .value = "STATE",
      .help = "dormant: changes and timers do not wake it",
      .choices = "active dormant" },
    FORM_OPTIONS,
    { .name = NULL },
};

const struct cli_command cli_cmd_agent_set = {
    .name = "agent set",
    .operands = "AGENT",
    .summary = "Changes what is given of an agent and nothing else",
    .options = set_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_set,
};

/* ---- duplicate ---- */

static int run_duplicate(const struct cli_args *args)
{
    AUTO_BUF body = BUF_INIT(64 * KIB);
    AUTO_BUF path = BUF_INIT(4 * KIB);
    struct json_writer w = JSON_WRITER(&body);
    AUTO_JSON agent = NULL;
    struct err err = ERR_INIT;

    agent_path(args, "/duplicate", &path);
    json_write_object_begin(&w);
    json_put_given(&w, "displayName", cli_operand(args, 1));
    json_write_object_end(&w);
    if (talk_once(args, "POST", buf_text(&path), buf_str(&body), &agent, &err) < 0)
        return cli_fail(args, &err);
    return finish(args, "made", agent);
}

const struct cli_command cli_cmd_agent_duplicate = {
    .name = "agent duplicate",
    .operands = "AGENT [NAME]",
    .summary = "Makes a copy of an agent: settings, files and what wakes it, no conversations",
    .details = "What wakes the copy is switched off, or both would do the same work: `dormouse "
               "subscribe enable` and `dormouse timer enable` switch it on. A webhook has a new "
               "address, which is shown once.",
    .operands_min = 1,
    .operands_max = 2,
    .run = run_duplicate,
};

/* ---- destroy ---- */

static int run_destroy(const struct cli_args *args)
{
    AUTO_BUF body = BUF_INIT(64 * KIB);
    AUTO_BUF path = BUF_INIT(4 * KIB);
    struct json_writer w = JSON_WRITER(&body);
    AUTO_JSON none = NULL;
    struct err err = ERR_INIT;

    agent_path(args, "", &path);
    json_write_object_begin(&w);
    json_put_given(&w, "confirm", cli_value(args, "confirm"));
    json_write_object_end(&w);
    if (talk_once(args, "DELETE", buf_text(&path), buf_str(&body), &none, &err) < 0)
        return cli_fail(args, &err);
    if (!cli_json(args))
        printf("destroyed\n");
    return CLI_DONE;
}

static const struct cli_option destroy_options[] = {
    { .name = "confirm", .value = "NAME", .help = "the agent's name exactly as it is written" },
    { .name = NULL },
};

const struct cli_command cli_cmd_agent_destroy = {
    .name = "agent destroy",
    .operands = "AGENT",
    .summary = "Destroys an agent for good",
    .details =
        "Its runs end with the error agent_destroyed, also those that wait for you, what waited is "
        "withdrawn, its files are deleted (their history stays). Conversations stay readable. "
        "There is no way back, so its name has to be typed: --confirm NAME.",
    .options = destroy_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_destroy,
};
