/* What only SQLite has: the write-ahead log's size, online backup, health after failed writes and
 * syncs, damage, and kill -9.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "db/db.h"
#include "db/db_int.h"
#include "db/domain.h"
#include "db/engine.h"
#include "db/sqlite_int.h"
#include "harness/fault_vfs.h"
#include "harness/test.h"

static const struct migration steps[] = {
    { .number = 1,
      .name = "rows",
      .sqlite = "CREATE TABLE rows (id INTEGER PRIMARY KEY, payload TEXT NOT NULL) STRICT;"
                "CREATE TABLE parts (row_id INTEGER REFERENCES rows (id)) STRICT;" },
};

static int open_file(struct test *t, const char *name, bool read_only, enum db_sync sync,
                     struct domain **ret_domain)
{
    const struct domain_config config = {
        .name = "agent",
        .url = arena_printf(&t->arena, "sqlite:%s", test_path(t, name)),
        .migrations = steps,
        .migration_count = ARRAY_LEN(steps),
        .read_only = read_only,
        .sync = sync,
        .busy_ms = 2000,
    };

    return domain_open(&config, ret_domain, &t->err);
}

static int add_row(struct domain *domain, int64_t id, size_t n, struct err *err)
{
    static char payload[4096];
    AUTO(stmt) q = NULL;

    memset(payload, 'p', sizeof(payload));
    if (db_prepare(domain_db(domain), SQL("INSERT INTO rows (id, payload) VALUES (?, ?)"), &q,
                   err) < 0)
        return -1;
    stmt_bind_i64(q, id);
    stmt_bind_str(q, str_of(payload, n));
    return stmt_run(q, err);
}

static int tick(struct domain *domain, int64_t first, int rows, size_t n, struct err *err)
{
    if (domain_begin(domain, err) < 0)
        return -1;
    for (int i = 0; i < rows; i++)
        if (add_row(domain, first + i, n, err) < 0) {
            domain_rollback(domain);
            return -1;
        }
    return domain_commit(domain, err);
}

static int64_t count_rows(struct test *t, struct domain *domain)
{
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(domain), SQL("SELECT count(*) AS n FROM rows"), &q, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    return stmt_i64(q, "n");
}

static int64_t file_size(struct test *t, const char *name)
{
    struct stat st;

    return stat(test_path(t, name), &st) == 0 ? st.st_size : 0;
}

/* ---- the write-ahead log ---- */

TEST(the_log_stays_small_under_a_long_write_load)
{
    AUTO(domain) domain = NULL;
    int64_t largest = 0;

    ASSERT_OK(open_file(t, "a.sqlite", false, DB_SYNC_NORMAL, &domain));
    for (int64_t i = 0; i < 1200; i++) {
        ASSERT_OK(tick(domain, i * 20, 20, 2000, &t->err));
        if (file_size(t, "a.sqlite-wal") > largest)
            largest = file_size(t, "a.sqlite-wal");
    }
    ASSERT(file_size(t, "a.sqlite") > 32 * (int64_t)MIB);
    ASSERT(largest < 16 * (int64_t)MIB);
    domain_idle(domain);
    ASSERT_EQ(file_size(t, "a.sqlite-wal"), 0);
    ASSERT_EQ(count_rows(t, domain), 24000);
}

TEST(a_slow_reader_lets_the_log_grow_and_it_shrinks_when_he_lets_go)
{
    AUTO(domain) writer = NULL;
    AUTO(domain) reader = NULL;
    int64_t id = 0, held;

    ASSERT_OK(open_file(t, "a.sqlite", false, DB_SYNC_NORMAL, &writer));
    ASSERT_OK(tick(writer, id++, 1, 100, &t->err));
    ASSERT_OK(open_file(t, "a.sqlite", true, DB_SYNC_NORMAL, &reader));
    ASSERT_OK(domain_begin(reader, &t->err));
    ASSERT_EQ(count_rows(t, reader), 1);
    for (int i = 0; i < 600; i++, id += 20) {
        ASSERT_OK(tick(writer, id, 20, 2000, &t->err));
        if (i % 50 == 0)
            domain_idle(writer); /* must neither wait nor cut the log under the reader */
    }
    held = file_size(t, "a.sqlite-wal");
    ASSERT(held > 24 * (int64_t)MIB);
    ASSERT_EQ(count_rows(t, reader), 1);
    ASSERT_OK(domain_commit(reader, &t->err));

    /* Still under load: the log is copied, begun anew and cut to its limit. */
    for (int i = 0; i < 100; i++, id += 20)
        ASSERT_OK(tick(writer, id, 20, 2000, &t->err));
    ASSERT(file_size(t, "a.sqlite-wal") <= (int64_t)(16 * MIB));
    domain_idle(writer);
    ASSERT_EQ(file_size(t, "a.sqlite-wal"), 0);
    ASSERT_EQ(count_rows(t, reader), id);
}

