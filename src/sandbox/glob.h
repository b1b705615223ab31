/* Patterns for paths, as git writes them in .gitignore.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_GLOB_H
#define DORMOUSE_SANDBOX_GLOB_H

#include <stdbool.h>

#include "base/str.h"

/* Whether pattern matches all of text, both paths of names joined by '/'. In a name `?` is one
 * byte,
 * `*` any number of bytes, `[...]` one of a set ([!a-z], [[:alpha:]]), a backslash takes the next
 * byte as it is; none of them matches a slash. A name `**` stands for any number of names, one or
 * more at the end. What is malformed matches nothing. Time is bounded by the product of lengths. */
bool glob_match(struct str pattern, struct str text);

/* Whether the text has any of the characters above. */
bool glob_is_pattern(struct str text);

#endif
