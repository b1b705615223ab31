/* A control group for one sandbox: memory and number of tasks, held by the kernel also against
 * root, who is bound by no rlimit of processes.
 *
 * Made where one may be made: below our own group in version 1 hierarchies (memory, pids), or in
 * version 2 below our own group or beside it, where those controllers are handed down. Where none
 * may be made the hand's own watch is the only limit.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_CGROUP_H
#define DORMOUSE_SANDBOX_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/alloc.h"

struct cgroup;

struct cgroup_config {
    const char *mount;      /* NULL: /sys/fs/cgroup */
    const char *membership; /* file that says which groups we are in; NULL: /proc/self/cgroup */
    uint64_t memory_bytes, tasks;
};

/* NULL when none can be made. */
struct cgroup *cgroup_new(const struct cgroup_config *config);
/* Files into which a process that has only one thread writes "0" to join, opened for it: it may be
 * where it can't open them itself. Moving somebody else costs the kernel 10 ms and more, joining
 * oneself nothing. Returns their number; the group keeps and closes them. */
#define CGROUP_FILES_MAX 2
int cgroup_files(struct cgroup *group, int *ret_fds);
/* For the process itself. False when not every group was joined. */
bool cgroup_join(const int *fds, int n);
/* For tests: from now on none can be made, as on a machine that forbids it. */
void cgroup_forbid(void);
bool cgroup_limits_memory(const struct cgroup *group);
bool cgroup_limits_tasks(const struct cgroup *group);
/* Removes the directories, which works once everyone in it has ended; what is left is removed by
 * the next cgroup_new(). */
void cgroup_free(struct cgroup *group);
AUTO_DEFINE(cgroup)

#endif
