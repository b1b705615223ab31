/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "alert_rig.h"
#include "db/db.h"
#include "wake/reader_int.h"
#include "wake/skip.h"

static void count_queued(void *arg)
{
    ++*(int *)arg;
}

static struct reader *start_with(struct alert *a, struct reader_config config)
{
    struct test *t = a->t;
    struct reader *reader;

    config.loop = a->loop;
    config.agent_domain = a->agents;
    config.journal = a->journal;
    config.change = a->change;
    ASSERT_OK(reader_new(&config, &reader, &t->err));
    return reader;
}

static struct reader *start_reader(struct alert *a, int *told)
{
    return start_with(a,
                      (struct reader_config){ .queued = told ? count_queued : NULL, .arg = told });
}

static struct reader *start_slow_reader(struct alert *a, int judged)
{
    return start_with(a, (struct reader_config){ .judged = judged });
}

static size_t wakes(struct alert *a, struct wake_job **ret_jobs)
{
    struct test *t = a->t;
    struct wake_job *jobs;
    size_t count;

    ASSERT_OK(wake_list(a->agents, &(struct wake_filter){ .limit = 500 }, &t->arena, &jobs, &count,
                        &t->err));
    if (ret_jobs)
        *ret_jobs = jobs;
    return count;
}

static int64_t dead_letters(struct alert *a, const char *code)
{
    struct test *t = a->t;
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(a->agents),
                         SQL("SELECT count(*) AS n FROM dead_letters WHERE error_code = ?"), &q,
                         &t->err));
    stmt_bind_text(q, code);
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    return stmt_i64(q, "n");
}

/* ---- batches become wakes ---- */

DB_TEST(a_change_wakes_after_its_debounce)
{
    AUTO_ALERT a;
    AUTO(reader) reader = NULL;
    struct wake_job *jobs;
    struct subscription *s;
    char key[SHA256_TEXT_SIZE];
    int told = 0;

    alert_open(&a, t);
    s = alert_subscribe(&a, alert_agent(&a, "coach", "[\"*\"]"),
                        (struct subscription){ .prompt = STR("Look.") });
    reader = start_reader(&a, &told);
    loop_fake_advance(a.loop, 5000);
    ASSERT_EQ(wakes(&a, NULL), 0);

    alert_write(&a, NULL, RECORD_TASK, "t-1", "{\"title\":\"x\"}");
    loop_fake_advance(a.loop, 99);
    ASSERT_EQ(wakes(&a, NULL), 0);
    ASSERT_EQ(told, 0);
    loop_fake_advance(a.loop, 1);
    if (db_test_is_postgres(t))
        loop_fake_advance(a.loop, 200);
    ASSERT_EQ(wakes(&a, &jobs), 1);
    ASSERT_EQ(told, 1);
    ASSERT_STR(jobs[0].agent_id, "coach");
    ASSERT_STR(jobs[0].reason, "subscription");
    ASSERT_STR(jobs[0].reason_id, s->id.p);
    ASSERT_EQ(jobs[0].not_before, 0);
    ASSERT(strstr(arena_copy(&t->arena, jobs[0].payload.p, jobs[0].payload.n),
                  "\"records\":[[\"task\",\"t-1\"]]"));
    wake_key_subscription("coach", s->id, jobs[0].logical_change_key, key);
    ASSERT_STR(jobs[0].run_key, key);
    loop_fake_advance(a.loop, 60000);
    ASSERT_EQ(wakes(&a, NULL), 1);
    ASSERT_EQ(reader_counts(reader).wakes, 1);
}

DB_TEST(each_batch_wakes_each_subscription_once)
{
    AUTO_ALERT a;
    AUTO(reader) reader = NULL;
    int64_t coach;

    alert_open(&a, t);
    coach = alert_agent(&a, "coach", "[\"*\"]");
    alert_subscribe(&a, coach, (struct subscription){ 0 });
    alert_subscribe(&a, coach, (struct subscription){ 0 });
    alert_subscribe(&a, alert_agent(&a, "planner", "[\"*\"]"), (struct subscription){ 0 });
    reader = start_reader(&a, NULL);
    for (int i = 0; i < 70; i++) /* more than a page */
        alert_write(&a, NULL, RECORD_TASK, "t-1",
                    arena_printf(&t->arena, "{\"title\":\"x%d\"}", i));
    loop_fake_advance(a.loop, 5000);
    ASSERT_EQ(wakes(&a, NULL), 210);
    ASSERT_EQ(reader_counts(reader).wakes, 210);
}

