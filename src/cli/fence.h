/* The wall around a front end that only shows: `dormouse run --sandbox`.
 *
 * After fence_close() this process has what it had open and nothing else: no file, no socket, no
 * other program, no thread. Text from a model that finds a way into it finds nothing there.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_FENCE_H
#define DORMOUSE_CLI_FENCE_H

#include "base/err.h"

/* For good. sandbox_unavailable when the kernel can't. */
int fence_close(struct err *err);

#endif
