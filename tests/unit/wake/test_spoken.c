/* What a person says to an agent, among the wakes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/db.h"
#include "wake/queue_int.h"
#include "wake_stage.h"

static size_t list(struct wake_stage *s, struct wake_filter filter, struct wake_job **ret_jobs)
{
    struct test *t = s->t;
    size_t n;

    ASSERT_OK(wake_list(s->stage->domain, &filter, &t->arena, ret_jobs, &n, &t->err));
    return n;
}

static struct str speak(struct wake_stage *s, const char *session, const char *turn,
                        const char *words)
{
    struct run_request request = { .agent_id = STR("coach"),
                                   .session_id = str_from(session),
                                   .turn_id = str_from(turn),
                                   .prompt = str_from(words) };
    struct str key = stage_run_with(s->stage, &request);

    loop_fake_advance(s->stage->loop, 10);
    return key;
}

DB_TEST(a_person_who_speaks_to_an_agent_is_among_what_woke_it)
{
    struct wake_stage *s = wake_stage_new(t);
    struct wake_job *jobs, job;
    char key[SHA256_TEXT_SIZE];
    struct str first;
    int64_t last;

    ASSERT_OK(wake_last_run_at(s->stage->domain, s->coach.n, &last, &t->err));
    ASSERT_EQ(last, 0);
    stage_says(s->stage, "Good morning.");
    first = speak(s, "s", "t1", "What is next?");
    sha256_text(STR("run|v1|user|coach|s|t1"), key); /* as the contract has it */
    ASSERT_STR(first, key);
    ASSERT_EQ(list(s, (struct wake_filter){ 0 }, &jobs), 1u);
    ASSERT(jobs[0].spoken);
    ASSERT_STR(jobs[0].run_key, key);
    ASSERT_STR(jobs[0].run_id, key);
    ASSERT_STR(jobs[0].reason, "userInitiated");
    ASSERT_STR(jobs[0].agent_id, "coach");
    ASSERT_STR(jobs[0].thread_id, "coach:session:s");
    ASSERT_TEXT(wake_status_name(jobs[0].status), "completed");
    ASSERT_STR(jobs[0].why, "a person spoke to it in the session s; its run is done");
    ASSERT_STR(jobs[0].payload, "{\"words\":\"What is next?\"}");
    ASSERT(jobs[0].started_at > 0 && jobs[0].ended_at >= jobs[0].started_at);
    ASSERT_OK(wake_last_run_at(s->stage->domain, s->coach.n, &last, &t->err));
    ASSERT_EQ(last, jobs[0].created_at);
    /* By the beginning of its key, with what was said. */
    ASSERT_OK(wake_get(s->stage->domain, str_take(first, 8), &t->arena, &job, &t->err));
    ASSERT_STR(job.run_key, key);
    ASSERT_STR(job.payload, "{\"words\":\"What is next?\"}");
    /* The same turn again is the same. */
    ASSERT(str_eq(speak(s, "s", "t1", "What is next?"), first));
    ASSERT_EQ(list(s, (struct wake_filter){ 0 }, &jobs), 1u);
    wake_stage_free(s);
}

DB_TEST(what_was_said_says_how_it_went)
{
    struct wake_stage *s = wake_stage_new(t);
    struct wake_job *jobs;
    struct str key;

    stage_says(s->stage, "#provider_failed no answer");
    speak(s, "a", "t1", "One");
    stage_says(s->stage, "?");
    key = speak(s, "b", "t1", "Two");
    ASSERT_EQ(list(s, (struct wake_filter){ .status = WAKE_RUNNING }, &jobs), 1u);
    ASSERT_STR(jobs[0].run_key, arena_text(&t->arena, key.p));
    ASSERT_STR(jobs[0].why, "a person spoke to it in the session b");
    ASSERT_STR(jobs[0].payload, "{\"words\":\"Two\"}"); /* at once */
    ASSERT_EQ(jobs[0].ended_at, 0);
    ASSERT_OK(run_cancel(s->stage->runner, key, &t->err));
    stage_settle(s->stage);
    ASSERT_EQ(list(s, (struct wake_filter){ .status = WAKE_FAILED_TERMINAL }, &jobs), 2u);
    ASSERT_STR(jobs[0].why, "a person stopped its run");
    ASSERT_STR(jobs[0].error_code, "cancelled");
    ASSERT_STR(jobs[1].error_code, "provider_failed");
    ASSERT_CONTAINS(arena_text(&t->arena, jobs[1].why.p),
                    "a person spoke to it in the session a; its run failed: ");
    ASSERT_EQ(list(s, (struct wake_filter){ .status = WAKE_COMPLETED }, &jobs), 0u);
    /* It never waits, is never skipped, and no subscription's. */
    ASSERT_EQ(list(s, (struct wake_filter){ .status = WAKE_QUEUED }, &jobs), 0u);
    ASSERT_EQ(list(s, (struct wake_filter){ .status = WAKE_SKIPPED_NOOP }, &jobs), 0u);
    ASSERT_EQ(list(s, (struct wake_filter){ .reason_id = STR("x") }, &jobs), 0u);
    ASSERT_EQ(list(s, (struct wake_filter){ .agent_n = s->coach.n }, &jobs), 2u);
    ASSERT_EQ(list(s, (struct wake_filter){ .agent_n = s->coach.n + 1 }, &jobs), 0u);
    wake_stage_free(s);
}

