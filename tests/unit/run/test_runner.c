/* Runs from prompt to done on a stage: what clients are told, what is stored, what survives.
 *
 * SPDX-License-Identifier: MIT
 */
#include "run/run_int.h"
#include "stage.h"

DB_TEST(a_session_that_could_be_taken_for_another_is_refused)
{
    struct stage *stage = stage_new(t);
    struct run_request request = { .prompt = STR("x"),
                                   .session_id = STR("a|b"),
                                   .turn_id = STR("c") };
    struct run_info info;

    ASSERT_FAILS(run_start(stage->runner, &request, &t->arena, &info, &t->err), ERR_BAD_REQUEST);
    stage_says(stage, "Once.");
    request.session_id = STR("a");
    request.turn_id = STR("b|c"); /* the last part may have one */
    ASSERT_OK(run_start(stage->runner, &request, &t->arena, &info, &t->err));
    stage_settle(stage);
    stage_free(stage);
}

DB_TEST(run_says_what_the_model_says)
{
    struct stage *stage = stage_new(t);
    struct str id;

    stage_says(stage, "Hello there.");
    id = stage_run(stage, "Hello");
    ASSERT_TEXT(stage_story(stage), "init text done");
    ASSERT(strstr(stage_last(stage, "done"), "\"result\":\"Hello there.\"") != NULL);
    ASSERT_TEXT(stage_status(stage, id), "done");
    ASSERT_EQ(runner_loaded(stage->runner), 0);
    stage_free(stage);
}

DB_TEST(run_uses_a_tool_and_goes_on)
{
    struct stage *stage = stage_new(t);

    stage_says(stage, "!note {\"text\":\"a\"}");
    stage_says(stage, "Noted.");
    stage_run(stage, "note a");
    ASSERT_TEXT(stage_story(stage), "init tool_use tool_result text done");
    ASSERT_EQ(stage->done_count, 1);
    stage_free(stage);
}

DB_TEST(run_waits_for_a_person_and_costs_no_memory)
{
    struct stage *stage = stage_new(t);
    struct str id;

    stage_says(stage, "!send {\"to\":\"ada\"}");
    stage_says(stage, "Sent.");
    id = stage_run(stage, "send it");
    ASSERT_TEXT(stage_story(stage), "init tool_use approval_gate waiting");
    ASSERT_TEXT(stage_status(stage, id), "waiting");
    ASSERT_EQ(runner_loaded(stage->runner), 0);
    ASSERT_EQ(stage->done_count, 0);
    stage_forget(stage);
    ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
    ASSERT_TEXT(stage_story(stage), "tool_result text done");
    ASSERT_EQ(stage->done_count, 1);
    stage_free(stage);
}

DB_TEST(rejected_call_goes_back_to_the_model_with_the_reason)
{
    struct stage *stage = stage_new(t);

    stage_says(stage, "!send {\"to\":\"ada\"}");
    stage_says(stage, "I will not.");
    stage_run(stage, "send it");
    ASSERT_EQ(stage_decide(stage, INBOX_REJECTED, NULL), 1);
    ASSERT(strstr(stage->last_request, "not today") != NULL);
    ASSERT_EQ(stage->done_count, 0);
    ASSERT(strstr(stage_last(stage, "tool_result"), "\"rejected\"") != NULL);
    stage_free(stage);
}

DB_TEST(cancel_ends_a_run_that_thinks)
{
    struct stage *stage = stage_new(t);
    struct str id = stage_run(stage, "think long");

    ASSERT_OK(run_cancel(stage->runner, id, &t->err));
    stage_settle(stage);
    ASSERT(strstr(stage_last(stage, "done"), "\"cancelled\"") != NULL);
    ASSERT_TEXT(stage_status(stage, id), "cancelled");
    ASSERT_OK(run_cancel(stage->runner, id, &t->err));
    stage_free(stage);
}

DB_TEST(crash_while_thinking_asks_the_model_again)
{
    struct stage *stage = stage_new(t);
    struct str id = stage_run(stage, "think");

    stage_crash(stage);
    stage_says(stage, "Here again.");
    stage_settle(stage);
    ASSERT_TEXT(stage_status(stage, id), "done");
    stage_free(stage);
}

