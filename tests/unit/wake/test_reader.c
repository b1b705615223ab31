/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "alert_rig.h"
#include "db/db.h"
#include "wake/reader.h"

static void count_queued(void *arg)
{
    ++*(int *)arg;
}

static struct reader *start_reader(struct alert *a, int *told)
{
    struct test *t = a->t;
    struct reader_config config = { .loop = a->loop,
                                    .agent_domain = a->agents,
                                    .journal = a->journal,
                                    .change = a->change,
                                    .queued = told ? count_queued : NULL,
                                    .arg = told };
    struct reader *reader;

    ASSERT_OK(reader_new(&config, &reader, &t->err));
    return reader;
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
    struct subscription *picky, *blind;
    struct reader_miss miss;
    struct wake_job *jobs;

    alert_open(&a, t);
    alert_category(&a, "gym");
    picky = alert_subscribe(&a, alert_agent(&a, "picky", "[\"*\"]"),
                            (struct subscription){ .predicate = STR("task.priority == 0") });
    blind = alert_subscribe(&a, alert_agent(&a, "blind", "[\"gym\"]"), (struct subscription){ 0 });
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
    /* the predicate: only counted */
    ASSERT(reader_miss_of(reader, picky->n, &miss));
    ASSERT_EQ(miss.count, 2);
    ASSERT_EQ(miss.last, MATCH_PREDICATE);
    ASSERT(reader_miss_of(reader, blind->n, &miss));
    ASSERT_EQ(miss.last, MATCH_SCOPE);
    ASSERT(!reader_miss_of(reader, 12345, &miss));
    ASSERT_EQ(reader_counts(reader).skips, 2);
    ASSERT_EQ(reader_counts(reader).misses[MATCH_PREDICATE], 2);
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

    alert_open(&a, t);
    alert_subscribe(&a, alert_agent(&a, "coach", "[\"*\"]"), (struct subscription){ 0 });
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
}
