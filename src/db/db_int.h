/* What an engine implements, and what the shared half of the room keeps for it.
 *
 * An engine embeds struct db and struct stmt first in its own structs. The shared half (db.c) does
 * what must be equal on every engine: the statement cache, placeholder counting, the checks of
 * bound values, access to columns by name, and the rule that a failed statement fails its
 * transaction up to the innermost savepoint.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_DB_DB_INT_H
#define DORMOUSE_DB_DB_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/str.h"
#include "db/db.h"
#include "db/domain.h"

#define DB_VALUE_BYTES_MAX (32 * MIB) /* one bound text or blob */
#define DB_SQL_BYTES_MAX   (64 * KIB) /* one statement */
#define DB_PARAMS_MAX      100
#define DB_COLUMNS_MAX     100
#define DB_SAVEPOINTS_MAX  16
#define DB_CACHE_BUCKETS   128
#define DB_CACHE_MAX       256 /* idle statements kept */
#define DB_BUSY_MS         5000

/* What a failure means for the connection; struct err says what it means for the caller. */
enum db_trouble {
    DB_FINE = 0,
    DB_BUSY,    /* another writer was in the way: worth another try */
    DB_REFUSED, /* this statement only: constraint, type, syntax */
    DB_FULL,    /* a write failed; reading goes on */
    DB_LOST,    /* what is durable is unknown until the next start */
    DB_BROKEN,  /* damaged data */
    DB_GONE,    /* the connection ended: a transaction is lost, a new connection may be made */
};

enum db_type { DB_NULL = 0, DB_I64, DB_F64, DB_TEXT, DB_BLOB };

struct db_value {
    enum db_type type;
    union {
        int64_t i64;
        double f64;
        struct str bytes; /* text or blob */
    };
};

enum db_control {
    DB_BEGIN = 0,          /* a writer's transaction */
    DB_BEGIN_READ,         /* only reads follow */
    DB_BEGIN_SERIALIZABLE, /* the caller will try again when it collides */
    DB_COMMIT,
    DB_ROLLBACK,
    DB_SAVEPOINT,
    DB_RELEASE,
    DB_ROLLBACK_TO, /* undoes and removes the savepoint */
    DB_LEAVE,       /* as DB_RELEASE, but its writes may fail until DB_SETTLE or the commit */
    DB_SETTLE,
};

struct db_open {
    const char *domain;
    const char *url;
    enum db_sync sync;
    bool read_only;
    int busy_ms;
};

typedef void db_progress_fn(int done_pages, int all_pages, void *arg);

struct db_ops {
    const char *name;
    /* URLs of this engine begin with one of these. */
    const char *schemes[3];

    int (*open)(const struct db_open *how, struct db **ret_db, struct err *err);
    void (*close)(struct db *db);

    /* text stays valid as long as the statement. Sets stmt->params. */
    int (*prepare)(struct db *db, const char *text, struct stmt **ret_stmt, struct err *err);
    void (*finalize)(struct stmt *stmt);
    void (*rewind)(struct stmt *stmt);
    void (*bind)(struct stmt *stmt, int at, const struct db_value *value);
    int (*step)(struct stmt *stmt, struct err *err);
    /* NULL: step to the end. */
    int (*run)(struct stmt *stmt, struct err *err);
    int64_t (*changes)(struct stmt *stmt);
    int (*column_count)(struct stmt *stmt);
    const char *(*column_name)(struct stmt *stmt, int at);
    /* Engine types that are none of ours come as text. */
    void (*column)(struct stmt *stmt, int at, struct db_value *ret_value);

    int (*control)(struct db *db, enum db_control what, struct err *err);
    /* Several statements, in the transaction that is open. */
    int (*script)(struct db *db, const char *text, struct err *err);

    /* Column n: is schema_migrations there (0 or 1); how many tables are there. */
    struct sql count_records, count_tables;
    /* Run first inside a migration's transaction: keeps others out, makes schema_migrations. */
    const char *migration_start;
    const char *(*migration_text)(const struct migration *migration);

    /* NULL: nothing to do, or not offered. */
    void (*idle)(struct db *db);
    int (*backup)(struct db *db, const char *path, db_progress_fn *progress, void *arg,
                  struct err *err);
    int (*check)(struct db *db, struct err *err);
    /* A copy of the data as it is before a migration to `version`, under the writer's lock. */
    int (*save_before)(struct db *db, int version, struct err *err);
    /* While on, a commit need not last by itself: the first one after it makes it last. Between
     * transactions. */
    int (*relax)(struct db *db, bool on, struct err *err);
    /* A statement that writes a page, whatever it holds, and changes nothing. */
    const char *touch;
    /* Could more be written than the next page? NULL: unknown. */
    int (*has_room)(struct db *db, struct err *err);
    /* A 31-bit number in the file's head; NULL: there is none. */
    int (*identity)(struct db *db, int64_t *ret_identity, struct err *err);
    int (*set_identity)(struct db *db, int64_t identity, struct err *err);
    /* May it be written at all, as far as can be told without writing? NULL: unknown. */
    int (*is_writable)(struct db *db, struct err *err);
};

struct db {
    const struct db_ops *ops;
    struct stmt *idle[DB_CACHE_BUCKETS]; /* by the literal's address */
    size_t idle_count;
    size_t open_count;         /* statements handed out; all must be back before close */
    enum db_trouble trouble;   /* of the last failure */
    enum domain_health health; /* gets better by domain_mend(), or by a new connection */
    bool read_only;
    bool in_transaction;
    int depth;          /* savepoints open */
    bool failed;        /* a statement failed since begin or the innermost savepoint */
    struct err failure; /* and how */
};

struct stmt {
    struct db *db;
    const char *text; /* the literal */
    struct stmt *next_idle;
    int params, bound;
    int column_count;
    int column_next;      /* where the search for a name begins */
    const char **columns; /* names, owned with their text by the shared half */
    bool started, row, done;
    const char *refused; /* why a bound value is not allowed; reported by the step */
    int refused_at;
};

/* ---- db.c ---- */

int db_open(const struct db_open *how, struct db **ret_db, struct err *err);
/* Frees idle statements, then closes. NULL is allowed. */
void db_close(struct db *db);
/* Finalizes the statements of the cache: before a schema change, or when a connection ended. */
void db_forget_statements(struct db *db);
/* Transaction control with the bookkeeping above. */
int db_control(struct db *db, enum db_control what, struct err *err);
/* Remembers what a failure means: sets db->trouble and db->health. Returns -1. */
int db_fail(struct db *db, enum db_trouble trouble);
/* A rollback failed: forgets the transaction and lets no further one begin. */
void db_abandon(struct db *db);
/* The beginning of a statement, for messages. */
#define DB_SQL_SHOWN 80
struct str db_sql_name(const char *text);

/* ---- domain.c ---- */

struct domain {
    struct db *db;
    struct db *engine; /* the same, without what tests put around it */
    char *name;
    const struct migration *migrations;
    size_t migration_count;
    struct clock *clock;
    struct rand *rand;
    bool shared; /* others may write to it */
};

/* For transactions that are tried again when they collide: the strictest isolation. */
int domain_begin_serializable(struct domain *domain, struct err *err);

extern const struct db_ops db_sqlite_ops;
extern const struct db_ops db_postgres_ops;

#endif
