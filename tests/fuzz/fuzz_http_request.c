/* Bytes of HTTP connections, sent to a real server over its Unix socket. Whatever comes, the server
 * stays up and forgets the connection afterwards.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "serve/feed.h"
#include "serve/serve.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static struct loop *loop;
static struct serve *serve;
static char socket_path[64];

static void echo(struct serve_request *request)
{
    serve_reply_text(request, 200, "text/plain", serve_request_body(request));
}

static void on_message(struct serve_ws *ws, bool text, struct str bytes, void *arg)
{
    (void)arg;
    serve_ws_send(ws, text, bytes);
}

static void echo_ws(struct serve_request *request)
{
    static const struct serve_ws_ops ops = { .message = on_message };

    serve_ws_accept(request, &ops, NULL);
}

static const struct serve_route table[] = {
    { "POST", "/e", echo, SERVE_TOKEN, SERVE_TEXT, 4096, "x" },
    { "GET", "/w", echo_ws, SERVE_TOKEN, SERVE_WEBSOCKET, 0, "x" },
};
static const struct serve_routes routes = { table, ARRAY_LEN(table), NULL };

static void start(void)
{
    static char dir[] = "/tmp/dormouse-fuzz-XXXXXX";
    char token[64];
    struct serve_config config = { .listen = "",
                                   .token_path = token,
                                   .socket_path = socket_path,
                                   .routes = &routes,
                                   .route_tables = 1 };
    struct err err = ERR_INIT;

    if (!mkdtemp(dir))
        abort();
    snprintf(token, sizeof(token), "%s/token", dir);
    snprintf(socket_path, sizeof(socket_path), "%s/s", dir);
    if (loop_new(NULL, &loop, &err) < 0 || serve_start(loop, &config, &serve, &err) < 0)
        abort();
    unlink(token);
}

static void turn(int times)
{
    while (times-- > 0) {
        loop_wake(loop);
        uv_run(loop_uv(loop), UV_RUN_NOWAIT);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct sockaddr_un sa = { .sun_family = AF_UNIX };
    char reply[4096];
    int fd;

    if (n > 16384)
        return 0;
    if (!loop)
        start();
    snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", socket_path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
        abort();
    fcntl(fd, F_SETFL, O_NONBLOCK);
    turn(1);
    for (size_t at = 0; at < n;) {
        ssize_t sent = send(fd, bytes + at, n - at < 1500 ? n - at : 1500, MSG_NOSIGNAL);

        turn(2);
        while (read(fd, reply, sizeof(reply)) > 0)
            ;
        if (sent <= 0)
            break;
        at += (size_t)sent;
    }
    close(fd);
    turn(4);
    return 0;
}
