/* The connection to Postgres and the queue of what was sent on it.
 *
 * libpq is non-blocking here and we wait in poll(), reading while there is something to write: a
 * server that can't get rid of its answers would otherwise stop taking our statements, and both
 * would wait for ever.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "db/pg_int.h"

/* ---- transactions ---- */

/* A tick is never run twice, so it must not fail because of what others did at the same time:
 * read committed (the session's default), with fencing numbers and row locks where it matters. What
 * is retried gets the strictest isolation; a reader one state, as in SQLite.
 *
 * They begin and end every transaction, so the server parses them once: each is prepared under its
 * own text. */
static const char *const control_texts[] = {
    [DB_BEGIN] = "BEGIN",
    [DB_BEGIN_READ] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    [DB_BEGIN_SERIALIZABLE] = "BEGIN ISOLATION LEVEL SERIALIZABLE",
    [DB_COMMIT] = "COMMIT",
    [DB_ROLLBACK] = "ROLLBACK",
    [DB_SAVEPOINT] = "SAVEPOINT unit",
    [DB_RELEASE] = "RELEASE SAVEPOINT unit",
    [DB_ROLLBACK_TO] = "ROLLBACK TO SAVEPOINT unit",
};

static int prepare_controls(struct pg *pg, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(control_texts); i++) {
        if (!pq.PQsendPrepare(pg->conn, control_texts[i], control_texts[i], 0, NULL))
            return pg_send_failed(pg, err);
        pg_note_sent(pg, (struct pg_sent){ .kind = PG_PREPARE, .text = control_texts[i] });
    }
    return pg_settle(pg, err);
}

int pg_send_control(struct pg *pg, enum db_control what, struct err *err)
{
    const char *text = control_texts[what];

    if (pg_make_room(pg, 2, err) < 0)
        return -1;
    if (!pq.PQsendQueryPrepared(pg->conn, text, 0, NULL, NULL, NULL, 0))
        return pg_send_failed(pg, err);
    pg_note_sent(pg, (struct pg_sent){ .kind = PG_CONTROL, .text = text });
    return 0;
}

/* ---- connecting ---- */

static void swallow_notice(void *arg, const PGresult *result)
{
    (void)arg, (void)result;
}

void pg_disconnect(struct pg *pg)
{
    pq.PQfinish(pg->conn);
    pg->conn = NULL;
    pg->first = pg->count = 0;
    pg->queued_bytes = pg->writes = pg->garbage_count = 0;
    pg->epoch++;
}

/* All that is set per session, so that values look the same whatever the server's defaults are. */
static int set_session(struct pg *pg, struct err *err)
{
    AUTO_BUF text = BUF_INIT(4096);

    buf_printf(&text,
               "SET client_encoding = 'UTF8'; SET standard_conforming_strings = on;"
               " SET bytea_output = 'hex'; SET extra_float_digits = 1; SET TimeZone = 'UTC';"
               " SET lock_timeout = %d; SET synchronous_commit = %s;"
               " SET idle_in_transaction_session_timeout = " PG_IDLE_MS ";"
               " SET default_transaction_isolation = 'read committed';"
               " SET default_transaction_read_only = %s; SET search_path = \"%s\"",
               pg->busy_ms, pg->sync == DB_SYNC_NORMAL ? "off" : "on",
               pg->db.read_only ? "on" : "off", pg->schema);
    return pg_simple(pg, buf_text(&text), err);
}

/* The address comes as dbname, which libpq takes apart; what follows has less weight only where the
 * address says something itself. */
#define PG_ADDRESS(url)                                                                            \
    (const char *const[]){ "connect_timeout", "application_name", "dbname", NULL },                \
        (const char *const[]){ PG_CONNECT_S, "dormouse", (url), NULL }, 1

/* A server that lets nobody in (it is down, or starts) may let us in later. One that answers and
 * refuses this address, user or password will not; but the line may have broken in between, so it
 * is asked twice. */
static bool is_refused(struct pg *pg)
{
    PGPing ping = pq.PQpingParams(PG_ADDRESS(pg->url));

    if (ping != PQPING_OK)
        return ping == PQPING_NO_ATTEMPT; /* the address itself is wrong */
    pq.PQfinish(pg->conn);
    pg->conn = pq.PQconnectdbParams(PG_ADDRESS(pg->url));
    return pq.PQstatus(pg->conn) != CONNECTION_OK &&
           pq.PQpingParams(PG_ADDRESS(pg->url)) == PQPING_OK;
}

