/* The walk, and the first pass over files.
 *
 * Work lies on one stack: directories to be read, and groups of files to be matched. Files of a
 * directory are put above its subdirectories, so the stack stays short and few directories are
 * open. A directory is opened by its path from the root in one step that follows no link.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/limits.h"
#include "sandbox/op_file.h"
#include "sandbox/search_int.h"

#define GROUP        32         /* files that are matched in one go */
#define LIST_BYTES   (64 * KIB) /* of one getdents() */
#define DEFINES_LOOK 32         /* matches of a file that are looked at for definitions */
#define NAMES_MAX    (256 * MIB)

struct dir {
    struct search_rules rules; /* first: children point at it */
    struct dir *parent;
    atomic_uint refs;  /* itself while it is read, children, groups */
    atomic_uint files; /* groups that still need fd and names */
    int fd;
    dev_t dev;
    char *path; /* absolute; "" is "/" */
    size_t path_n;
    char *names; /* one after the other, each with its NUL */
};

struct item {
    struct dir *dir;
    const char *first; /* files from here; NULL: the directory itself */
    unsigned n;
};

struct search {
    struct op_ctx *ctx;
    const struct search_request *request;
    struct access_ids ids;
    int root_fd;
    size_t root_n; /* bytes of the root's path and the slash after it */
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct item *stack;
    size_t n, cap;
    unsigned busy;    /* threads that may still add work */
    atomic_bool stop; /* an error, or enough */
    atomic_ullong looked;
    struct err err;
    struct search_result *result;
};

struct worker {
    struct search *search;
    struct pattern_run *run;
    struct search_reader reader;
    struct search_result result;
    struct buf path;
    char *list;
};

/* ---- directories ---- */

static struct dir *dir_new(struct dir *parent, const char *path, size_t path_n)
{
    struct dir *dir = NEW(struct dir);

    dir->parent = parent;
    dir->rules.parent = parent ? &parent->rules : NULL;
    dir->fd = -1;
    dir->path = alloc_copy(path, path_n);
    dir->path_n = dir->rules.path_n = path_n;
    atomic_init(&dir->refs, 1);
    if (parent)
        atomic_fetch_add(&parent->refs, 1);
    return dir;
}

static void dir_unref(struct dir *dir)
{
    while (dir && atomic_fetch_sub(&dir->refs, 1) == 1) {
        struct dir *parent = dir->parent;

        search_rules_release(&dir->rules);
        file_close_auto(&dir->fd);
        free(dir->names);
        free(dir->path);
        free(dir);
        dir = parent;
    }
}

/* A group is done, or the directory read. */
static void dir_files_done(struct dir *dir)
{
    if (atomic_fetch_sub(&dir->files, 1) == 1) {
        file_close_auto(&dir->fd);
        dir->fd = -1;
        free(dir->names);
        dir->names = NULL;
    }
    dir_unref(dir);
}

/* ---- the stack ---- */

static void push(struct search *s, struct item item)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 256;
        s->stack = alloc_resize(s->stack, s->cap, sizeof(item));
    }
    s->stack[s->n++] = item;
}

/* False when all is done. */
static bool pop(struct search *s, struct item *ret_item)
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

/* Whether the worker has to end, for any reason. */
static bool must_stop(void *arg)
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

/* ---- files ---- */

static void add_found(struct worker *w, struct str path, uint64_t count, bool defines)
{
    struct search_result *r = &w->result;

    r->files++;
    r->lines += count;
    if (r->n >= SEARCH_FOUND_MAX)
        return;
    if (r->n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 64;
        r->found = alloc_resize(r->found, r->cap, sizeof(*r->found));
    }
    r->found[r->n++] = (struct search_found){ .path = alloc_copy(path.p, path.n),
                                              .count = count,
                                              .defines = defines };
}

struct tally {
    uint64_t count;
    bool defines, binary;
};

/* Counts the lines of a piece that match. -1: stop. */
static int tally_piece(struct worker *w, struct str piece, struct tally *t)
{
    const char *p = piece.p, *end = piece.p + piece.n;
    struct pattern_hit hit;
    int r;

    pattern_begin(w->run);
    while (p < end && (r = pattern_find(w->run, p, end, must_stop, w->search, &hit)) != 0) {
        if (r < 0)
            return -1;
        /* Only what matches is asked whether it is text. */
        if (t->count == 0 && memchr(piece.p, '\0', piece.n))
            t->binary = true;
        if (t->count++ < DEFINES_LOOK && !t->defines)
            t->defines = search_defines(str_of(hit.line, (size_t)(hit.line_end - hit.line)));
        if (t->binary || w->search->request->files_only)
            return 0;
        p = hit.line_end + 1;
    }
    return 0;
}

