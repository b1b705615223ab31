/* Rows of runs.
 *
 * A run is open until ended_at is set, which is when its status becomes one of those that stay.
 * Open runs are found through the partial index that allows a thread only one of them; so a start
 * looks at what is under way, however much is stored.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/db.h"
#include "db/prefix.h"
#include "run/log_int.h"

#define LIST_DEFAULT 50
#define LIST_MAX     1000

#define RUN_SELECT                                                                                 \
    "SELECT n, run_key, agent_n, thread_n, wake_reason, status, mode, model_id, cwd,"              \
    " program_hash, settings, prompt_n, result_n, active_ms, wait_kind, wait_until, hand_state, "  \
    "hand_pid, hand_stamp,"                                                                        \
    " iterations, tool_calls, input_tokens, output_tokens, cached_tokens, cost, stop_reason,"      \
    " error_code, error_message, rerun_of_n, override_code, wake_key, host_n, fence, created_at,"  \
    " updated_at, ended_at FROM runs "

static const char *const status_names[] = {
    [RUN_STATUS_NONE] = "none",     [RUN_QUEUED] = "queued", [RUN_RUNNING] = "running",
    [RUN_WAITING] = "waiting",      [RUN_DONE] = "done",     [RUN_CANCELLED] = "cancelled",
    [RUN_STATUS_FAILED] = "failed",
};

const char *run_status_name(enum run_status status)
{
    return status_names[status];
}

bool run_status_open(enum run_status status)
{
    return status == RUN_QUEUED || status == RUN_RUNNING || status == RUN_WAITING;
}

static enum run_status status_of(struct str name)
{
    for (size_t i = 1; i < ARRAY_LEN(status_names); i++)
        if (str_is(name, status_names[i]))
            return (enum run_status)i;
    return RUN_STATUS_NONE;
}

/* ---- writing ---- */

static void bind_some(struct stmt *q, struct str text, const char *otherwise)
{
    stmt_bind_str(q, text.n ? text : str_from(otherwise));
}

static void bind_insert(struct stmt *q, const struct run_record *record)
{
    stmt_bind_str(q, record->run_key);
    stmt_bind_i64(q, record->agent_n);
    stmt_bind_i64(q, record->thread_n);
    stmt_bind_str(q, record->wake_reason);
    stmt_bind_text(q, run_status_name(record->status));
    bind_some(q, record->mode, "structured");
    bind_some(q, record->model_id, "");
    bind_some(q, record->cwd, "");
    stmt_bind_blob(q, record->program_hash.p ? record->program_hash : STR(""));
    bind_some(q, record->settings, "{}");
    stmt_bind_some_str(q, record->wait_kind);
    stmt_bind_some_i64(q, record->wait_until);
    stmt_bind_some_i64(q, record->rerun_of_n);
    stmt_bind_some_str(q, record->override_code);
    stmt_bind_some_str(q, record->wake_key);
    stmt_bind_i64(q, record->host_n);
    stmt_bind_i64(q, record->fence);
    stmt_bind_i64(q, record->created_at);
    stmt_bind_i64(q, record->created_at);
}

int run_insert(struct domain *domain, struct run_record *record, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    BUG_IF(!run_status_open(record->status));
    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO runs (run_key, agent_n, thread_n, wake_reason, status, mode,"
                       " model_id, cwd, program_hash, settings, wait_kind, wait_until, rerun_of_n,"
                       " override_code, wake_key, host_n, fence, created_at, updated_at)"
                       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                       " ON CONFLICT DO NOTHING RETURNING n"),
                   &q, err) < 0)
        return -1;
    bind_insert(q, record);
    r = stmt_step(q, err);
    if (r == 1)
        record->n = stmt_i64(q, "n");
    return r;
}

