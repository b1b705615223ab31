/* dormouse approve, reject, edit, answer: a person's word on an inbox item.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/ask.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/decide.h"
#include "cli/show.h"
#include "cli/term.h"

static void say_decided(const struct cli_args *args, struct json_object *answer)
{
    struct json_object *item = json_find(answer, "item");
    bool notice = str_is(json_str(json_find(item, "kind")), "escalated"); /* nobody waits for it */
    AUTO_BUF line = BUF_INIT(64 * KIB);
    bool applied = false;

    if (cli_json(args)) {
        cli_print_json(json_object_get(answer));
        return;
    }
    json_get_bool(answer, "applied", &applied, NULL);
    buf_printf(&line, "%s%.*s: %.*s", applied ? "" : "Already ",
               STR_ARG(notice ? STR("seen") : json_str(json_find(item, "state"))),
               STR_ARG(json_str(json_find(item, "title"))));
    if (applied && line.p[0] >= 'a' && line.p[0] <= 'z')
        line.p[0] = (char)(line.p[0] - 'a' + 'A');
    term_text(stdout, buf_text(&line));
    putchar('\n');
    if (applied && !notice && json_str(json_find(item, "runId")).n)
        printf("The run goes on: dormouse trace %.*s\n",
               STR_ARG(str_take(json_str(json_find(item, "runId")), 12)));
}

static int send_it(const struct cli_args *args, struct talk *talk, const struct decide *decide)
{
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;

    if (decide_send(talk, cli_operand(args, 0), decide, &answer, &err) < 0)
        return cli_fail(args, &err);
    say_decided(args, answer);
    return CLI_DONE;
}

static int decide_with(const struct cli_args *args, const struct decide *decide)
{
    AUTO(talk) talk = NULL;
    struct err err = ERR_INIT;

    if (talk_open(args, &talk, &err) < 0)
        return cli_fail(args, &err);
    return send_it(args, talk, decide);
}

/* ---- approve ---- */

/* One line from the terminal; 0 at its end, -1 when the question is on the screen no more. */
static int read_line(const struct ask *ask, struct buf *line)
{
    buf_clear(line);
    for (;;) {
        int c = getchar();

        if (ask_is_lost(ask)) {
            clearerr(stdin);
            return -1;
        }
        if (c == '\n')
            return 1;
        if (c != EOF)
            buf_add_char(line, (char)c);
        else if (!ferror(stdin) || errno != EINTR)
            return 0;
        else
            clearerr(stdin);
    }
}

/* Asks until something was decided; false: the terminal has ended. */
static bool ask_at_terminal(struct ask *ask, struct decide *ret_said)
{
    AUTO_BUF line = BUF_INIT(64 * KIB);
    int r;

    term_watch(NULL);
    for (;;) {
        AUTO_BUF prompt = BUF_INIT(4 * KIB);

        if (!ask_is_paging(ask))
            term_arm();
        ask_prompt(ask, &prompt);
        fputs(buf_text(&prompt), stdout);
        fflush(stdout);
        r = read_line(ask, &line);
        if (r == 0)
            return false;
        if (r > 0 && ask_take(ask, buf_str(&line), ret_said) == ASK_DECIDED)
            return true;
        if (r < 0) {
            putchar('\n');
            ask_draw(ask);
        }
    }
}

/* A person at a terminal approves what they see: it is shown here, whatever they saw before. */
static int approve_shown(const struct cli_args *args, struct talk *talk, struct decide *decide,
                         struct err *err)
{
    struct decide said = { .decision = NULL };
    struct ask ask;
    AUTO_JSON item = NULL;
    int r;

    if (decide_get_item(talk, str_from(cli_operand(args, 0)), &item, err) < 0)
        return cli_fail(args, err);
    if (!str_is(json_str(json_find(item, "state")), "pending"))
        return send_it(args, talk, decide);
    ask_begin(&ask, stdout, TAKE(item), 1u << ASK_EDIT | 1u << ASK_RUN | 1u << ASK_ALWAYS);
    ask.anyway = cli_has(args, "anyway");
    if (!ask_at_terminal(&ask, &said)) {
        ask_release(&ask);
        puts("\nNothing was decided; `dormouse inbox` shows it.");
        return CLI_WAITING;
    }
    if (strcmp(said.decision, "approve") != 0)
        *decide = said;
    decide->anyway = said.anyway;
    r = send_it(args, talk, decide);
    ask_release(&ask);
    return r;
}

