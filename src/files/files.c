/* Reading and writing of versioned files.
 *
 * A write is: find the newest version, see that the writer knew it, then the file's row, the
 * version and the event, all in the caller's unit. Who watches may still refuse; the unit is rolled
 * back then, so that all of it happened or nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/path.h"
#include "base/utf8.h"
#include "change/taint.h"
#include "files/files_int.h"
#include "files/view_int.h"

int files_new(const struct files_config *config, struct files **ret_files, struct err *err)
{
    AUTO(files) files = NEW(struct files);

    files->loop = config->loop;
    files->domain = config->agent_domain;
    files->change = config->change;
    files->admits = config->admits;
    files->watchers_end = &files->watchers;
    if (config->view_dir && view_new(files, config->view_dir, &files->view, err) < 0)
        return -1;
    *ret_files = TAKE(files);
    return 0;
}

void files_free(struct files *files)
{
    if (files && files->view)
        view_close(files->view);
    free(files);
}

void files_watch(struct files *files, struct file_watcher *watcher)
{
    watcher->next = NULL;
    *files->watchers_end = watcher;
    files->watchers_end = &watcher->next;
}

int file_check(struct files *files, struct str tree, const struct file *after, struct err *err)
{
    for (struct file_watcher *watcher = files->watchers; watcher; watcher = watcher->next)
        if (watcher->check && watcher->check(watcher, tree, after, err) < 0)
            return -1;
    return 0;
}

uint64_t files_stamp(struct files *files)
{
    uint64_t second = 0;

    if (domain_is_shared(files->domain))
        second = (uint64_t)clock_mono_ms(loop_clock(files->loop)) / 1000;
    return (uint64_t)files->writes << 32 | (second & UINT32_MAX);
}

void files_touch(struct files *files)
{
    files->writes++;
}

/* ---- reading ---- */

static int find(struct files *files, struct str tree, struct str path, struct arena *arena,
                struct file *ret_file, struct err *err)
{
    struct str folded;

    if (file_tree_check(tree, err) < 0 || file_path_check(path, arena, &folded, err) < 0)
        return -1;
    return store_head(files, tree, folded, arena, ret_file, err);
}

int file_get(struct files *files, struct str tree, struct str path, struct arena *arena,
             struct file *ret_file, struct err *err)
{
    struct file head;
    int r = find(files, tree, path, arena, &head, err);

    if (r != 1 || head.deleted)
        return r < 0 ? -1 : 0;
    return store_version(files, head.n, head.version, arena, ret_file, err);
}

int file_get_version(struct files *files, struct str tree, struct str path, int64_t version,
                     struct arena *arena, struct file *ret_file, struct err *err)
{
    struct file head;
    int r = find(files, tree, path, arena, &head, err);

    return r <= 0 ? r : store_version(files, head.n, version, arena, ret_file, err);
}

static int by_path(const void *a, const void *b)
{
    return str_cmp(((const struct file *)a)->path, ((const struct file *)b)->path);
}

/* The bounds of the folded paths below prefix. Up to its last '/': only there a fold is sure to be
 * the beginning of the fold of the whole. */
static int fold_range(struct str prefix, struct arena *arena, struct str *ret_from,
                      struct str *ret_to, struct err *err)
{
    AUTO_BUF folded = BUF_INIT(LIMIT_PATH_BYTES);
    size_t n = prefix.n;

    while (n && prefix.p[n - 1] != '/')
        n--;
    if (n > FILE_PATH_MAX || str_find_char(prefix, '\0') >= 0 ||
        path_fold(str_take(prefix, n), &folded) < 0)
        return err_set(err, ERR_PATH_DENIED, "prefix: at most %d bytes of valid UTF-8 without NUL",
                       FILE_PATH_MAX);
    *ret_from = arena_str(arena, buf_str(&folded));
    /* Above "a/" lies "a0"; above everything a byte that no UTF-8 text begins with can't be bound
     * as text, so the highest code point does. */
    *ret_to = n ? str_from(arena_printf(arena, "%.*s0", (int)folded.n - 1, buf_text(&folded)))
                : STR("\U0010FFFF");
    return 0;
}

/* Of rows whose folded paths are below prefix those that are below it as it is written, in order.
 */
