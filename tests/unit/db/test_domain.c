/* Transactions, savepoints, retries and what a failure leaves behind, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rand.h"
#include "db/db_fault.h"
#include "things.h"

static struct domain *open_failing(struct test *t, struct db_fault *fault)
{
    const struct domain_config config = { .name = "agent",
                                          .url = db_test_url(t),
                                          .migrations = things,
                                          .migration_count = ARRAY_LEN(things),
                                          .fault = fault };
    struct domain *domain = NULL;

    ASSERT_OK(domain_open(&config, &domain, &t->err));
    return domain;
}

/* What another process sees. */
static int64_t count_from_outside(struct test *t)
{
    AUTO(domain) other = open_things(t);

    return count_things(t, other);
}

DB_TEST(a_commit_shows_all_a_rollback_nothing)
{
    AUTO(domain) domain = open_things(t);

    ASSERT(!domain_in_transaction(domain));
    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT(domain_in_transaction(domain));
    ASSERT_OK(add_thing(domain, 1, "a", &t->err));
    ASSERT_OK(add_thing(domain, 2, "b", &t->err));
    ASSERT_EQ(count_from_outside(t), 0);
    ASSERT_OK(domain_commit(domain, &t->err));
    ASSERT(!domain_in_transaction(domain));
    ASSERT_EQ(count_from_outside(t), 2);

    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(add_thing(domain, 3, "c", &t->err));
    domain_rollback(domain);
    ASSERT_EQ(count_things(t, domain), 2);
    ASSERT_TEXT(domain_name(domain), "agent");
}

DB_TEST(savepoints_nest_and_roll_back_alone)
{
    AUTO(domain) domain = open_things(t);

    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(domain_savepoint(domain, &t->err));
    ASSERT_OK(add_thing(domain, 1, "kept", &t->err));
    ASSERT_OK(domain_savepoint(domain, &t->err));
    ASSERT_OK(add_thing(domain, 2, "undone", &t->err));
    ASSERT_OK(domain_savepoint(domain, &t->err));
    ASSERT_OK(add_thing(domain, 3, "undone with it", &t->err));
    ASSERT_OK(domain_release(domain, &t->err));
    ASSERT_EQ(count_things(t, domain), 3);
    domain_rollback_to(domain);
    ASSERT_OK(add_thing(domain, 4, "kept", &t->err));
    ASSERT_OK(domain_release(domain, &t->err));
    ASSERT_OK(domain_commit(domain, &t->err));
    ASSERT_EQ(count_from_outside(t), 2);
}

DB_TEST(a_unit_that_fails_leaves_the_others_whole)
{
    AUTO(domain) domain = open_things(t);
    int r;

    ASSERT_OK(domain_begin(domain, &t->err));
    for (int64_t unit = 0; unit < 6; unit++) {
        ASSERT_OK(domain_savepoint(domain, &t->err));
        ASSERT_OK(add_thing(domain, unit * 10, "first write", &t->err));
        /* Every second unit writes the key of the unit before it. */
        r = add_thing(domain, unit % 2 ? (unit - 1) * 10 : unit * 10 + 1, "second", &t->err);
        if (r == 0)
            r = domain_release(domain, &t->err);
        ASSERT_EQ(r < 0, unit % 2);
        if (r < 0) {
            ASSERT_EQ(t->err.code, ERR_CONFLICT);
            err_reset(&t->err);
            domain_rollback_to(domain);
        }
    }
    ASSERT_OK(domain_commit(domain, &t->err));
    ASSERT_EQ(count_from_outside(t), 6);
}

