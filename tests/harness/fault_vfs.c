/* The failing file system. Operations pass through to the real one and are noted.
 *
 * SPDX-License-Identifier: MIT
 */
#include "harness/fault_vfs.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"

#define SECTOR    512
#define FILES_MAX 256
#define PATH_SIZE 512

/* A write or truncation that has not been synced. */
struct change {
    struct change *next;
    sqlite3_int64 at; /* or the new size */
    int n;
    bool truncates, dropped;
    unsigned char bytes[];
};

struct tracked {
    char path[PATH_SIZE];
    unsigned char *durable;
    sqlite3_int64 size, cap;
    struct change *first, **end;
};

struct fault_file {
    sqlite3_file file; /* first */
    struct tracked *tracked;
    sqlite3_file *real;
};

static struct fault_plan *plan;
static sqlite3_vfs *real_vfs;
static struct tracked files[FILES_MAX];
static size_t file_count;

/* ---- what is durable ---- */

static void resize(struct tracked *f, sqlite3_int64 size)
{
    if (size > f->cap) {
        f->cap = size * 2;
        f->durable = alloc_resize(f->durable, (size_t)f->cap, 1);
    }
    if (size > f->size)
        memset(f->durable + f->size, 0, (size_t)(size - f->size));
    f->size = size;
}

static void apply(struct tracked *f, const struct change *c, int n)
{
    if (c->truncates) {
        resize(f, c->at);
        return;
    }
    if (c->at + n > f->size)
        resize(f, c->at + n);
    if (n)
        memcpy(f->durable + c->at, c->bytes, (size_t)n);
}

static void drop_changes(struct tracked *f)
{
    while (f->first) {
        struct change *c = f->first;

        f->first = c->next;
        free(c);
    }
    f->end = &f->first;
}

static void make_durable(struct tracked *f)
{
    for (struct change *c = f->first; c; c = c->next)
        if (!c->dropped)
            apply(f, c, c->n);
    drop_changes(f);
}

static void note(struct tracked *f, const void *bytes, int n, sqlite3_int64 at, bool truncates,
                 bool dropped)
{
    struct change *c = alloc_zero(1, sizeof(*c) + (size_t)n);

    *c = (struct change){ .at = at, .n = n, .truncates = truncates, .dropped = dropped };
    if (n)
        memcpy(c->bytes, bytes, (size_t)n);
    *f->end = c;
    f->end = &c->next;
}

static void load(struct tracked *f)
{
    FILE *file = fopen(f->path, "rb");
    struct stat st;

    if (!file || fstat(fileno(file), &st) < 0)
        return;
    resize(f, st.st_size);
    if (st.st_size && fread(f->durable, 1, (size_t)st.st_size, file) != (size_t)st.st_size)
        abort();
    /* Closing a second descriptor would drop SQLite's locks on the file; there is none yet. */
    fclose(file);
}

static struct tracked *track(const char *path)
{
    struct tracked *f = NULL;

    for (size_t i = 0; i < file_count; i++) {
        if (strcmp(files[i].path, path) == 0)
            return &files[i];
        if (!files[i].path[0] && !f)
            f = &files[i];
    }
    if (!f) {
        BUG_IF(file_count == FILES_MAX);
        f = &files[file_count++];
    }
    *f = (struct tracked){ .end = NULL };
    f->end = &f->first;
    snprintf(f->path, sizeof(f->path), "%s", path);
    load(f);
    return f;
}

static void release(struct tracked *f)
{
    drop_changes(f);
    free(f->durable);
    *f = (struct tracked){ .end = NULL };
}

static void forget(const char *path)
{
    for (size_t i = 0; i < file_count; i++)
        if (strcmp(files[i].path, path) == 0)
            release(&files[i]);
}

/* ---- the power fails ---- */

