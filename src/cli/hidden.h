/* Reading what must not be seen: from the terminal without echo, or from standard input to its end.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_HIDDEN_H
#define DORMOUSE_CLI_HIDDEN_H

#include "base/buf.h"
#include "base/err.h"
#include "policy/secret.h"

/* Room for a value and what is wrong with one that is too long. */
#define HIDDEN_MAX (SECRET_VALUE_MAX + 4)

/* Without the last line break. prompt is shown on a terminal only. Wipe out after use. */
int hidden_read(const char *prompt, struct buf *out, struct err *err);

#endif
