/* dormouse subscribe, subscribe list, rm, preview; dormouse report.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "change/token.h"
#include "cli/alarms.h"
#include "cli/cli_int.h"
#include "cli/columns.h"
#include "cli/commands_int.h"
#include "cli/decide.h"
#include "cli/keeper.h"
#include "cli/talk.h"
#include "cli/term.h"

static struct str member(struct json_object *object, const char *key)
{
    return json_str(json_find(object, key));
}

static int ask(const struct cli_args *args, const char *method, const char *path,
               struct json_object *body, struct json_object **ret_answer, struct err *err)
{
    AUTO_BUF text = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&text);

    if (body) {
        json_write_value(&w, body);
        if (json_write_end(&w) < 0)
            return err_set(err, ERR_TOO_LARGE, "that is more than a subscription can hold");
    }
    return talk_once(args, method, path, buf_str(&text), ret_answer, err);
}

/* ---- what was typed ---- */

/* A token as people write it. What is wrong with it is said of the option. */
static int add_token(struct json_object *list, const char *option, const char *typed,
                     struct str text, struct err *err)
{
    struct token token;

    if (token_parse_text(text, &token, err) < 0)
        return err_wrap(err, "--%s %.60s", option, typed);
    json_object_array_add(list, json_object_new_string_len(text.p, (int)text.n));
    return 0;
}

/* --key TASK, --subtype workoutType=run, --id ID, --token sub:workoutType:run. */
static int read_tokens(const struct cli_args *args, struct json_object *list, struct err *err)
{
    static const struct {
        const char *option, *prefix;
    } kinds[] = { { "key", "k:" }, { "subtype", "sub:" }, { "id", "id:" }, { "token", "" } };

    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        const char *option = kinds[k].option, *value;

        for (size_t i = 0; (value = cli_value_at(args, option, i)); i++) {
            AUTO_BUF text = BUF_INIT(4 * KIB);
            const char *sign = strchr(value, '=');

            buf_add_text(&text, kinds[k].prefix);
            if (strcmp(option, "subtype") != 0)
                buf_add_text(&text, value);
            else if (!sign || sign == value || !sign[1])
                return err_set(err, ERR_BAD_REQUEST,
                               "--subtype is written KIND=VALUE (workoutType=run), not \"%.60s\"",
                               value);
            else
                buf_printf(&text, "%.*s:%s", (int)(sign - value), value, sign + 1);
            if (add_token(list, option, value, buf_str(&text), err) < 0)
                return -1;
        }
    }
    return 0;
}

static void add_list(struct json_object *body, const char *key, struct str text)
{
    struct json_object *list = json_object_new_array();
    struct str one;

    json_object_object_add(body, key, list);
    while (text.p && str_split(&text, ',', &one)) {
        one = str_trim(one);
        if (one.n)
            json_object_array_add(list, json_object_new_string_len(one.p, (int)one.n));
    }
}

/* "7:00-22:00"; before it days, behind it a zone: "mo,tu,we 7:00-22:00 Europe/Berlin". */
static int read_hours(const char *typed, struct json_object *body, struct err *err)
{
    struct json_object *hours = json_object_new_object();
    struct str text = str_trim(str_from(typed)), days, zone = STR_NONE, from;
    char clock[2][16];
    ptrdiff_t space;
    size_t at = 0;

    json_object_object_add(body, "activeHours", hours);
    while (at < text.n && (text.p[at] < '0' || text.p[at] > '9'))
        at++;
    days = str_trim(str_take(text, at));
    text = str_skip(text, at);
    space = str_find_char(text, ' ');
    if (space >= 0) {
        zone = str_trim(str_skip(text, (size_t)space));
        text = str_take(text, (size_t)space);
    }
    if (!str_split(&text, '-', &from) || !text.p || from.n < 4 || from.n > 5 || text.n < 4 ||
        text.n > 5)
        return err_set(err, ERR_BAD_REQUEST,
                       "--hours is written 7:00-22:00, with days and a zone \"mo,tu,we 7:00-22:00 "
                       "Europe/Berlin\", not \"%.60s\"",
                       typed);
    snprintf(clock[0], sizeof(clock[0]), "%s%.*s", from.n == 4 ? "0" : "", STR_ARG(from));
    snprintf(clock[1], sizeof(clock[1]), "%s%.*s", text.n == 4 ? "0" : "", STR_ARG(text));
    json_object_object_add(hours, "from", json_object_new_string(clock[0]));
    json_object_object_add(hours, "to", json_object_new_string(clock[1]));
    if (days.n)
        add_list(hours, "days", days);
    if (zone.n)
        json_object_object_add(hours, "zone", json_object_new_string_len(zone.p, (int)zone.n));
    return 0;
}

