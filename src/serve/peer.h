/* Who is at the other end of the Unix socket.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SERVE_PEER_H
#define DORMOUSE_SERVE_PEER_H

#include <stdbool.h>

/* Whether the process that connected may speak to us: it is ours or root's, and not in a process
 * namespace of its own, as everything in a sandbox is. fd is the accepted connection. */
bool peer_may_speak(int fd);

#endif
