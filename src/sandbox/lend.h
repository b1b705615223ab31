/* Lending a place to the hand's user when the daemon is root (inside_stage.c).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_LEND_H
#define DORMOUSE_SANDBOX_LEND_H

/* A detached copy of the mount that fd shows, with its owner and the hand's user exchanged. -1 with
 * errno: the file system or the kernel knows no such mounts, or root may not make any. */
int lend_copy(int fd);

#endif
