/* db.append: rows of 512 bytes through our surface against a bare sqlite3_step() loop that does the
 * same with the same settings, one row and 100 rows per tick. Both sides take turns in rounds of
 * one run, so that whatever else the machine does hits both.
 *
 * db.pipeline: ticks of 64 inserts on Postgres, queued against one round trip each.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "db/db.h"
#include "db/domain.h"
#include "harness/pg_server.h"

#define ROW_BYTES 512
#define TARGET    0.85
#define ROUNDS    31

static char payload[ROW_BYTES];

static const struct migration steps[] = {
    { .number = 1,
      .name = "rows",
      .sqlite = "CREATE TABLE rows (id INTEGER PRIMARY KEY, at INTEGER NOT NULL,"
                " payload TEXT NOT NULL) STRICT;",
      .postgres = "CREATE TABLE rows (id BIGINT PRIMARY KEY, at BIGINT NOT NULL,"
                  " payload TEXT NOT NULL);" },
};

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "bench-db: %s: %s\n", what, why);
    exit(1);
}

static void must(int r, const struct err *err, const char *what)
{
    char text[ERR_TEXT_MAX + 64];

    if (r < 0)
        die(what, err_format(err, text, sizeof(text)));
}

static double now_s(void)
{
    return (double)clock_mono_ns(clock_system()) / 1e9;
}

/* ---- ours ---- */

static double ours(struct domain *domain, int64_t *next, int ticks, int rows)
{
    struct err err = ERR_INIT;
    double started = now_s();

    for (int i = 0; i < ticks; i++) {
        must(domain_begin(domain, &err), &err, "begin");
        for (int j = 0; j < rows; j++) {
            AUTO(stmt) q = NULL;

            must(db_prepare(domain_db(domain),
                            SQL("INSERT INTO rows (id, at, payload) VALUES (?, ?, ?)"), &q, &err),
                 &err, "prepare");
            stmt_bind_i64(q, (*next)++);
            stmt_bind_i64(q, 1700000000000 + i);
            stmt_bind_str(q, str_of(payload, sizeof(payload)));
            must(stmt_run(q, &err), &err, "insert");
        }
        must(domain_commit(domain, &err), &err, "commit");
    }
    return now_s() - started;
}

/* ---- bare ---- */

struct bare {
    sqlite3 *db;
    sqlite3_stmt *begin, *insert, *commit;
};

static void bare_ok(struct bare *bare, int rc, int wanted)
{
    if (rc != wanted)
        die("sqlite", sqlite3_errmsg(bare->db));
}

static void bare_open(struct bare *bare, const char *path)
{
    static const char set_up[] =
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
        "PRAGMA wal_autocheckpoint=3500; PRAGMA journal_size_limit=8388608; PRAGMA "
        "cell_size_check=ON; PRAGMA temp_store=MEMORY;"
        "CREATE TABLE rows (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, payload TEXT NOT NULL)"
        " STRICT;";

    bare_ok(bare,
            sqlite3_open_v2(path, &bare->db,
                            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL),
            SQLITE_OK);
    bare_ok(bare, sqlite3_exec(bare->db, set_up, NULL, NULL, NULL), SQLITE_OK);
    bare_ok(bare, sqlite3_prepare_v2(bare->db, "BEGIN IMMEDIATE", -1, &bare->begin, NULL),
            SQLITE_OK);
    bare_ok(bare, sqlite3_prepare_v2(bare->db, "COMMIT", -1, &bare->commit, NULL), SQLITE_OK);
    bare_ok(bare,
            sqlite3_prepare_v2(bare->db, "INSERT INTO rows (id, at, payload) VALUES (?, ?, ?)", -1,
                               &bare->insert, NULL),
            SQLITE_OK);
}

static void bare_close(struct bare *bare)
{
    sqlite3_finalize(bare->begin);
    sqlite3_finalize(bare->insert);
    sqlite3_finalize(bare->commit);
    sqlite3_close(bare->db);
}

static void bare_step(struct bare *bare, sqlite3_stmt *stmt)
{
    bare_ok(bare, sqlite3_step(stmt), SQLITE_DONE);
    sqlite3_reset(stmt);
}

static double bare_run(struct bare *bare, int64_t *next, int ticks, int rows)
{
    double started = now_s();

    for (int i = 0; i < ticks; i++) {
        bare_step(bare, bare->begin);
        for (int j = 0; j < rows; j++) {
            sqlite3_bind_int64(bare->insert, 1, (*next)++);
            sqlite3_bind_int64(bare->insert, 2, 1700000000000 + i);
            sqlite3_bind_text(bare->insert, 3, payload, sizeof(payload), SQLITE_STATIC);
            bare_step(bare, bare->insert);
        }
        bare_step(bare, bare->commit);
    }
    return now_s() - started;
}

