/* The kernel says who connected; /proc says where that process lives.
 *
 * Whoever holds the token of a data directory is the person, and the socket needs none: so a
 * command in a sandbox that gets at a socket, of this daemon or of another one, must find it deaf.
 * The mode of the file keeps out other users, the walls keep sandboxes from connecting, and this is
 * for when either fails.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/peer.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/str.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

/* In how many process namespaces it has a number, as far as we see them; 0 when it is gone. This
 * file can be read of any process, also of one that may not be traced. */
static unsigned peer_namespaces(pid_t pid)
{
    char path[64];
    AUTO_BUF text = BUF_INIT(64 * KIB);
    struct str rest, line, number;
    unsigned n = 0;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    if (file_read(path, &text, NULL) < 0)
        return 0;
    rest = buf_str(&text);
    while (str_split(&rest, '\n', &line))
        if (str_starts(line, STR("NSpid:\t"))) {
            line = str_skip(line, strlen("NSpid:\t"));
            while (str_split(&line, '\t', &number))
                n += number.n > 0;
        }
    return n;
}

/* Whether /proc numbers processes as the kernel numbers them for us. */
static bool peer_proc_is_ours(void)
{
    char text[32] = "";
    ssize_t n = readlink("/proc/self", text, sizeof(text) - 1);

    return n > 0 && strtol(text, NULL, 10) == getpid();
}

/* So that no other process has its number by now. Older kernels do not say. */
static bool peer_is_alive(int fd)
{
    AUTO_FD process = -1;
    socklen_t size = sizeof(process);
    struct pollfd ended = { .events = POLLIN };

    if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &process, &size) < 0) {
        process = -1;
        return true;
    }
    ended.fd = process;
    return poll(&ended, 1, 0) == 0;
}

bool peer_may_speak(int fd)
{
    struct ucred who;
    socklen_t size = sizeof(who);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0 || who.pid <= 0 ||
        (who.uid != geteuid() && who.uid != 0))
        return false;
    /* A daemon that was started with a /proc of somebody else's can't tell. */
    if (!peer_proc_is_ours())
        return true;
    return peer_namespaces(who.pid) == 1 && peer_is_alive(fd);
}
