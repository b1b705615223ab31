/* The shared half of the SQL surface: what has to be equal on every engine.
 *
 * Statements are cached by the address of their literal, in a small hash table of lists: asking
 * for the same literal twice gives the idle statement of the first time. Bound values are checked
 * here, once for all engines: Postgres knows no NUL in text and no broken UTF-8, so SQLite must
 * not accept them either.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/db.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "db/db_int.h"

static const struct db_ops *const db_engines[] = { &db_sqlite_ops, &db_postgres_ops };

static const struct db_ops *engine_of(const char *url)
{
    for (size_t i = 0; i < ARRAY_LEN(db_engines); i++)
        for (size_t j = 0; db_engines[i]->schemes[j]; j++)
            if (str_starts(str_from(url), str_from(db_engines[i]->schemes[j])))
                return db_engines[i];
    return NULL;
}

int db_open(const struct db_open *how, struct db **ret_db, struct err *err)
{
    const struct db_ops *ops = engine_of(how->url);

    if (!ops)
        return err_set(err, ERR_BAD_REQUEST,
                       "database address \"%.40s\" begins with neither sqlite: nor postgresql://",
                       how->url);
    return ops->open(how, ret_db, err);
}

static void stmt_drop(struct stmt *stmt)
{
    for (int i = 0; i < stmt->column_count; i++)
        free((char *)stmt->columns[i]);
    free(stmt->columns);
    stmt->columns = NULL;
    stmt->column_count = 0;
    stmt->db->ops->finalize(stmt);
}

void db_forget_statements(struct db *db)
{
    for (size_t i = 0; i < DB_CACHE_BUCKETS; i++)
        while (db->idle[i]) {
            struct stmt *stmt = db->idle[i];

            db->idle[i] = stmt->next_idle;
            stmt_drop(stmt);
        }
    db->idle_count = 0;
}

void db_close(struct db *db)
{
    if (!db)
        return;
    BUG_IF(db->open_count > 0);
    db_forget_statements(db);
    db->ops->close(db);
}

int db_fail(struct db *db, enum db_trouble trouble)
{
    db->trouble = trouble;
    if (trouble == DB_LOST)
        db->health = DOMAIN_LOST;
    else if (trouble == DB_FULL && db->health == DOMAIN_OK)
        db->health = DOMAIN_READ_ONLY;
    return -1;
}

struct str db_sql_name(const char *text)
{
    size_t n = strnlen(text, DB_SQL_SHOWN);

    return str_trim(str_of(text, n));
}

/* ---- statements ---- */

static size_t bucket_of(const char *literal)
{
    uint64_t key = (uint64_t)(uintptr_t)literal * 0x9e3779b97f4a7c15u;

    return (size_t)(key >> 57) % DB_CACHE_BUCKETS;
}

static struct stmt *take_idle(struct db *db, const char *literal)
{
    for (struct stmt **at = &db->idle[bucket_of(literal)]; *at; at = &(*at)->next_idle)
        if ((*at)->text == literal) {
            struct stmt *stmt = *at;

            *at = stmt->next_idle;
            db->idle_count--;
            return stmt;
        }
    return NULL;
}

static void stmt_clear(struct stmt *stmt)
{
    stmt->bound = 0;
    stmt->refused = NULL;
    stmt->started = stmt->row = stmt->done = false;
}

int db_prepare(struct db *db, struct sql sql, struct stmt **ret_stmt, struct err *err)
{
    struct stmt *stmt = take_idle(db, sql.text);

    if (!stmt) {
        if (db->ops->prepare(db, sql.text, &stmt, err) < 0) {
            err_wrap(err, "prepare \"%.*s\"", STR_ARG(db_sql_name(sql.text)));
            return -1;
        }
        BUG_IF(stmt->params > DB_PARAMS_MAX);
        stmt->db = db;
        stmt->text = sql.text;
    }
    stmt_clear(stmt);
    db->open_count++;
    *ret_stmt = stmt;
    return 0;
}

