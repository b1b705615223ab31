/* The protocol is one datagram of NAME=value lines to a Unix socket, sent from the main process.
 * A name that begins with '@' is in the abstract namespace.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int notify_send(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    size_t n = path ? strlen(path) : 0;
    ssize_t sent;
    int fd;

    if (n == 0)
        return 0;
    if ((path[0] != '/' && path[0] != '@') || n >= sizeof(address.sun_path)) {
        errno = EINVAL;
        return -1;
    }
    memcpy(address.sun_path, path, n);
    if (path[0] == '@')
        address.sun_path[0] = '\0';
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    sent = sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address,
                  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
    close(fd);
    return sent < 0 ? -1 : 1;
}
