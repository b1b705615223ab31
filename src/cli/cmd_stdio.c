/* dormouse stdio: JSON lines both ways.
 *
 * Lines in: prompts, decisions, cancel, setMode. Lines out: the events of the runs, one after the
 * other, exactly as the daemon sends them. One run at a time; further prompts wait for their turn,
 * in one conversation. A line that can't be used gives an error event and nothing else.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "base/rand.h"
#include "base/timefmt.h"
#include "base/uuid.h"
#include "cli/cli_int.h"
#include "cli/commands_int.h"
#include "cli/decide.h"
#include "cli/follow.h"
#include "cli/leave.h"
#include "cli/run_stream.h"

#define LINE_BYTES (LIMIT_WEBSOCKET_BYTES)
#define QUEUE_MAX  64
#define WAITING_MS 200 /* between looks at a run that waits, after the end of input */

struct prompt {
    struct prompt *next;
    struct json_object *body;
    int64_t line;
};

struct stdio {
    const struct cli_args *args;
    struct talk *side;
    struct run_stream stream;
    bool running, waits, eof, skipping;
    bool told;      /* to leave, and did what there was to do */
    int interrupts; /* that were acted on */
    struct prompt *first, **last;
    int queued;
    struct buf in;
    int64_t line; /* that is being read, from 1 */
    struct uuid_source ids;
    char session[UUID_TEXT_SIZE], cwd[PATH_MAX];
    int exit_code;
};

/* ---- out ---- */

static void put_line(struct str json)
{
    fwrite(json.p, 1, json.n, stdout);
    putchar('\n');
    fflush(stdout);
}

/* An event of our own: it belongs to a line, not to a run. */
static void put_error(int64_t line, const struct err *err)
{
    AUTO_BUF out = BUF_INIT(16 * KIB);
    struct json_writer w = JSON_WRITER(&out);
    char text[ERR_TEXT_MAX + 64], at[TIMEFMT_SIZE];

    timefmt_rfc3339(clock_wall_ms(clock_system()), at);
    json_write_object_begin(&w);
    json_put_text(&w, "type", "error");
    json_put_text(&w, "at", at);
    if (line) {
        json_put_i64(&w, "line", line);
    }
    json_put_text(&w, "code", err_name(err->code));
    json_put_text(&w, "message", err_format(err, text, sizeof(text)));
    json_put_bool(&w, "recoverable", true);
    json_write_object_end(&w);
    if (json_write_end(&w) == 0)
        put_line(buf_str(&out));
}

/* ---- runs ---- */

static void drop_first(struct stdio *s)
{
    struct prompt *prompt = s->first;

    s->first = prompt->next;
    if (!s->first)
        s->last = &s->first;
    s->queued--;
    json_object_put(prompt->body);
    free(prompt);
}

static int queue_prompt(struct stdio *s, struct json_object *body, struct err *err)
{
    struct prompt *prompt;

    if (s->queued == QUEUE_MAX)
        return err_set(err, ERR_RATE_LIMITED, "%d prompts wait already", QUEUE_MAX);
    prompt = NEW(struct prompt);
    *prompt = (struct prompt){ .body = json_object_get(body), .line = s->line };
    *s->last = prompt;
    s->last = &prompt->next;
    s->queued++;
    return 0;
}

static void default_text(struct json_object *body, const char *key, const char *text)
{
    if (!json_object_object_get_ex(body, key, NULL))
        json_object_object_add(body, key, json_object_new_string(text));
}

/* What is not said: this directory, one conversation, and a turn of its own. */
static int write_body(struct stdio *s, struct json_object *body, struct buf *out, struct err *err)
{
    struct json_writer w = JSON_WRITER(out);
    char turn[UUID_TEXT_SIZE];

    json_object_object_del(body, "type");
    default_text(body, "cwd", s->cwd);
    if (!json_object_object_get_ex(body, "thread", NULL))
        default_text(body, "session", s->session);
    uuid_next_text(&s->ids, turn);
    default_text(body, "turnId", turn);
    json_write_value(&w, body);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "the prompt is too long");
    return 0;
}