DB_TEST(what_a_unit_that_was_left_wrote_is_there_when_it_is_settled)
{
    AUTO(domain) domain = open_things(t);

    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(domain_savepoint(domain, &t->err));
    ASSERT_OK(add_thing(domain, 1, "a", &t->err));
    ASSERT_OK(domain_leave(domain, &t->err));
    ASSERT_OK(domain_settle(domain, &t->err));
    ASSERT_OK(domain_savepoint(domain, &t->err));
    ASSERT_OK(add_thing(domain, 2, "b", &t->err));
    ASSERT_OK(domain_leave(domain, &t->err));
    ASSERT_OK(domain_commit(domain, &t->err));
    ASSERT_EQ(count_from_outside(t), 2);
}

/* On Postgres a write that is only queued fails here and not earlier. */
DB_TEST(a_unit_that_was_left_and_failed_fails_the_whole)
{
    AUTO(domain) domain = open_things(t);
    int r;

    for (int how = 0; how < 2; how++) {
        ASSERT_OK(domain_begin(domain, &t->err));
        ASSERT_OK(domain_savepoint(domain, &t->err));
        ASSERT_OK(add_thing(domain, 1, "a", &t->err));
        r = add_thing(domain, 1, "again", &t->err);
        if (r == 0)
            ASSERT_OK(domain_leave(domain, &t->err));
        if (r == 0)
            r = how ? domain_settle(domain, &t->err) : domain_commit(domain, &t->err);
        ASSERT(r < 0);
        ASSERT_EQ(t->err.code, ERR_CONFLICT);
        err_reset(&t->err);
        if (domain_in_transaction(domain))
            domain_rollback(domain);
        ASSERT_EQ(count_from_outside(t), 0);
    }
    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(domain_savepoint(domain, &t->err));
    ASSERT_OK(add_thing(domain, 1, "a", &t->err));
    ASSERT_OK(domain_release(domain, &t->err));
    ASSERT_OK(domain_commit(domain, &t->err));
    ASSERT_EQ(count_from_outside(t), 1);
}

/* Any nesting of units against a list of what must be left: ids of the innermost unit are at its
 * end, from marks[depth] on. */
struct model {
    int64_t ids[200], next;
    size_t n, marks[17];
    int depth;
};

static void undo_unit(struct model *m, struct domain *domain)
{
    domain_rollback_to(domain);
    m->n = m->marks[m->depth--];
}

static void model_step(struct test *t, struct model *m, struct domain *domain, uint64_t what)
{
    if (what < 3 && m->depth < 16) {
        ASSERT_OK(domain_savepoint(domain, &t->err));
        m->marks[++m->depth] = m->n;
    } else if (what < 5 && m->depth > 0) {
        ASSERT_OK(domain_release(domain, &t->err));
        m->depth--;
    } else if (what < 6 && m->depth > 0) {
        undo_unit(m, domain);
    } else if (what < 7 && m->depth > 0 && m->n > 0) { /* fails at once or at its end */
        ASSERT(add_thing(domain, m->ids[0], "again", &t->err) < 0 ||
               domain_release(domain, &t->err) < 0);
        ASSERT_EQ(t->err.code, ERR_CONFLICT);
        undo_unit(m, domain);
    } else {
        ASSERT_OK(add_thing(domain, m->next, "x", &t->err));
        m->ids[m->n++] = m->next++;
    }
}

DB_TEST(any_nesting_of_units_leaves_what_was_not_undone)
{
    AUTO(domain) domain = open_things(t);
    struct model m = { .next = 1 };
    struct rand_fake rand;

    rand_fake_init(&rand, 7);
    for (int round = 0; round < 12; round++) {
        AUTO(stmt) q = NULL;
        size_t at = 0;

        ASSERT_OK(db_exec(domain_db(domain), SQL("DELETE FROM things"), &t->err));
        m.n = 0;
        ASSERT_OK(domain_begin(domain, &t->err));
        for (int i = 0; i < 120; i++)
            model_step(t, &m, domain, rand_below(&rand.rand, round % 2 ? 10 : 7));
        while (m.depth > 0 && m.depth--)
            ASSERT_OK(domain_release(domain, &t->err));
        ASSERT_OK(domain_commit(domain, &t->err));
        ASSERT_OK(
            db_prepare(domain_db(domain), SQL("SELECT id FROM things ORDER BY id"), &q, &t->err));
        for (; stmt_step(q, &t->err) == 1; at++)
            ASSERT(at < m.n && stmt_i64(q, "id") == m.ids[at]);
        ASSERT_EQ(at, m.n);
    }
}