static uint64_t chance(void)
{
    uint64_t z = (plan->seed += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Sectors of one write arrive in any order. */
static void apply_some_sectors(struct tracked *f, const struct change *c)
{
    for (int at = 0; at < c->n; at += SECTOR) {
        int n = c->n - at < SECTOR ? c->n - at : SECTOR;

        if (chance() % 2 == 0)
            continue;
        if (c->at + at + n > f->size)
            resize(f, c->at + at + n);
        memcpy(f->durable + c->at + at, c->bytes + at, (size_t)n);
    }
}

/* Any part of what was not synced may have arrived, a write also in part. */
static void survive(struct tracked *f)
{
    for (struct change *c = f->first; c; c = c->next) {
        uint64_t luck = chance() % 3;

        if (c->dropped || luck == 0)
            continue;
        if (luck == 1 || c->truncates)
            apply(f, c, c->n);
        else
            apply_some_sectors(f, c);
    }
}

static void write_out(const struct tracked *f)
{
    FILE *file;

    if (access(f->path, F_OK) != 0)
        return;
    file = fopen(f->path, "wb");
    if (!file || (f->size && fwrite(f->durable, 1, (size_t)f->size, file) != (size_t)f->size) ||
        fclose(file) != 0)
        abort();
}

_Noreturn void fault_vfs_power_cut(void)
{
    for (size_t i = 0; i < file_count; i++) {
        char shm[PATH_SIZE + 8];

        if (!files[i].path[0])
            continue;
        survive(&files[i]);
        write_out(&files[i]);
        snprintf(shm, sizeof(shm), "%s-shm", files[i].path);
        unlink(shm);
    }
    _exit(0);
}

/* ---- operations ---- */

static enum fault_how decide(const struct tracked *f, enum fault_op op)
{
    if (plan->how == FAULT_NONE || (plan->op != FAULT_ANY && plan->op != op))
        return FAULT_NONE;
    if (plan->suffix && !str_ends(str_from(f->path), str_from(plan->suffix)))
        return FAULT_NONE;
    if (++plan->seen != plan->nth)
        return FAULT_NONE;
    plan->fired++;
    if (plan->how == FAULT_CUT)
        fault_vfs_power_cut();
    return plan->how;
}

static struct fault_file *fault_of(sqlite3_file *file)
{
    return (struct fault_file *)file;
}

static int fault_write(sqlite3_file *file, const void *bytes, int n, sqlite3_int64 at)
{
    struct fault_file *f = fault_of(file);
    enum fault_how how = f->tracked ? decide(f->tracked, FAULT_WRITE) : FAULT_NONE;
    int rc;

    if (how == FAULT_FAIL)
        return SQLITE_IOERR_WRITE;
    if (how == FAULT_FULL)
        return SQLITE_FULL;
    if (how == FAULT_TEAR)
        n /= 2;
    rc = f->real->pMethods->xWrite(f->real, bytes, n, at);
    if (rc == SQLITE_OK && f->tracked)
        note(f->tracked, bytes, n, at, false, how == FAULT_DROP);
    return rc == SQLITE_OK && how == FAULT_TEAR ? SQLITE_IOERR_WRITE : rc;
}

static int fault_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct fault_file *f = fault_of(file);
    enum fault_how how = f->tracked ? decide(f->tracked, FAULT_TRUNCATE) : FAULT_NONE;
    int rc;

    if (how == FAULT_FAIL || how == FAULT_TEAR || how == FAULT_FULL)
        return SQLITE_IOERR_TRUNCATE;
    rc = f->real->pMethods->xTruncate(f->real, size);
    if (rc == SQLITE_OK && f->tracked)
        note(f->tracked, NULL, 0, size, true, how == FAULT_DROP);
    return rc;
}

static int fault_sync(sqlite3_file *file, int flags)
{
    struct fault_file *f = fault_of(file);
    enum fault_how how = f->tracked ? decide(f->tracked, FAULT_SYNC) : FAULT_NONE;

    (void)flags;
    if (how == FAULT_FAIL || how == FAULT_TEAR || how == FAULT_FULL)
        return SQLITE_IOERR_FSYNC;
    /* The real sync is left out: nobody pulls the real plug. */
    if (f->tracked && how != FAULT_DROP)
        make_durable(f->tracked);
    return SQLITE_OK;
}

/* ---- what only passes through ---- */

#define REAL(file) (fault_of(file)->real)

static int fault_close(sqlite3_file *file)
{
    return REAL(file)->pMethods->xClose(REAL(file));
}

static int fault_read(sqlite3_file *file, void *bytes, int n, sqlite3_int64 at)
{
    return REAL(file)->pMethods->xRead(REAL(file), bytes, n, at);
}

static int fault_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return REAL(file)->pMethods->xFileSize(REAL(file), size);
}

static int fault_lock(sqlite3_file *file, int level)
{
    return REAL(file)->pMethods->xLock(REAL(file), level);
}

static int fault_unlock(sqlite3_file *file, int level)
{
    return REAL(file)->pMethods->xUnlock(REAL(file), level);
}

