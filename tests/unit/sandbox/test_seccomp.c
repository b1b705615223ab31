/* The seccomp filter, call by call: a thread installs it and makes every call that it is about; the
 * other one is told of what was refused.
 *
 * The lists here are written out again on purpose: an entry that is missing in the filter must
 * fail.
 *
 * SPDX-License-Identifier: MIT
 */
#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "harness/test.h"
#include "sandbox/inside_int.h"

/* What becomes of a call: one of these, or an error (-EPERM), in silence. */
enum {
    PRETENDED = 0, /* nothing is done, and the program is told that it was */
    TOLD = 1,      /* the hand is asked; here it says EPERM */
    LET = 2,       /* not the filter's business; what the kernel says of it does not matter */
};

struct attempt {
    long nr;
    const char *name;
    int outcome;
    long args[4]; /* of those that are looked at; -1 does no harm where the filter is asleep */
};
#define ANY                                                                                        \
    {                                                                                              \
        -1, -1, -1, -1                                                                             \
    }
#define REFUSED(name_)                                                                             \
    {                                                                                              \
        SYS_##name_, #name_, TOLD, ANY                                                             \
    }

static const struct attempt by_number[] = {
    REFUSED(mount),
    REFUSED(umount2),
    REFUSED(pivot_root),
    REFUSED(chroot),
    REFUSED(fsopen),
    REFUSED(fsconfig),
    REFUSED(fsmount),
    REFUSED(fspick),
    REFUSED(move_mount),
    REFUSED(open_tree),
    REFUSED(mount_setattr),
    REFUSED(swapon),
    REFUSED(swapoff),
    REFUSED(quotactl),
    REFUSED(open_by_handle_at),
    REFUSED(name_to_handle_at),
    REFUSED(fanotify_init),
    REFUSED(ptrace),
    REFUSED(process_vm_readv),
    REFUSED(process_vm_writev),
    REFUSED(process_madvise),
    REFUSED(pidfd_getfd),
    REFUSED(kcmp),
    REFUSED(unshare),
    REFUSED(setns),
    REFUSED(bpf),
    REFUSED(perf_event_open),
    REFUSED(userfaultfd),
    REFUSED(kexec_load),
    REFUSED(init_module),
    REFUSED(finit_module),
    REFUSED(delete_module),
    REFUSED(syslog),
    REFUSED(reboot),
    REFUSED(acct),
    REFUSED(lookup_dcookie),
    REFUSED(nfsservctl),
    REFUSED(vhangup),
    REFUSED(add_key),
    REFUSED(request_key),
    REFUSED(keyctl),
    REFUSED(settimeofday),
    REFUSED(clock_settime),
    REFUSED(clock_adjtime),
    REFUSED(adjtimex),
    REFUSED(sethostname),
    REFUSED(setdomainname),
#ifdef SYS_iopl
    REFUSED(iopl),
    REFUSED(ioperm),
    REFUSED(modify_ldt),
#endif
    REFUSED(kexec_file_load),
    REFUSED(quotactl_fd),
    REFUSED(mkdirat),
    REFUSED(mknodat),
    REFUSED(symlinkat),
    REFUSED(linkat),
    REFUSED(renameat2),
#ifdef SYS_renameat
    REFUSED(renameat),
#endif
#ifdef SYS_mkdir
    REFUSED(mkdir),
    REFUSED(mknod),
    REFUSED(symlink),
    REFUSED(link),
    REFUSED(rename),
    REFUSED(creat),
#endif
    { SYS_connect, "a call", TOLD, ANY }, /* which the hand makes itself */
    { SYS_io_uring_setup, "io_uring_setup", -EPERM, ANY },
    { SYS_io_uring_enter, "io_uring_enter", -EPERM, ANY },
    { SYS_io_uring_register, "io_uring_register", -EPERM, ANY },
    { SYS_memfd_create, "memfd_create", -ENOSYS, ANY },
    { SYS_vmsplice, "vmsplice", -ENOSYS, ANY },
    { SYS_clone3, "clone3", -ENOSYS, ANY },
    { SYS_openat2, "openat2", -ENOSYS, ANY },
#ifdef __x86_64__
    { 0x40000000 + SYS_getpid, "getpid of x32", -ENOSYS, ANY },
#endif
    { SYS_getpid, "getpid", LET, ANY },
};

