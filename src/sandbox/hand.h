/* The hand: one small process inside the sandbox that does what touches the world, and the
 * keeper's end of the socket to it.
 *
 * Started at first use, one per run. Requests are framed JSON; the keeper treats every reply as
 * hostile: it is matched with its request, bounded and checked before it is handed on. When the
 * hand ends, everything inside its process namespace ends with it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_HAND_H
#define DORMOUSE_SANDBOX_HAND_H

#include "base/alloc.h"
#include "base/str.h"
#include "loop/loop.h"
#include "sandbox/sandbox.h"

struct hand;
struct hand_job;

/* Something the walls saw and refused, for the trace: kind "network" (host:port), "seccomp" (the
 * call), "disk", "files", "memory", "processes" (the limit), "settings" (what tools outside
 * obey, refused), "set_aside" (the same, made or changed after all), "socket" (a connection to a
 * program outside), "limits" (what the kernel can't hold here), "names" (not everything that may
 * not be read by its name could be looked for). */
#define HAND_DETAIL_MAX 4096 /* bytes */
struct hand_notice {
    const char *kind;
    struct str detail;
};

struct hand_config {
    struct loop *loop;
    struct sandbox_spec spec;                                       /* copied */
    void (*on_notice)(void *arg, const struct hand_notice *notice); /* may be NULL */
    void *arg;
};

/* Nothing is started yet. Never NULL. */
struct hand *hand_new(const struct hand_config *config);
/* Ends the process namespace with everything in it; jobs under way get done(cancelled) before this
 * returns. */
void hand_free(struct hand *hand);
AUTO_DEFINE(hand)
/* The same in peace: jobs under way get done(cancelled) before this returns; then everything inside
 * ends, the hand looks for the last time, and what it set aside is still told. closed comes once,
 * perhaps before this returns, and the hand is gone then. */
void hand_close(struct hand *hand, void (*closed)(void *arg), void *arg);
/* Of those that are being closed: until closed has come of each, without the loop. They are waited
 * for together, for a few seconds in all; one that has not ended by then is killed. */
void hand_close_wait(struct hand *const *hands, size_t n);

/* Valid during the callback. */
struct hand_reply {
    struct err err;    /* ERR_NONE, or why it failed: path_denied, not_found, timeout, cancelled,
                          sandbox_unavailable, too_large, conflict, bad_request ... */
    struct str result; /* one JSON value as text, checked; empty when it failed */
};
typedef void hand_done_fn(void *arg, const struct hand_reply *reply);

/* The operations are those of the tools of the same names: bash, read_file, write_file, edit_file,
 * search, and state (cwd; what was read). arguments is a JSON object. done comes exactly once, in
 * a later tick. Starts the hand when it does not run; when it can't be, done says
 * sandbox_unavailable. */
int hand_call(struct hand *hand, const char *operation, struct str arguments, hand_done_fn *done,
              void *arg, struct hand_job **ret_job, struct err *err);
/* done(cancelled) follows; what the job had started is killed. */
void hand_cancel(struct hand_job *job);

/* For a hand that replaces an earlier one of the same run: what it should know (cwd, files read
 * with their hashes, how many background processes went with the earlier one), as hand_state()
 * gave it. Before the first call. The first command's result says in `message` what went. */
void hand_set_state(struct hand *hand, struct str json);
/* JSON, kept up to date with every reply; empty before the first. Valid until the next reply. */
struct str hand_state(const struct hand *hand);
/* The leader of the namespace as the system sees it, 0 when it does not run; with the stamp for
 * child_reap() at a later start. */
int hand_pid(const struct hand *hand, uint64_t *ret_stamp);

#endif
