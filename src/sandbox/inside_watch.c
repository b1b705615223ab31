/* The watch: looks at processes, memory and disk, and ends what goes over a limit.
 *
 * A cgroup or RLIMIT_NPROC, where there is one, keeps the host safe; but it lets a fork bomb hang
 * until its time is over, and says nothing. So the hand looks itself: often while something runs,
 * hardly at all otherwise; a hand that serves has a thread for it. What goes over a limit is ended
 * in one step with everything in the namespace, because what runs is related and may be
 * multiplying.
 *
 * Disk use is what was written since the hand started, in all writable places together. The file
 * system's free space is cheap to ask; only when that fell by as much as the limit are the places
 * searched for files that changed since, so that somebody else's big download ends nobody here.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fts.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "sandbox/inside_int.h"

#define BUSY_MS     INSIDE_LOOK_MS
#define IDLE_MS     400
#define CROWD       2   /* times the limit: certainly too many, dead or alive */
#define GONE_ROUNDS 500 /* of 2 ms */
#define PLACES      64
#define WALK_MAX    200000 /* files looked at in one search */

struct place {
    const char *path;
    dev_t dev;
    uint64_t free_before, free_lowest; /* lowest: at which it was last searched */
};

static struct {
    const struct inside_setup *setup;
    struct place places[PLACES];
    size_t n;
    struct timespec since;
} watch;

/* Of a private directory; it is none of ours when it is no memory. */
static uint64_t used_bytes(const char *path)
{
    struct statfs fs;

    if (statfs(path, &fs) < 0 || fs.f_type != TMPFS_MAGIC)
        return 0;
    return (uint64_t)(fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize;
}

static uint64_t free_bytes(const char *path)
{
    struct statvfs fs;

    return statvfs(path, &fs) == 0 ? (uint64_t)fs.f_bfree * fs.f_frsize : 0;
}

/* Whoever is dying still counts, so nothing new is started until they are gone. */
static void over(const char *limit, const char *message)
{
    struct timespec pause = { 0, 2000000 };

    inside_gate(true);
    inside_child_over(limit, message);
    inside_notice(limit, "%s", message);
    for (int i = 0; i < GONE_ROUNDS && (i == 0 || procs_more_than(0)); i++) {
        procs_kill_all();
        nanosleep(&pause, NULL);
        inside_reap();
        if (watch.setup->off)
            break;
    }
    inside_gate(false);
}

/* ---- disk ---- */

static bool changed_since(const struct stat *st)
{
    return st->st_ctim.tv_sec > watch.since.tv_sec ||
           (st->st_ctim.tv_sec == watch.since.tv_sec && st->st_ctim.tv_nsec >= watch.since.tv_nsec);
}

static uint64_t written_bytes(uint64_t enough)
{
    char *roots[PLACES + 1] = { NULL };
    uint64_t bytes = 0;
    unsigned seen = 0;
    FTSENT *entry;
    FTS *fts;

    for (size_t i = 0; i < watch.n; i++)
        roots[i] = (char *)watch.places[i].path;
    fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    while (fts && bytes < enough && seen++ < WALK_MAX && (entry = fts_read(fts)))
        if (entry->fts_info == FTS_F && changed_since(entry->fts_statp))
            bytes += (uint64_t)entry->fts_statp->st_blocks * 512;
    if (fts)
        fts_close(fts);
    return bytes;
}

/* Whether free space fell so far, since the last search, that another is due. */
static bool disk_suspect(void)
{
    uint64_t step = watch.setup->disk / 4;
    bool suspect = false;

    for (size_t i = 0; i < watch.n; i++) {
        struct place *place = &watch.places[i];
        uint64_t now = free_bytes(place->path);

        if (now > place->free_lowest)
            continue;
        if (place->free_before - now >= watch.setup->disk && place->free_lowest - now >= step) {
            place->free_lowest = now;
            suspect = true;
        }
    }
    return suspect;
}

static void check_disk(void)
{
    char message[160];

    if (watch.setup->disk == 0 || !disk_suspect() ||
        written_bytes(watch.setup->disk + 1) <= watch.setup->disk)
        return;
    snprintf(message, sizeof(message),
             "more than %llu MiB were written to disk (sandbox.limits.disk): everything was ended",
             (unsigned long long)(watch.setup->disk / MIB));
    over("disk", message);
}

static void find_places(void)
{
    const struct inside_setup *setup = watch.setup;

    clock_gettime(CLOCK_REALTIME, &watch.since);
    for (size_t i = 0; setup->allow_write[i] && watch.n < PLACES; i++) {
        struct place *place = &watch.places[watch.n];
        struct stat st;

        if (stat(setup->allow_write[i], &st) < 0)
            continue;
        place->path = setup->allow_write[i];
        place->dev = st.st_dev;
        place->free_before = place->free_lowest = free_bytes(place->path);
        watch.n++;
    }
}

/* ---- processes and memory ---- */

static void too_many(void)
{
    char message[160];

    snprintf(message, sizeof(message),
             "more than %llu processes at once (sandbox.limits.processes): everything was ended",
             (unsigned long long)watch.setup->processes);
    over("processes", message);
}

static void check_processes(const struct proc_info *list, size_t n)
{
    size_t alive = 0;

    for (size_t i = 0; i < n; i++)
        alive += !list[i].zombie;
    if (watch.setup->processes > 0 && alive > watch.setup->processes)
        too_many();
}

static void check_memory(const struct proc_info *list, size_t n)
{
    const struct proc_info *biggest = NULL;
    uint64_t bytes = 0;
    char message[160];

    /* Private files are memory too; with walls off those directories are the machine's. */
    if (!watch.setup->off)
        bytes = used_bytes("/tmp") + used_bytes("/dev/shm");
    for (size_t i = 0; i < n; i++) {
        bytes += list[i].bytes;
        if (!biggest || list[i].bytes > biggest->bytes)
            biggest = &list[i];
    }
    if (watch.setup->memory == 0 || bytes <= watch.setup->memory)
        return;
    snprintf(message, sizeof(message),
             "more than %llu MiB of memory, most of it by %.20s (sandbox.limits.memory): "
             "everything was ended",
             (unsigned long long)(watch.setup->memory / MIB), biggest ? biggest->name : "files");
    over("memory", message);
}

int inside_watch_look(void)
{
    struct proc_info *list;
    size_t n;

    /* While it multiplies there is no time to look at each. */
    if (watch.setup->processes > 0 && !watch.setup->off &&
        procs_more_than((size_t)watch.setup->processes * CROWD))
        too_many();
    n = procs_read(&list);
    check_processes(list, n);
    check_memory(list, n);
    if (n > 0)
        check_disk();
    free(list);
    return n > 0 ? BUSY_MS : IDLE_MS;
}

static void *look_again(void *arg)
{
    int ms = BUSY_MS;

    (void)arg;
    for (;;) {
        struct timespec pause = { 0, ms * 1000000L };

        nanosleep(&pause, NULL);
        ms = inside_watch_look();
    }
    return NULL;
}

void inside_watch_init(const struct inside_setup *setup)
{
    watch.setup = setup;
    find_places();
}

int inside_watch_start(struct err *err)
{
    pthread_t thread;
    int r = pthread_create(&thread, NULL, look_again, NULL);

    if (r != 0)
        return err_set(err, ERR_SANDBOX_UNAVAILABLE, "start a thread: %s", strerror(r));
    pthread_detach(thread);
    return 0;
}
