/* The wall around a front end: Landlock without any exception, and a list of the few calls that
 * showing, waiting and speaking on open descriptors take. Everything else fails with EPERM.
 *
 * The list is short and by numbers, so it is written down as the kernel takes it (the hand's
 * filter in src/sandbox is made the other way round: everything but a list).
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/fence.h"

#include <asm/ioctls.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"

#if defined(__x86_64__)
#define ARCH_HERE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH_HERE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH_HERE AUDIT_ARCH_RISCV64
#else
#error "say what this architecture is called to seccomp"
#endif
#define X32_BIT 0x40000000u

/* ---- Landlock ---- */

#define LL_VERSION_FLAG 1u

/* Debian's headers end with ABI 1. */
struct ll_ruleset {
    uint64_t fs, net, scoped;
};

static uint64_t every_file_right(long abi)
{
    static const unsigned bits[] = { 0, 13, 14, 15, 15, 16 };

    return (1ull << (abi > 5 ? 16 : bits[abi])) - 1;
}

/* A ruleset that handles everything and allows nothing. A kernel without Landlock has seccomp. */
static int close_files(struct err *err)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LL_VERSION_FLAG);
    size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
    struct ll_ruleset attr;
    int fd, r;

    if (abi <= 0)
        return 0;
    attr = (struct ll_ruleset){ .fs = every_file_right(abi),
                                .net = abi >= 4 ? 3 : 0,      /* bind, connect */
                                .scoped = abi >= 6 ? 3 : 0 }; /* abstract sockets, signals */
    fd = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
    if (fd < 0)
        return err_set(err, ERR_SANDBOX_UNAVAILABLE, "Landlock: %s", strerror(errno));
    r = (int)syscall(SYS_landlock_restrict_self, fd, 0);
    if (r < 0)
        err_set(err, ERR_SANDBOX_UNAVAILABLE, "Landlock: %s", strerror(errno));
    close(fd);
    return r;
}

/* ---- seccomp ---- */

#define PROGRAM_MAX 160

struct program {
    struct sock_filter code[PROGRAM_MAX];
    unsigned short n;
};

static void emit(struct program *p, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
    BUG_IF(p->n == PROGRAM_MAX);
    p->code[p->n++] = (struct sock_filter){ .code = code, .k = k, .jt = jt, .jf = jf };
}

static void load(struct program *p, size_t offset)
{
    emit(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void answer(struct program *p, uint32_t action)
{
    emit(p, BPF_RET | BPF_K, action, 0, 0);
}

static void allow_if(struct program *p, uint32_t value)
{
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    answer(p, SECCOMP_RET_ALLOW);
}

static void check_architecture(struct program *p)
{
    load(p, offsetof(struct seccomp_data, arch));
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, ARCH_HERE, 1, 0);
    answer(p, SECCOMP_RET_KILL_PROCESS);
    load(p, offsetof(struct seccomp_data, nr));
    emit(p, BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
    answer(p, SECCOMP_RET_ERRNO | EPERM);
}

/* The low half of an argument: all of an int. */
#define ARG(i) (offsetof(struct seccomp_data, args) + (size_t)(i)*8)

/* What a terminal is asked. TIOCSTI, which types into it, is not among it. */
static void allow_terminal(struct program *p)
{
    static const uint32_t asks[] = { TCGETS, TCSETS, TCSETSW, TCSETSF, TIOCGWINSZ, FIONREAD };

    emit(p, BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, (uint8_t)(2 * ARRAY_LEN(asks) + 2));
    load(p, ARG(1));
    for (size_t i = 0; i < ARRAY_LEN(asks); i++)
        allow_if(p, asks[i]);
    answer(p, SECCOMP_RET_ERRNO | EPERM);
}

/* Memory, but none that can be executed. */
static void allow_memory(struct program *p, uint32_t nr)
{
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 4);
    load(p, ARG(2));
    emit(p, BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1);
    answer(p, SECCOMP_RET_ERRNO | EPERM);
    answer(p, SECCOMP_RET_ALLOW);
}

static void assemble(struct program *p)
{
    static const uint32_t allowed[] = {
        SYS_read,         SYS_write,           SYS_readv,          SYS_writev,
        SYS_recvfrom,     SYS_sendto,          SYS_recvmsg,        SYS_sendmsg,
        SYS_close,        SYS_ppoll,           SYS_fstat,          SYS_lseek,
        SYS_munmap,       SYS_mremap,          SYS_madvise,        SYS_brk,
        SYS_futex,        SYS_getrandom,       SYS_clock_gettime,  SYS_clock_nanosleep,
        SYS_gettimeofday, SYS_rt_sigaction,    SYS_rt_sigprocmask, SYS_rt_sigreturn,
        SYS_sigaltstack,  SYS_restart_syscall, SYS_getpid,         SYS_gettid,
        SYS_exit,         SYS_exit_group,      SYS_sched_yield,    SYS_fcntl,
        SYS_setitimer,
#ifdef SYS_poll
        SYS_poll,
#endif
    };

    check_architecture(p);
    for (size_t i = 0; i < ARRAY_LEN(allowed); i++)
        allow_if(p, allowed[i]);
    /* glibc's fstat() is this call, with an empty path; Landlock does not stop the others from
     * telling that a file exists, so the flag is asked for. */
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, SYS_newfstatat, 0, 4);
    load(p, ARG(3));
    emit(p, BPF_JMP | BPF_JSET | BPF_K, 0x1000 /* AT_EMPTY_PATH */, 0, 1);
    answer(p, SECCOMP_RET_ALLOW);
    answer(p, SECCOMP_RET_ERRNO | EPERM);
    allow_terminal(p);
    allow_memory(p, SYS_mmap);
    allow_memory(p, SYS_mprotect);
    answer(p, SECCOMP_RET_ERRNO | EPERM);
}

int fence_close(struct err *err)
{
    struct program p = { .n = 0 };
    struct sock_fprog filter = { .filter = p.code };

    assemble(&p);
    filter.len = p.n;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_set(err, ERR_SANDBOX_UNAVAILABLE, "no_new_privs: %s", strerror(errno));
    if (close_files(err) < 0)
        return -1;
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0)
        return err_set(err, ERR_SANDBOX_UNAVAILABLE, "seccomp: %s", strerror(errno));
    return 0;
}
