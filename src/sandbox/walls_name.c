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
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/guarded.h"
#include "sandbox/walls_int.h"

struct search {
    struct walls *w;
    unsigned entries;
    struct walls_list heavy; /* directories to be searched last */
};

static bool wanted(const struct walls *w, const char *name)
{
    for (size_t i = 0; i < w->deny_names.n; i++)
        if (strcmp(name, w->deny_names.items[i]) == 0)
            return true;
    return false;
}

/* Thousands of entries that seldom hold a secret: they are searched with what is left. */
static bool is_heavy(const char *name)
{
    return strcmp(name, "node_modules") == 0 || strcasecmp(name, ".git") == 0;
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

/* What may lie in a directory that its owner can't list and search is anybody's guess, and commands
 * could open it up: it may not be read as a whole. Root would get in; the hand, who is not root and
 * owns it inside, would not. */
static bool is_closed(struct search *search, int dir_fd, const char *name, const char *full)
{
    struct walls *w = search->w;
    struct stat st;

    if (w->deny_names.n == 0 || fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        !S_ISDIR(st.st_mode) || (st.st_mode & 0500) == 0500 ||
        (st.st_uid != geteuid() && !w->staged))
        return false;
    found(w, full);
    if (!w->closed)
        w->closed = full;
    return true;
}

static void look_at(struct search *search, int dir_fd, const char *path, const struct dirent *entry,
                    int depth)
{
    struct walls *w = search->w;
    bool hit = wanted(w, entry->d_name);
    const char *full;
    int fd;

    if (!hit && entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN)
        return;
    full = arena_printf(&w->arena, "%s/%s", strcmp(path, "/") == 0 ? "" : path, entry->d_name);
    if (hit) {
        found(w, full);
        return;
    }
    if (is_heavy(entry->d_name)) {
        walls_add(w, &search->heavy, full);
        return;
    }
    if (is_closed(search, dir_fd, entry->d_name, full))
        return;
    fd = openat(dir_fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        look_in(search, fd, full, depth + 1);
}

/* Owns fd. */
static void look_in(struct search *search, int fd, const char *path, int depth)
{
    struct walls *w = search->w;
    DIR *dir = fdopendir(fd);
    const struct dirent *entry;
    unsigned marks = 0;

    if (!dir) {
        close(fd);
        return;
    }
    while ((entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (++search->entries > WALLS_SEARCH_ENTRIES || depth > WALLS_SEARCH_DEPTH) {
            w->names_cut = true;
            break;
        }
        /* A file system may not tell .Git from .git. */
        if (strcasecmp(entry->d_name, ".git") == 0 && w->repositories.n < WALLS_PATHS_MAX / 4)
            walls_add(w, &w->repositories, path);
        marks += guarded_is_git_mark(entry->d_name);
        look_at(search, dirfd(dir), path, entry, depth);
    }
    if (marks >= GUARDED_GIT_MARKS && w->bare.n < WALLS_PATHS_MAX / 4)
        walls_add(w, &w->bare, path);
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
    struct search search = { .w = w };
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0)
        private_in(&search, fd, dir, 0);
}

void walls_find_names(struct walls *w, const char *dir)
{
    struct search search = { .w = w };
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0)
        look_in(&search, fd, dir, 0);
    for (size_t i = 0; i < search.heavy.n; i++) {
        const char *heavy = search.heavy.items[i];

        fd = is_closed(&search, AT_FDCWD, heavy, heavy)
                 ? -1
                 : open(heavy, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0)
            look_in(&search, fd, heavy, 0);
    }
}
