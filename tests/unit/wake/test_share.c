/* Several processes on one database: two stages, of which a test lets one stand still.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/session.h"
#include "db/db.h"
#include "wake/claim_int.h"
#include "wake/lease_int.h"
#include "wake_stage.h"

#define FIRST  "01890a5d-ac96-774b-bcce-b302099a8057"
#define SECOND "01890a5d-ac96-774b-bcce-b302099a8058"
#define LEASE  15000

#define SHARED_TEST(name_, ...)                                                                    \
    static void name_(struct test *t);                                                             \
    DB_TEST_CASE(name_, postgres, __VA_ARGS__)                                                     \
    static void name_(__attribute__((unused)) struct test *t)

/* Both go on, a moment each in turn. */
static void together(struct wake_stage *a, struct wake_stage *b, int64_t ms)
{
    for (int64_t at = 0; at < ms; at += 10) {
        loop_fake_advance(a->stage->loop, 10);
        loop_fake_advance(b->stage->loop, 10);
    }
}

/* ---- leases ---- */

DB_TEST(a_lease_changes_hands_with_a_greater_number)
{
    struct wake_stage *s = wake_stage_new(t);
    struct domain *domain = s->stage->domain;
    int64_t one = 0, two = 0;

    ASSERT_OK(loop_unit_begin(s->stage->loop, domain, &t->err));
    ASSERT_OK(lease_take(domain, STR("x"), STR("a"), 1000, &one, &t->err));
    ASSERT_EQ(lease_renew(domain, STR("x"), STR("a"), one, 2000, &t->err), 1);
    ASSERT_EQ(lease_hold(domain, STR("x"), STR("a"), one, 1999, &t->err), 1);
    ASSERT_EQ(lease_hold(domain, STR("x"), STR("a"), one, 2000, &t->err), 0); /* it ran out */
    ASSERT_EQ(lease_renew(domain, STR("x"), STR("b"), one, 2000, &t->err), 0);
    ASSERT_EQ(lease_renew(domain, STR("x"), STR("a"), one + 1, 2000, &t->err), 0);
    /* Nobody breaks one that lasts. */
    ASSERT_EQ(lease_break(domain, STR("x"), 1999, &t->err), 0);
    ASSERT_EQ(lease_hold(domain, STR("x"), STR("a"), one, 1999, &t->err), 1);
    ASSERT_EQ(lease_break(domain, STR("x"), 2000, &t->err), 1);
    ASSERT_EQ(lease_hold(domain, STR("x"), STR("a"), one, 1999, &t->err), 0);
    ASSERT_EQ(lease_renew(domain, STR("x"), STR("a"), one, 3000, &t->err), 0);
    ASSERT_OK(lease_take(domain, STR("x"), STR("a"), 3000, &two, &t->err));
    ASSERT(two > one + 1);
    ASSERT_EQ(lease_release(domain, STR("x"), STR("a"), two, &t->err), 1);
    ASSERT_EQ(lease_break(domain, STR("x"), 1, &t->err), 1);
    ASSERT_EQ(lease_break(domain, STR("never"), 1, &t->err), 1);
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    wake_stage_free(s);
}

/* ---- the queue ---- */

SHARED_TEST(two_hosts_take_every_wake_once, .timeout_s = 120)
{
    struct wake_stage *a = wake_stage_new_host(t, FIRST), *b = wake_stage_new_host(t, SECOND);
    struct agent agents[20];

    a->config.max_flights = 1;
    stage_crash(a->stage);
    stage_says(a->stage, "?"); /* it has enough to do with one */
    for (int i = 0; i < 20; i++) {
        wake_stage_agent(a, arena_printf(&t->arena, "a%d", i), &agents[i]);
        wake_stage_change(a, &agents[i], "x", 100 + i, 0);
        stage_says(b->stage, "Done by b.");
    }
    together(a, b, 6000);
    ASSERT_EQ(wake_stage_count(a, "completed"), 19);
    stage_answer(a->stage, "Done by a.");
    together(a, b, 100);
    ASSERT_EQ(wake_stage_count(a, "queued"), 0);
    ASSERT_EQ(wake_stage_count(a, "completed"), 20);
    ASSERT_EQ(wake_stage_count(a, "runs"), 20);
    ASSERT_EQ(a->stage->model_calls, 1u);
    ASSERT_EQ(b->stage->model_calls, 19u); /* by the beat: nobody told it */
    a->stage->altered = b->stage->altered = true;
    wake_stage_free(a);
    wake_stage_free(b);
}

