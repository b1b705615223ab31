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
#include "sandbox/hand.h"
#include "sandbox/walls.h"

#define HAND_JOBS_MAX  32
#define HAND_START_MS  10000 /* until it says hello */
#define HAND_ANSWER_MS 5000  /* beyond a job's own limit, or after its cancel */
#define HAND_FILES_MS  60000 /* limit of a job that has none of its own */
#define HAND_TIME_MAX  600000

/* ---- hand_find.c ---- */

#define HAND_NAME "dormouse-hand"
/* NULL when it is not installed. */
const char *hand_path(void);
/* This one and no other, for programs that lie elsewhere (tests); kept by pointer. */
void hand_set_path(const char *path);

/* ---- hand_setup.c ---- */

/* A memory file with what the hand must know; argv for one command, else NULL. time_limit_ms 0:
 * none. Returns the descriptor or -1. */
int hand_setup_file(const struct sandbox_spec *spec, const struct walls *walls, bool proxy,
                    const char *const *argv, int64_t time_limit_ms, struct str state,
                    struct err *err);
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
/* Kills everything in it; it is collected later. */
void hand_proc_drop(struct hand_proc *proc);
int hand_proc_pid(const struct hand_proc *proc, uint64_t *ret_stamp);

#endif
