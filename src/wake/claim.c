/* What becomes of a wake: decided by the condition of its agent, and by what was seen before.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json_object_iterator.h>

#include "base/json.h"
#include "wake/claim_int.h"

bool claim_by_person(const struct wake_job *job)
{
    return job->priority == 0;
}

static struct claim_judged ends(enum wake_status status, const char *why)
{
    return (struct claim_judged){ .verdict = CLAIM_ENDS, .status = status, .why = why };
}

/* A last wake that lies ahead (the clock was set back) says nothing. */
static int64_t rested_at(const struct claim_agent *agent, int64_t cooldown_ms, int64_t now_ms)
{
    int64_t backoff = agent->failures > 0 ? agent_backoff_ms(agent->failures) : 0;
    int64_t pause = backoff > cooldown_ms ? backoff : cooldown_ms;

    return agent->last_wake_at > now_ms ? now_ms : agent->last_wake_at + pause;
}

static struct claim_judged judge_life(const struct claim_agent *agent)
{
    if (agent->lifecycle == AGENT_DESTROYED)
        return ends(WAKE_SKIPPED_DESTROYED, "the agent was destroyed");
    if (agent->paused)
        return ends(WAKE_SKIPPED_PAUSED, "the agent is paused");
    return (struct claim_judged){ .verdict = CLAIM_RUNS };
}

/* Of wakes that nobody waits for. */
static struct claim_judged judge_rest(const struct claim *claim, int64_t cooldown_ms,
                                      int64_t now_ms)
{
    const struct claim_agent *agent = &claim->agent;
    bool somebody_reads = wake_in_conversation(&claim->job);
    int64_t rested = rested_at(agent, somebody_reads ? 0 : cooldown_ms, now_ms);
    struct claim_judged judged = { .verdict = CLAIM_RUNS };

    if (agent->lifecycle == AGENT_DORMANT)
        return ends(WAKE_SKIPPED_SLEEPING, "the agent is dormant: only a person wakes it");
    if (agent->lifecycle == AGENT_CREATED)
        return ends(WAKE_SKIPPED_SLEEPING, "the agent was not made active yet");
    if (agent->interactive && !somebody_reads)
        return ends(WAKE_SKIPPED_SLEEPING, "the agent is interactive: only a person wakes it");
    if (agent->sleep_until > now_ms) {
        judged =
            ends(WAKE_SKIPPED_SLEEPING, "the agent sleeps; when it wakes, it hears of all at once");
        judged.until = agent->sleep_until;
    } else if (agent->last_wake_at > 0 && rested > now_ms) {
        judged.verdict = CLAIM_LATER;
        judged.until = rested;
        judged.held = agent->failures > 0 ? WAKE_HELD_FAILURES : WAKE_HELD_REST;
    }
    return judged;
}

struct claim_judged claim_judge_agent(const struct claim *claim, const struct kill_switches *kill,
                                      int64_t cooldown_ms, int64_t now_ms)
{
    const struct claim_agent *agent = &claim->agent;
    struct claim_judged judged = judge_life(agent);

    if (judged.verdict != CLAIM_RUNS)
        return judged;
    /* Ids of agents end with their byte NUL: they were copied into an arena. */
    if (kill && kill_is_on(kill, agent->id.p, NULL))
        return ends(WAKE_SKIPPED_KILLED, "the emergency stop is on");
    if (agent->flying)
        return (struct claim_judged){ .verdict = CLAIM_PARKS };
    return claim_by_person(&claim->job) ? judged : judge_rest(claim, cooldown_ms, now_ms);
}

/* ---- what was seen before ---- */

static struct vclock counters_of(struct json_object *payload, struct arena *arena)
{
    struct json_object *counters = json_find(payload, "counters");
    struct vclock clock = { 0 };

    if (!counters || !json_object_is_type(counters, json_type_object))
        return clock;
    for (struct json_object_iterator at = json_object_iter_begin(counters),
                                     end = json_object_iter_end(counters);
         !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        int64_t counter = json_object_get_int64(json_object_iter_peek_value(&at));
        struct str host = str_from(json_object_iter_peek_name(&at));

        if (counter > 0)
            clock = vclock_with(&clock, arena_str(arena, host), counter, arena);
    }
    return clock;
}

/* Changes of the journal alone: its batches are read in the order in which each host's counters
 * grow, so a counter that was seen says that all before it were. The counters of the two domains
 * are one sequence, and their batches are read side by side: that does not hold across them. */
static struct vclock read_counters(const struct wake_job *job, bool *ret_apart, struct arena *arena)
{
    AUTO_JSON payload = NULL;

    *ret_apart = false;
    if (!job->payload.n || json_parse(job->payload, &payload, NULL) < 0 ||
        !str_is(json_str(json_find(payload, "domain")), "journal"))
        return (struct vclock){ 0 };
    *ret_apart = str_is(json_str(json_find(payload, "held")), wake_held_name(WAKE_HELD_HOURS));
    return counters_of(payload, arena);
}

struct vclock claim_counters(const struct wake_job *job, struct arena *arena)
{
    bool apart;

    return read_counters(job, &apart, arena);
}

/* What waited for its hours was left out while later ones were told: of it they say nothing. */
bool claim_is_stale(const struct wake_job *job, const struct vclock *processed, struct arena *arena)
{
    struct vclock counters;
    bool apart;

    if (processed->n == 0)
        return false;
    counters = read_counters(job, &apart, arena);
    if (apart)
        return false;
    for (size_t i = 0; i < counters.n; i++)
        if (counters.at[i].counter > vclock_of(processed, counters.at[i].host))
            return false;
    return counters.n > 0;
}
