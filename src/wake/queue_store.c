/* Rows of wakes: queued, and what became of them. (Those of what a person says to an agent are the
 * rows of its runs: spoken_store.c.)
 *
 * A wake stands in wake_queue until it is taken; then, in one transaction, it goes to wake_runs
 * under the same key and number. So a key that is in either table is known, and asking again for
 * the same wake changes nothing. On a shared database the same wake may be queued once more at the
 * very moment in which another process takes it; whoever takes it the second time finds it in
 * wake_runs and lets it go (claim_store.c).
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/db.h"
#include "db/prefix.h"
#include "wake/queue_int.h"
#include "wake/spoken_int.h"

#define LIST_DEFAULT      50
#define LIST_MAX          500
#define EARLIER_BYTES_MAX (8 * MIB)

static const char *const status_names[] = { [WAKE_STATUS_NONE] = "none",
#define X(id, name) [WAKE_##id] = (name),
                                            WAKE_STATUSES(X)
#undef X
};

const char *wake_status_name(enum wake_status status)
{
    return status_names[status];
}

enum wake_status wake_status_of(struct str name)
{
    for (size_t i = 1; i < ARRAY_LEN(status_names); i++)
        if (str_is(name, status_names[i]))
            return (enum wake_status)i;
    return WAKE_STATUS_NONE;
}

static const struct {
    const char *name, *why;
} holds[] = { [WAKE_HELD_NONE] = { "", "" },
#define X(id, name, why) [WAKE_HELD_##id] = { name, why },
              WAKE_HOLDS(X)
#undef X
};

const char *wake_held_name(enum wake_held held)
{
    return holds[held].name;
}

const char *wake_held_why(enum wake_held held)
{
    return holds[held].why;
}

static enum wake_held held_of(struct str name)
{
    for (size_t i = 1; i < ARRAY_LEN(holds); i++)
        if (str_is(name, holds[i].name))
            return (enum wake_held)i;
    return WAKE_HELD_NONE;
}

/* ---- into the queue ---- */

static void bind_some(struct stmt *q, struct str text, struct str otherwise)
{
    stmt_bind_str(q, text.n ? text : otherwise);
}

#define INSERT                                                                                     \
    "INSERT INTO wake_queue (run_key, agent_n, reason, reason_id, thread_id, scheduled_at,"        \
    " logical_change_key, payload, priority, not_before, held, created_at)"                        \
    " SELECT ?, n, ?, ?, coalesce(?, id || ':run:' || ?), ?, ?, ?, ?, ?, ?, ?"                     \
    " FROM agents WHERE n = ? AND lifecycle <> 'destroyed'"                                        \
    " AND NOT EXISTS (SELECT 1 FROM wake_runs WHERE run_key = ?)"                                  \
    " ON CONFLICT (run_key) DO NOTHING RETURNING n"

/* One statement: the agent lives, nothing became of this wake yet, and others hear of it. */
static int insert(struct domain *domain, const struct wake_job *job, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   domain_is_shared(domain) ? SQL(INSERT ", " WAKE_TELL) : SQL(INSERT), &q,
                   err) < 0)
        return -1;
    stmt_bind_str(q, job->run_key);
    stmt_bind_str(q, job->reason);
    bind_some(q, job->reason_id, STR(""));
    bind_some(q, job->thread_id, STR_NONE);
    stmt_bind_str(q, job->run_key);
    stmt_bind_some_i64(q, job->scheduled_at);
    bind_some(q, job->logical_change_key, STR_NONE);
    bind_some(q, job->payload, STR("{}"));
    stmt_bind_i64(q, job->priority);
    stmt_bind_i64(q, job->priority == 0 ? WAKE_FIRST : job->not_before);
    stmt_bind_text(q, wake_held_name(job->held));
    stmt_bind_i64(q, job->created_at);
    stmt_bind_i64(q, job->agent_n);
    stmt_bind_str(q, job->run_key);
    return stmt_step(q, err);
}