/* Matches the file that reader has begun. */
static void match_file(struct worker *w, struct str path)
{
    struct tally t = { .count = 0 };
    struct str piece;
    int r;

    while ((r = search_reader_next(&w->reader, &piece)) > 0) {
        if (tally_piece(w, piece, &t) < 0)
            return;
        if (t.count && !t.binary && memchr(piece.p, '\0', piece.n))
            t.binary = true;
        if (t.binary || (t.count && w->search->request->files_only))
            break;
    }
    if (r < 0)
        w->result.unreadable++;
    else if (t.binary)
        w->result.binary++;
    else if (t.count)
        add_found(w, path, t.count, t.defines);
}

static void look_at(struct worker *w, struct dir *dir, const char *name)
{
    struct search *s = w->search;
    AUTO_FD fd = -1;
    struct str path;
    uint64_t size;

    buf_clear(&w->path);
    buf_printf(&w->path, "%s/%s", dir->path, name);
    path = str_skip(buf_str(&w->path), s->root_n);
    w->result.looked++;
    if (!s->request->pattern) {
        add_found(w, path, 0, false);
        return;
    }
    fd = search_open_file(dir->fd, name, &s->ids, &size);
    if (fd < 0) {
        w->result.unreadable += errno == EACCES || errno == EMFILE || errno == EIO;
        return;
    }
    search_reader_begin(&w->reader, fd, size);
    match_file(w, path);
}

static void do_group(struct worker *w, const struct item *item)
{
    const char *name = item->first;

    if (atomic_fetch_add(&w->search->looked, item->n) >= SEARCH_FILES_MAX) {
        w->result.cut = true;
        atomic_store(&w->search->stop, true);
    }
    for (unsigned i = 0; i < item->n && !must_stop(w->search); i++) {
        look_at(w, item->dir, name);
        name += strlen(name) + 1;
    }
    dir_files_done(item->dir);
}

/* ---- listing ---- */

struct listing {
    struct buf dirs, files; /* names, each with its NUL */
    unsigned dir_count, file_count;
    bool ignore, gitignore, git;
};

static void listing_release(struct listing *l)
{
    buf_release(&l->dirs);
    buf_release(&l->files);
}

static unsigned char type_of(int fd, const struct dirent64 *e)
{
    struct stat st;

    if (e->d_type != DT_UNKNOWN)
        return e->d_type;
    if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return DT_UNKNOWN;
    return S_ISDIR(st.st_mode) ? DT_DIR : S_ISREG(st.st_mode) ? DT_REG : DT_UNKNOWN;
}

static void list_entry(struct worker *w, int fd, const struct dirent64 *e, struct listing *l)
{
    const char *name = e->d_name;
    unsigned char type;

    if (name[0] == '.') {
        if (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'))
            return;
        l->ignore |= strcmp(name, ".ignore") == 0;
        l->gitignore |= strcmp(name, ".gitignore") == 0;
        l->git |= strcmp(name, ".git") == 0;
        if (!w->search->request->hidden || strcmp(name, ".git") == 0)
            return;
    }
    type = type_of(fd, e);
    if (type == DT_DIR && buf_add(&l->dirs, name, strlen(name) + 1) == 0)
        l->dir_count++;
    if (type == DT_REG && buf_add(&l->files, name, strlen(name) + 1) == 0)
        l->file_count++;
}

static int list(struct worker *w, int fd, struct listing *l)
{
    ssize_t n;

    while ((n = getdents64(fd, w->list, LIST_BYTES)) > 0) {
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *e = (const void *)(w->list + at);

            list_entry(w, fd, e, l);
            at += e->d_reclen;
        }
        if (must_stop(w->search))
            return -1;
    }
    return n < 0 ? -1 : 0;
}

/* Whether an entry is to be looked at. w->path becomes its absolute path. */
static bool is_wanted(struct worker *w, const struct dir *dir, const char *name, bool is_dir)
{
    const struct search *s = w->search;
    const struct op_rules *rules = &s->ctx->state->rules;
    struct str path, below;

    buf_clear(&w->path);
    if (buf_printf(&w->path, "%s/%s", dir->path, name) < 0)
        return false;
    path = buf_str(&w->path);
    below = str_skip(path, s->root_n);
    if (access_name_denied(rules, str_from(name)) || access_path_denied(rules, path))
        return false;
    if (s->request->glob.n && (!is_dir || s->request->glob.negated) &&
        !search_glob_match(&s->request->glob, below))
        return false;
    return s->request->no_ignore || !search_ignored(&dir->rules, path, is_dir);
}

