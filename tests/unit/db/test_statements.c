/* Statements, values and rows: the same on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include <float.h>
#include <malloc.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rand.h"
#include "base/utf8.h"
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
        ASSERT_EQ(signbit(stmt_f64(q, "ratio")) != 0, ratios[i] < 0); /* zero has no sign */
    }
    ASSERT_EQ(i, ARRAY_LEN(ratios));
}

DB_TEST(nothing_is_null_where_some_is_bound)
{
    static const struct {
        int64_t number;
        struct str name;
        bool null_number, null_name;
    } cases[] = { { 0, { 0 }, true, true },
                  { 0, { "", 0 }, true, true },
                  { -1, { "0", 1 }, false, false },
                  { 5, { 0 }, false, true } };
    AUTO(domain) domain = open_things(t);
    AUTO(stmt) out = prepare(t, domain, SQL("SELECT number, name FROM things ORDER BY id"));

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(stmt) in = prepare(t, domain, INSERT_ALL);

        stmt_bind_i64(in, (int64_t)i);
        stmt_bind_some_i64(in, cases[i].number);
        stmt_bind_null(in);
        stmt_bind_some_str(in, cases[i].name);
        stmt_bind_null(in);
        ASSERT_OK(stmt_run(in, &t->err));
    }
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ASSERT_EQ(stmt_step(out, &t->err), 1);
        ASSERT_EQ(stmt_is_null(out, "number"), cases[i].null_number);
        ASSERT_EQ(stmt_is_null(out, "name"), cases[i].null_name);
        ASSERT_EQ(stmt_i64(out, "number"), cases[i].number);
        ASSERT(str_eq(stmt_str(out, "name"), cases[i].name));
    }
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

static void add_code_points(struct buf *text, struct rand *rand, unsigned n)
{
    static const uint32_t edges[] = { 1,      0x7f,   0x80,   0x7ff,   0x800,   0xd7ff,
                                      0xe000, 0xfffd, 0xffff, 0x10000, 0x10ffff };

    while (n-- > 0) {
        uint32_t code = rand_below(rand, 2) ? edges[rand_below(rand, ARRAY_LEN(edges))]
                                            : (uint32_t)rand_below(rand, 0x110000);

        if (code > 0 && (code < 0xd800 || code > 0xdfff))
            buf_add_utf8(text, code);
    }
}

DB_TEST(text_of_any_characters_comes_back_byte_for_byte)
{
    AUTO(domain) domain = open_things(t);
    struct rand_fake rand;

    rand_fake_init(&rand, 20261115);
    for (int64_t i = 0; i < 60; i++) {
        AUTO(stmt) in = prepare(t, domain, SQL("INSERT INTO things (id, name) VALUES (?, ?)"));
        AUTO(stmt)
        out = prepare(t, domain, SQL("SELECT id, name FROM things WHERE id = ? AND name = ?"));
        AUTO_BUF text = BUF_INIT(64 * 1024);

        buf_add_text(&text, "{\"\\u0000 '?$1\\\\\":\"");
        add_code_points(&text, &rand.rand, 1u << rand_below(&rand.rand, 12));
        buf_add_text(&text, "\"}");
        stmt_bind_i64(in, i);
        stmt_bind_str(in, buf_str(&text));
        ASSERT_OK(stmt_run(in, &t->err));
        stmt_bind_i64(out, i);
        stmt_bind_str(out, buf_str(&text));
        ASSERT_EQ(stmt_step(out, &t->err), 1);
        ASSERT(str_eq(stmt_str(out, "name"), buf_str(&text)));
    }
}

DB_TEST(text_that_one_engine_could_not_hold_is_refused_on_both)
{
    static const struct {
        const char *bytes;
        size_t n;
    } broken[] = {
        { "a\0b", 3 },
        { "\xff", 1 },
        { "\xc0\x80", 2 },
        { "\xed\xa0\x80", 3 },
        { "\xf5\x80\x80\x80", 4 },
        { "\xe2\x82", 2 },
        { "plain ascii \x80", 13 },
        { "\xf4\x90\x80\x80", 4 },
        { "\xe0\x9f\xbf", 3 },
        { "12345678\0", 9 },
    };
    AUTO(domain) domain = open_things(t);

    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        AUTO(stmt) q = prepare(t, domain, SQL("INSERT INTO things (id, name) VALUES (?, ?)"));

        stmt_bind_i64(q, 1);
        stmt_bind_str(q, str_of(broken[i].bytes, broken[i].n));
        ASSERT_FAILS(stmt_run(q, &t->err), ERR_BAD_REQUEST);
        ASSERT_CONTAINS(test_err_text(t), "value 2");
    }
    ASSERT_EQ(count_things(t, domain), 0);
}

