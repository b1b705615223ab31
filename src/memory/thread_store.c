/* Rows of threads.
 *
 * Where a thread stands is what its newest message and its newest public event say: each knows its
 * place, and both are found by a look at the end of an index. So a run writes the thread's row when
 * it begins, and when it ends a while later, for lists of conversations, and not at every step.
 *
 * SPDX-License-Identifier: MIT
 */
#include "change/taint.h"
#include "db/db.h"
#include "memory/message.h"

#define THREAD_SELECT                                                                              \
    "SELECT t.n, t.agent_n, t.id, t.created_at, t.updated_at, t.deleted_at, m.n AS n_now,"         \
    " m.ordinal AS ordinal_now, m.tokens_total AS tokens_total_now, t.taint,"                      \
    " m.thread_taint AS taint_now,"                                                                \
    " (SELECT max(e.seq) FROM run_events e WHERE e.thread_n = t.n AND e.seq IS NOT NULL)"          \
    " AS seq_now FROM threads t LEFT JOIN agent_messages m"                                        \
    " ON m.n = (SELECT max(l.n) FROM agent_messages l WHERE l.thread_n = t.n) "

static void read_row(struct stmt *q, struct arena *arena, struct thread *ret_thread)
{
    *ret_thread = (struct thread){
        .n = stmt_i64(q, "n"),
        .agent_n = stmt_i64(q, "agent_n"),
        .id = arena_str(arena, stmt_str(q, "id")),
        .last_seq = stmt_i64(q, "seq_now"),
        .last_message_n = stmt_i64(q, "n_now"),
        .message_count = stmt_i64(q, "ordinal_now"),
        .tokens_total = stmt_i64(q, "tokens_total_now"),
        .created_at = stmt_i64(q, "created_at"),
        .updated_at = stmt_i64(q, "updated_at"),
        .deleted_at = stmt_i64(q, "deleted_at"),
        .taint = arena_str(arena, stmt_str(q, "taint_now")),
        .taint_before = arena_str(arena, stmt_str(q, "taint")),
        .arena = arena,
    };
    ret_thread->taint = taint_join(ret_thread->taint, ret_thread->taint_before, arena);
}

int thread_find(struct domain *domain, struct str id, struct arena *arena,
                struct thread *ret_thread, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain), SQL(THREAD_SELECT "WHERE t.id = ?"), &q, err) < 0)
        return -1;
    stmt_bind_str(q, id);
    r = stmt_step(q, err);
    if (r == 1)
        read_row(q, arena, ret_thread);
    return r;
}

int thread_get_n(struct domain *domain, int64_t n, struct arena *arena, struct thread *ret_thread,
                 struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain), SQL(THREAD_SELECT "WHERE t.n = ?"), &q, err) < 0)
        return -1;
    stmt_bind_i64(q, n);
    r = stmt_step(q, err);
    if (r == 0)
        return err_set(err, ERR_INTEGRITY_FAILED, "thread row %lld is missing", (long long)n);
    if (r < 0)
        return -1;
    read_row(q, arena, ret_thread);
    return 0;
}

static int insert(struct db *db, struct str id, int64_t agent_n, int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(db,
                   SQL("INSERT INTO threads (id, agent_n, created_at, updated_at)"
                       " VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, id);
    stmt_bind_i64(q, agent_n);
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, now_ms);
    return stmt_run(q, err);
}

static int revive(struct db *db, int64_t n, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(db, SQL("UPDATE threads SET deleted_at = NULL WHERE n = ?"), &q, err) < 0)
        return -1;
    stmt_bind_i64(q, n);
    return stmt_run(q, err);
}

int thread_open(struct domain *domain, struct str id, int64_t agent_n, int64_t now_ms,
                struct arena *arena, struct thread *ret_thread, struct err *err)
{
    struct thread thread;
    int r = thread_find(domain, id, arena, &thread, err);

    if (r == 0) {
        if (insert(domain_db(domain), id, agent_n, now_ms, err) < 0)
            return -1;
        r = thread_find(domain, id, arena, &thread, err);
    }
    if (r != 1)
        return r < 0 ? -1 : err_set(err, ERR_INTERNAL, "thread %.*s did not stay", STR_ARG(id));
    if (thread.agent_n != agent_n)
        return err_set(err, ERR_CONFLICT, "thread %.*s belongs to another agent", STR_ARG(id));
    if (thread.deleted_at && revive(domain_db(domain), thread.n, err) < 0)
        return -1;
    thread.deleted_at = 0;
    *ret_thread = thread;
    return 0;
}

int thread_save(struct domain *domain, const struct thread *thread, int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("UPDATE threads SET last_seq = ?, last_message_n = ?, message_count = ?,"
                       " tokens_total = ?, updated_at = ? WHERE n = ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, thread->last_seq);
    stmt_bind_some_i64(q, thread->last_message_n);
    stmt_bind_i64(q, thread->message_count);
    stmt_bind_i64(q, thread->tokens_total);
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, thread->n);
    return stmt_run(q, err);
}
