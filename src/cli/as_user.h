/* Giving up root for an ordinary user, for good.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_AS_USER_H
#define DORMOUSE_CLI_AS_USER_H

#include "base/err.h"

/* Starts this program again as the user of that name: with its groups and its home directory, the
 * same arguments but for --user. Returns only when that failed. */
int as_user(const char *name, struct err *err);

#endif
