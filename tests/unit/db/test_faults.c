/* Fault sweep under SQLite: the life of a domain (open, migrate, ticks, checkpoint, migrate again,
 * backup) with every single write, sync, truncation or allocation failing in turn, or the power
 * failing there. After each the next start must find a consistent database with exactly the
 * committed ticks.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "db/db.h"
#include "db/domain.h"
#include "harness/fault_vfs.h"
#include "harness/test.h"

#define ROWS_PER_TICK 3
#define PAYLOAD       700

static const struct migration steps[] = {
    { .number = 1,
      .name = "ticks",
      .sqlite = "CREATE TABLE ticks (tick INTEGER NOT NULL, part INTEGER NOT NULL,"
                " payload TEXT NOT NULL) STRICT;"
                "CREATE INDEX ticks_tick ON ticks (tick, part);" },
    { .number = 2,
      .name = "more",
      .sqlite = "ALTER TABLE ticks ADD COLUMN extra TEXT;"
                "CREATE TABLE other (id INTEGER) STRICT;" },
};

/* Written by the process that dies, read by the one that judges. */
struct progress {
    int tried, acked; /* ticks: commit begun, commit reported as done */
    int backup_ticks; /* acked when a backup was reported as done; -1: none was */
    bool finished;
    struct fault_plan plan;
    unsigned alloc_fired;
};

static int open_at(struct test *t, const char *name, size_t n, enum db_sync sync,
                   struct domain **ret_domain)
{
    const struct domain_config config = {
        .name = "agent",
        .url = arena_printf(&t->arena, "sqlite:%s", test_path(t, name)),
        .migrations = steps,
        .migration_count = n,
        .sync = sync,
        .busy_ms = 200,
    };

    return domain_open(&config, ret_domain, &t->err);
}

static int write_tick(struct domain *domain, int tick, struct err *err)
{
    char payload[PAYLOAD + 1];

    memset(payload, 'a' + tick % 26, PAYLOAD);
    payload[PAYLOAD] = '\0';
    for (int part = 0; part < ROWS_PER_TICK; part++) {
        AUTO(stmt) q = NULL;

        if (db_prepare(domain_db(domain),
                       SQL("INSERT INTO ticks (tick, part, payload) VALUES (?, ?, ?)"), &q,
                       err) < 0)
            return -1;
        stmt_bind_i64(q, tick);
        stmt_bind_i64(q, part);
        stmt_bind_text(q, payload);
        if (stmt_run(q, err) < 0)
            return -1;
    }
    return 0;
}

static int run_tick(struct domain *domain, int tick, struct progress *progress, struct err *err)
{
    if (domain_begin(domain, err) < 0)
        return -1;
    if (write_tick(domain, tick, err) < 0) {
        domain_rollback(domain);
        return -1;
    }
    progress->tried = tick;
    if (domain_commit(domain, err) < 0)
        return -1;
    progress->acked = tick;
    return 0;
}

static int run_ticks(struct domain *domain, int from, int to, struct progress *progress,
                     struct err *err)
{
    for (int tick = from; tick <= to; tick++)
        if (run_tick(domain, tick, progress, err) < 0)
            return -1;
    domain_idle(domain);
    return 0;
}

/* Stops at the first failure, as a daemon would. */
static void live(struct test *t, struct progress *progress)
{
    AUTO(domain) first = NULL;
    AUTO(domain) second = NULL;

    if (open_at(t, "a.sqlite", 1, DB_SYNC_FULL, &first) < 0 ||
        run_ticks(first, 1, 5, progress, &t->err) < 0)
        return;
    domain_free(TAKE(first));
    if (open_at(t, "a.sqlite", 2, DB_SYNC_FULL, &second) < 0 ||
        run_ticks(second, 6, 10, progress, &t->err) < 0)
        return;
    if (domain_backup(second, test_path(t, "copy.sqlite"), NULL, NULL, &t->err) < 0)
        return;
    progress->backup_ticks = progress->acked;
    if (run_ticks(second, 11, 12, progress, &t->err) < 0)
        return;
    progress->finished = true;
}

/* ---- judging ---- */

static int64_t rows_of(struct test *t, struct domain *domain, int tick)
{
    AUTO(stmt) q = NULL;

    ASSERT_OK(
        db_prepare(domain_db(domain),
                   SQL("SELECT count(*) AS n, count(DISTINCT part) AS parts FROM ticks"
                       " WHERE tick = ? AND length(payload) = ? AND substr(payload, 1, 1) = ?"),
                   &q, &t->err));
    stmt_bind_i64(q, tick);
    stmt_bind_i64(q, PAYLOAD);
    stmt_bind_str(q, str_of(&"abcdefghijklmnopqrstuvwxyz"[tick % 26], 1));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT_EQ(stmt_i64(q, "parts"), stmt_i64(q, "n"));
    return stmt_i64(q, "n");
}

