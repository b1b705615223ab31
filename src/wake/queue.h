/* The wake queue: every wake is stored under a key made of its cause before anything acts on it,
 * is taken once, and ends in a terminal status that says why.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_QUEUE_H
#define DORMOUSE_WAKE_QUEUE_H

#include "agent/agent.h"
#include "base/hash.h"
#include "base/limits.h"

/* ---- keys (CONTRACTS §5); that of a person's turn is its run's (src/run/start.c) ---- */

void wake_key_subscription(const char *agent_id, struct str subscription_id,
                           struct str logical_change_key, char ret_key[SHA256_TEXT_SIZE]);
void wake_key_timer(const char *agent_id, struct str timer_id, int64_t scheduled_at,
                    char ret_key[SHA256_TEXT_SIZE]);
void wake_key_manual(const char *agent_id, struct str request_id, char ret_key[SHA256_TEXT_SIZE]);
void wake_key_source(const char *agent_id, struct str subscription_id, struct str source_event_id,
                     char ret_key[SHA256_TEXT_SIZE]);

/* Of a wake that makes up for another one: kind is its reason_id. */
void wake_key_after(const char *kind, const char *agent_id, struct str run_key,
                    char ret_key[SHA256_TEXT_SIZE]);

/* ---- a wake ---- */

#define WAKE_STATUSES(X)                                                                           \
    X(QUEUED, "queued")                                                                            \
    X(RUNNING, "running")                                                                          \
    X(COMPLETED, "completed")                                                                      \
    X(SKIPPED_SLEEPING, "skipped_sleeping")                                                        \
    X(SKIPPED_DESTROYED, "skipped_destroyed")                                                      \
    X(SKIPPED_PAUSED, "skipped_paused")                                                            \
    X(SKIPPED_KILLED, "skipped_killed")                                                            \
    X(SKIPPED_NOOP, "skipped_noop")                                                                \
    X(COALESCED, "coalesced")                                                                      \
    X(FAILED_TERMINAL, "failed_terminal")
enum wake_status {
    WAKE_STATUS_NONE = 0,
#define X(id, name) WAKE_##id,
    WAKE_STATUSES(X)
#undef X
};
const char *wake_status_name(enum wake_status status);

enum wake_status wake_status_of(struct str name);

/* Why a queued wake waits for its not_before. */
#define WAKE_HOLDS(X)                                                                              \
    X(HOURS, "hours", "its subscription has active hours, and it is outside of them")              \
    X(COOLDOWN, "cooldown", "its subscription lets time pass between two wakes")                   \
    X(REST, "rest", "the agent rests after its last run")                                          \
    X(FAILURES, "failures", "the agent's last run failed; it waits before it tries again")         \
    X(OFTEN, "often", "the agent woke as often within the hour as it may")                         \
    X(SLEEP, "sleep", "the agent sleeps until then")
enum wake_held {
    WAKE_HELD_NONE = 0,
#define X(id, name, why) WAKE_HELD_##id,
    WAKE_HOLDS(X)
#undef X
};
const char *wake_held_name(enum wake_held held); /* "rest"; "" for none */
const char *wake_held_why(enum wake_held held);

/* What a wake is about. The texts of its members are bounded by whoever queues it (WAKE_PAYLOAD_MAX
 * in all); every member may be missing:
 *   prompt   what its subscription or timer says to the agent
 *   words    what a person said (reason manual)
 *   domain   "journal" or "agent": where units and records are
 *   units    [[hostId, counter, payloadType, payloadId], ...]: what changed, as in change_batches
 *   records  [[type, id], ...]: those of them that the subscription is about
 *   author   "human", "agent", "sync"; authorId
 *   missed   {"count", "first", "last"}: firings that a catch-up stands for
 *   alarm    {"name", "note", "setAt", "ringsAt"}: what the agent had set for itself
 *   event    {"contentType", "body"}: of a webhook
 *   files    [{"path", "change"}, ...]
 *   taint    "webhook", "file": text in it that nobody vouches for
 *   again    {"wake", "reason", "name", "failures"}: what failed and is tried again
 * Once it was taken also:
 *   seen     {hostId: counter}: what its run was told of, with what was coalesced into it
 */
#define WAKE_PAYLOAD_MAX (256 * KIB)

struct wake_job {
    int64_t n;   /* the same in the queue and afterwards */
    bool spoken; /* a person spoke to the agent: n is its run's */
    struct str run_key, thread_id, agent_id;
    int64_t agent_n;
    struct str reason, reason_id; /* "subscription", its id */
    struct str name;              /* of what reason_id is, when it was read from a list */
    int64_t scheduled_at;         /* 0: no timer */
    struct str logical_change_key;
    struct str payload; /* JSON, see above; empty: {} */
    int priority;       /* 0: a person waits; 1 */
    enum wake_held held;
    int64_t not_before, attempts, created_at, started_at, ended_at;
    /* Of one that was taken. */
    enum wake_status status;
    struct str why, error_code, coalesced_into, run_id;
};

/* Inside a unit: 1 stored, 0 this wake is known (queued, or ended) already. agent_destroyed when
 * nothing may wake its agent any more, too_large. run_key, agent_n and reason are the caller's;
 * thread_id empty: AGENT:run:KEY, which is what it is for everybody but sessions. created_at is
 * now. */
int wake_enqueue(struct domain *domain, const struct wake_job *job, struct err *err);
/* Inside a unit: the agent's sleep ends then and not when it was to; 0: now. The wake that covers
 * what it missed, if there is one, comes then. */
int wake_end_of_sleep(struct domain *domain, int64_t agent_n, const char *agent_id, int64_t at,
                      int64_t now_ms, struct err *err);
/* It goes on in a conversation that there was before it. */
bool wake_in_conversation(const struct wake_job *job);

/* Newest first, both queued and ended, and the runs that began with a person's word (reason
 * userInitiated): these have no row of their own, their run's says all there is to say. */
struct wake_filter {
    int64_t agent_n;         /* 0: of all */
    int64_t before_n;        /* n of the last wake of the pages before; 0: from the newest */
    int64_t before_run_n;    /* ... of the last one that was spoken */
    enum wake_status status; /* NONE: all */
    struct str reason_id;
    int limit; /* 0: 50, at most 500 */
};
int wake_list(struct domain *domain, const struct wake_filter *filter, struct arena *arena,
              struct wake_job **ret_jobs, size_t *ret_count, struct err *err);
/* When the agent's newest run began, whatever it began with; 0: it has none. */
int wake_last_run_at(struct domain *domain, int64_t agent_n, int64_t *ret_at, struct err *err);
/* By a unique beginning of its key. not_found; bad_request when several begin so. */
int wake_get(struct domain *domain, struct str run_key_prefix, struct arena *arena,
             struct wake_job *ret_job, struct err *err);

#endif
