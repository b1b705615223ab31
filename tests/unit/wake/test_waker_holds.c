/* What keeps a wake from becoming a run, or puts it off: the agent, what woke it, time and hours.
 *
 * SPDX-License-Identifier: MIT
 */
#include "wake/queue_int.h"
#include "wake_stage.h"

/* ---- conditions of the agent ---- */

DB_TEST(a_paused_agent_is_not_woken_and_the_wake_says_why)
{
    struct wake_stage *s = wake_stage_new(t);
    struct str key;

    ASSERT_OK(loop_unit_begin(s->stage->loop, s->stage->domain, &t->err));
    ASSERT_EQ(agent_set_paused(s->stage->domain, s->stage->change, STR("coach"), true, 1, &t->err),
              1);
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    key = wake_stage_change(s, &s->coach, "a", 5, 0);
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, key), "skipped_paused");
    ASSERT_STR(wake_stage_get(s, key).why, "the agent is paused");
    ASSERT_EQ(s->stage->model_calls, 0);
    wake_stage_free(s);
}

DB_TEST(nothing_wakes_while_the_emergency_stop_is_on)
{
    struct wake_stage *s = wake_stage_new(t);
    struct str key;

    ASSERT_EQ(run_kill(s->stage->runner, KILL_ALL, "", "test", true, &t->err), 1);
    key = wake_stage_change(s, &s->coach, "a", 5, 0);
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, key), "skipped_killed");
    ASSERT_EQ(run_kill(s->stage->runner, KILL_ALL, "", "", false, &t->err), 1);
    stage_says(s->stage, "Here.");
    key = wake_stage_change(s, &s->coach, "b", 6, 0);
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, key), "completed");
    wake_stage_free(s);
}

DB_TEST(a_destroyed_agent_has_no_wakes_that_wait)
{
    struct wake_stage *s = wake_stage_new(t);
    struct str key = wake_stage_change(s, &s->coach, "a", 5, wake_stage_now(s) + MINUTES(5));

    ASSERT_OK(loop_unit_begin(s->stage->loop, s->stage->domain, &t->err));
    ASSERT_EQ(agent_set_destroyed(s->stage->domain, s->stage->change, STR("coach"), 1, &t->err), 1);
    ASSERT_OK(waker_forget_agent(s->waker, s->coach.n, &t->err));
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    loop_fake_advance(s->stage->loop, MINUTES(10));
    ASSERT_TEXT(wake_stage_status(s, key), "skipped_destroyed");
    ASSERT_EQ(s->stage->model_calls, 0);
    wake_stage_free(s);
}

/* ---- what woke is gone ---- */

static struct str queue_of(struct wake_stage *s, const char *reason, struct str reason_id,
                           const char *key)
{
    struct test *t = s->t;
    struct wake_job job = { .agent_n = s->coach.n,
                            .reason = str_from(reason),
                            .reason_id = reason_id,
                            .run_key = str_from(arena_text(&t->arena, key)),
                            .priority = 1,
                            .not_before = wake_stage_now(s) + MINUTES(5),
                            .held = WAKE_HELD_COOLDOWN,
                            .created_at = wake_stage_now(s) };

    wake_stage_queue(s, &job);
    return job.run_key;
}

static void expect_dropped(struct wake_stage *s, struct str key, const char *why)
{
    ASSERT_TEXT(wake_stage_status(s, key), "skipped_noop");
    ASSERT_STR(wake_stage_get(s, key).why, why);
}

