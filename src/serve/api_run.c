/* POST /run: a run is started, and its events are streamed until it is done or waits for a person.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "serve/api_int.h"

/* Clients of one run. */
struct api_stream {
    struct api *api;
    struct api_stream *next;
    struct serve_feed *feed;
    char run_id[72];
    char *thread_id;
    bool over;
};

/* ---- following ---- */

static void stream_free(struct api_stream *stream)
{
    serve_feed_free(stream->feed);
    free(stream->thread_id);
    free(stream);
}

static void forget(struct api_stream *stream)
{
    for (struct api_stream **at = &stream->api->streams; *at; at = &(*at)->next) {
        if (*at == stream) {
            *at = stream->next;
            break;
        }
    }
    stream_free(stream);
}

static bool send_recorded(void *arg, const struct run_public *event)
{
    return serve_client_send(arg, (uint64_t)event->seq, event->type, event->json) == 0;
}

static void joined(struct serve_feed *feed, struct serve_client *client, uint64_t after, void *arg)
{
    struct api_stream *stream = arg;
    struct err err = ERR_INIT;

    (void)feed;
    run_events_after(stream->api->config.runner, str_from(stream->thread_id),
                     str_from(stream->run_id), (int64_t)after, send_recorded, client, &err);
}

static const struct serve_feed_ops feed_ops = { .joined = joined };

static struct api_stream *stream_new(struct api *api, struct serve *serve,
                                     const struct run_info *info)
{
    struct api_stream *stream = NEW(struct api_stream);

    *stream = (struct api_stream){ .api = api, .next = api->streams };
    snprintf(stream->run_id, sizeof(stream->run_id), "%.*s", STR_ARG(info->run_id));
    stream->thread_id = alloc_copy(info->thread_id.p, info->thread_id.n);
    stream->feed = serve_feed_new(serve, "run", &feed_ops, stream);
    api->streams = stream;
    return stream;
}

void api_streams_publish(struct api *api, const struct run_public *event)
{
    struct api_stream *next;

    for (struct api_stream *stream = api->streams; stream; stream = next) {
        next = stream->next;
        if (!str_is(event->run_id, stream->run_id))
            continue;
        serve_feed_publish(stream->feed, event->partial ? 0 : (uint64_t)event->seq, event->type,
                           event->json);
        if (!event->partial && strcmp(event->type, "done") == 0)
            forget(stream);
    }
}

void api_streams_free(struct api *api)
{
    while (api->streams)
        forget(api->streams);
}

/* ---- starting ---- */

struct run_body {
    struct str prompt, agent, mode, model, cwd, session, thread, turn_id;
    int64_t max_iterations, max_tokens, max_tool_calls, max_ms;
};

static const struct json_field fields[] = {
    JSON_FIELD(struct run_body, prompt, "prompt", JSON_STR, .required = true),
    JSON_FIELD(struct run_body, agent, "agent", JSON_STR),
    JSON_FIELD(struct run_body, mode, "mode", JSON_STR),
    JSON_FIELD(struct run_body, model, "model", JSON_STR),
    JSON_FIELD(struct run_body, cwd, "cwd", JSON_STR),
    JSON_FIELD(struct run_body, session, "session", JSON_STR),
    JSON_FIELD(struct run_body, thread, "thread", JSON_STR),
    JSON_FIELD(struct run_body, turn_id, "turnId", JSON_STR),
    JSON_FIELD(struct run_body, max_iterations, "maxIterations", JSON_I64),
    JSON_FIELD(struct run_body, max_tokens, "maxTokens", JSON_I64),
    JSON_FIELD(struct run_body, max_tool_calls, "maxToolCalls", JSON_I64),
    JSON_FIELD(struct run_body, max_ms, "maxMs", JSON_I64),
    { .name = NULL },
};

static int read_mode(struct str text, enum run_mode *ret_mode, struct err *err)
{
    if (!text.n || str_is(text, "structured"))
        *ret_mode = RUN_STRUCTURED;
    else if (str_is(text, "wiggum"))
        *ret_mode = RUN_COOK;
    else
        return err_set(err, ERR_BAD_REQUEST, "mode must be structured or wiggum, not %.*s",
                       STR_ARG(text));
    return 0;
}

static int read_request(struct json_object *body, struct run_request *ret_request, struct err *err)
{
    struct run_body read = { .prompt = STR_NONE };

    if (json_read(body, fields, JSON_REFUSE_UNKNOWN, &read, err) < 0)
        return -1;
    *ret_request = (struct run_request){
        .agent_id = read.agent,
        .prompt = read.prompt,
        .session_id = read.session,
        .thread_id = read.thread,
        .turn_id = read.turn_id,
        .model_id = read.model,
        .cwd = read.cwd,
        .max_iterations = read.max_iterations,
        .max_tokens = read.max_tokens,
        .max_tool_calls = read.max_tool_calls,
        .max_ms = read.max_ms,
    };
    return read_mode(read.mode, &ret_request->mode, err);
}

void api_run_post(struct serve_request *request)
{
    struct api *api = api_of(request);
    AUTO_JSON body = NULL;
    struct run_request run;
    struct run_info info;
    struct api_stream *stream;
    struct err err = ERR_INIT;

    if (api_body(request, &body) < 0)
        return;
    if (read_request(body, &run, &err) < 0 ||
        run_start(api->config.runner, &run, serve_request_arena(request), &info, &err) < 0) {
        serve_reply_error(request, &err);
        return;
    }
    stream = stream_new(api, serve_request_serve(request), &info);
    serve_feed_open_sse(stream->feed, request);
}
