/* The hand's own parts: what it is told, how it closes itself in, and how it serves.
 *
 * In order: setup is read; rlimits; Landlock; the seccomp filter, whose refusals a thread answers
 * and reports; then either requests are served (one thread each) or one command is run. The hand
 * is process 1 of its namespace: it collects whoever ends, nothing inside can signal or trace it,
 * and when it ends the kernel kills the rest.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_INSIDE_INT_H
#define DORMOUSE_SANDBOX_INSIDE_INT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/json.h"
#include "sandbox/frame.h"
#include "sandbox/op_int.h"

/* ---- setup: inside_setup.c ---- */

/* What the keeper wrote into a memory file before the start; trusted. */
struct inside_setup {
    struct json_object *doc; /* holds the texts */
    bool off;
    const char *cwd;
    const char **allow_write, **deny_read, **deny_names, **deny_write, **argv; /* end with NULL */
    uint64_t memory, processes, disk;
    int64_t time_limit_ms;     /* 0: none (one command), else of a command that names none */
    int groups;                /* descriptors for joining control groups */
    int proxy_port;            /* 0: no network at all */
    struct json_object *state; /* of an earlier hand; may be NULL */
};
int inside_setup_read(int fd, struct inside_setup *setup, struct err *err);
void inside_setup_release(struct inside_setup *setup);

/* ---- walls of its own ---- */

/* 0, or the step that failed in err. A kernel without Landlock is no failure: *ret_abi is 0. */
int inside_landlock(const struct inside_setup *setup, int *ret_abi, struct err *err);
/* Installs the filter and gives the descriptor where refused calls arrive. */
int inside_seccomp(int *ret_listener, struct err *err);
/* The name of a refused call ("mount"), never NULL. */
const char *inside_call_name(int nr);
int inside_rlimits(const struct inside_setup *setup, struct err *err);

/* ---- notices: inside_notice.c ---- */

/* Sends a notice, in serve mode to the keeper, else to stderr. Any thread; at most
 * NOTICES_PER_SECOND, the rest is counted and said with the next. */
#define NOTICES_PER_SECOND 8
void inside_notice(const char *kind, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Where they go: a function that takes one frame's JSON; NULL: stderr. */
void inside_notice_to(void (*send)(struct str json));
/* Answers a refused call, which the listener says is there, with EPERM. */
void inside_answer_call(int listener);
/* A thread that answers all of them. */
int inside_answer_calls(int listener, struct err *err);

/* ---- processes: inside_proc.c ---- */

struct proc_info {
    pid_t pid, parent, session;
    bool zombie;
    uint64_t bytes; /* resident and its own */
    unsigned threads;
    char name[32];
};
#define PROCS_MAX 4096
/* Our descendants, and those that were left to us; returns their number, at most PROCS_MAX.
 * *ret_list is to be freed. */
size_t procs_read(struct proc_info **ret_list);
/* Whether there are more than that, zombies and all, besides us; reads no more than it must. For
 * process 1. */
bool procs_more_than(size_t limit);
/* Signals the session that leader leads and all descendants of its members. Returns how many. */
int procs_kill(pid_t leader, int sig);
/* All of them, until none is left. */
void procs_kill_all(void);

/* ---- settings: inside_guard.c ---- */

#define INSIDE_MESSAGE_MAX 400
/* Remembers what is at the places that setup denies writing to. */
void inside_guard(const struct inside_setup *setup);
/* Whether something else is there now: it is set aside and reported, and message (of the last)
 * says so. Any thread. */
bool inside_guard_look(char message[INSIDE_MESSAGE_MAX]);

/* ---- children: inside_child.c ---- */

/* One running command; the caller's memory. */
struct inside_child {
    pid_t pid;
    int event;                        /* an eventfd, readable when it has ended */
    const char *limit;                /* for which it was ended ("memory"), else NULL */
    char message[INSIDE_MESSAGE_MAX]; /* about that */
    atomic_bool ended;                /* set after status */
    int status;                       /* as wait() gives it */
    struct inside_child *next;
};
struct inside_spawn {
    const char *const *argv; /* argv[0] is looked up in PATH */
    const char *cwd;
    int fds[3];   /* become 0, 1, 2 */
    int extra;    /* becomes OP_BASH_CWD_FD; -1: none */
    bool session; /* of its own */
};
#define OP_BASH_CWD_FD 198
int inside_child_start(const struct inside_spawn *spawn, struct inside_child *child,
                       struct err *err);
/* Forgets it. */
void inside_child_release(struct inside_child *child);
/* Collects whoever has ended; called when SIGCHLD came. */
void inside_reap(void);
/* While it is closed nothing is started. */
void inside_gate(bool close);
/* Tells all commands under way that they are being ended because of a limit. */
void inside_child_over(const char *limit, const char *message);

/* ---- the watch: inside_watch.c ---- */

#define INSIDE_LOOK_MS 40 /* until the first look */

/* What there is before anything runs. */
void inside_watch_init(const struct inside_setup *setup);
/* Looks at processes, memory and disk. Returns in how many milliseconds to look again. */
int inside_watch_look(void);
/* A thread that looks. */
int inside_watch_start(struct err *err);

/* ---- the two ways to work ---- */

int inside_serve(const struct inside_setup *setup, int socket);
int inside_exec(const struct inside_setup *setup, int socket, int listener);

#endif
