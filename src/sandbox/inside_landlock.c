/* Landlock: a second wall for files, and the only one for abstract sockets and signals that does
 * not depend on namespaces.
 *
 * Everything may be read and executed as far as the mounts allow; written only what the
 * specification names, the private directories and the devices. TCP is left alone: the network
 * namespace is empty, and commands may well want to test a server on its loopback.
 *
 * Debian's headers end with ABI 1, so what came later is defined here.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "sandbox/inside_int.h"

#define LL_VERSION_FLAG 1u
#define LL_PATH_BENEATH 1

#define LL_EXECUTE   (1ull << 0)
#define LL_WRITE     (1ull << 1)
#define LL_READ      (1ull << 2)
#define LL_READ_DIR  (1ull << 3)
#define LL_REFER     (1ull << 13) /* ABI 2 */
#define LL_TRUNCATE  (1ull << 14) /* ABI 3 */
#define LL_IOCTL_DEV (1ull << 15) /* ABI 5 */
#define LL_ABI1_ALL  ((1ull << 13) - 1)

#define LL_SCOPE_ABSTRACT (1ull << 0) /* ABI 6 */
#define LL_SCOPE_SIGNAL   (1ull << 1)

/* Makes device nodes: never. */
#define LL_MAKE_CHAR  (1ull << 6)
#define LL_MAKE_BLOCK (1ull << 11)

struct ll_ruleset {
    uint64_t fs, net, scoped;
};

struct ll_path {
    uint64_t allowed;
    int32_t fd;
} __attribute__((packed));

static uint64_t handled(int abi)
{
    uint64_t all = LL_ABI1_ALL;

    if (abi >= 2)
        all |= LL_REFER;
    if (abi >= 3)
        all |= LL_TRUNCATE;
    if (abi >= 5)
        all |= LL_IOCTL_DEV;
    return all;
}

static int allow(int ruleset, const char *path, uint64_t access, struct err *err)
{
    AUTO_FD fd = open(path, O_PATH | O_CLOEXEC);
    struct ll_path rule = { .allowed = access, .fd = fd };
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return errno == ENOENT || errno == EACCES
                   ? 0
                   : err_set(err, ERR_INTERNAL, "Landlock: %s: %s", path, strerror(errno));
    /* A file has no entries to list, make or remove. */
    if (!S_ISDIR(st.st_mode))
        rule.allowed &= LL_EXECUTE | LL_WRITE | LL_READ | LL_TRUNCATE | LL_IOCTL_DEV;
    if (syscall(SYS_landlock_add_rule, ruleset, LL_PATH_BENEATH, &rule, 0) < 0)
        return err_set(err, ERR_INTERNAL, "Landlock: %s: %s", path, strerror(errno));
    return 0;
}

static int allow_all(int ruleset, int abi, const struct inside_setup *setup, struct err *err)
{
    static const char *const private_dirs[] = { "/tmp", "/dev/shm" };
    uint64_t all = handled(abi), write = all & ~(LL_MAKE_CHAR | LL_MAKE_BLOCK | LL_IOCTL_DEV);
    uint64_t device = all & (LL_READ | LL_WRITE | LL_TRUNCATE | LL_IOCTL_DEV | LL_READ_DIR);

    /* A terminal that was handed over is used as it is: ioctls on it need the right at open. */
    if (allow(ruleset, "/", LL_EXECUTE | LL_READ | LL_READ_DIR, err) < 0 ||
        allow(ruleset, "/dev", device, err) < 0 ||
        allow(ruleset, "/proc", LL_READ | LL_READ_DIR | LL_WRITE, err) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(private_dirs); i++)
        if (allow(ruleset, private_dirs[i], write, err) < 0)
            return -1;
    for (size_t i = 0; setup->allow_write[i]; i++)
        if (allow(ruleset, setup->allow_write[i], write, err) < 0)
            return -1;
    return 0;
}

int inside_landlock(const struct inside_setup *setup, int *ret_abi, struct err *err)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LL_VERSION_FLAG);
    struct ll_ruleset attr = { 0 };
    AUTO_FD ruleset = -1;
    /* Older kernels know a shorter struct. */
    size_t size = abi >= 6 ? sizeof(attr) : abi >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);

    *ret_abi = abi > 0 ? (int)abi : 0;
    if (abi <= 0)
        return 0;
    attr.fs = handled((int)abi);
    attr.scoped = abi >= 6 ? LL_SCOPE_ABSTRACT | LL_SCOPE_SIGNAL : 0;
    ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
    if (ruleset < 0)
        return err_set(err, ERR_SANDBOX_UNAVAILABLE, "Landlock: %s", strerror(errno));
    if (allow_all(ruleset, (int)abi, setup, err) < 0)
        return -1;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
        return err_set(err, ERR_SANDBOX_UNAVAILABLE, "Landlock: %s", strerror(errno));
    return 0;
}