int run_update(struct domain *domain, const struct run_record *record, struct err *err)
{
    AUTO(stmt) q = NULL;

    BUG_IF(run_status_open(record->status) != (record->ended_at == 0));
    if (db_prepare(domain_db(domain),
                   SQL("UPDATE runs SET prompt_n = ?, result_n = ?, active_ms = ?,"
                       " status = ?, mode = ?, wait_kind = ?, wait_until = ?,"
                       " hand_state = ?, hand_pid = ?, hand_stamp = ?, iterations = ?,"
                       " tool_calls = ?, input_tokens = ?, output_tokens = ?, cached_tokens = ?,"
                       " cost = ?, stop_reason = ?, error_code = ?, error_message = ?,"
                       " updated_at = ?, ended_at = ? WHERE n = ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_some_i64(q, record->prompt_n);
    stmt_bind_some_i64(q, record->result_n);
    stmt_bind_i64(q, record->active_ms);
    stmt_bind_text(q, run_status_name(record->status));
    bind_some(q, record->mode, "structured");
    stmt_bind_some_str(q, record->wait_kind);
    stmt_bind_some_i64(q, record->wait_until);
    stmt_bind_some_str(q, record->hand_state);
    stmt_bind_some_i64(q, record->hand_pid);
    stmt_bind_some_i64(q, record->hand_stamp);
    stmt_bind_i64(q, record->iterations);
    stmt_bind_i64(q, record->tool_calls);
    stmt_bind_i64(q, record->input_tokens);
    stmt_bind_i64(q, record->output_tokens);
    stmt_bind_i64(q, record->cached_tokens);
    stmt_bind_f64(q, record->cost);
    stmt_bind_some_str(q, record->stop_reason);
    stmt_bind_some_str(q, record->error_code);
    stmt_bind_some_str(q, record->error_message);
    stmt_bind_i64(q, record->updated_at);
    stmt_bind_some_i64(q, record->ended_at);
    stmt_bind_i64(q, record->n);
    return stmt_run(q, err);
}

/* ---- reading ---- */

static struct str copy(struct arena *arena, struct str text)
{
    return text.p ? arena_str(arena, text) : STR_NONE;
}

static void read_row(struct stmt *q, struct arena *arena, struct run_record *ret_record)
{
    *ret_record = (struct run_record){
        .n = stmt_i64(q, "n"),
        .run_key = copy(arena, stmt_str(q, "run_key")),
        .agent_n = stmt_i64(q, "agent_n"),
        .thread_n = stmt_i64(q, "thread_n"),
        .wake_reason = copy(arena, stmt_str(q, "wake_reason")),
        .status = status_of(stmt_str(q, "status")),
        .mode = copy(arena, stmt_str(q, "mode")),
        .model_id = copy(arena, stmt_str(q, "model_id")),
        .cwd = copy(arena, stmt_str(q, "cwd")),
        .program_hash = copy(arena, stmt_blob(q, "program_hash")),
        .settings = copy(arena, stmt_str(q, "settings")),
        .prompt_n = stmt_i64(q, "prompt_n"),
        .result_n = stmt_i64(q, "result_n"),
        .active_ms = stmt_i64(q, "active_ms"),
        .wait_kind = copy(arena, stmt_str(q, "wait_kind")),
        .wait_until = stmt_i64(q, "wait_until"),
        .hand_state = copy(arena, stmt_str(q, "hand_state")),
        .hand_pid = stmt_i64(q, "hand_pid"),
        .hand_stamp = stmt_i64(q, "hand_stamp"),
        .iterations = stmt_i64(q, "iterations"),
        .tool_calls = stmt_i64(q, "tool_calls"),
        .input_tokens = stmt_i64(q, "input_tokens"),
        .output_tokens = stmt_i64(q, "output_tokens"),
        .cached_tokens = stmt_i64(q, "cached_tokens"),
        .cost = stmt_f64(q, "cost"),
        .stop_reason = copy(arena, stmt_str(q, "stop_reason")),
        .error_code = copy(arena, stmt_str(q, "error_code")),
        .error_message = copy(arena, stmt_str(q, "error_message")),
        .rerun_of_n = stmt_i64(q, "rerun_of_n"),
        .override_code = copy(arena, stmt_str(q, "override_code")),
        .wake_key = copy(arena, stmt_str(q, "wake_key")),
        .host_n = stmt_i64(q, "host_n"),
        .fence = stmt_i64(q, "fence"),
        .created_at = stmt_i64(q, "created_at"),
        .updated_at = stmt_i64(q, "updated_at"),
        .ended_at = stmt_i64(q, "ended_at"),
    };
}

static int read_one(struct stmt *q, struct arena *arena, struct run_record *ret_record,
                    struct err *err)
{
    int r = stmt_step(q, err);

    if (r == 1)
        read_row(q, arena, ret_record);
    return r;
}

static int read_all(struct stmt *q, struct arena *arena, struct run_record **ret_records,
                    size_t *ret_count, struct err *err)
{
    struct run_record *records = NULL;
    size_t count = 0, cap = 0;
    int r;

    while ((r = stmt_step(q, err)) == 1) {
        ARENA_ROOM(arena, records, count, cap);
        read_row(q, arena, &records[count++]);
    }
    if (r < 0)
        return -1;
    *ret_records = records;
    *ret_count = count;
    return 0;
}

int run_load(struct domain *domain, struct str run_key, struct arena *arena,
             struct run_record *ret_record, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), SQL(RUN_SELECT "WHERE run_key = ?"), &q, err) < 0)
        return -1;
    stmt_bind_str(q, run_key);
    return read_one(q, arena, ret_record, err);
}

int run_load_n(struct domain *domain, int64_t n, struct arena *arena, struct run_record *ret_record,
               struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), SQL(RUN_SELECT "WHERE n = ?"), &q, err) < 0)
        return -1;
    stmt_bind_i64(q, n);
    return read_one(q, arena, ret_record, err);
}

int run_find_prefix(struct domain *domain, struct str prefix, struct arena *arena,
                    struct run_record *ret_record, struct err *err)
{
    static const struct prefix_words words = { "run", "runs", "dormouse runs", "those there are" };
    struct str key;

