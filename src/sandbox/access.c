/* Walking a path under the rules.
 *
 * The walk keeps a stack of O_PATH descriptors, one a directory, and the text that is still to be
 * walked. A link's target is put in front of that text. Links in /proc are text like any other, so
 * the magic ones lead nowhere that their text does not; the file system itself is refused, because
 * what it shows (environments, memory, open files) belongs to processes and not to the work.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/access.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/path.h"

#define REST_MAX (4 * LIMIT_PATH_BYTES) /* text still to be walked, with links put in */

struct walk {
    const struct op_rules *rules;
    struct access_ids ids;
    int fds[ACCESS_DEPTH_MAX + 1]; /* fds[0] is "/" */
    dev_t devs[ACCESS_DEPTH_MAX + 1];
    int depth;
    int leaf; /* what is no directory, else -1 */
    struct stat st;
    struct buf path; /* real; "" is "/" */
    struct buf rest;
    int links;
    const char *asked; /* for messages */
};

/* ---- rules on the way ---- */

/* A second name in the same directory for a file whose name is denied. */
static bool is_denied_link(const struct walk *w, const struct stat *st)
{
    struct stat other;

    if (!S_ISREG(st->st_mode) || st->st_nlink < 2)
        return false;
    for (size_t i = 0; w->rules->deny_names && w->rules->deny_names[i]; i++)
        if (fstatat(w->fds[w->depth], w->rules->deny_names[i], &other, AT_SYMLINK_NOFOLLOW) == 0 &&
            other.st_ino == st->st_ino && other.st_dev == st->st_dev)
            return true;
    return false;
}

/* path ends in name, which is being stepped on; st is NULL for what does not exist. */
static int check_step(const struct walk *w, struct str name, const struct stat *st, struct err *err)
{
    struct str path = buf_str(&w->path);

    if (access_name_denied(w->rules, name))
        return err_set(err, ERR_PATH_DENIED, "%s: nothing named %.*s may be read or written",
                       w->asked, STR_ARG(name));
    if (access_path_denied(w->rules, path))
        return err_set(err, ERR_PATH_DENIED, "%s: %s may not be read or written", w->asked,
                       access_rule_of(w->rules->deny_read, path));
    if (st && (access_ids_have(&w->ids, st) || is_denied_link(w, st)))
        return err_set(err, ERR_PATH_DENIED, "%s: this is another name of what may not be read",
                       w->asked);
    return 0;
}

/* ---- the walk ---- */

static void walk_release(struct walk *w)
{
    for (int i = 0; i <= w->depth; i++)
        file_close_auto(&w->fds[i]);
    file_close_auto(&w->leaf);
    buf_release(&w->path);
    buf_release(&w->rest);
}

static int walk_begin(struct walk *w, struct op_ctx *ctx, struct str path, struct err *err)
{
    struct stat st;

    w->rules = &ctx->state->rules;
    w->leaf = -1;
    w->path = BUF_INIT(LIMIT_PATH_BYTES);
    w->rest = BUF_INIT(REST_MAX);
    w->fds[0] = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (w->fds[0] < 0 || fstat(w->fds[0], &st) < 0)
        return access_fail(err, errno, "open", "/");
    w->devs[0] = st.st_dev;
    w->st = st;
    access_ids_load(w->rules, &w->ids);
    if (path.n == 0)
        return err_set(err, ERR_BAD_REQUEST, "path is empty; expected the name of a file");
    if (path.n > LIMIT_PATH_BYTES)
        return err_set(err, ERR_BAD_REQUEST, "path has %zu bytes; at most %d are allowed", path.n,
                       LIMIT_PATH_BYTES);
    if (memchr(path.p, '\0', path.n))
        return err_set(err, ERR_BAD_REQUEST, "path holds a NUL character");
    w->asked = arena_copy(ctx->arena, path.p, path.n);
    return 0;
}

static void walk_fill(struct walk *w, const char *cwd, struct str path)
{
    const char *home = getenv("HOME");

    if (path.p[0] == '~' && (path.n == 1 || path.p[1] == '/') && home && home[0] == '/') {
        buf_add_text(&w->rest, home);
        path = str_skip(path, 1);
    } else if (path.p[0] != '/') {
        buf_add_text(&w->rest, cwd);
        buf_add_char(&w->rest, '/');
    }
    buf_add_str(&w->rest, path);
}

