/* Tests that run on every database engine: DB_TEST(name) registers one case per engine.
 *
 * For SQLite each test has a file in its own directory. For Postgres one server is started by the
 * first test that needs it, as an unprivileged user, on a socket in a temporary directory, and
 * each test finds an empty database. The server ends with the suite, however that ends. When it
 * can't be started the tests fail.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_DB_TEST_H
#define DORMOUSE_TESTS_DB_TEST_H

#include "db/domain.h"
#include "harness/test.h"

struct db_test_engine {
    const char *name;
    bool postgres;
};
extern const struct db_test_engine db_test_sqlite, db_test_postgres;

#define DB_TEST_CASE(name_, engine_, ...)                                                          \
    static struct test_case name_##_##engine_##_case = { .name = #name_,                           \
                                                         .file = __FILE__,                         \
                                                         .run = (name_),                           \
                                                         .variant = #engine_,                      \
                                                         .param = &db_test_##engine_,              \
                                                         __VA_ARGS__ };                            \
    __attribute__((constructor)) static void name_##_##engine_##_register(void)                    \
    {                                                                                              \
        test_register(&name_##_##engine_##_case);                                                  \
    }

/* DB_TEST(sentence_about_behaviour) or DB_TEST(sentence, .timeout_s = 120) */
#define DB_TEST(name_, ...)                                                                        \
    static void name_(struct test *t);                                                             \
    DB_TEST_CASE(name_, sqlite, __VA_ARGS__)                                                       \
    DB_TEST_CASE(name_, postgres, __VA_ARGS__)                                                     \
    static void name_(__attribute__((unused)) struct test *t)

/* Only for engine-specific expectations. */
bool db_test_is_postgres(const struct test *t);
/* The address of this test's own, empty database; the same at every call of one test. */
const char *db_test_url(struct test *t);
/* The address of this test's own domain of the product, "agent" or "journal", with its newest
 * schema and no rows: nearly all tests want that, and it costs a tenth of migrating an empty
 * database. On Postgres the domains are schemas of the database of db_test_url(); on SQLite
 * "agent" is its file, and "journal" one beside it. A database that has been taken with
 * db_test_url(), or used, stays as it is. */
const char *db_test_domain_url(struct test *t, const char *domain);
/* The same in a file of this name in the test's directory, whatever the engine. */
const char *db_test_file_url(struct test *t, const char *domain, const char *name);
/* Opens the test's database as domain "agent"; fails the test when it can't. With all of the
 * product's migrations it is the one of db_test_domain_url(). */
struct domain *db_test_open(struct test *t, const struct migration *migrations, size_t n);

/* ---- the server, for tests that end or restart connections ---- */

/* Runs one statement on the test's database over a connection of its own, as the superuser. */
void db_test_admin(struct test *t, const char *sql);
/* An address of the server for a database by name; starts the server when it does not run. */
const char *db_test_server_url(struct test *t, const char *database);

#endif
