/* connect() on behalf of commands, so that sockets in the file system lead to nobody outside.
 *
 * A named Unix socket is no file to Landlock and no network to the namespace: whoever may write to
 * its inode reaches the program that listens, wherever that runs. The filter can't see where a
 * connect() goes either. So the kernel asks us, and we do it ourselves: the socket is taken from
 * the caller, the address is read once, the name is resolved to a descriptor, and only a listener
 * of our own network namespace (or one that is listed) is connected to, through that descriptor.
 * Nothing that the caller changes meanwhile is looked at again. Everything else that is connected
 * (loopback, abstract sockets) stays within the namespace and is done as it was asked for.
 *
 * Datagrams on Unix sockets could be sent to a name without connect(); the filter refuses such
 * sockets altogether.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/seccomp.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "sandbox/inside_int.h"

#define CONNECTS_MAX 64 /* under way at once */
#define LISTENING    10 /* the kernel's number of that state */
#define DIAG_BYTES   32768

/* ---- listeners of our own ---- */

static int connect_diag_ask(void)
{
    struct {
        struct nlmsghdr head;
        struct unix_diag_req ask;
    } request = {
        .head = { .nlmsg_len = sizeof(request),
                  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                  .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
        .ask = { .sdiag_family = AF_UNIX,
                 .udiag_states = 1u << LISTENING,
                 .udiag_show = UDIAG_SHOW_VFS },
    };
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

    if (fd >= 0 && send(fd, &request, sizeof(request), 0) == (ssize_t)sizeof(request))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool connect_diag_is(struct nlmsghdr *message, const struct stat *st)
{
    struct unix_diag_msg *head = NLMSG_DATA(message);
    int left = (int)(message->nlmsg_len - NLMSG_LENGTH(sizeof(*head)));
    struct unix_diag_vfs vfs;

    for (struct rtattr *at = (struct rtattr *)(head + 1); RTA_OK(at, left);
         at = RTA_NEXT(at, left)) {
        if (at->rta_type != UNIX_DIAG_VFS || RTA_PAYLOAD(at) < sizeof(vfs))
            continue;
        memcpy(&vfs, RTA_DATA(at), sizeof(vfs));
        /* The kernel's own way of writing a device down. */
        if (vfs.udiag_vfs_ino == st->st_ino && vfs.udiag_vfs_dev >> 20 == major(st->st_dev) &&
            (vfs.udiag_vfs_dev & 0xfffff) == minor(st->st_dev))
            return true;
    }
    return false;
}

/* Whether somebody in our network namespace listens at this inode. */
static bool connect_is_ours(const struct stat *st)
{
    _Alignas(struct nlmsghdr) char bytes[DIAG_BYTES];
    AUTO_FD fd = connect_diag_ask();
    ssize_t n;

    while (fd >= 0 && (n = recv(fd, bytes, sizeof(bytes), 0)) > 0)
        for (struct nlmsghdr *at = (struct nlmsghdr *)bytes; NLMSG_OK(at, (size_t)n);
             at = NLMSG_NEXT(at, n)) {
            if (at->nlmsg_type == NLMSG_DONE || at->nlmsg_type == NLMSG_ERROR)
                return false;
            if (at->nlmsg_type == SOCK_DIAG_BY_FAMILY && connect_diag_is(at, st))
                return true;
        }
    return false;
}

/* ---- listeners outside that are listed ---- */

static struct connect_listed {
    int fd; /* held, so that no other file gets its number */
    dev_t dev;
    ino_t ino;
} * connect_listed;
static size_t connect_listed_count;

int inside_connect_init(const struct inside_setup *setup, struct err *err)
{
    connect_listed = NEW_N(struct connect_listed, setup->view_count + 1);
    for (size_t i = 0; i < setup->view_count; i++)
        for (size_t k = 0; setup->sockets[k]; k++) {
            const struct place_view *view = &setup->views[i];
            struct connect_listed *listed = &connect_listed[connect_listed_count];

            if (view->covered || strcmp(view->path, setup->sockets[k]) != 0)
                continue;
            *listed = (struct connect_listed){ .dev = view->dev, .ino = view->ino };
            if (place_open_checked(view, &listed->fd, err) < 0)
                return -1;
            connect_listed_count++;
            break;
        }
    return 0;
}

static bool connect_is_listed(const struct stat *st)
{
    for (size_t i = 0; i < connect_listed_count; i++)
        if (connect_listed[i].dev == st->st_dev && connect_listed[i].ino == st->st_ino)
            return true;
    return false;
}

/* ---- whether it can be done ---- */

bool inside_connect_works(void)
{
    AUTO_FD process = -1;
    AUTO_FD taken = -1;
    pid_t pid = fork();

    if (pid == 0) {
        pause();
        _exit(0);
    }
    process = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    taken = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, STDERR_FILENO, 0);
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    return taken >= 0;
}

/* ---- one call ---- */

struct connect_call {
    int listener;
    struct seccomp_notif ask;
};

static atomic_uint connects;

static pid_t connect_process(pid_t thread)
{
    char path[64], line[128];
    long pid = -1;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)thread);
    file = fopen(path, "re");
    while (file && pid < 0 && fgets(line, sizeof(line), file))
        if (strncmp(line, "Tgid:", 5) == 0)
            pid = strtol(line + 5, NULL, 10);
    if (file)
        fclose(file);
    return (pid_t)pid;
}

