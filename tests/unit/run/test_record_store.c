/* Rows of runs, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/buf.h"
#include "db/db.h"
#include "log_rig.h"

#define ENDED_THREAD 1000

/* In a thread of its own when it is open: a thread has one open run at most. */
static int64_t insert(struct test *t, struct domain *domain, const char *key, int64_t agent_n,
                      enum run_status status)
{
    static int64_t thread = 3;
    struct run_record record = { .run_key = str_from(key),
                                 .agent_n = agent_n,
                                 .thread_n = run_status_open(status) ? thread++ : ENDED_THREAD,
                                 .wake_reason = STR("userInitiated"),
                                 .status = run_status_open(status) ? status : RUN_QUEUED,
                                 .created_at = NOW };

    ASSERT_EQ(run_insert(domain, &record, &t->err), 1);
    if (!run_status_open(status)) {
        record.status = status;
        record.ended_at = record.updated_at = NOW;
        ASSERT_OK(run_update(domain, &record, &t->err));
    }
    return record.n;
}

static struct run_record load(struct test *t, struct domain *domain, int64_t n)
{
    struct run_record record;

    ASSERT_EQ(run_load_n(domain, n, &t->arena, &record, &t->err), 1);
    return record;
}

static const char *keys_of(struct test *t, const struct run_record *records, size_t count)
{
    AUTO_BUF keys = BUF_INIT(1 << 16);

    for (size_t i = 0; i < count; i++)
        buf_printf(&keys, "%s%.*s", i ? " " : "", STR_ARG(records[i].run_key));
    return arena_text(&t->arena, buf_text(&keys));
}

DB_TEST(a_run_comes_back_as_it_was_stored)
{
    static const char hash[32] = "\0\x01\xff hash";
    AUTO(domain) domain = open_log(t);
    struct run_record in = { .run_key = STR("k1"),
                             .agent_n = 2,
                             .thread_n = 3,
                             .wake_reason = STR("manual"),
                             .status = RUN_WAITING,
                             .mode = STR("wiggum"),
                             .model_id = STR("offline"),
                             .cwd = STR("/home/me"),
                             .program_hash = str_of(hash, sizeof(hash)),
                             .settings = STR("{\"a\":1}"),
                             .wait_kind = STR("inbox"),
                             .wait_until = NOW + 5,
                             .rerun_of_n = 9,
                             .override_code = STR("o"),
                             .host_n = 4,
                             .created_at = NOW };
    struct run_record out;

    ASSERT_EQ(run_insert(domain, &in, &t->err), 1);
    ASSERT_EQ(run_load(domain, STR("k1"), &t->arena, &out, &t->err), 1);
    ASSERT_EQ(out.n, in.n);
    ASSERT_EQ(out.agent_n, 2);
    ASSERT_EQ(out.thread_n, 3);
    ASSERT_STR(out.wake_reason, "manual");
    ASSERT_EQ(out.status, RUN_WAITING);
    ASSERT_STR(out.mode, "wiggum");
    ASSERT_STR(out.model_id, "offline");
    ASSERT_STR(out.cwd, "/home/me");
    ASSERT(str_eq(out.program_hash, str_of(hash, sizeof(hash))));
    ASSERT_STR(out.settings, "{\"a\":1}");
    ASSERT_STR(out.wait_kind, "inbox");
    ASSERT_EQ(out.wait_until, NOW + 5);
    ASSERT_EQ(out.rerun_of_n, 9);
    ASSERT_STR(out.override_code, "o");
    ASSERT_EQ(out.host_n, 4);
    ASSERT_EQ(out.created_at, NOW);
    ASSERT_EQ(out.updated_at, NOW);
    ASSERT_EQ(out.ended_at, 0);
    ASSERT(!out.stop_reason.p && !out.error_code.p && !out.hand_state.p);
    ASSERT_EQ(run_load(domain, STR("k2"), &t->arena, &out, &t->err), 0);
    ASSERT_EQ(run_load_n(domain, in.n + 1, &t->arena, &out, &t->err), 0);
}

DB_TEST(a_run_key_starts_one_run)
{
    AUTO(domain) domain = open_log(t);
    int64_t n = insert(t, domain, "same", 1, RUN_RUNNING);
    struct run_record again = { .run_key = STR("same"),
                                .agent_n = 99,
                                .thread_n = 99,
                                .wake_reason = STR("x"),
                                .status = RUN_QUEUED };

    ASSERT_EQ(run_insert(domain, &again, &t->err), 0);
    ASSERT_EQ(again.n, 0);
    ASSERT_EQ(load(t, domain, n).agent_n, 1);
    ASSERT_EQ(load(t, domain, n).status, RUN_RUNNING);
}