/* Why nothing was stored. */
static int check_agent(struct db *db, int64_t agent_n, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(db, SQL("SELECT id, lifecycle FROM agents WHERE n = ?"), &q, err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    r = stmt_step(q, err);
    if (r < 0)
        return -1;
    if (r == 0)
        return err_set(err, ERR_INTEGRITY_FAILED, "a wake is of an agent that is not there");
    if (str_is(stmt_str(q, "lifecycle"), "destroyed"))
        return err_set(err, ERR_AGENT_DESTROYED, "the agent %.*s no longer exists",
                       STR_ARG(stmt_str(q, "id")));
    return 0;
}

int wake_enqueue(struct domain *domain, const struct wake_job *job, struct err *err)
{
    int r;

    BUG_IF(!job->run_key.n || !job->reason.n || !job->created_at);
    if (job->payload.n > WAKE_PAYLOAD_MAX)
        return err_set(err, ERR_TOO_LARGE, "what a wake is about has %zu bytes; at most %u may be",
                       job->payload.n, WAKE_PAYLOAD_MAX);
    r = insert(domain, job, err);
    if (r != 0)
        return r;
    return check_agent(domain_db(domain), job->agent_n, err);
}

/* Its key says when it is, so it gets that of its new time: a sleep until the former one may come
 * again. One that is due already stays as it is. */
int wake_end_of_sleep(struct domain *domain, int64_t agent_n, const char *agent_id, int64_t at,
                      int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;
    char key[SHA256_TEXT_SIZE];
    int64_t then = at ? at : now_ms;

    if (db_prepare(domain_db(domain),
                   SQL("UPDATE wake_queue SET run_key = ?, thread_id = ? || ':run:' || ?,"
                       " scheduled_at = ?, not_before = ? WHERE not_before > ? AND not_before < ?"
                       " AND n = (SELECT max(n) FROM wake_queue WHERE agent_n = ?"
                       " AND reason_id = '" WAKE_SLEEP_ID "' AND reason = 'recoveryCatchup')"),
                   &q, err) < 0)
        return -1;
    wake_key_timer(agent_id, STR(WAKE_SLEEP_ID), then, key);
    stmt_bind_text(q, key);
    stmt_bind_text(q, agent_id);
    stmt_bind_text(q, key);
    stmt_bind_i64(q, then);
    stmt_bind_i64(q, at);
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, WAKE_PARKED);
    stmt_bind_i64(q, agent_n);
    return stmt_run(q, err);
}

int wake_clock_back(struct domain *domain, int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("UPDATE wake_queue SET not_before = not_before - (created_at - ?),"
                       " created_at = ? WHERE not_before > ? AND not_before < ? AND created_at > ?"
                       " AND held IN ('cooldown', 'rest', 'failures', 'often')"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, WAKE_PARKED);
    stmt_bind_i64(q, now_ms);
    return stmt_run(q, err);
}

/* ---- reading ---- */

#define COMMON                                                                                     \
    "SELECT w.n, w.run_key, w.agent_n, a.id AS agent_id, w.reason, w.reason_id, w.thread_id,"      \
    " w.scheduled_at, w.logical_change_key, w.payload, w.attempts, w.created_at"
#define ENDED_COLUMNS                                                                              \
    ", w.status, w.why, w.error_code, w.coalesced_into, w.run_n, w.started_at, w.ended_at"
/* What woke, as people named it: of those that were removed, too. */
#define NAME_COLUMNS ", s.name AS subscription_name, t.name AS timer_name"
#define NAME_FROM                                                                                  \
    "LEFT JOIN agent_subscriptions s ON s.id = w.reason_id"                                        \
    " LEFT JOIN agent_timers t ON t.id = w.reason_id "
#define FROM(table) " FROM " table " w JOIN agents a ON a.n = w.agent_n "

#define QUEUE_SELECT                                                                               \
    COMMON ", w.priority, w.not_before, w.held" NAME_COLUMNS FROM("wake_queue") NAME_FROM
#define ENDED_SELECT                                                                               \
    COMMON ENDED_COLUMNS NAME_COLUMNS ", r.wait_kind" FROM("wake_runs") NAME_FROM                  \
        "LEFT JOIN runs r ON r.n = w.run_n AND w.ended_at IS NULL "
#define EARLIER_SELECT COMMON ENDED_COLUMNS FROM("wake_runs")

static struct str copy(struct arena *arena, struct str text)
{
    return text.p ? arena_str(arena, text) : STR_NONE;
}

