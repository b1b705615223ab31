/* What the program asks about its database engines without speaking SQL.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_DB_ENGINE_H
#define DORMOUSE_DB_ENGINE_H

/* "3.40.1" */
const char *db_sqlite_version(void);
/* For a program that is ours alone, before it opens a domain: SQLite keeps no account of the memory
 * it has, which nobody here asks for and which costs a lock for every allocation. Programs that
 * embed Dormouse may have SQLite for themselves, so they keep it. */
void db_own_process(void);
/* What Dormouse needs and this SQLite lacks ("full-text search (FTS5)"), or NULL. */
const char *db_sqlite_lacks(void);

#endif
