/* Control groups through their file systems.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/str.h"

#define PREFIX    "dormouse-"
#define DIRS_MAX  CGROUP_FILES_MAX
#define TEXT_MAX  (64 * KIB)
#define FIELD_MAX 256

struct cgroup {
    char dirs[DIRS_MAX][LIMIT_PATH_BYTES];
    int files[DIRS_MAX], opened;
    int n;
    bool memory, tasks;
};

static bool write_number(const char *dir, const char *file, uint64_t value)
{
    char path[LIMIT_PATH_BYTES + 64], text[32];
    int fd, n;
    bool ok;

    snprintf(path, sizeof(path), "%s/%s", dir, file);
    n = snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ok = write(fd, text, (size_t)n) == n;
    close(fd);
    return ok;
}

/* Groups of sandboxes that ended with a crash; one that is in use can't be removed. */
static void sweep(const char *parent)
{
    const struct dirent *entry;
    DIR *dir = opendir(parent);

    while (dir && (entry = readdir(dir)))
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0)
            unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
    if (dir)
        closedir(dir);
}

static const char *make_dir(struct cgroup *group, const char *parent)
{
    static unsigned made;
    char *dir = group->dirs[group->n];

    /* Once is enough: what this process leaves it knows. */
    if (made < DIRS_MAX)
        sweep(parent);
    if (snprintf(dir, sizeof(group->dirs[0]), "%s/" PREFIX "%d-%u", parent, (int)getpid(),
                 made++) >= (int)sizeof(group->dirs[0]) ||
        mkdir(dir, 0755) < 0)
        return NULL;
    group->n++;
    return dir;
}

/* ---- version 1 ----
 *
 * Only the number of processes: its groups of memory end the hand with the command, and count what
 * others cached. */

static bool has_word(struct str list, char separator, const char *word)
{
    struct str field;

    while (str_split(&list, separator, &field))
        if (str_is(str_trim(field), word))
            return true;
    return false;
}

static void join_tasks_v1(struct cgroup *group, const char *parent,
                          const struct cgroup_config *config)
{
    const char *dir = make_dir(group, parent);

    group->tasks = dir && write_number(dir, "pids.max", config->tasks);
}

/* ---- version 2 ---- */

static bool handed_down(const char *dir)
{
    AUTO_BUF text = BUF_INIT(TEXT_MAX);
    char path[LIMIT_PATH_BYTES + 64];

    snprintf(path, sizeof(path), "%s/cgroup.subtree_control", dir);
    return file_read(path, &text, NULL) == 0 && has_word(buf_str(&text), ' ', "memory") &&
           has_word(buf_str(&text), ' ', "pids");
}

static void join_v2(struct cgroup *group, char *parent, const struct cgroup_config *config)
{
    const char *dir;
    char *slash;

    if (!handed_down(parent)) {
        slash = strrchr(parent, '/');
        if (!slash || (size_t)(slash - parent) < strlen(config->mount))
            return;
        *slash = '\0';
        if (!handed_down(parent))
            return;
    }
    dir = make_dir(group, parent);
    group->memory = dir && write_number(dir, "memory.max", config->memory_bytes);
    group->tasks = dir && write_number(dir, "pids.max", config->tasks);
    if (dir)
        write_number(dir, "memory.swap.max", 0);
}

/* ---- which ---- */

/* "4:memory:/a/b" */
static void join_line(struct cgroup *group, struct str line, const struct cgroup_config *config)
{
    char parent[LIMIT_PATH_BYTES];
    struct str number, controllers;

    if (!str_split(&line, ':', &number) || !str_split(&line, ':', &controllers) ||
        line.n >= LIMIT_PATH_BYTES - FIELD_MAX || str_find(line, STR("/..")) >= 0)
        return;
    if (str_is(line, "/"))
        line.n = 0;
    if (!group->tasks && has_word(controllers, ',', "pids")) {
        snprintf(parent, sizeof(parent), "%s/pids%.*s", config->mount, STR_ARG(line));
        join_tasks_v1(group, parent, config);
    } else if (group->n == 0 && str_is(number, "0") && controllers.n == 0) {
        snprintf(parent, sizeof(parent), "%s%.*s", config->mount, STR_ARG(line));
        join_v2(group, parent, config);
    }
}

static bool forbidden;

void cgroup_forbid(void)
{
    forbidden = true;
}

struct cgroup *cgroup_new(const struct cgroup_config *config)
{
    struct cgroup_config how = *config;
    struct cgroup *group = NEW(struct cgroup);
    AUTO_BUF text = BUF_INIT(TEXT_MAX);
    struct str rest, line;

    how.mount = how.mount ? how.mount : "/sys/fs/cgroup";
    if (forbidden ||
        file_read(how.membership ? how.membership : "/proc/self/cgroup", &text, NULL) < 0) {
        free(group);
        return NULL;
    }
    rest = buf_str(&text);
    while (group->n < DIRS_MAX && str_split(&rest, '\n', &line))
        join_line(group, line, &how);
    if (group->memory || group->tasks)
        return group;
    cgroup_free(group);
    return NULL;
}

/* Version 1 lets a single thread join by "tasks", for which the kernel takes no global lock. */
static int open_join(const char *dir)
{
    static const char *const names[] = { "tasks", "cgroup.procs" };
    char path[LIMIT_PATH_BYTES + 64];
    int fd = -1;

    for (size_t i = 0; fd < 0 && i < ARRAY_LEN(names); i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
        fd = open(path, O_WRONLY | O_CLOEXEC);
    }
    return fd;
}

int cgroup_files(struct cgroup *group, int *ret_fds)
{
    bool asked = group->opened > 0;

    for (int i = 0; !asked && i < group->n; i++) {
        int fd = open_join(group->dirs[i]);

        if (fd >= 0)
            group->files[group->opened++] = fd;
    }
    memcpy(ret_fds, group->files, sizeof(int) * (size_t)group->opened);
    return group->opened;
}

bool cgroup_join(const int *fds, int n)
{
    bool all = true;

    for (int i = 0; i < n; i++) {
        all = write(fds[i], "0", 1) == 1 && all;
        close(fds[i]);
    }
    return all;
}

bool cgroup_limits_memory(const struct cgroup *group)
{
    return group->memory;
}

bool cgroup_limits_tasks(const struct cgroup *group)
{
    return group->tasks;
}

void cgroup_free(struct cgroup *group)
{
    if (!group)
        return;
    for (int i = 0; i < group->opened; i++)
        close(group->files[i]);
    for (int i = 0; i < group->n; i++)
        rmdir(group->dirs[i]);
    free(group);
}
