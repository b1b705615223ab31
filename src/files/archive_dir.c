/* A folder on disk, read like an archive.
 *
 * Every step is openat() with O_NOFOLLOW, so a link that is swapped in meanwhile is refused and not
 * followed.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "files/archive_int.h"
#include "files/files.h"

#define DEPTH_MAX 16

static void close_dir(DIR **dir)
{
    if (*dir)
        closedir(*dir);
}

static int read_folder(struct collect *collect, int fd, struct str prefix, int depth,
                       struct err *err);

static int read_regular(struct collect *collect, int fd, struct str path, const struct stat *st,
                        struct err *err)
{
    AUTO_BUF content = BUF_INIT(collect->limits.entry_bytes);

    if (collect_check(collect, path, st->st_size, err) < 0 ||
        file_read_fd(fd, path.p, &content, err) < 0)
        return -1;
    return collect_add(collect, path, arena_str(collect->arena, buf_str(&content)),
                       st->st_mode & 0111, err);
}

static int read_one(struct collect *collect, int dir_fd, const char *name, struct str path,
                    int depth, struct err *err)
{
    AUTO_FD fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    if (fd < 0 && errno == ELOOP)
        return err_set(err, ERR_BAD_REQUEST, "\"%.*s\" is a link", STR_ARG(path));
    if (fd < 0 && (errno == ENXIO || errno == ENODEV))
        return err_set(err, ERR_BAD_REQUEST, "\"%.*s\" is neither a file nor a folder",
                       STR_ARG(path));
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_set(err, ERR_NOT_FOUND, "open \"%.*s\": %s", STR_ARG(path), strerror(errno));
    if (S_ISREG(st.st_mode))
        return read_regular(collect, fd, path, &st, err);
    if (!S_ISDIR(st.st_mode))
        return err_set(err, ERR_BAD_REQUEST, "\"%.*s\" is neither a file nor a folder",
                       STR_ARG(path));
    if (depth == DEPTH_MAX)
        return err_set(err, ERR_TOO_LARGE, "\"%.*s\": more than %d folders deep", STR_ARG(path),
                       DEPTH_MAX);
    return read_folder(collect, dup(fd), path, depth + 1, err);
}

/* Takes fd. prefix is empty for the folder itself. */
static int read_folder(struct collect *collect, int fd, struct str prefix, int depth,
                       struct err *err)
{
    __attribute__((cleanup(close_dir))) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;

    if (!dir)
        return err_set(err, ERR_NOT_FOUND, "open folder \"%.*s\": %s", STR_ARG(prefix),
                       strerror(errno));
    while ((entry = readdir(dir)) != NULL) {
        const char *path;

        if (entry->d_name[0] == '.')
            continue;
        if (collect_count(collect, err) < 0)
            return -1;
        path = arena_printf(collect->arena, "%.*s%s%s", STR_ARG(prefix), prefix.n ? "/" : "",
                            entry->d_name);
        if (file_path_check(str_from(path), collect->arena, NULL, err) < 0 ||
            read_one(collect, dirfd(dir), entry->d_name, str_from(path), depth, err) < 0)
            return -1;
    }
    return 0;
}

int archive_read_dir(const char *path, const struct archive_limits *limits, struct arena *arena,
                     struct archive_entry **ret_entries, size_t *ret_count, struct err *err)
{
    AUTO_COLLECT collect;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    collect_init(&collect, limits, arena);
    if (fd < 0)
        return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_BAD_REQUEST, "folder %s: %s",
                       path,
                       errno == ENOTDIR || errno == ELOOP ? "it is no folder" : strerror(errno));
    if (read_folder(&collect, fd, STR_NONE, 0, err) < 0 ||
        collect_end(&collect, ret_entries, ret_count, err) < 0)
        return err_wrap(err, "read folder %s", path);
    return 0;
}
