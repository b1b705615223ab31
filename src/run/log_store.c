/* The log of runs: events, and the effect ledger. Rows of runs themselves are in record_store.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/db.h"
#include "run/log_int.h"
#include "run/run.h"

/* ---- events ---- */

#define EVENT_SELECT                                                                               \
    "SELECT n, run_n, thread_n, seq, type, key, bits, ref, data, at, chain FROM run_events "
#define EVENT_INSERT                                                                               \
    "INSERT INTO run_events (run_n, thread_n, seq, type, key, bits, ref, data, at, chain)"         \
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

static void bind_event(struct stmt *q, const struct run_event_row *row)
{
    stmt_bind_i64(q, row->run_n);
    stmt_bind_i64(q, row->thread_n);
    stmt_bind_some_i64(q, row->seq);
    stmt_bind_i64(q, row->event.type);
    stmt_bind_i64(q, row->event.key);
    stmt_bind_i64(q, row->event.bits);
    stmt_bind_some_i64(q, row->ref);
    stmt_bind_some_str(q, row->data);
    stmt_bind_i64(q, row->at);
    stmt_bind_blob(q, str_of((const char *)row->chain, RUN_CHAIN_BYTES));
}

/* Other processes on the database hear of it when it is committed; their clients may follow. */
#define EVENT_TELL "pg_notify('" RUN_EVENTS_CHANNEL "', '')"

static struct sql insert_text(bool tells, bool numbered)
{
    if (tells)
        return numbered ? SQL(EVENT_INSERT " RETURNING n, " EVENT_TELL)
                        : SQL(EVENT_INSERT " RETURNING " EVENT_TELL);
    return numbered ? SQL(EVENT_INSERT " RETURNING n") : SQL(EVENT_INSERT);
}

int run_event_append(struct domain *domain, const struct run_event_row *row, int64_t *ret_n,
                     struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), insert_text(row->seq && domain_is_shared(domain), ret_n), &q,
                   err) < 0)
        return -1;
    bind_event(q, row);
    if (!ret_n)
        return stmt_run(q, err);
    if (stmt_step(q, err) != 1)
        return -1;
    *ret_n = stmt_i64(q, "n");
    return 0;
}

/* Data is a view into the row. */
static int read_event(struct stmt *q, struct run_event_row *ret_row, struct err *err)
{
    struct str chain = stmt_blob(q, "chain");

    *ret_row = (struct run_event_row){
        .n = stmt_i64(q, "n"),
        .run_n = stmt_i64(q, "run_n"),
        .thread_n = stmt_i64(q, "thread_n"),
        .seq = stmt_i64(q, "seq"),
        .event = { .type = (uint8_t)stmt_i64(q, "type"),
                   .key = (uint16_t)stmt_i64(q, "key"),
                   .bits = (uint32_t)stmt_i64(q, "bits"),
                   .detail = (uint64_t)stmt_i64(q, "ref") },
        .ref = stmt_i64(q, "ref"),
        .data = stmt_str(q, "data"),
        .at = stmt_i64(q, "at"),
    };
    if (chain.n != RUN_CHAIN_BYTES)
        return err_set(err, ERR_INTEGRITY_FAILED, "row %lld of the run log: its link has %zu bytes",
                       (long long)ret_row->n, chain.n);
    memcpy(ret_row->chain, chain.p, RUN_CHAIN_BYTES);
    /* What was cut off would be seen by no link. */
    if (ret_row->event.type != stmt_i64(q, "type") || ret_row->event.key != stmt_i64(q, "key") ||
        ret_row->event.bits != stmt_i64(q, "bits"))
        return err_set(err, ERR_INTEGRITY_FAILED, "row %lld of the run log: there is no such event",
                       (long long)ret_row->n);
    return 0;
}

static int each_event(struct stmt *q, bool (*fn)(void *arg, const struct run_event_row *row),
                      void *arg, struct err *err)
{
    int r;

    while ((r = stmt_step(q, err)) == 1) {
        struct run_event_row row;

        if (read_event(q, &row, err) < 0)
            return -1;
        if (!fn(arg, &row))
            return 0;
    }
    return r;
}

int run_event_count(struct domain *domain, int64_t run_n, int64_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT count(*) AS count FROM run_events WHERE run_n = ?"), &q, err) < 0)
        return -1;
    stmt_bind_i64(q, run_n);
    if (stmt_step(q, err) != 1)
        return -1;
    *ret_count = stmt_i64(q, "count");
    return 0;
}

int run_events_of_run(struct domain *domain, int64_t run_n,
                      bool (*fn)(void *arg, const struct run_event_row *row), void *arg,
                      struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), SQL(EVENT_SELECT "WHERE run_n = ? ORDER BY n"), &q, err) < 0)
        return -1;
    stmt_bind_i64(q, run_n);
    return each_event(q, fn, arg, err);
}

