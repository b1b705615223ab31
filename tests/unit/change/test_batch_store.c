/* Batches, written in one transaction and read by cursor, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "change/batch.h"
#include "db/db.h"
#include "rig.h"

#define NOW   INT64_C(1700000000000)
#define OTHER "01890a5d-ac96-774b-bcce-b302099a8057"

struct desk {
    struct domain *agent, *journal;
    struct change *change;
};

static void desk_close(struct desk *desk)
{
    change_free(desk->change);
    domain_free(desk->journal);
    domain_free(desk->agent);
}
#define AUTO_DESK __attribute__((cleanup(desk_close))) struct desk

static struct desk desk_open_as(struct test *t, const char *host_id)
{
    struct desk desk = { .agent = open_agent(t), .journal = open_journal(t) };

    ASSERT_OK(change_open_as(desk.agent, host_id, NULL, NULL, &desk.change, &t->err));
    ASSERT_OK(change_join(desk.change, desk.journal, &t->err));
    return desk;
}

static struct desk desk_open(struct test *t)
{
    return desk_open_as(t, NULL);
}

/* One task that changed, in the transaction that is open. */
static void write_task(struct test *t, struct desk *desk, const char *id, int64_t now)
{
    struct change_batch batch = CHANGE_BATCH(&t->arena, CHANGE_BY_HUMAN);

    change_batch_unit(&batch, desk->change, change_next(desk->change), STR("task"), str_from(id));
    change_batch_key(&batch, "TASK");
    ASSERT_EQ(change_batch_write(desk->journal, desk->change, &batch, now, &t->err), 1);
}

static void commit_task(struct test *t, struct desk *desk, const char *id, int64_t now)
{
    ASSERT_OK(domain_begin(desk->journal, &t->err));
    write_task(t, desk, id, now);
    ASSERT_OK(domain_commit(desk->journal, &t->err));
}

static size_t read_after(struct test *t, struct desk *desk, struct change_cursor *cursor, int limit,
                         struct change_row **ret_rows)
{
    size_t n = 0;

    ASSERT_OK(
        change_batches_after(desk->journal, *cursor, limit, &t->arena, ret_rows, &n, &t->err));
    if (n)
        *cursor = (*ret_rows)[n - 1].at;
    return n;
}

DB_TEST(a_batch_is_read_as_it_was_written)
{
    AUTO_DESK desk = desk_open(t);
    struct change_batch batch = CHANGE_BATCH(&t->arena, CHANGE_BY_AGENT);
    struct change_cursor cursor = { 0, 0 };
    struct change_row *rows;
    struct str keys[2];
    char key[SHA256_TEXT_SIZE];

    batch.author_id = STR("coach");
    batch.operation_id = STR("op-1");
    change_batch_unit(&batch, desk.change, 41, STR("task"), STR("t-1"));
    change_batch_unit(&batch, desk.change, 42, STR("timeEntry"), STR("e-1"));
    change_batch_key(&batch, "TIME_ENTRY");
    change_batch_subtype(&batch, "taskStatus", STR("OPEN"));
    change_batch_subtype(&batch, "categoryId", STR_NONE);
    change_batch_id(&batch, STR("t-1"));
    ASSERT_OK(domain_begin(desk.journal, &t->err));
    ASSERT_EQ(change_batch_write(desk.journal, desk.change, &batch, NOW, &t->err), 1);
    ASSERT_OK(domain_commit(desk.journal, &t->err));

    ASSERT_EQ(read_after(t, &desk, &cursor, 10, &rows), 1);
    ASSERT_EQ(rows[0].author, CHANGE_BY_AGENT);
    ASSERT_STR(rows[0].author_id, "coach");
    ASSERT_STR(rows[0].operation_id, "op-1");
    ASSERT_EQ(rows[0].created_at, NOW);
    ASSERT(uuid_valid(rows[0].local_batch_id));
    ASSERT_EQ(rows[0].unit_count, 2);
    ASSERT_STR(rows[0].unit[1].payload_type, "timeEntry");
    ASSERT_STR(rows[0].unit[1].payload_id, "e-1");
    ASSERT_EQ(rows[0].unit[1].counter, 42);
    ASSERT_STR(rows[0].unit[1].host_id, change_host_id(desk.change));
    ASSERT_STR(rows[0].typed_tokens,
               "[[\"entityId\",null,\"e-1\"],[\"entityId\",null,\"t-1\"],"
               "[\"semanticKey\",null,\"TIME_ENTRY\"],[\"subtypeToken\",\"taskStatus\",\"OPEN\"]]");
    ASSERT_EQ(rows[0].token_count, 4);
    for (int i = 0; i < 2; i++) {
        ASSERT_OK(change_unit_key(&rows[0].unit[i], key, &t->err));
        keys[i] = arena_str(&t->arena, str_from(key));
    }
    change_logical_key(keys, 2, key);
    ASSERT_STR(rows[0].logical_change_key, key);
    if (str_cmp(keys[0], keys[1]) > 0) {
        struct str swap = keys[0];

        keys[0] = keys[1];
        keys[1] = swap;
    }
    ASSERT_STR(rows[0].change_unit_keys,
               arena_printf(&t->arena, "[\"%.*s\",\"%.*s\"]", STR_ARG(keys[0]), STR_ARG(keys[1])));
}

