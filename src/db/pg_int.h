/* What the files of the Postgres engine share.
 *
 * The connection stays in libpq's pipeline mode. What was sent and not yet answered stands in a
 * queue, oldest first, and answers are matched to it in that order; so writes of a transaction
 * need not wait for each other, and the commit collects all answers in one round trip.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_DB_PG_INT_H
#define DORMOUSE_DB_PG_INT_H

#include "base/arena.h"
#include "base/buf.h"
#include "db/db_int.h"
#include "db/pg_lib.h"

#define PG_QUEUE_MAX       256         /* sent and unanswered */
#define PG_QUEUE_BYTES_MAX (4 * MIB)   /* values in them; then the answers are waited for */
#define PG_HELD_BYTES_MAX  (64 * MIB)  /* rows of a result that had to make way for another */
#define PG_GARBAGE_MAX     64          /* prepared statements to be forgotten by the server */
#define PG_VARIANTS_MAX    4           /* prepared forms of one statement, by types of its values */
#define PG_SILENCE_MS      (5 * 60000) /* a server that says nothing this long is gone */
#define PG_NAME_SIZE       32
#define PG_CONNECT_S       "10"
/* A try to connect that took a second is not made again for ten: the loop stands still meanwhile.
 */
#define PG_PATIENCE 10
/* A process that stands still with a transaction open holds others up: the server ends it. */
#define PG_IDLE_MS "10000"

enum pg_kind { PG_PREPARE = 1, PG_DESCRIBE, PG_QUERY, PG_CONTROL, PG_SYNC };

struct pg_sent {
    enum pg_kind kind;
    struct pg_stmt *stmt; /* if it belongs to one; NULL once that was finalized */
    uint64_t serial;      /* PG_QUERY: which run of it; else the name of the variant */
    const char *text;     /* for messages; static or of the statement */
};

struct pg {
    struct db db; /* first */
    PGconn *conn;
    char *url, *schema;
    enum db_sync sync;
    int busy_ms;
    int64_t retry_ms; /* monotonic: no connection is tried before, after one could not be made */
    uint64_t epoch;   /* of the connection: prepared statements end with it */
    uint64_t serial;  /* of statement runs */
    uint64_t names;   /* prepared statements so far */
    struct pg_sent queue[PG_QUEUE_MAX];
    size_t first, count;
    size_t queued_bytes;
    uint64_t garbage[PG_GARBAGE_MAX]; /* names; forgotten at the next quiet moment */
    size_t garbage_count;
    size_t writes;         /* runs of this unit whose answer is still open */
    enum db_control begun; /* how the transaction began */
    bool fresh;            /* it has done nothing yet */
    int within_unit;       /* units open inside of the one that is the transaction; -1: not in it */
    /* The first failure among the answers, until someone takes it. */
    bool failed;
    enum db_trouble failed_trouble;
    struct err failure;
};

/* A statement is prepared once per combination of value types; an untyped NULL fits any. */
struct pg_variant {
    uint64_t epoch, name;
    Oid types[DB_PARAMS_MAX];
};

/* Results that wait to be read; each holds one row or more. */
struct pg_rows {
    PGresult **results;
    size_t first, count, cap, bytes;
};

struct pg_stmt {
    struct stmt stmt; /* first */
    char *translated;
    struct pg_variant *variants;
    size_t variant_count;
    uint64_t serial; /* of the current run */
    uint64_t epoch;  /* of the connection that it was sent on */
    bool sent;
    bool answered; /* all results of the run have arrived */
    int64_t changes;
    struct pg_rows held;
    PGresult *current;
    int row_at;
    struct arena decoded; /* blobs of the current row */
    /* Bound values as text, in places of their own because libpq wants pointers. */
    struct db_value values[DB_PARAMS_MAX];
};

/* What a prepared statement is called on the server. */
void pg_name(uint64_t number, char name[PG_NAME_SIZE]);

static inline struct pg *pg_of(struct db *db)
{
    return (struct pg *)db;
}

/* ---- pg_fail.c ---- */
/* Fills err from a failed result and returns what it means. */
enum db_trouble pg_result_error(const PGresult *result, struct err *err);

/* ---- pg_conn.c ---- */
int pg_connect(struct pg *pg, struct err *err);
void pg_disconnect(struct pg *pg);
/* Before a transaction or a statement outside one: a connection that ended is made anew. */
int pg_ready(struct pg *pg, struct err *err);
/* Makes room for n entries and notes one that was just sent. */
int pg_make_room(struct pg *pg, size_t n, struct err *err);
void pg_note_sent(struct pg *pg, struct pg_sent sent);
/* Sending failed: the connection is lost, or libpq has no memory. */
int pg_send_failed(struct pg *pg, struct err *err);
int pg_send_control(struct pg *pg, enum db_control what, struct err *err);
/* The server may forget the prepared statement of this name. */
void pg_discard_name(struct pg *pg, uint64_t name);
int pg_send_sync(struct pg *pg, struct err *err);
/* Reads answers until the run of stmt is the oldest one open (stmt NULL: all of them). */
int pg_read_up_to(struct pg *pg, const struct pg_stmt *stmt, struct err *err);
/* When the oldest entry is a sync, reads its answer. */
int pg_read_sync(struct pg *pg, struct err *err);
/* Sends a sync, reads everything, and takes the first failure. */
int pg_settle(struct pg *pg, struct err *err);
/* -1 with the first failure, when there was one. */
int pg_take_failure(struct pg *pg, struct err *err);
/* The next answer of the oldest entry, NULL when it has no more. */
int pg_next_result(struct pg *pg, PGresult **ret_result, struct err *err);
/* What every result means for its entry. Takes the result over. */
void pg_digest(struct pg *pg, const struct pg_sent *sent, PGresult *result);
void pg_pop(struct pg *pg);
/* Several statements through the simple protocol. */
int pg_simple(struct pg *pg, const char *text, struct err *err);

/* ---- pg_stmt.c ---- */
int pg_prepare(struct db *db, const char *text, struct stmt **ret_stmt, struct err *err);
void pg_finalize(struct stmt *stmt);
void pg_rewind(struct stmt *stmt);
void pg_bind(struct stmt *stmt, int at, const struct db_value *value);
int pg_step(struct stmt *stmt, struct err *err);
int pg_run(struct stmt *stmt, struct err *err);
int64_t pg_changes(struct stmt *stmt);
int pg_column_count(struct stmt *stmt);
const char *pg_column_name(struct stmt *stmt, int at);
void pg_column(struct stmt *stmt, int at, struct db_value *ret_value);
/* The answer to PG_PREPARE or PG_DESCRIBE of the variant with this name. */
void pg_prepared(struct pg_stmt *stmt, uint64_t name, const PGresult *result);
void pg_described(struct pg_stmt *stmt, uint64_t name, const PGresult *result);
/* Keeps a result for a statement whose rows can't be read now. Takes it over. */
int pg_rows_add(struct pg_rows *rows, PGresult *result);

#endif
