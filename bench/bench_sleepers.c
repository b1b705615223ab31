/* wake.sleepers: 100,000 agents that sleep, each with a timer and a subscription: the memory that
 * they add to a house without any, the time until it is ready, and the time from a change of the
 * journal to the start of the run that it wakes (the moment in which the model is asked). Batches
 * are read after 1 ms here, not 100: the debounce is a delay that is wanted, and counts apart.
 *
 * SPDX-License-Identifier: MIT
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/rand.h"
#include "db/db.h"
#include "db/migrations.h"
#include "wake/wake.h"

#define SLEEPERS    100000
#define ROUNDS      1000
#define DEBOUNCE_MS 1
#define RSS_MB      120.0
#define START_S     1.5
#define P99_MS      20.0
#define GIVE_UP_MS  120000

struct house {
    struct domain *journal_domain, *domain;
    struct loop *loop;
    struct change *change;
    struct journal *journal;
    struct kill_switches *kill;
    struct model_gateway *models;
    struct tool_bed *tools;
    struct runner *runner;
    struct waker *waker;
    struct run_listener listener;
    struct loop_timer next, late;
    double written, waits[ROUNDS];
    int rounds;
};

static void must(int r, const struct err *err, const char *what)
{
    char text[ERR_TEXT_MAX + 64];

    if (r >= 0)
        return;
    fprintf(stderr, "bench-sleepers: %s: %s\n", what, err_format(err, text, sizeof(text)));
    exit(1);
}

static double now_s(void)
{
    return (double)clock_mono_ns(clock_system()) / 1e9;
}

static double rss_mb(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0, all = 0;

    malloc_trim(0);
    if (!file || fscanf(file, "%ld %ld", &all, &pages) != 2)
        exit(1);
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static struct domain *open_domain(const char *dir, const char *name,
                                  const struct migration *migrations, size_t n)
{
    struct domain *domain;
    struct err err = ERR_INIT;
    char url[256];

    snprintf(url, sizeof(url), "sqlite:%s/%s.sqlite", dir, name);
    must(domain_open(
             &(struct domain_config){
                 .name = name, .url = url, .migrations = migrations, .migration_count = n },
             &domain, &err),
         &err, "open");
    return domain;
}

/* ---- the sleepers ---- */

static void exec(struct domain *domain, struct sql sql, int64_t a)
{
    AUTO(stmt) q = NULL;
    struct err err = ERR_INIT;

    must(db_prepare(domain_db(domain), sql, &q, &err), &err, "prepare");
    if (a)
        stmt_bind_i64(q, a);
    must(stmt_run(q, &err), &err, "run");
}

static void add_sleepers(const char *dir)
{
    struct domain *domain = open_domain(dir, "agent", migrations_agent, migrations_agent_count);
    struct err err = ERR_INIT;

    must(domain_begin(domain, &err), &err, "begin");
    exec(domain,
         SQL("WITH RECURSIVE i (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE i < ?)"
             " INSERT INTO agents (n, id, kind, display_name, allowed_category_ids, created_at,"
             " mode, updated_at, host_n, counter) SELECT i, 'agent-' || i, 'coach', 'Coach ' || i,"
             " '[\"*\"]', 1, 'hybrid', 1, 1, i FROM i"),
         SLEEPERS);
    exec(domain,
         SQL("INSERT INTO agent_states (id, agent_n, updated_at, host_n, counter)"
             " SELECT id || ':h', n, 1, 1, n FROM agents"),
         0);
    exec(domain,
         SQL("INSERT INTO agent_subscriptions (n, id, agent_n, source, created_at, updated_at,"
             " host_n, counter) SELECT n, 'sub-' || n, n, 'journal', 1, 1, 1, n FROM agents"),
         0);
    exec(domain,
         SQL("INSERT INTO agent_subscription_tokens (subscription_n, token_class, token_namespace,"
             " token_value) SELECT n, 'subtypeToken', 'workoutType', 'w' || n FROM agents"),
         0);
    exec(domain,
         SQL("INSERT INTO agent_timers (id, agent_n, kind, rrule, start_local, zone, next_run_at,"
             " next_local, created_at, updated_at, host_n, counter) SELECT 'timer-' || n, n,"
             " 'rrule', 'FREQ=DAILY', '2026-01-01T07:00:00', 'UTC', ? + n,"
             " '2099-01-01T07:00:00', 1, 1, 1, n FROM agents"),
         clock_wall_ms(clock_system()) + 3600000);
    must(domain_commit(domain, &err), &err, "commit");
    domain_free(domain);
}

