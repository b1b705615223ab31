/* Whole files.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/rand.h"
#include "base/utf8.h"

#define READ_STEP  (64 * KIB)
#define TEMP_TRIES 16

void file_close_auto(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static enum err_code code_of(int number)
{
    switch (number) {
    case ENOENT:
    case ENOTDIR:
        return ERR_NOT_FOUND;
    case ELOOP:
    case EXDEV:
    case EACCES:
    case EPERM:
        return ERR_PATH_DENIED;
    default:
        return ERR_INTERNAL;
    }
}

static int fail(struct err *err, const char *what, const char *name)
{
    int number = errno;

    return err_set(err, code_of(number), "%s %s: %s", what, name, strerror(number));
}

int file_read_fd(int fd, const char *name, struct buf *buf, struct err *err)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return fail(err, "read", name);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_BAD_REQUEST, "read %s: not a regular file", name);
    for (;;) {
        /* One byte more than allowed, so that a file of just the allowed size is not refused and
         * a longer one is noticed whatever its size was said to be. */
        size_t room = buf->max - buf->n;
        char spare, *to = room ? buf_reserve(buf, room < READ_STEP ? room : READ_STEP) : &spare;
        ssize_t n = read(fd, to, room ? (room < READ_STEP ? room : READ_STEP) : 1);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(err, "read", name);
        if (n == 0)
            return 0;
        if (room == 0)
            return err_set(err, ERR_TOO_LARGE, "read %s: larger than %zu bytes", name, buf->max);
        buf_grown(buf, (size_t)n);
    }
}

int file_read(const char *path, struct buf *buf, struct err *err)
{
    /* Opening a named pipe would otherwise wait for a writer. */
    AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return fail(err, "open", path);
    return file_read_fd(fd, path, buf, err);
}

int file_write_all(int fd, struct str text)
{
    while (text.n) {
        ssize_t n = write(fd, text.p, text.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        text = str_skip(text, (size_t)n);
    }
    return 0;
}

/* A name that no other writer chooses; hidden, and cut so that it is never too long. */
static int open_temp(int dir_fd, const char *name, mode_t mode,
                     char temp[LIMIT_PATH_NAME_BYTES + 1])
{
    for (int i = 0; i < TEMP_TRIES; i++) {
        char random[17];
        uint64_t value = rand_u64(rand_system());
        int fd;

        hex_encode(&value, sizeof(value), random);
        snprintf(temp, LIMIT_PATH_NAME_BYTES + 1, ".%.*s.%s.tmp",
                 STR_ARG(utf8_truncate(str_from(name), 200)), random);
        fd = openat(dir_fd, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

int file_write_atomic_at(int dir_fd, const char *name, struct str text, mode_t mode,
                         struct err *err)
{
    char temp[LIMIT_PATH_NAME_BYTES + 1];
    AUTO_FD fd = open_temp(dir_fd, name, mode, temp);

    if (fd < 0)
        return fail(err, "write", name);
    /* fchmod: the umask took bits away. */
    if (fchmod(fd, mode) < 0 || file_write_all(fd, text) < 0 || fsync(fd) < 0 ||
        renameat(dir_fd, temp, dir_fd, name) < 0) {
        fail(err, "write", name);
        unlinkat(dir_fd, temp, 0);
        return -1;
    }
    if (fsync(dir_fd) < 0)
        return fail(err, "sync the directory of", name);
    return 0;
}

int file_write_atomic(const char *path, struct str text, mode_t mode, struct err *err)
{
    const char *slash = strrchr(path, '/');
    AUTO_BUF dir = BUF_INIT(LIMIT_PATH_BYTES);
    AUTO_FD dir_fd = -1;

    if (slash && slash[1] == '\0')
        return err_set(err, ERR_BAD_REQUEST, "write %s: a directory's name", path);
    if (slash && buf_add(&dir, path, slash == path ? 1 : (size_t)(slash - path)) < 0)
        return err_set(err, ERR_TOO_LARGE, "write %.64s…: path longer than %d bytes", path,
                       LIMIT_PATH_BYTES);
    dir_fd = open(slash ? buf_text(&dir) : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0)
        return fail(err, "open the directory of", path);
    if (file_write_atomic_at(dir_fd, slash ? slash + 1 : path, text, mode, err) < 0)
        return err_wrap(err, "%s", path);
    return 0;
}
