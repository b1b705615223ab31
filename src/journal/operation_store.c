/* Operations that were done, so that doing them again answers what the first time answered.
 *
 * They are forgotten after a while: those of people (a key that a client sends with a request)
 * after 48 hours, those of agents after 90 days, because work that was begun before a long sleep
 * is finished after it and must find what it did.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/clock.h"
#include "db/db.h"
#include "journal/journal_int.h"

#define KEEP_PEOPLE    HOURS(48)
#define KEEP_OTHERS    DAYS(90)
#define FORGET_AT_ONCE 20 /* more than one at each new one, so they never pile up */

int operation_find(struct journal *journal, const struct journal_author *author,
                   struct arena *arena, struct str *ret_result, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(journal->domain),
                   SQL("SELECT kind, arguments_hash, result FROM journal_operations"
                       " WHERE operation_id = ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, author->operation_id);
    r = stmt_step(q, err);
    if (r <= 0)
        return r;
    if (!str_eq(stmt_str(q, "kind"), author->operation) ||
        !str_eq(stmt_str(q, "arguments_hash"), author->arguments_hash))
        return err_set(err, ERR_CONFLICT,
                       "operation \"%.*s\" was done before as %.*s with other arguments",
                       STR_ARG(str_take(author->operation_id, 80)),
                       STR_ARG(str_take(stmt_str(q, "kind"), 80)));
    *ret_result = arena_str(arena, stmt_str(q, "result"));
    return 1;
}

int operation_results(struct journal *journal, struct str prefix, struct arena *arena,
                      struct str *ret_results, size_t max, size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;
    size_t n = 0;
    int r;

    if (db_prepare(domain_db(journal->domain),
                   SQL("SELECT result FROM journal_operations WHERE operation_id >= ?"
                       " AND operation_id < ? || '~' ORDER BY created_at DESC, operation_id DESC"
                       " LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, prefix);
    stmt_bind_str(q, prefix);
    stmt_bind_i64(q, (int64_t)max);
    while ((r = stmt_step(q, err)) == 1)
        ret_results[n++] = arena_str(arena, stmt_str(q, "result"));
    *ret_count = n;
    return r;
}

int operation_at(struct journal *journal, const char *kind, int64_t at, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(journal->domain),
                   SQL("SELECT 1 AS found FROM journal_operations WHERE author = ?"
                       " AND created_at = ? AND kind = ? LIMIT 1"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, change_author_name(CHANGE_BY_HUMAN));
    stmt_bind_i64(q, at);
    stmt_bind_text(q, kind);
    return stmt_step(q, err);
}

static int forget(struct journal *journal, const char *author, int64_t before, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(journal->domain),
                   SQL("DELETE FROM journal_operations WHERE operation_id IN ("
                       "SELECT operation_id FROM journal_operations WHERE author = ?"
                       " AND created_at < ? ORDER BY created_at LIMIT ?)"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, author);
    stmt_bind_i64(q, before);
    stmt_bind_i64(q, FORGET_AT_ONCE);
    return stmt_run(q, err);
}

static int insert(const struct journal_write *write, struct str result, struct err *err)
{
    const struct journal_author *author = &write->author;
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(write->journal->domain),
                   SQL("INSERT INTO journal_operations (operation_id, kind, author,"
                       " arguments_hash, result, created_at) VALUES (?, ?, ?, ?, ?, ?)"
                       " ON CONFLICT (operation_id) DO NOTHING"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, author->operation_id);
    stmt_bind_str(q, author->operation.p ? author->operation : STR(""));
    stmt_bind_text(q, change_author_name(author->kind));
    stmt_bind_str(q, author->arguments_hash.p ? author->arguments_hash : STR(""));
    stmt_bind_str(q, result.p ? result : STR(""));
    stmt_bind_i64(q, write->now);
    if (stmt_run(q, err) < 0)
        return -1;
    /* Another process that shares the database was faster: its answer counts. */
    if (stmt_changes(q) == 0)
        return err_set(err, ERR_CONFLICT,
                       "operation \"%.*s\" was done by another process meanwhile; ask again",
                       STR_ARG(str_take(author->operation_id, 80)));
    return 0;
}

int operation_add(const struct journal_write *write, struct str result, struct err *err)
{
    if (insert(write, result, err) < 0)
        return -1;
    if (forget(write->journal, change_author_name(CHANGE_BY_HUMAN), write->now - KEEP_PEOPLE, err) <
        0)
        return -1;
    return forget(write->journal, change_author_name(CHANGE_BY_AGENT), write->now - KEEP_OTHERS,
                  err);
}
