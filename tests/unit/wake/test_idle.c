/* Sessions from the first word to their end, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "agent/session.h"
#include "wake_stage.h"

#define TTL INT64_C(1800000) /* what an agent has when nobody says otherwise */

static int64_t now(struct wake_stage *s)
{
    return clock_wall_ms(loop_clock(s->stage->loop));
}

static void say(struct wake_stage *s, const char *agent, const char *session, const char *turn)
{
    struct run_request request = { .agent_id = str_from(agent),
                                   .prompt = STR("Hello"),
                                   .session_id = str_from(session),
                                   .turn_id = str_from(turn) };

    stage_says(s->stage, "Hello yourself.");
    stage_run_with(s->stage, &request);
}

/* "open", or why it is closed; "absent". */
static const char *state_of(struct wake_stage *s, const char *id, struct session *ret_session)
{
    struct test *t = s->t;
    int r = session_find(s->stage->domain, str_from(id), &t->arena, ret_session, &t->err);

    ASSERT(r >= 0);
    return r ? session_why_name(ret_session->why) : "absent";
}

static struct agent_status status_of(struct wake_stage *s, const char *agent)
{
    struct test *t = s->t;
    const struct agent_status_filter filter = { .id = str_from(agent) };
    struct agent_status *list;
    size_t n;

    ASSERT_OK(agent_status_list(s->stage->domain, &filter, &t->arena, &list, &n, &t->err));
    ASSERT_EQ(n, 1);
    return list[0];
}

DB_TEST(a_conversation_is_open_until_nobody_has_spoken_for_its_time)
{
    struct wake_stage *s = wake_stage_new(t);
    struct session session;
    int64_t began;

    began = now(s);
    say(s, "coach", "desk", "1");
    ASSERT_TEXT(state_of(s, "coach:session:desk", &session), "open");
    ASSERT_EQ(session.created_at, began);
    ASSERT_EQ(session.expires_at, began + TTL);
    ASSERT_EQ(status_of(s, "coach").sessions_open, 1);
    ASSERT_EQ(status_of(s, "coach").session_until, began + TTL);

    loop_fake_advance(s->stage->loop, MINUTES(20));
    say(s, "coach", "desk", "2");
    loop_fake_advance(s->stage->loop, MINUTES(29));
    ASSERT_TEXT(state_of(s, "coach:session:desk", &session), "open");
    ASSERT(session.last_at >= began + MINUTES(20));
    ASSERT_EQ(session.expires_at, session.last_at + TTL);
    loop_fake_advance(s->stage->loop, MINUTES(1));
    ASSERT_TEXT(state_of(s, "coach:session:desk", &session), "idle");
    ASSERT_EQ(session.closed_at, session.last_at + TTL);
    ASSERT_EQ(status_of(s, "coach").sessions_open, 0);
    ASSERT_EQ(status_of(s, "coach").session_until, 0);

    /* Speaking opens it again, and it ends again. */
    say(s, "coach", "desk", "3");
    ASSERT_TEXT(state_of(s, "coach:session:desk", &session), "open");
    loop_fake_advance(s->stage->loop, TTL);
    ASSERT_TEXT(state_of(s, "coach:session:desk", &session), "idle");
    wake_stage_free(s);
}

DB_TEST(each_conversation_ends_at_its_own_time)
{
    struct wake_stage *s = wake_stage_new(t);
    struct agent quick = { .id = "coach", .session_ttl_ms = MINUTES(1) };
    struct session session;
    struct agent other;

    wake_stage_agent(s, "other", &other);
    say(s, "other", "desk", "1"); /* the same name, another agent */
    say(s, "coach", "desk", "1");
    say(s, "coach", "sofa", "2");
    ASSERT_EQ(status_of(s, "coach").sessions_open, 2);
    ASSERT_OK(loop_unit_begin(s->stage->loop, s->stage->domain, &t->err));
    ASSERT_EQ(agent_change(s->stage->domain, s->stage->change, &quick, AGENT_SESSION_TTL, now(s),
                           &t->err),
              1);
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    /* What was promised stays; with the next word the new time holds, though an alarm for later is
     * set already. */
    say(s, "coach", "sofa", "3");
    loop_fake_advance(s->stage->loop, TTL - SECONDS(1));
    ASSERT_TEXT(state_of(s, "coach:session:desk", &session), "open");
    ASSERT_TEXT(state_of(s, "coach:session:sofa", &session), "idle");
    ASSERT_EQ(session.closed_at - session.last_at, MINUTES(1));
    loop_fake_advance(s->stage->loop, SECONDS(1));
    ASSERT_TEXT(state_of(s, "coach:session:desk", &session), "idle");
    ASSERT_TEXT(state_of(s, "other:session:desk", &session), "idle");
    wake_stage_free(s);
}