static int fault_check_lock(sqlite3_file *file, int *result)
{
    return REAL(file)->pMethods->xCheckReservedLock(REAL(file), result);
}

static int fault_file_control(sqlite3_file *file, int op, void *arg)
{
    return REAL(file)->pMethods->xFileControl(REAL(file), op, arg);
}

static int fault_sector_size(sqlite3_file *file)
{
    return REAL(file)->pMethods->xSectorSize(REAL(file));
}

static int fault_characteristics(sqlite3_file *file)
{
    return REAL(file)->pMethods->xDeviceCharacteristics(REAL(file));
}

static int fault_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **p)
{
    return REAL(file)->pMethods->xShmMap(REAL(file), page, size, extend, p);
}

static int fault_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
    return REAL(file)->pMethods->xShmLock(REAL(file), offset, n, flags);
}

static void fault_shm_barrier(sqlite3_file *file)
{
    REAL(file)->pMethods->xShmBarrier(REAL(file));
}

static int fault_shm_unmap(sqlite3_file *file, int delete)
{
    return REAL(file)->pMethods->xShmUnmap(REAL(file), delete);
}

static const sqlite3_io_methods fault_methods = {
    .iVersion = 2, /* without memory-mapped reading */
    .xClose = fault_close,
    .xRead = fault_read,
    .xWrite = fault_write,
    .xTruncate = fault_truncate,
    .xSync = fault_sync,
    .xFileSize = fault_size,
    .xLock = fault_lock,
    .xUnlock = fault_unlock,
    .xCheckReservedLock = fault_check_lock,
    .xFileControl = fault_file_control,
    .xSectorSize = fault_sector_size,
    .xDeviceCharacteristics = fault_characteristics,
    .xShmMap = fault_shm_map,
    .xShmLock = fault_shm_lock,
    .xShmBarrier = fault_shm_barrier,
    .xShmUnmap = fault_shm_unmap,
};

static int fault_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                      int *ret_flags)
{
    struct fault_file *f = fault_of(file);
    /* Before the real one is opened: load() must not close a descriptor of a locked file. */
    struct tracked *tracked = name ? track(name) : NULL;
    int rc;

    (void)vfs;
    f->real = (sqlite3_file *)(f + 1);
    f->tracked = tracked;
    rc = real_vfs->xOpen(real_vfs, name, f->real, flags, ret_flags);
    f->file.pMethods = rc == SQLITE_OK ? &fault_methods : NULL;
    return rc;
}

static int fault_delete(sqlite3_vfs *vfs, const char *name, int sync_dir)
{
    (void)vfs;
    forget(name);
    return real_vfs->xDelete(real_vfs, name, sync_dir);
}

void fault_vfs_install(struct fault_plan *new_plan)
{
    static sqlite3_vfs vfs;

    while (file_count > 0) /* of an earlier life */
        release(&files[--file_count]);
    plan = new_plan;
    sqlite3_vfs_unregister(&vfs);
    real_vfs = sqlite3_vfs_find("unix");
    BUG_IF(!real_vfs);
    vfs = *real_vfs;
    vfs.zName = "fault";
    vfs.szOsFile = (int)sizeof(struct fault_file) + real_vfs->szOsFile;
    vfs.xOpen = fault_open;
    vfs.xDelete = fault_delete;
    vfs.pNext = NULL;
    BUG_IF(sqlite3_vfs_register(&vfs, 1) != SQLITE_OK);
}

/* ---- allocations ---- */

static sqlite3_mem_methods real_memory;
static unsigned allocations, failing_allocation, *allocation_fired;

static bool out_of_luck(void)
{
    if (++allocations != failing_allocation)
        return false;
    *allocation_fired = 1;
    return true;
}

static void *fault_malloc(int n)
{
    return out_of_luck() ? NULL : real_memory.xMalloc(n);
}

static void *fault_realloc(void *p, int n)
{
    return out_of_luck() ? NULL : real_memory.xRealloc(p, n);
}

void fault_alloc_install(unsigned nth, unsigned *fired)
{
    sqlite3_mem_methods methods;

    BUG_IF(sqlite3_shutdown() != SQLITE_OK);
    BUG_IF(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory) != SQLITE_OK);
    methods = real_memory;
    methods.xMalloc = fault_malloc;
    methods.xRealloc = fault_realloc;
    BUG_IF(sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) != SQLITE_OK);
    BUG_IF(sqlite3_initialize() != SQLITE_OK);
    allocations = 0;
    failing_allocation = nth;
    allocation_fired = fired;
}
