/* From a specification to bubblewrap's arguments.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/walls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/known_dirs.h"
#include "sandbox/spec_int.h"
#include "sandbox/walls_int.h"

#define INSIDE_UID "1000" /* who root is inside */

/* Private, and empty but for what is bound into them: they hold sockets of other programs, other
 * people's temporary files, and what the kernel tells about the host. */
static const char *const private_dirs[] = { "/tmp", "/run", "/sys" };

static bool is_dir(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A link is not: it can't be bound, what it leads to is. */
static bool is_there(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && !S_ISLNK(st.st_mode);
}

static bool walls_has(const struct walls_list *list, const char *item)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i], item) == 0)
            return true;
    return false;
}

bool walls_is_root(void)
{
    AUTO_BUF map = BUF_INIT(4096);
    unsigned inside, outside;

    return geteuid() == 0 && file_read("/proc/self/uid_map", &map, NULL) == 0 &&
           sscanf(buf_text(&map), "%u %u", &inside, &outside) == 2 && inside == 0 && outside == 0;
}

static void arg(struct walls *w, const char *text)
{
    walls_add(w, &w->args, text);
}

static void arg2(struct walls *w, const char *name, const char *value)
{
    arg(w, name);
    arg(w, value);
}

static void bind(struct walls *w, const char *how, const char *from, const char *to)
{
    arg(w, how);
    arg(w, from);
    arg(w, to);
}

/* ---- what the specification says ---- */

/* Somebody put a link there after it was judged. */
static int walls_moved(const char *what, const char *path, const char *now, struct err *err)
{
    return err_set(err, ERR_PATH_DENIED,
                   "%s %.512s has become a link to %.512s: nothing runs there", what, path, now);
}

static int resolve_places(const struct sandbox_spec *spec, struct walls *w, struct err *err)
{
    w->resolved = spec->resolved;
    w->home = spec->home ? spec->home : getenv("HOME");
    if (!w->home || w->home[0] != '/')
        w->home = "/";
    w->home = walls_resolve(w, w->home, "/");
    if (!spec->cwd || spec->cwd[0] != '/')
        return err_set(err, ERR_BAD_REQUEST, "the working directory must be an absolute path");
    w->cwd = walls_resolve(w, spec->cwd, "/");
    if (spec->resolved && w->cwd && strcmp(w->cwd, spec->cwd) != 0)
        return walls_moved("the working directory", spec->cwd, w->cwd, err);
    if (!w->home || !w->cwd || !is_dir(w->cwd))
        return err_set(err, ERR_NOT_FOUND, "the working directory %.512s is not there", spec->cwd);
    return 0;
}

/* *ret_full stays NULL for a place that is not there: it can't be written to, as its parent is
 * read-only. */
static int add_writable(struct walls *w, const char *path, struct walls_list *links,
                        const char **ret_full, struct err *err)
{
    static const char *const never[] = { "/proc", "/sys", "/dev", "/run" };
    const char *full = walls_walk(w, path, w->cwd, links);

    if (!full)
        return err_set(err, ERR_BAD_REQUEST, "writable place %.512s: not a path", path);
    if (w->resolved && strcmp(full, path) != 0)
        return walls_moved("the writable place", path, full, err);
    for (size_t i = 0; i < ARRAY_LEN(never); i++)
        if (walls_below(full, never[i]))
            return err_set(err, ERR_BAD_REQUEST, "writable place %.512s: nothing below %s can be",
                           path, never[i]);
    if (access(full, F_OK) == 0) {
        walls_add(w, &w->allow_write, full);
        *ret_full = full;
    }
    return 0;
}

/* Whoever works in one place must not choose where another one is: the place that full leads out of
 * by a link that stands in it. */
static const char *leads_out(const struct walls *w, const char *full,
                             const struct walls_list *links)
{
    for (size_t i = 0; full && i < links->n; i++)
        for (size_t k = 0; k < w->allow_write.n; k++)
            if (walls_below(links->items[i], w->allow_write.items[k]) &&
                !walls_below(full, w->allow_write.items[k]))
                return w->allow_write.items[k];
    return NULL;
}

