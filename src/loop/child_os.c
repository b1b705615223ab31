/* The life of a real child on libuv.
 *
 *     runs --(time limit, cancel)--> SIGTERM --(grace)--> SIGKILL
 *      \________________________________\____________________\
 *                  pidfd readable: it has ended
 *                                 |
 *               both outputs at their end, or drain time over
 *                                 |
 *            kill what is left, wait4(), tell, close the handles
 *
 * It is waited for as the very last thing: until then the zombie keeps its number, so that no
 * signal to the group can hit a stranger.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "loop/child_int.h"
#include "loop/child_spawn.h"

#define READ_BYTES    65536
#define READS_AT_ONCE 8 /* then the others have their turn */
#define DRAIN_READS   64

enum { WATCH_EXIT = 0, WATCH_INPUT, WATCH_OUT, WATCH_ERR, WATCHES };

struct watch {
    uv_poll_t poll;
    int fd; /* -1: closed or never there */
    bool paused;
};

struct child_os {
    struct child child; /* first */
    struct watch watches[WATCHES];
    unsigned handles; /* not yet closed by libuv */
    int status_fd;
    char *path, *cwd; /* for messages */
    struct buf input;
    bool input_ends; /* when it is written */
    struct loop_timer limit, drain;
    int last_signal;
    bool ended;   /* the process has */
    bool drained; /* drain time is over */
    bool finished;
};

static struct child_os *os_of(struct child *child)
{
    return (struct child_os *)child;
}

static void maybe_finish(struct child_os *os);

/* ---- watched descriptors ---- */

static void on_closed(uv_handle_t *handle)
{
    struct child_os *os = handle->data;

    if (--os->handles > 0)
        return;
    buf_release(&os->input);
    free(os->path);
    free(os->cwd);
    free(os);
}

static void watch_close(struct watch *watch)
{
    if (watch->fd < 0)
        return;
    uv_poll_stop(&watch->poll);
    close(watch->fd);
    watch->fd = -1;
    uv_close((uv_handle_t *)&watch->poll, on_closed);
}

static void watch_start(struct child_os *os, int which, int fd, int events, uv_poll_cb fn)
{
    struct watch *watch = &os->watches[which];

    watch->fd = fd;
    if (fd < 0)
        return;
    if (uv_poll_init(loop_uv(os->child.loop), &watch->poll, fd) < 0)
        BUG("uv_poll_init");
    watch->poll.data = os;
    os->handles++;
    if (events && uv_poll_start(&watch->poll, events, fn) < 0)
        BUG("uv_poll_start");
}