static int start(struct stdio *s, const struct prompt *prompt, struct err *err)
{
    AUTO_BUF body = BUF_INIT(LIMIT_HTTP_BODY_BYTES);
    struct talk *talk = NULL;

    if (write_body(s, prompt->body, &body, err) < 0 || talk_again(s->side, &talk, err) < 0)
        return -1;
    if (run_stream_start(&s->stream, talk, "/run", buf_str(&body), err) < 0) {
        run_stream_release(&s->stream);
        return -1;
    }
    s->running = true;
    s->waits = false;
    leave_note_cancelled(false);
    return 0;
}

static void start_next(struct stdio *s)
{
    while (!s->running && s->first) {
        struct err err = ERR_INIT;

        if (start(s, s->first, &err) < 0) {
            put_error(s->first->line, &err);
            s->exit_code = CLI_FAILED;
        }
        drop_first(s);
    }
}

static void end_run(struct stdio *s)
{
    run_stream_release(&s->stream);
    s->running = s->waits = false;
}

static void take_event(struct stdio *s, struct str json, struct json_object *event)
{
    struct str type = json_str(json_find(event, "type"));

    put_line(json);
    if (str_is(type, "waiting"))
        s->waits = true;
    if (!str_is(type, "done"))
        return;
    if (!str_is(json_str(json_find(event, "stopReason")), "end_turn"))
        s->exit_code = CLI_FAILED;
    end_run(s);
}

static void drain(struct stdio *s)
{
    struct err err = ERR_INIT;
    struct str json;
    int r = 1;

    while (r == 1 && s->running) {
        AUTO_JSON event = NULL;

        r = run_stream_next(&s->stream, &json, &event, &err);
        if (r == 1)
            take_event(s, json, event);
    }
    if (r >= 0)
        return;
    put_error(0, &err);
    s->exit_code = CLI_FAILED;
    end_run(s);
}

static int ask_about_run(struct stdio *s, const char *method, const char *what, struct str body,
                         struct json_object **ret_answer, struct err *err)
{
    char path[RUN_ID_SIZE + 64];

    if (!s->running || !s->stream.run_id[0])
        return err_set(err, ERR_CONFLICT, "no run is under way");
    snprintf(path, sizeof(path), "/api/v1/runs/%s%s", s->stream.run_id, what);
    return talk_ask(s->side, method, path, body, ret_answer, err);
}

/* ---- in ---- */

static int copy_text(struct json_object *line, const char *key, const char **ret_text,
                     struct err *err)
{
    struct str text;

    if (json_get_str(line, key, &text, err) < 0)
        return -1;
    *ret_text = json_object_get_string(json_find(line, key));
    return 0;
}

static int take_decision(struct stdio *s, struct json_object *line, struct err *err)
{
    AUTO_JSON answer = NULL;
    struct decide decide = { .input = json_find(line, "input") };
    const char *id = NULL;

    if (copy_text(line, "gateId", &id, err) < 0 ||
        copy_text(line, "decision", &decide.decision, err) < 0 ||
        copy_text(line, "scope", &decide.scope, err) < 0 ||
        copy_text(line, "reason", &decide.reason, err) < 0 ||
        copy_text(line, "answer", &decide.answer, err) < 0 ||
        json_get_bool(line, "anyway", &decide.anyway, err) < 0)
        return -1;
    if (!id || !decide.decision)
        return err_set(err, ERR_BAD_REQUEST, "approval_response needs gateId and decision");
    return decide_send(s->side, id, &decide, &answer, err);
}

static int take_memory_decision(struct stdio *s, struct json_object *line, struct err *err)
{
    AUTO_BUF content = BUF_INIT(LIMIT_HTTP_BODY_BYTES);
    AUTO_JSON answer = NULL;
    struct decide decide = { .decision = NULL };
    struct str edited = STR_NONE;
    const char *id = NULL;

    if (copy_text(line, "request_id", &id, err) < 0 ||
        copy_text(line, "decision", &decide.decision, err) < 0 ||
        copy_text(line, "reason", &decide.reason, err) < 0 ||
        json_get_str(line, "edited_content", &edited, err) < 0 ||
        json_get_bool(line, "anyway", &decide.anyway, err) < 0)
        return -1;
    if (!id || !decide.decision)
        return err_set(err, ERR_BAD_REQUEST, "memory_edit_decision needs request_id and decision");
    buf_add_str(&content, edited);
    decide.content = edited.p ? &content : NULL;
    return decide_send(s->side, id, &decide, &answer, err);
}