SHARED_TEST(one_flight_of_an_agent_whoever_flies_it)
{
    struct wake_stage *a = wake_stage_new_host(t, FIRST), *b = wake_stage_new_host(t, SECOND);
    struct agent agent;
    struct str one, two;

    wake_stage_agent(a, "coach", &agent);
    stage_says(a->stage, "?");
    stage_says(b->stage, "?");
    one = wake_stage_change(a, &agent, "x", 100, 0);
    together(a, b, 100);
    two = wake_stage_change(b, &agent, "y", 101, 0);
    together(b, a, 5000);
    ASSERT_TEXT(wake_stage_status(a, one), "running");
    ASSERT_TEXT(wake_stage_status(a, two), "queued");
    ASSERT_EQ(wake_stage_count(a, "flying"), 1);
    stage_says(a->stage, "Again.");
    b->stage->reply_next = 0;
    b->stage->replies[0] = arena_text(&t->arena, "By b.");
    stage_answer(a->stage, "Done.");
    together(a, b, 5000);
    ASSERT_TEXT(wake_stage_status(a, one), "completed");
    ASSERT_TEXT(wake_stage_status(a, two), "completed");
    a->stage->altered = b->stage->altered = true;
    wake_stage_free(a);
    wake_stage_free(b);
}

/* What b looks at, a can't take along; what comes after it is not to hide it. */
SHARED_TEST(a_wake_that_another_host_looks_at_is_not_taken_for_seen)
{
    struct wake_stage *a = wake_stage_new_host(t, FIRST), *b = wake_stage_new_host(t, SECOND);
    struct agent agent;
    struct claim *claims;
    struct str older, newer;
    int64_t soon = clock_wall_ms(loop_clock(a->stage->loop)) + 1000;
    size_t n;

    wake_stage_agent(a, "coach", &agent);
    older = wake_stage_change(a, &agent, "older", 100, soon);
    newer = wake_stage_change(a, &agent, "newer", 101, soon);
    loop_fake_advance(a->stage->loop, 100);
    ASSERT_OK(loop_unit_begin(b->stage->loop, b->stage->domain, &t->err));
    ASSERT_OK(claim_due(b->stage->domain, soon, true, &t->arena, &claims, &n, &t->err));
    ASSERT_EQ(n, 1u);
    ASSERT(str_eq(claims[0].job.run_key, older));
    stage_says(a->stage, "Done.");
    loop_fake_advance(a->stage->loop, 1000);
    ASSERT_TEXT(wake_stage_status(a, newer), "completed");
    ASSERT_TEXT(wake_stage_status(a, older), "queued");
    loop_unit_end(b->stage->loop, false, NULL);
    loop_fake_tick(b->stage->loop);
    stage_says(a->stage, "Done too.");
    loop_fake_advance(a->stage->loop, MINUTES(10));
    ASSERT_TEXT(wake_stage_status(a, older), "completed");
    ASSERT_CONTAINS(a->stage->last_request, "about older");
    a->stage->altered = b->stage->altered = true;
    wake_stage_free(a);
    wake_stage_free(b);
}

/* ---- one that stands still ---- */

