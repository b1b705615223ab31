/* Which executable is started as the launcher.
 *
 * Our own binary can always do it, but loads two dozen libraries first (10 ms). The small static
 * one that is installed or built beside it takes 1 ms, so it is preferred where it is found and
 * nobody but root and we can have written it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loop/child_int.h"

/* From the directory of our binary: installed, beside it, in the build tree. */
static const char *const places[] = {
    "../libexec/dormouse/" CHILD_LAUNCHER,
    CHILD_LAUNCHER,
    "loop/" CHILD_LAUNCHER,
    "src/loop/" CHILD_LAUNCHER,
};

static const char *chosen;

void child_set_launcher(const char *path)
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

bool launcher_find(const char *dir, char *ret_path, size_t size)
{
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (snprintf(ret_path, size, "%s/%s", dir, places[i]) < (int)size && trusted(ret_path))
            return true;
    return false;
}

const char *launcher_path(void)
{
    static char found[PATH_MAX];
    char self[PATH_MAX];
    ssize_t n;

    if (chosen)
        return chosen;
    n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[n > 0 ? n : 0] = '\0';
    if (strrchr(self, '/')) {
        *strrchr(self, '/') = '\0';
        if (launcher_find(self, found, sizeof(found)))
            chosen = found;
    }
    if (!chosen)
        chosen = "/proc/self/exe";
    return chosen;
}