DB_TEST(after_a_failed_statement_nothing_more_runs_and_nothing_is_committed)
{
    AUTO(domain) domain = open_things(t);
    int r;

    ASSERT_OK(add_thing(domain, 1, "there", &t->err));
    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(add_thing(domain, 2, "x", &t->err));
    r = add_thing(domain, 1, "again", &t->err);
    if (r == 0) { /* queued: the next step tells */
        AUTO(stmt) q = NULL;

        ASSERT_OK(db_prepare(domain_db(domain), SQL("SELECT 1 AS n"), &q, &t->err));
        r = stmt_step(q, &t->err);
    }
    ASSERT_FAILS(r, ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "INSERT INTO things (id, name)");
    ASSERT_FAILS(add_thing(domain, 3, "y", &t->err), ERR_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "earlier statement");
    ASSERT_FAILS(domain_commit(domain, &t->err), ERR_CONFLICT);
    ASSERT(!domain_in_transaction(domain));
    ASSERT_EQ(domain_health(domain), DOMAIN_OK);
    ASSERT_EQ(count_from_outside(t), 1);
    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(add_thing(domain, 3, "y", &t->err));
    ASSERT_OK(domain_commit(domain, &t->err));
    ASSERT_EQ(count_from_outside(t), 2);
}

DB_TEST(a_deferred_constraint_fails_the_commit_as_a_conflict)
{
    AUTO(domain) domain = open_things(t);

    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(db_exec(domain_db(domain), SQL("INSERT INTO parts (thing, part) VALUES (5, 'leg')"),
                      &t->err));
    ASSERT_FAILS(domain_commit(domain, &t->err), ERR_CONFLICT);
    ASSERT(!domain_in_transaction(domain));
    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(db_exec(domain_db(domain), SQL("INSERT INTO parts (thing, part) VALUES (5, 'leg')"),
                      &t->err));
    ASSERT_OK(add_thing(domain, 5, "table", &t->err));
    ASSERT_OK(domain_commit(domain, &t->err));
}

DB_TEST(more_writes_than_the_queue_holds_are_one_transaction)
{
    AUTO(domain) domain = open_things(t);

    ASSERT_OK(domain_begin(domain, &t->err));
    for (int64_t i = 0; i < 2000; i++)
        ASSERT_OK(add_thing(domain, i, "x", &t->err));
    ASSERT_EQ(count_from_outside(t), 0);
    ASSERT_OK(domain_commit(domain, &t->err));
    ASSERT_EQ(count_from_outside(t), 2000);
}

DB_TEST(closing_rolls_back_what_was_not_committed)
{
    {
        AUTO(domain) domain = open_things(t);

        ASSERT_OK(domain_begin(domain, &t->err));
        ASSERT_OK(add_thing(domain, 1, "x", &t->err));
    }
    ASSERT_EQ(count_from_outside(t), 0);
}

DB_TEST(a_read_only_domain_reads_and_refuses_to_write)
{
    struct domain_config config = { .name = "agent",
                                    .url = db_test_url(t),
                                    .migrations = things,
                                    .migration_count = ARRAY_LEN(things),
                                    .read_only = true };
    struct domain *reader = NULL;

    ASSERT_FAILS(domain_open(&config, &reader, &t->err), ERR_NOT_FOUND);
    {
        AUTO(domain) domain = open_things(t);

        ASSERT_OK(add_thing(domain, 1, "x", &t->err));
    }
    ASSERT_OK(domain_open(&config, &reader, &t->err));
    ASSERT_OK(domain_begin(reader, &t->err));
    ASSERT_EQ(count_things(t, reader), 1);
    ASSERT_OK(domain_commit(reader, &t->err));
    ASSERT(add_thing(reader, 2, "y", &t->err) < 0);
    ASSERT_EQ(domain_health(reader), DOMAIN_OK);
    domain_idle(reader);
    domain_free(reader);
    ASSERT_EQ(count_from_outside(t), 1);
}