SHARED_TEST(what_a_frozen_host_left_is_finished_by_another_and_its_late_writes_are_refused)
{
    struct wake_stage *a = wake_stage_new_host(t, FIRST), *b = wake_stage_new_host(t, SECOND);
    struct agent agent;
    struct run_info before, after;
    struct str key, later;

    wake_stage_agent(a, "coach", &agent);
    stage_says(a->stage, "?");
    key = wake_stage_change(a, &agent, "x", 100, 0);
    loop_fake_advance(a->stage->loop, 100);
    ASSERT_TEXT(wake_stage_status(a, key), "running");
    /* While its lease lasts, nobody touches what it does. */
    stage_says(b->stage, "Finished by b.");
    loop_fake_advance(b->stage->loop, LEASE - 5000);
    ASSERT_EQ(b->stage->model_calls, 0u);
    loop_fake_advance(b->stage->loop, LEASE);
    ASSERT_EQ(b->stage->model_calls, 1u);
    ASSERT_TEXT(wake_stage_status(b, key), "completed");
    ASSERT_OK(run_get(b->stage->runner, key, &t->arena, &before, &t->err));
    ASSERT_STR(before.result, "Finished by b.");
    /* It goes on and hears what the model said to it. */
    stage_answer(a->stage, "Finished by a, too late.");
    loop_fake_advance(a->stage->loop, 100);
    ASSERT_OK(run_get(b->stage->runner, key, &t->arena, &after, &t->err));
    ASSERT_STR(after.result, "Finished by b.");
    ASSERT_EQ(after.last_seq, before.last_seq);
    ASSERT_EQ(after.updated_at, before.updated_at);
    ASSERT_EQ(runner_loaded(a->stage->runner), 0u);
    /* And then it works as before, under a new number. */
    loop_fake_advance(a->stage->loop, 2 * LEASE);
    stage_says(a->stage, "Here again.");
    later = wake_stage_change(a, &agent, "y", 101, 0);
    loop_fake_advance(a->stage->loop, 100);
    ASSERT_TEXT(wake_stage_status(a, later), "completed");
    b->stage->altered = a->stage->altered = true;
    wake_stage_free(a);
    wake_stage_free(b);
}

/* b takes over what a has under way; then a goes on, and has renewed nothing yet. */
static void freeze(struct wake_stage *a, struct wake_stage *b)
{
    struct agent agent;

    wake_stage_agent(a, "coach", &agent);
    stage_says(a->stage, "?");
    wake_stage_change(a, &agent, "x", 100, 0);
    loop_fake_advance(a->stage->loop, 100);
    stage_says(b->stage, "By b.");
    loop_fake_advance(b->stage->loop, 3 * LEASE);
    ASSERT_EQ(b->stage->model_calls, 1u);
}

SHARED_TEST(a_frozen_host_starts_nothing_either)
{
    struct wake_stage *a = wake_stage_new_host(t, FIRST), *b = wake_stage_new_host(t, SECOND);
    struct agent other;
    struct str key;

    freeze(a, b);
    wake_stage_agent(a, "other", &other);
    stage_says(a->stage, "By a.");
    key = wake_stage_change(a, &other, "y", 101, 0);
    loop_fake_tick(a->stage->loop);
    loop_fake_tick(a->stage->loop);
    ASSERT_TEXT(wake_stage_status(a, key), "queued");
    loop_fake_advance(a->stage->loop, LEASE);
    ASSERT_TEXT(wake_stage_status(a, key), "completed");
    b->stage->altered = a->stage->altered = true;
    wake_stage_free(a);
    wake_stage_free(b);
}

SHARED_TEST(a_frozen_host_ends_no_wake_by_a_stop_that_was_lifted_since)
{
    struct wake_stage *a = wake_stage_new_host(t, FIRST), *b = wake_stage_new_host(t, SECOND);
    struct agent other;
    struct str key;

    wake_stage_agent(a, "other", &other);
    ASSERT_EQ(run_kill(b->stage->runner, KILL_AGENT, "other", "test", true, &t->err), 1);
    loop_fake_tick(b->stage->loop);
    ASSERT_EQ(kill_reload(a->stage->kill, &t->err), 1);
    freeze(a, b);
    ASSERT_EQ(run_kill(b->stage->runner, KILL_AGENT, "other", "", false, &t->err), 1);
    loop_fake_tick(b->stage->loop);
    stage_says(a->stage, "By a.");
    key = wake_stage_change(a, &other, "y", 101, 0);
    loop_fake_tick(a->stage->loop);
    loop_fake_tick(a->stage->loop);
    ASSERT_TEXT(wake_stage_status(a, key), "queued");
    ASSERT_EQ(kill_reload(a->stage->kill, &t->err), 1);
    loop_fake_advance(a->stage->loop, LEASE);
    ASSERT_TEXT(wake_stage_status(a, key), "completed");
    b->stage->altered = a->stage->altered = true;
    wake_stage_free(a);
    wake_stage_free(b);
}