DB_TEST(numbers_that_are_none_are_refused)
{
    const double ratios[] = { NAN, INFINITY, -INFINITY };
    AUTO(domain) domain = open_things(t);

    for (size_t i = 0; i < ARRAY_LEN(ratios); i++) {
        AUTO(stmt) q = prepare(t, domain, SQL("INSERT INTO things (id, ratio) VALUES (?, ?)"));

        stmt_bind_i64(q, 1);
        stmt_bind_f64(q, ratios[i]);
        ASSERT_FAILS(stmt_run(q, &t->err), ERR_BAD_REQUEST);
    }
}

DB_TEST(a_value_over_the_limit_is_refused_before_it_is_sent)
{
    AUTO(domain) domain = open_things(t);
    AUTO(stmt) q = prepare(t, domain, SQL("INSERT INTO things (id, bytes) VALUES (?, ?)"));

    stmt_bind_i64(q, 1);
    /* Never looked at: the length alone refuses it. */
    stmt_bind_blob(q, str_of("x", ((size_t)32 << 20) + 1));
    ASSERT_FAILS(stmt_run(q, &t->err), ERR_TOO_LARGE);
}

DB_TEST(a_blob_of_some_megabytes_survives)
{
    size_t n = (size_t)5 << 20;
    char *bytes = arena_alloc(&t->arena, n, 1);
    AUTO(domain) domain = open_things(t);
    AUTO(stmt) in = prepare(t, domain, SQL("INSERT INTO things (id, bytes) VALUES (?, ?)"));
    AUTO(stmt) out = prepare(t, domain, SQL("SELECT bytes FROM things"));

    for (size_t i = 0; i < n; i++)
        bytes[i] = (char)(i * 2654435761u >> 13);
    stmt_bind_i64(in, 1);
    stmt_bind_blob(in, str_of(bytes, n));
    ASSERT_OK(stmt_run(in, &t->err));
    ASSERT_EQ(stmt_step(out, &t->err), 1);
    ASSERT(str_eq(stmt_blob(out, "bytes"), str_of(bytes, n)));
}

/* What a value is bound as, and the column it goes to. */
static int insert_as(struct domain *domain, struct sql sql, char kind, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain), sql, &q, err) < 0)
        return -1;
    if (kind == 'i')
        stmt_bind_i64(q, 5);
    else if (kind == 'f')
        stmt_bind_f64(q, 1.5);
    else if (kind == 't')
        stmt_bind_text(q, "five");
    else
        stmt_bind_blob(q, STR("\x01\x02"));
    return stmt_run(q, err);
}

DB_TEST(a_value_of_the_wrong_type_is_refused)
{
    AUTO(domain) domain = open_things(t);

    ASSERT_FAILS(
        insert_as(domain, SQL("INSERT INTO things (id, number) VALUES (1, ?)"), 't', &t->err),
        ERR_SCHEMA_VIOLATION);
    ASSERT_FAILS(
        insert_as(domain, SQL("INSERT INTO things (id, number) VALUES (2, ?)"), 'f', &t->err),
        ERR_SCHEMA_VIOLATION);
    ASSERT_FAILS(
        insert_as(domain, SQL("INSERT INTO things (id, number) VALUES (3, ?)"), 'b', &t->err),
        ERR_SCHEMA_VIOLATION);
    ASSERT_FAILS(
        insert_as(domain, SQL("INSERT INTO things (id, ratio) VALUES (4, ?)"), 't', &t->err),
        ERR_SCHEMA_VIOLATION);
    for (int i = 0; i < 3; i++) /* prepared or not */
        ASSERT_FAILS(
            insert_as(domain, SQL("INSERT INTO things (id, name) VALUES (5, ?)"), 'b', &t->err),
            ERR_SCHEMA_VIOLATION);
    ASSERT_FAILS(
        insert_as(domain, SQL("INSERT INTO things (id, bytes) VALUES (6, ?)"), 't', &t->err),
        ERR_SCHEMA_VIOLATION);
    ASSERT_EQ(count_things(t, domain), 0);
    ASSERT_OK(insert_as(domain, SQL("INSERT INTO things (id, ratio) VALUES (7, ?)"), 'i', &t->err));
    AUTO(stmt) q = prepare(t, domain, SQL("SELECT ratio FROM things"));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT(stmt_f64(q, "ratio") == 5.0);
}