static size_t keep_below(struct str prefix, struct file *rows, size_t all)
{
    size_t count = 0;

    for (size_t i = 0; i < all; i++)
        if (str_starts(rows[i].path, prefix))
            rows[count++] = rows[i];
    if (count)
        qsort(rows, count, sizeof(*rows), by_path);
    return count;
}

int file_list(struct files *files, struct str tree, struct str prefix, struct arena *arena,
              struct file **ret_files, size_t *ret_count, struct err *err)
{
    struct str from, to;
    struct file *rows;
    size_t all;

    if (file_tree_check(tree, err) < 0 || fold_range(prefix, arena, &from, &to, err) < 0 ||
        store_list(files, tree, from, to, arena, &rows, &all, err) < 0)
        return -1;
    *ret_count = keep_below(prefix, rows, all);
    *ret_files = rows;
    return 0;
}

int file_list_deleted(struct files *files, struct str tree, struct str prefix, int64_t since,
                      struct arena *arena, struct file **ret_files, size_t *ret_count,
                      struct err *err)
{
    struct str from, to;
    struct file *rows;
    size_t all;

    if (file_tree_check(tree, err) < 0 || fold_range(prefix, arena, &from, &to, err) < 0 ||
        store_list_deleted(files, tree, from, to, since, arena, &rows, &all, err) < 0)
        return -1;
    *ret_count = keep_below(prefix, rows, all);
    *ret_files = rows;
    return 0;
}

#define HISTORY_DEFAULT 100
#define HISTORY_MAX     1000

int file_history(struct files *files, struct str tree, struct str path, int64_t before, int limit,
                 struct arena *arena, struct file **ret_versions, size_t *ret_count,
                 struct err *err)
{
    struct file head;
    int r = find(files, tree, path, arena, &head, err);

    if (r < 0)
        return -1;
    if (limit <= 0)
        limit = HISTORY_DEFAULT;
    if (r == 1)
        return store_history(files, head.n, before > 0 ? before : INT64_MAX,
                             limit > HISTORY_MAX ? HISTORY_MAX : limit, arena, ret_versions,
                             ret_count, err);
    *ret_versions = NULL;
    *ret_count = 0;
    return 0;
}

int file_tree_size(struct files *files, struct str tree, int64_t *ret_bytes, size_t *ret_count,
                   struct err *err)
{
    if (file_tree_check(tree, err) < 0)
        return -1;
    return store_size(files, tree, ret_bytes, ret_count, err);
}

/* ---- writing ---- */

static int check_text(const char *what, struct str text, size_t max, struct err *err)
{
    if (text.n > max)
        return err_set(err, ERR_TOO_LARGE, "%s of a file: %zu bytes; at most %zu are allowed", what,
                       text.n, max);
    if (!utf8_valid(text) || str_find_char(text, '\0') >= 0)
        return err_set(err, ERR_BAD_REQUEST, "%s of a file: it must be UTF-8 text without NUL",
                       what);
    return 0;
}

static int check_write(const struct file_write *write, struct arena *arena, struct str *ret_folded,
                       struct err *err)
{
    if (file_tree_check(write->tree, err) < 0 ||
        file_path_check(write->path, arena, ret_folded, err) < 0)
        return -1;
    if (write->content.n > FILE_BYTES_MAX)
        return err_set(err, ERR_TOO_LARGE, "file %.*s: %zu bytes; at most %u are allowed",
                       STR_ARG(write->path), write->content.n, FILE_BYTES_MAX);
    if (write->author.n == 0)
        return err_set(err, ERR_BAD_REQUEST, "file %.*s: its author is missing",
                       STR_ARG(write->path));
    if (check_text("author", write->author, FILE_WORD_MAX, err) < 0 ||
        check_text("type", write->type, FILE_WORD_MAX, err) < 0 ||
        check_text("taint", write->taint, TAINT_MAX, err) < 0 ||
        check_text("inbox id", write->inbox_id, FILE_WORD_MAX, err) < 0 ||
        check_text("operation id", write->operation_id, FILE_WORD_MAX, err) < 0)
        return -1;
    return check_text("reason", write->reason, FILE_REASON_MAX, err);
}