/* Takes the next name off the rest; false at its end. */
static bool next_name(struct walk *w, char name[LIMIT_PATH_NAME_BYTES + 2])
{
    size_t skip = 0, n;

    while (skip < w->rest.n && w->rest.p[skip] == '/')
        skip++;
    buf_consume(&w->rest, skip);
    if (w->rest.n == 0)
        return false;
    n = strcspn(buf_text(&w->rest), "/");
    /* One more than allowed: the kernel then says that it is too long. */
    n = n > LIMIT_PATH_NAME_BYTES + 1 ? LIMIT_PATH_NAME_BYTES + 1 : n;
    memcpy(name, w->rest.p, n);
    name[n] = '\0';
    buf_consume(&w->rest, n);
    return true;
}

static void cut_path(struct buf *path)
{
    const char *slash = memrchr(buf_text(path), '/', path->n);

    path->n = slash ? (size_t)(slash - path->p) : 0;
    if (path->p)
        path->p[path->n] = '\0';
}

static void go_up(struct walk *w)
{
    if (w->depth == 0)
        return;
    close(w->fds[w->depth--]);
    cut_path(&w->path);
}

static int follow(struct walk *w, int link_fd, struct err *err)
{
    char target[LIMIT_PATH_BYTES];
    ssize_t n = readlinkat(link_fd, "", target, sizeof(target));
    AUTO_BUF rest = BUF_INIT(REST_MAX);

    if (n <= 0 || n == (ssize_t)sizeof(target))
        return err_set(err, ERR_PATH_DENIED, "%s: a symbolic link on the way can't be read",
                       w->asked);
    if (++w->links > ACCESS_LINKS_MAX)
        return err_set(err, ERR_PATH_DENIED, "%s: more than %d symbolic links on the way", w->asked,
                       ACCESS_LINKS_MAX);
    while (target[0] == '/' && w->depth > 0)
        go_up(w);
    buf_add(&rest, target, (size_t)n);
    buf_add_str(&rest, buf_str(&w->rest));
    if (rest.full)
        return err_set(err, ERR_BAD_REQUEST, "%s: too long with its symbolic links", w->asked);
    buf_clear(&w->rest);
    buf_add_str(&w->rest, buf_str(&rest));
    return 0;
}

static int check_file_system(const struct walk *w, int fd, const struct stat *st, struct err *err)
{
    struct statfs fs;

    if (st->st_dev == w->devs[w->depth])
        return 0;
    if (fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC)
        return err_set(err, ERR_PATH_DENIED, "%s: process file systems are not for file tools",
                       w->asked);
    return 0;
}

static int enter(struct walk *w, int fd, const struct stat *st, struct err *err)
{
    if (w->depth == ACCESS_DEPTH_MAX)
        return err_set(err, ERR_BAD_REQUEST, "%.200s: more than %d directories deep", w->asked,
                       ACCESS_DEPTH_MAX);
    if (check_file_system(w, fd, st, err) < 0)
        return -1;
    w->fds[++w->depth] = fd;
    w->devs[w->depth] = st->st_dev;
    return 0;
}

/* What stands in the way of going on below a file. */
static int check_last(const struct walk *w, const struct stat *st, struct err *err)
{
    if (w->rest.n == 0)
        return 0;
    return err_set(err, ERR_NOT_FOUND, "%s: %s is a %s, not a directory", w->asked,
                   buf_text(&w->path), access_type_name(st->st_mode));
}

static int add_name(struct walk *w, const char *name, struct err *err)
{
    if (buf_add_char(&w->path, '/') < 0 || buf_add_text(&w->path, name) < 0)
        return err_set(err, ERR_BAD_REQUEST, "%.200s: longer than %d bytes", w->asked,
                       LIMIT_PATH_BYTES);
    return 0;
}

