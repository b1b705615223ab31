/* Folders on the loop: which are watched, and when what they tell becomes wakes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>
#include <uv.h>

#include "base/log.h"
#include "wake/folders_int.h"

#define QUIET_MS 300
#define RETRY_MS 30000 /* for a folder that is not there */
#define AGAIN_MS 1000  /* after a failed write */

/* ---- life ---- */

static void free_values(struct map *map)
{
    map_each (map, entry)
        free(entry->value);
    map_release(map);
}

static void unref(struct folders *folders)
{
    if (--folders->refs)
        return;
    map_each (&folders->folders, entry)
        free(((struct folder *)entry->value)->path);
    free_values(&folders->folders);
    free_values(&folders->pending);
    for (size_t i = 0; i < folders->config.rules.count; i++)
        free(folders->denied[i]);
    free(folders->denied);
    free(folders);
}

static void look_soon(struct folders *folders)
{
    if (folders->stopped || folders->look_queued)
        return;
    folders->look_queued = true;
    folders->refs++;
    loop_after_commit(folders->config.loop, &folders->look);
    loop_wake(folders->config.loop);
}

void folders_look(struct folders *folders)
{
    folders->list = true;
    look_soon(folders);
}

static void arm(struct folders *folders, int64_t delay_ms)
{
    int64_t due = clock_mono_ms(loop_clock(folders->config.loop)) + delay_ms;

    if (folders->stopped || (folders->timer.heap_index && folders->timer.due_ms <= due))
        return;
    loop_timer_start(folders->config.loop, &folders->timer, delay_ms > 0 ? delay_ms : 0);
}

/* ---- which are watched ---- */

static struct folder *want(struct folders *folders, struct str path)
{
    struct folder *folder = map_find(&folders->folders, path);

    if (!folder) {
        folder = NEW(struct folder);
        *folder = (struct folder){ .path = alloc_copy(path.p, path.n), .fd = -1, .watch = -1 };
        map_put(&folders->folders, path, folder);
    }
    folder->wanted = true;
    return folder;
}

static void drop_pending(struct folders *folders, const struct folder *folder, bool done)
{
    map_each (&folders->pending, entry) {
        struct pending *pending = entry->value;

        if (folder ? pending->folder == folder : done && pending->due_ms < 0)
            free(map_remove(&folders->pending, entry->key));
    }
}

static void watch_all(struct folders *folders)
{
    map_each (&folders->folders, entry) {
        struct folder *folder = entry->value;
        struct err err = ERR_INIT;

        if (!folder->wanted) {
            folder_unwatch(folders, folder);
            drop_pending(folders, folder, false);
            map_remove(&folders->folders, entry->key);
            free(folder->path);
            free(folder);
        } else if (folder_watch(folders, folder, &err) < 0) {
            LOG_WARN("wake", "a folder is not watched; it is tried again later", LOG_ERR(&err));
            arm(folders, RETRY_MS);
        }
    }
}

static int list_wanted(struct folders *folders, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct subscription *list;
    size_t count;

    if (subscription_folders(folders->config.agent_domain, &arena, &list, &count, err) < 0)
        return -1;
    map_each (&folders->folders, entry)
        ((struct folder *)entry->value)->wanted = false;
    for (size_t i = 0; i < count; i++)
        want(folders, list[i].folder);
    folders->list = false;
    watch_all(folders);
    return 0;
}

/* ---- from events to wakes ---- */

static void on_told(struct loop_effect *effect)
{
    struct folders *folders = CONTAINER_OF(effect, struct folders, told);

    folders->told_queued = false;
    drop_pending(folders, NULL, true);
    if (!folders->stopped && folders->config.queued)
        folders->config.queued(folders->config.arg);
    unref(folders);
}

/* What was noted down has not happened: it is looked for again. */
static void scan_again(struct folders *folders)
{
    map_each (&folders->folders, entry)
        ((struct folder *)entry->value)->scan = true;
    folders->list = true;
    if (loop_is_healthy(folders->config.loop)) /* else folders_look() comes when it is again */
        arm(folders, AGAIN_MS);
}

static void on_untold(struct loop_effect *effect, const struct err *why)
{
    struct folders *folders = CONTAINER_OF(effect, struct folders, told);

    (void)why;
    folders->told_queued = false;
    map_each (&folders->pending, entry) {
        struct pending *pending = entry->value;

        if (pending->due_ms < 0)
            pending->due_ms = 0;
    }
    scan_again(folders);
    unref(folders);
}

/* A tick's share of what there is to scan. */
static int scan_some(struct folders *folders, struct err *err)
{
    unsigned left = FOLDER_SCAN_STEP;

    map_each (&folders->folders, entry) {
        struct folder *folder = entry->value;

        if (left > 0 && folder_has_scan(folder) && folder_scan(folders, folder, &left, err) < 0)
            return -1;
    }
    return 0;
}

static int work(struct folders *folders, struct err *err)
{
    if (folders->list && list_wanted(folders, err) < 0)
        return -1;
    if (scan_some(folders, err) < 0)
        return -1;
    return folders_flush(folders, clock_wall_ms(loop_clock(folders->config.loop)), err);
}

static bool has_work(struct folders *folders)
{
    int64_t now = clock_mono_ms(loop_clock(folders->config.loop));

    if (folders->list)
        return true;
    map_each (&folders->folders, entry) {
        if (folder_has_scan(entry->value))
            return true;
    }
    map_each (&folders->pending, waiting) {
        const struct pending *pending = waiting->value;

        if (pending->due_ms >= 0 && pending->due_ms <= now)
            return true;
    }
    return false;
}

