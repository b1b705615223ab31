/* "Did you mean": the nearest of some names.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_NEAREST_H
#define DORMOUSE_BASE_NEAREST_H

#include <stddef.h>

/* What is near enough to typed to be meant by it, NULL when nothing is. */
const char *nearest_name(const char *typed, const char *const *names, size_t n);

#endif
