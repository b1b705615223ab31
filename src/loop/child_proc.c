/* What /proc tells about processes: the stamp by which one is known again, and who belongs to a
 * session.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loop/child_int.h"

#define START_BITS 40
#define SWEEPS     8

struct proc_stat {
    char state;
    pid_t session;
    uint64_t start; /* clock ticks since boot */
};

static int read_small(const char *path, char *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return -1;
    n = read(fd, out, size - 1);
    close(fd);
    if (n <= 0)
        return -1;
    out[n] = '\0';
    return 0;
}

/* Fields of /proc/PID/stat as proc(5) numbers them. */
enum { STAT_STATE = 3, STAT_SESSION = 6, STAT_START = 22 };

/* "pid (name) state ppid pgrp session ...": the name may hold anything, so the last ')' counts. */
static int read_stat(pid_t pid, struct proc_stat *ret_stat)
{
    char path[64], text[1024], *at;
    struct str rest, field;
    int64_t value;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    if (read_small(path, text, sizeof(text)) < 0 || !(at = strrchr(text, ')')))
        return -1;
    rest = str_trim(str_from(at + 1));
    for (int i = STAT_STATE; str_split(&rest, ' ', &field); i++) {
        if (i == STAT_STATE)
            ret_stat->state = field.p[0];
        if (i != STAT_SESSION && i != STAT_START)
            continue;
        if (str_to_i64(field, &value) < 0)
            return -1;
        if (i == STAT_START) {
            ret_stat->start = (uint64_t)value;
            return 0;
        }
        ret_stat->session = (pid_t)value;
    }
    return -1;
}

/* 24 bits that differ from boot to boot. */
static uint64_t boot_mark(void)
{
    char id[64] = "";
    uint64_t mark = 14695981039346656037u;

    read_small("/proc/sys/kernel/random/boot_id", id, sizeof(id));
    for (const char *at = id; *at; at++)
        mark = (mark ^ (unsigned char)*at) * 1099511628211u;
    return mark >> START_BITS;
}

static uint64_t stamp_of(uint64_t start)
{
    return boot_mark() << START_BITS | (start & ((UINT64_C(1) << START_BITS) - 1));
}

uint64_t proc_stamp(pid_t pid)
{
    struct proc_stat stat;

    return read_stat(pid, &stat) < 0 ? 0 : stamp_of(stat.start);
}

static int kill_session_once(pid_t session)
{
    DIR *dir = opendir("/proc");
    struct proc_stat stat;
    int killed = 0;

    if (!dir)
        return 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        int64_t pid;

        if (str_to_i64(str_from(entry->d_name), &pid) < 0 || read_stat((pid_t)pid, &stat) < 0)
            continue;
        if (stat.session == session && stat.state != 'Z' && kill((pid_t)pid, SIGKILL) == 0)
            killed++;
    }
    closedir(dir);
    return killed;
}

/* Whoever forks while we look may be missed, so it is done again until nobody is found. */
int proc_kill_session(pid_t session)
{
    int killed = 0, now;

    for (int i = 0; i < SWEEPS && (now = kill_session_once(session)) > 0; i++)
        killed += now;
    return killed;
}

/* A pid is not given away again while a session or group bears its number. So when the leader is
 * another process now, nothing of the old session is left. */
int child_reap(pid_t pid, uint64_t stamp)
{
    struct proc_stat leader;

    if (pid <= 1 || stamp >> START_BITS != boot_mark())
        return 0;
    if (read_stat(pid, &leader) == 0 && stamp_of(leader.start) != stamp)
        return 0;
    return proc_kill_session(pid);
}
