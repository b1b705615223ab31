/* Limits that the kernel keeps for each process.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "sandbox/inside_int.h"

#define OPEN_FILES   4096
#define TASKS_FACTOR 8 /* threads count as processes here; the watch counts processes alone */

static int lower(__rlimit_resource_t what, uint64_t wanted)
{
    struct rlimit limit;

    if (getrlimit(what, &limit) < 0)
        return -1;
    if (limit.rlim_max > wanted)
        limit.rlim_max = wanted;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(what, &limit);
}

int inside_rlimits(const struct inside_setup *setup, struct err *err)
{
    const struct {
        __rlimit_resource_t what;
        uint64_t limit;
        const char *name;
    } limits[] = {
        /* One byte: less than any file format dumps, and the kernel's sign for not starting the
         * host's collector either, which 0 would do. */
        { RLIMIT_CORE, 1, "core" },
        { RLIMIT_NOFILE, OPEN_FILES, "open files" },
        { RLIMIT_FSIZE, setup->disk ? setup->disk : RLIM_INFINITY, "file size" },
        { RLIMIT_DATA, setup->memory ? setup->memory : RLIM_INFINITY, "data" },
        { RLIMIT_MEMLOCK, 64 << 10, "locked memory" },
        { RLIMIT_MSGQUEUE, 64 << 10, "message queues" },
        /* Counted by user namespace, so only what is inside; root is exempt. With walls off it
         * would count everything that the user runs. */
        { RLIMIT_NPROC,
          setup->off || !setup->processes ? RLIM_INFINITY : setup->processes * TASKS_FACTOR,
          "processes" },
    };

    for (size_t i = 0; i < ARRAY_LEN(limits); i++)
        if (lower(limits[i].what, limits[i].limit) < 0)
            return err_set(err, ERR_SANDBOX_UNAVAILABLE, "limit of %s: %s", limits[i].name,
                           strerror(errno));
    return 0;
}
