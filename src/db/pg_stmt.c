/* Statements on Postgres: typed parameters, prepared on the server, rows one at a time.
 *
 * Numbers go as text, and everything comes back as text. A parameter has the type of the value
 * bound to it (bigint, text, bytea), so that what does not fit its column is an error here as it is
 * in a STRICT table of SQLite. Two are left to the server: numbers with a fraction, which it would
 * round silently if they were sent as double precision to a bigint column, and blobs, which it
 * would write as "\x..." into a text column. Whether it took these for blobs is asked before the
 * first run.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "db/pg_int.h"
#include "db/pg_translate.h"

#define OID_UNKNOWN 0
#define OID_BOOL    16
#define OID_BYTEA   17
#define OID_INT8    20
#define OID_INT2    21
#define OID_INT4    23
#define OID_TEXT    25
#define OID_OID     26
#define OID_FLOAT4  700
#define OID_FLOAT8  701
#define OID_NUMERIC 1700

static struct pg_stmt *pg_stmt_of(struct stmt *stmt)
{
    return (struct pg_stmt *)stmt;
}

/* ---- rows that wait ---- */

int pg_rows_add(struct pg_rows *rows, PGresult *result)
{
    size_t bytes = pq.PQresultMemorySize(result);

    if (rows->bytes + bytes > PG_HELD_BYTES_MAX) {
        pq.PQclear(result);
        return -1;
    }
    rows->bytes += bytes;
    if (rows->first + rows->count == rows->cap) {
        rows->cap = rows->cap ? rows->cap * 2 : 16;
        rows->results = alloc_resize(rows->results, rows->cap, sizeof(void *));
    }
    rows->results[rows->first + rows->count++] = result;
    return 0;
}

static PGresult *rows_take(struct pg_rows *rows)
{
    PGresult *result;

    if (rows->count == 0)
        return NULL;
    result = rows->results[rows->first++];
    rows->bytes -= pq.PQresultMemorySize(result);
    if (--rows->count == 0)
        rows->first = 0;
    return result;
}

static void rows_clear(struct pg_rows *rows)
{
    for (PGresult *result; (result = rows_take(rows)) != NULL;)
        pq.PQclear(result);
}

/* ---- life ---- */

int pg_prepare(struct db *db, const char *text, struct stmt **ret_stmt, struct err *err)
{
    AUTO_BUF translated = BUF_INIT(DB_SQL_BYTES_MAX);
    struct pg_stmt *stmt;
    int params;

    (void)db;
    if (pg_translate(str_from(text), DB_PARAMS_MAX, &translated, &params, err) < 0)
        return -1;
    stmt = NEW(struct pg_stmt);
    stmt->stmt.params = params;
    stmt->translated = alloc_text(buf_text(&translated));
    *ret_stmt = &stmt->stmt;
    return 0;
}

/* The run is over for us; answers that still come are dropped, because the serial differs. */
void pg_rewind(struct stmt *base)
{
    struct pg_stmt *stmt = pg_stmt_of(base);

    stmt->serial = ++pg_of(base->db)->serial;
    stmt->sent = stmt->answered = false;
    stmt->changes = 0;
    rows_clear(&stmt->held);
    pq.PQclear(stmt->current);
    stmt->current = NULL;
    arena_reset(&stmt->decoded);
}

void pg_finalize(struct stmt *base)
{
    struct pg_stmt *stmt = pg_stmt_of(base);
    struct pg *pg = pg_of(base->db);

    pg_rewind(base);
    for (size_t i = 0; i < pg->count; i++) {
        struct pg_sent *sent = &pg->queue[(pg->first + i) % PG_QUEUE_MAX];

        if (sent->stmt == stmt)
            sent->stmt = NULL;
    }
    for (size_t i = 0; i < stmt->variant_count; i++)
        if (stmt->variants[i].epoch == pg->epoch)
            pg_discard_name(pg, stmt->variants[i].name);
    free(stmt->held.results);
    free(stmt->variants);
    free(stmt->translated);
    arena_release(&stmt->decoded);
    free(stmt);
}

void pg_bind(struct stmt *stmt, int at, const struct db_value *value)
{
    pg_stmt_of(stmt)->values[at] = *value;
}

/* ---- sending ---- */