/* Somebody must have said so: what lies in a home is read by nearly every program of its owner. */
static int check_home(const struct sandbox_spec *spec, const struct walls *w, struct err *err)
{
    for (size_t i = 0; !spec->off && !spec->allow_home && i < w->allow_write.n; i++) {
        const char *path = w->allow_write.items[i];

        if (strcmp(path, "/") == 0 || (strcmp(w->home, "/") != 0 && walls_below(w->home, path)))
            return err_set(err, ERR_BAD_REQUEST,
                           "writable place %.512s is your home directory or holds it: begin in a "
                           "directory of its own, or allow it (sandbox.security.allowHome: true in "
                           "config.yaml, --allow-home for sandbox exec)",
                           path);
    }
    return 0;
}

static int resolve_writable(const struct sandbox_spec *spec, struct walls *w, struct err *err)
{
    struct walls_list links[WALLS_PATHS_MAX] = { { 0 } };
    const char *full[WALLS_PATHS_MAX] = { NULL };

    for (size_t i = 0; spec->allow_write && spec->allow_write[i]; i++) {
        if (i >= WALLS_PATHS_MAX)
            return err_set(err, ERR_TOO_LARGE, "more than %d writable places", WALLS_PATHS_MAX);
        if (add_writable(w, spec->allow_write[i], &links[i], &full[i], err) < 0)
            return -1;
    }
    for (size_t i = 0; spec->allow_write && spec->allow_write[i]; i++) {
        const char *out = leads_out(w, full[i], &links[i]);

        if (out)
            return err_set(err, ERR_BAD_REQUEST,
                           "writable place %.300s leads out of %.300s by a symbolic link in it, "
                           "which may be written from inside: name the place itself",
                           spec->allow_write[i], out);
    }
    walls_sort(&w->allow_write);
    return check_home(spec, w, err);
}

static int add_denied(struct walls *w, const char *path, struct err *err)
{
    const char *full;

    if (!strchr(path, '/') && path[0] != '~') {
        walls_add(w, &w->deny_names, arena_text(&w->arena, path));
        return 0;
    }
    full = walls_resolve(w, path, w->cwd);
    if (!full || strcmp(full, "/") == 0)
        return err_set(err, ERR_BAD_REQUEST, "denied place %.512s: not a path below /", path);
    walls_add(w, &w->deny_read, full);
    if (is_there(full))
        walls_add(w, &w->present, full);
    return 0;
}

static int resolve_denied(const struct sandbox_spec *spec, struct walls *w, struct err *err)
{
    for (size_t i = 0; spec->deny_read && spec->deny_read[i]; i++) {
        if (i >= WALLS_PATHS_MAX / 2)
            return err_set(err, ERR_TOO_LARGE, "more than %d denied places", WALLS_PATHS_MAX / 2);
        if (add_denied(w, spec->deny_read[i], err) < 0)
            return -1;
    }
    if (spec->data_dir && add_denied(w, arena_printf(&w->arena, "%s/", spec->data_dir), err) < 0)
        return -1;
    for (const char **dir = known_dirs(&w->arena); *dir; dir++)
        if (add_denied(w, arena_printf(&w->arena, "%s/", *dir), err) < 0)
            return -1;
    /* A root who can't be another user inside may still read what is root's. */
    if (geteuid() == 0 && !w->staged)
        walls_find_private(w, "/etc");
    if (!spec->off && walls_below_any(w->cwd, &w->deny_read))
        return err_set(err, ERR_BAD_REQUEST, "the working directory %.512s may not be read itself",
                       w->cwd);
    return 0;
}

static void find_names(struct walls *w)
{
    size_t roots = w->allow_write.n;

    for (size_t i = 0; i < roots; i++)
        walls_find_names(w, w->allow_write.items[i]);
    if (!walls_below_any(w->cwd, &w->allow_write))
        walls_find_names(w, w->cwd);
}

/* ---- arguments ---- */

static void namespaces(struct walls *w, const struct walls_how *how)
{
    static const char *const always[] = {
        "--unshare-user",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-net",
        "--unshare-cgroup-try",
        "--disable-userns",
        "--die-with-parent",
        "--as-pid-1",
        "--cap-drop",
        "ALL",
        "--hostname",
        "dormouse",
    };

    for (size_t i = 0; i < ARRAY_LEN(always); i++)
        arg(w, always[i]);
    if (!how->keep_terminal)
        arg(w, "--new-session");
    if (getuid() == 0) {
        arg2(w, "--uid", INSIDE_UID);
        arg2(w, "--gid", INSIDE_UID);
    }
}

