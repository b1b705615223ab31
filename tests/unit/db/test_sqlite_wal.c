/* The log that is written a transaction at a time: how many writes that takes, and that nobody
 * finds less in it than SQLite alone would have put there.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sys/wait.h>
#include <unistd.h>

#include "db/db.h"
#include "db/domain.h"
#include "harness/fault_vfs.h"
#include "harness/test.h"

#define BIG_ROWS  3000 /* of a page's half each: more than SQLite keeps of one transaction */
#define ROW_BYTES 2000

static const struct migration steps[] = {
    { .number = 1,
      .name = "rows",
      .sqlite = "CREATE TABLE rows (id INTEGER PRIMARY KEY, payload TEXT NOT NULL) STRICT;"
                "CREATE INDEX rows_payload ON rows (payload);" },
};

static int open_as(struct test *t, enum db_sync sync, bool read_only, struct domain **ret_domain)
{
    const struct domain_config config = {
        .name = "agent",
        .url = arena_printf(&t->arena, "sqlite:%s", test_path(t, "a.sqlite")),
        .migrations = steps,
        .migration_count = ARRAY_LEN(steps),
        .read_only = read_only,
        .sync = sync,
        .busy_ms = 2000,
    };

    return domain_open(&config, ret_domain, &t->err);
}

static int add_row(struct domain *domain, int64_t id, struct err *err)
{
    char payload[ROW_BYTES];
    AUTO(stmt) q = NULL;

    memset(payload, 'a' + (int)(id % 26), sizeof(payload));
    if (db_prepare(domain_db(domain), SQL("INSERT INTO rows (id, payload) VALUES (?, ?)"), &q,
                   err) < 0)
        return -1;
    stmt_bind_i64(q, id);
    stmt_bind_str(q, str_of(payload, sizeof(payload)));
    return stmt_run(q, err);
}

/* Every row a second time: pages that are in the log already change again. */
static int change_all(struct domain *domain, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("UPDATE rows SET payload = substr(payload, 2) || 'z' WHERE id % 2 = 0"), &q,
                   err) < 0)
        return -1;
    return stmt_run(q, err);
}

static int add_rows(struct domain *domain, int64_t first, int rows, struct err *err)
{
    for (int i = 0; i < rows; i++)
        if (add_row(domain, first + i, err) < 0)
            return -1;
    return rows < BIG_ROWS ? 0 : change_all(domain, err);
}

