/* What the files of the SQLite engine share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_DB_SQLITE_INT_H
#define DORMOUSE_DB_SQLITE_INT_H

#include <sqlite3.h>

#include "base/buf.h"
#include "db/db_int.h"

#define SQLITE_REDO_BYTES_MAX (512 * KIB)
#define SQLITE_WAL_BYTES_MAX  (16 * MIB) /* what the -wal file is cut to when it is reset */

/* What the open transaction has done, so that a part of it can be undone: sqlite_unit.c. */
struct sqlite_redo {
    struct buf log;
    bool whole;                         /* all of the transaction is in the log */
    ptrdiff_t marks[DB_SAVEPOINTS_MAX]; /* where savepoints begin in it; -1: a real one */
    int open;                           /* savepoints */
};

struct sqlite {
    struct db db; /* first */
    sqlite3 *handle;
    char *path;
    int busy_ms;
    enum db_sync sync;
    sqlite3_stmt *controls[DB_ROLLBACK_TO + 1]; /* prepared at first use */
    struct sqlite_redo redo;
};

struct sqlite_stmt {
    struct stmt stmt; /* first */
    sqlite3_stmt *handle;
    int64_t changes;
    bool returns_n; /* "RETURNING n" of an INSERT, which is done here */
    bool returned;
    bool writes;
    bool noted; /* this run of it is in the log */
    int64_t n;
    struct db_value values[]; /* as bound; NULL at first */
};

static inline struct sqlite *sqlite_of(struct db *db)
{
    return (struct sqlite *)db;
}

/* Sets err and db->trouble from a result code. Returns -1. */
int sqlite_fail(struct sqlite *sqlite, int rc, struct err *err);

/* Makes an empty database for its owner alone (-wal and -shm take its mode), unless there is a file
 * already. */
int sqlite_create(const char *path, struct err *err);

/* sqlite_wal.c: from now on what is appended to the log reaches the file a transaction at a time.
 */
void sqlite_join_writes(sqlite3 *handle);

/* sqlite_unit.c */
int sqlite_control(struct db *db, enum db_control what, struct err *err);
/* After a statement that writes took effect. */
void sqlite_redo_note(struct sqlite *sqlite, const struct sqlite_stmt *stmt);

/* sqlite_admin.c */
void sqlite_idle(struct db *db);
int sqlite_has_room(struct db *db, struct err *err);
int sqlite_is_writable(struct db *db, struct err *err);
int sqlite_identity(struct db *db, int64_t *ret_identity, struct err *err);
int sqlite_set_identity(struct db *db, int64_t identity, struct err *err);
/* For sqlite3_wal_hook(): checkpoints when the log has grown. */
int sqlite_after_commit(void *sqlite, sqlite3 *handle, const char *name, int frames);
int sqlite_backup(struct db *db, const char *path, db_progress_fn *progress, void *arg,
                  struct err *err);
int sqlite_check(struct db *db, struct err *err);
int sqlite_save_before(struct db *db, int version, struct err *err);

#endif
