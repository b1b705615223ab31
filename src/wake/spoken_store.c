/* Wakes by a person's word, read from runs.
 *
 * Who speaks to an agent does not wait in a queue: the run begins in the transaction that stores
 * the words. Its row has the key that the wake would have, when it began, how it stands and how it
 * ended, so a second row would say the same again, and cost every turn its writing. What was woken
 * otherwise has its wake_key.
 *
 * SPDX-License-Identifier: MIT
 */
#include "wake/spoken_int.h"

#include "base/json.h"
#include "base/json_put.h"
#include "base/utf8.h"
#include "db/db.h"
#include "run/run.h"

#define WORDS_SHOWN  (16 * KIB)
#define WORDS_LISTED (1 * KIB)

#define SPOKEN_SELECT                                                                              \
    "SELECT r.n, r.run_key, r.agent_n, a.id AS agent_id, t.id AS thread_id, r.wake_reason,"        \
    " r.status, r.stop_reason, r.error_code, r.error_message, r.rerun_of_n, r.created_at,"         \
    " r.ended_at, m.content FROM runs r JOIN agents a ON a.n = r.agent_n"                          \
    " JOIN threads t ON t.n = r.thread_n LEFT JOIN agent_messages m ON m.n = r.prompt_n "          \
    "WHERE r.wake_key IS NULL "

/* ---- reading ---- */

static enum wake_status status_of(struct str status)
{
    if (str_is(status, "done"))
        return WAKE_COMPLETED;
    return str_is(status, "failed") || str_is(status, "cancelled") ? WAKE_FAILED_TERMINAL
                                                                   : WAKE_RUNNING;
}

/* "a person spoke to it in the session s", where it is a conversation with a name. */
static const char *began_of(struct stmt *q, struct arena *arena)
{
    struct str agent = stmt_str(q, "agent_id"), thread = stmt_str(q, "thread_id");
    const char *own = arena_printf(arena, "%.*s:session:", STR_ARG(agent));

    if (!stmt_is_null(q, "rerun_of_n"))
        return "a person had an earlier run done again";
    if (!str_starts(thread, str_from(own)))
        return "a person spoke to it";
    return arena_printf(arena, "a person spoke to it in the session %.*s",
                        STR_ARG(str_skip(thread, strlen(own))));
}

static struct str why_of(struct stmt *q, enum wake_status status, struct arena *arena)
{
    const char *began = began_of(q, arena);

    if (status == WAKE_RUNNING)
        return str_from(began);
    if (status == WAKE_COMPLETED)
        return str_from(arena_printf(arena, "%s; its run is done", began));
    if (str_is(stmt_str(q, "stop_reason"), "cancelled"))
        return STR("a person stopped its run");
    return str_from(arena_printf(arena, "%s; its run failed: %.*s", began,
                                 STR_ARG(stmt_str(q, "error_message"))));
}

static struct str words_of(struct str prompt, size_t most, struct arena *arena)
{
    AUTO_BUF out = BUF_INIT(WAKE_PAYLOAD_MAX);
    struct json_writer w = JSON_WRITER(&out);

    json_write_object_begin(&w);
    json_put_str(&w, "words", utf8_truncate(prompt, most));
    json_write_object_end(&w);
    return arena_str(arena, buf_str(&out));
}

/* Of a run that has just begun, or began with many words, its row does not lead there at once. */
static void read_words(struct domain *domain, struct wake_job *job, struct arena *arena)
{
    struct err ignored = ERR_INIT;
    struct run_info info;

    if (!job->payload.n && run_info_get(domain, job->run_key, arena, &info, &ignored) == 0)
        job->payload = words_of(info.prompt, WORDS_LISTED, arena);
}

static struct str listed_words(struct str content, struct arena *arena)
{
    AUTO_JSON message = NULL;

    if (!content.n || json_parse(content, &message, NULL) < 0)
        return STR_NONE;
    return words_of(json_str(json_find(message, "text")), WORDS_LISTED, arena);
}

static void read_row(struct stmt *q, struct arena *arena, struct wake_job *ret_job)
{
    enum wake_status status = status_of(stmt_str(q, "status"));
    struct str error = stmt_str(q, "error_code"), key = arena_str(arena, stmt_str(q, "run_key"));

    *ret_job = (struct wake_job){
        .n = stmt_i64(q, "n"),
        .spoken = true,
        .run_key = key,
        .run_id = key,
        .agent_n = stmt_i64(q, "agent_n"),
        .agent_id = arena_str(arena, stmt_str(q, "agent_id")),
        .thread_id = arena_str(arena, stmt_str(q, "thread_id")),
        .reason = arena_str(arena, stmt_str(q, "wake_reason")),
        .status = status,
        .why = why_of(q, status, arena),
        .payload = listed_words(stmt_str(q, "content"), arena),
        .attempts = 1,
        .created_at = stmt_i64(q, "created_at"),
        .started_at = stmt_i64(q, "created_at"),
        .ended_at = stmt_i64(q, "ended_at"),
    };
    if (status == WAKE_FAILED_TERMINAL && str_is(stmt_str(q, "stop_reason"), "cancelled"))
        ret_job->error_code = STR("cancelled");
    else if (error.n)
        ret_job->error_code = arena_str(arena, error);
}

