/* An agent's state: what it has processed, how long it sleeps, its slots. Each host keeps a value
 * of its own; values that have not seen each other stand side by side, and reading resolves them.
 *
 * A value that has seen another replaces it. What remains is a set of concurrent values, and
 * joining two sets is: all of both without those that another one has seen. That is commutative,
 * associative and idempotent, whatever the order in which values arrive. The merge rules (2-7 of
 * the design) are then a function of the whole set and of the time at which somebody asks.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_AGENT_STATE_H
#define DORMOUSE_AGENT_STATE_H

#include "agent/agent.h"
#include "change/vclock.h"

struct agent_slots {
    struct str primary_goal, active_task_id; /* empty: none */
    struct str open_loop_ids;                /* JSON list of ids */
    struct str preference_by_key;            /* JSON object of texts */
    struct str extension;                    /* JSON object; no key is registered yet */
    int64_t primary_goal_version, active_task_id_version, open_loop_ids_version,
        preference_by_key_version, extension_version;
};
struct agent_pointer {
    struct str message_id; /* empty: none */
    struct vclock clock;   /* of what it points to */
    struct str host;
};
struct agent_state {
    struct str id; /* AGENT:HOST */
    int64_t agent_n, revision, updated_at;
    enum agent_lifecycle lifecycle;
    int64_t last_wake_at, next_wake_at, sleep_until; /* 0: none */
    struct agent_pointer head, summary;
    int64_t failures;        /* consecutiveFailureCount */
    int64_t successes;       /* a success begins a new count of failures */
    struct vclock processed; /* processedCounterByHost */
    struct vclock host_seen; /* ms at which each host was last heard of */
    struct agent_slots slots;
    struct vclock clock;
    struct str host;
};

/* All values of a set as one (a single value: itself). Pointers whose ancestry is known to descends
 * (may be NULL) go by it. */
typedef bool agent_descends_fn(void *arg, struct str later, struct str earlier);
struct agent_state agent_state_resolve(const struct agent_state *values, size_t n, int64_t now_ms,
                                       agent_descends_fn *descends, void *arg, struct arena *arena);
/* The union without those that another one has seen, in byte order of (host, clock). */
void agent_state_join(const struct agent_state *a, size_t a_count, const struct agent_state *b,
                      size_t b_count, struct arena *arena, struct agent_state **ret_values,
                      size_t *ret_count);

/* Hosts that were not heard of for this long are left out of `processed`; what they wrote before
 * stays processed (their counter is kept as a floor where batches are still read). */
#define AGENT_HOST_STALE_MS (180ll * 24 * 3600 * 1000)

/* Resolved, as of now. */
int agent_state_get(struct domain *domain, int64_t agent_n, int64_t now_ms, struct arena *arena,
                    struct agent_state *ret_state, struct err *err);
/* Inside a unit: this host's value becomes state (a change of what agent_state_get() gave), having
 * seen all others. Writes no batch; the caller adds AGENT_STATE to its own. */
int agent_state_put(struct domain *domain, struct change *change, struct agent_state *state,
                    int64_t now_ms, struct err *err);
/* Inside a unit: a value that another host made (sync). 1 it is new, 0 it was known. */
int agent_state_receive(struct domain *domain, const struct agent_state *state, struct err *err);

/* Pure changes of a state, after a wake. */
void agent_state_succeeded(struct agent_state *state, int64_t now_ms);
void agent_state_failed(struct agent_state *state, int64_t now_ms);
void agent_state_processed(struct agent_state *state, struct str host, int64_t counter,
                           int64_t now_ms, struct arena *arena);
/* How long to wait before the next autonomous wake after this many failures in a row: 0, then 30 s
 * doubling up to 6 h. */
int64_t agent_backoff_ms(int64_t failures);

#endif
