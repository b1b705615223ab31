/* Idmapped mounts.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/lend.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "sandbox/hand_int.h"

#define LEND_IDS 0xffffffffull

/* Everybody stays who they are, but for two who change places. */
static void lend_map_text(char *text, size_t size, unsigned long long a, unsigned long long b)
{
    unsigned long long low = a < b ? a : b, high = a < b ? b : a;
    size_t n = 0;

    if (low > 0)
        n += (size_t)snprintf(text + n, size - n, "0 0 %llu\n", low);
    n += (size_t)snprintf(text + n, size - n, "%llu %llu 1\n", low, high);
    if (high - low > 1)
        n += (size_t)snprintf(text + n, size - n, "%llu %llu %llu\n", low + 1, low + 1,
                              high - low - 1);
    n += (size_t)snprintf(text + n, size - n, "%llu %llu 1\n", high, low);
    snprintf(text + n, size - n, "%llu %llu %llu\n", high + 1, high + 1, LEND_IDS - high - 1);
}

static int lend_write_map(pid_t pid, const char *file, unsigned long long owner)
{
    char path[64], text[256];
    AUTO_FD fd = -1;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
    lend_map_text(text, sizeof(text), owner, HAND_UID);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? -1 : file_write_all(fd, str_from(text));
}

/* A user namespace that carries the mapping, held by a child until it is open. */
static int lend_namespace(const struct stat *owner)
{
    char path[64], ready;
    int pipes[2], fd = -1;
    pid_t pid;

    if (pipe2(pipes, O_CLOEXEC) < 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        ready = unshare(CLONE_NEWUSER) == 0;
        if (write(pipes[1], &ready, 1) == 1)
            pause();
        _exit(0);
    }
    close(pipes[1]);
    if (pid > 0 && read(pipes[0], &ready, 1) == 1 && ready &&
        lend_write_map(pid, "uid_map", owner->st_uid) == 0 &&
        lend_write_map(pid, "gid_map", owner->st_gid) == 0) {
        snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    close(pipes[0]);
    if (pid > 0) {
        int kept = errno;

        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        errno = kept;
    }
    return fd;
}

int lend_copy(int fd)
{
    struct mount_attr attr = { .attr_set = MOUNT_ATTR_IDMAP };
    AUTO_FD map = -1;
    AUTO_FD tree = -1;
    struct stat st;
    int copy;

    if (fstat(fd, &st) < 0)
        return -1;
    tree = (int)syscall(SYS_open_tree, fd, "",
                        OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
    if (tree < 0)
        return -1;
    map = st.st_uid == HAND_UID ? -1 : lend_namespace(&st);
    if (st.st_uid != HAND_UID && map < 0)
        return -1;
    attr.userns_fd = (uint64_t)map;
    /* Mounts below it that know no mapping stay as they are. */
    if (map >= 0 &&
        syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) <
            0 &&
        syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
        return -1;
    copy = tree;
    tree = -1;
    return copy;
}