/* The judge needs no real syncs, and there are thousands of lives. */
static void install_judge(void)
{
    static struct fault_plan none = { .how = FAULT_NONE };

    fault_vfs_install(&none);
}

static void judge_file(struct test *t, const char *name, int acked, int tried)
{
    AUTO(domain) domain = NULL;
    AUTO(stmt) all = NULL;
    int64_t total = 0;

    install_judge();
    ASSERT_OK(open_at(t, name, 2, DB_SYNC_NORMAL, &domain));
    ASSERT_OK(domain_check(domain, &t->err));
    for (int tick = 1; tick <= tried + 1; tick++) {
        int64_t rows = rows_of(t, domain, tick);

        total += rows;
        if (tick <= acked && rows != ROWS_PER_TICK)
            FAIL("%s: tick %d was acknowledged and has %d rows", name, tick, (int)rows);
        if (tick > tried && rows != 0)
            FAIL("%s: tick %d was never committed and has %d rows", name, tick, (int)rows);
        if (rows != 0 && rows != ROWS_PER_TICK)
            FAIL("%s: tick %d is there in part: %d rows", name, tick, (int)rows);
    }
    ASSERT_OK(db_prepare(domain_db(domain), SQL("SELECT count(*) AS n FROM ticks"), &all, &t->err));
    ASSERT_EQ(stmt_step(all, &t->err), 1);
    ASSERT_EQ(stmt_i64(all, "n"), total);
}

static void judge(struct test *t, const struct progress *progress)
{
    judge_file(t, "a.sqlite", progress->acked, progress->tried);
    if (progress->backup_ticks >= 0)
        judge_file(t, "copy.sqlite", progress->backup_ticks, progress->backup_ticks);
    else if (access(test_path(t, "copy.sqlite"), F_OK) == 0) /* in place, so it is whole */
        judge_file(t, "copy.sqlite", progress->acked, progress->acked);
}

static void remove_files(struct test *t)
{
    DIR *dir = opendir(test_dir(t));

    ASSERT(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (entry->d_name[0] != '.')
            ASSERT_EQ(unlink(test_path(t, entry->d_name)), 0);
    closedir(dir);
}

/* ---- sweeping ---- */

typedef void prepare_fn(struct progress *progress, unsigned nth, const void *arg);

/* In a process of its own: lives with the fault, then the power fails. */
static void die_once(struct test *t, struct progress *progress, prepare_fn *prepare, unsigned nth,
                     const void *arg)
{
    int status;
    pid_t pid;

    *progress = (struct progress){ .backup_ticks = -1 };
    test_dir(t);
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        prepare(progress, nth, arg);
        live(t, progress);
        fault_vfs_power_cut();
    }
    ASSERT(pid > 0 && waitpid(pid, &status, 0) == pid);
    if (status != 0)
        FAIL("fault %u: the process ended with status %d", nth, status);
}

static void prepare_files(struct progress *progress, unsigned nth, const void *arg)
{
    progress->plan = *(const struct fault_plan *)arg;
    progress->plan.nth = nth;
    progress->plan.seed = nth * 7919u + (unsigned)progress->plan.how;
    fault_vfs_install(&progress->plan);
}

static void prepare_memory(struct progress *progress, unsigned nth, const void *arg)
{
    (void)arg;
    progress->plan = (struct fault_plan){ .how = FAULT_NONE, .seed = nth };
    fault_alloc_install(nth, &progress->alloc_fired);
    fault_vfs_install(&progress->plan);
}