static int take_cancel(struct stdio *s, struct json_object *line, struct err *err)
{
    AUTO_JSON answer = NULL;

    (void)line;
    if (ask_about_run(s, "POST", "/cancel", STR("{}"), &answer, err) < 0)
        return -1;
    leave_note_cancelled(true);
    return 0;
}

static int take_mode(struct stdio *s, struct json_object *line, struct err *err)
{
    AUTO_BUF body = BUF_INIT(64 * KIB);
    AUTO_JSON answer = NULL;
    struct json_writer w = JSON_WRITER(&body);

    json_object_object_del(line, "type");
    json_write_value(&w, line);
    if (json_write_end(&w) < 0)
        return err_set(err, ERR_TOO_LARGE, "setMode is too long");
    return ask_about_run(s, "POST", "/mode", buf_str(&body), &answer, err);
}

static int take_prompt(struct stdio *s, struct json_object *line, struct err *err)
{
    struct str prompt;
    int r = json_get_str(line, "prompt", &prompt, err);

    if (r == 0)
        return err_set(err, ERR_BAD_REQUEST,
                       "a line is {\"prompt\":...}, or has type approval_response, "
                       "memory_edit_decision, cancel or setMode");
    return r < 0 ? -1 : queue_prompt(s, line, err);
}

static int take_object(struct stdio *s, struct json_object *line, struct err *err)
{
    static const struct {
        const char *type;
        int (*take)(struct stdio *s, struct json_object *line, struct err *err);
    } table[] = {
        { "prompt", take_prompt },
        { "approval_response", take_decision },
        { "memory_edit_decision", take_memory_decision },
        { "cancel", take_cancel },
        { "setMode", take_mode },
    };
    struct str type = json_str(json_find(line, "type"));

    if (!json_object_is_type(line, json_type_object))
        return err_set(err, ERR_BAD_REQUEST, "a line must be a JSON object");
    if (!json_find(line, "type"))
        return take_prompt(s, line, err);
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (str_is(type, table[i].type))
            return table[i].take(s, line, err);
    }
    return err_set(err, ERR_BAD_REQUEST, "there is no type \"%.*s\"", STR_ARG(str_take(type, 80)));
}

static void take_line(struct stdio *s, struct str text)
{
    AUTO_JSON line = NULL;
    struct err err = ERR_INIT;

    s->line++;
    if (s->skipping) {
        s->skipping = false;
        return;
    }
    text = str_trim(text);
    if (!text.n)
        return;
    /* A run whose first event has not come can't be steered yet. */
    while (s->running && !s->stream.run_id[0])
        drain(s);
    if (json_parse(text, &line, &err) < 0 || take_object(s, line, &err) < 0)
        put_error(s->line, &err);
    start_next(s);
}

static void too_long(struct stdio *s)
{
    struct err err = ERR_INIT;

    if (!s->skipping) {
        err_set(&err, ERR_TOO_LARGE, "a line may have %u bytes", LINE_BYTES);
        put_error(s->line + 1, &err);
    }
    s->skipping = true;
    buf_release(&s->in);
    s->in = BUF_INIT(LINE_BYTES);
}

static void read_input(struct stdio *s)
{
    char room[16 * KIB];
    ssize_t n = read(STDIN_FILENO, room, sizeof(room));
    struct str rest = str_of(room, n > 0 ? (size_t)n : 0);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    while (rest.n) {
        ptrdiff_t end = str_find_char(rest, '\n');
        struct str part = end < 0 ? rest : str_take(rest, (size_t)end);

        if (buf_add_str(&s->in, part) < 0)
            too_long(s);
        rest = str_skip(rest, end < 0 ? rest.n : (size_t)end + 1);
        if (end >= 0) {
            take_line(s, buf_str(&s->in));
            buf_clear(&s->in);
        }
    }
    if (n > 0)
        return;
    s->eof = true;
    if (s->in.n || s->skipping)
        take_line(s, buf_str(&s->in));
}

/* ---- the loop ---- */

/* No more lines come, so nobody decides: what waits stays in the inbox. */
static bool only_waits(struct stdio *s)
{
    AUTO_JSON run = NULL;
    struct err err = ERR_INIT;

    if (!s->eof || !s->waits)
        return false;
    return ask_about_run(s, "GET", "", STR_NONE, &run, &err) < 0 ||
           str_is(json_str(json_find(run, "status")), "waiting");
}

