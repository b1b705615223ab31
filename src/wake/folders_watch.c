/* Folders: opening them safely, and what the kernel tells.
 *
 * A folder is opened first and asked afterwards what its path is: so nothing can be swapped between
 * the question and the watch, which is set on the descriptor.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/path.h"
#include "base/place.h"
#include "wake/folders_int.h"
#include "wake/waker_int.h"

#define READ_BYTES (16 * KIB)
#define OPEN_MS    60000 /* for a new file to be closed; then it is looked at anyway */
#define EVENTS                                                                                     \
    (IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF |       \
     IN_MOVE_SELF)

/* ---- opening ---- */

static bool folder_has_name(const char *path, const char *name)
{
    struct str rest = str_from(path), part, denied = str_from(name);

    while (str_split(&rest, '/', &part))
        if (str_eq_nocase(part, denied) || path_same(part, denied))
            return true;
    return false;
}

/* Where it lies, and where its name says that it does. A place that can't be told denies all. */
static bool folder_is_in(const char *path, const char *denied, const char *base,
                         struct arena *arena)
{
    const char *named, *real;

    if (place_is_name(denied))
        return folder_has_name(path, denied);
    named = place_absolute(denied, base, arena);
    real = place_real(denied, base, arena);
    return !named || !real || place_within(path, named) || place_within(path, real);
}

const char *folder_denied_by(const struct folder_rules *rules, const char *path)
{
    AUTO_ARENA arena = ARENA_INIT;

    for (size_t i = 0; i < rules->count; i++)
        if (folder_is_in(path, rules->denied[i], rules->base ? rules->base : "/", &arena))
            return rules->denied[i];
    return NULL;
}

static int check_place(const struct folder_rules *rules, const char *path, struct err *err)
{
    const char *denied = folder_denied_by(rules, path);

    if (!denied)
        return 0;
    return err_set(err, ERR_PATH_DENIED,
                   "folder %s lies in %s, which is not watched: agents may not read there", path,
                   denied);
}

static int check_opened(const struct folder_rules *rules, int fd, const char *path, struct err *err)
{
    char link[64], real[LIMIT_PATH_BYTES + 1];
    ssize_t n;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, real, sizeof(real));
    if (n < 0 || (size_t)n >= sizeof(real))
        return err_set(err, ERR_PATH_DENIED, "folder %s: where it lies can't be told", path);
    if (!str_is(str_of(real, (size_t)n), path))
        return err_set(err, ERR_PATH_DENIED,
                       "folder %s leads through a symbolic link to %.*s; name that one", path,
                       (int)n, real);
    return check_place(rules, path, err);
}

/* What is there of its path must lead through no link either: else it would never be watched. */
static int refuse_absent(const char *path, struct err *err)
{
    char real[LIMIT_PATH_BYTES + 1];
    AUTO_TEXT there = alloc_copy(path, strlen(path));
    char *slash;

    while ((slash = strrchr(there, '/')) && slash != there) {
        *slash = '\0';
        if (!realpath(there, real))
            continue;
        if (strcmp(real, there) != 0)
            return err_set(err, ERR_PATH_DENIED,
                           "folder %s leads through a symbolic link to %s; name that one", path,
                           real);
        break;
    }
    return err_set(err, ERR_NOT_FOUND, "folder %s: it is not there", path);
}

/* Why it can't be opened as a folder. */
static int refuse(const char *path, int why, struct err *err)
{
    char to[LIMIT_PATH_BYTES + 1];
    struct stat st;
    ssize_t n;

    if (why == ENOENT)
        return refuse_absent(path, err);
    if ((why != ELOOP && why != ENOTDIR) || lstat(path, &st) < 0)
        return err_set(err, ERR_PATH_DENIED, "folder %s: %s", path,
                       why == ENOTDIR ? "its path leads through what is no folder" : strerror(why));
    if (!S_ISLNK(st.st_mode))
        return err_set(
            err, ERR_PATH_DENIED,
            "folder %s: it is a file; a folder is watched, and --glob (glob) names files "
            "in it",
            path);
    n = readlink(path, to, sizeof(to) - 1);
    return err_set(err, ERR_PATH_DENIED,
                   "folder %s: it is a symbolic link, and links are not followed; name the folder "
                   "that it leads to (%.*s)",
                   path, n > 0 ? (int)n : 1, n > 0 ? to : "?");
}

