/* Taking wakes from the queue and ending them: the order, the bounds, and what is left.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/state.h"
#include "db/db.h"
#include "db/migrations.h"
#include "harness/db_test.h"
#include "wake/claim_int.h"

#define NOW INT64_C(1700000000000)

struct rig {
    struct domain *domain;
    struct change *change;
    struct agent coach, planner;
};

static void add_agent(struct test *t, struct rig *rig, const char *id, struct agent *ret_agent)
{
    *ret_agent = (struct agent){ .id = id, .kind = "coach", .display_name = id };
    ASSERT_OK(agent_add(rig->domain, rig->change, ret_agent, NOW, &t->err));
}

static void rig_open(struct test *t, struct rig *rig)
{
    rig->domain = db_test_open(t, migrations_agent, migrations_agent_count);
    ASSERT_OK(change_open(rig->domain, NULL, NULL, &rig->change, &t->err));
    add_agent(t, rig, "coach", &rig->coach);
    add_agent(t, rig, "planner", &rig->planner);
    ASSERT_OK(domain_begin(rig->domain, &t->err));
}

static void rig_close(struct test *t, struct rig *rig)
{
    ASSERT_OK(domain_commit(rig->domain, &t->err));
    change_free(rig->change);
    domain_free(rig->domain);
}

static void queue(struct test *t, struct rig *rig, const struct agent *agent, const char *key,
                  int priority, int64_t not_before)
{
    const struct wake_job job = { .run_key = str_from(key),
                                  .agent_n = agent->n,
                                  .reason = STR("manual"),
                                  .reason_id = STR("r"),
                                  .priority = priority,
                                  .not_before = not_before,
                                  .created_at = NOW };

    ASSERT_EQ(wake_enqueue(rig->domain, &job, &t->err), 1);
}

static const char *due(struct test *t, struct rig *rig, int64_t now)
{
    AUTO_BUF keys = BUF_INIT(4096);
    struct claim *claims;
    size_t n;

    ASSERT_OK(claim_due(rig->domain, now, false, &t->arena, &claims, &n, &t->err));
    for (size_t i = 0; i < n; i++)
        buf_printf(&keys, "%s%.*s", i ? " " : "", STR_ARG(claims[i].job.run_key));
    return arena_text(&t->arena, buf_text(&keys));
}

static struct wake_job job_of(struct test *t, struct rig *rig, const char *key)
{
    struct wake_job job;

    ASSERT_EQ(wake_find(rig->domain, str_from(key), &t->arena, &job, &t->err), 1);
    return job;
}

/* ---- who is woken ---- */

DB_TEST(an_interactive_agent_is_woken_by_people_and_its_own_alarms)
{
    static const struct {
        const char *mode;
        int priority;
        const char *thread;
        enum claim_verdict verdict;
    } cases[] = {
        { "interactive", 1, "", CLAIM_ENDS },
        { "interactive", 1, "coach:run:key", CLAIM_ENDS },
        { "interactive", 1, "coach:session:1", CLAIM_RUNS },
        { "interactive", 0, "", CLAIM_RUNS },
        { "hybrid", 1, "", CLAIM_RUNS },
        { "autonomous", 1, "", CLAIM_RUNS },
    };
    struct rig rig;

    rig_open(t, &rig);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct agent to = { .id = "coach", .mode = cases[i].mode };
        struct wake_job job = { .run_key = STR("key"),
                                .agent_n = rig.coach.n,
                                .reason = STR("timer"),
                                .reason_id = STR("t"),
                                .thread_id = str_from(cases[i].thread),
                                .priority = cases[i].priority,
                                .created_at = NOW };
        struct claim_judged judged;
        struct claim *claims;
        struct claim_end end = { .status = WAKE_SKIPPED_NOOP, .why = "done with" };
        size_t n;

        ASSERT(agent_change(rig.domain, rig.change, &to, AGENT_MODE, NOW, &t->err) >= 0);
        job.run_key = str_from(arena_printf(&t->arena, "key%zu", i));
        if (str_ends(job.thread_id, STR(":key")))
            job.thread_id =
                str_from(arena_printf(&t->arena, "coach:run:%.*s", STR_ARG(job.run_key)));
        ASSERT_EQ(wake_enqueue(rig.domain, &job, &t->err), 1);
        ASSERT_OK(claim_due(rig.domain, NOW, false, &t->arena, &claims, &n, &t->err));
        ASSERT_EQ(n, 1u);
        judged = claim_judge_agent(&claims[0], NULL, 0, NOW);
        ASSERT_EQ(judged.verdict, cases[i].verdict);
        if (judged.verdict == CLAIM_ENDS) {
            ASSERT_EQ(judged.status, WAKE_SKIPPED_SLEEPING);
            ASSERT_TEXT(judged.why, "the agent is interactive: only a person wakes it");
        }
        end.n = claims[0].job.n;
        ASSERT_OK(claim_end_all(rig.domain, &end, 1, NOW, &t->err));
    }
    rig_close(t, &rig);
}