/* ---- the house ---- */

static int answer(void *call_arg, const struct model_request *request,
                  const struct model_sink *sink, void *arg, struct err *err)
{
    const struct model_reply reply = { .text = STR("Well done."), .stop = MODEL_STOP_END };
    struct house *h = call_arg;

    (void)request, (void)err;
    h->waits[h->rounds++] = now_s() - h->written;
    sink->on_done(arg, &reply, NULL, -1);
    return 0;
}

static void write_workout(struct loop_timer *timer)
{
    struct house *h = CONTAINER_OF(timer, struct house, next);
    const struct journal_author author = { .kind = CHANGE_BY_HUMAN };
    AUTO_ARENA arena = ARENA_INIT;
    AUTO_JSON fields = NULL;
    struct journal_write *write;
    struct record record;
    struct str result;
    struct err err = ERR_INIT;
    char text[128];

    snprintf(text, sizeof(text), "{\"kind\":\"workout\",\"subtype\":\"w%llu\",\"title\":\"Run\"}",
             (unsigned long long)rand_below(rand_system(), SLEEPERS) + 1);
    must(json_parse(str_from(text), &fields, &err), &err, "fields");
    h->written = now_s();
    must(journal_begin(h->journal, &author, &arena, &write, &result, &err), &err, "begin");
    must(journal_create(write, RECORD_ENTRY, STR_NONE, fields, &record, &err), &err, "create");
    must(journal_end(write, true, STR_NONE, &err), &err, "end");
}

static void heard(struct run_listener *listener, const struct run_public *event)
{
    struct house *h = CONTAINER_OF(listener, struct house, listener);

    if (strcmp(event->type, "done") != 0)
        return;
    if (h->rounds == ROUNDS)
        loop_stop(h->loop);
    else
        loop_timer_start(h->loop, &h->next, 1);
}

static void stop_loop(struct loop_timer *timer)
{
    loop_stop(CONTAINER_OF(timer, struct house, next)->loop);
}

static void give_up(struct loop_timer *timer)
{
    fprintf(stderr, "bench-sleepers: %d of %d agents were woken within %d s\n",
            CONTAINER_OF(timer, struct house, late)->rounds, ROUNDS, GIVE_UP_MS / 1000);
    exit(1);
}

