/* Wakes from the queue to their end, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/link.h"
#include "db/db.h"
#include "wake/queue_int.h"
#include "wake_stage.h"

DB_TEST(a_person_wakes_an_agent)
{
    struct wake_stage *s = wake_stage_new(t);
    struct wake_job job;
    struct str key;

    stage_says(s->stage, "Good morning.");
    key = wake_stage_wake(s, "coach", "r1", "What is next?");
    ASSERT_TEXT(wake_stage_status(s, key), "queued");
    wake_stage_settle(s);
    job = wake_stage_get(s, key);
    ASSERT_TEXT(wake_status_name(job.status), "completed");
    ASSERT_STR(job.why, "its run is done");
    ASSERT(str_eq(job.run_id, key));
    ASSERT(job.started_at > 0 && job.ended_at >= job.started_at);
    ASSERT_CONTAINS(s->stage->last_request, "[wake: manual r1]");
    ASSERT_CONTAINS(s->stage->last_request, "What is next?");
    /* The same request again wakes nobody. */
    ASSERT(str_eq(wake_stage_wake(s, "coach", "r1", "What is next?"), key));
    wake_stage_settle(s);
    ASSERT_EQ(s->stage->model_calls, 1);
    ASSERT_EQ(wake_stage_count(s, "runs"), 1);
    wake_stage_free(s);
}

struct hearing {
    struct waker_listener listener;
    struct wake_stage *s;
    struct str key;
    unsigned times;
    const char *status; /* of the wake when it was last told of */
};

static void on_changed(struct waker_listener *listener)
{
    struct hearing *hearing = CONTAINER_OF(listener, struct hearing, listener);

    hearing->times++;
    if (hearing->key.n)
        hearing->status = wake_stage_status(hearing->s, hearing->key);
}

/* Also of wakes that lead to no run: nothing else would tell. */
DB_TEST(who_listens_is_told_when_wakes_have_ended)
{
    struct wake_stage *s = wake_stage_new(t);
    struct hearing hearing = { .listener.changed = on_changed, .s = s };
    unsigned before;

    wake_stage_settle(s);
    waker_tell(s->waker, &hearing.listener);
    ASSERT_OK(loop_unit_begin(s->stage->loop, s->stage->domain, &t->err));
    ASSERT_EQ(agent_set_paused(s->stage->domain, s->stage->change, STR("coach"), true, 1, &t->err),
              1);
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    hearing.key = wake_stage_change(s, &s->coach, "a", 5, 0);
    wake_stage_settle(s);
    ASSERT(hearing.times > 0);
    ASSERT_TEXT(hearing.status, "skipped_paused");
    before = hearing.times;
    wake_stage_settle(s);
    ASSERT_EQ(hearing.times, before); /* an idle house tells nothing */
    waker_tell(s->waker, NULL);
    wake_stage_change(s, &s->coach, "b", 6, 0);
    wake_stage_settle(s);
    ASSERT_EQ(hearing.times, before);
    wake_stage_free(s);
}

DB_TEST(what_nobody_could_wake_is_refused)
{
    struct wake_stage *s = wake_stage_new(t);
    struct wake_job job;
    char *long_words = arena_alloc(&t->arena, 20000, 1);

    memset(long_words, 'x', 20000);
    ASSERT_FAILS(
        waker_wake_now(s->waker, STR("nobody"), STR("r"), STR(""), &t->arena, &job, &t->err),
        ERR_NOT_FOUND);
    ASSERT_FAILS(waker_wake_now(s->waker, STR("coach"), STR("r"), str_of(long_words, 20000),
                                &t->arena, &job, &t->err),
                 ERR_TOO_LARGE);
    ASSERT_FAILS(waker_wake_now(s->waker, STR("coach"), str_of(long_words, 300), STR(""), &t->arena,
                                &job, &t->err),
                 ERR_BAD_REQUEST);
    ASSERT_FAILS(
        waker_wake_now(s->waker, STR("coach"), STR("r"), STR("\xff"), &t->arena, &job, &t->err),
        ERR_BAD_REQUEST);
    ASSERT_EQ(wake_stage_count(s, "queued"), 0);
    wake_stage_free(s);
}