DB_TEST(constraints_are_conflicts)
{
    AUTO(domain) domain = open_things(t);

    ASSERT_OK(add_thing(domain, 1, "a", &t->err));
    ASSERT_FAILS(add_thing(domain, 1, "b", &t->err), ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "INSERT INTO things (id, name)");
    ASSERT_FAILS(db_exec(domain_db(domain), SQL("INSERT INTO parts (thing, part) VALUES (1, NULL)"),
                         &t->err),
                 ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "part");
    ASSERT_FAILS(db_exec(domain_db(domain), SQL("INSERT INTO parts (thing, part) VALUES (99, 'x')"),
                         &t->err),
                 ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), db_test_is_postgres(t) ? "parts_thing_fkey" : "FOREIGN KEY");
    for (int i = 0; i < 2; i++) {
        int r = db_exec(domain_db(domain), SQL("INSERT INTO parts (thing, part) VALUES (1, 'leg')"),
                        &t->err);
        ASSERT_EQ(r < 0, i);
    }
    ASSERT_CONTAINS(test_err_text(t), db_test_is_postgres(t) ? "parts_part_key" : "parts.part");
    ASSERT_EQ(count_things(t, domain), 1);
}

DB_TEST(upsert_and_returning_belong_to_the_dialect)
{
    AUTO(domain) domain = open_things(t);

    for (int i = 0; i < 3; i++) {
        AUTO(stmt)
        q = prepare(t, domain,
                    SQL("INSERT INTO things (id, number) VALUES (?, ?) ON CONFLICT (id)"
                        " DO UPDATE SET number = things.number + excluded.number"
                        " RETURNING id, number"));

        stmt_bind_i64(q, 4);
        stmt_bind_i64(q, 10);
        ASSERT_EQ(stmt_step(q, &t->err), 1);
        ASSERT_EQ(stmt_i64(q, "id"), 4);
        ASSERT_EQ(stmt_i64(q, "number"), 10 * (i + 1));
        ASSERT_EQ(stmt_step(q, &t->err), 0);
        ASSERT_EQ(stmt_changes(q), 1);
    }
    AUTO(stmt)
    sum = prepare(t, domain, SQL("SELECT sum(number) AS total, max(ratio) AS top FROM things"));
    ASSERT_EQ(stmt_step(sum, &t->err), 1);
    ASSERT_EQ(stmt_i64(sum, "total"), 30);
    ASSERT(stmt_is_null(sum, "top"));
}

/* SQLite does this one by itself: the number of one new row, or none. */
static const struct migration numbered[] = {
    { .number = 1,
      .name = "rows",
      .sqlite = "CREATE TABLE rows (n INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL UNIQUE)"
                " STRICT;",
      .postgres = "CREATE TABLE rows (n BIGINT NOT NULL GENERATED BY DEFAULT AS IDENTITY PRIMARY"
                  " KEY, name TEXT NOT NULL UNIQUE);" },
};

/* 0: there was one of this name. */
static int64_t insert_row(struct test *t, struct domain *domain, const char *name)
{
    AUTO(stmt)
    in = prepare(t, domain,
                 SQL("INSERT INTO rows (name) VALUES (?)"
                     " ON CONFLICT (name) DO NOTHING RETURNING n"));
    int64_t n = 0;
    int r;

    stmt_bind_text(in, name);
    r = stmt_step(in, &t->err);
    ASSERT_OK(r);
    if (r == 1)
        n = stmt_i64(in, "n");
    ASSERT_EQ(stmt_step(in, &t->err), 0);
    ASSERT_EQ(stmt_step(in, &t->err), 0);
    return n;
}

