/* Who runs in the namespace, as /proc tells it, and how to end them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "base/str.h"
#include "sandbox/inside_int.h"

#define SWEEPS 16

static int read_path(const char *path, char *out, size_t size)
{
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -1;
    n = read(fd, out, size - 1);
    close(fd);
    if (n <= 0)
        return -1;
    out[n] = '\0';
    return 0;
}

static int read_small(pid_t pid, const char *what, char *out, size_t size)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
    return read_path(path, out, size);
}

/* The n-th field, the first being 1; none when there are fewer. */
static struct str nth_field(struct str line, unsigned n)
{
    struct str field = STR_NONE;

    while (n-- > 0)
        if (!str_split(&line, ' ', &field))
            return STR_NONE;
    return field;
}

/* "pid (name) state ppid pgrp session ... threads": the name may hold anything, so the last ')'
 * counts, and begins the rest of the line. */
static int read_stat(struct proc_info *p)
{
    char text[1024], *open_at, *close_at;
    int64_t parent, session, threads, started;
    struct str rest, state;

    if (read_small(p->pid, "stat", text, sizeof(text)) < 0)
        return -1;
    open_at = strchr(text, '(');
    close_at = strrchr(text, ')');
    rest = str_from(close_at);
    state = nth_field(rest, 2);
    if (!open_at || state.n != 1 || str_to_i64(nth_field(rest, 3), &parent) < 0 ||
        str_to_i64(nth_field(rest, 5), &session) < 0 ||
        str_to_i64(nth_field(rest, 19), &threads) < 0 ||
        str_to_i64(nth_field(rest, 21), &started) < 0)
        return -1;
    p->zombie = state.p[0] == 'Z' || state.p[0] == 'X';
    *close_at = '\0';
    snprintf(p->name, sizeof(p->name), "%s", open_at + 1);
    p->parent = (pid_t)parent;
    p->session = (pid_t)session;
    p->threads = threads > 0 ? (unsigned)threads : 1;
    p->started = started > 0 ? (uint64_t)started : 0;
    return 0;
}

/* A process whose first thread has ended looks dead and empty, but its other threads go on with all
 * that it has: then one of those is asked about it. */
static void find_thread(struct proc_info *p)
{
    const struct dirent *entry;
    char path[64];
    DIR *dir;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)p->pid);
    dir = opendir(path);
    while (dir && p->zombie && (entry = readdir(dir))) {
        char text[1024], *close_at;

        snprintf(path, sizeof(path), "task/%.10s/stat", entry->d_name);
        if (!isdigit((unsigned char)entry->d_name[0]) ||
            read_small(p->pid, path, text, sizeof(text)) < 0 || !(close_at = strrchr(text, ')')))
            continue;
        if (close_at[1] == ' ' && close_at[2] != 'Z' && close_at[2] != 'X') {
            p->thread = (pid_t)strtol(entry->d_name, NULL, 10);
            p->zombie = false;
        }
    }
    if (dir)
        closedir(dir);
}

void proc_path(const struct proc_info *p, const char *what, char out[PROC_PATH_MAX])
{
    if (p->thread > 0)
        snprintf(out, PROC_PATH_MAX, "/proc/%d/task/%d/%s", (int)p->pid, (int)p->thread, what);
    else
        snprintf(out, PROC_PATH_MAX, "/proc/%d/%s", (int)p->pid, what);
}

/* Its own memory, what of it lies in swap, and the tables that describe all of its pages. */
static void read_memory(struct proc_info *p)
{
    static const char *const counted[] = { "RssAnon:", "VmSwap:", "VmPTE:", "HugetlbPages:" };
    static const char shared[] = "RssShmem:";
    char path[PROC_PATH_MAX], text[4096];
    struct str rest, line;

    proc_path(p, "status", path);
    if (read_path(path, text, sizeof(text)) < 0)
        return;
    rest = str_from(text);
    while (str_split(&rest, '\n', &line)) {
        if (str_starts(line, str_from(shared)))
            p->shared = strtoull(line.p + strlen(shared), NULL, 10) * KIB;
        for (size_t i = 0; i < ARRAY_LEN(counted); i++)
            if (str_starts(line, str_from(counted[i])))
                p->bytes += strtoull(line.p + strlen(counted[i]), NULL, 10) * KIB;
    }
}

static size_t read_all(struct proc_info **ret_list)
{
    struct proc_info *list = NULL;
    size_t n = 0, room = 0;
    const struct dirent *entry;
    DIR *dir = opendir("/proc");

    while (dir && n < PROCS_MAX && (entry = readdir(dir))) {
        struct proc_info p = { .pid = (pid_t)strtol(entry->d_name, NULL, 10) };

        if (!isdigit((unsigned char)entry->d_name[0]) || p.pid == getpid() || read_stat(&p) < 0)
            continue;
        if (p.zombie && p.threads > 1)
            find_thread(&p);
        if (n == room) {
            room = room ? 2 * room : 64;
            list = alloc_resize(list, room, sizeof(*list));
        }
        list[n++] = p;
    }
    if (dir)
        closedir(dir);
    *ret_list = list;
    return n;
}

/* Keeps those whose chain of parents leads to root, or that are in the session of root. A chain
 * that is longer than the list has a loop, which only a change while reading can make. */
static bool belongs(const struct proc_info *list, size_t n, size_t at, pid_t root, bool session)
{
    pid_t pid = list[at].pid;

    for (size_t steps = 0; steps <= n; steps++) {
        size_t i;

        if (pid == root)
            return true;
        for (i = 0; i < n && list[i].pid != pid; i++)
            ;
        if (i == n)
            return false;
        if (session && list[i].session == root)
            return true;
        pid = list[i].parent;
    }
    return false;
}

bool procs_more_than(size_t limit)
{
    const struct dirent *entry;
    DIR *dir = opendir("/proc");
    size_t n = 0;

    while (dir && n <= limit + 1 && (entry = readdir(dir)))
        n += isdigit((unsigned char)entry->d_name[0]) != 0;
    if (dir)
        closedir(dir);
    return n > limit + 1;
}

size_t procs_read(struct proc_info **ret_list)
{
    size_t n = read_all(ret_list), kept = 0;
    struct proc_info *list = *ret_list;
    bool all = getpid() == 1;
    struct proc_info *from = all ? NULL : alloc_zero(n ? n : 1, sizeof(*from));

    if (!all && n)
        memcpy(from, list, n * sizeof(*from));
    for (size_t i = 0; i < n; i++)
        if (all || belongs(from, n, i, getpid(), false))
            list[kept++] = list[i];
    for (size_t i = 0; i < kept; i++)
        read_memory(&list[i]);
    free(from);
    return kept;
}

int procs_kill(pid_t leader, int sig)
{
    struct proc_info *list;
    size_t n = read_all(&list);
    int killed = 0;

    for (size_t i = 0; i < n; i++)
        if (!list[i].zombie && belongs(list, n, i, leader, true))
            killed += kill(list[i].pid, sig) == 0;
    free(list);
    return killed;
}

void procs_kill_all(void)
{
    struct proc_info *list;

    /* In one step, so that nobody can fork away. */
    if (getpid() == 1) {
        kill(-1, SIGKILL);
        return;
    }
    for (int i = 0; i < SWEEPS; i++) {
        size_t n = procs_read(&list), killed = 0;

        for (size_t k = 0; k < n; k++)
            if (!list[k].zombie)
                killed += kill(list[k].pid, SIGKILL) == 0;
        free(list);
        if (killed == 0)
            return;
    }
}