/* As a person's turn is. */
DB_TEST(who_wakes_an_agent_that_may_not_run_is_told_so)
{
    struct wake_stage *s = wake_stage_new(t);
    struct wake_job job;
    struct str key;

    stage_says(s->stage, "Here.");
    key = wake_stage_wake(s, "coach", "r1", "hello");
    wake_stage_settle(s);
    ASSERT_OK(loop_unit_begin(s->stage->loop, s->stage->domain, &t->err));
    ASSERT_EQ(agent_set_paused(s->stage->domain, s->stage->change, STR("coach"), true, 1, &t->err),
              1);
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    ASSERT_FAILS(
        waker_wake_now(s->waker, STR("coach"), STR("r2"), STR(""), &t->arena, &job, &t->err),
        ERR_AGENT_PAUSED);
    ASSERT_CONTAINS(err_message(&t->err, 0), "`dormouse agent resume coach`");
    /* What was asked before is answered as it was. */
    ASSERT(str_eq(wake_stage_wake(s, "coach", "r1", "hello"), key));
    ASSERT_OK(loop_unit_begin(s->stage->loop, s->stage->domain, &t->err));
    ASSERT_EQ(agent_set_paused(s->stage->domain, s->stage->change, STR("coach"), false, 1, &t->err),
              1);
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    ASSERT_EQ(run_kill(s->stage->runner, KILL_AGENT, "coach", "test", true, &t->err), 1);
    ASSERT_FAILS(
        waker_wake_now(s->waker, STR("coach"), STR("r2"), STR(""), &t->arena, &job, &t->err),
        ERR_KILL_SWITCH_ACTIVE);
    ASSERT_OK(loop_unit_begin(s->stage->loop, s->stage->domain, &t->err));
    ASSERT_EQ(agent_set_destroyed(s->stage->domain, s->stage->change, STR("coach"), 1, &t->err), 1);
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    ASSERT_FAILS(
        waker_wake_now(s->waker, STR("coach"), STR("r2"), STR(""), &t->arena, &job, &t->err),
        ERR_AGENT_DESTROYED);
    ASSERT_EQ(wake_stage_count(s, "queued"), 0);
    wake_stage_free(s);
}

DB_TEST(wakes_of_an_agent_become_one_run_and_all_have_an_end)
{
    struct wake_stage *s = wake_stage_new(t);
    struct str first, second, third;
    struct agent_state state;
    struct agent_link *links;
    size_t n;

    stage_says(s->stage, "Seen.");
    first = wake_stage_change(s, &s->coach, "a", 5, 0);
    second = wake_stage_change(s, &s->coach, "b", 7, 0);
    third = wake_stage_change(s, &s->coach, "c", 6, wake_stage_now(s) + MINUTES(60));
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, first), "completed");
    ASSERT_TEXT(wake_stage_status(s, second), "coalesced");
    ASSERT(str_eq(wake_stage_get(s, second).coalesced_into, first));
    /* The thread that it began knows what began it. */
    ASSERT_OK(agent_links_from(s->stage->domain, AGENT_LINK_THREAD_SOURCE,
                               wake_stage_get(s, first).thread_id, 10, &t->arena, &links, &n,
                               &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_STR(links[0].to_id, "sub");
    /* One that was to wait for its time goes along: the agent is awake. */
    ASSERT_TEXT(wake_stage_status(s, third), "coalesced");
    ASSERT_EQ(s->stage->model_calls, 1);
    ASSERT_CONTAINS(s->stage->last_request, "about a");
    ASSERT_CONTAINS(s->stage->last_request, "about c");
    wake_stage_state(s, &s->coach, &state);
    ASSERT_EQ(vclock_of(&state.processed, str_from(change_host_id(s->stage->change))), 7);
    ASSERT(state.last_wake_at >= wake_stage_now(s) - 10);
    wake_stage_free(s);
}

DB_TEST(a_wake_whose_changes_were_seen_asks_no_model)
{
    struct wake_stage *s = wake_stage_new(t);
    struct str key;

    stage_says(s->stage, "Seen.");
    wake_stage_change(s, &s->coach, "a", 9, 0);
    wake_stage_settle(s);
    key = wake_stage_change(s, &s->coach, "b", 9, 0);
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, key), "skipped_noop");
    ASSERT_STR(wake_stage_get(s, key).why, "everything in it was seen before");
    ASSERT_EQ(s->stage->model_calls, 1);
    stage_says(s->stage, "New.");
    key = wake_stage_change(s, &s->coach, "c", 10, 0);
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, key), "completed");
    wake_stage_free(s);
}