    if (prefix_find(domain_db(domain),
                    SQL("SELECT run_key AS id FROM runs WHERE run_key >= ? AND run_key < ? || '~'"
                        " ORDER BY run_key LIMIT 5"),
                    prefix, &words, arena, &key, err) < 0)
        return -1;
    return run_load(domain, key, arena, ret_record, err) < 0 ? -1 : 0; /* runs stay */
}

int run_open_of_thread(struct domain *domain, int64_t thread_n, struct arena *arena,
                       struct run_record *ret_record, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL(RUN_SELECT "WHERE thread_n = ? AND ended_at IS NULL ORDER BY n LIMIT 1"), &q,
                   err) < 0)
        return -1;
    stmt_bind_i64(q, thread_n);
    return read_one(q, arena, ret_record, err);
}

int run_records(struct domain *domain, int64_t agent_n, int64_t before, int limit,
                struct arena *arena, struct run_record **ret_records, size_t *ret_count,
                struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   agent_n ? SQL(RUN_SELECT "WHERE n < ? AND agent_n = ? ORDER BY n DESC LIMIT ?")
                           : SQL(RUN_SELECT "WHERE n < ? ORDER BY n DESC LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, before > 0 ? before : INT64_MAX);
    if (agent_n)
        stmt_bind_i64(q, agent_n);
    stmt_bind_i64(q, limit <= 0 ? LIST_DEFAULT : limit > LIST_MAX ? LIST_MAX : limit);
    return read_all(q, arena, ret_records, ret_count, err);
}

static void bind_host(struct stmt *q, int64_t host_n)
{
    stmt_bind_i64(q, host_n);
    stmt_bind_i64(q, host_n);
}

int run_open_page(struct domain *domain, int64_t host_n, struct str waits_well,
                  int64_t after_thread_n, int limit, struct arena *arena,
                  struct run_record **ret_records, size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL(RUN_SELECT "WHERE ended_at IS NULL AND thread_n > ?"
                                  " AND (? = 0 OR host_n = ?)"
                                  " AND (status <> 'waiting' OR program_hash <> ?)"
                                  " ORDER BY thread_n LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, after_thread_n);
    bind_host(q, host_n);
    stmt_bind_blob(q, waits_well);
    stmt_bind_i64(q, limit <= 0 ? LIST_DEFAULT : limit > LIST_MAX ? LIST_MAX : limit);
    return read_all(q, arena, ret_records, ret_count, err);
}

int run_next_wait(struct domain *domain, int64_t host_n, int64_t *ret_at, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT wait_until FROM runs WHERE wait_until IS NOT NULL"
                       " AND (? = 0 OR host_n = ?) ORDER BY wait_until LIMIT 1"),
                   &q, err) < 0)
        return -1;
    bind_host(q, host_n);
    r = stmt_step(q, err);
    if (r < 0)
        return -1;
    *ret_at = r == 1 ? stmt_i64(q, "wait_until") : 0;
    return 0;
}

int run_waits_due(struct domain *domain, int64_t host_n, int64_t now_ms, int64_t *ret_ns,
                  size_t max, size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;
    size_t count = 0;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT n FROM runs WHERE wait_until IS NOT NULL AND wait_until <= ?"
                       " AND (? = 0 OR host_n = ?) ORDER BY wait_until, n LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, now_ms);
    bind_host(q, host_n);
    stmt_bind_i64(q, (int64_t)max);
    while ((r = stmt_step(q, err)) == 1 && count < max)
        ret_ns[count++] = stmt_i64(q, "n");
    if (r < 0)
        return -1;
    *ret_count = count;
    return 0;
}

/* ---- whose it is ---- */

int run_lock(struct domain *domain, int64_t n, struct run_owner *ret_owner, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain),
                   domain_is_shared(domain)
                       ? SQL("SELECT host_n, fence, status, ended_at FROM runs WHERE n = ?"
                             " FOR NO KEY UPDATE")
                       : SQL("SELECT host_n, fence, status, ended_at FROM runs WHERE n = ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, n);
    r = stmt_step(q, err);
    if (r <= 0)
        return r;
    *ret_owner = (struct run_owner){ .host_n = stmt_i64(q, "host_n"),
                                     .fence = stmt_i64(q, "fence"),
                                     .waits = str_is(stmt_str(q, "status"), "waiting"),
                                     .ended = !stmt_is_null(q, "ended_at") };
    return 1;
}

int run_own(struct domain *domain, int64_t n, int64_t host_n, int64_t fence, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), SQL("UPDATE runs SET host_n = ?, fence = ? WHERE n = ?"), &q,
                   err) < 0)
        return -1;
    stmt_bind_i64(q, host_n);
    stmt_bind_i64(q, fence);
    stmt_bind_i64(q, n);
    return stmt_run(q, err);
}

int64_t run_own_all(struct domain *domain, int64_t from_host_n, int64_t host_n, int64_t fence,
                    struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("UPDATE runs SET host_n = ?, fence = ?"
                       " WHERE host_n = ? AND ended_at IS NULL"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, host_n);
    stmt_bind_i64(q, fence);
    stmt_bind_i64(q, from_host_n);
    if (stmt_run(q, err) < 0)
        return -1;
    return stmt_changes(q);
}
