/* Data directories in use.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/known_dirs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/str.h"

#define KNOWN_DIRS_BYTES (KNOWN_DIRS_MAX * (LIMIT_PATH_BYTES + 1))

static const char *known_env(const char *name)
{
    const char *value = getenv(name);

    return value && value[0] == '/' ? value : NULL;
}

/* "XDG_x/dormouse", or the same below the home directory; NULL without either. */
static const char *known_place(struct arena *arena, const char *variable, const char *below_home)
{
    if (known_env(variable))
        return arena_printf(arena, "%s/dormouse", known_env(variable));
    if (known_env("HOME"))
        return arena_printf(arena, "%s/%s/dormouse", known_env("HOME"), below_home);
    return NULL;
}

const char *known_dirs_file(struct arena *arena)
{
    const char *dir = known_place(arena, "XDG_STATE_HOME", ".local/state");

    return dir ? arena_printf(arena, "%s/data-dirs", dir) : NULL;
}

const char **known_dirs(struct arena *arena)
{
    const char **list = ARENA_NEW_N(arena, const char *, KNOWN_DIRS_MAX + 3);
    const char *file = known_dirs_file(arena);
    const char *usual = known_place(arena, "XDG_DATA_HOME", ".local/share");
    AUTO_BUF text = BUF_INIT(KNOWN_DIRS_BYTES);
    struct str rest, line;
    size_t n = 0;

    if (usual)
        list[n++] = usual;
    if (file && file_read(file, &text, NULL) == 0) {
        rest = buf_str(&text);
        while (n < KNOWN_DIRS_MAX + 1 && str_split(&rest, '\n', &line))
            if (line.n > 1 && line.p[0] == '/' && line.n < LIMIT_PATH_BYTES)
                list[n++] = arena_copy(arena, line.p, line.n);
    }
    list[n] = NULL;
    return list;
}

static int known_make_parent(const char *file, struct err *err)
{
    char part[LIMIT_PATH_BYTES];
    size_t last = (size_t)(strrchr(file, '/') - file);

    for (size_t i = 1; i <= last; i++) {
        if (file[i] != '/' || i >= sizeof(part))
            continue;
        memcpy(part, file, i);
        part[i] = '\0';
        if (mkdir(part, 0700) < 0 && errno != EEXIST && access(part, F_OK) < 0)
            return err_set(err, ERR_BAD_REQUEST, "create %s: %s", part, strerror(errno));
    }
    return 0;
}

int known_dirs_add(const char *path, struct err *err)
{
    AUTO_ARENA arena = ARENA_INIT;
    const char *file = known_dirs_file(&arena), **list = known_dirs(&arena);
    AUTO_BUF text = BUF_INIT(KNOWN_DIRS_BYTES);
    AUTO_FD lock = -1;
    size_t n = 0, kept = 0;

    for (; list[n]; n++)
        if (strcmp(list[n], path) == 0)
            return 0;
    if (!file || strchr(path, '\n') || path[0] != '/')
        return 0;
    if (known_make_parent(file, err) < 0)
        return -1;
    /* Two daemons may start at once; the file is replaced, so another one is locked. */
    lock = open(arena_printf(&arena, "%s.lock", file), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (lock < 0 || flock(lock, LOCK_EX) < 0)
        return err_set(err, ERR_BAD_REQUEST, "lock %s: %s", file, strerror(errno));
    list = known_dirs(&arena);
    for (n = 0; list[n]; n++)
        ;
    buf_printf(&text, "%s\n", path);
    for (size_t i = 0; i < n && kept < KNOWN_DIRS_MAX - 1; i++)
        if (access(list[i], F_OK) == 0 && strcmp(list[i], path) != 0) {
            buf_printf(&text, "%s\n", list[i]);
            kept++;
        }
    return file_write_atomic(file, buf_str(&text), 0600, err);
}
