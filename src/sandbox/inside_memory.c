/* How much memory the sandbox uses, wherever it lies.
 *
 *     processes' own, with swap and page tables      exact    /proc/PID/status
 *     private directories, their files' inodes       exact    statfs
 *     System V segments, queues, semaphores          exact    /proc/sysvipc
 *     shared mappings, as far as they are mapped     exact    /proc/PID/smaps
 *     shared mappings, pipes, sockets                at most  inside_held.c
 *
 * Reading smaps is dear, so it is done only when what each process maps of such memory would be too
 * much if nobody shared it, and then not at every look.
 *
 * The last row is asked for only when the machine's memory in use, or what of it is shared, has
 * risen by more than the limit since the hand started, or since it was lowest: before that nothing
 * can be hidden.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/str.h"
#include "sandbox/inside_int.h"

#define INODE_BYTES     1024 /* what the kernel reckons for a file of a private directory */
#define SEMAPHORE_BYTES 128
#define AGAIN_MS        400 /* until what was fine is looked at again */
#define OBJECT_BYTES    512 /* of a segment, queue or set, beside its contents */

static const char *const private_dirs[] = { "/tmp", "/dev/shm" };

static struct {
    const struct inside_setup *setup;
    uint64_t lowest[2]; /* of the machine's memory in use, and of what is shared of it */
    uint64_t fine;      /* what processes mapped, counted once each, when that was not too much */
    int64_t fine_ms;    /* and when */
} memory;

/* ---- the machine ---- */

enum { IN_USE = 0, SHARED, MEASURES };

static void machine_read(uint64_t ret[MEASURES])
{
    static const struct {
        const char *name;
        int sign[MEASURES];
    } fields[] = {
        { "MemTotal:", { 1, 0 } },  { "MemFree:", { -1, 0 } },      { "Buffers:", { -1, 0 } },
        { "Cached:", { -1, 0 } },   { "SReclaimable:", { -1, 0 } }, { "Shmem:", { 1, 1 } },
        { "SwapTotal:", { 1, 0 } }, { "SwapFree:", { -1, 0 } },
    };
    FILE *file = fopen("/proc/meminfo", "re");
    int64_t kib[MEASURES] = { 0 };
    char line[128];

    while (file && fgets(line, sizeof(line), file))
        for (size_t i = 0; i < ARRAY_LEN(fields); i++)
            for (int k = 0; k < MEASURES; k++)
                if (strncmp(line, fields[i].name, strlen(fields[i].name)) == 0)
                    kib[k] += fields[i].sign[k] * strtoll(line + strlen(fields[i].name), NULL, 10);
    if (file)
        fclose(file);
    for (int k = 0; k < MEASURES; k++)
        ret[k] = kib[k] > 0 ? (uint64_t)kib[k] * KIB : 0;
}

/* The larger of the two: whoever frees memory of his own does not hide what is shared. */
static uint64_t machine_growth(void)
{
    uint64_t now[MEASURES], most = 0;

    machine_read(now);
    for (int k = 0; k < MEASURES; k++) {
        if (now[k] < memory.lowest[k])
            memory.lowest[k] = now[k];
        if (now[k] - memory.lowest[k] > most)
            most = now[k] - memory.lowest[k];
    }
    return most;
}

/* ---- private directories ---- */