void stmt_free(struct stmt *stmt)
{
    struct db *db = stmt ? stmt->db : NULL;
    struct stmt **bucket;

    if (!stmt)
        return;
    db->open_count--;
    if (stmt->started)
        db->ops->rewind(stmt);
    if (db->idle_count >= DB_CACHE_MAX) {
        stmt_drop(stmt);
        return;
    }
    bucket = &db->idle[bucket_of(stmt->text)];
    stmt->next_idle = *bucket;
    *bucket = stmt;
    db->idle_count++;
}

void stmt_reset(struct stmt *stmt)
{
    if (stmt->started)
        stmt->db->ops->rewind(stmt);
    stmt_clear(stmt);
}

/* ---- binding ---- */

static const char refused_size[] = "larger than allowed";
static const char refused_text[] = "text with a NUL or broken UTF-8 in it";
static const char refused_number[] = "not a finite number";

static void bind_value(struct stmt *stmt, const struct db_value *value)
{
    if (stmt->started)
        BUG("bind to a statement that runs: %.*s", STR_ARG(db_sql_name(stmt->text)));
    if (stmt->bound >= stmt->params)
        BUG("more values than placeholders: %.*s", STR_ARG(db_sql_name(stmt->text)));
    stmt->db->ops->bind(stmt, stmt->bound++, value);
}

/* Remembered until the step, which reports it: binding itself can't fail. */
static void bind_refused(struct stmt *stmt, const char *why)
{
    if (!stmt->refused) {
        stmt->refused = why;
        stmt->refused_at = stmt->bound + 1;
    }
    stmt_bind_null(stmt);
}

/* What Postgres can hold as text. */
static bool text_is_clean(struct str text)
{
    return !memchr(text.p, '\0', text.n) && utf8_valid(text);
}

static void bind_bytes(struct stmt *stmt, enum db_type type, struct str bytes)
{
    if (!bytes.p)
        stmt_bind_null(stmt);
    else if (bytes.n > DB_VALUE_BYTES_MAX)
        bind_refused(stmt, refused_size);
    else if (type == DB_TEXT && !text_is_clean(bytes))
        bind_refused(stmt, refused_text);
    else
        bind_value(stmt, &(struct db_value){ .type = type, .bytes = bytes });
}

void stmt_bind_i64(struct stmt *stmt, int64_t value)
{
    bind_value(stmt, &(struct db_value){ .type = DB_I64, .i64 = value });
}

void stmt_bind_f64(struct stmt *stmt, double value)
{
    /* SQLite keeps no minus before a zero, so nobody does. */
    if (isfinite(value))
        bind_value(stmt, &(struct db_value){ .type = DB_F64, .f64 = value == 0 ? 0 : value });
    else
        bind_refused(stmt, refused_number);
}

void stmt_bind_bool(struct stmt *stmt, bool value)
{
    stmt_bind_i64(stmt, value ? 1 : 0);
}

void stmt_bind_text(struct stmt *stmt, const char *text)
{
    bind_bytes(stmt, DB_TEXT, str_from(text));
}

void stmt_bind_str(struct stmt *stmt, struct str text)
{
    bind_bytes(stmt, DB_TEXT, text);
}

void stmt_bind_blob(struct stmt *stmt, struct str bytes)
{
    bind_bytes(stmt, DB_BLOB, bytes);
}

void stmt_bind_null(struct stmt *stmt)
{
    bind_value(stmt, &(struct db_value){ .type = DB_NULL });
}

void stmt_bind_some_i64(struct stmt *stmt, int64_t value)
{
    if (value)
        stmt_bind_i64(stmt, value);
    else
        stmt_bind_null(stmt);
}

void stmt_bind_some_str(struct stmt *stmt, struct str text)
{
    if (text.n)
        stmt_bind_str(stmt, text);
    else
        stmt_bind_null(stmt);
}

