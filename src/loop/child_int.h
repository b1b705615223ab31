/* Between the files that make up children.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_LOOP_CHILD_INT_H
#define DORMOUSE_LOOP_CHILD_INT_H

#include "base/buf.h"
#include "loop/child.h"
#include "loop/loop_int.h"

struct child_ops {
    int (*start)(struct loop *loop, const struct child_config *config, struct child **ret_child,
                 struct err *err);
    void (*cancel)(struct child *child);
    int (*write)(struct child *child, struct str bytes, struct err *err);
    void (*close_input)(struct child *child);
    void (*pause)(struct child *child, enum child_stream stream, bool paused);
};
extern const struct child_ops child_os_ops;

/* What every implementation embeds first. */
struct child {
    const struct child_ops *ops;
    struct loop *loop;
    void (*on_output)(struct child *child, enum child_stream stream, struct str bytes, void *arg);
    void (*done)(struct child *child, const struct child_result *result, void *arg);
    void *arg;
    pid_t pid;
    uint64_t stamp;
    int64_t started_ms; /* monotonic */
    int64_t grace_ms, drain_ms;
    bool input_open;
    struct buf kept[2];
    struct child_result result;
};

void child_init(struct child *child, const struct child_ops *ops, struct loop *loop,
                const struct child_config *config);
/* Hands output over or keeps it up to the cap. */
void child_take(struct child *child, enum child_stream stream, struct str bytes);
/* Completes the result and calls done; the kept output is freed behind it. */
void child_finish(struct child *child);
size_t child_count(const char *const *list);

/* ---- child_proc.c ---- */

/* 0 when there is no such process. */
uint64_t proc_stamp(pid_t pid);
/* Kills every process of the session; returns how many. */
int proc_kill_session(pid_t session);

/* ---- launcher_find.c ---- */

const char *launcher_path(void);
/* Looks for the small launcher by the directory of our binary. */
bool launcher_find(const char *dir, char *ret_path, size_t size);

/* ---- launcher.c ---- */

/* The launcher's arguments, in this order, before those of the program. Numbers are decimal. */
enum launch_arg {
    LAUNCH_NAME = 0,
    LAUNCH_PARENT, /* pid: when it is not our parent any more, end */
    LAUNCH_STATUS, /* descriptor for a struct launch_failure; everything above it is closed */
    LAUNCH_UMASK,
    LAUNCH_CPU,
    LAUNCH_MEMORY,
    LAUNCH_PROCESSES,
    LAUNCH_FILE_BYTES,
    LAUNCH_FILES,
    LAUNCH_CWD,
    LAUNCH_PATH,
    LAUNCH_ARGS
};

/* Before each variable of the environment on its way through the launcher, so that none of them
 * (LD_PRELOAD, LD_LIBRARY_PATH) means anything to the launcher itself. Not in its arguments,
 * because those can be read by everybody. */
#define LAUNCH_ENV_MARK '+'
/* Before a number in LAUNCH_FILES: the soft limit only. */
#define LAUNCH_SOFT_MARK '~'

enum launch_step { LAUNCH_OK = 0, LAUNCH_PREPARE, LAUNCH_LIMIT, LAUNCH_CHDIR, LAUNCH_EXEC };

struct launch_failure {
    int32_t step;  /* enum launch_step */
    int32_t error; /* errno */
};

#endif
