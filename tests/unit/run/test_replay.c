/* Replaying logs: what was recorded passes, and nothing that was changed afterwards does.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/db.h"
#include "db/migrations.h"
#include "harness/db_test.h"
#include "run/run.h"
#include "scribe.h"

static int64_t store_story(struct test *t, struct domain *domain, uint32_t mode)
{
    AUTO_SCRIBE s;

    scribe_story(&s, t, domain, &run_program, "aaaa1111", mode);
    return s.run.n;
}

static void change_rows(struct test *t, struct domain *domain, const char *sql)
{
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(domain), (struct sql){ sql }, &q, &t->err));
    ASSERT_OK(stmt_run(q, &t->err));
}

static int64_t number(struct test *t, struct domain *domain, const char *sql)
{
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(domain), (struct sql){ sql }, &q, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    return stmt_i64(q, "n");
}

DB_TEST(a_recorded_run_replays)
{
    AUTO(domain) domain = db_test_open(t, migrations_agent, migrations_agent_count);
    struct run_replay_report report;
    int64_t n = store_story(t, domain, 0);

    ASSERT_OK(run_replay_check(domain, n, &run_program, &report, &t->err));
    ASSERT_EQ(report.rows, number(t, domain, "SELECT count(*) AS n FROM run_events"));
    ASSERT(report.ended && report.selected > 8 && report.selected < report.rows);
}

TEST(both_modes_replay_and_so_does_a_run_that_waits)
{
    AUTO(domain) domain = scribe_domain(t);
    struct run_replay_report report;
    int64_t n = store_story(t, domain, RUN_WIGGUM);
    AUTO_SCRIBE open;

    ASSERT_OK(run_replay_check(domain, n, &run_program, &report, &t->err));
    ASSERT(report.ended);
    scribe_begin(&open, t, domain, &run_program, "bbbb2222", 0);
    scribe_call(&open, 1, RUN_RISKY, "bash", "{\"command\":\"rm x\"}");
    scribe_word(&open, RUN_EV_THOUGHT, 0, RUN_MORE, NULL);
    ASSERT_OK(run_replay_check(domain, open.run.n, &run_program, &report, &t->err));
    ASSERT(!report.ended);
    ASSERT_EQ(report.rows, 6);
}

TEST(a_run_that_is_not_there_is_said_to_be_absent)
{
    AUTO(domain) domain = scribe_domain(t);
    struct run_replay_report report;

    ASSERT_FAILS(run_replay_check(domain, 77, &run_program, &report, &t->err), ERR_NOT_FOUND);
}

/* ---- one change at a time ---- */

/* The change is made, the replay must fail with this code, and it is taken back. */
static void expect_found(struct test *t, struct domain *domain, int64_t run_n, const char *sql,
                         enum err_code code)
{
    struct run_replay_report report;
    struct err err = ERR_INIT;
    char text[ERR_TEXT_MAX];

    ASSERT_OK(domain_begin(domain, &t->err));
    change_rows(t, domain, sql);
    if (run_replay_check(domain, run_n, &run_program, &report, &err) == 0)
        test_case_failed("nobody noticed: %s", sql);
    else if (err.code != code)
        test_case_failed("%s: %s %s", sql, err_name(err.code),
                         err_format(&err, text, sizeof(text)));
    else
        test_case_passed();
    domain_rollback(domain);
}

static const char *const row_changes[] = {
    "type = type + 1",
    "type = 200",
    "type = type + 256",
    "key = key + 65536",
    "bits = bits + 4294967296",
    "key = key + 1",
    "bits = bits + 1",
    "bits = bits + 65536",
    "seq = coalesce(seq, 0) + 1000",
    "ref = coalesce(ref, 0) + 1",
    "data = coalesce(data, '') || ' '",
    "at = at + 1",
    "chain = zeroblob(16)",
    "chain = zeroblob(15)",
    "run_n = run_n + 1",
    "thread_n = thread_n + 1",
};

TEST(one_altered_column_of_any_row_is_found, .timeout_s = 120)
{
    AUTO(domain) domain = scribe_domain(t);
    int64_t n = store_story(t, domain, RUN_WIGGUM);
    int64_t rows = number(t, domain, "SELECT max(n) AS n FROM run_events");

    for (int64_t row = 1; row <= rows; row++)
        for (size_t i = 0; i < sizeof(row_changes) / sizeof(row_changes[0]); i++)
            expect_found(t, domain, n,
                         arena_printf(&t->arena, "UPDATE run_events SET %s WHERE n = %lld",
                                      row_changes[i], (long long)row),
                         ERR_INTEGRITY_FAILED);
}

#define ADD_A_ROW                                                                                  \
    "INSERT INTO run_events (run_n, thread_n, type, at, chain)"                                    \
    " SELECT run_n, thread_n, 29, at, chain FROM run_events WHERE type = 28"