/* ---- figures ---- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof(*values), by_size);
    return values[n / 2];
}

/* The middle of many short rounds on each side: a slow sync or a busy machine does not decide. */
static void append(const char *dir, int rows, int ticks)
{
    char url[300], path[300];
    struct domain_config config = {
        .name = "agent", .url = url, .migrations = steps, .migration_count = ARRAY_LEN(steps)
    };
    double our_rates[ROUNDS], bare_rates[ROUNDS];
    int64_t our_next = 1, bare_next = 1;
    struct err err = ERR_INIT;
    struct bare bare = { NULL };
    AUTO(domain) domain = NULL;
    double value, yardstick;

    snprintf(url, sizeof(url), "sqlite:%s/ours-%d.sqlite", dir, rows);
    snprintf(path, sizeof(path), "%s/bare-%d.sqlite", dir, rows);
    must(domain_open(&config, &domain, &err), &err, "open");
    bare_open(&bare, path);
    ours(domain, &our_next, ticks / 4 + 1, rows);
    bare_run(&bare, &bare_next, ticks / 4 + 1, rows);
    for (int i = 0; i < ROUNDS; i++) {
        double a, b;

        if (i % 2) {
            a = ours(domain, &our_next, ticks, rows);
            b = bare_run(&bare, &bare_next, ticks, rows);
        } else {
            b = bare_run(&bare, &bare_next, ticks, rows);
            a = ours(domain, &our_next, ticks, rows);
        }
        our_rates[i] = ticks * rows / a;
        bare_rates[i] = ticks * rows / b;
    }
    bare_close(&bare);
    value = median(our_rates, ROUNDS);
    yardstick = median(bare_rates, ROUNDS);
    printf("{\"bench\":\"db.append\",\"rows_per_tick\":%d,\"value\":%.0f,\"unit\":\"rows/s\","
           "\"yardstick\":\"bare sqlite3_step loop\",\"yardstick_value\":%.0f,\"ratio\":%.3f,"
           "\"target\":%.2f,\"ok\":%s}\n",
           rows, value, yardstick, value / yardstick, TARGET,
           value >= TARGET * yardstick ? "true" : "false");
    fflush(stdout);
}

/* Waits for each insert: what the pipeline saves. */
static double one_by_one(struct domain *domain, int64_t *next, int ticks, int rows)
{
    struct err err = ERR_INIT;
    double started = now_s();

    for (int i = 0; i < ticks; i++) {
        must(domain_begin(domain, &err), &err, "begin");
        for (int j = 0; j < rows; j++) {
            AUTO(stmt) q = NULL;

            must(db_prepare(domain_db(domain),
                            SQL("INSERT INTO rows (id, at, payload) VALUES (?, ?, ?)"), &q, &err),
                 &err, "prepare");
            stmt_bind_i64(q, (*next)++);
            stmt_bind_i64(q, i);
            stmt_bind_str(q, str_of(payload, sizeof(payload)));
            must(stmt_step(q, &err), &err, "insert");
        }
        must(domain_commit(domain, &err), &err, "commit");
    }
    return now_s() - started;
}

/* Against a server as the tests start it: without syncs, so what is seen is round trips. */
static void pipeline(void)
{
    enum { ROWS = 64, TICKS = 60, PG_ROUNDS = 5 };
    char url[128];
    struct domain_config config = {
        .name = "bench", .url = url, .migrations = steps, .migration_count = ARRAY_LEN(steps)
    };
    const char *why = NULL, *socket_dir = pg_server_dir(&why);
    double queued[PG_ROUNDS], single[PG_ROUNDS];
    struct err err = ERR_INIT;
    AUTO(domain) domain = NULL;
    int64_t next = 1;

    if (!socket_dir) {
        printf("{\"bench\":\"db.pipeline\",\"skipped\":\"Postgres does not start: %s\"}\n", why);
        return;
    }
    snprintf(url, sizeof(url), "postgresql:///postgres?host=%s&user=dormouse", socket_dir);
    must(domain_open(&config, &domain, &err), &err, "open Postgres");
    for (int i = 0; i < PG_ROUNDS; i++) {
        queued[i] = TICKS / ours(domain, &next, TICKS, ROWS);
        single[i] = TICKS / one_by_one(domain, &next, TICKS, ROWS);
    }
    printf("{\"bench\":\"db.pipeline\",\"rows_per_tick\":%d,\"value\":%.0f,\"unit\":\"ticks/s\","
           "\"yardstick\":\"a round trip per insert\",\"yardstick_value\":%.0f,\"ratio\":%.2f}\n",
           ROWS, median(queued, PG_ROUNDS), median(single, PG_ROUNDS),
           median(queued, PG_ROUNDS) / median(single, PG_ROUNDS));
}

int main(void)
{
    char dir[] = "bench-db-XXXXXX", command[64];

    memset(payload, 'p', sizeof(payload));
    /* Where it is run, not in /tmp: that may be no disk at all. */
    if (!mkdtemp(dir))
        die("mkdtemp", dir);
    append(dir, 1, 60);
    append(dir, 100, 12);
    pipeline();
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command) != 0;
}