DB_TEST(only_a_person_in_a_named_conversation_opens_one)
{
    struct wake_stage *s = wake_stage_new(t);
    struct session *sessions;
    struct session session;
    struct run_request request = { .agent_id = STR("coach"), .prompt = STR("What now?") };
    size_t n;

    stage_says(s->stage, "Sleep.");
    stage_run_with(s->stage, &request); /* a question, in a thread of its own */
    stage_says(s->stage, "Seen.");
    wake_stage_wake(s, "coach", "r1", "look"); /* nobody sits there */
    wake_stage_settle(s);
    ASSERT_OK(
        session_list(s->stage->domain, s->coach.n, false, 10, &t->arena, &sessions, &n, &t->err));
    ASSERT_EQ(n, 0);

    /* Going on in the thread of that question makes it a conversation. */
    request.thread_id = s->stage->info.thread_id;
    stage_says(s->stage, "Still.");
    stage_run_with(s->stage, &request);
    ASSERT_OK(
        session_list(s->stage->domain, s->coach.n, true, 10, &t->arena, &sessions, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT(str_eq(sessions[0].id, s->stage->info.thread_id));

    /* The same turn sent twice is one word. */
    say(s, "coach", "desk", "1");
    loop_fake_advance(s->stage->loop, MINUTES(5));
    say(s, "coach", "desk", "1");
    ASSERT_TEXT(state_of(s, "coach:session:desk", &session), "open");
    ASSERT_EQ(session.expires_at, session.created_at + TTL);
    wake_stage_free(s);
}

DB_TEST(what_ended_while_the_house_was_off_ends_with_its_start)
{
    struct wake_stage *s = wake_stage_new(t);
    struct session session;
    char name[16];

    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof(name), "talk-%d", i);
        say(s, "coach", name, "1");
    }
    clock_set_wall(&s->stage->clock, now(s) + DAYS(9));
    stage_crash(s->stage);
    wake_stage_settle(s);
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof(name), "talk-%d", i);
        ASSERT_TEXT(state_of(s, arena_printf(&t->arena, "coach:session:%s", name), &session),
                    "idle");
        ASSERT(session.closed_at >= session.expires_at + DAYS(8));
    }
    wake_stage_free(s);
}

DB_TEST(a_database_that_fails_is_asked_again)
{
    struct wake_stage *s = wake_stage_new(t);
    struct session session;

    say(s, "coach", "desk", "1");
    loop_fake_advance(s->stage->loop, MINUTES(1)); /* nobody else has anything to do now */
    s->stage->fault = (struct db_fault){ .at = DB_FAULT_BEGIN, .nth = 1 };
    loop_fake_advance(s->stage->loop, TTL - MINUTES(1));
    ASSERT_EQ(s->stage->fault.fired, 1);
    /* In a shared database others begin transactions as well: there one of them may have failed. */
    if (!db_test_is_postgres(t))
        ASSERT_TEXT(state_of(s, "coach:session:desk", &session), "open");
    loop_fake_advance(s->stage->loop, MINUTES(1));
    ASSERT_TEXT(state_of(s, "coach:session:desk", &session), "idle");
    wake_stage_free(s);
}

DB_TEST(a_person_closes_one_and_a_destroyed_agent_has_none)
{
    struct wake_stage *s = wake_stage_new(t);
    struct session session;

    say(s, "coach", "desk", "1");
    say(s, "coach", "sofa", "1");
    ASSERT_OK(loop_unit_begin(s->stage->loop, s->stage->domain, &t->err));
    ASSERT_EQ(session_close(s->stage->domain, STR("coach:session:desk"), SESSION_BY_PERSON, now(s),
                            &t->err),
              1);
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    loop_fake_tick(s->stage->loop);
    ASSERT_EQ(status_of(s, "coach").sessions_open, 1);
    ASSERT_OK(loop_unit_begin(s->stage->loop, s->stage->domain, &t->err));
    ASSERT_EQ(
        agent_set_destroyed(s->stage->domain, s->stage->change, STR("coach"), now(s), &t->err), 1);
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    loop_fake_advance(s->stage->loop, TTL);
    ASSERT_TEXT(state_of(s, "coach:session:desk", &session), "person");
    ASSERT_TEXT(state_of(s, "coach:session:sofa", &session), "destroyed");
    wake_stage_free(s);
}
