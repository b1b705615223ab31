/* LISTEN on a connection of its own: connecting, asking and hearing never wait.
 *
 * SPDX-License-Identifier: MIT
 */
#include "db/listen.h"

#include <stdlib.h>
#include <string.h>

#include "db/pg_int.h"

enum phase { PHASE_OFF = 0, PHASE_CONNECTING, PHASE_ASKING, PHASE_LISTENING };

struct db_listener {
    struct domain *domain, *also;
    const char *const *channels;
    size_t count;
    PGconn *conn;
    enum phase phase;
    PostgresPollingStatusType wants; /* while it connects */
    bool unsent;
};

struct db_listener *db_listener_new(struct domain *domain, struct domain *also,
                                    const char *const *channels, size_t count)
{
    struct db_listener *listener;

    BUG_IF(count > DB_LISTENER_CHANNELS_MAX);
    if (!domain->shared)
        return NULL;
    listener = NEW(struct db_listener);
    listener->domain = domain;
    listener->also = also && also->shared ? also : domain;
    listener->channels = channels;
    listener->count = count;
    return listener;
}

void db_listener_stop(struct db_listener *listener)
{
    if (listener->conn)
        pq.PQfinish(listener->conn);
    listener->conn = NULL;
    listener->phase = PHASE_OFF;
}

void db_listener_free(struct db_listener *listener)
{
    if (!listener)
        return;
    db_listener_stop(listener);
    free(listener);
}

static int lost(struct db_listener *listener, struct err *err)
{
    /* Not the address: it may hold a password. */
    return err_set(err, ERR_STORAGE_FAILED, "listen on Postgres: %.*s",
                   STR_ARG(str_trim(str_from(pq.PQerrorMessage(listener->conn)))));
}

int db_listener_start(struct db_listener *listener, struct err *err)
{
    /* A server that vanished without a word is noticed within a minute. */
    const char *const keywords[] = { "application_name", "keepalives_idle", "keepalives_interval",
                                     "keepalives_count", "dbname",          NULL };
    const char *const values[] = {
        "dormouse-listener", "30", "10", "3", pg_of(listener->domain->engine)->url, NULL
    };

    db_listener_stop(listener);
    listener->conn = pq.PQconnectStartParams(keywords, values, 1);
    if (pq.PQstatus(listener->conn) == CONNECTION_BAD) {
        lost(listener, err);
        db_listener_stop(listener);
        return -1;
    }
    listener->phase = PHASE_CONNECTING;
    listener->wants = PGRES_POLLING_WRITING;
    return 0;
}

int db_listener_fd(const struct db_listener *listener)
{
    return listener->conn ? pq.PQsocket(listener->conn) : -1;
}

bool db_listener_writes(const struct db_listener *listener)
{
    return listener->phase == PHASE_CONNECTING ? listener->wants == PGRES_POLLING_WRITING
                                               : listener->unsent;
}

bool db_listener_reads(const struct db_listener *listener)
{
    return listener->phase != PHASE_CONNECTING || listener->wants == PGRES_POLLING_READING;
}

static void swallow_notice(void *arg, const PGresult *result)
{
    (void)arg, (void)result;
}

static int ask(struct db_listener *listener, struct err *err)
{
    AUTO_BUF text = BUF_INIT(1024);

    for (size_t i = 0; i < listener->count; i++)
        buf_printf(&text, "LISTEN %s;", listener->channels[i]);
    pq.PQsetNoticeReceiver(listener->conn, swallow_notice, NULL);
    if (pq.PQsetnonblocking(listener->conn, 1) != 0 ||
        !pq.PQsendQuery(listener->conn, buf_text(&text)))
        return lost(listener, err);
    listener->phase = PHASE_ASKING;
    return 0;
}

static int go_on_connecting(struct db_listener *listener, struct err *err)
{
    listener->wants = pq.PQconnectPoll(listener->conn);
    if (listener->wants == PGRES_POLLING_FAILED)
        return lost(listener, err);
    return listener->wants == PGRES_POLLING_OK ? ask(listener, err) : 0;
}

static int read_answers(struct db_listener *listener, struct err *err)
{
    while (!pq.PQisBusy(listener->conn)) {
        PGresult *result = pq.PQgetResult(listener->conn);
        bool ok = pq.PQresultStatus(result) == PGRES_COMMAND_OK;

        if (!result) {
            listener->phase = PHASE_LISTENING;
            return 0;
        }
        pq.PQclear(result);
        if (!ok)
            return lost(listener, err);
    }
    return 0;
}

static bool is_of(const struct domain *domain, const PGnotify *told)
{
    const struct pg *pg = pg_of(domain->engine);

    return pg->conn && told->be_pid == pq.PQbackendPID(pg->conn);
}

static unsigned bit_of(const struct db_listener *listener, const PGnotify *told)
{
    if (is_of(listener->domain, told) || is_of(listener->also, told))
        return 0;
    for (size_t i = 0; i < listener->count; i++)
        if (strcmp(listener->channels[i], told->relname) == 0)
            return 1u << i;
    return 0;
}

static int hear(struct db_listener *listener, unsigned *told, struct err *err)
{
    int left = pq.PQflush(listener->conn);

    if (left < 0 || !pq.PQconsumeInput(listener->conn))
        return lost(listener, err);
    listener->unsent = left > 0;
    if (listener->phase == PHASE_ASKING && read_answers(listener, err) < 0)
        return -1;
    for (PGnotify *one; (one = pq.PQnotifies(listener->conn)) != NULL; pq.PQfreemem(one))
        *told |= bit_of(listener, one);
    return pq.PQstatus(listener->conn) == CONNECTION_BAD ? lost(listener, err) : 0;
}

int db_listener_step(struct db_listener *listener, unsigned *ret_told, struct err *err)
{
    unsigned told = 0;

    BUG_IF(listener->phase == PHASE_OFF);
    if (listener->phase == PHASE_CONNECTING && go_on_connecting(listener, err) < 0)
        return -1;
    if (listener->phase > PHASE_CONNECTING && hear(listener, &told, err) < 0)
        return -1;
    *ret_told = told;
    return listener->phase == PHASE_LISTENING;
}
