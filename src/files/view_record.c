/* What jobs found on disk, brought into the database.
 *
 * Content that differs from what was last seen is a person's and becomes a version of theirs. Two
 * things look like that and are not: what an earlier daemon wrote without living to note it, which
 * is content of a known version that is older than the newest; and a file that an editor takes away
 * for a moment, which is why a file must be missing for a while before it is taken for removed.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/log.h"
#include "change/taint.h"
#include "files/view_int.h"

#define MISSING_MS 1500
#define RETRY_MS   1000
#define RETRY_MAX  60000
#define POLL_MS    60000 /* between walks where the kernel gives no more watches */
#define PAGE_ROWS  128
#define REFUSED    (-1) /* a version that the store does not take */

void view_seen_put(struct view_tree *tree, struct str path, int64_t version, const char *hash,
                   const struct view_stat *stat)
{
    struct view_seen *seen = map_find(&tree->seen, path);

    if (!seen) {
        seen = NEW(struct view_seen);
        map_put(&tree->seen, path, seen);
    }
    *seen = (struct view_seen){ .version = version, .stat = *stat, .scan = tree->scan };
    memcpy(seen->hash, hash, SHA256_TEXT_SIZE);
}

void view_seen_remove(struct view_tree *tree, struct str path)
{
    free(map_remove(&tree->seen, path));
}

static int head_of(struct view *view, struct str tree, struct str path, struct arena *arena,
                   struct file *ret_head, struct err *err)
{
    struct str folded;

    *ret_head = (struct file){ .n = 0 };
    if (file_path_check(path, arena, &folded, err) < 0)
        return -1;
    return store_head(view->files, tree, folded, arena, ret_head, err);
}

static void chore(struct view *view, const char *tree, struct str path, bool keep)
{
    struct view_chore *chore = NEW(struct view_chore);

    chore->keep = keep;
    chore->tree = alloc_text(tree);
    chore->path = alloc_copy(path.p, path.n);
    *view->chores_end = chore;
    view->chores_end = &chore->next;
}

/* ---- a person's versions ---- */

/* A file that was renamed and edited before anybody looked has another path and another content; it
 * is the same file on disk. Adds where the text of that one came from. */
static int taint_of_renamed(struct view *view, struct view_tree *tree,
                            const struct view_found *found, struct arena *arena, struct str *taint,
                            struct err *err)
{
    map_each (&tree->seen, entry) {
        const struct view_seen *seen = entry->value;
        struct file head;

        if (found->staged || seen->stat.ino != found->stat.ino || str_eq(entry->key, found->path))
            continue;
        if (head_of(view, str_from(tree->name), entry->key, arena, &head, err) < 0)
            return -1;
        *taint = taint_join(*taint, head.taint, arena);
    }
    return 0;
}

/* One unit. found: the content; NULL: the file was removed. */
static int put_human(struct view *view, struct view_tree *tree, struct str path,
                     const struct view_found *found, const struct file *head, struct arena *arena,
                     struct err *err)
{
    struct file_write write = { .tree = str_from(tree->name),
                                .path = path,
                                .base = FILE_ANY_VERSION,
                                .author = STR("owner"),
                                .remove = found == NULL };
    struct file after;
    int r;

    write.reason = !found         ? STR("removed from the files folder")
                   : head->n == 0 ? STR("added to the files folder")
                                  : STR("edited in the files folder");
    if (found)
        write.content = found->content;
    if (found && !head->deleted)
        write.taint = head->taint; /* an edit does not vouch for the rest */
    if (found && taint_of_renamed(view, tree, found, arena, &write.taint, err) < 0)
        return -1;
    if (found && view->files->admits && view->files->admits(write.tree, path, err) < 0)
        return -1;
    if (loop_unit_begin(view->loop, view->files->domain, err) < 0)
        return -1;
    view->recording = found;
    r = file_put(view->files, &write, arena, &after, err);
    view->recording = NULL;
    if (loop_unit_end(view->loop, r >= 0, r >= 0 ? err : NULL) < 0)
        return -1;
    return r < 0 ? -1 : 0;
}

/* Not the content's fault: it may be recorded another time. */
static bool is_passing(const struct err *err)
{
    return err_http_status(err->code) >= 500 || err->code == ERR_RATE_LIMITED ||
           err->code == ERR_VERSION_CONFLICT;
}

static void retry_later(struct view *view)
{
    int64_t now = view_now(view);

    view->retry_ms = view->retry_ms ? 2 * view->retry_ms : RETRY_MS;
    if (view->retry_ms > RETRY_MAX)
        view->retry_ms = RETRY_MAX;
    view->retry_due = now + view->retry_ms;
}

/* Out of a stage. It stays there until it is recorded. */
static void record_staged(struct view *view, struct view_tree *tree, const struct view_found *found,
                          struct arena *arena)
{
    struct err err = ERR_INIT;
    struct file head;
    int r = head_of(view, str_from(tree->name), found->path, arena, &head, &err);

