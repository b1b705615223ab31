/* /wakes: what woke agents, what did not and why; and waking one by hand.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>

#include "base/map.h"
#include "base/utf8.h"
#include "journal/journal.h"
#include "serve/api_int.h"
#include "wake/skip.h"
#include "wake/wake.h"

#define SHOWN_RECORDS 3   /* of one wake; their number is told */
#define SHOWN_FILES   3   /* in a list */
#define SHOWN_WORDS   200 /* bytes, in a list */

/* ---- what woke ---- */

/* Records of all wakes of an answer, by type and id; and when timers without a name fire. */
struct shown {
    struct api *api;
    struct arena *arena;
    struct map by_ref, rules;
};

/* Each timer is looked at once; one that can't be has nothing to say. */
static void put_rule(struct json_writer *w, struct shown *shown, struct str id)
{
    struct str *rule = map_find(&shown->rules, id);

    if (!rule) {
        rule = ARENA_NEW(shown->arena, struct str);
        *rule = STR_NONE;
        (void)timer_describe(shown->api->config.agent_domain, id, shown->arena, rule, NULL);
        map_put(&shown->rules, id, rule);
    }
    json_put_some_str(w, "rule", *rule);
}

static struct str ref_key(struct arena *arena, struct str type, struct str id)
{
    return str_from(arena_printf(arena, "%.*s %.*s", STR_ARG(type), STR_ARG(id)));
}

/* The record that stands at i: its type and id. False: there are no more, or enough. */
static bool record_at(struct json_object *payload, size_t i, struct str *ret_type,
                      struct str *ret_id)
{
    struct json_object *records = json_find(payload, "records"), *one;

    if (!records || !json_object_is_type(records, json_type_array) || i >= json_length(records) ||
        i >= SHOWN_RECORDS)
        return false;
    one = json_object_array_get_idx(records, i);
    if (!one || !json_object_is_type(one, json_type_array) || json_length(one) != 2)
        return false;
    *ret_type = json_str(json_object_array_get_idx(one, 0));
    *ret_id = json_str(json_object_array_get_idx(one, 1));
    return true;
}

/* Those of the journal, read at once. A record that is gone for good has no title. */
static int find_records(struct api *api, struct json_object *const *payloads, size_t n,
                        struct shown *shown, struct err *err)
{
    struct record_ref *refs = ARENA_NEW_N(shown->arena, struct record_ref, SHOWN_RECORDS * n + 1);
    struct record *records;
    struct str type, id;
    size_t count = 0, found;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; record_at(payloads[i], k, &type, &id); k++)
            if (record_type_of(type) && record_id_valid(id))
                refs[count++] = (struct record_ref){ record_type_of(type), id };
    if (!count || !api->config.journal)
        return 0;
    if (journal_get_all(api->config.journal, refs, count, shown->arena, &records, &found, err) < 0)
        return -1;
    for (size_t i = 0; i < found; i++)
        map_put(&shown->by_ref,
                ref_key(shown->arena, str_from(record_type_name(records[i].type)), records[i].id),
                &records[i]);
    return 0;
}

static void put_records(struct json_writer *w, struct json_object *payload, struct shown *shown)
{
    struct str type, id;

    if (!record_at(payload, 0, &type, &id))
        return;
    json_put_array(w, "records");
    for (size_t i = 0; record_at(payload, i, &type, &id); i++) {
        const struct record *record = map_find(&shown->by_ref, ref_key(shown->arena, type, id));

        json_write_object_begin(w);
        json_put_some_str(w, "type", type);
        json_put_some_str(w, "id", id);
        if (record)
            json_put_some_str(w, "title", api_record_title(record));
        json_write_object_end(w);
    }
    json_write_array_end(w);
    if (json_find(payload, "recordCount")) {
        json_put_value(w, "recordCount", json_find(payload, "recordCount"));
    }
}

