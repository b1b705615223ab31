/* Rows of files, their versions and events.
 *
 * SPDX-License-Identifier: MIT
 */
#include "change/taint.h"
#include "db/db.h"
#include "files/files_int.h"

#define FILE_COLUMNS                                                                               \
    "f.n, f.path, f.content_type, f.created_at, v.version, v.hash, v.size, v.author, v.reason,"    \
    " v.inbox_id, v.taint, v.created_at AS updated_at"
#define FROM_HEAD                                                                                  \
    " FROM files AS f JOIN file_versions AS v ON v.file_n = f.n AND v.version = f.version "

static struct str text_of(struct stmt *q, const char *column, struct arena *arena)
{
    return arena_str(arena, stmt_str(q, column));
}

static void read_row(struct stmt *q, struct arena *arena, struct file *ret_file)
{
    *ret_file = (struct file){
        .n = stmt_i64(q, "n"),
        .path = text_of(q, "path", arena),
        .content_type = text_of(q, "content_type", arena),
        .hash = text_of(q, "hash", arena),
        .version = stmt_i64(q, "version"),
        .size = stmt_i64(q, "size"),
        .deleted = stmt_is_null(q, "hash"),
        .created_at = stmt_i64(q, "created_at"),
        .updated_at = stmt_i64(q, "updated_at"),
        .author = text_of(q, "author", arena),
        .reason = text_of(q, "reason", arena),
        .inbox_id = text_of(q, "inbox_id", arena),
        .taint = text_of(q, "taint", arena),
    };
}

int store_head(struct files *files, struct str tree, struct str folded, struct arena *arena,
               struct file *ret_file, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(files->domain),
                   SQL("SELECT " FILE_COLUMNS FROM_HEAD "WHERE f.tree = ? AND f.folded = ?"), &q,
                   err) < 0)
        return -1;
    stmt_bind_str(q, tree);
    stmt_bind_str(q, folded);
    r = stmt_step(q, err);
    if (r == 1)
        read_row(q, arena, ret_file);
    return r;
}