static const char *const content_changes[] = {
    "UPDATE agent_messages SET content = replace(content, 'tidy', 'burn') WHERE kind = 'user'",
    "UPDATE agent_messages SET content = replace(content, 'ls', 'rm') WHERE kind = 'action'",
    "UPDATE agent_messages SET tool_name = 'search' WHERE kind = 'action'",
    "UPDATE agent_messages SET content = replace(content, 'old', 'new') WHERE kind = 'toolResult'",
    "UPDATE agent_messages SET status = 'success' WHERE kind = 'toolResult'",
    "UPDATE agent_messages SET content = replace(content, 'look', 'lie') WHERE kind = 'thought'",
    "UPDATE agent_messages SET created_at = created_at + 1 WHERE kind = 'thought'",
    "UPDATE agent_messages SET operation_n = operation_n + 1 WHERE operation_n IS NOT NULL",
    "DELETE FROM agent_messages WHERE kind = 'toolResult'",
    "UPDATE inbox SET body = '{}'",
    "UPDATE inbox SET title = 'Nothing much'",
    "UPDATE inbox SET decided_by = 'planner'",
    "UPDATE inbox SET reason = 'sure' WHERE state = 'rejected'",
    "UPDATE inbox SET state = 'approved' WHERE state = 'rejected'",
    "DELETE FROM inbox WHERE state = 'approved'",
    "DELETE FROM operations WHERE n = 1",
    "UPDATE operations SET run_n = 99 WHERE n = 1",
    "UPDATE run_events SET ref = 3 - ref WHERE type = 12",
    "UPDATE runs SET settings = '{\"maxIterations\":90}'",
    "UPDATE runs SET program_hash = zeroblob(32)",
    "UPDATE runs SET program_hash = x'00'",
    "DELETE FROM run_events WHERE n = 1",
    "DELETE FROM run_events WHERE n = 9",
    "DELETE FROM run_events WHERE n = (SELECT max(n) FROM run_events)",
    "DELETE FROM run_events WHERE n > 12",
    "DELETE FROM run_events",
    "UPDATE run_events SET n = 1000 WHERE n = 5",
    ADD_A_ROW,
};

TEST(altered_content_and_rows_that_are_missing_or_added_are_found, .timeout_s = 120)
{
    AUTO(domain) domain = scribe_domain(t);
    int64_t n = store_story(t, domain, 0);

    for (size_t i = 0; i < sizeof(content_changes) / sizeof(content_changes[0]); i++)
        expect_found(t, domain, n, content_changes[i], ERR_INTEGRITY_FAILED);
}

TEST(the_first_row_that_differs_is_named)
{
    AUTO(domain) domain = scribe_domain(t);
    struct run_replay_report report;
    int64_t n = store_story(t, domain, 0);

    change_rows(t, domain, "UPDATE run_events SET at = at + 1 WHERE n IN (4, 9)");
    ASSERT_FAILS(run_replay_check(domain, n, &run_program, &report, &t->err), ERR_INTEGRITY_FAILED);
    ASSERT_CONTAINS(test_err_text(t), "row 4 of run aaaa1111, said: the chain breaks here");
}

TEST(a_log_that_stops_in_the_middle_of_a_step_is_found)
{
    AUTO(domain) domain = scribe_domain(t);
    struct run_replay_report report;
    AUTO_SCRIBE open;

    scribe_begin(&open, t, domain, &run_program, "bbbb2222", 0);
    ASSERT_OK(run_replay_check(domain, open.run.n, &run_program, &report, &t->err));
    change_rows(t, domain, "DELETE FROM run_events WHERE n = 2");
    ASSERT_FAILS(run_replay_check(domain, open.run.n, &run_program, &report, &t->err),
                 ERR_INTEGRITY_FAILED);
    ASSERT_CONTAINS(test_err_text(t), "stops after 1 rows, before think");
}

/* ---- another build ---- */

TEST(a_build_that_lacks_one_guard_is_refused_and_shows_where_it_would_go_wrong)
{
    AUTO(domain) domain = scribe_domain(t);
    struct run_replay_report report;
    int64_t n = store_story(t, domain, 0);
    const struct bp_program *lax = bp_program_without(&run_program, "ask_first", &t->arena);

    ASSERT_FAILS(run_replay_check(domain, n, lax, &report, &t->err), ERR_RESUME_CONFLICT);
    ASSERT_CONTAINS(test_err_text(t), "which this program can't make any more");
    err_reset(&t->err);
    ASSERT_FAILS(run_replay_with(domain, n, lax, &report, &t->err), ERR_INTEGRITY_FAILED);
    ASSERT_CONTAINS(test_err_text(t), "gate(2, risky) does not come next: that is act(1)");
}

TEST(every_guard_that_is_missing_changes_the_programs_hash)
{
    AUTO(domain) domain = scribe_domain(t);
    int64_t n = store_story(t, domain, 0);

    for (unsigned i = 0; i < run_program.thread_count; i++) {
        const struct bp_program *lax;
        struct run_replay_report report;
        struct err err = ERR_INIT;

        if (run_program.threads[i].kind != BP_GUARD)
            continue;
        lax = bp_program_without(&run_program, run_program.threads[i].name, &t->arena);
        ASSERT_EQ(run_replay_check(domain, n, lax, &report, &err), -1);
        ASSERT_EQ(err.code, ERR_RESUME_CONFLICT);
    }
}

/* ---- rows as they are ---- */

static bool count_two(void *arg, const struct run_row *row)
{
    int64_t *count = arg;

    ASSERT_EQ(row->event.type, *count ? RUN_EV_THINK : RUN_EV_START);
    ASSERT_EQ(row->seq, *count ? 0 : 1);
    return ++*count < 2;
}

TEST(the_rows_of_a_log_come_in_order_until_enough_were_seen)
{
    AUTO(domain) domain = scribe_domain(t);
    int64_t n = store_story(t, domain, 0), count = 0;

    ASSERT_OK(run_log_each(domain, n, count_two, &count, &t->err));
    ASSERT_EQ(count, 2);
}