/* Wakes and words in one order, whatever the size of a page; each once. */
DB_TEST(pages_of_wakes_and_words_are_one_list)
{
    enum { ALL = 9 };
    struct wake_stage *s = wake_stage_new(t);
    struct wake_job *whole, *page;
    size_t n;

    for (int i = 0; i < ALL; i++) {
        stage_says(s->stage, "Yes.");
        if (i % 3 == 1)
            wake_stage_wake(s, "coach", arena_printf(&t->arena, "r%d", i), "Wake up");
        else
            speak(s, "s", arena_printf(&t->arena, "t%d", i), "Well?");
        wake_stage_settle(s);
        loop_fake_advance(s->stage->loop, 5000);
    }
    ASSERT_EQ(list(s, (struct wake_filter){ .limit = 100 }, &whole), ALL);
    for (size_t i = 1; i < ALL; i++)
        ASSERT(whole[i].created_at < whole[i - 1].created_at);
    for (int size = 1; size <= ALL + 1; size++) {
        struct wake_filter filter = { .limit = size };
        size_t seen = 0;

        while ((n = list(s, filter, &page)) > 0) {
            for (size_t i = 0; i < n; i++, seen++) {
                ASSERT(seen < ALL);
                ASSERT(str_eq(page[i].run_key, whole[seen].run_key));
                *(page[i].spoken ? &filter.before_run_n : &filter.before_n) = page[i].n;
            }
        }
        ASSERT_EQ(seen, ALL);
    }
    wake_stage_free(s);
}

/* ---- names ---- */

DB_TEST(a_wake_says_the_name_of_what_woke_it)
{
    static const struct token tokens[] = {
        { .class = TOKEN_SEMANTIC_KEY, .value = { "TASK", 4 } },
    };
    struct wake_stage *s = wake_stage_new(t);
    struct subscription subscription = { .agent_n = s->coach.n,
                                         .name = STR("A task is new"),
                                         .source = WAKE_JOURNAL,
                                         .tokens = tokens,
                                         .token_count = 1,
                                         .active = true };
    struct timer timer = { .agent_n = s->coach.n,
                           .name = STR("Every morning"),
                           .rrule = STR("FREQ=DAILY;BYHOUR=7"),
                           .zone = STR("UTC") };
    char token[WEBHOOK_TOKEN_SIZE];
    struct wake_job *jobs;

    ASSERT_OK(loop_unit_begin(s->stage->loop, s->stage->domain, &t->err));
    ASSERT_OK(
        subscription_add(s->stage->domain, s->stage->change, &subscription, 1, token, &t->err));
    ASSERT_OK(timer_add(s->stage->domain, s->stage->change, &timer,
                        clock_wall_ms(loop_clock(s->stage->loop)), &t->arena, &t->err));
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    stage_says(s->stage, "Yes.");
    wake_stage_queue(s, &(struct wake_job){ .run_key = STR("key-one"),
                                            .agent_n = s->coach.n,
                                            .reason = STR("subscription"),
                                            .reason_id = subscription.id,
                                            .payload = STR("{\"prompt\":\"Look\"}"),
                                            .priority = 1,
                                            .created_at = 1 });
    wake_stage_settle(s);
    wake_stage_queue(s, &(struct wake_job){ .run_key = STR("key-two"),
                                            .agent_n = s->coach.n,
                                            .reason = STR("timer"),
                                            .reason_id = timer.id,
                                            .priority = 1,
                                            .not_before = INT64_C(1) << 50,
                                            .created_at = 2 });
    ASSERT_EQ(list(s, (struct wake_filter){ 0 }, &jobs), 2u);
    ASSERT_STR(jobs[0].name, "Every morning");
    ASSERT_STR(jobs[1].name, "A task is new");
    ASSERT_TEXT(wake_status_name(jobs[1].status), "completed");
    ASSERT_STR(wake_stage_get(s, STR("key-two")).name, "Every morning");
    /* One that was removed had a name, too. */
    ASSERT_OK(loop_unit_begin(s->stage->loop, s->stage->domain, &t->err));
    ASSERT_OK(subscription_remove(s->stage->domain, s->stage->change, subscription.id, 2, &t->err));
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    ASSERT_STR(wake_stage_get(s, STR("key-one")).name, "A task is new");
    wake_stage_free(s);
}