static void push_dirs(struct worker *w, struct dir *dir, const struct listing *l)
{
    const char *name = buf_text(&l->dirs);

    for (unsigned i = 0; i < l->dir_count; i++, name += strlen(name) + 1) {
        struct item item = { .dir = NULL };

        if (!is_wanted(w, dir, name, true))
            continue;
        item.dir = dir_new(dir, buf_text(&w->path), w->path.n);
        item.dir->dev = dir->dev;
        pthread_mutex_lock(&w->search->lock);
        push(w->search, item);
        pthread_mutex_unlock(&w->search->lock);
    }
}

static void push_group(struct search *s, struct item group)
{
    if (group.n == 0)
        return;
    atomic_fetch_add(&group.dir->refs, 1);
    atomic_fetch_add(&group.dir->files, 1);
    pthread_mutex_lock(&s->lock);
    push(s, group);
    pthread_cond_signal(&s->more);
    pthread_mutex_unlock(&s->lock);
}

/* Keeps the wanted names, one behind the other, in the directory and cuts them into groups. */
static void push_files(struct worker *w, struct dir *dir, struct listing *l)
{
    struct item group = { .dir = dir };
    char *from, *to;

    dir->names = buf_take(&l->files);
    from = to = dir->names;
    for (unsigned i = 0; i < l->file_count; i++) {
        size_t n = strlen(from) + 1;

        if (is_wanted(w, dir, from, false)) {
            memmove(to, from, n);
            if (group.n == 0)
                group.first = to;
            to += n;
            if (++group.n == GROUP) {
                push_group(w->search, group);
                group.n = 0;
            }
        }
        from += n;
    }
    push_group(w->search, group);
}

/* Denied places under another name, and process file systems. */
static bool may_enter(struct worker *w, struct dir *dir)
{
    struct stat st;
    struct statfs fs;

    if (fstat(dir->fd, &st) < 0 || access_ids_have(&w->search->ids, &st))
        return false;
    if (st.st_dev != dir->dev && fstatfs(dir->fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC)
        return false;
    dir->dev = st.st_dev;
    return true;
}

static void do_dir(struct worker *w, struct dir *dir)
{
    __attribute__((cleanup(listing_release))) struct listing l = { .dirs = BUF_INIT(NAMES_MAX),
                                                                   .files = BUF_INIT(NAMES_MAX) };
    struct search *s = w->search;

    atomic_fetch_add(&dir->files, 1);
    dir->fd = search_open_beneath(s->root_fd, dir->path_n > s->root_n ? dir->path + s->root_n : "",
                                  O_RDONLY | O_DIRECTORY);
    if (dir->fd < 0 || !may_enter(w, dir) || list(w, dir->fd, &l) < 0) {
        w->result.unreadable += !atomic_load(&s->stop);
    } else {
        if (!s->request->no_ignore)
            search_rules_load(&dir->rules, dir->fd, l.ignore, l.gitignore, l.git);
        push_dirs(w, dir, &l);
        push_files(w, dir, &l);
        pthread_mutex_lock(&s->lock);
        pthread_cond_broadcast(&s->more);
        pthread_mutex_unlock(&s->lock);
    }
    dir_files_done(dir);
}

/* ---- workers ---- */

static void worker_init(struct worker *w, struct search *s)
{
    *w = (struct worker){ .search = s,
                          .reader = SEARCH_READER_INIT,
                          .path = BUF_INIT(LIMIT_PATH_BYTES + LIMIT_PATH_NAME_BYTES),
                          .list = alloc_resize(NULL, LIST_BYTES, 1) };
    if (s->request->pattern)
        w->run = pattern_run_new(s->request->pattern);
}

static void check_costly(struct worker *w)
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

static void worker_release(struct worker *w)
{
    pattern_run_free(w->run);
    search_reader_release(&w->reader);
    search_result_release(&w->result);
    buf_release(&w->path);
    free(w->list);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct item item;

    while (pop(w->search, &item)) {
        if (atomic_load(&w->search->stop)) {
            if (item.first)
                dir_files_done(item.dir);
            else
                dir_unref(item.dir);
        } else if (item.first) {
            do_group(w, &item);
        } else {
            do_dir(w, item.dir);
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
    struct worker workers[SEARCH_THREADS_MAX];
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
    struct worker w;
    struct stat st;
    AUTO_FD fd = -1;

    if (access_open(s->ctx, root, &fd, &st, err) < 0)
        return -1;
    worker_init(&w, s);
    w.result.looked = 1;
    if (s->request->pattern) {
        search_reader_begin(&w.reader, fd, (uint64_t)st.st_size);
        match_file(&w, STR(""));
        check_costly(&w);
    } else {
        add_found(&w, STR(""), 0, false);
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
    struct dir *top = dir_new(NULL, path, strlen(path));

    top->rules.parent = above;
    top->dev = root->st.st_dev;
    s->root_fd = root->fd;
    s->root_n = strlen(path) + 1;
    push(s, (struct item){ .dir = top });
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
