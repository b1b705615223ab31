/* wake.queue: wakes that find nothing to do, from the queue to their end with a reason, durable.
 *
 * On SQLite one process; on Postgres (with syncs, as an ordinary server) two processes that share
 * the queue. With one wake per commit, beside a bare loop that takes one row with SKIP LOCKED,
 * deletes it and commits, also by two processes, in turn in the same run; and with 500 wakes per
 * transaction.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "db/db.h"
#include "db/migrations.h"
#include "harness/pg_server.h"
#include "wake/wake.h"

#define AGENTS   1000
#define WORKERS  2
#define ROUNDS   3
#define SINGLE   1500
#define BATCHED  40000
#define BATCH    500
#define SHARE    0.8
#define PEER     17900.0 /* jobs per second of graphile-worker on such a machine */
#define CHECK_MS 25

static void must(int r, const struct err *err, const char *what)
{
    char text[ERR_TEXT_MAX + 64];

    if (r >= 0)
        return;
    fprintf(stderr, "bench-wake: %s: %s\n", what, err_format(err, text, sizeof(text)));
    exit(1);
}

static double now_s(void)
{
    return (double)clock_mono_ns(clock_system()) / 1e9;
}

static double median(double *values, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && values[k] < values[k - 1]; k--) {
            double v = values[k];

            values[k] = values[k - 1];
            values[k - 1] = v;
        }
    return values[n / 2];
}

static struct domain *open_domain(const char *url)
{
    struct err err = ERR_INIT;
    struct domain *domain;

    must(domain_open(&(struct domain_config){ .name = "agent",
                                              .url = url,
                                              .migrations = migrations_agent,
                                              .migration_count = migrations_agent_count },
                     &domain, &err),
         &err, "open");
    return domain;
}

static void exec(struct domain *domain, struct sql sql, int64_t a)
{
    AUTO(stmt) q = NULL;
    struct err err = ERR_INIT;

    must(db_prepare(domain_db(domain), sql, &q, &err), &err, "prepare");
    if (a)
        stmt_bind_i64(q, a);
    must(stmt_run(q, &err), &err, "run");
}

/* ---- what is in the queue ---- */

/* Agents that have seen everything of the host "h". */
static void add_agents(struct domain *domain)
{
    struct err err = ERR_INIT;

    must(domain_begin(domain, &err), &err, "begin");
    exec(domain,
         SQL("WITH RECURSIVE i (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE i < ?)"
             " INSERT INTO agents (n, id, kind, display_name, created_at, updated_at)"
             " SELECT i, 'agent-' || i, 'coach', 'Coach', 1, 1 FROM i"),
         AGENTS);
    exec(domain,
         SQL("INSERT INTO agent_states (id, agent_n, updated_at, processed_counter_by_host)"
             " SELECT id || ':h', n, 1, '{\"h\":1000000000}' FROM agents"),
         0);
    must(domain_commit(domain, &err), &err, "commit");
}

static void fill(struct domain *domain, int64_t wakes)
{
    static int64_t next = 1;
    AUTO(stmt) q = NULL;
    struct err err = ERR_INIT;

    must(domain_begin(domain, &err), &err, "begin");
    must(db_prepare(
             domain_db(domain),
             SQL("WITH RECURSIVE i (i) AS (SELECT ? UNION ALL SELECT i + 1 FROM i WHERE i < ?)"
                 " INSERT INTO wake_queue (run_key, agent_n, reason, reason_id, thread_id, payload,"
                 " created_at) SELECT 'key-' || i, 1 + i % 1000, 'subscription', 'sub', 'thread-'"
                 " || i, '{\"domain\":\"journal\",\"prompt\":\"Have a look.\",\"records\":"
                 "[[\"task\",\"t' || i || '\"]],\"counters\":{\"h\":' || i || '}}', 1 FROM i"),
             &q, &err),
         &err, "fill");
    stmt_bind_i64(q, next);
    stmt_bind_i64(q, next + wakes - 1);
    next += wakes;
    must(stmt_run(q, &err), &err, "fill");
    must(domain_commit(domain, &err), &err, "fill");
}

static int64_t left(struct domain *domain)
{
    AUTO(stmt) q = NULL;
    struct err err = ERR_INIT;

    must(db_prepare(domain_db(domain), SQL("SELECT 1 AS n FROM wake_queue LIMIT 1"), &q, &err),
         &err, "left");
    return stmt_step(q, &err);
}

/* ---- a worker: a whole waker ---- */

struct worker {
    struct domain *domain;
    struct loop *loop;
    struct change *change;
    struct kill_switches *kill;
    struct model_gateway *models;
    struct tool_bed *tools;
    struct runner *runner;
    struct waker *waker;
    struct loop_timer check;
};

static void check(struct loop_timer *timer)
{
    struct worker *w = CONTAINER_OF(timer, struct worker, check);

    if (left(w->domain) == 0)
        loop_stop(w->loop);
    else
        loop_timer_start(w->loop, timer, CHECK_MS);
}

