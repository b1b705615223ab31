/* Walking a tree on disk, in the pool.
 *
 * Each folder is watched before it is read, so that what happens behind the walk is told later.
 * Only a file whose time, size or inode is another is read and hashed. Links and devices are looked
 * at, never opened. What editors leave beside a file (~, .swp, hidden names) is not ours.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/utf8.h"
#include "files/view_int.h"

#define DEPTH_MAX 16
#define RACY_NS   INT64_C(50000000) /* coarser than the clock of any usual file system's times */
#define WATCHED                                                                                    \
    (IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_ONLYDIR |           \
     IN_DONT_FOLLOW | IN_EXCL_UNLINK)

/* ---- looking at files ---- */

void view_fill_stat(const struct stat *st, struct view_stat *ret)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    *ret = (struct view_stat){
        .mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
        .size = st->st_size,
        .ino = st->st_ino,
    };
    ret->racy = ret->mtime_ns + RACY_NS > (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int view_read(int fd, size_t max, struct arena *arena, struct str *ret_content,
              char hash[SHA256_TEXT_SIZE])
{
    AUTO_BUF content = BUF_INIT(max);
    struct err err = ERR_INIT;

    if (file_read_fd(fd, "file", &content, &err) < 0)
        return err.code == ERR_TOO_LARGE ? 0 : -1;
    sha256_text(buf_str(&content), hash);
    *ret_content = arena_str(arena, buf_str(&content));
    return 1;
}

size_t view_max_bytes(struct str path)
{
    return str_starts(path, STR("knowledge/")) ? LIMIT_MEMORY_FILE_BYTES : VIEW_FILE_MAX;
}

int view_open_tree(int dir_fd, const char *tree, bool make)
{
    const char *slash = strchr(tree, '/');
    char kind[16] = "";
    AUTO_FD kind_fd = -1;

    BUG_IF(!slash || (size_t)(slash - tree) >= sizeof(kind));
    memcpy(kind, tree, (size_t)(slash - tree));
    if (make && mkdirat(dir_fd, kind, 0700) < 0 && errno != EEXIST)
        return -1;
    kind_fd = openat(dir_fd, kind, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (kind_fd < 0)
        return -1;
    if (make && mkdirat(kind_fd, slash + 1, 0700) < 0 && errno != EEXIST)
        return -1;
    return openat(kind_fd, slash + 1, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* ---- the walk ---- */

static void note(struct view_scan *scan, struct str path, const char *text)
{
    struct view_note *note;

    if (scan->note_count++ >= VIEW_PROBLEMS_MAX)
        return;
    note = ARENA_NEW(&scan->arena, struct view_note);
    note->path = arena_str(&scan->arena, path);
    note->text = text;
    note->next = scan->notes;
    scan->notes = note;
}

static void watch(struct view_scan *scan, int fd)
{
    char proc[64];
    int wd;

    if (scan->inotify_fd < 0)
        return;
    snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
    /* Without IN_DONT_FOLLOW: the link is /proc's own, and leads to what is open already. */
    wd = inotify_add_watch(scan->inotify_fd, proc, WATCHED & ~(unsigned)IN_DONT_FOLLOW);
    if (wd < 0) {
        scan->unwatched = true;
        return;
    }
    if (scan->watch_count == scan->watch_room) {
        scan->watch_room = scan->watch_room ? 2 * scan->watch_room : 16;
        scan->watches = alloc_resize(scan->watches, scan->watch_room, sizeof(*scan->watches));
    }
    scan->watches[scan->watch_count++] = wd;
}

/* 4913 is what vim makes to see whether it may. */
static bool is_ignored(const char *name)
{
    struct str s = str_from(name);

    return name[0] == '.' || str_ends(s, STR("~")) || str_ends(s, STR(".swp")) ||
           str_ends(s, STR(".swx")) || str_ends(s, STR(".tmp")) || str_is(s, "4913") ||
           (name[0] == '#' && str_ends(s, STR("#")));
}

static bool is_same(const struct view_stat *a, const struct view_stat *b)
{
    return !a->racy && a->mtime_ns == b->mtime_ns && a->size == b->size && a->ino == b->ino;
}

static struct view_found *new_found(struct view_scan *scan, struct str path, struct str content,
                                    const char *hash, const struct view_stat *stat)
{
    struct view_found *found = ARENA_NEW(&scan->arena, struct view_found);

    found->path = arena_str(&scan->arena, path);
    found->content = content;
    found->stat = *stat;
    memcpy(found->hash, hash, SHA256_TEXT_SIZE);
    return found;
}

static void add_found(struct view_scan *scan, struct view_found *found)
{
    *scan->found_end = found;
    scan->found_end = &found->next;
    scan->found_count++;
    scan->found_bytes += found->content.n;
    scan->more = scan->found_count >= VIEW_SLICE_FILES || scan->found_bytes >= VIEW_SLICE_BYTES;
}

static void read_file(struct view_scan *scan, int fd, struct str path, const struct stat *st,
                      const struct view_seen *seen)
{
    char hash[SHA256_TEXT_SIZE];
    struct view_stat stat;
    struct str content;
    int r;

    view_fill_stat(st, &stat);
    if (seen && is_same(&seen->stat, &stat))
        return;
    r = st->st_size > (off_t)view_max_bytes(path)
            ? 0
            : view_read(fd, view_max_bytes(path), &scan->arena, &content, hash);
    if (r == 0)
        note(scan, path,
             view_max_bytes(path) == LIMIT_MEMORY_FILE_BYTES
                 ? "larger than 100 KB: it is left alone and not remembered"
                 : "larger than 1 MB: it is left alone and not remembered");
    else if (r < 0)
        note(scan, path, "it can't be read: it is left alone and not remembered");
    else if (str_starts(path, STR("knowledge/")) && !utf8_valid(content))
        note(scan, path, "not UTF-8 text: it is left alone and not remembered");
    else if (scan->only_notes)
        return;
    else if (seen && strcmp(seen->hash, hash) == 0) {
        struct view_found *found = new_found(scan, path, STR_NONE, hash, &stat);

        found->next = scan->touched;
        scan->touched = found;
    } else
        add_found(scan, new_found(scan, path, content, hash, &stat));
}

static void walk(struct view_scan *scan, int fd, struct str prefix, int depth);

static void look_at(struct view_scan *scan, int dir_fd, const char *name, struct str path,
                    int depth)
{
    struct view_seen *seen = map_find(&scan->tree->seen, path);
    struct err why = ERR_INIT;
    AUTO_FD fd = -1;
    struct stat st;

    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    if (seen)
        seen->scan = scan->tree->scan;
    if (file_path_check(path, NULL, NULL, &why) < 0) {
        note(scan, path, arena_text(&scan->arena, err_message(&why, 0)));
        return;
    }
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
        note(scan, path,
             S_ISLNK(st.st_mode) ? "a link: it is not followed and not remembered"
                                 : "neither a file nor a folder: it is not remembered");
        return;
    }
    fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0) {
        note(scan, path, "it can't be opened: it is left alone and not remembered");
        scan->partly |= S_ISDIR(st.st_mode);
    } else if (S_ISREG(st.st_mode))
        read_file(scan, fd, path, &st, seen);
    else if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
        walk(scan, fd, path, depth + 1);
}

static void walk(struct view_scan *scan, int fd, struct str prefix, int depth)
{
    int copy;
    struct dirent *entry;
    DIR *dir;

    watch(scan, fd);
    copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    dir = copy < 0 ? NULL : fdopendir(copy);
    if (!dir) {
        scan->partly = true;
        file_close_auto(&copy);
        return;
    }
    while (!scan->more && (entry = readdir(dir)) != NULL) {
        char *path;

        if (is_ignored(entry->d_name))
            continue;
        path = arena_printf(&scan->arena, "%.*s%s%s", STR_ARG(prefix), prefix.n ? "/" : "",
                            entry->d_name);
        look_at(scan, fd, entry->d_name, str_from(path), depth);
    }
    closedir(dir);
}

/* ---- what an exchange left behind ---- */

static void walk_staged(struct view_scan *scan, int fd, struct str prefix, int depth)
{
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *entry;

    while (dir && (entry = readdir(dir)) != NULL) {
        struct str path = str_from(arena_printf(&scan->arena, "%.*s%s%s", STR_ARG(prefix),
                                                prefix.n ? "/" : "", entry->d_name));
        AUTO_FD child = -1;
        char hash[SHA256_TEXT_SIZE];
        struct str content;
        struct stat st;

        if (entry->d_name[0] == '.')
            continue;
        child = openat(fd, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (child < 0 || fstat(child, &st) < 0)
            continue;
        if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
            walk_staged(scan, child, path, depth + 1);
        else if (S_ISREG(st.st_mode) &&
                 view_read(child, FILE_BYTES_MAX, &scan->arena, &content, hash) == 1) {
            struct view_stat stat = { .racy = true };
            struct view_found *found = new_found(scan, path, content, hash, &stat);

            found->staged = true;
            add_found(scan, found);
        }
    }
    if (dir)
        closedir(dir);
    else
        file_close_auto(&copy);
}

void view_scan_run(struct view_scan *scan)
{
    AUTO_FD fd = view_open_tree(scan->dir_fd, scan->tree->name, false);
    AUTO_FD staged = -1;

    scan->found_end = &scan->found;
    scan->tree->scan++;
    if (fd < 0) {
        scan->absent = errno == ENOENT;
        scan->partly = true;
        if (!scan->absent)
            note(scan, STR(""), "the folder can't be opened, or is a link");
        return;
    }
    if (!scan->only_notes &&
        path_open_beneath(fd, VIEW_STAGE "/out", O_RDONLY | O_DIRECTORY, 0, &staged, NULL) == 0)
        walk_staged(scan, staged, STR_NONE, 0);
    walk(scan, fd, STR_NONE, 0);
}