/* ---- running ---- */

/* A failed statement fails its transaction up to the innermost savepoint, as on Postgres. */
static int stmt_failed(struct stmt *stmt, struct err *err)
{
    struct db *db = stmt->db;

    stmt->row = false;
    stmt->done = true;
    err_wrap(err, "run \"%.*s\"", STR_ARG(db_sql_name(stmt->text)));
    if (db->in_transaction && !db->failed) {
        db->failed = true;
        db->failure = *err;
    }
    return -1;
}

static int refuse_start(struct stmt *stmt, struct err *err)
{
    struct db *db = stmt->db;

    if (db->failed) {
        *err = db->failure;
        return err_wrap(err, "an earlier statement of this transaction failed");
    }
    err_set(err, stmt->refused == refused_size ? ERR_TOO_LARGE : ERR_BAD_REQUEST, "value %d is %s",
            stmt->refused_at, stmt->refused);
    db_fail(db, DB_REFUSED);
    return stmt_failed(stmt, err);
}

/* 0 when it may run. */
static inline int stmt_start(struct stmt *stmt, struct err *err)
{
    if (stmt->bound != stmt->params)
        BUG("%d values for %d placeholders: %.*s", stmt->bound, stmt->params,
            STR_ARG(db_sql_name(stmt->text)));
    if (stmt->db->failed || stmt->refused)
        return refuse_start(stmt, err);
    stmt->started = true;
    return 0;
}

int(stmt_step)(struct stmt *stmt, struct err *err)
{
    int r;

    if (!stmt->started && stmt_start(stmt, err) < 0)
        return -1;
    if (stmt->done)
        return 0;
    r = stmt->db->ops->step(stmt, err);
    if (r < 0)
        return stmt_failed(stmt, err);
    stmt->row = r == 1;
    stmt->done = r == 0;
    return r;
}

int stmt_run(struct stmt *stmt, struct err *err)
{
    const struct db_ops *ops = stmt->db->ops;
    int r;

    if (stmt->started)
        BUG("statement runs twice without a reset: %.*s", STR_ARG(db_sql_name(stmt->text)));
    if (stmt_start(stmt, err) < 0)
        return -1;
    if (ops->run) {
        r = ops->run(stmt, err);
    } else {
        do
            r = ops->step(stmt, err);
        while (r > 0);
    }
    stmt->done = true;
    return r < 0 ? stmt_failed(stmt, err) : 0;
}

int64_t stmt_changes(struct stmt *stmt)
{
    return stmt->done ? stmt->db->ops->changes(stmt) : 0;
}

int db_exec(struct db *db, struct sql sql, struct err *err)
{
    AUTO(stmt) stmt = NULL;

    if (db_prepare(db, sql, &stmt, err) < 0)
        return -1;
    return stmt_run(stmt, err);
}

/* ---- columns ---- */

static void load_columns(struct stmt *stmt)
{
    const struct db_ops *ops = stmt->db->ops;

    stmt->column_count = ops->column_count(stmt);
    stmt->columns = NEW_N(const char *, (size_t)stmt->column_count);
    for (int i = 0; i < stmt->column_count; i++)
        stmt->columns[i] = alloc_text(ops->column_name(stmt, i));
}

static void read_column(struct stmt *stmt, const char *column, struct db_value *ret_value)
{
    if (!stmt->row)
        BUG("column %s without a row: %.*s", column, STR_ARG(db_sql_name(stmt->text)));
    if (!stmt->columns)
        load_columns(stmt);
    /* Columns are mostly read in their order, so the search begins after the last one. */
    for (int left = stmt->column_count, i = stmt->column_next; left > 0; left--, i++) {
        if (i >= stmt->column_count)
            i = 0;
        if (strcmp(stmt->columns[i], column) == 0) {
            stmt->column_next = i + 1;
            stmt->db->ops->column(stmt, i, ret_value);
            return;
        }
    }
    BUG("no column %s: %.*s", column, STR_ARG(db_sql_name(stmt->text)));
}

