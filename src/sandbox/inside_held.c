/* What processes hold that no directory and no count of their own memory shows: files without a
 * name, memory that several map, bytes in pipes and sockets.
 *
 * Their descriptors and mappings are read from /proc. What can't be measured from outside is
 * counted as the most that it can be: a shared mapping as a whole, a pipe or a socket as full. The
 * filter sees to it that there is a most (inside_seccomp.c): buffers can't be enlarged, memory
 * files that nobody counts can't be made, and no thread has descriptors of its own.
 *
 * So the numbers are upper bounds. They count only once the machine as a whole has lost as much as
 * the limit (inside_memory.c, inside_disk.c): nobody is ended for a buffer that is empty.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/str.h"
#include "sandbox/inside_int.h"

#define PIPE_BYTES      (64ull * KIB)  /* what one has from the start; the filter refuses more */
#define SOCKET_BYTES    (512ull * KIB) /* what it sent and what was sent to it, with overheads */
#define LINES_MAX       100000         /* mappings looked at */
#define SMAPS_LINES_MAX (32 * LINES_MAX)
#define LINE_BYTES      (2 * LIMIT_PATH_BYTES)
#define NEW_MS          500 /* a process this young may be between fork and exec */

struct seen {
    dev_t dev;
    ino_t ino;
    uint64_t bytes; /* counted so far */
    bool taken;
};

struct look {
    struct held *held;
    const char *const *places;
    struct seen *set;
    size_t n, room;
    unsigned lines;
};

static dev_t shared_dev;

void inside_held_init(void)
{
    struct stat st;
    int fd = memfd_create("device", MFD_CLOEXEC);

    if (fd >= 0 && fstat(fd, &st) == 0)
        shared_dev = st.st_dev;
    if (fd >= 0)
        close(fd);
}

/* ---- each thing once ---- */

static struct seen *seen_slot(struct seen *set, size_t room, dev_t dev, ino_t ino)
{
    size_t at = (size_t)((uint64_t)ino * 0x9e3779b97f4a7c15ull ^ dev) & (room - 1);

    while (set[at].taken && (set[at].ino != ino || set[at].dev != dev))
        at = (at + 1) & (room - 1);
    return &set[at];
}

static void seen_grow(struct look *look)
{
    size_t room = look->room ? 2 * look->room : 256;
    struct seen *set = alloc_zero(room, sizeof(*set));

    for (size_t i = 0; i < look->room; i++)
        if (look->set[i].taken)
            *seen_slot(set, room, look->set[i].dev, look->set[i].ino) = look->set[i];
    free(look->set);
    look->set = set;
    look->room = room;
}

/* Adds to sum what was not counted of it yet. Returns whether it is new. */
static bool seen_count(struct look *look, dev_t dev, ino_t ino, uint64_t bytes, uint64_t *sum)
{
    struct seen *slot;
    bool fresh;

    if (2 * (look->n + 1) > look->room)
        seen_grow(look);
    slot = seen_slot(look->set, look->room, dev, ino);
    fresh = !slot->taken;
    if (fresh) {
        *slot = (struct seen){ .dev = dev, .ino = ino, .taken = true };
        look->n++;
    }
    if (bytes > slot->bytes) {
        *sum += bytes - slot->bytes;
        slot->bytes = bytes;
    }
    return fresh;
}

/* ---- descriptors ---- */

/* How many descriptors lie in a socket, sent and not yet received. */
static uint64_t held_in_flight(const struct proc_info *p, const char *name)
{
    static const char field[] = "scm_fds:";
    char path[PROC_PATH_MAX], what[32], text[1024];
    const char *at = NULL;
    ssize_t n = -1;
    int fd;

    snprintf(what, sizeof(what), "fdinfo/%.10s", name);
    proc_path(p, what, path);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, text, sizeof(text) - 1);
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    at = strstr(text, field);
    return at ? strtoull(at + strlen(field), NULL, 10) : 0;
}

static void held_descriptor(struct look *look, const struct proc_info *p, const char *name,
                            const struct stat *st)
{
    struct held *held = look->held;

    if (S_ISFIFO(st->st_mode)) {
        seen_count(look, st->st_dev, st->st_ino, PIPE_BYTES, &held->buffers);
    } else if (S_ISSOCK(st->st_mode)) {
        if (seen_count(look, st->st_dev, st->st_ino, SOCKET_BYTES, &held->buffers))
            held->in_flight += held_in_flight(p, name);
    } else if (S_ISREG(st->st_mode) && st->st_nlink == 0 && st->st_dev != shared_dev) {
        if (seen_count(look, st->st_dev, st->st_ino, (uint64_t)st->st_blocks * 512,
                       &held->unnamed_bytes))
            held->unnamed_files++;
    }
}

static bool held_is_new(const struct proc_info *p)
{
    struct timespec now;
    uint64_t began = p->started * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000 < began + NEW_MS;
}