    if (r >= 0 && head.n)
        r = store_has_hash(view->files, head.n, found->hash, &err);
    if (r == 1) {
        chore(view, tree->name, found->path, false);
        return;
    }
    if (r == 0)
        r = put_human(view, tree, found->path, found, &head, arena, &err);
    if (r == 0)
        chore(view, tree->name, found->path, false);
    else if (is_passing(&err))
        retry_later(view);
    else {
        chore(view, tree->name, found->path, true);
        view_problem(
            view, str_from(tree->name), found->path,
            arena_printf(arena, "an edit could not be recorded and lies beside it as NAME.~1~: %s",
                         err_message(&err, 0)),
            false);
    }
}

/* Content of ours that is not the newest: an earlier daemon ended before it wrote the newest. Only
 * asked before the rows were compared after a start. */
static int is_stale(struct view *view, const struct view_tree *tree, const struct view_found *found,
                    const struct file *head, struct err *err)
{
    if (!tree->heads || head->n == 0 || map_find(&tree->seen, found->path) ||
        found->stat.mtime_ns / 1000000 >= head->updated_at)
        return 0;
    return store_has_hash(view->files, head->n, found->hash, err);
}

/* Another spelling of a file that is missing since a moment: renamed. Its removal comes first. */
static bool must_wait(const struct view_tree *tree, const struct view_found *found,
                      const struct file *head)
{
    const struct view_seen *other;

    if (head->n == 0 || head->deleted || str_eq(head->path, found->path))
        return false;
    other = map_find(&tree->seen, head->path);
    return other && other->missing_ms;
}

static void record_found(struct view *view, struct view_tree *tree, const struct view_found *found,
                         struct arena *arena)
{
    struct str name = str_from(tree->name);
    struct err err = ERR_INIT;
    struct file head;
    int r = head_of(view, name, found->path, arena, &head, &err);

    if (r == 1 && !head.deleted && str_is(head.hash, found->hash) &&
        str_eq(head.path, found->path)) {
        view_seen_put(tree, found->path, head.version, found->hash, &found->stat);
        view_problem_clear(view, name, found->path);
        return;
    }
    if (r == 1 && must_wait(tree, found, &head))
        return;
    if (r >= 0)
        r = is_stale(view, tree, found, &head, &err);
    if (r == 1) {
        view_seen_put(tree, found->path, 0, found->hash, &found->stat);
        view_want(view, name, found->path);
        return;
    }
    if (r == 0)
        r = put_human(view, tree, found->path, found, &head, arena, &err);
    if (r == 0)
        return;
    if (is_passing(&err)) {
        tree->dirty = true;
        retry_later(view);
        view->scan_due = view->retry_due;
        return;
    }
    view_seen_put(tree, found->path, REFUSED, found->hash, &found->stat);
    view_problem(view, name, found->path,
                 arena_printf(arena, "what stands there is not recorded: %s", err_message(&err, 0)),
                 false);
}

/* Still missing: removed by a person, unless a newer version was never written. */
static void record_gone(struct view *view, struct view_tree *tree, struct str path,
                        const struct view_seen *seen, struct arena *arena)
{
    struct err err = ERR_INIT;
    struct file head;
    int r = head_of(view, str_from(tree->name), path, arena, &head, &err);

    if (r == 1 && !head.deleted && head.version == seen->version) {
        if (put_human(view, tree, path, NULL, &head, arena, &err) == 0)
            return;
        view_problem(view, str_from(tree->name), path,
                     arena_printf(arena, "it was removed, but is kept: %s", err_message(&err, 0)),
                     false);
    }
    if (r < 0)
        return;
    if (seen->version == REFUSED)
        view_problem_clear(view, str_from(tree->name), path);
    view_seen_remove(tree, path);
    if (!head.deleted && head.n)
        view_want(view, str_from(tree->name), path);
}

static void look_for_gone(struct view *view, struct view_tree *tree, struct arena *arena)
{
    int64_t now = view_now(view);
    struct str *gone = ARENA_NEW_N(arena, struct str, map_count(&tree->seen) + 1);
    size_t count = 0;

    map_each (&tree->seen, entry) {
        struct view_seen *seen = entry->value;

        if (seen->scan == tree->scan)
            seen->missing_ms = 0;
        else if (!seen->missing_ms)
            seen->missing_ms = now ? now : 1;
        if (seen->missing_ms && now - seen->missing_ms >= MISSING_MS)
            gone[count++] = arena_str(arena, entry->key);
        else if (seen->missing_ms) {
            tree->dirty = true;
            if (view->scan_due > seen->missing_ms + MISSING_MS)
                view->scan_due = seen->missing_ms + MISSING_MS;
        }
    }
    for (size_t i = 0; i < count; i++)
        record_gone(view, tree, gone[i], map_find(&tree->seen, gone[i]), arena);
}