static int give_connection_up(struct pg *pg, bool refused, int64_t begun_ms, struct err *err)
{
    int64_t now = clock_mono_ms(clock_system());

    /* Not the address: it may hold a password. */
    err_set(err, refused ? ERR_BAD_REQUEST : ERR_STORAGE_FAILED, "connect to Postgres: %.*s",
            STR_ARG(str_trim(str_from(pq.PQerrorMessage(pg->conn)))));
    pg_disconnect(pg);
    if (pg->db.health == DOMAIN_OK)
        pg->db.health = DOMAIN_AWAY;
    pg->retry_ms = now + PG_PATIENCE * (now - begun_ms);
    return db_fail(&pg->db, DB_GONE);
}

int pg_connect(struct pg *pg, struct err *err)
{
    int64_t begun = clock_mono_ms(clock_system());

    if (pg->conn)
        pg_disconnect(pg);
    if (pg->db.health == DOMAIN_AWAY && begun < pg->retry_ms) {
        err_set(err, ERR_STORAGE_FAILED, "Postgres can't be reached; it is tried again soon");
        return db_fail(&pg->db, DB_GONE);
    }
    pg->conn = pq.PQconnectdbParams(PG_ADDRESS(pg->url));
    if (pq.PQstatus(pg->conn) != CONNECTION_OK) {
        bool refused = is_refused(pg);

        if (pq.PQstatus(pg->conn) != CONNECTION_OK)
            return give_connection_up(pg, refused, begun, err);
    }
    pq.PQsetNoticeReceiver(pg->conn, swallow_notice, NULL);
    if (pq.PQsetnonblocking(pg->conn, 1) != 0 || pq.PQenterPipelineMode(pg->conn) != 1) {
        pg_disconnect(pg);
        return err_set(err, ERR_INTERNAL, "libpq has no pipeline mode");
    }
    if (set_session(pg, err) < 0 || prepare_controls(pg, err) < 0) {
        if (pg->conn)
            pg_disconnect(pg);
        return err_wrap(err, "set up the session");
    }
    if (pg->db.health == DOMAIN_AWAY)
        pg->db.health = DOMAIN_OK;
    return 0;
}

/* ---- waiting ---- */

/* The transaction, if there is one, is lost with the connection; whether a commit under way was
 * carried out nobody knows. */
static int pg_lost(struct pg *pg, const char *why, struct err *err)
{
    err_set(err, ERR_STORAGE_FAILED, "the connection to Postgres was lost: %.*s",
            STR_ARG(str_trim(str_from(why))));
    pg_disconnect(pg);
    pg->failed = false;
    return db_fail(&pg->db, DB_GONE);
}

static int wait_for_server(struct pg *pg, bool writing, struct err *err)
{
    struct pollfd fd = { .fd = pq.PQsocket(pg->conn),
                         .events = (short)(POLLIN | (writing ? POLLOUT : 0)) };
    int r;

    do
        r = poll(&fd, 1, PG_SILENCE_MS);
    while (r < 0 && errno == EINTR);
    if (r <= 0)
        return pg_lost(pg, r == 0 ? "the server is silent" : strerror(errno), err);
    if (fd.revents & (POLLIN | POLLERR | POLLHUP) && !pq.PQconsumeInput(pg->conn))
        return pg_lost(pg, pq.PQerrorMessage(pg->conn), err);
    return 0;
}

int pg_next_result(struct pg *pg, PGresult **ret_result, struct err *err)
{
    for (;;) {
        int left = pq.PQflush(pg->conn);

        if (left < 0)
            return pg_lost(pg, pq.PQerrorMessage(pg->conn), err);
        if (!pq.PQisBusy(pg->conn))
            break;
        if (wait_for_server(pg, left > 0, err) < 0)
            return -1;
    }
    *ret_result = pq.PQgetResult(pg->conn);
    if (pq.PQstatus(pg->conn) == CONNECTION_BAD) {
        pq.PQclear(*ret_result);
        return pg_lost(pg, pq.PQerrorMessage(pg->conn), err);
    }
    return 0;
}

/* ---- the queue ---- */

static struct pg_sent *oldest(struct pg *pg)
{
    return pg->count ? &pg->queue[pg->first] : NULL;
}

void pg_pop(struct pg *pg)
{
    pg->first = (pg->first + 1) % PG_QUEUE_MAX;
    pg->count--;
    if (pg->count == 0)
        pg->queued_bytes = 0;
}

void pg_note_sent(struct pg *pg, struct pg_sent sent)
{
    BUG_IF(pg->count == PG_QUEUE_MAX);
    pg->queue[(pg->first + pg->count++) % PG_QUEUE_MAX] = sent;
}

