/* dormouse runs, dormouse trace RUN, dormouse replay RUN
 *
 * They only read, and may run beside the daemon.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/log_reader.h"
#include "cli/term.h"
#include "cli/woke.h"
#include "run/run.h"
#include "run/trace.h"

#define PROMPT_BYTES 48

/* ---- runs ---- */

static void add_text(struct json_object *object, const char *key, struct str text)
{
    if (text.n)
        json_object_object_add(object, key, json_object_new_string_len(text.p, (int)text.n));
}

static void add_number(struct json_object *object, const char *key, int64_t value)
{
    json_object_object_add(object, key, json_object_new_int64(value));
}

static void add_time(struct json_object *object, const char *key, int64_t at)
{
    char text[TIMEFMT_SIZE];

    if (!at)
        return;
    timefmt_rfc3339(at, text);
    json_object_object_add(object, key, json_object_new_string(text));
}

static void print_json(const struct run_info *run)
{
    struct json_object *object = json_object_new_object();

    add_text(object, "runId", run->run_id);
    add_text(object, "agent", run->agent_id);
    add_text(object, "thread", run->thread_id);
    add_text(object, "status", run->status);
    add_text(object, "mode", run->mode);
    add_text(object, "model", run->model_id);
    add_text(object, "waitingFor", run->wait_item);
    add_time(object, "waitingUntil", run->wait_until);
    add_text(object, "stopReason", run->stop_reason);
    add_text(object, "errorCode", run->error_code);
    add_text(object, "prompt", run->prompt);
    add_time(object, "createdAt", run->created_at);
    add_time(object, "endedAt", run->ended_at);
    add_number(object, "activeMs", run->active_ms);
    add_number(object, "waitedMs", run->waited_ms);
    add_number(object, "iterations", run->iterations);
    add_number(object, "toolCalls", run->tool_calls);
    add_number(object, "inputTokens", run->input_tokens);
    add_number(object, "outputTokens", run->output_tokens);
    json_object_object_add(object, "cost", json_object_new_double(run->cost));
    cli_print_json(object);
}

static void print_line(const struct run_info *run)
{
    AUTO_BUF title = BUF_INIT(LIMIT_JSON_BYTES);
    struct str whole = woke_title(run->prompt, &title), prompt = utf8_truncate(whole, PROMPT_BYTES);
    AUTO_BUF line = BUF_INIT(1024);
    char at[TIMEFMT_SIZE];

    timefmt_rfc3339(run->created_at, at);
    at[19] = '\0';
    buf_printf(&line, "%.*s  %s  %-9.*s  %-10.*s  %-12.*s  ", STR_ARG(str_take(run->run_id, 12)),
               at, STR_ARG(run->status), STR_ARG(run->mode), STR_ARG(run->agent_id));
    for (size_t i = 0; i < prompt.n; i++)
        buf_add(&line, prompt.p[i] == '\n' || prompt.p[i] == '\t' ? " " : &prompt.p[i], 1);
    if (prompt.n < whole.n)
        buf_add_text(&line, "…");
    term_text(stdout, buf_text(&line));
    putchar('\n');
}

static void say_none(const struct cli_args *args)
{
    if (!cli_json(args))
        puts("There are no runs yet. `dormouse run \"what is in this folder?\"` makes one.");
}

static int list_runs(const struct cli_args *args, struct log_reader *reader, int64_t limit,
                     struct err *err)
{
    struct run_info *runs;
    size_t n;