/* That it is paused says its row, and the row is read with the wake. */
SHARED_TEST(a_frozen_host_may_end_what_the_rows_say)
{
    struct wake_stage *a = wake_stage_new_host(t, FIRST), *b = wake_stage_new_host(t, SECOND);
    struct agent other;
    struct str key;

    wake_stage_agent(a, "other", &other);
    freeze(a, b);
    ASSERT_OK(loop_unit_begin(b->stage->loop, b->stage->domain, &t->err));
    ASSERT_EQ(agent_set_paused(b->stage->domain, b->stage->change, STR("other"), true, 1, &t->err),
              1);
    ASSERT_OK(loop_unit_end(b->stage->loop, true, &t->err));
    loop_fake_tick(b->stage->loop);
    key = wake_stage_change(a, &other, "y", 101, 0);
    loop_fake_tick(a->stage->loop);
    loop_fake_tick(a->stage->loop);
    ASSERT_TEXT(wake_stage_status(a, key), "skipped_paused");
    b->stage->altered = a->stage->altered = true;
    wake_stage_free(a);
    wake_stage_free(b);
}

/* What waits for a time is not under way, and has to be gone on with all the same. */
SHARED_TEST(a_rest_of_a_host_that_died_ends_when_it_would_have, .timeout_s = 120)
{
    struct wake_stage *a = wake_stage_new_host(t, FIRST), *b = wake_stage_new_host(t, SECOND);
    struct agent agent;
    struct str key;

    wake_stage_agent(a, "coach", &agent);
    stage_says(a->stage, "#rate_limited come back later");
    key = wake_stage_change(a, &agent, "x", 100, 0);
    loop_fake_advance(a->stage->loop, 100);
    ASSERT_TEXT(stage_status(a->stage, key), "waiting");
    stage_says(b->stage, "By b.");
    loop_fake_advance(b->stage->loop, MINUTES(10));
    ASSERT_TEXT(wake_stage_status(b, key), "completed");
    a->stage->altered = b->stage->altered = true;
    wake_stage_free(a);
    wake_stage_free(b);
}

SHARED_TEST(what_was_asked_by_a_host_that_died_expires_when_it_would_have, .timeout_s = 120)
{
    struct wake_stage *a = wake_stage_new_host(t, FIRST), *b = wake_stage_new_host(t, SECOND);
    struct agent agent;
    struct str key;

    wake_stage_agent(a, "coach", &agent);
    loop_fake_advance(b->stage->loop, 100);
    stage_says(a->stage, "!send {\"to\":\"x\"}");
    key = wake_stage_change(a, &agent, "x", 100, 0);
    loop_fake_advance(a->stage->loop, 100);
    stage_alter(a->stage, "UPDATE inbox SET expires_at = created_at + 60000");
    stage_says(b->stage, "Nobody answered.");
    loop_fake_advance(b->stage->loop, MINUTES(10));
    ASSERT_TEXT(wake_stage_status(b, key), "completed");
    a->stage->altered = b->stage->altered = true;
    wake_stage_free(a);
    wake_stage_free(b);
}

SHARED_TEST(a_host_that_says_goodbye_is_followed_at_once)
{
    struct wake_stage *a = wake_stage_new_host(t, FIRST), *b;
    struct agent agent;
    struct str key;

    wake_stage_agent(a, "coach", &agent);
    stage_says(a->stage, "?");
    key = wake_stage_change(a, &agent, "x", 100, 0);
    loop_fake_advance(a->stage->loop, 100);
    a->stage->altered = true;
    wake_stage_free(a); /* gives its lease back */
    b = wake_stage_new_host(t, SECOND);
    stage_says(b->stage, "By b.");
    loop_fake_advance(b->stage->loop, 3000);
    ASSERT_TEXT(wake_stage_status(b, key), "completed");
    wake_stage_free(b);
}

SHARED_TEST(an_answer_given_elsewhere_takes_the_waiting_run_along)
{
    struct wake_stage *a = wake_stage_new_host(t, FIRST), *b = wake_stage_new_host(t, SECOND);
    struct agent agent;
    struct str key;

    wake_stage_agent(a, "coach", &agent);
    stage_says(a->stage, "!send {\"to\":\"x\"}");
    key = wake_stage_change(a, &agent, "x", 100, 0);
    loop_fake_advance(a->stage->loop, 100);
    ASSERT_TEXT(stage_status(a->stage, key), "waiting");
    stage_says(b->stage, "Sent.");
    b->stage->info.run_id = key;
    ASSERT_EQ(stage_decide(b->stage, INBOX_APPROVED, NULL), 1);
    together(a, b, 1000);
    ASSERT_TEXT(wake_stage_status(b, key), "completed");
    ASSERT_EQ(b->stage->done_count, 1u);
    ASSERT_EQ(a->stage->done_count, 0u);
    b->stage->altered = a->stage->altered = true;
    wake_stage_free(a);
    wake_stage_free(b);
}

