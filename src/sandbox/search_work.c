/* The threads of a search, the stack of work that they share, and the whole of it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/limits.h"
#include "sandbox/op_file.h"
#include "sandbox/search_int.h"

/* ---- the stack ---- */

void search_push(struct search *s, struct search_item item)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 256;
        s->stack = alloc_resize(s->stack, s->cap, sizeof(item));
    }
    s->stack[s->n++] = item;
}

/* False when all is done. */
static bool pop(struct search *s, struct search_item *ret_item)
{
    bool got;

    pthread_mutex_lock(&s->lock);
    s->busy--;
    while (s->n == 0 && s->busy > 0)
        pthread_cond_wait(&s->more, &s->lock);
    got = s->n > 0;
    if (got) {
        *ret_item = s->stack[--s->n];
        s->busy++;
    } else {
        pthread_cond_broadcast(&s->more);
    }
    pthread_mutex_unlock(&s->lock);
    return got;
}

static void stop_with(struct search *s, const struct err *err)
{
    pthread_mutex_lock(&s->lock);
    if (s->err.code == ERR_NONE)
        s->err = *err;
    pthread_mutex_unlock(&s->lock);
    atomic_store(&s->stop, true);
}

bool search_must_stop(void *arg)
{
    struct search *s = arg;
    struct err err = ERR_INIT;

    if (atomic_load_explicit(&s->stop, memory_order_relaxed))
        return true;
    if (op_check(s->ctx, &err) == 0)
        return false;
    stop_with(s, &err);
    return true;
}

/* ---- workers ---- */

static void worker_init(struct search_worker *w, struct search *s)
{
    *w = (struct search_worker){ .search = s,
                                 .reader = SEARCH_READER_INIT,
                                 .path = BUF_INIT(LIMIT_PATH_BYTES + LIMIT_PATH_NAME_BYTES),
                                 .list = alloc_resize(NULL, SEARCH_LIST_BYTES, 1) };
    if (s->request->pattern)
        w->run = pattern_run_new(s->request->pattern);
}

static void check_costly(struct search_worker *w)
{
    struct err err = ERR_INIT;

    if (!w->run)
        return;
    w->result.costly += pattern_costly(w->run);
    if (pattern_costly(w->run) <= PATTERN_COSTLY_MAX)
        return;
    err_set(&err, ERR_TIMEOUT,
            "pattern takes too long on more than %d lines: nested repetitions try too many ways",
            PATTERN_COSTLY_MAX);
    stop_with(w->search, &err);
}

static void worker_release(struct search_worker *w)
{
    pattern_run_free(w->run);
    search_reader_release(&w->reader);
    search_result_release(&w->result);
    buf_release(&w->path);
    free(w->list);
}

static void *work(void *arg)
{
    struct search_worker *w = arg;
    struct search_item item;

    while (pop(w->search, &item)) {
        if (atomic_load(&w->search->stop)) {
            if (item.first)
                search_dir_done(item.dir);
            else
                search_dir_unref(item.dir);
        } else if (item.first) {
            search_do_group(w, &item);
        } else {
            search_do_dir(w, item.dir);
        }
        if (w->run && pattern_costly(w->run) > PATTERN_COSTLY_MAX)
            atomic_store(&w->search->stop, true);
    }
    check_costly(w);
    return NULL;
}

static void merge(struct search_result *to, struct search_result *from)
{
    to->files += from->files;
    to->lines += from->lines;
    to->looked += from->looked;
    to->binary += from->binary;
    to->unreadable += from->unreadable;
    to->costly += from->costly;
    to->cut |= from->cut;
    if (to->n + from->n > to->cap) {
        to->cap = to->n + from->n;
        to->found = alloc_resize(to->found, to->cap, sizeof(*to->found));
    }
    if (from->n)
        memcpy(to->found + to->n, from->found, from->n * sizeof(*from->found));
    to->n += from->n;
    from->n = 0;
}

static unsigned thread_count(const struct search_request *request)
{
    cpu_set_t cpus;
    int n = request->threads ? (int)request->threads : 1;

    if (!request->threads && sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
        n = CPU_COUNT(&cpus);
    return n < 1 ? 1 : n > SEARCH_THREADS_MAX ? SEARCH_THREADS_MAX : (unsigned)n;
}

static void run_workers(struct search *s)
{
    struct search_worker workers[SEARCH_THREADS_MAX];
    pthread_t threads[SEARCH_THREADS_MAX];
    unsigned n = thread_count(s->request), started = 0;

    s->busy = n;
    for (unsigned i = 0; i < n; i++)
        worker_init(&workers[i], s);
    for (unsigned i = 1; i < n; i++) {
        if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0)
            break;
        started++;
    }
    /* Those that could not be started will not add work. */
    pthread_mutex_lock(&s->lock);
    s->busy -= n - 1 - started;
    pthread_cond_broadcast(&s->more);
    pthread_mutex_unlock(&s->lock);
    work(&workers[0]);
    for (unsigned i = 1; i <= started; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < n; i++) {
        merge(s->result, &workers[i].result);
        worker_release(&workers[i]);
    }
}

/* ---- the whole ---- */

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct search_found *)a)->path, ((const struct search_found *)b)->path);
}

void search_result_release(struct search_result *result)
{
    for (size_t i = 0; i < result->n; i++)
        free(result->found[i].path);
    free(result->found);
    *result = SEARCH_RESULT_INIT;
}

static int run_file(struct search *s, const struct access_place *root, struct err *err)
{
    struct search_worker w;
    struct stat st;
    AUTO_FD fd = -1;

    if (access_open(s->ctx, root, &fd, &st, err) < 0)
        return -1;
    worker_init(&w, s);
    w.result.looked = 1;
    if (s->request->pattern) {
        search_reader_begin(&w.reader, fd, (uint64_t)st.st_size);
        search_match_file(&w, STR(""));
        check_costly(&w);
    } else {
        search_add_found(&w, STR(""), 0, false);
    }
    merge(s->result, &w.result);
    worker_release(&w);
    return 0;
}

static int run_tree(struct search *s, const struct access_place *root)
{
    const char *path = strcmp(root->path, "/") == 0 ? "" : root->path;
    struct search_rules *above =
        s->request->no_ignore || !path[0] ? NULL : search_rules_above(s->ctx, path);
    struct search_dir *top = search_dir_new(NULL, path, strlen(path));

    top->rules.parent = above;
    top->dev = root->st.st_dev;
    s->root_fd = root->fd;
    s->root_n = strlen(path) + 1;
    search_push(s, (struct search_item){ .dir = top });
    run_workers(s);
    for (const struct search_rules *r = above; r; r = r->parent)
        search_rules_release((struct search_rules *)r);
    return 0;
}

int search_run(struct op_ctx *ctx, const struct access_place *root,
               const struct search_request *request, struct search_result *ret_result,
               struct err *err)
{
    struct search s = { .ctx = ctx,
                        .request = request,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .more = PTHREAD_COND_INITIALIZER,
                        .result = ret_result };
    int r;

    access_ids_load(&ctx->state->rules, &s.ids);
    r = S_ISDIR(root->st.st_mode) ? run_tree(&s, root) : run_file(&s, root, err);
    free(s.stack);
    if (r < 0)
        return -1;
    if (s.err.code != ERR_NONE) {
        if (err)
            *err = s.err;
        return -1;
    }
    if (ret_result->n)
        qsort(ret_result->found, ret_result->n, sizeof(*ret_result->found), by_path);
    return 0;
}
