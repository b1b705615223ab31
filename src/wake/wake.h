/* Alertness: reads change batches by cursor, fires timers, takes wakes from the queue and starts
 * runs, one flight for each agent.
 *
 *   batch ----> subscriptions that match ---\
 *   timer due ------------------------------> wake_queue --> skipped with a reason
 *   file, webhook, a person ----------------/            \-> coalesced into another
 *                                                         \-> a run --> completed or failed
 *
 * Nothing is kept in memory that a crash would lose: between a write and its wake stands the
 * batch's row, between a wake and its run the queue's.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_WAKE_H
#define DORMOUSE_WAKE_WAKE_H

#include "desk/desk.h"
#include "journal/journal.h"
#include "run/run.h"
#include "wake/folders.h"
#include "wake/queue.h"
#include "wake/subscription.h"
#include "wake/timer.h"

struct waker;

struct waker_config {
    struct loop *loop;
    struct domain *agent_domain;
    struct journal *journal;
    struct change *change;
    struct runner *runner;
    struct kill_switches *kill;
    struct folder_rules folders; /* where nothing is watched */
    const char *zone;            /* where the person is; NULL: this machine's zone */
    int64_t debounce_ms;         /* of batches made here; 0: 100 */
    int64_t sync_debounce_ms;    /* of those that arrived; 0: 1000 */
    int64_t cooldown_ms;         /* rest after a run before it wakes by itself again */
    unsigned runs_per_hour;      /* of one agent, that nobody asked for; 0: as many as come */
    unsigned max_flights;        /* runs at a time that nobody asked for; 0: 16 */
    int64_t lease_ms;            /* of this host on a shared database; 0: 15000 */
    int64_t poll_ms;             /* how often others' wakes are looked for where they can't be heard
                                  * of; 0: 2000 */
    bool one_by_one;             /* one wake in a transaction, not 500: for benchmarks */
};
/* Reads on where it stopped, with the loop's first ticks. */
int waker_new(const struct waker_config *config, struct waker **ret_waker, struct err *err);
/* Before runner_stop(). */
void waker_stop(struct waker *waker);
void waker_free(struct waker *waker);
AUTO_DEFINE(waker)

/* Whoever wants to know that wakes were queued, taken or ended: called after the commit, once for
 * those that come together. One of them at a time; NULL: nobody. */
struct waker_listener {
    void (*changed)(struct waker_listener *listener);
    /* Another process on the database may have recorded events of runs; may be NULL. */
    void (*events)(struct waker_listener *listener);
};
void waker_tell(struct waker *waker, struct waker_listener *listener);

/* Something may be due: subscriptions or timers were changed, an agent was resumed, a switch was
 * lifted. Cheap. */
void waker_look(struct waker *waker);
/* Somebody tells an agent to wake now, with words for it; request_id: the same again wakes once.
 * agent_destroyed, agent_paused, kill_switch_active. Opens a unit. */
int waker_wake_now(struct waker *waker, struct str agent_id, struct str request_id,
                   struct str words, struct arena *arena, struct wake_job *ret_job,
                   struct err *err);
/* A webhook was called. rate_limited when it comes too often. event_id: the sender's, or the hash
 * of its body and time. Opens a unit. */
int waker_webhook(struct waker *waker, struct str token, struct str event_id,
                  struct str content_type, struct str body, struct err *err);
/* Calls of webhooks that were refused since the last time are written down: in one unit of the
 * loop, or, when the loop has ended, in a transaction. Whoever refuses calls sees to it that this
 * is done soon, and once for many. */
int waker_store_refused(struct waker *waker, bool in_loop, struct err *err);
/* folder_check() by the rules of this house. */
int waker_folder_check(struct waker *waker, struct str folder, struct err *err);
/* How alarms of agents are kept; for desk_set_alarms(), with the waker. */
extern const struct desk_alarms waker_alarms;

/* Inside a unit of the agent domain: an agent was resumed, made active or no longer waits for a
 * person alone, or (0) a kill switch was lifted: what was missed is made up for by one wake of each
 * agent. */
int waker_resumed(struct waker *waker, int64_t agent_n, struct err *err);
/* Inside a unit of the agent domain: an agent is destroyed: nothing wakes it any more. */
int waker_forget_agent(struct waker *waker, int64_t agent_n, struct err *err);

#endif
