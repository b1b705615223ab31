/* Files that may not be read by their name alone (".env"), and repositories of git: looked for
 * below the writable places and the working directory, within bounds.
 *
 * This covers what is there when the sandbox starts. Such a file that comes into being later is
 * still refused by the file tools, which look at every name, but not by the walls.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/walls_int.h"

struct search {
    struct walls *w;
    unsigned entries;
};

static bool wanted(const struct walls *w, const char *name)
{
    for (size_t i = 0; i < w->deny_names.n; i++)
        if (strcmp(name, w->deny_names.items[i]) == 0)
            return true;
    return false;
}

/* Thousands of entries that hold nobody's secrets. */
static bool skipped(const char *name)
{
    static const char *const names[] = { ".", "..", "node_modules", ".git" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* A link counts for what it leads to; one that leads to where we are hides nothing. */
static void found(struct walls *w, const char *path)
{
    const char *real = walls_resolve(w, path, "/");

    if (!real || walls_below(w->cwd, real) || access(real, F_OK) < 0)
        return;
    if (w->found.n < WALLS_PATHS_MAX)
        walls_add(w, &w->found, real);
    else
        w->names_cut = true;
}

static void look_in(struct search *search, int fd, const char *path, int depth);

static void look_at(struct search *search, int dir_fd, const char *path, const struct dirent *entry,
                    int depth)
{
    struct walls *w = search->w;
    const char *full =
        arena_printf(&w->arena, "%s/%s", strcmp(path, "/") == 0 ? "" : path, entry->d_name);
    int fd;

    if (wanted(w, entry->d_name)) {
        found(w, full);
        return;
    }
    if (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN)
        return;
    fd = openat(dir_fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        look_in(search, fd, full, depth + 1);
}

/* Owns fd. */
static void look_in(struct search *search, int fd, const char *path, int depth)
{
    DIR *dir = fdopendir(fd);
    const struct dirent *entry;

    if (!dir) {
        close(fd);
        return;
    }
    while ((entry = readdir(dir))) {
        if (++search->entries > WALLS_SEARCH_ENTRIES || depth > WALLS_SEARCH_DEPTH) {
            search->w->names_cut = true;
            break;
        }
        if (strcmp(entry->d_name, ".git") == 0 && search->w->repositories.n < WALLS_PATHS_MAX / 4)
            walls_add(search->w, &search->w->repositories, path);
        if (wanted(search->w, entry->d_name) || !skipped(entry->d_name))
            look_at(search, dirfd(dir), path, entry, depth);
    }
    closedir(dir);
}

/* ---- what others may not read ---- */

static void private_in(struct search *search, int fd, const char *path, int depth)
{
    DIR *dir = fdopendir(fd);
    const struct dirent *entry;
    struct stat st;

    if (!dir) {
        close(fd);
        return;
    }
    while ((entry = readdir(dir)) && ++search->entries <= WALLS_SEARCH_ENTRIES) {
        const char *full;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISLNK(st.st_mode))
            continue;
        full = arena_printf(&search->w->arena, "%s/%s", path, entry->d_name);
        if (!(st.st_mode & S_IROTH))
            walls_add(search->w, &search->w->deny_read, full);
        else if (S_ISDIR(st.st_mode) && depth < WALLS_SEARCH_DEPTH &&
                 (fd = openat(dirfd(dir), entry->d_name,
                              O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) >= 0)
            private_in(search, fd, full, depth + 1);
    }
    closedir(dir);
}

void walls_find_private(struct walls *w, const char *dir)
{
    struct search search = { w, 0 };
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0)
        private_in(&search, fd, dir, 0);
}

void walls_find_names(struct walls *w, const char *dir)
{
    struct search search = { w, 0 };
    int fd;

    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        look_in(&search, fd, dir, 0);
}
