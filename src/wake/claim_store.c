/* Wakes on their way from the queue to their end.
 *
 * Whatever ends for the same reason goes by one statement: the sentences that say why are few, so a
 * hundred wakes cost about as many statements as one. What differs between the engines is how a
 * list of numbers is written, and that rows are locked where others could take them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/buf.h"
#include "db/db.h"
#include "wake/claim_int.h"

#define LIST_BYTES_MAX (64 * KIB)

/* ---- taking ---- */

/* An agent has a state for every host that woke it (mostly that is one): a wake comes with each. */
#define DUE_SELECT(limit, lock)                                                                    \
    "SELECT w.n, w.run_key, w.agent_n, w.reason, w.reason_id, w.thread_id, w.scheduled_at,"        \
    " w.logical_change_key, w.payload, w.priority, w.not_before, w.attempts, w.created_at,"        \
    " a.id AS agent_id, a.lifecycle, a.paused, a.mode, s.sleep_until, "                            \
    "s.consecutive_failure_count,"                                                                 \
    " s.last_wake_at, s.processed_counter_by_host, s.id AS state_id, f.n AS flight"                \
    " FROM (SELECT * FROM wake_queue WHERE not_before <= ? ORDER BY not_before, n LIMIT " limit    \
        lock ") AS w"                                                                              \
    " JOIN agents a ON a.n = w.agent_n LEFT JOIN agent_states s ON s.agent_n = a.n"                \
    " LEFT JOIN wake_runs f ON f.agent_n = a.n AND f.flying = 1"
#define DUE_ONE(lock)  DUE_SELECT("1", lock)
#define DUE_MANY(lock) DUE_SELECT("500", lock) " ORDER BY w.not_before, w.n"
#define LOCKED         " FOR UPDATE SKIP LOCKED"

static enum agent_lifecycle lifecycle_of(struct str name)
{
    for (int i = AGENT_CREATED; i <= AGENT_DESTROYED; i++)
        if (str_is(name, agent_lifecycle_name((enum agent_lifecycle)i)))
            return (enum agent_lifecycle)i;
    return AGENT_LIFECYCLE_NONE;
}

static void read_claim(struct stmt *q, struct arena *arena, struct claim *ret_claim)
{
    struct claim_agent *agent = &ret_claim->agent;
    struct str processed = stmt_str(q, "processed_counter_by_host");

    wake_read_queued(q, arena, &ret_claim->job);
    *agent = (struct claim_agent){
        .n = ret_claim->job.agent_n,
        .id = ret_claim->job.agent_id,
        .lifecycle = lifecycle_of(stmt_str(q, "lifecycle")),
        .paused = stmt_bool(q, "paused"),
        .interactive = str_is(stmt_str(q, "mode"), "interactive"),
        .flying = !stmt_is_null(q, "flight"),
        .sleep_until = stmt_i64(q, "sleep_until"),
        .failures = stmt_i64(q, "consecutive_failure_count"),
        .last_wake_at = stmt_i64(q, "last_wake_at"),
        .states = stmt_is_null(q, "state_id") ? 0 : 1,
    };
    /* One that can't be read has seen nothing: its wakes run once too often, not never. */
    if (processed.n && !str_is(processed, "{}") &&
        vclock_parse(arena_str(arena, processed), arena, &agent->processed, NULL) < 0)
        agent->processed = (struct vclock){ 0 };
}

/* Of an agent that was woken by several hosts, or by none yet. States that can't be read, or are
 * not there, say nothing: the wakes of one agent may not hold up those of all. */
static int resolve_state(struct domain *domain, struct claim_agent *agent, int64_t now_ms,
                         struct arena *arena, struct err *err)
{
    struct agent_state state;

    if (agent_state_get(domain, agent->n, now_ms, arena, &state, err) < 0) {
        if (err->code == ERR_STORAGE_FAILED)
            return -1;
        err_reset(err);
        return 0;
    }
    agent->sleep_until = state.sleep_until;
    agent->failures = state.failures;
    agent->last_wake_at = state.last_wake_at;
    agent->processed = state.processed;
    return 0;
}

struct claims {
    struct claim *at;
    size_t n, cap, bytes;
};

static struct claim *next_claim(struct claims *claims, struct arena *arena)
{
    ARENA_ROOM(arena, claims->at, claims->n, claims->cap);
    return &claims->at[claims->n++];
}

