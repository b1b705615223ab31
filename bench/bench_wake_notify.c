/* wake.notify: two processes on one Postgres (with syncs, as an ordinary server): the time from the
 * moment in which one begins to store a wake to the moment in which the other asks the model for
 * it. In between lie the commit with its notification, the look into the queue, the observation and
 * the commit that stores the run.
 *
 * SPDX-License-Identifier: MIT
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "db/db.h"
#include "harness/pg_server.h"
#include "wake_worker.h"

#define AGENTS   50
#define WAKES    300
#define POLL_MS  2000.0 /* what it would be without: at most */
#define PAUSE_US 20000

static const char host[] = "01890a5d-ac96-774b-bcce-b302099a8057";

static int asked(void *call_arg, const struct model_request *request, const struct model_sink *sink,
                 void *arg, struct err *err)
{
    const struct model_reply reply = { .text = STR("Seen."), .stop = MODEL_STOP_END };

    (void)request, (void)err;
    say(*(int *)call_arg, now_s());
    sink->on_done(arg, &reply, NULL, -1);
    return 0;
}

static _Noreturn void other_main(const char *url, int told)
{
    struct err err = ERR_INIT;
    struct worker w;

    worker_open(
        &w, &(struct worker_config){
                .domain = open_domain(url), .host = host, .answer = asked, .answer_arg = &told });
    worker_warm(&w);
    say(told, 0);
    must(loop_run(w.loop, &err), &err, "loop");
    _exit(0);
}

static void add_agents(struct domain *domain)
{
    AUTO(stmt) q = NULL;
    struct err err = ERR_INIT;

    must(db_prepare(domain_db(domain),
                    SQL("WITH RECURSIVE i (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE"
                        " i < ?) INSERT INTO agents (n, id, kind, display_name, created_at,"
                        " updated_at, host_n, counter) SELECT i, 'agent-' || i, 'coach', 'Coach',"
                        " 1, 1, 1, i FROM i"),
                    &q, &err),
         &err, "agents");
    stmt_bind_i64(q, AGENTS);
    must(stmt_run(q, &err), &err, "agents");
    must(db_exec(domain_db(domain),
                 SQL("INSERT INTO agent_states (id, agent_n, updated_at, host_n, counter)"
                     " SELECT id || ':h', n, 1, 1, n FROM agents"),
                 &err),
         &err, "states");
}

static void queue(struct domain *domain, int i)
{
    struct err err = ERR_INIT;
    char key[SHA256_TEXT_SIZE], agent[32], request[32];
    struct wake_job job = { .agent_n = 1 + i % AGENTS, .reason = STR("manual"), .created_at = 1 };

    snprintf(agent, sizeof(agent), "agent-%d", 1 + i % AGENTS);
    snprintf(request, sizeof(request), "request-%d", i);
    wake_key_manual(agent, str_from(request), key);
    job.run_key = str_from(key);
    job.reason_id = str_from(request);
    must(domain_begin(domain, &err), &err, "begin");
    must(wake_enqueue(domain, &job, &err), &err, "queue");
    must(domain_commit(domain, &err), &err, "commit");
}

static int by_value(const void *a, const void *b)
{
    double d = *(const double *)a - *(const double *)b;

    return d < 0 ? -1 : d > 0;
}

int main(void)
{
    static double waits[WAKES];
    const char *why = NULL, *socket_dir;
    struct domain *domain;
    char url[128];
    int told[2];
    pid_t other;

    pg_server_syncs = true;
    socket_dir = pg_server_dir(&why);
    if (!socket_dir) {
        printf("{\"bench\":\"wake.notify\",\"skipped\":\"Postgres does not start: %s\"}\n", why);
        return 0;
    }
    snprintf(url, sizeof(url), "postgresql:///postgres?host=%s&user=dormouse", socket_dir);
    domain = open_domain(url);
    add_agents(domain);
    if (pipe(told) < 0)
        return 1;
    other = fork();
    if (other == 0)
        other_main(url, told[1]);
    hear(told[0]);
    for (int i = 0; i < WAKES; i++) {
        double from = now_s();

        queue(domain, i);
        waits[i] = hear(told[0]) - from;
        usleep(PAUSE_US); /* the run ends, and it is idle again */
    }
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    domain_free(domain);
    qsort(waits, WAKES, sizeof(waits[0]), by_value);
    printf("{\"bench\":\"wake.notify\",\"engine\":\"postgres\",\"wakes\":%d,\"p50\":%.2f,"
           "\"value\":%.2f,\"unit\":\"ms p99\",\"yardstick\":\"polling, at most\","
           "\"yardstick_value\":%.0f}\n",
           WAKES, waits[WAKES / 2] * 1e3, waits[WAKES * 99 / 100] * 1e3, POLL_MS);
    return 0;
}
