/* Postgres: for more than one machine. A schema per domain, one connection per open domain.
 *
 * Statements of a transaction are queued and answered together (pg_conn.c). An error ends the
 * transaction up to the innermost savepoint on the server too, which is the rule that db.c keeps
 * for all engines. Schema changes are transactional here, so a failed migration leaves nothing
 * behind and no copy is made before one; copies of the data are pg_dump's business.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "db/pg_int.h"

#define PG_VERSION_MIN 120000

static void pg_close(struct db *db)
{
    struct pg *pg = pg_of(db);

    if (pg->conn)
        pg_disconnect(pg);
    free(pg->url);
    free(pg->schema);
    free(pg);
}

/* ---- open ---- */

/* libpq looks at it only when it connects, and then it can't be told from a server that is away. */
static bool has_port(const PQconninfoOption *options)
{
    for (; options->keyword; options++)
        if (strcmp(options->keyword, "port") == 0 && options->val)
            return strspn(options->val, "0123456789,") == strlen(options->val);
    return true;
}

/* libpq's own reading of the address; its messages do not repeat the password. */
static int check_address(const char *url, struct err *err)
{
    char *why = NULL;
    PQconninfoOption *options = pq.PQconninfoParse(url, &why);

    if (options) {
        bool port = has_port(options);

        pq.PQconninfoFree(options);
        return port ? 0 : err_set(err, ERR_BAD_REQUEST, "database address: its port is no number");
    }
    err_set(err, ERR_BAD_REQUEST, "database address: %.*s",
            STR_ARG(str_trim(str_from(why ? why : "not understood"))));
    pq.PQfreemem(why);
    return -1;
}