/* What does not fit waits for the next look. */
static int read_claims(struct stmt *q, struct arena *arena, struct claims *claims, struct err *err)
{
    int r;

    while ((r = stmt_step(q, err)) == 1) {
        if (claims->n && claims->at[claims->n - 1].job.n == stmt_i64(q, "n")) {
            claims->at[claims->n - 1].agent.states++;
            continue;
        }
        if (claims->bytes > CLAIM_BYTES_MAX)
            return 0;
        read_claim(q, arena, next_claim(claims, arena));
        claims->bytes += claims->at[claims->n - 1].job.payload.n;
    }
    return r;
}

/* Postgres plans a limit that it is told with each run anew, and one that stands in the text once:
 * so the two that occur stand there. */
static struct sql due_sql(struct domain *domain, bool one)
{
    if (domain_is_shared(domain))
        return one ? SQL(DUE_ONE(LOCKED)) : SQL(DUE_MANY(LOCKED));
    return one ? SQL(DUE_ONE("")) : SQL(DUE_MANY(""));
}

int claim_due(struct domain *domain, int64_t now_ms, bool one, struct arena *arena,
              struct claim **ret_claims, size_t *ret_count, struct err *err)
{
    struct claims claims = { 0 };
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), due_sql(domain, one), &q, err) < 0)
        return -1;
    stmt_bind_i64(q, now_ms);
    if (read_claims(q, arena, &claims, err) < 0)
        return -1;
    for (size_t i = 0; i < claims.n; i++) {
        if (claims.at[i].agent.states != 1 &&
            resolve_state(domain, &claims.at[i].agent, now_ms, arena, err) < 0)
            return -1;
    }
    *ret_claims = claims.at;
    *ret_count = claims.n;
    return 0;
}

/* What is parked was due. */
#define GOES(of) "(" of ".held <> 'hours' OR " of ".not_before <= ? OR " of ".not_before >= ?)"
#define AGENT_SELECT                                                                               \
    "SELECT w.n, w.run_key, w.agent_n, a.id AS agent_id, w.reason, w.reason_id, w.thread_id,"      \
    " w.scheduled_at, w.logical_change_key, w.payload, w.priority, w.not_before, w.attempts,"      \
    " w.created_at FROM wake_queue w JOIN agents a ON a.n = w.agent_n"                             \
    " WHERE w.agent_n = ? AND (" GOES(                                                             \
        "w") " OR w.logical_change_key IN (SELECT"                                                 \
             " o.logical_change_key FROM wake_queue o WHERE o.agent_n = ? AND " GOES(              \
                 "o") "))"                                                                         \
                      " ORDER BY w.n LIMIT ?"

int claim_of_agent(struct domain *domain, int64_t agent_n, int64_t at_ms, struct arena *arena,
                   struct wake_job **ret_jobs, size_t *ret_count, bool *ret_more, struct err *err)
{
    struct wake_job *jobs = ARENA_NEW_N(arena, struct wake_job, CLAIM_MAX);
    AUTO(stmt) q = NULL;
    size_t n = 0, bytes = 0;
    int r;

    if (db_prepare(domain_db(domain),
                   domain_is_shared(domain) ? SQL(AGENT_SELECT " FOR UPDATE OF w SKIP LOCKED")
                                            : SQL(AGENT_SELECT),
                   &q, err) < 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        stmt_bind_i64(q, agent_n);
        stmt_bind_i64(q, at_ms);
        stmt_bind_i64(q, WAKE_PARKED);
    }
    stmt_bind_i64(q, CLAIM_MAX + 1);
    while ((r = stmt_step(q, err)) == 1 && n < CLAIM_MAX && bytes <= CLAIM_BYTES_MAX) {
        wake_read_queued(q, arena, &jobs[n]);
        bytes += jobs[n++].payload.n;
    }
    if (r < 0)
        return -1;
    *ret_jobs = jobs;
    *ret_count = n;
    *ret_more = r == 1;
    return 0;
}

int claim_before(struct domain *domain, int64_t agent_n, int64_t n, struct arena *arena,
                 struct wake_job **ret_jobs, size_t *ret_count, struct err *err)
{
    struct wake_job *jobs = NULL;
    AUTO(stmt) q = NULL;
    size_t count = 0, cap = 0;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT n, payload FROM wake_queue WHERE agent_n = ? AND n < ?"
                       " AND held <> 'hours' ORDER BY n"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    stmt_bind_i64(q, n);
    while ((r = stmt_step(q, err)) == 1) {
        ARENA_ROOM(arena, jobs, count, cap);
        jobs[count++] = (struct wake_job){ .n = stmt_i64(q, "n"),
                                           .payload = arena_str(arena, stmt_str(q, "payload")) };
    }
    *ret_jobs = jobs;
    *ret_count = count;
    return r;
}