DB_TEST(crash_in_a_keyed_tool_does_it_again_with_the_same_operation)
{
    struct stage *stage = stage_new(t);
    struct str id;

    stage->hold_tools = true;
    stage_says(stage, "!note {}");
    stage_says(stage, "ok");
    id = stage_run(stage, "note");
    stage->hold_tools = false;
    stage_crash(stage);
    stage_settle(stage);
    ASSERT_TEXT(stage_status(stage, id), "done");
    ASSERT_EQ(stage->done_count, 1);
    stage_free(stage);
}

DB_TEST(crash_in_an_unkeyed_tool_asks_a_person)
{
    struct stage *stage = stage_new(t);
    struct str id;

    stage->hold_tools = true;
    stage_says(stage, "!poke {}");
    stage_says(stage, "ok");
    id = stage_run(stage, "poke");
    stage->hold_tools = false;
    stage_crash(stage);
    stage_settle(stage);
    ASSERT_TEXT(stage_status(stage, id), "waiting");
    ASSERT_EQ(stage->done_count, 0);
    ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
    ASSERT_TEXT(stage_status(stage, id), "done");
    ASSERT_EQ(stage->done_count, 1);
    stage_free(stage);
}

/* ---- many ---- */

#define WAITING 2000

/* A start looks at what must go on, and at nothing else: no run that waits is loaded or even read.
 */
TEST(thousands_that_wait_cost_a_start_nothing, .timeout_s = 120)
{
    t->param = &db_test_sqlite;
    struct stage *stage = stage_new(t);
    struct str first = STR_NONE, busy;
    struct run_record *rows;
    size_t n;

    for (int i = 0; i < WAITING; i++) {
        struct run_request request = {
            .prompt = STR("send"),
            .session_id = str_from(arena_printf(&t->arena, "s%d", i)),
        };

        stage_says(stage, "!send {}");
        stage_run_with(stage, &request);
        stage_forget(stage);
        stage->reply_count = stage->reply_next = 0;
        if (i == 0)
            first = stage->info.run_id;
    }
    busy = stage_run(stage, "think"); /* no answer comes before the crash */
    ASSERT_EQ(runner_loaded(stage->runner), 1);
    stage_crash(stage);
    ASSERT_OK(run_open_page(stage->domain, 0,
                            str_of((const char *)stage->runner->rules.hash, BP_HASH_BYTES), 0, 10,
                            &t->arena, &rows, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT(str_eq(rows[0].run_key, busy));
    stage_says(stage, "Here again.");
    stage_settle(stage);
    ASSERT_EQ(runner_loaded(stage->runner), 0);
    ASSERT_TEXT(stage_status(stage, busy), "done");
    ASSERT_TEXT(stage_status(stage, first), "waiting");
    ASSERT_EQ(stage->model_calls, WAITING + 2);
    stage->altered = true; /* thousands of replays are for tests/e2e */
    stage_free(stage);
}

/* Whoever finds its run with another host, with a later lease or ended writes nothing more. */
DB_TEST(run_that_is_no_longer_this_hosts_is_told_from_one_that_is)
{
    struct stage *stage = stage_new(t);
    struct domain *domain = stage->domain;
    struct run *run = NULL;
    int64_t host, n;

    runner_set_fence(stage->runner, 5);
    stage->hold_tools = true;
    stage_says(stage, "!note {}");
    stage_run(stage, "go on");
    map_each (&stage->runner->runs, entry)
        run = entry->value;
    ASSERT(run);
    host = runner_host(stage->runner);
    n = run->row.n;
    ASSERT_OK(run_check_own(run, &t->err));
    ASSERT_OK(run_own(domain, n, host + 1, 5, &t->err));
    ASSERT_FAILS(run_check_own(run, &t->err), ERR_LEASE_LOST);
    ASSERT_OK(run_own(domain, n, host, 6, &t->err));
    ASSERT_FAILS(run_check_own(run, &t->err), ERR_LEASE_LOST);
    ASSERT_OK(run_own(domain, n, host, 5, &t->err));
    ASSERT_OK(run_check_own(run, &t->err));
    stage->hold_tools = false;
    stage->altered = true;
    stage_free(stage);
}
