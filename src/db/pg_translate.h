/* `?` placeholders to Postgres' `$1`, `$2` ...
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_DB_PG_TRANSLATE_H
#define DORMOUSE_DB_PG_TRANSLATE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Appends the translation of sql to out; *ret_params is the number of placeholders. What stands
 * in quotes, in dollar quotes and in comments is left alone. Refused: a quote or comment that does
 * not end, `?1` and more than max_params placeholders, a result that is larger than out allows. */
int pg_translate(struct str sql, int max_params, struct buf *out, int *ret_params, struct err *err);

#endif
