/* /wakes: what woke agents, what did not and why; and waking one by hand.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>

#include "serve/api_int.h"
#include "wake/skip.h"
#include "wake/wake.h"

/* ---- writing ---- */

static void write_wake(struct json_writer *w, const struct wake_job *job, bool whole)
{
    json_write_object_begin(w);
    api_put_i64(w, "n", job->n);
    api_put_str(w, "runKey", job->run_key);
    api_put_str(w, "agentId", job->agent_id);
    api_put_str(w, "threadId", job->thread_id);
    api_put_str(w, "reason", job->reason);
    api_put_str(w, "reasonId", job->reason_id);
    api_put_text(w, "status", wake_status_name(job->status));
    api_put_str(w, "why", job->why);
    api_put_str(w, "errorCode", job->error_code);
    api_put_str(w, "coalescedInto", job->coalesced_into);
    api_put_str(w, "runId", job->run_id);
    api_put_str(w, "logicalChangeKey", job->logical_change_key);
    api_put_i64(w, "attempts", job->attempts);
    api_put_time(w, "scheduledAt", job->scheduled_at);
    api_put_time(w, "notBefore", job->not_before);
    api_put_time(w, "createdAt", job->created_at);
    api_put_time(w, "startedAt", job->started_at);
    api_put_time(w, "endedAt", job->ended_at);
    if (whole)
        api_put_json(w, "details", job->payload);
    json_write_object_end(w);
}

static void reply_wake(struct serve_request *request, int status, const struct wake_job *job)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);

    write_wake(&w, job, true);
    api_reply(request, status, &json, &w);
}

/* ---- looking ---- */

static int read_status(struct str text, enum wake_status *ret_status, struct err *err)
{
    *ret_status = WAKE_STATUS_NONE;
    if (!text.n || str_is(text, "all"))
        return 0;
    *ret_status = wake_status_of(text);
    if (*ret_status)
        return 0;
    return err_set(err, ERR_BAD_REQUEST,
                   "status must be all, queued, running, completed, skipped_sleeping, "
                   "skipped_destroyed, skipped_paused, skipped_killed, skipped_noop, coalesced or "
                   "failed_terminal, not \"%.*s\"",
                   STR_ARG(str_take(text, 80)));
}

static int read_agent(struct serve_request *request, int64_t *ret_agent_n, struct err *err)
{
    struct str id = serve_request_query(request, "agent");
    struct agent agent;

    *ret_agent_n = 0;
    if (!id.n)
        return 0;
    if (api_find_agent(api_of(request), id, serve_request_arena(request), &agent, err) < 0)
        return -1;
    *ret_agent_n = agent.n;
    return 0;
}

/* Changes that met a subscription and woke nobody. */
static void write_skips(struct json_writer *w, const struct skip *skips, size_t n)
{
    json_write_key(w, "skips");
    json_write_array_begin(w);
    for (size_t i = 0; i < n; i++) {
        json_write_object_begin(w);
        api_put_text(w, "skip", match_outcome_name(skips[i].outcome));
        api_put_text(w, "reason", "subscription");
        api_put_text(w, "status", wake_status_name(WAKE_SKIPPED_NOOP));
        api_put_text(w, "why", match_outcome_why(skips[i].outcome));
        api_put_i64(w, "count", skips[i].count);
        api_put_str(w, "agentId", skips[i].agent_id);
        api_put_str(w, "reasonId", skips[i].subscription_id);
        api_put_str(w, "name", skips[i].name);
        api_put_time(w, "firstAt", skips[i].first_at);
        api_put_time(w, "lastAt", skips[i].last_at);
        json_write_object_end(w);
    }
    json_write_array_end(w);
}

static void write_list(struct serve_request *request, const struct wake_job *jobs, size_t n,
                       bool more, const struct skip *skips, size_t skip_count)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);

    json_write_object_begin(&w);
    json_write_key(&w, "items");
    json_write_array_begin(&w);
    for (size_t i = 0; i < n; i++)
        write_wake(&w, &jobs[i], false);
    json_write_array_end(&w);
    if (more)
        api_put_i64(&w, "after", jobs[n - 1].n);
    if (skip_count)
        write_skips(&w, skips, skip_count);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

void api_wakes_list(struct serve_request *request)
{
    struct wake_filter filter = { .reason_id = serve_request_query(request, "reasonId") };
    struct domain *domain = api_of(request)->config.agent_domain;
    struct arena *arena = serve_request_arena(request);
    int64_t limit = 50;
    struct wake_job *jobs;
    struct skip *skips = NULL;
    struct err err = ERR_INIT;
    size_t n, skip_count = 0;

    if (api_check_query(request) < 0 ||
        api_query_i64(request, "after", 1, INT64_MAX, &filter.before_n) < 0 ||
        api_query_i64(request, "limit", 1, 500, &limit) < 0)
        return;
    filter.limit = (int)limit;
    if (read_status(serve_request_query(request, "status"), &filter.status, &err) < 0 ||
        read_agent(request, &filter.agent_n, &err) < 0 ||
        wake_list(domain, &filter, arena, &jobs, &n, &err) < 0 ||
        (!filter.before_n && !filter.status && /* with the first page of all */
         skip_list(domain, filter.agent_n, filter.reason_id, 0, arena, &skips, &skip_count, &err) <
             0))
        serve_reply_error(request, &err);
    else
        write_list(request, jobs, n, n == (size_t)limit, skips, skip_count);
}

void api_wakes_get(struct serve_request *request)
{
    struct wake_job job;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0)
        return;
    if (wake_get(api_of(request)->config.agent_domain, serve_request_param(request, "key"),
                 serve_request_arena(request), &job, &err) < 0)
        serve_reply_error(request, &err);
    else
        reply_wake(request, 200, &job);
}

/* ---- waking ---- */

struct wake_form {
    struct str words, request_id;
};
static const struct json_field form_fields[] = {
    JSON_FIELD(struct wake_form, words, "words", JSON_STR),
    JSON_FIELD(struct wake_form, request_id, "requestId", JSON_STR),
    { .name = NULL },
};

void api_agents_wake(struct serve_request *request)
{
    struct waker *waker = api_of(request)->config.waker;
    struct wake_form form = { 0 };
    AUTO_JSON body = NULL;
    struct agent agent;
    struct wake_job job;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || api_body(request, form_fields, &form, &body) < 0 ||
        api_agent(request, &agent) < 0)
        return;
    if (!waker)
        err_set(&err, ERR_CONFLICT, "nothing wakes agents here");
    if (!waker || waker_wake_now(waker, str_from(agent.id), form.request_id, form.words,
                                 serve_request_arena(request), &job, &err) < 0)
        serve_reply_error(request, &err);
    else
        reply_wake(request, 202, &job);
}
