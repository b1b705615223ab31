/* Hearing that this machine's zone was set: /etc/localtime is replaced.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>
#include <uv.h>

#include "wake/clockwork_int.h"

static bool names_zone(int fd)
{
    _Alignas(struct inotify_event) char bytes[4096];
    bool found = false;
    ssize_t n;

    while ((n = read(fd, bytes, sizeof(bytes))) > 0)
        for (char *p = bytes; p < bytes + n;) {
            const struct inotify_event *event = (const struct inotify_event *)p;

            found |= (event->mask & IN_Q_OVERFLOW) ||
                     (event->len && strcmp(event->name, "localtime") == 0);
            p += sizeof(*event) + event->len;
        }
    return found;
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct clockwork *clockwork = poll->data;

    (void)status, (void)events;
    if (names_zone(clockwork->inotify_fd))
        clockwork_look(clockwork);
}

void clockwork_watch_start(struct clockwork *clockwork)
{
    struct uv_loop_s *uv = loop_uv(clockwork->config.loop);
    const char *dir = clockwork->config.zone_dir ? clockwork->config.zone_dir : "/etc";

    clockwork->inotify_fd = -1;
    if (!uv || clockwork->config.zone)
        return;
    clockwork->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (clockwork->inotify_fd < 0)
        return; /* it is looked at with every firing, too */
    (void)inotify_add_watch(clockwork->inotify_fd, dir,
                            IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ONLYDIR);
    clockwork->poll = NEW(uv_poll_t);
    if (uv_poll_init(uv, clockwork->poll, clockwork->inotify_fd) < 0)
        BUG("uv_poll_init");
    clockwork->poll->data = clockwork;
    uv_unref((uv_handle_t *)clockwork->poll);
    (void)uv_poll_start(clockwork->poll, UV_READABLE, on_readable);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle);
}

void clockwork_watch_stop(struct clockwork *clockwork)
{
    if (clockwork->poll)
        uv_close((uv_handle_t *)clockwork->poll, on_closed);
    clockwork->poll = NULL;
    if (clockwork->inotify_fd >= 0)
        close(clockwork->inotify_fd);
    clockwork->inotify_fd = -1;
}
