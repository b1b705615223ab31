/* Storage that fails in the middle of runs: after a new start every run has ended or waits for a
 * person, and nothing was done twice.
 *
 * SPDX-License-Identifier: MIT
 */
#include "memory/message.h"
#include "stage.h"

/* ---- what is asked for must be there ---- */

DB_TEST(run_in_a_thread_that_does_not_exist_is_refused_and_makes_none)
{
    struct stage *stage = stage_new(t);
    struct run_request request = { .prompt = STR("hello"), .thread_id = STR("planner:run:nope") };
    struct run_info info;
    struct thread thread;

    stage_says(stage, "First.");
    stage_says(stage, "Second.");
    stage_run(stage, "hello");
    ASSERT_FAILS(run_start(stage->runner, &request, &t->arena, &info, &t->err), ERR_NOT_FOUND);
    ASSERT_CONTAINS(err_message(&t->err, 0), "planner:run:nope");
    ASSERT_CONTAINS(err_message(&t->err, 0), "--session");
    err_reset(&t->err);
    ASSERT_EQ(thread_find(stage->domain, request.thread_id, &t->arena, &thread, &t->err), 0);
    request.thread_id = stage->info.thread_id;
    stage_run_with(stage, &request);
    ASSERT_STR(stage->info.thread_id, arena_printf(&t->arena, "%.*s", STR_ARG(request.thread_id)));
    stage_free(stage);
}

DB_TEST(run_tells_the_limits_it_was_given)
{
    struct stage *stage = stage_new(t);
    struct run_request request = { .prompt = STR("hello"),
                                   .max_iterations = 7,
                                   .max_tokens = 5000,
                                   .max_tool_calls = 9,
                                   .max_ms = 60000 };
    struct run_info info;

    stage_says(stage, "Hello.");
    stage_run_with(stage, &request);
    ASSERT_EQ(stage->info.max_iterations, 7);
    ASSERT_OK(run_get(stage->runner, stage->info.run_id, &t->arena, &info, &t->err));
    ASSERT_EQ(info.max_iterations, 7);
    ASSERT_EQ(info.max_tokens, 5000);
    ASSERT_EQ(info.max_tool_calls, 9);
    ASSERT_EQ(info.max_ms, 60000);
    stage_free(stage);
}

/* ---- kill switches ---- */

DB_TEST(kill_switch_that_was_not_stored_is_not_on)
{
    struct stage *stage = stage_new(t);

    stage_says(stage, "Hello.");
    stage->fault = (struct db_fault){ .at = DB_FAULT_COMMIT, .nth = 1 };
    ASSERT_EQ(run_kill(stage->runner, KILL_ALL, "", "enough", true, &t->err), 1);
    ASSERT(kill_is_on(stage->kill, "planner", NULL) != NULL);
    stage_settle(stage);
    ASSERT_EQ(stage->fault.fired, 1);
    ASSERT(kill_is_on(stage->kill, "planner", NULL) == NULL);
    ASSERT_TEXT(stage_status(stage, stage_run(stage, "hello")), "done");
    stage_free(stage);
}

DB_TEST(kill_switch_whose_lifting_was_not_stored_stays_on)
{
    struct stage *stage = stage_new(t);

    ASSERT_EQ(run_kill(stage->runner, KILL_ALL, "", "enough", true, &t->err), 1);
    stage_settle(stage);
    stage->fault = (struct db_fault){ .at = DB_FAULT_COMMIT, .nth = 1 };
    ASSERT_EQ(run_kill(stage->runner, KILL_ALL, "", "", false, &t->err), 1);
    stage_settle(stage);
    ASSERT_EQ(stage->fault.fired, 1);
    ASSERT(kill_is_on(stage->kill, "planner", NULL) != NULL);
    stage_free(stage);
}

/* ---- every write once ---- */

