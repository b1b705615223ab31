/* What the program asks about its database engines without speaking SQL.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_DB_ENGINE_H
#define DORMOUSE_DB_ENGINE_H

/* "3.40.1" */
const char *db_sqlite_version(void);
/* What Dormouse needs and this SQLite lacks ("full-text search (FTS5)"), or NULL. */
const char *db_sqlite_lacks(void);

#endif
