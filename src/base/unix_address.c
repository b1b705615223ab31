/* Addresses of Unix sockets by path, of any length.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/unix_address.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"

static int open_directory(const char *path, size_t n, struct err *err)
{
    char dir[LIMIT_PATH_BYTES];
    int fd;

    if (n >= sizeof(dir))
        return err_set(err, ERR_BAD_REQUEST, "the path %.60s... is longer than %zu bytes", path,
                       sizeof(dir) - 1);
    memcpy(dir, path, n);
    dir[n] = '\0';
    fd = open(n ? dir : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_set(err, ERR_NOT_FOUND, "%s: %s", dir, strerror(errno));
    return fd;
}

int unix_address_init(struct unix_address *address, const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    int dir_fd, n;

    *address = UNIX_ADDRESS_INIT;
    address->sa.sun_family = AF_UNIX;
    if (strlen(path) < sizeof(address->sa.sun_path)) {
        memcpy(address->sa.sun_path, path, strlen(path) + 1);
        return 0;
    }
    if (!slash)
        return err_set(err, ERR_BAD_REQUEST, "%s is too long for the name of a socket", path);
    dir_fd = open_directory(path, (size_t)(slash - path), err);
    if (dir_fd < 0)
        return -1;
    n = snprintf(address->sa.sun_path, sizeof(address->sa.sun_path), "/proc/self/fd/%d/%s", dir_fd,
                 slash + 1);
    if ((size_t)n >= sizeof(address->sa.sun_path)) {
        close(dir_fd);
        return err_set(err, ERR_BAD_REQUEST, "%s is too long for the name of a socket", slash + 1);
    }
    address->dir_fd = dir_fd;
    return 0;
}

void unix_address_release(struct unix_address *address)
{
    if (address->dir_fd >= 0)
        close(address->dir_fd);
    address->dir_fd = -1;
}