/* Returns false when there is nothing more to read now. */
static bool read_once(struct child_os *os, int which)
{
    char bytes[READ_BYTES];
    struct watch *watch = &os->watches[which];
    ssize_t n = read(watch->fd, bytes, sizeof(bytes));

    if (n > 0) {
        child_take(&os->child, which == WATCH_OUT ? CHILD_OUT : CHILD_ERR,
                   str_of(bytes, (size_t)n));
        return watch->fd >= 0 && !watch->paused;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    watch_close(watch);
    return false;
}

static void on_output(struct child_os *os, int which)
{
    for (int i = 0; i < READS_AT_ONCE && read_once(os, which); i++)
        ;
    maybe_finish(os);
}

static void on_out(uv_poll_t *poll, int status, int events)
{
    (void)status, (void)events;
    on_output(poll->data, WATCH_OUT);
}

static void on_err(uv_poll_t *poll, int status, int events)
{
    (void)status, (void)events;
    on_output(poll->data, WATCH_ERR);
}

static void os_pause(struct child *child, enum child_stream stream, bool paused)
{
    struct child_os *os = os_of(child);
    int which = stream == CHILD_OUT ? WATCH_OUT : WATCH_ERR;
    struct watch *watch = &os->watches[which];

    if (watch->fd < 0 || watch->paused == paused)
        return;
    watch->paused = paused;
    if (paused)
        uv_poll_stop(&watch->poll);
    else
        uv_poll_start(&watch->poll, UV_READABLE, which == WATCH_OUT ? on_out : on_err);
    /* Time in which nobody wanted to read does not count. */
    if (!paused && os->ended) {
        os->drained = false;
        loop_timer_start(child->loop, &os->drain, child->drain_ms);
    }
}

/* ---- input ---- */

static void on_writable(uv_poll_t *poll, int status, int events)
{
    struct child_os *os = poll->data;
    struct watch *watch = &os->watches[WATCH_INPUT];
    ssize_t n = 0;

    (void)status, (void)events;
    if (os->input.n > 0) {
        n = write(watch->fd, os->input.p, os->input.n);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        /* EPIPE: it does not want to hear more. */
        buf_consume(&os->input, n < 0 ? os->input.n : (size_t)n);
    }
    if (n < 0 || (os->input.n == 0 && os->input_ends))
        watch_close(watch);
    else if (os->input.n == 0)
        uv_poll_stop(&watch->poll);
}

static void want_write(struct child_os *os)
{
    if (os->watches[WATCH_INPUT].fd >= 0)
        uv_poll_start(&os->watches[WATCH_INPUT].poll, UV_WRITABLE, on_writable);
}

static int os_write(struct child *child, struct str bytes, struct err *err)
{
    struct child_os *os = os_of(child);

    if (os->watches[WATCH_INPUT].fd < 0)
        return 0;
    if (bytes.n > CHILD_INPUT_BYTES - os->input.n)
        return err_set(err, ERR_TOO_LARGE, "%s has not read %zu bytes of its input yet", os->path,
                       os->input.n);
    buf_add_str(&os->input, bytes);
    want_write(os);
    return 0;
}

static void os_close_input(struct child *child)
{
    os_of(child)->input_ends = true;
    want_write(os_of(child));
}

/* ---- the end ---- */

static void fill_result(struct child_os *os)
{
    struct child_result *result = &os->child.result;
    struct rusage usage;
    int status;

    if (wait4(os->child.pid, &status, 0, &usage) != os->child.pid) {
        err_set(&result->err, ERR_INTERNAL, "wait for %s: %s", os->path, strerror(errno));
        return;
    }
    child_spawn_status(os->status_fd, os->path, os->cwd, &result->err);
    result->cpu_ms = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * INT64_C(1000) +
                     (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
    result->memory_peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
    if (result->err.code != ERR_NONE)
        return;
    if (WIFSIGNALED(status))
        result->signal = WTERMSIG(status);
    else
        result->exit_code = WEXITSTATUS(status);
}

static bool outputs_closed(const struct child_os *os)
{
    return os->watches[WATCH_OUT].fd < 0 && os->watches[WATCH_ERR].fd < 0;
}

/* What lies in the pipe when the drain time is over still counts; nobody is waited for. */
static void drain(struct child_os *os)
{
    for (int which = WATCH_OUT; which <= WATCH_ERR; which++)
        for (int i = 0; i < DRAIN_READS && os->watches[which].fd >= 0 &&
                        !os->watches[which].paused && read_once(os, which);
             i++)
            ;
}

static void finish(struct child_os *os)
{
    struct child *child = &os->child;

    os->finished = true;
    loop_timer_stop(child->loop, &os->limit);
    loop_timer_stop(child->loop, &os->drain);
    if (!outputs_closed(os))
        drain(os);
    kill(-child->pid, SIGKILL);
    /* Looking through /proc costs a millisecond: only when somebody may be left. */
    if (!outputs_closed(os) || os->last_signal)
        proc_kill_session(child->pid);
    fill_result(os);
    close(os->status_fd);
    for (int i = 0; i < WATCHES; i++)
        watch_close(&os->watches[i]);
    /* Freed by the last close callback, which comes later. */
    child_finish(child);
}

static void maybe_finish(struct child_os *os)
{
    /* A reader who pauses wants the rest, unless the child was killed. */
    bool waits =
        (os->watches[WATCH_OUT].paused || os->watches[WATCH_ERR].paused) && !os->last_signal;

    if (os->finished || !os->ended)
        return;
    if (outputs_closed(os) || (os->drained && !waits))
        finish(os);
}

static void on_drain(struct loop_timer *timer)
{
    struct child_os *os = CONTAINER(timer, struct child_os, drain);

    os->drained = true;
    maybe_finish(os);
}

static void on_end(uv_poll_t *poll, int status, int events)
{
    struct child_os *os = poll->data;

    (void)status, (void)events;
    uv_poll_stop(poll);
    os->ended = true;
    loop_timer_stop(os->child.loop, &os->limit);
    loop_timer_start(os->child.loop, &os->drain, os->child.drain_ms);
    maybe_finish(os);
}

/* ---- killing ---- */

static void signal_group(struct child_os *os, int sig)
{
    os->last_signal = sig;
    if (!os->ended)
        kill(-os->child.pid, sig);
    if (sig == SIGTERM)
        loop_timer_start(os->child.loop, &os->limit, os->child.grace_ms);
    else
        proc_kill_session(os->child.pid);
}

static void on_limit(struct loop_timer *timer)
{
    struct child_os *os = CONTAINER(timer, struct child_os, limit);

    if (os->last_signal == 0)
        os->child.result.timed_out = true;
    signal_group(os, os->last_signal == 0 ? SIGTERM : SIGKILL);
}

static void os_cancel(struct child *child)
{
    struct child_os *os = os_of(child);

    if (os->ended || os->last_signal)
        return;
    child->result.cancelled = true;
    signal_group(os, SIGTERM);
}

/* ---- start ---- */

static void watch_all(struct child_os *os, const struct spawned *spawned)
{
    watch_start(os, WATCH_EXIT, spawned->pidfd, UV_READABLE, on_end);
    watch_start(os, WATCH_INPUT, spawned->input, 0, NULL);
    watch_start(os, WATCH_OUT, spawned->output[CHILD_OUT], UV_READABLE, on_out);
    watch_start(os, WATCH_ERR, spawned->output[CHILD_ERR], UV_READABLE, on_err);
}

static int os_start(struct loop *loop, const struct child_config *config, struct child **ret_child,
                    struct err *err)
{
    struct spawned spawned;
    struct child_os *os;

    if (!loop_uv(loop))
        BUG("a fake loop has no processes: child_fake_install()");
    if (child_spawn(config, &spawned, err) < 0)
        return -1;
    os = NEW(struct child_os);
    child_init(&os->child, &child_os_ops, loop, config);
    os->child.pid = spawned.pid;
    os->child.stamp = proc_stamp(spawned.pid);
    os->status_fd = spawned.status;
    os->path = alloc_text(config->path);
    os->cwd = alloc_text(config->cwd ? config->cwd : "/");
    os->limit.fire = on_limit;
    os->drain.fire = on_drain;
    watch_all(os, &spawned);
    os->input = BUF_INIT(CHILD_INPUT_BYTES);
    buf_add_str(&os->input, config->input);
    os->input_ends = !config->input_open;
    want_write(os);
    if (config->time_limit_ms > 0)
        loop_timer_start(loop, &os->limit, config->time_limit_ms);
    *ret_child = &os->child;
    return 0;
}

const struct child_ops child_os_ops = {
    .start = os_start,
    .cancel = os_cancel,
    .write = os_write,
    .close_input = os_close_input,
    .pause = os_pause,
};