TEST(an_agent_rests_after_a_run_unless_somebody_waits_or_reads)
{
    static const struct {
        const char *thread;
        int priority;
        int64_t failures, last, cooldown, until; /* 0: it runs */
    } cases[] = {
        { "", 1, 0, NOW - 400, 1000, NOW + 600 },
        { "", 1, 0, NOW - 1000, 1000, 0 },
        { "", 1, 0, NOW - 400, 0, 0 },
        { "", 1, 0, 0, 1000, 0 },
        { "", 0, 0, NOW - 400, 1000, 0 },
        { "coach:session:1", 1, 0, NOW - 400, 1000, 0 },
        { "", 1, 0, NOW + 86400000, 1000, 0 }, /* the clock was set back */
        { "", 1, 1, NOW + 86400000, 1000, 0 },
        { "", 1, 1, NOW - 400, 1000, -1 }, /* the longer of both */
        { "coach:session:1", 1, 1, NOW - 400, 1000, -1 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct claim claim = { .job = { .run_key = STR("key"),
                                              .thread_id = str_from(cases[i].thread),
                                              .priority = cases[i].priority },
                                     .agent = { .lifecycle = AGENT_ACTIVE,
                                                .failures = cases[i].failures,
                                                .last_wake_at = cases[i].last } };
        struct claim_judged judged = claim_judge_agent(&claim, NULL, cases[i].cooldown, NOW);
        int64_t until = cases[i].until == -1 ? cases[i].last + agent_backoff_ms(1) : cases[i].until;

        ASSERT_EQ(judged.verdict, until ? CLAIM_LATER : CLAIM_RUNS);
        ASSERT_EQ(judged.until, until);
    }
}

/* ---- the order ---- */

DB_TEST(what_a_person_waits_for_is_first_then_what_was_due_first)
{
    struct rig rig;
    struct claim *claims;
    int64_t at;
    size_t n;

    rig_open(t, &rig);
    queue(t, &rig, &rig.coach, "soon", 1, NOW - 1);
    queue(t, &rig, &rig.coach, "at-once", 1, 0);
    queue(t, &rig, &rig.planner, "person", 0, 0);
    queue(t, &rig, &rig.coach, "later", 1, NOW + 5);
    queue(t, &rig, &rig.planner, "at-once-too", 1, 0);
    queue(t, &rig, &rig.planner, "last", 1, NOW);
    queue(t, &rig, &rig.coach, "person-too", 0, 0);
    ASSERT_TEXT(due(t, &rig, NOW), "person person-too at-once at-once-too soon last");
    ASSERT_OK(claim_due(rig.domain, NOW, true, &t->arena, &claims, &n, &t->err));
    ASSERT_EQ(n, 1u);
    ASSERT_STR(claims[0].job.run_key, "person");
    ASSERT_EQ(claims[0].job.not_before, 0); /* where it stands is nobody's business */
    ASSERT(claim_by_person(&claims[0].job));
    ASSERT_OK(claim_next(rig.domain, NOW, &at, &t->err));
    ASSERT_EQ(at, NOW + 5);
    ASSERT_OK(claim_next(rig.domain, NOW + 5, &at, &t->err));
    ASSERT_EQ(at, 0);
    rig_close(t, &rig);
}

DB_TEST(what_waited_for_a_run_is_due_again_whatever_the_clock_says)
{
    struct rig rig;
    int64_t at;

    rig_open(t, &rig);
    queue(t, &rig, &rig.coach, "a", 1, 0);
    queue(t, &rig, &rig.coach, "p", 0, 0);
    queue(t, &rig, &rig.coach, "later", 1, NOW + 9);
    queue(t, &rig, &rig.planner, "b", 1, 0);
    ASSERT_OK(claim_park(rig.domain, rig.coach.n, NOW, &t->err));
    ASSERT_TEXT(due(t, &rig, NOW), "b");
    ASSERT_EQ(job_of(t, &rig, "a").not_before, 0);
    ASSERT_STR(job_of(t, &rig, "a").why, "the agent is awake; this follows when its run has ended");
    ASSERT_OK(claim_next(rig.domain, NOW, &at, &t->err));
    ASSERT_EQ(at, NOW + 9);
    ASSERT_OK(claim_unpark(rig.domain, rig.coach.n, &t->err));
    ASSERT_TEXT(due(t, &rig, NOW - 86400000), "p a b");
    /* Those whose flight ended elsewhere. */
    ASSERT_OK(claim_park(rig.domain, rig.coach.n, NOW, &t->err));
    ASSERT_EQ(claim_unpark_lost(rig.domain, &t->err), 1);
    ASSERT_TEXT(due(t, &rig, NOW - 86400000), "p a b");
    ASSERT_EQ(claim_unpark_lost(rig.domain, &t->err), 0);
    rig_close(t, &rig);
}

DB_TEST(a_pause_delays_what_nobody_waits_for)
{
    struct rig rig;

    rig_open(t, &rig);
    queue(t, &rig, &rig.coach, "a", 1, 0);
    queue(t, &rig, &rig.coach, "p", 0, 0);
    queue(t, &rig, &rig.coach, "far", 1, NOW + 1000);
    ASSERT_TEXT(wake_held_name(job_of(t, &rig, "far").held), "");
    ASSERT_OK(claim_delay(rig.domain, rig.coach.n, NOW + 10, WAKE_HELD_REST, NOW, &t->err));
    ASSERT_EQ(job_of(t, &rig, "a").held, WAKE_HELD_REST);
    ASSERT_STR(job_of(t, &rig, "a").why, "the agent rests after its last run");
    ASSERT_EQ(job_of(t, &rig, "p").held, WAKE_HELD_NONE);
    ASSERT_TEXT(due(t, &rig, NOW), "p");
    ASSERT_TEXT(due(t, &rig, NOW + 10), "p a");
    ASSERT_EQ(job_of(t, &rig, "far").not_before, NOW + 1000);
    rig_close(t, &rig);
}

/* ---- bounds ---- */

DB_TEST(one_look_takes_so_many_bytes_and_no_more)
{
    enum { WAKES = 60, BYTES = 200 * KIB };
    struct rig rig;
    char *text = arena_alloc(&t->arena, BYTES, 1);
    struct claim *claims;
    struct wake_job *jobs;
    size_t n, of_agent;
    bool more;

    rig_open(t, &rig);
    memset(text, ' ', BYTES);
    memcpy(text, "{}", 2);
    for (int i = 0; i < WAKES; i++) {
        const struct wake_job job = { .run_key = str_from(arena_printf(&t->arena, "k%02d", i)),
                                      .agent_n = rig.coach.n,
                                      .reason = STR("manual"),
                                      .payload = str_of(text, BYTES),
                                      .priority = 1,
                                      .created_at = NOW };

        ASSERT_EQ(wake_enqueue(rig.domain, &job, &t->err), 1);
    }
    ASSERT_OK(claim_due(rig.domain, NOW, false, &t->arena, &claims, &n, &t->err));
    ASSERT(n > 1 && (n - 1) * BYTES <= CLAIM_BYTES_MAX && n * BYTES > CLAIM_BYTES_MAX);
    ASSERT_STR(claims[0].job.run_key, "k00");
    ASSERT_OK(
        claim_of_agent(rig.domain, rig.coach.n, 0, &t->arena, &jobs, &of_agent, &more, &t->err));
    ASSERT_EQ(of_agent, n);
    ASSERT(more);
    ASSERT_OK(
        claim_of_agent(rig.domain, rig.planner.n, 0, &t->arena, &jobs, &of_agent, &more, &t->err));
    ASSERT_EQ(of_agent, 0u);
    ASSERT(!more);
    rig_close(t, &rig);
}

DB_TEST(one_look_takes_so_many_wakes_and_no_more)
{
    struct rig rig;
    struct claim *claims;
    struct wake_job *jobs;
    size_t n;
    bool more;

    rig_open(t, &rig);
    for (int i = 0; i < CLAIM_MAX; i++)
        queue(t, &rig, &rig.coach, arena_printf(&t->arena, "k%03d", i), 1, 0);
    ASSERT_OK(claim_of_agent(rig.domain, rig.coach.n, 0, &t->arena, &jobs, &n, &more, &t->err));
    ASSERT_EQ(n, (size_t)CLAIM_MAX);
    ASSERT(!more);
    queue(t, &rig, &rig.coach, "one-more", 1, 0);
    ASSERT_OK(claim_of_agent(rig.domain, rig.coach.n, 0, &t->arena, &jobs, &n, &more, &t->err));
    ASSERT_EQ(n, (size_t)CLAIM_MAX);
    ASSERT(more);
    ASSERT_OK(claim_due(rig.domain, NOW, false, &t->arena, &claims, &n, &t->err));
    ASSERT_EQ(n, (size_t)CLAIM_MAX);
    ASSERT_STR(claims[CLAIM_MAX - 1].job.run_key, "k499");
    rig_close(t, &rig);
}

/* ---- ends ---- */

DB_TEST(wakes_that_end_together_end_each_in_its_own_way)
{
    static const struct {
        const char *key;
        enum wake_status status;
        const char *why, *into, *code;
    } cases[] = {
        { "a", WAKE_SKIPPED_NOOP, "seen", "", NULL },
        { "b", WAKE_SKIPPED_PAUSED, "paused", "", NULL },
        { "c", WAKE_SKIPPED_NOOP, "seen", "", NULL },
        { "d", WAKE_COALESCED, "went along", "a", NULL },
        { "e", WAKE_COALESCED, "went along", "b", NULL },
        { "f", WAKE_FAILED_TERMINAL, "failed", "", "bad_request" },
        { "g", WAKE_FAILED_TERMINAL, "failed", "", "internal" },
        { "h", WAKE_SKIPPED_NOOP, "gone", "", NULL },
        { "i", WAKE_COALESCED, "went along", "a", NULL },
    };
    struct claim_end ends[ARRAY_LEN(cases)];
    struct rig rig;

    rig_open(t, &rig);
    queue(t, &rig, &rig.coach, "stays", 1, 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        queue(t, &rig, &rig.coach, cases[i].key, 1, 0);
        ends[i] = (struct claim_end){ .n = job_of(t, &rig, cases[i].key).n,
                                      .status = cases[i].status,
                                      .why = cases[i].why,
                                      .coalesced_into = str_from(cases[i].into),
                                      .error_code = cases[i].code };
    }
    ASSERT_OK(claim_end_all(rig.domain, ends, ARRAY_LEN(ends), NOW + 1, &t->err));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct wake_job job = job_of(t, &rig, cases[i].key);

        ASSERT_EQ(job.n, ends[i].n);
        ASSERT_EQ(job.status, cases[i].status);
        ASSERT_STR(job.why, cases[i].why);
        ASSERT_STR(job.coalesced_into, cases[i].into);
        ASSERT_STR(job.error_code, cases[i].code ? cases[i].code : "");
        ASSERT_EQ(job.ended_at, NOW + 1);
    }
    ASSERT_TEXT(due(t, &rig, NOW), "stays");
    ASSERT_OK(claim_end_all(rig.domain, ends, 0, NOW, &t->err));
    ASSERT_OK(claim_end_all(rig.domain, ends, 1, NOW, &t->err)); /* it is gone */
    rig_close(t, &rig);
}