int run_events_public_after(struct domain *domain, int64_t thread_n, int64_t run_n, int64_t after,
                            int limit, bool (*fn)(void *arg, const struct run_event_row *row),
                            void *arg, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   run_n ? SQL(EVENT_SELECT "WHERE thread_n = ? AND seq > ? AND seq IS NOT NULL"
                                            " AND run_n = ? ORDER BY seq LIMIT ?")
                         : SQL(EVENT_SELECT "WHERE thread_n = ? AND seq > ? AND seq IS NOT NULL"
                                            " ORDER BY seq LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, thread_n);
    stmt_bind_i64(q, after);
    if (run_n)
        stmt_bind_i64(q, run_n);
    stmt_bind_i64(q, limit > 0 ? limit : INT64_MAX);
    return each_event(q, fn, arg, err);
}

/* ---- the ledger ---- */

static const char *const status_names[] = {
    [OPERATION_STATUS_NONE] = "none",
    [OPERATION_PREPARED] = "prepared",
    [OPERATION_SETTLED] = "settled",
    [OPERATION_UNKNOWN] = "unknown",
};

const char *operation_status_name(enum operation_status status)
{
    return status_names[status];
}

static enum operation_status status_of(struct str name)
{
    for (size_t i = 1; i < ARRAY_LEN(status_names); i++)
        if (str_is(name, status_names[i]))
            return (enum operation_status)i;
    return OPERATION_STATUS_NONE;
}

static int find_operation(struct db *db, struct operation *operation, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(db,
                   SQL("SELECT n, status, attempts FROM operations"
                       " WHERE run_n = ? AND operation_id = ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, operation->run_n);
    stmt_bind_str(q, operation->operation_id);
    if (stmt_step(q, err) != 1)
        return -1;
    operation->n = stmt_i64(q, "n");
    operation->status = status_of(stmt_str(q, "status"));
    operation->attempts = stmt_i64(q, "attempts");
    return 0;
}

int operation_prepare(struct domain *domain, struct operation *operation, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO operations (operation_id, run_n, action_stable_id, tool_name,"
                       " keyed, status, created_at, updated_at)"
                       " VALUES (?, ?, ?, ?, ?, 'prepared', ?, ?)"
                       " ON CONFLICT (run_n, operation_id) DO NOTHING RETURNING n"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, operation->operation_id);
    stmt_bind_i64(q, operation->run_n);
    stmt_bind_some_str(q, operation->action_stable_id);
    stmt_bind_str(q, operation->tool_name);
    stmt_bind_i64(q, operation->keyed);
    stmt_bind_i64(q, operation->created_at);
    stmt_bind_i64(q, operation->created_at);
    r = stmt_step(q, err);
    if (r < 0)
        return -1;
    if (r == 0)
        return find_operation(domain_db(domain), operation, err);
    operation->n = stmt_i64(q, "n");
    operation->status = OPERATION_PREPARED;
    operation->attempts = 1;
    return 1;
}

int operation_attempt(struct domain *domain, int64_t n, int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("UPDATE operations SET status = 'prepared', attempts = attempts + 1,"
                       " updated_at = ? WHERE n = ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, n);
    return stmt_run(q, err);
}

static int set_status(struct domain *domain, int64_t n, enum operation_status status,
                      struct str error, int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("UPDATE operations SET status = ?, last_error = ?, updated_at = ?"
                       " WHERE n = ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, operation_status_name(status));
    stmt_bind_some_str(q, error);
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, n);
    return stmt_run(q, err);
}

int operation_settle(struct domain *domain, int64_t n, struct str error, int64_t now_ms,
                     struct err *err)
{
    return set_status(domain, n, OPERATION_SETTLED, error, now_ms, err);
}

int operation_mark_unknown(struct domain *domain, int64_t n, int64_t now_ms, struct err *err)
{
    return set_status(domain, n, OPERATION_UNKNOWN, STR_NONE, now_ms, err);
}

#define OPERATION_SELECT                                                                           \
    "SELECT n, operation_id, run_n, action_stable_id, tool_name, keyed, status, attempts,"         \
    " last_error, created_at, updated_at FROM operations "

static void read_operation(struct stmt *q, struct arena *arena, struct operation *ret_operation)
{
    *ret_operation = (struct operation){
        .n = stmt_i64(q, "n"),
        .operation_id = arena_str(arena, stmt_str(q, "operation_id")),
        .run_n = stmt_i64(q, "run_n"),
        .action_stable_id = arena_str(arena, stmt_str(q, "action_stable_id")),
        .tool_name = arena_str(arena, stmt_str(q, "tool_name")),
        .keyed = (enum operation_keyed)stmt_i64(q, "keyed"),
        .status = status_of(stmt_str(q, "status")),
        .attempts = stmt_i64(q, "attempts"),
        .last_error = arena_str(arena, stmt_str(q, "last_error")),
        .created_at = stmt_i64(q, "created_at"),
        .updated_at = stmt_i64(q, "updated_at"),
    };
}

int operation_load(struct domain *domain, int64_t n, struct arena *arena,
                   struct operation *ret_operation, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain), SQL(OPERATION_SELECT "WHERE n = ?"), &q, err) < 0)
        return -1;
    stmt_bind_i64(q, n);
    r = stmt_step(q, err);
    if (r == 1)
        read_operation(q, arena, ret_operation);
    return r;
}

int operations_open_of_run(struct domain *domain, int64_t run_n, struct arena *arena,
                           struct operation **ret_operations, size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;
    struct operation *operations = NULL;
    size_t count = 0, cap = 0;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL(OPERATION_SELECT "WHERE run_n = ? AND status <> 'settled' ORDER BY n"), &q,
                   err) < 0)
        return -1;
    stmt_bind_i64(q, run_n);
    while ((r = stmt_step(q, err)) == 1) {
        ARENA_ROOM(arena, operations, count, cap);
        read_operation(q, arena, &operations[count++]);
    }
    if (r < 0)
        return -1;
    *ret_operations = operations;
    *ret_count = count;
    return 0;
}

int run_has_acted(struct domain *domain, int64_t run_n, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT 1 AS one FROM operations WHERE run_n = ? AND keyed <> ? LIMIT 1"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, run_n);
    stmt_bind_i64(q, OPERATION_READ_ONLY);
    return stmt_step(q, err);
}
