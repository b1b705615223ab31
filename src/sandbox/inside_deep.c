/* Guarded names that come into being deeper in a writable place (guarded.h): a new repository below
 * it, a directory with an .envrc.
 *
 * They may be made (a command may well clone something), so the hand looks when a command ends, and
 * makes harmless what tools outside would obey: it is set aside under a name that nobody reads, and
 * reported. A new repository keeps its configuration while that says nothing but what every clone
 * says, and its samples of hooks.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "sandbox/guarded.h"
#include "sandbox/inside_int.h"

#define ENTRIES_MAX 50000 /* looked at after one command */
#define DEPTH_MAX   16
#define CONFIG_MAX  (256 * KIB)

static struct {
    const struct inside_setup *setup;
    struct timespec since;
    unsigned entries;
    bool changed, cut;
    char *message;
} deep;

void inside_deep_init(const struct inside_setup *setup)
{
    deep.setup = setup;
    clock_gettime(CLOCK_REALTIME_COARSE, &deep.since);
}

/* Guarded by itself, since the start. */
static bool deep_known(const char *path)
{
    for (size_t i = 0; deep.setup->deny_write[i]; i++)
        if (strcmp(deep.setup->deny_write[i], path) == 0)
            return true;
    return false;
}

static bool deep_is_new(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 &&
           (st.st_ctim.tv_sec > deep.since.tv_sec ||
            (st.st_ctim.tv_sec == deep.since.tv_sec && st.st_ctim.tv_nsec >= deep.since.tv_nsec));
}

static void deep_set_aside(const char *path)
{
    char aside[LIMIT_PATH_BYTES];

    if (inside_set_aside(path, aside, sizeof(aside)))
        snprintf(deep.message, INSIDE_MESSAGE_MAX,
                 "%.200s was made; tools outside obey it without asking: it is now called %s", path,
                 strrchr(aside, '/') + 1);
    else
        snprintf(deep.message, INSIDE_MESSAGE_MAX,
                 "%.200s was made and can't be set aside (%s): look at it before you work there",
                 path, strerror(errno));
    inside_notice("settings", "%s", deep.message);
    deep.changed = true;
}

/* Whether the directory, or something right in it, was made or changed. */
static bool deep_holds_new(const char *path)
{
    char full[LIMIT_PATH_BYTES];
    const struct dirent *entry;
    bool found = deep_is_new(path);
    DIR *dir = opendir(path);

    while (dir && !found && (entry = readdir(dir))) {
        snprintf(full, sizeof(full), "%s/%s", path, entry->d_name);
        found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
                deep_is_new(full);
    }
    if (dir)
        closedir(dir);
    return found;
}

/* ---- git directories ---- */

static bool deep_is_plain(const char *path, const char *name)
{
    AUTO_BUF text = BUF_INIT(CONFIG_MAX);

    if (file_read(path, &text, NULL) < 0)
        return false;
    if (strcmp(name, "commondir") == 0)
        return str_is(str_trim(buf_str(&text)), "../..");
    return guarded_config_is_plain(buf_str(&text));
}

static bool deep_has_hook(const char *path)
{
    static const char sample[] = ".sample";
    const struct dirent *entry;
    bool found = false;
    DIR *dir = opendir(path);

    while (dir && !found && (entry = readdir(dir))) {
        size_t n = strlen(entry->d_name);

        found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
                (n < sizeof(sample) || strcmp(entry->d_name + n - strlen(sample), sample) != 0);
    }
    if (dir)
        closedir(dir);
    return found;
}

static void deep_git(const char *dir, int depth);

static void deep_git_below(const char *dir, const char *name, int depth)
{
    char path[LIMIT_PATH_BYTES], full[LIMIT_PATH_BYTES];
    const struct dirent *entry;
    DIR *open_dir;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    open_dir = opendir(path);
    while (open_dir && (entry = readdir(open_dir)))
        if (entry->d_name[0] != '.' &&
            snprintf(full, sizeof(full), "%s/%s", path, entry->d_name) < (int)sizeof(full))
            deep_git(full, depth + 1);
    if (open_dir)
        closedir(open_dir);
}

static void deep_git(const char *dir, int depth)
{
    char path[LIMIT_PATH_BYTES];
    struct stat st;

    if (depth > DEPTH_MAX)
        return;
    for (size_t i = 0; guarded_git[i]; i++) {
        const char *name = guarded_git[i];
        bool hooks = strcmp(name, "hooks") == 0;

        if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path) ||
            deep_known(path) || lstat(path, &st) < 0 ||
            !(hooks ? deep_holds_new(path) : deep_is_new(path)))
            continue;
        if (hooks ? S_ISLNK(st.st_mode) || deep_has_hook(path)
                  : !S_ISREG(st.st_mode) || !deep_is_plain(path, name))
            deep_set_aside(path);
    }
    deep_git_below(dir, "modules", depth);
    deep_git_below(dir, "worktrees", depth);
}

/* ---- everything below a place ---- */

static void deep_dir(int fd, const char *path, int depth);

static void deep_entry(int dir_fd, const char *path, const struct dirent *entry, int depth)
{
    char full[LIMIT_PATH_BYTES];
    int fd;

    if (snprintf(full, sizeof(full), "%s/%s", strcmp(path, "/") == 0 ? "" : path, entry->d_name) >=
        (int)sizeof(full))
        return;
    if (guarded_has(guarded_names, entry->d_name)) {
        if (!deep_known(full) && deep_holds_new(full))
            deep_set_aside(full);
        return;
    }
    if (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN)
        return;
    fd = openat(dir_fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        deep_dir(fd, full, depth + 1);
}

/* Owns fd. A directory that git would take for its own is looked at as such. */
static void deep_dir(int fd, const char *path, int depth)
{
    struct stat st;
    const struct dirent *entry;
    DIR *dir;

    if (fstatat(fd, "HEAD", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        fstatat(fd, "objects", &st, AT_SYMLINK_NOFOLLOW) == 0) {
        close(fd);
        deep_git(path, depth);
        return;
    }
    dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return;
    }
    while (!deep.cut && (entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        deep.cut = ++deep.entries > ENTRIES_MAX || depth > DEPTH_MAX;
        deep_entry(dirfd(dir), path, entry, depth);
    }
    closedir(dir);
}

bool inside_deep_look(char message[INSIDE_MESSAGE_MAX])
{
    static bool told;

    deep.message = message;
    deep.entries = 0;
    deep.changed = deep.cut = false;
    for (size_t i = 0; deep.setup->allow_write[i]; i++) {
        const char *place = deep.setup->allow_write[i];
        int fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (fd >= 0)
            deep_dir(fd, place, 0);
    }
    if (deep.cut && !told) {
        told = true;
        inside_notice("settings", "there is too much below the writable places to look everywhere "
                                  "for settings that were made and that tools outside obey");
    }
    return deep.changed;
}
