/* Rows of sessions.
 *
 * SPDX-License-Identifier: MIT
 */
#include "agent/session.h"

#include "base/utf8.h"
#include "db/db.h"

#define LIST_MAX 1000
#define TOUCH_MS 1000 /* speaking again within it writes nothing */

static const char *const why_names[] = {
    [SESSION_OPEN] = "open",
    [SESSION_IDLE] = "idle",
    [SESSION_BY_PERSON] = "person",
    [SESSION_DESTROYED] = "destroyed",
};

const char *session_why_name(enum session_why why)
{
    return why_names[why];
}

static enum session_why why_of(struct str name)
{
    for (size_t i = SESSION_IDLE; i < ARRAY_LEN(why_names); i++)
        if (str_is(name, why_names[i]))
            return (enum session_why)i;
    return SESSION_OPEN;
}

#define SESSION_SELECT                                                                             \
    "SELECT id, agent_n, thread_n, created_at, last_at, expires_at, closed_at, closed_why"         \
    " FROM sessions "

static void read_row(struct stmt *q, struct arena *arena, struct session *ret_session)
{
    *ret_session = (struct session){
        .id = arena_str(arena, stmt_str(q, "id")),
        .agent_n = stmt_i64(q, "agent_n"),
        .thread_n = stmt_i64(q, "thread_n"),
        .created_at = stmt_i64(q, "created_at"),
        .last_at = stmt_i64(q, "last_at"),
        .expires_at = stmt_i64(q, "expires_at"),
        .closed_at = stmt_i64(q, "closed_at"),
        .why = why_of(stmt_str(q, "closed_why")),
    };
}

int session_find(struct domain *domain, struct str id, struct arena *arena,
                 struct session *ret_session, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain), SQL(SESSION_SELECT "WHERE id = ?"), &q, err) < 0)
        return -1;
    stmt_bind_str(q, id);
    r = stmt_step(q, err);
    if (r == 1)
        read_row(q, arena, ret_session);
    return r;
}

static int clamped(int limit)
{
    return limit < 1 ? 1 : limit > LIST_MAX ? LIST_MAX : limit;
}

static int read_rows(struct stmt *q, int limit, struct arena *arena, struct session **ret_sessions,
                     size_t *ret_count, struct err *err)
{
    struct session *list = ARENA_NEW_N(arena, struct session, (size_t)limit);
    size_t n = 0;
    int r = 1;

    while (n < (size_t)limit && (r = stmt_step(q, err)) == 1)
        read_row(q, arena, &list[n++]);
    if (r < 0)
        return -1;
    *ret_sessions = list;
    *ret_count = n;
    return 0;
}

int session_list(struct domain *domain, int64_t agent_n, bool open_only, int limit,
                 struct arena *arena, struct session **ret_sessions, size_t *ret_count,
                 struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL(SESSION_SELECT "WHERE agent_n = ? AND (? = 0 OR closed_at IS NULL)"
                                      " ORDER BY coalesce(last_at, created_at) DESC, id LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, agent_n);
    stmt_bind_i64(q, open_only);
    stmt_bind_i64(q, clamped(limit));
    return read_rows(q, clamped(limit), arena, ret_sessions, ret_count, err);
}

/* ---- speaking ---- */

static int check_touch(const struct agent *agent, struct str id, struct err *err)
{
    if (agent->lifecycle == AGENT_DESTROYED)
        return err_set(err, ERR_AGENT_DESTROYED, "the agent %s no longer exists", agent->id);
    if (!id.n || id.n > SESSION_ID_MAX || !utf8_valid(id))
        return err_set(err, ERR_BAD_REQUEST, "a session's id is 1 to %d bytes of UTF-8",
                       SESSION_ID_MAX);
    return 0;
}

static int64_t ttl_of(const struct agent *agent)
{
    return agent->session_ttl_ms ? agent->session_ttl_ms : AGENT_SESSION_TTL_MS;
}

/* It was spoken in a moment ago, and says what it would say now but for that moment. */
static bool is_fresh(const struct session *session, const struct agent *agent, int64_t now_ms)
{
    int64_t ago = now_ms - session->last_at;

    return !session->closed_at && ago >= 0 && ago < TOUCH_MS &&
           session->expires_at - session->last_at == ttl_of(agent);
}

static int store(struct domain *domain, const struct agent *agent, struct str id, int64_t thread_n,
                 int64_t now_ms, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("INSERT INTO sessions (id, agent_n, thread_n, created_at, last_at,"
                       " expires_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
                       " last_at = excluded.last_at, expires_at = excluded.expires_at,"
                       " closed_at = NULL, closed_why = NULL"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, id);
    stmt_bind_i64(q, agent->n);
    stmt_bind_i64(q, thread_n);
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, now_ms + ttl_of(agent));
    return stmt_run(q, err);
}

