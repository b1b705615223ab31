/* The server's own routes: health, status feed, login, and the OpenAPI document.
 *
 * SPDX-License-Identifier: MIT
 */
#include <json-c/json.h>
#include <stdio.h>
#include <time.h>

#include "base/limits.h"
#include "serve/serve_int.h"

#define HEALTH_MAX 16

static struct json_object *text_of(const char *text)
{
    return json_object_new_string(text);
}

struct json_object *builtin_health(struct serve *serve, bool *ret_good)
{
    struct serve_health parts[HEALTH_MAX];
    size_t n = serve->health ? serve->health(serve->arg, parts, HEALTH_MAX) : 0;
    struct json_object *root = json_object_new_object(), *domains = json_object_new_object();
    const char *status = serve->stopping ? "stopping" : "ok";

    *ret_good = !serve->stopping;
    for (size_t i = 0; i < n && i < HEALTH_MAX; i++) {
        json_object_object_add(domains, parts[i].name, text_of(parts[i].status));
        if (strcmp(parts[i].status, "ok") == 0)
            continue;
        status = "degraded";
        *ret_good = false;
    }
    json_object_object_add(root, "status", text_of(status));
    json_object_object_add(root, "version", text_of(serve->version));
    json_object_object_add(root, "domains", domains);
    return root;
}

static void healthz_run(struct serve_request *request)
{
    bool good;
    struct json_object *health = builtin_health(serve_request_serve(request), &good);

    serve_reply_json(request, good ? 200 : 503, health);
}

/* ---- status feed ---- */

static void add_time(struct json_object *to, const char *key, int64_t wall_ms)
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm utc;
    char day[32], text[48];

    gmtime_r(&seconds, &utc);
    strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text, sizeof(text), "%s.%03dZ", day, (int)(wall_ms % 1000));
    json_object_object_add(to, key, text_of(text));
}

static struct json_object *status_object(struct serve *serve)
{
    struct clock *clock = loop_clock(serve->loop);
    bool good;
    struct json_object *root = builtin_health(serve, &good);

    json_object_object_add(root, "type", text_of("status"));
    json_object_object_add(root, "seq", json_object_new_int64((int64_t)serve->status_seq));
    add_time(root, "at", clock_wall_ms(clock));
    json_object_object_add(root, "uptimeMs",
                           json_object_new_int64(clock_mono_ms(clock) - serve->started_ms));
    json_object_object_add(root, "connections", json_object_new_int64(serve->conn_count));
    json_object_object_add(root, "streams", json_object_new_int64(serve->streams.count));
    json_object_object_add(root, "intervalMs", json_object_new_int64(serve->limits.status_ms));
    return root;
}

static struct str plain(struct json_object *object)
{
    size_t n;
    const char *text = json_object_to_json_string_length(
        object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &n);

    return str_of(text, n);
}

void builtin_status_joined(struct serve_feed *feed, struct serve_client *client, uint64_t after,
                           void *arg)
{
    struct serve *serve = arg;
    struct json_object *status;

    /* Only the present counts: nothing that was missed needs to be sent again. */
    (void)feed, (void)after;
    if (serve->status_seq == 0)
        serve->status_seq = 1;
    status = status_object(serve);
    serve_client_send(client, serve->status_seq, "status", plain(status));
    json_object_put(status);
    if (serve->status_timer.heap_index == 0)
        loop_timer_start(serve->loop, &serve->status_timer, serve->limits.status_ms);
}

void builtin_status_tick(struct loop_timer *timer)
{
    struct serve *serve = (struct serve *)((char *)timer - offsetof(struct serve, status_timer));
    struct json_object *status;

    if (serve_feed_clients(serve->status) == 0 || serve->stopping)
        return; /* nobody reads: the daemon sleeps */
    serve->status_seq++;
    status = status_object(serve);
    serve_feed_publish(serve->status, serve->status_seq, "status", plain(status));
    json_object_put(status);
    loop_timer_start(serve->loop, &serve->status_timer, serve->limits.status_ms);
}

