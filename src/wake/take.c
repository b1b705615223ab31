/* Taking what is due from the queue.
 *
 * One transaction looks at a number of wakes, in order, and ends all that need no run: those of
 * agents that are gone, paused, stopped or asleep, and those whose changes were seen before. Of the
 * others the first of each agent is flown (flight.c), which takes the rest of that agent along. So
 * however many wakes one agent has, it has one place in the round, and nobody waits behind it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/log.h"
#include "base/map.h"
#include "wake/waker_int.h"

#define HOUR_MS (INT64_C(3600) * 1000)

struct round {
    struct waker *waker;
    struct arena arena;
    int64_t now;
    int64_t places; /* for runs that nobody asked for */
    struct claim_end *ends;
    size_t end_count;
    const struct claim **runs;
    size_t run_count;
    struct map agents; /* that something was decided about in this round */
    bool moved;        /* something left the queue, or its place in it */
    bool from_memory;  /* it begins runs, or ends wakes by what is known here alone */
    bool left;         /* all of it, without a lease */
};

static struct domain *domain_of(const struct round *round)
{
    return round->waker->config.agent_domain;
}

static void end_with(struct round *round, const struct wake_job *job, enum wake_status status,
                     const char *why)
{
    round->ends[round->end_count++] =
        (struct claim_end){ .n = job->n, .status = status, .why = why };
    round->moved = true;
    round->from_memory |= status == WAKE_SKIPPED_KILLED;
}

/* When its sleep ends, one wake covers what it has missed. */
static int queue_end_of_sleep(struct round *round, const struct claim_agent *agent, int64_t until,
                              struct err *err)
{
    struct wake_job job = { .agent_n = agent->n,
                            .reason = STR("recoveryCatchup"),
                            .reason_id = STR(WAKE_SLEEP_ID),
                            .scheduled_at = until,
                            .not_before = until,
                            .held = WAKE_HELD_SLEEP,
                            .priority = 1,
                            .created_at = round->now };
    char key[SHA256_TEXT_SIZE];

    wake_key_timer(agent->id.p, job.reason_id, until, key);
    job.run_key = str_from(key);
    return wake_enqueue(domain_of(round), &job, err) < 0 ? -1 : 0;
}

/* True: this is the first of the agent's wakes that the same was found of. */
static bool first_of_agent(struct round *round, const struct claim *claim)
{
    struct str key = str_of((const char *)&claim->agent.n, sizeof(claim->agent.n));

    if (map_find(&round->agents, key))
        return false;
    map_put(&round->agents, key, round);
    return true;
}

/* The leash: an agent that woke too often within the hour waits until the first of those runs is an
 * hour old. 1 it does. */
static int hold_back(struct round *round, const struct claim *claim, struct err *err)
{
    unsigned most = round->waker->config.runs_per_hour;
    int64_t began;

    if (!most || claim_by_person(&claim->job) || wake_in_conversation(&claim->job))
        return 0;
    if (claim_run_began(domain_of(round), claim->agent.n, most, &began, err) < 0)
        return -1;
    if (began <= round->now - HOUR_MS || began > round->now)
        return 0;
    round->moved = true;
    return claim_delay(domain_of(round), claim->agent.n, began + HOUR_MS, WAKE_HELD_OFTEN,
                       round->now, err) < 0
               ? -1
               : 1;
}

static int decide(struct round *round, const struct claim *claim, struct err *err)
{
    struct claim_judged judged = claim_judge_agent(claim, round->waker->config.kill,
                                                   round->waker->config.cooldown_ms, round->now);
    int held;

    switch (judged.verdict) {
    case CLAIM_ENDS:
        end_with(round, &claim->job, judged.status, judged.why);
        return judged.until && first_of_agent(round, claim)
                   ? queue_end_of_sleep(round, &claim->agent, judged.until, err)
                   : 0;
    case CLAIM_PARKS:
        round->moved = true;
        return first_of_agent(round, claim)
                   ? claim_park(domain_of(round), claim->agent.n, round->now, err)
                   : 0;
    case CLAIM_LATER:
        round->moved = true;
        return first_of_agent(round, claim)
                   ? claim_delay(domain_of(round), claim->agent.n, judged.until, judged.held,
                                 round->now, err)
                   : 0;
    case CLAIM_RUNS:
        break;
    }
    if (claim_is_stale(&claim->job, &claim->agent.processed, &round->arena)) {
        end_with(round, &claim->job, WAKE_SKIPPED_NOOP, "everything in it was seen before");
        return 0;
    }
    if (!first_of_agent(round, claim))
        return 0;
    held = hold_back(round, claim, err);
    if (held == 0)
        round->runs[round->run_count++] = claim;
    round->from_memory |= held == 0;
    return held < 0 ? -1 : 0;
}