/* The folder itself is gone: more likely an accident than the wish to forget everything. */
static void write_all_again(struct view_tree *tree)
{
    map_each (&tree->seen, entry)
        free(entry->value);
    map_release(&tree->seen);
    tree->seen = MAP_INIT;
    tree->heads = true;
}

static void replace_notes(struct view *view, struct view_scan *scan)
{
    struct str tree = str_from(scan->tree->name);

    for (size_t i = view->problem_count; i-- > 0;)
        if (view->problems[i].scanned && str_is(tree, view->problems[i].tree)) {
            bool again = false;

            for (struct view_note *note = scan->notes; note && !again; note = note->next)
                again = str_is(note->path, view->problems[i].path);
            if (!again)
                view_problem_clear(view, tree, str_from(view->problems[i].path));
        }
    for (struct view_note *note = scan->notes; note; note = note->next)
        view_problem(view, tree, note->path, note->text, true);
}

void view_record_scan(struct view *view, struct view_scan *scan)
{
    struct view_tree *tree = scan->tree;

    view_watch_add(view, scan->watches, scan->watch_count, tree);
    if (scan->unwatched && view->poll_due == VIEW_NEVER) {
        view->poll_due = view_now(view) + POLL_MS;
        LOG_WARN("files", "the kernel gives no more watches; the view is looked at every minute",
                 LOG_TEXT("tree", tree->name));
    }
    tree->dirty = scan->more;
    replace_notes(view, scan);
    if (scan->absent)
        write_all_again(tree);
    for (struct view_found *found = scan->touched; found; found = found->next) {
        struct view_seen *seen = map_find(&tree->seen, found->path);

        seen->stat = found->stat;
    }
    /* Removals first: a file that only changed the case of its name is both. */
    if (!scan->partly && !scan->more)
        look_for_gone(view, tree, &scan->arena);
    for (struct view_found *found = scan->found; found; found = found->next)
        if (found->staged)
            record_staged(view, tree, found, &scan->arena);
        else
            record_found(view, tree, found, &scan->arena);
}

/* ---- after writing ---- */

static void record_written(struct view *view, struct view_tree *tree, struct view_op *op,
                           struct arena *arena)
{
    struct str path = str_from(op->path);

    if (op->what == VIEW_WRITE)
        view_seen_put(tree, path, op->version, op->hash, &op->stat);
    else
        view_seen_remove(tree, path);
    if (op->why)
        view_problem(view, str_from(tree->name), path, op->why, false);
    else
        view_problem_clear(view, str_from(tree->name), path);
    tree->dirty |= op->strange;
    if (op->displaced)
        record_staged(view, tree, op->displaced, arena);
}

void view_record_op(struct view *view, struct view_op *op)
{
    struct view_tree *tree = view_tree_of(view, str_from(op->tree));
    AUTO_ARENA arena = ARENA_INIT;
    struct view_want *want;
    struct str key;

    if (op->what == VIEW_DROP_STAGED || op->what == VIEW_KEEP_STAGED)
        return;
    key = str_from(arena_printf(&arena, "%s %s", op->tree, op->path));
    want = map_find(&view->wanted, key);
    if (op->result == VIEW_DONE) {
        if (want && !want->again)
            free(map_remove(&view->wanted, key));
        else if (want)
            want->busy = want->again = false;
        view->retry_ms = 0;
        record_written(view, tree, op, &arena);
        return;
    }
    if (want)
        want->busy = want->again = false;
    view_problem(view, str_from(tree->name), str_from(op->path),
                 op->result == VIEW_BLOCKED
                     ? op->why
                     : arena_printf(&arena, "it can't be written: %s", op->why),
                 false);
    tree->dirty = true; /* a scan records what may wait in the stage */
    retry_later(view);
}

/* ---- rows against what is there ---- */

static void compare_row(struct view *view, struct view_tree *tree, const struct store_row *row)
{
    struct view_seen *seen = map_find(&tree->seen, row->path);

    if (seen && (seen->version == REFUSED || seen->missing_ms))
        return;
    if (row->hash.n == 0 ? seen == NULL : seen && str_is(row->hash, seen->hash)) {
        if (seen)
            seen->version = row->version;
        return;
    }
    view_want(view, str_from(tree->name), row->path);
}

int view_record_page(struct view *view, struct view_tree *tree, struct err *err)
{
    struct store_row rows[PAGE_ROWS];
    AUTO_ARENA arena = ARENA_INIT;
    size_t count;

    if (store_page(view->files, str_from(tree->name), str_from(tree->after), &arena, rows,
                   PAGE_ROWS, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        compare_row(view, tree, &rows[i]);
    free(tree->after);
    tree->after = NULL;
    tree->heads = count == PAGE_ROWS;
    if (tree->heads)
        tree->after = alloc_copy(rows[count - 1].folded.p, rows[count - 1].folded.n);
    return 0;
}
