/* dormouse chat: a conversation in the terminal.
 *
 * A message is POST /run, whose events are shown as they come; what a person says about a call
 * goes over a second connection. Nothing is kept here: a conversation is a thread in the daemon,
 * so closing the window loses nothing and /resume brings it back.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "base/rand.h"
#include "cli/chat_int.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/keeper.h"
#include "cli/leave.h"
#include "cli/term.h"

#define PROMPT   "> "
#define PROMPT_2 "| "
#define QUOTES   "\"\"\""
#define POLL_MS  200

void chat_set(char **slot, struct str value)
{
    free(*slot);
    *slot = value.n ? alloc_copy(value.p, value.n) : NULL;
}

void chat_say_error(struct chat *chat, const struct err *err)
{
    char text[ERR_TEXT_MAX];

    (void)chat;
    fputs(term_style(stdout, TERM_RED), stdout);
    printf("! ");
    term_text(stdout, err_format(err, text, sizeof(text)));
    printf("%s\n", term_style(stdout, TERM_PLAIN));
    fflush(stdout);
}

/* ---- text ---- */

static void put_text(struct chat *chat, struct str text, bool ends)
{
    AUTO_BUF out = BUF_INIT(16 * LIMIT_JSON_BYTES);

    markdown_set_width(chat->markdown, term_width(stdout));
    markdown_add(chat->markdown, text, &out);
    if (ends)
        markdown_end(chat->markdown, &out);
    fwrite(buf_text(&out), 1, out.n, stdout);
    fflush(stdout);
}

void chat_show_text(struct chat *chat, struct str text)
{
    put_text(chat, text, true);
}

/* The part that is not on the screen yet: after deltas comes the whole. */
static struct str unseen(struct chat *chat, struct json_object *event)
{
    struct str content = json_str(json_find(event, "content"));
    int64_t seq = 0, offset = 0, skip;

    json_get_i64(event, "seq", &seq, NULL);
    json_get_i64(event, "offset", &offset, NULL);
    if (seq != chat->text_seq) {
        put_text(chat, STR_NONE, true);
        chat->text_seq = seq;
        chat->text_shown = 0;
    }
    if (offset > chat->text_shown)
        return STR_NONE; /* what came before was missed: the whole follows */
    skip = chat->text_shown - offset;
    if (offset + (int64_t)content.n > chat->text_shown)
        chat->text_shown = offset + (int64_t)content.n;
    return str_skip(content, (size_t)skip);
}

static void show_said(struct chat *chat, struct json_object *event)
{
    bool partial = false;

    json_get_bool(event, "isPartial", &partial, NULL);
    put_text(chat, unseen(chat, event), !partial);
}

/* ---- a run's events ---- */

int chat_cancel(struct chat *chat, struct err *err)
{
    AUTO_JSON answer = NULL;
    char path[160];

    snprintf(path, sizeof(path), "/api/v1/runs/%s/cancel", chat->run_id);
    if (talk_ask(chat->talk, "POST", path, STR("{}"), &answer, err) < 0) {
        chat_line_count_breaks(true);
        return -1;
    }
    chat->cancelled = true;
    leave_note_cancelled(true);
    return 0;
}

static int take_waiting(struct chat *chat, struct json_object *event, struct err *err)
{
    struct str kind = json_str(json_find(event, "kind"));

    /* A call's question came with its approval_gate or memory_edit_request. */
    if (str_is(kind, "tool") || str_is(kind, "memory"))
        return 0;
    return chat_ask_item(chat, json_str(json_find(event, "itemId")), err) < 0 ? -1 : 0;
}

static void take_done(struct chat *chat, struct json_object *event)
{
    chat->over = true;
    chat->exit_code =
        str_is(json_str(json_find(event, "stopReason")), "error") ? CLI_FAILED : CLI_DONE;
}

static int take_event(struct chat *chat, struct str json, struct err *err)
{
    AUTO_JSON event = NULL;
    struct str type;

    if (json_parse(json, &event, err) < 0)
        return -1;
    type = json_str(json_find(event, "type"));
    snprintf(chat->run_id, sizeof(chat->run_id), "%.*s",
             STR_ARG(json_str(json_find(event, "runId"))));
    if (json_str(json_find(event, "threadId")).n)
        chat_set(&chat->thread, json_str(json_find(event, "threadId")));
    if (str_is(type, "text")) {
        show_said(chat, event);
        return 0;
    }
    put_text(chat, STR_NONE, true);
    show_event(&chat->show, event);
    if (str_is(type, "approval_gate"))
        return chat_ask_item(chat, json_str(json_find(event, "gateId")), err) < 0 ? -1 : 0;
    if (str_is(type, "memory_edit_request"))
        return chat_ask_item(chat, json_str(json_find(event, "request_id")), err) < 0 ? -1 : 0;
    if (str_is(type, "waiting"))
        return take_waiting(chat, event, err);
    if (str_is(type, "done"))
        take_done(chat, event);
    return 0;
}