int claim_next(struct domain *domain, int64_t now_ms, int64_t *ret_at, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT min(not_before) AS at FROM wake_queue WHERE not_before > ?"), &q,
                   err) < 0)
        return -1;
    stmt_bind_i64(q, now_ms);
    if (stmt_step(q, err) != 1)
        return -1;
    *ret_at = stmt_i64(q, "at") >= WAKE_PARKED ? 0 : stmt_i64(q, "at");
    return 0;
}

/* ---- ending without a run ---- */

#define END_INTO                                                                                   \
    "INSERT INTO wake_runs (n, run_key, agent_n, reason, reason_id, thread_id, scheduled_at,"      \
    " logical_change_key, payload, attempts, created_at, status, why, coalesced_into, error_code," \
    " ended_at) SELECT q.n, q.run_key, q.agent_n, q.reason, q.reason_id, q.thread_id,"             \
    " q.scheduled_at, q.logical_change_key, q.payload, q.attempts, q.created_at, ?, ?, ?, ?, ?"
/* A statement that looks at nothing but these rows, whatever the server knows of the tables. */
#define END_SHARED(which)                                                                          \
    "WITH q AS (DELETE FROM wake_queue WHERE n " which " RETURNING *) " END_INTO                   \
    " FROM q ON CONFLICT DO NOTHING"

static bool alike(const struct claim_end *a, const struct claim_end *b)
{
    return a->status == b->status && strcmp(a->why, b->why) == 0 &&
           str_eq(a->coalesced_into, b->coalesced_into) &&
           str_eq(str_from(a->error_code), str_from(b->error_code));
}

/* All that end as ends[i] does, as a list of the engine: [1,2,3] or {1,2,3}. */
static size_t list_alike(const struct claim_end *ends, size_t n, size_t i, bool shared,
                         struct buf *out)
{
    size_t count = 0;

    for (size_t k = i; k < n; k++) {
        if (alike(&ends[i], &ends[k]))
            buf_printf(out, "%c%lld", count++ ? ',' : shared ? '{' : '[', (long long)ends[k].n);
    }
    buf_add_char(out, shared ? '}' : ']');
    return count;
}

static bool is_first(const struct claim_end *ends, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (alike(&ends[k], &ends[i]))
            return false;
    return true;
}

static void bind_end(struct stmt *q, const struct claim_end *end, int64_t now_ms)
{
    stmt_bind_text(q, wake_status_name(end->status));
    stmt_bind_text(q, end->why);
    stmt_bind_some_str(q, end->coalesced_into);
    stmt_bind_text(q, end->error_code);
    stmt_bind_i64(q, now_ms);
}

/* list NULL: the one. */
static void bind_which(struct stmt *q, const struct claim_end *end, const struct buf *list)
{
    if (list)
        stmt_bind_str(q, buf_str(list));
    else
        stmt_bind_i64(q, end->n);
}

static int move_shared(struct domain *domain, const struct claim_end *end, const struct buf *list,
                       int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   list ? SQL(END_SHARED("= ANY (?::bigint[])")) : SQL(END_SHARED("= ?")), &q,
                   err) < 0)
        return -1;
    bind_which(q, end, list);
    bind_end(q, end, now_ms);
    return stmt_run(q, err);
}

static int move_local(struct domain *domain, const struct claim_end *end, const struct buf *list,
                      int64_t now_ms, struct err *err)
{
    AUTO(stmt) in = NULL;
    AUTO(stmt) out = NULL;

    if (db_prepare(domain_db(domain),
                   list ? SQL(END_INTO " FROM json_each(?) AS e CROSS JOIN wake_queue q"
                                       " WHERE q.n = e.value ON CONFLICT DO NOTHING")
                        : SQL(END_INTO " FROM wake_queue q WHERE q.n = ? ON CONFLICT DO NOTHING"),
                   &in, err) < 0 ||
        db_prepare(domain_db(domain),
                   list ? SQL("DELETE FROM wake_queue WHERE n IN (SELECT e.value"
                              " FROM json_each(?) AS e)")
                        : SQL("DELETE FROM wake_queue WHERE n = ?"),
                   &out, err) < 0)
        return -1;
    bind_end(in, end, now_ms);
    bind_which(in, end, list);
    bind_which(out, end, list);
    return stmt_run(in, err) < 0 ? -1 : stmt_run(out, err);
}

