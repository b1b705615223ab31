/* See wake_stage.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "wake_stage.h"

#include <stdio.h>
#include <stdlib.h>

#include "db/db.h"
#include "db/migrations.h"
#include "wake/queue_int.h"

static void up(struct stage *stage, void *arg)
{
    struct wake_stage *s = arg;
    struct test *t = s->t;
    struct waker_config config = s->config;

    s->stage = stage;
    config.loop = stage->loop;
    config.agent_domain = stage->domain;
    config.change = stage->change;
    config.runner = stage->runner;
    config.kill = stage->kill;
    if (s->journal_domain) {
        loop_attach(stage->loop, s->journal_domain);
        ASSERT_OK(change_join(stage->change, s->journal_domain, &t->err));
        s->journal = journal_new(&(struct journal_config){ .loop = stage->loop,
                                                           .domain = s->journal_domain,
                                                           .change = stage->change,
                                                           .zone = "UTC" });
        config.journal = s->journal;
    }
    /* An hour of fake time is soon over, unless others' wakes are looked for every two seconds of
     * it where there are no others. */
    if (!config.poll_ms && !s->more.host_id)
        config.poll_ms = 60000;
    ASSERT_OK(waker_new(&config, &s->waker, &t->err));
}

static void down(struct stage *stage, void *arg)
{
    struct wake_stage *s = arg;

    (void)stage;
    waker_stop(s->waker);
}

static void gone(struct stage *stage, void *arg)
{
    struct wake_stage *s = arg;

    (void)stage;
    waker_free(s->waker);
    journal_free(s->journal);
    s->waker = NULL;
    s->journal = NULL;
}

static struct wake_stage *stage_of(struct test *t, const char *host_id)
{
    struct wake_stage *s = NEW(struct wake_stage);
    const char *file = arena_printf(&t->arena, "journal%s.sqlite", host_id ? host_id : "");

    s->t = t;
    ASSERT_OK(domain_open(&(struct domain_config){ .name = "journal",
                                                   .url = db_test_file_url(t, "journal", file),
                                                   .migrations = migrations_journal,
                                                   .migration_count = migrations_journal_count },
                          &s->journal_domain, &t->err));
    s->more =
        (struct stage_more){ .host_id = host_id, .up = up, .down = down, .gone = gone, .arg = s };
    s->stage = stage_new_with(t, &s->more);
    return s;
}

struct wake_stage *wake_stage_new(struct test *t)
{
    struct wake_stage *s = stage_of(t, NULL);

    wake_stage_agent(s, "coach", &s->coach);
    loop_fake_tick(s->stage->loop);
    return s;
}

struct wake_stage *wake_stage_new_host(struct test *t, const char *host_id)
{
    return stage_of(t, host_id);
}

void wake_stage_free(struct wake_stage *s)
{
    wake_stage_check(s);
    stage_free(s->stage);
    domain_free(s->journal_domain);
    free(s);
}

/* ---- agents ---- */

void wake_stage_agent(struct wake_stage *s, const char *id, struct agent *ret_agent)
{
    struct test *t = s->t;
    struct agent agent = { .id = arena_text(&t->arena, id),
                           .kind = "coach",
                           .display_name = arena_text(&t->arena, id),
                           .allowed_category_ids = "[\"*\"]" };

    ASSERT_OK(loop_unit_begin(s->stage->loop, s->stage->domain, &t->err));
    ASSERT_OK(agent_add(s->stage->domain, s->stage->change, &agent, 1, &t->err));
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    *ret_agent = agent;
}

void wake_stage_state(struct wake_stage *s, const struct agent *agent,
                      struct agent_state *ret_state)
{
    struct test *t = s->t;

    ASSERT_OK(agent_state_get(s->stage->domain, agent->n, clock_wall_ms(loop_clock(s->stage->loop)),
                              &t->arena, ret_state, &t->err));
}

void wake_stage_sleep(struct wake_stage *s, const struct agent *agent, int64_t until)
{
    struct test *t = s->t;
    struct agent_state state;

    ASSERT_OK(loop_unit_begin(s->stage->loop, s->stage->domain, &t->err));
    wake_stage_state(s, agent, &state);
    state.sleep_until = until;
    ASSERT_OK(agent_state_put(s->stage->domain, s->stage->change, &state,
                              clock_wall_ms(loop_clock(s->stage->loop)), &t->err));
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
}

/* ---- wakes ---- */

void wake_stage_queue(struct wake_stage *s, const struct wake_job *job)
{
    struct test *t = s->t;

    ASSERT_OK(loop_unit_begin(s->stage->loop, s->stage->domain, &t->err));
    ASSERT_EQ(wake_enqueue(s->stage->domain, job, &t->err), 1);
    ASSERT_OK(loop_unit_end(s->stage->loop, true, &t->err));
    waker_look(s->waker);
}