/* A signal asks us to go: SIGTERM with the run, SIGHUP without. */
static int chat_depart(struct chat *chat, struct err *err)
{
    int r = 0;

    if (leave_asked() == LEAVE_CANCEL && chat->run_id[0])
        r = chat_cancel(chat, err);
    leave_say();
    chat->leave = chat->over = true;
    chat->exit_code = CLI_FAILED;
    return r;
}

/* Ctrl-C. One that did not arrive is said, and may be pressed again. */
static void chat_break(struct chat *chat)
{
    struct err err = ERR_INIT;

    chat_interrupted = 0;
    if (chat_cancel(chat, &err) < 0)
        chat_say_error(chat, &err);
}

static int follow_to_end(struct chat *chat, struct err *err)
{
    struct str json;
    int r;

    chat->over = chat->cancelled = false;
    while (!chat->over) {
        r = talk_next(chat->stream, POLL_MS, &json, err);
        if (r < 0)
            return -1;
        if (r == 0)
            return err_set(err, ERR_PROVIDER_FAILED, "the daemon ended the stream");
        if (r == 1 && take_event(chat, json, err) < 0)
            return -1;
        if (leave_asked())
            return chat_depart(chat, err);
        if (chat_interrupted && !chat->cancelled && chat->run_id[0])
            chat_break(chat);
    }
    put_text(chat, STR_NONE, true);
    return 0;
}

int chat_follow(struct chat *chat, struct err *err)
{
    int r;

    chat_line_count_breaks(true);
    r = follow_to_end(chat, err);
    chat_line_count_breaks(false);
    return r;
}

/* ---- a message ---- */

static int write_message(struct chat *chat, struct str prompt, struct buf *out, struct err *err)
{
    struct json_writer w = JSON_WRITER(out);
    char cwd[PATH_MAX], turn[UUID_TEXT_SIZE];

    uuid_next_text(&chat->ids, turn);
    json_write_object_begin(&w);
    json_put_str(&w, "prompt", prompt);
    json_put_given(&w, "cwd", getcwd(cwd, sizeof(cwd)));
    json_put_given(&w, "agent", chat->agent);
    json_put_given(&w, "mode", chat->mode);
    json_put_given(&w, "model", chat->model);
    json_put_given(&w, "turnId", turn);
    if (chat->thread)
        json_put_given(&w, "thread", chat->thread);
    else
        json_put_given(&w, "session", chat->session);
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "the message is too long");
    return 0;
}

int chat_say(struct chat *chat, struct str prompt, struct err *err)
{
    AUTO_BUF body = BUF_INIT(LIMIT_HTTP_BODY_BYTES);
    int r;

    chat->run_id[0] = '\0';
    chat_interrupted = 0;
    if (write_message(chat, prompt, &body, err) < 0)
        return -1;
    chat_line_count_breaks(true);
    r = talk_again(chat->talk, &chat->stream, err);
    if (r == 0)
        r = talk_follow(chat->stream, "POST", "/run", buf_str(&body), err);
    if (r == 0)
        r = follow_to_end(chat, err);
    chat_line_count_breaks(false);
    talk_free(chat->stream);
    chat->stream = NULL;
    return r;
}

/* ---- what is typed ---- */

/* Lines until a line that ends with three quotes. */
static enum chat_read read_block(struct chat *chat, struct buf *text)
{
    for (;;) {
        struct str line;
        enum chat_read got = chat_line_read(chat->line, PROMPT_2, &line);

        if (got == CHAT_INTERRUPTED)
            return got;
        if (got == CHAT_EOF)
            return CHAT_LINE;
        if (str_ends(line, STR(QUOTES))) {
            buf_add_str(text, str_take(line, line.n - 3));
            return CHAT_LINE;
        }
        buf_add_str(text, line);
        buf_add_char(text, '\n');
    }
}

/* A message: one line, or several. */
static enum chat_read read_message(struct chat *chat, struct buf *text)
{
    const char *prompt = PROMPT;
    struct str line;

    buf_clear(text);
    for (;;) {
        enum chat_read got = chat_line_read(chat->line, prompt, &line);

        if (got != CHAT_LINE)
            return text->n && got == CHAT_EOF ? CHAT_LINE : got;
        if (!text->n && str_starts(line, STR(QUOTES))) {
            buf_add_str(text, str_skip(line, 3));
            if (text->n)
                buf_add_char(text, '\n');
            return read_block(chat, text);
        }
        if (!str_ends(line, STR("\\"))) {
            buf_add_str(text, line);
            return CHAT_LINE;
        }
        buf_add_str(text, str_take(line, line.n - 1));
        buf_add_char(text, '\n');
        prompt = PROMPT_2;
    }
}

static void take_message(struct chat *chat, struct str text)
{
    struct err err = ERR_INIT;

    if (!str_trim(text).n)
        return;
    chat_line_keep(chat->line, text);
    if (str_trim(text).p[0] == '/') {
        chat_command(chat, text);
    } else if (chat_say(chat, text, &err) < 0) {
        put_text(chat, STR_NONE, true);
        chat_say_error(chat, &err);
        chat->exit_code = CLI_FAILED;
    }
}

