/* wake.queue: wakes that find nothing to do, from the queue to their end with a reason, durable.
 *
 * On SQLite one process; on Postgres (with syncs, as an ordinary server) two processes that share
 * the queue. With one wake per commit and with 500 per transaction.
 *
 * The yardsticks of one wake per commit are bare loops over the same tables on the same engine, by
 * as many processes, in turn with ours: each round of ours has one of theirs beside it, and the
 * ratio is the median of the rounds' ratios. They decide nothing and know no agents:
 *
 *   Postgres  BEGIN, SELECT one row FOR UPDATE SKIP LOCKED, move it to wake_runs with an outcome
 *             (DELETE and INSERT in one statement), COMMIT, with plain libpq: prepared statements,
 *             each of them waited for (wake_plain.c). What it takes to claim a wake and to leave a
 *             durable row that says how it ended, as most workers do it. The target is about this.
 *   Postgres  "pipelined": the same statements by our own engine, which sends BEGIN with the SELECT
 *             and COMMIT with the move: two round trips, as ours has. The rest is what deciding
 *             costs.
 *   Postgres  "take_only": DELETE one row FOR UPDATE SKIP LOCKED, COMMIT, by our engine: nothing is
 *             left that says what became of it, so this is less than any queue with outcomes does.
 *   SQLite    INSERT into wake_runs, DELETE from the queue, COMMIT.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "db/db.h"
#include "harness/pg_server.h"
#include "wake_plain.h"
#include "wake_worker.h"

#define AGENTS  1000
#define WORKERS 2
#define ROUNDS  7
#define SINGLE  1000
#define BATCHED 20000
#define BATCH   500
#define SHARE   0.8
#define PEER    17900.0 /* jobs per second of graphile-worker on such a machine */

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

