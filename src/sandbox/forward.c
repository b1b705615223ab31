/* Pairs of descriptors and one poll().
 *
 * Each pair has a ring-less buffer a direction: it is filled when empty and emptied before it is
 * filled again, which is back-pressure. An end is passed on as shutdown() of the other side.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/forward.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

int forward_loopback_up(void)
{
    struct ifreq request = { .ifr_name = "lo" };
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int r = 0;

    if (fd < 0)
        return -errno;
    if (ioctl(fd, SIOCGIFFLAGS, &request) < 0) {
        r = -errno;
    } else if (!(request.ifr_flags & IFF_UP)) {
        request.ifr_flags |= IFF_UP | IFF_RUNNING;
        if (ioctl(fd, SIOCSIFFLAGS, &request) < 0)
            r = -errno;
    }
    close(fd);
    return r;
}

int forward_listen(uint16_t port, int *ret_fd, uint16_t *ret_port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1, r;

    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(fd, (struct sockaddr *)&address, size) < 0 || listen(fd, 128) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) < 0) {
        r = -errno;
        close(fd);
        return r;
    }
    *ret_fd = fd;
    *ret_port = ntohs(address.sin_port);
    return 0;
}

/* ---- pairs ---- */

/* From one side to the other. */
struct flow {
    size_t at, n; /* bytes that wait */
    bool ended;   /* nothing more comes */
    bool shut;    /* and the other side was told */
    char bytes[FORWARD_BYTES];
};

struct pair {
    int fd[2];           /* client, proxy; -1: free */
    struct flow flow[2]; /* from fd[i] */
};

static void pair_close(struct pair *pair)
{
    close(pair->fd[0]);
    close(pair->fd[1]);
    pair->fd[0] = pair->fd[1] = -1;
}

/* -1 when the connection is broken. */
static int fill(struct pair *pair, int i)
{
    struct flow *flow = &pair->flow[i];
    ssize_t n;

    if (flow->ended || flow->n > 0)
        return 0;
    n = recv(pair->fd[i], flow->bytes, sizeof(flow->bytes), MSG_DONTWAIT);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    flow->at = 0;
    flow->n = (size_t)n;
    flow->ended = n == 0;
    return 0;
}