#define TEXT(column) copy(arena, stmt_str(q, column))

static void read_common(struct stmt *q, struct arena *arena, struct wake_job *ret_job)
{
    *ret_job = (struct wake_job){
        .n = stmt_i64(q, "n"),
        .run_key = TEXT("run_key"),
        .agent_n = stmt_i64(q, "agent_n"),
        .agent_id = TEXT("agent_id"),
        .reason = TEXT("reason"),
        .reason_id = TEXT("reason_id"),
        .thread_id = TEXT("thread_id"),
        .scheduled_at = stmt_i64(q, "scheduled_at"),
        .logical_change_key = TEXT("logical_change_key"),
        .payload = TEXT("payload"),
        .attempts = stmt_i64(q, "attempts"),
        .created_at = stmt_i64(q, "created_at"),
    };
}

void wake_read_queued(struct stmt *q, struct arena *arena, struct wake_job *ret_job)
{
    read_common(q, arena, ret_job);
    ret_job->status = WAKE_QUEUED;
    ret_job->priority = (int)stmt_i64(q, "priority");
    ret_job->not_before = stmt_i64(q, "not_before");
    if (ret_job->not_before >= WAKE_PARKED)
        ret_job->why = STR("the agent is awake; this follows when its run has ended");
    if (ret_job->not_before < 0 || ret_job->not_before >= WAKE_PARKED)
        ret_job->not_before = 0;
}

void wake_read_ended(struct stmt *q, struct arena *arena, struct wake_job *ret_job)
{
    read_common(q, arena, ret_job);
    ret_job->status = wake_status_of(stmt_str(q, "status"));
    ret_job->why = TEXT("why");
    ret_job->error_code = TEXT("error_code");
    ret_job->coalesced_into = TEXT("coalesced_into");
    ret_job->run_id = stmt_is_null(q, "run_n") ? STR_NONE : ret_job->run_key;
    ret_job->started_at = stmt_i64(q, "started_at");
    ret_job->ended_at = stmt_i64(q, "ended_at");
}

static void read_name(struct stmt *q, struct arena *arena, struct wake_job *job)
{
    struct str name = stmt_str(q, "subscription_name");

    job->name = copy(arena, name.n ? name : stmt_str(q, "timer_name"));
}

/* One that has its time says what it waits for. */
static void read_listed_queued(struct stmt *q, struct arena *arena, struct wake_job *ret_job)
{
    wake_read_queued(q, arena, ret_job);
    read_name(q, arena, ret_job);
    if (!ret_job->not_before) {
        if (!ret_job->why.n)
            ret_job->why = STR("it is taken as soon as there is a place");
        return;
    }
    ret_job->held = held_of(stmt_str(q, "held"));
    ret_job->why = str_from(wake_held_why(ret_job->held));
}

static struct str why_running(struct str wait_kind)
{
    if (str_is(wait_kind, "inbox"))
        return STR("its run waits for a person");
    if (str_is(wait_kind, "rate_limit"))
        return STR("its run waits for the model, which takes no more for a while");
    return wait_kind.n ? STR("its run waits for a tool") : STR("its run is under way");
}

static void read_listed_ended(struct stmt *q, struct arena *arena, struct wake_job *ret_job)
{
    wake_read_ended(q, arena, ret_job);
    read_name(q, arena, ret_job);
    if (ret_job->status == WAKE_RUNNING)
        ret_job->why = why_running(stmt_str(q, "wait_kind"));
}

typedef void read_fn(struct stmt *q, struct arena *arena, struct wake_job *ret_job);

/* At most limit of them behind those that are in jobs. */
static int read_rows(struct stmt *q, read_fn *read, int limit, struct arena *arena,
                     struct wake_job *jobs, size_t *count, struct err *err)
{
    int r = 1;

    for (int i = 0; i < limit && (r = stmt_step(q, err)) == 1; i++)
        read(q, arena, &jobs[(*count)++]);
    return r < 0 ? -1 : 0;
}

/* What is asked for decides by which index rows come, newest first; the rest is compared. */
#define LIST_REST                                                                                  \
    " AND (? = 0 OR w.agent_n = ?) AND (? = '' OR w.reason_id = ?) ORDER BY w.n DESC LIMIT ?"
