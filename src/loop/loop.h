/* The loop: one thread, one tick at a time; commit, then act.
 *
 * All that one turn of the loop writes to a domain goes into one transaction. Whatever would leave
 * the process (a request, a child, a byte to a client) is queued with loop_after_commit() and runs
 * only when the transaction that recorded it is durable. Within a tick each request or run step is
 * a unit, a savepoint of its own: when it fails it rolls back alone, with the effects it queued.
 *
 * The same interface is driven by libuv (loop_new) or by a test (loop_new_fake), which never
 * sleeps: time moves only with loop_fake_advance().
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_LOOP_LOOP_H
#define DORMOUSE_LOOP_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "db/domain.h"

struct loop;
struct uv_loop_s;

/* clock NULL: the system's. SIGPIPE is ignored from now on. */
int loop_new(struct clock *clock, struct loop **ret_loop, struct err *err);
struct loop *loop_new_fake(struct clock_fake *clock);
/* All children, jobs and foreign handles must have ended. An open transaction is rolled back and
 * queued effects are dropped (cancelled). Timers that still run are forgotten. */
void loop_free(struct loop *loop);
AUTO_DEFINE(loop)

struct clock *loop_clock(struct loop *loop);
/* NULL for a fake loop: only what speaks to the operating system needs it. */
struct uv_loop_s *loop_uv(struct loop *loop);

/* Runs until loop_stop(). 0 when stopped, -1 when a domain was lost: everybody was told, units are
 * refused, and the process should end so that the next start recovers. A fake loop runs until it
 * is quiet or stopped, without moving the clock. */
int loop_run(struct loop *loop, struct err *err);
/* Finishes the tick under way and those that its effects ask for (at most LOOP_LAST_TICKS), then
 * loop_run() returns. */
#define LOOP_LAST_TICKS 64
void loop_stop(struct loop *loop);
/* Runs until no child is alive and no job is in the pool, for loop_free() after everything was told
 * to end. Also when a domain was lost. */
void loop_settle(struct loop *loop);
/* Fake loop: moves the clock step by step to every instant at which timers come due, and ticks
 * there until nothing is left to do. */
void loop_fake_advance(struct loop *loop, int64_t ms);
/* Fake loop: one tick now, without moving the clock; timers that are due fire in it. */
void loop_fake_tick(struct loop *loop);

/* ---- ticks ---- */

/* The loop commits, rolls back and idles this domain from now on. At most LOOP_DOMAINS_MAX; they
 * are committed in the order of attachment. The domain must outlive the loop. */
#define LOOP_DOMAINS_MAX 8
void loop_attach(struct loop *loop, struct domain *domain);
/* How long nothing must have been committed before a domain does its housekeeping. */
#define LOOP_IDLE_MS 500
/* Called once when a domain's health has changed: it takes no writes any more (why may be NULL), or
 * it does again. The loop tries that itself, with growing pauses up to half a minute. Rooms that
 * could not write stop trying while !loop_is_healthy(), and are woken from here. */
void loop_on_health(struct loop *loop,
                    void (*fn)(struct domain *domain, enum domain_health health,
                               const struct err *why, void *arg),
                    void *arg);
/* Do all domains take writes, as far as is known? */
bool loop_is_healthy(const struct loop *loop);

/* Begins a unit that may write to domain (opens the tick's transaction at the first one).
 * Refused with storage_failed when the domain is not healthy. Units do not nest. */
int loop_unit_begin(struct loop *loop, struct domain *domain, struct err *err);
/* Ends it: keep false rolls its writes back and drops the effects queued since begin. -1 only when
 * it was to be kept and could not be: then its effects were dropped too. */
int loop_unit_end(struct loop *loop, bool keep, struct err *err);
/* Ends it and keeps it, without waiting for what a shared database says to its last writes (one
 * round trip less). What can't be kept after all is found by the domain's next unit, which is not
 * concerned, or by the commit; then its effects are dropped. For units whose caller has nothing to
 * tell anybody. */
