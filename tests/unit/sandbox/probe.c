/* What a shell can't try: single calls, tried from inside the sandbox. Prints "NAME: refused (why)"
 * and exits 1, or "NAME: succeeded" and exits 0.
 *
 * SPDX-License-Identifier: MIT
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define AF_VSOCK_ 40

static int try_ptrace(const char *arg)
{
    return (int)ptrace(PTRACE_ATTACH, atoi(arg), NULL, NULL);
}

static int try_mount(const char *arg)
{
    return mount("none", arg, "tmpfs", 0, NULL);
}

static int try_open_tree(const char *arg)
{
    return (int)syscall(SYS_open_tree, AT_FDCWD, arg, 1);
}

static int try_userns(const char *arg)
{
    (void)arg;
    return unshare(CLONE_NEWUSER);
}

static int try_clone_userns(const char *arg)
{
    long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);

    (void)arg;
    if (pid == 0)
        _exit(0);
    return pid < 0 ? -1 : 0;
}

static int try_clone3(const char *arg)
{
    uint64_t args[8] = { 0x10000000 /* CLONE_NEWUSER */ };
    long pid = syscall(SYS_clone3, args, sizeof(args));

    (void)arg;
    if (pid == 0)
        _exit(0);
    return pid < 0 ? -1 : 0;
}

/* A netlink of that number. */
static int try_netlink(const char *arg)
{
    return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, atoi(arg));
}

static int try_raw(const char *arg)
{
    (void)arg;
    return socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
}

static int try_packet(const char *arg)
{
    (void)arg;
    return socket(AF_PACKET, SOCK_RAW, htons(3));
}

static int try_vsock(const char *arg)
{
    (void)arg;
    return socket(AF_VSOCK_, SOCK_STREAM, 0);
}

/* A question to a name server, whose address is numeric: no resolver is in the way. */
static int try_dns(const char *arg)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(53) };
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    inet_pton(AF_INET, arg, &to.sin_addr);
    return fd < 0 ? -1 : (int)sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof(to));
}

static int try_tcp(const char *arg)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)atoi(arg)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    return fd < 0 ? -1 : connect(fd, (struct sockaddr *)&to, sizeof(to));
}

static int connect_unix(const char *name, size_t n, int abstract)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    if (fd < 0 || n >= sizeof(to.sun_path) - 1)
        return -1;
    memcpy(to.sun_path + abstract, name, n);
    return connect(fd, (struct sockaddr *)&to,
                   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)abstract + n));
}

static int try_unix(const char *arg)
{
    return connect_unix(arg, strlen(arg) + 1, 0);
}

static int try_abstract(const char *arg)
{
    return connect_unix(arg, strlen(arg), 1);
}

static int try_tiocsti(const char *arg)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY), terminal;

    (void)arg;
    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
        return -1;
    terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    return terminal < 0 ? -1 : ioctl(terminal, TIOCSTI, "x");
}

static int try_keyctl(const char *arg)
{
    (void)arg;
    return (int)syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0);
}

static int try_bpf(const char *arg)
{
    (void)arg;
    return (int)syscall(SYS_bpf, 0, NULL, 0);
}

static int try_userfaultfd(const char *arg)
{
    (void)arg;
    return (int)syscall(SYS_userfaultfd, 0);
}

static int try_perf(const char *arg)
{
    char attr[128] = { 0 };

    (void)arg;
    return (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, 0);
}

static int try_io_uring(const char *arg)
{
    char params[256] = { 0 };

    (void)arg;
    return (int)syscall(SYS_io_uring_setup, 4, params);
}

static int try_setuid_file(const char *arg)
{
    int fd = open(arg, O_CREAT | O_WRONLY, 0755);

    return fd < 0 ? -1 : fchmod(fd, 04755);
}

static int try_setuid_open(const char *arg)
{
    return open(arg, O_CREAT | O_WRONLY, 04755);
}

static int try_mknod(const char *arg)
{
    return mknod(arg, S_IFCHR | 0666, (dev_t)(1 << 8 | 1));
}

static int try_setuid(const char *arg)
{
    (void)arg;
    return setuid(0);
}

static int try_kill(const char *arg)
{
    return kill(atoi(arg), 0);
}

/* Takes memory until somebody says no. */
static int try_memory(const char *arg)
{
    size_t part = 8 << 20;

    (void)arg;
    for (;;) {
        char *bytes = mmap(NULL, part, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (bytes == MAP_FAILED)
            return -1;
        memset(bytes, 1, part);
    }
}

/* The same in several processes, each below the limit of one. */
static int try_memory_many(const char *arg)
{
    size_t each = (size_t)atoi(arg) << 20;

    for (int i = 0; i < 16; i++)
        if (fork() == 0) {
            char *bytes = mmap(NULL, each, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

            pause();
            _exit(bytes == MAP_FAILED);
        }
    while (wait(NULL) > 0)
        ;
    return 0;
}

static int try_forks(const char *arg)
{
    (void)arg;
    for (;;)
        if (fork() < 0 && errno != EAGAIN)
            return -1;
}

static int try_crash(const char *arg)
{
    (void)arg;
    abort();
    return 0;
}

static const struct {
    const char *name;
    int (*run)(const char *arg);
} probes[] = {
    { "ptrace", try_ptrace },
    { "mount", try_mount },
    { "open_tree", try_open_tree },
    { "userns", try_userns },
    { "clone_userns", try_clone_userns },
    { "clone3", try_clone3 },
    { "netlink", try_netlink },
    { "raw", try_raw },
    { "packet", try_packet },
    { "vsock", try_vsock },
    { "dns", try_dns },
    { "tcp", try_tcp },
    { "unix", try_unix },
    { "abstract", try_abstract },
    { "tiocsti", try_tiocsti },
    { "keyctl", try_keyctl },
    { "bpf", try_bpf },
    { "userfaultfd", try_userfaultfd },
    { "perf", try_perf },
    { "io_uring", try_io_uring },
    { "setuid_file", try_setuid_file },
    { "setuid_open", try_setuid_open },
    { "mknod", try_mknod },
    { "setuid", try_setuid },
    { "kill", try_kill },
    { "memory", try_memory },
    { "memory_many", try_memory_many },
    { "forks", try_forks },
    { "crash", try_crash },
};

int main(int argc, char **argv)
{
    const char *arg = argc > 2 ? argv[2] : "";

    for (size_t i = 0; argc > 1 && i < sizeof(probes) / sizeof(probes[0]); i++)
        if (strcmp(argv[1], probes[i].name) == 0) {
            int r = probes[i].run(arg), number = errno;

            if (r < 0)
                printf("%s: refused (%s)\n", argv[1], strerror(number));
            else
                printf("%s: succeeded\n", argv[1]);
            return r < 0;
        }
    printf("no such probe\n");
    return 2;
}
