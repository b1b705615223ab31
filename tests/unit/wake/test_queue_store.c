/* The queue's rows, on both engines.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/agent.h"
#include "base/buf.h"
#include "db/db.h"
#include "db/migrations.h"
#include "harness/db_test.h"
#include "wake/queue_int.h"

#define NOW INT64_C(1700000000000)

struct rig {
    struct domain *domain;
    struct change *change;
    struct agent coach, planner;
};

static void add(struct test *t, struct rig *rig, const char *id, struct agent *ret_agent)
{
    *ret_agent = (struct agent){ .id = id, .kind = "coach", .display_name = id };
    ASSERT_OK(agent_add(rig->domain, rig->change, ret_agent, NOW, &t->err));
}

static void rig_open(struct test *t, struct rig *rig)
{
    rig->domain = db_test_open(t, migrations_agent, migrations_agent_count);
    ASSERT_OK(change_open(rig->domain, NULL, NULL, &rig->change, &t->err));
    add(t, rig, "coach", &rig->coach);
    add(t, rig, "planner", &rig->planner);
}

static void rig_close(struct rig *rig)
{
    change_free(rig->change);
    domain_free(rig->domain);
}

static int queue(struct test *t, struct rig *rig, const struct agent *agent, const char *request)
{
    char key[SHA256_TEXT_SIZE];
    struct wake_job job = { .agent_n = agent->n,
                            .reason = STR("manual"),
                            .reason_id = str_from(request),
                            .priority = 1,
                            .created_at = NOW };

    wake_key_manual(agent->id, str_from(request), key);
    job.run_key = str_from(key);
    return wake_enqueue(rig->domain, &job, &t->err);
}

static struct str key_of(struct test *t, const char *agent_id, const char *request)
{
    char key[SHA256_TEXT_SIZE];

    wake_key_manual(agent_id, str_from(request), key);
    return str_from(arena_text(&t->arena, key));
}

/* As a waker does when it takes one. */
static void end(struct test *t, struct rig *rig, struct str key, const char *status,
                const char *into)
{
    AUTO(stmt) in = NULL;
    AUTO(stmt) out = NULL;

    ASSERT_OK(
        db_prepare(domain_db(rig->domain),
                   SQL("INSERT INTO wake_runs (n, run_key, agent_n, reason, reason_id, thread_id,"
                       " payload, status, why, coalesced_into, created_at, ended_at)"
                       " SELECT n, run_key, agent_n, reason, reason_id, thread_id, payload, ?,"
                       " 'because', ?, created_at, created_at FROM wake_queue WHERE run_key = ?"),
                   &in, &t->err));
    stmt_bind_text(in, status);
    stmt_bind_text(in, into);
    stmt_bind_str(in, key);
    ASSERT_OK(stmt_run(in, &t->err));
    ASSERT_OK(db_prepare(domain_db(rig->domain), SQL("DELETE FROM wake_queue WHERE run_key = ?"),
                         &out, &t->err));
    stmt_bind_str(out, key);
    ASSERT_OK(stmt_run(out, &t->err));
}

static size_t list(struct test *t, struct rig *rig, struct wake_filter filter,
                   struct wake_job **ret_jobs)
{
    size_t n = 0;

    ASSERT_OK(wake_list(rig->domain, &filter, &t->arena, ret_jobs, &n, &t->err));
    return n;
}

DB_TEST(a_wake_is_queued_once)
{
    struct rig rig;
    struct wake_job job;

    rig_open(t, &rig);
    ASSERT_EQ(queue(t, &rig, &rig.coach, "a"), 1);
    ASSERT_EQ(queue(t, &rig, &rig.coach, "a"), 0);
    ASSERT_OK(wake_get(rig.domain, key_of(t, "coach", "a"), &t->arena, &job, &t->err));
    ASSERT_EQ(job.status, WAKE_QUEUED);
    ASSERT_STR(job.agent_id, "coach");
    ASSERT_STR(job.payload, "{}");
    ASSERT_STR(job.reason_id, "a");
    ASSERT_EQ(job.priority, 1);
    ASSERT_EQ(job.run_id.n, 0);
    ASSERT_STR(job.thread_id, arena_printf(&t->arena, "coach:run:%s", job.run_key.p));
    rig_close(&rig);
}