DB_TEST(a_reader_in_a_transaction_sees_one_state)
{
    struct domain_config config = { .name = "agent", .url = db_test_url(t), .read_only = true };
    AUTO(domain) writer = open_things(t);
    AUTO(domain) reader = NULL;

    ASSERT_OK(domain_open(&config, &reader, &t->err));
    ASSERT_OK(domain_begin(reader, &t->err));
    ASSERT_EQ(count_things(t, reader), 0);
    ASSERT_OK(add_thing(writer, 1, "x", &t->err));
    ASSERT_EQ(count_things(t, reader), 0);
    ASSERT_OK(domain_commit(reader, &t->err));
    ASSERT_EQ(count_things(t, reader), 1);
}

/* ---- retries ---- */

static int increment(struct db *db, void *arg, struct err *err)
{
    AUTO(stmt) read = NULL;
    AUTO(stmt) write = NULL;
    int *calls = arg;
    int64_t number;

    ++*calls;
    if (db_prepare(db, SQL("SELECT number FROM things WHERE id = 1"), &read, err) < 0 ||
        db_prepare(db, SQL("UPDATE things SET number = ? WHERE id = 1"), &write, err) < 0)
        return -1;
    if (stmt_step(read, err) != 1)
        return -1;
    number = stmt_i64(read, "number");
    stmt_reset(read);
    stmt_bind_i64(write, number + 1);
    return stmt_run(write, err);
}

static void increment_in_child(struct test *t, int times)
{
    AUTO(domain) domain = open_things(t);
    struct err err = ERR_INIT;
    int calls = 0;

    for (int i = 0; i < times; i++)
        while (domain_retry(domain, increment, &calls, &err) < 0) {
            /* The budget is bounded; with four writers on a busy machine it may run out. */
            if (err.code != ERR_TIMEOUT && err.code != ERR_VERSION_CONFLICT)
                _exit(1);
            err_reset(&err);
        }
}