static double median_ratio(const double *ours, const double *theirs)
{
    double ratios[ROUNDS];

    for (int i = 0; i < ROUNDS; i++)
        ratios[i] = ours[i] / theirs[i];
    return median(ratios, ROUNDS);
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

/* A round counts only if nothing is left of it. */
static void must_be_empty(struct domain *domain)
{
    AUTO(stmt) q = NULL;
    struct err err = ERR_INIT;
    int r;

    must(db_prepare(domain_db(domain), SQL("SELECT 1 AS n FROM wake_queue LIMIT 1"), &q, &err),
         &err, "left");
    r = stmt_step(q, &err);
    must(r, &err, "left");
    if (r == 0)
        return;
    fprintf(stderr, "bench: wakes are left in the queue\n");
    exit(1);
}

/* ---- working until nothing is left ---- */

struct bench_worker {
    struct worker worker;
    struct waker_listener listener;
    double ended;
};

static void nothing_left(struct waker_listener *listener)
{
    struct bench_worker *b = CONTAINER_OF(listener, struct bench_worker, listener);

    b->ended = now_s();
    loop_stop(b->worker.loop);
}

/* Until it finds nothing more; returns when that was. */
static double work(struct bench_worker *b)
{
    struct err err = ERR_INIT;

    b->listener.changed = nothing_left;
    waker_tell(b->worker.waker, &b->listener);
    waker_look(b->worker.waker);
    must(loop_run(b->worker.loop, &err), &err, "loop");
    waker_tell(b->worker.waker, NULL);
    return b->ended;
}

/* ---- SQLite ---- */

static double sqlite_round(struct domain *domain, int64_t wakes, int batch)
{
    struct bench_worker b = { .ended = 0 };
    double from, seconds;

    worker_open(&b.worker, &(struct worker_config){ .domain = domain, .one_by_one = batch == 1 });
    worker_warm(&b.worker);
    fill(domain, wakes);
    from = now_s();
    seconds = work(&b) - from;
    worker_close(&b.worker);
    must_be_empty(domain);
    return (double)wakes / seconds;
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
    double single[ROUNDS], bare[ROUNDS], batched[ROUNDS], ratio;
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
    ratio = median_ratio(single, bare);
    printf("{\"bench\":\"wake.queue\",\"engine\":\"sqlite\",\"per_commit\":1,\"value\":%.0f,"
           "\"unit\":\"wakes/s\",\"yardstick\":\"a bare loop that stores outcomes\","
           "\"yardstick_value\":%.0f,\"ratio\":%.2f,\"target\":%.1f,\"ok\":%s}\n",
           median(single, ROUNDS), median(bare, ROUNDS), ratio, SHARE,
           ratio >= SHARE ? "true" : "false");
    printf("{\"bench\":\"wake.queue\",\"engine\":\"sqlite\",\"per_commit\":%d,\"value\":%.0f,"
           "\"unit\":\"wakes/s\"}\n",
           BATCH, median(batched, ROUNDS));
}

/* ---- Postgres ---- */

static const char *const hosts[WORKERS] = { "01890a5d-ac96-774b-bcce-b302099a8057",
                                            "01890a5d-ac96-774b-bcce-b302099a8058" };

/* What a process does in a round; more than 0: a waker that takes so many at a time. */
enum { PLAIN = 0, PIPELINED = -1, TAKE_ONLY = -2 };

static int step_once(struct domain *domain, struct sql sql, int64_t *ret_n)
{
    AUTO(stmt) q = NULL;
    struct err err = ERR_INIT;
    int r;

    must(db_prepare(domain_db(domain), sql, &q, &err), &err, "take");
    r = stmt_step(q, &err);
    must(r, &err, "take");
    if (r == 1)
        *ret_n = stmt_i64(q, "n");
    return r;
}

static int take_only(struct domain *domain)
{
    int64_t n;

    return step_once(domain,
                     SQL("DELETE FROM wake_queue WHERE n = (SELECT n FROM wake_queue"
                         " WHERE not_before <= 2 ORDER BY not_before, n"
                         " LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING n, payload"),
                     &n);
}

static int take_and_end(struct domain *domain)
{
    int64_t n;

    if (step_once(domain,
                  SQL("SELECT n, payload FROM wake_queue WHERE not_before <= 2"
                      " ORDER BY not_before, n LIMIT 1 FOR UPDATE SKIP LOCKED"),
                  &n) == 0)
        return 0;
    exec(domain,
         SQL("WITH q AS (DELETE FROM wake_queue WHERE n = ? RETURNING *)"
             " INSERT INTO wake_runs (n, run_key, agent_n, reason, reason_id, thread_id, payload,"
             " created_at, status, ended_at) SELECT n, run_key, agent_n, reason, reason_id,"
             " thread_id, payload, created_at, 'skipped_noop', 1 FROM q"),
         n);
    return 1;
}

static void pipelined_loop(struct domain *domain, bool take)
{
    struct err err = ERR_INIT;
    int r;

    do {
        must(domain_begin(domain, &err), &err, "begin");
        r = take ? take_only(domain) : take_and_end(domain);
        must(domain_commit(domain, &err), &err, "commit");
    } while (r == 1);
}

static void meet(int ready, int go)
{
    say(ready, 0);
    hear(go);
}

static double run_waker(struct domain *domain, int i, bool one_by_one, int ready, int go)
{
    struct bench_worker b = { .ended = 0 };
    double ended;

    worker_open(&b.worker, &(struct worker_config){
                               .domain = domain, .host = hosts[i], .one_by_one = one_by_one });
    worker_warm(&b.worker);
    meet(ready, go);
    ended = work(&b);
    worker_close(&b.worker);
    return ended;
}

static double run_plain(const char *url, int ready, int go)
{
    struct plain *plain = plain_open(url);
    double ended;

    meet(ready, go);
    plain_loop(plain);
    ended = now_s();
    plain_close(plain);
    return ended;
}

static double run_pipelined(struct domain *domain, bool take, int ready, int go)
{
    meet(ready, go);
    pipelined_loop(domain, take);
    return now_s();
}

/* Ready, says so, waits for the word, works until nothing is left, says when that was. */
static _Noreturn void worker_main(const char *url, int i, int how, int ready, int go)
{
    struct domain *domain = how == PLAIN ? NULL : open_domain(url);
    double ended;

    if (how > 0)
        ended = run_waker(domain, i, how == 1, ready, go);
    else if (how == PLAIN)
        ended = run_plain(url, ready, go);
    else
        ended = run_pipelined(domain, how == TAKE_ONLY, ready, go);
    say(ready, ended);
    domain_free(domain);
    _exit(0);
}

static double pg_round(const char *url, struct domain *domain, int64_t wakes, int how)
{
    int ready[2], go[2];
    struct err err = ERR_INIT;
    double from, ended = 0;

    if (pipe(ready) < 0 || pipe(go) < 0)
        exit(1);
    for (int i = 0; i < WORKERS; i++)
        if (fork() == 0)
            worker_main(url, i, how, ready[1], go[0]);
    for (int i = 0; i < WORKERS; i++)
        hear(ready[0]);
    /* As a server that was left alone has done by now. */
    must(db_exec(domain_db(domain), SQL("VACUUM ANALYZE wake_queue"), &err), &err, "vacuum");
    must(db_exec(domain_db(domain), SQL("VACUUM ANALYZE wake_runs"), &err), &err, "vacuum");
    fill(domain, wakes);
    from = now_s();
    for (int i = 0; i < WORKERS; i++)
        say(go[1], 0);
    for (int i = 0; i < WORKERS; i++) {
        double at = hear(ready[0]);

        ended = at > ended ? at : ended;
    }
    while (wait(NULL) > 0)
        ;
    close(ready[0]), close(ready[1]), close(go[0]), close(go[1]);
    must_be_empty(domain);
    return (double)wakes / (ended - from);
}

struct pg_figures {
    double plain[ROUNDS], pipelined[ROUNDS], take[ROUNDS], single[ROUNDS], batched[ROUNDS];
};

static void print_single(struct pg_figures *f)
{
    double of_plain = median_ratio(f->single, f->plain);
    double of_pipelined = median_ratio(f->single, f->pipelined);
    double of_take = median_ratio(f->single, f->take);

    printf("{\"bench\":\"wake.queue\",\"engine\":\"postgres\",\"workers\":%d,\"per_commit\":1,"
           "\"value\":%.0f,\"unit\":\"wakes/s\",\"yardstick\":\"a bare SKIP LOCKED loop that stores"
           " outcomes\",\"yardstick_value\":%.0f,\"ratio\":%.2f,\"target\":%.1f,\"ok\":%s,"
           "\"pipelined_value\":%.0f,\"pipelined_ratio\":%.2f,"
           "\"take_only_value\":%.0f,\"take_only_ratio\":%.2f}\n",
           WORKERS, median(f->single, ROUNDS), median(f->plain, ROUNDS), of_plain, SHARE,
           of_plain >= SHARE ? "true" : "false", median(f->pipelined, ROUNDS), of_pipelined,
           median(f->take, ROUNDS), of_take);
}

static void print_batched(struct pg_figures *f)
{
    double value = median(f->batched, ROUNDS);

    printf("{\"bench\":\"wake.queue\",\"engine\":\"postgres\",\"workers\":%d,\"per_commit\":%d,"
           "\"value\":%.0f,\"unit\":\"wakes/s\",\"yardstick\":\"graphile-worker, jobs/s\","
           "\"yardstick_value\":%.0f,\"ratio\":%.2f,\"target\":1,\"ok\":%s}\n",
           WORKERS, BATCH, value, PEER, value / PEER, value > PEER ? "true" : "false");
}

static void on_postgres(void)
{
    const char *why = NULL, *socket_dir;
    struct pg_figures f;
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
        f.plain[i] = pg_round(url, domain, SINGLE, PLAIN);
        f.single[i] = pg_round(url, domain, SINGLE, 1);
        f.pipelined[i] = pg_round(url, domain, SINGLE, PIPELINED);
        f.take[i] = pg_round(url, domain, SINGLE, TAKE_ONLY);
        f.batched[i] = pg_round(url, domain, BATCHED, BATCH);
    }
    domain_free(domain);
    print_single(&f);
    print_batched(&f);
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
