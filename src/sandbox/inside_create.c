/* Making a guarded name, or a place that may not be read, fails, also where there is nothing yet
 * that could be bound read-only or covered.
 *
 * The filter has the kernel ask us about each call that can make a name (open with O_CREAT, mkdir,
 * rename, link, ...). We read the path, walk it as the kernel would for the caller, and refuse when
 * it ends in a guarded name of a guarded directory or at a denied place; everything else goes on
 * unchanged. Nothing is made in people's directories for this.
 *
 * A program whose memory we can't read (one that may be run and not read) makes no names at all,
 * where we can read others'.
 *
 * A program that changes the path between our look and the kernel's can win: a guarded name that it
 * makes is set aside when the command ends (inside_guard.c). A denied place is not, as somebody
 * outside may have made it; what the command put there was its own.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/map.h"
#include "sandbox/guarded.h"
#include "sandbox/inside_int.h"

#define LINKS_MAX     40
#define WAY_BYTES     (2 * PATH_MAX)
#define SPECIAL_MODES 06000
#define NONE          -1

/* Which argument is the directory that the path is relative to, the path, the flags of an open, the
 * mode of what is made; whether a link at the end is followed; whether what appears may hold
 * something already. */
static const struct creates {
    int nr, dir, path, flags, mode;
    bool follow, brings;
} creates[] = {
    { SYS_openat, 0, 1, 2, 3, true },
    { SYS_mkdirat, 0, 1, NONE, NONE, false },
    { SYS_mknodat, 0, 1, NONE, 2, false },
    { SYS_symlinkat, 1, 2, NONE, NONE, false, true },
    { SYS_linkat, 2, 3, NONE, NONE, false },
    { SYS_renameat2, 2, 3, NONE, NONE, false, true },
#ifdef SYS_renameat
    { SYS_renameat, 2, 3, NONE, NONE, false, true },
#endif
#ifdef SYS_open
    { SYS_open, NONE, 0, 1, 2, true },
    { SYS_creat, NONE, 0, NONE, 1, true },
    { SYS_mkdir, NONE, 0, NONE, NONE, false },
    { SYS_mknod, NONE, 0, NONE, 1, false },
    { SYS_symlink, NONE, 1, NONE, NONE, false, true },
    { SYS_link, NONE, 1, NONE, NONE, false },
    { SYS_rename, NONE, 1, NONE, NONE, false, true },
#endif
};
/* Its other name, which then shows what the first one showed. */
static const struct creates creates_exchanged = { SYS_renameat2, 0, 1, NONE, NONE, false, true };
#define EXCHANGE_ARG 4

static struct {
    struct map dirs;  /* "device inode name" of guarded names whose directory was there */
    struct map paths; /* guarded paths */
    struct map
        ways; /* directories between a tree and a name of its table: nothing is moved there */
    struct map names;          /* of all of these: what else is made is nobody's concern */
    const char *const *denied; /* places that may not be read; ends with NULL */
    bool reads;                /* we can read other processes' memory here */
} create;

