/* Where the hand's executable is: beside ours, installed, or in the build tree, and only one that
 * nobody but root and we can have written. It builds its own walls, so it is copied into sealed
 * memory at the first use: what an agent writes over the file later is never run.
 *
 * SPDX-License-Identifier: MIT
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sealed.h"
#include "loop/child.h"
#include "sandbox/hand_int.h"
#include "sandbox/sandbox.h"

#define COPY_FD 64 /* or the next that is free: above those that a hand gets */

static const char *const places[] = {
    "../libexec/dormouse/" HAND_NAME,
    HAND_NAME,
    "src/sandbox/" HAND_NAME,
    "../src/sandbox/" HAND_NAME,
};

static const char *chosen;
static int copy = -1;

void hand_set_path(const char *path)
{
    if (copy >= 0)
        close(copy);
    copy = -1;
    chosen = path;
}

const char *sandbox_program(void)
{
    const char *path = hand_path();

    return path && sealed_trusts(path) ? path : NULL;
}

const char *hand_path(void)
{
    static char found[PATH_MAX];
    char self[PATH_MAX / 2];
    ssize_t n;

    if (chosen)
        return chosen;
    n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[n > 0 ? n : 0] = '\0';
    if (!strrchr(self, '/'))
        return NULL;
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        snprintf(found, sizeof(found), "%s/%s", self, places[i]);
        if (sealed_trusts(found))
            return chosen = found;
    }
    return NULL;
}

const char *const *hand_own_files(void)
{
    static char self[PATH_MAX], hand[PATH_MAX], launcher[PATH_MAX];
    static const char *files[4];
    char found[PATH_MAX];
    size_t n = 0;

    if (realpath("/proc/self/exe", self))
        files[n++] = self;
    if (hand_path() && realpath(hand_path(), hand))
        files[n++] = hand;
    if (child_launcher_file(found, sizeof(found)) && realpath(found, launcher))
        files[n++] = launcher;
    files[n] = NULL;
    return files;
}

int hand_program(struct err *err)
{
    const char *path = hand_path();

    if (!path)
        return err_set(err, ERR_SANDBOX_UNAVAILABLE,
                       "%s is not installed beside dormouse: install it again", HAND_NAME);
    if (copy < 0 && sealed_open(path, HAND_NAME, COPY_FD, &copy, err) < 0) {
        err_wrap(err, "%s", HAND_NAME);
        err->code = ERR_SANDBOX_UNAVAILABLE;
        return -1;
    }
    return copy;
}
