/* Looking at places from outside and from inside.
 *
 * What is covered can't be looked at any more, but readdir() tells the inode number of the entry
 * below the mount. Whoever swaps names all the time could show the cover to one look and the entry
 * to the next; it would have to hit every one of several rounds.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/str.h"

#define ROUNDS 8

static int place_step(int dir_fd, struct str name)
{
    char text[LIMIT_PATH_NAME_BYTES + 2];
    struct stat st;
    int fd;

    if (name.n >= sizeof(text)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(text, name.p, name.n);
    text[name.n] = '\0';
    fd = openat(dir_fd, text, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && !S_ISLNK(st.st_mode))
        return fd;
    if (fd >= 0) {
        close(fd);
        errno = ELOOP;
    }
    return -1;
}

int place_open(const char *path)
{
    int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct str rest = str_from(path), name;

    while (fd >= 0 && str_split(&rest, '/', &name)) {
        int next;

        if (name.n == 0)
            continue;
        next = place_step(fd, name);
        close(fd);
        fd = next;
    }
    return fd;
}

/* The directory that holds path, and the last name. */
static int place_open_parent(const char *path, const char **ret_name)
{
    char parent[LIMIT_PATH_BYTES];
    const char *slash = strrchr(path, '/');

    if (!slash || slash[1] == '\0' || (size_t)(slash - path) >= sizeof(parent)) {
        errno = EINVAL;
        return -1;
    }
    memcpy(parent, path, (size_t)(slash - path));
    parent[slash - path] = '\0';
    *ret_name = slash + 1;
    return place_open(parent);
}

/* 0 when the directory may not be listed or holds no such name. */
static uint64_t place_entry(int dir_fd, const char *name)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    uint64_t ino = 0;

    if (!dir) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    while (ino == 0 && (entry = readdir(dir)))
        if (strcmp(entry->d_name, name) == 0)
            ino = entry->d_ino;
    closedir(dir);
    return ino;
}

int place_look(struct place_view *view, int *ret_fd)
{
    AUTO_FD parent = -1;
    const char *name;
    struct stat st;
    int fd = place_open(view->path);

    if (fd < 0)
        return -1;
    if (view->covered)
        parent = place_open_parent(view->path, &name);
    if ((view->covered && parent < 0) || fstat(view->covered ? parent : fd, &st) < 0) {
        close(fd);
        return -1;
    }
    view->dev = st.st_dev;
    view->ino = st.st_ino;
    view->entry = view->covered ? place_entry(parent, name) : 0;
    *ret_fd = fd;
    return 0;
}

/* An empty directory without permissions, or a device that can't be opened (walls.c). */
static bool place_is_cover(int dir_fd, const char *name)
{
    struct stat st;

    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    return S_ISCHR(st.st_mode) || (S_ISDIR(st.st_mode) && (st.st_mode & 07777) == 0);
}

static bool place_covered(const struct place_view *view)
{
    const char *name;
    AUTO_FD parent = place_open_parent(view->path, &name);
    struct stat st;

    if (parent < 0 || fstat(parent, &st) < 0 || st.st_dev != view->dev || st.st_ino != view->ino)
        return false;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t entry;

        if (!place_is_cover(parent, name))
            return false;
        entry = place_entry(parent, name);
        if (view->entry && entry && entry != view->entry)
            return false;
    }
    return true;
}

static int place_changed(const struct place_view *view, struct err *err)
{
    return err_set(err, ERR_CONFLICT, "%.300s changed while the sandbox was being built",
                   view->path);
}

/* Older kernels than 5.8 do not say. */
static bool place_is_mount(int fd)
{
    struct statx st;

    return statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &st) < 0 ||
           !(st.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) ||
           (st.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

int place_open_checked(const struct place_view *view, int *ret_fd, struct err *err)
{
    AUTO_FD fd = place_open(view->path);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != view->dev || st.st_ino != view->ino)
        return place_changed(view, err);
    *ret_fd = fd;
    fd = -1;
    return 0;
}

int place_check(const struct place_view *view, struct err *err)
{
    AUTO_FD fd = -1;

    if (view->covered)
        return place_covered(view) ? 0 : place_changed(view, err);
    if (place_open_checked(view, &fd, err) < 0)
        return -1;
    return !view->bound || place_is_mount(fd) ? 0 : place_changed(view, err);
}
