/* Where the hand's executable is: beside ours, installed, or in the build tree, and only one that
 * nobody but root and we can have written.
 *
 * SPDX-License-Identifier: MIT
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sandbox/hand_int.h"
#include "sandbox/sandbox.h"

static const char *const places[] = {
    "../libexec/dormouse/" HAND_NAME,
    HAND_NAME,
    "src/sandbox/" HAND_NAME,
    "../src/sandbox/" HAND_NAME,
};

static const char *chosen;

void hand_set_path(const char *path)
{
    chosen = path;
}

static bool trusted(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           (st.st_uid == 0 || st.st_uid == geteuid()) && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
           access(path, X_OK) == 0;
}

const char *sandbox_program(void)
{
    const char *path = hand_path();

    return path && trusted(path) ? path : NULL;
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
        if (trusted(found))
            return chosen = found;
    }
    return NULL;
}
