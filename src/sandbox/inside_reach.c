/* Getting at what a command closed: it may take from a directory the right to list, search or write
 * it, and so hide there what tools outside obey. The hand is the same user, so it gives itself the
 * right for as long as it looks, and then puts the mode back.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/inside_int.h"

#define WITHIN_MAX 64  /* levels */
#define NAMES_MAX  100 /* tried in order for what is set aside */

/* By a descriptor that need not be open for reading. The filter keeps us from naming bits that
 * commands may not set either: then they are lost, which harms nobody in a closed directory. */
static bool reach_chmod(int fd, mode_t mode)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return chmod(path, mode & 07777) == 0 || ((mode & 06000) && chmod(path, mode & 01777) == 0);
}

/* Gives what is missing of wanted (0500, 0700). */
static void reach_give(struct reach *reach, int fd, mode_t wanted)
{
    struct stat st;

    reach->given = fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
                   (st.st_mode & wanted) != wanted && reach_chmod(fd, st.st_mode | wanted);
    reach->mode = st.st_mode;
}

bool reach_open(struct reach *reach, int dir, const char *name)
{
    struct stat st;
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    *reach = (struct reach){ .fd = fd, .listed = fd >= 0 };
    if (fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & 0100))
        return true;
    if (fd < 0) {
        if (errno != EACCES)
            return false;
        reach->fd = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (reach->fd < 0)
            return false;
    }
    reach_give(reach, reach->fd, 0500);
    if (fd < 0 && (fd = openat(reach->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) >= 0) {
        close(reach->fd);
        reach->fd = fd;
        reach->listed = true;
    }
    return true;
}

DIR *reach_list(const struct reach *reach)
{
    int fd = fcntl(reach->fd, F_DUPFD_CLOEXEC, 0);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

    if (!dir && fd >= 0)
        close(fd);
    return dir;
}

void reach_close(struct reach *reach)
{
    if (reach->given)
        reach_chmod(reach->fd, reach->mode);
    close(reach->fd);
}

static bool reach_rename(int dir, const char *name, char aside[NAME_MAX + 1])
{
    unsigned random[2];

    for (int i = 1; i <= NAMES_MAX + 1; i++) {
        int n = snprintf(aside, NAME_MAX + 1, "%s.set-aside-%d", name, i);

        if (i > NAMES_MAX && getrandom(random, sizeof(random), 0) == (ssize_t)sizeof(random))
            n = snprintf(aside, NAME_MAX + 1, "%s.set-aside-%08x%08x", name, random[0], random[1]);
        if (n < 0 || n > NAME_MAX) {
            errno = ENAMETOOLONG;
            return false;
        }
        if (renameat2(dir, name, dir, aside, RENAME_NOREPLACE) == 0)
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

/* By its own name nobody obeys it any more. */
static bool reach_is_aside(const char *name)
{
    static const char mark[] = ".set-aside-";
    const char *at = strrchr(name, '.');

    return at && strncmp(at, mark, strlen(mark)) == 0 &&
           at[strlen(mark) + strspn(at + strlen(mark), "0123456789abcdef")] == '\0';
}

int inside_set_aside_within(int dir, const char *name, int depth)
{
    const struct dirent *entry;
    char aside[NAME_MAX + 1];
    struct reach reach;
    int left = 0;
    DIR *list;

    if (depth > WITHIN_MAX || !reach_open(&reach, dir, name))
        return 1;
    list = reach.listed ? reach_list(&reach) : NULL;
    while (list && (entry = readdir(list))) {
        struct stat st;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            fstatat(reach.fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (S_ISDIR(st.st_mode))
            left += inside_set_aside_within(reach.fd, entry->d_name, depth + 1);
        else if (!reach_is_aside(entry->d_name) &&
                 !inside_set_aside(reach.fd, entry->d_name, aside) && errno != EBUSY)
            left++;
    }
    left += !list;
    if (list)
        closedir(list);
    reach_close(&reach);
    return left;
}

bool inside_set_aside(int dir, const char *name, char aside[NAME_MAX + 1])
{
    struct reach reach = { .fd = dir };
    int failed;

    if (reach_rename(dir, name, aside))
        return true;
    if (errno != EACCES && errno != EPERM)
        return false;
    reach_give(&reach, dir, 0700);
    if (!reach.given)
        return false;
    failed = reach_rename(dir, name, aside) ? 0 : errno;
    reach_chmod(dir, reach.mode);
    errno = failed;
    return failed == 0;
}