DB_TEST(a_subscription_that_goes_takes_its_queued_wakes_along)
{
    const struct token tokens[] = { { .class = TOKEN_SEMANTIC_KEY, .value = STR("TASK") } };
    struct wake_stage *s = wake_stage_new(t);
    struct subscription sub = { .agent_n = s->coach.n,
                                .source = WAKE_JOURNAL,
                                .tokens = tokens,
                                .token_count = 1,
                                .active = true };
    struct domain *domain = s->stage->domain;
    char token[WEBHOOK_TOKEN_SIZE];
    struct str off, gone, other;

    ASSERT_OK(loop_unit_begin(s->stage->loop, domain, &t->err));
    ASSERT_OK(subscription_add(domain, s->stage->change, &sub, wake_stage_now(s), token, &t->err));
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    off = queue_of(s, "subscription", sub.id, "key-off");
    other = queue_of(s, "subscription", STR("another"), "key-other");
    sub.active = false;
    ASSERT_OK(loop_unit_begin(s->stage->loop, domain, &t->err));
    ASSERT_OK(subscription_change(domain, s->stage->change, &sub, wake_stage_now(s), &t->err));
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    expect_dropped(s, off, "its subscription was switched off");
    gone = queue_of(s, "subscription", sub.id, "key-gone");
    ASSERT_OK(loop_unit_begin(s->stage->loop, domain, &t->err));
    ASSERT_OK(subscription_remove(domain, s->stage->change, sub.id, wake_stage_now(s), &t->err));
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    expect_dropped(s, gone, "its subscription was removed");
    ASSERT_TEXT(wake_stage_status(s, other), "queued");
    ASSERT_EQ(s->stage->model_calls, 0);
    wake_stage_free(s);
}

DB_TEST(a_timer_that_goes_takes_its_queued_wakes_along)
{
    struct wake_stage *s = wake_stage_new(t);
    struct timer timer = { .agent_n = s->coach.n, .interval_ms = MINUTES(60), .active = true };
    struct domain *domain = s->stage->domain;
    struct str off, gone, other;

    ASSERT_OK(loop_unit_begin(s->stage->loop, domain, &t->err));
    ASSERT_OK(timer_add(domain, s->stage->change, &timer, wake_stage_now(s), &t->arena, &t->err));
    ASSERT_OK(timer_get(domain, timer.id, &t->arena, &timer, &t->err));
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    off = queue_of(s, "timer", timer.id, "key-off");
    other = queue_of(s, "timer", STR("another"), "key-other");
    timer.active = false;
    ASSERT_OK(loop_unit_begin(s->stage->loop, domain, &t->err));
    ASSERT_OK(timer_change(domain, s->stage->change, &timer, wake_stage_now(s), &t->err));
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    expect_dropped(s, off, "its timer was switched off");
    gone = queue_of(s, "timer", timer.id, "key-gone");
    ASSERT_OK(loop_unit_begin(s->stage->loop, domain, &t->err));
    ASSERT_OK(timer_remove(domain, s->stage->change, timer.id, wake_stage_now(s), &t->err));
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    expect_dropped(s, gone, "its timer was removed");
    ASSERT_TEXT(wake_stage_status(s, other), "queued");
    ASSERT_EQ(s->stage->model_calls, 0);
    wake_stage_free(s);
}

DB_TEST(a_sleeping_agent_hears_of_everything_once_when_its_sleep_ends)
{
    struct wake_stage *s = wake_stage_new(t);
    struct str a, b;
    struct wake_job *jobs;
    size_t n;

    wake_stage_sleep(s, &s->coach, wake_stage_now(s) + MINUTES(60));
    a = wake_stage_change(s, &s->coach, "a", 5, 0);
    wake_stage_settle(s);
    loop_fake_advance(s->stage->loop, MINUTES(30));
    b = wake_stage_change(s, &s->coach, "b", 6, 0);
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, a), "skipped_sleeping");
    ASSERT_TEXT(wake_stage_status(s, b), "skipped_sleeping");
    ASSERT_EQ(wake_stage_count(s, "queued"), 1);
    stage_says(s->stage, "Up.");
    loop_fake_advance(s->stage->loop, MINUTES(30));
    ASSERT_EQ(s->stage->model_calls, 1);
    ASSERT_CONTAINS(s->stage->last_request, "You slept until now");
    ASSERT_CONTAINS(s->stage->last_request, "about a");
    ASSERT_CONTAINS(s->stage->last_request, "about b");
    ASSERT_OK(wake_list(s->stage->domain, &(struct wake_filter){ .status = WAKE_COMPLETED },
                        &t->arena, &jobs, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_STR(jobs[0].reason, "recoveryCatchup");
    /* And what was heard counts as seen. */
    a = wake_stage_change(s, &s->coach, "c", 6, 0);
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, a), "skipped_noop");
    wake_stage_free(s);
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