/* A run of the first that waits for a person and does something else meanwhile. */
static struct str busy_run_of(struct wake_stage *a, const char *name, struct agent *agent)
{
    struct str key;

    wake_stage_agent(a, name, agent);
    a->stage->hold_tools = true;
    stage_says(a->stage, "!send {\"to\":\"x\"}\n!note {}");
    key = wake_stage_change(a, agent, "x", 100, 0);
    loop_fake_advance(a->stage->loop, 100);
    ASSERT_TEXT(stage_status(a->stage, key), "running");
    return key;
}

static struct str busy_run(struct wake_stage *a, struct agent *agent)
{
    return busy_run_of(a, "coach", agent);
}

/* The host that is at the run is told, and follows. */
SHARED_TEST(a_decision_given_elsewhere_while_the_run_is_under_way_is_followed_by_its_host)
{
    static const struct {
        enum inbox_state state;
        const char *answer, *sent;
    } cases[] = { { INBOX_APPROVED, NULL, "x" },
                  { INBOX_EDITED, "{\"to\":\"y\"}", "y" },
                  { INBOX_REJECTED, NULL, NULL } };
    struct wake_stage *a = wake_stage_new_host(t, FIRST), *b = wake_stage_new_host(t, SECOND);
    size_t done = 0;

    for (size_t i = 0; i < 2 * ARRAY_LEN(cases); i++) {
        bool late = i % 2; /* it comes to wait before it hears of it */
        const char *sent = cases[i / 2].sent;
        struct agent agent;
        struct str key = busy_run_of(a, arena_printf(&t->arena, "coach%zu", i), &agent);

        stage_says(a->stage, "As you like.");
        ASSERT_EQ(stage_decide(b->stage, cases[i / 2].state, cases[i / 2].answer), 1);
        if (late)
            stage_finish(a->stage); /* the note */
        else
            together(a, b, 3000);
        a->stage->hold_tools = false;
        while (stage_act(a->stage))
            ;
        together(a, b, 3000);
        ASSERT_TEXT(wake_stage_status(b, key), "completed");
        done += sent ? 2 : 1;
        ASSERT_EQ(a->stage->done_count, done);
        for (size_t k = done - (sent ? 2 : 1); k < done; k++)
            if (strcmp(a->stage->effects[k].tool, "send") == 0)
                ASSERT_CONTAINS(a->stage->effects[k].arguments, sent);
    }
    ASSERT_EQ(b->stage->done_count, 0u);
    a->stage->altered = b->stage->altered = true;
    wake_stage_free(a);
    wake_stage_free(b);
}

SHARED_TEST(arguments_that_are_refused_are_refused_wherever_they_are_given)
{
    struct wake_stage *a = wake_stage_new_host(t, FIRST), *b = wake_stage_new_host(t, SECOND);
    struct agent agent;
    struct str key = busy_run(a, &agent);

    ASSERT_EQ(stage_decide(b->stage, INBOX_EDITED, "[]"), -1);
    ASSERT_EQ(t->err.code, ERR_BAD_REQUEST);
    err_reset(&t->err);
    stage_says(a->stage, "As you like.");
    ASSERT_EQ(stage_decide(b->stage, INBOX_REJECTED, NULL), 1);
    stage_finish(a->stage);
    together(a, b, 3000);
    ASSERT_TEXT(wake_stage_status(b, key), "completed");
    a->stage->altered = b->stage->altered = true;
    wake_stage_free(a);
    wake_stage_free(b);
}

SHARED_TEST(a_decision_whose_host_dies_before_it_hears_of_it_is_followed_by_the_next)
{
    struct wake_stage *a = wake_stage_new_host(t, FIRST), *b = wake_stage_new_host(t, SECOND);
    struct agent agent;
    struct str key = busy_run(a, &agent);

    ASSERT_EQ(stage_decide(b->stage, INBOX_APPROVED, NULL), 1);
    stage_says(b->stage, "Sent.");
    loop_fake_advance(b->stage->loop, 2 * LEASE); /* the first one stands still */
    ASSERT_TEXT(wake_stage_status(b, key), "completed");
    ASSERT_EQ(b->stage->done_count, 2u); /* the note again, which has a key, and what was sent */
    a->stage->altered = b->stage->altered = true;
    wake_stage_free(a);
    wake_stage_free(b);
}

