/* Rows of threads.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/db.h"
#include "memory/message.h"

#define THREAD_SELECT                                                                              \
    "SELECT n, agent_n, id, last_seq, last_message_n, message_count, tokens_total, created_at,"    \
    " updated_at FROM threads "

static void read_row(struct stmt *q, struct arena *arena, struct thread *ret_thread)
{
    *ret_thread = (struct thread){
        .n = stmt_i64(q, "n"),
        .agent_n = stmt_i64(q, "agent_n"),
        .id = arena_str(arena, stmt_str(q, "id")),
        .last_seq = stmt_i64(q, "last_seq"),
        .last_message_n = stmt_i64(q, "last_message_n"),
        .message_count = stmt_i64(q, "message_count"),
        .tokens_total = stmt_i64(q, "tokens_total"),
        .created_at = stmt_i64(q, "created_at"),
        .updated_at = stmt_i64(q, "updated_at"),
    };
}

int thread_find(struct domain *domain, struct str id, struct arena *arena,
                struct thread *ret_thread, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain), SQL(THREAD_SELECT "WHERE id = ?"), &q, err) < 0)
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

    if (db_prepare(domain_db(domain), SQL(THREAD_SELECT "WHERE n = ?"), &q, err) < 0)
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

int thread_list(struct domain *domain, int64_t agent_n, int64_t before, int limit,
                struct arena *arena, struct thread **ret_threads, size_t *ret_count,
                struct err *err)
{
    int max = limit > 0 ? limit : 100;
    AUTO(stmt) q = NULL;
    size_t n = 0;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL(THREAD_SELECT "WHERE agent_n = ? AND n < ? ORDER BY n DESC LIMIT ?"), &q,
                   err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    stmt_bind_i64(q, before > 0 ? before : INT64_MAX);
    stmt_bind_i64(q, max);
    *ret_threads = ARENA_NEW_N(arena, struct thread, (size_t)max);
    while ((r = stmt_step(q, err)) == 1)
        read_row(q, arena, &(*ret_threads)[n++]);
    *ret_count = n;
    return r;
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
    if (thread->last_message_n)
        stmt_bind_i64(q, thread->last_message_n);
    else
        stmt_bind_null(q);
    stmt_bind_i64(q, thread->message_count);
    stmt_bind_i64(q, thread->tokens_total);
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, thread->n);
    return stmt_run(q, err);
}
