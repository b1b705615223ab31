/* May these bytes be stored as text on every engine?
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_DB_TEXT_CHECK_H
#define DORMOUSE_DB_TEXT_CHECK_H

#include <stdbool.h>

#include "base/str.h"

/* Well-formed UTF-8 (no surrogates, no overlong forms, at most U+10FFFF) without NUL. */
bool text_is_clean(struct str text);

#endif