/* The first files, with their number when there are more. */
static void put_files(struct json_writer *w, struct json_object *files)
{
    size_t n = json_object_is_type(files, json_type_array) ? json_length(files) : 0;

    json_put_array(w, "files");
    for (size_t i = 0; i < n && i < SHOWN_FILES; i++)
        json_write_value(w, json_object_array_get_idx(files, i));
    json_write_array_end(w);
    if (n > SHOWN_FILES)
        json_put_i64(w, "fileCount", (int64_t)n);
}

/* In a list: who and what, not all that was said. */
static void put_gist(struct json_writer *w, struct json_object *payload)
{
    static const char *const kept[] = { "author", "authorId", "missed", "alarm", "again" };
    struct json_object *event = json_find(payload, "event"), *files = json_find(payload, "files");

    json_put_object(w, "details");
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        if (!json_find(payload, kept[i]))
            continue;
        json_put_value(w, kept[i], json_find(payload, kept[i]));
    }
    json_put_some_str(w, "words",
                      utf8_truncate(json_str(json_find(payload, "words")), SHOWN_WORDS));
    if (files)
        put_files(w, files);
    if (event) {
        json_put_object(w, "event");
        json_put_some_str(w, "contentType", json_str(json_find(event, "contentType")));
        json_write_object_end(w);
    }
    json_write_object_end(w);
}

/* ---- writing ---- */

static void write_wake(struct json_writer *w, const struct wake_job *job,
                       struct json_object *payload, struct shown *shown, bool whole)
{
    json_write_object_begin(w);
    json_put_i64(w, "n", job->n);
    json_put_some_str(w, "runKey", job->run_key);
    json_put_some_str(w, "agentId", job->agent_id);
    json_put_some_str(w, "threadId", job->thread_id);
    json_put_some_str(w, "reason", job->reason);
    json_put_some_str(w, "reasonId", job->reason_id);
    json_put_some_str(w, "name", job->name);
    if (!job->name.n && job->reason_id.n &&
        (str_is(job->reason, "timer") || str_is(job->reason, "recoveryCatchup")))
        put_rule(w, shown, job->reason_id);
    json_put_some_text(w, "status", wake_status_name(job->status));
    json_put_some_str(w, "why", job->why);
    json_put_some_text(w, "held", wake_held_name(job->held));
    json_put_some_str(w, "errorCode", job->error_code);
    json_put_some_str(w, "coalescedInto", job->coalesced_into);
    json_put_some_str(w, "runId", job->run_id);
    json_put_some_str(w, "logicalChangeKey", job->logical_change_key);
    json_put_i64(w, "attempts", job->attempts);
    json_put_some_time(w, "scheduledAt", job->scheduled_at);
    json_put_some_time(w, "notBefore", job->not_before);
    json_put_some_time(w, "createdAt", job->created_at);
    json_put_some_time(w, "startedAt", job->started_at);
    json_put_some_time(w, "endedAt", job->ended_at);
    put_records(w, payload, shown);
    if (whole)
        api_put_json(w, "details", job->payload);
    else if (payload)
        put_gist(w, payload);
    json_write_object_end(w);
}

static void free_payloads(struct json_object **payloads, size_t n)
{
    for (size_t i = 0; i < n; i++)
        json_object_put(payloads[i]);
}

/* What each wake is about is read for all of them first; one that can't be is about nothing. */
static int write_wakes(struct serve_request *request, const struct wake_job *jobs, size_t n,
                       bool whole, struct json_writer *w, struct err *err)
{
    struct shown shown = { .api = api_of(request),
                           .arena = serve_request_arena(request),
                           .by_ref = MAP_INIT,
                           .rules = MAP_INIT };
    struct json_object **payloads = ARENA_NEW_N(shown.arena, struct json_object *, n + 1);
    int r;

    for (size_t i = 0; i < n; i++) {
        payloads[i] = NULL;
        if (jobs[i].payload.n && !str_is(jobs[i].payload, "{}"))
            (void)json_parse(jobs[i].payload, &payloads[i], NULL);
    }
    r = find_records(api_of(request), payloads, n, &shown, err);
    for (size_t i = 0; r == 0 && i < n; i++)
        write_wake(w, &jobs[i], payloads[i], &shown, whole);
    map_release(&shown.by_ref);
    map_release(&shown.rules);
    free_payloads(payloads, n);
    return r;
}