SHARED_TEST(what_expires_while_the_run_is_under_way_expires_on_either_host)
{
    struct wake_stage *a = wake_stage_new_host(t, FIRST), *b = wake_stage_new_host(t, SECOND);
    struct agent agent;
    struct str key = busy_run(a, &agent);
    int64_t pending;

    stage_alter(a->stage, "UPDATE inbox SET expires_at = created_at + 1000");
    stage_crash(b->stage); /* it sees when the item is due */
    stage_says(a->stage, "Nobody said anything.");
    together(a, b, 9000);
    ASSERT_OK(inbox_count_pending(b->stage->domain, &pending, &t->err));
    ASSERT_EQ(pending, 0);
    stage_finish(a->stage);
    together(a, b, 1000);
    ASSERT_TEXT(wake_stage_status(a, key), "completed");
    ASSERT_EQ(a->stage->done_count, 1u);
    a->stage->altered = b->stage->altered = true;
    wake_stage_free(a);
    wake_stage_free(b);
}

/* Both have loaded the run; the second to write finds that it is another's, and what was said. */
SHARED_TEST(the_same_decision_on_two_hosts_at_once_is_applied_once)
{
    struct wake_stage *a = wake_stage_new_host(t, FIRST), *b = wake_stage_new_host(t, SECOND);
    const struct inbox_decision yes = { .state = INBOX_APPROVED, .by = STR("owner") };
    const struct inbox_decision no = { .state = INBOX_REJECTED, .by = STR("owner") };
    struct agent agent;
    struct str key, item;

    wake_stage_agent(a, "coach", &agent);
    stage_says(a->stage, "!send {\"to\":\"x\"}");
    key = wake_stage_change(a, &agent, "x", 100, 0);
    loop_fake_advance(a->stage->loop, 100);
    item = stage_item(a->stage);
    stage_says(b->stage, "Sent.");
    ASSERT_EQ(run_decide(b->stage->runner, item, &yes, &t->err), 1);
    loop_fake_tick(b->stage->loop);
    ASSERT_EQ(run_decide(a->stage->runner, item, &yes, &t->err), 0);
    ASSERT_FAILS(run_decide(a->stage->runner, item, &no, &t->err), ERR_CONFLICT);
    together(a, b, 1000);
    ASSERT_TEXT(wake_stage_status(b, key), "completed");
    ASSERT_EQ(b->stage->done_count + a->stage->done_count, 1u);
    a->stage->altered = b->stage->altered = true;
    wake_stage_free(a);
    wake_stage_free(b);
}

SHARED_TEST(a_stop_on_one_host_and_a_yes_on_another_end_in_one_of_both)
{
    struct wake_stage *a = wake_stage_new_host(t, FIRST), *b = wake_stage_new_host(t, SECOND);
    const struct inbox_decision yes = { .state = INBOX_APPROVED, .by = STR("owner") };
    struct agent agent;
    struct str key, item;

    wake_stage_agent(a, "coach", &agent);
    stage_says(a->stage, "!send {\"to\":\"x\"}");
    key = wake_stage_change(a, &agent, "x", 100, 0);
    loop_fake_advance(a->stage->loop, 100);
    item = stage_item(a->stage);
    ASSERT_OK(run_cancel(b->stage->runner, key, &t->err));
    loop_fake_tick(b->stage->loop);
    ASSERT_FAILS(run_decide(a->stage->runner, item, &yes, &t->err), ERR_CONFLICT);
    together(a, b, 1000);
    ASSERT_TEXT(stage_status(a->stage, key), "cancelled");
    ASSERT_TEXT(wake_stage_status(a, key), "failed_terminal");
    ASSERT_EQ(a->stage->done_count + b->stage->done_count, 0u);
    a->stage->altered = b->stage->altered = true;
    wake_stage_free(a);
    wake_stage_free(b);
}

