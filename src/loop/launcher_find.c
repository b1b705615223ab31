/* Which executable is started as the launcher.
 *
 * Our own binary can always do it, but loads two dozen libraries first (10 ms). The small static
 * one that is installed or built beside it takes 1 ms, so it is preferred where it is found and
 * nobody but root and we can have written it. It runs outside of every wall, so it is copied into
 * sealed memory at the first use: nothing that a child writes later can become our launcher.
 *
 * SPDX-License-Identifier: MIT
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/sealed.h"
#include "loop/child_int.h"

#define LAUNCHER_FD 64 /* or the next that is free: above those that children get */

/* From the directory of our binary: installed, beside it, in the build tree. */
static const char *const places[] = {
    "../libexec/dormouse/" CHILD_LAUNCHER,
    CHILD_LAUNCHER,
    "loop/" CHILD_LAUNCHER,
    "src/loop/" CHILD_LAUNCHER,
};

static const char *chosen; /* by a caller */
static int copy = -1;
static char started[64]; /* what is executed: the copy, or ourselves */

void child_set_launcher(const char *path)
{
    if (copy >= 0)
        close(copy);
    copy = -1;
    started[0] = '\0';
    chosen = path;
}

bool launcher_find(const char *dir, char *ret_path, size_t size)
{
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (snprintf(ret_path, size, "%s/%s", dir, places[i]) < (int)size &&
            sealed_trusts(ret_path))
            return true;
    return false;
}

static bool launcher_beside_us(char *ret_path, size_t size)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

    self[n > 0 ? n : 0] = '\0';
    if (!strrchr(self, '/'))
        return false;
    *strrchr(self, '/') = '\0';
    return launcher_find(self, ret_path, size);
}

bool child_launcher_file(char *ret_path, size_t size)
{
    if (!chosen)
        return launcher_beside_us(ret_path, size);
    return snprintf(ret_path, size, "%s", chosen) < (int)size;
}

const char *launcher_path(void)
{
    char found[PATH_MAX];

    if (started[0])
        return started;
    if (child_launcher_file(found, sizeof(found)) &&
        sealed_open(found, CHILD_LAUNCHER, LAUNCHER_FD, &copy, NULL) == 0)
        snprintf(started, sizeof(started), "/proc/self/fd/%d", copy);
    else if (chosen)
        return chosen;
    else
        snprintf(started, sizeof(started), "/proc/self/exe");
    return started;
}
