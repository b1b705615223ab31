/* Following a run to its end.
 *
 * One poll(2) over the stream, the terminal and a pipe that signals write to.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "cli/cli_int.h"
#include "cli/leave.h"

/* The daemon closes connections that are idle for 75 s, and those that never asked after 20 s. */
#define SIDE_IDLE_MS 15000

/* ---- Ctrl-C ---- */

static volatile sig_atomic_t interrupts;
static int interrupt_pipe[2] = { -1, -1 };

static void wake_up(void)
{
    ssize_t n = write(interrupt_pipe[1], "", 1);

    (void)n;
}

static void on_interrupt(int number)
{
    int kept = errno;

    (void)number;
    if (++interrupts > 1) { /* the daemon may not answer what the first one asked of it */
        leave_say();
        _exit(CLI_FAILED);
    }
    wake_up();
    errno = kept;
}

int follow_catch_interrupts(void)
{
    struct sigaction act = { .sa_handler = on_interrupt };

    if (interrupt_pipe[0] < 0 && pipe2(interrupt_pipe, O_CLOEXEC | O_NONBLOCK) < 0)
        return -1;
    sigaction(SIGINT, &act, NULL);
    leave_catch(wake_up);
    return interrupt_pipe[0];
}

int follow_interrupts(void)
{
    char drop[8];

    while (interrupt_pipe[0] >= 0 && read(interrupt_pipe[0], drop, sizeof(drop)) > 0)
        continue;
    return interrupts;
}

void follow_forget_interrupts(void)
{
    interrupts = 0;
}

/* ---- life ---- */

int follow_open(struct follow *f, const struct cli_args *args, struct err *err)
{
    *f = (struct follow){ .args = args,
                          .typed = BUF_INIT(64 * KIB),
                          .side_used_ms = clock_mono_ms(clock_system()),
                          .exit_code = CLI_FAILED };
    f->person = !cli_json(args) && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    show_init(&f->show, stdout);
    f->show.quiet = f->person;
    if (f->person)
        term_watch(wake_up);
    if (talk_open(args, &f->stream.talk, err) < 0)
        return -1;
    return talk_again(f->stream.talk, &f->side, err);
}

void follow_release(struct follow *f)
{
    follow_items_release(f);
    run_stream_release(&f->stream);
    talk_free(f->side);
    buf_release(&f->typed);
    if (f->show.out)
        show_release(&f->show);
}

/* ---- events ---- */

static void note_error(struct follow *f, struct json_object *event)
{
    bool recoverable = false;
    char code[64];

    json_get_bool(event, "recoverable", &recoverable, NULL);
    snprintf(code, sizeof(code), "%.*s", STR_ARG(json_str(json_find(event, "code"))));
    if (!recoverable)
        f->error = err_from_name(code);
}

static int exit_of(const struct follow *f, struct str reason)
{
    if (str_is(reason, "end_turn"))
        return CLI_DONE;
    if (str_is(reason, "error") && f->error && f->error != ERR_SECRET_UNAVAILABLE &&
        err_http_status(f->error) == 403)
        return CLI_DENIED;
    return CLI_FAILED;
}

static void print_event(struct follow *f, struct str json, struct json_object *event)
{
    if (!cli_json(f->args)) {
        follow_unask(f);
        show_event(&f->show, event);
        return;
    }
    fwrite(json.p, 1, json.n, stdout);
    putchar('\n');
    fflush(stdout);
}

static void take_event(struct follow *f, struct str json, struct json_object *event)
{
    struct str type = json_str(json_find(event, "type"));

    print_event(f, json, event);
    if (str_is(type, "waiting"))
        follow_note_waiting(f, event);
    else if (str_is(type, "error"))
        note_error(f, event);
    if (!str_is(type, "done"))
        return;
    f->exit_code = exit_of(f, json_str(json_find(event, "stopReason")));
    f->over = true;
}

/* ---- asking the daemon ---- */

static int ask_about_run(struct follow *f, const char *method, const char *what,
                         struct json_object **ret_answer, struct err *err)
{
    char path[RUN_ID_SIZE + 64];

    snprintf(path, sizeof(path), "/api/v1/runs/%s%s", f->stream.run_id, what);
    f->side_used_ms = clock_mono_ms(clock_system());
    return talk_ask(f->side, method, path, strcmp(method, "GET") == 0 ? STR_NONE : STR("{}"),
                    ret_answer, err);
}

/* One that did not arrive may be asked for again. */
static void cancel(struct follow *f)
{
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;

    follow_unask(f);
    if (ask_about_run(f, "POST", "/cancel", &answer, &err) < 0) {
        cli_fail(f->args, &err);
        follow_forget_interrupts();
        return;
    }
    f->cancelled = true;
    leave_note_cancelled(true);
}