int store_version(struct files *files, int64_t file_n, int64_t version, struct arena *arena,
                  struct file *ret_file, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(files->domain),
                   SQL("SELECT " FILE_COLUMNS ", v.content FROM files AS f JOIN file_versions AS v"
                       " ON v.file_n = f.n WHERE f.n = ? AND v.version = ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, file_n);
    stmt_bind_i64(q, version);
    r = stmt_step(q, err);
    if (r == 1) {
        read_row(q, arena, ret_file);
        ret_file->content = arena_str(arena, stmt_blob(q, "content"));
    }
    return r;
}

/* Rows into an array that doubles; arenas keep what is left behind, at most as much again. */
static int read_all(struct stmt *q, struct arena *arena, struct file **ret_files, size_t *ret_count,
                    struct err *err)
{
    size_t count = 0, room = 0;
    struct file *rows = NULL;
    int r;

    while ((r = stmt_step(q, err)) == 1) {
        if (count == room) {
            struct file *more = ARENA_NEW_N(arena, struct file, room ? room * 2 : 16);

            if (count)
                memcpy(more, rows, count * sizeof(*rows));
            room = room ? room * 2 : 16;
            rows = more;
        }
        read_row(q, arena, &rows[count++]);
    }
    if (r < 0)
        return -1;
    *ret_files = rows;
    *ret_count = count;
    return 0;
}

int store_list(struct files *files, struct str tree, struct str from, struct str to,
               struct arena *arena, struct file **ret_files, size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(files->domain),
                   SQL("SELECT " FILE_COLUMNS FROM_HEAD
                       "WHERE f.tree = ? AND f.folded >= ? AND f.folded < ?"
                       " AND f.deleted_at IS NULL"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, tree);
    stmt_bind_str(q, from);
    stmt_bind_str(q, to);
    return read_all(q, arena, ret_files, ret_count, err);
}

int store_list_deleted(struct files *files, struct str tree, struct str from, struct str to,
                       int64_t since, struct arena *arena, struct file **ret_files,
                       size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(files->domain),
                   SQL("SELECT " FILE_COLUMNS FROM_HEAD
                       "WHERE f.tree = ? AND f.folded >= ? AND f.folded < ?"
                       " AND f.deleted_at >= ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, tree);
    stmt_bind_str(q, from);
    stmt_bind_str(q, to);
    stmt_bind_i64(q, since);
    return read_all(q, arena, ret_files, ret_count, err);
}

int store_history(struct files *files, int64_t file_n, int64_t before, int limit,
                  struct arena *arena, struct file **ret_versions, size_t *ret_count,
                  struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(files->domain),
                   SQL("SELECT " FILE_COLUMNS " FROM files AS f JOIN file_versions AS v"
                       " ON v.file_n = f.n WHERE f.n = ? AND v.version < ?"
                       " ORDER BY v.version DESC LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, file_n);
    stmt_bind_i64(q, before);
    stmt_bind_i64(q, limit);
    return read_all(q, arena, ret_versions, ret_count, err);
}

int store_size(struct files *files, struct str tree, int64_t *ret_bytes, size_t *ret_count,
               struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(files->domain),
                   SQL("SELECT CAST(coalesce(sum(size), 0) AS BIGINT) AS bytes, count(*) AS files"
                       " FROM files WHERE tree = ? AND deleted_at IS NULL"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, tree);
    if (stmt_step(q, err) < 0)
        return -1;
    *ret_bytes = stmt_i64(q, "bytes");
    *ret_count = (size_t)stmt_i64(q, "files");
    return 0;
}

/* ---- for the view ---- */

int store_next_tree(struct files *files, struct str after, struct arena *arena,
                    struct str *ret_tree, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(files->domain),
                   SQL("SELECT tree FROM files WHERE tree > ? ORDER BY tree LIMIT 1"), &q, err) < 0)
        return -1;
    stmt_bind_str(q, after.p ? after : STR(""));
    r = stmt_step(q, err);
    if (r == 1)
        *ret_tree = text_of(q, "tree", arena);
    return r;
}

int store_page(struct files *files, struct str tree, struct str after, struct arena *arena,
               struct store_row *ret_rows, size_t room, size_t *ret_count, struct err *err)
{
    AUTO(stmt) q = NULL;
    size_t count = 0;
    int r;

    if (db_prepare(domain_db(files->domain),
                   SQL("SELECT path, folded, hash, version FROM files WHERE tree = ?"
                       " AND folded > ? ORDER BY folded LIMIT ?"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, tree);
    stmt_bind_str(q, after.p ? after : STR(""));
    stmt_bind_i64(q, (int64_t)room);
    while ((r = stmt_step(q, err)) == 1 && count < room)
        ret_rows[count++] = (struct store_row){ .path = text_of(q, "path", arena),
                                                .folded = text_of(q, "folded", arena),
                                                .hash = text_of(q, "hash", arena),
                                                .version = stmt_i64(q, "version") };
    *ret_count = count;
    return r < 0 ? -1 : 0;
}

int store_has_hash(struct files *files, int64_t file_n, const char *hash, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(files->domain),
                   SQL("SELECT version FROM file_versions WHERE file_n = ? AND hash = ? LIMIT 1"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, file_n);
    stmt_bind_text(q, hash);
    return stmt_step(q, err);
}

/* ---- what is in the way ---- */

static int one_path(struct stmt *q, struct arena *arena, struct str *ret_path, struct err *err)
{
    int r = stmt_step(q, err);

    if (r == 1)
        *ret_path = text_of(q, "path", arena);
    return r;
}

static int live_at(struct files *files, struct str tree, struct str folded, struct arena *arena,
                   struct str *ret_path, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(files->domain),
                   SQL("SELECT path FROM files WHERE tree = ? AND folded = ?"
                       " AND deleted_at IS NULL"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, tree);
    stmt_bind_str(q, folded);
    return one_path(q, arena, ret_path, err);
}

static int live_below(struct files *files, struct str tree, struct str folded, struct arena *arena,
                      struct str *ret_path, struct err *err)
{
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(files->domain),
                   SQL("SELECT path FROM files WHERE tree = ? AND folded >= ? AND folded < ?"
                       " AND deleted_at IS NULL LIMIT 1"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, tree);
    stmt_bind_text(q, arena_printf(arena, "%.*s/", STR_ARG(folded)));
    stmt_bind_text(q, arena_printf(arena, "%.*s0", STR_ARG(folded)));
    return one_path(q, arena, ret_path, err);
}

int store_in_the_way(struct files *files, struct str tree, struct str folded, struct arena *arena,
                     struct str *ret_path, struct err *err)
{
    for (size_t i = 0; i < folded.n; i++) {
        int r = folded.p[i] == '/' ? live_at(files, tree, str_take(folded, i), arena, ret_path, err)
                                   : 0;

        if (r != 0)
            return r;
    }
    return live_below(files, tree, folded, arena, ret_path, err);
}

/* ---- writing ---- */

int store_taint_of(struct files *files, const char *hash, struct arena *arena,
                   struct str *ret_taint, struct err *err)
{
    struct str taint = STR_NONE;
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(files->domain),
                   SQL("SELECT DISTINCT taint FROM file_versions"
                       " WHERE hash = ? AND taint IS NOT NULL"),
                   &q, err) < 0)
        return -1;
    stmt_bind_text(q, hash);
    while ((r = stmt_step(q, err)) == 1)
        taint = taint_join(taint, arena_str(arena, stmt_str(q, "taint")), arena);
    if (r < 0)
        return -1;
    *ret_taint = taint;
    return 0;
}

int store_operation(struct files *files, struct str operation_id, struct store_event *ret_event,
                    struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(files->domain),
                   SQL("SELECT file_n, version_after FROM file_events WHERE operation_id = ?"), &q,
                   err) < 0)
        return -1;
    stmt_bind_str(q, operation_id);
    r = stmt_step(q, err);
    if (r == 1) {
        ret_event->file_n = stmt_i64(q, "file_n");
        ret_event->version = stmt_i64(q, "version_after");
    }
    return r;
}