static void held_descriptors(struct look *look, const struct proc_info *p)
{
    char path[PROC_PATH_MAX];
    const struct dirent *entry;
    struct stat st;
    DIR *dir;

    proc_path(p, "fd", path);
    dir = opendir(path);
    while (dir && (entry = readdir(dir)))
        if (isdigit((unsigned char)entry->d_name[0]) &&
            fstatat(dirfd(dir), entry->d_name, &st, 0) == 0)
            held_descriptor(look, p, entry->d_name, &st);
    if (dir)
        closedir(dir);
}

/* ---- mappings ---- */

static bool held_in_place(const struct look *look, const char *path)
{
    for (size_t i = 0; look->places[i]; i++) {
        size_t n = strlen(look->places[i]);

        if (strncmp(path, look->places[i], n) == 0 && (path[n] == '/' || n == 1))
            return true;
    }
    return false;
}

/* "from-to perms offset major:minor inode   path". SysV segments are counted by themselves. */
static void held_mapping(struct look *look, const char *line)
{
    unsigned long long from, to, offset, ino;
    unsigned major_, minor_;
    int at = 0;
    size_t n = strlen(line);
    dev_t dev;

    if (sscanf(line, "%llx-%llx %*s %llx %x:%x %llu %n", &from, &to, &offset, &major_, &minor_,
               &ino, &at) < 6 ||
        ino == 0 || at == 0)
        return;
    dev = makedev(major_, minor_);
    if (dev == shared_dev && strncmp(line + at, "/SYSV", 5) != 0)
        seen_count(look, dev, (ino_t)ino, offset + to - from, &look->held->shared);
    else if (n > 10 && strcmp(line + n - 10, " (deleted)") == 0 && held_in_place(look, line + at) &&
             seen_count(look, dev, (ino_t)ino, to - from, &look->held->unnamed_bytes))
        look->held->unnamed_files++;
}

static void held_mappings(struct look *look, const struct proc_info *p)
{
    char path[PROC_PATH_MAX], line[LINE_BYTES];
    FILE *file;

    proc_path(p, "maps", path);
    file = fopen(path, "re");
    /* A program that may be run and not read is hidden from us as well. */
    if (!file && errno == EACCES && !held_is_new(p))
        look->held->unseen++;
    while (file && fgets(line, sizeof(line), file)) {
        if (look->lines++ >= LINES_MAX) {
            look->held->unseen++;
            break;
        }
        line[strcspn(line, "\n")] = '\0';
        held_mapping(look, line);
    }
    if (file)
        fclose(file);
}

/* Each page counts for as many parts of it as processes map it (smaps: Pss), so that the sum over
 * all of them is what there is. */
static uint64_t held_parts(const struct proc_info *p)
{
    static const char *const counted[] = { "Pss:", "SwapPss:" };
    char path[PROC_PATH_MAX], line[LINE_BYTES];
    unsigned long long from, ino;
    unsigned major_, minor_, lines = 0;
    uint64_t bytes = 0;
    bool shared = false;
    FILE *file;

    proc_path(p, "smaps", path);
    file = fopen(path, "re");
    /* One that may be run and not read counts as if it shared nothing. */
    if (!file)
        return p->shared;
    while (lines++ < SMAPS_LINES_MAX && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "%llx-%*x %*s %*x %x:%x %llu", &from, &major_, &minor_, &ino) == 4)
            shared = ino != 0 && makedev(major_, minor_) == shared_dev && !strstr(line, "/SYSV");
        for (size_t i = 0; shared && i < ARRAY_LEN(counted); i++)
            if (strncmp(line, counted[i], strlen(counted[i])) == 0)
                bytes += strtoull(line + strlen(counted[i]), NULL, 10) * KIB;
    }
    fclose(file);
    return bytes;
}

uint64_t inside_held_mapped(const struct proc_info *list, size_t n)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < n; i++)
        if (!list[i].zombie && list[i].shared > 0)
            bytes += held_parts(&list[i]);
    return bytes;
}

/* ---- sockets of the network ---- */

/* A TCP socket's buffers grow by themselves; the kernel says what is in them: the fifth field is
 * "sent:received", in hexadecimal. */
static uint64_t held_queues(const char *path)
{
    unsigned long long out, in;
    uint64_t bytes = 0;
    char line[512];
    FILE *file = fopen(path, "re");

    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "%*s %*s %*s %*s %llx:%llx", &out, &in) == 2)
            bytes += out + in;
    if (file)
        fclose(file);
    return bytes;
}

void inside_held(const struct proc_info *list, size_t n, const char *const *places,
                 struct held *ret_held)
{
    struct look look = { .held = ret_held, .places = places };

    memset(ret_held, 0, sizeof(*ret_held));
    for (size_t i = 0; i < n; i++)
        if (!list[i].zombie) {
            held_descriptors(&look, &list[i]);
            held_mappings(&look, &list[i]);
        }
    ret_held->buffers += held_queues("/proc/self/net/tcp") + held_queues("/proc/self/net/tcp6") +
                         ret_held->in_flight * SOCKET_BYTES;
    free(look.set);
}
