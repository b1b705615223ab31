/* What only Postgres has: a connection that can end, queued writes, several daemons at once.
 *
 * SPDX-License-Identifier: MIT
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "db/pg_int.h"
#include "things.h"

#define PG_TEST(name_, ...)                                                                        \
    static void name_(struct test *t);                                                             \
    DB_TEST_CASE(name_, postgres, __VA_ARGS__)                                                     \
    static void name_(__attribute__((unused)) struct test *t)

/* Ends every connection to this test's database but the one that says so. */
static void end_connections(struct test *t)
{
    db_test_admin(t, "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                     " WHERE datname = current_database() AND pid <> pg_backend_pid()");
}

PG_TEST(a_connection_that_ended_between_transactions_is_made_anew)
{
    AUTO(domain) domain = open_things(t);

    ASSERT_OK(add_thing(domain, 1, "before", &t->err));
    end_connections(t);
    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(add_thing(domain, 2, "after", &t->err));
    ASSERT_OK(domain_commit(domain, &t->err));
    end_connections(t);
    ASSERT_EQ(count_things(t, domain), 2);
    end_connections(t);
    ASSERT_OK(add_thing(domain, 3, "alone", &t->err));
    ASSERT_EQ(domain_health(domain), DOMAIN_OK);
}

PG_TEST(a_connection_that_ends_in_a_transaction_makes_it_unknown)
{
    AUTO(domain) domain = open_things(t);

    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(add_thing(domain, 1, "lost", &t->err));
    ASSERT_EQ(count_things(t, domain), 1);
    end_connections(t);
    add_thing(domain, 2, "lost too", &t->err);
    ASSERT_FAILS(domain_commit(domain, &t->err), ERR_STORAGE_FAILED);
    ASSERT(!domain_in_transaction(domain));
    ASSERT_EQ(domain_health(domain), DOMAIN_OK);
    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(add_thing(domain, 3, "next", &t->err));
    ASSERT_OK(domain_commit(domain, &t->err));
    ASSERT_EQ(count_things(t, domain), 1);
}

PG_TEST(a_connection_that_ends_in_a_savepoint_fails_the_whole)
{
    AUTO(domain) domain = open_things(t);

    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(domain_savepoint(domain, &t->err));
    ASSERT_OK(add_thing(domain, 1, "lost", &t->err));
    ASSERT_EQ(count_things(t, domain), 1);
    end_connections(t);
    ASSERT_FAILS(domain_release(domain, &t->err), ERR_STORAGE_FAILED);
    domain_rollback_to(domain);
    ASSERT_FAILS(domain_commit(domain, &t->err), ERR_STORAGE_FAILED);
    ASSERT_EQ(count_things(t, domain), 0);
}

PG_TEST(a_connection_that_ends_while_rows_are_read_is_reported)
{
    AUTO(domain) domain = open_things(t);
    AUTO(stmt) q = NULL;
    int r = 1, rows = 0;

    ASSERT_OK(domain_begin(domain, &t->err));
    for (int64_t i = 0; i < 5000; i++)
        ASSERT_OK(add_thing(domain, i,
                            "0123456789012345678901234567890123456789012345678901234567890"
                            "0123456789012345678901234567890123456789012345678901234567890"
                            "0123456789012345678901234567890123456789012345678901234567890",
                            &t->err));
    ASSERT_OK(domain_commit(domain, &t->err));
    ASSERT_OK(db_prepare(domain_db(domain),
                         SQL("SELECT a.id AS id, a.name AS name FROM things a, things b"), &q,
                         &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    end_connections(t);
    while (r == 1 && rows++ < 30000000)
        r = stmt_step(q, &t->err);
    ASSERT_FAILS(r, ERR_STORAGE_FAILED);
    stmt_free(TAKE(q));
    ASSERT_EQ(count_things(t, domain), 5000);
}

PG_TEST(queued_writes_report_their_failure_at_the_commit_by_name)
{
    AUTO(domain) domain = open_things(t);

    ASSERT_OK(add_thing(domain, 1, "there", &t->err));
    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(add_thing(domain, 1, "again", &t->err));
    ASSERT_OK(add_thing(domain, 2, "fine", &t->err));
    ASSERT_FAILS(domain_commit(domain, &t->err), ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "INSERT INTO things (id, name)");
    ASSERT_CONTAINS(test_err_text(t), "23505");
    ASSERT_EQ(count_things(t, domain), 1);
}

PG_TEST(a_statement_that_could_not_be_prepared_works_once_it_can)
{
    AUTO(domain) domain = open_things(t);

    for (int i = 0; i < 3; i++) {
        ASSERT_OK(domain_begin(domain, &t->err));
        if (i == 1)
            ASSERT_OK(db_exec(domain_db(domain), SQL("CREATE TABLE late (id BIGINT)"), &t->err));
        {
            AUTO(stmt) q = NULL;

            /* The same literal each time. */
            static const char literal[] = "INSERT INTO late (id) VALUES (?)";
            ASSERT_OK(db_prepare(domain_db(domain), (struct sql){ literal }, &q, &t->err));
            stmt_bind_i64(q, i);
            ASSERT_OK(stmt_run(q, &t->err));
        }
        if (i == 0)
            ASSERT(domain_commit(domain, &t->err) < 0);
        else
            ASSERT_OK(domain_commit(domain, &t->err));
    }
}

PG_TEST(domains_are_schemas_of_one_database)
{
    struct domain_config config = { .name = "journal",
                                    .url = db_test_url(t),
                                    .migrations = things,
                                    .migration_count = ARRAY_LEN(things) };
    AUTO(domain) agent = open_things(t);
    AUTO(domain) journal = NULL;

    ASSERT_OK(domain_open(&config, &journal, &t->err));
    ASSERT_OK(add_thing(agent, 1, "a", &t->err));
    ASSERT_EQ(count_things(t, journal), 0);
    db_test_admin(t, "INSERT INTO journal.things (id) VALUES (5), (6)");
    ASSERT_EQ(count_things(t, journal), 2);
    ASSERT_EQ(count_things(t, agent), 1);
}

PG_TEST(a_backup_names_the_tool_for_it)
{
    AUTO(domain) domain = open_things(t);

    ASSERT_FAILS(domain_backup(domain, test_path(t, "x"), NULL, NULL, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "pg_dump --schema=agent");
    ASSERT_OK(domain_check(domain, &t->err));
    db_test_admin(t, "ALTER TABLE agent.parts ADD CONSTRAINT lax CHECK (thing > 0) NOT VALID");
    ASSERT_FAILS(domain_check(domain, &t->err), ERR_INTEGRITY_FAILED);
    ASSERT_CONTAINS(test_err_text(t), "lax");
}

PG_TEST(prepared_statements_do_not_pile_up_on_the_server)
{
    static char texts[700][64];
    AUTO(domain) domain = open_things(t);
    AUTO(stmt) q = NULL;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        snprintf(texts[i], sizeof(texts[i]), "SELECT %zu AS n", i);
        ASSERT_OK(db_exec(domain_db(domain), (struct sql){ texts[i] }, &t->err));
    }
    ASSERT_OK(db_prepare(domain_db(domain), SQL("SELECT count(*) AS n FROM pg_prepared_statements"),
                         &q, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT(stmt_i64(q, "n") < 400);
}

PG_TEST(serialization_failures_are_worth_another_try)
{
    AUTO(domain) first = open_things(t);
    AUTO(domain) second = open_things(t);

    ASSERT_OK(add_thing(first, 1, "x", &t->err));
    db_test_admin(t, "ALTER DATABASE postgres RESET ALL");
    ASSERT_OK(domain_begin(first, &t->err));
    ASSERT_OK(domain_begin(second, &t->err));
    ASSERT_OK(
        db_exec(domain_db(first), SQL("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"), &t->err));
    ASSERT_OK(
        db_exec(domain_db(second), SQL("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"), &t->err));
    ASSERT_EQ(count_things(t, first), 1);
    ASSERT_EQ(count_things(t, second), 1);
    ASSERT_OK(add_thing(first, 2, "y", &t->err));
    ASSERT_OK(add_thing(second, 3, "z", &t->err));
    ASSERT_OK(domain_commit(first, &t->err));
    ASSERT_FAILS(domain_commit(second, &t->err), ERR_VERSION_CONFLICT);
    ASSERT_EQ(domain_health(second), DOMAIN_OK);
    ASSERT_EQ(count_things(t, second), 2);
}

PG_TEST(a_streamed_result_that_must_make_way_is_kept)
{
    AUTO(domain) domain = open_things(t);
    AUTO(stmt) a = NULL;
    int64_t next = 0;

    ASSERT_OK(domain_begin(domain, &t->err));
    for (int64_t i = 0; i < 300; i++)
        ASSERT_OK(add_thing(domain, i, "x", &t->err));
    ASSERT_OK(db_prepare(domain_db(domain), SQL("SELECT id FROM things ORDER BY id"), &a, &t->err));
    ASSERT_EQ(stmt_step(a, &t->err), 1);
    /* The commit needs the connection; the rows stay readable. */
    ASSERT_OK(domain_commit(domain, &t->err));
    do
        ASSERT_EQ(stmt_i64(a, "id"), next++);
    while (stmt_step(a, &t->err) == 1);
    ASSERT_EQ(next, 300);
}

PG_TEST(a_server_that_refuses_is_named_without_its_password)
{
    const struct domain_config config = {
        .name = "agent",
        .url = arena_printf(&t->arena, "%s&password=hunter2",
                            db_test_server_url(t, "no_such_database")),
    };
    AUTO(domain) domain = NULL;

    ASSERT_FAILS(domain_open(&config, &domain, &t->err), ERR_BAD_REQUEST);
    ASSERT_CONTAINS(test_err_text(t), "no_such_database");
    if (strstr(test_err_text(t), "hunter2"))
        FAIL("the message shows the password");
}

/* ---- what the server's words mean ---- */

PG_TEST(every_kind_of_failure_has_its_meaning)
{
    static const struct {
        const char *state;
        enum err_code code;
        enum domain_health health;
    } kinds[] = {
        { "40001", ERR_VERSION_CONFLICT, DOMAIN_OK },
        { "40P01", ERR_VERSION_CONFLICT, DOMAIN_OK },
        { "55P03", ERR_TIMEOUT, DOMAIN_OK },
        { "22021", ERR_BAD_REQUEST, DOMAIN_OK },
        { "22003", ERR_SCHEMA_VIOLATION, DOMAIN_OK },
        { "42804", ERR_SCHEMA_VIOLATION, DOMAIN_OK },
        { "23514", ERR_CONFLICT, DOMAIN_OK },
        { "53100", ERR_STORAGE_FAILED, DOMAIN_READ_ONLY },
        { "58030", ERR_STORAGE_FAILED, DOMAIN_READ_ONLY },
        { "53200", ERR_STORAGE_FAILED, DOMAIN_OK },
        { "54000", ERR_TOO_LARGE, DOMAIN_OK },
        { "57014", ERR_CANCELLED, DOMAIN_OK },
        { "57P03", ERR_STORAGE_FAILED, DOMAIN_OK },
        { "XX001", ERR_INTEGRITY_FAILED, DOMAIN_OK },
        { "XX002", ERR_INTEGRITY_FAILED, DOMAIN_OK },
        { "XX000", ERR_INTERNAL, DOMAIN_OK },
    };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const char *text = arena_printf(
            &t->arena, "DO $$ BEGIN RAISE EXCEPTION 'why' USING ERRCODE = '%s'; END $$",
            kinds[i].state);
        AUTO(domain) domain = open_things(t);

        if (db_exec(domain_db(domain), (struct sql){ text }, &t->err) == 0 ||
            t->err.code != kinds[i].code || domain_health(domain) != kinds[i].health)
            FAIL("%s: %s, health %d", kinds[i].state, test_err_text(t), domain_health(domain));
        ASSERT_CONTAINS(test_err_text(t), kinds[i].state);
        ASSERT_CONTAINS(test_err_text(t), "why");
        ASSERT_EQ(count_things(t, domain), 0);
    }
}

/* ---- retries ---- */

struct skew {
    struct domain *other;
    int calls;
};

/* Reads all, writes one; so does the other, in between, at the first try. */
static int count_and_add(struct db *db, void *arg, struct err *err)
{
    struct skew *skew = arg;
    AUTO(stmt) count = NULL;
    AUTO(stmt) add = NULL;
    int64_t n;

    if (db_prepare(db, SQL("SELECT count(*) AS n FROM things"), &count, err) < 0 ||
        stmt_step(count, err) != 1)
        return -1;
    n = stmt_i64(count, "n");
    if (++skew->calls == 1) {
        struct skew inner = { .calls = 1 };

        if (domain_retry(skew->other, count_and_add, &inner, err) < 0)
            return -1;
    }
    if (db_prepare(db, SQL("INSERT INTO things (id, number) VALUES (?, ?)"), &add, err) < 0)
        return -1;
    stmt_bind_i64(add, 100 + n);
    stmt_bind_i64(add, n);
    return stmt_run(add, err);
}

PG_TEST(what_was_read_and_then_changed_by_another_is_done_again)
{
    AUTO(domain) first = open_things(t);
    AUTO(domain) second = open_things(t);
    struct skew skew = { .other = second };
    AUTO(stmt) q = NULL;

    ASSERT_OK(domain_retry(first, count_and_add, &skew, &t->err));
    ASSERT_EQ(skew.calls, 2);
    ASSERT_OK(db_prepare(domain_db(first), SQL("SELECT number FROM things ORDER BY number"), &q,
                         &t->err));
    for (int64_t n = 0; n < 2; n++) {
        ASSERT_EQ(stmt_step(q, &t->err), 1);
        ASSERT_EQ(stmt_i64(q, "number"), n);
    }
}

/* ---- a migration that is cut off ---- */

static const struct migration hanging[] = {
    { .number = 1, .name = "one", .postgres = "CREATE TABLE one (id BIGINT);" },
    { .number = 2,
      .name = "two",
      .postgres = "CREATE TABLE two (id BIGINT); SELECT pg_sleep(60) AS hanging_step;" },
};
static const struct migration mended[] = {
    { .number = 1, .name = "one", .postgres = "CREATE TABLE one (id BIGINT);" },
    { .number = 2, .name = "two", .postgres = "CREATE TABLE two (id BIGINT);" },
};

static void wait_until_it_hangs(struct test *t, struct domain *domain)
{
    for (int i = 0; i < 3000; i++) {
        AUTO(stmt) q = NULL;

        ASSERT_OK(db_prepare(domain_db(domain),
                             SQL("SELECT count(*) AS n FROM pg_stat_activity WHERE"
                                 " query LIKE '%hanging_step%' AND wait_event = 'PgSleep'"),
                             &q, &t->err));
        ASSERT_EQ(stmt_step(q, &t->err), 1);
        if (stmt_i64(q, "n") == 1)
            return;
        usleep(10000);
    }
    FAIL("the migration does not come to its last step");
}

PG_TEST(a_migration_whose_process_and_server_die_leaves_nothing_half_done)
{
    AUTO(domain) old = db_test_open(t, hanging, 1);
    struct domain_config config = {
        .name = "agent", .url = db_test_url(t), .migrations = hanging, .migration_count = 2
    };
    int status, version;
    pid_t pid = fork();

    if (pid == 0) {
        struct domain *domain;

        domain_open(&config, &domain, &t->err);
        _exit(0);
    }
    wait_until_it_hangs(t, old);
    kill(pid, SIGKILL);
    ASSERT(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
    end_connections(t);
    ASSERT_OK(domain_schema_version(old, &version, &t->err));
    ASSERT_EQ(version, 1);
    domain_free(TAKE(old));
    old = db_test_open(t, mended, 2);
    ASSERT_OK(domain_check(old, &t->err));
}

/* ---- bounds ---- */

PG_TEST(rows_left_unread_are_held_up_to_a_bound)
{
    AUTO(domain) domain = open_things(t);
    AUTO(stmt) a = NULL;

    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(db_prepare(domain_db(domain),
                         SQL("SELECT n, repeat('x', 100000) AS filler FROM"
                             " generate_series(1, 1000) AS n"),
                         &a, &t->err));
    ASSERT_EQ(stmt_step(a, &t->err), 1);
    ASSERT_FAILS(db_exec(domain_db(domain), SQL("DELETE FROM things"), &t->err) < 0
                     ? -1
                     : domain_commit(domain, &t->err),
                 ERR_TOO_LARGE);
    ASSERT_CONTAINS(test_err_text(t), "64 MiB");
    if (domain_in_transaction(domain))
        domain_rollback(domain);
    stmt_free(TAKE(a));
    ASSERT_EQ(count_things(t, domain), 0);
}

PG_TEST(a_blob_is_taken_wherever_its_column_shows)
{
    const struct sql fits[] = {
        SQL("INSERT INTO things (id, bytes) VALUES (1, ?), (2, ?)"),
        SQL("UPDATE things SET bytes = ? WHERE bytes = ?"),
        SQL("INSERT INTO things (id, bytes) SELECT id + 10, coalesce(bytes, ?) FROM things"
            " WHERE bytes <> ?"),
        SQL("INSERT INTO things (id, bytes) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET bytes = "
            "?"),
    };
    AUTO(domain) domain = open_things(t);

    for (size_t i = 0; i < ARRAY_LEN(fits); i++) {
        AUTO(stmt) q = NULL;

        ASSERT_OK(db_prepare(domain_db(domain), fits[i], &q, &t->err));
        stmt_bind_blob(q, STR("a"));
        stmt_bind_blob(q, STR("a"));
        ASSERT_OK(stmt_run(q, &t->err));
    }
    AUTO(stmt) q = NULL;
    ASSERT_OK(db_prepare(domain_db(domain), SQL("SELECT ? AS what"), &q, &t->err));
    stmt_bind_blob(q, STR("a"));
    ASSERT_FAILS(stmt_step(q, &t->err), ERR_SCHEMA_VIOLATION);
    ASSERT_CONTAINS(test_err_text(t), "value 1 is a blob");
}