/* The statement still waits for the answers to this run. */
static bool is_awaited(const struct pg_sent *sent)
{
    return sent->kind == PG_QUERY && sent->stmt && sent->stmt->serial == sent->serial;
}

int pg_send_failed(struct pg *pg, struct err *err)
{
    if (pq.PQstatus(pg->conn) == CONNECTION_BAD)
        return pg_lost(pg, pq.PQerrorMessage(pg->conn), err);
    return err_set(err, ERR_INTERNAL, "libpq: %.*s",
                   STR_ARG(str_trim(str_from(pq.PQerrorMessage(pg->conn)))));
}

int pg_send_sync(struct pg *pg, struct err *err)
{
    if (!pq.PQpipelineSync(pg->conn))
        return pg_send_failed(pg, err);
    pg_note_sent(pg, (struct pg_sent){ .kind = PG_SYNC, .text = "" });
    return 0;
}

static void note_failure(struct pg *pg, const struct pg_sent *sent, enum db_trouble trouble,
                         const struct err *why)
{
    /* Outside of a transaction nobody misses a read that was given up. */
    bool given_up = sent->kind == PG_QUERY && !is_awaited(sent) && !pg->db.in_transaction;

    if (pg->failed || given_up)
        return;
    pg->failed = true;
    pg->failed_trouble = trouble;
    pg->failure = *why;
    err_wrap(&pg->failure, "\"%.*s\"", STR_ARG(db_sql_name(sent->text)));
}

/* Rows for a statement that is still in this run are kept for it, others dropped. */
static void keep_rows(struct pg *pg, const struct pg_sent *sent, PGresult *result)
{
    struct pg_stmt *stmt = sent->stmt;
    struct err why = ERR_INIT;

    if (!is_awaited(sent) || pq.PQntuples(result) == 0) {
        pq.PQclear(result);
    } else if (pg_rows_add(&stmt->held, result) < 0) {
        err_set(&why, ERR_TOO_LARGE,
                "more than %u MiB of rows were left unread when another statement ran",
                PG_HELD_BYTES_MAX / MIB);
        note_failure(pg, sent, DB_REFUSED, &why);
    }
}

static void finish_run(const struct pg_sent *sent, PGresult *result)
{
    int64_t changes = 0;

    if (!is_awaited(sent))
        return;
    str_to_i64(str_from(pq.PQcmdTuples(result)), &changes);
    if (strncmp(pq.PQcmdStatus(result), "SELECT", 6) == 0)
        changes = 0;
    sent->stmt->changes = changes;
}

/* COMMIT of a failed transaction succeeds, but says ROLLBACK. */
static void check_commit(struct pg *pg, const struct pg_sent *sent, PGresult *result)
{
    struct err why = ERR_INIT;

    if (sent->kind == PG_CONTROL && strcmp(sent->text, "COMMIT") == 0 &&
        strcmp(pq.PQcmdStatus(result), "COMMIT") != 0) {
        err_set(&why, ERR_STORAGE_FAILED, "the server rolled the transaction back");
        note_failure(pg, sent, DB_REFUSED, &why);
    }
}

void pg_digest(struct pg *pg, const struct pg_sent *sent, PGresult *result)
{
    struct err why = ERR_INIT;

    if (sent->kind == PG_PREPARE && sent->stmt)
        pg_prepared(sent->stmt, sent->serial, result);
    if (sent->kind == PG_DESCRIBE && sent->stmt)
        pg_described(sent->stmt, sent->serial, result);
    switch (pq.PQresultStatus(result)) {
    case PGRES_COMMAND_OK:
        finish_run(sent, result);
        check_commit(pg, sent, result);
        break;
    case PGRES_TUPLES_OK:
        finish_run(sent, result);
        keep_rows(pg, sent, result);
        return;
    case PGRES_SINGLE_TUPLE:
        keep_rows(pg, sent, result);
        return;
    case PGRES_PIPELINE_ABORTED: /* follows an error that was noted already */
    case PGRES_PIPELINE_SYNC:
        break;
    default: {
        enum db_trouble trouble = pg_result_error(result, &why);

        note_failure(pg, sent, trouble, &why);
    }
    }
    pq.PQclear(result);
}

/* All answers of the oldest entry. A sync has one, other entries end with a NULL. */
static int read_oldest(struct pg *pg, struct err *err)
{
    for (;;) {
        struct pg_sent sent = *oldest(pg);
        PGresult *result = NULL;
        bool synced;

        if (pg_next_result(pg, &result, err) < 0)
            return -1;
        if (!result && sent.kind == PG_SYNC)
            continue;
        if (!result)
            break;
        synced = pq.PQresultStatus(result) == PGRES_PIPELINE_SYNC;
        pg_digest(pg, &sent, result);
        if (synced)
            break;
    }
    struct pg_sent *sent = oldest(pg);

    if (is_awaited(sent))
        sent->stmt->answered = true;
    pg_pop(pg);
    return 0;
}

