/* dormouse run, dormouse rerun: one run from a prompt to its end, shown as it happens.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "base/rand.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/decide.h"
#include "cli/fence.h"
#include "cli/follow.h"
#include "cli/keeper.h"

#define PROMPT_BYTES (4 * MIB)

/* ---- the request ---- */

/* `-`: everything on standard input, which may be a pipe. */
static int read_prompt(const char *typed, struct buf *out, struct err *err)
{
    ssize_t n = 1;
    char *room;

    if (strcmp(typed, "-") != 0) {
        buf_add_text(out, typed);
    } else {
        while (n > 0) {
            room = buf_reserve(out, 64 * KIB);
            if (!room)
                break;
            n = read(STDIN_FILENO, room, 64 * KIB);
            if (n > 0)
                buf_grown(out, (size_t)n);
        }
    }
    if (out->full || n < 0)
        return err_set(err, n < 0 ? ERR_BAD_REQUEST : ERR_TOO_LARGE,
                       n < 0 ? "standard input can't be read"
                             : "the prompt is longer than the %u bytes allowed",
                       PROMPT_BYTES);
    if (!str_trim(buf_str(out)).n)
        return err_set(err, ERR_BAD_REQUEST, "the prompt is empty");
    if (!utf8_valid(buf_str(out)))
        return err_set(err, ERR_BAD_REQUEST, "the prompt is not UTF-8");
    return 0;
}

static int find_cwd(const struct cli_args *args, char cwd[PATH_MAX], struct err *err)
{
    const char *typed = cli_value(args, "cwd") ? cli_value(args, "cwd") : ".";
    int fd = realpath(typed, cwd) ? open(cwd, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

    if (fd < 0)
        return err_set(err, ERR_BAD_REQUEST, "--cwd %s is not a directory that can be entered",
                       typed);
    close(fd);
    return 0;
}

static void write_option(struct json_writer *w, const struct cli_args *args, const char *option)
{
    if (!cli_value(args, option))
        return;
    json_put_text(w, option, cli_value(args, option));
}

/* A turn of its own, so that the request may be sent again when the connection is lost. */
static void write_turn(struct json_writer *w)
{
    struct uuid_source source;
    char id[UUID_TEXT_SIZE];

    uuid_source_init(&source, clock_system(), rand_system());
    uuid_next_text(&source, id);
    json_put_text(w, "turnId", id);
}

static int write_request(const struct cli_args *args, const char *typed, struct buf *out,
                         struct err *err)
{
    AUTO_BUF prompt = BUF_INIT(PROMPT_BYTES);
    struct json_writer w = JSON_WRITER(out);
    char cwd[PATH_MAX];
    int64_t iterations;
    int r = cli_number(args, "max-iterations", 1, 100000, &iterations, err);

    if (r < 0 || find_cwd(args, cwd, err) < 0 || read_prompt(typed, &prompt, err) < 0)
        return -1;
    json_write_object_begin(&w);
    json_put_str(&w, "prompt", buf_str(&prompt));
    json_put_text(&w, "cwd", cwd);
    write_turn(&w);
    write_option(&w, args, "agent");
    write_option(&w, args, "mode");
    write_option(&w, args, "model");
    write_option(&w, args, "thread");
    write_option(&w, args, "session");
    if (r > 0) {
        json_put_i64(&w, "maxIterations", iterations);
    }
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "the prompt is too long");
    return 0;
}

/* ---- run ---- */

static int go_behind_fence(struct follow *f, struct err *err)
{
    talk_keep(f->stream.talk);
    talk_keep(f->side);
    f->stream.keep = true;
    return fence_close(err);
}

static int run_with(const struct cli_args *args, const char *path, struct str body, bool fenced)
{
    int64_t begun = clock_wall_ms(clock_system());
    struct follow f;
    struct err err = ERR_INIT;
    int code;

    follow_catch_interrupts();
    if (follow_open(&f, args, &err) < 0 || (fenced && go_behind_fence(&f, &err) < 0))
        code = cli_fail(args, &err);
    else
        code = follow_run(&f, path, body);
    follow_release(&f);
    if (code == CLI_DONE && !fenced)
        keeper_hint_alarms(args, begun);
    return code;
}

static int run_prompt(const struct cli_args *args, const char *prompt)
{
    AUTO_BUF body = BUF_INIT(LIMIT_HTTP_BODY_BYTES);
    struct err err = ERR_INIT;

    if (write_request(args, prompt, &body, &err) < 0)
        return cli_misused(args, &err);
    return run_with(args, "/run", buf_str(&body), cli_has(args, "sandbox"));
}

