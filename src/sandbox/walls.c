/* From a specification to bubblewrap's arguments.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/walls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sandbox/spec_int.h"
#include "sandbox/walls_int.h"

#define INSIDE_UID "1000" /* who root is inside */

/* Private, and empty but for what is bound into them: they hold sockets of other programs, other
 * people's temporary files, and what the kernel tells about the host. */
static const char *const private_dirs[] = { "/tmp", "/run", "/sys" };

/* What the owner may read even without privileges, when the owner is root. */
static const char *const root_secrets[] = {
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/ssl/private",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
};

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

static int resolve_places(const struct sandbox_spec *spec, struct walls *w, struct err *err)
{
    w->home = spec->home ? spec->home : getenv("HOME");
    if (!w->home || w->home[0] != '/')
        w->home = "/";
    w->home = walls_resolve(w, w->home, "/");
    if (!spec->cwd || spec->cwd[0] != '/')
        return err_set(err, ERR_BAD_REQUEST, "the working directory must be an absolute path");
    w->cwd = walls_resolve(w, spec->cwd, "/");
    if (!w->home || !w->cwd || !is_dir(w->cwd))
        return err_set(err, ERR_NOT_FOUND, "the working directory %.512s is not there", spec->cwd);
    return 0;
}

static int add_writable(struct walls *w, const char *path, struct err *err)
{
    static const char *const never[] = { "/proc", "/sys", "/dev", "/run" };
    const char *full = walls_resolve(w, path, w->cwd);

    if (!full)
        return err_set(err, ERR_BAD_REQUEST, "writable place %.512s: not a path", path);
    for (size_t i = 0; i < ARRAY_LEN(never); i++)
        if (walls_below(full, never[i]))
            return err_set(err, ERR_BAD_REQUEST, "writable place %.512s: nothing below %s can be",
                           path, never[i]);
    /* What is not there can't be written to: its parent is read-only. */
    if (access(full, F_OK) == 0)
        walls_add(w, &w->allow_write, full);
    return 0;
}

static int resolve_writable(const struct sandbox_spec *spec, struct walls *w, struct err *err)
{
    for (size_t i = 0; spec->allow_write && spec->allow_write[i]; i++) {
        if (i >= WALLS_PATHS_MAX)
            return err_set(err, ERR_TOO_LARGE, "more than %d writable places", WALLS_PATHS_MAX);
        if (add_writable(w, spec->allow_write[i], err) < 0)
            return -1;
    }
    walls_sort(&w->allow_write);
    return 0;
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
    for (size_t i = 0; geteuid() == 0 && i < ARRAY_LEN(root_secrets); i++)
        walls_add(w, &w->deny_read, root_secrets[i]);
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

/* ---- Dormouse's own settings ---- */

/* Whether it is there or not: what is there is bound read-only; what is not can't be, because
 * nothing may be made in people's directories for it. See inside_guard.c. */
static void protect(struct walls *w, const char *dir)
{
    const char *own = arena_printf(&w->arena, "%s/.dormouse", strcmp(dir, "/") == 0 ? "" : dir);
    const char *real = walls_resolve(w, own, "/");

    walls_add(w, &w->deny_write, own);
    if (real && strcmp(real, own) != 0)
        walls_add(w, &w->deny_write, real);
}

static void protect_settings(struct walls *w)
{
    protect(w, w->cwd);
    for (size_t i = 0; i < w->allow_write.n; i++)
        if (strcmp(w->allow_write.items[i], w->cwd) != 0)
            protect(w, w->allow_write.items[i]);
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
    arg2(w, "--size", size);
    arg2(w, "--tmpfs", "/dev/shm");
}

/* Where the working directory and the home are, they can be read, also below a private place. */
static bool shown(const struct walls *w, const char *dir)
{
    return in_private(dir) && !is_private(dir) && !walls_below_any(dir, &w->allow_write);
}

static void writable_binds(struct walls *w)
{
    if (shown(w, w->home))
        bind(w, "--ro-bind", w->home, w->home);
    if (shown(w, w->cwd))
        bind(w, "--ro-bind", w->cwd, w->cwd);
    for (size_t i = 0; i < w->allow_write.n; i++) {
        const char *path = w->allow_write.items[i];

        if (!walls_below_any(path, &w->deny_read))
            bind(w, "--bind", path, path);
    }
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

static void cover(struct walls *w, const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0 || !visible(w, path))
        return;
    if (!S_ISDIR(st.st_mode)) {
        bind(w, "--ro-bind", "/dev/null", path);
        return;
    }
    empty(w, path);
}

/* What lies below a covered directory is gone with it. */
static void cover_all(struct walls *w, struct walls_list *paths, struct walls_list *covered)
{
    walls_sort(paths);
    for (size_t i = 0; i < paths->n; i++) {
        const char *path = paths->items[i];

        if (walls_below_any(path, covered))
            continue;
        cover(w, path);
        walls_add(w, covered, path);
    }
}

static void cover_denied(struct walls *w)
{
    struct walls_list covered = { 0 };

    cover_all(w, &w->deny_read, &covered);
    cover_all(w, &w->found, &covered);
    for (size_t i = 0; i < w->deny_write.n; i++) {
        const char *path = w->deny_write.items[i];

        if (!walls_below_any(path, &covered) && visible(w, path) && is_there(path))
            bind(w, "--ro-bind", path, path);
    }
}

static void own_places(struct walls *w, const struct walls_how *how)
{
    w->hand = how->hand;
    if (!visible(w, how->hand) || walls_below_any(how->hand, &w->allow_write) ||
        walls_below_any(how->hand, &w->deny_read)) {
        bind(w, "--ro-bind", how->hand, WALLS_HAND);
        w->hand = WALLS_HAND;
    }
    if (how->proxy_socket)
        bind(w, "--ro-bind", how->proxy_socket, WALLS_PROXY);
    arg2(w, "--chdir", w->cwd);
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
    struct walls_list *const lists[] = { &w->args,       &w->env,   &w->allow_write, &w->deny_read,
                                         &w->deny_names, &w->found, &w->deny_write };

    memset(w, 0, sizeof(*w));
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        no_list(w, lists[i]);
    if (resolve_places(spec, w, err) < 0 || resolve_writable(spec, w, err) < 0 ||
        resolve_denied(spec, w, err) < 0)
        return -1;
    protect_settings(w);
    walls_env(w, spec, how->proxy_socket != NULL);
    if (spec->off)
        return 0;
    if (check_bwrap(w, err) < 0)
        return -1;
    find_names(w);
    namespaces(w, how);
    system_view(w, spec);
    writable_binds(w);
    cover_denied(w);
    own_places(w, how);
    return 0;
}

void walls_release(struct walls *w)
{
    arena_release(&w->arena);
    memset(w, 0, sizeof(*w));
}