DB_TEST(what_changes_while_it_runs_is_written_in_one_go)
{
    AUTO(domain) domain = open_log(t);
    struct run_record record = load(t, domain, insert(t, domain, "k", 1, RUN_QUEUED));
    struct run_record out;

    record.status = RUN_STATUS_FAILED;
    record.mode = STR("wiggum");
    record.wait_kind = STR("tool");
    record.wait_until = 5;
    record.hand_state = STR("{}");
    record.hand_pid = 6;
    record.hand_stamp = 7;
    record.iterations = 8;
    record.tool_calls = 9;
    record.input_tokens = 10;
    record.output_tokens = 11;
    record.cached_tokens = 12;
    record.cost = 0.125;
    record.stop_reason = STR("error");
    record.error_code = STR("timeout");
    record.error_message = STR("It took too long.");
    record.updated_at = NOW + 1;
    record.ended_at = NOW + 2;
    ASSERT_OK(run_update(domain, &record, &t->err));
    out = load(t, domain, record.n);
    ASSERT_EQ(out.status, RUN_STATUS_FAILED);
    ASSERT_STR(out.mode, "wiggum");
    ASSERT_STR(out.wait_kind, "tool");
    ASSERT_EQ(out.wait_until, 5);
    ASSERT_STR(out.hand_state, "{}");
    ASSERT_EQ(out.hand_pid, 6);
    ASSERT_EQ(out.hand_stamp, 7);
    ASSERT_EQ(out.iterations, 8);
    ASSERT_EQ(out.tool_calls, 9);
    ASSERT_EQ(out.input_tokens, 10);
    ASSERT_EQ(out.output_tokens, 11);
    ASSERT_EQ(out.cached_tokens, 12);
    ASSERT(out.cost == 0.125);
    ASSERT_STR(out.stop_reason, "error");
    ASSERT_STR(out.error_code, "timeout");
    ASSERT_STR(out.error_message, "It took too long.");
    ASSERT_EQ(out.updated_at, NOW + 1);
    ASSERT_EQ(out.ended_at, NOW + 2);
    record.wait_kind = STR_NONE;
    record.wait_until = 0;
    ASSERT_OK(run_update(domain, &record, &t->err));
    out = load(t, domain, record.n);
    ASSERT(!out.wait_kind.p);
    ASSERT_EQ(out.wait_until, 0);
}

DB_TEST(a_run_is_found_by_a_unique_beginning)
{
    AUTO(domain) domain = open_log(t);
    struct run_record record;

    insert(t, domain, "abcd1111", 1, RUN_DONE);
    insert(t, domain, "abcd2222", 1, RUN_DONE);
    ASSERT_OK(run_find_prefix(domain, STR("abcd1"), &t->arena, &record, &t->err));
    ASSERT_STR(record.run_key, "abcd1111");
    ASSERT_OK(run_find_prefix(domain, STR("abcd2222"), &t->arena, &record, &t->err));
    ASSERT_FAILS(run_find_prefix(domain, STR("abcd"), &t->arena, &record, &t->err),
                 ERR_BAD_REQUEST);
    ASSERT_CONTAINS(err_message(&t->err, 0), "abcd1111, abcd2222");
    ASSERT_FAILS(run_find_prefix(domain, STR("abc"), &t->arena, &record, &t->err), ERR_BAD_REQUEST);
    ASSERT_FAILS(run_find_prefix(domain, STR("abcd3"), &t->arena, &record, &t->err), ERR_NOT_FOUND);
    ASSERT_CONTAINS(err_message(&t->err, 0), "dormouse runs");
    for (int i = 0; i < 9; i++)
        insert(t, domain, arena_printf(&t->arena, "many%d", i), 1, RUN_DONE);
    ASSERT_FAILS(run_find_prefix(domain, STR("many"), &t->arena, &record, &t->err),
                 ERR_BAD_REQUEST);
    ASSERT_CONTAINS(err_message(&t->err, 0), "many3 and more");
}

