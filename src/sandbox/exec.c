/* One command behind the walls.
 *
 * The terminal stays the command's: nobody in between makes a new session, and all in between
 * ignore its interrupt keys. Typing into it from inside (TIOCSTI) is refused by the filter.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/visible.h"
#include "sandbox/cgroup.h"
#include "sandbox/hand_int.h"
#include "sandbox/hand_net.h"
#include "sandbox/spec_int.h"

/* Above those that get fixed numbers; a larger one would have the kernel grow the table of open
 * files, for which it waits for all processors. */
#define FIRST_FD 10

struct exec {
    struct loop *loop;
    struct cgroup *group;
    pid_t pid;
    int pidfd, socket;
    uv_poll_t ended;
    uv_signal_t terminate, hangup;
    bool done;
    int status;
};

/* ---- while it runs ---- */

static void on_ended(uv_poll_t *poll, int status, int events)
{
    struct exec *exec = poll->data;

    (void)status, (void)events;
    if (waitpid(exec->pid, &exec->status, WNOHANG) != exec->pid)
        return;
    uv_poll_stop(poll);
    exec->done = true;
    loop_stop(exec->loop);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct exec *exec = handle->data;

    (void)number;
    kill(exec->pid, SIGKILL);
}

static void watch(struct exec *exec)
{
    struct uv_loop_s *uv = loop_uv(exec->loop);

    uv_poll_init(uv, &exec->ended, exec->pidfd);
    uv_signal_init(uv, &exec->terminate);
    uv_signal_init(uv, &exec->hangup);
    exec->ended.data = exec->terminate.data = exec->hangup.data = exec;
    uv_poll_start(&exec->ended, UV_READABLE, on_ended);
    uv_signal_start(&exec->terminate, on_signal, SIGTERM);
    uv_signal_start(&exec->hangup, on_signal, SIGHUP);
}

static void on_closed(uv_handle_t *handle)
{
    int *left = handle->data;

    --*left;
}

static void unwatch(struct exec *exec)
{
    uv_handle_t *const handles[] = { (uv_handle_t *)&exec->ended, (uv_handle_t *)&exec->terminate,
                                     (uv_handle_t *)&exec->hangup };
    int left = ARRAY_LEN(handles);

    for (size_t i = 0; i < ARRAY_LEN(handles); i++) {
        handles[i]->data = &left;
        uv_close(handles[i], on_closed);
    }
    while (left > 0)
        uv_run(loop_uv(exec->loop), UV_RUN_NOWAIT);
}

/* ---- start ---- */

/* Descriptors become 3, 4, ... without treading on each other. */
static int spawn(struct exec *exec, const struct hand_start *start, const struct walls *walls,
                 struct err *err)
{
    posix_spawn_file_actions_t actions;
    int high[HAND_FDS_MAX] = { 0 }, r;

    posix_spawn_file_actions_init(&actions);
    for (size_t i = 0; i < start->n; i++) {
        high[i] = fcntl(start->fds[i], F_DUPFD_CLOEXEC, FIRST_FD);
        posix_spawn_file_actions_adddup2(&actions, high[i], HAND_FD_SOCKET + (int)i);
    }
    posix_spawn_file_actions_addclosefrom_np(&actions, HAND_FD_SOCKET + (int)start->n);
    r = posix_spawn(&exec->pid, start->path, &actions, NULL, (char *const *)start->argv,
                    (char *const *)walls->env.items);
    posix_spawn_file_actions_destroy(&actions);
    for (size_t i = 0; i < start->n; i++)
        close(high[i]);
    if (r != 0)
        return err_set(err, ERR_SANDBOX_UNAVAILABLE, "start the sandbox: %s", strerror(r));
    exec->pidfd = (int)syscall(SYS_pidfd_open, exec->pid, 0);
    return 0;
}

static int start_hand(struct exec *exec, const struct sandbox_spec *spec, const struct walls *walls,
                      const struct hand_told *told, struct err *err)
{
    struct hand_start start;
    int r = hand_start_init(&start, spec, walls, exec->group, told, err);

    if (r == 0)
        r = spawn(exec, &start, walls, err);
    if (r == 0) {
        exec->socket = start.socket;
        start.socket = -1;
    }
    hand_start_release(&start);
    return r;
}

static void say_refused(void *arg, const char *detail)
{
    (void)arg;
    fprintf(stderr, "dormouse: network: %s\n", detail);
}

/* The walls stood, and the exit code is the command's. Nobody need be woken for that while it
 * runs. */
static bool greeted(const struct exec *exec)
{
    char hello[8];

    return recv(exec->socket, hello, sizeof(hello), MSG_DONTWAIT) > 0;
}

static int run(struct exec *exec, const struct walls *walls, struct err *err)
{
    int r = 0;

    watch(exec);
    while (!exec->done && r == 0)
        r = loop_run(exec->loop, err);
    unwatch(exec);
    close(exec->pidfd);
    if (r < 0)
        return -1;
    if (!greeted(exec)) /* where none works at all, there is better advice */
        return sandbox_available(err) < 0 ? -1 : walls_explain_lent(walls, err);
    return WIFEXITED(exec->status) ? WEXITSTATUS(exec->status) : 128 + WTERMSIG(exec->status);
}

int sandbox_exec(struct loop *loop, const struct sandbox_spec *spec, const char *const *argv,
                 int64_t time_limit_ms, struct err *err)
{
    struct exec exec = { .loop = loop, .socket = -1 };
    struct walls_how how = { .own = hand_own_files(), .keep_terminal = true };
    AUTO(hand_net) net = NULL;
    AUTO_WALLS walls = { .cwd = NULL };
    bool domains = spec->allow_domains && spec->allow_domains[0];
    const char *unheld[SANDBOX_UNHELD_MAX];
    char closed[LIMIT_PATH_BYTES];
    void (*on_interrupt)(int), (*on_quit)(int);
    int r;

    if (hand_program(err) < 0)
        return -1;
    if (!spec->off && !walls_bwrap())
        return walls_explain(err, "");
    if (domains && !spec->off &&
        hand_net_start(loop, spec->allow_domains, say_refused, NULL, &net, err) < 0)
        return -1;
    how.proxy_socket = hand_net_socket(net);
    if (walls_build(spec, &how, &walls, err) < 0)
        return -1;
    if (walls.names_cut)
        fprintf(stderr, "dormouse: names: %s\n", WALLS_NAMES_CUT);
    if (walls.closed)
        fprintf(stderr, "dormouse: names: " WALLS_CLOSED "\n",
                visible_name(walls.closed, closed, sizeof(closed)));
    if (!spec->off)
        exec.group = spec_cgroup(spec);
    for (size_t i = 0, n = spec->off ? 0 : spec_unheld(exec.group, walls.cwd, unheld); i < n; i++)
        fprintf(stderr, "dormouse: limits: %s\n", unheld[i]);
    on_interrupt = signal(SIGINT, SIG_IGN);
    on_quit = signal(SIGQUIT, SIG_IGN);
    r = start_hand(
        &exec, spec, &walls,
        &(struct hand_told){ .proxy = net != NULL, .argv = argv, .time_limit_ms = time_limit_ms },
        err);
    if (r == 0)
        r = run(&exec, &walls, err);
    signal(SIGINT, on_interrupt);
    signal(SIGQUIT, on_quit);
    if (exec.socket >= 0)
        close(exec.socket);
    cgroup_free(exec.group);
    return r;
}
