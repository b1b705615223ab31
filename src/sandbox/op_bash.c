/* bash: a command with a time limit, its output bounded, its directory kept for the next one.
 *
 *     {"command", "timeout_s"?, "merge"?}  ->
 *     {"exit_code" or null, "signal"?, "stdout", "stderr" (or "output"), "truncated", "timed_out",
 *      "cwd", "limit"?, "message"?}
 *
 * The shell leads a session of its own. It is done when it has ended and its output was read, or a
 * moment later when a background process holds the output open; that one stays, and what it writes
 * is read and thrown away, so that it does not die of it.
 *
 * The directory in which the shell ended comes through a pipe that an EXIT trap writes to. A
 * command that replaces the trap or the shell keeps the old directory. When it is gone by the next
 * command, that one begins in the nearest directory above.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_put.h"
#include "base/limits.h"
#include "sandbox/drain_int.h"
#include "sandbox/inside_int.h"
#include "sandbox/keep.h"

#define COMMAND_MAX (120 * KIB) /* the kernel takes 128 KiB in one argument */
#define KEEP_BYTES  (32 * KIB)  /* of each stream */
#define GRACE_MS    300
#define DRAIN_MS    120
#define READ_BYTES  65536
#define TICK_MS     100 /* cancel is looked at this often */

enum { OUT = 0, ERR, CWD, STREAMS };

struct command {
    struct op_ctx *ctx;
    struct inside_child child;
    int fds[STREAMS]; /* our ends; -1 when closed */
    struct keep kept[2];
    char cwd[LIMIT_PATH_BYTES];
    size_t cwd_n;
    bool merge, timed_out, cancelled;
    int64_t deadline_ms, kill_ms; /* kill_ms: when SIGKILL follows, 0 before SIGTERM */
};

static int64_t now_ms(void)
{
    return clock_mono_ms(clock_system());
}

/* ---- start ---- */

static int check_command(struct str text, struct err *err)
{
    if (text.n == 0)
        return err_set(err, ERR_BAD_REQUEST, "bash: \"command\" is empty");
    if (text.n > COMMAND_MAX)
        return err_set(err, ERR_TOO_LARGE, "bash: a command of %zu bytes, at most %u are allowed",
                       text.n, COMMAND_MAX);
    if (memchr(text.p, '\0', text.n))
        return err_set(err, ERR_BAD_REQUEST, "bash: \"command\" holds a NUL character");
    return 0;
}

static void close_all(int *fds, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

static int make_pipes(struct command *c, int *theirs, struct err *err)
{
    for (int i = 0; i < STREAMS; i++) {
        int ends[2];

        c->fds[i] = theirs[i] = -1;
        if (i == ERR && c->merge)
            continue;
        if (pipe2(ends, O_CLOEXEC) < 0)
            return err_set(err, ERR_INTERNAL, "bash: pipe: %s", strerror(errno));
        c->fds[i] = ends[0];
        theirs[i] = ends[1];
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
    }
    return 0;
}

static bool can_enter(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode) && access(path, X_OK) == 0;
}

/* Where the last command ended may be gone. A shell that could begin nowhere could not be told to
 * go elsewhere either: it begins in the nearest directory above. */
static void leave_lost(struct op_ctx *ctx)
{
    char *cwd = arena_text(ctx->arena, ctx->state->cwd), *slash;

    if (can_enter(cwd))
        return;
    while (!can_enter(cwd) && (slash = strrchr(cwd, '/')) != NULL && slash != cwd)
        *slash = '\0';
    op_state_set_cwd(ctx, can_enter(cwd) ? cwd : "/");
}

static int start(struct command *c, struct str text, struct err *err)
{
    const char *script =
        arena_printf(c->ctx->arena, "trap 'builtin pwd -P >&%d 2>/dev/null' EXIT; %.*s",
                     OP_BASH_CWD_FD, STR_ARG(text));
    const char *argv[] = { "/bin/bash", "-c", script, NULL };
    int theirs[STREAMS] = { -1, -1, -1 }, r = -1;
    AUTO_FD null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (make_pipes(c, theirs, err) == 0)
        r = inside_child_start(
            &(struct inside_spawn){
                .argv = argv,
                .cwd = c->ctx->state->cwd,
                .fds = { null, theirs[OUT], c->merge ? theirs[OUT] : theirs[ERR] },
                .extra = theirs[CWD],
                .session = true,
            },
            &c->child, err);
    close_all(theirs, STREAMS);
    if (r < 0)
        close_all(c->fds, STREAMS);
    return r;
}

/* ---- reading ---- */

static void close_stream(struct command *c, int which)
{
    close(c->fds[which]);
    c->fds[which] = -1;
}

static void take(struct command *c, int which, const char *bytes, size_t n)
{
    if (which != CWD) {
        keep_add(&c->kept[which], bytes, n);
        return;
    }
    if (n > sizeof(c->cwd) - 1 - c->cwd_n)
        n = sizeof(c->cwd) - 1 - c->cwd_n;
    memcpy(c->cwd + c->cwd_n, bytes, n);
    c->cwd_n += n;
}

static void read_stream(struct command *c, int which)
{
    char bytes[READ_BYTES];
    ssize_t n;

    do {
        n = read(c->fds[which], bytes, sizeof(bytes));
        if (n > 0)
            take(c, which, bytes, (size_t)n);
    } while (n == (ssize_t)sizeof(bytes) && !*c->ctx->cancelled);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        close_stream(c, which);
}

static bool streams_open(const struct command *c)
{
    return c->fds[OUT] >= 0 || c->fds[ERR] >= 0;
}

