/* A new file: whole from its first moment, closed to others, and cheap.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/db.h"
#include "db/domain.h"
#include "db/sqlite_int.h"
#include "harness/fault_vfs.h"
#include "harness/test.h"

static const struct migration steps[] = {
    { .number = 1, .name = "rows", .sqlite = "CREATE TABLE rows (id INTEGER PRIMARY KEY) STRICT" },
};

static struct domain *open_new(struct test *t, const char *path)
{
    const struct domain_config config = {
        .name = "agent",
        .url = arena_printf(&t->arena, "sqlite:%s", path),
        .migrations = steps,
        .migration_count = ARRAY_LEN(steps),
    };
    struct domain *domain = NULL;

    ASSERT_OK(domain_open(&config, &domain, &t->err));
    return domain;
}

static int count_entries(const char *path)
{
    DIR *dir = opendir(path);
    int n = 0;

    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 2;
}

TEST(a_new_file_is_a_whole_database_and_nothing_is_left_beside_it)
{
    const char *path = test_path(t, "new.sqlite");
    sqlite3 *handle = NULL;
    sqlite3_stmt *q = NULL;
    struct stat st;
    struct str bytes;

    umask(0);
    ASSERT_OK(sqlite_create(path, &t->err));
    ASSERT_EQ(stat(path, &st), 0);
    ASSERT_EQ(st.st_mode & 0777, 0600);
    ASSERT_EQ(count_entries(test_path(t, ".")), 1);
    bytes = test_read_file(t, path);
    ASSERT(str_starts(bytes, STR("SQLite format 3")));
    ASSERT_EQ(bytes.n % 512, 0);
    ASSERT_EQ(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    ASSERT_EQ(sqlite3_prepare_v2(handle, "PRAGMA journal_mode", -1, &q, NULL), SQLITE_OK);
    ASSERT_EQ(sqlite3_step(q), SQLITE_ROW);
    ASSERT_TEXT((const char *)sqlite3_column_text(q, 0), "wal");
    sqlite3_finalize(q);
    sqlite3_close(handle);
}

TEST(a_file_that_is_there_is_left_as_it_is)
{
    const char *path = test_path(t, "there.sqlite");

    test_write_file(path, "whatever", 8);
    ASSERT_OK(sqlite_create(path, &t->err));
    ASSERT_STR(test_read_file(t, path), "whatever");
}

/* /proc has no files without names, and lets nobody create any. */
TEST(a_place_where_nothing_can_be_made_is_named)
{
    ASSERT_FAILS(sqlite_create("/proc/self/new.sqlite", &t->err), ERR_INTERNAL);
    ASSERT_CONTAINS(err_message(&t->err, 0), "create /proc/self/new.sqlite: ");
    ASSERT_FAILS(sqlite_create(test_path(t, "absent/new.sqlite"), &t->err), ERR_INTERNAL);
}

/* The data's own page is synced before it has a name, which SQLite never sees; the log is synced
 * by the first tick, with everything before it. */
TEST(a_new_domain_costs_no_sync_of_sqlite_and_its_first_tick_syncs)
{
    struct fault_plan plan = { .how = FAULT_FAIL, .op = FAULT_SYNC, .nth = 1000 };
    struct domain *domain;
    unsigned before;

    fault_vfs_install(&plan);
    domain = open_new(t, test_path(t, "new.sqlite"));
    ASSERT_EQ(plan.seen, 0);
    for (int i = 1; i <= 2; i++) {
        AUTO(stmt) q = NULL;

        before = plan.seen;
        ASSERT_OK(domain_begin(domain, &t->err));
        ASSERT_OK(
            db_prepare(domain_db(domain), SQL("INSERT INTO rows (id) VALUES (?)"), &q, &t->err));
        stmt_bind_i64(q, i);
        ASSERT_OK(stmt_run(q, &t->err));
        ASSERT_OK(domain_commit(domain, &t->err));
        ASSERT_EQ(plan.seen, before + 1);
    }
    domain_free(domain);
}