DB_TEST(runs_are_listed_newest_first_in_pages)
{
    AUTO(domain) domain = open_log(t);
    struct run_record *records;
    size_t count;
    int64_t third = 0;

    for (int i = 1; i <= 60; i++) {
        int64_t n = insert(t, domain, arena_printf(&t->arena, "r%d", i), i % 2 ? 1 : 2, RUN_DONE);

        third = i == 4 ? n : third;
    }
    ASSERT_OK(run_records(domain, 0, 0, 2, &t->arena, &records, &count, &t->err));
    ASSERT_TEXT(keys_of(t, records, count), "r60 r59");
    ASSERT_OK(run_records(domain, 0, third, 9, &t->arena, &records, &count, &t->err));
    ASSERT_TEXT(keys_of(t, records, count), "r3 r2 r1");
    ASSERT_OK(run_records(domain, 1, third, 9, &t->arena, &records, &count, &t->err));
    ASSERT_TEXT(keys_of(t, records, count), "r3 r1");
    ASSERT_OK(run_records(domain, 3, 0, 9, &t->arena, &records, &count, &t->err));
    ASSERT_EQ(count, 0);
    ASSERT_OK(run_records(domain, 0, 0, 0, &t->arena, &records, &count, &t->err));
    ASSERT_EQ(count, 50);
}

DB_TEST(open_runs_are_found_among_ended_ones)
{
    static const enum run_status all[] = { RUN_QUEUED, RUN_RUNNING,   RUN_WAITING,
                                           RUN_DONE,   RUN_CANCELLED, RUN_STATUS_FAILED };
    AUTO(domain) domain = open_log(t);
    struct run_record *records;
    int64_t thread_n = 0;
    size_t count, seen = 0;

    for (int i = 0; i < 30; i++)
        insert(t, domain, arena_printf(&t->arena, "r%d", i), 1, all[i % 6]);
    for (;;) {
        ASSERT_OK(run_open_page(domain, 0, STR("another hash"), thread_n, 4, &t->arena, &records,
                                &count, &t->err));
        if (count == 0)
            break;
        for (size_t i = 0; i < count; i++) {
            ASSERT(run_status_open(records[i].status));
            ASSERT(records[i].thread_n > thread_n);
            thread_n = records[i].thread_n;
        }
        seen += count;
    }
    ASSERT_EQ(seen, 15);
}

DB_TEST(runs_that_wait_under_known_rules_are_left_out)
{
    static const struct {
        const char *key, *hash;
        enum run_status status;
    } rows[] = {
        { "a", "ours", RUN_WAITING },   { "b", "ours", RUN_RUNNING },
        { "c", "theirs", RUN_WAITING }, { "d", "theirs", RUN_QUEUED },
        { "e", "ours", RUN_QUEUED },    { "f", "our", RUN_WAITING },
        { "g", "", RUN_WAITING },       { "h", "ours!", RUN_WAITING },
    };
    AUTO(domain) domain = open_log(t);
    struct run_record *records;
    size_t count;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct run_record row = { .run_key = str_from(rows[i].key),
                                  .agent_n = 1,
                                  .thread_n = (int64_t)i + 1,
                                  .wake_reason = STR("manual"),
                                  .program_hash = str_from(rows[i].hash),
                                  .status = rows[i].status,
                                  .created_at = NOW + (int64_t)i };

        ASSERT_EQ(run_insert(domain, &row, &t->err), 1);
    }
    ASSERT_OK(run_open_page(domain, 0, STR("ours"), 0, 100, &t->arena, &records, &count, &t->err));
    ASSERT_TEXT(keys_of(t, records, count), "b c d e f g h");
}

DB_TEST(the_open_run_of_a_thread_is_found)
{
    AUTO(domain) domain = open_log(t);
    struct run_record record;
    int64_t n;

    insert(t, domain, "done", 1, RUN_DONE);
    ASSERT_EQ(run_open_of_thread(domain, ENDED_THREAD, &t->arena, &record, &t->err), 0);
    ASSERT_EQ(run_open_of_thread(domain, 3, &t->arena, &record, &t->err), 0);
    n = insert(t, domain, "waits", 1, RUN_WAITING);
    ASSERT_EQ(run_open_of_thread(domain, 3, &t->arena, &record, &t->err), 1);
    ASSERT_EQ(record.n, n);
    ASSERT_EQ(run_open_of_thread(domain, 4, &t->arena, &record, &t->err), 0);
}

