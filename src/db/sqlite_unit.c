/* Transactions on SQLite, and the units inside them.
 *
 * A tick is a transaction, and each of its units must be able to fail alone. SQLite's savepoints do
 * that by copying every page before it changes: with many units in a tick, all of which write to
 * the ends of the same tables, that was a sixth of what they cost, for something that hardly ever
 * happens. So what is kept is not how things were but what was done: each statement that wrote,
 * with its values, in the order in which they ran. A savepoint is a place in that log. Undoing it
 * is rolling back, beginning anew and doing again what is before that place; with nothing after the
 * place there is nothing to undo, and with nothing before it nothing to do again.
 *
 * Doing it again gives the same rows: a statement depends on its values and on what is in the
 * database, nothing else. The lock is let go for a moment there, and when somebody else has written
 * meanwhile, the transaction as a whole has failed. Once in a transaction is enough: after that,
 * and when the log is full, what follows are SQLite's own savepoints. So a tick never costs much
 * more than twice itself, however much of it fails.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "db/sqlite_int.h"

#define REAL (-1) /* a savepoint of SQLite's own */

/* ---- the log ---- */

/* One statement. Its values follow; a text or blob has its bytes after it. */
struct note {
    const char *text;
    int64_t n; /* the row number that its caller knows, or 0 */
};

static bool has_bytes(const struct db_value *value)
{
    return value->type == DB_TEXT || value->type == DB_BLOB;
}

static char *put(char *at, const void *bytes, size_t n)
{
    return n ? (char *)memcpy(at, bytes, n) + n : at;
}

void sqlite_redo_note(struct sqlite *sqlite, const struct sqlite_stmt *stmt)
{
    struct sqlite_redo *redo = &sqlite->redo;
    const struct note note = { stmt->stmt.text, stmt->returned ? stmt->n : 0 };
    size_t params = (size_t)stmt->stmt.params;
    size_t n = sizeof(note) + params * sizeof(struct db_value);
    char *at;

    if (!redo->whole)
        return;
    for (size_t i = 0; i < params; i++)
        n += has_bytes(&stmt->values[i]) ? stmt->values[i].bytes.n : 0;
    at = buf_reserve(&redo->log, n);
    if (!at) {
        redo->whole = false;
        return;
    }
    at = put(at, &note, sizeof(note));
    for (size_t i = 0; i < params; i++) {
        const struct db_value *value = &stmt->values[i];

        at = put(at, value, sizeof(*value));
        if (has_bytes(value))
            at = put(at, value->bytes.p, value->bytes.n);
    }
    buf_grown(&redo->log, n);
}

static struct str take(struct str *log, size_t n)
{
    struct str taken = str_take(*log, n);

    BUG_IF(taken.n != n);
    *log = str_skip(*log, n);
    return taken;
}

static void bind_noted(struct stmt *stmt, struct str *log)
{
    for (int i = 0; i < stmt->params; i++) {
        struct db_value value;

        memcpy(&value, take(log, sizeof(value)).p, sizeof(value));
        if (has_bytes(&value))
            value.bytes = take(log, value.bytes.n);
        db_sqlite_ops.bind(stmt, i, &value);
    }
}

/* The next statement of the log once more. */
static int redo_one(struct sqlite *sqlite, struct str *log, struct err *err)
{
    struct note note;
    struct stmt *stmt = NULL;
    int64_t n;
    int r;

    memcpy(&note, take(log, sizeof(note)).p, sizeof(note));
    if (db_sqlite_ops.prepare(&sqlite->db, note.text, &stmt, err) < 0)
        return -1;
    stmt->db = &sqlite->db;
    stmt->text = note.text;
    bind_noted(stmt, log);
    do
        r = db_sqlite_ops.step(stmt, err);
    while (r > 0);
    n = ((struct sqlite_stmt *)stmt)->returned ? ((struct sqlite_stmt *)stmt)->n : 0;
    db_sqlite_ops.finalize(stmt);
    if (r == 0 && n != note.n)
        r = err_set(err, ERR_STORAGE_FAILED, "another row number the second time");
    return r;
}

/* ---- control ---- */

static int control_step(struct sqlite *sqlite, enum db_control what, struct err *err)
{
    static const char *const texts[] = {
        [DB_BEGIN] = "BEGIN IMMEDIATE",
        [DB_BEGIN_READ] = "BEGIN",
        [DB_BEGIN_SERIALIZABLE] = "BEGIN IMMEDIATE",
        [DB_COMMIT] = "COMMIT",
        [DB_ROLLBACK] = "ROLLBACK",
        [DB_SAVEPOINT] = "SAVEPOINT unit",
        [DB_RELEASE] = "RELEASE unit",
        [DB_ROLLBACK_TO] = "ROLLBACK TO unit",
    };
    sqlite3_stmt **q = &sqlite->controls[what];
    int rc = SQLITE_OK;

    if (!*q)
        rc =
            sqlite3_prepare_v3(sqlite->handle, texts[what], -1, SQLITE_PREPARE_PERSISTENT, q, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_step(*q);
        if (rc != SQLITE_DONE)
            sqlite_fail(sqlite, rc, err);
        sqlite3_reset(*q);
        return rc == SQLITE_DONE ? 0 : -1;
    }
    return sqlite_fail(sqlite, rc, err);
}

