/* What the libuv loop and the fake one share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_LOOP_LOOP_INT_H
#define DORMOUSE_LOOP_LOOP_INT_H

#include "loop/loop.h"
#include "loop/tick_int.h"
#include "loop/timer_int.h"

/* The struct that has ptr as its member. */
#define CONTAINER(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

struct child_ops;

struct loop_ops {
    int (*run)(struct loop *loop, struct err *err);
    void (*free)(struct loop *loop);
    struct uv_loop_s *(*uv)(struct loop *loop);
    /* Calls loop_work_run() elsewhere, then loop_work_finished() on the loop. */
    void (*submit)(struct loop *loop, struct loop_work_job *job);
};

struct loop_work_job {
    struct loop *loop;
    struct loop_work *work;
    struct loop_work_job *next; /* while it waits */
    bool cancelled;             /* atomic: read by the pool thread */
};

struct loop {
    const struct loop_ops *ops;
    struct clock *clock;
    struct tick tick;
    struct timers timers, alarms;
    struct loop_timer idle_timer;
    int64_t worked_ms; /* when something was last committed, monotonic */
    struct loop_timer mend_timer;
    int64_t mend_pause_ms; /* before the next try */
    int64_t mended_ms;     /* when all domains were last found healthy again */
    bool woken;
    bool stopping;
    unsigned last_ticks; /* since stopping */
    struct loop_work_job *waiting, **waiting_end;
    unsigned work_running, work_waiting;
    const struct child_ops *child_ops; /* NULL: real processes */
    void *child_arg;                   /* owned */
    unsigned children;
};

void loop_init(struct loop *loop, const struct loop_ops *ops, struct clock *clock);
/* Drops what is queued; the implementation frees the struct. */
void loop_release(struct loop *loop);

/* Fires due timers and alarms. */
void loop_fire_timers(struct loop *loop);
/* Ends the tick. */
void loop_end_tick(struct loop *loop);
/* The loop must not sleep now. */
bool loop_pending(const struct loop *loop);
/* It was stopped or a domain was lost, and the last ticks are done. */
bool loop_finished(const struct loop *loop);
/* 0, or -1 when a domain was lost. */
int loop_result(const struct loop *loop, struct err *err);

void loop_attach_store(struct loop *loop, struct domain *domain, const struct tick_store_ops *ops);
/* In any thread. */
void loop_work_run(struct loop_work_job *job);
/* On the loop: frees job, calls done(), gives its place to the next one. */
void loop_work_finished(struct loop_work_job *job);

#endif
