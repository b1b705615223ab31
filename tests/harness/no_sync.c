/* Syncs that do nothing, for suites whose "disk" is simulated or does not matter: nobody pulls the
 * real plug, and thousands of real syncs would take minutes. Linked into a suite as a source, it
 * stands in front of the C library's functions, for shared libraries too.
 *
 * SPDX-License-Identifier: MIT
 */
#include <unistd.h>

int fsync(int fd)
{
    (void)fd;
    return 0;
}

int fdatasync(int fd)
{
    (void)fd;
    return 0;
}
