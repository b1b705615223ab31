/* Units on SQLite: what is undone by doing the rest again must leave what savepoints leave.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sqlite3.h>
#include <stdio.h>

#include "base/rand.h"
#include "db/db.h"
#include "db/db_int.h"
#include "db/sqlite_int.h"
#include "harness/test.h"

static const struct migration steps[] = {
    { .number = 1,
      .name = "rows",
      .sqlite =
          "CREATE TABLE rows (n INTEGER PRIMARY KEY, word TEXT UNIQUE, bytes BLOB, ratio REAL,"
          " count INTEGER NOT NULL) STRICT;"
          "CREATE TABLE parts (row_n INTEGER NOT NULL REFERENCES rows (n)"
          " DEFERRABLE INITIALLY DEFERRED) STRICT;" },
};

static struct domain *open_file(struct test *t, const char *name)
{
    const struct domain_config config = {
        .name = "agent",
        .url = arena_printf(&t->arena, "sqlite:%s", test_path(t, name)),
        .migrations = steps,
        .migration_count = ARRAY_LEN(steps),
        .busy_ms = 50,
    };
    struct domain *domain = NULL;

    ASSERT_OK(domain_open(&config, &domain, &t->err));
    return domain;
}

static struct sqlite *sqlite_in(struct domain *domain)
{
    return sqlite_of(domain_db(domain));
}

/* Returns the new row's number, or less than 0. */
static int64_t add(struct domain *domain, struct str word, struct str bytes, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO rows (word, bytes, ratio, count) VALUES (?, ?, ?, ?)"
                       " RETURNING n"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, word);
    stmt_bind_blob(q, bytes);
    stmt_bind_f64(q, (double)word.n / 4);
    stmt_bind_i64(q, (int64_t)bytes.n);
    return stmt_step(q, err) == 1 ? stmt_i64(q, "n") : -1;
}

static int64_t add_word(struct domain *domain, const char *word, struct err *err)
{
    return add(domain, str_from(word), STR_NONE, err);
}

/* Everything that is there, in order. */
static const char *dump(struct test *t, struct domain *domain)
{
    AUTO(stmt) q = NULL;
    AUTO_BUF out = BUF_INIT(1 * MIB);

    ASSERT_OK(db_prepare(domain_db(domain),
                         SQL("SELECT n || ' ' || quote(word) || ' ' ||"
                             " substr(quote(bytes), 1, 40) || ' ' || quote(ratio) || ' ' || count"
                             " AS line FROM rows UNION ALL SELECT 'part of ' || row_n FROM parts"
                             " ORDER BY line"),
                         &q, &t->err));
    while (stmt_step(q, &t->err) == 1) {
        buf_add_str(&out, stmt_str(q, "line"));
        buf_add_char(&out, '\n');
    }
    ASSERT_EQ(t->err.code, 0);
    return arena_text(&t->arena, buf_text(&out));
}

static void undo_first_of_two(struct test *t, struct domain *domain, bool with_blob)
{
    static const char blob[] = "a\0b'\xff";

    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(domain_savepoint(domain, &t->err));
    ASSERT_EQ(add(domain, STR("kept"), with_blob ? str_of(blob, 5) : STR_NONE, &t->err), 1);
    ASSERT_OK(domain_release(domain, &t->err));
    ASSERT_OK(domain_savepoint(domain, &t->err));
    ASSERT_EQ(add_word(domain, "undone", &t->err), 2);
    domain_rollback_to(domain);
}

TEST(what_is_kept_is_as_it_was_when_a_later_unit_is_undone)
{
    AUTO(domain) domain = open_file(t, "a.sqlite");

    undo_first_of_two(t, domain, true);
    ASSERT_TEXT(dump(t, domain), "1 'kept' X'61006227FF' 1.0 5\n");
    ASSERT_EQ(add_word(domain, "more", &t->err), 2);
    ASSERT_OK(domain_commit(domain, &t->err));
    ASSERT_TEXT(dump(t, domain), "1 'kept' X'61006227FF' 1.0 5\n"
                                 "2 'more' NULL 1.0 0\n");
}

