/* Opening below a directory without leaving it.
 *
 * openat2() with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS asks the kernel for just that. Kernels
 * before 5.6 do not have it and some seccomp filters forbid it; then every component is opened
 * from the one before, with O_NOFOLLOW. As `..` is refused, both can only go down.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/path.h"

#define RETRIES 16 /* of EAGAIN, which a rename elsewhere causes */

static int fail(struct err *err, const char *what, const char *path)
{
    int number = errno;

    if (number == ELOOP || number == EXDEV || number == EMLINK)
        return err_set(err, ERR_PATH_DENIED, "%s %s: a symbolic link is on the way", what, path);
    if (number == ENOENT || number == ENOTDIR)
        return err_set(err, ERR_NOT_FOUND, "%s %s: %s", what, path, strerror(number));
    if (number == EEXIST)
        return err_set(err, ERR_CONFLICT, "%s %s: it exists already", what, path);
    if (number == EACCES || number == EPERM || number == EROFS)
        return err_set(err, ERR_PATH_DENIED, "%s %s: %s", what, path, strerror(number));
    return err_set(err, ERR_INTERNAL, "%s %s: %s", what, path, strerror(number));
}

/* Callers pass normalised paths; a mistake there must not open a way out. */
static int check(const char *path, struct err *err)
{
    AUTO_BUF normal = BUF_INIT(LIMIT_PATH_BYTES);

    if (path_normalise(str_from(path), &normal, err) < 0)
        return -1;
    if (!str_is(buf_str(&normal), path))
        return err_set(err, ERR_PATH_DENIED, "path \"%.80s\" is not normalised; expected \"%.80s\"",
                       path, buf_text(&normal));
    return 0;
}

/* Whether fd, which may be that of a link, is what flags ask for; errno tells why not. */
static bool is_wanted(int fd, int flags)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return false;
    errno = S_ISLNK(st.st_mode) ? ELOOP : ENOTDIR;
    return !S_ISLNK(st.st_mode) && (!(flags & O_DIRECTORY) || S_ISDIR(st.st_mode));
}

/* A directory is looked at before it is opened: O_DIRECTORY alone says ENOTDIR of a link, too, and
 * to ask afterwards what stands there would be a race. */
static int open_one(int dir_fd, const char *name, int flags, mode_t mode)
{
    int fd, opened;

    flags |= O_NOFOLLOW | O_CLOEXEC | O_NOCTTY;
    if (!(flags & (O_DIRECTORY | O_PATH)))
        return openat(dir_fd, name, flags, mode);
    fd = openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || !is_wanted(fd, flags))
        opened = -1;
    else
        opened = flags & O_PATH ? fd : openat(fd, ".", flags, mode);
    if (opened != fd)
        file_close_auto(&fd);
    return opened;
}

/* Opens the directory that holds the last name of path, which *ret_name is set to. */
static int open_parent(int root_fd, const char *path, const char **ret_name)
{
    int dir_fd = dup(root_fd);
    const char *slash;

    while (dir_fd >= 0 && (slash = strchr(path, '/')) != NULL) {
        char name[LIMIT_PATH_NAME_BYTES + 1] = "";
        int next;

        memcpy(name, path, (size_t)(slash - path));
        next = open_one(dir_fd, name, O_PATH | O_DIRECTORY, 0);
        close(dir_fd);
        dir_fd = next;
        path = slash + 1;
    }
    *ret_name = path;
    return dir_fd;
}

int path_open_walking(int root_fd, const char *path, int flags, mode_t mode, int *ret_fd,
                      struct err *err)
{
    AUTO_FD dir_fd = -1;
    const char *name;
    int fd;

    if (check(path, err) < 0)
        return -1;
    dir_fd = open_parent(root_fd, path, &name);
    if (dir_fd < 0)
        return fail(err, "open", path);
    fd = open_one(dir_fd, name, flags, mode);
    if (fd < 0)
        return fail(err, "open", path);
    *ret_fd = fd;
    return 0;
}

static int open_in_kernel(int root_fd, const char *path, int flags, mode_t mode)
{
    /* Without O_NOFOLLOW: with it a last link would be ENOTDIR, or be opened by O_PATH. */
    int plain = (flags & ~O_NOFOLLOW) | O_CLOEXEC | (flags & O_PATH ? 0 : O_NOCTTY);
    struct open_how how = {
        .flags = (uint64_t)(unsigned)plain,
        .mode = flags & O_CREAT ? mode & 07777 : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    long fd = -1;

    for (int i = 0; i < RETRIES; i++) {
        fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
        if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
            break;
    }
    return (int)fd;
}

int path_open_beneath(int root_fd, const char *path, int flags, mode_t mode, int *ret_fd,
                      struct err *err)
{
    static int missing; /* openat2: once seen, not asked again */
    int fd;

    if (check(path, err) < 0)
        return -1;
    if (!__atomic_load_n(&missing, __ATOMIC_RELAXED)) {
        fd = open_in_kernel(root_fd, path, flags, mode);
        if (fd >= 0) {
            *ret_fd = fd;
            return 0;
        }
        if (errno == ENOSYS)
            __atomic_store_n(&missing, 1, __ATOMIC_RELAXED);
        else if (errno != EPERM && errno != EAGAIN)
            return fail(err, "open", path);
    }
    return path_open_walking(root_fd, path, flags, mode, ret_fd, err);
}

int path_mkdir_beneath(int root_fd, const char *path, mode_t mode, struct err *err)
{
    AUTO_FD dir_fd = -1;
    struct str rest = str_from(path), part;

    if (check(path, err) < 0)
        return -1;
    dir_fd = dup(root_fd);
    while (dir_fd >= 0 && str_split(&rest, '/', &part)) {
        char name[LIMIT_PATH_NAME_BYTES + 1] = "";
        int next;

        memcpy(name, part.p, part.n);
        if (mkdirat(dir_fd, name, mode) < 0 && errno != EEXIST)
            return fail(err, "make directory", path);
        next = open_one(dir_fd, name, O_PATH | O_DIRECTORY, 0);
        if (next < 0)
            return errno == ENOTDIR
                       ? err_set(err, ERR_CONFLICT, "make directory %s: %s is not a directory",
                                 path, name)
                       : fail(err, "make directory", path);
        close(dir_fd);
        dir_fd = next;
    }
    return dir_fd < 0 ? fail(err, "make directory", path) : 0;
}

int path_write_beneath(int root_fd, const char *path, struct str text, mode_t mode, struct err *err)
{
    const char *slash = strrchr(path, '/');
    AUTO_BUF parent = BUF_INIT(LIMIT_PATH_BYTES);
    AUTO_FD dir_fd = -1;

    if (check(path, err) < 0)
        return -1;
    buf_add(&parent, path, slash ? (size_t)(slash - path) : 0);
    /* The root is opened again, too: one of O_PATH can't be synced. */
    if (!slash)
        dir_fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    else if (path_open_beneath(root_fd, buf_text(&parent), O_RDONLY | O_DIRECTORY, 0, &dir_fd,
                               err) < 0)
        return -1;
    if (dir_fd < 0)
        return fail(err, "open the directory of", path);
    return file_write_atomic_at(dir_fd, slash ? slash + 1 : path, text, mode, err);
}
