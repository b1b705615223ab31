/* Numbered steps of a domain's schema.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_DB_MIGRATE_H
#define DORMOUSE_DB_MIGRATE_H

#include <stddef.h>

#include "db/db_int.h"

/* Applies what is missing, in one transaction. With a read-only connection it only checks. */
int migrate(struct db *db, const struct migration *migrations, size_t n, struct err *err);

#endif
