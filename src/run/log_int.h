/* Inside the room: the rows of runs, of their events, and of the effect ledger.
 *
 * Everything here happens inside a unit of the agent domain unless it only reads.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_RUN_LOG_INT_H
#define DORMOUSE_RUN_LOG_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "bp/bp.h"
#include "db/domain.h"
#include "run/chain.h"

/* ---- runs ---- */

enum run_status {
    RUN_STATUS_NONE = 0,
    RUN_QUEUED,
    RUN_RUNNING,
    RUN_WAITING,
    RUN_DONE,
    RUN_CANCELLED,
    RUN_STATUS_FAILED,
};
const char *run_status_name(enum run_status status);
/* Not ended yet. */
bool run_status_open(enum run_status status);

/* A row. Empty texts and zeroes are NULL in the table where it allows that. */
struct run_record {
    int64_t n;
    struct str run_key;
    int64_t agent_n, thread_n;
    struct str wake_reason;
    enum run_status status;
    struct str mode; /* "structured", "wiggum" */
    struct str model_id, cwd;
    struct str program_hash;    /* bytes */
    struct str settings;        /* JSON */
    int64_t prompt_n, result_n; /* messages that it began and ended with */
    struct str wait_kind;
    int64_t wait_until;
    struct str hand_state;
    int64_t hand_pid, hand_stamp;
    int64_t active_ms; /* without waiting */
    int64_t iterations, tool_calls, input_tokens, output_tokens, cached_tokens;
    double cost;
    struct str stop_reason, error_code, error_message;
    int64_t rerun_of_n;
    struct str override_code;
    struct str wake_key; /* empty: somebody spoke */
    int64_t host_n, fence;
    int64_t created_at, updated_at, ended_at;
};

/* 1 stored, 0 a run with this key, or one of its thread that has not ended, was there. */
int run_insert(struct domain *domain, struct run_record *record, struct err *err);
/* Writes what changes while it runs: status, mode, wait_*, hand_*, the counters and cost,
 * stop_reason, error_*, updated_at, ended_at. */
int run_update(struct domain *domain, const struct run_record *record, struct err *err);

/* 1 found, 0 absent. Texts lie in arena. */
int run_load(struct domain *domain, struct str run_key, struct arena *arena,
             struct run_record *ret_record, struct err *err);
int run_load_n(struct domain *domain, int64_t n, struct arena *arena, struct run_record *ret_record,
               struct err *err);
/* By a unique beginning of the key of at least 4 characters. not_found; bad_request names the
 * candidates. */
int run_find_prefix(struct domain *domain, struct str prefix, struct arena *arena,
                    struct run_record *ret_record, struct err *err);
/* The run of a thread that has not ended: 1 found, 0 none. */
int run_open_of_thread(struct domain *domain, int64_t thread_n, struct arena *arena,
                       struct run_record *ret_record, struct err *err);
/* Newest first, before the row `before` (0: from the newest), of one agent or of all (agent_n 0);
 * at most limit (0: 50). */
int run_records(struct domain *domain, int64_t agent_n, int64_t before, int limit,
                struct arena *arena, struct run_record **ret_records, size_t *ret_count,
                struct err *err);
/* Runs that have not ended, by their threads, a page at a time: after this thread (0: from the
 * first), at most limit. Of this host (0: of all), and without those that wait under the rules of
 * this hash. Cost is what is open, not what is stored. */
int run_open_page(struct domain *domain, int64_t host_n, struct str waits_well,
                  int64_t after_thread_n, int limit, struct arena *arena,
                  struct run_record **ret_records, size_t *ret_count, struct err *err);
/* When the next rest is over; 0: none waits for a time. */
int run_next_wait(struct domain *domain, int64_t host_n, int64_t *ret_at, struct err *err);
/* Rows of runs whose rest is over, at most max. */
int run_waits_due(struct domain *domain, int64_t host_n, int64_t now_ms, int64_t *ret_ns,
                  size_t max, size_t *ret_count, struct err *err);

/* Who has it, read under a lock that lasts as long as the transaction: 1 found, 0 absent. */
struct run_owner {
    int64_t host_n, fence;
    bool waits, ended;
};
int run_lock(struct domain *domain, int64_t n, struct run_owner *ret_owner, struct err *err);
/* It is this host's from now on. */
int run_own(struct domain *domain, int64_t n, int64_t host_n, int64_t fence, struct err *err);
/* All open ones of a host become another's; how many. */
int64_t run_own_all(struct domain *domain, int64_t from_host_n, int64_t host_n, int64_t fence,
                    struct err *err);

/* ---- events ---- */

/* The note after which a run was ended without asking its program. */
#define RUN_NOTE_ENDED "ended"

struct run_event_row {
    int64_t n, run_n, thread_n;
    int64_t seq; /* of the thread's public events; 0: internal */
    struct bp_event event;
    int64_t ref; /* message, inbox item or operation by type; 0: none */
    struct str data;
    int64_t at;
    uint8_t chain[RUN_CHAIN_BYTES];
};

/* n of row is not used. ret_n may be NULL, and then Postgres does not have to be waited for. */
int run_event_append(struct domain *domain, const struct run_event_row *row, int64_t *ret_n,
                     struct err *err);
int run_event_count(struct domain *domain, int64_t run_n, int64_t *ret_count, struct err *err);
/* All of a run in order, until fn returns false. The row is valid during the call; fn may write. */
int run_events_of_run(struct domain *domain, int64_t run_n,
                      bool (*fn)(void *arg, const struct run_event_row *row), void *arg,
                      struct err *err);
/* Public events of a thread, or of one of its runs, after a seq, in order, at most limit (0: no
 * limit), until fn returns false. */
int run_events_public_after(struct domain *domain, int64_t thread_n, int64_t run_n, int64_t after,
                            int limit, bool (*fn)(void *arg, const struct run_event_row *row),
                            void *arg, struct err *err);

/* ---- the ledger ---- */

enum operation_status {
    OPERATION_STATUS_NONE = 0,
    OPERATION_PREPARED, /* the intent is committed */
    OPERATION_SETTLED,  /* what came of it is known */
    OPERATION_UNKNOWN,  /* the process died in between */
};
const char *operation_status_name(enum operation_status status);

enum operation_keyed { OPERATION_UNKEYED = 0, OPERATION_KEYED, OPERATION_READ_ONLY };

struct operation {
    int64_t n;
    struct str operation_id;
    int64_t run_n;
    struct str action_stable_id, tool_name;
    enum operation_keyed keyed;
    enum operation_status status;
    int64_t attempts;
    struct str last_error;
    int64_t created_at, updated_at;
};

/* 1: new, prepared, one attempt. 0: it was there: *operation gets n, status and attempts of the
 * row. */
int operation_prepare(struct domain *domain, struct operation *operation, struct err *err);
/* One more try with the same id: prepared again. */
int operation_attempt(struct domain *domain, int64_t n, int64_t now_ms, struct err *err);
int operation_settle(struct domain *domain, int64_t n, struct str error, int64_t now_ms,
                     struct err *err);
int operation_mark_unknown(struct domain *domain, int64_t n, int64_t now_ms, struct err *err);
/* 1 found, 0 absent. */
int operation_load(struct domain *domain, int64_t n, struct arena *arena,
                   struct operation *ret_operation, struct err *err);
/* Those of a run that are not settled, in order. */
int operations_open_of_run(struct domain *domain, int64_t run_n, struct arena *arena,
                           struct operation **ret_operations, size_t *ret_count, struct err *err);

#endif