/* By what has come back so far, so that an answer that was lost is given again. */
static const char *three_tools(struct stage *stage)
{
    size_t results = 0;

    for (const char *at = stage->last_request; (at = strstr(at, "\"call_id\"")) != NULL; at++)
        results++;
    return results == 0 ? "!note {}\n!poke {}" : results == 2 ? "!send {}" : "All done.";
}

static bool is_open(struct stage *stage, struct str id)
{
    const char *status = stage_status(stage, id);

    return strcmp(status, "waiting") == 0 || strcmp(status, "running") == 0;
}

static bool has_item(struct stage *stage)
{
    struct test *t = stage->t;
    int64_t count = 0;

    if (inbox_count_pending(stage->domain, &count, &t->err) < 0) {
        ASSERT_EQ(stage->fault.fired, 1); /* this look met the fault */
        err_reset(&t->err);
    }
    return count > 0;
}

/* Approves what it asks for; what nobody knows of is not done again. */
static void decide_next(struct stage *stage)
{
    struct test *t = stage->t;
    struct inbox_decision decision = { .state = INBOX_APPROVED, .by = STR("owner") };
    struct inbox_item item;
    struct str id = stage_item(stage);

    if (inbox_get(stage->domain, id, &t->arena, &item, &t->err) < 0) {
        ASSERT_EQ(stage->fault.fired, 1); /* this look met the fault */
        err_reset(&t->err);
        ASSERT_OK(inbox_get(stage->domain, id, &t->arena, &item, &t->err));
    }
    if (item.kind == INBOX_UNKNOWN_EFFECT)
        decision = (struct inbox_decision){ .state = INBOX_REJECTED,
                                            .by = STR("owner"),
                                            .reason = STR("it was done") };
    if (run_decide(stage->runner, item.id, &decision, &t->err) < 0)
        err_reset(&t->err); /* the fault: it stays pending */
    loop_fake_advance(stage->loop, 5000);
}

static void check_once(struct stage *stage, size_t from)
{
    for (size_t i = from; i < stage->done_count; i++) {
        for (size_t j = from; j < i; j++) {
            bool same = strcmp(stage->effects[i].tool, stage->effects[j].tool) == 0;

            if (same && strcmp(stage->effects[i].tool, "note") == 0)
                ASSERT_TEXT(stage->effects[i].operation, stage->effects[j].operation);
            else
                ASSERT(!same);
        }
    }
}

/* One life with a fault at the nth place; false when it was over before. */
static bool live_with(struct stage *stage, enum db_fault_at at, enum db_fault_kind kind,
                      unsigned nth)
{
    struct test *t = stage->t;
    struct run_request request = {
        .prompt = STR("go"),
        .session_id = str_from(arena_printf(&t->arena, "s-%d-%d-%u", at, kind, nth)),
    };
    size_t from = stage->done_count;
    bool begun, fired;

    stage->fault = (struct db_fault){ .at = at, .kind = kind, .nth = nth };
    begun = run_start(stage->runner, &request, &t->arena, &stage->info, &t->err) == 0;
    err_reset(&t->err);
    loop_fake_advance(stage->loop, 5000);
    if (begun && !stage->fault.fired && has_item(stage))
        decide_next(stage);
    fired = stage->fault.fired > 0;
    stage->fault = (struct db_fault){ .at = DB_FAULT_NEVER };
    stage_restart(stage);
    loop_fake_advance(stage->loop, 5000);
    stage_check(stage);
    while (has_item(stage))
        decide_next(stage);
    if (begun && run_get(stage->runner, stage->info.run_id, &t->arena, &stage->info, &t->err) == 0)
        ASSERT(!is_open(stage, stage->info.run_id));
    err_reset(&t->err);
    check_once(stage, from);
    stage_forget(stage);
    return fired;
}

static void fail_each(struct test *t, enum db_fault_at at, enum db_fault_kind kind, unsigned step)
{
    struct stage *stage = stage_new(t);
    unsigned nth = 1;

    stage->script = three_tools;
    while (live_with(stage, at, kind, nth))
        nth += step;
    ASSERT(nth > 3);
    stage_free(stage);
}