static struct progress *share_progress(void)
{
    void *p = mmap(NULL, sizeof(struct progress), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    ASSERT(p != MAP_FAILED);
    return p;
}

/* n = 1, 2, 3 ... until a life passes without meeting the fault. Returns how many lives met it. */
static unsigned sweep(struct test *t, const struct fault_plan *plan)
{
    struct progress *progress = share_progress();

    for (unsigned n = 1;; n++) {
        die_once(t, progress, prepare_files, n, plan);
        judge(t, progress);
        remove_files(t);
        if (!progress->plan.fired) {
            ASSERT(progress->finished);
            munmap(progress, sizeof(*progress));
            return n - 1;
        }
    }
}

TEST(a_life_without_faults_is_whole_also_after_a_power_cut)
{
    struct progress *progress = share_progress();
    const struct fault_plan none = { .how = FAULT_NONE };

    die_once(t, progress, prepare_files, 1, &none);
    ASSERT(progress->finished);
    ASSERT_EQ(progress->acked, 12);
    ASSERT_EQ(progress->backup_ticks, 10);
    judge(t, progress);
}

TEST(every_write_that_fails_leaves_exactly_the_committed_ticks, .timeout_s = 120)
{
    ASSERT(sweep(t, &(struct fault_plan){ .how = FAULT_FAIL, .op = FAULT_WRITE }) > 50);
}

TEST(every_write_that_finds_no_space_leaves_exactly_the_committed_ticks, .timeout_s = 120)
{
    ASSERT(sweep(t, &(struct fault_plan){ .how = FAULT_FULL, .op = FAULT_WRITE }) > 50);
}

TEST(every_write_that_is_torn_leaves_exactly_the_committed_ticks, .timeout_s = 120)
{
    ASSERT(sweep(t, &(struct fault_plan){ .how = FAULT_TEAR, .op = FAULT_WRITE }) > 50);
}

TEST(every_sync_or_truncation_that_fails_leaves_exactly_the_committed_ticks, .timeout_s = 120)
{
    ASSERT(sweep(t, &(struct fault_plan){ .how = FAULT_FAIL, .op = FAULT_SYNC }) > 20);
    ASSERT(sweep(t, &(struct fault_plan){ .how = FAULT_FAIL, .op = FAULT_TRUNCATE }) > 0);
}

TEST(a_power_cut_at_every_operation_leaves_exactly_the_committed_ticks, .timeout_s = 120)
{
    ASSERT(sweep(t, &(struct fault_plan){ .how = FAULT_CUT }) > 100);
}

/* A disk that lies: acknowledged ticks may be gone, but what is there is a beginning of what was
 * written, in whole ticks. */
static void judge_prefix(struct test *t, const struct progress *progress)
{
    AUTO(domain) domain = NULL;
    bool ended = false;

    install_judge();
    ASSERT_OK(open_at(t, "a.sqlite", 2, DB_SYNC_NORMAL, &domain));
    ASSERT_OK(domain_check(domain, &t->err));
    for (int tick = 1; tick <= progress->tried + 1; tick++) {
        int64_t rows = rows_of(t, domain, tick);

        if (rows == 0)
            ended = true;
        else if (ended || rows != ROWS_PER_TICK || tick > progress->tried)
            FAIL("tick %d of %d has %d rows", tick, progress->tried, (int)rows);
    }
}

TEST(log_writes_and_syncs_that_a_lying_disk_drops_lose_only_the_end, .timeout_s = 120)
{
    static const enum fault_op ops[] = { FAULT_WRITE, FAULT_SYNC };
    struct progress *progress = share_progress();

    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        const struct fault_plan plan = { .how = FAULT_DROP, .op = ops[i], .suffix = "-wal" };
        unsigned n = 0;

        do {
            die_once(t, progress, prepare_files, ++n, &plan);
            /* Past a checkpoint the log is not needed any more, or it was lost with it: what then
             * is missing can't be known from what is left. */
            judge_prefix(t, progress);
            remove_files(t);
        } while (progress->plan.fired && n < 40);
        ASSERT(n > 5);
    }
}

TEST(data_that_a_lying_disk_drops_is_found_out_or_harmless, .timeout_s = 120)
{
    const struct fault_plan plan = { .how = FAULT_DROP, .suffix = "a.sqlite" };
    struct progress *progress = share_progress();
    unsigned n = 0, damaged = 0;

    do {
        AUTO(domain) domain = NULL;

        die_once(t, progress, prepare_files, ++n, &plan);
        install_judge();
        if (open_at(t, "a.sqlite", 2, DB_SYNC_NORMAL, &domain) < 0 ||
            domain_check(domain, &t->err) < 0) {
            damaged++;
            if (t->err.code != ERR_INTEGRITY_FAILED && t->err.code != ERR_CONFLICT &&
                t->err.code != ERR_INTERNAL)
                FAIL("drop %u: %s", n, test_err_text(t));
            err_reset(&t->err);
        }
        domain_free(TAKE(domain));
        remove_files(t);
    } while (progress->plan.fired);
    printf("  %u drops, %u found out\n", n - 1, damaged);
    ASSERT(n > 5);
}

/* `make test` takes samples, ever farther apart; `make test-long` all of them. */
TEST(every_allocation_that_fails_leaves_exactly_the_committed_ticks, .timeout_s = 3600)
{
    struct progress *progress = share_progress();
    bool every_one = test_long();
    unsigned n = 1, lives = 0;

    for (;; n += every_one || n < 30 ? 1 : 1 + n / 25) {
        die_once(t, progress, prepare_memory, n, NULL);
        judge(t, progress);
        remove_files(t);
        lives++;
        if (!progress->alloc_fired)
            break;
    }
    ASSERT(progress->finished);
    printf("  %u lives\n", lives);
    ASSERT(every_one ? lives == n && lives > 1000 : lives > 80);
}
