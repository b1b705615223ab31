/* The SQLite library that this process runs with.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sqlite3.h>
#include <stddef.h>

#include "db/engine.h"

#define OLDEST_VERSION 3035000 /* RETURNING */

const char *db_sqlite_version(void)
{
    return sqlite3_libversion();
}

void db_own_process(void)
{
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

const char *db_sqlite_lacks(void)
{
    if (sqlite3_libversion_number() < OLDEST_VERSION)
        return "RETURNING (3.35 or newer has it)";
    if (!sqlite3_compileoption_used("ENABLE_FTS5"))
        return "full-text search (FTS5)";
    if (!sqlite3_threadsafe())
        return "threads";
    return NULL;
}
