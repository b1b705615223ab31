/* The runner: all runs that are in memory, and those who listen.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/rand.h"
#include "run/run_int.h"

/* ---- listeners ---- */

void runner_listen(struct runner *runner, struct run_listener *listener)
{
    listener->next = runner->listeners;
    runner->listeners = listener;
}

void runner_unlisten(struct runner *runner, struct run_listener *listener)
{
    for (struct run_listener **at = &runner->listeners; *at; at = &(*at)->next) {
        if (*at == listener) {
            *at = listener->next;
            return;
        }
    }
}

/* ---- in and out of memory ---- */

void run_hold(struct run *run)
{
    run->busy++;
}

/* What is tried again at once would find the disk as it was. */
#define AGAIN_MS 1000

/* When to try again. A disk that takes nothing is no fault of the run. */
static int64_t count_failure(struct run *run)
{
    struct map *failures = &run->runner->failures;
    uintptr_t n = (uintptr_t)map_find(failures, run->row.run_key);

    if (domain_health(run->runner->config.agent_domain) != DOMAIN_OK)
        return AGAIN_MS;
    map_put(failures, run->row.run_key, (void *)(n + 1));
    return n ? AGAIN_MS : 0;
}

/* Nothing will call back any more: it has ended, or waits, or must be loaded again. */
static void let_go(struct run *run)
{
    struct runner *runner = run->runner;
    bool again = run->broken && !runner->stopping;
    int64_t delay = again ? count_failure(run) : 0;

    if (map_find(&runner->runs, run->row.run_key) == run)
        map_remove(&runner->runs, run->row.run_key);
    if (run->ended && runner->hands)
        hands_end(runner->hands, run->row.run_key);
    run_free(run);
    if (again)
        runner_reload(runner, delay);
}

void run_unhold(struct run *run)
{
    if (--run->busy == 0)
        let_go(run);
}

/* ---- engines ---- */

struct bp_engine *runner_engine_take(struct runner *runner)
{
    if (runner->engine_count)
        return runner->engines[--runner->engine_count];
    return bp_new(runner->config.program, RUN_CALLS_MAX, NULL);
}

void runner_engine_give(struct runner *runner, struct bp_engine *engine)
{
    if (engine && bp_program_of(engine) == runner->config.program &&
        runner->engine_count < RUNNER_ENGINES)
        runner->engines[runner->engine_count++] = engine;
    else
        bp_free(engine);
}

/* ---- hands ---- */

static void hand_noticed(void *arg, struct str run_key, const struct hand_notice *notice)
{
    struct runner *runner = arg;
    struct run *run = map_find(&runner->runs, run_key);

    if (strcmp(notice->kind, "set_aside") == 0)
        run_aside(runner, run_key, notice->detail);
    else if (run)
        run_note(run, notice->kind, notice->detail);
}

/* ---- the runner ---- */

/* Whoever goes on with a run, or replays it, after the policy has become another one needs it. */
static int keep_policy(struct runner *runner, struct err *err)
{
    struct loop *loop = runner->config.loop;
    int r;

    if (!runner->config.policy_text.n)
        return 0;
    if (loop_unit_begin(loop, runner->config.agent_domain, err) < 0)
        return -1;
    r = run_rulebook_keep(&runner->rules, runner->config.policy_text, err);
    if (loop_unit_end(loop, r == 0, r == 0 ? err : NULL) < 0)
        return -1;
    return r;
}

int runner_new(const struct runner_config *config, struct runner **ret_runner, struct err *err)
{
    struct runner *runner = NEW(struct runner);

    *runner = (struct runner){ .config = *config, .runs = MAP_INIT };
    runner->queue_last = &runner->queue_first;
    runner->prompts = prompt_cache_new();
    if (!runner->config.program)
        runner->config.program = &run_program;
    run_rulebook_init(&runner->rules, config->agent_domain, runner->config.program,
                      config->policy_text);
    if (keep_policy(runner, err) < 0) {
        runner_free(runner);
        return -1;
    }
    uuid_source_init(&runner->uuids, loop_clock(config->loop), rand_system());
    runner->hands = hands_new(
        &(struct hands_config){ .loop = config->loop, .notice = hand_noticed, .arg = runner });
    runner_recover(runner);
    *ret_runner = runner;
    return 0;
}

void runner_stop(struct runner *runner)
{
    if (runner->stopping)
        return;
    runner->stopping = true;
    loop_timer_stop(runner->config.loop, &runner->waits);
    loop_timer_stop(runner->config.loop, &runner->waited);
    loop_timer_stop(runner->config.loop, &runner->recover);
    map_each (&runner->runs, entry) {
        struct run *run = entry->value;

        run_hold(run);
        loop_timer_stop(runner->config.loop, &run->time_limit);
        run_stop_effects(run);
    }
    hands_free(runner->hands);
    runner->hands = NULL;
}

void runner_free(struct runner *runner)
{
    if (!runner)
        return;
    map_each (&runner->runs, entry)
        run_free(entry->value);
    map_release(&runner->runs);
    map_release(&runner->failures);
    while (runner->engine_count)
        bp_free(runner->engines[--runner->engine_count]);
    prompt_cache_free(runner->prompts);
    for (size_t i = 0; i < ARRAY_LEN(runner->said); i++) {
        buf_release(&runner->said[i].text);
        buf_release(&runner->said[i].taint);
    }
    run_rulebook_release(&runner->rules);
    free(runner);
}

size_t runner_loaded(const struct runner *runner)
{
    return map_count(&runner->runs);
}

size_t runner_active(const struct runner *runner)
{
    size_t n = 0;

    map_each (&runner->runs, entry)
        n += ((struct run *)entry->value)->busy > 0;
    return n;
}

void runner_on_end(struct runner *runner,
                   int (*ended)(void *arg, const struct run_end *end, struct err *err),
                   int (*waits)(void *arg, const struct run_end *run, struct err *err), void *arg)
{
    runner->config.ended = ended;
    runner->config.waits = waits;
    runner->config.ended_arg = arg;
}

void runner_on_speech(struct runner *runner, void (*spoken)(void *arg), void *arg)
{
    runner->config.spoken = spoken;
    runner->config.spoken_arg = arg;
}

const struct bp_program *runner_program(const struct runner *runner)
{
    return runner->config.program;
}