/* Of those who want to fly, what a person waits for needs no place. */
static int count_places(struct round *round, struct err *err)
{
    const struct waker *waker = round->waker;
    int64_t flights = 0;

    if (round->run_count == 0)
        return 0;
    if (claim_flights(domain_of(round), waker->fence ? change_host(waker->config.change) : 0,
                      &flights, err) < 0)
        return -1;
    round->places = (int64_t)waker->config.max_flights - flights;
    return 0;
}

/* A process that stood still for longer than its lease does not know what the others did since: it
 * has heard of no emergency stop, and its own runs go on elsewhere. What follows from the rows of
 * this transaction alone, it may do. 1 it holds the lease. */
static int may_act(const struct round *round, struct err *err)
{
    return round->from_memory ? waker_holds_lease(round->waker, err) : 1;
}

/* The beat renews it, or finds that it is lost. */
static void leave_all(struct round *round)
{
    round->end_count = round->run_count = 0;
    round->moved = false;
    round->left = true;
}

static int take_all(struct round *round, struct err *err)
{
    struct claim *claims;
    size_t n;
    int r;

    if (claim_due(domain_of(round), round->now, round->waker->config.one_by_one, &round->arena,
                  &claims, &n, err) < 0)
        return -1;
    round->ends = ARENA_NEW_N(&round->arena, struct claim_end, n + 1);
    round->runs = ARENA_NEW_N(&round->arena, const struct claim *, n + 1);
    for (size_t i = 0; i < n; i++) {
        if (decide(round, &claims[i], err) < 0)
            return -1;
    }
    r = may_act(round, err);
    if (r == 0)
        leave_all(round);
    if (r < 0 || count_places(round, err) < 0)
        return -1;
    return claim_end_all(domain_of(round), round->ends, round->end_count, round->now, err);
}

static bool has_place(const struct round *round, const struct claim *claim)
{
    return round->places > 0 || claim_by_person(&claim->job);
}

/* What is about to fly stays locked until its run is stored, which is in the same tick: another
 * process looks at others. */
static bool is_of_use(const struct round *round)
{
    for (size_t i = 0; i < round->run_count; i++)
        if (has_place(round, round->runs[i]))
            return true;
    return round->moved;
}

static int take_in_unit(struct round *round, struct err *err)
{
    struct loop *loop = round->waker->config.loop;
    int r;

    if (loop_unit_begin(loop, domain_of(round), err) < 0)
        return -1;
    r = take_all(round, err);
    if (r == 0 && is_of_use(round))
        return loop_unit_leave(loop, err);
    loop_unit_end(loop, false, NULL);
    return r;
}

/* 1 something flies. */
static int fly_all(struct round *round, struct err *err)
{
    int started = 0;

    for (size_t i = 0; i < round->run_count; i++) {
        const struct claim *claim = round->runs[i];

        if (!has_place(round, claim))
            continue;
        round->places -= !claim_by_person(&claim->job);
        if (waker_fly(round->waker, claim, round->now, err) < 0)
            return -1;
        started = 1;
    }
    return started;
}

static void watch_next(struct waker *waker)
{
    struct err err = ERR_INIT;
    int64_t at = 0;

    waker->reached = 0; /* all that was due then is taken */
    if (claim_next(waker->config.agent_domain, waker_now(waker), &at, &err) < 0) {
        if (loop_is_healthy(waker->config.loop))
            LOG_ERROR("wake", "when the next wake is due could not be read", LOG_ERR(&err));
        at = waker_now(waker) + WAKER_AGAIN_MS;
    }
    if (at)
        waker_wait_until(waker, at);
}

/* Nothing more is due, and what the rounds before did is durable. */
static void rest(struct waker *waker)
{
    watch_next(waker);
    if (waker->listener)
        waker->listener->changed(waker->listener);
}

void waker_take(struct waker *waker)
{
    struct round round = {
        .waker = waker, .arena = ARENA_INIT, .now = waker_now(waker), .agents = MAP_INIT
    };
    struct err err = ERR_INIT;
    int r;

    if (waker->stopping)
        return;
    r = take_in_unit(&round, &err);
    if (r == 0)
        r = fly_all(&round, &err);
    if (r < 0 && err.code != ERR_LEASE_LOST && loop_is_healthy(waker->config.loop))
        LOG_WARN("wake", "wakes could not be taken, they stay", LOG_ERR(&err));
    if (r < 0 && !loop_is_healthy(waker->config.loop))
        ; /* waker_look() comes when the store is healthy again */
    else if (r < 0 || round.left)
        loop_timer_start(waker->config.loop, &waker->look, WAKER_AGAIN_MS);
    else if (r > 0 || round.moved)
        loop_timer_start(waker->config.loop, &waker->look, 0); /* there may be more */
    else
        rest(waker);
    map_release(&round.agents);
    arena_release(&round.arena);
}
