/* Writing one file of the view, in the pool.
 *
 * The new content is written and synced in the tree's stage (TREE/.dormouse/in/PATH), moved to
 * TREE/.dormouse/out/PATH and exchanged with what stands at PATH: in one step the new content is
 * there and the old one, whatever it was at that moment, lies in the stage. If it is what was last
 * seen, it goes; if not, a person wrote it, and it stays in the stage until it is recorded.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/utf8.h"
#include "files/view_int.h"

#define TRIES       8
#define BACKUPS_MAX 99
#define BACKUP_STEM 240 /* bytes of the name that it is of */

/* A folder and a name in it. */
struct place {
    int fd;
    const char *name;
};

static void close_place(struct place *place)
{
    file_close_auto(&place->fd);
}
#define AUTO_PLACE __attribute__((cleanup(close_place))) struct place

/* below: NULL or a folder of the tree that path lies in. Folders are made when `make`. */
static int open_place(int tree_fd, const char *below, const char *path, bool make,
                      struct arena *arena, struct place *ret, struct err *err)
{
    const char *whole = below ? arena_printf(arena, "%s/%s", below, path) : path;
    const char *slash = strrchr(whole, '/');
    const char *dir;

    ret->name = slash ? slash + 1 : whole;
    if (!slash) {
        ret->fd = fcntl(tree_fd, F_DUPFD_CLOEXEC, 0);
        return ret->fd < 0 ? err_set(err, ERR_INTERNAL, "%s", strerror(errno)) : 0;
    }
    dir = arena_copy(arena, whole, (size_t)(slash - whole));
    if (make && path_mkdir_beneath(tree_fd, dir, 0700, err) < 0)
        return -1;
    return path_open_beneath(tree_fd, dir, O_RDONLY | O_DIRECTORY, 0, &ret->fd, err);
}

static void fail(struct view_op *op, const char *why)
{
    op->result = VIEW_FAILED;
    op->why = why;
}

static void blocked(struct view_op *op, const char *why)
{
    op->result = VIEW_BLOCKED;
    op->why = why;
}