static int schema_exists(struct pg *pg, bool *ret_exists, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(&pg->db, SQL("SELECT 1 AS one FROM pg_catalog.pg_namespace WHERE nspname = ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, pg->schema);
    r = stmt_step(q, err);
    if (r < 0)
        return -1;
    *ret_exists = r == 1;
    return 0;
}

/* Two daemons may do this at once: IF NOT EXISTS looks before it locks, so the loser looks
 * again instead of failing. */
static int make_schema(struct pg *pg, struct err *err)
{
    AUTO_BUF text = BUF_INIT(256);
    struct err why = ERR_INIT;
    bool exists;

    if (schema_exists(pg, &exists, err) < 0)
        return -1;
    if (exists)
        return 0;
    if (pg->db.read_only)
        return err_set(err, ERR_NOT_FOUND, "there is no schema %s in this database", pg->schema);
    buf_printf(&text, "CREATE SCHEMA IF NOT EXISTS \"%s\"", pg->schema);
    if (pg_simple(pg, buf_text(&text), &why) == 0)
        return 0;
    if (schema_exists(pg, &exists, err) < 0)
        return -1;
    if (exists)
        return 0;
    *err = why;
    return err_wrap(err, "create schema %s", pg->schema);
}

static int set_up(struct pg *pg, struct err *err)
{
    if (pg_connect(pg, err) < 0)
        return -1;
    if (pq.PQserverVersion(pg->conn) < PG_VERSION_MIN)
        return err_set(err, ERR_BAD_REQUEST, "the server is Postgres %d, at least %d is needed",
                       pq.PQserverVersion(pg->conn) / 10000, PG_VERSION_MIN / 10000);
    return make_schema(pg, err);
}

static bool plain_name(const char *name)
{
    return *name && strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789") == strlen(name);
}

static int pg_open(const struct db_open *how, struct db **ret_db, struct err *err)
{
    struct pg *pg;

    BUG_IF(!plain_name(how->domain));
    if (pg_lib_load(err) < 0 || check_address(how->url, err) < 0)
        return -1;
    pg = NEW(struct pg);
    pg->db.ops = &db_postgres_ops;
    pg->db.read_only = how->read_only;
    pg->epoch = 1;
    pg->url = alloc_text(how->url);
    pg->schema = alloc_text(how->domain);
    pg->sync = how->sync;
    pg->busy_ms = how->busy_ms;
    if (set_up(pg, err) < 0) {
        db_close(&pg->db);
        return -1;
    }
    *ret_db = &pg->db;
    return 0;
}

/* ---- transactions ---- */

/* After an error the server skips everything up to the next sync. So what is under way ends with
 * one, its failures are of no interest any more, and only then comes the undoing. */
static int clear_queue(struct pg *pg, struct err *err)
{
    if (pg->count && (pg_send_sync(pg, err) < 0 || pg_read_up_to(pg, NULL, err) < 0))
        return -1;
    pg->failed = false;
    pg->writes = 0;
    return 0;
}

static int roll_back(struct pg *pg, struct err *err)
{
    if (clear_queue(pg, err) < 0 || pg_send_control(pg, DB_ROLLBACK, err) < 0)
        return -1;
    return pg_settle(pg, err);
}

static int begin(struct pg *pg, enum db_control how, struct err *err)
{
    if (pg_send_control(pg, how, err) < 0)
        return -1;
    pg->begun = how;
    pg->fresh = true;
    pg->within_unit = -1;
    return 0;
}

/* ---- units ---- */

/* The first savepoint of a transaction that has done nothing yet is the transaction itself; most
 * ticks have no other. It saves two statements, and the server a number for a transaction within
 * the transaction. */
static int open_savepoint(struct pg *pg, struct err *err)
{
    if (pg->fresh) {
        pg->fresh = false;
        pg->within_unit = 0;
        return 0;
    }
    if (pg_send_control(pg, DB_SAVEPOINT, err) < 0)
        return -1;
    if (pg->within_unit >= 0)
        pg->within_unit++;
    return 0;
}

static void leave(struct pg *pg)
{
    if (pg->within_unit >= 0)
        pg->within_unit--;
}

/* A unit ends here, and its own failure must be known here: another unit's writes may not suffer
 * from it. So its writes are waited for. It has not ended when it fails: it is undone then. */
static int release(struct pg *pg, struct err *err)
{
    if (pg->within_unit != 0 && pg_send_control(pg, DB_RELEASE, err) < 0)
        return -1;
    if (pg->writes && pg_settle(pg, err) < 0)
        return -1;
    leave(pg);
    return 0;
}

/* The one that is the transaction may wait with that: when it fails, all that is undone is its
 * own. */
static int leave_open(struct pg *pg, struct err *err)
{
    if (pg->within_unit != 0)
        return release(pg, err);
    leave(pg);
    return 0;
}

static int undo(struct pg *pg, struct err *err)
{
    if (pg->within_unit == 0)
        return roll_back(pg, err) < 0 ? -1 : begin(pg, pg->begun, err);
    leave(pg);
    if (clear_queue(pg, err) < 0 || pg_send_control(pg, DB_ROLLBACK_TO, err) < 0 ||
        pg_send_control(pg, DB_RELEASE, err) < 0)
        return -1;
    return pg_settle(pg, err);
}

static int pg_control(struct db *db, enum db_control what, struct err *err)
{
    struct pg *pg = pg_of(db);

    if (!db->in_transaction) {
        if (pg_ready(pg, err) < 0)
            return -1;
    } else if (!pg->conn) {
        /* The server has rolled back when the connection ended. */
        return what == DB_ROLLBACK ? 0
                                   : err_set(err, ERR_STORAGE_FAILED,
                                             "the connection was lost in this transaction");
    }
    switch (what) {
    case DB_BEGIN:
    case DB_BEGIN_READ:
    case DB_BEGIN_SERIALIZABLE:
        return begin(pg, what, err);
    case DB_SAVEPOINT:
        return open_savepoint(pg, err);
    case DB_RELEASE:
        return release(pg, err);
    case DB_LEAVE:
        return leave_open(pg, err);
    case DB_SETTLE:
        return pg_settle(pg, err);
    case DB_ROLLBACK_TO:
        return undo(pg, err);
    case DB_ROLLBACK:
        /* When it can't be sent the connection is gone, and with it the transaction. */
        return roll_back(pg, err) < 0 && pg->conn ? -1 : 0;
    case DB_COMMIT:
        break;
    }
    if (pg_send_control(pg, what, err) < 0)
        return -1;
    return pg_settle(pg, err);
}

static int pg_script(struct db *db, const char *text, struct err *err)
{
    pg_of(db)->fresh = false;
    return pg_simple(pg_of(db), text, err);
}

static const char *pg_migration_text(const struct migration *migration)
{
    return migration->postgres;
}

/* ---- care ---- */

static int pg_backup(struct db *db, const char *path, db_progress_fn *progress, void *arg,
                     struct err *err)
{
    (void)path, (void)progress, (void)arg;
    return err_set(err, ERR_BAD_REQUEST,
                   "Postgres data is copied with its own tool: pg_dump --schema=%s DATABASE",
                   pg_of(db)->schema);
}

/* The server keeps its constraints itself; what can be wrong is one that was never validated. */
static int pg_check(struct db *db, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(db,
                   SQL("SELECT c.conname::text AS name, c.conrelid::regclass::text AS place"
                       " FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_namespace n"
                       " ON n.oid = c.connamespace"
                       " WHERE n.nspname = ? AND NOT c.convalidated LIMIT 1"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, pg_of(db)->schema);
    r = stmt_step(q, err);
    if (r > 0)
        return err_set(err, ERR_INTEGRITY_FAILED, "constraint %.*s of %.*s was never validated",
                       STR_ARG(stmt_str(q, "name")), STR_ARG(stmt_str(q, "place")));
    return r;
}

const struct db_ops db_postgres_ops = {
    .name = "postgres",
    .schemes = { "postgresql://", "postgres://" },
    .open = pg_open,
    .close = pg_close,
    .prepare = pg_prepare,
    .finalize = pg_finalize,
    .rewind = pg_rewind,
    .bind = pg_bind,
    .step = pg_step,
    .run = pg_run,
    .changes = pg_changes,
    .column_count = pg_column_count,
    .column_name = pg_column_name,
    .column = pg_column,
    .control = pg_control,
    .script = pg_script,
    .count_records = { "SELECT count(*) AS n FROM pg_catalog.pg_class c"
                       " JOIN pg_catalog.pg_namespace s ON s.oid = c.relnamespace"
                       " WHERE s.nspname = current_schema() AND c.relname = 'schema_migrations'" },
    .count_tables = { "SELECT count(*) AS n FROM pg_catalog.pg_class c"
                      " JOIN pg_catalog.pg_namespace s ON s.oid = c.relnamespace"
                      " WHERE s.nspname = current_schema() AND c.relkind IN ('r', 'p')" },
    .migration_start = "SELECT pg_advisory_xact_lock(hashtext('dormouse.' || current_schema()));"
                       " CREATE TABLE IF NOT EXISTS schema_migrations (number BIGINT PRIMARY KEY,"
                       " name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at BIGINT NOT NULL)",
    .migration_text = pg_migration_text,
    .backup = pg_backup,
    .check = pg_check,
    .touch = "UPDATE schema_migrations SET applied_at = applied_at WHERE number = 1",
};
