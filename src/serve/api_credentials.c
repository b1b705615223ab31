/* /credentials: accounts elsewhere that a person connects. Tokens come in and never go out.
 *
 * SPDX-License-Identifier: MIT
 */
#include "connect/connect.h"
#include "serve/api_int.h"

static struct connect *connect_of(struct serve_request *request)
{
    struct connect *connect = api_of(request)->config.connect;
    struct err err = ERR_INIT;

    if (connect)
        return connect;
    err_set(&err, ERR_NOT_FOUND, "no accounts can be connected here");
    serve_reply_error(request, &err);
    return NULL;
}

/* Handlers that answer later know the request and what to write, and nothing of the api: it may be
 * gone by then. */
struct later {
    struct serve_request *request;
    struct connect *connect;
    void (*write)(const struct connect *connect, struct json_writer *w);
};

static struct later *later_new(struct serve_request *request, struct connect *connect,
                               void (*write)(const struct connect *connect, struct json_writer *w))
{
    struct later *later = ARENA_NEW(serve_request_arena(request), struct later);

    *later = (struct later){ .request = request, .connect = connect, .write = write };
    return later;
}

static void reply(struct serve_request *request, const struct connect *connect,
                  void (*write)(const struct connect *connect, struct json_writer *w))
{
    AUTO_BUF json = BUF_INIT(LIMIT_JSON_BYTES);
    struct json_writer w = JSON_WRITER(&json);

    write(connect, &w);
    api_reply(request, 200, &json, &w);
}

static void done(void *arg, const struct err *err)
{
    struct later *later = arg;

    if (err)
        serve_reply_error(later->request, err);
    else
        reply(later->request, later->connect, later->write);
}

/* 204, or 200 with the status when there is something left for the person to do. */
static void reply_removed(struct serve_request *request, const struct connect *connect)
{
    if (connect_google_left(connect))
        reply(request, connect, connect_google_status);
    else
        serve_reply_empty(request, 204);
}

static void done_removing(void *arg, const struct err *err)
{
    struct later *later = arg;

    if (err)
        serve_reply_error(later->request, err);
    else
        reply_removed(later->request, later->connect);
}

/* The answer comes by the callback when r is 0. */
static void wait_for(struct serve_request *request, int r, const struct err *err)
{
    if (r < 0)
        serve_reply_error(request, err);
    else
        serve_request_hold(request);
}

static const struct json_field no_fields[] = { { .name = NULL } };

/* ---- Slack ---- */

struct slack_body {
    struct str token;
};

static const struct json_field slack_fields[] = {
    JSON_FIELD(struct slack_body, token, "token", JSON_STR, .required = true),
    { .name = NULL },
};

void api_slack_set(struct serve_request *request)
{
    struct connect *connect;
    struct slack_body read = { .token = STR_NONE };
    AUTO_JSON body = NULL;
    struct err err = ERR_INIT;
    int r;

    if (api_check_query(request) < 0 || api_body(request, slack_fields, &read, &body) < 0 ||
        !(connect = connect_of(request)))
        return;
    r = connect_slack_set(connect, read.token, done,
                          later_new(request, connect, connect_slack_status), &err);
    wait_for(request, r, &err);
}

void api_slack_status(struct serve_request *request)
{
    struct connect *connect;

    if (api_check_query(request) == 0 && (connect = connect_of(request)))
        reply(request, connect, connect_slack_status);
}

void api_slack_test(struct serve_request *request)
{
    struct connect *connect;
    AUTO_JSON body = NULL;
    struct err err = ERR_INIT;
    int r;

    if (api_check_query(request) < 0 || api_body(request, no_fields, NULL, &body) < 0 ||
        !(connect = connect_of(request)))
        return;
    r = connect_slack_test(connect, done, later_new(request, connect, connect_slack_status), &err);
    wait_for(request, r, &err);
}

void api_slack_remove(struct serve_request *request)
{
    struct connect *connect;
    struct err err = ERR_INIT;

    if (api_check_query(request) < 0 || !(connect = connect_of(request)))
        return;
    /* Gone is gone: asked twice it says the same. */
    if (connect_slack_remove(connect, &err) < 0 && err.code != ERR_NOT_FOUND)
        serve_reply_error(request, &err);
    else
        serve_reply_empty(request, 204);
}

/* ---- Google ---- */