DB_TEST(a_wake_that_ended_is_not_queued_again)
{
    struct rig rig;
    struct str key = key_of(t, "coach", "a");
    struct wake_job job;
    int64_t n;

    rig_open(t, &rig);
    ASSERT_EQ(queue(t, &rig, &rig.coach, "a"), 1);
    ASSERT_OK(wake_get(rig.domain, key, &t->arena, &job, &t->err));
    n = job.n;
    end(t, &rig, key, "skipped_noop", NULL);
    ASSERT_EQ(queue(t, &rig, &rig.coach, "a"), 0);
    ASSERT_OK(wake_get(rig.domain, key, &t->arena, &job, &t->err));
    ASSERT_EQ(job.status, WAKE_SKIPPED_NOOP);
    ASSERT_STR(job.why, "because");
    ASSERT_EQ(job.n, n);
    rig_close(&rig);
}

/* The number goes along, so it must not be given to another wake when the queue was empty. */
DB_TEST(numbers_are_not_given_twice)
{
    struct rig rig;
    struct wake_job first, second;

    rig_open(t, &rig);
    ASSERT_EQ(queue(t, &rig, &rig.coach, "a"), 1);
    ASSERT_OK(wake_get(rig.domain, key_of(t, "coach", "a"), &t->arena, &first, &t->err));
    end(t, &rig, key_of(t, "coach", "a"), "completed", NULL);
    ASSERT_EQ(queue(t, &rig, &rig.coach, "b"), 1);
    ASSERT_OK(wake_get(rig.domain, key_of(t, "coach", "b"), &t->arena, &second, &t->err));
    ASSERT(second.n > first.n);
    rig_close(&rig);
}

DB_TEST(a_destroyed_agent_is_not_woken)
{
    struct rig rig;

    rig_open(t, &rig);
    ASSERT_EQ(agent_set_destroyed(rig.domain, rig.change, STR("coach"), NOW, &t->err), 1);
    ASSERT_EQ(queue(t, &rig, &rig.coach, "a"), -1);
    ASSERT_EQ(t->err.code, ERR_AGENT_DESTROYED);
    err_reset(&t->err);
    ASSERT_EQ(queue(t, &rig, &rig.planner, "a"), 1);
    rig_close(&rig);
}

DB_TEST(a_wake_with_too_much_in_it_is_refused)
{
    struct rig rig;
    char *text = arena_alloc(&t->arena, WAKE_PAYLOAD_MAX + 1, 1);
    struct wake_job job = {
        .run_key = STR("k"), .reason = STR("manual"), .created_at = NOW, .payload = { text, 0 }
    };

    rig_open(t, &rig);
    memset(text, 'x', WAKE_PAYLOAD_MAX + 1);
    job.payload.n = WAKE_PAYLOAD_MAX + 1;
    job.agent_n = rig.coach.n;
    ASSERT_EQ(wake_enqueue(rig.domain, &job, &t->err), -1);
    ASSERT_EQ(t->err.code, ERR_TOO_LARGE);
    err_reset(&t->err);
    job.payload.n = WAKE_PAYLOAD_MAX;
    ASSERT_EQ(wake_enqueue(rig.domain, &job, &t->err), 1);
    rig_close(&rig);
}

