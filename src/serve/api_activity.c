/* The activity feed: that something changed, never what. A page that shows it reads it again.
 *
 * Two sources. Recorded events of any run come from the runner's listener. Everything else comes
 * through this interface, by whatever client: a request that was not a GET, went well and is
 * committed is told by the place it wrote to.
 *
 * Nothing is kept for who was away. Ids count up from the time of the start, so they differ between
 * lives of the server; a client that comes back with another id than the newest is told to read
 * everything again.
 *
 * Pages listen over the WebSocket: a browser has six connections to a server for requests, streams
 * among them, and a page in each of six tabs would leave none to decide or to stop with.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/clock.h"
#include "loop/loop.h"
#include "serve/api_int.h"

#define NOTICE_BYTES (4 * KIB)

static uint64_t newest(struct api *api)
{
    if (!api->activity_id)
        api->activity_id = (uint64_t)clock_wall_ms(loop_clock(api->config.loop));
    return api->activity_id;
}

/* ---- telling ---- */

void api_activity(struct api *api, const struct api_notice *notice)
{
    AUTO_BUF json = BUF_INIT(NOTICE_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    uint64_t id;

    if (!api->activity || serve_feed_clients(api->activity) == 0)
        return;
    id = newest(api) + 1;
    json_write_object_begin(&w);
    json_put_some_text(&w, "type", notice->type);
    json_put_u64(&w, "id", id);
    json_put_some_str(&w, "agentId", notice->agent_id);
    json_put_some_str(&w, "threadId", notice->thread_id);
    json_put_some_str(&w, "runId", notice->run_id);
    json_put_some_str(&w, "itemId", notice->item_id);
    json_put_some_text(&w, "kind", notice->kind);
    json_put_some_time(&w, "at", clock_wall_ms(loop_clock(api->config.loop)));
    json_write_object_end(&w);
    if (json_write_end(&w) < 0)
        return; /* ids longer than any of ours */
    api->activity_id = id;
    serve_feed_publish(api->activity, id, notice->type, buf_str(&json));
}

/* A thread's id begins with its agent's. */
static struct str agent_of(struct str thread)
{
    static const char *const kinds[] = { ":session:", ":run:", ":wizard:" };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        long at = (long)str_find(thread, str_from(kinds[i]));

        if (at > 0)
            return str_take(thread, (size_t)at);
    }
    return STR_NONE;
}

static bool is_one_of(const char *type, const char *const *types)
{
    for (; *types; types++)
        if (strcmp(type, *types) == 0)
            return true;
    return false;
}

/* The item that an event names, if any; lies in *event. */
static struct str item_of(const struct json_object *event)
{
    static const char *const keys[] = { "gateId", "itemId", "request_id" };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct json_object *id = json_find(event, keys[i]);

        if (id && json_object_is_type(id, json_type_string))
            return json_str(id);
    }
    return STR_NONE;
}

static void tell_item(struct api *api, const struct run_public *event, struct api_notice notice)
{
    AUTO_JSON parsed = NULL;
    struct err err = ERR_INIT;

    if (json_parse(event->json, &parsed, &err) == 0)
        notice.item_id = item_of(parsed);
    api_activity(api, &notice);
}

/* What else a tool has changed, by the result of its call; NULL: nothing. */
static const char *made_by(struct str result)
{
    static const struct {
        const char *tool, *type;
    } makers[] = {
        { "\"toolName\":\"propose_agent\"", "agent" },
        { "\"toolName\":\"write_report\"", "report" },
    };

    for (size_t i = 0; i < ARRAY_LEN(makers); i++)
        if (str_find(result, str_from(makers[i].tool)) >= 0)
            return makers[i].type;
    return NULL;
}

void api_activity_run(struct api *api, const struct run_public *event)
{
    static const char *const asks[] = { "approval_gate", "waiting", "memory_edit_request", NULL };
    struct api_notice notice = { .type = "run",
                                 .agent_id = agent_of(event->thread_id),
                                 .thread_id = event->thread_id,
                                 .run_id = event->run_id,
                                 .kind = event->type };

    if (event->partial || !api->activity || serve_feed_clients(api->activity) == 0)
        return;
    api_activity(api, &notice);
    if (is_one_of(event->type, asks)) {
        notice.type = "inbox";
        tell_item(api, event, notice);
    } else if (strcmp(event->type, "memory_edit_complete") == 0) {
        notice.type = "memory";
        tell_item(api, event, notice);
    } else if (strcmp(event->type, "tool_result") == 0) {
        notice.type = made_by(event->json);
        if (notice.type)
            api_activity(api, &notice);
    }
}

