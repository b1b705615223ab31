/* Inside the room: taking wakes from the queue.
 *
 * Everything here happens inside a unit of the agent domain unless it only reads. Where several
 * processes share the database, rows that one of them has taken are not seen by the others until
 * its transaction ends (SKIP LOCKED).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_CLAIM_INT_H
#define DORMOUSE_WAKE_CLAIM_INT_H

#include "agent/state.h"
#include "change/vclock.h"
#include "policy/kill.h"
#include "wake/queue_int.h"

/* What decides about the wakes of an agent. */
struct claim_agent {
    int64_t n;
    struct str id;
    enum agent_lifecycle lifecycle;
    bool paused;
    bool interactive;
    bool flying; /* another wake's run executes */
    int64_t sleep_until, failures, last_wake_at;
    struct vclock processed;
    int64_t states; /* one for every host that woke it */
};

/* A wake that was taken, and whose it is. */
struct claim {
    struct wake_job job;
    struct claim_agent agent;
};

/* What becomes of a wake without a run. */
struct claim_end {
    int64_t n;
    enum wake_status status;
    const char *why;
    struct str coalesced_into;
    const char *error_code; /* NULL: none */
};

/* ---- claim_store.c ---- */

#define CLAIM_MAX       500
#define CLAIM_BYTES_MAX (8 * MIB) /* of payloads; the one that passes it is the last */

/* Those that are due: what a person waits for first, then by not_before and n; at most CLAIM_MAX,
 * or one. now_ms is also the time as of which states are resolved. */
int claim_due(struct domain *domain, int64_t now_ms, bool one, struct arena *arena,
              struct claim **ret_claims, size_t *ret_count, struct err *err);
/* What is queued of one agent, due or not, oldest first; at most CLAIM_MAX. *ret_more: there are
 * more (or they are too large to go along). Without those whose hours have not begun at a time,
 * unless another of them is of the same change; CLAIM_ANY_HOURS: with them. */
#define CLAIM_ANY_HOURS INT64_MAX
int claim_of_agent(struct domain *domain, int64_t agent_n, int64_t at_ms, struct arena *arena,
                   struct wake_job **ret_jobs, size_t *ret_count, bool *ret_more, struct err *err);
/* What is queued of it before the row n and not held for its hours: number and payload alone, also
 * of those that another process looks at just now. */
int claim_before(struct domain *domain, int64_t agent_n, int64_t n, struct arena *arena,
                 struct wake_job **ret_jobs, size_t *ret_count, struct err *err);
/* When the next one is due that is not due yet; 0: none. */
int claim_next(struct domain *domain, int64_t now_ms, int64_t *ret_at, struct err *err);

/* They leave the queue with what became of them; one that had ended before only leaves it. */
int claim_end_all(struct domain *domain, const struct claim_end *ends, size_t n, int64_t now_ms,
                  struct err *err);
/* It leaves the queue, and its run begins; thread_id: there instead of where it was queued for,
 * empty: there. 1; 0 somebody else has taken it, or another wake of its agent flies. */
int claim_start(struct domain *domain, const struct wake_job *job, int64_t run_n,
                struct str payload, struct str thread_id, int64_t now_ms, struct err *err);
/* The same wake was queued once more while it was taken: that row goes. */
int claim_drop_known(struct domain *domain, int64_t n, struct err *err);
/* 1 it ended now, and what it was about is in *ret_job; 0 no wake that was open has this key. */
int claim_finish(struct domain *domain, struct str run_key, enum wake_status status,
                 const char *why, struct str error_code, int64_t now_ms, struct arena *arena,
                 struct wake_job *ret_job, struct err *err);
/* A better sentence about how it ended. */
int claim_say(struct domain *domain, int64_t n, const char *why, struct err *err);
/* Its run waits for a person: other wakes of the agent may fly. */
int claim_rest(struct domain *domain, struct str run_key, struct err *err);

/* Due wakes of the agent wait until claim_unpark(). */
int claim_park(struct domain *domain, int64_t agent_n, int64_t now_ms, struct err *err);
int claim_unpark(struct domain *domain, int64_t agent_n, struct err *err);
/* Those whose agent does not fly. On a shared database a wake may be parked while the flight that
 * it waits for ends elsewhere. 1 there were some. */
int claim_unpark_lost(struct domain *domain, struct err *err);
/* Due wakes of the agent that nobody waits for are due then, and say why. */
int claim_delay(struct domain *domain, int64_t agent_n, int64_t until, enum wake_held held,
                int64_t now_ms, struct err *err);
/* When the run of the agent began that has count - 1 after it; 0: there were fewer. */
int claim_run_began(struct domain *domain, int64_t agent_n, unsigned count, int64_t *ret_at,
                    struct err *err);
/* Of this host (0: of all). */
int claim_flights(struct domain *domain, int64_t host_n, int64_t *ret_count, struct err *err);

/* ---- drop_store.c ---- */
/* What is queued of this subscription or timer of the agent ends without a run. */
int claim_drop_of(struct domain *domain, struct str agent_id, struct str reason_id, const char *why,
                  int64_t now_ms, struct err *err);

/* ---- claim.c: pure ---- */

enum claim_verdict {
    CLAIM_RUNS = 0,
    CLAIM_ENDS, /* with status and why */
    CLAIM_PARKS,
    CLAIM_LATER, /* at until */
};
struct claim_judged {
    enum claim_verdict verdict;
    enum wake_status status;
    const char *why;
    int64_t until;
    enum wake_held held; /* of LATER */
};
/* Does somebody wait for it? */
bool claim_by_person(const struct wake_job *job);
/* What the agent's own condition says of any wake of it. */
struct claim_judged claim_judge_agent(const struct claim *claim, const struct kill_switches *kill,
                                      int64_t cooldown_ms, int64_t now_ms);
/* Was everything in it seen by a run that succeeded? A wake that names no changes was not. */
bool claim_is_stale(const struct wake_job *job, const struct vclock *processed,
                    struct arena *arena);
/* The highest counter of each host that it is about. */
struct vclock claim_counters(const struct wake_job *job, struct arena *arena);

#endif