int pg_read_up_to(struct pg *pg, const struct pg_stmt *stmt, struct err *err)
{
    while (pg->count) {
        const struct pg_sent *sent = oldest(pg);

        if (stmt && sent->stmt == stmt && is_awaited(sent))
            return 0;
        if (read_oldest(pg, err) < 0)
            return -1;
    }
    return 0;
}

int pg_read_sync(struct pg *pg, struct err *err)
{
    if (pg->count && oldest(pg)->kind == PG_SYNC)
        return read_oldest(pg, err);
    return 0;
}

int pg_take_failure(struct pg *pg, struct err *err)
{
    if (!pg->failed)
        return 0;
    pg->failed = false;
    *err = pg->failure;
    return db_fail(&pg->db, pg->failed_trouble);
}

int pg_settle(struct pg *pg, struct err *err)
{
    if (!pg->conn)
        return pg_take_failure(pg, err);
    if (pg->count && pg_send_sync(pg, err) < 0)
        return -1;
    if (pg_read_up_to(pg, NULL, err) < 0)
        return -1;
    pg->writes = 0;
    return pg_take_failure(pg, err);
}

int pg_make_room(struct pg *pg, size_t n, struct err *err)
{
    /* One place stays free for the sync that ends the queue. */
    if (pg->count + n + 1 < PG_QUEUE_MAX && pg->queued_bytes < PG_QUEUE_BYTES_MAX)
        return 0;
    return pg_settle(pg, err);
}

/* A server that went away while nothing was under way has closed the socket: look before use. */
static bool has_ended(struct pg *pg)
{
    struct pollfd fd = { .fd = pq.PQsocket(pg->conn), .events = POLLIN };
    struct err ignored = ERR_INIT;

    /* The rest of results that were not read to their end. */
    if (pg_read_up_to(pg, NULL, &ignored) < 0)
        return true;
    if (pq.PQstatus(pg->conn) == CONNECTION_BAD)
        return true;
    /* First comes its last word, then the end of the stream. */
    while (poll(&fd, 1, 0) > 0)
        if (!pq.PQconsumeInput(pg->conn) || pq.PQstatus(pg->conn) == CONNECTION_BAD)
            return true;
    return false;
}

void pg_name(uint64_t number, char name[PG_NAME_SIZE])
{
    snprintf(name, PG_NAME_SIZE, "s%llu", (unsigned long long)number);
}

void pg_discard_name(struct pg *pg, uint64_t name)
{
    if (pg->garbage_count < PG_GARBAGE_MAX)
        pg->garbage[pg->garbage_count++] = name;
}

/* Costs a round trip, so only when it is worth one. A name that is not known there (its prepare
 * was skipped after an error) is of no harm. */
static void empty_garbage(struct pg *pg)
{
    AUTO_BUF text = BUF_INIT(PG_GARBAGE_MAX * 64);
    struct err ignored = ERR_INIT;
    char name[PG_NAME_SIZE];

    while (pg->garbage_count) {
        pg_name(pg->garbage[--pg->garbage_count], name);
        buf_printf(&text, "DEALLOCATE %s;", name);
    }
    if (pg_simple(pg, buf_text(&text), &ignored) < 0)
        pg->failed = false;
}

int pg_ready(struct pg *pg, struct err *err)
{
    if (!pg->conn || has_ended(pg))
        return pg_connect(pg, err);
    if (pg->garbage_count >= PG_GARBAGE_MAX / 2)
        empty_garbage(pg);
    return pg->conn ? 0 : pg_connect(pg, err);
}

/* ---- scripts ---- */

int pg_simple(struct pg *pg, const char *text, struct err *err)
{
    static const struct pg_sent script = { .kind = PG_CONTROL, .text = "script" };
    PGresult *result = NULL;

    if (pg_settle(pg, err) < 0)
        return -1;
    if (!pq.PQexitPipelineMode(pg->conn) || !pq.PQsendQuery(pg->conn, text))
        return pg_send_failed(pg, err);
    do {
        if (pg_next_result(pg, &result, err) < 0)
            return -1;
        if (result)
            pg_digest(pg, &script, result);
    } while (result);
    if (!pq.PQenterPipelineMode(pg->conn))
        return pg_send_failed(pg, err);
    return pg_take_failure(pg, err);
}