static void queue_again(struct wake_stage *s, struct str key)
{
    struct test *t = s->t;
    AUTO(stmt) q = NULL;

    ASSERT_OK(loop_unit_begin(s->stage->loop, s->stage->domain, &t->err));
    ASSERT_OK(db_prepare(domain_db(s->stage->domain),
                         SQL("INSERT INTO wake_queue (run_key, agent_n, reason, thread_id,"
                             " created_at) VALUES (?, ?, 'manual', 't', 1)"),
                         &q, &t->err));
    stmt_bind_str(q, key);
    stmt_bind_i64(q, s->coach.n);
    ASSERT_OK(stmt_run(q, &t->err));
    stmt_free(TAKE(q));
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    waker_look(s->waker);
}

/* As it happens on a shared database when one process queues what another is taking. */
DB_TEST(a_wake_that_was_queued_once_more_while_it_was_taken_runs_once)
{
    struct wake_stage *s = wake_stage_new(t);
    struct str key;

    stage_says(s->stage, "Once.");
    key = wake_stage_wake(s, "coach", "r1", "hello");
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, key), "completed");
    queue_again(s, key);
    ASSERT_EQ(wake_stage_count(s, "queued"), 1);
    loop_fake_advance(s->stage->loop, 100);
    ASSERT_EQ(wake_stage_count(s, "queued"), 0);
    ASSERT_EQ(wake_stage_count(s, "runs"), 1);
    ASSERT_EQ(s->stage->model_calls, 1u);
    wake_stage_free(s);
}

static void change_states(struct wake_stage *s, struct sql sql)
{
    struct test *t = s->t;

    ASSERT_OK(loop_unit_begin(s->stage->loop, s->stage->domain, &t->err));
    ASSERT_OK(db_exec(domain_db(s->stage->domain), sql, &t->err));
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    loop_fake_tick(s->stage->loop);
}

DB_TEST(an_agent_whose_state_cant_be_read_or_is_gone_holds_nobody_up)
{
    struct wake_stage *s = wake_stage_new(t);
    struct agent other;
    struct str one, two;

    wake_stage_agent(s, "other", &other);
    change_states(s, SQL("UPDATE agent_states SET slot_hosts = '{broken' WHERE agent_n ="
                         " (SELECT n FROM agents WHERE id = 'coach')"));
    stage_says(s->stage, "One.");
    stage_says(s->stage, "Two.");
    one = wake_stage_change(s, &s->coach, "x", 5, 0);
    two = wake_stage_change(s, &other, "y", 6, 0);
    loop_fake_advance(s->stage->loop, 1000);
    ASSERT_TEXT(wake_stage_status(s, one), "completed");
    ASSERT_TEXT(wake_stage_status(s, two), "completed");
    change_states(s, SQL("DELETE FROM agent_states"));
    stage_says(s->stage, "Three.");
    one = wake_stage_change(s, &s->coach, "z", 7, 0);
    loop_fake_advance(s->stage->loop, 1000);
    ASSERT_TEXT(wake_stage_status(s, one), "completed");
    s->stage->altered = true;
    wake_stage_free(s);
}

DB_TEST(a_person_waits_behind_no_crowd)
{
    struct wake_stage *s = wake_stage_new(t);
    struct agent busy, other;
    struct str key;

    s->config.max_flights = 1;
    stage_crash(s->stage);
    wake_stage_agent(s, "busy", &busy);
    wake_stage_agent(s, "other", &other);
    stage_says(s->stage, "?"); /* has the only place */
    wake_stage_change(s, &busy, "x", 5, 0);
    loop_fake_advance(s->stage->loop, 100);
    ASSERT_EQ(wake_stage_count(s, "flying"), 1);
    for (int i = 0; i < 600; i++)
        wake_stage_change(s, &s->coach, arena_printf(&t->arena, "c%d", i), 100 + i, 0);
    stage_says(s->stage, "For you.");
    key = wake_stage_wake(s, "other", "r1", "hello");
    loop_fake_advance(s->stage->loop, 100);
    ASSERT_TEXT(wake_stage_status(s, key), "completed");
    ASSERT_EQ(wake_stage_count(s, "queued"), 600);
    s->stage->altered = true;
    wake_stage_free(s);
}

/* ---- one flight ---- */

