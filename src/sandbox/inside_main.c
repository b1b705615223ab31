/* dormouse-hand: what runs inside the sandbox.
 *
 *     dormouse-hand serve
 *     dormouse-hand exec
 *     dormouse-hand stage PROGRAM ARGUMENTS...   (as root: what comes before bubblewrap)
 *
 * Started by the keeper alone, with descriptors as hand_int.h numbers them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sandbox/forward.h"
#include "sandbox/hand_int.h"
#include "sandbox/inside_int.h"
#include "sandbox/walls.h"

#define EXIT_SANDBOX 125

static void set_signals(bool off)
{
    sigset_t blocked;

    /* Children are collected by one thread; the terminal's signals are for the command. */
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGCHLD);
    if (off)
        sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    /* Our own files are bounded by the limit too: an error is enough. */
    signal(SIGXFSZ, SIG_IGN);
}

static int close_in(const struct inside_setup *setup, bool connects, struct err *err)
{
    int abi, listener;

    if (inside_rlimits(setup, err) < 0)
        return -1;
    /* When there is no process namespace, orphans would go to somebody else. */
    if (setup->off)
        return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (inside_answer_start(err) < 0 || inside_landlock(setup, &abi, err) < 0 ||
        inside_seccomp(connects, &listener, err) < 0)
        return -1;
    if (abi == 0 && setup->argv[0])
        fprintf(stderr, "dormouse: this kernel has no Landlock: one wall is missing, and denied "
                        "places that do not exist yet are not denied\n");
    return inside_answer_listen(listener, err);
}

static void *forward(void *arg)
{
    forward_run((int)(intptr_t)arg, WALLS_PROXY, -1);
    return NULL;
}

/* From a loopback port to the keeper's proxy. */
static int start_forward(int port, struct err *err)
{
    pthread_t thread;
    uint16_t taken;
    int fd, r = forward_listen((uint16_t)port, &fd, &taken);

    if (r >= 0)
        r = -pthread_create(&thread, NULL, forward, (void *)(intptr_t)fd);
    if (r < 0)
        return err_set(err, ERR_SANDBOX_UNAVAILABLE, "the way to the proxy: %s", strerror(-r));
    pthread_detach(thread);
    return 0;
}

/* Whoever renamed things while the walls were built has not moved a wall. */
static int check_views(const struct inside_setup *setup, struct err *err)
{
    for (size_t i = 0; i < setup->view_count; i++)
        if (place_check(&setup->views[i], err) < 0)
            return -1;
    return 0;
}

static int prepare(const struct inside_setup *setup, bool serves, struct err *err)
{
    bool connects = setup->off || inside_connect_works();

    set_signals(setup->off);
    if (check_views(setup, err) < 0)
        return -1;
    inside_guard(setup);
    inside_create_init(setup, connects);
    if (inside_connect_init(setup, err) < 0)
        return -1;
    inside_watch_init(setup);
    /* It connects to the proxy's socket, which lies outside: before the filter. */
    if (setup->proxy_port > 0 && start_forward(setup->proxy_port, err) < 0)
        return -1;
    /* Nobody inside may read or trace us. The filter refuses this to everybody else. */
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return err_set(err, ERR_SANDBOX_UNAVAILABLE, "prctl: %s", strerror(errno));
    if (close_in(setup, connects, err) < 0)
        return -1;
    /* While one command runs, who waits for it can look as well. */
    if (serves && inside_watch_start(err) < 0)
        return -1;
    return 0;
}

/* Before there are threads. Where it fails the watch is left. */
static void join_groups(const struct inside_setup *setup)
{
    int fds[CGROUP_FILES_MAX];

    for (int i = 0; i < setup->groups; i++)
        fds[i] = HAND_FD_GROUPS + i;
    cgroup_join(fds, setup->groups);
}

int main(int argc, char **argv)
{
    bool serves = argc == 2 && strcmp(argv[1], "serve") == 0;
    bool stages = argc > 3 && strcmp(argv[1], "stage") == 0;
    struct inside_setup setup;
    struct err err = ERR_INIT;
    char text[ERR_TEXT_MAX];
    int code;

    if (!serves && !stages && (argc != 2 || strcmp(argv[1], "exec") != 0)) {
        fprintf(stderr, "dormouse-hand is started by dormouse\n");
        return EXIT_SANDBOX;
    }
    if (inside_setup_read(HAND_FD_SETUP, &setup, &err) < 0) {
        fprintf(stderr, "%s\n", err_format(&err, text, sizeof(text)));
        return EXIT_SANDBOX;
    }
    if (stages) {
        inside_stage(&setup, argv[2], argv + 3);
        return EXIT_SANDBOX;
    }
    fcntl(HAND_FD_SOCKET, F_SETFD, FD_CLOEXEC);
    close(HAND_FD_SETUP);
    close(HAND_FD_PROGRAM);
    prctl(PR_SET_NAME, HAND_NAME);
    join_groups(&setup);
    if (prepare(&setup, serves, &err) < 0) {
        fprintf(stderr, "%s\n", err_format(&err, text, sizeof(text)));
        return EXIT_SANDBOX;
    }
    code = serves ? inside_serve(&setup, HAND_FD_SOCKET) : inside_exec(&setup, HAND_FD_SOCKET);
    /* The other threads run on until the process ends: nothing is taken from under them. */
    fflush(NULL);
    _exit(code);
}
