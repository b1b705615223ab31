/* The view: what it wants to do next.
 *
 * Everything begins in pump(), called by one timer: writes first, then walks over trees in which
 * something happened, then (after a start) a page of rows to compare, then the state is saved. Each
 * is either one job in the pool or one small piece on the loop, so a start costs the loop nothing
 * that grows with the data.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "base/file.h"
#include "files/view_job_int.h"

#define BATCH_FILES 32
#define BATCH_BYTES (4 * MIB)

int64_t view_now(struct view *view)
{
    return clock_mono_ms(loop_clock(view->loop));
}

/* False: the disk has it already. */
static int make_op(struct view *view, struct view_job *job, struct str tree_name, struct str path,
                   struct view_op *op, struct err *err)
{
    struct view_tree *tree = view_tree_of(view, tree_name);
    struct view_seen *seen = map_find(&tree->seen, path);
    struct file head, file;
    struct str folded;
    int r;

    if (file_path_check(path, &job->arena, &folded, err) < 0)
        return -1;
    r = store_head(view->files, tree_name, folded, &job->arena, &head, err);
    if (r < 0)
        return -1;
    if (seen && seen->version >= 0)
        memcpy(op->expected, seen->hash, sizeof(op->expected));
    op->tree = arena_text(&job->arena, tree->name);
    op->path = arena_copy(&job->arena, path.p, path.n);
    if (r == 0 || head.deleted || !str_eq(head.path, path)) {
        op->what = VIEW_REMOVE;
        return seen != NULL;
    }
    if (seen && str_is(head.hash, seen->hash)) {
        seen->version = head.version;
        if (!seen->missing_ms)
            return 0;
    }
    if (store_version(view->files, head.n, head.version, &job->arena, &file, err) < 0)
        return -1;
    op->content = file.content;
    op->version = file.version;
    memcpy(op->hash, head.hash.p, sizeof(op->hash) - 1);
    return 1;
}

static size_t add_chores(struct view *view, struct view_job *job, struct view_op ***end)
{
    size_t count = 0;

    for (struct view_chore *chore; (chore = view->chores) != NULL; count++) {
        struct view_op *op = ARENA_NEW(&job->arena, struct view_op);

        op->what = chore->keep ? VIEW_KEEP_STAGED : VIEW_DROP_STAGED;
        op->tree = arena_text(&job->arena, chore->tree);
        op->path = arena_text(&job->arena, chore->path);
        **end = op;
        *end = &op->next;
        view->chores = chore->next;
        free(chore->tree);
        free(chore->path);
        free(chore);
    }
    view->chores_end = &view->chores;
    return count;
}

static size_t add_wanted(struct view *view, struct view_job *job, struct view_op **end)
{
    struct str *settled = ARENA_NEW_N(&job->arena, struct str, BATCH_FILES);
    size_t count = 0, bytes = 0, settled_count = 0;

    map_each (&view->wanted, entry) {
        struct view_op *op = ARENA_NEW(&job->arena, struct view_op);
        struct str path = entry->key, tree;
        int r;

        if (count + settled_count >= BATCH_FILES || bytes >= BATCH_BYTES)
            break;
        str_split(&path, ' ', &tree);
        r = make_op(view, job, tree, path, op, NULL);
        if (r < 0)
            break;
        if (r == 0) {
            settled[settled_count++] = arena_str(&job->arena, entry->key);
            continue;
        }
        ((struct view_want *)entry->value)->busy = true;
        *end = op;
        end = &op->next;
        count++;
        bytes += op->content.n;
    }
    for (size_t i = 0; i < settled_count; i++)
        free(map_remove(&view->wanted, settled[i]));
    return count;
}

static bool start_write(struct view *view)
{
    struct view_job *job;
    struct view_op **end;
    size_t count;

    if (!view->chores && map_count(&view->wanted) == 0)
        return false;
    job = view_job_new(view, JOB_WRITE);
    end = &job->ops;
    count = add_chores(view, job, &end);
    if (view->retry_due == VIEW_NEVER)
        count += add_wanted(view, job, end);
    if (count)
        return view_job_start(job);
    view_job_free(job);
    return false;
}

static struct view_tree *find_tree(struct view *view, bool dirty)
{
    map_each (&view->trees, entry) {
        struct view_tree *tree = entry->value;

        if (dirty ? tree->dirty : tree->heads && !tree->dirty)
            return tree;
    }
    return NULL;
}

static bool start_scan(struct view *view)
{
    struct view_tree *tree = find_tree(view, true);
    struct view_job *job;

    if (view->scan_due != VIEW_NEVER && view->scan_due > view_now(view))
        return false;
    view->events_since = view->scan_due = VIEW_NEVER;
    if (!tree)
        return false;
    job = view_job_new(view, JOB_SCAN);
    tree->dirty = false;
    job->scan.tree = tree;
    job->scan.dir_fd = view->dir_fd;
    job->scan.inotify_fd = view->inotify_fd;
    job->scan.arena = ARENA_INIT;
    if (view_job_start(job))
        return true;
    tree->dirty = true;
    return false;
}