static void worker_open(struct worker *w, struct domain *domain, const char *host, int batch)
{
    struct model_gateway_config models = { 0 };
    struct tool_bed_config bed = { .agent_domain = domain, .policy_text_hash = "" };
    struct runner_config runner = { .agent_domain = domain,
                                    .default_agent_name = "Planner",
                                    .default_model = "offline",
                                    .default_cwd = "/" };
    struct waker_config waker = { .agent_domain = domain, .one_by_one = batch == 1 };
    struct err err = ERR_INIT;

    *w = (struct worker){ .domain = domain };
    must(loop_new(NULL, &w->loop, &err), &err, "loop");
    loop_attach(w->loop, domain);
    must(change_open_as(domain, host, NULL, NULL, &w->change, &err), &err, "change");
    must(kill_open(domain, &w->kill, &err), &err, "kill");
    models.loop = bed.loop = runner.loop = waker.loop = w->loop;
    must(model_gateway_new(&models, &w->models, &err), &err, "models");
    bed.kill = runner.kill = waker.kill = w->kill;
    must(tool_bed_new(&bed, &w->tools, &err), &err, "tools");
    runner.change = waker.change = w->change;
    runner.models = w->models;
    runner.tools = w->tools;
    must(runner_new(&runner, &w->runner, &err), &err, "runner");
    waker.runner = w->runner;
    must(waker_new(&waker, &w->waker, &err), &err, "waker");
}

static void worker_run(struct worker *w)
{
    struct err err = ERR_INIT;

    w->check.fire = check;
    loop_timer_start(w->loop, &w->check, CHECK_MS);
    must(loop_run(w->loop, &err), &err, "loop");
}

static void worker_close(struct worker *w)
{
    waker_stop(w->waker);
    runner_stop(w->runner);
    model_gateway_free(w->models);
    tool_bed_free(w->tools);
    loop_settle(w->loop);
    loop_free(w->loop);
    waker_free(w->waker);
    runner_free(w->runner);
    kill_switches_free(w->kill);
    change_free(w->change);
}

/* ---- SQLite ---- */

static double sqlite_round(struct domain *domain, int64_t wakes, int batch)
{
    struct worker w;
    double from;

    fill(domain, wakes);
    worker_open(&w, domain, NULL, batch);
    from = now_s();
    worker_run(&w);
    from = now_s() - from;
    worker_close(&w);
    return (double)wakes / from;
}

/* What the same rows cost without deciding anything. */
static double sqlite_bare(struct domain *domain, int64_t wakes)
{
    struct err err = ERR_INIT;
    double from;

    fill(domain, wakes);
    from = now_s();
    for (int64_t i = 0; i < wakes; i++) {
        must(domain_begin(domain, &err), &err, "begin");
        exec(domain,
             SQL("INSERT INTO wake_runs (n, run_key, agent_n, reason, reason_id, thread_id,"
                 " payload, created_at, status, ended_at) SELECT n, run_key, agent_n, reason,"
                 " reason_id, thread_id, payload, created_at, 'skipped_noop', 1 FROM wake_queue"
                 " ORDER BY n LIMIT 1"),
             0);
        exec(domain, SQL("DELETE FROM wake_queue WHERE n = (SELECT min(n) FROM wake_queue)"), 0);
        must(domain_commit(domain, &err), &err, "commit");
    }
    return (double)wakes / (now_s() - from);
}

static void on_sqlite(const char *dir)
{
    double single[ROUNDS], bare[ROUNDS], batched[ROUNDS];
    struct domain *domain;
    char url[128];

    snprintf(url, sizeof(url), "sqlite:%s/agent.sqlite", dir);
    domain = open_domain(url);
    add_agents(domain);
    for (int i = 0; i < ROUNDS; i++) {
        bare[i] = sqlite_bare(domain, SINGLE);
        single[i] = sqlite_round(domain, SINGLE, 1);
        batched[i] = sqlite_round(domain, BATCHED, BATCH);
    }
    domain_free(domain);
    printf("{\"bench\":\"wake.queue\",\"engine\":\"sqlite\",\"per_commit\":1,\"value\":%.0f,"
           "\"unit\":\"wakes/s\",\"yardstick\":\"the rows alone, one per commit\","
           "\"yardstick_value\":%.0f,\"ratio\":%.2f,\"target\":%.1f,\"ok\":%s}\n",
           median(single, ROUNDS), median(bare, ROUNDS),
           median(single, ROUNDS) / median(bare, ROUNDS), SHARE,
           median(single, ROUNDS) >= SHARE * median(bare, ROUNDS) ? "true" : "false");
    printf("{\"bench\":\"wake.queue\",\"engine\":\"sqlite\",\"per_commit\":%d,\"value\":%.0f,"
           "\"unit\":\"wakes/s\"}\n",
           BATCH, median(batched, ROUNDS));
}

/* ---- Postgres ---- */

static const char *const hosts[WORKERS] = { "01890a5d-ac96-774b-bcce-b302099a8057",
                                            "01890a5d-ac96-774b-bcce-b302099a8058" };

