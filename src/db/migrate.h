/* Numbered steps of a domain's schema.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_DB_MIGRATE_H
#define DORMOUSE_DB_MIGRATE_H

#include <stddef.h>

#include "base/clock.h"
#include "base/hash.h"
#include "db/db_int.h"

/* Over the text without comment lines, blank lines, carriage returns and white space at line
 * ends: what a reader may tidy up without changing what was applied. */
void migration_checksum(const char *text, char ret_checksum[SHA256_TEXT_SIZE]);

/* Applies what is missing, in one transaction, after a copy of the old data where the engine
 * makes one. With a read-only connection it only checks. */
int migrate(struct db *db, const struct migration *migrations, size_t n, struct clock *clock,
            struct err *err);

/* Compares what was applied with what this program has. *ret_version is the number of applied
 * steps, also when it is smaller than n. */
int migrate_check(struct db *db, const struct migration *migrations, size_t n, int *ret_version,
                  struct err *err);

#endif