TEST(idling_does_not_wait_for_another_writer)
{
    AUTO(domain) first = NULL;
    AUTO(domain) second = NULL;
    struct timespec a, b;

    ASSERT_OK(open_file(t, "a.sqlite", false, DB_SYNC_NORMAL, &first));
    ASSERT_OK(open_file(t, "a.sqlite", false, DB_SYNC_NORMAL, &second));
    ASSERT_OK(tick(first, 1, 1, 100, &t->err));
    ASSERT_OK(domain_begin(second, &t->err));
    ASSERT_OK(add_row(second, 2, 100, &t->err));
    clock_gettime(CLOCK_MONOTONIC, &a);
    domain_idle(first);
    clock_gettime(CLOCK_MONOTONIC, &b);
    ASSERT((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000 < 1000);
    ASSERT_OK(domain_commit(second, &t->err));
    /* The time to wait for a writer is what it was. */
    ASSERT_OK(tick(first, 3, 1, 100, &t->err));
    ASSERT_EQ(count_rows(t, first), 3);
}

/* ---- backup ---- */

struct seen {
    int calls, done, all;
    struct domain *writer;
    struct err err;
};

static void on_progress(int done, int all, void *arg)
{
    struct seen *seen = arg;

    seen->calls++;
    seen->done = done;
    seen->all = all;
    /* Another connection writes in the middle of it. */
    if (seen->writer)
        tick(seen->writer, 100000 + seen->calls, 1, 100, &seen->err);
}

TEST(a_backup_is_one_state_while_others_write)
{
    AUTO(domain) domain = NULL;
    AUTO(domain) writer = NULL;
    AUTO(domain) copy = NULL;
    struct seen seen = { .err = ERR_INIT };

    ASSERT_OK(open_file(t, "a.sqlite", false, DB_SYNC_NORMAL, &domain));
    for (int64_t i = 0; i < 50; i++)
        ASSERT_OK(tick(domain, i * 20, 20, 4000, &t->err));
    ASSERT_OK(open_file(t, "a.sqlite", false, DB_SYNC_NORMAL, &writer));
    seen.writer = writer;
    ASSERT_OK(domain_backup(domain, test_path(t, "copy.sqlite"), on_progress, &seen, &t->err));
    ASSERT(seen.calls > 3);
    ASSERT_EQ(seen.done, seen.all);
    ASSERT_EQ(count_rows(t, domain), 1000 + seen.calls);
    ASSERT_EQ(file_size(t, "copy.sqlite-wal"), 0);
    ASSERT_OK(open_file(t, "copy.sqlite", false, DB_SYNC_NORMAL, &copy));
    ASSERT_OK(domain_check(copy, &t->err));
    ASSERT_EQ(count_rows(t, copy), 1000);
}

static void put_a_file_there(int done, int all, void *path)
{
    (void)done, (void)all;
    test_write_file(path, "mine", 4);
}

TEST(a_backup_does_not_replace_a_file_that_came_meanwhile)
{
    AUTO(domain) domain = NULL;
    char *path = arena_printf(&t->arena, "%s/precious", test_dir(t));
    char *too_long = arena_alloc(&t->arena, 5000, 1);

    ASSERT_OK(open_file(t, "a.sqlite", false, DB_SYNC_NORMAL, &domain));
    ASSERT_FAILS(domain_backup(domain, path, put_a_file_there, path, &t->err), ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "exists already");
    ASSERT_STR(test_read_file(t, path), "mine");
    memset(too_long, 'n', 4999);
    too_long[4999] = '\0';
    ASSERT_FAILS(domain_backup(domain, too_long, NULL, NULL, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "too long");
}

TEST(a_backup_does_not_replace_a_file)
{
    AUTO(domain) domain = NULL;

    ASSERT_OK(open_file(t, "a.sqlite", false, DB_SYNC_NORMAL, &domain));
    test_write_file(test_path(t, "precious"), "mine", 4);
    ASSERT_FAILS(domain_backup(domain, test_path(t, "precious"), NULL, NULL, &t->err),
                 ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "exists already");
    ASSERT_STR(test_read_file(t, test_path(t, "precious")), "mine");
    ASSERT_FAILS(domain_backup(domain, test_path(t, "no/such/dir"), NULL, NULL, &t->err),
                 ERR_STORAGE_FAILED);
}

static int count_files(struct test *t)
{
    DIR *dir = opendir(test_dir(t));
    int n = 0;

    ASSERT(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

TEST(a_backup_that_fails_anywhere_leaves_nothing_behind)
{
    static struct fault_plan plan = { .how = FAULT_NONE };
    AUTO(domain) domain = NULL;
    unsigned failures = 0;

    fault_vfs_install(&plan);
    ASSERT_OK(open_file(t, "a.sqlite", false, DB_SYNC_NORMAL, &domain));
    ASSERT_OK(tick(domain, 1, 20, 4000, &t->err));
    for (unsigned op = FAULT_WRITE; op <= FAULT_SYNC; op++)
        for (unsigned nth = 1;; nth++) {
            int files = count_files(t);

            plan = (struct fault_plan){ .how = FAULT_FULL, .op = op, .nth = nth };
            if (domain_backup(domain, test_path(t, "copy"), NULL, NULL, &t->err) == 0) {
                ASSERT_EQ(unlink(test_path(t, "copy")), 0);
                if (!plan.fired)
                    break;
                continue; /* the journal of a new file matters to nobody */
            }
            ASSERT(plan.fired);
            ASSERT_EQ(t->err.code, ERR_STORAGE_FAILED);
            ASSERT_CONTAINS(test_err_text(t), test_path(t, "copy"));
            ASSERT_EQ(count_files(t), files);
            /* The domain itself is none the worse. */
            ASSERT_EQ(domain_health(domain), DOMAIN_OK);
            failures++;
        }
    ASSERT(failures > 20);
}

/* ---- health ---- */

static struct domain *open_with_fault(struct test *t, struct fault_plan *plan)
{
    struct domain *domain = NULL;

    fault_vfs_install(plan);
    ASSERT_OK(open_file(t, "a.sqlite", false, DB_SYNC_FULL, &domain));
    ASSERT_OK(tick(domain, 1, 1, 100, &t->err));
    return domain;
}

TEST(a_full_disk_leaves_a_domain_that_can_be_read)
{
    static struct fault_plan plan;
    AUTO(domain) domain = open_with_fault(t, &plan);

    plan = (struct fault_plan){ .how = FAULT_FULL, .op = FAULT_WRITE, .nth = 1 };
    ASSERT_FAILS(tick(domain, 2, 1, 100, &t->err), ERR_STORAGE_FAILED);
    ASSERT_EQ(domain_health(domain), DOMAIN_READ_ONLY);
    ASSERT(!domain_in_transaction(domain));
    ASSERT_EQ(count_rows(t, domain), 1);
    ASSERT_FAILS(tick(domain, 3, 1, 100, &t->err), ERR_STORAGE_FAILED);
    ASSERT_EQ(count_rows(t, domain), 1);
    domain_idle(domain);
}

TEST(a_write_error_leaves_a_domain_that_can_be_read)
{
    static struct fault_plan plan;
    AUTO(domain) domain = open_with_fault(t, &plan);

    plan = (struct fault_plan){ .how = FAULT_FAIL, .op = FAULT_WRITE, .nth = 1 };
    ASSERT_FAILS(tick(domain, 2, 1, 100, &t->err), ERR_STORAGE_FAILED);
    ASSERT_EQ(domain_health(domain), DOMAIN_READ_ONLY);
    ASSERT_EQ(count_rows(t, domain), 1);
}

TEST(a_failed_sync_is_the_end_of_a_domain)
{
    static struct fault_plan plan;
    AUTO(domain) domain = open_with_fault(t, &plan);

    plan = (struct fault_plan){ .how = FAULT_FAIL, .op = FAULT_SYNC, .nth = 1, .suffix = "-wal" };
    ASSERT_FAILS(tick(domain, 2, 1, 100, &t->err), ERR_STORAGE_FAILED);
    ASSERT_EQ(domain_health(domain), DOMAIN_LOST);
    ASSERT_FAILS(domain_begin(domain, &t->err), ERR_STORAGE_FAILED);
    ASSERT_CONTAINS(test_err_text(t), "sync failed");
    /* Here the row is not seen, and yet the next start may find it: that is why. */
    ASSERT_EQ(count_rows(t, domain), 1);
}

TEST(a_failed_sync_of_a_checkpoint_is_the_end_of_a_domain)
{
    static struct fault_plan plan;
    AUTO(domain) domain = open_with_fault(t, &plan);
    const struct fault_plan failing = {
        .how = FAULT_FAIL, .op = FAULT_SYNC, .nth = 1, .suffix = "a.sqlite"
    };
    int64_t id = 2;

    plan = failing;
    domain_idle(domain);
    ASSERT_EQ(domain_health(domain), DOMAIN_LOST);
    domain_free(TAKE(domain));

    /* The same when it comes by itself, because the log is long: the commit holds all the same. */
    plan = (struct fault_plan){ .how = FAULT_NONE };
    ASSERT_OK(open_file(t, "a.sqlite", false, DB_SYNC_NORMAL, &domain));
    plan = failing;
    while (domain_health(domain) == DOMAIN_OK && id < 4000)
        ASSERT_OK(tick(domain, id++, 1, 4000, &t->err));
    ASSERT_EQ(domain_health(domain), DOMAIN_LOST);
    ASSERT_FAILS(domain_begin(domain, &t->err), ERR_STORAGE_FAILED);
    ASSERT_EQ(count_rows(t, domain), id - 1);
}

TEST(a_failed_write_in_the_middle_of_a_savepoint_is_not_forgotten)
{
    static struct fault_plan plan;
    AUTO(domain) domain = open_with_fault(t, &plan);
    int r = 0;

    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(domain_savepoint(domain, &t->err));
    plan = (struct fault_plan){ .how = FAULT_FULL, .op = FAULT_WRITE, .nth = 1 };
    /* Until the cache is full and pages have to go to the disk early. */
    for (int64_t i = 2; r == 0 && i < 4000; i++)
        r = add_row(domain, i, 4000, &t->err);
    ASSERT_EQ(t->err.code, ERR_STORAGE_FAILED);
    domain_rollback_to(domain);
    ASSERT(domain_commit(domain, &t->err) < 0 || domain_health(domain) == DOMAIN_READ_ONLY);
    ASSERT(!domain_in_transaction(domain));
    ASSERT_EQ(domain_health(domain), DOMAIN_READ_ONLY);
    ASSERT_EQ(count_rows(t, domain), 1);
}

TEST(every_result_code_has_its_meaning)
{
    static const struct {
        int rc;
        enum err_code code;
        enum domain_health health;
    } kinds[] = {
        { SQLITE_IOERR_FSYNC, ERR_STORAGE_FAILED, DOMAIN_LOST },
        { SQLITE_IOERR_DIR_FSYNC, ERR_STORAGE_FAILED, DOMAIN_LOST },
        { SQLITE_IOERR_READ, ERR_STORAGE_FAILED, DOMAIN_OK },
        { SQLITE_IOERR_SHORT_READ, ERR_INTEGRITY_FAILED, DOMAIN_OK },
        { SQLITE_IOERR_CORRUPTFS, ERR_INTEGRITY_FAILED, DOMAIN_OK },
        { SQLITE_IOERR_NOMEM, ERR_STORAGE_FAILED, DOMAIN_OK },
        { SQLITE_IOERR_WRITE, ERR_STORAGE_FAILED, DOMAIN_READ_ONLY },
        { SQLITE_IOERR_TRUNCATE, ERR_STORAGE_FAILED, DOMAIN_READ_ONLY },
        { SQLITE_FULL, ERR_STORAGE_FAILED, DOMAIN_READ_ONLY },
        { SQLITE_BUSY, ERR_TIMEOUT, DOMAIN_OK },
        { SQLITE_BUSY_SNAPSHOT, ERR_TIMEOUT, DOMAIN_OK },
        { SQLITE_LOCKED, ERR_TIMEOUT, DOMAIN_OK },
        { SQLITE_CONSTRAINT_UNIQUE, ERR_CONFLICT, DOMAIN_OK },
        { SQLITE_CONSTRAINT_DATATYPE, ERR_SCHEMA_VIOLATION, DOMAIN_OK },
        { SQLITE_MISMATCH, ERR_SCHEMA_VIOLATION, DOMAIN_OK },
        { SQLITE_NOMEM, ERR_STORAGE_FAILED, DOMAIN_OK },
        { SQLITE_CORRUPT_INDEX, ERR_INTEGRITY_FAILED, DOMAIN_OK },
        { SQLITE_NOTADB, ERR_INTEGRITY_FAILED, DOMAIN_OK },
        { SQLITE_TOOBIG, ERR_TOO_LARGE, DOMAIN_OK },
        { SQLITE_INTERRUPT, ERR_CANCELLED, DOMAIN_OK },
        { SQLITE_ERROR, ERR_INTERNAL, DOMAIN_OK },
    };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct sqlite sqlite = { .path = (char[]){ "x.sqlite" } };

        ASSERT_FAILS(sqlite_fail(&sqlite, kinds[i].rc, &t->err), kinds[i].code);
        ASSERT_EQ(sqlite.db.health, kinds[i].health);
        /* What is worse stays. */
        sqlite_fail(&sqlite, SQLITE_IOERR_FSYNC, &t->err);
        sqlite_fail(&sqlite, kinds[i].rc, &t->err);
        ASSERT_EQ(sqlite.db.health, DOMAIN_LOST);
    }
}

TEST(a_program_of_our_own_keeps_no_account_of_sqlites_memory)
{
    AUTO(domain) domain = NULL;

    db_own_process();
    ASSERT_OK(open_file(t, "a.sqlite", false, DB_SYNC_NORMAL, &domain));
    ASSERT_OK(tick(domain, 1, 3, 1000, &t->err));
    ASSERT_EQ(sqlite3_memory_used(), 0);
}

TEST(the_library_that_runs_is_named_and_lacks_nothing)
{
    ASSERT_TEXT(db_sqlite_version(), sqlite3_libversion());
    ASSERT(db_sqlite_lacks() == NULL);
}

/* ---- damage ---- */

TEST(damage_is_found_by_the_check)
{
    AUTO(domain) domain = NULL;
    int fd;

    ASSERT_OK(open_file(t, "a.sqlite", false, DB_SYNC_NORMAL, &domain));
    for (int64_t i = 0; i < 20; i++)
        ASSERT_OK(tick(domain, i * 20, 20, 4000, &t->err));
    ASSERT_OK(domain_check(domain, &t->err));
    domain_free(TAKE(domain));
    fd = open(test_path(t, "a.sqlite"), O_WRONLY);
    ASSERT(fd >= 0);
    for (off_t at = 40 * 4096; at < 60 * 4096; at += 4096)
        ASSERT_EQ(pwrite(fd, "\x0d\xff\xff\xff\xff\xff\xff\xff", 8, at), 8);
    close(fd);
    ASSERT_OK(open_file(t, "a.sqlite", false, DB_SYNC_NORMAL, &domain));
    ASSERT_FAILS(domain_check(domain, &t->err), ERR_INTEGRITY_FAILED);
    ASSERT_CONTAINS(test_err_text(t), "integrity_check");
}

TEST(a_reference_to_nothing_is_found_by_the_check)
{
    AUTO(domain) domain = NULL;
    sqlite3 *raw;

    ASSERT_OK(open_file(t, "a.sqlite", false, DB_SYNC_NORMAL, &domain));
    ASSERT_FAILS(db_exec(domain_db(domain), SQL("INSERT INTO parts VALUES (77)"), &t->err),
                 ERR_CONFLICT);
    ASSERT_EQ(sqlite3_open(test_path(t, "a.sqlite"), &raw), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(raw, "INSERT INTO parts VALUES (77)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(raw);
    ASSERT_FAILS(domain_check(domain, &t->err), ERR_INTEGRITY_FAILED);
    ASSERT_CONTAINS(test_err_text(t), "parts");
}

TEST(a_schema_from_elsewhere_gets_no_trust)
{
    AUTO(domain) domain = NULL;
    sqlite3 *raw;

    ASSERT_OK(open_file(t, "a.sqlite", false, DB_SYNC_NORMAL, &domain));
    domain_free(TAKE(domain));
    ASSERT_EQ(sqlite3_open(test_path(t, "a.sqlite"), &raw), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(raw,
                           "CREATE VIEW trap AS SELECT load_extension('/tmp/evil.so') AS n;"
                           "CREATE TRIGGER bait AFTER INSERT ON rows BEGIN SELECT"
                           " fts3_tokenizer('x', x'00'); END;",
                           NULL, NULL, NULL),
              SQLITE_OK);
    sqlite3_close(raw);
    ASSERT_OK(open_file(t, "a.sqlite", false, DB_SYNC_NORMAL, &domain));
    ASSERT(db_exec(domain_db(domain), SQL("SELECT n FROM trap"), &t->err) < 0);
    ASSERT(db_exec(domain_db(domain), SQL("PRAGMA writable_schema = ON"), &t->err) < 0 ||
           db_exec(domain_db(domain), SQL("DELETE FROM sqlite_master"), &t->err) < 0);
    ASSERT(db_exec(domain_db(domain), SQL("ATTACH 'other.sqlite' AS other"), &t->err) < 0);
    ASSERT(access("other.sqlite", F_OK) != 0);
}

TEST(a_database_in_memory_works_for_tests)
{
    const struct domain_config config = { .name = "agent",
                                          .url = "sqlite::memory:",
                                          .migrations = steps,
                                          .migration_count = ARRAY_LEN(steps) };
    AUTO(domain) domain = NULL;

    ASSERT_OK(domain_open(&config, &domain, &t->err));
    ASSERT_OK(tick(domain, 1, 3, 100, &t->err));
    domain_idle(domain);
    ASSERT_OK(domain_check(domain, &t->err));
    ASSERT_EQ(count_rows(t, domain), 3);
}

/* ---- kill -9 ---- */

/* Writes ticks of two rows for as long as it lives and tells each one that was committed. */
static _Noreturn void write_for_ever(struct test *t, int out)
{
    struct domain *domain = NULL;
    int64_t next = 0;

    if (open_file(t, "a.sqlite", false, DB_SYNC_FULL, &domain) < 0)
        _exit(3);
    {
        AUTO(stmt) q = NULL;

        if (db_prepare(domain_db(domain), SQL("SELECT coalesce(max(id), -1) AS top FROM rows"), &q,
                       &t->err) < 0 ||
            stmt_step(q, &t->err) != 1)
            _exit(4);
        next = stmt_i64(q, "top") + 1;
    }
    for (;; next += 2) {
        if (tick(domain, next, 2, 512, &t->err) < 0)
            _exit(5);
        if (next % 16 == 0)
            domain_idle(domain);
        if (write(out, &next, sizeof(next)) != sizeof(next))
            _exit(6);
    }
}

static void nap_us(unsigned us)
{
    nanosleep(&(struct timespec){ .tv_nsec = (long)us * 1000 }, NULL);
}

TEST(two_hundred_kills_lose_no_acknowledged_write_and_double_none, .timeout_s = 120)
{
    AUTO(domain) domain = NULL;
    int64_t top = -2, acked = 0, total;
    unsigned luck = 12345;

    test_dir(t); /* before the first fork: all write to the same file */

    for (int kills = 0; kills < 200; kills++) {
        int pipe_ends[2], status;
        int64_t told;
        pid_t pid;

        ASSERT_EQ(pipe(pipe_ends), 0);
        fflush(NULL);
        pid = fork();
        if (pid == 0) {
            close(pipe_ends[0]);
            write_for_ever(t, pipe_ends[1]);
        }
        close(pipe_ends[1]);
        /* Half are killed after their first tick, the others at any moment, also while opening. */
        luck = luck * 1103515245u + 12345u;
        if (kills % 2 && read(pipe_ends[0], &told, sizeof(told)) == sizeof(told)) {
            top = told;
            acked++;
        }
        nap_us((luck >> 16) % 20000);
        kill(pid, SIGKILL);
        while (read(pipe_ends[0], &told, sizeof(told)) == sizeof(told)) {
            if (told != top + 2 && told != top + 4)
                FAIL("after tick %lld came tick %lld", (long long)top, (long long)told);
            top = told;
            acked++;
        }
        close(pipe_ends[0]);
        ASSERT(waitpid(pid, &status, 0) == pid);
        ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    ASSERT_OK(open_file(t, "a.sqlite", false, DB_SYNC_FULL, &domain));
    ASSERT_OK(domain_check(domain, &t->err));
    /* Ids are primary keys without gaps: every acknowledged tick is there, whole, and once; one
     * more may have been committed without anyone being told. */
    total = count_rows(t, domain);
    ASSERT_EQ(total % 2, 0);
    ASSERT(acked >= 100);
    ASSERT(total >= top + 2 && total <= top + 4);
    AUTO(stmt) q = NULL;
    ASSERT_OK(db_prepare(domain_db(domain), SQL("SELECT max(id) AS top FROM rows"), &q, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT_EQ(stmt_i64(q, "top"), total - 1);
    printf("  %lld ticks acknowledged, %lld rows\n", (long long)acked, (long long)total);
}
