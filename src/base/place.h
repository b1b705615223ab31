/* Places that settings name: `~` is the home, relative ones count from a directory, links are
 * followed as far as the path exists.
 *
 * What comes out is a text: it tells where a place lies now. Who lets something in by it holds a
 * descriptor, or resolves it again and compares.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_PLACE_H
#define DORMOUSE_BASE_PLACE_H

#include <stdbool.h>

#include "base/arena.h"

/* $HOME when it is an absolute path, else "/". */
const char *place_home(void);
/* Absolute, without `.`, links not followed, `..` kept. base is absolute. NULL: empty, too long, or
 * "~name". */
const char *place_absolute(const char *path, const char *base, struct arena *arena);
/* Absolute and real; of what is not there yet the longest existing beginning is resolved. NULL
 * also when `..` follows what is not there: that means nothing certain. */
const char *place_real(const char *path, const char *base, struct arena *arena);
/* One of its names is `..`. */
bool place_climbs(const char *path);
/* path is dir or lies below it, by the text. */
bool place_within(const char *path, const char *dir);
/* ".env" of a list of denied places stands for every file of that name, not for a place. */
bool place_is_name(const char *path);

#endif