static const struct json_field google_fields[] = {
    JSON_FIELD(struct connect_google_start, flow, "flow", JSON_STR, .required = true),
    JSON_FIELD(struct connect_google_start, client_id, "client_id", JSON_STR),
    JSON_FIELD(struct connect_google_start, client_secret, "client_secret", JSON_STR),
    JSON_FIELD(struct connect_google_start, scopes, "scopes", JSON_STR),
    JSON_FIELD(struct connect_google_start, redirect_uri, "redirect_uri", JSON_STR),
    { .name = NULL },
};

/* This server as the browser knows it; the guard has checked the name. */
static struct str own_redirect(struct serve_request *request)
{
    struct str host = serve_request_header(request, "Host");

    return str_from(arena_printf(serve_request_arena(request), "http://%.*s/oauth/google/callback",
                                 STR_ARG(host)));
}

void api_google_start(struct serve_request *request)
{
    struct connect *connect;
    struct connect_google_start start = { .flow = STR_NONE };
    AUTO_JSON body = NULL;
    struct err err = ERR_INIT;
    int r;

    if (api_check_query(request) < 0 || api_body(request, google_fields, &start, &body) < 0 ||
        !(connect = connect_of(request)))
        return;
    if (!start.redirect_uri.n)
        start.redirect_uri = own_redirect(request);
    r = connect_google_begin(connect, &start, done,
                             later_new(request, connect, connect_google_flow), &err);
    wait_for(request, r, &err);
}

struct finish_body {
    struct str code, state, error;
};

static const struct json_field finish_fields[] = {
    JSON_FIELD(struct finish_body, code, "code", JSON_STR),
    JSON_FIELD(struct finish_body, state, "state", JSON_STR, .required = true),
    JSON_FIELD(struct finish_body, error, "error", JSON_STR),
    { .name = NULL },
};

void api_google_finish(struct serve_request *request)
{
    struct connect *connect;
    struct finish_body read = { .code = STR_NONE };
    AUTO_JSON body = NULL;
    struct err err = ERR_INIT;
    int r;

    if (api_check_query(request) < 0 || api_body(request, finish_fields, &read, &body) < 0 ||
        !(connect = connect_of(request)))
        return;
    r = connect_google_finish(connect, read.code, read.state, read.error, done,
                              later_new(request, connect, connect_google_status), &err);
    wait_for(request, r, &err);
}

void api_google_status(struct serve_request *request)
{
    struct connect *connect;

    if (api_check_query(request) == 0 && (connect = connect_of(request)))
        reply(request, connect, connect_google_status);
}

void api_google_remove(struct serve_request *request)
{
    struct connect *connect;
    struct err err = ERR_INIT;
    int r;

    if (api_check_query(request) < 0 || !(connect = connect_of(request)))
        return;
    r = connect_google_remove(connect, done_removing, later_new(request, connect, NULL), &err);
    if (r > 0)
        reply_removed(request, connect);
    else if (r < 0 && err.code == ERR_NOT_FOUND)
        serve_reply_empty(request, 204);
    else
        wait_for(request, r, &err);
}

/* ---- the browser that comes back ---- */

/* Plain words, nothing of what came with the request: it may be anybody's link. */
static void show(struct serve_request *request, int status, const char *title, const char *text)
{
    AUTO_BUF page = BUF_INIT(4096);

    buf_printf(&page,
               "<!doctype html><meta charset=\"utf-8\"><title>Dormouse</title>"
               "<h1>%s</h1><p>%s</p>",
               title, text);
    serve_reply_text(request, status, "text/html; charset=utf-8", buf_str(&page));
}

static void came_back(void *arg, const struct err *err)
{
    struct later *later = arg;

    if (!err)
        show(later->request, 200, "Google is connected",
             "You can close this window and go back to Dormouse.");
    else
        show(later->request, err_http_status(err->code), "That did not work",
             "Settings in Dormouse says why. You can close this window and try again there.");
}

void api_google_callback(struct serve_request *request)
{
    struct connect *connect = connect_of(request);
    struct err err = ERR_INIT;

    if (!connect)
        return;
    if (connect_google_finish(connect, serve_request_query(request, "code"),
                              serve_request_query(request, "state"),
                              serve_request_query(request, "error"), came_back,
                              later_new(request, connect, NULL), &err) < 0)
        came_back(later_new(request, connect, NULL), &err);
    else
        serve_request_hold(request);
}
