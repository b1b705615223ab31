/* A database that fails when a test says so: an engine around another one.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_DB_DB_FAULT_H
#define DORMOUSE_DB_DB_FAULT_H

struct db;

enum db_fault_at {
    DB_FAULT_NEVER = 0,
    DB_FAULT_PREPARE,
    DB_FAULT_STEP, /* stmt_step() and stmt_run() */
    DB_FAULT_BEGIN,
    DB_FAULT_COMMIT,       /* nothing was committed */
    DB_FAULT_COMMIT_AFTER, /* it was committed, and yet the answer is a failure */
};

enum db_fault_kind {
    DB_FAULT_BUSY = 0,
    DB_FAULT_CONFLICT,
    DB_FAULT_FULL, /* read-only from now on */
    DB_FAULT_SYNC, /* lost */
    DB_FAULT_CORRUPT,
    DB_FAULT_GONE, /* the connection ended */
};

/* Filled by the test, which may change it at any time; given in domain_config.fault and alive as
 * long as the domain. */
struct db_fault {
    enum db_fault_at at;
    enum db_fault_kind kind;
    unsigned nth;   /* 1: the next one; 0: none. Counts down. */
    unsigned times; /* how many in a row; 0 means 1 */
    unsigned fired; /* how often it has failed */
};

/* Takes inner over; db_close() closes both. */
struct db *db_fault_wrap(struct db *inner, struct db_fault *fault);

#endif