int loop_unit_leave(struct loop *loop, struct err *err);

/* Something to do once what was written is durable. Embedded in the owner's struct; the owner
 * keeps it alive until run or drop was called (exactly one of them, never before
 * loop_after_commit() returned). */
struct loop_effect {
    void (*run)(struct loop_effect *effect);
    /* The transaction was rolled back, or failed (why->code storage_failed: unknown). */
    void (*drop)(struct loop_effect *effect, const struct err *why);
    struct loop_effect *next; /* the loop's own, as is domain */
    int domain;
};
/* Inside a unit: waits for the unit's domain. Outside: runs at the end of this tick. Effects run
 * in the order they were queued, after all commits of the tick; one that is queued by another
 * effect, or by a hook, runs at the end of the next tick. */
void loop_after_commit(struct loop *loop, struct loop_effect *effect);

/* Called at the end of every tick, after commit and effects, in registration order: the place
 * where the HTTP server resumes connections. */
struct loop_tick_hook {
    void (*after_tick)(struct loop_tick_hook *hook);
    struct loop_tick_hook *next;
};
void loop_add_tick_hook(struct loop *loop, struct loop_tick_hook *hook);
/* Does nothing when it was not added. Hooks may remove themselves and each other. */
void loop_remove_tick_hook(struct loop *loop, struct loop_tick_hook *hook);
/* There is more to do: the loop must not sleep before the next tick. Cheap, idempotent. */
void loop_wake(struct loop *loop);
/* How long whoever drives the loop from outside (uv_run() on loop_uv()) may wait before the next
 * turn: 0 there is something to do at once, -1 nothing but what its descriptor tells. */
int loop_wait_ms(struct loop *loop);
/* Memory for what this tick works on: lives until its after-commit effects have run. What effects
 * and hooks allocate belongs to the next tick already. */
struct arena *loop_arena(struct loop *loop);

/* ---- timers on the injected clock ---- */

struct loop_timer {
    void (*fire)(struct loop_timer *timer);
    int64_t due_ms;    /* monotonic, or wall time for an alarm */
    size_t heap_index; /* 0: not running */
    uint64_t order;    /* timers that are due together fire in the order they were started */
    bool alarm;
};
/* Fires once, not before delay_ms from now by the monotonic clock. Restarting moves it; started by
 * a timer's own fire() with delay 0 it fires in the next tick. */
void loop_timer_start(struct loop *loop, struct loop_timer *timer, int64_t delay_ms);
/* Fires once when the wall clock reaches wall_ms, also after a suspend or when somebody sets the
 * clock. A time in the past fires in the next tick. */
void loop_alarm_start(struct loop *loop, struct loop_timer *timer, int64_t wall_ms);
/* Does nothing when it is not running. */
void loop_timer_stop(struct loop *loop, struct loop_timer *timer);

/* ---- blocking work in the thread pool ---- */

#define LOOP_WORK_MAX     3   /* in the pool at a time; one of libuv's four threads stays free */
#define LOOP_WORK_WAITING 256 /* waiting for a place */

/* Embedded in the owner's struct, which keeps it alive until done was called. */
struct loop_work {
    /* In a pool thread: touches nothing of the loop, no connection of the loop's thread. */
    void (*run)(struct loop_work *work);
    /* On the loop, inside a tick; exactly once, never before loop_work() returned. cancelled: run
     * was not called, or was told to give up. */
    void (*done)(struct loop_work *work, bool cancelled);
    struct loop_work_job *job; /* the loop's own */
};
/* Refused with rate_limited when LOOP_WORK_WAITING jobs wait already. */
int loop_work(struct loop *loop, struct loop_work *work, struct err *err);
/* done(cancelled) follows in a later tick. Does nothing when it is not under way. */
void loop_work_cancel(struct loop *loop, struct loop_work *work);
/* For run(): somebody wants this to end. */
bool loop_work_cancelled(const struct loop_work *work);

#endif
