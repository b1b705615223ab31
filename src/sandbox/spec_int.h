/* Defaults of a specification.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_SPEC_INT_H
#define DORMOUSE_SANDBOX_SPEC_INT_H

#include "base/limits.h"
#include "sandbox/cgroup.h"
#include "sandbox/sandbox.h"

static inline uint64_t spec_memory(const struct sandbox_spec *spec)
{
    return spec->memory_bytes ? spec->memory_bytes : SANDBOX_MEMORY_BYTES;
}

static inline uint64_t spec_processes(const struct sandbox_spec *spec)
{
    return spec->processes ? spec->processes : SANDBOX_PROCESSES;
}

static inline uint64_t spec_disk(const struct sandbox_spec *spec)
{
    return spec->disk_bytes ? spec->disk_bytes : SANDBOX_DISK_BYTES;
}

static inline uint64_t spec_files(const struct sandbox_spec *spec)
{
    return spec->files ? spec->files : SANDBOX_FILES;
}

static inline int64_t spec_time(const struct sandbox_spec *spec)
{
    return spec->time_limit_ms > 0 ? spec->time_limit_ms : LIMIT_BASH_TIMEOUT_MS;
}

/* Of each private directory (/tmp, /dev/shm): it is memory, and together they must leave some for
 * programs. */
static inline uint64_t spec_private_bytes(const struct sandbox_spec *spec)
{
    uint64_t part = spec_memory(spec) * 3 / 8;

    return spec_disk(spec) < part ? spec_disk(spec) : part;
}

/* The kernel's limits stand a little behind those of the hand's watch, which can say what happened:
 * memory for the hand itself, and threads, which are tasks too. */
#define SANDBOX_MEMORY_BYTES_SLACK (96ull * MIB)
#define SPEC_TASKS_FACTOR          8
#define SPEC_TASKS_SLACK           64

static inline struct cgroup *spec_cgroup(const struct sandbox_spec *spec)
{
    return cgroup_new(&(struct cgroup_config){
        .memory_bytes = spec_memory(spec) + spec_memory(spec) / 8 + SANDBOX_MEMORY_BYTES_SLACK,
        .tasks = spec_processes(spec) * SPEC_TASKS_FACTOR + SPEC_TASKS_SLACK,
    });
}

/* sandbox_unheld() for a group that is there, or NULL. */
size_t spec_unheld(const struct cgroup *group, const char *dir, const char **ret);

#endif