/* Of no file: what is let through must find nothing to change. */
#define WITH_MODE(name_, outcome_, ...)                                                            \
    {                                                                                              \
        SYS_##name_, #name_, outcome_,                                                             \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define MODES(name_, ...)                                                                          \
    WITH_MODE(name_, TOLD, __VA_ARGS__, 04755), WITH_MODE(name_, TOLD, __VA_ARGS__, 02755),        \
        WITH_MODE(name_, LET, __VA_ARGS__, 01755)
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452 /* newer than the headers */
#endif

static const struct attempt by_argument[] = {
    { SYS_clone, "clone", TOLD, { CLONE_NEWNS | SIGCHLD } },
    { SYS_clone, "clone", TOLD, { CLONE_NEWUTS | SIGCHLD } },
    { SYS_clone, "clone", TOLD, { CLONE_NEWIPC | SIGCHLD } },
    { SYS_clone, "clone", TOLD, { CLONE_NEWUSER | SIGCHLD } },
    { SYS_clone, "clone", TOLD, { CLONE_NEWPID | SIGCHLD } },
    { SYS_clone, "clone", TOLD, { CLONE_NEWNET | SIGCHLD } },
    { SYS_clone, "clone", TOLD, { CLONE_NEWCGROUP | SIGCHLD } },
    { SYS_clone, "clone", LET, { CLONE_SIGHAND } }, /* the kernel wants CLONE_VM with it */
    { SYS_socket, "socket", LET, { AF_UNIX, SOCK_STREAM } },
    { SYS_socket, "socket", LET, { AF_INET, SOCK_STREAM } },
    { SYS_socket, "socket", LET, { AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC } },
    { SYS_socket, "socket", LET, { AF_NETLINK, SOCK_RAW, NETLINK_ROUTE } },
    { SYS_socket, "socket", TOLD, { AF_NETLINK, SOCK_RAW, NETLINK_AUDIT } },
    { SYS_socket, "socket", TOLD, { AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT } },
    { SYS_socket, "socket", TOLD, { AF_INET, SOCK_RAW, 1 } },
    { SYS_socket, "socket", TOLD, { AF_INET, SOCK_RAW | SOCK_CLOEXEC, 1 } },
    { SYS_socket, "socket", TOLD, { AF_INET6, SOCK_RAW, 1 } },
    { SYS_socket, "socket", TOLD, { AF_INET, SOCK_PACKET, 3 } },
    { SYS_socket, "socket", TOLD, { AF_PACKET, SOCK_DGRAM } },
    { SYS_socket, "socket", TOLD, { AF_VSOCK, SOCK_STREAM } },
    { SYS_socket, "socket", TOLD, { AF_ALG, SOCK_SEQPACKET } },
    { SYS_socket, "socket", TOLD, { AF_BLUETOOTH, SOCK_STREAM } },
    { SYS_socketpair, "socketpair", TOLD, { AF_VSOCK, SOCK_STREAM } },
    { SYS_socketpair, "socketpair", LET, { AF_UNIX, SOCK_STREAM } },
    { SYS_socket, "socket", -EPERM, { AF_UNIX, SOCK_DGRAM } },
    { SYS_socket, "socket", -EPERM, { AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC } },
    { SYS_ioctl, "ioctl", TOLD, { -1, TIOCSTI } },
    { SYS_ioctl, "ioctl", TOLD, { -1, TIOCLINUX } },
    { SYS_ioctl, "ioctl", LET, { -1, TIOCGWINSZ } },
    { SYS_personality, "personality", LET, { 0xffffffff } },
    { SYS_personality, "personality", LET, { PER_LINUX } },
    { SYS_personality, "personality", LET, { ADDR_NO_RANDOMIZE } },
    { SYS_personality, "personality", TOLD, { READ_IMPLIES_EXEC } },
    { SYS_personality, "personality", TOLD, { PER_LINUX32 } },
    MODES(fchmod, -1),
    MODES(fchmodat, -1, 0),
    MODES(fchmodat2, -1, 0),
    { SYS_openat, "openat", TOLD, { -1, 0, O_CREAT, 0755 } },
    { SYS_openat, "openat", TOLD, { -1, 0, O_TMPFILE, 0755 } },
    { SYS_openat, "openat", LET, { -1, 0, O_RDONLY, 04755 } },
    { SYS_openat, "openat", LET, { -1, 0, O_DIRECTORY, 04755 } },
    { SYS_mmap,
      "mmap",
      -ENOMEM,
      { 0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB } },
    { SYS_mmap, "mmap", LET, { 0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS } },
    { SYS_shmget, "shmget", -ENOMEM, { IPC_PRIVATE, 1, SHM_HUGETLB } },
    { SYS_shmget, "shmget", LET, { IPC_PRIVATE, 0, 0 } },
    { SYS_fcntl, "fcntl", -EPERM, { -1, F_SETPIPE_SZ } },
    { SYS_fcntl, "fcntl", LET, { -1, F_GETFD } },
    { SYS_setsockopt, "setsockopt", PRETENDED, { -1, SOL_SOCKET, SO_SNDBUF } },
    { SYS_setsockopt, "setsockopt", PRETENDED, { -1, SOL_SOCKET, SO_RCVBUF } },
    { SYS_setsockopt, "setsockopt", PRETENDED, { -1, SOL_SOCKET, SO_SNDBUFFORCE } },
    { SYS_setsockopt, "setsockopt", PRETENDED, { -1, SOL_SOCKET, SO_RCVBUFFORCE } },
    { SYS_setsockopt, "setsockopt", -EBADF, { -1, SOL_SOCKET, SO_REUSEADDR } },
    { SYS_setsockopt, "setsockopt", -EBADF, { -1, IPPROTO_TCP, SO_SNDBUF } },
    { SYS_prctl, "prctl", PRETENDED, { PR_SET_DUMPABLE, 0 } },
    { SYS_prctl, "prctl", LET, { PR_GET_DUMPABLE } },
#ifdef SYS_chmod
    MODES(chmod, 0),
    { SYS_open, "open", TOLD, { 0, O_CREAT, 0755 } },
    { SYS_open, "open", TOLD, { 0, O_TMPFILE, 0755 } },
    { SYS_open, "open", LET, { 0, O_RDONLY, 04755 } },
#endif
};

/* ---- one thread tries ---- */

struct trial {
    const struct attempt *attempts;
    size_t n;
    atomic_int listener; /* 0: not yet; -1: it could not be installed */
    atomic_size_t at;
    int told;  /* the number that the listener named last, -1: none */
    int wrong; /* attempts that went otherwise */
};

static void trial_judge(struct trial *trial, const struct attempt *attempt, long r, int number)
{
    bool told = trial->told == attempt->nr;
    bool good = attempt->outcome == TOLD  ? told && r < 0 && number == EPERM
                : attempt->outcome == LET ? !told
                                          : !told && (r < 0 ? -number : 0) == attempt->outcome;

    if (good && attempt->outcome == TOLD)
        good = strcmp(inside_call_name((int)attempt->nr), attempt->name) == 0;
    if (good)
        return;
    trial->wrong++;
    printf("  %s (%ld, %ld, %ld, %ld): %s, %s, named \"%s\"\n", attempt->name, attempt->args[0],
           attempt->args[1], attempt->args[2], attempt->args[3], r < 0 ? strerror(number) : "done",
           told ? "told" : "not told", inside_call_name((int)attempt->nr));
}

static void *trial_run(void *arg)
{
    struct trial *trial = arg;
    struct err err = ERR_INIT;
    int listener;

    if (inside_seccomp(true, &listener, &err) < 0) {
        printf("  %s\n", err_message(&err, 0));
        trial->listener = -1;
        return NULL;
    }
    trial->listener = listener;
    for (size_t i = 0; i < trial->n; i++) {
        const struct attempt *attempt = &trial->attempts[i];
        long r;

        trial->told = -1;
        errno = 0;
        r = syscall(attempt->nr, attempt->args[0], attempt->args[1], attempt->args[2],
                    attempt->args[3], -1, -1);
        if (attempt->nr == SYS_clone && r == 0)
            _exit(1); /* a child that should not be */
        trial_judge(trial, attempt, r, errno);
    }
    trial->at = trial->n;
    return NULL;
}

/* ---- the other one answers ---- */

static void trial_answer(struct trial *trial)
{
    struct seccomp_notif call = { 0 };
    struct seccomp_notif_resp answer = { .error = -EPERM };

    if (ioctl(trial->listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0)
        return;
    trial->told = call.data.nr;
    answer.id = call.id;
    ioctl(trial->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

static int trial_all(const struct attempt *attempts, size_t n)
{
    struct trial trial = { .attempts = attempts, .n = n };
    pthread_t thread;

    setsid(); /* vhangup() would find no terminal */
    if (pthread_create(&thread, NULL, trial_run, &trial) != 0)
        return 1;
    while (!trial.listener)
        usleep(1000);
    while (trial.listener > 0 && trial.at < n) {
        struct pollfd ready = { .fd = trial.listener, .events = POLLIN };

        if (poll(&ready, 1, 20) == 1 && ready.revents & POLLIN)
            trial_answer(&trial);
    }
    pthread_join(thread, NULL);
    fflush(stdout);
    return trial.listener < 0 || trial.wrong;
}

static void try_all(const struct attempt *attempts, size_t n)
{
    int status;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    ASSERT(pid >= 0);
    if (pid == 0)
        _exit(trial_all(attempts, n));
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    ASSERT(WIFEXITED(status));
    ASSERT_EQ(WEXITSTATUS(status), 0);
}

TEST(every_refused_call_is_refused_and_named)
{
    try_all(by_number, ARRAY_LEN(by_number));
}

TEST(calls_are_refused_for_their_arguments_and_let_through_otherwise)
{
    try_all(by_argument, ARRAY_LEN(by_argument));
}
