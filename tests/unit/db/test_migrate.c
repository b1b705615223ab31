/* Migrations on both engines: order, checksums, refusals, copies, and old data.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "db/db.h"
#include "db/db_int.h"
#include "db/migrate.h"
#include "db/migrations.h"
#include "harness/db_test.h"

#define SAME(text) .sqlite = text, .postgres = text

static const struct migration steps[] = {
    { .number = 1, .name = "one", SAME("CREATE TABLE one (id INT PRIMARY KEY);") },
    { .number = 2,
      .name = "two",
      SAME("CREATE TABLE two (id INT);\nINSERT INTO two VALUES (22);") },
    { .number = 3, .name = "three", SAME("ALTER TABLE one ADD COLUMN extra TEXT;") },
    { .number = 4, .name = "four", SAME("CREATE TABLE four (id INT);") },
    { .number = 5, .name = "five", SAME("CREATE TABLE five (id INT);") },
    { .number = 6, .name = "six", SAME("CREATE TABLE six (id INT);") },
};

static int try_open(struct test *t, const struct migration *migrations, size_t n)
{
    const struct domain_config config = {
        .name = "agent", .url = db_test_url(t), .migrations = migrations, .migration_count = n
    };
    AUTO(domain) domain = NULL;

    return domain_open(&config, &domain, &t->err);
}

static int64_t count(struct test *t, struct domain *domain, struct sql sql)
{
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(domain), sql, &q, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    return stmt_i64(q, "n");
}

DB_TEST(steps_are_applied_once_and_recorded)
{
    struct clock_fake clock;
    struct domain_config config = {
        .name = "agent", .url = db_test_url(t), .migrations = steps, .migration_count = 2
    };
    char checksum[SHA256_TEXT_SIZE];

    clock_fake_init(&clock, 1700000000123);
    config.clock = &clock.clock;
    for (int i = 0; i < 3; i++) {
        AUTO(domain) domain = NULL;
        int version = -1;

        ASSERT_OK(domain_open(&config, &domain, &t->err));
        ASSERT_OK(domain_schema_version(domain, &version, &t->err));
        ASSERT_EQ(version, 2);
        ASSERT_EQ(count(t, domain, SQL("SELECT count(*) AS n FROM two")), 1);
    }
    AUTO(domain) domain = db_test_open(t, steps, 2);
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(domain), SQL("SELECT * FROM schema_migrations ORDER BY number"),
                         &q, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT_EQ(stmt_i64(q, "number"), 1);
    ASSERT_STR(stmt_str(q, "name"), "one");
    ASSERT_EQ(stmt_i64(q, "applied_at"), 1700000000123);
    migration_checksum(steps[0].sqlite, checksum);
    ASSERT_STR(stmt_str(q, "checksum"), checksum);
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT_EQ(stmt_step(q, &t->err), 0);
}

DB_TEST(later_steps_are_added_to_data_that_is_there)
{
    for (size_t n = 1; n <= ARRAY_LEN(steps); n++) {
        AUTO(domain) domain = db_test_open(t, steps, n);
        int version;

        if (n == 1)
            ASSERT_OK(db_exec(domain_db(domain), SQL("INSERT INTO one (id) VALUES (11)"), &t->err));
        ASSERT_OK(domain_schema_version(domain, &version, &t->err));
        ASSERT_EQ(version, n);
        ASSERT_EQ(count(t, domain, SQL("SELECT count(*) AS n FROM one WHERE id = 11")), 1);
    }
    AUTO(domain) domain = db_test_open(t, steps, ARRAY_LEN(steps));
    ASSERT_EQ(count(t, domain, SQL("SELECT count(*) AS n FROM one WHERE extra IS NULL")), 1);
    ASSERT_OK(domain_check(domain, &t->err));
}

DB_TEST(data_of_a_newer_program_is_refused)
{
    ASSERT_OK(try_open(t, steps, 3));
    ASSERT_FAILS(try_open(t, steps, 2), ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "schema version 3");
    ASSERT_CONTAINS(test_err_text(t), "newer Dormouse");
    ASSERT_OK(try_open(t, steps, 3));
}

DB_TEST(a_changed_text_of_an_applied_step_is_refused)
{
    struct migration changed[2] = { steps[0], steps[1] };

    ASSERT_OK(try_open(t, steps, 2));
    changed[0].sqlite = changed[0].postgres = "CREATE TABLE one (id INT PRIMARY KEY, more INT);";
    ASSERT_FAILS(try_open(t, changed, 2), ERR_INTEGRITY_FAILED);
    ASSERT_CONTAINS(test_err_text(t), "migration 1 (one)");
    /* Comments, blank lines and white space at line ends may change. */
    changed[0].sqlite = changed[0].postgres =
        "-- the first table\r\n\n   -- really\nCREATE TABLE one (id INT PRIMARY KEY);  \r\n\n";
    ASSERT_OK(try_open(t, changed, 2));
}