DB_TEST(a_batch_without_units_is_not_written)
{
    AUTO_DESK desk = desk_open(t);
    struct change_batch batch = CHANGE_BATCH(&t->arena, CHANGE_BY_HUMAN);
    struct change_cursor end = { 7, 7 };

    change_batch_key(&batch, "TASK");
    ASSERT_OK(domain_begin(desk.journal, &t->err));
    ASSERT_EQ(change_batch_write(desk.journal, desk.change, &batch, NOW, &t->err), 0);
    ASSERT_OK(domain_commit(desk.journal, &t->err));
    ASSERT_OK(change_batches_end(desk.journal, &end, &t->err));
    ASSERT_EQ(end.n, 0);
    ASSERT_EQ(end.txid, 0);
}

DB_TEST(a_batch_that_does_not_say_who_wrote_it_is_refused)
{
    AUTO_DESK desk = desk_open(t);
    struct change_batch nobody = CHANGE_BATCH(&t->arena, CHANGE_BY_NONE);
    struct change_batch unnamed = CHANGE_BATCH(&t->arena, CHANGE_BY_AGENT);
    struct change_batch no_counter = CHANGE_BATCH(&t->arena, CHANGE_BY_HUMAN);
    struct change_batch no_id = CHANGE_BATCH(&t->arena, CHANGE_BY_HUMAN);
    struct change_batch *all[] = { &nobody, &unnamed, &no_counter, &no_id };
    struct change_cursor cursor = { 0, 0 };
    struct change_row *rows;

    change_batch_unit(&nobody, desk.change, 1, STR("task"), STR("t"));
    change_batch_unit(&unnamed, desk.change, 1, STR("task"), STR("t"));
    change_batch_unit(&no_counter, desk.change, 0, STR("task"), STR("t"));
    change_batch_unit(&no_id, desk.change, 1, STR("task"), STR_NONE);
    ASSERT_OK(domain_begin(desk.journal, &t->err));
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        ASSERT_FAILS(change_batch_write(desk.journal, desk.change, all[i], NOW, &t->err),
                     ERR_MISSING_CHANGE_PROVENANCE);
    ASSERT_OK(domain_commit(desk.journal, &t->err));
    ASSERT_EQ(read_after(t, &desk, &cursor, 10, &rows), 0);
}

DB_TEST(a_batch_with_a_token_that_breaks_the_rules_is_refused)
{
    AUTO_DESK desk = desk_open(t);
    struct change_batch batch = CHANGE_BATCH(&t->arena, CHANGE_BY_HUMAN);

    change_batch_unit(&batch, desk.change, 1, STR("task"), STR("t"));
    change_batch_key(&batch, "CHORE");
    ASSERT_OK(domain_begin(desk.journal, &t->err));
    ASSERT_FAILS(change_batch_write(desk.journal, desk.change, &batch, NOW, &t->err),
                 ERR_BAD_REQUEST);
    domain_rollback(desk.journal);
}

