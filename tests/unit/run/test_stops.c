/* What stops a run, and what must not: cancel, kill switches, limits, rests.
 *
 * SPDX-License-Identifier: MIT
 */
#include "run/run_int.h"
#include "stage.h"

/* ---- cancel ---- */

DB_TEST(cancel_ends_tools_and_settles_the_ledger)
{
    struct stage *stage = stage_new(t);
    struct operation *open;
    struct str id;
    size_t n;

    stage->hold_tools = true;
    stage_says(stage, "!note {}\n!poke {}\n!send {}");
    id = stage_run(stage, "go");
    ASSERT_OK(run_cancel(stage->runner, id, &t->err));
    stage_settle(stage);
    ASSERT_TEXT(stage_status(stage, id), "cancelled");
    ASSERT_CONTAINS(stage_last(stage, "done"), "\"stopReason\":\"cancelled\"");
    ASSERT_CONTAINS(stage_last(stage, "tool_result"), "\"cancelled\"");
    ASSERT_EQ(stage->done_count, 0);
    ASSERT_OK(operations_open_of_run(stage->domain, stage_info(stage, id).n, &t->arena, &open, &n,
                                     &t->err));
    ASSERT_EQ(n, 0);
    ASSERT_EQ(runner_loaded(stage->runner), 0);
    stage_free(stage);
}

DB_TEST(cancel_survives_a_crash_before_the_tools_have_ended)
{
    struct stage *stage = stage_new(t);
    struct str id;

    stage->hold_tools = true;
    stage_says(stage, "!note {}");
    id = stage_run(stage, "go");
    ASSERT_OK(run_cancel(stage->runner, id, &t->err));
    loop_fake_tick(stage->loop);
    stage_crash(stage);
    stage_settle(stage);
    ASSERT_TEXT(stage_status(stage, id), "cancelled");
    ASSERT_EQ(stage->done_count, 0);
    stage_free(stage);
}

DB_TEST(cancel_that_comes_before_the_start_has_looked_at_the_run_ends_it)
{
    static const char *const replies[] = { "?", "!note {}", "!poke {}" };

    for (size_t i = 0; i < ARRAY_LEN(replies); i++) {
        struct stage *stage = stage_new(t);
        struct str id;

        stage->hold_tools = true;
        stage_says(stage, replies[i]);
        id = stage_run(stage, "go");
        stage_crash(stage);
        ASSERT_OK(run_cancel(stage->runner, id, &t->err));
        stage_settle(stage);
        ASSERT_TEXT(stage_status(stage, id), "cancelled");
        ASSERT_EQ(stage->done_count, 0);
        stage_free(stage);
    }
}

DB_TEST(cancel_of_a_run_that_waits_for_a_place_to_think_is_heard_at_once)
{
    struct stage *stage = stage_new(t);
    struct run_request a = { .prompt = STR("a"), .session_id = STR("a") };
    struct run_request b = { .prompt = STR("b"), .session_id = STR("b") };
    struct run_request c = { .prompt = STR("c"), .session_id = STR("c") };
    struct str first, second, third;

    stage->config.max_thinking = 1;
    stage_crash(stage);
    first = stage_run_with(stage, &a);
    second = stage_run_with(stage, &b);
    third = stage_run_with(stage, &c);
    ASSERT_EQ(stage->model_calls, 1);
    ASSERT_OK(run_cancel(stage->runner, second, &t->err));
    stage_settle(stage);
    ASSERT_TEXT(stage_status(stage, second), "cancelled");
    ASSERT_EQ(stage->model_calls, 1);
    stage_says(stage, "C.");
    stage_answer(stage, "A.");
    ASSERT_TEXT(stage_status(stage, first), "done");
    ASSERT_TEXT(stage_status(stage, third), "done");
    stage_free(stage);
}

