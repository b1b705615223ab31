/* One libmicrohttpd daemon per listening socket, run from the loop.
 *
 * The daemon keeps an epoll descriptor of its own; libuv watches that one, and a readable epoll
 * descriptor only marks the door: the daemon runs in the server's tick hook, after the commit.
 *
 * SPDX-License-Identifier: MIT
 */
#include <unistd.h>

#include "serve/serve_int.h"

/* Paths and queries are decoded by target.c, from the raw text. */
static size_t keep_escapes(void *cls, struct MHD_Connection *mhd, char *text)
{
    (void)cls, (void)mhd;
    return strlen(text);
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    struct door *door = poll->data;

    (void)status, (void)events;
    door->ready = true;
}

static struct MHD_Daemon *start_daemon(struct door *door, unsigned connections)
{
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE, 0, conn_admit, door,
        request_step, door, MHD_OPTION_LISTEN_SOCKET, (MHD_socket)door->fd,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)SERVE_POOL_BYTES,
        MHD_OPTION_CONNECTION_MEMORY_INCREMENT, (size_t)1024, MHD_OPTION_CONNECTION_LIMIT,
        connections, MHD_OPTION_NOTIFY_CONNECTION, conn_notify, door, MHD_OPTION_NOTIFY_COMPLETED,
        request_completed, door, MHD_OPTION_URI_LOG_CALLBACK, request_begin, door,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
}

int door_open(struct serve *serve, int fd, bool is_unix, struct err *err)
{
    struct door *door = &serve->doors[serve->door_count];
    const union MHD_DaemonInfo *info;

    door->serve = serve;
    door->fd = fd;
    door->is_unix = is_unix;
    door->daemon = start_daemon(door, serve->limits.connections);
    if (!door->daemon)
        return err_set(err, ERR_INTERNAL, "libmicrohttpd could not start on descriptor %d", fd);
    serve->door_count++;
    info = MHD_get_daemon_info(door->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    door->poll.data = door;
    if (uv_poll_init(loop_uv(serve->loop), &door->poll, info->epoll_fd) < 0 ||
        uv_poll_start(&door->poll, UV_READABLE, on_ready) < 0)
        BUG("libuv can't watch an epoll descriptor");
    door->polling = true;
    door->ready = true;
    return 0;
}

void door_run(struct door *door)
{
    MHD_UNSIGNED_LONG_LONG wait_ms;

    door->ready = false;
    MHD_run(door->daemon);
    if (MHD_get_timeout(door->daemon, &wait_ms) == MHD_YES && wait_ms == 0) {
        door->ready = true;
        loop_wake(door->serve->loop);
    }
}

void door_quiesce(struct door *door)
{
    if (door->fd < 0)
        return;
    MHD_quiesce_daemon(door->daemon);
    close(door->fd);
    door->fd = -1;
}

static void on_poll_closed(uv_handle_t *handle)
{
    struct door *door = handle->data;

    door->polling = false;
    serve_wake(door->serve);
}

void door_close(struct door *door)
{
    door_quiesce(door);
    uv_close((uv_handle_t *)&door->poll, on_poll_closed);
    /* Connections that are left are closed by this. */
    MHD_stop_daemon(door->daemon);
    door->daemon = NULL;
}
