/* A table that many tests of this room write to.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_THINGS_H
#define DORMOUSE_TESTS_THINGS_H

#include "db/db.h"
#include "harness/db_test.h"

static const struct migration things[] = {
    { .number = 1,
      .name = "things",
      .sqlite = "CREATE TABLE things (id INTEGER PRIMARY KEY, number INTEGER, ratio REAL,"
                " name TEXT, bytes BLOB) STRICT;"
                "CREATE TABLE parts (thing INTEGER NOT NULL REFERENCES things (id)"
                " DEFERRABLE INITIALLY DEFERRED, part TEXT NOT NULL UNIQUE) STRICT;",
      .postgres = "CREATE TABLE things (id BIGINT PRIMARY KEY, number BIGINT,"
                  " ratio DOUBLE PRECISION, name TEXT COLLATE \"C\", bytes BYTEA);"
                  "CREATE TABLE parts (thing BIGINT NOT NULL REFERENCES things (id)"
                  " DEFERRABLE INITIALLY DEFERRED, part TEXT COLLATE \"C\" NOT NULL UNIQUE);" },
};

static inline struct domain *open_things(struct test *t)
{
    return db_test_open(t, things, ARRAY_LEN(things));
}

static inline int add_thing(struct domain *domain, int64_t id, const char *name, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), SQL("INSERT INTO things (id, name) VALUES (?, ?)"), &q, err) <
        0)
        return -1;
    stmt_bind_i64(q, id);
    stmt_bind_text(q, name);
    return stmt_run(q, err);
}

static inline int64_t count_things(struct test *t, struct domain *domain)
{
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(domain), SQL("SELECT count(*) AS n FROM things"), &q, &t->err));
    ASSERT_OK(stmt_step(q, &t->err));
    return stmt_i64(q, "n");
}

#endif
