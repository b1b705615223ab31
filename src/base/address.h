/* Where the server listens: parsing of addresses and making of listening sockets.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_ADDRESS_H
#define DORMOUSE_BASE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/str.h"

#define SERVE_PORT_DEFAULT 7117
#define ADDRESS_TEXT_MAX   64

struct address {
    struct sockaddr_storage sa;
    socklen_t n;
};

/* "127.0.0.1:7117", "[::1]:0", "localhost", "localhost:8080", "0.0.0.0". Without a port it is
 * SERVE_PORT_DEFAULT; port 0 lets the system choose. Names other than localhost are refused: what
 * a name means may change, and with it who can reach the data. */
int address_parse(struct str text, struct address *ret_address, struct err *err);
/* "127.0.0.1:7117" or "[::1]:7117" or "unix" into out; returns out. */
const char *address_format(const struct sockaddr *sa, char out[ADDRESS_TEXT_MAX]);
/* 127.0.0.0/8, ::1, its IPv4 form, and Unix sockets. */
bool address_is_loopback(const struct sockaddr *sa);
/* 0.0.0.0 or ::, which stand for every address of this machine. */
bool address_is_any(const struct sockaddr *sa);
uint16_t address_port(const struct sockaddr *sa);

/* Bound and listening, non-blocking, close-on-exec. A taken port says who to ask and what to
 * type. The caller closes *ret_fd. */
int address_listen(const struct address *address, int *ret_fd, struct err *err);
/* A Unix socket that only its owner can connect to. A dead socket file that is in the way is
 * removed: the caller holds the data directory's lock. */
int address_listen_unix(const char *path, int *ret_fd, struct err *err);
/* Sockets that the service manager opened for us (LISTEN_PID, LISTEN_FDS), at most max; their
 * number is returned. The variables are removed, so that no child takes them for its own. */
int address_inherited(int *fds, int max, struct err *err);

#endif
