/* The data directories that this user's Dormouse has used: every one holds a token and somebody's
 * records, so no sandbox may look into any of them, whichever daemon it belongs to.
 *
 * They are noted in $XDG_STATE_HOME/dormouse/data-dirs (~/.local/state), one absolute path a line.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_KNOWN_DIRS_H
#define DORMOUSE_BASE_KNOWN_DIRS_H

#include "base/arena.h"
#include "base/err.h"

#define KNOWN_DIRS_MAX 128

/* Notes path, which must be absolute; those that are no longer there are dropped, and the oldest
 * when there are too many. */
int known_dirs_add(const char *path, struct err *err);
/* All of them and the places where one lies by default, whether they exist or not; ends with NULL,
 * in the arena. */
const char **known_dirs(struct arena *arena);
/* Where they are noted; NULL without a home. */
const char *known_dirs_file(struct arena *arena);

#endif