DB_TEST(place_that_a_failing_request_leaves_is_taken_by_the_next)
{
    struct stage *stage = stage_new(t);
    struct run_request a = { .prompt = STR("a"), .session_id = STR("a") };
    struct run_request c = { .prompt = STR("c"), .session_id = STR("c") };
    struct str second, third;
    struct run_request b = { .prompt = STR("b"), .session_id = STR("b") };

    stage->config.max_thinking = 1;
    stage_crash(stage);
    stage_run_with(stage, &a);
    second = stage_run_with(stage, &b);
    third = stage_run_with(stage, &c);
    /* Its model is gone when its turn comes: it can't even begin. */
    ASSERT_OK(domain_begin(stage->domain, &t->err));
    ((struct run *)map_find(&stage->runner->runs, second))->row.model_id = STR("gone");
    ASSERT_OK(domain_commit(stage->domain, &t->err));
    stage_says(stage, "C.");
    stage_answer(stage, "A.");
    ASSERT_TEXT(stage_status(stage, second), "failed");
    ASSERT_STR(stage_info(stage, second).error_code, "model_not_allowed");
    ASSERT_TEXT(stage_status(stage, third), "done");
    stage_check_run(stage, third);
    stage->altered = true; /* the second run's row names another model than was sealed */
    stage_free(stage);
}

/* ---- kill switches ---- */

DB_TEST(kill_ends_what_runs_and_lets_nothing_begin)
{
    static const struct {
        enum kill_scope scope;
        bool agent;
    } cases[] = { { KILL_ALL, false }, { KILL_AGENT, true } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct stage *stage = stage_new(t);
        struct run_request again = { .prompt = STR("x"), .session_id = STR("other") };
        struct run_info info;
        const char *value;
        struct str id;

        stage->hold_tools = true;
        stage_says(stage, "!note {}");
        id = stage_run(stage, "go");
        value =
            cases[i].agent ? arena_printf(&t->arena, "%.*s", STR_ARG(stage->info.agent_id)) : "";
        ASSERT_EQ(run_kill(stage->runner, cases[i].scope, value, "enough", true, &t->err), 1);
        stage_settle(stage);
        info = stage_info(stage, id);
        ASSERT_STR(info.status, "failed");
        ASSERT_STR(info.error_code, "kill_switch_active");
        ASSERT_CONTAINS(stage_last(stage, "tool_result"), "kill_switch_active");
        ASSERT_EQ(stage->done_count, 0);
        ASSERT_FAILS(run_start(stage->runner, &again, &t->arena, &info, &t->err),
                     ERR_KILL_SWITCH_ACTIVE);
        ASSERT_EQ(run_kill(stage->runner, cases[i].scope, value, "", false, &t->err), 1);
        stage_settle(stage);
        stage_free(stage);
    }
}

DB_TEST(killed_class_ends_its_tools_only_and_the_run_goes_on)
{
    struct stage *stage = stage_new(t);

    stage->hold_tools = true;
    stage_says(stage, "!note {}");
    stage_says(stage, "!note {\"again\":1}");
    stage_says(stage, "Without it then.");
    stage_run(stage, "go");
    ASSERT_EQ(run_kill(stage->runner, KILL_TOOLS, "test", "enough", true, &t->err), 1);
    stage_settle(stage);
    ASSERT_CONTAINS(stage_last(stage, "done"), "Without it then.");
    ASSERT_EQ(stage->done_count, 0);
    stage_free(stage);
}

DB_TEST(kill_that_was_set_while_the_process_was_down_is_heard_at_the_start)
{
    struct stage *stage = stage_new(t);
    struct str id;

    stage->hold_tools = true;
    stage_says(stage, "!note {}");
    id = stage_run(stage, "go");
    ASSERT_OK(loop_unit_begin(stage->loop, stage->domain, &t->err));
    ASSERT_OK(kill_set(stage->kill, KILL_ALL, "", "night", 1, &t->err));
    ASSERT_OK(loop_unit_end(stage->loop, true, &t->err));
    loop_fake_tick(stage->loop);
    stage_crash(stage);
    stage->hold_tools = false;
    stage_settle(stage);
    ASSERT_TEXT(stage_status(stage, id), "failed");
    ASSERT_EQ(stage->done_count, 0);
    stage_free(stage);
}

/* ---- limits ---- */

DB_TEST(calls_of_the_answer_that_used_up_the_tokens_do_not_act)
{
    struct stage *stage = stage_new(t);
    struct run_request request = { .prompt = STR("go"), .max_tokens = 15 };

    stage_says(stage, "!poke {}");
    stage_run_with(stage, &request);
    ASSERT_EQ(stage->done_count, 0);
    ASSERT_CONTAINS(stage_last(stage, "tool_result"), "budget_exceeded");
    ASSERT_STR(stage_info(stage, stage->info.run_id).error_code, "budget_exceeded");
    stage_free(stage);
}

