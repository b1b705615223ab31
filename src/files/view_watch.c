/* Hearing of changes on disk: one inotify descriptor for all folders of the view.
 *
 * An event only says in which tree something happened; the tree is then walked. So renames, moved
 * folders and a queue that ran over need no thought of their own. Nothing is read while a job is in
 * the pool, because the watches it adds are not known before it ends; the kernel keeps the events.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>
#include <uv.h>

#include "files/view_int.h"

#define QUIET_MS    300  /* after the last event, before the tree is walked */
#define PATIENCE_MS 2000 /* after the first */
#define READ_BYTES  (16 * KIB)

static void all_dirty(struct view *view)
{
    map_each (&view->trees, entry)
        ((struct view_tree *)entry->value)->dirty = true;
    view->list_trees = true;
}

static struct str key_of(const int *watch)
{
    return str_of((const char *)watch, sizeof(*watch));
}

static bool on_event(struct view *view, const struct inotify_event *event)
{
    void *whose = map_find(&view->watches, key_of(&event->wd));

    if (event->mask & IN_Q_OVERFLOW) {
        all_dirty(view);
        return true;
    }
    if (event->mask & IN_IGNORED) {
        map_remove(&view->watches, key_of(&event->wd));
        return false;
    }
    if (!whose || (event->len && event->name[0] == '.'))
        return false;
    if (whose == view)
        view->list_trees = true;
    else
        ((struct view_tree *)whose)->dirty = true;
    return true;
}

/* Whether something happened. */
static bool read_events(struct view *view)
{
    _Alignas(struct inotify_event) char bytes[READ_BYTES];
    bool happened = false;
    ssize_t n;

    while ((n = read(view->inotify_fd, bytes, sizeof(bytes))) > 0)
        for (char *p = bytes; p < bytes + n;) {
            const struct inotify_event *event = (const struct inotify_event *)p;

            happened |= on_event(view, event);
            p += sizeof(*event) + event->len;
        }
    return happened;
}

static void look(struct view *view)
{
    int64_t now = view_now(view);

    if (!read_events(view))
        return;
    if (view->events_since == VIEW_NEVER)
        view->events_since = now;
    view->scan_due = now + QUIET_MS;
    if (view->scan_due > view->events_since + PATIENCE_MS)
        view->scan_due = view->events_since + PATIENCE_MS;
    /* What stood in the way may be gone. */
    if (view->retry_due != VIEW_NEVER)
        view->retry_due = view->scan_due;
    view_arm(view, false);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct view *view = poll->data;

    (void)status, (void)events;
    if (view->job) {
        uv_poll_stop(poll);
        view->polling = false;
    } else
        look(view);
}

static void on_tick(struct loop_tick_hook *hook)
{
    struct view *view = CONTAINER_OF(hook, struct view, hook);

    if (!view->job)
        look(view);
}

static void on_closed(uv_handle_t *handle)
{
    struct view *view = handle->data;

    free(handle);
    view_unref(view);
}

void view_watch_start(struct view *view)
{
    view->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (view->inotify_fd < 0)
        return;
    if (!loop_uv(view->loop)) {
        view->hook.after_tick = on_tick;
        loop_add_tick_hook(view->loop, &view->hook);
        return;
    }
    view->poll = NEW(uv_poll_t);
    if (uv_poll_init(loop_uv(view->loop), view->poll, view->inotify_fd) < 0)
        BUG("uv_poll_init");
    view->poll->data = view;
    uv_unref((uv_handle_t *)view->poll);
    view_ref(view);
    view_watch_resume(view);
}

void view_watch_resume(struct view *view)
{
    if (view->poll && !view->polling)
        view->polling = uv_poll_start(view->poll, UV_READABLE, on_readable) == 0;
}

void view_watch_stop(struct view *view)
{
    if (view->poll)
        uv_close((uv_handle_t *)view->poll, on_closed);
    else if (view->hook.after_tick)
        loop_remove_tick_hook(view->loop, &view->hook);
    view->poll = NULL;
    view->hook.after_tick = NULL;
}

void view_watch_add(struct view *view, const int *watches, size_t n, void *whose)
{
    for (size_t i = 0; i < n; i++)
        map_put(&view->watches, key_of(&watches[i]), whose);
}
