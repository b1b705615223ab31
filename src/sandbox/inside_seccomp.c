/* The seccomp filter: calls that nothing in the sandbox has any business with.
 *
 * Assembled by hand: it is a list of numbers, a few looks at arguments and nothing that a library
 * would make plainer, and it loads in microseconds. A refused call does not simply fail: the kernel
 * asks the hand (user notification), which answers EPERM and tells the keeper what was tried.
 *
 *     foreign architecture         kill
 *     x32 numbers, clone3, openat2 ENOSYS (programs then use calls whose arguments can be seen)
 *     clone with new namespaces,
 *     socket of a strange family or
 *     raw, ioctl TIOCSTI/TIOCLINUX,
 *     personality but plain ones,
 *     making a file set-user-id,
 *     connect                      ask the hand: it connects, or refuses (inside_connect.c)
 *     Unix datagram sockets        EPERM (they need no connect)
 *     every number in refused[]    ask the hand: EPERM
 *     whatever makes a name        ask the hand: goes on, or EPERM (inside_create.c)
 *     io_uring, memory files,
 *     huge pages, larger pipes     an error, in silence
 *     larger socket buffers,
 *     hiding from /proc            nothing is done, and the program is told that it was
 *     everything else              allow
 *
 * SPDX-License-Identifier: MIT
 */
#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sandbox/inside_int.h"

#if defined(__x86_64__)
#define ARCH_HERE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH_HERE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH_HERE AUDIT_ARCH_RISCV64
#else
#error "say what this architecture is called to seccomp"
#endif
#define X32_BIT            0x40000000u
#define FLAG_WAIT_KILLABLE (1ul << 5) /* newer than some headers */
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452 /* newer than the headers; one number everywhere */
#endif

struct call {
    int nr;
    const char *name;
};
#define CALL(name_)                                                                                \
    {                                                                                              \
        SYS_##name_, #name_                                                                        \
    }

/* By numbers that every architecture here has, then those that some lack. */
static const struct call refused[] = {
    /* the file system's shape */
    CALL(mount),
    CALL(umount2),
    CALL(pivot_root),
    CALL(chroot),
    CALL(fsopen),
    CALL(fsconfig),
    CALL(fsmount),
    CALL(fspick),
    CALL(move_mount),
    CALL(open_tree),
    CALL(mount_setattr),
    CALL(swapon),
    CALL(swapoff),
    CALL(quotactl),
    CALL(open_by_handle_at),
    CALL(name_to_handle_at),
    CALL(fanotify_init),
    /* other processes */
    CALL(ptrace),
    CALL(process_vm_readv),
    CALL(process_vm_writev),
    CALL(process_madvise),
    CALL(pidfd_getfd),
    CALL(kcmp),
    /* new namespaces */
    CALL(unshare),
    CALL(setns),
    /* the kernel */
    CALL(bpf),
    CALL(perf_event_open),
    CALL(userfaultfd),
    CALL(kexec_load),
    CALL(init_module),
    CALL(finit_module),
    CALL(delete_module),
    CALL(syslog),
    CALL(reboot),
    CALL(acct),
    CALL(lookup_dcookie),
    CALL(nfsservctl),
    CALL(vhangup),
    /* keys */
    CALL(add_key),
    CALL(request_key),
    CALL(keyctl),
    /* the clock and the host's name */
    CALL(settimeofday),
    CALL(clock_settime),
    CALL(clock_adjtime),
    CALL(adjtimex),
    CALL(sethostname),
    CALL(setdomainname),
#ifdef SYS_iopl
    CALL(iopl),
    CALL(ioperm),
    CALL(modify_ldt),
#endif
#ifdef SYS_kexec_file_load
    CALL(kexec_file_load),
#endif
#ifdef SYS_quotactl_fd
    CALL(quotactl_fd),
#endif
};

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447 /* newer than some headers; one number everywhere */
#endif

