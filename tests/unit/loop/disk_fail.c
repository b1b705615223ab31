/* SPDX-License-Identifier: MIT */
#include "disk_fail.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

static enum disk_fault wanted;
static int countdown, failures;

static bool fails(enum disk_fault which)
{
    if (wanted != which || (countdown > 0 && --countdown > 0))
        return false;
    failures++;
    return true;
}

/* Called by SQLite instead of libc's. */
int fdatasync(int fd)
{
    if (fails(DISK_SYNC_FAILS)) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fdatasync, fd);
}

static ssize_t failing_pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    if (fails(DISK_WRITE_FAILS)) {
        errno = ENOSPC;
        return -1;
    }
    return pwrite(fd, bytes, n, at);
}

static ssize_t failing_write(int fd, const void *bytes, size_t n)
{
    if (fails(DISK_WRITE_FAILS)) {
        errno = ENOSPC;
        return -1;
    }
    return write(fd, bytes, n);
}

void disk_fail(enum disk_fault fault, int nth)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

    wanted = fault;
    countdown = nth;
    failures = 0;
    vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)failing_pwrite);
    vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)failing_pwrite);
    vfs->xSetSystemCall(vfs, "write", (sqlite3_syscall_ptr)failing_write);
}

int disk_failed(void)
{
    return failures;
}