/* Names are compared as if the file system did not tell A from a. */
static struct str create_key(char *text)
{
    for (char *at = text; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    return str_from(text);
}

static void create_put(struct map *map, const char *text)
{
    char key[PATH_MAX + NAME_MAX + 2];

    snprintf(key, sizeof(key), "%s", text);
    map_put(map, create_key(key), &create);
}

static bool create_has(const struct map *map, const char *text)
{
    char key[PATH_MAX + NAME_MAX + 2];

    snprintf(key, sizeof(key), "%s", text);
    return map_find(map, create_key(key)) != NULL;
}

static void create_entry(const struct stat *dir, const char *name, char out[NAME_MAX + 64])
{
    snprintf(out, NAME_MAX + 64, "%llu %llu %.255s", (unsigned long long)dir->st_dev,
             (unsigned long long)dir->st_ino, name);
}

/* path is the last name of an entry with a way: each directory of the way. */
static void create_add_ways(const char *path, const struct guarded_name *table)
{
    for (; table->name; table++) {
        size_t tail = strlen(table->way) + 1 + strlen(table->name), n = strlen(path);
        char way[PATH_MAX];

        if (table->way[0] == '\0' || n <= tail || path[n - tail - 1] != '/' ||
            strncmp(path + n - tail, table->way, strlen(table->way)) != 0 ||
            strcmp(path + n - strlen(table->name), table->name) != 0)
            continue;
        for (const char *end = path + n - tail; (end = strchr(end, '/')); end++) {
            snprintf(way, sizeof(way), "%.*s", (int)(end - path), path);
            create_put(&create.ways, way);
            create_put(&create.names, strrchr(way, '/') + 1);
        }
    }
}

static void create_add(const char *path)
{
    const char *slash = strrchr(path, '/');
    char dir[PATH_MAX], entry[NAME_MAX + 64];
    struct stat st;

    snprintf(dir, sizeof(dir), "%.*s", slash == path ? 1 : (int)(slash - path), path);
    if (stat(dir, &st) == 0) {
        create_entry(&st, slash + 1, entry);
        create_put(&create.dirs, entry);
    }
    create_put(&create.paths, path);
    create_put(&create.names, slash + 1);
    create_add_ways(path, guarded_names);
    create_add_ways(path, guarded_home);
}

void inside_create_init(const struct inside_setup *setup, bool reads)
{
    create.denied = setup->deny_read;
    create.reads = reads;
    for (size_t i = 0; setup->deny_write[i]; i++)
        create_add(setup->deny_write[i]);
    for (size_t i = 0; setup->deny_read[i]; i++)
        for (const char *at = setup->deny_read[i]; (at = strchr(at, '/')); at++) {
            char name[NAME_MAX + 1];

            snprintf(name, sizeof(name), "%.*s", (int)strcspn(at + 1, "/"), at + 1);
            create_put(&create.names, name);
        }
}

static const struct creates *creates_find(int nr)
{
    for (size_t i = 0; i < ARRAY_LEN(creates); i++)
        if (creates[i].nr == nr)
            return &creates[i];
    return NULL;
}

/* ---- the path ---- */

/* -EACCES: the program hides its memory from us; -EFAULT: the text can't be read, so the call will
 * fail as well. */
static int create_read_path(pid_t pid, uint64_t address, char path[PATH_MAX])
{
    char name[64];
    size_t n = 0;
    int fd;

    snprintf(name, sizeof(name), "/proc/%d/mem", (int)pid);
    fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    /* Page by page: what follows the text may not be mapped. */
    while (n < PATH_MAX) {
        size_t part = 4096 - (address + n) % 4096;
        ssize_t got;

        part = part > PATH_MAX - n ? PATH_MAX - n : part;
        got = pread(fd, path + n, part, (off_t)(address + n));
        if (got <= 0)
            break;
        if (memchr(path + n, '\0', (size_t)got)) {
            close(fd);
            return 0;
        }
        n += (size_t)got;
    }
    close(fd);
    return -EFAULT;
}

/* Where a walk is: a directory, and what is left of the way. */
struct create_walk {
    pid_t pid;
    int dir;
    char way[WAY_BYTES], name[NAME_MAX + 1];
    unsigned links;
};

static void walk_enter(struct create_walk *walk, int fd)
{
    if (walk->dir >= 0)
        close(walk->dir);
    walk->dir = fd;
}

/* Takes the next name off the way; false when there is none, or it is too long. */
static bool walk_next(struct create_walk *walk, bool *ret_last)
{
    char *at = walk->way;
    size_t n;

    while (*at == '/')
        at++;
    n = strcspn(at, "/");
    if (n == 0 || n > NAME_MAX)
        return false;
    memcpy(walk->name, at, n);
    walk->name[n] = '\0';
    at += n;
    *ret_last = at[strspn(at, "/")] == '\0';
    memmove(walk->way, at, strlen(at) + 1);
    return true;
}

static bool walk_in_proc(const struct create_walk *walk)
{
    struct statfs fs;

    return fstatfs(walk->dir, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* Puts the text of a link before the rest of the way. What "self" is called is the caller's. */
static bool walk_follow(struct create_walk *walk)
{
    char target[PATH_MAX], rest[WAY_BYTES];
    ssize_t n;

    if (++walk->links > LINKS_MAX)
        return false;
    if (walk_in_proc(walk) && strcmp(walk->name, "self") == 0)
        n = snprintf(target, sizeof(target), "%d", (int)walk->pid);
    else if (walk_in_proc(walk) && strcmp(walk->name, "thread-self") == 0)
        n = snprintf(target, sizeof(target), "%d/task/%d", (int)walk->pid, (int)walk->pid);
    else
        n = readlinkat(walk->dir, walk->name, target, sizeof(target) - 1);
    if (n <= 0)
        return false;
    target[n] = '\0';
    snprintf(rest, sizeof(rest), "%s", walk->way);
    if (snprintf(walk->way, sizeof(walk->way), "%s/%s", target, rest) >= WAY_BYTES)
        return false;
    if (target[0] == '/')
        walk_enter(walk, open("/", O_PATH | O_CLOEXEC));
    return walk->dir >= 0;
}

/* One name that is not the last. */
static bool walk_step(struct create_walk *walk)
{
    struct stat st;
    int fd = openat(walk->dir, walk->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st) < 0)
        return false;
    if (!S_ISLNK(st.st_mode)) {
        walk_enter(walk, fd);
        return true;
    }
    close(fd);
    /* The kernel's own links lead to the thing, whatever it is called. */
    if (walk_in_proc(walk) && strcmp(walk->name, "self") != 0 &&
        strcmp(walk->name, "thread-self") != 0) {
        fd = openat(walk->dir, walk->name, O_PATH | O_CLOEXEC);
        if (fd < 0)
            return false;
        walk_enter(walk, fd);
        return true;
    }
    return walk_follow(walk);
}

/* To the directory that holds the last name, which is then in walk->name. */
static bool walk_to_last(struct create_walk *walk, bool follow)
{
    struct stat st;
    bool last;

    while (walk_next(walk, &last)) {
        if (!last) {
            if (!walk_step(walk))
                return false;
            continue;
        }
        if (!follow || fstatat(walk->dir, walk->name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            !S_ISLNK(st.st_mode))
            return true;
        walk->way[0] = '\0';
        /* What such a link leads to is there already. */
        if (walk_in_proc(walk) || !walk_follow(walk))
            return false;
    }
    return false;
}

static bool create_is_below(const char *path, const char *dir)
{
    size_t n = strlen(dir);

    return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* Where the walk has ended; false when that can't be said. */
static bool create_path(const struct create_walk *walk, char path[PATH_MAX + NAME_MAX + 2])
{
    char link[64];
    ssize_t n;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", walk->dir);
    n = readlink(link, path, PATH_MAX);
    if (n <= 0 || n >= PATH_MAX)
        return false;
    if (n == 1)
        n = 0; /* "/" */
    snprintf(path + n, NAME_MAX + 2, "/%s", walk->name);
    return true;
}

/* By the directory, wherever it was moved to, and by the path, whatever directory is there now.
 * What brings something along may not stand on the way either. */
static bool create_is_guarded(const struct create_walk *walk, const char *path, bool brings)
{
    char entry[NAME_MAX + 64];
    struct stat st;

    if (fstat(walk->dir, &st) == 0) {
        create_entry(&st, walk->name, entry);
        if (create_has(&create.dirs, entry))
            return true;
    }
    return create_has(&create.paths, path) || (brings && create_has(&create.ways, path));
}

/* What appears at a denied place or in it; and what brings something along, on the way to one. */
static bool create_is_denied(const char *path, bool brings)
{
    for (size_t i = 0; create.denied[i]; i++)
        if (create_is_below(path, create.denied[i]) ||
            (brings && create_is_below(create.denied[i], path)))
            return true;
    return false;
}

static int create_base(pid_t pid, int fd)
{
    char path[64];

    if (fd == AT_FDCWD)
        snprintf(path, sizeof(path), "/proc/%d/cwd", (int)pid);
    else
        snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
    return open(path, O_PATH | O_CLOEXEC);
}

/* ---- the call ---- */

static bool create_is_ours(pid_t pid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/task/%d", (int)pid);
    return access(path, F_OK) == 0;
}

static enum inside_create create_judge_walk(const struct create_walk *walk, bool brings)
{
    char path[PATH_MAX + NAME_MAX + 2];

    if (!create_path(walk, path))
        return CREATE_GOES_ON;
    return create_is_guarded(walk, path, brings) ? CREATE_REFUSED
           : create_is_denied(path, brings)      ? CREATE_DENIED
                                                 : CREATE_GOES_ON;
}

static enum inside_create create_judge(const struct creates *call, const struct seccomp_data *data,
                                       pid_t pid, char name[NAME_MAX + 1])
{
    struct create_walk walk = { .pid = pid, .dir = -1 };
    enum inside_create judged = CREATE_GOES_ON;
    char path[PATH_MAX], *last;
    int r = create_read_path(pid, data->args[call->path], path);

    if (r < 0)
        return r == -EACCES && create.reads && !create_is_ours(pid) ? CREATE_UNSEEN
                                                                    : CREATE_GOES_ON;
    for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
        path[n - 1] = '\0';
    last = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (!call->follow && !create_has(&create.names, last))
        return CREATE_GOES_ON;
    snprintf(walk.way, sizeof(walk.way), "%s", path);
    walk.dir = path[0] == '/'
                   ? open("/", O_PATH | O_CLOEXEC)
                   : create_base(pid, call->dir == NONE ? AT_FDCWD : (int)data->args[call->dir]);
    if (walk.dir >= 0 && walk_to_last(&walk, call->follow))
        judged = create_judge_walk(&walk, call->brings);
    if (walk.dir >= 0)
        close(walk.dir);
    snprintf(name, NAME_MAX + 1, "%s", walk.name);
    return judged;
}

enum inside_create inside_create(const struct seccomp_data *data, pid_t pid,
                                 char name[NAME_MAX + 1])
{
    const struct creates *call = creates_find(data->nr);
    enum inside_create judged;

    if (!call)
        return CREATE_OTHER;
    if (call->mode != NONE && (data->args[call->mode] & SPECIAL_MODES))
        return CREATE_OTHER;
    if (call->flags != NONE && !(data->args[call->flags] & O_CREAT))
        return CREATE_GOES_ON;
    judged = create_judge(call, data, pid, name);
    if (judged == CREATE_GOES_ON && data->nr == SYS_renameat2 &&
        (data->args[EXCHANGE_ARG] & RENAME_EXCHANGE))
        judged = create_judge(&creates_exchanged, data, pid, name);
    return judged;
}