DB_TEST(an_insert_may_return_the_number_of_its_row)
{
    AUTO(domain) domain = db_test_open(t, numbered, ARRAY_LEN(numbered));
    AUTO(stmt) in = prepare(t, domain, SQL("INSERT INTO rows (name) VALUES (?) RETURNING n"));
    AUTO(stmt) q = prepare(t, domain, SQL("SELECT n, name FROM rows ORDER BY n"));
    int64_t first = insert_row(t, domain, "a"), second;

    ASSERT(first > 0);
    ASSERT_EQ(insert_row(t, domain, "a"), 0);
    second = insert_row(t, domain, "b");
    ASSERT(second > first);
    stmt_bind_text(in, "c");
    ASSERT_OK(stmt_run(in, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT_EQ(stmt_i64(q, "n"), first);
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT_EQ(stmt_i64(q, "n"), second);
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT_STR(stmt_str(q, "name"), "c");
    ASSERT_EQ(stmt_step(q, &t->err), 0);
}

DB_TEST(expressions_have_the_same_types)
{
    AUTO(domain) domain = open_things(t);
    AUTO(stmt)
    q = prepare(
        t, domain,
        SQL("SELECT avg(number) AS mean, sum(number) AS total, sum(ratio) AS ratios,"
            " count(*) AS n, max(name) AS last, length(max(name)) AS letters,"
            " EXISTS (SELECT 1 FROM parts) AS any_part, min(number) < max(number) AS differ,"
            " lower('ABC') || '?' AS word, CAST(2 AS SMALLINT) AS small,"
            " CAST(0.5 AS REAL) AS half, CAST(NULL AS TEXT) AS absent FROM things"));

    for (int64_t i = 1; i <= 2; i++) {
        AUTO(stmt) in = prepare(t, domain, INSERT_ALL);

        stmt_bind_i64(in, i);
        stmt_bind_i64(in, i);
        stmt_bind_f64(in, 0.25);
        stmt_bind_text(in, i == 1 ? "b" : "\xc3\xa4");
        stmt_bind_null(in);
        ASSERT_OK(stmt_run(in, &t->err));
    }
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT(stmt_f64(q, "mean") == 1.5);
    ASSERT_EQ(stmt_i64(q, "total"), 3);
    ASSERT(stmt_f64(q, "total") == 3.0);
    ASSERT(stmt_f64(q, "ratios") == 0.5);
    ASSERT_EQ(stmt_i64(q, "n"), 2);
    ASSERT_STR(stmt_str(q, "last"), "\xc3\xa4"); /* by bytes, not by a language */
    ASSERT_EQ(stmt_i64(q, "letters"), 1);
    ASSERT(!stmt_bool(q, "any_part"));
    ASSERT(stmt_bool(q, "differ"));
    ASSERT_STR(stmt_str(q, "word"), "abc?");
    ASSERT_EQ(stmt_i64(q, "small"), 2);
    ASSERT(stmt_f64(q, "half") == 0.5);
    ASSERT(stmt_str(q, "absent").p == NULL);
}

DB_TEST(changes_counts_rows_of_the_last_run)
{
    AUTO(domain) domain = open_things(t);

    for (int i = 0; i < 5; i++)
        ASSERT_OK(add_thing(domain, i, "x", &t->err));
    AUTO(stmt) update = prepare(t, domain, SQL("UPDATE things SET number = ? WHERE id < ?"));
    AUTO(stmt) select = prepare(t, domain, SQL("SELECT id FROM things"));

    ASSERT_OK(domain_begin(domain, &t->err));
    stmt_bind_i64(update, 1);
    stmt_bind_i64(update, 3);
    ASSERT_OK(stmt_run(update, &t->err));
    ASSERT_EQ(stmt_changes(update), 3);
    stmt_reset(update);
    ASSERT_EQ(stmt_changes(update), 0);
    stmt_bind_i64(update, 1);
    stmt_bind_i64(update, 0);
    ASSERT_OK(stmt_run(update, &t->err));
    ASSERT_EQ(stmt_changes(update), 0);
    ASSERT_OK(domain_commit(domain, &t->err));
    ASSERT_OK(stmt_run(select, &t->err));
    ASSERT_EQ(stmt_changes(select), 0);
}

DB_TEST(quotes_and_comments_keep_their_question_marks)
{
    AUTO(domain) domain = open_things(t);
    AUTO(stmt)
    q = prepare(t, domain,
                SQL("SELECT 'really?' AS \"what?\" -- or not?\n"
                    " , CAST(? AS TEXT) AS said /* eh? */, 'it''s ?' AS other"));

    stmt_bind_text(q, "yes");
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT_STR(stmt_str(q, "what?"), "really?");
    ASSERT_STR(stmt_str(q, "said"), "yes");
    ASSERT_STR(stmt_str(q, "other"), "it's ?");
}

DB_TEST(a_big_result_is_streamed_in_order)
{
    enum { ROWS = 20000 };
    AUTO(domain) domain = open_things(t);
    AUTO(stmt) q = NULL;
    int64_t next = 0;

    ASSERT_OK(domain_begin(domain, &t->err));
    for (int64_t i = 0; i < ROWS; i++)
        ASSERT_OK(add_thing(domain, i, "0123456789012345678901234567890123456789", &t->err));
    ASSERT_OK(domain_commit(domain, &t->err));
    q = prepare(t, domain, SQL("SELECT id, name FROM things ORDER BY id"));
    while (stmt_step(q, &t->err) == 1) {
        ASSERT_EQ(stmt_i64(q, "id"), next);
        next++;
    }
    ASSERT_EQ(next, ROWS);
}

#ifdef __SANITIZE_ADDRESS__
size_t __sanitizer_get_current_allocated_bytes(void);
#define allocated_bytes() __sanitizer_get_current_allocated_bytes()
#else
#define allocated_bytes() (mallinfo2().uordblks + mallinfo2().hblkhd)
#endif

DB_TEST(a_result_larger_than_memory_needs_little_of_it)
{
    enum { ROWS = 30000, BYTES = 4096 }; /* 120 MB */
    char *filler = arena_alloc(&t->arena, BYTES, 1);
    AUTO(domain) domain = open_things(t);
    AUTO(stmt)
    q = prepare(t, domain,
                SQL("WITH RECURSIVE n(i) AS (SELECT CAST(1 AS BIGINT) UNION ALL"
                    " SELECT i + 1 FROM n WHERE i < 30000)"
                    " SELECT i, CAST(? AS TEXT) AS filler FROM n"));
    size_t before, most = 0;
    int64_t rows = 0;

    memset(filler, 'f', BYTES);
    stmt_bind_str(q, str_of(filler, BYTES));
    before = allocated_bytes();
    while (stmt_step(q, &t->err) == 1) {
        ASSERT_EQ(stmt_i64(q, "i"), ++rows);
        ASSERT_EQ(stmt_str(q, "filler").n, BYTES);
        if (rows % 100 == 0 && allocated_bytes() > most)
            most = allocated_bytes();
    }
    ASSERT_EQ(rows, ROWS);
    if (most > before + 2 * 1024 * 1024)
        FAIL("%zu bytes were allocated before, %zu while reading", before, most);
}

DB_TEST(rows_may_be_read_while_others_are_written_and_read)
{
    AUTO(domain) domain = open_things(t);
    AUTO(stmt) outer = NULL;
    int64_t seen = 0;

    for (int64_t i = 0; i < 50; i++)
        ASSERT_OK(add_thing(domain, i, "x", &t->err));
    ASSERT_OK(domain_begin(domain, &t->err));
    outer = prepare(t, domain, SQL("SELECT id FROM things WHERE id < 50 ORDER BY id"));
    while (stmt_step(outer, &t->err) == 1) {
        AUTO(stmt) update = prepare(t, domain, SQL("UPDATE things SET number = ? WHERE id = ?"));
        int64_t id = stmt_i64(outer, "id");

        ASSERT_EQ(id, seen);
        stmt_bind_i64(update, id * 2);
        stmt_bind_i64(update, id);
        ASSERT_OK(stmt_run(update, &t->err));
        if (id % 10 == 3) {
            AUTO(stmt) inner = prepare(t, domain, SQL("SELECT number FROM things WHERE id = ?"));

            stmt_bind_i64(inner, id);
            ASSERT_EQ(stmt_step(inner, &t->err), 1);
            ASSERT_EQ(stmt_i64(inner, "number"), id * 2);
        }
        ASSERT_EQ(stmt_i64(outer, "id"), id);
        seen++;
    }
    ASSERT_EQ(seen, 50);
    ASSERT_OK(domain_commit(domain, &t->err));
    AUTO(stmt) sum = prepare(t, domain, SQL("SELECT sum(number) AS n FROM things"));
    ASSERT_EQ(stmt_step(sum, &t->err), 1);
    ASSERT_EQ(stmt_i64(sum, "n"), 49 * 50);
}

DB_TEST(a_result_may_be_left_half_read)
{
    AUTO(domain) domain = open_things(t);

    ASSERT_OK(domain_begin(domain, &t->err));
    for (int64_t i = 0; i < 2000; i++)
        ASSERT_OK(add_thing(domain, i, "x", &t->err));
    for (int i = 0; i < 20; i++) {
        AUTO(stmt) q = prepare(t, domain, SQL("SELECT id FROM things ORDER BY id"));

        ASSERT_EQ(stmt_step(q, &t->err), 1);
        ASSERT_EQ(stmt_i64(q, "id"), 0);
        if (i % 2) {
            stmt_reset(q);
            ASSERT_EQ(stmt_step(q, &t->err), 1);
            ASSERT_EQ(stmt_i64(q, "id"), 0);
        }
    }
    ASSERT_OK(domain_commit(domain, &t->err));
    ASSERT_EQ(count_things(t, domain), 2000);
}

DB_TEST(the_same_literal_may_be_open_twice)
{
    static const char literal[] = "SELECT id FROM things ORDER BY id";
    const struct sql sql = { literal };
    AUTO(domain) domain = open_things(t);

    for (int64_t i = 0; i < 3; i++)
        ASSERT_OK(add_thing(domain, i, "x", &t->err));
    AUTO(stmt) a = prepare(t, domain, sql);
    AUTO(stmt) b = prepare(t, domain, sql);
    ASSERT(a != b);
    ASSERT_EQ(stmt_step(a, &t->err), 1);
    ASSERT_EQ(stmt_step(a, &t->err), 1);
    ASSERT_EQ(stmt_step(b, &t->err), 1);
    ASSERT_EQ(stmt_i64(b, "id"), 0);
    ASSERT_EQ(stmt_i64(a, "id"), 1);
    ASSERT_EQ(stmt_step(a, &t->err), 1);
    ASSERT_EQ(stmt_i64(a, "id"), 2);
}

DB_TEST(a_freed_statement_is_used_again_with_new_values)
{
    static const char literal[] = "SELECT name FROM things WHERE id = ?";
    AUTO(domain) domain = open_things(t);
    struct stmt *first = NULL;

    ASSERT_OK(add_thing(domain, 1, "one", &t->err));
    ASSERT_OK(add_thing(domain, 2, "two", &t->err));
    for (int64_t i = 1; i <= 2; i++) {
        AUTO(stmt) q = prepare(t, domain, (struct sql){ literal });

        if (!first)
            first = q;
        ASSERT(q == first);
        stmt_bind_i64(q, i);
        ASSERT_EQ(stmt_step(q, &t->err), 1);
        ASSERT_STR(stmt_str(q, "name"), i == 1 ? "one" : "two");
    }
}

DB_TEST(values_of_changing_types_fit_the_same_placeholder)
{
    AUTO(domain) domain = open_things(t);
    int64_t id = 0;

    for (int round = 0; round < 3; round++)
        for (unsigned mask = 0; mask < 16; mask++) {
            AUTO(stmt) q = prepare(t, domain, INSERT_ALL);

            stmt_bind_i64(q, ++id);
            if (mask & 1)
                stmt_bind_i64(q, id);
            else
                stmt_bind_null(q);
            if (mask & 2)
                stmt_bind_f64(q, 0.5);
            else if (round == 1)
                stmt_bind_i64(q, 3);
            else
                stmt_bind_null(q);
            stmt_bind_text(q, mask & 4 ? "text" : NULL);
            stmt_bind_blob(q, mask & 8 ? STR("blob") : STR_NONE);
            ASSERT_OK(stmt_run(q, &t->err));
        }
    AUTO(stmt)
    q = prepare(t, domain,
                SQL("SELECT count(number) AS a, count(ratio) AS b, count(name) AS c,"
                    " count(bytes) AS d FROM things"));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT_EQ(stmt_i64(q, "a"), 24);
    ASSERT_EQ(stmt_i64(q, "b"), 32);
    ASSERT_EQ(stmt_i64(q, "c"), 24);
    ASSERT_EQ(stmt_i64(q, "d"), 24);
}

DB_TEST(broken_sql_is_reported_with_its_text)
{
    AUTO(domain) domain = open_things(t);
    AUTO(stmt) q = NULL;
    int r = db_prepare(domain_db(domain), SQL("SELECT nonsense FROM nowhere"), &q, &t->err);

    /* Postgres looks at it when it runs. */
    if (r == 0)
        r = stmt_step(q, &t->err);
    ASSERT_FAILS(r, ERR_INTERNAL);
    ASSERT_CONTAINS(test_err_text(t), "SELECT nonsense FROM nowhere");
    ASSERT_CONTAINS(test_err_text(t), "nowhere");
    ASSERT_EQ(count_things(t, domain), 0);
}

DB_TEST(many_statements_do_not_pile_up)
{
    /* More distinct literals than the cache keeps, all different addresses. */
    static char texts[400][64];
    AUTO(domain) domain = open_things(t);

    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
            struct stmt *q = NULL;

            snprintf(texts[i], sizeof(texts[i]), "SELECT %zu AS n", i);
            ASSERT_OK(db_prepare(domain_db(domain), (struct sql){ texts[i] }, &q, &t->err));
            ASSERT_EQ(stmt_step(q, &t->err), 1);
            ASSERT_EQ(stmt_i64(q, "n"), i);
            stmt_free(q);
        }
}

/* ---- our own mistakes end the process, with a word about where ---- */

static struct stmt *one_row(struct domain *domain)
{
    struct err err = ERR_INIT;
    struct stmt *q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT CAST('a' AS TEXT) AS word, CAST(1 AS BIGINT) AS number"), &q,
                   &err) < 0 ||
        stmt_step(q, &err) != 1)
        _exit(0);
    return q;
}