static int tick(struct domain *domain, int64_t first, int rows, struct err *err)
{
    if (domain_begin(domain, err) < 0)
        return -1;
    if (add_rows(domain, first, rows, err) < 0) {
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

static void expect_whole(struct test *t, int64_t rows)
{
    AUTO(domain) domain = NULL;

    ASSERT_OK(open_as(t, DB_SYNC_FULL, false, &domain));
    ASSERT_OK(domain_check(domain, &t->err));
    ASSERT_EQ(count_rows(t, domain), rows);
}

static unsigned writes_of_tick(struct test *t, struct domain *domain, struct fault_plan *plan,
                               int64_t first, int rows)
{
    /* The 0th of them never comes: they are counted only. */
    *plan = (struct fault_plan){ .how = FAULT_FAIL, .op = FAULT_WRITE, .suffix = "-wal" };
    ASSERT_OK(tick(domain, first, rows, &t->err));
    return plan->seen;
}

TEST(a_commit_is_one_write_however_many_pages_it_has)
{
    static const enum db_sync syncs[] = { DB_SYNC_FULL, DB_SYNC_NORMAL };
    static struct fault_plan plan;

    fault_vfs_install(&plan);
    for (size_t i = 0; i < ARRAY_LEN(syncs); i++) {
        AUTO(domain) domain = NULL;
        int64_t first = 1000 * (int64_t)i;

        plan = (struct fault_plan){ .how = FAULT_NONE };
        ASSERT_OK(open_as(t, syncs[i], false, &domain));
        ASSERT_OK(tick(domain, first, 1, &t->err));
        ASSERT_EQ(writes_of_tick(t, domain, &plan, first + 1, 1), 1);
        ASSERT_EQ(writes_of_tick(t, domain, &plan, first + 2, 10), 1);
        /* Some 170 pages: what one write takes, and no more of them. */
        ASSERT(writes_of_tick(t, domain, &plan, first + 12, 100) <= 8);
        domain_idle(domain);
        /* The log begins anew: its own header, then the first frame's, then the rest. */
        ASSERT(writes_of_tick(t, domain, &plan, first + 200, 3) <= 3);
        ASSERT_EQ(writes_of_tick(t, domain, &plan, first + 300, 3), 1);
    }
}

TEST(a_transaction_beyond_memory_is_read_back_and_seen_by_others_once_committed)
{
    static const enum db_sync syncs[] = { DB_SYNC_FULL, DB_SYNC_NORMAL };

    for (size_t i = 0; i < ARRAY_LEN(syncs); i++) {
        int64_t before = (int64_t)i * (BIG_ROWS + 2);
        AUTO(domain) writer = NULL;
        AUTO(domain) reader = NULL;

        ASSERT_OK(open_as(t, syncs[i], false, &writer));
        ASSERT_OK(tick(writer, before, 1, &t->err));
        ASSERT_OK(open_as(t, syncs[i], true, &reader));
        ASSERT_OK(domain_begin(writer, &t->err));
        ASSERT_OK(add_rows(writer, before + 1, BIG_ROWS, &t->err));
        ASSERT_EQ(count_rows(t, writer), before + 1 + BIG_ROWS);
        ASSERT_EQ(count_rows(t, reader), before + 1);
        ASSERT_OK(domain_commit(writer, &t->err));
        ASSERT_EQ(count_rows(t, reader), before + 1 + BIG_ROWS);
        ASSERT_OK(domain_check(reader, &t->err));
        ASSERT_OK(tick(writer, before + 1 + BIG_ROWS, 1, &t->err));
        ASSERT_EQ(count_rows(t, reader), before + 2 + BIG_ROWS);
    }
}

TEST(what_a_large_transaction_left_in_the_log_is_overwritten_after_its_rollback)
{
    AUTO(domain) domain = NULL;

    ASSERT_OK(open_as(t, DB_SYNC_FULL, false, &domain));
    ASSERT_OK(tick(domain, 0, 5, &t->err));
    for (int round = 0; round < 3; round++) {
        ASSERT_OK(domain_begin(domain, &t->err));
        ASSERT_OK(add_rows(domain, 1000, BIG_ROWS, &t->err));
        domain_rollback(domain);
        ASSERT_EQ(count_rows(t, domain), 5 + round * 2);
        ASSERT_OK(tick(domain, 5 + round * 2, 2, &t->err));
    }
    domain_free(TAKE(domain));
    expect_whole(t, 11);
}

/* As after kill -9: nothing is closed, what is in the process alone is gone. */
TEST(a_commit_is_in_the_file_before_it_returns)
{
    static const enum db_sync syncs[] = { DB_SYNC_FULL, DB_SYNC_NORMAL };

    test_dir(t); /* before the first fork: all write to the same file */
    for (size_t i = 0; i < ARRAY_LEN(syncs); i++) {
        int64_t first = (int64_t)i * 10000;
        int status;
        pid_t pid = fork();

        ASSERT(pid >= 0);
        if (pid == 0) {
            struct domain *domain;

            if (open_as(t, syncs[i], false, &domain) < 0 || tick(domain, first, 3, &t->err) < 0 ||
                tick(domain, first + 3, BIG_ROWS, &t->err) < 0 ||
                tick(domain, first + 5000, 1, &t->err) < 0 || domain_begin(domain, &t->err) < 0 ||
                add_rows(domain, first + 6000, BIG_ROWS, &t->err) < 0)
                _exit(1);
            _exit(0);
        }
        ASSERT_EQ(waitpid(pid, &status, 0), pid);
        ASSERT_EQ(status, 0);
        expect_whole(t, ((int64_t)i + 1) * (BIG_ROWS + 4));
    }
}

TEST(a_large_transaction_with_any_write_failing_leaves_what_was_before)
{
    static const enum fault_how hows[] = { FAULT_FAIL, FAULT_FULL, FAULT_TEAR };
    static struct fault_plan plan;
    unsigned nth = 1, failed = 0;

    fault_vfs_install(&plan);
    for (;; nth += 1 + nth / 2) {
        AUTO(domain) domain = NULL;
        int r;

        unlink(test_path(t, "a.sqlite"));
        plan = (struct fault_plan){ .how = FAULT_NONE };
        ASSERT_OK(open_as(t, DB_SYNC_FULL, false, &domain));
        ASSERT_OK(tick(domain, 0, 5, &t->err));
        plan = (struct fault_plan){
            .how = hows[nth % 3], .op = FAULT_WRITE, .nth = nth, .suffix = "-wal"
        };
        r = tick(domain, 5, BIG_ROWS, &t->err);
        if (!plan.fired) {
            ASSERT_EQ(r, 0);
            break;
        }
        ASSERT_FAILS(r, ERR_STORAGE_FAILED);
        ASSERT_EQ(domain_health(domain), DOMAIN_READ_ONLY);
        ASSERT_EQ(count_rows(t, domain), 5);
        plan = (struct fault_plan){ .how = FAULT_NONE };
        domain_free(TAKE(domain));
        expect_whole(t, 5);
        failed++;
    }
    ASSERT(failed > 5);
}