static void wait_and_read(struct command *c, int64_t until_ms)
{
    struct pollfd polls[STREAMS + 1];
    int64_t left = until_ms - now_ms();

    for (int i = 0; i < STREAMS; i++)
        polls[i] = (struct pollfd){ .fd = c->fds[i], .events = POLLIN };
    polls[STREAMS] =
        (struct pollfd){ .fd = c->child.ended ? -1 : c->child.event, .events = POLLIN };
    poll(polls, STREAMS + 1, left < 0 ? 0 : left > TICK_MS ? TICK_MS : (int)left);
    for (int i = 0; i < STREAMS; i++)
        if (polls[i].fd >= 0 && polls[i].revents)
            read_stream(c, i);
}

/* ---- the end ---- */

static void begin_end(struct command *c)
{
    procs_kill(c->child.pid, SIGTERM);
    procs_kill(c->child.pid, SIGCONT);
    c->kill_ms = now_ms() + GRACE_MS;
}

static void watch_limits(struct command *c)
{
    int64_t now = now_ms();

    if (c->kill_ms == 0) {
        c->cancelled = *c->ctx->cancelled;
        c->timed_out = !c->cancelled && now >= c->deadline_ms;
        if (c->cancelled || c->timed_out)
            begin_end(c);
    } else if (now >= c->kill_ms) {
        procs_kill(c->child.pid, SIGKILL);
        c->kill_ms = now + GRACE_MS;
    }
}

static void run(struct command *c)
{
    int64_t drain_until;

    while (!c->child.ended) {
        int64_t next = c->kill_ms ? c->kill_ms : c->deadline_ms;

        wait_and_read(c, next);
        watch_limits(c);
    }
    drain_until = now_ms() + DRAIN_MS;
    while (streams_open(c) && now_ms() < drain_until && !*c->ctx->cancelled)
        wait_and_read(c, drain_until);
    /* What ended by force takes its descendants along. */
    if (c->kill_ms)
        procs_kill(c->child.pid, SIGKILL);
    if (c->fds[CWD] >= 0)
        read_stream(c, CWD);
}

/* A directory that we may go to, said by the trap in one line. */
static void keep_cwd(struct command *c)
{
    c->cwd[c->cwd_n] = '\0';
    if (c->cwd_n < 2 || c->cwd[0] != '/' || c->cwd[c->cwd_n - 1] != '\n')
        return;
    c->cwd[c->cwd_n - 1] = '\0';
    if (can_enter(c->cwd))
        op_state_set_cwd(c->ctx, c->cwd);
}

static void leave_streams(struct command *c)
{
    for (int i = 0; i < STREAMS; i++)
        if (c->fds[i] >= 0 && i != CWD)
            drain_take(c->fds[i]);
        else if (c->fds[i] >= 0)
            close(c->fds[i]);
}

static void write_stream(struct json_writer *out, const char *key, const struct keep *kept)
{
    AUTO_BUF text = BUF_INIT(2 * KEEP_BYTES);

    keep_write(kept, &text);
    json_put_str(out, key, buf_str(&text));
}

static void write_end(const struct command *c, struct json_writer *out)
{
    int status = c->child.status;

    json_write_key(out, "exit_code");
    if (WIFEXITED(status) && !c->child.limit)
        json_write_i64(out, WEXITSTATUS(status));
    else
        json_write_null(out);
    if (WIFSIGNALED(status)) {
        json_put_i64(out, "signal", WTERMSIG(status));
    }
}

/* What commands left behind and still runs. */
static int64_t count_background(void)
{
    struct proc_info *list;
    size_t n = procs_read(&list);
    int64_t alive = 0;

    for (size_t i = 0; i < n; i++)
        alive += !list[i].zombie;
    free(list);
    return alive;
}

static void write_result(const struct command *c, struct json_writer *out)
{
    int64_t background = count_background();

    json_write_object_begin(out);
    write_end(c, out);
    write_stream(out, c->merge ? "output" : "stdout", &c->kept[OUT]);
    if (!c->merge)
        write_stream(out, "stderr", &c->kept[ERR]);
    json_put_bool(out, "truncated", keep_cut(&c->kept[OUT]) || keep_cut(&c->kept[ERR]));
    json_put_bool(out, "timed_out", c->timed_out);
    if (c->child.limit) {
        json_put_text(out, "limit", c->child.limit);
        json_put_text(out, "message", c->child.message);
    }
    if (background > 0)
        json_put_i64(out, "background", background);
    json_put_text(out, "cwd", c->ctx->state->cwd);
    json_write_object_end(out);
}

static int finish(struct command *c, struct json_writer *out, struct err *err)
{
    keep_cwd(c);
    leave_streams(c);
    inside_child_release(&c->child);
    if (!c->cancelled)
        write_result(c, out);
    keep_release(&c->kept[OUT]);
    keep_release(&c->kept[ERR]);
    return c->cancelled ? err_set(err, ERR_CANCELLED, "the command was cancelled") : 0;
}

int op_bash(struct op_ctx *ctx, struct json_object *arguments, struct json_writer *out,
            struct err *err)
{
    struct command c = { .ctx = ctx, .fds = { -1, -1, -1 }, .deadline_ms = ctx->deadline_ms };
    struct str text = STR_NONE;

    if (json_get_str(arguments, "command", &text, err) < 0 ||
        json_get_bool(arguments, "merge", &c.merge, err) < 0 || check_command(text, err) < 0)
        return -1;
    keep_init(&c.kept[OUT], KEEP_BYTES);
    keep_init(&c.kept[ERR], KEEP_BYTES);
    leave_lost(ctx);
    if (start(&c, text, err) < 0)
        return -1;
    run(&c);
    return finish(&c, out, err);
}
