/* Sessions and their end, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/session.h"
#include "db/db.h"
#include "rig.h"

#define MINUTE INT64_C(60000)

static struct agent add_agent(struct test *t, struct rig *rig, const char *id, int64_t ttl_ms)
{
    struct agent agent = {
        .id = id, .kind = "k", .display_name = "Name", .session_ttl_ms = ttl_ms
    };

    ASSERT_OK(agent_add(rig->domain, rig->change, &agent, NOW, &t->err));
    return agent;
}

/* A thread's row. */
static int64_t add_thread(struct test *t, struct rig *rig, const struct agent *agent,
                          const char *id)
{
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(rig->domain),
                         SQL("INSERT INTO threads (id, agent_n, created_at, updated_at)"
                             " VALUES (?, ?, 1, 1) RETURNING n"),
                         &q, &t->err));
    stmt_bind_text(q, id);
    stmt_bind_i64(q, agent->n);
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    return stmt_i64(q, "n");
}

static struct session get(struct test *t, struct rig *rig, const char *id)
{
    struct session session;

    ASSERT_EQ(session_find(rig->domain, str_from(id), &t->arena, &session, &t->err), 1);
    return session;
}

DB_TEST(a_session_lives_as_long_as_somebody_speaks)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach", 10 * MINUTE);
    int64_t thread = add_thread(t, &rig, &agent, "coach:session:s1"), at;
    struct session *due;
    size_t n;

    ASSERT_EQ(sessions_next(rig.domain, &at, &t->err), 0);
    ASSERT_EQ(session_touch(rig.domain, &agent, STR("s1"), thread, NOW, &t->err), 1);
    ASSERT_EQ(session_touch(rig.domain, &agent, STR("s1"), thread, NOW + 9 * MINUTE, &t->err), 0);
    ASSERT_EQ(get(t, &rig, "s1").created_at, NOW);
    ASSERT_EQ(get(t, &rig, "s1").last_at, NOW + 9 * MINUTE);
    ASSERT_EQ(get(t, &rig, "s1").expires_at, NOW + 19 * MINUTE);
    ASSERT_EQ(get(t, &rig, "s1").why, SESSION_OPEN);
    ASSERT_EQ(sessions_next(rig.domain, &at, &t->err), 1);
    ASSERT_EQ(at, NOW + 19 * MINUTE);
    ASSERT_OK(sessions_due(rig.domain, NOW + 19 * MINUTE - 1, 10, &t->arena, &due, &n, &t->err));
    ASSERT_EQ(n, 0);
    ASSERT_OK(sessions_due(rig.domain, NOW + 19 * MINUTE, 10, &t->arena, &due, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_EQ(get(t, &rig, "s1").closed_at, 0);
}

DB_TEST(words_of_one_moment_are_one_write_to_a_session)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach", 10 * MINUTE);
    int64_t thread = add_thread(t, &rig, &agent, "coach:session:s1");

    ASSERT_EQ(session_touch(rig.domain, &agent, STR("s1"), thread, NOW, &t->err), 1);
    ASSERT_EQ(session_touch(rig.domain, &agent, STR("s1"), thread, NOW + 999, &t->err), 0);
    ASSERT_EQ(get(t, &rig, "s1").last_at, NOW);
    ASSERT_EQ(session_touch(rig.domain, &agent, STR("s1"), thread, NOW + 1000, &t->err), 0);
    ASSERT_EQ(get(t, &rig, "s1").last_at, NOW + 1000);
    /* Another time to live holds at once, and so does a clock that was put back. */
    agent.session_ttl_ms = 5 * MINUTE;
    ASSERT_EQ(session_touch(rig.domain, &agent, STR("s1"), thread, NOW + 1001, &t->err), 0);
    ASSERT_EQ(get(t, &rig, "s1").expires_at, NOW + 1001 + 5 * MINUTE);
    ASSERT_EQ(session_touch(rig.domain, &agent, STR("s1"), thread, NOW, &t->err), 0);
    ASSERT_EQ(get(t, &rig, "s1").last_at, NOW);
}

