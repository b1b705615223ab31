/* Wakes that make up for others, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "agent/agent.h"
#include "wake/queue_int.h"
#include "wake_stage.h"

static int64_t now(struct wake_stage *s)
{
    return clock_wall_ms(loop_clock(s->stage->loop));
}

static struct wake_job only_queued(struct wake_stage *s)
{
    struct test *t = s->t;
    struct wake_job *jobs;
    size_t n;

    ASSERT_OK(wake_list(s->stage->domain, &(struct wake_filter){ .status = WAKE_QUEUED }, &t->arena,
                        &jobs, &n, &t->err));
    ASSERT_EQ(n, 1);
    return jobs[0];
}

/* A wake whose run ends with this. */
static struct str fail_with(struct wake_stage *s, const char *name, int64_t counter,
                            const char *answer)
{
    struct str key;

    stage_says(s->stage, answer);
    key = wake_stage_change(s, &s->coach, name, counter, 0);
    loop_fake_advance(s->stage->loop, 100);
    return key;
}

/* ---- after a failure ---- */

DB_TEST(a_run_that_met_an_outage_is_tried_again_and_told_the_same)
{
    struct wake_stage *s = wake_stage_new(t);
    struct str key = fail_with(s, "a", 5, "#provider_failed no route");
    struct wake_job retry = only_queued(s);
    struct agent_state state;

    ASSERT_TEXT(wake_stage_status(s, key), "failed_terminal");
    ASSERT_CONTAINS(wake_stage_get(s, key).why.p, "no route; it is tried again");
    ASSERT_STR(retry.reason, "recoveryCatchup");
    ASSERT_STR(retry.reason_id, "retry");
    ASSERT_EQ(retry.held, WAKE_HELD_FAILURES);
    wake_stage_state(s, &s->coach, &state);
    ASSERT_EQ(retry.not_before, state.last_wake_at + agent_backoff_ms(1));
    ASSERT_CONTAINS(retry.payload.p, key.p);
    stage_says(s->stage, "Now it works.");
    loop_fake_advance(s->stage->loop, agent_backoff_ms(1));
    ASSERT_TEXT(wake_stage_status(s, retry.run_key), "completed");
    ASSERT_EQ(s->stage->model_calls, 2);
    ASSERT_CONTAINS(s->stage->last_request, "Your last run broke off");
    ASSERT_CONTAINS(s->stage->last_request, "about a");
    wake_stage_state(s, &s->coach, &state);
    ASSERT_EQ(state.failures, 0);
    ASSERT_EQ(vclock_of(&state.processed, str_from(change_host_id(s->stage->change))), 5);
    /* Nothing more comes of it. */
    loop_fake_advance(s->stage->loop, MINUTES(600));
    ASSERT_EQ(s->stage->model_calls, 2);
    ASSERT_EQ(wake_stage_count(s, "queued"), 0);
    wake_stage_free(s);
}

DB_TEST(an_account_without_money_is_not_asked_again_by_itself)
{
    struct wake_stage *s = wake_stage_new(t);
    struct str key = fail_with(s, "a", 5, "#budget_exceeded no money left");

    ASSERT_TEXT(wake_stage_status(s, key), "failed_terminal");
    ASSERT_STR(wake_stage_get(s, key).error_code, "budget_exceeded");
    ASSERT_EQ(wake_stage_count(s, "queued"), 0);
    wake_stage_free(s);
}