/* Ctrl-C and the signals that end a program. True: leave now. A run whose first event has not come
 * can't be cancelled yet. */
static bool take_signals(struct follow *f)
{
    enum leave how = leave_asked();
    bool pressed = follow_interrupts() > 0;

    if (how == LEAVE_DETACH) {
        leave_say();
        return true;
    }
    if (!f->stream.run_id[0])
        return false;
    if (!f->cancelled && (how == LEAVE_CANCEL || pressed))
        cancel(f);
    if (how == LEAVE_CANCEL && !f->cancelled) {
        leave_say();
        return true;
    }
    return false;
}

/* Nobody here can decide: the command is over when nothing else goes on in the run. */
static bool only_waits(struct follow *f)
{
    AUTO_JSON run = NULL;
    struct err err = ERR_INIT;

    if (ask_about_run(f, "GET", "", &run, &err) < 0)
        return true;
    return str_is(json_str(json_find(run, "status")), "waiting");
}

static void tell_cost(struct follow *f)
{
    AUTO_JSON run = NULL;
    struct err err = ERR_INIT;

    if (!cli_json(f->args) && isatty(STDOUT_FILENO) && ask_about_run(f, "GET", "", &run, &err) == 0)
        show_cost(&f->show, run);
}

/* A fenced front end can't open another connection: this one must not fall asleep. */
static void keep_awake(struct follow *f)
{
    AUTO_JSON answer = NULL;
    struct err err = ERR_INIT;
    int64_t now = clock_mono_ms(clock_system());

    if (!f->stream.keep || now - f->side_used_ms < SIDE_IDLE_MS)
        return;
    f->side_used_ms = now;
    (void)talk_ask(f->side, "GET", "/healthz", STR_NONE, &answer, &err);
}

/* ---- the stream ---- */

/* All events that are there: 0, or -1 when the daemon can't be found again. */
static int drain(struct follow *f, struct err *err)
{
    struct str json;
    int r = 1;

    while (r == 1 && !f->over) {
        AUTO_JSON event = NULL;

        r = run_stream_next(&f->stream, &json, &event, err);
        if (r == 1)
            take_event(f, json, event);
    }
    return r < 0 ? -1 : 0;
}

static void wait_for_something(struct follow *f)
{
    struct pollfd fds[] = {
        { .fd = talk_fd(f->stream.talk), .events = POLLIN },
        { .fd = interrupt_pipe[0], .events = POLLIN },
        { .fd = f->person && f->asked ? STDIN_FILENO : -1, .events = POLLIN },
    };
    /* While another call of a run that waits goes on, its end is no event of the stream's. */
    int wait_ms = f->items && !f->person ? 100 : f->stream.keep ? SIDE_IDLE_MS : -1;

    if (f->person && follow_ask_in(f) >= 0)
        wait_ms = follow_ask_in(f);
    poll(fds, ARRAY_LEN(fds), wait_ms);
    if (fds[2].revents && !follow_is_lost(f) && follow_typed(f) < 0)
        f->person = false;
}

static void say_waiting(struct follow *f)
{
    for (struct follow_item *item = f->items; f->show.quiet && item; item = item->next)
        show_how_to_decide(&f->show, str_from(item->id), str_from(item->kind));
    f->exit_code = CLI_WAITING;
    f->over = true;
}

static int follow_to_end(struct follow *f, struct err *err)
{
    while (!f->over) {
        if (drain(f, err) < 0)
            return -1;
        if (f->over)
            break;
        if (take_signals(f))
            return 0;
        keep_awake(f);
        if (f->items && !f->cancelled && f->person)
            follow_ask(f);
        if (f->items && !f->cancelled && !f->person && only_waits(f)) {
            if (drain(f, err) < 0)
                return -1;
            if (!f->over)
                say_waiting(f);
            continue;
        }
        wait_for_something(f);
    }
    return 0;
}

int follow_run(struct follow *f, const char *path, struct str body)
{
    struct err err = ERR_INIT;

    if (talk_follow(f->stream.talk, "POST", path, body, &err) < 0 || follow_to_end(f, &err) < 0) {
        const char *advice = show_advice(err.code, str_from(err_message(&err, 0)));

        show_release(&f->show);
        f->exit_code = cli_fail(f->args, &err);
        if (advice && !cli_json(f->args))
            fprintf(stderr, "  %s\n", advice);
        return f->exit_code;
    }
    if (f->exit_code != CLI_WAITING && !f->cancelled)
        tell_cost(f);
    return f->exit_code;
}