DB_TEST(queued_and_ended_wakes_are_listed_together_newest_first)
{
    static const char *const names[] = { "a", "b", "c", "d", "e" };
    struct rig rig;
    struct wake_job *jobs;
    AUTO_BUF order = BUF_INIT(100);

    rig_open(t, &rig);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        ASSERT_EQ(queue(t, &rig, i == 1 ? &rig.planner : &rig.coach, names[i]), 1);
    end(t, &rig, key_of(t, "coach", "a"), "completed", NULL);
    end(t, &rig, key_of(t, "coach", "d"), "skipped_noop", NULL);
    ASSERT_EQ(list(t, &rig, (struct wake_filter){ 0 }, &jobs), 5u);
    for (size_t i = 0; i < 5; i++)
        buf_add(&order, jobs[i].reason_id.p, jobs[i].reason_id.n);
    ASSERT_TEXT(buf_text(&order), "edcba");
    /* A page at a time. */
    ASSERT_EQ(list(t, &rig, (struct wake_filter){ .limit = 2 }, &jobs), 2u);
    ASSERT_STR(jobs[1].reason_id, "d");
    ASSERT_EQ(list(t, &rig, (struct wake_filter){ .limit = 2, .before_n = jobs[1].n }, &jobs), 2u);
    ASSERT_STR(jobs[0].reason_id, "c");
    ASSERT_STR(jobs[1].reason_id, "b");
    rig_close(&rig);
}

DB_TEST(lists_are_of_one_agent_one_status_or_one_cause)
{
    struct rig rig;
    struct wake_job *jobs;

    rig_open(t, &rig);
    ASSERT_EQ(queue(t, &rig, &rig.coach, "a"), 1);
    ASSERT_EQ(queue(t, &rig, &rig.coach, "b"), 1);
    ASSERT_EQ(queue(t, &rig, &rig.planner, "a"), 1);
    ASSERT_EQ(queue(t, &rig, &rig.planner, "c"), 1);
    end(t, &rig, key_of(t, "coach", "a"), "coalesced", "k");
    end(t, &rig, key_of(t, "planner", "c"), "completed", NULL);
    ASSERT_EQ(list(t, &rig, (struct wake_filter){ .agent_n = rig.coach.n }, &jobs), 2u);
    ASSERT_EQ(list(t, &rig, (struct wake_filter){ .status = WAKE_QUEUED }, &jobs), 2u);
    ASSERT_EQ(list(t, &rig, (struct wake_filter){ .status = WAKE_COALESCED }, &jobs), 1u);
    ASSERT_STR(jobs[0].coalesced_into, "k");
    ASSERT_EQ(list(t, &rig, (struct wake_filter){ .reason_id = STR("a") }, &jobs), 2u);
    ASSERT_EQ(list(t, &rig,
                   (struct wake_filter){
                       .reason_id = STR("a"), .agent_n = rig.planner.n, .status = WAKE_QUEUED },
                   &jobs),
              1u);
    ASSERT_STR(jobs[0].agent_id, "planner");
    ASSERT_EQ(list(t, &rig, (struct wake_filter){ .status = WAKE_FAILED_TERMINAL }, &jobs), 0u);
    rig_close(&rig);
}

/* Whatever is asked for, rows come by an index in their order: nothing is sorted, and nothing
 * that has another agent, cause or status is looked at. */
TEST(every_list_of_wakes_goes_by_an_index)
{
    static const struct {
        struct wake_filter filter;
        bool queued;
        const char *index;
    } cases[] = {
        { { 0 }, true, "USING INTEGER PRIMARY KEY (rowid<?)" },
        { { .agent_n = 1 }, true, "USING INDEX idx_wake_queue_agent (agent_n=? AND n<?)" },
        { { 0 }, false, "USING INTEGER PRIMARY KEY (rowid<?)" },
        { { .agent_n = 1 }, false, "USING INDEX idx_wake_runs_agent (agent_n=? AND n<?)" },
        { { .status = WAKE_COMPLETED },
          false,
          "USING INDEX idx_wake_runs_status (status=? AND n<?)" },
        { { .reason_id = { "s", 1 } },
          false,
          "USING INDEX idx_wake_runs_reason (reason_id=? AND n<?)" },
        { { .reason_id = { "s", 1 }, .agent_n = 1, .status = WAKE_COMPLETED },
          false,
          "USING INDEX idx_wake_runs_reason (reason_id=? AND n<?)" },
    };
    struct rig rig;

    rig_open(t, &rig);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *text = wake_list_text(&cases[i].filter, cases[i].queued);
        AUTO_BUF plan = BUF_INIT(4096);
        AUTO(stmt) q = NULL;

        ASSERT_OK(db_prepare(domain_db(rig.domain),
                             (struct sql){ arena_printf(&t->arena, "EXPLAIN QUERY PLAN %s", text) },
                             &q, &t->err));
        for (const char *at = strchr(text, '?'); at; at = strchr(at + 1, '?'))
            stmt_bind_i64(q, 1);
        while (stmt_step(q, &t->err) == 1)
            buf_printf(&plan, "%.*s\n", STR_ARG(stmt_str(q, "detail")));
        ASSERT_CONTAINS(buf_text(&plan), cases[i].index);
        ASSERT(strstr(buf_text(&plan), "TEMP B-TREE") == NULL);
        ASSERT(strstr(buf_text(&plan), "SCAN") == NULL);
    }
    rig_close(&rig);
}