/* "90", "90s", "10m", "2h", "1d" in seconds. */
static int read_seconds(const char *typed, int64_t *ret_seconds, struct err *err)
{
    struct str text = str_from(typed);
    int64_t unit = 1;

    if (text.n > 1) {
        char last = text.p[text.n - 1];

        unit = last == 'd' ? 86400 : last == 'h' ? 3600 : last == 'm' ? 60 : 1;
        if (unit > 1 || last == 's')
            text = str_take(text, text.n - 1);
    }
    if (str_to_i64(text, ret_seconds) < 0 || *ret_seconds < 0 || *ret_seconds > 30 * 86400 / unit)
        return err_set(err, ERR_BAD_REQUEST,
                       "--cooldown is a time such as 10m, 2h or 1d, at most 30d; not \"%.40s\"",
                       typed);
    *ret_seconds *= unit;
    return 0;
}

/* The first key says where changes come from: AGENT, AGENT_MESSAGE and their like are those of
 * agents. With ids alone it is the journal, unless --agents says otherwise. */
static const char *source_of(const struct cli_args *args, struct json_object *tokens)
{
    struct str key = STR_NONE;

    if (cli_has(args, "webhook"))
        return "webhook";
    if (cli_value(args, "folder"))
        return "files";
    for (size_t i = 0; i < json_length(tokens) && !key.n; i++)
        if (str_starts(json_str(json_object_array_get_idx(tokens, i)), STR("k:")))
            key = json_str(json_object_array_get_idx(tokens, i));
    return cli_has(args, "agents") || str_starts(key, STR("k:AGENT")) ? "agent" : "journal";
}

/* What says nothing about files or calls is not dropped, but refused. */
static int check_together(const struct cli_args *args, struct err *err)
{
    static const char *const changes[] = { "key",    "subtype", "id",     "token",
                                           "agents", "where",   "authors" };
    const char *other = cli_has(args, "webhook") ? "webhook" : "folder";

    if (cli_has(args, "webhook") && cli_has(args, "folder"))
        return err_set(err, ERR_BAD_REQUEST,
                       "--folder and --webhook are two subscriptions; make one after the other");
    if (cli_has(args, "glob") && !cli_has(args, "folder"))
        return err_set(err, ERR_BAD_REQUEST, "--glob is for files; give --folder DIR too");
    for (size_t i = 0; cli_has(args, other) && i < ARRAY_LEN(changes); i++)
        if (cli_has(args, changes[i]))
            return err_set(err, ERR_BAD_REQUEST,
                           "--%s is for changes of records, --%s waits for %s; make two "
                           "subscriptions, or leave one of them out",
                           changes[i], other, cli_has(args, "webhook") ? "calls" : "files");
    return 0;
}

/* From here, when it is not from the root. */
static int read_folder(const char *typed, struct json_object *body, struct err *err)
{
    char here[LIMIT_PATH_BYTES];
    AUTO_BUF path = BUF_INIT(2 * LIMIT_PATH_BYTES);

    if (*typed != '/') {
        if (!getcwd(here, sizeof(here)))
            return err_set(err, ERR_BAD_REQUEST, "--folder: where this is can't be said: %s",
                           strerror(errno));
        buf_printf(&path, "%s/", here);
    }
    buf_add_text(&path, strcmp(typed, ".") == 0 ? "" : typed);
    while (path.n > 1 && path.p[path.n - 1] == '/')
        path.p[--path.n] = '\0';
    json_object_object_add(body, "folder", json_object_new_string(buf_text(&path)));
    return 0;
}