/* Nobody has told the run yet: its host finds out itself, before it writes anything. */
SHARED_TEST(a_late_writer_finds_that_its_agent_was_destroyed_elsewhere)
{
    struct wake_stage *a = wake_stage_new_host(t, FIRST), *b = wake_stage_new_host(t, SECOND);
    struct run_info after;
    struct agent agent;
    struct str key;

    wake_stage_agent(a, "coach", &agent);
    stage_says(a->stage, "?");
    key = wake_stage_change(a, &agent, "x", 100, 0);
    loop_fake_advance(a->stage->loop, 100);
    ASSERT_TEXT(wake_stage_status(b, key), "running");
    ASSERT_OK(loop_unit_begin(b->stage->loop, b->stage->domain, &t->err));
    ASSERT_EQ(agent_set_destroyed(b->stage->domain, b->stage->change, STR("coach"), 1, &t->err), 1);
    ASSERT_OK(loop_unit_end(b->stage->loop, true, &t->err));
    loop_fake_tick(b->stage->loop);
    stage_answer(a->stage, "!note {\"a\":1}");
    /* What the model said is not stored; the run is loaded again, and ends. */
    loop_fake_advance(a->stage->loop, 1000);
    ASSERT_OK(run_get(b->stage->runner, key, &t->arena, &after, &t->err));
    ASSERT_STR(after.error_code, "agent_destroyed");
    ASSERT_TEXT(wake_stage_status(b, key), "failed_terminal");
    ASSERT_EQ(wake_stage_count(b, "thoughts"), 0);
    ASSERT_EQ(a->stage->done_count, 0u);
    a->stage->altered = b->stage->altered = true;
    wake_stage_free(a);
    wake_stage_free(b);
}

SHARED_TEST(destroyed_on_one_host_nothing_is_written_on_the_other)
{
    struct wake_stage *a = wake_stage_new_host(t, FIRST), *b = wake_stage_new_host(t, SECOND);
    struct err why = ERR_INIT;
    struct run_info before, after;
    struct agent agent;
    struct str key;

    wake_stage_agent(a, "coach", &agent);
    stage_says(a->stage, "?");
    key = wake_stage_change(a, &agent, "x", 100, 0);
    loop_fake_advance(a->stage->loop, 100);
    err_set(&why, ERR_AGENT_DESTROYED, "the agent coach was destroyed");
    ASSERT_OK(loop_unit_begin(b->stage->loop, b->stage->domain, &t->err));
    ASSERT_EQ(agent_set_destroyed(b->stage->domain, b->stage->change, STR("coach"), 1, &t->err), 1);
    ASSERT_OK(loop_unit_end(b->stage->loop, true, &t->err));
    ASSERT_OK(run_abort(b->stage->runner, key, &why, &t->err));
    loop_fake_advance(b->stage->loop, 10);
    ASSERT_OK(run_get(b->stage->runner, key, &t->arena, &before, &t->err));
    ASSERT_STR(before.error_code, "agent_destroyed");
    stage_answer(a->stage, "!note {\"a\":1}");
    together(a, b, 1000);
    ASSERT_OK(run_get(b->stage->runner, key, &t->arena, &after, &t->err));
    ASSERT_EQ(after.last_seq, before.last_seq);
    ASSERT_EQ(a->stage->done_count, 0u);
    b->stage->altered = a->stage->altered = true;
    wake_stage_free(a);
    wake_stage_free(b);
}

/* ---- sessions ---- */

SHARED_TEST(the_session_of_a_host_that_died_ends_when_it_would_have)
{
    struct wake_stage *a = wake_stage_new_host(t, FIRST), *b = wake_stage_new_host(t, SECOND);
    struct run_request request = { .session_id = STR("s"), .prompt = STR("hello") };
    struct session session;
    struct str id;

    together(a, b, 100);
    stage_says(a->stage, "Hello.");
    stage_run_with(a->stage, &request);
    id = a->stage->info.thread_id;
    ASSERT_EQ(session_find(b->stage->domain, id, &t->arena, &session, &t->err), 1);
    loop_fake_advance(b->stage->loop, session.expires_at - 1700000000000 - 1000);
    ASSERT_EQ(session_find(b->stage->domain, id, &t->arena, &session, &t->err), 1);
    ASSERT_EQ(session.closed_at, 0);
    loop_fake_advance(b->stage->loop, 3000); /* the first one does nothing any more */
    ASSERT_EQ(session_find(b->stage->domain, id, &t->arena, &session, &t->err), 1);
    ASSERT(session.closed_at > 0);
    a->stage->altered = b->stage->altered = true;
    wake_stage_free(a);
    wake_stage_free(b);
}