DB_TEST(an_agent_has_one_run_at_a_time)
{
    struct wake_stage *s = wake_stage_new(t);
    struct str a, b, c;

    stage_says(s->stage, "?");
    a = wake_stage_change(s, &s->coach, "a", 5, 0);
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, a), "running");
    b = wake_stage_change(s, &s->coach, "b", 6, 0);
    c = wake_stage_wake(s, "coach", "r", "and me");
    loop_fake_advance(s->stage->loop, MINUTES(1));
    ASSERT_TEXT(wake_stage_status(s, b), "queued");
    ASSERT_STR(wake_stage_get(s, b).why, "the agent is awake; this follows when its run has ended");
    ASSERT_EQ(wake_stage_count(s, "flying"), 1);
    stage_says(s->stage, "Second.");
    stage_answer(s->stage, "First.");
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, a), "completed");
    ASSERT_TEXT(wake_stage_status(s, c), "completed"); /* somebody waits for it */
    ASSERT_TEXT(wake_stage_status(s, b), "coalesced");
    ASSERT_EQ(s->stage->model_calls, 2);
    wake_stage_free(s);
}

DB_TEST(a_run_that_waits_for_a_person_holds_nobody_up)
{
    struct wake_stage *s = wake_stage_new(t);
    struct str a, b;

    stage_says(s->stage, "!send {\"to\":\"x\"}");
    a = wake_stage_wake(s, "coach", "r1", "send it");
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, a), "running");
    ASSERT_TEXT(stage_status(s->stage, a), "waiting");
    ASSERT_STR(wake_stage_get(s, a).why, "its run waits for a person");
    ASSERT_EQ(wake_stage_count(s, "flying"), 0);
    stage_says(s->stage, "Something else.");
    b = wake_stage_change(s, &s->coach, "b", 6, 0);
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, b), "completed");
    stage_says(s->stage, "Sent.");
    s->stage->info.run_id = a;
    ASSERT_EQ(stage_decide(s->stage, INBOX_APPROVED, NULL), 1);
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, a), "completed");
    wake_stage_free(s);
}

DB_TEST(a_run_that_a_person_stops_is_no_failure_of_the_agent)
{
    struct wake_stage *s = wake_stage_new(t);
    struct agent_state state;
    struct str key;

    stage_says(s->stage, "?");
    key = wake_stage_change(s, &s->coach, "a", 5, 0);
    ASSERT_STR(wake_stage_get(s, key).why, "it is taken as soon as there is a place");
    wake_stage_settle(s);
    ASSERT_STR(wake_stage_get(s, key).why, "its run is under way");
    ASSERT_OK(run_cancel(s->stage->runner, key, &t->err));
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, key), "failed_terminal");
    ASSERT_STR(wake_stage_get(s, key).error_code, "cancelled");
    wake_stage_state(s, &s->coach, &state);
    ASSERT_EQ(state.failures, 0);
    ASSERT_EQ(wake_stage_count(s, "flying"), 0);
    wake_stage_free(s);
}

DB_TEST(an_agent_that_is_destroyed_while_it_runs_writes_nothing_after)
{
    struct wake_stage *s = wake_stage_new(t);
    struct err why = ERR_INIT;
    struct run_info before, after;
    struct str key;

    s->stage->hold_tools = true;
    stage_says(s->stage, "!note {\"a\":1}");
    key = wake_stage_wake(s, "coach", "r", "note it");
    wake_stage_settle(s);
    ASSERT_TEXT(wake_stage_status(s, key), "running");
    err_set(&why, ERR_AGENT_DESTROYED, "the agent coach was destroyed");
    ASSERT_OK(loop_unit_begin(s->stage->loop, s->stage->domain, &t->err));
    ASSERT_EQ(agent_set_destroyed(s->stage->domain, s->stage->change, STR("coach"), 1, &t->err), 1);
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    ASSERT_OK(run_abort(s->stage->runner, key, &why, &t->err));
    ASSERT_OK(run_get(s->stage->runner, key, &t->arena, &before, &t->err));
    wake_stage_settle(s);
    loop_fake_advance(s->stage->loop, MINUTES(5));
    ASSERT_OK(run_get(s->stage->runner, key, &t->arena, &after, &t->err));
    ASSERT_STR(after.status, "failed");
    ASSERT_STR(after.error_code, "agent_destroyed");
    ASSERT_EQ(after.updated_at, before.updated_at);
    ASSERT_EQ(after.last_seq, before.last_seq);
    ASSERT_TEXT(wake_stage_status(s, key), "failed_terminal");
    ASSERT_EQ(s->stage->done_count, 0u);
    wake_stage_free(s);
}

/* ---- fairness ---- */

