/* What doctor is told about wakes and timers, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/db.h"
#include "wake/health.h"
#include "wake/queue.h"

#include "timer_rig.h"

static struct wake_health health_of(struct timer_rig *rig, int64_t now)
{
    struct test *t = rig->t;
    struct wake_health health;

    ASSERT_OK(wake_health(rig->domain, now, &t->arena, &health, &t->err));
    return health;
}

static void queue(struct timer_rig *rig, const char *request, int64_t created_at,
                  int64_t not_before)
{
    struct test *t = rig->t;
    char key[SHA256_TEXT_SIZE];
    struct wake_job job = { .agent_n = 1,
                            .reason = STR("manual"),
                            .reason_id = str_from(request),
                            .priority = 1,
                            .not_before = not_before,
                            .created_at = created_at };

    wake_key_manual("coach", str_from(request), key);
    job.run_key = str_from(key);
    ASSERT_EQ(wake_enqueue(rig->domain, &job, &t->err), 1);
}

static void store(struct timer_rig *rig, struct sql sql)
{
    struct test *t = rig->t;
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(rig->domain), sql, &q, &t->err));
    ASSERT_OK(stmt_run(q, &t->err));
}

DB_TEST(a_house_where_nothing_waits_is_all_zeros)
{
    AUTO_TIMER_RIG rig;
    struct wake_health health;

    timer_rig_open(&rig, t);
    health = health_of(&rig, timer_rig_now(&rig));
    ASSERT_EQ(health.queued + health.due_since + health.flying + health.waiting, 0);
    ASSERT_EQ(health.timers + health.next_timer + health.dead_letters, 0);
    ASSERT_TEXT(health.dead_why, "");
}

DB_TEST(a_wake_is_due_from_its_time_on_and_not_before_it_was_queued)
{
    AUTO_TIMER_RIG rig;
    struct wake_health health;
    int64_t now;

    timer_rig_open(&rig, t);
    now = timer_rig_now(&rig);
    queue(&rig, "later", now - 9000, now + 1);
    health = health_of(&rig, now);
    ASSERT_EQ(health.queued, 1);
    ASSERT_EQ(health.due_since, 0);
    ASSERT_EQ(health.next_queued, now + 1);
    ASSERT_EQ(health_of(&rig, now + 1).due_since, now + 1);
    ASSERT_EQ(health_of(&rig, now + 1).next_queued, 0);
    queue(&rig, "at once", now - 5000, 0);
    queue(&rig, "after a cooldown", now - 8000, now - 3000);
    health = health_of(&rig, now);
    ASSERT_EQ(health.queued, 3);
    ASSERT_EQ(health.due_since, now - 5000);
}

DB_TEST(wakes_under_way_are_those_that_fly_and_those_that_wait)
{
    AUTO_TIMER_RIG rig;
    struct wake_health health;

    timer_rig_open(&rig, t);
    store(&rig, SQL("INSERT INTO wake_runs (n, run_key, agent_n, reason, thread_id, status, flying,"
                    " created_at) VALUES (1, 'a', 1, 'manual', 'x', 'running', 1, 1),"
                    " (2, 'b', 1, 'manual', 'x', 'running', 0, 1),"
                    " (3, 'c', 1, 'manual', 'x', 'running', 0, 1),"
                    " (4, 'd', 1, 'manual', 'x', 'completed', 0, 1)"));
    health = health_of(&rig, timer_rig_now(&rig));
    ASSERT_EQ(health.flying, 1);
    ASSERT_EQ(health.waiting, 2);
}

DB_TEST(timers_that_will_fire_are_counted_and_the_first_is_named)
{
    AUTO_TIMER_RIG rig;
    struct wake_health health;
    int64_t now;

    timer_rig_open(&rig, t);
    now = timer_rig_now(&rig);
    timer_rig_add(&rig, (struct timer){ .interval_ms = HOURS(2) });
    timer_rig_add(&rig, (struct timer){ .interval_ms = HOURS(1) });
    timer_rig_add(&rig, (struct timer){ .interval_ms = HOURS(3) });
    store(&rig, SQL("UPDATE agent_timers SET active = 0 WHERE interval_ms = 7200000"));
    health = health_of(&rig, now);
    ASSERT_EQ(health.timers, 2);
    ASSERT_EQ(health.next_timer, now + HOURS(1));
    ASSERT_EQ(health.next_alarm, 0);
    store(&rig, SQL("INSERT INTO agent_links (id, type, from_id, to_id, metadata, created_at)"
                    " SELECT 'l', 'timer_thread', id, 'a:session:1', '{}', 1 FROM agent_timers"
                    " WHERE interval_ms = 10800000"));
    ASSERT_EQ(health_of(&rig, now).next_alarm, now + HOURS(3));
    store(&rig, SQL("UPDATE agent_timers SET next_run_at = NULL"));
    ASSERT_EQ(health_of(&rig, now).timers, 0);
    ASSERT_EQ(health_of(&rig, now).next_timer, 0);
}

DB_TEST(what_could_not_be_read_is_counted_with_the_newest_reason)
{
    AUTO_TIMER_RIG rig;
    struct wake_health health;

    timer_rig_open(&rig, t);
    store(&rig, SQL("INSERT INTO dead_letters (source, ref, error_code, error_message, created_at)"
                    " VALUES ('journal', '1', 'integrity_failed', 'first', 1)"));
    store(&rig, SQL("INSERT INTO dead_letters (source, ref, error_code, error_message, created_at)"
                    " VALUES ('journal', '2', 'missing_change_provenance', 'no units', 2)"));
    health = health_of(&rig, timer_rig_now(&rig));
    ASSERT_EQ(health.dead_letters, 2);
    ASSERT_TEXT(health.dead_why, "no units");
}

DB_TEST(a_database_that_fails_is_said_so)
{
    AUTO_TIMER_RIG rig;
    struct wake_health health = { .queued = 7 };

    timer_rig_open(&rig, t);
    store(&rig, SQL("ALTER TABLE dead_letters RENAME TO elsewhere"));
    ASSERT(wake_health(rig.domain, 0, &t->arena, &health, &t->err) < 0);
    ASSERT_CONTAINS(err_message(&t->err, 0), "look at wakes");
    ASSERT_EQ(health.queued, 7);
}
