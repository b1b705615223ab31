/* Databases for tests.
 *
 * SPDX-License-Identifier: MIT
 */
#include "harness/db_test.h"

#include <stdio.h>

#include "db/migrations.h"
#include "harness/db_fresh.h"
#include "harness/pg_server.h"

const struct db_test_engine db_test_sqlite = { .name = "sqlite" };
const struct db_test_engine db_test_postgres = { .name = "postgres", .postgres = true };

static char current_url[256]; /* each test is a process of its own */

/* One test runs at a time, so they share a database and each begins by clearing it: that takes
 * milliseconds, and a new database a tenth of a second of disk. */
#define DATABASE "postgres"

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

void db_test_admin(struct test *t, const char *sql)
{
    db_test_url(t);
    fresh_run(t, db_test_server_url(t, DATABASE), sql);
}

static const char *take_database(struct test *t, void (*clear)(struct test *t, const char *url))
{
    const char *url = db_test_server_url(t, DATABASE);

    clear(t, url);
    snprintf(current_url, sizeof(current_url), "%s", url);
    return current_url;
}

const char *db_test_url(struct test *t)
{
    if (current_url[0])
        return current_url;
    if (db_test_is_postgres(t))
        return take_database(t, fresh_empty);
    snprintf(current_url, sizeof(current_url), "sqlite:%s", test_path(t, "test.sqlite"));
    return current_url;
}

const char *db_test_file_url(struct test *t, const char *domain, const char *name)
{
    const char *path = test_path(t, name);

    fresh_file(t, domain, path);
    return arena_printf(&t->arena, "sqlite:%s", path);
}

const char *db_test_domain_url(struct test *t, const char *domain)
{
    if (db_test_is_postgres(t))
        return current_url[0] ? current_url : take_database(t, fresh_domains);
    if (strcmp(domain, "agent") != 0)
        return db_test_file_url(t, domain, arena_printf(&t->arena, "%s.sqlite", domain));
    fresh_file(t, domain, strchr(db_test_url(t), ':') + 1);
    return current_url;
}

struct domain *db_test_open(struct test *t, const struct migration *migrations, size_t n)
{
    bool newest = migrations == migrations_agent && n == migrations_agent_count;
    const struct domain_config config = { .name = "agent",
                                          .url = newest ? db_test_domain_url(t, "agent")
                                                        : db_test_url(t),
                                          .migrations = migrations,
                                          .migration_count = n };
    struct domain *domain = NULL;

    ASSERT_OK(domain_open(&config, &domain, &t->err));
    return domain;
}
