/* The keeper's end, in parts.
 *
 *   hand.c        jobs: calls, cancels, what becomes of them
 *   hand_proc.c   one process: started, spoken to, ended
 *   hand_reply.c  what it says, read with suspicion
 *   hand_net.c    its proxy, when hosts are listed
 *   hand_setup.c  what it is told at the start
 *   hand_find.c   where its executable is
 *
 * A process outlives its hand by a moment (it has to be collected), so it is an object of its own
 * with a way back that is cut when the hand is freed or gives it up.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_HAND_INT_H
#define DORMOUSE_SANDBOX_HAND_INT_H

#include <json-c/json_object.h>
#include <sys/types.h>

#include "base/buf.h"
#include "sandbox/cgroup.h"
#include "sandbox/hand.h"
#include "sandbox/walls.h"

#define HAND_JOBS_MAX  32
#define HAND_START_MS  10000 /* until it says hello */
#define HAND_LAST_MS   5000  /* for its end and the last look */
#define HAND_ANSWER_MS 5000  /* beyond a job's own limit, or after its cancel */
#define HAND_FILES_MS  60000 /* limit of a job that has none of its own */
#define HAND_TIME_MAX  600000

#define HAND_BACKGROUND_MAX 4096
/* Why a sandbox ends before its run does; tool/hands.h has the minutes. */
#define HAND_ENDS_WHEN "after 10 minutes without a call, or because Dormouse stopped"

/* ---- hand_find.c ---- */

#define HAND_NAME "dormouse-hand"
/* NULL when it is not installed. */
const char *hand_path(void);
/* This one and no other, for programs that lie elsewhere (tests); kept by pointer. */
void hand_set_path(const char *path);
/* The sealed copy of it that is executed, which stays ours; sandbox_unavailable when there is
 * none. */
int hand_program(struct err *err);
/* Files of ours that are executed outside of walls, or build them; ends with NULL. */
const char *const *hand_own_files(void);

/* ---- hand_setup.c ---- */

/* Who the hand is to the kernel when the daemon is root: nobody that systems give out. */
#define HAND_UID 60999u

/* Numbers that descriptors have in the hand. With walls off there are no arguments. */
enum hand_fd { HAND_FD_SOCKET = 3, HAND_FD_SETUP, HAND_FD_PROGRAM, HAND_FD_GROUPS };
#define HAND_FDS_MAX (4 + CGROUP_FILES_MAX)

/* What the hand must know besides specification and walls. */
struct hand_told {
    bool proxy;
    const char *const *argv; /* one command; NULL: it serves */
    int64_t time_limit_ms;   /* 0: none */
    struct str state;        /* of an earlier hand; may be empty */
};

/* Everything that one hand inherits, ready to be handed over in this order from 3 on. */
struct hand_start {
    int fds[HAND_FDS_MAX];
    size_t n;
    int socket; /* the keeper's end */
    const char *argv[12];
    char args_fd[16];
    const char *path;
};
int hand_start_init(struct hand_start *start, const struct sandbox_spec *spec,
                    const struct walls *walls, struct cgroup *group, const struct hand_told *told,
                    struct err *err);
/* Closes what was not taken out of it; the groups' files and the program stay. */
void hand_start_release(struct hand_start *start);

/* A memory file with what the hand must know; groups is how many of its descriptors are for
 * joining control groups. Returns the descriptor or -1. */
int hand_setup_file(const struct sandbox_spec *spec, const struct walls *walls,
                    const struct hand_told *told, int groups, struct err *err);
/* bubblewrap's arguments, each ended by NUL, as it takes them with --args. */
int hand_args_file(const struct walls *walls, struct err *err);

/* ---- hand_reply.c ---- */

enum hand_said { HAND_SAID_NOTHING = 0, HAND_SAID_HELLO, HAND_SAID_REPLY, HAND_SAID_NOTICE };

/* One frame, understood. Texts are views into doc. */
struct hand_frame {
    enum hand_said said;
    struct json_object *doc;
    int64_t id;
    bool failed;
    struct err err;             /* when it failed */
    struct json_object *result; /* NULL is the value null */
    struct str cwd;             /* of its state; empty: unchanged */
    struct json_object *read;   /* of its state; NULL: unchanged */
    const char *kind;           /* of a notice: one of ours */
    struct str detail;
};
/* bad_request with what is wrong. Release frame in either case. */
int hand_frame_read(struct str json, struct hand_frame *frame, struct err *err);
void hand_frame_release(struct hand_frame *frame);

/* ---- hand_proc.c ---- */

struct hand_proc;

/* Called on the loop; never from inside hand_proc_start(). None after hand_proc_drop(). */
struct hand_proc_calls {
    /* Valid during the call. */
    void (*reply)(void *arg, const struct hand_frame *frame);
    void (*notice)(void *arg, const char *kind, struct str detail);
    /* It has ended or was given up: why. */
    void (*ended)(void *arg, const struct err *why);
};

int hand_proc_start(struct loop *loop, const struct sandbox_spec *spec, struct str state,
                    const struct hand_proc_calls *calls, void *arg, struct hand_proc **ret_proc,
                    struct err *err);
/* Queues a frame. too_large when too much is unsent. */
int hand_proc_send(struct hand_proc *proc, struct str json, struct err *err);
/* Asks it to end everything and to look for the last time: notices still come, then ended. */
void hand_proc_close(struct hand_proc *proc);
/* Without the loop, until ended came of each: HAND_LAST_MS in all. */
void hand_proc_close_wait(struct hand_proc *const *procs, size_t n);
/* Kills everything in it; it is collected later. */
void hand_proc_drop(struct hand_proc *proc);
int hand_proc_pid(const struct hand_proc *proc, uint64_t *ret_stamp);

#endif
