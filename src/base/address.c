/* Addresses and listening sockets.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unix_address.h"

#define BACKLOG         1024
#define INHERITED_FIRST 3 /* SD_LISTEN_FDS_START */

static int refuse(struct str text, struct err *err)
{
    return err_set(err, ERR_BAD_REQUEST,
                   "listen address \"%.*s\" is not understood; allowed are an IPv4 address, an "
                   "[IPv6] address or localhost, each with an optional :PORT, as in 127.0.0.1:%d",
                   STR_ARG(str_take(text, 80)), SERVE_PORT_DEFAULT);
}

/* host gets what stands before the port, without brackets. */
static int split_port(struct str text, struct str *ret_host, uint16_t *ret_port, bool *ret_v6)
{
    struct str rest;
    uint64_t port = SERVE_PORT_DEFAULT;
    ptrdiff_t end;

    *ret_v6 = str_starts(text, STR("["));
    end = str_find_char(text, *ret_v6 ? ']' : ':');
    if (*ret_v6 && end < 0)
        return -1;
    *ret_host = *ret_v6 ? str_of(text.p + 1, (size_t)end - 1)
                        : str_take(text, end < 0 ? text.n : (size_t)end);
    rest = end < 0 ? STR("") : str_skip(text, (size_t)end + (*ret_v6 ? 1 : 0));
    if (rest.n > 0) {
        if (rest.p[0] != ':' || rest.n > 6 || str_to_u64(str_skip(rest, 1), &port) < 0 ||
            port > 65535)
            return -1;
    }
    *ret_port = (uint16_t)port;
    return 0;
}

int address_parse(struct str text, struct address *ret_address, struct err *err)
{
    struct address made = { .n = 0 };
    struct sockaddr_in *v4 = (struct sockaddr_in *)&made.sa;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&made.sa;
    char host[INET6_ADDRSTRLEN];
    struct str name;
    uint16_t port;
    bool is_v6;

    if (split_port(text, &name, &port, &is_v6) < 0 || name.n == 0 || name.n >= sizeof(host) ||
        memchr(name.p, '\0', name.n))
        return refuse(text, err);
    if (!is_v6 && str_eq_nocase(name, STR("localhost")))
        name = STR("127.0.0.1");
    snprintf(host, sizeof(host), "%.*s", STR_ARG(name));
    if (is_v6) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(port);
        made.n = sizeof(*v6);
        if (inet_pton(AF_INET6, host, &v6->sin6_addr) != 1)
            return refuse(text, err);
    } else {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
        made.n = sizeof(*v4);
        if (inet_pton(AF_INET, host, &v4->sin_addr) != 1)
            return refuse(text, err);
    }
    *ret_address = made;
    return 0;
}

const char *address_format(const struct sockaddr *sa, char out[ADDRESS_TEXT_MAX])
{
    char host[INET6_ADDRSTRLEN] = "";

    if (sa->sa_family == AF_INET) {
        inet_ntop(AF_INET, &((const struct sockaddr_in *)sa)->sin_addr, host, sizeof(host));
        snprintf(out, ADDRESS_TEXT_MAX, "%s:%u", host, address_port(sa));
    } else if (sa->sa_family == AF_INET6) {
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)sa)->sin6_addr, host, sizeof(host));
        snprintf(out, ADDRESS_TEXT_MAX, "[%s]:%u", host, address_port(sa));
    } else {
        snprintf(out, ADDRESS_TEXT_MAX, "unix");
    }
    return out;
}

uint16_t address_port(const struct sockaddr *sa)
{
    if (sa->sa_family == AF_INET)
        return ntohs(((const struct sockaddr_in *)sa)->sin_port);
    if (sa->sa_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)sa)->sin6_port);
    return 0;
}

bool address_is_loopback(const struct sockaddr *sa)
{
    const struct in6_addr *v6 = &((const struct sockaddr_in6 *)sa)->sin6_addr;

    if (sa->sa_family == AF_UNIX)
        return true;
    if (sa->sa_family == AF_INET)
        return (ntohl(((const struct sockaddr_in *)sa)->sin_addr.s_addr) >> 24) == 127;
    if (sa->sa_family != AF_INET6)
        return false;
    return IN6_IS_ADDR_LOOPBACK(v6) || (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == 127);
}