DB_TEST(reading_goes_on_where_it_stopped)
{
    AUTO_ALERT a;
    struct reader *reader;

    alert_open(&a, t);
    alert_subscribe(&a, alert_agent(&a, "coach", "[\"*\"]"), (struct subscription){ 0 });
    reader = start_reader(&a, NULL);
    alert_write(&a, NULL, RECORD_TASK, "t-1", "{\"title\":\"x\"}");
    loop_fake_advance(a.loop, 50);
    reader_free(reader); /* while the debounce is open */
    alert_stop(&a);

    alert_start(&a);
    reader = start_reader(&a, NULL);
    loop_fake_advance(a.loop, 5000);
    ASSERT_EQ(wakes(&a, NULL), 1);
    reader_free(reader);
    alert_stop(&a);

    alert_start(&a);
    reader = start_reader(&a, NULL);
    loop_fake_advance(a.loop, 5000);
    ASSERT_EQ(wakes(&a, NULL), 1);
    ASSERT_EQ(reader_counts(reader).batches, 0);
    reader_free(reader);
}

DB_TEST(changes_of_agents_wake_those_who_wait_for_them)
{
    static const struct token created[] = { KEY("AGENT") };
    AUTO_ALERT a;
    AUTO(reader) reader = NULL;
    struct change_batch batch;
    struct wake_job *jobs;
    size_t before;

    alert_open(&a, t);
    alert_subscribe(
        &a, alert_agent(&a, "watcher", "[]"),
        (struct subscription){ .source = WAKE_AGENT, .tokens = created, .token_count = 1 });
    reader = start_reader(&a, NULL);
    loop_fake_advance(a.loop, 5000);
    before = wakes(&a, NULL); /* it was made itself */
    batch = CHANGE_BATCH(&t->arena, CHANGE_BY_HUMAN);
    change_batch_unit(&batch, a.change, change_next(a.change), STR("agent"), STR("other"));
    change_batch_key(&batch, "AGENT");
    alert_begin(&a);
    ASSERT_EQ(change_batch_write(a.agents, a.change, &batch, alert_now(&a), &t->err), 1);
    alert_end(&a);
    loop_fake_advance(a.loop, 5000);
    ASSERT_EQ(wakes(&a, &jobs), before + 1);
    ASSERT(strstr(arena_copy(&t->arena, jobs[0].payload.p, jobs[0].payload.n),
                  "\"domain\":\"agent\""));
}

/* ---- what does not wake ---- */