/* 1 done before: *ret_file is what it made. */
static int done_before(struct files *files, const struct file_write *write, struct arena *arena,
                       struct file *ret_file, struct err *err)
{
    struct store_event event;
    struct file file, head;
    int r;

    if (write->operation_id.n == 0)
        return 0;
    r = store_operation(files, write->operation_id, &event, err);
    if (r != 1)
        return r;
    if (store_version(files, event.file_n, event.version, arena, &file, err) < 0)
        return -1;
    r = find(files, write->tree, write->path, arena, &head, err);
    if (r < 0)
        return -1;
    if (r == 0 || head.n != event.file_n)
        return err_set(err, ERR_CONFLICT, "operation %.*s was done on another file than %.*s",
                       STR_ARG(write->operation_id), STR_ARG(write->path));
    *ret_file = file;
    return 1;
}

/* A deleted file counts as none, too, for whoever never saw it. */
static int check_base(const struct file_write *write, const struct file *head, struct err *err)
{
    if (write->base == FILE_ANY_VERSION || write->base == head->version ||
        (write->base == 0 && head->deleted))
        return 0;
    if (head->n == 0)
        return err_set(err, ERR_VERSION_CONFLICT,
                       "file %.*s: version %lld was expected, but there"
                       " is no such file",
                       STR_ARG(write->path), (long long)write->base);
    return err_set(err, ERR_VERSION_CONFLICT,
                   "file %.*s: version %lld was expected, but it is at version %lld%s",
                   STR_ARG(write->path), (long long)write->base, (long long)head->version,
                   head->deleted ? ", deleted" : "");
}

/* One spelling of a path, and no file where others need a folder. */
static int check_place(struct files *files, const struct file_write *write, struct str folded,
                       const struct file *head, struct arena *arena, struct err *err)
{
    struct str other;
    int r;

    if (head->n && !head->deleted) {
        if (write->remove || str_eq(head->path, write->path))
            return 0;
        return err_set(err, ERR_CONFLICT, "path \"%.*s\": \"%.*s\" is there already; write to that",
                       STR_ARG(write->path), STR_ARG(head->path));
    }
    r = store_in_the_way(files, write->tree, folded, arena, &other, err);
    if (r == 1)
        return err_set(err, ERR_CONFLICT,
                       "path \"%.*s\": \"%.*s\" is a file, and one of the two would be a folder",
                       STR_ARG(write->path), STR_ARG(other));
    return r;
}

static bool is_same(const struct file_write *write, const struct file *head, const char *hash)
{
    bool gone = head->n == 0 || head->deleted;

    if (write->remove || gone)
        return write->remove && gone;
    return str_is(head->hash, hash) &&
           (write->type.n == 0 || str_eq(write->type, head->content_type));
}

static int tell_watchers(struct files *files, struct str tree, const struct file *after,
                         struct err *err)
{
    for (struct file_watcher *watcher = files->watchers; watcher; watcher = watcher->next)
        if (watcher->written(watcher, tree, after, err) < 0)
            return -1;
    return 0;
}

static int store(struct files *files, const struct store_change *change, const struct file *before,
                 struct file *after, struct err *err)
{
    const struct file_write *write = change->write;

    *after = (struct file){
        .path = write->remove ? before->path : write->path,
        .content_type = change->content_type,
        .hash = change->hash ? str_from(change->hash) : STR_NONE,
        .size = (int64_t)write->content.n,
        .deleted = write->remove,
        .updated_at = change->now,
        .author = write->author,
        .reason = write->reason,
        .inbox_id = write->inbox_id,
        .taint = change->taint,
        .content = write->content,
    };
    if (write->remove) {
        after->size = 0;
        after->content = STR_NONE;
    }
    files_touch(files);
    if (store_put_head(files, change, before, after, err) < 0 ||
        store_add_version(files, change, after, err) < 0 ||
        store_add_event(files, change, before, after, err) < 0)
        return -1;
    if (tell_watchers(files, write->tree, after, err) < 0)
        return -1;
    if (files->view)
        view_written(files->view, write->tree, after);
    return 0;
}

/* What an operation found as it wanted it leaves an event too: done again later, when others have
 * changed the file, it must still change nothing. */