bool address_is_any(const struct sockaddr *sa)
{
    if (sa->sa_family == AF_INET)
        return ((const struct sockaddr_in *)sa)->sin_addr.s_addr == htonl(INADDR_ANY);
    return sa->sa_family == AF_INET6 &&
           IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)sa)->sin6_addr);
}

static int listen_failed(const struct address *address, int why, struct err *err)
{
    char text[ADDRESS_TEXT_MAX];

    address_format((const struct sockaddr *)&address->sa, text);
    if (why == EADDRINUSE)
        return err_set(err, ERR_CONFLICT,
                       "%s is already in use: another dormouse or another program listens there; "
                       "stop it, or choose another port with --listen %.*s:PORT (or server.listen "
                       "in config.yaml)",
                       text, (int)(strrchr(text, ':') - text), text);
    if (why == EACCES)
        return err_set(err, ERR_BAD_REQUEST,
                       "%s needs more rights than this user has; choose a port above 1023 with "
                       "--listen",
                       text);
    if (why == EADDRNOTAVAIL)
        return err_set(err, ERR_BAD_REQUEST,
                       "%s is not an address of this machine; choose another one with --listen",
                       text);
    return err_set(err, ERR_INTERNAL, "listen on %s: %s", text, strerror(why));
}

int address_listen(const struct address *address, int *ret_fd, struct err *err)
{
    const struct sockaddr *sa = (const struct sockaddr *)&address->sa;
    int fd = socket(sa->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

    if (fd < 0)
        return listen_failed(address, errno, err);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    /* Accepted sockets inherit it. */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (sa->sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    if (bind(fd, sa, address->n) < 0 || listen(fd, BACKLOG) < 0) {
        int why = errno;

        close(fd);
        return listen_failed(address, why, err);
    }
    *ret_fd = fd;
    return 0;
}

int address_listen_unix(const char *path, int *ret_fd, struct err *err)
{
    AUTO_UNIX_ADDRESS address = UNIX_ADDRESS_INIT;
    struct stat st;
    mode_t mask;
    int fd, r;

    if (unix_address_init(&address, path, err) < 0)
        return -1;
    if (lstat(path, &st) == 0) {
        if (!S_ISSOCK(st.st_mode))
            return err_set(err, ERR_CONFLICT, "%s is in the way: it is not a socket", path);
        unlink(path);
    }
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_set(err, ERR_INTERNAL, "socket for %s: %s", path, strerror(errno));
    mask = umask(0177);
    r = bind(fd, (const struct sockaddr *)&address.sa, sizeof(address.sa));
    umask(mask);
    if (r < 0 || listen(fd, BACKLOG) < 0) {
        err_set(err, ERR_INTERNAL, "listen on %s: %s", path, strerror(errno));
        close(fd);
        return -1;
    }
    *ret_fd = fd;
    return 0;
}

static int check_inherited(int fd, struct err *err)
{
    int type = 0, accepting = 0, flags = fcntl(fd, F_GETFL);
    socklen_t n = sizeof(int);

    if (flags < 0 || getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) < 0 || type != SOCK_STREAM ||
        getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepting, &n) < 0 || !accepting)
        return err_set(err, ERR_BAD_REQUEST,
                       "descriptor %d from the service manager is not a listening stream socket; "
                       "use ListenStream= without Accept=yes",
                       fd);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    return 0;
}

int address_inherited(int *fds, int max, struct err *err)
{
    const char *pid_text = getenv("LISTEN_PID"), *count_text = getenv("LISTEN_FDS");
    uint64_t pid, count;

    if (!pid_text || !count_text || str_to_u64(str_from(pid_text), &pid) < 0 ||
        pid != (uint64_t)getpid() || str_to_u64(str_from(count_text), &count) < 0)
        return 0;
    if (count > (uint64_t)max)
        return err_set(err, ERR_BAD_REQUEST,
                       "the service manager passed %s sockets, at most %d can be used", count_text,
                       max);
    for (int i = 0; i < (int)count; i++) {
        fds[i] = INHERITED_FIRST + i;
        if (check_inherited(fds[i], err) < 0)
            return -1;
    }
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    return (int)count;
}