TEST(a_unit_that_wrote_nothing_costs_nothing_to_undo)
{
    AUTO(domain) domain = open_file(t, "a.sqlite");

    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_EQ(add_word(domain, "one", &t->err), 1);
    for (int i = 0; i < 3; i++) {
        ASSERT_OK(domain_savepoint(domain, &t->err));
        ASSERT_EQ(add_word(domain, "one", &t->err), -1);
        ASSERT_EQ(t->err.code, ERR_CONFLICT);
        err_reset(&t->err);
        domain_rollback_to(domain);
        ASSERT(sqlite_in(domain)->redo.whole);
    }
    ASSERT_OK(domain_commit(domain, &t->err));
    ASSERT_TEXT(dump(t, domain), "1 'one' NULL 0.75 0\n");
}

TEST(it_is_done_again_once_and_then_savepoints_are_real)
{
    AUTO(domain) domain = open_file(t, "a.sqlite");

    undo_first_of_two(t, domain, false);
    ASSERT(!sqlite_in(domain)->redo.whole);
    for (int i = 0; i < 3; i++) {
        ASSERT_OK(domain_savepoint(domain, &t->err));
        ASSERT_EQ(add_word(domain, "undone", &t->err), 2);
        domain_rollback_to(domain);
    }
    ASSERT_OK(domain_savepoint(domain, &t->err));
    ASSERT_EQ(add_word(domain, "kept, too", &t->err), 2);
    ASSERT_OK(domain_release(domain, &t->err));
    ASSERT_OK(domain_commit(domain, &t->err));
    ASSERT_TEXT(dump(t, domain), "1 'kept' NULL 1.0 0\n"
                                 "2 'kept, too' NULL 2.25 0\n");
    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT(sqlite_in(domain)->redo.whole);
}

/* The unit that fills the log, those before it and those after it: any of them may be undone. */
TEST(more_than_the_log_holds_can_be_undone_all_the_same)
{
    size_t n = SQLITE_REDO_BYTES_MAX;
    struct str large = { arena_alloc(&t->arena, n, 1), n };

    for (int undone = 0; undone < 3; undone++) {
        AUTO(domain) domain = open_file(t, arena_printf(&t->arena, "%d.sqlite", undone));
        static const char *const words[] = { "before", "large", "after" };

        ASSERT_OK(domain_begin(domain, &t->err));
        for (int unit = 0; unit < 3; unit++) {
            ASSERT_OK(domain_savepoint(domain, &t->err));
            ASSERT(add(domain, str_from(words[unit]), unit == 1 ? large : STR_NONE, &t->err) > 0);
            if (unit == undone)
                domain_rollback_to(domain);
            else
                ASSERT_OK(domain_release(domain, &t->err));
        }
        ASSERT_OK(domain_commit(domain, &t->err));
        for (int unit = 0; unit < 3; unit++)
            ASSERT_EQ(strstr(dump(t, domain), words[unit]) != NULL, unit != undone);
    }
}

TEST(a_script_inside_a_unit_is_undone_with_it)
{
    AUTO(domain) domain = open_file(t, "a.sqlite");
    struct db *db = domain_db(domain);

    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_EQ(add_word(domain, "kept", &t->err), 1);
    ASSERT_OK(domain_savepoint(domain, &t->err));
    ASSERT_OK(db->ops->script(db, "INSERT INTO rows (count) VALUES (1), (2)", &t->err));
    domain_rollback_to(domain);
    ASSERT_OK(domain_savepoint(domain, &t->err));
    ASSERT_OK(db->ops->script(db, "INSERT INTO rows (count) VALUES (7)", &t->err));
    ASSERT_OK(domain_release(domain, &t->err));
    ASSERT_OK(domain_savepoint(domain, &t->err));
    ASSERT_EQ(add_word(domain, "undone", &t->err), 3);
    domain_rollback_to(domain);
    ASSERT_OK(domain_commit(domain, &t->err));
    ASSERT_TEXT(dump(t, domain), "1 'kept' NULL 1.0 0\n2 NULL NULL NULL 7\n");
}

