/* The view: what it wants to do next, and the jobs that do it.
 *
 * Everything begins in pump(), called by one timer: writes first, then walks over trees in which
 * something happened, then (after a start) a page of rows to compare, then the state is saved. Each
 * is either one job in the pool or one small piece on the loop, so a start costs the loop nothing
 * that grows with the data.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/file.h"
#include "base/log.h"
#include "files/view_int.h"

#define WANTED_MAX   4096 /* then whole trees are compared */
#define BATCH_FILES  32
#define BATCH_BYTES  (4 * MIB)
#define STATE_MAX    (64 * MIB)
#define SAVE_MS      2000
#define RETRY_DIR_MS 10000

enum job_kind { JOB_NONE = 0, JOB_OPEN, JOB_LIST, JOB_SCAN, JOB_WRITE, JOB_SAVE };

struct view_job {
    struct loop_work work;
    struct view *view;
    enum job_kind kind;
    struct arena arena;
    int dir_fd;
    const char *why;       /* it failed */
    struct view_scan scan; /* JOB_SCAN */
    struct view_op *ops;   /* JOB_WRITE */
    struct buf state;      /* JOB_OPEN out, JOB_SAVE in */
    const char **trees;    /* JOB_LIST */
    size_t tree_count, tree_room;
    int watches[3];
    size_t watch_count;
};

static int64_t now_of(struct view *view)
{
    return clock_mono_ms(loop_clock(view->loop));
}

/* ---- what is known ---- */

static void free_tree(struct view_tree *tree)
{
    map_each (&tree->seen, entry)
        free(entry->value);
    map_release(&tree->seen);
    free(tree->after);
    free(tree->name);
    free(tree);
}

struct view_tree *view_tree_of(struct view *view, struct str name)
{
    struct view_tree *tree = map_find(&view->trees, name);

    if (tree)
        return tree;
    tree = NEW(struct view_tree);
    tree->name = alloc_copy(name.p, name.n);
    tree->seen = MAP_INIT;
    tree->dirty = tree->heads = true;
    map_put(&view->trees, name, tree);
    return tree;
}

void view_want(struct view *view, struct str tree, struct str path)
{
    AUTO_BUF key = BUF_INIT(2 * FILE_PATH_MAX);
    struct view_want *want;

    buf_printf(&key, "%.*s %.*s", STR_ARG(tree), STR_ARG(path));
    want = map_find(&view->wanted, buf_str(&key));
    if (want) {
        want->again = want->busy;
        return;
    }
    if (map_count(&view->wanted) >= WANTED_MAX) {
        view_tree_of(view, tree)->heads = true;
        return;
    }
    map_put(&view->wanted, buf_str(&key), NEW(struct view_want));
}

static void release_problem(struct view_problem *problem)
{
    free(problem->tree);
    free(problem->path);
    free(problem->text);
}

static struct view_problem *find_problem(struct view *view, struct str tree, struct str path)
{
    for (size_t i = 0; i < view->problem_count; i++)
        if (str_is(tree, view->problems[i].tree) && str_is(path, view->problems[i].path))
            return &view->problems[i];
    return NULL;
}

void view_problem(struct view *view, struct str tree, struct str path, const char *text,
                  bool scanned)
{
    struct view_problem *problem = find_problem(view, tree, path);

    /* What a walk and a write say of one path is the same trouble: the first word stays. */
    if (problem && (problem->scanned != scanned || strcmp(problem->text, text) == 0))
        return;
    LOG_WARN("files", "the view and the store differ", LOG_STR("tree", tree), LOG_STR("path", path),
             LOG_TEXT("why", text));
    if (!problem && view->problem_count == VIEW_PROBLEMS_MAX)
        return;
    if (problem)
        release_problem(problem);
    else
        problem = &view->problems[view->problem_count++];
    *problem = (struct view_problem){ .tree = alloc_copy(tree.p, tree.n),
                                      .path = alloc_copy(path.p, path.n),
                                      .text = alloc_text(text),
                                      .at = clock_wall_ms(loop_clock(view->loop)),
                                      .scanned = scanned };
}

