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
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/limits.h"
#include "sandbox/search_int.h"

#define GROUP        32 /* files that are matched in one go */
#define DEFINES_LOOK 32 /* matches of a file that are looked at for definitions */
#define NAMES_MAX    (256 * MIB)

/* ---- directories ---- */

struct search_dir *search_dir_new(struct search_dir *parent, const char *path, size_t path_n)
{
    struct search_dir *dir = NEW(struct search_dir);

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

void search_dir_unref(struct search_dir *dir)
{
    while (dir && atomic_fetch_sub(&dir->refs, 1) == 1) {
        struct search_dir *parent = dir->parent;

        search_rules_release(&dir->rules);
        file_close_auto(&dir->fd);
        free(dir->names);
        free(dir->path);
        free(dir);
        dir = parent;
    }
}

void search_dir_done(struct search_dir *dir)
{
    if (atomic_fetch_sub(&dir->files, 1) == 1) {
        file_close_auto(&dir->fd);
        dir->fd = -1;
        free(dir->names);
        dir->names = NULL;
    }
    search_dir_unref(dir);
}

/* ---- files ---- */

void search_add_found(struct search_worker *w, struct str path, uint64_t count, bool defines)
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
static int tally_piece(struct search_worker *w, struct str piece, struct tally *t)
{
    const char *p = piece.p, *end = piece.p + piece.n;
    struct pattern_hit hit;
    int r;

    pattern_begin(w->run);
    while (p < end && (r = pattern_find(w->run, p, end, search_must_stop, w->search, &hit)) != 0) {
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
void search_match_file(struct search_worker *w, struct str path)
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
        search_add_found(w, path, t.count, t.defines);
}

static void look_at(struct search_worker *w, struct search_dir *dir, const char *name)
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
        search_add_found(w, path, 0, false);
        return;
    }
    fd = search_open_file(dir->fd, name, &s->ids, &size);
    if (fd < 0) {
        w->result.unreadable += errno == EACCES || errno == EMFILE || errno == EIO;
        return;
    }
    search_reader_begin(&w->reader, fd, size);
    search_match_file(w, path);
}

void search_do_group(struct search_worker *w, const struct search_item *item)
{
    const char *name = item->first;

    if (atomic_fetch_add(&w->search->looked, item->n) >= SEARCH_FILES_MAX) {
        w->result.cut = true;
        atomic_store(&w->search->stop, true);
    }
    for (unsigned i = 0; i < item->n && !search_must_stop(w->search); i++) {
        look_at(w, item->dir, name);
        name += strlen(name) + 1;
    }
    search_dir_done(item->dir);
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

static void list_entry(struct search_worker *w, int fd, const struct dirent64 *e, struct listing *l)
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

static int list(struct search_worker *w, int fd, struct listing *l)
{
    ssize_t n;

    while ((n = getdents64(fd, w->list, SEARCH_LIST_BYTES)) > 0) {
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *e = (const void *)(w->list + at);

            list_entry(w, fd, e, l);
            at += e->d_reclen;
        }
        if (search_must_stop(w->search))
            return -1;
    }
    return n < 0 ? -1 : 0;
}

/* Whether an entry is to be looked at. w->path becomes its absolute path. */
static bool is_wanted(struct search_worker *w, const struct search_dir *dir, const char *name,
                      bool is_dir)
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

static void push_dirs(struct search_worker *w, struct search_dir *dir, const struct listing *l)
{
    const char *name = buf_text(&l->dirs);

    for (unsigned i = 0; i < l->dir_count; i++, name += strlen(name) + 1) {
        struct search_item item = { .dir = NULL };

        if (!is_wanted(w, dir, name, true))
            continue;
        item.dir = search_dir_new(dir, buf_text(&w->path), w->path.n);
        item.dir->dev = dir->dev;
        pthread_mutex_lock(&w->search->lock);
        search_push(w->search, item);
        pthread_mutex_unlock(&w->search->lock);
    }
}

static void push_group(struct search *s, struct search_item group)
{
    if (group.n == 0)
        return;
    atomic_fetch_add(&group.dir->refs, 1);
    atomic_fetch_add(&group.dir->files, 1);
    pthread_mutex_lock(&s->lock);
    search_push(s, group);
    pthread_cond_signal(&s->more);
    pthread_mutex_unlock(&s->lock);
}

/* Keeps the wanted names, one behind the other, in the directory and cuts them into groups. */
static void push_files(struct search_worker *w, struct search_dir *dir, struct listing *l)
{
    struct search_item group = { .dir = dir };
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
static bool may_enter(struct search_worker *w, struct search_dir *dir)
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

void search_do_dir(struct search_worker *w, struct search_dir *dir)
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
    search_dir_done(dir);
}