static void events_run(struct serve_request *request)
{
    serve_feed_open_sse(serve_request_serve(request)->status, request);
}

static void events_ws_run(struct serve_request *request)
{
    serve_feed_open_ws(serve_request_serve(request)->status, request);
}

/* ---- login ---- */

static void login_run(struct serve_request *request)
{
    struct serve *serve = serve_request_serve(request);
    struct str code = serve_request_query(request, "code");
    AUTO_BUF cookie = BUF_INIT(512);

    if (str_is(serve_request_method(request), "HEAD")) { /* link previews must not use it up */
        serve_reply_empty(request, 204);
        return;
    }
    if (!code.p || !guard_use_code(&serve->guard, code)) {
        if (page_reply(request, "login-failed.html") == 0)
            return;
        serve_reply_empty(request, 403);
        return;
    }
    buf_printf(&cookie, "%s=", serve->guard.cookie_name);
    guard_make_cookie(&serve->guard, &cookie);
    buf_printf(&cookie, "; Path=/; Max-Age=%lld; HttpOnly; SameSite=Strict",
               (long long)(GUARD_COOKIE_LIFE_MS / 1000));
    serve_reply_header(request, "Set-Cookie", buf_text(&cookie));
    serve_reply_header(request, "Location", "/");
    serve_reply_header(request, "Referrer-Policy", "no-referrer");
    serve_reply_empty(request, 303);
}

static void login_codes_run(struct serve_request *request)
{
    struct serve *serve = serve_request_serve(request);
    struct json_object *root = json_object_new_object();
    AUTO_BUF url = BUF_INIT(512);

    serve_login_url(serve, &url);
    json_object_object_add(root, "url", text_of(buf_text(&url)));
    json_object_object_add(root, "expiresInMs", json_object_new_int64(GUARD_CODE_LIFE_MS));
    serve_reply_json(request, 201, root);
}

/* ---- what there is ---- */

static void openapi_run(struct serve_request *request)
{
    struct serve *serve = serve_request_serve(request);
    AUTO_BUF text = BUF_INIT(4 * MIB);
    struct err err = ERR_INIT;

    if (route_openapi(serve->tables, serve->table_count, serve->version, &text, &err) < 0)
        serve_reply_error(request, &err);
    else
        serve_reply_text(request, 200, "application/json", buf_str(&text));
}

const struct serve_route builtin_routes[] = {
    { "GET", "/", page_home, SERVE_PUBLIC, SERVE_PAGE, 0, "The start page." },
    { "GET", "/assets/{name}", page_run, SERVE_PUBLIC, SERVE_PAGE, 0, "Files of the page." },
    { "GET", "/login", login_run, SERVE_PUBLIC, SERVE_PAGE, 0,
      "Trades a one-time code for the page's cookie." },
    { "GET", "/healthz", healthz_run, SERVE_PUBLIC, SERVE_JSON, 0,
      "Whether the server and its domains are well." },
    { "GET", "/metrics", metrics_run, SERVE_LOCAL, SERVE_TEXT, 0,
      "Counters in the Prometheus text format." },
    { "GET", "/api/v1/openapi.json", openapi_run, SERVE_TOKEN, SERVE_JSON, 0, "This document." },
    { "GET", "/api/v1/events", events_run, SERVE_TOKEN, SERVE_SSE, 0,
      "Server status as server-sent events." },
    { "GET", "/api/v1/events/ws", events_ws_run, SERVE_TOKEN, SERVE_WEBSOCKET, 0,
      "Server status over a WebSocket." },
    { "POST", "/api/v1/login-codes", login_codes_run, SERVE_TOKEN, SERVE_JSON, 4096,
      "Makes a one-time link that logs a browser in." },
};
const size_t builtin_route_count = ARRAY_LEN(builtin_routes);