#define ENDED_REST      " AND (? = '' OR w.status = ?)" LIST_REST
#define LIST_BY(column) "WHERE w." column " = ? AND w.n < ?"
#define LIST_ALL        "WHERE w.n < ?"

static struct sql queued_sql(const struct wake_filter *filter)
{
    if (filter->agent_n)
        return SQL(QUEUE_SELECT LIST_BY("agent_n") LIST_REST);
    return SQL(QUEUE_SELECT LIST_ALL LIST_REST);
}

static struct sql ended_sql(const struct wake_filter *filter)
{
    if (filter->reason_id.n)
        return SQL(ENDED_SELECT LIST_BY("reason_id") ENDED_REST);
    if (filter->agent_n)
        return SQL(ENDED_SELECT LIST_BY("agent_n") ENDED_REST);
    if (filter->status)
        return SQL(ENDED_SELECT LIST_BY("status") ENDED_REST);
    return SQL(ENDED_SELECT LIST_ALL ENDED_REST);
}

const char *wake_list_text(const struct wake_filter *filter, bool queued)
{
    return queued ? queued_sql(filter).text : ended_sql(filter).text;
}

static void bind_rest(struct stmt *q, const struct wake_filter *filter, int limit)
{
    stmt_bind_i64(q, filter->agent_n);
    stmt_bind_i64(q, filter->agent_n);
    bind_some(q, filter->reason_id, STR(""));
    bind_some(q, filter->reason_id, STR(""));
    stmt_bind_i64(q, limit);
}

static int64_t before_of(const struct wake_filter *filter)
{
    return filter->before_n > 0 ? filter->before_n : INT64_MAX;
}

static int list_queued(struct db *db, const struct wake_filter *filter, int limit,
                       struct arena *arena, struct wake_job *jobs, size_t *count, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(db, queued_sql(filter), &q, err) < 0)
        return -1;
    if (filter->agent_n)
        stmt_bind_i64(q, filter->agent_n);
    stmt_bind_i64(q, before_of(filter));
    bind_rest(q, filter, limit);
    return read_rows(q, read_listed_queued, limit, arena, jobs, count, err);
}

static int list_ended(struct db *db, const struct wake_filter *filter, int limit,
                      struct arena *arena, struct wake_job *jobs, size_t *count, struct err *err)
{
    AUTO(stmt) q = NULL;
    struct str status = filter->status ? str_from(wake_status_name(filter->status)) : STR("");

    if (db_prepare(db, ended_sql(filter), &q, err) < 0)
        return -1;
    if (filter->reason_id.n)
        stmt_bind_str(q, filter->reason_id);
    else if (filter->agent_n)
        stmt_bind_i64(q, filter->agent_n);
    else if (filter->status)
        stmt_bind_str(q, status);
    stmt_bind_i64(q, before_of(filter));
    stmt_bind_str(q, status);
    stmt_bind_str(q, status);
    bind_rest(q, filter, limit);
    return read_rows(q, read_listed_ended, limit, arena, jobs, count, err);
}

int wake_list_earlier(struct domain *domain, int64_t agent_n, int limit, struct arena *arena,
                      struct wake_job **ret_jobs, size_t *ret_count, struct err *err)
{
    struct wake_job *jobs = ARENA_NEW_N(arena, struct wake_job, (size_t)limit);
    AUTO(stmt) q = NULL;
    size_t n = 0, bytes = 0;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL(EARLIER_SELECT "WHERE w.agent_n = ? ORDER BY w.n DESC LIMIT ?"), &q,
                   err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    stmt_bind_i64(q, limit);
    while ((r = stmt_step(q, err)) == 1 && bytes <= EARLIER_BYTES_MAX) {
        wake_read_ended(q, arena, &jobs[n]);
        bytes += jobs[n].payload.n;
        if (jobs[n++].status == WAKE_COMPLETED)
            break;
    }
    *ret_jobs = jobs;
    *ret_count = n;
    return r < 0 ? -1 : 0;
}

/* Which of two comes first: wakes by their number, others by their time. */
static bool is_newer(const struct wake_job *a, const struct wake_job *b)
{
    return a->spoken == b->spoken ? a->n > b->n : a->created_at > b->created_at;
}