struct str wake_stage_change(struct wake_stage *s, const struct agent *agent, const char *name,
                             int64_t counter, int64_t not_before)
{
    struct test *t = s->t;
    char key[SHA256_TEXT_SIZE];
    struct wake_job job = { .agent_n = agent->n,
                            .reason = STR("subscription"),
                            .reason_id = STR("sub"),
                            .priority = 1,
                            .not_before = not_before,
                            .created_at = clock_wall_ms(loop_clock(s->stage->loop)) };

    wake_key_subscription(agent->id, STR("sub"), str_from(name), key);
    job.run_key = str_from(arena_text(&t->arena, key));
    job.logical_change_key = str_from(name);
    job.payload = str_from(arena_printf(
        &t->arena, "{\"domain\":\"journal\",\"prompt\":\"about %s\",\"counters\":{\"%s\":%lld}}",
        name, change_host_id(s->stage->change), (long long)counter));
    wake_stage_queue(s, &job);
    return job.run_key;
}

struct str wake_stage_wake(struct wake_stage *s, const char *agent_id, const char *request,
                           const char *words)
{
    struct test *t = s->t;
    struct wake_job job;

    ASSERT_OK(waker_wake_now(s->waker, str_from(agent_id), str_from(request), str_from(words),
                             &t->arena, &job, &t->err));
    return job.run_key;
}

struct wake_job wake_stage_get(struct wake_stage *s, struct str key)
{
    struct test *t = s->t;
    struct wake_job job;

    ASSERT_OK(wake_get(s->stage->domain, key, &t->arena, &job, &t->err));
    return job;
}

const char *wake_stage_status(struct wake_stage *s, struct str key)
{
    return wake_status_name(wake_stage_get(s, key).status);
}

void wake_stage_settle(struct wake_stage *s)
{
    stage_settle(s->stage);
}

/* ---- what must hold ---- */

static int64_t number(struct wake_stage *s, struct sql sql)
{
    struct test *t = s->t;
    AUTO(stmt) q = NULL;

    ASSERT_OK(db_prepare(domain_db(s->stage->domain), sql, &q, &t->err));
    ASSERT_EQ(stmt_step(q, &t->err), 1);
    return stmt_i64(q, "n");
}

int64_t wake_stage_count(struct wake_stage *s, const char *what)
{
    if (strcmp(what, "queued") == 0)
        return number(s, SQL("SELECT count(*) AS n FROM wake_queue"));
    if (strcmp(what, "ended") == 0)
        return number(s, SQL("SELECT count(*) AS n FROM wake_runs WHERE ended_at IS NOT NULL"));
    if (strcmp(what, "flying") == 0)
        return number(s, SQL("SELECT count(*) AS n FROM wake_runs WHERE flying = 1"));
    if (strcmp(what, "completed") == 0)
        return number(s, SQL("SELECT count(*) AS n FROM wake_runs WHERE status = 'completed'"));
    if (strcmp(what, "coalesced") == 0)
        return number(s, SQL("SELECT count(*) AS n FROM wake_runs WHERE status = 'coalesced'"));
    if (strcmp(what, "thoughts") == 0)
        return number(s, SQL("SELECT count(*) AS n FROM agent_messages WHERE kind IN ('thought',"
                             " 'action', 'toolResult')"));
    return number(s, SQL("SELECT count(*) AS n FROM runs WHERE wake_key IS NOT NULL"));
}

void wake_stage_check(struct wake_stage *s)
{
    struct test *t = s->t;

    (void)t;
    ASSERT_EQ(number(s, SQL("SELECT count(*) AS n FROM wake_queue q JOIN wake_runs r"
                            " ON r.run_key = q.run_key")),
              0);
    ASSERT_EQ(number(s, SQL("SELECT count(*) AS n FROM wake_runs w LEFT JOIN runs r ON r.n ="
                            " w.run_n WHERE w.run_n IS NOT NULL AND (r.n IS NULL OR"
                            " r.run_key <> w.run_key)")),
              0);
    ASSERT_EQ(number(s, SQL("SELECT count(*) AS n FROM runs r LEFT JOIN wake_runs w ON w.run_key ="
                            " r.wake_key WHERE r.wake_key IS NOT NULL AND w.n IS NULL")),
              0);
    ASSERT_EQ(number(s, SQL("SELECT count(*) AS n FROM runs r JOIN wake_runs w ON w.run_n = r.n"
                            " WHERE (r.ended_at IS NULL) <> (w.ended_at IS NULL)")),
              0);
    ASSERT_EQ(number(s, SQL("SELECT count(*) AS n FROM wake_runs WHERE flying = 1"
                            " AND ended_at IS NOT NULL")),
              0);
    ASSERT_EQ(number(s, SQL("SELECT count(*) AS n FROM wake_runs WHERE status = 'coalesced'"
                            " AND coalesced_into NOT IN (SELECT run_key FROM wake_runs)")),
              0);
}

int64_t wake_stage_now(struct wake_stage *s)
{
    return clock_wall_ms(loop_clock(s->stage->loop));
}
