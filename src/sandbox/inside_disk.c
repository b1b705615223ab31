/* How much was written to disk since the hand started, in all writable places together: bytes, and
 * how many files.
 *
 * The file system's free space and free inodes are cheap to ask; only when one of them fell by as
 * much as its limit are the places searched for what changed since, so that somebody else's big
 * download ends nobody here. Files that were removed and are still open are found with the
 * processes that hold them (inside_held.c).
 *
 * Whoever hides something from the search (a directory closed to its own owner, a descriptor in
 * flight, a program that can't be read) while that much is missing is taken to have it.
 *
 * Once a limit was passed, and until enough was removed, commands can only read and remove
 * (inside_landlock.c): many short ones would otherwise add up between looks.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "base/str.h"
#include "sandbox/inside_int.h"

#define PLACES     64
#define WALK_MAX   500000 /* files looked at in one search */
#define FIRST_STEP 4      /* a part of the limit: how far it falls until the next search, */
#define LATER_STEP 64     /* and once the limit was reached */

/* What a file system has left. */
struct room {
    uint64_t bytes, files;
};

struct place {
    const char *path;
    /* At the start and at the last search, or the most that there was since: what others remove is
     * not given away. */
    struct room before, searched;
};

static struct {
    const struct inside_setup *setup;
    struct place places[PLACES];
    size_t n;
    struct timespec since;
    int own_io;          /* our own /proc/self/io, which only an earlier open can read */
    const char *reached; /* the limit that was passed, and not yet made good */
    bool held;           /* nothing that runs can write: it was started past the limit */
    pthread_mutex_t lock;
} disk = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct room room_of(const char *path)
{
    struct statvfs fs;

    if (statvfs(path, &fs) < 0)
        return (struct room){ 0 };
    return (struct room){ (uint64_t)fs.f_bfree * fs.f_frsize, (uint64_t)fs.f_ffree };
}

void inside_disk_init(const struct inside_setup *setup)
{
    disk.setup = setup;
    disk.own_io = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
    clock_gettime(CLOCK_REALTIME_COARSE, &disk.since);
    for (size_t i = 0; setup->allow_write[i] && disk.n < PLACES; i++) {
        struct place *place = &disk.places[disk.n];

        if (access(setup->allow_write[i], F_OK) < 0)
            continue;
        place->path = setup->allow_write[i];
        place->before = place->searched = room_of(place->path);
        disk.n++;
    }
}

/* ---- when to search ---- */

/* Whether one number fell by the limit since the start, and further since the last search. */
static bool fell(uint64_t before, uint64_t searched, uint64_t now, uint64_t limit)
{
    uint64_t step = limit / (disk.reached ? LATER_STEP : FIRST_STEP) + 1;

    return limit > 0 && now < before && before - now >= limit && now < searched &&
           searched - now >= step;
}

static void room_keep_most(struct room *room, const struct room *now)
{
    room->bytes = now->bytes > room->bytes ? now->bytes : room->bytes;
    room->files = now->files > room->files ? now->files : room->files;
}

static bool disk_suspect(void)
{
    bool suspect = false;

    for (size_t i = 0; i < disk.n; i++) {
        struct place *place = &disk.places[i];
        struct room now = room_of(place->path);

        room_keep_most(&place->before, &now);
        room_keep_most(&place->searched, &now);
        if (fell(place->before.bytes, place->searched.bytes, now.bytes, disk.setup->disk) ||
            fell(place->before.files, place->searched.files, now.files, disk.setup->files)) {
            place->searched = now;
            suspect = true;
        }
    }
    return suspect;
}

/* ---- what changed ---- */

struct found {
    uint64_t bytes, files;
    bool hidden, cut;
};

static bool changed_since(const struct stat *st)
{
    return st->st_ctim.tv_sec > disk.since.tv_sec ||
           (st->st_ctim.tv_sec == disk.since.tv_sec && st->st_ctim.tv_nsec >= disk.since.tv_nsec);
}

static void found_entry(const FTSENT *entry, struct found *found)
{
    const struct stat *st = entry->fts_statp;

    if (entry->fts_info == FTS_DP || entry->fts_info == FTS_NS || !changed_since(st))
        return;
    found->files++;
    if (entry->fts_info == FTS_F)
        found->bytes += (uint64_t)st->st_blocks * 512;
    if (entry->fts_info == FTS_DNR && st->st_uid == geteuid())
        found->hidden = true;
}