static void change_sleep(struct wake_stage *s, int64_t until)
{
    struct test *t = s->t;

    wake_stage_sleep(s, &s->coach, until);
    ASSERT_OK(loop_unit_begin(s->stage->loop, s->stage->domain, &t->err));
    ASSERT_OK(wake_end_of_sleep(s->stage->domain, s->coach.n, s->coach.id, until, wake_stage_now(s),
                                &t->err));
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    waker_look(s->waker);
    wake_stage_settle(s);
}

DB_TEST(a_sleep_that_ends_early_is_caught_up_on_then)
{
    struct wake_stage *s = wake_stage_new(t);
    int64_t until = wake_stage_now(s) + MINUTES(60);
    struct wake_job job;

    change_sleep(s, until); /* nothing was missed yet: nothing is queued */
    ASSERT_EQ(wake_stage_count(s, "queued"), 0);
    wake_stage_change(s, &s->coach, "a", 5, 0);
    wake_stage_settle(s);
    job = only_queued(s);
    ASSERT_EQ(job.not_before, until);
    ASSERT_EQ(job.held, WAKE_HELD_SLEEP);
    /* Later, then earlier, then now. */
    change_sleep(s, until + MINUTES(60));
    ASSERT_EQ(only_queued(s).not_before, until + MINUTES(60));
    change_sleep(s, until - MINUTES(30));
    job = only_queued(s);
    ASSERT_EQ(job.not_before, until - MINUTES(30));
    ASSERT_EQ(job.scheduled_at, until - MINUTES(30));
    ASSERT_STR(job.thread_id, arena_printf(&t->arena, "coach:run:%.*s", STR_ARG(job.run_key)));
    stage_says(s->stage, "Up early.");
    change_sleep(s, 0);
    ASSERT_EQ(s->stage->model_calls, 1);
    ASSERT_CONTAINS(s->stage->last_request, "about a");
    ASSERT_EQ(wake_stage_count(s, "queued"), 0);
    loop_fake_advance(s->stage->loop, MINUTES(10));
    /* It lies down again until the very same time, and misses more: that is heard of then. */
    change_sleep(s, until);
    wake_stage_change(s, &s->coach, "b", 6, 0);
    wake_stage_settle(s);
    stage_says(s->stage, "Up in time.");
    loop_fake_advance(s->stage->loop, MINUTES(60));
    ASSERT_EQ(s->stage->model_calls, 2);
    ASSERT_CONTAINS(s->stage->last_request, "about b");
    wake_stage_free(s);
}

DB_TEST(an_agent_that_missed_nothing_sleeps_on)
{
    struct wake_stage *s = wake_stage_new(t);
    struct wake_job *jobs;
    size_t n;

    wake_stage_sleep(s, &s->coach, wake_stage_now(s) + MINUTES(60));
    wake_stage_change(s, &s->coach, "a", 5, 0);
    wake_stage_settle(s);
    /* Somebody woke it meanwhile, and it heard of all that then. */
    stage_says(s->stage, "I am awake.");
    wake_stage_wake(s, "coach", "r", "wake up");
    wake_stage_settle(s);
    ASSERT_CONTAINS(s->stage->last_request, "about a");
    loop_fake_advance(s->stage->loop, MINUTES(61));
    ASSERT_EQ(s->stage->model_calls, 1);
    ASSERT_OK(wake_list(s->stage->domain, &(struct wake_filter){ .limit = 1 }, &t->arena, &jobs, &n,
                        &t->err));
    ASSERT_EQ(wake_stage_count(s, "queued"), 0);
    wake_stage_free(s);
}

