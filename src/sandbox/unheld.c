/* Limits that this machine can't hold as they should be held, for people to know.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "sandbox/sandbox.h"
#include "sandbox/spec_int.h"

/* As the hand, which has no privileges, would find it (inside_connect.c). */
static bool unheld_can_take(void)
{
    AUTO_BUF scope = BUF_INIT(64);

    if (syscall(SYS_pidfd_getfd, -1, 0, 0) < 0 && errno == ENOSYS)
        return false;
    return file_read("/proc/sys/kernel/yama/ptrace_scope", &scope, NULL) < 0 || scope.n == 0 ||
           scope.p[0] < '2';
}

size_t spec_unheld(const struct cgroup *group, const char *dir, const char **ret)
{
    struct statvfs fs;
    size_t n = 0;

    if (!group || !cgroup_limits_memory(group))
        ret[n++] =
            "no control group (version 2) may be made here: memory is counted 25 times a second "
            "instead of "
            "held by the kernel, so a fast program can pass sandbox.limits.memory for a moment";
    if (statvfs(dir, &fs) == 0 && fs.f_files == 0)
        ret[n++] = "the file system of the working directory does not count its files: "
                   "sandbox.limits.files is not held, sandbox.limits.disk is";
    if (!unheld_can_take())
        ret[n++] =
            "this kernel lets nobody look into other processes (kernel.yama.ptrace_scope, or "
            "Linux before 5.6): there are no Unix sockets inside but pairs, and what tools "
            "outside obey is noticed when a command ends instead of refused";
    return n;
}

size_t sandbox_unheld(const char *dir, const char *ret[SANDBOX_UNHELD_MAX])
{
    AUTO(cgroup) group = spec_cgroup(&(struct sandbox_spec){ .cwd = dir });

    return spec_unheld(group, dir, ret);
}