DB_TEST(a_failing_step_leaves_nothing_of_the_whole_migration)
{
    struct migration broken[3] = { steps[0], steps[1], steps[2] };

    ASSERT_OK(try_open(t, steps, 1));
    broken[2].sqlite = broken[2].postgres =
        "CREATE TABLE half (id INT); CREATE TABLE half (id INT);";
    ASSERT_FAILS(try_open(t, broken, 3), ERR_INTERNAL);
    ASSERT_CONTAINS(test_err_text(t), "migration 3 (three)");
    {
        AUTO(domain) domain = db_test_open(t, steps, 1);
        AUTO(stmt) q = NULL;
        int r = db_prepare(domain_db(domain), SQL("SELECT count(*) AS n FROM two"), &q, &t->err);

        ASSERT(r < 0 || stmt_step(q, &t->err) < 0);
    }
    ASSERT_OK(try_open(t, steps, 3));
}

DB_TEST(a_foreign_database_is_not_taken_over)
{
    static const struct migration other[] = {
        { .number = 1,
          .name = "x",
          SAME("CREATE TABLE precious (id INT);"
               "DROP TABLE schema_migrations;"
               "CREATE TABLE schema_migrations (number INT, name TEXT,"
               " checksum TEXT, applied_at BIGINT);") },
    };

    ASSERT_OK(try_open(t, other, 1));
    {
        AUTO(domain) domain = db_test_open(t, NULL, 0);

        ASSERT_OK(db_exec(domain_db(domain), SQL("DROP TABLE schema_migrations"), &t->err));
    }
    ASSERT_FAILS(try_open(t, steps, 1), ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "not a database of Dormouse");
}

DB_TEST(a_gap_in_the_records_is_damage)
{
    ASSERT_OK(try_open(t, steps, 3));
    {
        AUTO(domain) domain = db_test_open(t, NULL, 0);

        ASSERT_OK(db_exec(domain_db(domain), SQL("DELETE FROM schema_migrations WHERE number = 2"),
                          &t->err));
    }
    ASSERT_FAILS(try_open(t, steps, 3), ERR_INTEGRITY_FAILED);
    ASSERT_CONTAINS(test_err_text(t), "lists step 3 where step 2 belongs");
}

DB_TEST(a_reader_does_not_migrate)
{
    const struct domain_config config = { .name = "agent",
                                          .url = db_test_url(t),
                                          .migrations = steps,
                                          .migration_count = 2,
                                          .read_only = true };
    AUTO(domain) domain = NULL;

    ASSERT_OK(try_open(t, steps, 1));
    ASSERT_FAILS(domain_open(&config, &domain, &t->err), ERR_VERSION_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "schema version 1 and needs 2");
}

