/* Places that settings name.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/place.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/str.h"

const char *place_home(void)
{
    const char *home = getenv("HOME");

    return home && home[0] == '/' ? home : "/";
}

static void place_add(struct buf *out, const char *path)
{
    struct str rest = str_from(path), name;

    while (str_split(&rest, '/', &name))
        if (name.n && !str_is(name, ".")) {
            buf_add_char(out, '/');
            buf_add_str(out, name);
        }
}

const char *place_absolute(const char *path, const char *base, struct arena *arena)
{
    AUTO_BUF out = BUF_INIT(LIMIT_PATH_BYTES);
    bool home = path[0] == '~';

    if (!path[0] || (home && path[1] != '/' && path[1] != '\0'))
        return NULL;
    if (home || path[0] != '/')
        place_add(&out, home ? place_home() : base);
    place_add(&out, path + home);
    if (out.full)
        return NULL;
    return out.n ? arena_copy(arena, out.p, out.n) : "/";
}

bool place_climbs(const char *path)
{
    struct str rest = str_from(path), name;

    while (str_split(&rest, '/', &name))
        if (str_is(name, ".."))
            return true;
    return false;
}

const char *place_real(const char *path, const char *base, struct arena *arena)
{
    const char *absolute = place_absolute(path, base, arena), *rest;
    char *begin, real[PATH_MAX];

    if (!absolute)
        return NULL;
    begin = arena_copy(arena, absolute, strlen(absolute));
    while (*begin && !realpath(begin, real))
        *strrchr(begin, '/') = '\0';
    if (!*begin || strcmp(real, "/") == 0)
        real[0] = '\0';
    rest = absolute + strlen(begin);
    if (place_climbs(rest))
        return NULL;
    return *real || *rest ? arena_printf(arena, "%s%s", real, rest) : "/";
}

bool place_within(const char *path, const char *dir)
{
    size_t n = strlen(dir);

    while (n > 0 && dir[n - 1] == '/')
        n--;
    return n == 0 || (strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0'));
}

bool place_is_name(const char *path)
{
    return path[0] != '~' && !strchr(path, '/');
}
