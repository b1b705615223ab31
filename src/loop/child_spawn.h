/* Makes the pipes and the process. Knows nothing of the loop.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_LOOP_CHILD_SPAWN_H
#define DORMOUSE_LOOP_CHILD_SPAWN_H

#include "loop/child.h"

/* Our ends, all non-blocking and close-on-exec. -1: there is none. */
struct spawned {
    pid_t pid;
    int pidfd;
    int input, output[2]; /* by enum child_stream */
    int status;           /* where the launcher says why it failed */
};

int child_spawn(const struct child_config *config, struct spawned *ret_spawned, struct err *err);
/* Reads what the launcher said; ERR_NONE in ret_err when the program was executed. */
void child_spawn_status(int status_fd, const char *path, const char *cwd, struct err *ret_err);

#endif