DB_TEST(what_fails_again_and_again_is_given_up_and_says_so)
{
    struct wake_stage *s = wake_stage_new(t);
    struct str key, last;

    for (int i = 0; i < 20; i++)
        stage_says(s->stage, "#timeout nobody there");
    key = wake_stage_change(s, &s->coach, "a", 5, 0);
    last = key;
    loop_fake_advance(s->stage->loop, 100);
    for (int i = 1; i <= 10; i++) {
        struct wake_job retry = only_queued(s);

        ASSERT_CONTAINS(wake_stage_get(s, last).why.p, "it is tried again");
        /* Which one it tries again is known however often it did. */
        ASSERT_CONTAINS(retry.payload.p, key.p);
        ASSERT_EQ(s->stage->model_calls, i);
        last = retry.run_key;
        loop_fake_advance(s->stage->loop, agent_backoff_ms(i));
    }
    ASSERT_EQ(s->stage->model_calls, 11);
    ASSERT_EQ(wake_stage_count(s, "queued"), 0);
    ASSERT_CONTAINS(wake_stage_get(s, last).why.p,
                    "that was 11 times in a row, so it is not tried again by itself");
    loop_fake_advance(s->stage->loop, MINUTES(600));
    ASSERT_EQ(s->stage->model_calls, 11);
    wake_stage_free(s);
}

DB_TEST(a_failure_that_does_not_pass_is_not_tried_again)
{
    struct wake_stage *s = wake_stage_new(t);
    struct str key = fail_with(s, "a", 5, "#secret_unavailable no key");

    ASSERT_TEXT(wake_stage_status(s, key), "failed_terminal");
    ASSERT_EQ(wake_stage_count(s, "queued"), 0);
    wake_stage_free(s);
}

DB_TEST(a_run_that_had_changed_something_is_not_tried_again)
{
    struct wake_stage *s = wake_stage_new(t);
    struct str key;

    stage_says(s->stage, "!note {\"a\":1}");
    key = fail_with(s, "a", 5, "#provider_failed");
    ASSERT_TEXT(wake_stage_status(s, key), "failed_terminal");
    ASSERT_EQ(s->stage->model_calls, 2);
    ASSERT_CONTAINS(wake_stage_get(s, key).why.p, "it had changed something");
    ASSERT_EQ(wake_stage_count(s, "queued"), 0);
    wake_stage_free(s);
}

DB_TEST(a_run_that_had_only_read_is_tried_again)
{
    struct wake_stage *s = wake_stage_new(t);

    stage_says(s->stage, "!look {\"a\":1}");
    fail_with(s, "a", 5, "#provider_failed");
    ASSERT_EQ(s->stage->model_calls, 2);
    ASSERT_STR(only_queued(s).reason_id, "retry");
    wake_stage_free(s);
}

DB_TEST(another_wake_takes_the_next_try_along)
{
    struct wake_stage *s = wake_stage_new(t);
    struct wake_job retry;
    struct str key;

    fail_with(s, "a", 5, "#provider_failed");
    retry = only_queued(s);
    stage_says(s->stage, "Here I am.");
    key = wake_stage_wake(s, "coach", "r", "are you there?");
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, key), "completed");
    ASSERT_TEXT(wake_stage_status(s, retry.run_key), "coalesced");
    ASSERT_CONTAINS(s->stage->last_request, "about a");
    loop_fake_advance(s->stage->loop, MINUTES(60));
    ASSERT_EQ(s->stage->model_calls, 2);
    wake_stage_free(s);
}

DB_TEST(the_turn_of_a_person_is_not_tried_again)
{
    struct wake_stage *s = wake_stage_new(t);

    stage_says(s->stage, "#provider_failed");
    stage_run(s->stage, "Hello");
    ASSERT_EQ(wake_stage_count(s, "queued"), 0);
    ASSERT_EQ(wake_stage_count(s, "ended"), 0);
    wake_stage_free(s);
}

DB_TEST(an_alarm_that_failed_rings_again_in_its_conversation)
{
    struct wake_stage *s = wake_stage_new(t);
    struct wake_job job = { .agent_n = s->coach.n,
                            .reason = STR("timer"),
                            .reason_id = STR("tea"),
                            .run_key = STR("alarm-key"),
                            .scheduled_at = now(s),
                            .priority = 1,
                            .payload = STR("{\"alarm\":{\"name\":\"tea\"}}"),
                            .created_at = now(s) };

    stage_says(s->stage, "In five minutes.");
    stage_run_with(s->stage, &(struct run_request){ .agent_id = STR("coach"),
                                                    .prompt = STR("Tell me when tea is ready") });
    job.thread_id = s->stage->info.thread_id;
    stage_says(s->stage, "#provider_failed");
    wake_stage_queue(s, &job);
    loop_fake_advance(s->stage->loop, 100);
    ASSERT(str_eq(only_queued(s).thread_id, job.thread_id));
    stage_says(s->stage, "Tea!");
    loop_fake_advance(s->stage->loop, agent_backoff_ms(1));
    ASSERT_CONTAINS(s->stage->last_request, "An alarm rings that you set in this conversation");
    ASSERT_CONTAINS(s->stage->last_request, "alarm: {\\\"name\\\":\\\"tea\\\"}");
    wake_stage_free(s);
}

