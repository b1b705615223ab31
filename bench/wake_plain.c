/* A worker as it is mostly written: plain libpq, prepared statements, one after the other.
 *
 * SPDX-License-Identifier: MIT
 */
#include "wake_plain.h"

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct plain {
    PGconn *conn;
};

static const struct {
    const char *name, *text;
    int params;
} statements[] = {
    { "begin", "BEGIN", 0 },
    { "take",
      "SELECT n, payload FROM agent.wake_queue WHERE not_before <= 2 ORDER BY not_before, n"
      " LIMIT 1 FOR UPDATE SKIP LOCKED",
      0 },
    { "end",
      "WITH q AS (DELETE FROM agent.wake_queue WHERE n = $1 RETURNING *)"
      " INSERT INTO agent.wake_runs (n, run_key, agent_n, reason, reason_id, thread_id, payload,"
      " created_at, status, ended_at) SELECT n, run_key, agent_n, reason, reason_id, thread_id,"
      " payload, created_at, 'skipped_noop', 1 FROM q",
      1 },
    { "commit", "COMMIT", 0 },
};

static PGresult *checked(PGconn *conn, PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        fprintf(stderr, "bench: %s\n", PQerrorMessage(conn));
        exit(1);
    }
    return result;
}

struct plain *plain_open(const char *url)
{
    struct plain *plain = calloc(1, sizeof(*plain));

    if (!plain)
        exit(1);
    plain->conn = PQconnectdb(url);
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
        PQclear(checked(plain->conn, PQprepare(plain->conn, statements[i].name, statements[i].text,
                                               statements[i].params, NULL)));
    return plain;
}

static PGresult *run(struct plain *plain, const char *name, const char *value)
{
    const char *const values[] = { value };

    return checked(plain->conn,
                   PQexecPrepared(plain->conn, name, value != NULL, values, NULL, NULL, 0));
}

void plain_loop(struct plain *plain)
{
    bool took;

    do {
        PGresult *row;

        PQclear(run(plain, "begin", NULL));
        row = run(plain, "take", NULL);
        took = PQntuples(row) == 1;
        if (took)
            PQclear(run(plain, "end", PQgetvalue(row, 0, 0)));
        PQclear(row);
        PQclear(run(plain, "commit", NULL));
    } while (took);
}

void plain_close(struct plain *plain)
{
    PQfinish(plain->conn);
    free(plain);
}
