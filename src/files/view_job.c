/* Jobs of the view: what the pool does, and what becomes of it on the loop.
 *
 * SPDX-License-Identifier: MIT
 */
#include "files/view_job_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/file.h"

#define SAVE_MS      2000
#define RETRY_DIR_MS 10000

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
        view->retry_due = view_now(view) + RETRY_DIR_MS;
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

void view_job_free(struct view_job *job)
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
            view->save_due = view_now(view) + SAVE_MS;
        view_watch_resume(view);
        view_arm(view, true);
    } else if (job->kind == JOB_OPEN)
        file_close_auto(&job->dir_fd);
    view_job_free(job);
}

struct view_job *view_job_new(struct view *view, enum job_kind kind)
{
    struct view_job *job = NEW(struct view_job);

    *job = (struct view_job){ .view = view,
                              .kind = kind,
                              .arena = ARENA_INIT,
                              .dir_fd = view->dir_fd,
                              .state = BUF_INIT(VIEW_STATE_MAX) };
    job->work.run = run_job;
    job->work.done = job_done;
    view_ref(view);
    return job;
}

bool view_job_start(struct view_job *job)
{
    struct view *view = job->view;

    view->job = job;
    if (loop_work(view->loop, &job->work, NULL) == 0)
        return true;
    view->job = NULL;
    view_job_free(job);
    view->pump_due = view_now(view) + 100;
    return false;
}