DB_TEST(a_list_by_several_filters_has_what_fits_them_all)
{
    struct rig rig;
    struct wake_job *jobs;

    rig_open(t, &rig);
    for (int i = 0; i < 6; i++) {
        const char *name = arena_printf(&t->arena, "r%d", i);
        const struct agent *agent = i % 2 ? &rig.planner : &rig.coach;

        ASSERT_EQ(queue(t, &rig, agent, name), 1);
        end(t, &rig, key_of(t, agent->id, name), i < 3 ? "completed" : "skipped_noop", NULL);
    }
    ASSERT_EQ(list(t, &rig,
                   (struct wake_filter){ .agent_n = rig.coach.n, .status = WAKE_COMPLETED }, &jobs),
              2u);
    ASSERT_STR(jobs[0].reason_id, "r2");
    ASSERT_STR(jobs[1].reason_id, "r0");
    ASSERT_EQ(list(t, &rig,
                   (struct wake_filter){ .status = WAKE_SKIPPED_NOOP, .before_n = jobs[0].n + 3 },
                   &jobs),
              2u);
    ASSERT_STR(jobs[0].reason_id, "r4");
    ASSERT_EQ(list(t, &rig,
                   (struct wake_filter){ .reason_id = STR("r4"), .status = WAKE_COMPLETED }, &jobs),
              0u);
    ASSERT_EQ(list(t, &rig,
                   (struct wake_filter){ .reason_id = STR("r4"), .agent_n = rig.planner.n }, &jobs),
              0u);
    ASSERT_EQ(list(t, &rig, (struct wake_filter){ .reason_id = STR("r4"), .agent_n = rig.coach.n },
                   &jobs),
              1u);
    rig_close(&rig);
}

DB_TEST(wakes_are_found_by_the_beginning_of_their_key)
{
    struct rig rig;
    struct str key = key_of(t, "coach", "a");
    struct wake_job job;

    rig_open(t, &rig);
    ASSERT_EQ(queue(t, &rig, &rig.coach, "a"), 1);
    ASSERT_OK(wake_get(rig.domain, str_take(key, 6), &t->arena, &job, &t->err));
    ASSERT(str_eq(job.run_key, key));
    ASSERT_EQ(wake_get(rig.domain, STR("zzzz"), &t->arena, &job, &t->err), -1);
    ASSERT_EQ(t->err.code, ERR_NOT_FOUND);
    err_reset(&t->err);
    ASSERT_EQ(wake_get(rig.domain, str_take(key, 3), &t->arena, &job, &t->err), -1);
    ASSERT_EQ(t->err.code, ERR_BAD_REQUEST);
    rig_close(&rig);
}

TEST(statuses_have_names_and_names_have_statuses)
{
    for (int s = WAKE_QUEUED; s <= WAKE_FAILED_TERMINAL; s++)
        ASSERT_EQ(wake_status_of(str_from(wake_status_name((enum wake_status)s))), s);
    ASSERT_EQ(wake_status_of(STR("sleeping")), WAKE_STATUS_NONE);
    ASSERT_EQ(wake_status_of(STR("")), WAKE_STATUS_NONE);
}
