/* Child processes: started without growing with our own size, bounded in everything, and gone
 * when they are done.
 *
 * A child leads a session and process group of its own. It gets the environment, working
 * directory, descriptors and limits that its config names and nothing else. When the time limit
 * passes or it is cancelled, the group gets SIGTERM and after a grace SIGKILL. It is done when the
 * process itself has ended and its output was read, or the drain time is over: a background
 * process that holds the pipe open does not keep it alive. What is left of its group is killed
 * then, and of its whole session when it was killed or something still holds its output.
 *
 * What this cannot catch is a process that has left the session with setsid(): only a process
 * namespace can, which is the sandbox's work. When the daemon itself is killed the child gets
 * SIGKILL from the kernel; its descendants stay until child_reap() at the next start.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_LOOP_CHILD_H
#define DORMOUSE_LOOP_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"

struct child;

#define CHILD_FDS_MAX     16
#define CHILDREN_MAX      256 /* of one loop at a time */
#define CHILD_INPUT_BYTES (8u << 20)
#define CHILD_GRACE_MS    2000
#define CHILD_DRAIN_MS    250

enum child_stream { CHILD_OUT = 0, CHILD_ERR };

/* 0: not limited, except files: their soft limit becomes what child_set_files() said. */
struct child_limits {
    uint64_t cpu_s;
    uint64_t memory_bytes; /* address space of each process */
    uint64_t processes;    /* of the user, over all; root is not bound by it */
    uint64_t file_bytes;
    uint64_t files; /* open at a time */
};

struct child_result {
    /* ERR_NONE, or why it never ran: not_found, path_denied, too_large, bad_request, internal. */
    struct err err;
    int exit_code; /* -1 when a signal ended it or it never ran */
    int signal;    /* 0 when it exited by itself */
    bool timed_out;
    bool cancelled;
    bool truncated[2];     /* by stream: more came than was kept */
    struct str out, error; /* what was kept; valid while done runs */
    int64_t duration_ms;
    int64_t cpu_ms; /* of it and of what it waited for */
    uint64_t memory_peak_bytes;
};

/* Everything is copied by child_start(). */
struct child_config {
    const char *path;        /* with a slash in it: PATH is not searched */
    const char *const *argv; /* with argv[0], ends with NULL */
    const char *const *env;  /* "NAME=value", ends with NULL; NULL: empty */
    const char *cwd;         /* NULL: / */
    mode_t umask;            /* 0: 077 */
    struct child_limits limits;
    struct str input; /* for stdin, which is then closed; at most CHILD_INPUT_BYTES */
    bool input_open;  /* more comes by child_write(). Without both, stdin is /dev/null */
    const int *fds;   /* become 3, 4, ... in the child */
    size_t fd_count;
    bool merge;              /* stderr into stdout */
    size_t out_max, err_max; /* kept bytes; 0: LIMIT_CHILD_OUTPUT_BYTES. The rest is read and
                                thrown away, so the child never blocks on it */
    int64_t time_limit_ms;   /* 0: none */
    int64_t grace_ms;        /* from SIGTERM to SIGKILL; 0: CHILD_GRACE_MS */
    int64_t drain_ms;        /* for output after the end; 0: CHILD_DRAIN_MS */
    /* When set, output is handed over as it comes and nothing is kept. */
    void (*on_output)(struct child *child, enum child_stream stream, struct str bytes, void *arg);
    /* Exactly once, on the loop, never before child_start() returned. The child ends with it. */
    void (*done)(struct child *child, const struct child_result *result, void *arg);
    void *arg;
};

/* To be called when the intent is durable (an effect). Does not wait for the program to be
 * executed: when it can't be, result.err says so. Fails itself when a bound of ours is exceeded
 * (too_large, rate_limited) or the system gives no process. */
int child_start(struct loop *loop, const struct child_config *config, struct child **ret_child,
                struct err *err);
/* SIGTERM to the group, SIGKILL after the grace; done follows. Does nothing the second time. */
void child_cancel(struct child *child);
/* Queues bytes for stdin. too_large past CHILD_INPUT_BYTES unread ones; nothing is queued then.
 * A child that has closed its stdin loses them silently. Only with input_open. */
int child_write(struct child *child, struct str bytes, struct err *err);
/* After what was queued. */
void child_close_input(struct child *child);
/* Back-pressure for on_output: while paused the child blocks when the pipe is full. */
void child_pause(struct child *child, enum child_stream stream);
void child_resume(struct child *child, enum child_stream stream);

/* What a later start needs to find it again: the pid, and a stamp made of boot and start time that
 * no other process with that pid has. */
pid_t child_pid(const struct child *child);
uint64_t child_stamp(const struct child *child);
/* Kills what is left of a child of an earlier life of this program (its whole session). Returns
 * the number of processes killed; 0 also when the pid belongs to someone else now. */
int child_reap(pid_t pid, uint64_t stamp);

/* ---- the launcher ---- */

/* posix_spawn() starts the executable of this name that lies beside ours or in ../libexec/dormouse;
 * it prepares itself (parent-death signal, descriptors, limits, directory) and executes the
 * program. Where there is none, our own binary is started again under that name, which takes
 * longer. So main() begins with:
 *
 *     if (child_launcher_asked(argc, argv))
 *         return child_launcher_main(argc, argv);
 */
#define CHILD_LAUNCHER "dormouse-launch"
bool child_launcher_asked(int argc, char **argv);
int child_launcher_main(int argc, char **argv);
/* Where the executable lies that was copied into memory for this; false when there is none. */
bool child_launcher_file(char *ret_path, size_t size);
/* This one and no other, for programs without that main(); kept by pointer. NULL: look again. */
void child_set_launcher(const char *path);

/* The soft limit of open files for children that name none: what this process had before it raised
 * its own. 1024 until this is called; programs that walk all descriptors or use select() count on
 * a small one. */
void child_set_files(uint64_t soft);

/* ---- for tests ---- */

/* What a child of a fake does. */
struct child_fake_act {
    int64_t after_ms; /* how long it runs */
    bool hangs;       /* it ends by time limit or cancel only */
    int exit_code, signal;
    struct str out, error; /* said when it ends; copied */
    enum err_code fails;   /* it can't be executed */
};
/* From now on child_start() on this loop asks play() what the child does. The config is valid
 * during the call only. */
void child_fake_install(struct loop *loop,
                        void (*play)(const struct child_config *config, struct child_fake_act *act,
                                     void *arg),
                        void *arg);

#endif