/* By what a route's pattern begins with; the first that fits. */
static const struct {
    const char *prefix, *type;
} places[] = {
    { "/api/v1/agents/{id}/memory", "memory" },
    { "/api/v1/agents/{id}/skills", "skill" },
    { "/api/v1/agents/{id}/threads", "thread" },
    { "/api/v1/agents/{id}/subscriptions", "subscription" },
    { "/api/v1/subscriptions", "subscription" },
    { "/api/v1/hooks", "wake" },
    { "/api/v1/agents/{id}/wake", "wake" },
    { "/api/v1/agents/{id}/timers", "timer" },
    { "/api/v1/timers", "timer" },
    { "/api/v1/agents", "agent" },
    { "/api/v1/wizard", "thread" },
    { "/api/v1/inbox", "inbox" },
    { "/api/v1/runs", "run" },
    { "/api/v1/grants", "grant" },
    { "/api/v1/kill", "kill" },
    { "/api/v1/models", "model" },
    { "/api/v1/secrets", "secret" },
    { "/api/v1/credentials", "secret" },
};

static bool has_param(const char *pattern, const char *name)
{
    return strstr(pattern, name) != NULL;
}

void api_changed(void *arg, struct serve_request *request)
{
    struct api *api = arg;
    const char *pattern = serve_request_route(request)->pattern;
    struct api_notice notice = { .kind = "changed" };

    if (str_ends(str_from(pattern), STR("/preview")))
        return; /* nothing was */
    for (size_t i = 0; i < ARRAY_LEN(places) && !notice.type; i++)
        if (strncmp(pattern, places[i].prefix, strlen(places[i].prefix)) == 0)
            notice.type = places[i].type;
    if (!notice.type)
        return;
    if (strcmp(notice.type, "inbox") == 0) {
        notice.kind = "decided";
        notice.item_id = serve_request_param(request, "id");
    } else if (strcmp(notice.type, "run") == 0) {
        notice.run_id = serve_request_param(request, "key");
    } else if (str_starts(str_from(pattern), STR("/api/v1/agents")) && has_param(pattern, "{id}")) {
        notice.agent_id = serve_request_param(request, "id");
    }
    api_activity(api, &notice);
}

/* ---- listening ---- */

static void joined(struct serve_feed *feed, struct serve_client *client, uint64_t after, void *arg)
{
    AUTO_BUF json = BUF_INIT(256);
    struct json_writer w = JSON_WRITER(&json);
    struct api *api = arg;
    const uint64_t *asked = serve_client_data(client);
    uint64_t id = newest(api);

    (void)feed;
    if (!after && asked)
        after = *asked;
    json_write_object_begin(&w);
    json_put_some_text(&w, "type", "hello");
    json_put_u64(&w, "id", id);
    json_put_bool(&w, "reset", after != 0 && after != id);
    json_write_object_end(&w);
    BUG_IF(json_write_end(&w) < 0);
    serve_client_send(client, id, "hello", buf_str(&json));
}

static const struct serve_feed_ops activity_ops = { .joined = joined };

typedef struct serve_client *(*activity_open)(struct serve_feed *feed,
                                              struct serve_request *request);

static void open_activity(struct serve_request *request, activity_open open)
{
    struct api *api = api_of(request);
    struct serve_client *client;
    uint64_t *asked;
    int64_t after = 0;

    if (api_check_query(request) < 0 || api_query_i64(request, "after", 0, INT64_MAX, &after) < 0)
        return;
    if (!api->activity)
        api->activity =
            serve_feed_new(serve_request_serve(request), "activity", &activity_ops, api);
    client = open(api->activity, request);
    if (!client)
        return;
    asked = NEW(uint64_t);
    *asked = (uint64_t)after;
    serve_client_set_data(client, asked, free);
}

void api_activity_get(struct serve_request *request)
{
    open_activity(request, serve_feed_open_sse);
}

void api_activity_ws(struct serve_request *request)
{
    open_activity(request, serve_feed_open_ws);
}
