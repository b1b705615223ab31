/* Wakes that make up for others.
 *
 * A run that failed by something that passes (the model can't be reached, takes no more for now, or
 * does not answer in time) is tried again: the unit that records its end queues one wake at the end
 * of the agent's pause after failures. Like the wake at a sleep's end it says nothing itself; its
 * run is told whatever was not heard of since the last success (flight.c). Not so when the failed
 * run began something that changes something: that would be done twice.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/json.h"
#include "base/json_put.h"
#include "wake/waker_int.h"

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

/* Would it wake by itself at all? */
static int may_wake(struct waker *waker, const struct wake_job *failed, struct arena *arena,
                    struct err *err)
{
    struct agent agent;

    if (agent_get_n(waker->config.agent_domain, failed->agent_n, arena, &agent, err) < 0)
        return -1;
    return agent.lifecycle == AGENT_ACTIVE &&
           (strcmp(agent.mode, "interactive") != 0 || wake_in_conversation(failed));
}

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

static int queue_again(struct waker *waker, const char *agent_id, const struct wake_job *failed,
                       int64_t failures, int64_t now_ms, struct arena *arena, struct err *err)
{
    struct wake_job job = { .agent_n = failed->agent_n,
                            .reason = STR("recoveryCatchup"),
                            .reason_id = STR(WAKE_RETRY_ID),
                            .not_before = now_ms + agent_backoff_ms(failures),
                            .held = WAKE_HELD_FAILURES,
                            .priority = 1,
                            .payload = payload_of(failed, failures, arena),
                            .created_at = now_ms };
    char key[SHA256_TEXT_SIZE];

    if (wake_in_conversation(failed))
        job.thread_id = failed->thread_id;
    wake_key_after(WAKE_RETRY_ID, agent_id, failed->run_key, key);
    job.run_key = str_from(key);
    return wake_enqueue(waker->config.agent_domain, &job, err) < 0 ? -1 : 0;
}

int catchup_failed(struct waker *waker, const struct run_end *end, const struct wake_job *job,
                   int64_t failures, int64_t now_ms, struct arena *arena, struct err *err)
{
    struct domain *domain = waker->config.agent_domain;
    const char *then = "it is tried again";
    struct wake_job failed;
    int may, acted = 0;

    if (!passes(end->error_code))
        return 0;
    if (wake_find(domain, job->run_key, arena, &failed, err) < 0)
        return -1;
    may = may_wake(waker, &failed, arena, err);
    if (may <= 0)
        return may;
    acted = run_has_acted(domain, end->run_n, err);
    if (acted < 0)
        return -1;
    if (acted)
        then = "it had changed something, so it is not tried again by itself";
    else if (failures > TRIES_MAX)
        then =
            arena_printf(arena, "that was %lld times in a row, so it is not tried again by itself",
                         (long long)failures);
    else if (queue_again(waker, end->agent_id, &failed, failures, now_ms, arena, err) < 0)
        return -1;
    return claim_say(domain, failed.n, arena_printf(arena, "%.*s; %s", STR_ARG(failed.why), then),
                     err);
}
