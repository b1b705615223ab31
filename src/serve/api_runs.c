/* /runs: what there is, what happened, and steering.
 *
 * SPDX-License-Identifier: MIT
 */
#include "run/trace.h"
#include "serve/api_int.h"

#define EVENTS_MAX 1000
#define PAGE_BYTES (8 * MIB)
#define RUNS_READ  25 /* at once */

/* ---- looking ---- */

struct runs_page {
    struct str agent_id;
    int64_t before, left; /* before: 0 when there are no more */
};

/* Runs as they are read, a few at a time: prompts and results may be long, and a page of them ends
 * when it is, however many were asked for. */
static int list_runs(struct serve_request *request, struct json_writer *w, const struct buf *json,
                     struct runs_page *page, struct err *err)
{
    struct runner *runner = api_of(request)->config.runner;
    struct run_info *infos;
    size_t n, wanted;

    do {
        wanted = page->left < RUNS_READ ? (size_t)page->left : RUNS_READ;
        if (run_list(runner, page->agent_id, page->before, (int)wanted,
                     serve_request_arena(request), &infos, &n, err) < 0)
            return -1;
        for (size_t i = 0; i < n && json->n < PAGE_BYTES; i++) {
            api_write_run(w, &infos[i]);
            page->before = infos[i].n;
            page->left--;
        }
    } while (n == wanted && page->left && json->n < PAGE_BYTES);
    if (n < wanted && (!n || page->before == infos[n - 1].n))
        page->before = 0;
    return 0;
}