DB_TEST(commit_that_fails_anywhere_loses_nothing, .timeout_s = 120)
{
    fail_each(t, DB_FAULT_COMMIT, DB_FAULT_BUSY, 1);
}

DB_TEST(commit_that_ends_the_database_anywhere_loses_nothing, .timeout_s = 120)
{
    fail_each(t, DB_FAULT_COMMIT, DB_FAULT_SYNC, 1);
}

DB_TEST(commit_that_was_kept_and_said_to_fail_does_nothing_twice, .timeout_s = 120)
{
    fail_each(t, DB_FAULT_COMMIT_AFTER, DB_FAULT_SYNC, 1);
}

DB_TEST(statement_that_fails_anywhere_loses_nothing, .timeout_s = 300)
{
    fail_each(t, DB_FAULT_STEP, DB_FAULT_FULL, 7);
}

/* ---- nothing hangs ---- */

/* One life with a statement that fails once, in a database that is well: no restart helps it on.
 * False when it was over before. */
static bool goes_on_with(struct stage *stage, enum run_mode mode, unsigned nth)
{
    struct test *t = stage->t;
    struct run_request request = {
        .prompt = STR("go"),
        .mode = mode,
        .session_id = str_from(arena_printf(&t->arena, "s-%d-%u", mode, nth)),
    };
    bool begun, fired;

    stage->fault = (struct db_fault){ .at = DB_FAULT_STEP, .kind = DB_FAULT_CONFLICT, .nth = nth };
    begun = run_start(stage->runner, &request, &t->arena, &stage->info, &t->err) == 0;
    err_reset(&t->err);
    loop_fake_advance(stage->loop, 5000);
    fired = stage->fault.fired > 0;
    stage->fault = (struct db_fault){ .at = DB_FAULT_NEVER };
    while (has_item(stage))
        decide_next(stage);
    if (begun) {
        ASSERT(!is_open(stage, stage->info.run_id));
        stage_check_run(stage, stage->info.run_id);
    }
    stage_forget(stage);
    return fired;
}

/* Every statement in the long run; else every third, and others in either mode. */
static void never_hangs(struct test *t, enum run_mode mode)
{
    struct stage *stage = stage_new(t);
    unsigned nth = mode == RUN_COOK && !test_long() ? 2 : 1;

    stage->script = three_tools;
    while (goes_on_with(stage, mode, nth))
        nth += test_long() ? 1 : 3;
    ASSERT(nth > 50);
    stage_free(stage);
}

DB_TEST(statement_that_fails_once_hangs_no_run, .timeout_s = 120)
{
    never_hangs(t, RUN_STRUCTURED);
}

DB_TEST(statement_that_fails_once_hangs_no_run_in_wiggum_mode, .timeout_s = 120)
{
    never_hangs(t, RUN_COOK);
}

/* What can't be stored comes again each time: the run ends, and the model is not asked for ever. */
static const char *poison(struct stage *stage)
{
    stage->fault = (struct db_fault){ .at = DB_FAULT_STEP,
                                      .kind = DB_FAULT_CONFLICT,
                                      .nth = stage->target[0] - '0' };
    return "!note {}";
}

DB_TEST(answer_that_can_never_be_stored_ends_the_run)
{
    static const char *const nth[] = { "1", "3", "5", "7" };

    for (size_t i = 0; i < ARRAY_LEN(nth); i++) {
        struct stage *stage = stage_new(t);
        struct str id;

        stage->script = poison;
        stage->target = nth[i];
        id = stage_run(stage, "go");
        loop_fake_advance(stage->loop, 60 * 1000);
        ASSERT_TEXT(stage_status(stage, id), "failed");
        ASSERT_CONTAINS(stage_last(stage, "error"), "could not be stored 3 times in a row");
        ASSERT(stage->model_calls <= 4);
        stage_free(stage);
    }
}