DB_TEST(idle_sessions_are_closed_once_however_late_somebody_looks)
{
    AUTO_RIG rig = rig_open(t);
    struct agent coach = add_agent(t, &rig, "coach", MINUTE);
    struct agent other = add_agent(t, &rig, "other", 5 * MINUTE);
    int64_t first = add_thread(t, &rig, &coach, "a"), second = add_thread(t, &rig, &other, "b"), at;
    struct session *closed;
    size_t n;

    ASSERT_EQ(session_touch(rig.domain, &coach, STR("s1"), first, NOW, &t->err), 1);
    ASSERT_EQ(session_touch(rig.domain, &other, STR("s2"), second, NOW, &t->err), 1);
    ASSERT_OK(sessions_expire(rig.domain, NOW + 2 * MINUTE, 10, &t->arena, &closed, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_STR(closed[0].id, "s1");
    ASSERT_EQ(get(t, &rig, "s1").why, SESSION_IDLE);
    ASSERT_EQ(get(t, &rig, "s1").closed_at, NOW + 2 * MINUTE);
    /* Nine days in a drawer. */
    ASSERT_OK(sessions_expire(rig.domain, NOW + 9 * 24 * 60 * MINUTE, 10, &t->arena, &closed, &n,
                              &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_STR(closed[0].id, "s2");
    ASSERT_EQ(closed[0].why, SESSION_IDLE);
    ASSERT_OK(sessions_expire(rig.domain, NOW + 10 * 24 * 60 * MINUTE, 10, &t->arena, &closed, &n,
                              &t->err));
    ASSERT_EQ(n, 0);
    ASSERT_EQ(sessions_next(rig.domain, &at, &t->err), 0);
}

DB_TEST(a_person_closes_a_session_and_speaks_in_it_again)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach", 0);
    int64_t thread = add_thread(t, &rig, &agent, "a");

    ASSERT_EQ(session_touch(rig.domain, &agent, STR("s1"), thread, NOW, &t->err), 1);
    ASSERT_EQ(get(t, &rig, "s1").expires_at, NOW + AGENT_SESSION_TTL_MS);
    ASSERT_EQ(session_close(rig.domain, STR("s1"), SESSION_BY_PERSON, NOW + 5, &t->err), 1);
    ASSERT_EQ(session_close(rig.domain, STR("s1"), SESSION_IDLE, NOW + 6, &t->err), 0);
    ASSERT_TEXT(session_why_name(get(t, &rig, "s1").why), "person");
    ASSERT_EQ(get(t, &rig, "s1").closed_at, NOW + 5);
    ASSERT_EQ(session_touch(rig.domain, &agent, STR("s1"), thread, NOW + 9, &t->err), 1);
    ASSERT_EQ(get(t, &rig, "s1").closed_at, 0);
    ASSERT_FAILS(session_close(rig.domain, STR("s9"), SESSION_BY_PERSON, NOW, &t->err),
                 ERR_NOT_FOUND);
}

DB_TEST(a_session_belongs_to_one_conversation)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach", 0), other = add_agent(t, &rig, "other", 0);
    int64_t thread = add_thread(t, &rig, &agent, "a"), second = add_thread(t, &rig, &agent, "b");
    char id[SESSION_ID_MAX + 1];

    memset(id, 'x', sizeof(id));
    ASSERT_EQ(session_touch(rig.domain, &agent, STR("s1"), thread, NOW, &t->err), 1);
    ASSERT_FAILS(session_touch(rig.domain, &agent, STR("s1"), second, NOW, &t->err), ERR_CONFLICT);
    ASSERT_FAILS(session_touch(rig.domain, &other, STR("s1"), thread, NOW, &t->err), ERR_CONFLICT);
    ASSERT_FAILS(session_touch(rig.domain, &agent, STR_NONE, thread, NOW, &t->err),
                 ERR_BAD_REQUEST);
    ASSERT_FAILS(session_touch(rig.domain, &agent, STR("\xff"), thread, NOW, &t->err),
                 ERR_BAD_REQUEST);
    ASSERT_FAILS(session_touch(rig.domain, &agent, str_of(id, sizeof(id)), thread, NOW, &t->err),
                 ERR_BAD_REQUEST);
}

DB_TEST(sessions_end_with_their_agent_and_are_listed_by_the_last_word)
{
    AUTO_RIG rig = rig_open(t);
    struct agent agent = add_agent(t, &rig, "coach", 0), other = add_agent(t, &rig, "other", 0);
    int64_t thread = add_thread(t, &rig, &agent, "a"), second = add_thread(t, &rig, &agent, "b");
    int64_t third = add_thread(t, &rig, &other, "c");
    struct session *list;
    size_t n;

    ASSERT_EQ(session_touch(rig.domain, &agent, STR("s1"), thread, NOW, &t->err), 1);
    ASSERT_EQ(session_touch(rig.domain, &agent, STR("s2"), second, NOW + 1, &t->err), 1);
    ASSERT_EQ(session_touch(rig.domain, &other, STR("s3"), third, NOW + 1, &t->err), 1);
    ASSERT_EQ(session_close(rig.domain, STR("s1"), SESSION_BY_PERSON, NOW + 2, &t->err), 1);
    ASSERT_OK(session_list(rig.domain, agent.n, false, 10, &t->arena, &list, &n, &t->err));
    ASSERT_EQ(n, 2);
    ASSERT_STR(list[0].id, "s2");
    ASSERT_OK(session_list(rig.domain, agent.n, true, 10, &t->arena, &list, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_EQ(agent_set_destroyed(rig.domain, rig.change, STR("coach"), NOW + 3, &t->err), 1);
    ASSERT_EQ(get(t, &rig, "s2").why, SESSION_DESTROYED);
    ASSERT_EQ(get(t, &rig, "s1").why, SESSION_BY_PERSON);
    ASSERT_EQ(get(t, &rig, "s3").why, SESSION_OPEN);
}