DB_TEST(writers_that_collide_lose_no_update, .timeout_s = 120)
{
    enum { WRITERS = 4, TIMES = 25 };
    AUTO(domain) domain = open_things(t);
    AUTO(stmt) q = NULL;
    pid_t pids[WRITERS];

    ASSERT_OK(
        db_exec(domain_db(domain), SQL("INSERT INTO things (id, number) VALUES (1, 0)"), &t->err));
    for (int i = 0; i < WRITERS; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            increment_in_child(t, TIMES);
            _exit(0);
        }
    }
    for (int i = 0; i < WRITERS; i++) {
        int status;

        ASSERT(waitpid(pids[i], &status, 0) == pids[i]);
        ASSERT_EQ(status, 0);
    }
    ASSERT_OK(db_prepare(domain_db(domain), SQL("SELECT number FROM things"), &q, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT_EQ(stmt_i64(q, "number"), WRITERS * TIMES);
}

DB_TEST(a_retry_runs_again_while_others_are_in_the_way)
{
    struct db_fault fault = { .at = DB_FAULT_COMMIT, .kind = DB_FAULT_BUSY };
    AUTO(domain) domain = open_failing(t, &fault);
    int calls = 0;

    ASSERT_OK(
        db_exec(domain_db(domain), SQL("INSERT INTO things (id, number) VALUES (1, 0)"), &t->err));
    fault.nth = 1;
    fault.times = 3;
    ASSERT_OK(domain_retry(domain, increment, &calls, &t->err));
    ASSERT_EQ(calls, 4);
    AUTO(stmt) q = NULL;
    ASSERT_OK(db_prepare(domain_db(domain), SQL("SELECT number FROM things"), &q, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT_EQ(stmt_i64(q, "number"), 1);
}

struct counted_rand {
    struct rand rand; /* first */
    unsigned draws;
};

static void draw_same(struct rand *rand, void *ret_bytes, size_t n)
{
    memset(ret_bytes, 0x5a, n);
    ((struct counted_rand *)rand)->draws++;
}

struct slow_body {
    struct clock_fake clock;
    int calls;
};

/* Six seconds pass in it. */
static int dawdle(struct db *db, void *arg, struct err *err)
{
    struct slow_body *slow = arg;

    slow->calls++;
    clock_advance(&slow->clock, SECONDS(6));
    return db_exec(db, SQL("UPDATE things SET number = 1"), err);
}

DB_TEST(a_retry_pauses_by_the_given_chance_and_ends_by_the_given_clock)
{
    struct db_fault fault = { .at = DB_FAULT_COMMIT, .kind = DB_FAULT_BUSY };
    struct counted_rand chance = { .rand.fill = draw_same };
    struct slow_body slow = { .calls = 0 };
    struct domain_config config = { .name = "agent",
                                    .url = db_test_url(t),
                                    .migrations = things,
                                    .migration_count = ARRAY_LEN(things),
                                    .clock = &slow.clock.clock,
                                    .rand = &chance.rand,
                                    .fault = &fault };
    AUTO(domain) domain = NULL;

    clock_fake_init(&slow.clock, 1700000000000);
    ASSERT_OK(domain_open(&config, &domain, &t->err));
    fault.nth = 1;
    fault.times = 100;
    ASSERT_FAILS(domain_retry(domain, dawdle, &slow, &t->err), ERR_TIMEOUT);
    ASSERT_CONTAINS(test_err_text(t), "after 2 tries");
    ASSERT_EQ(slow.calls, 2);
    ASSERT_EQ(chance.draws, 1);
}

DB_TEST(a_retry_gives_up_within_its_budget)
{
    struct db_fault fault = { .at = DB_FAULT_BEGIN, .kind = DB_FAULT_BUSY };
    AUTO(domain) domain = open_failing(t, &fault);
    int calls = 0;

    fault.nth = 1;
    fault.times = 1000;
    ASSERT_FAILS(domain_retry(domain, increment, &calls, &t->err), ERR_TIMEOUT);
    ASSERT_CONTAINS(test_err_text(t), "tries");
    ASSERT_EQ(calls, 0);
    ASSERT_EQ(fault.fired, 8);
}

DB_TEST(a_retry_does_not_repeat_what_can_not_succeed)
{
    struct db_fault fault = { .at = DB_FAULT_COMMIT, .kind = DB_FAULT_CONFLICT };
    AUTO(domain) domain = open_failing(t, &fault);
    int calls = 0;

    ASSERT_OK(
        db_exec(domain_db(domain), SQL("INSERT INTO things (id, number) VALUES (1, 0)"), &t->err));
    fault.nth = 1;
    fault.times = 5;
    ASSERT_FAILS(domain_retry(domain, increment, &calls, &t->err), ERR_CONFLICT);
    ASSERT_EQ(calls, 1);
}

static int write_and_refuse(struct db *db, void *arg, struct err *err)
{
    ++*(int *)arg;
    if (db_exec(db, SQL("INSERT INTO things (id) VALUES (1)"), err) < 0)
        return -1;
    return err_set(err, ERR_REJECTED, "no");
}

DB_TEST(a_retry_undoes_what_its_body_gave_up)
{
    AUTO(domain) domain = open_things(t);
    int calls = 0;

    ASSERT_FAILS(domain_retry(domain, write_and_refuse, &calls, &t->err), ERR_REJECTED);
    ASSERT_TEXT(test_err_text(t), "no");
    ASSERT_EQ(calls, 1);
    ASSERT(!domain_in_transaction(domain));
    ASSERT_EQ(count_from_outside(t), 0);
}

DB_TEST(another_writer_is_waited_for_and_then_reported)
{
    const struct domain_config config = { .name = "agent",
                                          .url = db_test_url(t),
                                          .migrations = things,
                                          .migration_count = ARRAY_LEN(things),
                                          .busy_ms = 50 };
    AUTO(domain) first = open_things(t);
    AUTO(domain) second = NULL;
    int r;

    ASSERT_OK(add_thing(first, 1, "x", &t->err));
    ASSERT_OK(domain_open(&config, &second, &t->err));
    ASSERT_OK(domain_begin(first, &t->err));
    ASSERT_OK(db_exec(domain_db(first), SQL("UPDATE things SET number = 1"), &t->err));
    {
        AUTO(stmt) q = NULL; /* makes sure that the update has happened */

        ASSERT_OK(db_prepare(domain_db(first), SQL("SELECT number FROM things"), &q, &t->err));
        ASSERT_EQ(stmt_step(q, &t->err), 1);
    }
    r = domain_begin(second, &t->err);
    if (r == 0)
        r = db_exec(domain_db(second), SQL("UPDATE things SET number = 2"), &t->err);
    if (r == 0)
        r = domain_commit(second, &t->err);
    ASSERT_FAILS(r, ERR_TIMEOUT);
    ASSERT_EQ(domain_health(second), DOMAIN_OK);
    if (domain_in_transaction(second))
        domain_rollback(second);
    ASSERT_OK(domain_commit(first, &t->err));
}

/* ---- what a failure leaves behind ---- */

DB_TEST(a_failed_write_leaves_the_domain_readable)
{
    struct db_fault fault = { .at = DB_FAULT_STEP, .kind = DB_FAULT_FULL };
    AUTO(domain) domain = open_failing(t, &fault);

    ASSERT_OK(add_thing(domain, 1, "x", &t->err));
    ASSERT_OK(domain_begin(domain, &t->err));
    fault.nth = 1;
    ASSERT_FAILS(add_thing(domain, 2, "y", &t->err), ERR_STORAGE_FAILED);
    domain_rollback(domain);
    ASSERT_EQ(domain_health(domain), DOMAIN_READ_ONLY);
    ASSERT_EQ(count_things(t, domain), 1);
    ASSERT_FAILS(domain_begin(domain, &t->err), ERR_STORAGE_FAILED);
    ASSERT_CONTAINS(test_err_text(t), "read-only");
}

/* Nobody has written or read since it went wrong. */
DB_TEST(a_probe_finds_what_no_statement_has_met_yet)
{
    struct db_fault fault = { .at = DB_FAULT_STEP, .kind = DB_FAULT_BUSY };
    AUTO(domain) domain = open_failing(t, &fault);

    ASSERT_OK(domain_probe(domain, &t->err));
    fault.nth = 1;
    ASSERT_EQ(domain_health(domain), DOMAIN_OK);
    ASSERT(domain_probe(domain, &t->err) < 0);
    fault = (struct db_fault){ .at = DB_FAULT_NEVER };
    err_reset(&t->err);
    ASSERT_OK(domain_probe(domain, &t->err));
}

DB_TEST(a_failed_sync_at_the_commit_loses_the_domain)
{
    struct db_fault fault = { .at = DB_FAULT_COMMIT_AFTER, .kind = DB_FAULT_SYNC };
    AUTO(domain) domain = open_failing(t, &fault);

    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(add_thing(domain, 1, "x", &t->err));
    fault.nth = 1;
    ASSERT_FAILS(domain_commit(domain, &t->err), ERR_STORAGE_FAILED);
    ASSERT_EQ(domain_health(domain), DOMAIN_LOST);
    ASSERT(!domain_in_transaction(domain));
    ASSERT_FAILS(domain_begin(domain, &t->err), ERR_STORAGE_FAILED);
    /* It may have become durable all the same, and here it has. */
    ASSERT_EQ(count_from_outside(t), 1);
}

DB_TEST(every_failing_call_of_a_tick_leaves_all_or_nothing)
{
    static const enum db_fault_at places[] = { DB_FAULT_PREPARE, DB_FAULT_STEP, DB_FAULT_BEGIN,
                                               DB_FAULT_COMMIT };
    int64_t whole = 0;

    for (size_t p = 0; p < ARRAY_LEN(places); p++)
        for (unsigned n = 1; n <= 4; n++) {
            struct db_fault fault = { .at = places[p], .kind = DB_FAULT_CORRUPT };
            AUTO(domain) domain = open_failing(t, &fault);
            int r;

            fault.nth = n;
            r = domain_begin(domain, &t->err);
            for (int64_t i = 0; r == 0 && i < 3; i++)
                r = add_thing(domain, whole * 3 + i, "x", &t->err);
            if (r == 0)
                r = domain_commit(domain, &t->err);
            else if (domain_in_transaction(domain))
                domain_rollback(domain);
            ASSERT_EQ(r < 0, fault.fired);
            whole += r == 0;
            err_reset(&t->err);
            fault.at = DB_FAULT_NEVER;
            ASSERT_EQ(count_from_outside(t), whole * 3);
        }
    ASSERT(whole > 4 && whole < 16);
}

/* ---- addresses ---- */

TEST(an_address_of_neither_engine_is_refused)
{
    static const char *const urls[] = { "", "mysql://x", "sqlite", "/plain/path", "postgresql:/x" };

    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        const struct domain_config config = { .name = "agent", .url = urls[i] };
        struct domain *domain = NULL;

        ASSERT_FAILS(domain_open(&config, &domain, &t->err), ERR_BAD_REQUEST);
        ASSERT_CONTAINS(test_err_text(t), "sqlite:");
    }
}

TEST(an_address_that_leads_nowhere_says_so)
{
    struct domain_config config = { .name = "agent", .url = "sqlite:" };
    struct domain *domain = NULL;

    ASSERT_FAILS(domain_open(&config, &domain, &t->err), ERR_BAD_REQUEST);
    config.url = "sqlite:/nonexistent/dir/x.sqlite";
    ASSERT_FAILS(domain_open(&config, &domain, &t->err), ERR_INTERNAL);
    ASSERT_CONTAINS(test_err_text(t), "/nonexistent/dir/x.sqlite");
    config.url = arena_printf(&t->arena, "sqlite:%s", test_dir(t));
    ASSERT(domain_open(&config, &domain, &t->err) < 0);
    config.url = "postgresql://%zz";
    ASSERT_FAILS(domain_open(&config, &domain, &t->err), ERR_BAD_REQUEST);
    config.url = "postgresql:///x?host=/nonexistent&password=hunter2";
    ASSERT_FAILS(domain_open(&config, &domain, &t->err), ERR_STORAGE_FAILED);
    if (strstr(test_err_text(t), "hunter2"))
        FAIL("the message shows the password");
}

/* What a user without rights is told. Tests often run as root, whom nothing stops. */
static int open_as_nobody(struct test *t, const char *path, bool read_only, const char *says)
{
    const struct domain_config config = { .name = "agent",
                                          .url = arena_printf(&t->arena, "sqlite:%s", path),
                                          .read_only = read_only };
    struct domain *domain = NULL;
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
            _exit(2);
        if (domain_open(&config, &domain, &t->err) == 0)
            _exit(3);
        _exit(strstr(test_err_text(t), says) && strstr(test_err_text(t), path) ? 0 : 4);
    }
    return waitpid(pid, &status, 0) == pid ? status : -1;
}

TEST(a_file_or_directory_without_rights_is_named)
{
    const char *path = test_path(t, "locked.sqlite");
    struct stat st;

    test_write_file(path, "", 0);
    ASSERT_EQ(chmod(path, 0), 0);
    ASSERT_EQ(chmod(test_dir(t), 0555), 0);
    ASSERT_EQ(open_as_nobody(t, path, true, "unable to open"), 0);
    ASSERT_EQ(open_as_nobody(t, path, false, "unable to open"), 0);
    ASSERT_EQ(open_as_nobody(t, test_path(t, "new.sqlite"), false, "Permission denied"), 0);
    ASSERT_EQ(open_as_nobody(t, test_path(t, "new.sqlite"), true, "there is no database"), 0);
    ASSERT(stat(test_path(t, "new.sqlite"), &st) < 0);
    ASSERT_EQ(chmod(test_dir(t), 0755), 0);
}

TEST(a_file_that_is_no_database_is_left_alone)
{
    const char *path = test_path(t, "notes.txt");
    const struct domain_config config = {
        .name = "agent",
        .url = arena_printf(&t->arena, "sqlite:%s", path),
        .migrations = things,
        .migration_count = 1,
    };
    char text[2048];
    struct domain *domain = NULL;

    memset(text, 'n', sizeof(text));
    test_write_file(path, text, sizeof(text));
    ASSERT_FAILS(domain_open(&config, &domain, &t->err), ERR_INTEGRITY_FAILED);
    ASSERT(str_eq(test_read_file(t, path), str_of(text, sizeof(text))));
}

static const struct migration more = { .number = 2,
                                       .name = "more",
                                       .sqlite = "CREATE TABLE more (id INTEGER) STRICT;",
                                       .postgres = "CREATE TABLE more (id BIGINT);" };

/* A database that fails on demand must otherwise be one like any other. */
DB_TEST(a_wrapped_database_does_all_that_the_engine_does)
{
    struct db_fault fault = { .at = DB_FAULT_NEVER };
    struct migration both[2] = { things[0], more };
    struct domain_config config = { .name = "agent",
                                    .url = db_test_url(t),
                                    .migrations = both,
                                    .migration_count = 1,
                                    .fault = &fault };

    for (size_t n = 1; n <= 2; n++) {
        AUTO(domain) domain = NULL;
        AUTO(stmt) q = NULL;
        const char *path = test_path(t, n == 1 ? "copy1" : "copy2");
        int r;

        config.migration_count = n;
        ASSERT_OK(domain_open(&config, &domain, &t->err));
        ASSERT_OK(domain_begin(domain, &t->err));
        ASSERT_OK(add_thing(domain, (int64_t)n, "x", &t->err));
        ASSERT_OK(domain_commit(domain, &t->err));
        domain_idle(domain);
        ASSERT_OK(domain_check(domain, &t->err));
        r = domain_backup(domain, path, NULL, NULL, &t->err);
        ASSERT_EQ(r < 0, db_test_is_postgres(t));
        ASSERT_EQ(access(path, F_OK) == 0, !db_test_is_postgres(t));
        ASSERT_OK(db_prepare(domain_db(domain), SQL("UPDATE things SET number = 1"), &q, &t->err));
        ASSERT_OK(stmt_run(q, &t->err));
        ASSERT_EQ(stmt_changes(q), n);
    }
    ASSERT_EQ(fault.fired, 0);
}

DB_TEST(a_lost_connection_reported_by_the_wrapper_leaves_the_domain_usable)
{
    struct db_fault fault = { .at = DB_FAULT_COMMIT, .kind = DB_FAULT_GONE };
    AUTO(domain) domain = open_failing(t, &fault);

    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(add_thing(domain, 1, "x", &t->err));
    fault.nth = 1;
    ASSERT_FAILS(domain_commit(domain, &t->err), ERR_STORAGE_FAILED);
    ASSERT_EQ(domain_health(domain), DOMAIN_OK);
    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(add_thing(domain, 1, "x", &t->err));
    ASSERT_OK(domain_commit(domain, &t->err));
    ASSERT_EQ(count_things(t, domain), 1);
}
