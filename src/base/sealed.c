/* Sealed copies of programs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/sealed.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010u /* Linux 6.3; older kernels refuse the flag and need none */
#endif

static bool sealed_stat_trusted(const struct stat *st)
{
    return S_ISREG(st->st_mode) && (st->st_uid == 0 || st->st_uid == geteuid()) &&
           (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool sealed_trusts(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && sealed_stat_trusted(&st) && access(path, X_OK) == 0;
}

static int sealed_copy(int from, int to)
{
    size_t left = SEALED_PROGRAM_MAX;
    ssize_t n;

    while ((n = sendfile(to, from, NULL, left)) > 0)
        left -= (size_t)n;
    if (n == 0 && left == 0)
        errno = EFBIG;
    return n < 0 || left == 0 ? -1 : 0;
}

int sealed_open(const char *path, const char *name, int first_fd, int *ret_fd, struct err *err)
{
    AUTO_FD from = open(path, O_RDONLY | O_CLOEXEC);
    AUTO_FD copy = -1;
    struct stat st;
    int fd;

    if (from < 0 || fstat(from, &st) < 0)
        return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_INTERNAL, "%s: %s", path,
                       strerror(errno));
    if (!sealed_stat_trusted(&st) || access(path, X_OK) < 0)
        return err_set(err, ERR_PATH_DENIED,
                       "%s: it must be an executable file that nobody but root and you can write",
                       path);
    copy = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
    if (copy < 0 && errno == EINVAL)
        copy = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (copy < 0 || sealed_copy(from, copy) < 0 || fchmod(copy, 0555) < 0 ||
        fcntl(copy, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
        return err_set(err, ERR_INTERNAL, "copy %s into memory: %s", path, strerror(errno));
    fd = fcntl(copy, F_DUPFD_CLOEXEC, first_fd);
    if (fd < 0)
        return err_set(err, ERR_INTERNAL, "copy %s into memory: %s", path, strerror(errno));
    *ret_fd = fd;
    return 0;
}
