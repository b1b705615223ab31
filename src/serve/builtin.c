/* The server's own routes: health, status feed, login, and the OpenAPI document.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <time.h>

#include "base/json_put.h"
#include "base/limits.h"
#include "serve/serve_int.h"

#define HEALTH_MAX   16
#define STATUS_BYTES (8 * KIB)

/* Members of an object that is open; true when all is well. */
static bool write_health(struct serve *serve, struct json_writer *w)
{
    struct serve_health parts[HEALTH_MAX];
    size_t n = serve->health ? serve->health(serve->arg, parts, HEALTH_MAX) : 0;
    bool well = true;

    for (size_t i = 0; i < n; i++)
        well = well && strcmp(parts[i].status, "ok") == 0;
    json_put_text(w, "status", !well ? "degraded" : serve->stopping ? "stopping" : "ok");
    json_put_text(w, "version", serve->version);
    json_put_object(w, "domains");
    for (size_t i = 0; i < n; i++) {
        json_put_text(w, parts[i].name, parts[i].status);
    }
    json_write_object_end(w);
    return well && !serve->stopping;
}

static void healthz_run(struct serve_request *request)
{
    AUTO_BUF json = BUF_INIT(STATUS_BYTES);
    struct json_writer w = JSON_WRITER(&json);
    bool good;

    json_write_object_begin(&w);
    good = write_health(serve_request_serve(request), &w);
    json_write_object_end(&w);
    BUG_IF(json_write_end(&w) < 0);
    serve_reply_json(request, good ? 200 : 503, buf_str(&json));
}

/* ---- status feed ---- */

static void write_status(struct serve *serve, struct buf *out)
{
    struct clock *clock = loop_clock(serve->loop);
    struct json_writer w = JSON_WRITER(out);

    json_write_object_begin(&w);
    write_health(serve, &w);
    json_put_text(&w, "type", "status");
    json_put_i64(&w, "seq", (int64_t)serve->status_seq);
    json_put_time(&w, "at", clock_wall_ms(clock));
    json_put_i64(&w, "uptimeMs", clock_mono_ms(clock) - serve->started_ms);
    json_put_i64(&w, "connections", serve->conn_count);
    json_put_i64(&w, "streams", serve->streams.count);
    json_put_i64(&w, "intervalMs", serve->limits.status_ms);
    json_write_object_end(&w);
    BUG_IF(json_write_end(&w) < 0);
}

void builtin_status_joined(struct serve_feed *feed, struct serve_client *client, uint64_t after,
                           void *arg)
{
    AUTO_BUF status = BUF_INIT(STATUS_BYTES);
    struct serve *serve = arg;

    /* Only the present counts: nothing that was missed needs to be sent again. */
    (void)feed, (void)after;
    if (serve->status_seq == 0)
        serve->status_seq = 1;
    write_status(serve, &status);
    serve_client_send(client, serve->status_seq, "status", buf_str(&status));
    if (serve->status_timer.heap_index == 0)
        loop_timer_start(serve->loop, &serve->status_timer, serve->limits.status_ms);
}

void builtin_status_tick(struct loop_timer *timer)
{
    struct serve *serve = (struct serve *)((char *)timer - offsetof(struct serve, status_timer));
    AUTO_BUF status = BUF_INIT(STATUS_BYTES);

    if (serve_feed_clients(serve->status) == 0 || serve->stopping)
        return; /* nobody reads: the daemon sleeps */
    serve->status_seq++;
    write_status(serve, &status);
    serve_feed_publish(serve->status, serve->status_seq, "status", buf_str(&status));
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
    AUTO_BUF url = BUF_INIT(512);
    AUTO_BUF json = BUF_INIT(1024);
    struct json_writer w = JSON_WRITER(&json);

    serve_login_url(serve_request_serve(request), &url);
    json_write_object_begin(&w);
    json_put_str(&w, "url", buf_str(&url));
    json_put_i64(&w, "expiresInMs", GUARD_CODE_LIFE_MS);
    json_write_object_end(&w);
    BUG_IF(json_write_end(&w) < 0);
    serve_reply_json(request, 201, buf_str(&json));
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
        serve_reply_json(request, 200, buf_str(&text));
}

const struct serve_route builtin_routes[] = {
    { "GET", "/", page_home, SERVE_PUBLIC, SERVE_PAGE, 0, "The page." },
    { "GET", "/assets/{name}", page_run, SERVE_PUBLIC, SERVE_FILE, 0, "Files of the page." },
    { "GET", "/login", login_run, SERVE_PUBLIC, SERVE_PAGE, 0,
      "Trades a one-time code for the page's cookie.", .status = 303 },
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
      "Makes a one-time link that logs a browser in.", .status = 201 },
};
const size_t builtin_route_count = ARRAY_LEN(builtin_routes);