static void rest(struct test *t, struct domain *domain, int64_t n, int64_t until)
{
    struct run_record record = load(t, domain, n);

    record.status = RUN_WAITING;
    record.wait_kind = STR("rate_limit");
    record.wait_until = until;
    ASSERT_OK(run_update(domain, &record, &t->err));
}

DB_TEST(rests_end_in_their_order)
{
    AUTO(domain) domain = open_log(t);
    int64_t at = -1, a, b, c, due[4];
    size_t count;

    ASSERT_OK(run_next_wait(domain, 0, &at, &t->err));
    ASSERT_EQ(at, 0);
    a = insert(t, domain, "a", 1, RUN_RUNNING);
    b = insert(t, domain, "b", 1, RUN_RUNNING);
    c = insert(t, domain, "c", 1, RUN_RUNNING);
    rest(t, domain, a, NOW + 30);
    rest(t, domain, b, NOW + 10);
    rest(t, domain, c, NOW + 20);
    ASSERT_OK(run_next_wait(domain, 0, &at, &t->err));
    ASSERT_EQ(at, NOW + 10);
    ASSERT_OK(run_waits_due(domain, 0, NOW + 20, due, 4, &count, &t->err));
    ASSERT_EQ(count, 2);
    ASSERT_EQ(due[0], b);
    ASSERT_EQ(due[1], c);
    ASSERT_OK(run_waits_due(domain, 0, NOW + 20, due, 1, &count, &t->err));
    ASSERT_EQ(count, 1);
    rest(t, domain, b, 0);
    ASSERT_OK(run_next_wait(domain, 0, &at, &t->err));
    ASSERT_EQ(at, NOW + 20);
}

DB_TEST(a_rolled_back_unit_leaves_no_run)
{
    AUTO(domain) domain = open_log(t);
    struct run_record record;

    ASSERT_OK(domain_begin(domain, &t->err));
    ASSERT_OK(domain_savepoint(domain, &t->err));
    insert(t, domain, "gone", 1, RUN_RUNNING);
    domain_rollback_to(domain);
    ASSERT_OK(domain_commit(domain, &t->err));
    ASSERT_EQ(run_load(domain, STR("gone"), &t->arena, &record, &t->err), 0);
}

TEST(words_of_run_states)
{
    ASSERT_TEXT(run_status_name(RUN_STATUS_FAILED), "failed");
    ASSERT(run_status_open(RUN_WAITING) && !run_status_open(RUN_DONE));
    ASSERT(!run_status_open(RUN_STATUS_NONE));
}

/* A list of words in a partial index has the database build a table of them at every write. */
TEST(writing_a_run_builds_no_tables)
{
    t->param = &db_test_sqlite;
    AUTO(domain) domain = open_log(t);
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(domain),
                         SQL("EXPLAIN UPDATE runs SET status = 'running', updated_at = 1,"
                             " ended_at = NULL WHERE n = 1"),
                         &q, &t->err));
    while (stmt_step(q, &t->err) == 1)
        ASSERT(!str_is(stmt_str(q, "opcode"), "OpenEphemeral"));
}

/* A start looks at what is open: the plan walks the partial index and sorts nothing. */
TEST(open_runs_go_by_their_index)
{
    t->param = &db_test_sqlite;
    AUTO(domain) domain = open_log(t);
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(domain),
                         SQL("EXPLAIN QUERY PLAN SELECT * FROM runs WHERE ended_at IS NULL"
                             " AND thread_n > ? AND (status <> 'waiting' OR program_hash <> ?)"
                             " ORDER BY thread_n LIMIT ?"),
                         &q, &t->err));
    for (int i = 0; i < 3; i++)
        stmt_bind_i64(q, 1);
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT(str_find(stmt_str(q, "detail"), STR("idx_runs_thread_open")) >= 0);
    ASSERT_EQ(stmt_step(q, &t->err), 0);
}

DB_TEST(a_thread_has_one_open_run_at_most)
{
    AUTO(domain) domain = open_log(t);
    struct run_record first = { .run_key = STR("a"),
                                .agent_n = 1,
                                .thread_n = 7,
                                .wake_reason = STR("manual"),
                                .status = RUN_WAITING,
                                .created_at = NOW };
    struct run_record second = first;

    second.run_key = STR("b");
    ASSERT_EQ(run_insert(domain, &first, &t->err), 1);
    ASSERT_EQ(run_insert(domain, &second, &t->err), 0);
}