DB_TEST(answer_that_used_up_the_tokens_still_counts)
{
    struct stage *stage = stage_new(t);
    struct run_request request = { .prompt = STR("go"), .max_tokens = 15 };

    stage_says(stage, "Here it is.");
    stage_run_with(stage, &request);
    ASSERT_TEXT(stage_status(stage, stage->info.run_id), "done");
    stage_free(stage);
}

DB_TEST(time_that_is_up_ends_what_runs)
{
    static const char *const replies[] = { "?", "!note {}" };

    for (size_t i = 0; i < ARRAY_LEN(replies); i++) {
        struct stage *stage = stage_new(t);
        struct run_request request = { .prompt = STR("go"), .max_ms = 5000 };

        stage->hold_tools = true;
        stage_says(stage, replies[i]);
        stage_run_with(stage, &request);
        loop_fake_advance(stage->loop, 4000);
        ASSERT_TEXT(stage_status(stage, stage->info.run_id), "running");
        loop_fake_advance(stage->loop, 2000);
        ASSERT_STR(stage_info(stage, stage->info.run_id).error_code, "budget_exceeded");
        ASSERT_EQ(stage->done_count, 0);
        stage_free(stage);
    }
}

DB_TEST(waiting_for_a_person_takes_no_time_of_the_run)
{
    struct stage *stage = stage_new(t);
    struct run_request request = { .prompt = STR("go"), .max_ms = 5000 };

    stage_says(stage, "!send {}");
    stage_says(stage, "ok");
    stage_run_with(stage, &request);
    loop_fake_advance(stage->loop, DAYS(2));
    ASSERT_EQ(stage_decide(stage, INBOX_APPROVED, NULL), 1);
    ASSERT_TEXT(stage_status(stage, stage->info.run_id), "done");
    stage_free(stage);
}

DB_TEST(iterations_are_limited)
{
    struct stage *stage = stage_new(t);
    struct run_request request = { .prompt = STR("go"), .max_iterations = 3 };

    for (int i = 0; i < 5; i++)
        stage_says(stage, "!note {}");
    stage_run_with(stage, &request);
    ASSERT_EQ(stage->done_count, 3);
    ASSERT_STR(stage_info(stage, stage->info.run_id).error_code, "iterations_exceeded");
    stage_free(stage);
}

/* ---- rests ---- */

DB_TEST(rate_limit_is_rested_out_without_memory)
{
    struct stage *stage = stage_new(t);
    struct str id;

    stage_says(stage, "#rate_limited slow down");
    stage_says(stage, "#rate_limited slow down");
    stage_says(stage, "Here.");
    id = stage_run(stage, "go");
    ASSERT_STR(stage_info(stage, id).wait_kind, "rate_limit");
    ASSERT_EQ(runner_loaded(stage->runner), 0);
    ASSERT_EQ(stage->model_calls, 1);
    loop_fake_advance(stage->loop, 6000);
    ASSERT_EQ(stage->model_calls, 2);
    stage_crash(stage);
    loop_fake_advance(stage->loop, 6000);
    ASSERT_EQ(stage->model_calls, 2); /* the second rest is longer */
    loop_fake_advance(stage->loop, 6000);
    ASSERT_TEXT(stage_status(stage, id), "done");
    stage_free(stage);
}

/* The machine slept, or somebody set the clock: what is due by the wall clock comes at once, and
 * what was to take five seconds takes no year because the clock was set back by one. */
DB_TEST(clock_that_jumps_ends_rests_and_never_prolongs_them)
{
    static const int64_t jumps[] = { DAYS(1), -1000, -DAYS(1), -DAYS(365) };

    for (size_t i = 0; i < ARRAY_LEN(jumps); i++) {
        struct stage *stage = stage_new(t);
        struct str id;

        stage_says(stage, "#rate_limited slow down");
        stage_says(stage, "Here.");
        id = stage_run(stage, "go");
        clock_set_wall(&stage->clock, clock_wall_ms(&stage->clock.clock) + jumps[i]);
        if (jumps[i] > 0) {
            stage_settle(stage);
        } else {
            loop_fake_advance(stage->loop, 4900);
            ASSERT_EQ(stage->model_calls, 1);
            loop_fake_advance(stage->loop, 200);
        }
        ASSERT_EQ(stage->model_calls, 2);
        ASSERT_TEXT(stage_status(stage, id), "done");
        loop_fake_advance(stage->loop, DAYS(2));
        ASSERT_EQ(stage->model_calls, 2);
        stage_free(stage);
    }
}