DB_TEST(after_failures_an_agent_waits_longer_each_time)
{
    struct wake_stage *s = wake_stage_new(t);
    struct agent_state state;
    struct wake_job retry;
    struct str key;

    stage_says(s->stage, "#provider_failed");
    key = wake_stage_change(s, &s->coach, "a", 5, 0);
    loop_fake_advance(s->stage->loop, 100);
    ASSERT_TEXT(wake_stage_status(s, key), "failed_terminal");
    ASSERT_STR(wake_stage_get(s, key).error_code, "provider_failed");
    wake_stage_state(s, &s->coach, &state);
    ASSERT_EQ(state.failures, 1);
    ASSERT_EQ(vclock_of(&state.processed, str_from(change_host_id(s->stage->change))), 0);
    stage_says(s->stage, "Now it works.");
    retry = only_queued(s);
    key = wake_stage_change(s, &s->coach, "b", 6, 0);
    loop_fake_advance(s->stage->loop, 1000);
    ASSERT_TEXT(wake_stage_status(s, key), "queued");
    ASSERT(wake_stage_get(s, key).not_before > wake_stage_now(s));
    ASSERT_EQ(wake_stage_get(s, key).held, WAKE_HELD_FAILURES);
    loop_fake_advance(s->stage->loop, agent_backoff_ms(1));
    ASSERT_TEXT(wake_stage_status(s, retry.run_key), "completed");
    ASSERT_TEXT(wake_stage_status(s, key), "coalesced");
    /* What the failed run was about is told again. */
    ASSERT_CONTAINS(s->stage->last_request, "about a");
    wake_stage_state(s, &s->coach, &state);
    ASSERT_EQ(state.failures, 0);
    ASSERT_EQ(vclock_of(&state.processed, str_from(change_host_id(s->stage->change))), 6);
    wake_stage_free(s);
}

DB_TEST(an_agent_that_woke_often_enough_this_hour_waits_and_a_person_does_not)
{
    struct wake_stage *s = wake_stage_new(t);
    struct str key;
    int64_t first;

    s->config.runs_per_hour = 2;
    stage_crash(s->stage);
    stage_says(s->stage, "One.");
    key = wake_stage_change(s, &s->coach, "a", 5, 0);
    loop_fake_advance(s->stage->loop, 100);
    first = wake_stage_get(s, key).started_at;
    loop_fake_advance(s->stage->loop, MINUTES(10));
    stage_says(s->stage, "Two.");
    wake_stage_change(s, &s->coach, "b", 6, 0);
    loop_fake_advance(s->stage->loop, 100);
    ASSERT_EQ(s->stage->model_calls, 2);
    key = wake_stage_change(s, &s->coach, "c", 7, 0);
    loop_fake_advance(s->stage->loop, MINUTES(10));
    ASSERT_TEXT(wake_stage_status(s, key), "queued");
    ASSERT_EQ(wake_stage_get(s, key).not_before, first + MINUTES(60));
    ASSERT_EQ(wake_stage_get(s, key).held, WAKE_HELD_OFTEN);
    stage_says(s->stage, "Three.");
    loop_fake_advance(s->stage->loop, MINUTES(40));
    ASSERT_TEXT(wake_stage_status(s, key), "completed");
    ASSERT_CONTAINS(s->stage->last_request, "about c");
    stage_says(s->stage, "For you always.");
    key = wake_stage_wake(s, "coach", "r", "and now?");
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, key), "completed");
    wake_stage_free(s);
}

DB_TEST(a_person_need_not_wait_for_an_agent_that_failed)
{
    struct wake_stage *s = wake_stage_new(t);
    struct str key;

    stage_says(s->stage, "#provider_failed");
    wake_stage_change(s, &s->coach, "a", 5, 0);
    loop_fake_advance(s->stage->loop, 100);
    stage_says(s->stage, "Here I am.");
    key = wake_stage_wake(s, "coach", "r", "are you there?");
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, key), "completed");
    wake_stage_free(s);
}

/* ---- time ---- */

DB_TEST(a_wake_waits_for_its_time_and_no_longer_when_the_clock_is_set_back)
{
    struct wake_stage *s = wake_stage_new(t);
    struct str key = wake_stage_change(s, &s->coach, "a", 5, wake_stage_now(s) + MINUTES(60));

    wake_stage_settle(s);
    loop_fake_advance(s->stage->loop, MINUTES(30));
    ASSERT_TEXT(wake_stage_status(s, key), "queued");
    clock_set_wall(&s->stage->clock, wake_stage_now(s) - 24 * MINUTES(60));
    stage_says(s->stage, "Here.");
    loop_fake_advance(s->stage->loop, MINUTES(30));
    ASSERT_TEXT(wake_stage_status(s, key), "completed");
    wake_stage_free(s);
}

