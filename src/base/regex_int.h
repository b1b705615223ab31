/* Between the two halves of regular expressions.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_REGEX_INT_H
#define DORMOUSE_BASE_REGEX_INT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Appends the PCRE2 form of an ECMA-262 pattern; ERR_BAD_REQUEST with the position when malformed.
 */
int regex_translate(struct str pattern, struct buf *out, struct err *err);

#endif