/* After the nth tick from the one that queued it, the process is gone. */
static bool cut_after(struct wake_stage *s, int cut)
{
    struct test *t = s->t;
    int64_t runs = wake_stage_count(s, "runs"), completed = wake_stage_count(s, "completed");
    struct agent agent;
    struct str key;
    int ticks = 0;

    wake_stage_agent(s, arena_printf(&t->arena, "cut%d", cut), &agent);
    s->stage->reply_count = s->stage->reply_next = 0;
    for (int i = 0; i < 3; i++)
        stage_says(s->stage, "#provider_failed");
    loop_fake_tick(s->stage->loop);
    key = wake_stage_change(s, &agent, "a", 10 + cut, 0);
    loop_fake_tick(s->stage->loop);
    while (ticks < cut && strcmp(wake_stage_status(s, key), "failed_terminal") != 0) {
        loop_fake_tick(s->stage->loop);
        ticks++;
    }
    stage_crash(s->stage);
    loop_fake_advance(s->stage->loop, 1000);
    ASSERT_TEXT(wake_stage_status(s, key), "failed_terminal");
    ASSERT_STR(only_queued(s).reason_id, "retry");
    s->stage->reply_count = s->stage->reply_next = 0;
    stage_says(s->stage, "Done.");
    loop_fake_advance(s->stage->loop, agent_backoff_ms(1));
    ASSERT_EQ(wake_stage_count(s, "queued"), 0);
    ASSERT_EQ(wake_stage_count(s, "runs"), runs + 2);
    ASSERT_EQ(wake_stage_count(s, "completed"), completed + 1);
    wake_stage_check(s);
    return ticks == cut;
}

DB_TEST(wherever_the_process_ends_a_failed_run_is_tried_again_once, .timeout_s = 120)
{
    struct wake_stage *s = wake_stage_new(t);
    int cut = 0;

    while (cut_after(s, cut))
        cut++;
    ASSERT(cut >= 2);
    wake_stage_free(s);
}

/* ---- after a pause or a stop ---- */

static void set_paused(struct wake_stage *s, bool paused)
{
    struct test *t = s->t;

    ASSERT_OK(loop_unit_begin(s->stage->loop, s->stage->domain, &t->err));
    ASSERT_EQ(
        agent_set_paused(s->stage->domain, s->stage->change, STR("coach"), paused, 1, &t->err), 1);
    if (!paused)
        ASSERT_OK(waker_resumed(s->waker, s->coach.n, &t->err));
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    wake_stage_settle(s);
}

