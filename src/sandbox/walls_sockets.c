/* Unix sockets of programs outside that commands may connect to.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>
#include <sys/stat.h>

#include "base/known_dirs.h"
#include "sandbox/walls_int.h"

#define DAEMON_SOCKET "dormouse.sock"

/* By its path, and by what it is: a daemon's socket may have a second name elsewhere. */
static bool socket_is_of(struct walls *w, const char *full, const struct stat *st, const char *dir)
{
    const char *real = walls_resolve(w, dir, "/");
    struct stat daemon;

    if (!real)
        return false;
    if (walls_below(full, real))
        return true;
    return stat(arena_printf(&w->arena, "%s/" DAEMON_SOCKET, real), &daemon) == 0 &&
           daemon.st_dev == st->st_dev && daemon.st_ino == st->st_ino;
}

static bool socket_is_ours(struct walls *w, const struct sandbox_spec *spec, const char *full,
                           const struct stat *st)
{
    if (spec->data_dir && socket_is_of(w, full, st, spec->data_dir))
        return true;
    for (const char **dir = known_dirs(&w->arena); *dir; dir++)
        if (socket_is_of(w, full, st, *dir))
            return true;
    return false;
}

static int socket_add(struct walls *w, const struct sandbox_spec *spec, const char *path,
                      struct err *err)
{
    const char *full = walls_resolve(w, path, w->cwd);
    struct stat st;

    if (!full)
        return err_set(err, ERR_BAD_REQUEST, "socket %.512s: not a path", path);
    if (w->resolved && strcmp(full, path) != 0)
        return err_set(err, ERR_PATH_DENIED, "the socket %.512s has become a link to %.512s", path,
                       full);
    if (lstat(full, &st) < 0)
        return 0;
    if (socket_is_ours(w, spec, full, &st))
        return err_set(err, ERR_PATH_DENIED,
                       "socket %.512s: nothing in a data directory of Dormouse can be allowed",
                       path);
    if (!S_ISSOCK(st.st_mode))
        return err_set(err, ERR_BAD_REQUEST,
                       "socket %.512s: it is no socket (sandbox.security.allowUnixSockets)", path);
    if (!walls_below_any(full, &w->deny_read))
        walls_add(w, &w->sockets, full);
    return 0;
}

int walls_sockets(struct walls *w, const struct sandbox_spec *spec, struct err *err)
{
    for (size_t i = 0; spec->allow_unix_sockets && spec->allow_unix_sockets[i]; i++) {
        if (i >= WALLS_PATHS_MAX / 2)
            return err_set(err, ERR_TOO_LARGE, "more than %d sockets", WALLS_PATHS_MAX / 2);
        if (socket_add(w, spec, spec->allow_unix_sockets[i], err) < 0)
            return -1;
    }
    return 0;
}
