/* The keys of wakes: made of what caused them, so that the same cause gives the same wake on every
 * device and after every crash.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "base/buf.h"
#include "base/limits.h"
#include "wake/queue_int.h"

static void key_of(const char *kind, const char *agent_id, struct str first, struct str second,
                   char ret_key[SHA256_TEXT_SIZE])
{
    AUTO_BUF text = BUF_INIT(64 * KIB);

    buf_printf(&text, "run|v1|%s|%s|%.*s", kind, agent_id, STR_ARG(first));
    if (second.p)
        buf_printf(&text, "|%.*s", STR_ARG(second));
    sha256_text(buf_str(&text), ret_key);
}

void wake_key_subscription(const char *agent_id, struct str subscription_id,
                           struct str logical_change_key, char ret_key[SHA256_TEXT_SIZE])
{
    key_of("subscription", agent_id, subscription_id, logical_change_key, ret_key);
}

void wake_key_timer(const char *agent_id, struct str timer_id, int64_t scheduled_at,
                    char ret_key[SHA256_TEXT_SIZE])
{
    char at[24];

    snprintf(at, sizeof(at), "%lld", (long long)scheduled_at);
    key_of("timer", agent_id, timer_id, str_from(at), ret_key);
}

void wake_key_manual(const char *agent_id, struct str request_id, char ret_key[SHA256_TEXT_SIZE])
{
    key_of("manual", agent_id, request_id, STR_NONE, ret_key);
}

void wake_key_source(const char *agent_id, struct str subscription_id, struct str source_event_id,
                     char ret_key[SHA256_TEXT_SIZE])
{
    key_of("source", agent_id, subscription_id, source_event_id, ret_key);
}

void wake_key_after(const char *kind, const char *agent_id, struct str run_key,
                    char ret_key[SHA256_TEXT_SIZE])
{
    key_of(kind, agent_id, run_key, STR_NONE, ret_key);
}

bool wake_in_conversation(const struct wake_job *job)
{
    struct str rest = job->thread_id;

    return rest.n > 0 && !(str_ends(rest, job->run_key) &&
                           str_ends(str_take(rest, rest.n - job->run_key.n), STR(":run:")));
}

bool wake_is_catchup(const struct wake_job *job)
{
    return str_is(job->reason, "recoveryCatchup") &&
           (str_is(job->reason_id, WAKE_SLEEP_ID) || str_is(job->reason_id, WAKE_RETRY_ID) ||
            str_is(job->reason_id, WAKE_RESUME_ID));
}