void view_problem_clear(struct view *view, struct str tree, struct str path)
{
    struct view_problem *problem = find_problem(view, tree, path);

    if (!problem)
        return;
    release_problem(problem);
    *problem = view->problems[--view->problem_count];
}

void files_problems(struct files *files, struct arena *arena, struct file_problem **ret_problems,
                    size_t *ret_count)
{
    size_t count = files->view ? files->view->problem_count : 0;
    struct file_problem *list = ARENA_NEW_N(arena, struct file_problem, count + 1);

    for (size_t i = 0; i < count; i++) {
        const struct view_problem *problem = &files->view->problems[i];

        list[i] = (struct file_problem){ .tree = str_from(arena_text(arena, problem->tree)),
                                         .path = str_from(arena_text(arena, problem->path)),
                                         .text = str_from(arena_text(arena, problem->text)),
                                         .since = problem->at };
    }
    *ret_problems = list;
    *ret_count = count;
}

/* ---- after a commit ---- */

struct written {
    struct loop_effect effect;
    struct view *view;
    char *tree, *path;
    bool from_disk, deleted;
    int64_t version;
    char hash[SHA256_TEXT_SIZE];
    struct view_stat stat;
};

static void end_written(struct written *written)
{
    view_unref(written->view);
    free(written->tree);
    free(written->path);
    free(written);
}

static void on_written(struct loop_effect *effect)
{
    struct written *written = CONTAINER_OF(effect, struct written, effect);
    struct view *view = written->view;

    if (view->files) {
        struct view_tree *tree = view_tree_of(view, str_from(written->tree));

        /* From the disk: no job is in the pool in the tick that records what one found. */
        if (written->from_disk && !view->job)
            view_seen_put(tree, str_from(written->path), written->version, written->hash,
                          &written->stat);
        if (written->from_disk)
            view_problem_clear(view, str_from(written->tree), str_from(written->path));
        view_want(view, str_from(written->tree), str_from(written->path));
        view_arm(view, true);
    }
    end_written(written);
}

static void on_dropped(struct loop_effect *effect, const struct err *why)
{
    struct written *written = CONTAINER_OF(effect, struct written, effect);
    struct view *view = written->view;

    (void)why;
    if (view->files && written->from_disk) {
        view_tree_of(view, str_from(written->tree))->dirty = true;
        view->scan_due = now_of(view) + RETRY_DIR_MS;
    }
    end_written(written);
}

void view_written(struct view *view, struct str tree, const struct file *after)
{
    struct written *written = NEW(struct written);

    written->effect.run = on_written;
    written->effect.drop = on_dropped;
    written->view = view;
    view_ref(view);
    written->tree = alloc_copy(tree.p, tree.n);
    written->path = alloc_copy(after->path.p, after->path.n);
    written->version = after->version;
    if (view->recording && !view->recording->staged && view->recording->stat.ino) {
        written->from_disk = true;
        written->stat = view->recording->stat;
        memcpy(written->hash, view->recording->hash, sizeof(written->hash));
    }
    loop_after_commit(view->loop, &written->effect);
}

/* ---- jobs ---- */