static int begin(struct sqlite *sqlite, enum db_control how, struct err *err)
{
    if (control_step(sqlite, how, err) < 0)
        return -1;
    buf_clear(&sqlite->redo.log);
    sqlite->redo.whole = how != DB_BEGIN_READ; /* which must not lose what it looks at */
    sqlite->redo.open = 0;
    return 0;
}

/* Changes when another connection commits. */
static int data_version(struct sqlite *sqlite, int64_t *ret_version, struct err *err)
{
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(sqlite->handle, "PRAGMA data_version", -1, &q, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_step(q);
    if (rc == SQLITE_ROW)
        *ret_version = sqlite3_column_int64(q, 0);
    else
        sqlite_fail(sqlite, rc, err);
    sqlite3_finalize(q);
    return rc == SQLITE_ROW ? 0 : -1;
}

static int redo_all(struct sqlite *sqlite, struct str log, int64_t version, struct err *err)
{
    int64_t now;

    if (data_version(sqlite, &now, err) < 0)
        return -1;
    if (now != version)
        return err_set(err, ERR_STORAGE_FAILED, "another process wrote in between");
    while (log.n > 0)
        if (redo_one(sqlite, &log, err) < 0)
            return -1;
    return 0;
}

/* Undoes what comes after the mark. When that fails, nothing of the transaction is left, and the
 * commit will say so. */
static int undo_to(struct sqlite *sqlite, size_t mark, struct err *err)
{
    struct sqlite_redo *redo = &sqlite->redo;
    int64_t version = 0;

    if (redo->whole && redo->log.n == mark)
        return 0;
    if (mark > 0 && data_version(sqlite, &version, err) < 0)
        return -1;
    if (control_step(sqlite, DB_ROLLBACK, err) < 0 || control_step(sqlite, DB_BEGIN, err) < 0)
        return -1;
    redo->log.n = mark;
    redo->log.full = false;
    redo->whole = mark == 0;
    if (mark == 0 || redo_all(sqlite, buf_str(&redo->log), version, err) == 0)
        return 0;
    control_step(sqlite, DB_ROLLBACK, &(struct err){ 0 });
    return err_wrap(err, "do the rest of the transaction again");
}

static int open_savepoint(struct sqlite *sqlite, struct err *err)
{
    struct sqlite_redo *redo = &sqlite->redo;

    if (!redo->whole && control_step(sqlite, DB_SAVEPOINT, err) < 0)
        return -1;
    redo->marks[redo->open++] = redo->whole ? (ptrdiff_t)redo->log.n : REAL;
    return 0;
}

static int end_savepoint(struct sqlite *sqlite, bool undo, struct err *err)
{
    ptrdiff_t mark = sqlite->redo.marks[--sqlite->redo.open];

    if (sqlite3_get_autocommit(sqlite->handle))
        return err_set(err, ERR_STORAGE_FAILED, "the transaction has ended already");
    if (mark != REAL)
        return undo ? undo_to(sqlite, (size_t)mark, err) : 0;
    if (undo && control_step(sqlite, DB_ROLLBACK_TO, err) < 0)
        return -1;
    return control_step(sqlite, DB_RELEASE, err);
}

int sqlite_control(struct db *db, enum db_control what, struct err *err)
{
    struct sqlite *sqlite = sqlite_of(db);

    switch (what) {
    case DB_BEGIN:
    case DB_BEGIN_SERIALIZABLE:
    case DB_BEGIN_READ:
        return begin(sqlite, what, err);
    case DB_SAVEPOINT:
        return open_savepoint(sqlite, err);
    case DB_RELEASE:
    case DB_LEAVE:
        return end_savepoint(sqlite, false, err);
    case DB_ROLLBACK_TO:
        return end_savepoint(sqlite, true, err);
    case DB_SETTLE:
        return 0;
    case DB_ROLLBACK:
        sqlite->redo.whole = false;
        /* Some failures (a full disk, no memory) end the transaction by themselves. */
        if (sqlite3_get_autocommit(sqlite->handle))
            return 0;
        break;
    case DB_COMMIT:
        sqlite->redo.whole = false;
        break;
    }
    return control_step(sqlite, what, err);
}
