/* Programs of ours that are started again and again: copied once into a sealed memory file, and
 * started from there. Whoever can write to where a program lies (an agent that works in a checkout)
 * may replace the file; what we start stays what it was.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_SEALED_H
#define DORMOUSE_BASE_SEALED_H

#include <stdbool.h>

#include "base/err.h"

#define SEALED_PROGRAM_MAX (256u << 20)

/* Whether path is an executable file that nobody but root and we can have written. */
bool sealed_trusts(const char *path);
/* Copies the program at path, which must be trusted. *ret_fd is close-on-exec and numbered from
 * first_fd on, so that it is out of the way of descriptors with fixed numbers; execute it as
 * /proc/self/fd/N. */
int sealed_open(const char *path, const char *name, int first_fd, int *ret_fd, struct err *err);

#endif
