/* Canonical JSON, RFC 8785: one text per value, to be hashed and signed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_JSON_CANONICAL_H
#define DORMOUSE_BASE_JSON_CANONICAL_H

#include <json-c/json_object.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends the canonical text of value to out: members sorted by UTF-16 code units, numbers as
 * ECMAScript prints doubles, no white space. ERR_BAD_REQUEST for what RFC 8785 can't express
 * without two values sharing a text: integers whose digits change when they pass through a double,
 * numbers that are not finite, strings that are not UTF-8, nesting deeper than LIMIT_JSON_DEPTH;
 * ERR_TOO_LARGE when out is full. After a failure out ends with a part of the text. */
int json_canonical(struct json_object *value, struct buf *out, struct err *err);

#endif