DB_TEST(what_came_in_a_pause_is_heard_of_once_when_the_agent_is_resumed)
{
    struct wake_stage *s = wake_stage_new(t);
    struct wake_job *jobs;
    struct str a, b;
    size_t n;

    set_paused(s, true);
    a = wake_stage_change(s, &s->coach, "a", 5, 0);
    wake_stage_settle(s);
    b = wake_stage_change(s, &s->coach, "b", 6, 0);
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, a), "skipped_paused");
    ASSERT_TEXT(wake_stage_status(s, b), "skipped_paused");
    ASSERT_EQ(wake_stage_count(s, "queued"), 0);
    stage_says(s->stage, "Back.");
    set_paused(s, false);
    ASSERT_EQ(s->stage->model_calls, 1);
    ASSERT_CONTAINS(s->stage->last_request, "You were paused, stopped or dormant until now");
    ASSERT_CONTAINS(s->stage->last_request, "about a");
    ASSERT_CONTAINS(s->stage->last_request, "about b");
    ASSERT_OK(wake_list(s->stage->domain, &(struct wake_filter){ .status = WAKE_COMPLETED },
                        &t->arena, &jobs, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_STR(jobs[0].reason_id, "resume");
    /* A pause in which nothing was missed has nothing to make up for. */
    set_paused(s, true);
    set_paused(s, false);
    ASSERT_EQ(s->stage->model_calls, 1);
    ASSERT_EQ(wake_stage_count(s, "queued"), 0);
    wake_stage_free(s);
}

static void set_life(struct wake_stage *s, enum agent_lifecycle to)
{
    struct test *t = s->t;

    ASSERT_OK(loop_unit_begin(s->stage->loop, s->stage->domain, &t->err));
    ASSERT_EQ(agent_set_lifecycle(s->stage->domain, s->stage->change, STR("coach"), to, 1, &t->err),
              1);
    if (to == AGENT_ACTIVE)
        ASSERT_OK(waker_resumed(s->waker, s->coach.n, &t->err));
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    wake_stage_settle(s);
}

DB_TEST(what_came_while_an_agent_was_dormant_is_heard_of_once_when_it_is_active_again)
{
    struct wake_stage *s = wake_stage_new(t);
    struct str a;

    set_life(s, AGENT_DORMANT);
    a = wake_stage_change(s, &s->coach, "a", 5, 0);
    wake_stage_change(s, &s->coach, "b", 6, 0);
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, a), "skipped_sleeping");
    stage_says(s->stage, "Back.");
    set_life(s, AGENT_ACTIVE);
    ASSERT_EQ(s->stage->model_calls, 1);
    ASSERT_CONTAINS(s->stage->last_request, "about a");
    ASSERT_CONTAINS(s->stage->last_request, "about b");
    set_life(s, AGENT_DORMANT);
    set_life(s, AGENT_ACTIVE);
    ASSERT_EQ(s->stage->model_calls, 1); /* nothing was missed */
    wake_stage_free(s);
}

DB_TEST(an_agent_that_is_made_active_in_its_sleep_sleeps_on)
{
    struct wake_stage *s = wake_stage_new(t);
    int64_t until = clock_wall_ms(loop_clock(s->stage->loop)) + MINUTES(60);

    set_life(s, AGENT_DORMANT);
    wake_stage_change(s, &s->coach, "a", 5, 0);
    wake_stage_settle(s);
    wake_stage_sleep(s, &s->coach, until);
    set_life(s, AGENT_ACTIVE);
    ASSERT_EQ(s->stage->model_calls, 0);
    stage_says(s->stage, "Back.");
    loop_fake_advance(s->stage->loop, MINUTES(61));
    ASSERT_EQ(s->stage->model_calls, 1);
    ASSERT_CONTAINS(s->stage->last_request, "about a");
    wake_stage_free(s);
}

DB_TEST(a_pause_that_begins_again_before_it_was_made_up_for_loses_nothing)
{
    struct wake_stage *s = wake_stage_new(t);

    set_paused(s, true);
    wake_stage_change(s, &s->coach, "a", 5, 0);
    wake_stage_settle(s);
    /* Resumed and paused before anybody looks into the queue. */
    ASSERT_OK(loop_unit_begin(s->stage->loop, s->stage->domain, &t->err));
    ASSERT_EQ(agent_set_paused(s->stage->domain, s->stage->change, STR("coach"), false, 1, &t->err),
              1);
    ASSERT_OK(waker_resumed(s->waker, s->coach.n, &t->err));
    ASSERT_EQ(agent_set_paused(s->stage->domain, s->stage->change, STR("coach"), true, 1, &t->err),
              1);
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    wake_stage_settle(s);
    ASSERT_EQ(s->stage->model_calls, 0);
    stage_says(s->stage, "Back.");
    set_paused(s, false);
    ASSERT_EQ(s->stage->model_calls, 1);
    ASSERT_CONTAINS(s->stage->last_request, "about a");
    wake_stage_free(s);
}