static int empty(struct pair *pair, int i)
{
    struct flow *flow = &pair->flow[i];
    int to = pair->fd[1 - i];
    ssize_t n;

    if (flow->n > 0) {
        n = send(to, flow->bytes + flow->at, flow->n, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR ? 0 : -1;
        flow->at += (size_t)n;
        flow->n -= (size_t)n;
    }
    if (flow->ended && flow->n == 0 && !flow->shut) {
        flow->shut = true;
        shutdown(to, SHUT_WR);
    }
    return 0;
}

static void serve(struct pair *pair, const struct pollfd *polls)
{
    for (int i = 0; i < 2; i++)
        if ((polls[i].revents && fill(pair, i) < 0) || empty(pair, i) < 0) {
            pair_close(pair);
            return;
        }
    if (pair->flow[0].shut && pair->flow[1].shut)
        pair_close(pair);
}

static short wanted(const struct pair *pair, int i)
{
    short events = 0;

    if (!pair->flow[i].ended && pair->flow[i].n == 0)
        events |= POLLIN;
    if (pair->flow[1 - i].n > 0)
        events |= POLLOUT;
    return events;
}

static int connect_to(const char *path)
{
    static const struct timeval patience = { .tv_sec = 5 };
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* A client without a proxy behind it is closed at once: it learns that there is no way out. */
static void take(struct pair *pair, int client, const char *path)
{
    int one = 1;

    pair->fd[0] = client;
    pair->fd[1] = connect_to(path);
    if (pair->fd[1] < 0) {
        close(client);
        pair->fd[0] = -1;
        return;
    }
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    for (int i = 0; i < 2; i++) {
        pair->flow[i].at = pair->flow[i].n = 0;
        pair->flow[i].ended = pair->flow[i].shut = false;
    }
}

/* 0, or a negative errno when the listener is broken. */
static int accept_some(int listen_fd, struct pair *pairs, const char *path)
{
    for (int i = 0; i < FORWARD_PAIRS_MAX; i++) {
        int client;

        if (pairs[i].fd[0] >= 0)
            continue;
        client = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
        if (client >= 0)
            take(&pairs[i], client, path);
        else if (errno == EBADF || errno == EINVAL || errno == ENOTSOCK)
            return -errno;
        else
            return 0;
    }
    return 0;
}

static int prepare(struct pollfd *polls, const struct pair *pairs, int listen_fd, int stop_fd)
{
    bool room = false;

    for (int i = 0; i < FORWARD_PAIRS_MAX; i++) {
        bool used = pairs[i].fd[0] >= 0;

        room = room || !used;
        for (int k = 0; k < 2; k++) {
            short events = used ? wanted(&pairs[i], k) : 0;

            /* A side that nothing is wanted of is left out, or its hang-up would spin. */
            polls[2 + 2 * i + k] =
                (struct pollfd){ .fd = events ? pairs[i].fd[k] : -1, .events = events };
        }
    }
    polls[0] = (struct pollfd){ .fd = stop_fd, .events = POLLIN };
    polls[1] = (struct pollfd){ .fd = room ? listen_fd : -1, .events = POLLIN };
    return 2 + 2 * FORWARD_PAIRS_MAX;
}

static int run(int listen_fd, const char *path, int stop_fd, struct pair *pairs)
{
    struct pollfd polls[2 + 2 * FORWARD_PAIRS_MAX];

    for (;;) {
        int n = prepare(polls, pairs, listen_fd, stop_fd), r;

        if (poll(polls, (nfds_t)n, -1) < 0) {
            if (errno == EINTR)
                continue;
            return -errno;
        }
        if (polls[0].revents)
            return 0;
        for (int i = 0; i < FORWARD_PAIRS_MAX; i++)
            if (pairs[i].fd[0] >= 0)
                serve(&pairs[i], &polls[2 + 2 * i]);
        r = polls[1].revents & POLLNVAL ? -EBADF
            : polls[1].revents          ? accept_some(listen_fd, pairs, path)
                                        : 0;
        if (r < 0)
            return r;
    }
}

int forward_run(int listen_fd, const char *path, int stop_fd)
{
    size_t size = FORWARD_PAIRS_MAX * sizeof(struct pair);
    struct pair *pairs;
    int r;

    if (strlen(path) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
        return -ENAMETOOLONG;
    /* Pages of pairs that are never used are never there. */
    pairs = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pairs == MAP_FAILED)
        return -errno;
    for (int i = 0; i < FORWARD_PAIRS_MAX; i++)
        pairs[i].fd[0] = pairs[i].fd[1] = -1;
    r = run(listen_fd, path, stop_fd, pairs);
    for (int i = 0; i < FORWARD_PAIRS_MAX; i++)
        if (pairs[i].fd[0] >= 0)
            pair_close(&pairs[i]);
    munmap(pairs, size);
    return r;
}

/* ---- the environment of commands ---- */

static bool names_this_machine(const char *const *allow_domains)
{
    for (size_t i = 0; allow_domains && allow_domains[i]; i++)
        if (strncmp(allow_domains[i], "127.", 4) == 0 ||
            strncmp(allow_domains[i], "[::1]", 5) == 0 ||
            strncmp(allow_domains[i], "localhost", 9) == 0)
            return true;
    return false;
}

void forward_env(uint16_t port, const char *const *allow_domains, struct forward_env *ret_env)
{
    static const char *const names[] = { "http_proxy", "https_proxy", "all_proxy",
                                         "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY" };
    static const char *const direct[] = { "no_proxy", "NO_PROXY" };
    size_t n = 0;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        snprintf(ret_env->text[n++], sizeof(ret_env->text[0]), "%s=http://127.0.0.1:%u", names[i],
                 port);
    for (size_t i = 0; i < 2; i++)
        snprintf(ret_env->text[n++], sizeof(ret_env->text[0]), "%s=%s", direct[i],
                 names_this_machine(allow_domains) ? "" : "localhost,127.0.0.1,::1");
    for (size_t i = 0; i < n; i++)
        ret_env->list[i] = ret_env->text[i];
    ret_env->list[n] = NULL;
}