int folder_open(const struct folder_rules *rules, struct str path, int *ret_fd, struct err *err)
{
    AUTO_TEXT text = alloc_copy(path.p, path.n);
    int fd;

    if (!path.n || path.p[0] != '/' || strlen(text) != path.n || path.n > LIMIT_PATH_BYTES)
        return err_set(err, ERR_BAD_REQUEST,
                       "a folder is an absolute path, such as /home/ann/inbox");
    if (check_place(rules, text, err) < 0)
        return -1;
    fd = open(text, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return refuse(text, errno, err);
    if (check_opened(rules, fd, text, err) < 0) {
        close(fd);
        return -1;
    }
    *ret_fd = fd;
    return 0;
}

int folder_check(const struct folder_rules *rules, struct str folder, struct err *err)
{
    int fd;

    if (folder_open(rules, folder, &fd, err) < 0)
        return -1;
    close(fd);
    return 0;
}

int waker_folder_check(struct waker *waker, struct str folder, struct err *err)
{
    return folder_check(&waker->config.folders, folder, err);
}

/* ---- watching ---- */

void folder_unwatch(struct folders *folders, struct folder *folder)
{
    if (folder->watch >= 0)
        inotify_rm_watch(folders->inotify_fd, folder->watch);
    if (folder->fd >= 0)
        close(folder->fd);
    if (folder->dir)
        closedir(folder->dir);
    folder->dir = NULL;
    folder->watch = folder->fd = -1;
}

int folder_watch(struct folders *folders, struct folder *folder, struct err *err)
{
    char link[64];

    if (folder->watch >= 0)
        return 0;
    if (folder_open(&folders->config.rules, str_from(folder->path), &folder->fd, err) < 0)
        return -1;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", folder->fd);
    folder->watch = inotify_add_watch(folders->inotify_fd, link, EVENTS | IN_ONLYDIR);
    if (folder->watch < 0) {
        err_set(err, ERR_PATH_DENIED, "folder %s can't be watched: %s", folder->path,
                errno == ENOSPC ? "fs.inotify.max_user_watches is used up" : strerror(errno));
        folder_unwatch(folders, folder);
        return -1;
    }
    folder->scan = true;
    return 0;
}

void folder_note(struct folders *folders, struct folder *folder, struct str name, int64_t due_ms,
                 bool born)
{
    AUTO_BUF path = BUF_INIT(2 * LIMIT_PATH_BYTES);
    struct pending *pending;

    buf_printf(&path, "%s/%.*s", folder->path, STR_ARG(name));
    pending = map_find(&folders->pending, buf_str(&path));
    if (!pending) {
        if (map_count(&folders->pending) >= FOLDER_PENDING_MAX) {
            folder->scan = true;
            return;
        }
        pending = NEW(struct pending);
        map_put(&folders->pending, buf_str(&path), pending);
        pending->born = born;
    }
    pending->folder = folder;
    pending->due_ms = due_ms;
}

/* ---- events ---- */

static struct folder *folder_of(struct folders *folders, int watch)
{
    map_each (&folders->folders, entry) {
        struct folder *folder = entry->value;

        if (folder->watch == watch)
            return folder;
    }
    return NULL;
}

static void scan_all(struct folders *folders)
{
    LOG_WARN("wake", "too much changed at once in watched folders; they are read again");
    map_each (&folders->folders, entry)
        ((struct folder *)entry->value)->scan = true;
    folders->list = true;
}

static void on_event(struct folders *folders, const struct inotify_event *event, int64_t due_ms)
{
    struct folder *folder = folder_of(folders, event->wd);

    if (event->mask & IN_Q_OVERFLOW) {
        scan_all(folders);
        return;
    }
    if (!folder)
        return;
    if (event->mask & (IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF)) {
        folder_unwatch(folders, folder); /* it may come back */
        folders->list = true;
    } else if (event->len && !(event->mask & IN_ISDIR)) {
        bool born = event->mask & IN_CREATE;

        folder_note(folders, folder, str_from(event->name), due_ms + (born ? OPEN_MS : 0), born);
    }
}

void folders_drain(struct folders *folders)
{
    _Alignas(struct inotify_event) char bytes[READ_BYTES];
    int64_t due = clock_mono_ms(loop_clock(folders->config.loop)) + folders->config.quiet_ms;
    ssize_t n;

    while ((n = read(folders->inotify_fd, bytes, sizeof(bytes))) > 0)
        for (char *p = bytes; p < bytes + n;) {
            const struct inotify_event *event = (const struct inotify_event *)p;

            on_event(folders, event, due);
            p += sizeof(*event) + event->len;
        }
}

/* ---- scans ---- */

static int64_t ctime_ns(int fd, const char *name)
{
    struct stat st;

    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
        return -1;
    return (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec;
}

bool folder_has_scan(const struct folder *folder)
{
    return folder->watch >= 0 && (folder->scan || folder->dir);
}

/* 1 begun, 0 it can't be read. */
static int open_scan(struct folders *folders, struct folder *folder, struct err *err)
{
    struct domain *domain = folders->config.agent_domain;
    int64_t since = -1;
    int fd, r = folder_stamp(domain, change_host_in(folders->config.change, domain), folder->path,
                             &since, err);

    if (r < 0)
        return -1;
    fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    folder->dir = fd >= 0 ? fdopendir(fd) : NULL;
    folder->scan = false;
    if (!folder->dir) { /* what the kernel tells is heard all the same */
        LOG_WARN("wake", "a watched folder can't be read", LOG_TEXT("folder", folder->path),
                 LOG_TEXT("error", strerror(errno)));
        if (fd >= 0)
            close(fd);
        return 0;
    }
    folder->since = r == 0 ? -1 : since;
    folder->newest = 0;
    folder->seen = 0;
    return 1;
}

static int end_scan(struct folders *folders, struct folder *folder, struct err *err)
{
    struct domain *domain = folders->config.agent_domain;

    closedir(folder->dir);
    folder->dir = NULL;
    if (folder->since >= 0)
        return 0;
    /* What was there before anybody asked wakes nobody. */
    return folder_stamp_up(domain, change_host_in(folders->config.change, domain), folder->path,
                           folder->newest + 1, clock_wall_ms(loop_clock(folders->config.loop)),
                           err);
}

static void look_at(struct folders *folders, struct folder *folder, const char *name)
{
    int64_t changed = ctime_ns(folder->fd, name);

    if (changed > folder->newest)
        folder->newest = changed;
    if (folder->since >= 0 && changed >= folder->since)
        folder_note(folders, folder, str_from(name),
                    clock_mono_ms(loop_clock(folders->config.loop)), false);
}

int folder_scan(struct folders *folders, struct folder *folder, unsigned *left, struct err *err)
{
    struct dirent *entry;
    int r = folder->dir ? 1 : open_scan(folders, folder, err);

    if (r <= 0)
        return r;
    while (*left > 0) {
        --*left;
        entry = readdir(folder->dir);
        if (!entry)
            return end_scan(folders, folder, err);
        if (entry->d_type == DT_DIR)
            continue;
        if (++folder->seen > FOLDER_FILES_MAX) {
            LOG_WARN("wake", "a watched folder has more files than are looked at",
                     LOG_TEXT("folder", folder->path), LOG_I64("files", FOLDER_FILES_MAX));
            return end_scan(folders, folder, err);
        }
        look_at(folders, folder, entry->d_name);
    }
    return 1;
}
