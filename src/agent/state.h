/* An agent's state: what it has processed, how long it sleeps, its slots. Each host keeps a value
 * of its own; values that have not seen each other stand side by side, and reading resolves them.
 *
 * A value that has seen another replaces it. What remains is a set of concurrent values, and
 * joining two sets is: all of both without those that another one has seen. That is commutative,
 * associative and idempotent, whatever the order in which values arrive. The merge rules (2-7 of
 * the design) are then a function of the whole set and of the time at which somebody asks. (Merging
 * two snapshots into a third one instead, "the newer, else field by field", is not associative: the
 * merged value has seen more than it holds, see tests/unit/agent/test_state_merge.c.)
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_AGENT_STATE_H
#define DORMOUSE_AGENT_STATE_H

#include "agent/agent.h"
#include "change/batch.h"
#include "change/vclock.h"

/* Each slot has a version that grows with every change of it, and the host that made the last one:
 * the higher version is the value; of equal ones that of the greater host. */
struct agent_slots {
    struct str primary_goal, active_task_id; /* empty: none */
    struct str open_loop_ids;                /* JSON list of ids */
    struct str preference_by_key;            /* JSON object of texts */
    struct str extension;                    /* JSON object; no key is registered yet */
    int64_t primary_goal_version, active_task_id_version, open_loop_ids_version,
        preference_by_key_version, extension_version;
    struct str primary_goal_host, active_task_id_host, open_loop_ids_host, preference_by_key_host,
        extension_host;
    struct str taint; /* where texts in them came from (change/taint.h): of any that was set */
};
enum agent_slot {
    AGENT_SLOT_PRIMARY_GOAL = 0,
    AGENT_SLOT_ACTIVE_TASK_ID,
    AGENT_SLOT_OPEN_LOOP_IDS,
    AGENT_SLOT_PREFERENCE_BY_KEY,
    AGENT_SLOT_EXTENSION,
    AGENT_SLOT_COUNT
};
const char *agent_slot_name(enum agent_slot slot); /* "primaryGoal" */

struct agent_pointer {
    struct str message_id; /* empty: none */
    struct vclock clock;   /* of what it points to */
    struct str host;
};
struct agent_state {
    struct str id; /* AGENT:HOST; empty when it is several values as one */
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
    struct arena *arena; /* that agent_state_get() read it into */
};

/* All values of a set as one (a single value: itself). Pointers whose ancestry is known to descends
 * (may be NULL) go by it. Hosts not heard of for AGENT_HOST_STALE_MS leave `processed`. */
typedef bool agent_descends_fn(void *arg, struct str later, struct str earlier);
struct agent_state agent_state_resolve(const struct agent_state *values, size_t n, int64_t now_ms,
                                       agent_descends_fn *descends, void *arg, struct arena *arena);
/* The union without those that another one has seen, in byte order of (host, clock). */
void agent_state_join(const struct agent_state *a, size_t a_count, const struct agent_state *b,
                      size_t b_count, struct arena *arena, struct agent_state **ret_values,
                      size_t *ret_count);

/* ---- what was processed ---- */

/* Hosts that were not heard of for this long are left out of `processed` and of `host_seen`, or
 * both would grow for ever. What they wrote stays processed: the time at which the latest of them
 * was last heard of stays in `host_seen` under AGENT_HOSTS_GONE (no host has that name), and all
 * that was written up to it by hosts that are not listed counts as processed. That time is always
 * AGENT_HOST_STALE_MS past, and it merges as the others do, so a host that another device still
 * lists is simply listed again. */
#define AGENT_HOST_STALE_MS (180ll * 24 * 3600 * 1000)
#define AGENT_HOSTS_GONE    STR("*")
/* Was this write of this host, made at that time, already looked at? */
bool agent_state_has_processed(const struct agent_state *state, struct str host, int64_t counter,
                               int64_t written_at);
void agent_state_processed(struct agent_state *state, struct str host, int64_t counter,
                           int64_t now_ms, struct arena *arena);

/* ---- pure changes of a state ---- */

/* After a wake. */
void agent_state_succeeded(struct agent_state *state, int64_t now_ms);
void agent_state_failed(struct agent_state *state, int64_t now_ms);
/* How long to wait before the next autonomous wake after this many failures in a row: 0, then 30 s
 * doubling up to 6 h. */
int64_t agent_backoff_ms(int64_t failures);

#define AGENT_GOAL_MAX        2000 /* bytes */
#define AGENT_OPEN_LOOPS_MAX  200
#define AGENT_PREFERENCES_MAX 200
/* A slot's value, checked: text for the goal, an id for the task (empty: none), JSON for the
 * others, kept in canonical form in arena. The version grows when it is another value (1), else 0.
 * bad_request says what is allowed; schema_violation: an extension key that is not registered. */
int agent_state_set_slot(struct agent_state *state, enum agent_slot slot, struct str value,
                         struct str host, struct arena *arena, struct err *err);

/* ---- stored ---- */

/* Resolved, as of now. */
int agent_state_get(struct domain *domain, int64_t agent_n, int64_t now_ms, struct arena *arena,
                    struct agent_state *ret_state, struct err *err);
/* Inside a unit: this host's value becomes state (a change of what agent_state_get() gave), having
 * seen all others. version_conflict: a value has come since it was read; agent_destroyed. Sets id,
 * host, clock and revision. Writes no batch; agent_state_tell() adds AGENT_STATE to the caller's.
 */
int agent_state_put(struct domain *domain, struct change *change, struct agent_state *state,
                    int64_t now_ms, struct err *err);
/* What agent_state_put() wrote: a unit, AGENT_STATE, and the ids of agent and state. */
void agent_state_tell(struct change_batch *batch, const struct change *change,
                      const struct agent_state *state, const char *agent_id);
/* Inside a unit: a value that another host made (sync). 1 it is new, 0 it was known. The agent's
 * life cycle follows what all values say together; destroyed elsewhere is destroyed here. */
int agent_state_receive(struct domain *domain, struct change *change,
                        const struct agent_state *state, int64_t now_ms, struct err *err);

#endif