DB_TEST(a_batch_of_too_many_changes_is_refused_and_the_fullest_is_not)
{
    AUTO_DESK desk = desk_open(t);
    struct change_batch batch = CHANGE_BATCH(&t->arena, CHANGE_BY_HUMAN);
    struct change_cursor cursor = { 0, 0 };
    struct change_row *rows;

    for (int i = 0; i < CHANGE_UNITS_MAX; i++) {
        const char *id = arena_printf(&t->arena, "task-%d", i);

        change_batch_unit(&batch, desk.change, change_next(desk.change), STR("task"), str_from(id));
        change_batch_key(&batch, "TASK");
        change_batch_subtype(&batch, "taskStatus", STR("OPEN"));
        change_batch_id(&batch, STR("category"));
    }
    ASSERT_OK(domain_begin(desk.journal, &t->err));
    ASSERT_EQ(change_batch_write(desk.journal, desk.change, &batch, NOW, &t->err), 1);
    ASSERT_OK(domain_commit(desk.journal, &t->err));
    ASSERT_EQ(read_after(t, &desk, &cursor, 10, &rows), 1);
    ASSERT_EQ(rows[0].unit_count, CHANGE_UNITS_MAX);
    ASSERT_EQ(rows[0].token_count, CHANGE_UNITS_MAX + 3);
    change_batch_unit(&batch, desk.change, change_next(desk.change), STR("task"), STR("one more"));
    ASSERT_OK(domain_begin(desk.journal, &t->err));
    ASSERT_FAILS(change_batch_write(desk.journal, desk.change, &batch, NOW, &t->err),
                 ERR_TOO_LARGE);
    domain_rollback(desk.journal);
}

DB_TEST(what_was_rolled_back_is_never_read)
{
    AUTO_DESK desk = desk_open(t);
    struct change_cursor cursor = { 0, 0 };
    struct change_row *rows;

    ASSERT_OK(domain_begin(desk.journal, &t->err));
    ASSERT_OK(domain_savepoint(desk.journal, &t->err));
    write_task(t, &desk, "gone", NOW);
    domain_rollback_to(desk.journal);
    write_task(t, &desk, "stays", NOW);
    ASSERT_OK(domain_commit(desk.journal, &t->err));
    ASSERT_EQ(read_after(t, &desk, &cursor, 10, &rows), 1);
    ASSERT_STR(rows[0].unit[0].payload_id, "stays");
}

DB_TEST(a_cursor_walks_all_batches_in_order_each_once)
{
    AUTO_DESK desk = desk_open(t);
    struct change_cursor cursor = { 0, 0 }, end;
    struct change_row *rows;
    int seen = 0;

    for (int i = 0; i < 23; i += 2) {
        ASSERT_OK(domain_begin(desk.journal, &t->err));
        write_task(t, &desk, arena_printf(&t->arena, "t-%d", i), NOW + i);
        write_task(t, &desk, arena_printf(&t->arena, "t-%d", i + 1), NOW + i);
        ASSERT_OK(domain_commit(desk.journal, &t->err));
    }
    for (size_t n; (n = read_after(t, &desk, &cursor, 5, &rows)) > 0;)
        for (size_t i = 0; i < n; i++)
            ASSERT_STR(rows[i].unit[0].payload_id, arena_printf(&t->arena, "t-%d", seen++));
    ASSERT_EQ(seen, 24);
    ASSERT_OK(change_batches_end(desk.journal, &end, &t->err));
    ASSERT_EQ(end.txid, cursor.txid);
    ASSERT_EQ(end.n, cursor.n);
}