static int keep_operation(struct files *files, struct store_change *change, struct file *head,
                          struct err *err)
{
    change->type = "unchanged";
    if (change->write->operation_id.n == 0 || head->n == 0)
        return 0;
    return store_add_event(files, change, head, head, err);
}

/* After the checks. */
static int put(struct files *files, struct store_change *change, const struct file *head,
               struct arena *arena, struct file *ret_file, struct err *err)
{
    const struct file_write *write = change->write;
    struct file after;

    if (!change->type)
        change->type = write->remove ? "deleted" : head->n ? "changed" : "created";
    change->content_type = write->remove   ? head->content_type
                           : write->type.n ? write->type
                                           : file_type_of(write->path, write->content);
    if (check_place(files, write, change->folded, head, arena, err) < 0 ||
        store(files, change, head, &after, err) < 0)
        return -1;
    *ret_file = after;
    return 1;
}

/* Where its text came from: as the writer says, and as any file says that had the same text, under
 * whatever name and whoever brings it now. */
static int find_taint(struct files *files, struct store_change *change, struct arena *arena,
                      struct err *err)
{
    struct str known = STR_NONE;

    if (change->hash && change->write->content.n &&
        store_taint_of(files, change->hash, arena, &known, err) < 0)
        return -1;
    change->taint = taint_join(change->write->taint, known, arena);
    return 0;
}

static int put_as(struct files *files, const struct file_write *write, const char *event,
                  struct arena *arena, struct file *ret_file, struct err *err)
{
    struct store_change change = { .write = write,
                                   .type = event,
                                   .now = clock_wall_ms(loop_clock(files->loop)) };
    struct file head = { .n = 0 };
    char *hash = arena_alloc(arena, SHA256_TEXT_SIZE, 1);
    int r;

    if (check_write(write, arena, &change.folded, err) < 0)
        return -1;
    r = done_before(files, write, arena, ret_file, err);
    if (r != 0)
        return r < 0 ? -1 : 0;
    if (store_head(files, write->tree, change.folded, arena, &head, err) < 0 ||
        check_base(write, &head, err) < 0)
        return -1;
    sha256_text(write->content, hash);
    change.hash = write->remove ? NULL : hash;
    if (!is_same(write, &head, hash)) {
        if (find_taint(files, &change, arena, err) < 0)
            return -1;
        return put(files, &change, &head, arena, ret_file, err);
    }
    if (keep_operation(files, &change, &head, err) < 0)
        return -1;
    *ret_file = head;
    ret_file->deleted = write->remove;
    ret_file->content = write->remove ? STR_NONE : write->content;
    return 0;
}

int file_put(struct files *files, const struct file_write *write, struct arena *arena,
             struct file *ret_file, struct err *err)
{
    return put_as(files, write, NULL, arena, ret_file, err);
}

int file_restore(struct files *files, struct str tree, struct str path, int64_t version,
                 struct str author, struct str reason, struct arena *arena, struct file *ret_file,
                 struct err *err)
{
    struct file old;
    struct file_write write = {
        .tree = tree, .path = path, .base = FILE_ANY_VERSION, .author = author, .reason = reason
    };
    int r = file_get_version(files, tree, path, version, arena, &old, err);

    if (r < 0)
        return -1;
    if (r == 0)
        return err_set(err, ERR_NOT_FOUND, "file %.*s has no version %lld", STR_ARG(path),
                       (long long)version);
    if (old.deleted)
        return err_set(err, ERR_BAD_REQUEST,
                       "file %.*s: version %lld is its deletion; restore one that has content",
                       STR_ARG(path), (long long)version);
    write.path = old.path;
    write.content = old.content;
    write.type = old.content_type;
    write.taint = old.taint; /* what was untrusted once stays so */
    return put_as(files, &write, "restored", arena, ret_file, err);
}

int file_tree_remove(struct files *files, struct str tree, struct str author, struct str reason,
                     struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct file *rows, gone;
    size_t count;

    if (file_list(files, tree, STR_NONE, &arena, &rows, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct file_write write = { .tree = tree,
                                    .path = rows[i].path,
                                    .remove = true,
                                    .base = rows[i].version,
                                    .author = author,
                                    .reason = reason };

        if (file_put(files, &write, &arena, &gone, err) < 0)
            return -1;
    }
    return 0;
}
