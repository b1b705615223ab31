/* Opening libpq.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/pg_lib.h"

#include "base/alloc.h"
#include "base/dl.h"

struct pg_lib pq;

int pg_lib_load(struct err *err)
{
    static const struct dl_symbol symbols[] = {
#define X(name) { #name, (void **)&pq.name },
        PG_FUNCTIONS(X)
#undef X
    };

    if (pq.PQclear)
        return 0;
    if (dl_load("libpq.so.5", symbols, ARRAY_LEN(symbols), err) < 0)
        return err_wrap(err, "Postgres needs libpq (Debian package libpq5, version 14 or newer)");
    return 0;
}