int claim_end_all(struct domain *domain, const struct claim_end *ends, size_t n, int64_t now_ms,
                  struct err *err)
{
    bool shared = domain_is_shared(domain);

    for (size_t i = 0; i < n; i++) {
        AUTO_BUF list = BUF_INIT(LIST_BYTES_MAX);
        const struct buf *several;

        if (!is_first(ends, i))
            continue;
        several = list_alike(ends, n, i, shared, &list) > 1 ? &list : NULL;
        if (shared ? move_shared(domain, &ends[i], several, now_ms, err) < 0
                   : move_local(domain, &ends[i], several, now_ms, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- with a run ---- */

static int insert_running(struct domain *domain, const struct wake_job *job, int64_t run_n,
                          struct str payload, struct str thread_id, int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(
            domain_db(domain),
            SQL("INSERT INTO wake_runs (n, run_key, agent_n, reason, reason_id, thread_id,"
                " scheduled_at, logical_change_key, payload, attempts, created_at, status,"
                " flying, run_n, started_at)"
                " SELECT n, run_key, agent_n, reason, reason_id, coalesce(?, thread_id),"
                " scheduled_at, logical_change_key, ?, attempts + 1, created_at, 'running', 1, ?, ?"
                " FROM wake_queue WHERE n = ? ON CONFLICT DO NOTHING RETURNING n"),
            &q, err) < 0)
        return -1;
    stmt_bind_some_str(q, thread_id);
    stmt_bind_str(q, payload);
    stmt_bind_i64(q, run_n);
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, job->n);
    return stmt_step(q, err);
}

int claim_start(struct domain *domain, const struct wake_job *job, int64_t run_n,
                struct str payload, struct str thread_id, int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r = insert_running(domain, job, run_n, payload, thread_id, now_ms, err);

    if (r <= 0)
        return r;
    if (db_prepare(domain_db(domain), SQL("DELETE FROM wake_queue WHERE n = ? RETURNING n"), &q,
                   err) < 0)
        return -1;
    stmt_bind_i64(q, job->n);
    return stmt_step(q, err);
}

int claim_drop_known(struct domain *domain, int64_t n, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("DELETE FROM wake_queue WHERE n = ? AND EXISTS (SELECT 1 FROM wake_runs r"
                       " WHERE r.run_key = wake_queue.run_key)"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, n);
    return stmt_run(q, err);
}

int claim_finish(struct domain *domain, struct str run_key, enum wake_status status,
                 const char *why, struct str error_code, int64_t now_ms, struct arena *arena,
                 struct wake_job *ret_job, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("UPDATE wake_runs SET status = ?, why = ?, error_code = ?, ended_at = ?,"
                       " flying = 0 WHERE run_key = ? AND ended_at IS NULL"
                       " RETURNING n, agent_n, reason, reason_id, payload"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, wake_status_name(status));
    stmt_bind_text(q, why);
    stmt_bind_some_str(q, error_code);
    stmt_bind_i64(q, now_ms);
    stmt_bind_str(q, run_key);
    r = stmt_step(q, err);
    if (r == 1)
        *ret_job = (struct wake_job){ .n = stmt_i64(q, "n"),
                                      .agent_n = stmt_i64(q, "agent_n"),
                                      .run_key = run_key,
                                      .status = status,
                                      .reason = arena_str(arena, stmt_str(q, "reason")),
                                      .reason_id = arena_str(arena, stmt_str(q, "reason_id")),
                                      .payload = arena_str(arena, stmt_str(q, "payload")) };
    return r;
}

int claim_say(struct domain *domain, int64_t n, const char *why, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), SQL("UPDATE wake_runs SET why = ? WHERE n = ?"), &q, err) < 0)
        return -1;
    stmt_bind_text(q, why);
    stmt_bind_i64(q, n);
    return stmt_run(q, err);
}

int claim_rest(struct domain *domain, struct str run_key, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("UPDATE wake_runs SET flying = 0 WHERE run_key = ? AND flying = 1"), &q,
                   err) < 0)
        return -1;
    stmt_bind_str(q, run_key);
    return stmt_run(q, err);
}

/* ---- later ----
 *
 * Of rows that another process has just taken, or is about to move itself, nobody waits for the
 * other: what is left as it was is found by claim_unpark_lost(), or by the next look. */