static void reply_wake(struct serve_request *request, int status, const struct wake_job *job)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct err err = ERR_INIT;

    if (write_wakes(request, job, 1, true, &w, &err) < 0)
        serve_reply_error(request, &err);
    else
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

/* Why something woke, or why it did not. */
static int read_reason(struct str text, struct str *ret_reason, struct err *err)
{
    static const char *const all[] = {
        "subscription", "timer",  "userInitiated", "manual",    "recoveryCatchup",
        "author",       "own",    "predicate",     "scope",     "failed",
        "rate_limited", "missed", "cap",           "gap",       "destroyed",
        "damaged",      "other",  "change",        "unreadable"
    };
    AUTO_BUF list = BUF_INIT(512);

    *ret_reason = text;
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (!text.n || str_is(text, all[i]))
            return 0;
        buf_printf(&list, "%s%s", i ? ", " : "", all[i]);
    }
    return err_set(err, ERR_BAD_REQUEST, "reason must be one of %s; not \"%.*s\"", buf_text(&list),
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

/* Changes that met a subscription or could not be judged, and firings of timers, that woke
 * nobody. */
static void write_skips(struct serve_request *request, struct json_writer *w,
                        const struct skip *skips, size_t n)
{
    struct shown shown = { .api = api_of(request),
                           .arena = serve_request_arena(request),
                           .rules = MAP_INIT };

    json_put_array(w, "skips");
    for (size_t i = 0; i < n; i++) {
        json_write_object_begin(w);
        json_put_some_text(w, "skip", skips[i].kind);
        json_put_some_text(w, "reason", skip_of_name(skips[i].of));
        json_put_some_text(w, "status", wake_status_name(WAKE_SKIPPED_NOOP));
        json_put_some_text(w, "why", skips[i].why);
        json_put_i64(w, "count", skips[i].count);
        json_put_some_str(w, "agentId", skips[i].agent_id);
        json_put_some_str(w, "reasonId", skips[i].of_id);
        json_put_some_str(w, "name", skips[i].name);
        if (!skips[i].name.n && skips[i].of == SKIP_OF_TIMER)
            put_rule(w, &shown, skips[i].of_id);
        if (skips[i].removed)
            json_put_bool(w, "removed", true);
        json_put_some_time(w, "firstAt", skips[i].first_at);
        json_put_some_time(w, "lastAt", skips[i].last_at);
        json_write_object_end(w);
    }
    json_write_array_end(w);
    map_release(&shown.rules);
}

/* Where the next page begins: after the last wake, and after the last run that began with a
 * person's word. */
static void move_on(struct wake_filter *filter, const struct wake_job *jobs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *(jobs[i].spoken ? &filter->before_run_n : &filter->before_n) = jobs[i].n;
}

static void put_after(struct json_writer *w, const struct wake_filter *next)
{
    char text[64];

    snprintf(text, sizeof(text), "%lld-%lld", (long long)next->before_n,
             (long long)next->before_run_n);
    json_put_some_text(w, "after", text);
}

static int read_after(struct str text, struct wake_filter *filter, struct err *err)
{
    struct str rest = text, wake_n;

    if (!text.n)
        return 0;
    if (str_split(&rest, '-', &wake_n) && str_to_i64(wake_n, &filter->before_n) == 0 &&
        str_to_i64(rest, &filter->before_run_n) == 0 && filter->before_n >= 0 &&
        filter->before_run_n >= 0 && filter->before_n + filter->before_run_n > 0)
        return 0;
    return err_set(err, ERR_BAD_REQUEST, "after must be what the page before gave, not \"%.*s\"",
                   STR_ARG(str_take(text, 80)));
}

struct page {
    struct wake_filter filter, next;
    struct str reason; /* of wakes, or what kept something from waking; empty: all */
    bool more;
    struct wake_job *jobs;
    struct skip *skips;
    size_t count, skip_count;
};

/* Those with the reason, out of as many pages as one answer looks at; there may be more behind. */
#define PAGES_MAX 4
static int read_jobs(struct domain *domain, struct page *page, struct arena *arena, struct err *err)
{
    size_t limit = (size_t)page->filter.limit;

    page->jobs = ARENA_NEW_N(arena, struct wake_job, limit);
    page->next = page->filter;
    page->more = true;
    for (int i = 0; page->more && page->count < limit && i < PAGES_MAX; i++) {
        struct wake_job *jobs;
        size_t n, k;

        if (wake_list(domain, &page->next, arena, &jobs, &n, err) < 0)
            return -1;
        for (k = 0; k < n && page->count < limit; k++)
            if (!page->reason.n || str_eq(jobs[k].reason, page->reason))
                page->jobs[page->count++] = jobs[k];
        move_on(&page->next, jobs, k);
        page->more = n == limit || k < n;
    }
    return 0;
}

static int read_skips(struct domain *domain, struct page *page, struct arena *arena,
                      struct err *err)
{
    size_t kept = 0;

    if (skip_list(domain, page->filter.agent_n, page->filter.reason_id, 0, arena, &page->skips,
                  &page->skip_count, err) < 0)
        return -1;
    for (size_t i = 0; i < page->skip_count; i++) {
        const struct skip *one = &page->skips[i];

        if (!page->reason.n || str_is(page->reason, one->kind) ||
            str_is(page->reason, skip_of_name(one->of)))
            page->skips[kept++] = *one;
    }
    page->skip_count = kept;
    return 0;
}

/* A unique beginning of the id of a subscription or timer; else what wakes have for one. */
static int read_page(struct serve_request *request, struct page *page, struct err *err)
{
    struct domain *domain = api_of(request)->config.agent_domain;
    struct arena *arena = serve_request_arena(request);
    struct wake_filter *filter = &page->filter;
    struct err unknown = ERR_INIT;
    bool first;
    int known = 0;

    if (read_after(serve_request_query(request, "after"), filter, err) < 0 ||
        read_status(serve_request_query(request, "status"), &filter->status, err) < 0 ||
        read_reason(serve_request_query(request, "reason"), &page->reason, err) < 0 ||
        read_agent(request, &filter->agent_n, err) < 0)
        return -1;
    if (filter->reason_id.n)
        known = skip_find_of(domain, filter->reason_id, arena, &filter->reason_id, &unknown);
    first = !filter->before_n && !filter->before_run_n;
    if (read_jobs(domain, page, arena, err) < 0)
        return -1;
    if (known < 0 && first && !page->count && !page->more) {
        *err = unknown;
        return -1;
    }
    err_reset(&unknown);
    return first && !filter->status ? read_skips(domain, page, arena, err) : 0;
}

static int write_list(struct serve_request *request, const struct page *page, struct json_writer *w,
                      struct err *err)
{
    json_write_object_begin(w);
    json_put_array(w, "items");
    if (write_wakes(request, page->jobs, page->count, false, w, err) < 0)
        return -1;
    json_write_array_end(w);
    if (page->more)
        put_after(w, &page->next);
    if (page->skip_count)
        write_skips(request, w, page->skips, page->skip_count);
    json_write_object_end(w);
    return 0;
}

void api_wakes_list(struct serve_request *request)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct page page = { .filter.reason_id = serve_request_query(request, "reasonId") };
    int64_t limit = 50;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || api_query_i64(request, "limit", 1, 500, &limit) < 0)
        return;
    page.filter.limit = (int)limit;
    if (read_page(request, &page, &err) < 0 || write_list(request, &page, &w, &err) < 0)
        serve_reply_error(request, &err);
    else
        api_reply(request, 200, &json, &w);
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