/* ---- lists ---- */

/* Runs up to this one are older. A page of wakes reaches so far back that few of the runs between
 * were woken by anything else. */
static int find_floor(struct domain *domain, int64_t oldest_ms, int64_t *ret_n, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    *ret_n = 0;
    if (!oldest_ms)
        return 0;
    if (db_prepare(domain_db(domain),
                   SQL("SELECT n FROM runs WHERE created_at < ? ORDER BY created_at DESC, n DESC"
                       " LIMIT 1"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, oldest_ms);
    r = stmt_step(q, err);
    if (r == 1)
        *ret_n = stmt_i64(q, "n");
    return r < 0 ? -1 : 0;
}

#define PAGE " AND r.n > ? AND r.n < ? ORDER BY r.n DESC LIMIT ?"

static struct sql list_sql(const struct wake_filter *filter)
{
    bool one = filter->agent_n != 0;

    switch (filter->status) {
    case WAKE_RUNNING:
        return one ? SQL(SPOKEN_SELECT "AND r.agent_n = ? AND r.ended_at IS NULL" PAGE)
                   : SQL(SPOKEN_SELECT "AND r.ended_at IS NULL" PAGE);
    case WAKE_COMPLETED:
        return one ? SQL(SPOKEN_SELECT "AND r.agent_n = ? AND r.status = 'done'" PAGE)
                   : SQL(SPOKEN_SELECT "AND r.status = 'done'" PAGE);
    case WAKE_FAILED_TERMINAL:
        return one ? SQL(SPOKEN_SELECT
                         "AND r.agent_n = ? AND r.status IN ('failed', 'cancelled')" PAGE)
                   : SQL(SPOKEN_SELECT "AND r.status IN ('failed', 'cancelled')" PAGE);
    default:
        return one ? SQL(SPOKEN_SELECT "AND r.agent_n = ?" PAGE) : SQL(SPOKEN_SELECT PAGE);
    }
}

/* Nobody's word waits in a queue, is skipped or taken along; and it is no subscription's. */
static bool can_be_spoken(const struct wake_filter *filter)
{
    return !filter->reason_id.n &&
           (!filter->status || filter->status == WAKE_RUNNING || filter->status == WAKE_COMPLETED ||
            filter->status == WAKE_FAILED_TERMINAL);
}

int spoken_list(struct domain *domain, const struct wake_filter *filter, int limit,
                int64_t oldest_ms, struct arena *arena, struct wake_job *ret_jobs,
                size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;
    int64_t floor_n;
    size_t n = 0;
    int r;

    *ret_count = 0;
    if (!can_be_spoken(filter))
        return 0;
    if (find_floor(domain, oldest_ms, &floor_n, err) < 0 ||
        db_prepare(domain_db(domain), list_sql(filter), &q, err) < 0)
        return -1;
    if (filter->agent_n)
        stmt_bind_i64(q, filter->agent_n);
    stmt_bind_i64(q, floor_n);
    stmt_bind_i64(q, filter->before_run_n > 0 ? filter->before_run_n : INT64_MAX);
    stmt_bind_i64(q, limit);
    while ((r = stmt_step(q, err)) == 1)
        read_row(q, arena, &ret_jobs[n++]);
    for (size_t i = 0; r == 0 && i < n; i++)
        read_words(domain, &ret_jobs[i], arena);
    *ret_count = n;
    return r;
}

int wake_last_run_at(struct domain *domain, int64_t agent_n, int64_t *ret_at, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT created_at FROM runs WHERE agent_n = ? ORDER BY n DESC LIMIT 1"), &q,
                   err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    r = stmt_step(q, err);
    if (r < 0)
        return -1;
    *ret_at = r ? stmt_i64(q, "created_at") : 0;
    return 0;
}

/* ---- one ---- */

int spoken_get(struct domain *domain, struct str run_key, struct arena *arena,
               struct wake_job *ret_job, struct err *err)
{
    AUTO(stmt) q = NULL;
    struct run_info info;
    int r;

    if (db_prepare(domain_db(domain), SQL(SPOKEN_SELECT "AND r.run_key = ?"), &q, err) < 0)
        return -1;
    stmt_bind_str(q, run_key);
    r = stmt_step(q, err);
    if (r <= 0)
        return r;
    read_row(q, arena, ret_job);
    if (run_info_get(domain, run_key, arena, &info, err) < 0)
        return -1;
    ret_job->payload = words_of(info.prompt, WORDS_SHOWN, arena);
    return 1;
}