/* Refused in silence: programs try them and have another way. Memory files, and pages lent to a
 * pipe, are memory that nobody could count; files in /dev/shm do as well. */
static const struct {
    int nr, error;
} quiet[] = {
    { SYS_io_uring_setup, EPERM }, { SYS_io_uring_enter, EPERM }, { SYS_io_uring_register, EPERM },
    { SYS_memfd_create, ENOSYS },  { SYS_memfd_secret, ENOSYS },  { SYS_vmsplice, ENOSYS },
};

/* What makes a name, besides open(). */
static const struct call making[] = {
    CALL(mkdirat),  CALL(mknodat), CALL(symlinkat), CALL(linkat), CALL(renameat2),
#ifdef SYS_renameat
    CALL(renameat),
#endif
#ifdef SYS_mkdir
    CALL(mkdir),    CALL(mknod),   CALL(symlink),   CALL(link),   CALL(rename),    CALL(creat),
#endif
};

/* Refused for their arguments. */
static const struct call watched[] = {
    CALL(clone),  CALL(socket),   CALL(socketpair), CALL(ioctl),  CALL(personality),
    CALL(fchmod), CALL(fchmodat), CALL(fchmodat2),  CALL(openat),
#ifdef SYS_chmod
    CALL(chmod),  CALL(open),
#endif
};

const char *inside_call_name(int nr)
{
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (refused[i].nr == nr)
            return refused[i].name;
    for (size_t i = 0; i < ARRAY_LEN(watched); i++)
        if (watched[i].nr == nr)
            return watched[i].name;
    for (size_t i = 0; i < ARRAY_LEN(making); i++)
        if (making[i].nr == nr)
            return making[i].name;
    return "a call";
}

/* ---- assembly ---- */

#define PROGRAM_MAX 512

struct program {
    struct sock_filter code[PROGRAM_MAX];
    unsigned short n;
};

static void emit(struct program *p, struct sock_filter op)
{
    BUG_IF(p->n == PROGRAM_MAX);
    p->code[p->n++] = op;
}

#define DATA(field) ((uint32_t)offsetof(struct seccomp_data, field))
/* The low half: all of an int argument. */
#define ARG(i) ((uint32_t)(offsetof(struct seccomp_data, args) + (size_t)(i)*8))

static void load(struct program *p, uint32_t offset)
{
    emit(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
}

static void and_with(struct program *p, uint32_t mask)
{
    emit(p, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
}

static void answer(struct program *p, uint32_t action)
{
    emit(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* if (A == value) return action */
static void answer_if(struct program *p, uint32_t value, uint32_t action)
{
    emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
    answer(p, action);
}

static void check_architecture(struct program *p)
{
    load(p, DATA(arch));
    emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH_HERE, 1, 0));
    answer(p, SECCOMP_RET_KILL_PROCESS);
    load(p, DATA(nr));
#if defined(__x86_64__)
    emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1));
    answer(p, SECCOMP_RET_ERRNO | ENOSYS);
#endif
    answer_if(p, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
    answer_if(p, SYS_openat2, SECCOMP_RET_ERRNO | ENOSYS);
}

/* Begins "if this call: ..."; the number is in A again after end_call(). Returns where to patch. */
static unsigned short begin_call(struct program *p, uint32_t nr)
{
    emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 0));
    return (unsigned short)(p->n - 1);
}

static void end_call(struct program *p, unsigned short at)
{
    answer(p, SECCOMP_RET_ALLOW);
    p->code[at].jf = (uint8_t)(p->n - at - 1);
}

static void check_clone(struct program *p)
{
    unsigned short at = begin_call(p, SYS_clone);

    load(p, ARG(0));
    and_with(p, CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                    CLONE_NEWNET | CLONE_NEWCGROUP);
    emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0));
    answer(p, SECCOMP_RET_USER_NOTIF);
    /* A thread with descriptors of its own would hold them where nobody looks. */
    load(p, ARG(0));
    and_with(p, CLONE_THREAD | CLONE_FILES);
    answer_if(p, CLONE_THREAD, SECCOMP_RET_ERRNO | EPERM);
    end_call(p, at);
}