static int connect_take_socket(const struct connect_call *call)
{
    pid_t pid = connect_process((pid_t)call->ask.pid);
    AUTO_FD process = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;

    return process < 0 ? -1
                       : (int)syscall(SYS_pidfd_getfd, process, (int)call->ask.data.args[0], 0);
}

static int connect_read_address(const struct connect_call *call, struct sockaddr_storage *address,
                                socklen_t size)
{
    struct iovec to = { address, size };
    struct iovec from = { (void *)(uintptr_t)call->ask.data.args[1], size };

    if (syscall(SYS_process_vm_readv, (pid_t)call->ask.pid, &to, 1, &from, 1, 0) == (ssize_t)size)
        return 0;
    errno = EFAULT;
    return -1;
}

/* Opens the socket's file as the caller names it. */
static int connect_open_name(const struct connect_call *call, const char *name)
{
    char cwd[64];
    AUTO_FD dir = -1;

    snprintf(cwd, sizeof(cwd), "/proc/%d/cwd", (int)call->ask.pid);
    dir = open(cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return openat(dir < 0 && name[0] == '/' ? AT_FDCWD : dir, name, O_PATH | O_CLOEXEC);
}

/* A name becomes the descriptor of what it leads to, which *ret_fd keeps. */
static int connect_resolve(const struct connect_call *call, struct sockaddr_un *address,
                           socklen_t *size, int *ret_fd)
{
    char name[sizeof(address->sun_path) + 1] = "";
    struct stat st;
    int fd;

    memcpy(name, address->sun_path, *size - offsetof(struct sockaddr_un, sun_path));
    fd = connect_open_name(call, name);
    *ret_fd = fd;
    if (fd < 0 || fstat(fd, &st) < 0)
        return -1;
    if (!S_ISSOCK(st.st_mode) || !(connect_is_listed(&st) || connect_is_ours(&st))) {
        errno = S_ISSOCK(st.st_mode) ? EACCES : ECONNREFUSED;
        return -1;
    }
    *size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                        (size_t)snprintf(address->sun_path, sizeof(address->sun_path),
                                         "/proc/self/fd/%d", fd));
    return 0;
}

static bool connect_is_named(const struct sockaddr_storage *address, socklen_t size)
{
    const struct sockaddr_un *un = (const struct sockaddr_un *)address;

    return size > offsetof(struct sockaddr_un, sun_path) && size <= sizeof(*un) &&
           un->sun_family == AF_UNIX && un->sun_path[0] != '\0';
}

/* 0, or -1 with errno, as connect() has it. */
static int connect_do(const struct connect_call *call)
{
    AUTO_FD sock = connect_take_socket(call);
    AUTO_FD name = -1;
    struct sockaddr_storage address;
    socklen_t size = (socklen_t)call->ask.data.args[2];
    uint64_t id = call->ask.id;

    memset(&address, 0, sizeof(address));
    if (sock < 0)
        return -1;
    if (size > sizeof(address)) {
        errno = EINVAL;
        return -1;
    }
    if (connect_read_address(call, &address, size) < 0)
        return -1;
    if (connect_is_named(&address, size) &&
        connect_resolve(call, (struct sockaddr_un *)&address, &size, &name) < 0) {
        if (errno == EACCES)
            inside_notice("socket", "connection to %.100s refused",
                          ((struct sockaddr_un *)&address)->sun_path);
        return -1;
    }
    /* Was all that the caller's, and not of somebody who got its number? */
    if (ioctl(call->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) < 0)
        return -1;
    return connect(sock, (struct sockaddr *)&address, size);
}

static void connect_reply(const struct connect_call *call, int error)
{
    struct seccomp_notif_resp reply;

    memset(&reply, 0, sizeof(reply));
    reply.id = call->ask.id;
    reply.error = -error;
    ioctl(call->listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

static void *connect_run(void *arg)
{
    struct connect_call *call = arg;

    connect_reply(call, connect_do(call) < 0 ? errno : 0);
    free(call);
    connects--;
    return NULL;
}

void inside_connect(int listener, const struct seccomp_notif *ask)
{
    struct connect_call *call = NEW(struct connect_call);
    pthread_attr_t attr;
    pthread_t thread;
    bool room = ++connects <= CONNECTS_MAX;

    *call = (struct connect_call){ .listener = listener, .ask = *ask };
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, 256 << 10);
    if (!room || pthread_create(&thread, &attr, connect_run, call) != 0) {
        connect_reply(call, EAGAIN);
        free(call);
        connects--;
    }
    pthread_attr_destroy(&attr);
}
