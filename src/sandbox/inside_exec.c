/* One command with the caller's terminal: `dormouse sandbox exec`.
 *
 * The thread that waits for it also looks at the limits.
 *
 * Exits as the command does: its code, 128 + signal, 124 when its time was over, 125 when a limit
 * ended it, 126 or 127 when it could not be started.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "sandbox/inside_int.h"

#define GRACE_MS 1000

enum { EXIT_TIMEOUT = 124, EXIT_SANDBOX = 125, EXIT_DENIED = 126, EXIT_ABSENT = 127 };

static int64_t now_ms(void)
{
    return clock_mono_ms(clock_system());
}

static int exit_code(const struct inside_child *child, bool timed_out)
{
    if (child->limit) {
        fprintf(stderr, "dormouse: %s\n", child->message);
        return EXIT_SANDBOX;
    }
    if (timed_out) {
        fprintf(stderr, "dormouse: the command took too long and was ended\n");
        return EXIT_TIMEOUT;
    }
    return WIFSIGNALED(child->status) ? 128 + WTERMSIG(child->status) : WEXITSTATUS(child->status);
}

static void wait_until(int signals, int64_t until)
{
    struct pollfd in = { .fd = signals, .events = POLLIN };
    int64_t left = until - now_ms();
    struct signalfd_siginfo info;

    if (poll(&in, 1, left > 0 ? (int)left : 0) > 0 && read(signals, &info, sizeof(info)) > 0)
        inside_reap();
}

static bool wait_for(struct inside_child *child, int signals, int64_t limit_ms)
{
    int64_t deadline = limit_ms > 0 ? now_ms() + limit_ms : INT64_MAX;
    int64_t look_at = now_ms() + INSIDE_LOOK_MS;
    bool timed_out = false;

    while (!child->ended) {
        wait_until(signals, look_at < deadline ? look_at : deadline);
        if (!child->ended && now_ms() >= look_at)
            look_at = inside_watch_look() + now_ms();
        if (!child->ended && now_ms() >= deadline) {
            procs_kill(child->pid, timed_out ? SIGKILL : SIGTERM);
            timed_out = true;
            deadline = now_ms() + GRACE_MS;
        }
    }
    return timed_out;
}

int inside_exec(const struct inside_setup *setup, int socket)
{
    struct inside_child child;
    struct err err = ERR_INIT;
    sigset_t wanted;
    bool timed_out;
    int signals;
    char text[ERR_TEXT_MAX];

    /* From here on an exit code is the command's. */
    if (write(socket, "hello", 5) != 5)
        return EXIT_SANDBOX;
    close(socket);
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (inside_child_start(
            &(struct inside_spawn){
                .argv = setup->argv, .cwd = setup->cwd, .fds = { 0, 1, 2 }, .extra = -1 },
            &child, &err) < 0) {
        fprintf(stderr, "dormouse: %s\n", err_format(&err, text, sizeof(text)));
        return err.code == ERR_NOT_FOUND ? EXIT_ABSENT : EXIT_DENIED;
    }
    timed_out = wait_for(&child, signals, setup->time_limit_ms);
    if (inside_guard_last(NULL, child.message))
        return EXIT_SANDBOX;
    return exit_code(&child, timed_out);
}