static int too_late(const struct file_write *write, struct err *err)
{
    return err_set(err, ERR_VERSION_CONFLICT, "file %.*s was changed by someone else meanwhile",
                   STR_ARG(write->path));
}

static int insert_head(struct files *files, const struct store_change *change, struct file *after,
                       struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(files->domain),
                   SQL("INSERT INTO files (tree, path, folded, content_type, version, hash, size,"
                       " created_at, updated_at, host_n, counter)"
                       " VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?)"
                       " ON CONFLICT (tree, folded) DO NOTHING RETURNING n"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, change->write->tree);
    stmt_bind_str(q, after->path);
    stmt_bind_str(q, change->folded);
    stmt_bind_str(q, change->content_type);
    stmt_bind_text(q, change->hash);
    stmt_bind_i64(q, after->size);
    stmt_bind_i64(q, change->now);
    stmt_bind_i64(q, change->now);
    stmt_bind_i64(q, change_host(files->change));
    stmt_bind_i64(q, change_next(files->change));
    r = stmt_step(q, err);
    if (r == 0)
        return too_late(change->write, err);
    if (r == 1)
        after->n = stmt_i64(q, "n");
    return r < 0 ? -1 : 0;
}

static int update_head(struct files *files, const struct store_change *change,
                       const struct file *before, const struct file *after, struct err *err)
{
    AUTO(stmt) q = NULL;
    int r;

    if (db_prepare(domain_db(files->domain),
                   SQL("UPDATE files SET path = ?, content_type = ?, version = ?, hash = ?,"
                       " size = ?, updated_at = ?, deleted_at = ?, host_n = ?, counter = ?"
                       " WHERE n = ? AND version = ? RETURNING n"),
                   &q, err) < 0)
        return -1;
    stmt_bind_str(q, after->path);
    stmt_bind_str(q, change->content_type);
    stmt_bind_i64(q, after->version);
    stmt_bind_text(q, change->hash);
    stmt_bind_i64(q, after->size);
    stmt_bind_i64(q, change->now);
    if (change->hash)
        stmt_bind_null(q);
    else
        stmt_bind_i64(q, change->now);
    stmt_bind_i64(q, change_host(files->change));
    stmt_bind_i64(q, change_next(files->change));
    stmt_bind_i64(q, before->n);
    stmt_bind_i64(q, before->version);
    r = stmt_step(q, err);
    return r == 0 ? too_late(change->write, err) : r < 0 ? -1 : 0;
}

int store_put_head(struct files *files, const struct store_change *change,
                   const struct file *before, struct file *after, struct err *err)
{
    after->version = before->version + 1;
    after->n = before->n;
    after->created_at = before->n ? before->created_at : change->now;
    return before->n ? update_head(files, change, before, after, err)
                     : insert_head(files, change, after, err);
}

int store_add_version(struct files *files, const struct store_change *change,
                      const struct file *after, struct err *err)
{
    const struct file_write *write = change->write;
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(files->domain),
                   SQL("INSERT INTO file_versions (file_n, version, hash, size, author, reason,"
                       " taint, inbox_id, run_n, created_at, host_n, counter, content)"
                       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
                   &q, err) < 0)
        return -1;
    stmt_bind_i64(q, after->n);
    stmt_bind_i64(q, after->version);
    stmt_bind_text(q, change->hash);
    stmt_bind_i64(q, after->size);
    stmt_bind_str(q, write->author);
    stmt_bind_str(q, write->reason.p ? write->reason : STR(""));
    stmt_bind_some_str(q, change->taint);
    stmt_bind_some_str(q, write->inbox_id);
    stmt_bind_some_i64(q, write->run_n);
    stmt_bind_i64(q, change->now);
    stmt_bind_i64(q, change_host(files->change));
    stmt_bind_i64(q, change_next(files->change));
    if (change->hash)
        stmt_bind_blob(q, write->content.p ? write->content : STR(""));
    else
        stmt_bind_null(q);
    return stmt_run(q, err);
}

int store_add_event(struct files *files, const struct store_change *change,
                    const struct file *before, const struct file *after, struct err *err)
{
    const struct file_write *write = change->write;
    char id[UUID_TEXT_SIZE];
    AUTO(stmt) q = NULL;

    if (db_prepare(domain_db(files->domain),
                   SQL("INSERT INTO file_events (id, tree, file_n, type, actor, operation_id,"
                       " version_before, version_after, reason, created_at, host_n, counter)"
                       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
                   &q, err) < 0)
        return -1;
    change_new_id(files->change, id);
    stmt_bind_text(q, id);
    stmt_bind_str(q, write->tree);
    stmt_bind_i64(q, after->n);
    stmt_bind_text(q, change->type);
    stmt_bind_str(q, write->author);
    stmt_bind_some_str(q, write->operation_id);
    if (before->n)
        stmt_bind_i64(q, before->version);
    else
        stmt_bind_null(q);
    stmt_bind_i64(q, after->version);
    stmt_bind_str(q, write->reason.p ? write->reason : STR(""));
    stmt_bind_i64(q, change->now);
    stmt_bind_i64(q, change_host(files->change));
    stmt_bind_i64(q, change_next(files->change));
    return stmt_run(q, err);
}