static bool in_private(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(private_dirs); i++)
        if (walls_below(path, private_dirs[i]))
            return true;
    return false;
}

static bool is_private(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(private_dirs); i++)
        if (strcmp(path, private_dirs[i]) == 0)
            return true;
    return false;
}

/* What root may write or read there even without privileges. The hand is not root when we are, so
 * this is a second wall. */
static void cover_proc(struct walls *w)
{
    static const char *const read_only[] = { "/proc/sys", "/proc/bus", "/proc/fs", "/proc/irq" };
    static const char *const hidden[] = { "/proc/sysrq-trigger", "/proc/kcore", "/proc/keys",
                                          "/proc/timer_list",    "/proc/kmsg",  "/proc/sched_debug",
                                          "/proc/latency_stats" };

    for (size_t i = 0; i < ARRAY_LEN(read_only); i++)
        if (is_there(read_only[i]))
            bind(w, "--ro-bind", read_only[i], read_only[i]);
    for (size_t i = 0; i < ARRAY_LEN(hidden); i++)
        if (is_there(hidden[i]))
            bind(w, "--ro-bind", "/dev/null", hidden[i]);
}

static void system_view(struct walls *w, const struct sandbox_spec *spec)
{
    const char *size =
        arena_printf(&w->arena, "%llu", (unsigned long long)spec_private_bytes(spec));

    bind(w, "--ro-bind", "/", "/");
    for (size_t i = 0; i < ARRAY_LEN(private_dirs); i++) {
        /* A link (/var/run) leads to one that is covered itself. */
        struct stat st;

        if (lstat(private_dirs[i], &st) < 0 || !S_ISDIR(st.st_mode))
            continue;
        arg2(w, "--size", size);
        arg2(w, "--tmpfs", private_dirs[i]);
    }
    arg2(w, "--proc", "/proc");
    arg2(w, "--dev", "/dev");
    if (geteuid() == 0)
        cover_proc(w);
    arg2(w, "--size", size);
    arg2(w, "--tmpfs", "/dev/shm");
}

/* Where the working directory and the home are, they can be read, also below a private place. */
static bool shown(const struct walls *w, const char *dir)
{
    return in_private(dir) && !is_private(dir) && !walls_below_any(dir, &w->allow_write);
}

static int bind_held(struct walls *w, const char *how, const char *path, struct err *err)
{
    bind(w, how, path, path);
    if (walls_hold(w, path, false, err) < 0)
        return -1;
    w->views[w->view_count - 1].bound = true;
    return 0;
}

static int writable_binds(struct walls *w, struct err *err)
{
    if (shown(w, w->home) ? bind_held(w, "--ro-bind", w->home, err) < 0
                          : w->staged && is_dir(w->home) && !is_private(w->home) &&
                                walls_hold(w, w->home, false, err) < 0)
        return -1;
    if (shown(w, w->cwd) ? bind_held(w, "--ro-bind", w->cwd, err) < 0
                         : walls_hold(w, w->cwd, false, err) < 0)
        return -1;
    for (size_t i = 0; i < w->allow_write.n; i++) {
        const char *path = w->allow_write.items[i];

        /* Sorted: equal ones stand beside each other, and are one mount. */
        if ((i > 0 && strcmp(path, w->allow_write.items[i - 1]) == 0) ||
            walls_below_any(path, &w->deny_read))
            continue;
        if (bind_held(w, "--bind", path, err) < 0)
            return -1;
    }
    return 0;
}

/* Whether path can be seen inside before it is covered. */
static bool visible(const struct walls *w, const char *path)
{
    return !in_private(path) || walls_below_any(path, &w->allow_write) ||
           walls_below(path, w->cwd) || (walls_below(path, w->home) && !is_private(w->home));
}

/* Where something may be written around it, it must not be opened up and filled. */
static void empty(struct walls *w, const char *path)
{
    arg2(w, "--perms", "0000");
    arg2(w, "--size", "4096");
    arg2(w, "--tmpfs", path);
    if (walls_below_any(path, &w->allow_write) || in_private(path))
        arg2(w, "--remount-ro", path);
}

