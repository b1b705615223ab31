/* A domain: one database (a SQLite file, or a Postgres schema) with its migrations, opened by the
 * daemon and carried by the loop's ticks. This header has no SQL in it; stores get their
 * connection with domain_db().
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_DB_DOMAIN_H
#define DORMOUSE_DB_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/err.h"

struct clock;
struct db;
struct db_fault;
struct domain;
struct rand;

/* A numbered step of a domain's schema; one text per engine, embedded in the binary. */
struct migration {
    int number;         /* 1, 2, 3 ... without gaps */
    const char *name;   /* "runs" */
    const char *sqlite; /* several statements */
    const char *postgres;
};

enum db_sync {
    DB_SYNC_FULL = 0, /* a commit is on the disk when it returns */
    DB_SYNC_NORMAL,   /* a power cut may lose the last commits, never the order */
};

struct domain_config {
    const char *name;                   /* "agent", "journal", "index" */
    const char *url;                    /* sqlite:PATH or postgresql://... */
    const struct migration *migrations; /* may be NULL with migration_count 0 */
    size_t migration_count;
    enum db_sync sync;
    bool read_only;         /* never migrates, never creates */
    int busy_ms;            /* how long to wait for another writer; 0: 5000 */
    struct clock *clock;    /* NULL: the system's */
    struct rand *rand;      /* for pauses between tries; NULL: the system's */
    struct db_fault *fault; /* for tests: fails on purpose (db/db_fault.h); else NULL */
};

/* Opens, creates where needed and migrates (inside a transaction, after a backup when there was
 * data). Refused when the data is newer than the binary or an applied migration was changed. */
int domain_open(const struct domain_config *config, struct domain **ret_domain, struct err *err);
void domain_free(struct domain *domain);
AUTO_DEFINE(domain)

const char *domain_name(const struct domain *domain);
struct db *domain_db(struct domain *domain);
/* May other processes write to it while this one has it open? */
bool domain_is_shared(const struct domain *domain);

/* What a failed write or commit means (docs/design/0002-failed-commits.md). */
enum domain_health {
    DOMAIN_OK = 0,
    DOMAIN_AWAY,      /* the database server can't be reached; each use tries again */
    DOMAIN_READ_ONLY, /* a write failed and was rolled back; reading goes on until domain_mend() */
    DOMAIN_LOST,      /* a sync failed: what is on the disk is unknown until the next start */
};
enum domain_health domain_health(const struct domain *domain);
const char *domain_health_name(enum domain_health health); /* "ok", "away", "read_only", "lost" */
/* Tries to write, or to reach the server, where that failed earlier. 0: the domain is healthy. Not
 * inside a transaction. */
int domain_mend(struct domain *domain, struct err *err);
/* A number that the domains of one data directory share; 0: it has none yet. Postgres has none. */
int domain_identity(struct domain *domain, int64_t *ret_identity, struct err *err);
int domain_set_identity(struct domain *domain, int64_t identity, struct err *err);
/* A small read, and whether the file may be written: finds out what nothing else has used yet. */
int domain_probe(struct domain *domain, struct err *err);

/* Transactions of a tick, and savepoints inside it (they nest). After a failed commit nothing of
 * the transaction is visible to this process, but err says `storage_failed`: it may have become
 * durable all the same. */
int domain_begin(struct domain *domain, struct err *err);
int domain_commit(struct domain *domain, struct err *err);
void domain_rollback(struct domain *domain);
bool domain_in_transaction(const struct domain *domain);
int domain_savepoint(struct domain *domain, struct err *err);
int domain_release(struct domain *domain, struct err *err);
/* As domain_release(), without waiting for what its last writes say: that is known when
 * domain_settle() or domain_commit() returns. When it fails, all of the transaction must be rolled
 * back. Saves a round trip where it is the only one. */
int domain_leave(struct domain *domain, struct err *err);
int domain_settle(struct domain *domain, struct err *err);
void domain_rollback_to(struct domain *domain);

/* Runs body in a transaction of its own and again, with backoff, when another writer got in the
 * way (busy, serialization failure, deadlock), within a bounded budget. */
int domain_retry(struct domain *domain, int (*body)(struct db *db, void *arg, struct err *err),
                 void *arg, struct err *err);

/* Housekeeping when there is nothing else to do: keeps the write-ahead log small. Never blocks. */
void domain_idle(struct domain *domain);

/* A consistent copy while others write (SQLite: the online backup API to a new file, which must
 * not exist; then synced). progress may be NULL. */
int domain_backup(struct domain *domain, const char *path,
                  void (*progress)(int done_pages, int all_pages, void *arg), void *arg,
                  struct err *err);
/* Structure, foreign keys and migration checksums. The first problem found is in err. */
int domain_check(struct domain *domain, struct err *err);
int domain_schema_version(struct domain *domain, int *ret_version, struct err *err);

#endif
