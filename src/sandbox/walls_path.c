/* Paths of a specification: made absolute, links followed, ordered.
 *
 * SPDX-License-Identifier: MIT
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "sandbox/walls_int.h"

void walls_add(struct walls *w, struct walls_list *list, const char *item)
{
    /* Grown at powers of two: one that holds n has room up to the next. */
    if (list->n == 0 || (list->n & (list->n + 1)) == 0) {
        const char **grown = ARENA_NEW_N(&w->arena, const char *, 2 * (list->n + 1));

        if (list->n > 0)
            memcpy(grown, list->items, list->n * sizeof(*grown));
        list->items = grown;
    }
    list->items[list->n++] = item;
    list->items[list->n] = NULL;
}

static const char *absolute(struct walls *w, const char *path, const char *base)
{
    if (path[0] == '~' && (path[1] == '/' || path[1] == '\0'))
        return arena_printf(&w->arena, "%s%s", w->home, path + 1);
    if (path[0] == '/')
        return path;
    return arena_printf(&w->arena, "%s/%s", base, path);
}

static bool climbs(const char *rest)
{
    struct str left = str_from(rest), name;

    while (str_split(&left, '/', &name))
        if (str_is(name, ".."))
            return true;
    return false;
}

/* For what is not there yet: the longest existing beginning is resolved, the rest is appended as
 * it is. A rest with ".." in it means nothing certain and is refused. */
static const char *resolve_rest(struct walls *w, char *path)
{
    char real[PATH_MAX] = "";
    char *slash = strrchr(path, '/');

    while (slash && slash != path) {
        bool there;

        *slash = '\0';
        there = realpath(path, real) != NULL;
        *slash = '/';
        if (there)
            break;
        for (slash--; slash > path && *slash != '/'; slash--)
            ;
    }
    if (slash == path || strcmp(real, "/") == 0)
        real[0] = '\0';
    if (!slash || climbs(slash))
        return NULL;
    return arena_printf(&w->arena, "%s%s", real, slash);
}

const char *walls_resolve(struct walls *w, const char *path, const char *base)
{
    char real[PATH_MAX];
    const char *full = absolute(w, path, base);
    size_t n = strlen(full);

    if (n >= LIMIT_PATH_BYTES || path[0] == '\0')
        return NULL;
    if (realpath(full, real))
        return arena_text(&w->arena, real);
    while (n > 1 && full[n - 1] == '/')
        n--;
    return resolve_rest(w, arena_copy(&w->arena, full, n));
}

bool walls_below(const char *path, const char *dir)
{
    size_t n = strlen(dir);

    if (strcmp(dir, "/") == 0)
        return true;
    return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

bool walls_below_any(const char *path, const struct walls_list *dirs)
{
    for (size_t i = 0; i < dirs->n; i++)
        if (walls_below(path, dirs->items[i]))
            return true;
    return false;
}

static int by_length(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    size_t n = strlen(x), m = strlen(y);

    return n != m ? (n > m) - (n < m) : strcmp(x, y);
}

void walls_sort(struct walls_list *list)
{
    if (list->n > 1)
        qsort(list->items, list->n, sizeof(*list->items), by_length);
}
