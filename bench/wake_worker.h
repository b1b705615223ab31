/* What the benchmarks of the wake queue share: a waker in a process, and words between processes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BENCH_WAKE_WORKER_H
#define DORMOUSE_BENCH_WAKE_WORKER_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "db/migrations.h"
#include "wake/wake.h"

#define WARM_MS 100

static inline void must(int r, const struct err *err, const char *what)
{
    char text[ERR_TEXT_MAX + 64];

    if (r >= 0)
        return;
    fprintf(stderr, "bench: %s: %s\n", what, err_format(err, text, sizeof(text)));
    exit(1);
}

static inline double now_s(void)
{
    return (double)clock_mono_ns(clock_system()) / 1e9;
}

static inline struct domain *open_domain(const char *url)
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

/* ---- between processes: a moment, or nothing but the word ---- */

static inline void say(int fd, double at)
{
    if (write(fd, &at, sizeof(at)) != sizeof(at))
        _exit(1);
}

static inline double hear(int fd)
{
    double at;

    if (read(fd, &at, sizeof(at)) != sizeof(at))
        exit(1);
    return at;
}

/* ---- a worker: a whole waker ---- */

struct worker_config {
    struct domain *domain;
    const char *host;
    bool one_by_one;
    int (*answer)(void *answer_arg, const struct model_request *request,
                  const struct model_sink *sink, void *arg,
                  struct err *err); /* NULL: there is no model */
    void *answer_arg;
};

struct worker {
    struct domain *domain;
    struct loop *loop;
    struct change *change;
    struct kill_switches *kill;
    struct model_gateway *models;
    struct tool_bed *tools;
    struct runner *runner;
    struct waker *waker;
};

static inline void worker_open(struct worker *w, const struct worker_config *config)
{
    struct model_spec spec = {
        .id = "inside", .provider = "call", .call = config->answer, .call_arg = config->answer_arg
    };
    struct model_gateway_config models = { .models = &spec, .model_count = config->answer != NULL };
    struct tool_bed_config bed = { .agent_domain = config->domain, .policy_text_hash = "" };
    struct runner_config runner = { .agent_domain = config->domain,
                                    .default_agent_name = "Planner",
                                    .default_model = config->answer ? "inside" : "offline",
                                    .default_cwd = "/" };
    struct waker_config waker = { .agent_domain = config->domain,
                                  .one_by_one = config->one_by_one };
    struct err err = ERR_INIT;

    *w = (struct worker){ .domain = config->domain };
    must(loop_new(NULL, &w->loop, &err), &err, "loop");
    loop_attach(w->loop, config->domain);
    must(change_open_as(config->domain, config->host, NULL, NULL, &w->change, &err), &err,
         "change");
    must(kill_open(config->domain, &w->kill, &err), &err, "kill");
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

struct worker_warming {
    struct loop_timer timer;
    struct loop *loop;
};

static inline void worker_is_warm(struct loop_timer *timer)
{
    loop_stop(CONTAINER_OF(timer, struct worker_warming, timer)->loop);
}

/* Its first looks are done, and it hears of others. */
static inline void worker_warm(struct worker *w)
{
    struct worker_warming warming = { .timer = { .fire = worker_is_warm }, .loop = w->loop };
    struct err err = ERR_INIT;

    loop_timer_start(w->loop, &warming.timer, WARM_MS);
    must(loop_run(w->loop, &err), &err, "loop");
}

static inline void worker_close(struct worker *w)
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

#endif