/* Two lists, each newest first, become one. */
static struct wake_job *merge(const struct wake_job *a, size_t a_count, const struct wake_job *b,
                              size_t b_count, size_t limit, struct arena *arena, size_t *ret_count)
{
    struct wake_job *out = ARENA_NEW_N(arena, struct wake_job, a_count + b_count + 1);
    size_t i = 0, k = 0, n = 0;

    while (n < limit && (i < a_count || k < b_count))
        out[n++] = i < a_count && (k == b_count || is_newer(&a[i], &b[k])) ? a[i++] : b[k++];
    *ret_count = n;
    return out;
}

int wake_list(struct domain *domain, const struct wake_filter *filter, struct arena *arena,
              struct wake_job **ret_jobs, size_t *ret_count, struct err *err)
{
    int limit = filter->limit <= 0         ? LIST_DEFAULT
                : filter->limit > LIST_MAX ? LIST_MAX
                                           : filter->limit;
    struct wake_job *queued = ARENA_NEW_N(arena, struct wake_job, (size_t)limit);
    struct wake_job *ended = ARENA_NEW_N(arena, struct wake_job, (size_t)limit);
    struct wake_job *spoken = ARENA_NEW_N(arena, struct wake_job, (size_t)limit), *jobs;
    size_t queued_count = 0, ended_count = 0, spoken_count = 0, n;
    int64_t oldest = 0;

    if ((!filter->status || filter->status == WAKE_QUEUED) &&
        list_queued(domain_db(domain), filter, limit, arena, queued, &queued_count, err) < 0)
        return -1;
    if (filter->status != WAKE_QUEUED &&
        list_ended(domain_db(domain), filter, limit, arena, ended, &ended_count, err) < 0)
        return -1;
    jobs = merge(queued, queued_count, ended, ended_count, (size_t)limit, arena, &n);
    if (n == (size_t)limit)
        oldest = jobs[n - 1].created_at;
    if (spoken_list(domain, filter, limit, oldest, arena, spoken, &spoken_count, err) < 0)
        return -1;
    *ret_jobs = merge(jobs, n, spoken, spoken_count, (size_t)limit, arena, ret_count);
    return 0;
}

static int find_queued(struct db *db, struct str key, struct arena *arena, struct wake_job *ret_job,
                       struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(db, SQL(QUEUE_SELECT "WHERE w.run_key = ?"), &q, err) < 0)
        return -1;
    stmt_bind_str(q, key);
    r = stmt_step(q, err);
    if (r == 1)
        read_listed_queued(q, arena, ret_job);
    return r;
}

static int find_ended(struct db *db, struct str key, struct arena *arena, struct wake_job *ret_job,
                      struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(db, SQL(ENDED_SELECT "WHERE w.run_key = ?"), &q, err) < 0)
        return -1;
    stmt_bind_str(q, key);
    r = stmt_step(q, err);
    if (r == 1)
        read_listed_ended(q, arena, ret_job);
    return r;
}

int wake_find(struct domain *domain, struct str run_key, struct arena *arena,
              struct wake_job *ret_job, struct err *err)
{
    int r = find_ended(domain_db(domain), run_key, arena, ret_job, err);

    return r != 0 ? r : find_queued(domain_db(domain), run_key, arena, ret_job, err);
}

int wake_get(struct domain *domain, struct str run_key_prefix, struct arena *arena,
             struct wake_job *ret_job, struct err *err)
{
    static const struct prefix_words words = { "wake", "wakes", "dormouse wakes",
                                               "those there are" };
    struct str key;
    int r;

    if (prefix_find(domain_db(domain),
                    SQL("SELECT run_key AS id FROM (SELECT run_key FROM wake_queue"
                        " UNION ALL SELECT run_key FROM wake_runs"
                        " UNION ALL SELECT run_key FROM runs WHERE wake_key IS NULL) AS w"
                        " WHERE run_key >= ? AND run_key < ? || '~' ORDER BY run_key LIMIT 5"),
                    run_key_prefix, &words, arena, &key, err) < 0)
        return -1;
    r = wake_find(domain, key, arena, ret_job, err);
    if (r == 0)
        r = spoken_get(domain, key, arena, ret_job, err);
    return r < 0 ? -1 : 0; /* wakes stay */
}