DB_TEST(the_latest_batches_since_a_time_come_newest_first)
{
    AUTO_DESK desk = desk_open(t);
    struct change_row *rows;
    size_t n;

    for (int i = 0; i < 6; i++)
        commit_task(t, &desk, arena_printf(&t->arena, "t-%d", i), NOW + i * 1000);
    ASSERT_OK(change_batches_since(desk.journal, NOW + 2000, 3, &t->arena, &rows, &n, &t->err));
    ASSERT_EQ(n, 3);
    ASSERT_STR(rows[0].unit[0].payload_id, "t-5");
    ASSERT_STR(rows[2].unit[0].payload_id, "t-3");
    ASSERT_OK(change_batches_since(desk.journal, NOW + 4500, 100, &t->arena, &rows, &n, &t->err));
    ASSERT_EQ(n, 1);
}

/* ---- several writers ---- */

/* SQLite has one writer: the order of writing is that of commits. */
#define POSTGRES_TEST(name_)                                                                       \
    static void name_(struct test *t);                                                             \
    DB_TEST_CASE(name_, postgres, .timeout_s = 60)                                                 \
    static void name_(struct test *t)

/* Two daemons on one database. The first to write commits last. */
POSTGRES_TEST(a_transaction_that_commits_late_is_neither_missed_nor_seen_twice)
{
    AUTO_DESK slow = desk_open(t);
    struct change_cursor cursor = { 0, 0 }, end;
    struct change_row *rows;

    AUTO_DESK fast = desk_open_as(t, OTHER);
    commit_task(t, &fast, "before", NOW);
    ASSERT_OK(domain_begin(slow.journal, &t->err));
    write_task(t, &slow, "late", NOW);
    /* What was written so far is at the server when a question was answered. */
    ASSERT_OK(change_batches_end(slow.journal, &end, &t->err));
    commit_task(t, &fast, "early-1", NOW);
    commit_task(t, &fast, "early-2", NOW);

    /* While it runs nothing behind it is shown, or the cursor would pass it. */
    ASSERT_EQ(read_after(t, &fast, &cursor, 100, &rows), 1);
    ASSERT_STR(rows[0].unit[0].payload_id, "before");
    ASSERT_EQ(read_after(t, &fast, &cursor, 100, &rows), 0);
    ASSERT_EQ(read_after(t, &slow, &cursor, 100, &rows), 0);

    ASSERT_OK(domain_commit(slow.journal, &t->err));
    ASSERT_EQ(read_after(t, &fast, &cursor, 100, &rows), 3);
    ASSERT_STR(rows[0].unit[0].payload_id, "late");
    ASSERT_STR(rows[1].unit[0].payload_id, "early-1");
    ASSERT_STR(rows[2].unit[0].payload_id, "early-2");
    commit_task(t, &slow, "after", NOW);
    ASSERT_EQ(read_after(t, &fast, &cursor, 100, &rows), 1);
    ASSERT_STR(rows[0].unit[0].payload_id, "after");
    ASSERT_EQ(read_after(t, &fast, &cursor, 100, &rows), 0);
}

/* Two writers whose transactions begin and end in all orders; one reader looks at every step. */
POSTGRES_TEST(a_reader_between_two_writers_sees_every_batch_once)
{
    AUTO_DESK a = desk_open(t);
    struct change_cursor cursor = { 0, 0 }, end;
    struct change_row *rows;
    uint8_t seen[200] = { 0 };
    int written = 0;

    AUTO_DESK b = desk_open_as(t, OTHER);
    AUTO_DESK reader = desk_open_as(t, "01890a5d-ac96-774b-bcce-b302099a8058");
    for (unsigned step = 0; step < 300 && written < 190; step++) {
        /* A fixed, uneven mixture of begin, write and end. */
        struct desk *who = (step * 7 + step / 5) % 3 ? &a : &b;

        if (!domain_in_transaction(who->journal))
            ASSERT_OK(domain_begin(who->journal, &t->err));
        write_task(t, who, arena_printf(&t->arena, "%d", written++), NOW);
        ASSERT_OK(change_batches_end(who->journal, &end, &t->err));
        if (step % 4 == 1 || step % 7 == 3)
            ASSERT_OK(domain_commit(who->journal, &t->err));
        for (size_t n; (n = read_after(t, &reader, &cursor, 3, &rows)) > 0;)
            for (size_t i = 0; i < n; i++)
                seen[strtol(rows[i].unit[0].payload_id.p, NULL, 10)]++;
    }
    if (domain_in_transaction(a.journal))
        ASSERT_OK(domain_commit(a.journal, &t->err));
    if (domain_in_transaction(b.journal))
        ASSERT_OK(domain_commit(b.journal, &t->err));
    for (size_t n; (n = read_after(t, &reader, &cursor, 100, &rows)) > 0;)
        for (size_t i = 0; i < n; i++)
            seen[strtol(rows[i].unit[0].payload_id.p, NULL, 10)]++;
    for (int i = 0; i < written; i++)
        ASSERT_EQ(seen[i], 1);
}