static int ear_fd(void *arg)
{
    return chat_hear_fd(arg);
}

static bool ear_hear(void *arg)
{
    return chat_hear(arg);
}

static void converse(struct chat *chat)
{
    AUTO_BUF text = BUF_INIT(LIMIT_HTTP_BODY_BYTES / 2);
    unsigned breaks = 0;

    chat_line_listen(chat->line, &(struct chat_ear){ .fd = ear_fd, .hear = ear_hear, .arg = chat });
    while (!chat->leave) {
        enum chat_read got;

        leave_note_cancelled(false);
        if (chat_line_is_terminal(chat->line) && chat->thread)
            chat_hear_start(chat);
        got = read_message(chat, &text);

        if (got == CHAT_EOF)
            break;
        if (got == CHAT_INTERRUPTED) {
            if (++breaks > 1)
                printf("Ctrl-D or /quit leaves.\n");
            fflush(stdout);
            continue;
        }
        breaks = 0;
        take_message(chat, buf_str(&text));
        fflush(stdout);
    }
    if (chat_line_is_terminal(chat->line) && !chat->leave)
        fputc('\n', stdout);
}

/* ---- the command ---- */

static void greet(const struct chat *chat)
{
    if (!chat_line_is_terminal(chat->line))
        return;
    printf("%sSpeak; /help shows what else there is, Ctrl-D leaves.%s\n",
           term_style(stdout, TERM_DIM), term_style(stdout, TERM_PLAIN));
    fflush(stdout);
}

static int begin(struct chat *chat, struct err *err)
{
    const char *thread = cli_value(chat->args, "thread");
    char id[UUID_TEXT_SIZE];

    uuid_next_text(&chat->ids, id);
    chat_set(&chat->session, str_from(id));
    chat_set(&chat->agent, str_from(cli_operand(chat->args, 0)));
    chat_set(&chat->mode, str_from(cli_value(chat->args, "mode")));
    chat_set(&chat->model, str_from(cli_value(chat->args, "model")));
    if (talk_open(chat->args, &chat->talk, err) < 0)
        return -1;
    greet(chat);
    if (thread || cli_has(chat->args, "continue"))
        return chat_resume(chat, str_from(thread), err);
    return 0;
}

static void chat_release(struct chat *chat)
{
    show_release(&chat->show);
    markdown_free(chat->markdown);
    chat_line_free(chat->line);
    talk_free(chat->stream);
    chat_hear_stop(chat);
    talk_free(chat->talk);
    free(chat->agent);
    free(chat->thread);
    free(chat->session);
    free(chat->model);
    free(chat->mode);
}

static int run_chat(const struct cli_args *args)
{
    int64_t begun = clock_wall_ms(clock_system());
    struct chat chat = { .args = args };
    struct err err = ERR_INIT;

    term_use_utf8();
    uuid_source_init(&chat.ids, clock_system(), rand_system());
    chat.line = chat_line_new(cli_data_dir(args), chat_complete, &chat);
    chat.markdown = markdown_new(term_width(stdout), term_colours(stdout));
    show_init(&chat.show, stdout);
    chat.show.quiet = true;
    if (begin(&chat, &err) < 0)
        chat.exit_code = cli_fail(args, &err);
    else
        converse(&chat);
    chat_release(&chat);
    if (chat.exit_code == CLI_DONE)
        keeper_hint_alarms(args, begun);
    return chat.exit_code;
}

static const struct cli_option options[] = {
    { .name = "thread", .value = "THREAD", .help = "goes on with this conversation" },
    { .name = "continue", .help = "goes on with the newest conversation" },
    { .name = "mode",
      .value = "MODE",
      .help = "structured: asks before it acts; wiggum: goes on by itself until it is done",
      .choices = "structured wiggum" },
    { .name = "model", .value = "ID", .help = "the model to think with, instead of the agent's" },
    { .name = NULL },
};

const struct cli_command cli_cmd_chat = {
    .name = "chat",
    .operands = "[AGENT]",
    .summary = "A conversation in the terminal",
    .details =
        "Answers appear as they are written. When a call needs your approval it is shown, and you "
        "say yes, no, or change it. Ctrl-C cancels what runs and not the conversation; pressed "
        "again before that is done, it leaves at once. Ctrl-D "
        "leaves. SIGTERM cancels what runs and leaves; SIGHUP, when the terminal is closed, leaves "
        "it going on. A line that ends with a backslash goes on in the next, and \"\"\" begins and "
        "ends "
        "several lines. /help lists the commands.\n\n"
        "What you type is kept in the data directory (chat_history) for the Up key, except lines "
        "that look like secrets or begin with a space. An alarm that an agent set in this "
        "conversation rings while you type or wait.\n\n"
        "Without a terminal, lines are read and answers printed plainly:\n\n"
        "  echo \"what is in this folder?\" | dormouse chat",
    .options = options,
    .operands_min = 0,
    .operands_max = 1,
    .run = run_chat,
};