static int read_form(const struct cli_args *args, struct json_object *body, struct err *err)
{
    static const char *const texts[][2] = { { "where", "predicate" },
                                            { "glob", "glob" },
                                            { "prompt", "prompt" } };
    struct json_object *tokens = json_object_new_array();
    const char *source;
    int64_t seconds;

    json_object_object_add(body, "tokens", tokens);
    if (check_together(args, err) < 0 || read_tokens(args, tokens, err) < 0)
        return -1;
    source = source_of(args, tokens);
    json_object_object_add(body, "source", json_object_new_string(source));
    json_object_object_add(body, "name",
                           json_object_new_string(cli_value(args, "name")  ? cli_value(args, "name")
                                                  : cli_value(args, "key") ? cli_value(args, "key")
                                                                           : source));
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (cli_value(args, texts[i][0]))
            json_object_object_add(body, texts[i][1],
                                   json_object_new_string(cli_value(args, texts[i][0])));
    if (cli_value(args, "folder") && read_folder(cli_value(args, "folder"), body, err) < 0)
        return -1;
    if (!cli_has(args, "folder") && !cli_has(args, "webhook") && !json_length(tokens))
        return err_set(err, ERR_BAD_REQUEST,
                       "what should wake it? give --key TASK (or WORKOUT, NOTE, RATING ...), "
                       "--subtype, --id, --token, --folder DIR or --webhook");
    if (cli_value(args, "authors"))
        add_list(body, "authors", str_from(cli_value(args, "authors")));
    if (cli_value(args, "hours") && read_hours(cli_value(args, "hours"), body, err) < 0)
        return -1;
    if (cli_value(args, "cooldown")) {
        if (read_seconds(cli_value(args, "cooldown"), &seconds, err) < 0)
            return -1;
        json_object_object_add(body, "cooldownSeconds", json_object_new_int64(seconds));
    }
    return 0;
}

static void agent_path(struct buf *path, const char *agent, const char *more)
{
    buf_add_text(path, "/api/v1/agents/");
    decide_add_segment(path, agent);
    buf_add_text(path, more);
}

/* ---- subscribe ---- */

static int run_subscribe(const struct cli_args *args)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_JSON body = json_object_new_object();
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;

    agent_path(&path, cli_operand(args, 0), "/subscriptions");
    if (read_form(args, body, &err) < 0 ||
        ask(args, "POST", buf_text(&path), body, &answer, &err) < 0)
        return cli_fail(args, &err);
    /* What commands change in the journal wakes agents: their keeper sees to it. */
    if (cli_value(args, "folder") || cli_has(args, "webhook"))
        keeper_hint(args, "files and webhooks wake agents");
    if (cli_json(args)) {
        cli_print_json(json_object_get(answer));
        return CLI_DONE;
    }
    printf("Subscribed %.*s: %.*s\n", STR_ARG(member(answer, "agentId")),
           STR_ARG(member(answer, "id")));
    if (member(answer, "url").n)
        printf("Call POST %.*s at the daemon's address. It is not shown again.\n",
               STR_ARG(member(answer, "url")));
    alarms_print_warnings(answer);
    return CLI_DONE;
}

#define FORM_OPTIONS                                                                               \
    { .name = "key",                                                                               \
      .value = "KEY",                                                                              \
      .help = "TASK, WORKOUT, NOTE, RATING, AGENT_MESSAGE and others",                             \
      .repeats = true },                                                                           \
        { .name = "subtype",                                                                       \
          .value = "KIND=V",                                                                       \
          .help = "such as workoutType=run, taskStatus=DONE",                                      \
          .repeats = true },                                                                       \
        { .name = "id", .value = "ID", .help = "of one record", .repeats = true },                 \
        { .name = "token",                                                                         \
          .value = "TOKEN",                                                                        \
          .help = "any of these: k:TASK, sub:workoutType:run, id:ID",                              \
          .repeats = true },                                                                       \
        { .name = "agents", .help = "--id is of agents and what is theirs, not of the journal" },  \
        { .name = "where", .value = "PREDICATE", .help = "task.categoryId == \"gym\"" },           \
        { .name = "authors", .value = "LIST", .help = "human (unless given), agent, sync, self" }, \
        { .name = "hours",                                                                         \
          .value = "HOURS",                                                                        \
          .help = "only then: \"mo,tu 7:00-22:00 Europe/Berlin\"" },                               \
        { .name = "cooldown", .value = "TIME", .help = "at most once in this time: 10m, 2h" },     \
        { .name = "folder", .value = "DIR", .help = "files of this folder instead" },              \
        { .name = "glob", .value = "PATTERN", .help = "only such files: *.pdf" },                  \
        { .name = "webhook", .help = "calls from elsewhere instead" },                             \
        { .name = "name", .value = "NAME", .help = "what it is called" },                          \
    {                                                                                              \
        .name = "prompt", .value = "TEXT", .help = "what the agent is told when it wakes"          \
    }

