/* What SQLite's result codes mean for the caller and for the connection.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "base/timefmt.h"
#include "db/sqlite_int.h"

struct meaning {
    int rc;
    enum db_trouble trouble;
    enum err_code code;
};

/* Extended codes first: the first line that fits holds. A failed sync is the one after which
 * nobody knows what the disk holds: the kernel may have dropped the pages it could not write. */
static const struct meaning meanings[] = {
    { SQLITE_IOERR_FSYNC, DB_LOST, ERR_STORAGE_FAILED },
    { SQLITE_IOERR_DIR_FSYNC, DB_LOST, ERR_STORAGE_FAILED },
    { SQLITE_IOERR_READ, DB_REFUSED, ERR_STORAGE_FAILED },
    { SQLITE_IOERR_SHORT_READ, DB_BROKEN, ERR_INTEGRITY_FAILED },
    { SQLITE_IOERR_CORRUPTFS, DB_BROKEN, ERR_INTEGRITY_FAILED },
    { SQLITE_IOERR_NOMEM, DB_REFUSED, ERR_STORAGE_FAILED },
    { SQLITE_CONSTRAINT_DATATYPE, DB_REFUSED, ERR_SCHEMA_VIOLATION },
    { SQLITE_BUSY, DB_BUSY, ERR_TIMEOUT },
    { SQLITE_LOCKED, DB_BUSY, ERR_TIMEOUT },
    { SQLITE_CONSTRAINT, DB_REFUSED, ERR_CONFLICT },
    { SQLITE_FULL, DB_FULL, ERR_STORAGE_FAILED },
    { SQLITE_IOERR, DB_FULL, ERR_STORAGE_FAILED },
    { SQLITE_NOMEM, DB_REFUSED, ERR_STORAGE_FAILED },
    { SQLITE_CORRUPT, DB_BROKEN, ERR_INTEGRITY_FAILED },
    { SQLITE_NOTADB, DB_BROKEN, ERR_INTEGRITY_FAILED },
    { SQLITE_TOOBIG, DB_REFUSED, ERR_TOO_LARGE },
    { SQLITE_MISMATCH, DB_REFUSED, ERR_SCHEMA_VIOLATION },
    { SQLITE_INTERRUPT, DB_REFUSED, ERR_CANCELLED },
};

static const struct meaning *meaning_of(int rc)
{
    static const struct meaning other = { 0, DB_REFUSED, ERR_INTERNAL };

    for (size_t i = 0; i < ARRAY_LEN(meanings); i++)
        if (meanings[i].rc == rc || meanings[i].rc == (rc & 0xff))
            return &meanings[i];
    return &other;
}

int sqlite_fail(struct sqlite *sqlite, int rc, struct err *err)
{
    const struct meaning *meaning = meaning_of(rc);
    int system = sqlite->handle ? sqlite3_system_errno(sqlite->handle) : 0;
    const char *text = sqlite->handle ? sqlite3_errmsg(sqlite->handle) : sqlite3_errstr(rc);
    char span[TIMEFMT_SPAN_SIZE];

    db_fail(&sqlite->db, meaning->trouble);
    if (meaning->trouble == DB_BUSY)
        return err_set(err, meaning->code, "another writer holds %s (waited %s)", sqlite->path,
                       timefmt_span(sqlite->busy_ms, span));
    if ((rc & 0xff) == SQLITE_IOERR || (rc & 0xff) == SQLITE_CANTOPEN)
        return err_set(err, meaning->code, "%s: %s (code %d%s%s)", sqlite->path, text, rc,
                       system ? ", " : "", system ? strerror(system) : "");
    return err_set(err, meaning->code, "%s (code %d)", text, rc);
}