DB_TEST(one_agent_that_chatters_does_not_starve_the_others, .timeout_s = 120)
{
    struct wake_stage *s = wake_stage_new(t);
    struct agent others[50];
    struct str keys[50];

    s->config.max_flights = 4;
    stage_crash(s->stage);
    for (int i = 0; i < 700; i++)
        wake_stage_change(s, &s->coach, arena_printf(&t->arena, "c%d", i), 100 + i, 0);
    for (int i = 0; i < 50; i++) {
        wake_stage_agent(s, arena_printf(&t->arena, "a%d", i), &others[i]);
        keys[i] = wake_stage_change(s, &others[i], "x", 1000 + i, 0);
    }
    stage_says(s->stage, "?"); /* the one that chatters takes its time */
    for (int i = 0; i < 50; i++)
        stage_says(s->stage, "Done.");
    loop_fake_advance(s->stage->loop, 1000);
    for (int i = 0; i < 50; i++)
        ASSERT_TEXT(wake_stage_status(s, keys[i]), "completed");
    ASSERT_EQ(wake_stage_count(s, "flying"), 1);
    stage_says(s->stage, "The rest.");
    stage_answer(s->stage, "Done.");
    loop_fake_advance(s->stage->loop, 1000);
    ASSERT_EQ(wake_stage_count(s, "queued"), 0);
    ASSERT_EQ(wake_stage_count(s, "completed"), 52);
    ASSERT_EQ(wake_stage_count(s, "coalesced"), 698);
    s->stage->altered = true;
    wake_stage_free(s);
}

DB_TEST(only_so_many_runs_fly_that_nobody_asked_for)
{
    struct wake_stage *s = wake_stage_new(t);
    struct agent others[5];
    struct str asked;

    s->config.max_flights = 2;
    stage_crash(s->stage);
    s->stage->hold_tools = true;
    for (int i = 0; i < 5; i++) {
        wake_stage_agent(s, arena_printf(&t->arena, "a%d", i), &others[i]);
        wake_stage_change(s, &others[i], "x", 1000 + i, 0);
        stage_says(s->stage, "!note {\"a\":1}");
    }
    loop_fake_advance(s->stage->loop, 1000);
    ASSERT_EQ(wake_stage_count(s, "flying"), 2);
    ASSERT_EQ(wake_stage_count(s, "queued"), 3);
    /* What somebody asked for needs no place. */
    asked = wake_stage_wake(s, "coach", "r", "now");
    loop_fake_advance(s->stage->loop, 1000);
    ASSERT_TEXT(wake_stage_status(s, asked), "running");
    s->stage->hold_tools = false;
    for (int i = 0; i < 20; i++)
        stage_says(s->stage, "Done.");
    while (stage_act(s->stage))
        wake_stage_settle(s);
    loop_fake_advance(s->stage->loop, 1000);
    ASSERT_EQ(wake_stage_count(s, "completed"), 6);
    wake_stage_free(s);
}

/* ---- crashes ---- */

/* After the nth tick from the one that queued them, the process is gone. */
static bool cut_after(struct wake_stage *s, int cut)
{
    struct test *t = s->t;
    struct agent agent;
    struct str a, b;
    int64_t runs = wake_stage_count(s, "runs");
    int ticks = 0;

    wake_stage_agent(s, arena_printf(&t->arena, "cut%d", cut), &agent);
    s->stage->reply_count = s->stage->reply_next = 0;
    stage_says(s->stage, "!note {\"a\":1}");
    stage_says(s->stage, "Done.");
    loop_fake_tick(s->stage->loop);
    a = wake_stage_change(s, &agent, "a", 10 + cut, 0);
    b = wake_stage_wake(s, agent.id, "r", "hello");
    loop_fake_tick(s->stage->loop);
    while (ticks < cut && (wake_stage_count(s, "queued") || wake_stage_count(s, "flying"))) {
        loop_fake_tick(s->stage->loop);
        ticks++;
    }
    stage_crash(s->stage);
    if (s->stage->reply_next == 2)
        s->stage->reply_next = 1; /* it was not heard */
    loop_fake_advance(s->stage->loop, 1000);
    ASSERT_EQ(wake_stage_count(s, "queued"), 0);
    ASSERT_EQ(wake_stage_count(s, "flying"), 0);
    ASSERT_TEXT(wake_stage_status(s, b), "completed");
    ASSERT_TEXT(wake_stage_status(s, a), "coalesced");
    ASSERT_EQ(wake_stage_count(s, "runs"), runs + 1);
    wake_stage_check(s);
    return ticks == cut;
}

DB_TEST(wherever_the_process_ends_a_wake_ends_once, .timeout_s = 120)
{
    struct wake_stage *s = wake_stage_new(t);
    int cut = 0;

    while (cut_after(s, cut))
        cut++;
    ASSERT(cut >= 2);
    wake_stage_free(s);
}