static struct stmt *unrun(struct domain *domain, struct sql sql)
{
    struct err err = ERR_INIT;
    struct stmt *q = NULL;

    if (db_prepare(domain_db(domain), sql, &q, &err) < 0)
        _exit(0);
    return q;
}

#define MISTAKE(name_, ...)                                                                        \
    static void name_(struct domain *domain)                                                       \
    {                                                                                              \
        struct err err = ERR_INIT;                                                                 \
                                                                                                   \
        (void)domain, (void)err;                                                                   \
        __VA_ARGS__;                                                                               \
    }
MISTAKE(read_text_as_integer, stmt_i64(one_row(domain), "word"))
MISTAKE(read_text_as_number, stmt_f64(one_row(domain), "word"))
MISTAKE(read_text_as_blob, stmt_blob(one_row(domain), "word"))
MISTAKE(read_integer_as_text, stmt_str(one_row(domain), "number"))
MISTAKE(read_missing_column, stmt_i64(one_row(domain), "numbe"))
MISTAKE(read_without_row, stmt_i64(unrun(domain, SQL("SELECT 1 AS n")), "n"))
MISTAKE(bind_too_many, stmt_bind_i64(unrun(domain, SQL("SELECT 1 AS n")), 1))
MISTAKE(bind_too_few, stmt_step(unrun(domain, SQL("SELECT CAST(? AS TEXT) AS n")), &err))
MISTAKE(bind_while_it_runs, stmt_bind_i64(one_row(domain), 1))
MISTAKE(run_while_it_runs, stmt_run(one_row(domain), &err))
MISTAKE(close_with_an_open_statement, one_row(domain); domain_free(domain))
MISTAKE(begin_twice, domain_begin(domain, &err); domain_begin(domain, &err))
MISTAKE(commit_without_begin, domain_commit(domain, &err))
MISTAKE(release_without_savepoint, domain_begin(domain, &err); domain_release(domain, &err))
MISTAKE(undo_without_savepoint, domain_begin(domain, &err); domain_rollback_to(domain))
MISTAKE(savepoint_without_begin, domain_savepoint(domain, &err))
MISTAKE(backup_in_a_transaction, domain_begin(domain, &err);
        domain_backup(domain, "/nonexistent/x", NULL, NULL, &err))

DB_TEST(misuse_is_a_bug_and_not_undefined)
{
    static void (*const mistakes[])(struct domain *) = {
        read_text_as_integer,
        read_text_as_number,
        read_text_as_blob,
        read_integer_as_text,
        read_missing_column,
        read_without_row,
        bind_too_many,
        bind_too_few,
        bind_while_it_runs,
        run_while_it_runs,
        close_with_an_open_statement,
        begin_twice,
        commit_without_begin,
        release_without_savepoint,
        undo_without_savepoint,
        savepoint_without_begin,
        backup_in_a_transaction,
    };

    for (size_t i = 0; i < ARRAY_LEN(mistakes); i++) {
        AUTO(domain) domain = open_things(t);
        int status;
        pid_t pid = fork();

        if (pid == 0) {
            if (!freopen("/dev/null", "w", stderr))
                _exit(0);
            mistakes[i](domain);
            _exit(0);
        }
        ASSERT(waitpid(pid, &status, 0) == pid);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
            FAIL("mistake %zu was not noticed (status %d)", i, status);
    }
}
