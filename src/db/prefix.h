/* Records by the beginning of their id, as people type it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_DB_PREFIX_H
#define DORMOUSE_DB_PREFIX_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "db/db.h"

/* How such records are called, and the command that lists them. */
struct prefix_words {
    const char *one, *several, *command, *shows;
};

/* sql takes the prefix twice and gives ids in order, PREFIX_ROWS at most:
 *     SELECT id FROM things WHERE id >= ? AND id < ? || '~' ORDER BY id LIMIT 5
 * Gives the one id that begins so; a whole id wins over longer ones. Refused with ERR_BAD_REQUEST
 * below PREFIX_MIN bytes and when several begin so, with ERR_NOT_FOUND when none does. */
#define PREFIX_MIN  4
#define PREFIX_ROWS 5
int prefix_find(struct db *db, struct sql sql, struct str prefix, const struct prefix_words *words,
                struct arena *arena, struct str *ret_id, struct err *err);

#endif