static void found_named(struct found *found)
{
    char *roots[PLACES + 1] = { NULL };
    unsigned seen = 0;
    FTSENT *entry;
    FTS *fts;

    for (size_t i = 0; i < disk.n; i++)
        roots[i] = (char *)disk.places[i].path;
    fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    while (fts && !found->cut && (entry = fts_read(fts))) {
        found_entry(entry, found);
        found->cut = ++seen >= WALK_MAX;
    }
    if (fts)
        fts_close(fts);
}

static void found_unnamed(const struct proc_info *list, size_t n, struct found *found)
{
    struct held held;

    inside_held(list, n, disk.setup->allow_write, &held);
    found->bytes += held.unnamed_bytes;
    found->files += held.unnamed_files;
    found->hidden = found->hidden || held.in_flight > 0 || held.unseen > 0;
}

/* Bytes that were ever written, by all that run, and by all that we have collected, whose sums the
 * kernel adds to ours. Asked when a search was cut short. */
static uint64_t written_bytes(const struct proc_info *list, size_t n)
{
    static const char field[] = "\nwrite_bytes:";
    uint64_t bytes = 0;
    char path[PROC_PATH_MAX], text[512];

    for (size_t i = 0; i <= n; i++) {
        const char *at;
        ssize_t got = -1;
        int fd = disk.own_io;

        if (i < n) {
            proc_path(&list[i], "io", path);
            fd = open(path, O_RDONLY | O_CLOEXEC);
        }
        if (fd >= 0)
            got = pread(fd, text, sizeof(text) - 1, 0);
        if (i < n && fd >= 0)
            close(fd);
        text[got > 0 ? got : 0] = '\0';
        at = strstr(text, field);
        bytes += at ? strtoull(at + strlen(field), NULL, 10) : 0;
    }
    return bytes;
}

/* The limit that is passed at this moment; NULL: none. */
static const char *disk_search(const struct proc_info *list, size_t n, bool *ret_hidden)
{
    const struct inside_setup *setup = disk.setup;
    struct found found = { 0 };

    found_named(&found);
    found_unnamed(list, n, &found);
    if (found.cut && setup->disk > 0 && written_bytes(list, n) > setup->disk)
        found.hidden = true;
    *ret_hidden = found.hidden;
    if (setup->files > 0 && found.files > setup->files)
        return "files";
    return setup->disk > 0 && (found.bytes > setup->disk || found.hidden) ? "disk" : NULL;
}

static void disk_message(const char *limit, const char *then, char message[INSIDE_MESSAGE_MAX])
{
    const struct inside_setup *setup = disk.setup;

    if (strcmp(limit, "files") == 0)
        snprintf(message, INSIDE_MESSAGE_MAX,
                 "more than %llu files were made or changed (sandbox.limits.files): %s",
                 (unsigned long long)setup->files, then);
    else
        snprintf(message, INSIDE_MESSAGE_MAX,
                 "more than %llu MiB were written to disk (sandbox.limits.disk): %s",
                 (unsigned long long)(setup->disk / MIB), then);
}

const char *inside_disk_over(const struct proc_info *list, size_t n,
                             char message[INSIDE_MESSAGE_MAX])
{
    const char *limit = NULL;
    bool hidden = false;

    pthread_mutex_lock(&disk.lock);
    if (!disk.held && disk_suspect())
        limit = disk_search(list, n, &hidden);
    if (limit)
        disk.reached = limit;
    pthread_mutex_unlock(&disk.lock);
    if (limit)
        disk_message(limit,
                     hidden ? "everything was ended, and some of it hid from the count"
                            : "everything was ended",
                     message);
    return limit;
}

bool inside_disk_full(char message[INSIDE_MESSAGE_MAX])
{
    const char *limit = NULL;
    struct proc_info *list;
    bool hidden;

    pthread_mutex_lock(&disk.lock);
    if (disk.reached) {
        size_t n = procs_read(&list);

        limit = disk.reached = disk_search(list, n, &hidden);
        free(list);
    }
    disk.held = disk.held && limit;
    pthread_mutex_unlock(&disk.lock);
    if (limit)
        disk_message(limit, "until some of it is removed, nothing can be written", message);
    return limit != NULL;
}

void inside_disk_hold(void)
{
    pthread_mutex_lock(&disk.lock);
    disk.held = disk.reached != NULL;
    pthread_mutex_unlock(&disk.lock);
}
