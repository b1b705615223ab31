/* One command behind the walls with our own terminal: `dormouse sandbox exec`.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_EXEC_H
#define DORMOUSE_SANDBOX_EXEC_H

#include "base/err.h"
#include "loop/loop.h"
#include "sandbox/sandbox.h"

enum sandbox_exit {
    SANDBOX_EXIT_TIMEOUT = 124,
    SANDBOX_EXIT_FAILED = 125, /* the sandbox itself, or a limit ended the command */
    SANDBOX_EXIT_DENIED = 126, /* can't be executed */
    SANDBOX_EXIT_ABSENT = 127, /* not found */
};

/* Runs argv (ends with NULL; argv[0] is looked up in PATH) with our standard streams and waits for
 * it, running the loop. What the walls refuse is said on stderr. Returns the command's exit code,
 * 128 + signal, or one of the above; -1 when there is no sandbox. time_limit_ms 0: none. */
int sandbox_exec(struct loop *loop, const struct sandbox_spec *spec, const char *const *argv,
                 int64_t time_limit_ms, struct err *err);

#endif