DB_TEST(processes_that_start_together_migrate_once)
{
    pid_t pids[6];

    db_test_url(t);
    for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            int r = try_open(t, steps, ARRAY_LEN(steps));

            if (r < 0)
                fprintf(stderr, "%s\n", test_err_text(t));
            _exit(r < 0);
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
        int status;

        ASSERT(waitpid(pids[i], &status, 0) == pids[i]);
        ASSERT_EQ(status, 0);
    }
    AUTO(domain) domain = db_test_open(t, steps, ARRAY_LEN(steps));
    ASSERT_EQ(count(t, domain, SQL("SELECT count(*) AS n FROM two")), 1);
    ASSERT_EQ(count(t, domain, SQL("SELECT count(*) AS n FROM schema_migrations")), 6);
}

/* ---- the copy that is made first ---- */

static bool is_there(struct test *t, const char *name)
{
    return access(test_path(t, name), F_OK) == 0;
}

TEST(the_data_is_copied_before_a_migration_and_three_copies_stay)
{
    struct domain_config config = {
        .name = "agent",
        .url = arena_printf(&t->arena, "sqlite:%s", test_path(t, "a.sqlite")),
        .migrations = steps,
    };

    for (size_t n = 1; n <= ARRAY_LEN(steps); n++) {
        AUTO(domain) domain = NULL;

        config.migration_count = n;
        ASSERT_OK(domain_open(&config, &domain, &t->err));
        if (n == 1)
            ASSERT(!is_there(t, "a.sqlite.before-v1"));
        else
            ASSERT(is_there(t, arena_printf(&t->arena, "a.sqlite.before-v%zu", n)));
    }
    ASSERT(!is_there(t, "a.sqlite.before-v2") && !is_there(t, "a.sqlite.before-v3"));
    ASSERT(is_there(t, "a.sqlite.before-v4") && is_there(t, "a.sqlite.before-v5"));

    AUTO(domain) old = NULL;
    int version;

    config.url = arena_printf(&t->arena, "sqlite:%s", test_path(t, "a.sqlite.before-v5"));
    config.migration_count = 4;
    ASSERT_OK(domain_open(&config, &old, &t->err));
    ASSERT_OK(domain_schema_version(old, &version, &t->err));
    ASSERT_EQ(version, 4);
    ASSERT_OK(domain_check(old, &t->err));
}

TEST(the_copy_is_of_the_old_data_when_several_processes_migrate)
{
    struct domain_config config = { .name = "agent", .migrations = steps };

    for (int round = 0; round < 4; round++) {
        const char *file = arena_printf(&t->arena, "%s/%d.sqlite", test_dir(t), round);
        AUTO(domain) old = NULL;
        AUTO(domain) copy = NULL;
        pid_t pids[5];

        config.url = arena_printf(&t->arena, "sqlite:%s", file);
        config.migration_count = 1;
        ASSERT_OK(domain_open(&config, &old, &t->err));
        domain_free(TAKE(old));
        config.migration_count = 2;
        for (size_t i = 0; i < ARRAY_LEN(pids); i++)
            if ((pids[i] = fork()) == 0) {
                AUTO(domain) domain = NULL;

                _exit(domain_open(&config, &domain, &t->err) < 0);
            }
        for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
            int status;

            ASSERT(waitpid(pids[i], &status, 0) == pids[i]);
            ASSERT_EQ(status, 0);
        }
        config.url = arena_printf(&t->arena, "sqlite:%s.before-v2", file);
        config.migration_count = 1; /* the copy of version 2 would be refused */
        ASSERT_OK(domain_open(&config, &copy, &t->err));
    }
}

TEST(database_files_are_for_their_owner_alone)
{
    struct domain_config config = {
        .name = "agent",
        .url = arena_printf(&t->arena, "sqlite:%s", test_path(t, "a.sqlite")),
        .migrations = steps,
        .migration_count = 1,
    };
    static const char *const names[] = { "a.sqlite", "a.sqlite-wal", "a.sqlite-shm" };
    AUTO(domain) domain = NULL;
    struct stat st;

    umask(0);
    ASSERT_OK(domain_open(&config, &domain, &t->err));
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        ASSERT_EQ(stat(test_path(t, names[i]), &st), 0);
        ASSERT_EQ(st.st_mode & 0777, 0600);
    }
}