static void arm_for_pending(struct folders *folders)
{
    int64_t now = clock_mono_ms(loop_clock(folders->config.loop)), next = -1;

    map_each (&folders->pending, entry) {
        const struct pending *pending = entry->value;

        if (pending->due_ms >= 0 && (next < 0 || pending->due_ms < next))
            next = pending->due_ms;
    }
    map_each (&folders->folders, watched)
        next = folder_has_scan(watched->value) ? now : next;
    if (next >= 0)
        arm(folders, next > now ? next - now : 0);
}

static void work_in_unit(struct folders *folders)
{
    struct loop *loop = folders->config.loop;
    struct err err = ERR_INIT;
    int r = -1;

    if (loop_unit_begin(loop, folders->config.agent_domain, &err) == 0) {
        r = work(folders, &err);
        if (r >= 0 && !folders->told_queued) {
            folders->told_queued = true;
            folders->refs++;
            loop_after_commit(loop, &folders->told);
        }
        if (loop_unit_end(loop, r >= 0, r >= 0 ? &err : NULL) < 0)
            r = -1;
    }
    if (r >= 0)
        return;
    if (loop_is_healthy(loop))
        LOG_WARN("wake", "folders could not be read; they are read again in a second",
                 LOG_ERR(&err));
    scan_again(folders);
}

static void on_look(struct loop_effect *effect)
{
    struct folders *folders = CONTAINER_OF(effect, struct folders, look);

    folders->look_queued = false;
    if (!folders->stopped) {
        folders_drain(folders);
        if (has_work(folders) && !folders->told_queued)
            work_in_unit(folders);
        if (!folders->stopped)
            arm_for_pending(folders);
    }
    unref(folders);
}

static void on_no_look(struct loop_effect *effect, const struct err *why)
{
    struct folders *folders = CONTAINER_OF(effect, struct folders, look);

    (void)why;
    folders->look_queued = false;
    unref(folders);
}

static void on_timer(struct loop_timer *timer)
{
    struct folders *folders = CONTAINER_OF(timer, struct folders, timer);

    map_each (&folders->folders, entry)
        folders->list |= ((struct folder *)entry->value)->watch < 0;
    look_soon(folders);
}

/* ---- hearing ---- */

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)status, (void)events;
    look_soon(poll->data);
}

/* A loop for tests has no descriptors to wait for. */
static void on_tick(struct loop_tick_hook *hook)
{
    struct folders *folders = CONTAINER_OF(hook, struct folders, hook);
    size_t before = map_count(&folders->pending);

    folders_drain(folders);
    if (map_count(&folders->pending) != before || has_work(folders))
        look_soon(folders);
}

static void on_closed(uv_handle_t *handle)
{
    struct folders *folders = handle->data;

    free(handle);
    unref(folders);
}

static void listen_to_kernel(struct folders *folders)
{
    if (!loop_uv(folders->config.loop)) {
        folders->hook.after_tick = on_tick;
        loop_add_tick_hook(folders->config.loop, &folders->hook);
        return;
    }
    folders->poll = NEW(uv_poll_t);
    if (uv_poll_init(loop_uv(folders->config.loop), folders->poll, folders->inotify_fd) < 0 ||
        uv_poll_start(folders->poll, UV_READABLE, on_readable) < 0)
        BUG("uv_poll");
    folders->poll->data = folders;
    folders->refs++;
    uv_unref((uv_handle_t *)folders->poll);
}

/* ---- making one ---- */

static void copy_rules(struct folders *folders)
{
    struct folder_rules *rules = &folders->config.rules;

    folders->denied = NEW_N(char *, rules->count + 1);
    for (size_t i = 0; i < rules->count; i++)
        folders->denied[i] = alloc_text(rules->denied[i]);
    rules->denied = (const char *const *)folders->denied;
}

struct folders *folders_new(const struct folders_config *config)
{
    struct folders *folders = NEW(struct folders);

    folders->config = *config;
    if (!folders->config.quiet_ms)
        folders->config.quiet_ms = QUIET_MS;
    copy_rules(folders);
    folders->refs = 1;
    folders->timer.fire = on_timer;
    folders->look = (struct loop_effect){ .run = on_look, .drop = on_no_look };
    folders->told = (struct loop_effect){ .run = on_told, .drop = on_untold };
    folders->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (folders->inotify_fd < 0) {
        LOG_WARN("wake", "folders are not watched: the kernel gives no inotify descriptor");
        folders->stopped = true;
        return folders;
    }
    listen_to_kernel(folders);
    folders_look(folders);
    return folders;
}

void folders_stop(struct folders *folders)
{
    if (folders->stopped)
        return;
    folders->stopped = true;
    loop_timer_stop(folders->config.loop, &folders->timer);
    if (folders->poll)
        uv_close((uv_handle_t *)folders->poll, on_closed);
    else
        loop_remove_tick_hook(folders->config.loop, &folders->hook);
    folders->poll = NULL;
    map_each (&folders->folders, entry)
        folder_unwatch(folders, entry->value);
    close(folders->inotify_fd);
}

void folders_free(struct folders *folders)
{
    if (!folders)
        return;
    folders_stop(folders);
    unref(folders);
}

struct folders_counts folders_counts(const struct folders *folders)
{
    struct folders_counts counts = { 0 };

    map_each (&folders->folders, entry) {
        if (((const struct folder *)entry->value)->watch >= 0)
            counts.watched++;
        else
            counts.missing++;
    }
    return counts;
}
