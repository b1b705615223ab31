/* Databases for tests.
 *
 * SPDX-License-Identifier: MIT
 */
#include "harness/db_test.h"

#include <stdio.h>

#include "db/pg_lib.h"
#include "harness/pg_server.h"

const struct db_test_engine db_test_sqlite = { .name = "sqlite" };
const struct db_test_engine db_test_postgres = { .name = "postgres", .postgres = true };

static char current_url[256]; /* each test is a process of its own */

/* One test runs at a time, so they share a database and each begins by emptying it: that takes
 * milliseconds, and a new database a tenth of a second of disk. */
#define DATABASE "postgres"
static const char empty_database[] =
    "SET client_min_messages = warning;"
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type ="
    " 'client backend';"
    "DO $$ DECLARE s text; BEGIN FOR s IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_'"
    " AND nspname NOT IN ('information_schema', 'public') LOOP"
    " EXECUTE format('DROP SCHEMA %I CASCADE', s); END LOOP; END $$";

bool db_test_is_postgres(const struct test *t)
{
    return t->param == &db_test_postgres;
}

const char *db_test_server_url(struct test *t, const char *database)
{
    const char *why = NULL, *dir = pg_server_dir(&why);

    if (!dir)
        FAIL("Postgres does not start: %s", why);
    return arena_printf(&t->arena, "postgresql:///%s?host=%s&user=dormouse", database, dir);
}

static void admin(struct test *t, const char *database, const char *sql)
{
    const char *const keywords[] = { "dbname", NULL };
    const char *const values[] = { db_test_server_url(t, database), NULL };
    PGconn *conn;
    PGresult *result;

    ASSERT_OK(pg_lib_load(&t->err));
    conn = pq.PQconnectdbParams(keywords, values, 1);
    if (pq.PQstatus(conn) != CONNECTION_OK)
        FAIL("connect: %s", pq.PQerrorMessage(conn));
    if (!pq.PQsendQuery(conn, sql))
        FAIL("%s: %s", sql, pq.PQerrorMessage(conn));
    while ((result = pq.PQgetResult(conn)) != NULL) {
        if (pq.PQresultStatus(result) == PGRES_FATAL_ERROR)
            FAIL("%s: %s", sql, pq.PQresultErrorMessage(result));
        pq.PQclear(result);
    }
    pq.PQfinish(conn);
}

void db_test_admin(struct test *t, const char *sql)
{
    db_test_url(t);
    admin(t, DATABASE, sql);
}

const char *db_test_url(struct test *t)
{
    if (current_url[0])
        return current_url;
    if (!db_test_is_postgres(t)) {
        snprintf(current_url, sizeof(current_url), "sqlite:%s", test_path(t, "test.sqlite"));
        return current_url;
    }
    admin(t, DATABASE, empty_database);
    snprintf(current_url, sizeof(current_url), "%s", db_test_server_url(t, DATABASE));
    return current_url;
}

struct domain *db_test_open(struct test *t, const struct migration *migrations, size_t n)
{
    const struct domain_config config = {
        .name = "agent", .url = db_test_url(t), .migrations = migrations, .migration_count = n
    };
    struct domain *domain = NULL;

    ASSERT_OK(domain_open(&config, &domain, &t->err));
    return domain;
}
