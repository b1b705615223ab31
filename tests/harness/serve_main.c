/* A small server for end-to-end tests and benchmarks: the server room alone, without databases.
 *
 * usage: serve-main DATA_DIR [LISTEN]
 *
 * Prints one JSON line with url, login and pid when it answers, serves a few routes for tests
 * beside the product's own, and ends on SIGTERM or SIGINT.
 *
 * SPDX-License-Identifier: MIT
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#include "base/limits.h"
#include "serve/feed.h"
#include "serve/serve.h"

static struct serve *serve;
static struct loop *main_loop;
static uv_signal_t signals[2];

static void on_echo_message(struct serve_ws *ws, bool text, struct str bytes, void *arg)
{
    (void)arg;
    serve_ws_send(ws, text, bytes);
}

static void run_echo(struct serve_request *request)
{
    static const struct serve_ws_ops ops = { .message = on_echo_message };

    serve_ws_accept(request, &ops, NULL);
}

static void run_post(struct serve_request *request)
{
    serve_reply_text(request, 200, "application/octet-stream", serve_request_body(request));
}

static const struct serve_route routes[] = {
    { "GET", "/api/v1/test/echo", run_echo, SERVE_TOKEN, SERVE_WEBSOCKET, 0, "Echoes messages." },
    { "POST", "/api/v1/test/echo", run_post, SERVE_TOKEN, SERVE_TEXT, LIMIT_HTTP_BODY_BYTES,
      "Echoes the body." },
};
static const struct serve_routes tables[] = { { routes, ARRAY_LEN(routes), NULL } };

static void on_stopped(void *arg)
{
    (void)arg;
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        uv_close((uv_handle_t *)&signals[i], NULL);
    loop_stop(main_loop);
}

static void on_signal(uv_signal_t *handle, int number)
{
    (void)handle, (void)number;
    serve_stop(serve, SECONDS(3), on_stopped, NULL);
}

static int fail(const struct err *err)
{
    char text[ERR_TEXT_MAX];

    fprintf(stderr, "serve-main: %s\n", err_format(err, text, sizeof(text)));
    return 1;
}

int main(int argc, char **argv)
{
    static const int numbers[] = { SIGTERM, SIGINT };
    char token[LIMIT_PATH_BYTES], socket_path[LIMIT_PATH_BYTES];
    struct serve_config config = {
        .listen = argc > 2 ? argv[2] : "127.0.0.1:0",
        .token_path = token,
        .socket_path = socket_path,
        .version = "test",
        .inherit = true,
        .routes = tables,
        .route_tables = ARRAY_LEN(tables),
    };
    AUTO_BUF login = BUF_INIT(512);
    struct err err = ERR_INIT;

    if (argc < 2) {
        fprintf(stderr, "usage: %s DATA_DIR [LISTEN]\n", argv[0]);
        return 2;
    }
    snprintf(token, sizeof(token), "%s/token", argv[1]);
    snprintf(socket_path, sizeof(socket_path), "%s/dormouse.sock", argv[1]);
    if (getenv("SERVE_TEST_FAST"))
        config.limits = (struct serve_limits){ .heartbeat_ms = 200, .status_ms = 100 };
    if (loop_new(NULL, &main_loop, &err) < 0 || serve_start(main_loop, &config, &serve, &err) < 0)
        return fail(&err);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        uv_signal_init(loop_uv(main_loop), &signals[i]);
        uv_signal_start(&signals[i], on_signal, numbers[i]);
    }
    serve_login_url(serve, &login);
    printf("{\"url\":\"%s\",\"login\":\"%s\",\"pid\":%d}\n", serve_url(serve), buf_text(&login),
           (int)getpid());
    fflush(stdout);
    if (loop_run(main_loop, &err) < 0)
        return fail(&err);
    serve_free(serve);
    loop_free(main_loop);
    return 0;
}
