/* Landlock: a second wall for files, and the only one for abstract sockets and signals that does
 * not depend on namespaces.
 *
 * Everything may be read and executed as far as the mounts allow; only what may not be read and is
 * not there yet has nothing to mount over. The directory that would hold it, and those above, are
 * then not granted as a whole but by what they hold now: whatever comes into being there later
 * can't be read, so neither can that. Written is only what the specification names, the private
 * directories and the devices. TCP is left alone: the network namespace is empty, and commands may
 * well want to test a server on its loopback.
 *
 * Debian's headers end with ABI 1, so what came later is defined here.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/limits.h"
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

/* What makes nothing larger: running, reading, listing, removing, talking to devices. */
#define LL_REMOVE_DIR  (1ull << 4)
#define LL_REMOVE_FILE (1ull << 5)
#define LL_NOT_MORE                                                                                \
    (LL_EXECUTE | LL_READ | LL_READ_DIR | LL_REMOVE_DIR | LL_REMOVE_FILE | LL_TRUNCATE |           \
     LL_IOCTL_DEV)

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

static int allow_fd(int ruleset, int fd, const char *path, uint64_t access, struct err *err)
{
    struct ll_path rule = { .allowed = access, .fd = fd };
    struct stat st;

    if (fstat(fd, &st) < 0)
        return err_set(err, ERR_INTERNAL, "Landlock: %s: %s", path, strerror(errno));
    /* A file has no entries to list, make or remove. */
    if (!S_ISDIR(st.st_mode))
        rule.allowed &= LL_EXECUTE | LL_WRITE | LL_READ | LL_TRUNCATE | LL_IOCTL_DEV;
    if (syscall(SYS_landlock_add_rule, ruleset, LL_PATH_BENEATH, &rule, 0) < 0)
        return err_set(err, ERR_INTERNAL, "Landlock: %s: %s", path, strerror(errno));
    return 0;
}

static int allow(int ruleset, const char *path, uint64_t access, struct err *err)
{
    AUTO_FD fd = open(path, O_PATH | O_CLOEXEC);

    if (fd < 0)
        return errno == ENOENT || errno == EACCES
                   ? 0
                   : err_set(err, ERR_INTERNAL, "Landlock: %s: %s", path, strerror(errno));
    return allow_fd(ruleset, fd, path, access, err);
}

/* What the keeper held, and nothing that bears its name by now. A place without a view is not
 * there, or may not be read. */
static int allow_place(int ruleset, const struct inside_setup *setup, const char *path,
                       uint64_t access, struct err *err)
{
    for (size_t i = 0; i < setup->view_count; i++) {
        AUTO_FD fd = -1;

        if (setup->views[i].covered || strcmp(setup->views[i].path, path) != 0)
            continue;
        if (place_open_checked(&setup->views[i], &fd, err) < 0)
            return -1;
        return allow_fd(ruleset, fd, path, access, err);
    }
    return 0;
}

/* ---- what may not be read and is not there ---- */

#define LL_AROUND_MAX 20000 /* entries of directories that are granted one by one */

static bool around_is_below(const char *path, const char *dir)
{
    size_t n = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

    return strncmp(path, dir, n) == 0 && path[n] == '/';
}

static bool around_is_missing(const struct inside_setup *setup, const char *path)
{
    AUTO_FD fd = place_open(path);

    if (fd >= 0 || (errno != ENOENT && errno != ENOTDIR))
        return false;
    /* What lies in a writable place is granted with it: see inside_guard.c and access.c. */
    for (size_t i = 0; setup->allow_write[i]; i++)
        if (around_is_below(path, setup->allow_write[i]))
            return false;
    return true;
}

/* Whether something missing would lie somewhere below dir. */
static bool around_leads_to_missing(const struct inside_setup *setup, const char *dir)
{
    for (size_t i = 0; setup->deny_read[i]; i++)
        if (around_is_below(setup->deny_read[i], dir) &&
            around_is_missing(setup, setup->deny_read[i]))
            return true;
    return false;
}

static int allow_around(int ruleset, const struct inside_setup *setup, const char *dir,
                        unsigned *entries, struct err *err);

static int allow_entry(int ruleset, const struct inside_setup *setup, const char *path,
                       unsigned *entries, struct err *err)
{
    AUTO_FD fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    /* A link needs no right; what it leads to has its own. */
    if (fd < 0 || fstat(fd, &st) < 0 || S_ISLNK(st.st_mode))
        return 0;
    if (S_ISDIR(st.st_mode) && around_leads_to_missing(setup, path))
        return allow_around(ruleset, setup, path, entries, err);
    return allow_fd(ruleset, fd, path, LL_EXECUTE | LL_READ | LL_READ_DIR, err);
}