DB_TEST(a_row_that_was_damaged_is_named)
{
    AUTO_DESK desk = desk_open(t);
    struct change_cursor cursor = { 0, 0 };
    struct change_row *rows = NULL;
    size_t n;

    commit_task(t, &desk, "t-1", NOW);
    ASSERT_OK(db_exec(domain_db(desk.journal),
                      SQL("UPDATE change_batches SET units = '[[\"h\",\"7\",\"task\",\"t\"]]'"),
                      &t->err));
    ASSERT_FAILS(change_batches_after(desk.journal, cursor, 10, &t->arena, &rows, &n, &t->err),
                 ERR_INTEGRITY_FAILED);
    ASSERT_CONTAINS(test_err_text(t), "change batch 1 (");
    ASSERT_CONTAINS(test_err_text(t), "unit 0: part 1 is string");
    ASSERT_OK(db_exec(domain_db(desk.journal),
                      SQL("UPDATE change_batches SET units = '[]', typed_tokens = '[7]'"),
                      &t->err));
    ASSERT_FAILS(change_batches_after(desk.journal, cursor, 10, &t->arena, &rows, &n, &t->err),
                 ERR_INTEGRITY_FAILED);
    ASSERT_CONTAINS(test_err_text(t), "typed_tokens");
    ASSERT_OK(db_exec(domain_db(desk.journal),
                      SQL("UPDATE change_batches SET typed_tokens = '[]', author = 'ghost'"),
                      &t->err));
    ASSERT_FAILS(change_batches_after(desk.journal, cursor, 10, &t->arena, &rows, &n, &t->err),
                 ERR_INTEGRITY_FAILED);
    ASSERT_CONTAINS(test_err_text(t), "author");
    ASSERT_OK(db_exec(domain_db(desk.journal),
                      SQL("UPDATE change_batches SET units = '{}', author = 'human'"), &t->err));
    ASSERT_FAILS(change_batches_after(desk.journal, cursor, 10, &t->arena, &rows, &n, &t->err),
                 ERR_INTEGRITY_FAILED);
    ASSERT(rows == NULL);
}

DB_TEST(each_domain_has_batches_of_its_own)
{
    AUTO_DESK desk = desk_open(t);
    struct change_batch batch = CHANGE_BATCH(&t->arena, CHANGE_BY_HUMAN);
    struct change_cursor agent, journal;

    change_batch_unit(&batch, desk.change, change_next(desk.change), STR("agent"), STR("coach"));
    change_batch_key(&batch, "AGENT");
    ASSERT_OK(domain_begin(desk.agent, &t->err));
    ASSERT_EQ(change_batch_write(desk.agent, desk.change, &batch, NOW, &t->err), 1);
    ASSERT_OK(domain_commit(desk.agent, &t->err));
    ASSERT_OK(change_batches_end(desk.agent, &agent, &t->err));
    ASSERT_OK(change_batches_end(desk.journal, &journal, &t->err));
    ASSERT(agent.n > 0);
    ASSERT_EQ(journal.n, 0);
}
