/* What Postgres' error codes mean for the caller and for the connection.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "db/pg_int.h"

struct meaning {
    const char *state; /* SQLSTATE or its beginning */
    enum db_trouble trouble;
    enum err_code code;
};

/* The first line that fits holds. */
static const struct meaning meanings[] = {
    { "40001", DB_BUSY, ERR_VERSION_CONFLICT }, /* serialization failure */
    { "40P01", DB_BUSY, ERR_VERSION_CONFLICT }, /* deadlock */
    { "55P03", DB_BUSY, ERR_TIMEOUT },          /* lock_timeout */
    { "22021", DB_REFUSED, ERR_BAD_REQUEST },   /* not in the encoding */
    { "22", DB_REFUSED, ERR_SCHEMA_VIOLATION }, /* data that does not fit its type */
    { "42804", DB_REFUSED, ERR_SCHEMA_VIOLATION },
    { "23", DB_REFUSED, ERR_CONFLICT },
    { "53100", DB_FULL, ERR_STORAGE_FAILED }, /* disk full */
    { "58030", DB_FULL, ERR_STORAGE_FAILED }, /* input/output error */
    { "53", DB_REFUSED, ERR_STORAGE_FAILED }, /* no memory, too many connections */
    { "54", DB_REFUSED, ERR_TOO_LARGE },
    { "57014", DB_REFUSED, ERR_CANCELLED },
    { "57P", DB_GONE, ERR_STORAGE_FAILED }, /* the server is going down or not up yet */
    { "08", DB_GONE, ERR_STORAGE_FAILED },
    { "XX001", DB_BROKEN, ERR_INTEGRITY_FAILED },
    { "XX002", DB_BROKEN, ERR_INTEGRITY_FAILED },
    { "", DB_REFUSED, ERR_INTERNAL },
};

static const struct meaning *meaning_of(const char *state)
{
    size_t i = 0;

    while (!str_starts(str_from(state), str_from(meanings[i].state)))
        i++;
    return &meanings[i];
}

enum db_trouble pg_result_error(const PGresult *result, struct err *err)
{
    const char *state = pq.PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = pq.PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    /* libpq reports a lost connection without a code. */
    const struct meaning *meaning = meaning_of(state ? state : "08");

    if (!text)
        text = pq.PQresultErrorMessage(result);
    err_set(err, meaning->code, "%.*s (code %s)", STR_ARG(str_trim(str_from(text))),
            state ? state : "none");
    return meaning->trouble;
}