int claim_park(struct domain *domain, int64_t agent_n, int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   domain_is_shared(domain)
                       ? SQL("UPDATE wake_queue SET not_before = ? WHERE n IN (SELECT n FROM"
                             " wake_queue WHERE agent_n = ? AND not_before <= ?"
                             " FOR UPDATE SKIP LOCKED)")
                       : SQL("UPDATE wake_queue SET not_before = ? WHERE agent_n = ?"
                             " AND not_before <= ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, WAKE_PARKED);
    stmt_bind_i64(q, agent_n);
    stmt_bind_i64(q, now_ms);
    return stmt_run(q, err);
}

int claim_delay(struct domain *domain, int64_t agent_n, int64_t until, enum wake_held held,
                int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   domain_is_shared(domain)
                       ? SQL("UPDATE wake_queue SET not_before = ?, held = ? WHERE n IN (SELECT n"
                             " FROM wake_queue WHERE agent_n = ? AND not_before <= ?"
                             " AND priority = 1 FOR UPDATE SKIP LOCKED)")
                       : SQL("UPDATE wake_queue SET not_before = ?, held = ? WHERE agent_n = ?"
                             " AND not_before <= ? AND priority = 1"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, until);
    stmt_bind_text(q, wake_held_name(held));
    stmt_bind_i64(q, agent_n);
    stmt_bind_i64(q, now_ms);
    return stmt_run(q, err);
}

int claim_run_began(struct domain *domain, int64_t agent_n, unsigned count, int64_t *ret_at,
                    struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    *ret_at = 0;
    if (db_prepare(domain_db(domain),
                   SQL("SELECT started_at FROM wake_runs WHERE agent_n = ? AND run_n IS NOT NULL"
                       " ORDER BY started_at DESC LIMIT 1 OFFSET ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    stmt_bind_i64(q, count - 1);
    r = stmt_step(q, err);
    if (r > 0)
        *ret_at = stmt_i64(q, "started_at");
    return r < 0 ? -1 : 0;
}

/* Where a wake stands that is due: what a person waits for first. Not at the time at which it was
 * queued: the clock may have been set back since. */
#define DUE_NOW "CASE priority WHEN 0 THEN -1 ELSE 0 END"

int claim_unpark(struct domain *domain, int64_t agent_n, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   domain_is_shared(domain)
                       ? SQL("UPDATE wake_queue SET not_before = " DUE_NOW " WHERE n IN (SELECT n"
                             " FROM wake_queue WHERE agent_n = ? AND not_before >= ?"
                             " FOR UPDATE SKIP LOCKED) RETURNING " WAKE_TELL)
                       : SQL("UPDATE wake_queue SET not_before = " DUE_NOW
                             " WHERE agent_n = ? AND not_before >= ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    stmt_bind_i64(q, WAKE_PARKED);
    return stmt_run(q, err);
}

int claim_unpark_lost(struct domain *domain, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   domain_is_shared(domain)
                       ? SQL("UPDATE wake_queue SET not_before = " DUE_NOW " WHERE n IN (SELECT q.n"
                             " FROM wake_queue q WHERE q.not_before >= ?"
                             " AND NOT EXISTS (SELECT 1 FROM wake_runs f"
                             " WHERE f.agent_n = q.agent_n AND f.flying = 1)"
                             " FOR UPDATE SKIP LOCKED)")
                       : SQL("UPDATE wake_queue SET not_before = " DUE_NOW
                             " WHERE not_before >= ? AND NOT EXISTS"
                             " (SELECT 1 FROM wake_runs f WHERE f.agent_n = wake_queue.agent_n"
                             " AND f.flying = 1)"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, WAKE_PARKED);
    if (stmt_run(q, err) < 0)
        return -1;
    return stmt_changes(q) > 0;
}

/* ---- looking ---- */

int claim_flights(struct domain *domain, int64_t host_n, int64_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   host_n ? SQL("SELECT count(*) AS count FROM wake_runs w JOIN runs r"
                                " ON r.n = w.run_n WHERE w.flying = 1 AND r.host_n = ?")
                          : SQL("SELECT count(*) AS count FROM wake_runs WHERE flying = 1"),
                   &q, err) < 0)
        return -1;
    if (host_n)
        stmt_bind_i64(q, host_n);
    if (stmt_step(q, err) != 1)
        return -1;
    *ret_count = stmt_i64(q, "count");
    return 0;
}
