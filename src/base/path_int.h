/* Between the files of paths.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_PATH_INT_H
#define DORMOUSE_BASE_PATH_INT_H

#include <stdbool.h>
#include <stdint.h>

/* A combining mark: it changes the letter before it. */
bool path_is_mark(uint32_t code);
/* A second form of other characters (presentation forms, squared words, mathematical letters,
 * doubled ideographs) that is refused in names rather than folded. */
bool path_is_compatibility(uint32_t code);

#endif
