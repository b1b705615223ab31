/* A file system under SQLite that fails, tears or drops one operation, and loses power.
 *
 * Files are real, so what a process sees is what any process sees. Beside each, the bytes that
 * have reached "the disk" are kept: a sync moves what was written since into them. When the power
 * is cut, every file becomes its durable bytes plus an arbitrary part of what was not synced, and
 * the process ends.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_FAULT_VFS_H
#define DORMOUSE_TESTS_FAULT_VFS_H

#include <stdint.h>

enum fault_op { FAULT_ANY = 0, FAULT_WRITE, FAULT_SYNC, FAULT_TRUNCATE };

enum fault_how {
    FAULT_NONE = 0,
    FAULT_FAIL, /* nothing is done, an error is returned */
    FAULT_FULL, /* a write finds no space */
    FAULT_TEAR, /* half of a write is done, then an error is returned */
    FAULT_DROP, /* success is returned, but it never reaches the disk */
    FAULT_CUT,  /* the power fails instead of it */
};

struct fault_plan {
    enum fault_how how;
    enum fault_op op;
    unsigned nth;         /* 1: the first */
    const char *suffix;   /* only files whose name ends so; NULL: all */
    uint64_t seed;        /* what survives a power cut */
    unsigned seen, fired; /* operations that fit; faults made */
};

/* Becomes SQLite's default in this process. plan is looked at during every operation. */
void fault_vfs_install(struct fault_plan *plan);
/* Ends the process with status 0, after the files are as the power cut left them. */
_Noreturn void fault_vfs_power_cut(void);

/* The nth allocation of SQLite from now on fails, once. Before any use of SQLite in this process
 * or after sqlite3_shutdown(). *fired is set to 1 when it happened. */
void fault_alloc_install(unsigned nth, unsigned *fired);

#endif
