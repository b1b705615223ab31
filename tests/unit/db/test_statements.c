/* Statements, values and rows: the same on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include <float.h>
#include <math.h>

#include "things.h"

static struct stmt *prepare(struct test *t, struct domain *domain, struct sql sql)
{
    struct stmt *q = NULL;

    ASSERT_OK(db_prepare(domain_db(domain), sql, &q, &t->err));
    return q;
}

#define INSERT_ALL SQL("INSERT INTO things (id, number, ratio, name, bytes) VALUES (?, ?, ?, ?, ?)")

DB_TEST(every_type_comes_back_as_it_went_in)
{
    static const char blob[] = "\0\x01\xff'\\x41\n";
    AUTO(domain) domain = open_things(t);
    AUTO(stmt) in = prepare(t, domain, INSERT_ALL);
    AUTO(stmt) out = prepare(t, domain, SQL("SELECT * FROM things WHERE id = ?"));

    stmt_bind_i64(in, 7);
    stmt_bind_i64(in, INT64_MIN);
    stmt_bind_f64(in, 0.1);
    stmt_bind_text(in, "gr\xc3\xbc\xc3\x9f '?' \\ $1 \xf0\x9f\x90\xad");
    stmt_bind_blob(in, str_of(blob, sizeof(blob)));
    ASSERT_OK(stmt_run(in, &t->err));
    ASSERT_EQ(stmt_changes(in), 1);

    stmt_bind_i64(out, 7);
    ASSERT_EQ(stmt_step(out, &t->err), 1);
    ASSERT(stmt_i64(out, "number") == INT64_MIN);
    ASSERT(stmt_f64(out, "ratio") == 0.1);
    ASSERT_STR(stmt_str(out, "name"), "gr\xc3\xbc\xc3\x9f '?' \\ $1 \xf0\x9f\x90\xad");
    ASSERT(str_eq(stmt_blob(out, "bytes"), str_of(blob, sizeof(blob))));
    ASSERT_EQ(stmt_step(out, &t->err), 0);
    ASSERT_EQ(stmt_step(out, &t->err), 0);
}

DB_TEST(numbers_at_their_limits_survive)
{
    static const double ratios[] = { 0,      -0.0,     DBL_MAX, DBL_MIN,
                                     5e-324, -1.0 / 3, 1e15,    123456789.125 };
    static const int64_t numbers[] = {
        0, 1, -1, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MAX - 1, INT64_MIN
    };
    AUTO(domain) domain = open_things(t);
    int64_t i = 0;

    for (; i < (int64_t)ARRAY_LEN(ratios); i++) {
        AUTO(stmt) q = prepare(t, domain, INSERT_ALL);

        stmt_bind_i64(q, i);
        stmt_bind_i64(q, numbers[i]);
        stmt_bind_f64(q, ratios[i]);
        stmt_bind_null(q);
        stmt_bind_null(q);
        ASSERT_OK(stmt_run(q, &t->err));
    }
    AUTO(stmt) q = prepare(t, domain, SQL("SELECT number, ratio FROM things ORDER BY id"));
    for (i = 0; stmt_step(q, &t->err) == 1; i++) {
        ASSERT(stmt_i64(q, "number") == numbers[i]);
        ASSERT(stmt_f64(q, "ratio") == ratios[i]);
    }
    ASSERT_EQ(i, ARRAY_LEN(ratios));
}

DB_TEST(null_is_not_empty)
{
    AUTO(domain) domain = open_things(t);
    AUTO(stmt) in = prepare(t, domain, INSERT_ALL);
    AUTO(stmt) out = prepare(t, domain, SQL("SELECT * FROM things ORDER BY id"));

    stmt_bind_i64(in, 1);
    stmt_bind_null(in);
    stmt_bind_null(in);
    stmt_bind_text(in, NULL);
    stmt_bind_blob(in, STR_NONE);
    ASSERT_OK(stmt_run(in, &t->err));
    stmt_reset(in);
    stmt_bind_i64(in, 2);
    stmt_bind_bool(in, true);
    stmt_bind_f64(in, 0);
    stmt_bind_str(in, STR(""));
    stmt_bind_blob(in, STR(""));
    ASSERT_OK(stmt_run(in, &t->err));

    ASSERT_EQ(stmt_step(out, &t->err), 1);
    ASSERT(stmt_is_null(out, "number") && stmt_is_null(out, "ratio"));
    ASSERT(stmt_is_null(out, "name") && stmt_is_null(out, "bytes"));
    ASSERT_EQ(stmt_i64(out, "number"), 0);
    ASSERT(stmt_f64(out, "ratio") == 0);
    ASSERT(!stmt_bool(out, "number"));
    ASSERT(stmt_str(out, "name").p == NULL && stmt_blob(out, "bytes").p == NULL);
    ASSERT_EQ(stmt_step(out, &t->err), 1);
    ASSERT(!stmt_is_null(out, "name") && !stmt_is_null(out, "bytes"));
    ASSERT(stmt_bool(out, "number"));
    ASSERT(stmt_str(out, "name").p != NULL && stmt_str(out, "name").n == 0);
    ASSERT(stmt_blob(out, "bytes").p != NULL && stmt_blob(out, "bytes").n == 0);
}
