/* dormouse run: one run from a prompt to its end, shown as it happens.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/show.h"
#include "cli/talk.h"

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted++;
}

/* ---- the request ---- */

static int number(const struct cli_args *args, const char *option, int64_t *ret_value,
                  struct err *err)
{
    const char *text = cli_value(args, option);

    if (!text)
        return 0;
    if (str_to_i64(str_from(text), ret_value) < 0 || *ret_value < 1)
        return err_set(err, ERR_BAD_REQUEST, "--%s takes a number from 1 on, not %s", option, text);
    return 1;
}

static void write_option(struct json_writer *w, const struct cli_args *args, const char *option,
                         const char *key)
{
    if (!cli_value(args, option))
        return;
    json_write_key(w, key);
    json_write_text(w, cli_value(args, option));
}

static int write_request(const struct cli_args *args, const char *prompt, struct buf *out,
                         struct err *err)
{
    struct json_writer w = JSON_WRITER(out);
    char cwd[PATH_MAX];
    int64_t iterations;
    int r = number(args, "max-iterations", &iterations, err);

    if (r < 0)
        return -1;
    if (!realpath(cli_value(args, "cwd") ? cli_value(args, "cwd") : ".", cwd))
        return err_set(err, ERR_BAD_REQUEST, "--cwd %s is not a directory",
                       cli_value(args, "cwd") ? cli_value(args, "cwd") : ".");
    json_write_object_begin(&w);
    json_write_key(&w, "prompt");
    json_write_text(&w, prompt);
    json_write_key(&w, "cwd");
    json_write_text(&w, cwd);
    write_option(&w, args, "agent", "agent");
    write_option(&w, args, "mode", "mode");
    write_option(&w, args, "model", "model");
    write_option(&w, args, "thread", "thread");
    if (r > 0) {
        json_write_key(&w, "maxIterations");
        json_write_i64(&w, iterations);
    }
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "the prompt is too long");
    return 0;
}

/* ---- following ---- */

struct following {
    const struct cli_args *args;
    struct talk *talk;
    struct show show;
    char run_id[80];
    bool cancelled;
    int exit_code;
};

static void cancel(struct following *f)
{
    AUTO(talk) other = NULL;
    AUTO_JSON answer = NULL;
    char path[160];
    struct err err = ERR_INIT;

    f->cancelled = true;
    snprintf(path, sizeof(path), "/api/v1/runs/%s/cancel", f->run_id);
    if (talk_again(f->talk, &other, &err) < 0 ||
        talk_ask(other, "POST", path, STR("{}"), &answer, &err) < 0)
        cli_fail(f->args, &err);
}

/* True when the command's work is over. */
static bool take_event(struct following *f, struct str json)
{
    AUTO_JSON event = NULL;
    struct str type;

    if (json_parse(json, &event, NULL) < 0)
        return false;
    type = json_str(json_find(event, "type"));
    snprintf(f->run_id, sizeof(f->run_id), "%.*s", STR_ARG(json_str(json_find(event, "runId"))));
    if (cli_json(f->args)) {
        printf("%.*s\n", STR_ARG(json));
        fflush(stdout);
    } else {
        show_event(&f->show, event);
    }
    if (str_is(type, "waiting")) {
        f->exit_code = CLI_WAITING;
        return true;
    }
    if (!str_is(type, "done"))
        return false;
    f->exit_code =
        str_is(json_str(json_find(event, "stopReason")), "end_turn") ? CLI_DONE : CLI_FAILED;
    return true;
}

static int follow(struct following *f, struct err *err)
{
    struct str json;
    int r;

    for (;;) {
        r = talk_next(f->talk, 200, &json, err);
        if (r < 0)
            return -1;
        if (interrupted && !f->cancelled && f->run_id[0])
            cancel(f);
        if (r == 1 && take_event(f, json))
            return 0;
        if (r == 0)
            return err_set(err, ERR_PROVIDER_FAILED, "the daemon ended the stream");
    }
}

static int run_run(const struct cli_args *args)
{
    struct sigaction act = { .sa_handler = on_interrupt };
    struct following f = { .args = args, .exit_code = CLI_FAILED };
    AUTO_BUF body = BUF_INIT(LIMIT_HTTP_BODY_BYTES);
    struct err err = ERR_INIT;

    if (write_request(args, cli_operand(args, 0), &body, &err) < 0) {
        cli_fail(args, &err);
        return CLI_USAGE;
    }
    sigaction(SIGINT, &act, NULL);
    show_init(&f.show, stdout);
    if (talk_open(args, &f.talk, &err) < 0 ||
        talk_follow(f.talk, "POST", "/run", buf_str(&body), &err) < 0 || follow(&f, &err) < 0)
        f.exit_code = cli_fail(args, &err);
    show_release(&f.show);
    talk_free(f.talk);
    return f.exit_code;
}

static const struct cli_option options[] = {
    { .name = "agent", .value = "AGENT", .help = "who does it, instead of the agent that greets" },
    { .name = "mode",
      .value = "MODE",
      .help = "structured: asks before it acts; wiggum: goes on by itself until it is done",
      .choices = "structured wiggum" },
    { .name = "model", .value = "ID", .help = "the model it thinks with, instead of the agent's" },
    { .name = "max-iterations", .value = "N", .help = "rounds at most (100)" },
    { .name = "cwd", .value = "DIR", .help = "where it works, instead of this directory" },
    { .name = "thread", .value = "THREAD", .help = "goes on in this conversation" },
    { .name = NULL },
};

const struct cli_command cli_cmd_run = {
    .name = "run",
    .operands = "PROMPT",
    .summary = "Lets an agent do something, and shows it",
    .details = "Events appear as they come; with --json each is one line. When a call needs your "
               "approval the command ends with 3 and says how to decide: the run waits as long as "
               "it takes, and goes on when you have.\n\n"
               "  dormouse run \"what is in this folder?\"\n"
               "  dormouse run --mode wiggum \"make the tests pass\"\n\n"
               "Ctrl-C cancels the run.",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_run,
};
