/* What the files of the SQLite engine share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_DB_SQLITE_INT_H
#define DORMOUSE_DB_SQLITE_INT_H

#include <sqlite3.h>

#include "db/db_int.h"

#define SQLITE_WAL_BYTES_MAX (16 * MIB) /* what the -wal file is cut to when it is reset */

struct sqlite {
    struct db db; /* first */
    sqlite3 *handle;
    char *path;
    int busy_ms;
    enum db_sync sync;
    sqlite3_stmt *controls[DB_ROLLBACK_TO + 1]; /* prepared at first use */
    bool fresh;      /* a transaction was begun and nothing has run in it */
    int within_unit; /* savepoints inside the one that is the transaction itself; -1: none is */
};

struct sqlite_stmt {
    struct stmt stmt; /* first */
    sqlite3_stmt *handle;
    int64_t changes;
    bool returns_n; /* "RETURNING n" of an INSERT, which is done here */
    bool returned;
    int64_t n;
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

/* sqlite_wal.c: from now on what is appended to the log reaches the file a transaction at a time. */
void sqlite_join_writes(sqlite3 *handle);

/* sqlite_admin.c */
void sqlite_idle(struct db *db);
/* For sqlite3_wal_hook(): checkpoints when the log has grown. */
int sqlite_after_commit(void *sqlite, sqlite3 *handle, const char *name, int frames);
int sqlite_backup(struct db *db, const char *path, db_progress_fn *progress, void *arg,
                  struct err *err);
int sqlite_check(struct db *db, struct err *err);
int sqlite_save_before(struct db *db, int version, struct err *err);

#endif