static uint64_t private_bytes(void)
{
    uint64_t bytes = 0;
    struct statfs fs;

    /* With walls off those directories are the machine's; one that is no memory is as well. */
    for (size_t i = 0; !memory.setup->off && i < ARRAY_LEN(private_dirs); i++)
        if (statfs(private_dirs[i], &fs) == 0 && fs.f_type == TMPFS_MAGIC)
            bytes += (uint64_t)(fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize +
                     (uint64_t)(fs.f_files - fs.f_ffree) * INODE_BYTES;
    return bytes;
}

static void private_empty(void)
{
    char *roots[ARRAY_LEN(private_dirs) + 1] = { NULL };
    FTSENT *entry;
    FTS *fts;

    for (size_t i = 0; i < ARRAY_LEN(private_dirs); i++)
        roots[i] = (char *)private_dirs[i];
    fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    while (fts && (entry = fts_read(fts)))
        if (entry->fts_level > 0 && entry->fts_info == FTS_DP)
            rmdir(entry->fts_path);
        else if (entry->fts_level > 0 && entry->fts_info != FTS_D)
            unlink(entry->fts_path);
    if (fts)
        fts_close(fts);
}

/* ---- System V ---- */

static int remove_segment(int id)
{
    return shmctl(id, IPC_RMID, NULL);
}

static int remove_queue(int id)
{
    return msgctl(id, IPC_RMID, NULL);
}

static int remove_set(int id)
{
    return semctl(id, 0, IPC_RMID);
}

/* Columns of the tables in /proc/sysvipc, the first (the key) being 1; 0: there is none. */
static const struct sysv {
    const char *path;
    unsigned bytes, more; /* whose sum is counted */
    uint64_t each;        /* a unit of these columns, in bytes */
    int (*remove)(int id);
} sysv[] = {
    { "/proc/sysvipc/shm", 15, 16, 1, remove_segment }, /* resident and in swap */
    { "/proc/sysvipc/msg", 4, 0, 1, remove_queue },
    { "/proc/sysvipc/sem", 4, 0, SEMAPHORE_BYTES, remove_set },
};

static uint64_t sysv_column(char *line, unsigned n)
{
    char *save = NULL, *field = NULL;
    char copy[512];

    snprintf(copy, sizeof(copy), "%s", line);
    for (unsigned i = 0; i < n; i++)
        field = strtok_r(i ? NULL : copy, " \n", &save);
    return field ? strtoull(field, NULL, 10) : 0;
}

/* The bytes of one kind; ends them all when asked to. */
static uint64_t sysv_each(const struct sysv *kind, bool end)
{
    FILE *file = fopen(kind->path, "re");
    uint64_t bytes = 0;
    char line[512];
    bool head = true;

    for (; file && fgets(line, sizeof(line), file); head = false) {
        if (head)
            continue;
        bytes += OBJECT_BYTES +
                 kind->each * (sysv_column(line, kind->bytes) + sysv_column(line, kind->more));
        if (end)
            kind->remove((int)sysv_column(line, 2));
    }
    if (file)
        fclose(file);
    return bytes;
}

static uint64_t sysv_bytes(bool end)
{
    uint64_t bytes = 0;

    for (size_t i = 0; !memory.setup->off && i < ARRAY_LEN(sysv); i++)
        bytes += sysv_each(&sysv[i], end);
    return bytes;
}

/* ---- all of it ---- */

void inside_memory_init(const struct inside_setup *setup)
{
    memory.setup = setup;
    machine_read(memory.lowest);
}

/* What processes map of shared memory; rest is what may be had of it. */
static uint64_t mapped_shared(const struct proc_info *list, size_t n, uint64_t rest)
{
    int64_t now = clock_mono_ms(clock_system());
    uint64_t most = 0, bytes;

    for (size_t i = 0; i < n; i++)
        most += list[i].shared;
    if (memory.setup->off || most <= rest ||
        (most <= memory.fine && now - memory.fine_ms < AGAIN_MS))
        return 0;
    bytes = inside_held_mapped(list, n);
    if (bytes <= rest) {
        memory.fine = most + rest / 16;
        memory.fine_ms = now;
    }
    return bytes;
}

static uint64_t most_hidden(const struct proc_info *list, size_t n, bool *ret_unseen)
{
    struct held held;

    if (memory.setup->off || machine_growth() <= memory.setup->memory)
        return 0;
    inside_held(list, n, memory.setup->allow_write, &held);
    *ret_unseen = held.unseen > 0;
    return held.shared + held.buffers;
}

bool inside_memory_over(const struct proc_info *list, size_t n, char message[INSIDE_MESSAGE_MAX])
{
    const struct proc_info *biggest = NULL;
    uint64_t limit = memory.setup->memory, bytes = private_bytes() + sysv_bytes(false), own = 0;
    bool unseen = false;

    for (size_t i = 0; i < n; i++) {
        own += list[i].bytes;
        if (!biggest || list[i].bytes > biggest->bytes)
            biggest = &list[i];
    }
    if (limit == 0 || (bytes + own <= limit &&
                       bytes + own + mapped_shared(list, n, limit - bytes - own) <= limit &&
                       bytes + own + most_hidden(list, n, &unseen) <= limit && !unseen))
        return false;
    snprintf(message, INSIDE_MESSAGE_MAX,
             "more than %llu MiB of memory, most of it by %.20s (sandbox.limits.memory): "
             "everything was ended",
             (unsigned long long)(limit / MIB),
             unseen            ? "a program that hides what it holds"
             : own < limit / 2 ? "files and shared memory"
             : biggest != NULL ? biggest->name
                               : "files");
    return true;
}

/* What outlives processes, so that the next command finds room. */
void inside_memory_clear(void)
{
    sysv_bytes(true);
    if (private_bytes() > memory.setup->memory / 8 * 7)
        private_empty();
}