static const struct cli_option subscribe_options[] = {
    FORM_OPTIONS,
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

static void add_row(struct columns *columns, struct json_object *one)
{
    AUTO_BUF what = BUF_INIT(4 * KIB);
    bool active = false;
    char ago[AGO_SIZE], last[AGO_SIZE + 8];

    alarms_tokens(one, &what);
    if (!what.n)
        buf_printf(&what, "%.*s %.*s", STR_ARG(member(one, "source")),
                   STR_ARG(member(one, "folder")));
    if (member(one, "predicate").n)
        buf_printf(&what, " where %.*s", STR_ARG(member(one, "predicate")));
    json_get_bool(one, "active", &active, NULL);
    ago_text(member(one, "lastWakeAt"), clock_wall_ms(clock_system()), ago);
    /* a wake that waits for its cooldown or hours lies ahead */
    snprintf(last, sizeof(last), "%s%s", str_starts(str_from(ago), STR("in ")) ? "due " : "", ago);
    columns_add(columns, (struct str[]){ member(one, "id"), member(one, "agentId"),
                                         active ? STR("on") : STR("off"), str_from(last),
                                         member(one, "name"), buf_str(&what) });
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
    if (ask(args, "GET", buf_text(&path), NULL, &answer, &err) < 0)
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

static int run_rm(const struct cli_args *args)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;

    buf_add_text(&path, "/api/v1/subscriptions/");
    decide_add_segment(&path, cli_operand(args, 0));
    if (ask(args, "DELETE", buf_text(&path), NULL, &answer, &err) < 0)
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

/* ---- preview ---- */

static void print_match(struct json_object *match)
{
    struct json_object *records = json_find(match, "records");
    char ago[AGO_SIZE];
    AUTO_BUF line = BUF_INIT(64 * KIB);
    bool yes = str_is(member(match, "outcome"), "yes");

    ago_text(member(match, "at"), clock_wall_ms(clock_system()), ago);
    buf_printf(&line, "%-13s %s", ago, yes ? "wakes" : "no:");
    if (!yes)
        buf_printf(&line, " %.*s", STR_ARG(member(match, "why")));
    else if (member(match, "notBefore").n)
        buf_printf(&line, " later, when its hours began (%.*s)",
                   STR_ARG(member(match, "notBefore")));
    for (size_t i = 0; i < json_length(records); i++) {
        struct json_object *record = json_object_array_get_idx(records, i);

        buf_printf(&line, "%s%.*s \"%.*s\"", i ? ", " : "  ", STR_ARG(member(record, "type")),
                   STR_ARG(member(record, "title")));
    }
    buf_add_char(&line, '\n');
    term_text(stdout, buf_text(&line));
}

/* "1,340 changes": as people write numbers. */
static void add_count(struct buf *out, int64_t n)
{
    char digits[32];
    int many = snprintf(digits, sizeof(digits), "%lld", (long long)n);

    for (int i = 0; i < many; i++)
        buf_printf(out, "%s%c", i && (many - i) % 3 == 0 ? "," : "", digits[i]);
}

/* " (the newest 200 of 1,340 shown)", or nothing when that is all. */
static void add_cut(struct buf *out, struct json_object *items, int64_t all, bool matched)
{
    int64_t shown = 0;

    for (size_t i = 0; i < json_length(items); i++)
        shown += str_is(member(json_object_array_get_idx(items, i), "outcome"), "yes") == matched;
    if (shown >= all)
        return;
    buf_printf(out, " (the newest %lld of ", (long long)shown);
    add_count(out, all);
    buf_add_text(out, " shown)");
}

static void print_sum(struct json_object *answer, int64_t days)
{
    struct json_object *items = json_find(answer, "items");
    int64_t matched = 0, unmatched = 0;
    AUTO_BUF line = BUF_INIT(KIB);

    json_get_i64(answer, "matched", &matched, NULL);
    json_get_i64(answer, "unmatched", &unmatched, NULL);
    if (!matched && !unmatched) {
        printf("Nothing of this kind happened in %lld day%s.\n", (long long)days,
               days == 1 ? "" : "s");
        return;
    }
    buf_printf(&line, "\nIn %lld day%s ", (long long)days, days == 1 ? "" : "s");
    add_count(&line, matched);
    buf_printf(&line, " change%s would have woken it", matched == 1 ? "" : "s");
    add_cut(&line, items, matched, true);
    if (unmatched) {
        buf_add_text(&line, ", ");
        add_count(&line, unmatched);
        buf_add_text(&line, " not");
        add_cut(&line, items, unmatched, false);
    }
    printf("%s.\n", buf_text(&line));
}

static int run_preview(const struct cli_args *args)
{
    AUTO_JSON body = json_object_new_object();
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;
    struct json_object *items;
    int64_t days = 7;

    if (cli_value(args, "days") && str_to_i64(str_from(cli_value(args, "days")), &days) < 0)
        err_set(&err, ERR_BAD_REQUEST, "--days must be a number from 1 to 90");
    if (err.code || read_form(args, body, &err) < 0)
        return cli_fail(args, &err);
    json_object_object_add(body, "agentId", json_object_new_string(cli_operand(args, 0)));
    json_object_object_add(body, "days", json_object_new_int64(days));
    if (ask(args, "POST", "/api/v1/subscriptions/preview", body, &answer, &err) < 0)
        return cli_fail(args, &err);
    if (cli_json(args)) {
        cli_print_json(json_object_get(answer));
        return CLI_DONE;
    }
    items = json_find(answer, "items");
    for (size_t i = 0; i < json_length(items); i++)
        print_match(json_object_array_get_idx(items, i));
    print_sum(answer, days);
    return CLI_DONE;
}

static const struct cli_option preview_options[] = {
    { .name = "days", .value = "N", .help = "how far back; 7 unless given" },
    FORM_OPTIONS,
    { .name = NULL },
};

const struct cli_command cli_cmd_subscribe_preview = {
    .name = "subscribe preview",
    .operands = "AGENT",
    .summary = "Shows what would have woken an agent lately",
    .details = "Every change of these days is judged and counted; listed are the newest 200 that "
               "would have woken it, and the newest 200 that would not, with the reason.\n\n"
               "  dormouse subscribe preview coach --key WORKOUT --days 30",
    .options = preview_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_preview,
};

/* ---- report ---- */

static void print_report(struct json_object *report)
{
    struct json_object *fresh = json_find(report, "freshness");
    AUTO_BUF head = BUF_INIT(4 * KIB);
    char ago[AGO_SIZE];
    bool stale = false;

    json_get_bool(fresh, "stale", &stale, NULL);
    ago_text(member(report, "createdAt"), clock_wall_ms(clock_system()), ago);
    buf_printf(&head, "%.*s (%s)\n", STR_ARG(member(report, "title")), ago);
    fputs(term_style(stdout, TERM_BOLD), stdout);
    term_text(stdout, buf_text(&head));
    fputs(term_style(stdout, TERM_PLAIN), stdout);
    if (stale)
        printf("%sstale: %.*s%s\n", term_style(stdout, TERM_YELLOW), STR_ARG(member(fresh, "why")),
               term_style(stdout, TERM_PLAIN));
    putchar('\n');
    {
        AUTO_BUF text = BUF_INIT(MIB);

        buf_printf(&text, "%.*s\n", STR_ARG(member(report, "text")));
        term_text(stdout, buf_text(&text));
    }
}

static int run_report(const struct cli_args *args)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;

    agent_path(&path, cli_operand(args, 0), "/reports/current");
    if (cli_value(args, "scope"))
        buf_printf(&path, "?scope=%s", cli_value(args, "scope"));
    if (ask(args, "GET", buf_text(&path), NULL, &answer, &err) < 0)
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