/* On a shared database the same wake may be queued once more while another process takes it. */
static void queue_known(struct test *t, struct rig *rig, const char *key)
{
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(rig->domain),
                         SQL("INSERT INTO wake_queue (run_key, agent_n, reason, thread_id,"
                             " created_at) VALUES (?, ?, 'manual', 't', 1)"),
                         &q, &t->err));
    stmt_bind_text(q, key);
    stmt_bind_i64(q, rig->coach.n);
    ASSERT_OK(stmt_run(q, &t->err));
}

DB_TEST(a_wake_that_ended_before_only_leaves_the_queue)
{
    struct claim_end end = { .status = WAKE_SKIPPED_NOOP, .why = "seen" };
    struct claim *claims;
    struct rig rig;
    size_t n;

    rig_open(t, &rig);
    queue(t, &rig, &rig.coach, "a", 1, 0);
    end.n = job_of(t, &rig, "a").n;
    ASSERT_OK(claim_drop_known(rig.domain, end.n, &t->err));
    ASSERT_TEXT(due(t, &rig, NOW), "a"); /* nothing is known of it */
    ASSERT_OK(claim_end_all(rig.domain, &end, 1, NOW, &t->err));
    for (int how = 0; how < 2; how++) {
        queue_known(t, &rig, "a");
        ASSERT_OK(claim_due(rig.domain, NOW, false, &t->arena, &claims, &n, &t->err));
        ASSERT_EQ(n, 1u);
        end = (struct claim_end){ .n = claims[0].job.n, .status = WAKE_COALESCED, .why = "no" };
        if (how)
            ASSERT_OK(claim_drop_known(rig.domain, end.n, &t->err));
        else
            ASSERT_OK(claim_end_all(rig.domain, &end, 1, NOW, &t->err));
        ASSERT_TEXT(due(t, &rig, NOW), "");
        ASSERT_STR(job_of(t, &rig, "a").why, "seen");
    }
    rig_close(t, &rig);
}

TEST(what_is_due_comes_by_one_index_in_its_order)
{
    struct rig rig;
    AUTO(stmt) q = NULL;

    rig_open(t, &rig);
    ASSERT_OK(db_prepare(domain_db(rig.domain),
                         SQL("EXPLAIN QUERY PLAN SELECT * FROM wake_queue WHERE not_before <= 1"
                             " ORDER BY not_before, n LIMIT 500"),
                         &q, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    ASSERT_CONTAINS(arena_copy(&t->arena, stmt_str(q, "detail").p, stmt_str(q, "detail").n),
                    "USING INDEX idx_wake_queue_due (not_before<?)");
    ASSERT_EQ(stmt_step(q, &t->err), 0);
    stmt_free(TAKE(q));
    rig_close(t, &rig);
}