DB_TEST(rest_can_be_cancelled)
{
    struct stage *stage = stage_new(t);
    struct str id;

    stage_says(stage, "#rate_limited slow down");
    id = stage_run(stage, "go");
    ASSERT_OK(run_cancel(stage->runner, id, &t->err));
    loop_fake_advance(stage->loop, 60000);
    ASSERT_TEXT(stage_status(stage, id), "cancelled");
    ASSERT_EQ(stage->model_calls, 1);
    stage_free(stage);
}

DB_TEST(endless_rate_limit_ends_the_run)
{
    struct stage *stage = stage_new(t);
    struct str id;

    for (int i = 0; i < 30; i++)
        stage_says(stage, "#rate_limited slow down");
    id = stage_run(stage, "go");
    loop_fake_advance(stage->loop, DAYS(1));
    ASSERT_STR(stage_info(stage, id).error_code, "rate_limited");
    ASSERT_CONTAINS(stage_last(stage, "done"), "\"stopReason\":\"error\"");
    ASSERT_EQ(stage->model_calls, 11);
    /* An hour at most, whatever the process does meanwhile. */
    ASSERT(stage_info(stage, id).ended_at - stage_info(stage, id).created_at <= 60 * 60 * 1000);
    stage_free(stage);
}

DB_TEST(rests_of_a_run_are_counted_over_restarts)
{
    struct stage *stage = stage_new(t);
    struct str id;

    for (int i = 0; i < 30; i++)
        stage_says(stage, "#rate_limited slow down");
    stage->retry_after_ms = 10 * 60 * 1000;
    id = stage_run(stage, "go");
    for (int i = 0; i < 8; i++) {
        stage_restart(stage);
        loop_fake_advance(stage->loop, 10 * 60 * 1000 + 1000);
    }
    ASSERT_TEXT(stage_status(stage, id), "failed");
    ASSERT_EQ(stage->model_calls, 7); /* the first, and six rests of ten minutes */
    stage_free(stage);
}

DB_TEST(provider_that_asks_for_more_time_than_a_run_rests_ends_it_at_once_and_says_until_when)
{
    static const int64_t asked[] = { 61 * 60 * 1000, DAYS(2), INT64_MAX };

    for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
        struct stage *stage = stage_new(t);
        struct str id;

        stage->retry_after_ms = asked[i];
        stage_says(stage, "#rate_limited slow down");
        id = stage_run(stage, "go");
        ASSERT_TEXT(stage_status(stage, id), "failed");
        ASSERT_STR(stage_info(stage, id).error_code, "rate_limited");
        ASSERT_CONTAINS(stage_last(stage, "error"), "60 minutes");
        ASSERT_CONTAINS(stage_last(stage, "error"), "\"recoverable\":false");
        loop_fake_advance(stage->loop, DAYS(3));
        ASSERT_EQ(stage->model_calls, 1);
        stage_free(stage);
    }
}

DB_TEST(rest_says_until_when)
{
    struct stage *stage = stage_new(t);
    struct str id;

    stage->retry_after_ms = 90 * 1000;
    stage_says(stage, "#rate_limited slow down");
    stage_says(stage, "Here.");
    id = stage_run(stage, "go");
    ASSERT_CONTAINS(stage_last(stage, "error"), "\"recoverable\":true");
    ASSERT_CONTAINS(stage_last(stage, "error"), "\"until\":\"2023-11-14T22:14:50.000Z\"");
    ASSERT_EQ(stage_info(stage, id).wait_until, 1700000000000 + 90 * 1000);
    loop_fake_advance(stage->loop, 89 * 1000);
    ASSERT_EQ(stage->model_calls, 1);
    loop_fake_advance(stage->loop, 2 * 1000);
    ASSERT_TEXT(stage_status(stage, id), "done");
    stage_free(stage);
}