/* It missed "a" in a pause, is told of it, and its run waits for a person: that run. */
static struct str catch_up_and_ask(struct wake_stage *s)
{
    struct test *t = s->t;
    struct wake_job *jobs;
    size_t n;

    set_paused(s, true);
    wake_stage_change(s, &s->coach, "a", 5, 0);
    wake_stage_settle(s);
    stage_says(s->stage, "!send {\"to\":\"x\"}");
    set_paused(s, false);
    ASSERT_OK(wake_list(s->stage->domain, &(struct wake_filter){ .status = WAKE_RUNNING },
                        &t->arena, &jobs, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_CONTAINS(s->stage->last_request, "about a");
    return jobs[0].run_key;
}

DB_TEST(what_a_run_was_told_that_waits_for_a_person_is_not_told_again)
{
    struct wake_stage *s = wake_stage_new(t);
    struct str run = catch_up_and_ask(s);

    stage_says(s->stage, "Something else.");
    wake_stage_change(s, &s->coach, "b", 6, 0);
    wake_stage_settle(s);
    ASSERT_EQ(s->stage->model_calls, 2);
    ASSERT_CONTAINS(s->stage->last_request, "about b");
    ASSERT(!strstr(s->stage->last_request, "about a"));
    /* Stopped by a person, it is no more told than what that run was of. */
    ASSERT_OK(run_cancel(s->stage->runner, run, &t->err));
    stage_says(s->stage, "And that.");
    wake_stage_change(s, &s->coach, "c", 7, 0);
    wake_stage_settle(s);
    ASSERT_EQ(s->stage->model_calls, 3);
    ASSERT(!strstr(s->stage->last_request, "about a"));
    wake_stage_free(s);
}

DB_TEST(what_a_run_was_told_that_fails_later_is_told_again)
{
    struct wake_stage *s = wake_stage_new(t);
    struct str run = catch_up_and_ask(s);

    stage_says(s->stage, "#provider_failed no route");
    s->stage->info.run_id = run;
    ASSERT_EQ(stage_decide(s->stage, INBOX_REJECTED, NULL), 1);
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, run), "failed_terminal");
    stage_says(s->stage, "Now it works.");
    wake_stage_wake(s, "coach", "r1", "again");
    wake_stage_settle(s);
    ASSERT_EQ(s->stage->model_calls, 3);
    ASSERT_CONTAINS(s->stage->last_request, "about a");
    wake_stage_free(s);
}

static void release(struct wake_stage *s, enum kill_scope scope, const char *value)
{
    struct test *t = s->t;

    ASSERT_EQ(run_kill(s->stage->runner, scope, value, "", false, &t->err), 1);
    ASSERT_OK(loop_unit_begin(s->stage->loop, s->stage->domain, &t->err));
    ASSERT_OK(waker_resumed(s->waker, 0, &t->err));
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    wake_stage_settle(s);
}

DB_TEST(what_came_under_a_kill_switch_is_heard_of_when_the_last_one_is_lifted)
{
    struct wake_stage *s = wake_stage_new(t);
    struct agent other;
    struct str key;

    wake_stage_agent(s, "other", &other);
    ASSERT_EQ(run_kill(s->stage->runner, KILL_ALL, "", "test", true, &t->err), 1);
    ASSERT_EQ(run_kill(s->stage->runner, KILL_AGENT, "coach", "test", true, &t->err), 1);
    key = wake_stage_change(s, &s->coach, "a", 5, 0);
    wake_stage_change(s, &other, "b", 6, 0);
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, key), "skipped_killed");
    stage_says(s->stage, "The other is back.");
    release(s, KILL_ALL, "");
    ASSERT_EQ(s->stage->model_calls, 1);
    ASSERT_CONTAINS(s->stage->last_request, "about b");
    ASSERT_EQ(wake_stage_count(s, "queued"), 0);
    stage_says(s->stage, "And so am I.");
    release(s, KILL_AGENT, "coach");
    ASSERT_EQ(s->stage->model_calls, 2);
    ASSERT_CONTAINS(s->stage->last_request, "about a");
    wake_stage_free(s);
}
