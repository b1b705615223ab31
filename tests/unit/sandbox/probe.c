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
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/shm.h>
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

/* Datagrams need no connection. */
static int send_datagram(int fd, const char *name)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };

    snprintf(to.sun_path, sizeof(to.sun_path), "%s", name);
    return fd < 0 ? -1 : (int)sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof(to));
}

static int try_unix_datagram(const char *arg)
{
    return send_datagram(socket(AF_UNIX, SOCK_DGRAM, 0), arg);
}

static int try_unix_datagram_pair(const char *arg)
{
    int ends[2];

    return socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) < 0 ? -1 : send_datagram(ends[0], arg);
}

#define FLIPS 1500

static volatile struct sockaddr_un flipped = { .sun_family = AF_UNIX };
static const char *flip_to;

static void flip_name(const char *name)
{
    for (size_t i = 0; i <= strlen(name); i++)
        flipped.sun_path[i] = name[i];
}

static void *flip(void *arg)
{
    (void)arg;
    for (;;) {
        flip_name("o");
        flip_name(flip_to);
    }
    return NULL;
}

/* Between a listener of its own ("o") and that of somebody else. */
static int try_unix_flip(const char *arg)
{
    struct sockaddr_un own = { .sun_family = AF_UNIX, .sun_path = "o" };
    int server = socket(AF_UNIX, SOCK_STREAM, 0), came = 0;
    pthread_t thread;

    flip_to = arg;
    if (bind(server, (struct sockaddr *)&own, sizeof(own)) < 0 || listen(server, 64) < 0 ||
        fcntl(server, F_SETFL, O_NONBLOCK) < 0 || pthread_create(&thread, NULL, flip, NULL) != 0)
        return -1;
    for (int i = 0; i < FLIPS; i++) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0), client;

        if (connect(fd, (struct sockaddr *)&flipped, sizeof(flipped)) == 0)
            came++;
        close(fd);
        while ((client = accept(server, NULL, NULL)) >= 0)
            close(client);
    }
    return came > 0 ? 0 : -1;
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

/* ---- memory that is nobody's ---- */

#define HOARD     (320u << 20) /* five times the limit that tests set */
#define PART      (4u << 20)
#define HOLD_SECS 15

/* Still here: whoever should have noticed did not. */
static int hoard_hold(void)
{
    sleep(HOLD_SECS);
    return 0;
}

