/* The wake queue: every wake is stored under a key made of its cause before anything acts on it,
 * is taken once, and ends in a terminal status that says why.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_QUEUE_H
#define DORMOUSE_WAKE_QUEUE_H

#include "agent/agent.h"
#include "base/hash.h"

/* ---- keys (CONTRACTS §5) ---- */

void wake_key_subscription(const char *agent_id, struct str subscription_id,
                           struct str logical_change_key, char ret_key[SHA256_TEXT_SIZE]);
void wake_key_timer(const char *agent_id, struct str timer_id, int64_t scheduled_at,
                    char ret_key[SHA256_TEXT_SIZE]);
void wake_key_user(const char *agent_id, struct str session_id, struct str turn_id,
                   char ret_key[SHA256_TEXT_SIZE]);
void wake_key_manual(const char *agent_id, struct str request_id, char ret_key[SHA256_TEXT_SIZE]);
void wake_key_source(const char *agent_id, struct str subscription_id, struct str source_event_id,
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

struct wake_job {
    int64_t n; /* of the row it stands in */
    struct str run_key, thread_id, agent_id;
    int64_t agent_n;
    struct str reason, reason_id; /* "subscription", its id */
    int64_t scheduled_at;         /* 0: no timer */
    struct str logical_change_key;
    struct str payload; /* JSON */
    int priority;       /* 0: a person waits */
    int64_t not_before, attempts, created_at, started_at, ended_at;
    /* Of one that was taken. */
    enum wake_status status;
    struct str why, error_code, coalesced_into, run_id;
};

/* Inside a unit: 1 stored, 0 this wake is known (queued, or ended) already. Refused with
 * agent_destroyed. run_key and thread_id are the caller's (thread AGENT:run:KEY). */
int wake_enqueue(struct domain *domain, const struct wake_job *job, struct err *err);

/* Newest first; agent_n 0: of all; both queued and ended. before: the created_at and n of the last
 * one of the page before. */
struct wake_filter {
    int64_t agent_n, before_at, before_n;
    enum wake_status status; /* NONE: all */
    struct str reason_id;
    int limit; /* 0: 50, at most 500 */
};
int wake_list(struct domain *domain, const struct wake_filter *filter, struct arena *arena,
              struct wake_job **ret_jobs, size_t *ret_count, struct err *err);
int wake_get(struct domain *domain, struct str run_key_prefix, struct arena *arena,
             struct wake_job *ret_job, struct err *err);

#endif