/* What has no place in the store stays beside the file, as numbered backups of editors do. */
static int keep_beside(const struct place *from, const struct place *to)
{
    struct str stem = utf8_truncate(str_from(to->name), BACKUP_STEM);
    char name[300];

    for (int i = 1; i <= BACKUPS_MAX; i++) {
        snprintf(name, sizeof(name), "%.*s.~%d~", STR_ARG(stem), i);
        if (renameat2(from->fd, from->name, to->fd, name, RENAME_NOREPLACE) == 0)
            return 0;
        if (errno == EINVAL || errno == ENOSYS) {
            if (faccessat(to->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
                renameat(from->fd, from->name, to->fd, name) == 0)
                return 0;
        } else if (errno != EEXIST)
            return -1;
    }
    return -1;
}

/* What came out: gone when it was expected, else kept. */
static void settle(struct view_op *op, const struct place *out, const struct place *dest,
                   struct arena *arena)
{
    AUTO_FD fd = openat(out->fd, out->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    char hash[SHA256_TEXT_SIZE];
    struct str content;
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
        view_read(fd, FILE_BYTES_MAX, arena, &content, hash) != 1) {
        if (keep_beside(out, dest) == 0)
            op->why = "what stood there was no readable file; it lies beside it as NAME.~1~";
        return;
    }
    if (strcmp(hash, op->expected) == 0 || strcmp(hash, op->hash) == 0) {
        unlinkat(out->fd, out->name, 0);
        return;
    }
    op->displaced = ARENA_NEW(arena, struct view_found);
    op->displaced->path = str_from(op->path);
    op->displaced->content = content;
    memcpy(op->displaced->hash, hash, sizeof(hash));
}

static int stage(struct view_op *op, const struct place *in, struct err *err)
{
    AUTO_FD fd = -1;

    unlinkat(in->fd, in->name, 0);
    fd = openat(in->fd, in->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    /* Synced: after a power cut an empty file would pass for a person's. */
    if (fd < 0 || file_write_all(fd, op->content) < 0 || fdatasync(fd) < 0) {
        int number = errno;

        unlinkat(in->fd, in->name, 0);
        return err_set(err, ERR_INTERNAL, "%s", strerror(number));
    }
    return 0;
}

/* 1 something came out, 0 nothing was there, -1 with errno. */
static int swap(const struct place *out, const struct place *dest)
{
    for (int i = 0; i < TRIES; i++) {
        if (renameat2(out->fd, out->name, dest->fd, dest->name, RENAME_EXCHANGE) == 0)
            return 1;
        if (errno == ENOENT &&
            renameat2(out->fd, out->name, dest->fd, dest->name, RENAME_NOREPLACE) == 0)
            return 0;
        if (errno != ENOENT && errno != EEXIST)
            return -1;
    }
    return -1;
}

/* For file systems that can't exchange: first what is there goes out, then the new one in. */
static int swap_in_steps(const struct place *in, const struct place *out, const struct place *dest)
{
    int came = renameat(dest->fd, dest->name, out->fd, out->name) == 0 ? 1
               : errno == ENOENT                                       ? 0
                                                                       : -1;

    if (came < 0)
        return -1;
    if (renameat(in->fd, in->name, dest->fd, dest->name) == 0)
        return came;
    if (came == 1)
        renameat(out->fd, out->name, dest->fd, dest->name);
    return -1;
}

static int put_in_place(const struct place *in, const struct place *out, const struct place *dest)
{
    int r, saved;

    if (renameat(in->fd, in->name, out->fd, out->name) < 0)
        return -1;
    r = swap(out, dest);
    if (r >= 0)
        return r;
    saved = errno;
    /* Nothing was exchanged: what lies there is the new content still. */
    if (renameat(out->fd, out->name, in->fd, in->name) < 0)
        return -1;
    errno = saved;
    return saved == EINVAL || saved == ENOSYS ? swap_in_steps(in, out, dest) : -1;
}

static void stat_dest(struct view_op *op, const struct place *dest)
{
    struct stat st;

    op->result = VIEW_DONE;
    if (fstatat(dest->fd, dest->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        view_fill_stat(&st, &op->stat);
}

/* Whether the file has the content already: a person's own version is not written over itself. */
static bool is_there(const struct view_op *op, const struct place *dest, const struct stat *st,
                     struct arena *arena)
{
    AUTO_FD fd = -1;
    char hash[SHA256_TEXT_SIZE];
    struct str content;

    if ((size_t)st->st_size != op->content.n)
        return false;
    fd = openat(dest->fd, dest->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    return fd >= 0 && view_read(fd, FILE_BYTES_MAX, arena, &content, hash) == 1 &&
           strcmp(hash, op->hash) == 0;
}

static const char *in_the_way(const struct stat *st)
{
    return S_ISLNK(st->st_mode)   ? "a link stands where this file belongs; remove it"
           : S_ISDIR(st->st_mode) ? "a folder stands where this file belongs; remove it"
                                  : "a device stands where this file belongs; remove it";
}

static void write_file(int tree_fd, struct view_op *op, struct arena *arena)
{
    AUTO_PLACE dest = { .fd = -1 }, in = { .fd = -1 }, out = { .fd = -1 };
    struct err err = ERR_INIT;
    struct stat st;
    int came;

    if (open_place(tree_fd, NULL, op->path, true, arena, &dest, &err) < 0 ||
        open_place(tree_fd, VIEW_STAGE "/in", op->path, true, arena, &in, &err) < 0 ||
        open_place(tree_fd, VIEW_STAGE "/out", op->path, true, arena, &out, &err) < 0) {
        fail(op, arena_text(arena, err_message(&err, 0)));
        return;
    }
    if (fstatat(dest.fd, dest.name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        if (!S_ISREG(st.st_mode)) {
            blocked(op, in_the_way(&st));
            return;
        }
        if (is_there(op, &dest, &st, arena)) {
            stat_dest(op, &dest);
            return;
        }
    }
    /* What an earlier, unrecorded exchange brought out is a person's: a scan records it first. */
    if (faccessat(out.fd, out.name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        fail(op, "an earlier version waits to be recorded");
        return;
    }
    came = stage(op, &in, &err) < 0 ? -2 : put_in_place(&in, &out, &dest);
    if (came < 0) {
        fail(op, came == -2 ? arena_text(arena, err_message(&err, 0)) : strerror(errno));
        unlinkat(in.fd, in.name, 0);
        return;
    }
    stat_dest(op, &dest);
    if (came == 1)
        settle(op, &out, &dest, arena);
}

static void remove_folders(int tree_fd, const char *path, struct arena *arena)
{
    char *dir = arena_text(arena, path), *slash;

    while ((slash = strrchr(dir, '/')) != NULL) {
        AUTO_PLACE place = { .fd = -1 };

        *slash = '\0';
        if (open_place(tree_fd, NULL, dir, false, arena, &place, NULL) < 0 ||
            unlinkat(place.fd, place.name, AT_REMOVEDIR) < 0)
            return;
    }
}

static void remove_file(int tree_fd, struct view_op *op, struct arena *arena)
{
    AUTO_PLACE dest = { .fd = -1 }, out = { .fd = -1 };
    struct err err = ERR_INIT;
    struct stat st;

    op->result = VIEW_DONE;
    if (open_place(tree_fd, NULL, op->path, false, arena, &dest, &err) < 0 ||
        fstatat(dest.fd, dest.name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    /* It is nobody's file any more, so it stands in no way. */
    if (!S_ISREG(st.st_mode)) {
        op->strange = true;
        return;
    }
    if (open_place(tree_fd, VIEW_STAGE "/out", op->path, true, arena, &out, &err) < 0) {
        fail(op, arena_text(arena, err_message(&err, 0)));
        return;
    }
    if (faccessat(out.fd, out.name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        fail(op, "an earlier version waits to be recorded");
        return;
    }
    if (renameat(dest.fd, dest.name, out.fd, out.name) < 0) {
        fail(op, strerror(errno));
        return;
    }
    settle(op, &out, &dest, arena);
    remove_folders(tree_fd, op->path, arena);
}

static void end_staged(int tree_fd, struct view_op *op, struct arena *arena)
{
    AUTO_PLACE dest = { .fd = -1 }, out = { .fd = -1 };
    struct err err = ERR_INIT;

    op->result = VIEW_DONE;
    if (open_place(tree_fd, VIEW_STAGE "/out", op->path, false, arena, &out, &err) < 0)
        return;
    if (op->what == VIEW_DROP_STAGED)
        unlinkat(out.fd, out.name, 0);
    else if (open_place(tree_fd, NULL, op->path, true, arena, &dest, &err) == 0)
        keep_beside(&out, &dest);
}

void view_op_run(int dir_fd, struct view_op *op, struct arena *arena)
{
    AUTO_FD tree_fd = view_open_tree(dir_fd, op->tree, op->what == VIEW_WRITE);

    if (tree_fd < 0) {
        if (errno == ENOENT && op->what != VIEW_WRITE)
            op->result = VIEW_DONE;
        else
            fail(op, strerror(errno));
        return;
    }
    if (op->what == VIEW_WRITE)
        write_file(tree_fd, op, arena);
    else if (op->what == VIEW_REMOVE)
        remove_file(tree_fd, op, arena);
    else
        end_staged(tree_fd, op, arena);
}