/* Whether something that is bound or read-only shows path inside; else there is nothing below the
 * cover. */
static bool shown_below(const struct walls *w, const char *path)
{
    if (!in_private(path) || (walls_below(path, w->cwd) && strcmp(path, w->cwd) != 0) ||
        (shown(w, w->home) && walls_below(path, w->home) && strcmp(path, w->home) != 0))
        return true;
    for (size_t i = 0; i < w->allow_write.n; i++)
        if (walls_below(path, w->allow_write.items[i]) &&
            strcmp(path, w->allow_write.items[i]) != 0)
            return true;
    return false;
}

/* Whether the hand's own user gets there at all, when we are root. */
static bool reachable(struct walls *w, const char *path)
{
    struct stat st;

    if (!w->staged || walls_below(path, w->cwd) || walls_below(path, w->home) ||
        walls_below_any(path, &w->allow_write))
        return true;
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/'))
        if (stat(arena_copy(&w->arena, path, (size_t)(slash - path)), &st) < 0 ||
            !(st.st_mode & S_IXOTH))
            return false;
    return true;
}

/* must: it was there when the places were resolved, so it still is, or was moved away. */
static int cover(struct walls *w, const char *path, bool must, struct err *err)
{
    struct stat st;

    if (!visible(w, path) || !reachable(w, path) || (stat(path, &st) < 0 && !must))
        return 0;
    if (!is_there(path))
        return err_set(err, ERR_CONFLICT, "%.300s changed while the sandbox was being built", path);
    walls_hold_none(w, path);
    if (S_ISDIR(st.st_mode))
        empty(w, path);
    else
        bind(w, "--ro-bind", "/dev/null", path);
    return shown_below(w, path) ? walls_hold(w, path, true, err) : 0;
}

/* What lies below a covered directory is gone with it. */
static int cover_all(struct walls *w, struct walls_list *paths, struct walls_list *covered,
                     struct err *err)
{
    walls_sort(paths);
    for (size_t i = 0; i < paths->n; i++) {
        const char *path = paths->items[i];

        if (walls_below_any(path, covered))
            continue;
        if (cover(w, path, paths == &w->found || walls_has(&w->present, path), err) < 0)
            return -1;
        walls_add(w, covered, path);
    }
    return 0;
}

/* A mount is no obstacle to moving the directory that holds it, so every directory on the way from
 * the writable place to path stays where it is. */
static void pin_way(struct walls *w, const char *path)
{
    for (const char *end = strchr(path + 1, '/'); end; end = strchr(end + 1, '/')) {
        const char *dir = arena_copy(&w->arena, path, (size_t)(end - path));

        if (!walls_has(&w->allow_write, dir) && !walls_has(&w->pinned, dir))
            walls_add(w, &w->pinned, dir);
    }
}

/* Our own programs, and what is covered: under another name the next run would not know it. */
static void pin_ways(struct walls *w, const struct walls_how *how)
{
    for (size_t i = 0; how->own && how->own[i]; i++)
        pin_way(w, how->own[i]);
    for (size_t i = 0; i < w->found.n; i++)
        pin_way(w, w->found.items[i]);
    for (size_t i = 0; i < w->present.n; i++)
        pin_way(w, w->present.items[i]);
}

/* Whether a place of its own lies below path, which would be hidden. */
static bool holds_place(const struct walls *w, const char *path)
{
    for (size_t i = 0; i < w->allow_write.n; i++)
        if (walls_below(w->allow_write.items[i], path))
            return true;
    return false;
}

/* What is bound onto itself can't be moved away and replaced. Before anything is covered: what is
 * bound later would show again what a cover hides. */
static int pin_binds(struct walls *w, struct err *err)
{
    walls_sort(&w->pinned);
    for (size_t i = 0; i < w->pinned.n; i++) {
        const char *path = w->pinned.items[i];

        if (walls_below_any(path, &w->allow_write) && !holds_place(w, path) &&
            !walls_below_any(path, &w->deny_read) && !walls_below_any(path, &w->found) &&
            bind_held(w, "--bind", path, err) < 0)
            return -1;
    }
    return 0;
}