/* ---- somebody else ---- */

static struct domain *intruder;

static void write_as_other(void *arg)
{
    struct err err = ERR_INIT;

    *(bool *)arg |= add_word(intruder, "other", &err) > 0;
}

TEST(a_transaction_fails_as_a_whole_when_another_process_wrote_in_between)
{
    AUTO(domain) domain = open_file(t, "a.sqlite");
    AUTO(domain) other = open_file(t, "a.sqlite");
    bool wrote = false;

    intruder = other;
    sqlite3_rollback_hook(sqlite_in(domain)->handle, write_as_other, &wrote);
    undo_first_of_two(t, domain, false);
    sqlite3_rollback_hook(sqlite_in(domain)->handle, NULL, NULL);
    ASSERT(wrote);
    ASSERT_FAILS(domain_commit(domain, &t->err), ERR_STORAGE_FAILED);
    ASSERT(strstr(err_format(&t->err, (char[ERR_TEXT_MAX]){ 0 }, ERR_TEXT_MAX),
                  "another process wrote in between"));
    ASSERT(!domain_in_transaction(domain));
    err_reset(&t->err);
    ASSERT_TEXT(dump(t, domain), "1 'other' NULL 1.25 0\n");
    ASSERT_EQ(domain_health(domain), DOMAIN_OK);
}

static void lock_as_other(void *arg)
{
    struct err err = ERR_INIT;

    *(bool *)arg |= domain_begin(intruder, &err) == 0;
}

TEST(a_transaction_fails_as_a_whole_when_another_process_took_the_lock)
{
    AUTO(domain) domain = open_file(t, "a.sqlite");
    AUTO(domain) other = open_file(t, "a.sqlite");
    bool locked = false;

    intruder = other;
    sqlite3_rollback_hook(sqlite_in(domain)->handle, lock_as_other, &locked);
    undo_first_of_two(t, domain, false);
    sqlite3_rollback_hook(sqlite_in(domain)->handle, NULL, NULL);
    ASSERT(locked);
    ASSERT_EQ(add_word(domain, "late", &t->err), -1);
    ASSERT(domain_commit(domain, &t->err) < 0);
    domain_rollback(other);
    err_reset(&t->err);
    ASSERT_TEXT(dump(t, domain), "");
    undo_first_of_two(t, domain, false);
    ASSERT_OK(domain_commit(domain, &t->err));
    ASSERT_TEXT(dump(t, domain), "1 'kept' NULL 1.0 0\n");
}

TEST(a_transaction_that_only_reads_sees_the_same_after_a_unit_was_undone)
{
    AUTO(domain) domain = open_file(t, "a.sqlite");
    AUTO(domain) other = open_file(t, "a.sqlite");
    struct db *db = domain_db(domain);

    ASSERT_OK(db_control(db, DB_BEGIN_READ, &t->err));
    ASSERT_TEXT(dump(t, domain), "");
    ASSERT_OK(domain_savepoint(domain, &t->err));
    ASSERT_EQ(add_word(other, "new", &t->err), 1);
    domain_rollback_to(domain);
    ASSERT_TEXT(dump(t, domain), "");
    ASSERT_OK(domain_commit(domain, &t->err));
    ASSERT_TEXT(dump(t, domain), "1 'new' NULL 0.75 0\n");
}

/* ---- against SQLite's own savepoints ---- */

