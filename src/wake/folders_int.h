/* Between the files of folders.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_WAKE_FOLDERS_INT_H
#define DORMOUSE_WAKE_FOLDERS_INT_H

#include <dirent.h>

#include "base/map.h"
#include "wake/folders.h"
#include "wake/subscription_int.h"

#define FOLDER_FILES_MAX   10000 /* looked at by one scan */
#define FOLDER_PENDING_MAX 4096  /* files that wait for quiet; more: the folder is scanned */
#define FOLDER_UNIT_FILES  200   /* events of one unit */
#define FOLDER_SCAN_STEP   500   /* files that one tick looks at */

struct uv_poll_s;

struct folder {
    char *path;
    int fd, watch; /* -1: not watched */
    bool wanted, scan;
    /* A scan that is under way. */
    DIR *dir;              /* NULL: none is */
    int64_t since, newest; /* since < 0: nothing was read yet */
    unsigned seen;
};

struct pending {
    struct folder *folder;
    int64_t due_ms; /* monotonic; < 0: its wakes wait for their commit */
    bool born;      /* it was made since it is pending: when it is gone by then, it never was */
};

struct folders {
    struct folders_config config;
    char **denied;
    unsigned refs;
    bool stopped;
    int inotify_fd;
    struct map folders; /* path: struct folder */
    struct map pending; /* path of a file: struct pending */
    struct uv_poll_s *poll;
    struct loop_tick_hook hook;
    struct loop_timer timer; /* quiet, or another try */
    struct loop_effect look, told;
    bool look_queued, told_queued, list;
};

/* ---- folders_watch.c ---- */

/* Which of the rules denies this absolute path; NULL: none. */
const char *folder_denied_by(const struct folder_rules *rules, const char *path);
/* Opens and checks; *ret_fd is for paths below it alone. */
int folder_open(const struct folder_rules *rules, struct str path, int *ret_fd, struct err *err);
void folder_unwatch(struct folders *folders, struct folder *folder);
int folder_watch(struct folders *folders, struct folder *folder, struct err *err);
/* Takes what the kernel has to tell. */
void folders_drain(struct folders *folders);
void folder_note(struct folders *folders, struct folder *folder, struct str name, int64_t due_ms,
                 bool born);
/* Files that changed since the folder was read up to become pending. Looks at as many as *left
 * says, which becomes less; 1 there are more, 0 it is done. */
int folder_scan(struct folders *folders, struct folder *folder, unsigned *left, struct err *err);
bool folder_has_scan(const struct folder *folder);

/* ---- folders_event.c ---- */

/* Inside a unit: the wakes of pending files that are due. 1 some were queued. */
int folders_flush(struct folders *folders, int64_t now_ms, struct err *err);

/* ---- folder_store.c ---- */

/* Up to which change time (ns) it was read: 1, or 0: never. */
int folder_stamp(struct domain *domain, int64_t host, const char *path, int64_t *ret_ns,
                 struct err *err);
/* Inside a unit: at least this. */
int folder_stamp_up(struct domain *domain, int64_t host, const char *path, int64_t ns,
                    int64_t now_ms, struct err *err);
/* Active subscriptions to this folder. */
int folder_subscriptions(struct domain *domain, const char *path, struct arena *arena,
                         struct subscription **ret_list, size_t *ret_count, struct err *err);

#endif