/* ---- what was released ---- */

/* Every released version of every domain lies in tests/fixtures/db as the SQL that a dump of it
 * gives. It must come forward with its data; a version without a fixture fails here. */
static const struct released {
    const char *name;
    const struct migration *migrations;
    const size_t *count;
    bool only_sqlite;
} released[] = {
    { "agent", migrations_agent, &migrations_agent_count, false },
    { "journal", migrations_journal, &migrations_journal_count, false },
    { "index", migrations_index, &migrations_index_count, true },
};

static void load_fixture(struct test *t, const char *name, const char *url, size_t version)
{
    const struct domain_config config = { .name = name, .url = url };
    const char *path =
        arena_printf(&t->arena, "%s/tests/fixtures/db/%s-v%zu.%s.sql", test_source_root(), name,
                     version, db_test_is_postgres(t) ? "postgres" : "sqlite");
    struct str text = test_read_file(t, path);
    const char *copy = arena_copy(&t->arena, text.p, text.n);
    AUTO(domain) domain = NULL;

    if (db_test_is_postgres(t)) {
        db_test_admin(
            t, arena_printf(&t->arena,
                            "SET client_min_messages = warning; DROP SCHEMA IF EXISTS %s CASCADE",
                            name));
        db_test_admin(t, copy);
        return;
    }
    ASSERT_OK(domain_open(&config, &domain, &t->err));
    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(domain_db(domain)->ops->script(domain_db(domain), copy, &t->err));
    ASSERT_OK(domain_commit(domain, &t->err));
}