/* Filled, and then no longer in anybody's page tables. */
static int hoard_shared(void)
{
    for (unsigned bytes = 0; bytes < HOARD; bytes += PART) {
        char *part = mmap(NULL, PART, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

        if (part == MAP_FAILED)
            return -1;
        memset(part, 1, PART);
        madvise(part, PART, MADV_DONTNEED);
    }
    return hoard_hold();
}

/* As much, bit by bit, and kept. */
static int hoard_shared_slowly(void)
{
    for (unsigned bytes = 0; bytes < HOARD; bytes += PART) {
        char *part = mmap(NULL, PART, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

        if (part == MAP_FAILED)
            return -1;
        memset(part, 1, PART);
        usleep(100000);
    }
    return hoard_hold();
}

/* Small enough, and seen by many: counted once. */
static int hoard_shared_once(void)
{
    char *part = mmap(NULL, 8 * PART, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    memset(part, 1, 8 * PART);
    for (int i = 0; i < 12; i++)
        if (fork() == 0) {
            memset(part, i, 8 * PART);
            usleep(300000);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    return 0;
}

static int hoard_memfd(void)
{
    for (unsigned bytes = 0; bytes < HOARD; bytes += PART) {
        int fd = (int)syscall(SYS_memfd_create, "hoard", 0);
        char *part;

        if (fd < 0 || ftruncate(fd, PART) < 0)
            return -1;
        part = mmap(NULL, PART, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        memset(part, 1, PART);
        munmap(part, PART);
    }
    return hoard_hold();
}

static int hoard_segments(void)
{
    for (unsigned bytes = 0; bytes < HOARD; bytes += PART) {
        int id = shmget(IPC_PRIVATE, PART, IPC_CREAT | 0600);
        char *part = id < 0 ? (char *)-1 : shmat(id, NULL, 0);

        if (part == (char *)-1)
            return -1;
        memset(part, 1, PART);
        shmdt(part);
    }
    return hoard_hold();
}

static int hoard_semaphores(void)
{
    for (unsigned bytes = 0; bytes < HOARD; bytes += PART)
        if (semget(IPC_PRIVATE, 32000, IPC_CREAT | 0600) < 0)
            return -1;
    return hoard_hold();
}

static int hoard_messages(void)
{
    static struct {
        long type;
        char text[8000];
    } message = { .type = 1 };

    for (unsigned bytes = 0; bytes < HOARD;) {
        int id = msgget(IPC_PRIVATE, IPC_CREAT | 0600);

        if (id < 0)
            return -1;
        while (msgsnd(id, &message, sizeof(message.text), IPC_NOWAIT) == 0)
            bytes += sizeof(message.text);
    }
    return hoard_hold();
}

/* Without a byte in them. */
static int hoard_inodes(void)
{
    char name[64];

    for (unsigned i = 0; i < HOARD / 1024; i++) {
        int fd;

        snprintf(name, sizeof(name), "/tmp/hoard-%u", i);
        fd = open(name, O_CREAT | O_WRONLY, 0600);
        if (fd < 0)
            return -1;
        close(fd);
    }
    return hoard_hold();
}

/* Makes full pipes, or full sockets whose sender is gone; keeps one descriptor of each. */
static unsigned hoard_buffers(bool sockets)
{
    static char block[4096];
    unsigned bytes = 0;
    int ends[2];

    while (bytes < HOARD &&
           (sockets ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends)) == 0) {
        ssize_t n;

        fcntl(ends[1], F_SETFL, O_NONBLOCK);
        while ((n = write(ends[1], block, sizeof(block))) > 0)
            bytes += (unsigned)n;
        close(ends[1]);
    }
    return bytes;
}

/* In several processes, because each can open only so many. */
static int hoard_in_processes(bool sockets)
{
    for (int i = 0; i < 4; i++)
        if (fork() == 0) {
            hoard_buffers(sockets);
            _exit(hoard_hold());
        }
    while (wait(NULL) > 0)
        ;
    return 0;
}

static int hoard_pipes(void)
{
    return hoard_in_processes(false);
}

static int hoard_sockets(void)
{
    return hoard_in_processes(true);
}

static void *hoard_own(void *arg)
{
    char *part = mmap(NULL, HOARD / 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)arg;
    memset(part, 1, HOARD / 10);
    hoard_hold();
    _exit(0);
}

/* Its first thread ends, and the process looks dead. */
static int hoard_headless(void)
{
    for (int i = 0; i < 4; i++)
        if (fork() == 0) {
            pthread_t thread;

            pthread_create(&thread, NULL, hoard_own, NULL);
            pthread_exit(NULL);
        }
    while (wait(NULL) > 0)
        ;
    return 0;
}

static int try_hoard(const char *arg)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } kinds[] = {
        { "shared", hoard_shared },
        { "shared_once", hoard_shared_once },
        { "shared_slowly", hoard_shared_slowly },
        { "memfd", hoard_memfd },
        { "segments", hoard_segments },
        { "messages", hoard_messages },
        { "semaphores", hoard_semaphores },
        { "inodes", hoard_inodes },
        { "pipes", hoard_pipes },
        { "sockets", hoard_sockets },
        { "headless", hoard_headless },
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(arg, kinds[i].name) == 0)
            return kinds[i].run();
    return -1;
}

/* ---- disk ---- */

/* Files without a name, as many MiB as arg says: open, mapped, or on their way through a socket. */
static int try_unnamed(const char *arg, int how)
{
    static char block[1 << 20];
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
        return -1;
    memset(block, 'x', sizeof(block));
    for (int i = 0; i < atoi(arg) / 4; i++) {
        char control[CMSG_SPACE(sizeof(int))] = "";
        struct iovec part = { .iov_base = block, .iov_len = 1 };
        struct msghdr message = { .msg_iov = &part,
                                  .msg_iovlen = 1,
                                  .msg_control = control,
                                  .msg_controllen = sizeof(control) };
        int fd;

        unlink("unnamed"); /* of one that was ended in between */
        fd = open("unnamed", O_CREAT | O_RDWR | O_EXCL, 0600);

        if (fd < 0)
            return -1;
        unlink("unnamed");
        for (int k = 0; k < 4; k++)
            if (write(fd, block, sizeof(block)) < 0)
                return -1;
        if (how == 1)
            mmap(NULL, 4u << 20, PROT_READ, MAP_SHARED, fd, 0);
        if (how == 2) {
            struct cmsghdr *c = CMSG_FIRSTHDR(&message);

            *c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
                                   .cmsg_type = SCM_RIGHTS,
                                   .cmsg_len = CMSG_LEN(sizeof(int)) };
            memcpy(CMSG_DATA(c), &fd, sizeof(fd));
            if (sendmsg(ends[0], &message, MSG_DONTWAIT) < 0)
                return -1;
        }
        if (how != 0)
            close(fd);
    }
    return hoard_hold();
}

static int try_unnamed_open(const char *arg)
{
    return try_unnamed(arg, 0);
}

static int try_unnamed_mapped(const char *arg)
{
    return try_unnamed(arg, 1);
}

static int try_unnamed_in_flight(const char *arg)
{
    return try_unnamed(arg, 2);
}

/* Changes the path while the kernel asks about it, until the name exists. */
static char raced[64];

static void *race_flip(void *arg)
{
    const char *name = arg;

    for (;;) {
        memcpy(raced, "plain", 6);
        memcpy(raced, name, strlen(name) + 1);
    }
    return NULL;
}

static int try_race(const char *arg)
{
    pthread_t thread;

    pthread_create(&thread, NULL, race_flip, (void *)arg);
    for (int i = 0; i < 100000 && access(arg, F_OK) < 0; i++) {
        mkdir(raced, 0700);
        rmdir("plain");
    }
    return access(arg, F_OK);
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
    { "unix_datagram", try_unix_datagram },
    { "unix_datagram_pair", try_unix_datagram_pair },
    { "unix_flip", try_unix_flip },
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
    { "hoard", try_hoard },
    { "unnamed_open", try_unnamed_open },
    { "unnamed_mapped", try_unnamed_mapped },
    { "unnamed_in_flight", try_unnamed_in_flight },
    { "race", try_race },
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