static void run_open(struct view_job *job)
{
    const char *dir = job->view->dir;
    AUTO_FD state = -1;
    struct err err = ERR_INIT;

    if (mkdir(dir, 0700) < 0 && errno != EEXIST) {
        job->why = strerror(errno);
        return;
    }
    job->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (job->dir_fd < 0) {
        job->why = strerror(errno);
        return;
    }
    state = openat(job->dir_fd, VIEW_STATE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (state >= 0 && file_read_fd(state, VIEW_STATE, &job->state, &err) < 0)
        buf_clear(&job->state);
}

static void add_watch(struct view_job *job, int fd)
{
    char proc[64];
    int wd;

    snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
    wd = job->view->inotify_fd < 0
             ? -1
             : inotify_add_watch(job->view->inotify_fd, proc,
                                 IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR);
    if (wd >= 0 && job->watch_count < ARRAY_LEN(job->watches))
        job->watches[job->watch_count++] = wd;
}

static void list_kind(struct view_job *job, const char *kind)
{
    int fd = openat(job->dir_fd, kind, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct dirent *entry;
    DIR *dir;

    if (fd < 0)
        return;
    add_watch(job, fd);
    dir = fdopendir(fd);
    while (dir && (entry = readdir(dir)) != NULL) {
        char *name = arena_printf(&job->arena, "%s/%s", kind, entry->d_name);

        if (file_tree_check(str_from(name), NULL) < 0)
            continue;
        if (job->tree_count == job->tree_room) {
            job->tree_room = job->tree_room ? 2 * job->tree_room : 64;
            job->trees = alloc_resize(job->trees, job->tree_room, sizeof(*job->trees));
        }
        job->trees[job->tree_count++] = name;
    }
    if (dir)
        closedir(dir);
    else
        close(fd);
}

static void run_job(struct loop_work *work)
{
    struct view_job *job = CONTAINER_OF(work, struct view_job, work);
    struct err err = ERR_INIT;

    switch (job->kind) {
    case JOB_OPEN:
        run_open(job);
        break;
    case JOB_LIST:
        add_watch(job, job->dir_fd);
        list_kind(job, "agents");
        list_kind(job, "users");
        break;
    case JOB_SCAN:
        view_scan_run(&job->scan);
        break;
    case JOB_WRITE:
        for (struct view_op *op = job->ops; op; op = op->next)
            view_op_run(job->dir_fd, op, &job->arena);
        break;
    case JOB_SAVE:
        if (file_write_atomic_at(job->dir_fd, VIEW_STATE, buf_str(&job->state), 0600, &err) < 0)
            job->why = arena_text(&job->arena, err_message(&err, 0));
        break;
    case JOB_NONE:
        break;
    }
}

static void load_state(struct view *view, struct str text)
{
    struct view_state_line line;

    while (view_state_next(&text, &line))
        view_seen_put(view_tree_of(view, line.tree), line.path, line.seen.version, line.seen.hash,
                      &line.seen.stat);
}

static void done_open(struct view *view, struct view_job *job)
{
    if (job->why) {
        view_problem(view, STR(""), STR(""),
                     arena_printf(&job->arena, "the files folder can't be opened: %s", job->why),
                     false);
        view->retry_due = now_of(view) + RETRY_DIR_MS;
        return;
    }
    view_problem_clear(view, STR(""), STR(""));
    view->dir_fd = job->dir_fd;
    view->ready = view->list_trees = view->more_rows = true;
    view->retry_due = VIEW_NEVER;
    load_state(view, buf_str(&job->state));
}

/* A folder of nobody is left alone. */
static bool has_owner(struct view *view, struct str tree, struct arena *arena)
{
    struct store_row row;
    struct agent agent;
    size_t count = 0;

    if (!str_starts(tree, STR("agents/")) ||
        agent_get(view->files->domain, str_skip(tree, sizeof("agents/") - 1), arena, &agent,
                  NULL) == 0)
        return true;
    return store_page(view->files, tree, STR(""), arena, &row, 1, &count, NULL) == 0 && count;
}

static void done_list(struct view *view, struct view_job *job)
{
    view_watch_add(view, job->watches, job->watch_count, view);
    for (size_t i = view->problem_count; i-- > 0;)
        if (view->problems[i].scanned && !view->problems[i].path[0])
            view_problem_clear(view, str_from(view->problems[i].tree), STR(""));
    for (size_t i = 0; i < job->tree_count; i++) {
        struct str name = str_from(job->trees[i]);

        if (map_find(&view->trees, name))
            view_tree_of(view, name)->dirty = true;
        else if (has_owner(view, name, &job->arena))
            view_tree_of(view, name);
        else
            view_problem(view, name, STR(""), "there is no such agent: the folder is left alone",
                         true);
    }
}

static void free_job(struct view_job *job)
{
    arena_release(&job->arena);
    arena_release(&job->scan.arena);
    free(job->scan.watches);
    free(job->trees);
    buf_release(&job->state);
    view_unref(job->view);
    free(job);
}

static void job_done(struct loop_work *work, bool cancelled)
{
    struct view_job *job = CONTAINER_OF(work, struct view_job, work);
    struct view *view = job->view;

    view->job = NULL;
    if (view->files && !cancelled) {
        if (job->kind == JOB_OPEN)
            done_open(view, job);
        else if (job->kind == JOB_LIST)
            done_list(view, job);
        else if (job->kind == JOB_SCAN)
            view_record_scan(view, &job->scan);
        for (struct view_op *op = job->ops; op; op = op->next)
            view_record_op(view, op);
        if (job->kind == JOB_SCAN || job->kind == JOB_WRITE)
            view->save_due = now_of(view) + SAVE_MS;
        view_watch_resume(view);
        view_arm(view, true);
    } else if (job->kind == JOB_OPEN)
        file_close_auto(&job->dir_fd);
    free_job(job);
}

static struct view_job *new_job(struct view *view, enum job_kind kind)
{
    struct view_job *job = NEW(struct view_job);

    *job = (struct view_job){ .view = view,
                              .kind = kind,
                              .arena = ARENA_INIT,
                              .dir_fd = view->dir_fd,
                              .state = BUF_INIT(STATE_MAX) };
    job->work.run = run_job;
    job->work.done = job_done;
    view_ref(view);
    return job;
}

/* False when the pool is full: the timer tries again. */
static bool start(struct view_job *job)
{
    struct view *view = job->view;

    view->job = job;
    if (loop_work(view->loop, &job->work, NULL) == 0)
        return true;
    view->job = NULL;
    free_job(job);
    view->pump_due = now_of(view) + 100;
    return false;
}

/* ---- what comes next ---- */

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
    job = new_job(view, JOB_WRITE);
    end = &job->ops;
    count = add_chores(view, job, &end);
    if (view->retry_due == VIEW_NEVER)
        count += add_wanted(view, job, end);
    if (count)
        return start(job);
    free_job(job);
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

    if (view->scan_due != VIEW_NEVER && view->scan_due > now_of(view))
        return false;
    view->events_since = view->scan_due = VIEW_NEVER;
    if (!tree)
        return false;
    job = new_job(view, JOB_SCAN);
    tree->dirty = false;
    job->scan.tree = tree;
    job->scan.dir_fd = view->dir_fd;
    job->scan.inotify_fd = view->inotify_fd;
    job->scan.arena = ARENA_INIT;
    if (start(job))
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

    if (view->save_due > now_of(view))
        return false;
    view->save_due = VIEW_NEVER;
    job = new_job(view, JOB_SAVE);
    fill_state(view, &job->state);
    if (!job->state.full)
        return start(job);
    free_job(job);
    return false;
}

static bool start_list(struct view *view)
{
    if (!view->list_trees || !start(new_job(view, JOB_LIST)))
        return false;
    view->list_trees = false;
    return true;
}

static void pump(struct loop_timer *timer)
{
    struct view *view = CONTAINER_OF(timer, struct view, timer);
    int64_t now = now_of(view);
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
                start(new_job(view, JOB_OPEN));
        } else if (!start_write(view) && !start_list(view) && !start_scan(view))
            again = compare_rows(view) || start_save(view);
    }
    view_arm(view, again && !view->job);
}

void view_arm(struct view *view, bool now)
{
    int64_t due = view->pump_due, at = now_of(view);
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
        free_tree(entry->value);
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
        release_problem(&view->problems[i]);
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
    AUTO_BUF state = BUF_INIT(STATE_MAX);

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
