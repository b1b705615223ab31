/* "Did you mean": the nearest of some names.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_NEAREST_H
#define DORMOUSE_BASE_NEAREST_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

/* What is near enough to typed to be meant by it, NULL when nothing is. */
const char *nearest_name(const char *typed, const char *const *names, size_t n);

/* -1. `there is no tool "raed_file"; did you mean "read_file"?`, where what is "tool"; when none is
 * near: "; there are: " and all of them, as far as an error holds them. */
int nearest_refuse(const char *what, struct str typed, const char *const *names, size_t n,
                   struct err *err);

#endif