/* Steps on fd, which becomes the walk's or is closed. */
static int step_on(struct walk *w, const char *name, int fd, struct err *err)
{
    struct stat st;
    int done = -1;

    if (fstat(fd, &st) < 0)
        access_fail(err, errno, "open", w->asked);
    else if (S_ISLNK(st.st_mode))
        done = follow(w, fd, err) < 0 ? -1 : 0;
    else if (add_name(w, name, err) == 0 && check_step(w, str_from(name), &st, err) == 0) {
        w->st = st;
        if (S_ISDIR(st.st_mode))
            done = enter(w, fd, &st, err) < 0 ? -1 : 1;
        else if (check_last(w, &st, err) == 0) {
            w->leaf = fd;
            done = 1;
        }
    }
    if (done <= 0)
        close(fd);
    return done < 0 ? -1 : 0;
}

/* 1: name does not exist, which is for the caller to judge. */
static int walk_on(struct walk *w, char name[LIMIT_PATH_NAME_BYTES + 2], struct err *err)
{
    while (next_name(w, name)) {
        int fd;

        if (strcmp(name, ".") == 0)
            continue;
        if (strcmp(name, "..") == 0) {
            go_up(w);
            continue;
        }
        fd = openat(w->fds[w->depth], name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT)
            return 1;
        if (fd < 0)
            return access_fail(err, errno, "open", w->asked);
        if (step_on(w, name, fd, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- places ---- */

static void place_set(struct walk *w, struct arena *arena, struct access_place *place)
{
    place->path = w->path.n ? arena_text(arena, buf_text(&w->path)) : "/";
    place->name = strrchr(place->path, '/') + 1;
    place->linked = w->links > 0;
    place->st = w->st;
    if (w->leaf >= 0) {
        place->fd = w->leaf;
        w->leaf = -1;
        place->dir_fd = w->fds[w->depth];
    } else {
        place->fd = w->fds[w->depth];
        place->dir_fd = w->depth ? w->fds[w->depth - 1] : dup(w->fds[0]);
        w->fds[w->depth] = -1;
    }
    for (int i = 0; i <= w->depth; i++)
        if (w->fds[i] == place->dir_fd)
            w->fds[i] = -1;
}

/* name is missing, with what may follow it in the rest: directories to be made, then the file. */
static int place_missing(struct walk *w, struct arena *arena, char *name,
                         struct access_place *place, struct err *err)
{
    AUTO_BUF dirs = BUF_INIT(LIMIT_PATH_BYTES);
    bool slash = w->rest.n && w->rest.p[w->rest.n - 1] == '/';

    for (;;) {
        if (strcmp(name, "..") == 0)
            return err_set(err, ERR_NOT_FOUND, "%s: %s does not exist", w->asked,
                           buf_text(&w->path));
        if (strcmp(name, ".") != 0) {
            if (strlen(name) > LIMIT_PATH_NAME_BYTES)
                return access_fail(err, ENAMETOOLONG, "write", w->asked);
            if (add_name(w, name, err) < 0 || check_step(w, str_from(name), NULL, err) < 0)
                return -1;
            buf_printf(&dirs, "%s%s", dirs.n ? "/" : "", name);
        }
        if (!next_name(w, name))
            break;
    }
    if (slash)
        return err_set(err, ERR_BAD_REQUEST, "%s: a file's name can't end in a slash", w->asked);
    cut_path(&dirs);
    place->missing = dirs.n ? arena_text(arena, buf_text(&dirs)) : NULL;
    place->path = arena_text(arena, buf_text(&w->path));
    place->name = strrchr(place->path, '/') + 1;
    place->linked = w->links > 0;
    place->fd = -1;
    place->dir_fd = w->fds[w->depth];
    w->fds[w->depth] = -1;
    return 0;
}

int access_read(struct op_ctx *ctx, struct str path, struct access_place *ret_place,
                struct err *err)
{
    char name[LIMIT_PATH_NAME_BYTES + 2];
    __attribute__((cleanup(walk_release))) struct walk w = { .leaf = -1 };
    int r;

    if (walk_begin(&w, ctx, path, err) < 0)
        return -1;
    walk_fill(&w, ctx->state->cwd, path);
    r = walk_on(&w, name, err);
    if (r > 0)
        return err_set(err, ERR_NOT_FOUND, "%s: there is no %s in %s", w.asked, name,
                       w.path.n ? buf_text(&w.path) : "/");
    if (r < 0)
        return -1;
    place_set(&w, ctx->arena, ret_place);
    return 0;
}

int access_write(struct op_ctx *ctx, struct str path, struct access_place *ret_place,
                 struct err *err)
{
    char name[LIMIT_PATH_NAME_BYTES + 2];
    __attribute__((cleanup(walk_release))) struct walk w = { .leaf = -1 };
    AUTO_PLACE place = ACCESS_PLACE_INIT;
    int r;

    if (walk_begin(&w, ctx, path, err) < 0)
        return -1;
    walk_fill(&w, ctx->state->cwd, path);
    r = walk_on(&w, name, err);
    if (r < 0 || (r > 0 && place_missing(&w, ctx->arena, name, &place, err) < 0))
        return -1;
    if (r == 0)
        place_set(&w, ctx->arena, &place);
    if (!access_rule_of(ctx->state->rules.allow_write, str_from(place.path)))
        return err_set(err, ERR_PATH_DENIED, "%s: %s is not in a directory that may be written",
                       w.asked, place.path);
    if (access_rule_of(ctx->state->rules.deny_write, str_from(place.path)))
        return err_set(err, ERR_PATH_DENIED, "%s: %s are settings, which no tool may change",
                       w.asked, access_rule_of(ctx->state->rules.deny_write, str_from(place.path)));
    *ret_place = place;
    place = ACCESS_PLACE_INIT;
    return 0;
}

void access_release(struct access_place *place)
{
    file_close_auto(&place->dir_fd);
    file_close_auto(&place->fd);
    place->dir_fd = place->fd = -1;
}

static int check_opened(struct op_ctx *ctx, const struct access_place *place, int fd,
                        struct stat *ret_st, struct err *err)
{
    struct access_ids ids;

    if (fstat(fd, ret_st) < 0)
        return access_fail(err, errno, "open", place->path);
    if (!S_ISREG(ret_st->st_mode))
        return err_set(err, ERR_CONFLICT, "%s was replaced by a %s just now", place->path,
                       access_type_name(ret_st->st_mode));
    access_ids_load(&ctx->state->rules, &ids);
    if (access_ids_have(&ids, ret_st))
        return err_set(err, ERR_PATH_DENIED, "%s: this is another name of what may not be read",
                       place->path);
    /* The rules were asked about the file that stood there, and about no other. */
    if (ret_st->st_ino != place->st.st_ino || ret_st->st_dev != place->st.st_dev)
        return err_set(err, ERR_CONFLICT, "%s was replaced by another file just now", place->path);
    return 0;
}

int access_open(struct op_ctx *ctx, const struct access_place *place, int *ret_fd,
                struct stat *ret_st, struct err *err)
{
    int fd;

    if (!S_ISREG(place->st.st_mode))
        return err_set(err, ERR_BAD_REQUEST, "%s is a %s, not a regular file", place->path,
                       access_type_name(place->st.st_mode));
    /* A pipe that was put there since would make an open wait. */
    fd = openat(place->dir_fd, place->name,
                O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return access_fail(err, errno, "open", place->path);
    if (check_opened(ctx, place, fd, ret_st, err) < 0) {
        close(fd);
        return -1;
    }
    *ret_fd = fd;
    return 0;
}

int access_make_parents(struct access_place *place, struct err *err)
{
    struct str rest = str_from(place->missing), part;

    while (place->missing && str_split(&rest, '/', &part)) {
        char name[LIMIT_PATH_NAME_BYTES + 1] = "";
        int next;

        memcpy(name, part.p, part.n);
        if (mkdirat(place->dir_fd, name, 0777) < 0 && errno != EEXIST)
            return access_fail(err, errno, "make the directory of", place->path);
        next = openat(place->dir_fd, name, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
        if (next < 0)
            return access_fail(err, errno, "make the directory of", place->path);
        close(place->dir_fd);
        place->dir_fd = next;
    }
    place->missing = NULL;
    return 0;
}