static int run_approve(const struct cli_args *args)
{
    struct decide decide = { .decision = "approve", .anyway = cli_has(args, "anyway") };
    AUTO(talk) talk = NULL;
    struct err err = ERR_INIT;

    if (cli_has(args, "run") && cli_has(args, "always")) {
        err_set(&err, ERR_BAD_REQUEST, "--run and --always exclude each other");
        cli_fail(args, &err);
        return CLI_USAGE;
    }
    if (cli_has(args, "run"))
        decide.scope = "run";
    else if (cli_has(args, "always"))
        decide.scope = "always";
    if (talk_open(args, &talk, &err) < 0)
        return cli_fail(args, &err);
    if (!cli_json(args) && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
        return approve_shown(args, talk, &decide, &err);
    return send_it(args, talk, &decide);
}

static const struct cli_option approve_options[] = {
    { .name = "run", .help = "exactly this, in this run" },
    { .name = "always", .help = "exactly this, for this agent, from now on" },
    { .name = "anyway", .help = "although something about it is dangerous" },
    { .name = NULL },
};

const struct cli_command cli_cmd_approve = {
    .name = "approve",
    .operands = "ID",
    .summary = "Approves what an agent wants to do",
    .details =
        "On a terminal all of it is shown first, and you say yes or no. What happens is what "
        "was shown: when the target has changed since, it is asked again. Where something "
        "about it is dangerous (strangers' text was read before, places of the text are "
        "suspicious, there is no sandbox), approving takes a second word, anyway, or the "
        "option of that name. For an effect of which nobody knows whether it happened, it means: "
        "do it "
        "again. `dormouse inbox` lists the ids.",
    .options = approve_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_approve,
};

/* ---- reject ---- */

static int run_reject(const struct cli_args *args)
{
    struct decide decide = { .decision = "reject", .reason = cli_value(args, "reason") };

    return decide_with(args, &decide);
}

static const struct cli_option reject_options[] = {
    { .name = "reason", .value = "TEXT", .help = "why; the agent is told" },
    { .name = NULL },
};

const struct cli_command cli_cmd_reject = {
    .name = "reject",
    .operands = "ID",
    .summary = "Says no to what an agent wants to do",
    .details =
        "The run goes on without it: the agent learns that it was rejected, and why when you "
        "say so.",
    .options = reject_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_reject,
};

/* ---- edit ---- */

/* --input: JSON, or the name of a file with JSON, or - for standard input. */
static int read_input(const char *typed, struct json_object **ret_input, struct err *err)
{
    AUTO_BUF text = BUF_INIT(LIMIT_JSON_BYTES);
    int r = 0;

    if (typed[0] == '{')
        buf_add_text(&text, typed);
    else if (strcmp(typed, "-") == 0)
        r = cli_read_stdin(&text, err);
    else
        r = file_read(typed, &text, err);
    if (r < 0)
        return err_wrap(err, "--input");
    if (json_parse(buf_str(&text), ret_input, err) < 0)
        return err_wrap(err, "--input is not JSON");
    return 0;
}

static int edit_in_editor(struct talk *talk, const char *id, struct decide_edited *edited,
                          struct err *err)
{
    AUTO_JSON item = NULL;

    if (!isatty(STDIN_FILENO))
        return err_set(err, ERR_BAD_REQUEST,
                       "there is no terminal for an editor; give the arguments with --input, or "
                       "the text of a memory file with --content");
    if (decide_get_item(talk, str_from(id), &item, err) < 0)
        return -1;
    return decide_edit_item(item, edited, err);
}

/* --content: the name of a file, or - for standard input. */
static int read_content(const char *typed, struct buf *out, struct err *err)
{
    int r = strcmp(typed, "-") == 0 ? cli_read_stdin(out, err) : file_read(typed, out, err);

    return r < 0 ? err_wrap(err, "--content") : 1;
}

static int get_edited(const struct cli_args *args, struct talk *talk, struct decide_edited *edited,
                      struct err *err)
{
    int r;

    if (cli_value(args, "input"))
        return read_input(cli_value(args, "input"), &edited->input, err) < 0 ? -1 : 1;
    if (cli_value(args, "content")) {
        edited->is_text = true;
        return read_content(cli_value(args, "content"), &edited->content, err);
    }
    r = edit_in_editor(talk, cli_operand(args, 0), edited, err);
    if (r == 0)
        return err_set(err, ERR_CANCELLED,
                       "nothing was changed, so nothing was decided; `dormouse approve` takes it "
                       "as it is");
    return r;
}

static int run_edit(const struct cli_args *args)
{
    struct decide_edited edited = DECIDE_EDITED_INIT;
    AUTO(talk) talk = NULL;
    struct err err = ERR_INIT;
    int r;

    if (talk_open(args, &talk, &err) < 0 || get_edited(args, talk, &edited, &err) < 0)
        r = cli_fail(args, &err);
    else
        r = send_it(args, talk,
                    &(struct decide){ .decision = "edit",
                                      .anyway = cli_has(args, "anyway"),
                                      .input = edited.input,
                                      .content = edited.is_text ? &edited.content : NULL });
    decide_edited_release(&edited);
    return r;
}

static const struct cli_option edit_options[] = {
    { .name = "input", .value = "FILE", .help = "the arguments: a file, - or JSON itself" },
    { .name = "content", .value = "FILE", .help = "the text of a memory file: a file or -" },
    { .name = "anyway", .help = "although something about it is dangerous" },
    { .name = NULL },
};

const struct cli_command cli_cmd_edit = {
    .name = "edit",
    .operands = "ID",
    .summary = "Changes the arguments of what an agent wants to do, and approves that",
    .details = "Opens $VISUAL or $EDITOR on the arguments as JSON, or on the text that an agent "
               "wants to remember; an editor that ends without success, or a file that was not "
               "changed, decides nothing. Where something about the item is dangerous, --anyway is "
               "needed, as with `dormouse approve`.",
    .options = edit_options,
    .operands_min = 1,
    .operands_max = 1,
    .run = run_edit,
};

/* ---- answer ---- */

static int run_answer(const struct cli_args *args)
{
    struct decide decide = { .decision = "answer", .answer = cli_operand(args, 1) };

    return decide_with(args, &decide);
}

const struct cli_command cli_cmd_answer = {
    .name = "answer",
    .operands = "ID TEXT",
    .summary = "Answers a question of an agent",
    .operands_min = 2,
    .operands_max = 2,
    .run = run_answer,
};
