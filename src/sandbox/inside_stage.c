/* What happens before bubblewrap when the daemon is root: the hand must be nobody special in the
 * kernel's eyes, and yet work in directories that belong to root or to somebody else.
 *
 *     private mount namespace
 *       each place is mounted over itself with its owner and the hand's user exchanged (an
 *         idmapped mount): inside, the hand owns it; on disk everything stays the owner's
 *       directories above it that the hand may not search are replaced by an empty one
 *     groups, group and user are given up for ever; bubblewrap is executed
 *
 * So what root alone may read (/etc/shadow, keys, other people's homes) is out of reach by the
 * plainest of all rules, and what root alone may write (/proc/sys) is as well.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "sandbox/hand_int.h"
#include "sandbox/inside_int.h"
#include "sandbox/lend.h"

#define STAGE_EMPTIES 64
#define STAGE_PLACES  64

/* ---- places ---- */

/* Devices of the empty directories that were put somewhere: only there is anything ever made. */
static dev_t stage_empties[STAGE_EMPTIES];
static size_t stage_empty_count;

static bool stage_is_ours(int fd)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return false;
    for (size_t i = 0; i < stage_empty_count; i++)
        if (stage_empties[i] == st.st_dev)
            return true;
    return false;
}

/* The directory fd is covered by one that everybody may search and that holds nothing. */
static int stage_empty(int fd)
{
    char path[64];

    if (stage_empty_count == STAGE_EMPTIES) {
        errno = ENOSPC;
        return -1;
    }
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0711,size=64k");
}

/* Opens name in dir, which is made where nobody else can see it. */
static int stage_step(int dir, const char *name, bool is_dir)
{
    int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0 || errno != ENOENT || !stage_is_ours(dir))
        return fd;
    if (is_dir ? mkdirat(dir, name, 0711) < 0 : mknodat(dir, name, S_IFREG | 0600, 0) < 0)
        return -1;
    return openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

/* The same for a directory on the way, which the hand must be able to search. */
static int stage_search(int dir, const char *name)
{
    int fd = stage_step(dir, name, true), top;
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || (st.st_mode & S_IXOTH))
        return fd;
    top = stage_empty(fd) < 0 ? -1 : openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    close(fd);
    if (top >= 0 && fstat(top, &st) == 0)
        stage_empties[stage_empty_count++] = st.st_dev;
    return top;
}

/* Where path can be mounted so that the hand gets there. */
static int stage_way(const char *path, bool is_dir)
{
    char rest[LIMIT_PATH_BYTES], *name = rest + 1, *slash;
    int dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), next;

    if (dir < 0 || snprintf(rest, sizeof(rest), "%s", path) >= (int)sizeof(rest))
        return -1;
    for (; dir >= 0 && (slash = strchr(name, '/')); name = slash + 1) {
        *slash = '\0';
        next = stage_search(dir, name);
        close(dir);
        dir = next;
    }
    if (dir < 0)
        return -1;
    next = stage_step(dir, name, is_dir);
    close(dir);
    return next;
}

struct stage_lent {
    const char *path;
    int copy;
    bool is_dir;
};

/* All are copied before the first is mounted: a copy of a copy can't be mapped again. */
static int stage_take(const struct place_view *view, struct stage_lent *lent, struct err *err)
{
    AUTO_FD fd = -1;
    struct stat st;

    if (place_open_checked(view, &fd, err) < 0)
        return -1;
    lent->path = view->path;
    lent->copy = fstat(fd, &st) < 0 ? -1 : lend_copy(fd);
    if (lent->copy < 0)
        return err_set(err, ERR_SANDBOX_UNAVAILABLE,
                       "%.300s can't be lent to an unprivileged user (idmapped mount: %s)",
                       view->path, strerror(errno));
    lent->is_dir = S_ISDIR(st.st_mode);
    return 0;
}

static int stage_put(const struct stage_lent *lent, struct err *err)
{
    AUTO_FD way = stage_way(lent->path, lent->is_dir);

    if (way < 0 || syscall(SYS_move_mount, lent->copy, "", way, "",
                           MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
        return err_set(err, ERR_SANDBOX_UNAVAILABLE,
                       "%.300s is not lent to an unprivileged user: %s", lent->path,
                       strerror(errno));
    return 0;
}

static int stage_by_length(const void *a, const void *b)
{
    const struct stage_lent *x = a, *y = b;
    size_t n = strlen(x->path), m = strlen(y->path);

    return (n > m) - (n < m);
}

static int stage_lend(const struct inside_setup *setup, struct err *err)
{
    struct stage_lent lent[STAGE_PLACES];
    size_t n = 0;

    for (size_t i = 0; i < setup->view_count; i++) {
        if (!setup->views[i].lent)
            continue;
        if (n == STAGE_PLACES)
            return err_set(err, ERR_TOO_LARGE, "more than %d places for a daemon that is root",
                           STAGE_PLACES);
        if (stage_take(&setup->views[i], &lent[n++], err) < 0)
            return -1;
    }
    qsort(lent, n, sizeof(lent[0]), stage_by_length);
    for (size_t i = 0; i < n; i++)
        if (stage_put(&lent[i], err) < 0)
            return -1;
    return 0;
}

/* ---- all of it ---- */

static int stage_prepare(const struct inside_setup *setup, struct err *err)
{
    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return err_set(err, ERR_SANDBOX_UNAVAILABLE, "root may not make mounts here: %s",
                       strerror(errno));
    if (stage_lend(setup, err) < 0)
        return -1;
    /* Before the rights for it are gone. */
    for (int i = 0; i < setup->groups; i++)
        if (write(HAND_FD_GROUPS + i, "0", 1) < 0)
            continue;
    if (setgroups(0, NULL) < 0 || setresgid(HAND_UID, HAND_UID, HAND_UID) < 0 ||
        setresuid(HAND_UID, HAND_UID, HAND_UID) < 0)
        return err_set(err, ERR_SANDBOX_UNAVAILABLE, "root can't become user %u: %s", HAND_UID,
                       strerror(errno));
    return 0;
}

void inside_stage(const struct inside_setup *setup, const char *path, char **argv)
{
    struct err err = ERR_INIT;
    char text[ERR_TEXT_MAX];

    if (stage_prepare(setup, &err) < 0) {
        /* A keeper reads it, but of one command a person does. */
        fprintf(stderr, "%s%s\n", setup->argv[0] ? "dormouse: " : "",
                err_format(&err, text, sizeof(text)));
        return;
    }
    execve(path, argv, environ);
    fprintf(stderr, "execute %s: %s\n", path, strerror(errno));
}
