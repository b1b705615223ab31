/* Addresses of Unix sockets by path, of any length.
 *
 * The system's struct holds 107 bytes of path. A longer one is reached through a handle of its
 * directory: /proc/self/fd/N/name means the same socket.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_UNIX_ADDRESS_H
#define DORMOUSE_BASE_UNIX_ADDRESS_H

#include <sys/socket.h>
#include <sys/un.h>

#include "base/err.h"

struct unix_address {
    struct sockaddr_un sa; /* for bind() and connect(), until it is released */
    int dir_fd;            /* -1: the path was short enough */
};
#define UNIX_ADDRESS_INIT ((struct unix_address){ .dir_fd = -1 })

/* bad_request when the last component alone is too long; not_found when a long path's directory
 * can't be opened. */
int unix_address_init(struct unix_address *address, const char *path, struct err *err);
void unix_address_release(struct unix_address *address);
#define AUTO_UNIX_ADDRESS __attribute__((cleanup(unix_address_release))) struct unix_address

#endif