static Oid type_of(const struct db_value *value)
{
    static const Oid types[] = { [DB_NULL] = OID_UNKNOWN,
                                 [DB_I64] = OID_INT8,
                                 [DB_F64] = OID_UNKNOWN,
                                 [DB_TEXT] = OID_TEXT,
                                 [DB_BLOB] = OID_BYTEA };

    return types[value->type];
}

static bool variant_fits(const struct pg_stmt *stmt, const struct pg_variant *variant)
{
    for (int i = 0; i < stmt->stmt.params; i++)
        if (stmt->values[i].type != DB_NULL && variant->types[i] != type_of(&stmt->values[i]))
            return false;
    return true;
}

/* The place for one more; when all are taken the oldest makes way. */
static struct pg_variant *new_variant(struct pg *pg, struct pg_stmt *stmt)
{
    if (!stmt->variants)
        stmt->variants = NEW_N(struct pg_variant, PG_VARIANTS_MAX);
    if (stmt->variant_count == PG_VARIANTS_MAX) {
        if (stmt->variants[0].epoch == pg->epoch)
            pg_discard_name(pg, stmt->variants[0].name);
        memmove(&stmt->variants[0], &stmt->variants[1],
                (PG_VARIANTS_MAX - 1) * sizeof(stmt->variants[0]));
        stmt->variant_count--;
    }
    return &stmt->variants[stmt->variant_count++];
}

static void note_variant_sent(struct pg *pg, enum pg_kind kind, struct pg_stmt *stmt, uint64_t name)
{
    pg_note_sent(pg, (struct pg_sent){
                         .kind = kind, .stmt = stmt, .serial = name, .text = stmt->stmt.text });
}

/* Returns how many blobs there are, -1 when it can't be sent. */
static int send_prepare(struct pg *pg, struct pg_stmt *stmt, struct pg_variant *variant,
                        const char *name, struct err *err)
{
    Oid types[DB_PARAMS_MAX];
    int blobs = 0;

    for (int i = 0; i < stmt->stmt.params; i++) {
        variant->types[i] = type_of(&stmt->values[i]);
        types[i] = variant->types[i] == OID_BYTEA ? OID_UNKNOWN : variant->types[i];
        blobs += variant->types[i] == OID_BYTEA;
    }
    if (!pq.PQsendPrepare(pg->conn, name, stmt->translated, stmt->stmt.params, types))
        return pg_send_failed(pg, err);
    note_variant_sent(pg, PG_PREPARE, stmt, variant->name);
    return blobs;
}

static int check_blobs(struct pg *pg, struct pg_stmt *stmt, const struct pg_variant *variant,
                       const char *name, struct err *err)
{
    if (!pq.PQsendDescribePrepared(pg->conn, name))
        return pg_send_failed(pg, err);
    note_variant_sent(pg, PG_DESCRIBE, stmt, variant->name);
    if (pg_settle(pg, err) < 0)
        return -1;
    for (int i = 0; i < stmt->stmt.params; i++)
        if (stmt->values[i].type == DB_BLOB && variant->types[i] != OID_BYTEA) {
            db_fail(&pg->db, DB_REFUSED);
            return err_set(err, ERR_SCHEMA_VIOLATION, "value %d is a blob where none belongs",
                           i + 1);
        }
    return 0;
}

/* NULL when it can't be. */
static struct pg_variant *prepare_variant(struct pg *pg, struct pg_stmt *stmt, struct err *err)
{
    struct pg_variant *variant = new_variant(pg, stmt);
    char name[PG_NAME_SIZE];
    int blobs;

    variant->epoch = pg->epoch;
    variant->name = ++pg->names;
    pg_name(variant->name, name);
    blobs = send_prepare(pg, stmt, variant, name, err);
    if (blobs == 0 || (blobs > 0 && check_blobs(pg, stmt, variant, name, err) == 0))
        return variant;
    pg_discard_name(pg, variant->name);
    stmt->variant_count--;
    return NULL;
}

static struct pg_variant *find_variant(struct pg *pg, struct pg_stmt *stmt, struct err *err)
{
    for (size_t i = stmt->variant_count; i > 0; i--) {
        struct pg_variant *variant = &stmt->variants[i - 1];

        if (variant->epoch == pg->epoch && variant_fits(stmt, variant))
            return variant;
    }
    return prepare_variant(pg, stmt, err);
}