/* ---- active hours ---- */

/* As a subscription queues it outside of its hours, which begin in an hour. */
static struct str queue_for_hours(struct wake_stage *s, const char *change, int64_t counter)
{
    struct test *t = s->t;
    struct wake_job job = { .agent_n = s->coach.n,
                            .reason = STR("subscription"),
                            .reason_id = STR("by day"),
                            .logical_change_key = str_from(change),
                            .priority = 1,
                            .not_before = wake_stage_now(s) + MINUTES(60),
                            .held = WAKE_HELD_HOURS,
                            .created_at = wake_stage_now(s) };

    job.run_key = str_from(arena_printf(&t->arena, "by day, %s", change));
    job.payload =
        str_from(arena_printf(&t->arena,
                              "{\"domain\":\"journal\",\"prompt\":\"of the day %s\","
                              "\"counters\":{\"%s\":%lld},\"held\":\"hours\"}",
                              change, change_host_id(s->stage->change), (long long)counter));
    wake_stage_queue(s, &job);
    return job.run_key;
}

DB_TEST(what_waits_for_its_hours_stays_when_the_agent_wakes_for_something_else)
{
    struct wake_stage *s = wake_stage_new(t);
    struct str day = queue_for_hours(s, "a", 5), other = queue_for_hours(s, "b", 9), night;

    stage_says(s->stage, "In the night.");
    night = wake_stage_change(s, &s->coach, "b", 9, 0);
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, night), "completed");
    ASSERT(!strstr(s->stage->last_request, "of the day a"));
    ASSERT_TEXT(wake_stage_status(s, day), "queued");
    ASSERT_TEXT(wake_stage_status(s, other), "coalesced"); /* it was told of that change anyway */
    loop_fake_advance(s->stage->loop, MINUTES(59));
    ASSERT_TEXT(wake_stage_status(s, day), "queued");
    stage_says(s->stage, "By day.");
    loop_fake_advance(s->stage->loop, MINUTES(2));
    ASSERT_TEXT(wake_stage_status(s, day), "completed"); /* although a later one was seen */
    ASSERT_CONTAINS(s->stage->last_request, "of the day a");
    wake_stage_free(s);
}

DB_TEST(a_person_who_wakes_the_agent_wakes_it_with_what_waits_for_its_hours)
{
    struct wake_stage *s = wake_stage_new(t);
    struct str day = queue_for_hours(s, "a", 5);

    stage_says(s->stage, "Here.");
    wake_stage_wake(s, s->coach.id, "r", "have a look");
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, day), "coalesced");
    ASSERT_CONTAINS(s->stage->last_request, "of the day a");
    wake_stage_free(s);
}

DB_TEST(what_was_queued_before_the_clock_was_set_back_waits_as_long_as_it_was_to)
{
    struct wake_stage *s = wake_stage_new(t);
    int64_t then = wake_stage_now(s), back = then - 24 * MINUTES(60);
    struct wake_job pause = { .run_key = STR("pause"),
                              .agent_n = s->coach.n,
                              .reason = STR("subscription"),
                              .priority = 1,
                              .not_before = then + MINUTES(10),
                              .held = WAKE_HELD_COOLDOWN,
                              .created_at = then };
    struct wake_job hours = pause, before = pause;

    hours.run_key = STR("hours");
    hours.held = WAKE_HELD_HOURS;
    before.run_key = STR("before");
    before.created_at = back - 1;
    wake_stage_queue(s, &pause);
    wake_stage_queue(s, &hours);
    wake_stage_queue(s, &before);
    ASSERT_OK(loop_unit_begin(s->stage->loop, s->stage->domain, &t->err));
    ASSERT_OK(wake_clock_back(s->stage->domain, back, &t->err));
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    ASSERT_EQ(wake_stage_get(s, STR("pause")).not_before, back + MINUTES(10));
    ASSERT_EQ(wake_stage_get(s, STR("hours")).not_before, then + MINUTES(10));
    ASSERT_EQ(wake_stage_get(s, STR("before")).not_before, then + MINUTES(10));
    wake_stage_free(s);
}