static void bare_loop(struct domain *domain)
{
    struct err err = ERR_INIT;
    int r = 1;

    while (r == 1) {
        AUTO(stmt) q = NULL;

        must(domain_begin(domain, &err), &err, "begin");
        must(db_prepare(domain_db(domain),
                        SQL("DELETE FROM wake_queue WHERE n = (SELECT n FROM wake_queue"
                            " WHERE priority = 1 AND not_before <= 2 ORDER BY not_before, n"
                            " LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING n, payload"),
                        &q, &err),
             &err, "take");
        r = stmt_step(q, &err);
        must(r, &err, "take");
        stmt_free(TAKE(q));
        must(domain_commit(domain, &err), &err, "commit");
    }
}

/* Ready, says so, waits for the word, works until nothing is left, says so. */
static _Noreturn void worker_main(const char *url, int i, int batch, int ready, int go)
{
    struct domain *domain = open_domain(url);
    struct worker w;
    char byte = 0;

    if (batch)
        worker_open(&w, domain, hosts[i], batch);
    if (write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 1)
        _exit(1);
    if (batch)
        worker_run(&w);
    else
        bare_loop(domain);
    if (write(ready, &byte, 1) != 1)
        _exit(1);
    if (batch)
        worker_close(&w);
    domain_free(domain);
    _exit(0);
}

static void wait_bytes(int fd, int n)
{
    char byte;

    for (int i = 0; i < n; i++)
        if (read(fd, &byte, 1) != 1)
            exit(1);
}

/* batch 0: the bare loop. */
static double pg_round(const char *url, struct domain *domain, int64_t wakes, int batch)
{
    int ready[2], go[2];
    struct err err = ERR_INIT;
    double from;

    if (pipe(ready) < 0 || pipe(go) < 0)
        exit(1);
    for (int i = 0; i < WORKERS; i++)
        if (fork() == 0)
            worker_main(url, i, batch, ready[1], go[0]);
    wait_bytes(ready[0], WORKERS);
    /* As a server that was left alone has done by now. */
    must(db_exec(domain_db(domain), SQL("VACUUM ANALYZE wake_queue"), &err), &err, "vacuum");
    must(db_exec(domain_db(domain), SQL("VACUUM ANALYZE wake_runs"), &err), &err, "vacuum");
    fill(domain, wakes);
    from = now_s();
    if (write(go[1], "gg", WORKERS) != WORKERS)
        exit(1);
    wait_bytes(ready[0], WORKERS);
    from = now_s() - from;
    while (wait(NULL) > 0)
        ;
    close(ready[0]), close(ready[1]), close(go[0]), close(go[1]);
    return (double)wakes / from;
}

static void on_postgres(void)
{
    double single[ROUNDS], bare[ROUNDS], batched[ROUNDS];
    const char *why = NULL, *socket_dir;
    struct domain *domain;
    char url[128];

    pg_server_syncs = true;
    socket_dir = pg_server_dir(&why);
    if (!socket_dir) {
        printf("{\"bench\":\"wake.queue\",\"skipped\":\"Postgres does not start: %s\"}\n", why);
        return;
    }
    snprintf(url, sizeof(url), "postgresql:///postgres?host=%s&user=dormouse", socket_dir);
    domain = open_domain(url);
    add_agents(domain);
    for (int i = 0; i < ROUNDS; i++) {
        bare[i] = pg_round(url, domain, SINGLE, 0);
        single[i] = pg_round(url, domain, SINGLE, 1);
        batched[i] = pg_round(url, domain, BATCHED, BATCH);
    }
    domain_free(domain);
    printf("{\"bench\":\"wake.queue\",\"engine\":\"postgres\",\"workers\":%d,\"per_commit\":1,"
           "\"value\":%.0f,\"unit\":\"wakes/s\",\"yardstick\":\"a bare SKIP LOCKED loop\","
           "\"yardstick_value\":%.0f,\"ratio\":%.2f,\"target\":%.1f,\"ok\":%s}\n",
           WORKERS, median(single, ROUNDS), median(bare, ROUNDS),
           median(single, ROUNDS) / median(bare, ROUNDS), SHARE,
           median(single, ROUNDS) >= SHARE * median(bare, ROUNDS) ? "true" : "false");
    printf("{\"bench\":\"wake.queue\",\"engine\":\"postgres\",\"workers\":%d,\"per_commit\":%d,"
           "\"value\":%.0f,\"unit\":\"wakes/s\",\"yardstick\":\"graphile-worker, jobs/s\","
           "\"yardstick_value\":%.0f,\"ratio\":%.2f,\"target\":1,\"ok\":%s}\n",
           WORKERS, BATCH, median(batched, ROUNDS), PEER, median(batched, ROUNDS) / PEER,
           median(batched, ROUNDS) > PEER ? "true" : "false");
}

int main(int argc, char **argv)
{
    char dir[] = "bench-wake-XXXXXX", command[64];

    /* Where it is run, not in /tmp: that may be no disk at all. */
    if (!mkdtemp(dir))
        return 1;
    if (argc < 2 || strcmp(argv[1], "postgres") != 0)
        on_sqlite(dir);
    if (argc < 2 || strcmp(argv[1], "sqlite") != 0)
        on_postgres();
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command) != 0;
}