/* A small piece of work on the loop. */
static bool compare_rows(struct view *view)
{
    struct view_tree *tree = find_tree(view, false);
    AUTO_ARENA arena = ARENA_INIT;
    struct str name;
    int r;

    if (tree)
        return view_record_page(view, tree, NULL) == 0;
    if (!view->more_rows)
        return false;
    r = store_next_tree(view->files, str_from(view->after), &arena, &name, NULL);
    view->more_rows = r == 1;
    if (r != 1)
        return false;
    free(view->after);
    view->after = alloc_copy(name.p, name.n);
    view_tree_of(view, name);
    return true;
}

static void fill_state(struct view *view, struct buf *out)
{
    map_each (&view->trees, tree_entry) {
        struct view_tree *tree = tree_entry->value;

        map_each (&tree->seen, entry) {
            struct view_seen *seen = entry->value;

            if (seen->version > 0 && !seen->missing_ms)
                view_state_add(out, tree->name, entry->key, seen);
        }
    }
}

static bool start_save(struct view *view)
{
    struct view_job *job;

    if (view->save_due > view_now(view))
        return false;
    view->save_due = VIEW_NEVER;
    job = view_job_new(view, JOB_SAVE);
    fill_state(view, &job->state);
    if (!job->state.full)
        return view_job_start(job);
    view_job_free(job);
    return false;
}

static bool start_list(struct view *view)
{
    if (!view->list_trees || !view_job_start(view_job_new(view, JOB_LIST)))
        return false;
    view->list_trees = false;
    return true;
}

static void pump(struct loop_timer *timer)
{
    struct view *view = CONTAINER_OF(timer, struct view, timer);
    int64_t now = view_now(view);
    bool again = false;

    view->pump_due = VIEW_NEVER;
    if (view->retry_due <= now)
        view->retry_due = VIEW_NEVER;
    if (view->poll_due <= now) {
        view->poll_due = VIEW_NEVER;
        map_each (&view->trees, entry)
            ((struct view_tree *)entry->value)->dirty = true;
    }
    if (!view->job) {
        if (!view->ready) {
            if (view->retry_due == VIEW_NEVER)
                view_job_start(view_job_new(view, JOB_OPEN));
        } else if (!start_write(view) && !start_list(view) && !start_scan(view))
            again = compare_rows(view) || start_save(view);
    }
    view_arm(view, again && !view->job);
}

void view_arm(struct view *view, bool now)
{
    int64_t due = view->pump_due, at = view_now(view);
    const int64_t others[] = { view->scan_due, view->retry_due, view->save_due, view->poll_due };

    if (!view->files)
        return;
    for (size_t i = 0; i < ARRAY_LEN(others) && !view->job; i++)
        if (others[i] < due)
            due = others[i];
    if (now && !view->job)
        due = at;
    if (due != VIEW_NEVER)
        loop_timer_start(view->loop, &view->timer, due > at ? due - at : 0);
}

/* ---- life ---- */

void view_ref(struct view *view)
{
    view->refs++;
}

void view_unref(struct view *view)
{
    if (--view->refs > 0)
        return;
    map_each (&view->trees, entry)
        view_tree_free(entry->value);
    map_each (&view->wanted, entry)
        free(entry->value);
    map_release(&view->trees);
    map_release(&view->wanted);
    map_release(&view->watches);
    for (struct view_chore *chore; (chore = view->chores) != NULL;) {
        view->chores = chore->next;
        free(chore->tree);
        free(chore->path);
        free(chore);
    }
    for (size_t i = 0; i < view->problem_count; i++)
        view_problem_release(&view->problems[i]);
    file_close_auto(&view->dir_fd);
    file_close_auto(&view->inotify_fd);
    free(view->after);
    free(view->dir);
    free(view);
}

int view_new(struct files *files, const char *dir, struct view **ret_view, struct err *err)
{
    struct view *view = NEW(struct view);

    (void)err;
    *view = (struct view){ .files = files,
                           .loop = files->loop,
                           .refs = 1,
                           .dir = alloc_text(dir),
                           .dir_fd = -1,
                           .inotify_fd = -1,
                           .pump_due = VIEW_NEVER,
                           .scan_due = VIEW_NEVER,
                           .retry_due = VIEW_NEVER,
                           .save_due = VIEW_NEVER,
                           .poll_due = VIEW_NEVER,
                           .events_since = VIEW_NEVER };
    view->chores_end = &view->chores;
    view->timer.fire = pump;
    view_watch_start(view);
    view_arm(view, true);
    *ret_view = view;
    return 0;
}

void view_close(struct view *view)
{
    AUTO_BUF state = BUF_INIT(VIEW_STATE_MAX);

    /* With a job in the pool the seen is not ours to read; the next start finds out by itself. */
    if (view->ready && !view->job && view->save_due != VIEW_NEVER) {
        fill_state(view, &state);
        if (!state.full)
            file_write_atomic_at(view->dir_fd, VIEW_STATE, buf_str(&state), 0600, NULL);
    }
    view->files = NULL;
    loop_timer_stop(view->loop, &view->timer);
    view_watch_stop(view);
    if (view->job)
        loop_work_cancel(view->loop, &view->job->work);
    view_unref(view);
}