/* Unix, IP and route sockets; raw ones for routes alone. vsock above all: no namespace holds it.
 * The other netlinks (audit, netfilter, crypto) are ways into the kernel that nobody needs here. */
static void check_socket(struct program *p, uint32_t nr)
{
    unsigned short at = begin_call(p, nr);

    load(p, ARG(0));
    emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 4));
    load(p, ARG(1));
    and_with(p, 0xf);
    answer_if(p, SOCK_DGRAM, SECCOMP_RET_ERRNO | EPERM);
    load(p, ARG(0));
    emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 4));
    load(p, ARG(2));
    answer_if(p, NETLINK_ROUTE, SECCOMP_RET_ALLOW);
    answer(p, SECCOMP_RET_USER_NOTIF);
    emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 3, 0));
    emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 2, 0));
    emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 1, 0));
    answer(p, SECCOMP_RET_USER_NOTIF);
    load(p, ARG(1));
    and_with(p, 0xf);
    answer_if(p, SOCK_RAW, SECCOMP_RET_USER_NOTIF);
    answer_if(p, SOCK_PACKET, SECCOMP_RET_USER_NOTIF);
    end_call(p, at);
}

static void check_ioctl(struct program *p)
{
    unsigned short at = begin_call(p, SYS_ioctl);

    load(p, ARG(1));
    answer_if(p, TIOCSTI, SECCOMP_RET_USER_NOTIF);
    answer_if(p, TIOCLINUX, SECCOMP_RET_USER_NOTIF);
    end_call(p, at);
}

/* Plain Linux, without address randomisation (debuggers' children), and asking. */
static void check_personality(struct program *p)
{
    unsigned short at = begin_call(p, SYS_personality);

    load(p, ARG(0));
    answer_if(p, PER_LINUX, SECCOMP_RET_ALLOW);
    answer_if(p, ADDR_NO_RANDOMIZE, SECCOMP_RET_ALLOW);
    answer_if(p, 0xffffffffu, SECCOMP_RET_ALLOW);
    answer(p, SECCOMP_RET_USER_NOTIF);
    end_call(p, at);
}

#define PRETEND SECCOMP_RET_ERRNO /* the program is told 0, and nothing was done */

/* if (this call, with its argument equal to value) return action */
static void check_value(struct program *p, uint32_t nr, int arg, uint32_t value, uint32_t action)
{
    unsigned short at = begin_call(p, nr);

    load(p, ARG(arg));
    answer_if(p, value, action);
    end_call(p, at);
}

/* if (this call, with one of these bits in its argument) return action */
static void check_bits(struct program *p, uint32_t nr, int arg, uint32_t bits, uint32_t action)
{
    unsigned short at = begin_call(p, nr);

    load(p, ARG(arg));
    and_with(p, bits);
    emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0));
    answer(p, action);
    end_call(p, at);
}

/* What the watch could not count: memory of the machine's pool of huge pages, buffers in the kernel
 * beyond their usual size, and processes that may not be looked at. */