/* Ready: the first looks at changes, timers and the queue are done. */
static void house_open(struct house *h, const char *dir)
{
    static struct model_spec spec;
    struct model_gateway_config models = { .models = &spec, .model_count = 1 };
    struct tool_bed_config bed = { .policy_text_hash = "" };
    struct runner_config runner = { .default_agent_name = "Planner",
                                    .default_model = "inside",
                                    .default_cwd = "/" };
    struct waker_config waker = { .zone = "UTC", .debounce_ms = DEBOUNCE_MS };
    struct err err = ERR_INIT;

    *h = (struct house){ .listener = { .event = heard } };
    spec = (struct model_spec){ .id = "inside", .provider = "call", .call = answer, .call_arg = h };
    h->journal_domain = open_domain(dir, "journal", migrations_journal, migrations_journal_count);
    h->domain = open_domain(dir, "agent", migrations_agent, migrations_agent_count);
    must(loop_new(NULL, &h->loop, &err), &err, "loop");
    loop_attach(h->loop, h->journal_domain);
    loop_attach(h->loop, h->domain);
    must(change_open(h->domain, NULL, NULL, &h->change, &err), &err, "change");
    must(change_join(h->change, h->journal_domain, &err), &err, "change");
    must(kill_open(h->domain, &h->kill, &err), &err, "kill");
    models.loop = bed.loop = runner.loop = waker.loop = h->loop;
    bed.agent_domain = runner.agent_domain = waker.agent_domain = h->domain;
    bed.kill = runner.kill = waker.kill = h->kill;
    runner.change = waker.change = h->change;
    h->journal = journal_new(&(struct journal_config){
        .loop = h->loop, .domain = h->journal_domain, .change = h->change, .zone = "UTC" });
    must(model_gateway_new(&models, &h->models, &err), &err, "models");
    must(tool_bed_new(&bed, &h->tools, &err), &err, "tools");
    runner.models = h->models;
    runner.tools = h->tools;
    must(runner_new(&runner, &h->runner, &err), &err, "runner");
    runner_listen(h->runner, &h->listener);
    waker.runner = h->runner;
    waker.journal = h->journal;
    must(waker_new(&waker, &h->waker, &err), &err, "waker");
    h->next.fire = stop_loop;
    loop_timer_start(h->loop, &h->next, 5);
    must(loop_run(h->loop, &err), &err, "loop");
}

static void house_close(struct house *h)
{
    waker_stop(h->waker);
    runner_stop(h->runner);
    model_gateway_free(h->models);
    tool_bed_free(h->tools);
    loop_settle(h->loop);
    loop_free(h->loop);
    waker_free(h->waker);
    runner_free(h->runner);
    journal_free(h->journal);
    kill_switches_free(h->kill);
    change_free(h->change);
    domain_free(h->domain);
    domain_free(h->journal_domain);
}

static int by_value(const void *a, const void *b)
{
    double d = *(const double *)a - *(const double *)b;

    return d < 0 ? -1 : d > 0;
}

static void figure(const char *what, double value, const char *unit, double target)
{
    printf("{\"bench\":\"wake.sleepers\",\"sleepers\":%d,\"what\":\"%s\",\"value\":%.2f,"
           "\"unit\":\"%s\",\"target\":%.1f,\"ok\":%s}\n",
           SLEEPERS, what, value, unit, target, value < target ? "true" : "false");
}

/* Where it is run, not in /tmp: that may be no disk at all. */
static char empty[] = "bench-sleepers-XXXXXX", full[] = "bench-sleepers-XXXXXX";

static void remove_houses(void)
{
    char command[96];

    snprintf(command, sizeof(command), "rm -rf %s %s", empty, full);
    if (system(command) != 0)
        fprintf(stderr, "bench-sleepers: %s failed\n", command);
}

int main(void)
{
    struct err err = ERR_INIT;
    struct house h;
    double before, started;

    if (!mkdtemp(empty) || !mkdtemp(full))
        return 1;
    atexit(remove_houses);
    add_sleepers(full);
    house_open(&h, empty);
    house_close(&h);
    before = rss_mb();
    started = now_s();
    house_open(&h, full);
    started = now_s() - started;
    h.next.fire = write_workout;
    h.late.fire = give_up;
    loop_timer_start(h.loop, &h.next, 1);
    loop_timer_start(h.loop, &h.late, GIVE_UP_MS);
    must(loop_run(h.loop, &err), &err, "loop");
    loop_timer_stop(h.loop, &h.late);
    figure("added memory, after all wakes", rss_mb() - before, "MB", RSS_MB);
    figure("start", started, "s", START_S);
    qsort(h.waits, ROUNDS, sizeof(double), by_value);
    figure("change to run start, median", h.waits[ROUNDS / 2] * 1e3, "ms", P99_MS);
    figure("change to run start, p99", h.waits[ROUNDS * 99 / 100] * 1e3, "ms", P99_MS);
    house_close(&h);
    return 0;
}