int session_touch(struct domain *domain, const struct agent *agent, struct str id, int64_t thread_n,
                  int64_t now_ms, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct session is = { .closed_at = 1 };
    int r;

    if (check_touch(agent, id, err) < 0)
        return -1;
    r = session_find(domain, id, &arena, &is, err);
    if (r < 0)
        return -1;
    if (r == 1 && (is.agent_n != agent->n || is.thread_n != thread_n))
        return err_set(err, ERR_CONFLICT, "session %.*s belongs to another conversation",
                       STR_ARG(utf8_truncate(id, 80)));
    if (r == 1 && is_fresh(&is, agent, now_ms))
        return 0;
    if (store(domain, agent, id, thread_n, now_ms, err) < 0)
        return -1;
    return is.closed_at ? 1 : 0;
}

/* ---- closing ---- */

int session_close(struct domain *domain, struct str id, enum session_why why, int64_t now_ms,
                  struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    AUTO(stmt) q = NULL;
    struct session is;
    int r = session_find(domain, id, &arena, &is, err);

    if (r < 0)
        return -1;
    if (r == 0)
        return err_set(err, ERR_NOT_FOUND, "there is no session \"%.*s\"",
                       STR_ARG(utf8_truncate(id, 80)));
    if (is.closed_at)
        return 0;
    if (db_prepare(domain_db(domain),
                   SQL("UPDATE sessions SET closed_at = ?, closed_why = ? WHERE id = ?"), &q,
                   err) < 0)
        return -1;
    stmt_bind_i64(q, now_ms);
    stmt_bind_text(q, why_names[why]);
    stmt_bind_str(q, id);
    return stmt_run(q, err) < 0 ? -1 : 1;
}

int sessions_close_all(struct domain *domain, int64_t agent_n, enum session_why why, int64_t now_ms,
                       struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL("UPDATE sessions SET closed_at = ?, closed_why = ?"
                       " WHERE agent_n = ? AND closed_at IS NULL"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, now_ms);
    stmt_bind_text(q, why_names[why]);
    stmt_bind_i64(q, agent_n);
    if (stmt_run(q, err) < 0)
        return -1;
    return (int)stmt_changes(q);
}

int sessions_due(struct domain *domain, int64_t now_ms, int limit, struct arena *arena,
                 struct session **ret_sessions, size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(domain),
                   SQL(SESSION_SELECT "WHERE closed_at IS NULL AND expires_at <= ?"
                                      " ORDER BY expires_at, id LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, now_ms);
    stmt_bind_i64(q, clamped(limit));
    return read_rows(q, clamped(limit), arena, ret_sessions, ret_count, err);
}

int sessions_expire(struct domain *domain, int64_t now_ms, int limit, struct arena *arena,
                    struct session **ret_sessions, size_t *ret_count, struct err *err)
{
    if (sessions_due(domain, now_ms, limit, arena, ret_sessions, ret_count, err) < 0)
        return -1;
    for (size_t i = 0; i < *ret_count; i++) {
        struct session *session = &(*ret_sessions)[i];

        if (session_close(domain, session->id, SESSION_IDLE, now_ms, err) < 0)
            return -1;
        session->closed_at = now_ms;
        session->why = SESSION_IDLE;
    }
    return 0;
}

int sessions_next(struct domain *domain, int64_t *ret_at, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(domain),
                   SQL("SELECT expires_at FROM sessions"
                       " WHERE closed_at IS NULL AND expires_at IS NOT NULL"
                       " ORDER BY expires_at LIMIT 1"),
                   &q, err) < 0)
        return -1;
    r = stmt_step(q, err);
    if (r == 1)
        *ret_at = stmt_i64(q, "expires_at");
    return r;
}
