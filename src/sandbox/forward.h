/* The way from a loopback port inside the sandbox to the proxy's Unix socket.
 *
 * It runs inside the hand: plain C over system calls, no library, one thread, at most
 * FORWARD_PAIRS_MAX connections. It needs socket, bind, listen, accept4, connect, poll, read,
 * write, shutdown, close and, for the loopback device, ioctl. Results are 0 or a negative errno.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_FORWARD_H
#define DORMOUSE_SANDBOX_FORWARD_H

#include <stdint.h>

#define FORWARD_PAIRS_MAX 64          /* more wait in the listener's queue */
#define FORWARD_BYTES     (32 * 1024) /* held in each direction */

/* Brings up `lo` of this network namespace; needs CAP_NET_ADMIN in it. */
int forward_loopback_up(void);

/* Listens on 127.0.0.1; port 0 takes a free one. *ret_port is the one that was taken. */
int forward_listen(uint16_t port, int *ret_fd, uint16_t *ret_port);

/* Leads every connection of the listener to the socket at path. Returns only when the listener
 * breaks, or when stop_fd (-1: none) becomes readable or is hung up: then 0. For a process or
 * thread of its own; SIGPIPE is not raised. */
int forward_run(int listen_fd, const char *path, int stop_fd);

/* What commands need in their environment: "http_proxy=http://127.0.0.1:PORT" and so on. */
#define FORWARD_ENV_MAX 10
struct forward_env {
    char text[FORWARD_ENV_MAX][64];
    const char *list[FORWARD_ENV_MAX + 1]; /* ends with NULL */
};
/* allow_domains as in struct sandbox_spec. Servers that commands start themselves on the sandbox's
 * own loopback are reached directly (no_proxy), unless the list names this machine: then its
 * loopback is meant. */
void forward_env(uint16_t port, const char *const *allow_domains, struct forward_env *ret_env);

#endif