static void leave_waiting(struct stdio *s)
{
    while (s->first) {
        struct err err = ERR_INIT;

        err_set(&err, ERR_CONFLICT, "not started: the run before it waits for a person");
        put_error(s->first->line, &err);
        drop_first(s);
    }
    s->exit_code = CLI_WAITING;
    end_run(s);
}

static void interrupted(struct stdio *s)
{
    struct err err = ERR_INIT;

    while (s->first)
        drop_first(s);
    s->eof = true;
    s->exit_code = CLI_FAILED;
    while (s->running && !s->stream.run_id[0])
        drain(s);
    if (s->running && take_cancel(s, NULL, &err) < 0) {
        put_error(0, &err);
        follow_forget_interrupts();
    }
}

/* Ctrl-C and the signals that end a program. True: leave now. */
static bool take_signals(struct stdio *s)
{
    int count = follow_interrupts();

    if (leave_asked() == LEAVE_DETACH) {
        s->exit_code = CLI_FAILED;
        leave_say();
        while (s->first)
            drop_first(s);
        if (s->running)
            end_run(s);
        return true;
    }
    if (count > s->interrupts || (leave_asked() == LEAVE_CANCEL && !s->told))
        interrupted(s);
    s->interrupts = follow_interrupts();
    s->told = leave_asked() != LEAVE_NOT;
    return false;
}

static void serve_lines(struct stdio *s, int interrupt_fd)
{
    while (s->running || s->first || !s->eof) {
        struct pollfd fds[] = {
            { .fd = s->eof ? -1 : STDIN_FILENO, .events = POLLIN },
            { .fd = s->running ? talk_fd(s->stream.talk) : -1, .events = POLLIN },
            { .fd = interrupt_fd, .events = POLLIN },
        };

        poll(fds, ARRAY_LEN(fds), s->eof && s->waits ? WAITING_MS : -1);
        if (take_signals(s))
            return;
        if (s->running)
            drain(s);
        if (fds[0].revents)
            read_input(s);
        if (only_waits(s)) {
            drain(s);
            if (s->running)
                leave_waiting(s);
        }
        start_next(s);
        if (s->running)
            drain(s);
    }
}

static int run_stdio(const struct cli_args *args)
{
    struct stdio s = { .args = args, .in = BUF_INIT(LINE_BYTES), .last = &s.first };
    struct err err = ERR_INIT;

    uuid_source_init(&s.ids, clock_system(), rand_system());
    uuid_next_text(&s.ids, s.session);
    if (!realpath(".", s.cwd))
        err_set(&err, ERR_BAD_REQUEST, "the working directory is gone: %s", strerror(errno));
    if (err.code || talk_open(args, &s.side, &err) < 0)
        return cli_fail(args, &err);
    serve_lines(&s, follow_catch_interrupts());
    talk_free(s.side);
    buf_release(&s.in);
    return s.exit_code;
}

const struct cli_command cli_cmd_stdio = {
    .name = "stdio",
    .operands = "",
    .summary = "Speaks with agents by JSON lines: prompts and decisions in, events out",
    .details =
        "One JSON object a line on standard input:\n\n"
        "  {\"prompt\":\"tidy this folder\",\"agent\":\"...\",\"mode\":\"structured\"}\n"
        "  {\"type\":\"approval_response\",\"gateId\":\"...\",\"decision\":\"approve\"}\n"
        "  {\"type\":\"memory_edit_decision\",\"request_id\":\"...\",\"decision\":\"approve\"}\n"
        "  {\"type\":\"setMode\",\"mode\":\"wiggum\"}\n"
        "  {\"type\":\"cancel\"}\n\n"
        "A prompt also takes model, thread, cwd, session and maxIterations; a decision is approve "
        "(scope once, run or always), reject (reason), edit (input; edited_content for memory) or "
        "answer (answer). Approving or editing what has danger takes \"anyway\": true besides. "
        "Events come "
        "out one a line, as `dormouse run --json` prints them. Prompts are run one after the other "
        "in one conversation. A line that can't be used gives an error event with its number, and "
        "the session goes on.\n\n"
        "It ends at the end of input, when the runs are done: with 0, with 1 when one failed, with "
        "3 when one waits for a person. Ctrl-C and SIGTERM cancel the run under way, SIGHUP leaves "
        "it going on; then it ends with 1. A second Ctrl-C leaves at once.",
    .run = run_stdio,
};
