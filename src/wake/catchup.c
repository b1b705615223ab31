/* Wakes that make up for others. They say nothing themselves: their run is told whatever was not
 * heard of since the last success (flight.c), so it does not matter which of them comes first.
 *
 * A run that failed by something that passes (the model can't be reached, takes no more for now, or
 * does not answer in time) is tried again: the unit that records its end queues one wake at the end
 * of the agent's pause after failures. Not so when the failed run began something that changes
 * something: that would be done twice.
 *
 * What an agent missed while it was paused or dormant, or while a kill switch was on, is made up
 * for when that ends. (The wake at the end of a sleep is queued by what is missed: take.c.)
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "agent/state.h"
#include "base/json.h"
#include "base/json_put.h"
#include "wake/catchup_int.h"
#include "wake/claim_int.h"

/* In a row: the last one comes more than four hours after the one before. */
#define TRIES_MAX 10

static bool passes(struct str error_code)
{
    static const enum err_code passing[] = { ERR_PROVIDER_FAILED, ERR_RATE_LIMITED, ERR_TIMEOUT };

    for (size_t i = 0; i < ARRAY_LEN(passing); i++)
        if (str_is(error_code, err_name(passing[i])))
            return true;
    return false;
}

/* What all of them have in common: it stands for one that was not heard of. */
static int queue_after(struct domain *domain, const struct agent *agent,
                       const struct wake_job *missed, struct wake_job job, struct err *err)
{
    char key[SHA256_TEXT_SIZE];

    job.agent_n = agent->n;
    job.reason = STR("recoveryCatchup");
    job.priority = 1;
    if (wake_in_conversation(missed))
        job.thread_id = missed->thread_id;
    wake_key_after(job.reason_id.p, agent->id, missed->run_key, key);
    job.run_key = str_from(key);
    return wake_enqueue(domain, &job, err) < 0 ? -1 : 0;
}

/* Would the agent wake by itself at all? */
static bool may_wake(const struct agent *agent, const struct wake_job *missed)
{
    return agent->lifecycle == AGENT_ACTIVE &&
           (strcmp(agent->mode, "interactive") != 0 || wake_in_conversation(missed));
}

/* ---- after a failure ---- */

/* What failed first, however often it was tried since. */
static struct str payload_of(const struct wake_job *failed, int64_t failures, struct arena *arena)
{
    AUTO_BUF out = BUF_INIT(WAKE_PAYLOAD_MAX);
    struct json_writer w = JSON_WRITER(&out);
    AUTO_JSON payload = NULL;
    struct json_object *again;

    (void)json_parse(failed->payload, &payload, NULL); /* it was read when the run began */
    again = json_find(payload, "again");
    json_write_object_begin(&w);
    json_put_object(&w, "again");
    json_put_str(&w, "wake", again ? json_str(json_find(again, "wake")) : failed->run_key);
    json_put_some_str(&w, "reason", again ? json_str(json_find(again, "reason")) : failed->reason);
    json_put_some_str(&w, "name", again ? json_str(json_find(again, "name")) : failed->name);
    json_put_i64(&w, "failures", failures);
    json_write_object_end(&w);
    json_write_object_end(&w);
    return arena_str(arena, buf_str(&out));
}

static int queue_again(struct domain *domain, const struct agent *agent,
                       const struct wake_job *failed, int64_t failures, int64_t now_ms,
                       struct arena *arena, struct err *err)
{
    struct wake_job job = { .reason_id = STR(WAKE_RETRY_ID),
                            .not_before = now_ms + agent_backoff_ms(failures),
                            .held = WAKE_HELD_FAILURES,
                            .payload = payload_of(failed, failures, arena),
                            .created_at = now_ms };

    return queue_after(domain, agent, failed, job, err);
}

int catchup_failed(struct domain *domain, const struct run_end *end, int64_t failures,
                   int64_t now_ms, struct arena *arena, struct err *err)
{
    const char *then = "it is tried again";
    struct wake_job failed;
    struct agent agent;
    int acted;

    if (!passes(end->error_code))
        return 0;
    if (wake_find(domain, end->run_id, arena, &failed, err) < 0 ||
        agent_get_n(domain, end->agent_n, arena, &agent, err) < 0)
        return -1;
    if (!may_wake(&agent, &failed))
        return 0;
    acted = run_has_acted(domain, end->run_n, err);
    if (acted < 0)
        return -1;
    if (acted)
        then = "it had changed something, so it is not tried again by itself";
    else if (failures > TRIES_MAX)
        then =
            arena_printf(arena, "that was %lld times in a row, so it is not tried again by itself",
                         (long long)failures);
    else if (queue_again(domain, &agent, &failed, failures, now_ms, arena, err) < 0)
        return -1;
    return claim_say(domain, failed.n, arena_printf(arena, "%.*s; %s", STR_ARG(failed.why), then),
                     err);
}

/* ---- after a pause, a stop or dormancy ---- */

static int queue_missed(struct domain *domain, const struct kill_switches *kill, struct str run_key,
                        int64_t now_ms, struct arena *arena, struct err *err)
{
    struct wake_job job = { .reason_id = STR(WAKE_RESUME_ID), .created_at = now_ms };
    struct wake_job missed;
    struct agent agent;

    if (wake_find(domain, run_key, arena, &missed, err) < 0 ||
        agent_get_n(domain, missed.agent_n, arena, &agent, err) < 0)
        return -1;
    if (agent.paused || (kill && kill_is_on(kill, agent.id, NULL)) || !may_wake(&agent, &missed))
        return 0;
    return queue_after(domain, &agent, &missed, job, err);
}

int catchup_missed(struct domain *domain, const struct kill_switches *kill, int64_t agent_n,
                   int64_t now_ms, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    AUTO_ARENA one = ARENA_INIT;
    struct str *keys;
    size_t n;

    if (catchup_list(domain, agent_n, &arena, &keys, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (queue_missed(domain, kill, keys[i], now_ms, &one, err) < 0)
            return -1;
        arena_reset(&one);
    }
    return 0;
}
