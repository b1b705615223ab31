/* Outputs that nobody waits for any more, and where commands end up.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_DRAIN_INT_H
#define DORMOUSE_SANDBOX_DRAIN_INT_H

#include "sandbox/op_int.h"

/* Reads fd and throws away what comes, until its end; owns it. Beyond DRAINS_MAX at a time it is
 * closed, and who writes to it gets SIGPIPE. */
#define DRAINS_MAX 64
void drain_take(int fd);

/* The next command begins here. */
void op_state_set_cwd(struct op_ctx *ctx, const char *cwd);

#endif
