/* Threads, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/db.h"
#include "rig.h"

DB_TEST(a_thread_is_made_once_and_found_again)
{
    AUTO_RIG rig = rig_open(t);
    struct thread again, found, by_n;

    ASSERT(rig.thread.n > 0);
    ASSERT_STR(rig.thread.id, "planner:session:1");
    ASSERT_EQ(rig.thread.agent_n, rig.agent.n);
    ASSERT_EQ(rig.thread.message_count, 0);
    ASSERT_OK(thread_open(rig.domain, STR("planner:session:1"), rig.agent.n, NOW + 1, &t->arena,
                          &again, &t->err));
    ASSERT_EQ(again.n, rig.thread.n);
    ASSERT_EQ(thread_find(rig.domain, STR("planner:session:1"), &t->arena, &found, &t->err), 1);
    ASSERT_EQ(found.n, rig.thread.n);
    ASSERT_OK(thread_get_n(rig.domain, rig.thread.n, &t->arena, &by_n, &t->err));
    ASSERT_STR(by_n.id, "planner:session:1");
}

DB_TEST(a_thread_that_is_not_there_is_said_so)
{
    AUTO_RIG rig = rig_open(t);
    struct thread thread;

    ASSERT_EQ(thread_find(rig.domain, STR("planner:session:2"), &t->arena, &thread, &t->err), 0);
    ASSERT_FAILS(thread_get_n(rig.domain, 99999, &t->arena, &thread, &t->err),
                 ERR_INTEGRITY_FAILED);
}

DB_TEST(a_thread_of_one_agent_is_not_opened_for_another)
{
    AUTO_RIG rig = rig_open(t);
    struct thread thread;

    ASSERT_FAILS(thread_open(rig.domain, STR("planner:session:1"), rig.agent.n + 1, NOW, &t->arena,
                             &thread, &t->err),
                 ERR_CONFLICT);
}

DB_TEST(what_appending_moved_is_read_from_the_messages_themselves)
{
    AUTO_RIG rig = rig_open(t);
    struct thread stored;
    int64_t n = 0;

    for (int i = 0; i < 3; i++)
        n = rig_append(
            &rig, (struct message){ .kind = MESSAGE_USER, .content = STR("{\"text\":\"hello\"}") });
    ASSERT_OK(thread_get_n(rig.domain, rig.thread.n, &t->arena, &stored, &t->err));
    ASSERT_EQ(stored.message_count, 3);
    ASSERT_EQ(stored.last_message_n, n);
    ASSERT_EQ(stored.last_seq, 0);
    ASSERT_EQ(stored.tokens_total, rig.thread.tokens_total);
    ASSERT(stored.tokens_total > 0);
}

DB_TEST(saving_says_when_and_where_it_stands)
{
    AUTO_RIG rig = rig_open(t);
    AUTO(stmt) q = NULL;
    struct thread stored;
    int64_t n = rig_append(
        &rig, (struct message){ .kind = MESSAGE_USER, .content = STR("{\"text\":\"hello\"}") });

    rig.thread.last_seq = 17;
    ASSERT_OK(thread_save(rig.domain, &rig.thread, NOW + 9, &t->err));
    ASSERT_OK(thread_get_n(rig.domain, rig.thread.n, &t->arena, &stored, &t->err));
    ASSERT_EQ(stored.updated_at, NOW + 9);
    ASSERT_EQ(stored.last_seq, 0); /* there is no such event */
    ASSERT_OK(db_prepare(domain_db(rig.domain),
                         SQL("SELECT last_seq, last_message_n, message_count FROM threads"), &q,
                         &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT_EQ(stmt_i64(q, "last_seq"), 17);
    ASSERT_EQ(stmt_i64(q, "last_message_n"), n);
    ASSERT_EQ(stmt_i64(q, "message_count"), 1);
}

DB_TEST(a_thread_without_messages_is_saved_as_such)
{
    AUTO_RIG rig = rig_open(t);
    struct thread stored;

    ASSERT_OK(thread_save(rig.domain, &rig.thread, NOW, &t->err));
    ASSERT_OK(thread_get_n(rig.domain, rig.thread.n, &t->arena, &stored, &t->err));
    ASSERT_EQ(stored.last_message_n, 0);
    ASSERT_EQ(stored.message_count, 0);
}