static void bring_forward(struct test *t, const struct released *of, size_t from)
{
    const char *url = db_test_is_postgres(t) ? db_test_url(t)
                                             : arena_printf(&t->arena, "sqlite:%s/%s-%zu.sqlite",
                                                            test_dir(t), of->name, from);
    const struct domain_config config = {
        .name = of->name, .url = url, .migrations = of->migrations, .migration_count = *of->count
    };
    AUTO(domain) domain = NULL;
    AUTO(stmt) q = NULL;
    int now;

    load_fixture(t, of->name, url, from);
    ASSERT_OK(domain_open(&config, &domain, &t->err));
    ASSERT_OK(domain_schema_version(domain, &now, &t->err));
    ASSERT_EQ(now, *of->count);
    ASSERT_OK(domain_check(domain, &t->err));
    ASSERT_OK(db_prepare(domain_db(domain), SQL("SELECT value FROM meta WHERE key = 'fixture'"), &q,
                         &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT_STR(stmt_str(q, "value"), "released");
}

DB_TEST(data_of_every_released_version_comes_forward)
{
    for (size_t i = 0; i < ARRAY_LEN(released); i++)
        for (size_t version = 1; version <= *released[i].count; version++)
            if (!released[i].only_sqlite || !db_test_is_postgres(t))
                bring_forward(t, &released[i], version);
}

/* A rating of the first of August that was typed in February, and one of an entry. */
DB_TEST(ratings_that_came_forward_count_for_what_they_rate)
{
    const char *url = db_test_is_postgres(t)
                          ? db_test_url(t)
                          : arena_printf(&t->arena, "sqlite:%s/rated.sqlite", test_dir(t));
    const struct domain_config config = {
        .name = "journal", .url = url, .migrations = migrations_journal, .migration_count = 2
    };
    struct domain_config newest = config;
    AUTO(domain) domain = NULL;
    AUTO(stmt) q = NULL;
    static const char rows[] =
        "INSERT INTO entries (id, kind, at, created_at, updated_at, vector_clock, host_n, counter)"
        " VALUES ('run', 'workout', 5000, 7000, 7000, '{}', 1, 92);"
        "INSERT INTO ratings (id, target_type, target_id, dimension, value, rated_at, created_at,"
        " updated_at, vector_clock, host_n, counter) VALUES"
        " ('1', 'entry', 'run', 'joy', 3, 7000, 7000, 7000, '{}', 1, 93),"
        " ('2', 'entry', 'run', 'mood', 3, 6000, 7000, 7000, '{}', 1, 94),"
        " ('3', 'dayPlan', 'dayplan-2025-08-01', 'joy', 3, 7000, 7000, 7000, '{}', 1, 95),"
        " ('4', 'task', 'gone', 'joy', 3, 7000, 7000, 7000, '{}', 1, 96)";
    static const int64_t wanted[] = { 5000, 6000, INT64_C(1754044200000), 7000 };

    load_fixture(t, "journal", url, 2);
    ASSERT_OK(domain_open(&config, &domain, &t->err));
    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(domain_db(domain)->ops->script(domain_db(domain), rows, &t->err));
    ASSERT_OK(domain_commit(domain, &t->err));
    domain_free(domain);
    domain = NULL;
    newest.migration_count = migrations_journal_count;
    ASSERT_OK(domain_open(&newest, &domain, &t->err));
    ASSERT_OK(db_prepare(domain_db(domain), SQL("SELECT rated_at FROM ratings ORDER BY id"), &q,
                         &t->err));
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        ASSERT_EQ(stmt_step(q, &t->err), 1);
        ASSERT_EQ(stmt_i64(q, "rated_at"), wanted[i]);
    }
}

/* Lists of open runs go by ended_at from then on: what had ended without it must not be among them.
 */
DB_TEST(runs_that_had_ended_are_not_open_after_they_came_forward)
{
    const char *url = db_test_is_postgres(t)
                          ? db_test_url(t)
                          : arena_printf(&t->arena, "sqlite:%s/runs.sqlite", test_dir(t));
    const struct domain_config config = { .name = "agent",
                                          .url = url,
                                          .migrations = migrations_agent,
                                          .migration_count = migrations_agent_count };
    AUTO(domain) domain = NULL;
    AUTO(stmt) q = NULL;

    load_fixture(t, "agent", url, 2);
    ASSERT_OK(domain_open(&config, &domain, &t->err));
    ASSERT_OK(db_prepare(domain_db(domain),
                         SQL("SELECT count(*) AS runs, count(ended_at) AS ended FROM runs"
                             " WHERE status = 'done'"),
                         &q, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT_EQ(stmt_i64(q, "runs"), 1);
    ASSERT_EQ(stmt_i64(q, "ended"), 1);
}

static void load_more(struct test *t, const char *url, const char *sql)
{
    const struct domain_config config = { .name = "agent", .url = url };
    AUTO(domain) domain = NULL;

    if (db_test_is_postgres(t)) {
        db_test_admin(t, arena_printf(&t->arena, "SET search_path = agent; %s", sql));
        return;
    }
    ASSERT_OK(domain_open(&config, &domain, &t->err));
    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(domain_db(domain)->ops->script(domain_db(domain), sql, &t->err));
    ASSERT_OK(domain_commit(domain, &t->err));
}

/* Among the cursors until then: of a subscription that is there, of one that is gone, of none. */
DB_TEST(skips_are_counted_on_after_they_came_forward)
{
    const char *url = db_test_is_postgres(t)
                          ? db_test_url(t)
                          : arena_printf(&t->arena, "sqlite:%s/skips.sqlite", test_dir(t));
    const struct domain_config config = { .name = "agent",
                                          .url = url,
                                          .migrations = migrations_agent,
                                          .migration_count = migrations_agent_count };
    AUTO(domain) domain = NULL;
    AUTO(stmt) q = NULL;
    AUTO(stmt) cursors = NULL;

    load_fixture(t, "agent", url, 7);
    load_more(t, url,
              "INSERT INTO agent_subscriptions (n, id, agent_n, source, created_at, updated_at,"
              " deleted_at, host_n, counter) VALUES (12, 's12', 1, 'journal', 1, 1, NULL, 1, 90),"
              " (13, 's13', 1, 'journal', 1, 1, 2, 1, 91);"
              "INSERT INTO wake_cursors (domain, txid, n, updated_at) VALUES"
              " ('journal', 3, 4, 5), ('skip:12:predicate', 10, 7, 20), ('skip:12:own', 11, 8, 21),"
              " ('skip:13:own', 1, 1, 1), ('skip:14:own', 1, 1, 1);");
    ASSERT_OK(domain_open(&config, &domain, &t->err));
    ASSERT_OK(db_prepare(domain_db(domain),
                         SQL("SELECT subscription_n, outcome, count AS many, first_at, last_at"
                             " FROM subscription_skips ORDER BY outcome"),
                         &q, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT_STR(stmt_str(q, "outcome"), "own");
    ASSERT_EQ(stmt_i64(q, "many"), 8);
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT_EQ(stmt_i64(q, "subscription_n"), 12);
    ASSERT_STR(stmt_str(q, "outcome"), "predicate");
    ASSERT_EQ(stmt_i64(q, "many"), 7);
    ASSERT_EQ(stmt_i64(q, "first_at"), 10);
    ASSERT_EQ(stmt_i64(q, "last_at"), 20);
    ASSERT_EQ(stmt_step(q, &t->err), 0);
    ASSERT_OK(
        db_prepare(domain_db(domain), SQL("SELECT domain FROM wake_cursors"), &cursors, &t->err));
    ASSERT_EQ(stmt_step(cursors, &t->err), 1);
    ASSERT_STR(stmt_str(cursors, "domain"), "journal");
    ASSERT_EQ(stmt_step(cursors, &t->err), 0);
}

/* They move into another table there. */
DB_TEST(operations_are_the_same_after_they_came_forward)
{
    const char *url = db_test_is_postgres(t)
                          ? db_test_url(t)
                          : arena_printf(&t->arena, "sqlite:%s/operations.sqlite", test_dir(t));
    const struct domain_config config = { .name = "agent",
                                          .url = url,
                                          .migrations = migrations_agent,
                                          .migration_count = migrations_agent_count };
    AUTO(domain) domain = NULL;
    AUTO(stmt) q = NULL;
    AUTO(stmt) twice = NULL;

    load_fixture(t, "agent", url, 5);
    ASSERT_OK(domain_open(&config, &domain, &t->err));
    ASSERT_OK(db_prepare(domain_db(domain),
                         SQL("SELECT n, operation_id, run_n, tool_name, keyed, phase, status,"
                             " attempts FROM operations"),
                         &q, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT_EQ(stmt_i64(q, "n"), 1);
    ASSERT_STR(stmt_str(q, "operation_id"), "o1");
    ASSERT_EQ(stmt_i64(q, "run_n"), 1);
    ASSERT_STR(stmt_str(q, "tool_name"), "bash");
    ASSERT_EQ(stmt_i64(q, "keyed"), 1);
    ASSERT_STR(stmt_str(q, "phase"), "effect");
    ASSERT_STR(stmt_str(q, "status"), "settled");
    ASSERT_EQ(stmt_i64(q, "attempts"), 1);
    ASSERT_EQ(stmt_step(q, &t->err), 0);
    ASSERT_OK(db_prepare(domain_db(domain),
                         SQL("INSERT INTO operations (operation_id, run_n, tool_name, keyed,"
                             " status, created_at, updated_at)"
                             " VALUES ('o1', 1, 'bash', 1, 'prepared', 1, 1)"),
                         &twice, &t->err));
    ASSERT_FAILS(stmt_run(twice, &t->err), ERR_CONFLICT);
}

TEST(a_checksum_is_the_sha256_of_the_tidied_text)
{
    char a[SHA256_TEXT_SIZE], b[SHA256_TEXT_SIZE];

    migration_checksum("SELECT 1;", a);
    /* printf 'SELECT 1;\n' | sha256sum */
    ASSERT_TEXT(a, "b4e0497804e46e0a0b0b8c31975b062152d551bac49c3c2e80932567b4085dcd");
    migration_checksum("SELECT  1;", b);
    ASSERT(strcmp(a, b) != 0);
}