DB_TEST(misses_are_counted_and_skips_are_kept)
{
    AUTO_ALERT a;
    AUTO(reader) reader = NULL;
    struct subscription *picky, *blind, *shy;
    struct wake_job *jobs;
    struct skip *skips;
    size_t n;

    alert_open(&a, t);
    alert_category(&a, "gym");
    picky = alert_subscribe(&a, alert_agent(&a, "picky", "[\"*\"]"),
                            (struct subscription){ .predicate = STR("task.priority == 0") });
    blind = alert_subscribe(&a, alert_agent(&a, "blind", "[\"gym\"]"), (struct subscription){ 0 });
    shy = alert_subscribe(
        &a, alert_agent(&a, "shy", "[\"*\"]"),
        (struct subscription){ .name = STR("others"), .authors = 1u << CHANGE_BY_SYNC });
    reader = start_reader(&a, NULL);
    alert_write(&a, NULL, RECORD_TASK, "t-1", "{\"title\":\"x\"}");
    alert_write(&a, NULL, RECORD_TASK, "t-1", "{\"title\":\"y\"}");
    loop_fake_advance(a.loop, 5000);
    /* out of scope: a row that says so, without a word of the change */
    ASSERT_EQ(wakes(&a, &jobs), 2);
    ASSERT_STR(jobs[0].agent_id, "blind");
    ASSERT_EQ(jobs[0].status, WAKE_SKIPPED_NOOP);
    ASSERT_STR(jobs[0].why, "the change lies outside of the agent's categories");
    ASSERT_STR(jobs[0].payload, "{}");
    ASSERT(jobs[0].ended_at > 0);
    ASSERT_EQ(reader_counts(reader).skips, 2);
    ASSERT_EQ(reader_counts(reader).misses[MATCH_PREDICATE], 2);
    ASSERT_EQ(reader_counts(reader).misses[MATCH_AUTHOR], 2);

    /* the predicate and the author: counted, and that outlives the process */
    reader_free(reader);
    alert_stop(&a);
    alert_start(&a);
    reader = start_reader(&a, NULL);
    loop_fake_advance(a.loop, HOURS(1));
    alert_write(&a, NULL, RECORD_TASK, "t-1", "{\"title\":\"z\"}");
    loop_fake_advance(a.loop, 5000);
    ASSERT_OK(skip_list(a.agents, 0, STR_NONE, 10, &t->arena, &skips, &n, &t->err));
    ASSERT_EQ(n, 3);
    ASSERT_STR(skips[0].of_id, picky->id_text);
    ASSERT_EQ(skips[0].of, SKIP_OF_SUBSCRIPTION);
    ASSERT_TEXT(skips[0].kind, "predicate");
    ASSERT_TEXT(skips[0].why, match_outcome_why(MATCH_PREDICATE));
    ASSERT_EQ(skips[0].count, 3);
    ASSERT(skips[0].first_at < ALERT_NOW + HOURS(1) && skips[0].last_at > ALERT_NOW + HOURS(1));
    ASSERT_STR(skips[1].of_id, blind->id_text);
    ASSERT_TEXT(skips[1].kind, "scope");
    ASSERT_TEXT(skips[2].kind, "author");
    ASSERT_STR(skips[2].agent_id, "shy");
    ASSERT_STR(skips[2].name, "others");

    ASSERT_OK(skip_list(a.agents, shy->agent_n, STR_NONE, 10, &t->arena, &skips, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_OK(skip_list(a.agents, 0, str_from(blind->id_text), 10, &t->arena, &skips, &n, &t->err));
    ASSERT_EQ(n, 1);
    ASSERT_STR(skips[0].of_id, blind->id_text);
    alert_begin(&a);
    ASSERT_OK(subscription_remove(a.agents, a.change, str_from(shy->id_text), ALERT_NOW, &t->err));
    alert_end(&a);
    ASSERT_OK(skip_list(a.agents, 0, STR_NONE, 1, &t->arena, &skips, &n, &t->err));
    ASSERT_EQ(n, 1); /* the limit */
    /* what was removed is told of last, by the name it had */
    ASSERT_OK(skip_list(a.agents, 0, STR_NONE, 10, &t->arena, &skips, &n, &t->err));
    ASSERT_EQ(n, 3);
    ASSERT(!skips[0].removed && !skips[1].removed && skips[2].removed);
    ASSERT_STR(skips[2].name, "others");
    ASSERT_STR(skips[2].of_id, shy->id_text);
}

/* ---- more than one unit ---- */

/* Subscriptions to tasks, two for each agent, in one unit. */
static void crowd(struct alert *a, int agents)
{
    static const struct token tokens[] = { KEY("TASK"), ENTITY("t-1") };
    struct test *t = a->t;
    char token[WEBHOOK_TOKEN_SIZE];

    alert_begin(a);
    for (int i = 0; i < agents; i++) {
        struct agent agent = { .id = arena_printf(&t->arena, "a%d", i),
                               .kind = "k",
                               .display_name = "A",
                               .allowed_category_ids = "[\"*\"]" };

        ASSERT_OK(agent_add(a->agents, a->change, &agent, ALERT_NOW, &t->err));
        for (size_t k = 0; k < 2; k++) { /* the second has both tokens of the batch */
            struct subscription s = { .agent_n = agent.n,
                                      .source = WAKE_JOURNAL,
                                      .tokens = tokens,
                                      .token_count = 1 + k,
                                      .active = true };

            ASSERT_OK(subscription_add(a->agents, a->change, &s, ALERT_NOW, token, &t->err));
        }
    }
    alert_end(a);
}

static int64_t count_rows(struct alert *a, struct sql sql)
{
    struct test *t = a->t;
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(a->agents), sql, &q, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    return stmt_i64(q, "count");
}

#define QUEUED SQL("SELECT count(*) AS count FROM wake_queue WHERE reason = 'subscription'")
#define PARTS  SQL("SELECT count(*) AS count FROM wake_cursors WHERE domain LIKE 'journal:part:%'")
#define CURSOR SQL("SELECT coalesce(max(n), 0) AS count FROM wake_cursors WHERE domain = 'journal'")

DB_TEST(a_batch_that_concerns_a_crowd_is_read_in_several_units_and_a_crash_doubles_nothing)
{
    enum { AGENTS = 35, JUDGED = 25 };
    AUTO_ALERT a;
    AUTO(reader) reader = NULL;
    int64_t cursor, before, units = 0;

    alert_open(&a, t);
    crowd(&a, AGENTS);
    reader = start_slow_reader(&a, JUDGED);
    loop_fake_advance(a.loop, 5000);
    cursor = count_rows(&a, CURSOR);
    alert_write(&a, NULL, RECORD_TASK, "t-1", "{\"title\":\"x\"}");
    alert_write(&a, NULL, RECORD_TASK, "t-2", "{\"title\":\"y\"}");
    clock_advance(&a.clock, 1000);
    for (before = 0; before < 4 * AGENTS && units < 100; units++) {
        int64_t now;

        /* As after a crash: what was not committed is gone, and a new process goes on. */
        reader_free(reader);
        alert_stop(&a);
        alert_start(&a);
        reader = start_slow_reader(&a, JUDGED);
        loop_fake_tick(a.loop);
        loop_fake_tick(a.loop);
        now = count_rows(&a, QUEUED);
        ASSERT(now - before <= 2 * JUDGED);
        if (now < 2 * AGENTS)
            ASSERT_EQ(count_rows(&a, CURSOR), cursor); /* not past a batch that is not done */
        before = now;
    }
    ASSERT_EQ(before, 4 * AGENTS);
    ASSERT(units >= 3);
    loop_fake_advance(a.loop, 10000);
    ASSERT_EQ(count_rows(&a, QUEUED), 4 * AGENTS);
    ASSERT_EQ(count_rows(&a, PARTS), 0);
    ASSERT(count_rows(&a, CURSOR) > cursor);
}

DB_TEST(an_agent_does_not_wake_itself)
{
    AUTO_ALERT a;
    AUTO(reader) reader = NULL;
    struct wake_job *jobs;

    alert_open(&a, t);
    alert_subscribe(&a, alert_agent(&a, "coach", "[\"*\"]"),
                    (struct subscription){ .authors = 1u << CHANGE_BY_AGENT });
    alert_subscribe(&a, alert_agent(&a, "planner", "[\"*\"]"),
                    (struct subscription){ .authors = 1u << CHANGE_BY_AGENT });
    reader = start_reader(&a, NULL);
    alert_write(&a, "coach", RECORD_TASK, "t-1", "{\"title\":\"x\"}");
    loop_fake_advance(a.loop, 5000);
    ASSERT_EQ(wakes(&a, &jobs), 1);
    ASSERT_STR(jobs[0].agent_id, "planner");
    ASSERT_EQ(reader_counts(reader).misses[MATCH_OWN], 1);
}

/* ---- time ---- */

DB_TEST(wakes_within_a_cooldown_wait_for_its_end_together)
{
    AUTO_ALERT a;
    AUTO(reader) reader = NULL;
    struct wake_job *jobs;

    alert_open(&a, t);
    alert_subscribe(&a, alert_agent(&a, "coach", "[\"*\"]"),
                    (struct subscription){ .cooldown_ms = 60000 });
    reader = start_reader(&a, NULL);
    for (int i = 0; i < 3; i++) {
        alert_write(&a, NULL, RECORD_TASK, "t-1",
                    arena_printf(&t->arena, "{\"title\":\"x%d\"}", i));
        loop_fake_advance(a.loop, 3000);
    }
    ASSERT_EQ(wakes(&a, &jobs), 3);
    ASSERT_EQ(jobs[2].not_before, 0);
    ASSERT_EQ(jobs[1].not_before, jobs[2].created_at + 60000);
    ASSERT_EQ(jobs[0].not_before, jobs[1].not_before);
}

DB_TEST(a_clock_that_was_set_back_holds_nothing_up)
{
    AUTO_ALERT a;
    AUTO(reader) reader = NULL;

    alert_open(&a, t);
    alert_subscribe(&a, alert_agent(&a, "coach", "[\"*\"]"), (struct subscription){ 0 });
    reader = start_reader(&a, NULL);
    loop_fake_advance(a.loop, 5000);
    for (int i = 0; i < 30; i++)
        alert_write(&a, NULL, RECORD_TASK, "t-1",
                    arena_printf(&t->arena, "{\"title\":\"x%d\"}", i));
    clock_set_wall(&a.clock, ALERT_NOW - DAYS(1));
    loop_fake_advance(a.loop, 101);
    if (db_test_is_postgres(t))
        loop_fake_advance(a.loop, 200);
    ASSERT_EQ(wakes(&a, NULL), 30);
}

/* ---- a shared database ---- */

/* A transaction somewhere else that has begun and does not end. */
static struct domain *linger(struct alert *a)
{
    struct test *t = a->t;
    struct domain *other = db_test_open(t, migrations_agent, migrations_agent_count);
    AUTO(stmt) q = NULL;

    ASSERT_OK(domain_begin(other, &t->err));
    ASSERT_OK(db_prepare(domain_db(other), SQL("SELECT txid_current() AS n"), &q, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    return other;
}

static void what_older_transactions_hold_back_is_read_when_they_have_ended(struct test *t)
{
    AUTO_ALERT a;
    AUTO(reader) reader = NULL;
    struct domain *other;

    alert_open(&a, t);
    alert_subscribe(&a, alert_agent(&a, "coach", "[\"*\"]"), (struct subscription){ 0 });
    reader = start_reader(&a, NULL);
    loop_fake_advance(a.loop, 5000);
    other = linger(&a);
    alert_write(&a, NULL, RECORD_TASK, "t-1", "{\"title\":\"x\"}");
    loop_fake_advance(a.loop, 30000);
    ASSERT_EQ(wakes(&a, NULL), 0);
    ASSERT_OK(domain_commit(other, &t->err));
    domain_free(other);
    loop_fake_advance(a.loop, 2100); /* nobody says so */
    ASSERT_EQ(wakes(&a, NULL), 1);
}
DB_TEST_CASE(what_older_transactions_hold_back_is_read_when_they_have_ended, postgres)

/* Who writes elsewhere tells: nothing is looked for meanwhile. */
static void a_shared_database_is_not_polled(struct test *t)
{
    AUTO_ALERT a;
    AUTO(reader) reader = NULL;
    struct alert other;

    alert_open(&a, t);
    alert_open(&other, t);
    alert_subscribe(&a, alert_agent(&a, "coach", "[\"*\"]"), (struct subscription){ 0 });
    reader = start_reader(&a, NULL);
    loop_fake_advance(a.loop, 5000);
    alert_write(&other, NULL, RECORD_TASK, "t-1", "{\"title\":\"x\"}");
    loop_fake_advance(a.loop, 60000);
    ASSERT_EQ(wakes(&a, NULL), 0);
    reader_look(reader);
    loop_fake_advance(a.loop, 2000);
    ASSERT_EQ(wakes(&a, NULL), 1);
    alert_stop(&other);
}
DB_TEST_CASE(a_shared_database_is_not_polled, postgres)

/* ---- what can't be understood ---- */

struct harm {
    const char *units, *key, *tokens, *author; /* NULL: as it was */
};

/* What a bug, or somebody with an editor, did to the newest batch. */
static void break_batch(struct alert *a, const struct harm *harm)
{
    struct test *t = a->t;
    AUTO(stmt) q = NULL;

    ASSERT_OK(loop_unit_begin(a->loop, a->records, &t->err));
    ASSERT_OK(db_prepare(domain_db(a->records),
                         SQL("UPDATE change_batches SET units = coalesce(?, units),"
                             " logical_change_key = coalesce(?, logical_change_key),"
                             " typed_tokens = coalesce(?, typed_tokens),"
                             " author = coalesce(?, author)"
                             " WHERE n = (SELECT max(n) FROM change_batches)"),
                         &q, &t->err));
    stmt_bind_text(q, harm->units);
    stmt_bind_text(q, harm->key);
    stmt_bind_text(q, harm->tokens);
    stmt_bind_text(q, harm->author);
    ASSERT_OK(stmt_run(q, &t->err));
    stmt_free(TAKE(q));
    ASSERT_OK(loop_unit_end(a->loop, true, &t->err));
    loop_fake_tick(a->loop);
}

DB_TEST(a_batch_without_provenance_wakes_nobody_and_holds_nobody_up)
{
    static const struct harm harm[] = {
        { .units = "[]" },
        { .units = "[[\"\",1,\"task\",\"t-1\"]]" },
        { .units = "[[\"h\",0,\"task\",\"t-1\"]]" },
        { .units = "[[\"h\",1,\"\",\"t-1\"]]" },
        { .units = "[[\"h\",1,\"task\",\"\"]]" },
        { .key = "" },
        { .author = "agent" }, /* which one? */
        /* and what can't even be read */
        { .units = "x" },
        { .units = "[[1]]" },
        { .tokens = "{" },
        { .author = "moon" },
    };
    AUTO_ALERT a;
    AUTO(reader) reader = NULL;
    const struct subscription *coach;
    struct skip *skips;
    size_t n;

    alert_open(&a, t);
    coach = alert_subscribe(&a, alert_agent(&a, "coach", "[\"*\"]"), (struct subscription){ 0 });
    reader = start_reader(&a, NULL);
    loop_fake_advance(a.loop, 5000);
    alert_write(&a, NULL, RECORD_TASK, "t-1", "{\"title\":\"first\"}");
    for (size_t i = 0; i < ARRAY_LEN(harm); i++) {
        alert_write(&a, NULL, RECORD_TASK, "t-1",
                    arena_printf(&t->arena, "{\"title\":\"x%zu\"}", i));
        break_batch(&a, &harm[i]);
    }
    alert_write(&a, NULL, RECORD_TASK, "t-1", "{\"title\":\"last\"}");
    loop_fake_advance(a.loop, 5000);
    ASSERT_EQ(wakes(&a, NULL), 2);
    ASSERT_EQ(reader_counts(reader).dead, ARRAY_LEN(harm));
    ASSERT_EQ(dead_letters(&a, "missing_change_provenance"), 7);
    ASSERT_EQ(dead_letters(&a, "integrity_failed"), 4);

    /* the list of what woke nobody says so, the newest problem first */
    ASSERT_OK(skip_list(a.agents, 0, STR_NONE, 0, &t->arena, &skips, &n, &t->err));
    ASSERT_EQ(n, 2);
    ASSERT_EQ(skips[0].of, SKIP_OF_BATCH);
    ASSERT_TEXT(skips[0].kind, "unreadable");
    ASSERT_CONTAINS(skips[0].why, "author: not human, agent or sync");
    ASSERT_EQ(skips[0].count, 4);
    ASSERT_EQ(skips[1].count, 7);
    ASSERT_OK(skip_list(a.agents, coach->agent_n, STR_NONE, 0, &t->arena, &skips, &n, &t->err));
    ASSERT_EQ(n, 0); /* of one agent: what is known to be its own */
}