static void check_hoards(struct program *p)
{
    static const uint32_t buffers[] = { SO_SNDBUF, SO_RCVBUF, SO_SNDBUFFORCE, SO_RCVBUFFORCE };
    unsigned short at;

    check_bits(p, SYS_mmap, 3, MAP_HUGETLB, SECCOMP_RET_ERRNO | ENOMEM);
    check_bits(p, SYS_shmget, 2, SHM_HUGETLB, SECCOMP_RET_ERRNO | ENOMEM);
    check_value(p, SYS_fcntl, 1, F_SETPIPE_SZ, SECCOMP_RET_ERRNO | EPERM);
    at = begin_call(p, SYS_setsockopt);
    load(p, ARG(1));
    emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOL_SOCKET, 1, 0));
    answer(p, SECCOMP_RET_ALLOW);
    load(p, ARG(2));
    for (size_t i = 0; i < ARRAY_LEN(buffers); i++)
        answer_if(p, buffers[i], PRETEND);
    end_call(p, at);
    at = begin_call(p, SYS_prctl);
    load(p, ARG(0));
    emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_DUMPABLE, 1, 0));
    answer(p, SECCOMP_RET_ALLOW);
    load(p, ARG(1));
    answer_if(p, 0, PRETEND);
    end_call(p, at);
}

#define SPECIAL_MODES 06000 /* set-user-id, set-group-id */

/* When the daemon is root, its files are root's outside too: no set-user-id program may be left in
 * a writable place for somebody else to run. */
static void check_mode(struct program *p, uint32_t nr, int mode_arg)
{
    unsigned short at = begin_call(p, nr);

    load(p, ARG(mode_arg));
    and_with(p, SPECIAL_MODES);
    emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0));
    answer(p, SECCOMP_RET_USER_NOTIF);
    end_call(p, at);
}

/* An open() that may make a file: the hand looks at its name and its mode. */
static void check_open(struct program *p, uint32_t nr, int flags_arg)
{
    check_bits(p, nr, flags_arg, O_CREAT | (O_TMPFILE & ~O_DIRECTORY), SECCOMP_RET_USER_NOTIF);
}

static void check_modes(struct program *p)
{
    check_mode(p, SYS_fchmod, 1);
    check_mode(p, SYS_fchmodat, 2);
    check_mode(p, SYS_fchmodat2, 2);
    check_open(p, SYS_openat, 2);
#ifdef SYS_chmod
    check_mode(p, SYS_chmod, 1);
    check_open(p, SYS_open, 1);
#endif
    for (size_t i = 0; i < ARRAY_LEN(making); i++)
        answer_if(p, (uint32_t)making[i].nr, SECCOMP_RET_USER_NOTIF);
}

static void assemble(struct program *p, bool connects)
{
    check_architecture(p);
    check_clone(p);
    if (connects)
        answer_if(p, SYS_connect, SECCOMP_RET_USER_NOTIF);
    else
        check_value(p, SYS_socket, 0, AF_UNIX, SECCOMP_RET_USER_NOTIF);
    check_socket(p, SYS_socket);
    check_socket(p, SYS_socketpair);
    check_ioctl(p);
    check_personality(p);
    check_modes(p);
    check_hoards(p);
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        answer_if(p, (uint32_t)refused[i].nr, SECCOMP_RET_USER_NOTIF);
    for (size_t i = 0; i < ARRAY_LEN(quiet); i++)
        answer_if(p, (uint32_t)quiet[i].nr, SECCOMP_RET_ERRNO | (uint32_t)quiet[i].error);
    answer(p, SECCOMP_RET_ALLOW);
}

int inside_seccomp(bool connects, int *ret_listener, struct err *err)
{
    struct program program = { .n = 0 };
    struct sock_fprog filter;
    long fd;

    assemble(&program, connects);
    filter = (struct sock_fprog){ .len = program.n, .filter = program.code };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_set(err, ERR_SANDBOX_UNAVAILABLE, "no_new_privs: %s", strerror(errno));
    /* A signal must not make a call fail that we are asked about; older kernels can't promise it.
     */
    fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                 SECCOMP_FILTER_FLAG_NEW_LISTENER | FLAG_WAIT_KILLABLE, &filter);
    if (fd < 0 && errno == EINVAL)
        fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                     &filter);
    if (fd < 0)
        return err_set(err, ERR_SANDBOX_UNAVAILABLE, "seccomp: %s", strerror(errno));
    *ret_listener = (int)fd;
    return 0;
}
