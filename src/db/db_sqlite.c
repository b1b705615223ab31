/* SQLite: the default engine. One file per domain in WAL mode; this connection is its writer.
 *
 * Every table is STRICT and text is checked before it is bound, so a column holds what its type
 * says, as on Postgres. Transactions begin with BEGIN IMMEDIATE: the wait for another writer
 * happens there, within busy_ms, and never in the middle of a tick.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "db/sqlite_int.h"

#define SQLITE_SCHEME "sqlite:"

static void sqlite_close(struct db *db)
{
    struct sqlite *sqlite = sqlite_of(db);

    for (size_t i = 0; i < ARRAY_LEN(sqlite->controls); i++)
        sqlite3_finalize(sqlite->controls[i]);
    sqlite3_close(sqlite->handle);
    buf_release(&sqlite->redo.log);
    free(sqlite->path);
    free(sqlite);
}

/* ---- open ---- */

static void set_limits(sqlite3 *handle)
{
    static const struct {
        int id, value;
    } limits[] = {
        { SQLITE_LIMIT_LENGTH, DB_VALUE_BYTES_MAX + 64 * KIB },
        { SQLITE_LIMIT_SQL_LENGTH, 1 * MIB },
        { SQLITE_LIMIT_COLUMN, DB_COLUMNS_MAX },
        { SQLITE_LIMIT_EXPR_DEPTH, 100 },
        { SQLITE_LIMIT_COMPOUND_SELECT, 20 },
        { SQLITE_LIMIT_FUNCTION_ARG, 64 },
        { SQLITE_LIMIT_ATTACHED, 0 },
        { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 4096 },
        { SQLITE_LIMIT_VARIABLE_NUMBER, DB_PARAMS_MAX },
        { SQLITE_LIMIT_TRIGGER_DEPTH, 16 },
        { SQLITE_LIMIT_WORKER_THREADS, 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(limits); i++)
        sqlite3_limit(handle, limits[i].id, limits[i].value);
}

/* A database file may come from anywhere (a backup, a stick): its schema gets no trust. */
static int set_defences(struct sqlite *sqlite, struct err *err)
{
    static const struct {
        int op, on;
    } switches[] = {
        { SQLITE_DBCONFIG_ENABLE_FKEY, 1 },
        { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
        { SQLITE_DBCONFIG_DEFENSIVE, 1 },
        { SQLITE_DBCONFIG_DQS_DDL, 0 },
        { SQLITE_DBCONFIG_DQS_DML, 0 },
        { SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
        { SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(switches); i++) {
        int is = -1;

        if (sqlite3_db_config(sqlite->handle, switches[i].op, switches[i].on, &is) != SQLITE_OK ||
            is != switches[i].on)
            return err_set(err, ERR_INTERNAL, "this SQLite (%s) lacks setting %d",
                           sqlite3_libversion(), switches[i].op);
    }
    set_limits(sqlite->handle);
    return 0;
}

static int pragma(struct sqlite *sqlite, const char *text, struct err *err)
{
    int rc = sqlite3_exec(sqlite->handle, text, NULL, NULL, NULL);

    return rc == SQLITE_OK ? 0 : sqlite_fail(sqlite, rc, err);
}

static bool in_memory(const struct sqlite *sqlite)
{
    return strcmp(sqlite->path, ":memory:") == 0;
}

/* Two processes that open a new file at once collide when one turns the log on. SQLite does not
 * wait there, so we do. */
static int turn_wal_on(struct sqlite *sqlite, struct err *err)
{
    sqlite3_stmt *q = NULL;
    bool wal = in_memory(sqlite);
    int rc, waited_ms = 0;

    for (;;) {
        rc = sqlite3_prepare_v2(sqlite->handle, "PRAGMA journal_mode=WAL", -1, &q, NULL);
        if (rc == SQLITE_OK)
            rc = sqlite3_step(q);
        if (rc == SQLITE_ROW) {
            const char *mode = (const char *)sqlite3_column_text(q, 0);

            wal = wal || (mode && strcmp(mode, "wal") == 0);
        }
        sqlite3_finalize(q);
        if ((rc & 0xff) != SQLITE_BUSY || waited_ms >= sqlite->busy_ms)
            break;
        sqlite3_sleep(10);
        waited_ms += 10;
    }
    if (rc != SQLITE_ROW)
        return sqlite_fail(sqlite, rc, err);
    if (!wal)
        return err_set(err, ERR_INTERNAL, "%s can't use a write-ahead log (a network disk?)",
                       sqlite->path);
    return 0;
}

/* Closing copies the log into the file and deletes it. Without syncs that must not happen, also not
 * when turning them on again fails: the log is then all there is. */
static int sqlite_relax(struct db *db, bool on, struct err *err)
{
    struct sqlite *sqlite = sqlite_of(db);
    const char *text = on                               ? "PRAGMA synchronous=OFF"
                       : sqlite->sync == DB_SYNC_NORMAL ? "PRAGMA synchronous=NORMAL"
                                                        : "PRAGMA synchronous=FULL";

    if (on)
        sqlite3_db_config(sqlite->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (pragma(sqlite, text, err) < 0)
        return -1;
    if (!on)
        sqlite3_db_config(sqlite->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    return 0;
}

static int set_up(struct sqlite *sqlite, const struct db_open *how, struct err *err)
{
    char limit[80];

    sqlite3_busy_timeout(sqlite->handle, sqlite->busy_ms);
    if (set_defences(sqlite, err) < 0)
        return -1;
    if (pragma(sqlite, "PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY", err) < 0)
        return -1;
    if (how->read_only)
        return pragma(sqlite, "PRAGMA query_only=ON; SELECT 1 FROM sqlite_master LIMIT 1", err);
    if (turn_wal_on(sqlite, err) < 0)
        return -1;
    sqlite_join_writes(sqlite->handle);
    sqlite3_wal_hook(sqlite->handle, sqlite_after_commit, sqlite);
    snprintf(limit, sizeof(limit), "PRAGMA journal_size_limit=%u", SQLITE_WAL_BYTES_MAX);
    if (pragma(sqlite, limit, err) < 0)
        return -1;
    sqlite->sync = how->sync;
    return sqlite_relax(&sqlite->db, false, err);
}

static int open_handle(struct sqlite *sqlite, const struct db_open *how, struct err *err)
{
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int rc;

    flags |= how->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    if (in_memory(sqlite))
        flags |= SQLITE_OPEN_MEMORY;
    else if (how->read_only && access(sqlite->path, F_OK) != 0)
        return err_set(err, ERR_NOT_FOUND, "there is no database %s", sqlite->path);
    else if (!how->read_only && sqlite_create(sqlite->path, err) < 0)
        return -1;
    rc = sqlite3_open_v2(sqlite->path, &sqlite->handle, flags, NULL);
    return rc == SQLITE_OK ? 0 : sqlite_fail(sqlite, rc, err);
}

static int sqlite_open(const struct db_open *how, struct db **ret_db, struct err *err)
{
    struct sqlite *sqlite = NEW(struct sqlite);

    sqlite->db.ops = &db_sqlite_ops;
    sqlite->db.read_only = how->read_only;
    sqlite->busy_ms = how->busy_ms;
    sqlite->redo.log = BUF_INIT(SQLITE_REDO_BYTES_MAX);
    sqlite->path = alloc_text(how->url + strlen(SQLITE_SCHEME));
    if (!*sqlite->path) {
        err_set(err, ERR_BAD_REQUEST, "database address \"sqlite:\" lacks a path");
        goto failed;
    }
    if (open_handle(sqlite, how, err) < 0 || set_up(sqlite, how, err) < 0)
        goto failed;
    *ret_db = &sqlite->db;
    return 0;
failed:
    sqlite_close(&sqlite->db);
    return err_wrap(err, "open %s", how->url);
}

/* ---- statements ---- */

#define RETURNING_N " RETURNING n"

/* SQLite collects what is returned in a table of its own, which costs as much as the row. The
 * number of one new row it knows anyhow: n is what all tables that have it name their rows by. */
static bool returns_n(struct str text)
{
    return str_starts(text, STR("INSERT ")) && str_ends(text, STR(RETURNING_N)) &&
           str_find(text, STR("DO UPDATE")) < 0 && str_find(text, STR("SELECT")) < 0;
}

static int sqlite_prepare(struct db *db, const char *text, struct stmt **ret_stmt, struct err *err)
{
    struct sqlite *sqlite = sqlite_of(db);
    struct str all = str_from(text);
    bool n_only = returns_n(all);
    size_t bytes = all.n - (n_only ? strlen(RETURNING_N) : 0);
    struct sqlite_stmt *stmt;
    sqlite3_stmt *handle = NULL;
    const char *rest = NULL;
    int params, rc;

    rc = sqlite3_prepare_v3(sqlite->handle, text, (int)bytes, SQLITE_PREPARE_PERSISTENT, &handle,
                            &rest);

    if (rc != SQLITE_OK)
        return sqlite_fail(sqlite, rc, err);
    if (!handle ||
        (rest && str_trim(str_take(str_from(rest), bytes - (size_t)(rest - text))).n > 0))
        BUG("not exactly one statement: %.*s", STR_ARG(db_sql_name(text)));
    params = sqlite3_bind_parameter_count(handle);
    stmt = alloc_zero(1, sizeof(*stmt) + (size_t)params * sizeof(stmt->values[0]));
    stmt->handle = handle;
    stmt->returns_n = n_only;
    stmt->writes = !sqlite3_stmt_readonly(handle);
    stmt->stmt.params = params;
    *ret_stmt = &stmt->stmt;
    return 0;
}

static sqlite3_stmt *handle_of(struct stmt *stmt)
{
    return ((struct sqlite_stmt *)stmt)->handle;
}

static void sqlite_finalize(struct stmt *stmt)
{
    sqlite3_finalize(handle_of(stmt));
    free(stmt);
}

/* What ran to its end has been reset there. */
static void sqlite_rewind(struct stmt *stmt)
{
    struct sqlite_stmt *own = (struct sqlite_stmt *)stmt;

    own->returned = own->noted = false;
    if (!stmt->done)
        sqlite3_reset(handle_of(stmt));
}

static bool is_bound(const struct db_value *bound, const struct db_value *value)
{
    return bound->type == value->type &&
           (value->type == DB_NULL || (value->type == DB_I64 && bound->i64 == value->i64));
}

/* Can't fail: the place exists, the size is within the limit, nothing is copied and the statement
 * does not run. Values stay bound after a rewind, and numbers are often the same the next time. */
static void sqlite_bind(struct stmt *stmt, int at, const struct db_value *value)
{
    struct sqlite_stmt *own = (struct sqlite_stmt *)stmt;
    sqlite3_stmt *handle = own->handle;
    int rc = SQLITE_MISUSE;

    if (is_bound(&own->values[at], value))
        return;
    own->values[at] = *value;
    switch (value->type) {
    case DB_NULL:
        rc = sqlite3_bind_null(handle, at + 1);
        break;
    case DB_I64:
        rc = sqlite3_bind_int64(handle, at + 1, value->i64);
        break;
    case DB_F64:
        rc = sqlite3_bind_double(handle, at + 1, value->f64);
        break;
    case DB_TEXT:
        rc = sqlite3_bind_text64(handle, at + 1, value->bytes.p, value->bytes.n, SQLITE_STATIC,
                                 SQLITE_UTF8);
        break;
    case DB_BLOB:
        rc = sqlite3_bind_blob64(handle, at + 1, value->bytes.p, value->bytes.n, SQLITE_STATIC);
        break;
    }
    BUG_IF(rc != SQLITE_OK);
}

/* SQLite has done all of it before the first row is there. */
static void note_once(struct sqlite *sqlite, struct sqlite_stmt *own)
{
    if (own->writes && !own->noted)
        sqlite_redo_note(sqlite, own);
    own->noted = true;
}

static int sqlite_step(struct stmt *stmt, struct err *err)
{
    struct sqlite *sqlite = sqlite_of(stmt->db);
    struct sqlite_stmt *own = (struct sqlite_stmt *)stmt;
    sqlite3_stmt *handle = own->handle;
    int rc;

    if (own->returned) /* that row was the only one */
        return 0;
    rc = sqlite3_step(handle);
    if (rc == SQLITE_ROW) {
        note_once(sqlite, own);
        return 1;
    }
    if (rc == SQLITE_DONE) {
        own->changes = own->writes ? sqlite3_changes64(sqlite->handle) : 0;
        own->n = own->returns_n ? sqlite3_last_insert_rowid(sqlite->handle) : 0;
        sqlite3_reset(handle);
        own->returned = own->returns_n && own->changes > 0;
        note_once(sqlite, own);
        return own->returned;
    }
    sqlite_fail(sqlite, rc, err);
    sqlite3_reset(handle);
    return -1;
}

static int64_t sqlite_changes(struct stmt *stmt)
{
    return ((struct sqlite_stmt *)stmt)->changes;
}

static int sqlite_column_count(struct stmt *stmt)
{
    return ((struct sqlite_stmt *)stmt)->returns_n ? 1 : sqlite3_column_count(handle_of(stmt));
}

static const char *sqlite_column_name(struct stmt *stmt, int at)
{
    return ((struct sqlite_stmt *)stmt)->returns_n ? "n" : sqlite3_column_name(handle_of(stmt), at);
}

/* As a blob also for text: that needs no NUL at the end, and so no memory that might be missing.
 * The pointer first, then the size. What is empty has no pointer, but it is not NULL. */
static struct str column_bytes(sqlite3_stmt *handle, int at)
{
    const void *p = sqlite3_column_blob(handle, at);
    int n = sqlite3_column_bytes(handle, at);

    return p ? str_of(p, (size_t)n) : STR("");
}

static void sqlite_column(struct stmt *stmt, int at, struct db_value *ret_value)
{
    struct sqlite_stmt *own = (struct sqlite_stmt *)stmt;
    sqlite3_stmt *handle = own->handle;

    if (own->returns_n) {
        *ret_value = (struct db_value){ DB_I64, .i64 = own->n };
        return;
    }
    switch (sqlite3_column_type(handle, at)) {
    case SQLITE_INTEGER:
        *ret_value = (struct db_value){ DB_I64, .i64 = sqlite3_column_int64(handle, at) };
        break;
    case SQLITE_FLOAT:
        *ret_value = (struct db_value){ DB_F64, .f64 = sqlite3_column_double(handle, at) };
        break;
    case SQLITE_TEXT:
        *ret_value = (struct db_value){ DB_TEXT, .bytes = column_bytes(handle, at) };
        break;
    case SQLITE_BLOB:
        *ret_value = (struct db_value){ DB_BLOB, .bytes = column_bytes(handle, at) };
        break;
    default:
        *ret_value = (struct db_value){ DB_NULL };
    }
}

/* ---- scripts ---- */

static int sqlite_script(struct db *db, const char *text, struct err *err)
{
    struct sqlite *sqlite = sqlite_of(db);
    int rc = sqlite3_exec(sqlite->handle, text, NULL, NULL, NULL);

    sqlite->redo.whole = false;
    if (rc == SQLITE_OK && sqlite3_get_autocommit(sqlite->handle))
        BUG("a script ended its transaction: %.*s", STR_ARG(db_sql_name(text)));
    return rc == SQLITE_OK ? 0 : sqlite_fail(sqlite, rc, err);
}

static const char *sqlite_migration_text(const struct migration *migration)
{
    return migration->sqlite;
}

const struct db_ops db_sqlite_ops = {
    .name = "sqlite",
    .schemes = { SQLITE_SCHEME },
    .open = sqlite_open,
    .close = sqlite_close,
    .prepare = sqlite_prepare,
    .finalize = sqlite_finalize,
    .rewind = sqlite_rewind,
    .bind = sqlite_bind,
    .step = sqlite_step,
    .changes = sqlite_changes,
    .column_count = sqlite_column_count,
    .column_name = sqlite_column_name,
    .column = sqlite_column,
    .control = sqlite_control,
    .script = sqlite_script,
    .count_records = { "SELECT count(*) AS n FROM sqlite_master"
                       " WHERE type = 'table' AND name = 'schema_migrations'" },
    .count_tables = { "SELECT count(*) AS n FROM sqlite_master WHERE type = 'table'" },
    .migration_start = "CREATE TABLE IF NOT EXISTS schema_migrations ("
                       " number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL,"
                       " applied_at INTEGER NOT NULL) STRICT",
    .migration_text = sqlite_migration_text,
    .idle = sqlite_idle,
    .backup = sqlite_backup,
    .check = sqlite_check,
    .save_before = sqlite_save_before,
    .relax = sqlite_relax,
    .touch = "PRAGMA user_version=0",
    .has_room = sqlite_has_room,
    .is_writable = sqlite_is_writable,
    .identity = sqlite_identity,
    .set_identity = sqlite_set_identity,
};