    if (run_info_list(reader->domain, str_from(cli_value(args, "agent")), 0, (int)limit,
                      &reader->arena, &runs, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (cli_json(args))
            print_json(&runs[i]);
        else
            print_line(&runs[i]);
    }
    if (n == 0)
        say_none(args);
    return 0;
}

static int run_runs(const struct cli_args *args)
{
    AUTO_LOG_READER reader = { .config = NULL };
    struct err err = ERR_INIT;
    int64_t limit = 20;

    if (cli_number(args, "limit", 1, 1000, &limit, &err) < 0)
        return cli_misused(args, &err);
    if (log_reader_open(args, &reader, &err) < 0) {
        if (err.code != ERR_NOT_FOUND)
            return cli_fail(args, &err);
        say_none(args);
        return CLI_DONE;
    }
    if (list_runs(args, &reader, limit, &err) < 0)
        return cli_fail(args, &err);
    return CLI_DONE;
}

static const struct cli_option runs_options[] = {
    { .name = "agent", .value = "AGENT", .help = "only runs of this agent" },
    { .name = "limit", .value = "N", .help = "at most so many, 20 unless given" },
    { .name = NULL },
};

const struct cli_command cli_cmd_runs = {
    .name = "runs",
    .operands = "",
    .summary = "Lists runs, the newest first",
    .details =
        "Ids are shortened; any command takes the beginning of one, at least four characters. "
        "With --json each run is a line of its own.",
    .options = runs_options,
    .run = run_runs,
};

/* ---- trace ---- */

static void print_trace(void *arg, struct str line)
{
    (void)arg;
    fwrite(line.p, 1, line.n, stdout);
    putchar('\n');
}

static int run_trace_command(const struct cli_args *args)
{
    AUTO_LOG_READER reader = { .config = NULL };
    struct err err = ERR_INIT;
    int64_t n;

    if (log_reader_open(args, &reader, &err) < 0 ||
        log_reader_find(&reader, cli_operand(args, 0), &n, &err) < 0 ||
        run_trace(reader.domain, n, reader.program, cli_json(args), print_trace, NULL, &err) < 0)
        return cli_fail(args, &err);
    return CLI_DONE;
}

const struct cli_command cli_cmd_trace = {
    .name = "trace",
    .operands = "RUN",
    .summary = "Tells a run event by event: when, what, and which rule asked for it",
    .details =
        "Each line has the seconds since the run began, the number that clients know the event "
        "by, the event with the call it speaks of and its attributes, what it refers to, how "
        "long that took (of the end: how long the run worked and how long it waited for you), and "
        "in brackets the thread of the program that asked for it. With --json each event is a line "
        "of its own, with content whole.",
    .operands_min = 1,
    .operands_max = 1,
    .run = run_trace_command,
};

/* ---- replay ---- */

static void print_report(const struct cli_args *args, const struct run_replay_report *report)
{
    struct json_object *object;

    if (!cli_json(args)) {
        printf("As recorded: %lld events, %lld of them selected by the program; %s.\n",
               (long long)report->rows, (long long)report->selected,
               report->ended ? "the run has ended" : "the run has not ended");
        if (report->policy_changes)
            printf("The policy changed %lld times while it ran.\n",
                   (long long)report->policy_changes);
        return;
    }
    object = json_object_new_object();
    add_number(object, "rows", report->rows);
    add_number(object, "selected", report->selected);
    add_number(object, "policyChanges", report->policy_changes);
    json_object_object_add(object, "ended", json_object_new_boolean(report->ended));
    json_object_object_add(object, "asRecorded", json_object_new_boolean(true));
    cli_print_json(object);
}

static int replay_one(const struct cli_args *args, struct log_reader *reader, const char *key,
                      struct err *err)
{
    struct run_replay_report report;
    int64_t n;
    int r;

    if (log_reader_find(reader, key, &n, err) < 0)
        return -1;
    r = cli_has(args, "anyway")
            ? run_replay_with(reader->domain, n, reader->program, &report, err)
            : run_replay_check(reader->domain, n, reader->program, &report, err);
    if (r < 0)
        return err_wrap(err, "run %s", key);
    print_report(args, &report);
    return 0;
}

static int run_replay_command(const struct cli_args *args)
{
    AUTO_LOG_READER reader = { .config = NULL };
    struct err err = ERR_INIT;

    if (log_reader_open(args, &reader, &err) < 0)
        return cli_fail(args, &err);
    for (size_t i = 0; cli_operand(args, i); i++)
        if (replay_one(args, &reader, cli_operand(args, i), &err) < 0)
            return cli_fail(args, &err);
    return CLI_DONE;
}

static const struct cli_option replay_options[] = {
    { .name = "check", .help = "what it does anyway: nothing is started" },
    { .name = "anyway", .help = "also when the rules have changed: shows where they now differ" },
    { .name = NULL },
};

const struct cli_command cli_cmd_replay = {
    .name = "replay",
    .operands = "RUN [RUN...]",
    .summary = "Checks runs' logs against the program, without network and tools",
    .details =
        "The program is run again from the log; nothing is started (`dormouse rerun` starts a run "
        "anew). Every event that it selects must be the one recorded, and every row, message "
        "and decision must be as it was when it was recorded. The exit code is 1 at the first "
        "that differs, which is named. With --json each run is a line of its own.",
    .options = replay_options,
    .operands_min = 1,
    .operands_max = -1,
    .run = run_replay_command,
};