static _Noreturn void wrong_type(struct stmt *stmt, const char *column, enum db_type is,
                                 const char *wanted)
{
    static const char *const names[] = { "null", "an integer", "a number", "text", "a blob" };

    BUG("column %s is %s, read as %s: %.*s", column, names[is], wanted,
        STR_ARG(db_sql_name(stmt->text)));
}

int64_t stmt_i64(struct stmt *stmt, const char *column)
{
    struct db_value value;

    read_column(stmt, column, &value);
    if (value.type == DB_NULL)
        return 0;
    if (value.type != DB_I64)
        wrong_type(stmt, column, value.type, "an integer");
    return value.i64;
}

double stmt_f64(struct stmt *stmt, const char *column)
{
    struct db_value value;

    read_column(stmt, column, &value);
    if (value.type == DB_NULL)
        return 0;
    if (value.type == DB_I64)
        return (double)value.i64;
    if (value.type != DB_F64)
        wrong_type(stmt, column, value.type, "a number");
    return value.f64;
}

bool stmt_bool(struct stmt *stmt, const char *column)
{
    return stmt_i64(stmt, column) != 0;
}

struct str stmt_str(struct stmt *stmt, const char *column)
{
    struct db_value value;

    read_column(stmt, column, &value);
    if (value.type == DB_NULL)
        return STR_NONE;
    if (value.type != DB_TEXT)
        wrong_type(stmt, column, value.type, "text");
    return value.bytes;
}

struct str stmt_blob(struct stmt *stmt, const char *column)
{
    struct db_value value;

    read_column(stmt, column, &value);
    if (value.type == DB_NULL)
        return STR_NONE;
    if (value.type != DB_BLOB)
        wrong_type(stmt, column, value.type, "a blob");
    return value.bytes;
}

bool stmt_is_null(struct stmt *stmt, const char *column)
{
    struct db_value value;

    read_column(stmt, column, &value);
    return value.type == DB_NULL;
}

/* ---- transactions ---- */

static void control_done(struct db *db, enum db_control what)
{
    switch (what) {
    case DB_BEGIN:
    case DB_BEGIN_READ:
    case DB_BEGIN_SERIALIZABLE:
        db->in_transaction = true;
        db->depth = 0;
        db->failed = false;
        break;
    case DB_COMMIT:
    case DB_ROLLBACK:
        db->in_transaction = false;
        db->depth = 0;
        db->failed = false;
        break;
    case DB_SAVEPOINT:
        db->depth++;
        break;
    case DB_RELEASE:
    case DB_LEAVE:
        db->depth--;
        break;
    case DB_ROLLBACK_TO:
        db->depth--;
        db->failed = false;
        break;
    case DB_SETTLE:
        break;
    }
}

static bool begins(enum db_control what)
{
    return what == DB_BEGIN || what == DB_BEGIN_READ || what == DB_BEGIN_SERIALIZABLE;
}

int db_control(struct db *db, enum db_control what, struct err *err)
{
    BUG_IF(begins(what) == db->in_transaction);
    BUG_IF((what == DB_RELEASE || what == DB_LEAVE || what == DB_ROLLBACK_TO) && db->depth == 0);
    BUG_IF(what == DB_SAVEPOINT && db->depth == DB_SAVEPOINTS_MAX);
    if (db->failed && what != DB_ROLLBACK && what != DB_ROLLBACK_TO) {
        *err = db->failure;
        return err_wrap(err, "an earlier statement of this transaction failed");
    }
    if (db->ops->control(db, what, err) < 0) {
        if (db->in_transaction && !db->failed) {
            db->failed = true;
            db->failure = *err;
        }
        return -1;
    }
    control_done(db, what);
    return 0;
}

void db_abandon(struct db *db)
{
    db_fail(db, DB_LOST);
    control_done(db, DB_ROLLBACK);
}
