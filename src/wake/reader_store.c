/* How far batches were read, and what could not be.
 *
 * A cursor moves from where it was read and from nowhere else: of two daemons that share a
 * database and read the same batches, the second waits for the first and then finds that nothing
 * is left to do.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/db.h"
#include "wake/reader_int.h"

int reader_cursor(struct domain *domain, const char *feed, struct change_cursor *ret_cursor,
                  struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain), SQL("SELECT txid, n FROM wake_cursors WHERE domain = ?"), &q,
                   err) < 0)
        return -1;
    stmt_bind_text(q, feed);
    r = stmt_step(q, err);
    if (r < 0)
        return -1;
    *ret_cursor = r ? (struct change_cursor){ stmt_i64(q, "txid"), stmt_i64(q, "n") }
                    : (struct change_cursor){ 0, 0 };
    return 0;
}

static int begin_cursor(struct db *db, const char *feed, int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(db,
                   SQL("INSERT INTO wake_cursors (domain, txid, n, updated_at) VALUES (?, 0, 0, ?)"
                       " ON CONFLICT (domain) DO NOTHING"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, feed);
    stmt_bind_i64(q, now_ms);
    return stmt_run(q, err);
}

int reader_move(struct domain *domain, const char *feed, struct change_cursor from,
                struct change_cursor to, int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (!from.txid && !from.n && begin_cursor(domain_db(domain), feed, now_ms, err) < 0)
        return -1;
    if (db_prepare(domain_db(domain),
                   SQL("UPDATE wake_cursors SET txid = ?, n = ?, updated_at = ?"
                       " WHERE domain = ? AND txid = ? AND n = ? RETURNING n"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, to.txid);
    stmt_bind_i64(q, to.n);
    stmt_bind_i64(q, now_ms);
    stmt_bind_text(q, feed);
    stmt_bind_i64(q, from.txid);
    stmt_bind_i64(q, from.n);
    return stmt_step(q, err);
}

/* A batch that is read in several units: up to which subscription, under the batch's own name, so
 * that nothing else is ever taken for it. */
static char *part_key(const char *feed, struct change_cursor at, struct arena *arena)
{
    return arena_printf(arena, "%s:part:%lld:%lld", feed, (long long)at.txid, (long long)at.n);
}

int reader_part(struct domain *domain, const char *feed, struct change_cursor at, int64_t *ret_n,
                struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct change_cursor part;

    if (reader_cursor(domain, part_key(feed, at, &arena), &part, err) < 0)
        return -1;
    *ret_n = part.n;
    return 0;
}

int reader_set_part(struct domain *domain, const char *feed, struct change_cursor at, int64_t n,
                    int64_t now_ms, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO wake_cursors (domain, txid, n, updated_at) VALUES (?, 0, ?, ?)"
                       " ON CONFLICT (domain) DO UPDATE SET n = excluded.n,"
                       " updated_at = excluded.updated_at"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, part_key(feed, at, &arena));
    stmt_bind_i64(q, n);
    stmt_bind_i64(q, now_ms);
    return stmt_run(q, err);
}

int reader_end_part(struct domain *domain, const char *feed, struct change_cursor at,
                    struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), SQL("DELETE FROM wake_cursors WHERE domain = ?"), &q, err) <
        0)
        return -1;
    stmt_bind_text(q, part_key(feed, at, &arena));
    return stmt_run(q, err);
}

int reader_held_back(struct domain *domain, bool *ret_held, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT CASE WHEN (SELECT max(txid) FROM change_batches) >"
                       " coalesce((SELECT max(txid) FROM change_batches_settled), -1)"
                       " THEN 1 ELSE 0 END AS held"),
                   &q, err) < 0 ||
        stmt_step(q, err) != 1)
        return -1;
    *ret_held = stmt_i64(q, "held") == 1;
    return 0;
}

int reader_bury(struct domain *domain, const char *source, struct str ref, const struct err *why,
                int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;
    char text[ERR_TEXT_MAX];

    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO dead_letters (source, ref, error_code, error_message,"
                       " created_at) VALUES (?, ?, ?, ?, ?)"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, source);
    stmt_bind_str(q, ref);
    stmt_bind_text(q, err_name(why->code));
    stmt_bind_text(q, err_format(why, text, sizeof(text)));
    stmt_bind_i64(q, now_ms);
    return stmt_run(q, err);
}