void api_runs_list(struct serve_request *request)
{
    struct api *api = api_of(request);
    AUTO_BUF json = BUF_INIT(PAGE_BYTES + LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct agent agent = { .id = NULL };
    struct runs_page page = { .left = 50 };
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 ||
        api_query_i64(request, "before", 1, INT64_MAX, &page.before) < 0 ||
        api_query_i64(request, "limit", 1, 500, &page.left) < 0)
        return;
    if (serve_request_query(request, "agent").n &&
        api_find_agent(api, serve_request_query(request, "agent"), serve_request_arena(request),
                       &agent, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    page.agent_id = str_from(agent.id);
    json_write_object_begin(&w);
    json_put_array(&w, "runs");
    if (list_runs(request, &w, &json, &page, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    json_write_array_end(&w);
    if (page.before)
        json_put_i64(&w, "before", page.before);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

static void reply_run(struct serve_request *request, const struct run_info *info)
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);

    api_write_run(&w, info);
    api_reply(request, 200, &json, &w);
}

void api_runs_get(struct serve_request *request)
{
    struct run_info info;

    if (api_check_query(request) == 0 && api_run(request, &info) == 0)
        reply_run(request, &info);
}

/* ---- events ---- */

struct listing {
    struct json_writer *w;
    struct buf *json;
    int64_t left, last;
    bool more;
};

static bool list_event(void *arg, const struct run_public *event)
{
    struct listing *listing = arg;

    if (listing->left-- == 0 || (listing->last && listing->json->n + event->json.n > PAGE_BYTES)) {
        listing->more = true;
        return false;
    }
    json_write_raw(listing->w, event->json);
    listing->last = event->seq;
    return true;
}

static void list_events(struct serve_request *request, const struct run_info *info, int64_t after,
                        int64_t limit)
{
    AUTO_BUF json = BUF_INIT(PAGE_BYTES + LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    struct listing listing = { .w = &w, .json = &json, .left = limit };
    struct err err = ERR_INIT;

    json_write_object_begin(&w);
    json_put_array(&w, "events");
    if (run_events_after(api_of(request)->config.runner, info->thread_id, info->run_id, after,
                         list_event, &listing, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    json_write_array_end(&w);
    json_put_i64(&w, "after", listing.last ? listing.last : after);
    json_put_bool(&w, "more", listing.more);
    json_put_bool(&w, "ended", info->ended_at > 0 && !listing.more);
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}

static bool wants_stream(struct serve_request *request)
{
    return str_find(serve_request_header(request, "Accept"), STR("text/event-stream")) >= 0;
}

static bool any(void *arg, const struct run_public *event)
{
    (void)event;
    *(bool *)arg = true;
    return false;
}

/* A browser's EventSource comes again after the end of a stream; 204 tells it that this was all. */
static bool has_all(struct api *api, const struct run_info *info, int64_t after)
{
    struct err err = ERR_INIT;
    bool found = false;

    return info->ended_at > 0 &&
           run_events_after(api->config.runner, info->thread_id, info->run_id, after, any, &found,
                            &err) == 0 &&
           !found;
}

static void stream_events(struct serve_request *request, const struct run_info *info, int64_t after)
{
    struct api *api = api_of(request);
    struct str seen = serve_request_header(request, "Last-Event-ID");

    if (seen.n && str_to_i64(seen, &after) < 0)
        after = 0;
    if (after > 0 && has_all(api, info, after))
        serve_reply_empty(request, 204);
    else
        api_follower_open_sse(api_follower_new(api,
                                               &(struct api_follow){
                                                   .thread_id = info->thread_id,
                                                   .run_id = info->run_id,
                                                   .after = after,
                                               }),
                              request);
}

void api_runs_events(struct serve_request *request)
{
    struct run_info info;
    int64_t after = 0, limit = EVENTS_MAX;

    if (api_check_query(request) < 0 || api_query_i64(request, "after", 0, INT64_MAX, &after) < 0 ||
        api_query_i64(request, "limit", 1, EVENTS_MAX, &limit) < 0 || api_run(request, &info) < 0)
        return;
    if (wants_stream(request))
        stream_events(request, &info, after);
    else
        list_events(request, &info, after, limit);
}

/* ---- steering ---- */

static void reply_changed(struct serve_request *request, int r, struct str run_id, struct err *err)
{
    struct run_info info;

    if (r < 0 || run_get(api_of(request)->config.runner, run_id, serve_request_arena(request),
                         &info, err) < 0)
        serve_reply_error(request, err);
    else
        reply_run(request, &info);
}

static const struct json_field no_fields[] = { { .name = NULL } };

void api_runs_cancel(struct serve_request *request)
{
    AUTO_JSON body = NULL;
    struct run_info info;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || api_body(request, no_fields, NULL, &body) < 0 ||
        api_run(request, &info) < 0)
        return;
    reply_changed(request, run_cancel(api_of(request)->config.runner, info.run_id, &err),
                  info.run_id, &err);
}

struct mode_body {
    struct str mode;
    struct json_object *max_iterations;
};

static const struct json_field mode_fields[] = {
    JSON_FIELD(struct mode_body, mode, "mode", JSON_STR, .required = true),
    JSON_FIELD(struct mode_body, max_iterations, "maxIterations", JSON_ANY),
    { .name = NULL },
};

void api_runs_mode(struct serve_request *request)
{
    AUTO_JSON body = NULL;
    struct mode_body read = { .mode = STR_NONE };
    struct run_info info;
    enum run_mode mode;
    struct err err = ERR_INIT;
    int r;

    if (api_check_query(request) < 0 || api_body(request, mode_fields, &read, &body) < 0 ||
        api_run(request, &info) < 0)
        return;
    r = api_read_mode(read.mode, &mode, &err);
    if (r == 0)
        r = api_refuse_limit(read.max_iterations, &err);
    if (r == 0)
        r = run_set_mode(api_of(request)->config.runner, info.run_id, mode, &err);
    reply_changed(request, r, info.run_id, &err);
}

/* ---- trace ---- */

struct telling {
    struct json_writer w;
    struct buf *out;
    bool json, begun;
};

/* Of JSON lines the first is {"run":{...}}. */
static void tell_json(struct telling *telling, struct str line)
{
    AUTO_JSON first = NULL;

    if (telling->begun) {
        json_write_raw(&telling->w, line);
        return;
    }
    telling->begun = true;
    BUG_IF(json_parse(line, &first, NULL) < 0);
    json_put_value(&telling->w, "run", json_find(first, "run"));
    json_put_array(&telling->w, "events");
}

static void tell_line(void *arg, struct str line)
{
    struct telling *telling = arg;

    if (telling->json) {
        tell_json(telling, line);
        return;
    }
    buf_add_str(telling->out, line);
    buf_add_char(telling->out, '\n');
}

static int trace(struct serve_request *request, const struct run_info *info,
                 struct telling *telling, bool json_lines, struct err *err)
{
    const struct api_config *config = &api_of(request)->config;

    return run_trace(config->agent_domain, info->n, runner_program(config->runner), json_lines,
                     tell_line, telling, err);
}

static void trace_text(struct serve_request *request, const struct run_info *info, bool json_lines)
{
    AUTO_BUF out = BUF_INIT(2 * LIMIT_JSON_BYTES);
    struct telling telling = { .out = &out };
    struct err err = ERR_INIT;

    if (trace(request, info, &telling, json_lines, &err) < 0)
        serve_reply_error(request, &err);
    else
        serve_reply_text(request, 200,
                         json_lines ? "application/x-ndjson" : "text/plain; charset=utf-8",
                         buf_str(&out));
}

static void trace_json(struct serve_request *request, const struct run_info *info)
{
    AUTO_BUF out = BUF_INIT(2 * LIMIT_JSON_BYTES);
    struct telling telling = { .w = JSON_WRITER(&out), .json = true };
    struct err err = ERR_INIT;

    json_write_object_begin(&telling.w);
    if (trace(request, info, &telling, true, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    json_write_array_end(&telling.w);
    json_write_object_end(&telling.w);
    api_reply(request, 200, &out, &telling.w);
}

void api_runs_trace(struct serve_request *request)
{
    struct str format = serve_request_query(request, "format");
    struct run_info info;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || api_run(request, &info) < 0)
        return;
    if (!format.p || str_is(format, "json")) {
        trace_json(request, &info);
    } else if (str_is(format, "text") || str_is(format, "ndjson")) {
        trace_text(request, &info, str_is(format, "ndjson"));
    } else {
        err_set(&err, ERR_BAD_REQUEST, "format must be json, ndjson or text, not \"%.*s\"",
                STR_ARG(str_take(format, 80)));
        serve_reply_error(request, &err);
    }
}

void api_runs_replay(struct serve_request *request)
{
    const struct api_config *config = &api_of(request)->config;
    AUTO_BUF json = BUF_INIT(64 * KIB);
    struct json_writer w = JSON_WRITER(&json);
    struct run_replay_report report = { .rows = 0 };
    struct run_info info;
    struct err err = ERR_INIT;
    bool same;

    if (api_check_query(request) < 0 || api_run(request, &info) < 0)
        return;
    same = run_replay_check(config->agent_domain, info.n, runner_program(config->runner), &report,
                            &err) == 0;
    if (!same && err.code != ERR_INTEGRITY_FAILED && err.code != ERR_RESUME_CONFLICT) {
        serve_reply_error(request, &err);
        return;
    }
    json_write_object_begin(&w);
    json_put_bool(&w, "same", same);
    if (same) {
        json_put_i64(&w, "rows", report.rows);
        json_put_i64(&w, "selected", report.selected);
        json_put_bool(&w, "ended", report.ended);
    } else {
        char text[ERR_TEXT_MAX + 64];

        json_put_object(&w, "error");
        json_put_some_text(&w, "code", err_name(err.code));
        json_put_some_text(&w, "message", err_format(&err, text, sizeof(text)));
        json_write_object_end(&w);
    }
    json_write_object_end(&w);
    api_reply(request, 200, &json, &w);
}
