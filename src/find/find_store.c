/* Reading the agent domain into the index.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/utf8.h"
#include "db/db.h"
#include "find/find_int.h"
#include "memory/conversation.h"

#define OVERLAP 100 /* several daemons on Postgres: rows may become visible out of order */

/* ---- cursors ---- */

int find_cursor_get(struct db *db, const char *source, int64_t *ret_position, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(db, SQL("SELECT position FROM find_cursors WHERE source = ?"), &q, err) < 0)
        return -1;
    stmt_bind_text(q, source);
    r = stmt_step(q, err);
    *ret_position = r == 1 ? stmt_i64(q, "position") : 0;
    return r < 0 ? -1 : 0;
}

int find_cursor_set(struct db *db, const char *source, int64_t position, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(db,
                   SQL("INSERT INTO find_cursors (source, position) VALUES (?, ?)"
                       " ON CONFLICT (source) DO UPDATE SET position = excluded.position"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, source);
    stmt_bind_i64(q, position);
    return stmt_run(q, err);
}

/* ---- documents ---- */

int find_drop(struct db *db, const char *ref, struct err *err)
{
    AUTO(stmt) text = NULL;
    AUTO(stmt) row = NULL;

    if (db_prepare(db,
                   SQL("DELETE FROM find_text WHERE rowid = (SELECT n FROM find_documents"
                       " WHERE ref = ?)"),
                   &text, err) < 0 ||
        db_prepare(db, SQL("DELETE FROM find_documents WHERE ref = ?"), &row, err) < 0)
        return -1;
    stmt_bind_text(text, ref);
    stmt_bind_text(row, ref);
    return stmt_run(text, err) < 0 || stmt_run(row, err) < 0 ? -1 : 0;
}

/* 1 added, 0 it is there. */
static int add_row(struct db *db, const struct find_document *document, int64_t *ret_n,
                   struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(db,
                   SQL("INSERT INTO find_documents (ref, kind, agent_id, thread_n, path, at)"
                       " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (ref) DO NOTHING RETURNING n"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, document->ref);
    stmt_bind_text(q, document->kind);
    stmt_bind_str(q, document->agent_id);
    stmt_bind_some_i64(q, document->thread_n);
    stmt_bind_str(q, document->path.n ? document->path : STR(""));
    stmt_bind_i64(q, document->at);
    r = stmt_step(q, err);
    if (r == 1)
        *ret_n = stmt_i64(q, "n");
    return r;
}

int find_add(struct db *db, const struct find_document *document, struct err *err)
{
    AUTO(stmt) q = NULL;
    int64_t n = 0;
    int r = add_row(db, document, &n, err);

    if (r <= 0)
        return r;
    if (db_prepare(db, SQL("INSERT INTO find_text (rowid, body) VALUES (?, ?)"), &q, err) < 0)
        return -1;
    stmt_bind_i64(q, n);
    stmt_bind_str(q, document->body);
    return stmt_run(q, err);
}

/* ---- beginning again ---- */

/* A domain is younger than the index (a backup was put back): what was read of it may be gone. */
int find_forget_all(struct find *find, struct err *err)
{
    struct db *db = domain_db(find->config.index_domain);
    AUTO(stmt) text = NULL;
    AUTO(stmt) documents = NULL;
    AUTO(stmt) cursors = NULL;

    if (db_prepare(db, SQL("DELETE FROM find_text"), &text, err) < 0 ||
        db_prepare(db, SQL("DELETE FROM find_documents"), &documents, err) < 0 ||
        db_prepare(db, SQL("DELETE FROM find_cursors"), &cursors, err) < 0)
        return -1;
    find->forgot = true;
    return stmt_run(text, err) < 0 || stmt_run(documents, err) < 0 || stmt_run(cursors, err) < 0
               ? -1
               : 0;
}

/* Where reading goes on and where it ends; what lies behind the newest row is not of this domain.
 */
static int span(struct find *find, const char *source, int64_t newest, int64_t *ret_position,
                struct err *err)
{
    if (find_cursor_get(domain_db(find->config.index_domain), source, ret_position, err) < 0)
        return -1;
    if (*ret_position <= newest)
        return 0;
    *ret_position = 0;
    return find_forget_all(find, err);
}

static int64_t overlapped(int64_t position)
{
    return position > OVERLAP ? position - OVERLAP : 0;
}

static int newest_in(struct db *db, struct sql sql, int64_t *ret_n, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(db, sql, &q, err) < 0 || stmt_step(q, err) < 0)
        return -1;
    *ret_n = stmt_i64(q, "n");
    return 0;
}

/* ---- messages ---- */

static int add_message(struct find *find, struct stmt *q, struct arena *arena, struct err *err)
{
    struct find_document document = {
        .ref = arena_printf(arena, "message:%lld", (long long)stmt_i64(q, "n")),
        .kind = "message",
        .agent_id = stmt_str(q, "agent_id"),
        .thread_n = stmt_i64(q, "thread_n"),
        .at = stmt_i64(q, "created_at"),
        .body = message_line(stmt_str(q, "content"), FIND_BODY_BYTES, arena),
    };

    if (!document.body.n)
        return 0;
    return find_add(domain_db(find->config.index_domain), &document, err);
}

/* What people and agents said; not what tools answered. */
static int prepare_messages(struct db *db, int64_t after, int limit, struct stmt **ret_q,
                            struct err *err)
{
    if (db_prepare(db,
                   SQL("SELECT m.n, m.kind, m.thread_n, m.created_at, a.id AS agent_id,"
                       " CASE WHEN m.kind IN ('user', 'thought', 'summary') THEN"
                       " coalesce(m.content, p.content) END AS content"
                       " FROM agent_messages AS m JOIN agents AS a ON a.n = m.agent_n"
                       " LEFT JOIN agent_message_payloads AS p ON p.n = m.content_entry_n"
                       " WHERE m.n > ? ORDER BY m.n LIMIT ?"),
                   ret_q, err) < 0)
        return -1;
    stmt_bind_i64(*ret_q, after);
    stmt_bind_i64(*ret_q, limit);
    return 0;
}

int find_read_messages(struct find *find, int limit, size_t *ret_count, struct err *err)
{
    struct db *from = domain_db(find->config.agent_domain);
    struct db *to = domain_db(find->config.index_domain);
    AUTO_ARENA arena = ARENA_INIT;
    AUTO(stmt) q = NULL;
    int64_t position, newest, after, last = 0;
    int r;

    *ret_count = 0;
    if (newest_in(from, SQL("SELECT max(n) AS n FROM agent_messages"), &newest, err) < 0 ||
        span(find, "messages", newest, &position, err) < 0)
        return -1;
    if (newest <= position)
        return 0;
    after = overlapped(position);
    if (prepare_messages(from, after, limit + (int)(position - after), &q, err) < 0)
        return -1;
    while ((r = stmt_step(q, err)) == 1) {
        arena_reset(&arena);
        last = stmt_i64(q, "n");
        *ret_count += last > position;
        if (add_message(find, q, &arena, err) < 0)
            return -1;
    }
    if (r < 0)
        return -1;
    if (*ret_count > (size_t)limit)
        *ret_count = (size_t)limit;
    return last > position ? find_cursor_set(to, "messages", last, err) : 0;
}

/* ---- files ---- */

/* A file of an agent, as it is now; of whatever happened to it in between nothing is left. What is
 * no text is found by its name. */
static int add_file(struct find *find, struct stmt *q, struct arena *arena, struct err *err)
{
    struct db *to = domain_db(find->config.index_domain);
    struct str tree = stmt_str(q, "tree"), path = stmt_str(q, "path");
    struct str content = stmt_blob(q, "content");
    struct find_document document = {
        .ref = arena_printf(arena, "file:%lld", (long long)stmt_i64(q, "file_n")),
        .kind = "file",
        .agent_id = str_skip(tree, STR("agents/").n),
        .path = path,
        .at = stmt_i64(q, "updated_at"),
    };

    if (find_drop(to, document.ref, err) < 0)
        return -1;
    if (!str_starts(tree, STR("agents/")) || !stmt_is_null(q, "deleted_at"))
        return 0;
    content = utf8_valid(content) ? utf8_truncate(content, FIND_BODY_BYTES) : STR("");
    document.body = str_from(arena_printf(arena, "%.*s\n%.*s", STR_ARG(path), STR_ARG(content)));
    return find_add(to, &document, err);
}

static int prepare_files(struct db *db, int64_t after, int limit, struct stmt **ret_q,
                         struct err *err)
{
    if (db_prepare(db,
                   SQL("SELECT e.n, f.n AS file_n, f.tree, f.path, f.updated_at, f.deleted_at,"
                       " v.content FROM file_events AS e JOIN files AS f ON f.n = e.file_n"
                       " JOIN file_versions AS v ON v.file_n = f.n AND v.version = f.version"
                       " WHERE e.n > ? ORDER BY e.n LIMIT ?"),
                   ret_q, err) < 0)
        return -1;
    stmt_bind_i64(*ret_q, after);
    stmt_bind_i64(*ret_q, limit);
    return 0;
}

int find_read_files(struct find *find, int limit, size_t *ret_count, struct err *err)
{
    struct db *from = domain_db(find->config.agent_domain);
    struct db *to = domain_db(find->config.index_domain);
    AUTO_ARENA arena = ARENA_INIT;
    AUTO(stmt) q = NULL;
    int64_t position, newest, after, last = 0;
    int r;

    *ret_count = 0;
    if (newest_in(from, SQL("SELECT max(n) AS n FROM file_events"), &newest, err) < 0 ||
        span(find, "files", newest, &position, err) < 0)
        return -1;
    if (newest <= position)
        return 0;
    after = overlapped(position);
    if (prepare_files(from, after, limit + (int)(position - after), &q, err) < 0)
        return -1;
    while ((r = stmt_step(q, err)) == 1) {
        arena_reset(&arena);
        last = stmt_i64(q, "n");
        *ret_count += last > position;
        if (add_file(find, q, &arena, err) < 0)
            return -1;
    }
    if (r < 0)
        return -1;
    if (*ret_count > (size_t)limit)
        *ret_count = (size_t)limit;
    return last > position ? find_cursor_set(to, "files", last, err) : 0;
}
