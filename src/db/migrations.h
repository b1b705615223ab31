/* The migrations of the product's domains, embedded from src/db/migrations/ (tools/embed).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_DB_MIGRATIONS_H
#define DORMOUSE_DB_MIGRATIONS_H

#include <stddef.h>

#include "db/domain.h"

extern const struct migration migrations_agent[];
extern const size_t migrations_agent_count;
extern const struct migration migrations_journal[];
extern const size_t migrations_journal_count;
/* Always local SQLite: no Postgres texts. */
extern const struct migration migrations_index[];
extern const size_t migrations_index_count;

#endif