/* One write that depends on what is there, from numbers. Failing is one of the outcomes. */
static int write_something(struct domain *domain, const uint64_t numbers[3], struct err *err)
{
    AUTO(stmt) q = NULL;
    struct db *db = domain_db(domain);
    char word[32];
    int n = snprintf(word, sizeof(word), "w%d", (int)(numbers[1] % 24));

    switch (numbers[0] % 6) {
    case 0:
    case 1:
    case 2:
        return add(domain, str_of(word, (size_t)n), numbers[2] % 2 ? STR("\x01\x02") : STR_NONE,
                   err) < 0
                   ? -1
                   : 0;
    case 3:
        if (db_prepare(db,
                       SQL("UPDATE rows SET count = count + ?, ratio = NULL WHERE n % 3 = ?"
                           " RETURNING n, count"),
                       &q, err) < 0)
            return -1;
        stmt_bind_i64(q, (int64_t)(numbers[1] % 10));
        stmt_bind_i64(q, (int64_t)(numbers[2] % 3));
        return stmt_step(q, err) < 0 ? -1 : 0; /* the rest of the result is not read */
    case 4:
        if (db_prepare(db, SQL("DELETE FROM rows WHERE word < ? AND n > ?"), &q, err) < 0)
            return -1;
        stmt_bind_str(q, str_of(word, (size_t)n));
        stmt_bind_i64(q, (int64_t)(numbers[2] % 20));
        return stmt_run(q, err);
    default:
        if (db_prepare(db, SQL("INSERT INTO parts (row_n) SELECT n FROM rows WHERE n > ? LIMIT 2"),
                       &q, err) < 0)
            return -1;
        stmt_bind_i64(q, (int64_t)(numbers[1] % 20));
        return stmt_run(q, err);
    }
}

struct twins {
    struct domain *domain[2]; /* the second has savepoints of SQLite's own */
    struct rand_fake rand;
    int depth;
};

static void both_end(struct twins *twins, bool keep, struct err *err)
{
    for (int i = 0; i < 2; i++) {
        if (!keep || domain_release(twins->domain[i], err) < 0)
            domain_rollback_to(twins->domain[i]);
        err_reset(err);
    }
    twins->depth--;
}

static void twins_step(struct test *t, struct twins *twins)
{
    struct rand *rand = &twins->rand.rand;
    uint64_t what = rand_below(rand, 20);
    const uint64_t numbers[3] = { rand_u64(rand), rand_u64(rand), rand_u64(rand) };
    int r[2];

    if (what < 4 && twins->depth < DB_SAVEPOINTS_MAX) {
        for (int i = 0; i < 2; i++)
            ASSERT_OK(domain_savepoint(twins->domain[i], &t->err));
        twins->depth++;
    } else if (what < 9 && twins->depth > 0) {
        both_end(twins, what < 8, &t->err);
    } else if (twins->depth > 0) {
        for (int i = 0; i < 2; i++)
            r[i] = write_something(twins->domain[i], numbers, &t->err);
        err_reset(&t->err);
        ASSERT_EQ(r[0], r[1]);
        if (r[0] < 0)
            both_end(twins, false, &t->err);
    }
}

TEST(any_units_leave_what_savepoints_leave, .timeout_s = 120)
{
    struct twins twins = { { open_file(t, "a.sqlite"), open_file(t, "b.sqlite") } };
    int redone = 0;

    rand_fake_init(&twins.rand, 11);
    for (int round = 0; round < 60; round++) {
        int r[2];

        for (int i = 0; i < 2; i++)
            ASSERT_OK(domain_begin(twins.domain[i], &t->err));
        sqlite_in(twins.domain[1])->redo.whole = false;
        for (int i = 0; i < 80; i++)
            twins_step(t, &twins);
        while (twins.depth > 0)
            both_end(&twins, true, &t->err);
        redone += !sqlite_in(twins.domain[0])->redo.whole;
        ASSERT_TEXT(dump(t, twins.domain[0]), dump(t, twins.domain[1]));
        for (int i = 0; i < 2; i++)
            r[i] = domain_commit(twins.domain[i], &t->err);
        ASSERT_EQ(r[0], r[1]); /* parts of rows that are gone */
        err_reset(&t->err);
        ASSERT_TEXT(dump(t, twins.domain[0]), dump(t, twins.domain[1]));
    }
    ASSERT(redone > 10);
    domain_free(twins.domain[0]);
    domain_free(twins.domain[1]);
}
