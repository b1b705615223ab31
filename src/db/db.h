/* One SQL surface over SQLite and Postgres. Only store files (*_store.c) include this.
 *
 * The dialect is the subset that both engines run: `?` placeholders, INSERT ... ON CONFLICT,
 * RETURNING, integers for times, text for ids and JSON. What differs between the engines stays
 * behind struct db_ops. A connection belongs to one thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_DB_DB_H
#define DORMOUSE_DB_DB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"

struct db;
struct stmt;

/* A literal, so that no text from outside can become SQL. */
struct sql {
    const char *text;
};
#define SQL(literal) ((struct sql){ "" literal "" })

/* Gives a statement ready to be bound. Statements are cached by the literal's address: preparing
 * again is cheap, and stmt_free() hands it back to the cache. The same literal may be open twice.
 */
int db_prepare(struct db *db, struct sql sql, struct stmt **ret_stmt, struct err *err);
void stmt_free(struct stmt *stmt);
AUTO_DEFINE(stmt)

/* Bind the next placeholder, from the left. Text and blobs must stay valid until the statement is
 * freed or reset. A NULL pointer binds NULL. */
void stmt_bind_i64(struct stmt *stmt, int64_t value);
void stmt_bind_f64(struct stmt *stmt, double value);
void stmt_bind_bool(struct stmt *stmt, bool value);
void stmt_bind_text(struct stmt *stmt, const char *text);
void stmt_bind_str(struct stmt *stmt, struct str text);
void stmt_bind_blob(struct stmt *stmt, struct str bytes);
void stmt_bind_null(struct stmt *stmt);
/* NULL when it is 0 or empty. */
void stmt_bind_some_i64(struct stmt *stmt, int64_t value);
void stmt_bind_some_str(struct stmt *stmt, struct str text);

/* <0 error, 0 no more rows, 1 a row. Big results are streamed, not held. */
int stmt_step(struct stmt *stmt, struct err *err);
#ifdef __clang_analyzer__ /* so that it follows no path on which there is more than a row */
static inline int stmt_stepped(int r)
{
    if (r > 1)
        __builtin_unreachable();
    return r;
}
#define stmt_step(...) stmt_stepped((stmt_step)(__VA_ARGS__))
#endif
/* Runs a statement whose rows nobody wants. On Postgres it may only be queued: its failure is
 * then reported by the next stmt_step() or by the commit. */
int stmt_run(struct stmt *stmt, struct err *err);
/* Ready to be bound and stepped again. */
void stmt_reset(struct stmt *stmt);
/* Rows changed by the last finished statement; on Postgres it waits for a queued one. */
int64_t stmt_changes(struct stmt *stmt);

/* Columns of the current row, by name; a name that is not there is a BUG. Views are valid until
 * the next step, reset or free. NULL reads as 0, 0.0, false or STR_NONE. */
int64_t stmt_i64(struct stmt *stmt, const char *column);
double stmt_f64(struct stmt *stmt, const char *column);
bool stmt_bool(struct stmt *stmt, const char *column);
struct str stmt_str(struct stmt *stmt, const char *column);
struct str stmt_blob(struct stmt *stmt, const char *column);
bool stmt_is_null(struct stmt *stmt, const char *column);

/* One statement without parameters or rows. */
int db_exec(struct db *db, struct sql sql, struct err *err);

#endif