/* dir may be searched and not listed (/home, often): what we know of below it is granted. */
static int allow_known(int ruleset, const struct inside_setup *setup, const char *dir,
                       const char *below, unsigned *entries, struct err *err)
{
    char path[LIMIT_PATH_BYTES];
    size_t n = strlen(dir) + 1;

    if (!around_is_below(below, dir) || strlen(below) >= sizeof(path))
        return 0;
    n += strcspn(below + n, "/");
    memcpy(path, below, n);
    path[n] = '\0';
    return allow_entry(ruleset, setup, path, entries, err);
}

static int allow_all_known(int ruleset, const struct inside_setup *setup, const char *dir,
                           unsigned *entries, struct err *err)
{
    int r = 0;

    for (size_t i = 0; setup->deny_read[i] && r == 0; i++)
        r = allow_known(ruleset, setup, dir, setup->deny_read[i], entries, err);
    for (size_t i = 0; i < setup->view_count && r == 0; i++)
        r = allow_known(ruleset, setup, dir, setup->views[i].path, entries, err);
    return r;
}

static int allow_around(int ruleset, const struct inside_setup *setup, const char *dir,
                        unsigned *entries, struct err *err)
{
    DIR *list = opendir(dir);
    const struct dirent *entry;
    int r = list ? 0 : allow_all_known(ruleset, setup, dir, entries, err);

    while (list && r == 0 && (entry = readdir(list))) {
        char path[LIMIT_PATH_BYTES];

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            snprintf(path, sizeof(path), "%s/%s", strcmp(dir, "/") == 0 ? "" : dir,
                     entry->d_name) >= (int)sizeof(path))
            continue;
        if (++*entries > LL_AROUND_MAX)
            r = err_set(err, ERR_TOO_LARGE,
                        "%.200s holds too much to keep something denied in it that is not there "
                        "yet (sandbox.security.denyRead)",
                        dir);
        else
            r = allow_entry(ruleset, setup, path, entries, err);
    }
    if (list)
        closedir(list);
    return r;
}

/* Directories may be listed everywhere: a right to list one counts for all below it. */
static int allow_reading(int ruleset, const struct inside_setup *setup, struct err *err)
{
    unsigned entries = 0;

    if (!around_leads_to_missing(setup, "/"))
        return allow(ruleset, "/", LL_EXECUTE | LL_READ | LL_READ_DIR, err);
    if (allow(ruleset, "/", LL_READ_DIR, err) < 0)
        return -1;
    return allow_around(ruleset, setup, "/", &entries, err);
}

static int allow_all(int ruleset, int abi, const struct inside_setup *setup, struct err *err)
{
    static const char *const private_dirs[] = { "/tmp", "/dev/shm" };
    uint64_t all = handled(abi), write = all & ~(LL_MAKE_CHAR | LL_MAKE_BLOCK | LL_IOCTL_DEV);
    uint64_t device = all & (LL_READ | LL_WRITE | LL_TRUNCATE | LL_IOCTL_DEV | LL_READ_DIR);

    /* A terminal that was handed over is used as it is: ioctls on it need the right at open. */
    if (allow_reading(ruleset, setup, err) < 0 || allow(ruleset, "/dev", device, err) < 0 ||
        allow(ruleset, "/proc", LL_READ | LL_READ_DIR | LL_WRITE, err) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(private_dirs); i++)
        if (allow(ruleset, private_dirs[i], write, err) < 0)
            return -1;
    for (size_t i = 0; setup->allow_write[i]; i++)
        if (allow_place(ruleset, setup, setup->allow_write[i], write, err) < 0)
            return -1;
    return 0;
}

/* A private directory stays free, unless a writable place is bound below it: what is allowed for a
 * directory is allowed for all that can be reached through it. */
static bool holds_place(const char *dir, const struct inside_setup *setup)
{
    size_t n = strlen(dir);

    for (size_t i = 0; setup->allow_write[i]; i++)
        if (strncmp(setup->allow_write[i], dir, n) == 0 && setup->allow_write[i][n] == '/')
            return true;
    return false;
}

bool inside_landlock_no_more(const struct inside_setup *setup)
{
    static const char *const free_dirs[] = { "/tmp", "/dev", "/proc" };
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LL_VERSION_FLAG);
    struct ll_ruleset attr = { .fs = abi > 0 ? handled((int)abi) & ~LL_NOT_MORE : 0 };
    AUTO_FD ruleset = -1;

    if (abi <= 0)
        return false;
    ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr.fs), 0);
    for (size_t i = 0; ruleset >= 0 && i < ARRAY_LEN(free_dirs); i++)
        if (!holds_place(free_dirs[i], setup) && allow(ruleset, free_dirs[i], attr.fs, NULL) < 0)
            return false;
    return ruleset >= 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
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