static int run_run(const struct cli_args *args)
{
    return run_prompt(args, cli_operand(args, 0));
}

static const struct cli_option run_options[] = {
    { .name = "agent", .value = "AGENT", .help = "who does it, instead of the agent that greets" },
    { .name = "mode",
      .value = "MODE",
      .help = "structured: asks before it acts; wiggum: goes on by itself until it is done",
      .choices = "structured wiggum" },
    { .name = "model", .value = "ID", .help = "the model it thinks with, instead of the agent's" },
    { .name = "max-iterations", .value = "N", .help = "rounds at most (100)" },
    { .name = "cwd", .value = "DIR", .help = "where it works, instead of this directory" },
    { .name = "thread", .value = "THREAD", .help = "goes on in this conversation" },
    { .name = "session",
      .value = "NAME",
      .help = "goes on in the agent's conversation of this name, or begins it" },
    { .name = "sandbox",
      .help =
          "this process, too, goes behind a wall: terminal and daemon are all that it reaches" },
    { .name = NULL },
};

const struct cli_command cli_cmd_run = {
    .name = "run",
    .operands = "PROMPT",
    .summary = "Lets an agent do something, and shows it",
    .details =
        "PROMPT is one operand, so put it in quotes; `-` reads it from standard input. Events "
        "appear as they come; with --json each is one line.\n\n"
        "  dormouse run \"what is in this folder?\"\n"
        "  dormouse run --mode wiggum \"make the tests pass\"\n"
        "  git diff | dormouse run --json -\n\n"
        "When a call needs your approval you are asked on the terminal, with a diff or the command "
        "and where it would run: approve, reject with a reason, edit the arguments, approve for "
        "this run, or always for exactly this. Without a terminal the command ends with 3 and says "
        "how to decide; the run waits as long as it takes, and goes on when you have "
        "(`dormouse inbox`).\n\n"
        "Ctrl-C cancels the run; pressed again it leaves at once. SIGTERM, as `timeout` sends it, "
        "cancels the run too; SIGHUP, when the terminal is closed, leaves it going on. After "
        "either the command is gone, within five seconds even when the daemon does not answer, and "
        "says which. What an agent does always happens in the sandbox; --sandbox is for this "
        "process, which shows what a model wrote.\n\n"
        "Exit codes: 0 done, 1 failed or cancelled, 2 wrong usage, 3 waiting for a person, 4 "
        "denied by policy.",
    .options = run_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_run,
};

/* ---- skill run ---- */

static int run_skill(const struct cli_args *args)
{
    AUTO_BUF prompt = BUF_INIT(PROMPT_BYTES);
    const char *task = cli_operand(args, 1);

    buf_printf(&prompt, "Use the %s skill%s%s", cli_operand(args, 0), task ? ": " : ".",
               task ? task : "");
    return run_prompt(args, buf_text(&prompt));
}

const struct cli_command cli_cmd_skill_run = {
    .name = "skill run",
    .operands = "SKILL [TASK]",
    .summary = "Lets an agent use a skill, and shows it",
    .details = "The same as `dormouse run \"Use the SKILL skill: TASK\"`: the agent reads the "
               "skill and follows it.",
    .options = run_options,
    .operands_min = 1,
    .operands_max = 2,
    .run = run_skill,
};

/* ---- rerun ---- */

static int run_rerun(const struct cli_args *args)
{
    AUTO_BUF path = BUF_INIT(4 * KIB);
    AUTO_BUF body = BUF_INIT(64 * KIB);
    struct json_writer w = JSON_WRITER(&body);

    buf_add_text(&path, "/api/v1/runs/");
    decide_add_segment(&path, cli_operand(args, 0));
    buf_add_text(&path, "/rerun");
    json_write_object_begin(&w);
    write_option(&w, args, "override");
    json_write_object_end(&w);
    json_write_end(&w);
    return run_with(args, buf_text(&path), buf_str(&body), false);
}

static const struct cli_option rerun_options[] = {
    { .name = "override",
      .value = "CODE",
      .help = "what a person allows this once, by the code of the error that stood in the way" },
    { .name = NULL },
};

const struct cli_command cli_cmd_rerun = {
    .name = "rerun",
    .operands = "RUN",
    .summary = "Starts a new run from the prompt of an earlier one",
    .details = "It begins a conversation of its own and is shown like `dormouse run`. The earlier "
               "run stays as it is; `dormouse runs` lists both.",
    .options = rerun_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_rerun,
};