/* The form that libpq wants values in. */
struct params {
    const char *values[DB_PARAMS_MAX];
    int lengths[DB_PARAMS_MAX], binary[DB_PARAMS_MAX];
    char numbers[DB_PARAMS_MAX][PG_NAME_SIZE];
};

/* Text and blobs go as they are: their binary form is their bytes. Returns how many. */
static size_t fill_params(const struct pg_stmt *stmt, struct params *params)
{
    size_t bytes = 0;

    for (int i = 0; i < stmt->stmt.params; i++) {
        const struct db_value *value = &stmt->values[i];

        params->values[i] = NULL;
        params->lengths[i] = params->binary[i] = 0;
        if (value->type == DB_I64 || value->type == DB_F64)
            params->values[i] = params->numbers[i];
        if (value->type == DB_I64)
            snprintf(params->numbers[i], PG_NAME_SIZE, "%lld", (long long)value->i64);
        if (value->type == DB_F64)
            snprintf(params->numbers[i], PG_NAME_SIZE, "%.17g", value->f64);
        if (value->type == DB_TEXT || value->type == DB_BLOB) {
            params->values[i] = value->bytes.p;
            params->lengths[i] = (int)value->bytes.n;
            params->binary[i] = 1;
            bytes += value->bytes.n;
        }
    }
    return bytes;
}

static int send_run(struct pg *pg, struct pg_stmt *stmt, struct err *err)
{
    struct params params;
    struct pg_variant *variant;
    char name[PG_NAME_SIZE];

    if (!pg->db.in_transaction && pg_ready(pg, err) < 0)
        return -1;
    if (!pg->conn)
        return err_set(err, ERR_STORAGE_FAILED, "the connection was lost in this transaction");
    if (pg_make_room(pg, 4, err) < 0)
        return -1;
    variant = find_variant(pg, stmt, err);
    if (!variant)
        return -1;
    pg->fresh = false;
    stmt->serial = ++pg->serial;
    stmt->epoch = pg->epoch;
    stmt->answered = false;
    pg->queued_bytes += fill_params(stmt, &params);
    pg_name(variant->name, name);
    if (!pq.PQsendQueryPrepared(pg->conn, name, stmt->stmt.params, params.values, params.lengths,
                                params.binary, 0))
        return pg_send_failed(pg, err);
    stmt->sent = true;
    pg_note_sent(
        pg, (struct pg_sent){
                .kind = PG_QUERY, .stmt = stmt, .serial = stmt->serial, .text = stmt->stmt.text });
    return 0;
}

static struct pg_variant *variant_named(struct pg_stmt *stmt, uint64_t name)
{
    for (size_t i = 0; i < stmt->variant_count; i++)
        if (stmt->variants[i].name == name)
            return &stmt->variants[i];
    return NULL;
}

void pg_prepared(struct pg_stmt *stmt, uint64_t name, const PGresult *result)
{
    struct pg_variant *variant = variant_named(stmt, name);

    if (variant && pq.PQresultStatus(result) != PGRES_COMMAND_OK)
        variant->epoch = 0; /* no connection has this number */
}

void pg_described(struct pg_stmt *stmt, uint64_t name, const PGresult *result)
{
    struct pg_variant *variant = variant_named(stmt, name);

    for (int i = 0; variant && i < stmt->stmt.params; i++)
        if (variant->types[i] == OID_BYTEA)
            variant->types[i] = pq.PQparamtype(result, i);
}

int pg_run(struct stmt *base, struct err *err)
{
    struct pg_stmt *stmt = pg_stmt_of(base);
    struct pg *pg = pg_of(base->db);

    if (send_run(pg, stmt, err) < 0)
        return -1;
    pg->writes++;
    if (base->db->in_transaction)
        return 0;
    return pg_settle(pg, err);
}

/* ---- reading ---- */

static int show_row(struct pg_stmt *stmt, PGresult *result)
{
    stmt->current = result;
    stmt->row_at = 0;
    return 1;
}

static int begin_step(struct pg *pg, struct pg_stmt *stmt, struct err *err)
{
    if (send_run(pg, stmt, err) < 0 || pg_send_sync(pg, err) < 0)
        return -1;
    if (pg_read_up_to(pg, stmt, err) < 0)
        return -1;
    /* Refused only when the answer is an error anyway: rows then come at once, or not at all. */
    if (!pg->failed)
        pq.PQsetSingleRowMode(pg->conn);
    return 0;
}