/* Guarded names, and our own programs, which a command could otherwise replace. */
static int read_only_binds(struct walls *w, const struct walls_how *how,
                           const struct walls_list *covered, struct err *err)
{
    for (size_t i = 0; i < w->deny_write.n; i++) {
        const char *path = w->deny_write.items[i];

        if (!walls_below_any(path, covered) && visible(w, path) && is_there(path) &&
            bind_held(w, "--ro-bind", path, err) < 0)
            return -1;
    }
    for (size_t i = 0; how->own && how->own[i]; i++)
        if (walls_below_any(how->own[i], &w->allow_write) &&
            !walls_below_any(how->own[i], covered) &&
            bind_held(w, "--ro-bind", how->own[i], err) < 0)
            return -1;
    return 0;
}

static int cover_denied(struct walls *w, const struct walls_how *how, struct err *err)
{
    struct walls_list covered = { 0 };

    pin_ways(w, how);
    if (pin_binds(w, err) < 0 || cover_all(w, &w->deny_read, &covered, err) < 0 ||
        cover_all(w, &w->found, &covered, err) < 0)
        return -1;
    return read_only_binds(w, how, &covered, err);
}

/* Each is a mount of its own: it can be named below a private place too, and where something may be
 * written around it, nothing can take its name. */
static int socket_binds(struct walls *w, struct err *err)
{
    for (size_t i = 0; i < w->sockets.n; i++)
        if (!walls_below_any(w->sockets.items[i], &w->found) &&
            bind_held(w, "--ro-bind", w->sockets.items[i], err) < 0)
            return -1;
    return 0;
}

static int own_places(struct walls *w, const struct walls_how *how, struct err *err)
{
    arg2(w, "--chdir", w->cwd);
    if (!how->proxy_socket)
        return 0;
    bind(w, "--ro-bind", how->proxy_socket, WALLS_PROXY);
    return walls_hold_as(w, how->proxy_socket, WALLS_PROXY, err);
}

/* One that an agent may have put there would be run outside. */
static int check_bwrap(struct walls *w, struct err *err)
{
    const char *path = walls_bwrap() ? walls_resolve(w, walls_bwrap(), "/") : NULL;

    for (size_t i = 0; path && i < w->allow_write.n; i++)
        if (strcmp(w->allow_write.items[i], "/") != 0 && walls_below(path, w->allow_write.items[i]))
            return err_set(err, ERR_SANDBOX_UNAVAILABLE,
                           "%.512s lies in %.512s, which may be written from inside: take it off "
                           "PATH and use the system's (apt install bubblewrap)",
                           path, w->allow_write.items[i]);
    return 0;
}

static void no_list(struct walls *w, struct walls_list *list)
{
    list->items = ARENA_NEW_N(&w->arena, const char *, 2);
}

int walls_build(const struct sandbox_spec *spec, const struct walls_how *how, struct walls *w,
                struct err *err)
{
    struct walls_list *const lists[] = {
        &w->args,   &w->env,     &w->allow_write, &w->deny_read,    &w->deny_names,
        &w->found,  &w->present, &w->deny_write,  &w->repositories, &w->bare,
        &w->pinned, &w->sockets, &w->obeyed,
    };

    memset(w, 0, sizeof(*w));
    w->staged = !spec->off && walls_is_root();
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        no_list(w, lists[i]);
    if (resolve_places(spec, w, err) < 0 || resolve_writable(spec, w, err) < 0 ||
        resolve_denied(spec, w, err) < 0 || walls_sockets(w, spec, err) < 0)
        return -1;
    walls_guard_places(w);
    walls_env(w, spec, how->proxy_socket != NULL);
    if (spec->off)
        return 0;
    if (check_bwrap(w, err) < 0)
        return -1;
    find_names(w);
    walls_guard_repositories(w);
    namespaces(w, how);
    system_view(w, spec);
    if (writable_binds(w, err) < 0 || cover_denied(w, how, err) < 0 || socket_binds(w, err) < 0)
        return -1;
    if (own_places(w, how, err) < 0)
        return -1;
    if (w->staged)
        walls_hold_lent(w);
    return 0;
}

void walls_release(struct walls *w)
{
    walls_let_go(w);
    arena_release(&w->arena);
    memset(w, 0, sizeof(*w));
}