/* The rows of this statement are the next that arrive. */
static int read_row(struct pg *pg, struct pg_stmt *stmt, struct err *err)
{
    struct pg_sent sent = {
        .kind = PG_QUERY, .stmt = stmt, .serial = stmt->serial, .text = stmt->stmt.text
    };
    PGresult *result, *row;

    for (;;) {
        if (pg_next_result(pg, &result, err) < 0)
            return -1;
        if (!result)
            break;
        pg_digest(pg, &sent, result);
        if ((row = rows_take(&stmt->held)) != NULL)
            return show_row(stmt, row);
    }
    stmt->answered = true;
    pg_pop(pg);
    if (pg_read_sync(pg, err) < 0)
        return -1;
    return pg_take_failure(pg, err);
}

int pg_step(struct stmt *base, struct err *err)
{
    struct pg_stmt *stmt = pg_stmt_of(base);
    struct pg *pg = pg_of(base->db);
    PGresult *row;

    if (!stmt->sent && begin_step(pg, stmt, err) < 0)
        return -1;
    arena_reset(&stmt->decoded);
    if (stmt->current && ++stmt->row_at < pq.PQntuples(stmt->current))
        return 1;
    pq.PQclear(stmt->current);
    stmt->current = NULL;
    if ((row = rows_take(&stmt->held)) != NULL)
        return show_row(stmt, row);
    if (stmt->answered)
        return 0;
    if (stmt->epoch != pg->epoch)
        return err_set(err, ERR_STORAGE_FAILED, "the connection was lost while rows were read");
    return read_row(pg, stmt, err);
}

int64_t pg_changes(struct stmt *base)
{
    struct pg_stmt *stmt = pg_stmt_of(base);
    struct pg *pg = pg_of(base->db);
    struct err why = ERR_INIT;

    /* The failure of a queued run stays noted for the next step or the commit. */
    if (!stmt->answered && stmt->epoch == pg->epoch && pg_send_sync(pg, &why) == 0)
        pg_read_up_to(pg, NULL, &why);
    return stmt->changes;
}

/* ---- columns ---- */

int pg_column_count(struct stmt *stmt)
{
    return pq.PQnfields(pg_stmt_of(stmt)->current);
}

const char *pg_column_name(struct stmt *stmt, int at)
{
    return pq.PQfname(pg_stmt_of(stmt)->current, at);
}

static struct str decode_blob(struct arena *arena, struct str text)
{
    size_t n = text.n >= 2 ? (text.n - 2) / 2 : 0;
    char *bytes = arena_alloc(arena, n + 1, 1);

    hex_decode(str_take(str_skip(text, 2), 2 * n), (uint8_t *)bytes, n);
    return str_of(bytes, n);
}

/* sum() of bigint is numeric here and an integer in SQLite. */
static struct db_value decode_number(const char *text)
{
    struct db_value value = { .type = DB_I64 };

    if (str_to_i64(str_from(text), &value.i64) < 0)
        value = (struct db_value){ .type = DB_F64, .f64 = strtod(text, NULL) };
    return value;
}

void pg_column(struct stmt *base, int at, struct db_value *ret_value)
{
    struct pg_stmt *stmt = pg_stmt_of(base);
    const char *text = pq.PQgetvalue(stmt->current, stmt->row_at, at);
    struct str bytes = str_of(text, (size_t)pq.PQgetlength(stmt->current, stmt->row_at, at));

    if (pq.PQgetisnull(stmt->current, stmt->row_at, at)) {
        *ret_value = (struct db_value){ .type = DB_NULL };
        return;
    }
    switch (pq.PQftype(stmt->current, at)) {
    case OID_BOOL:
        *ret_value = (struct db_value){ .type = DB_I64, .i64 = *text == 't' };
        break;
    case OID_INT2:
    case OID_INT4:
    case OID_INT8:
    case OID_OID:
    case OID_NUMERIC:
        *ret_value = decode_number(text);
        break;
    case OID_FLOAT4:
    case OID_FLOAT8:
        *ret_value = (struct db_value){ .type = DB_F64, .f64 = strtod(text, NULL) };
        break;
    case OID_BYTEA:
        *ret_value =
            (struct db_value){ .type = DB_BLOB, .bytes = decode_blob(&stmt->decoded, bytes) };
        break;
    default:
        *ret_value = (struct db_value){ .type = DB_TEXT, .bytes = bytes };
    }
}
