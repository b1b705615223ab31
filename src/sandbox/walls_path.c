/* Paths of a specification: made absolute, links followed, ordered.
 *
 * SPDX-License-Identifier: MIT
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/place.h"
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

const char *walls_resolve(struct walls *w, const char *path, const char *base)
{
    return path[0] ? place_real(absolute(w, path, base), "/", &w->arena) : NULL;
}

/* ---- links that others can change ---- */

#define LINKS_MAX 40

struct link_walk {
    struct buf at, rest; /* at: real, "" is "/" */
    int links;
};

static void link_walk_up(struct link_walk *walk)
{
    while (walk->at.n > 0 && walk->at.p[--walk->at.n] != '/')
        ;
    if (walk->at.p)
        walk->at.p[walk->at.n] = '\0';
}

/* Takes the next name off the rest and steps on it. 1: a link that stands in `at`, whose text is
 * now part of the rest; 0: no link, or the end. */
static int link_walk_step(struct link_walk *walk)
{
    char name[NAME_MAX + 1] = "", target[PATH_MAX];
    AUTO_BUF rest = BUF_INIT(4 * PATH_MAX);
    const char *text = buf_text(&walk->rest);
    size_t n = strcspn(text, "/");
    size_t before = walk->at.n;
    ssize_t length;

    if (n > NAME_MAX)
        return 0;
    memcpy(name, text, n);
    buf_consume(&walk->rest, n + (text[n] == '/'));
    if (n == 0 || strcmp(name, ".") == 0)
        return 0;
    if (strcmp(name, "..") == 0) {
        link_walk_up(walk);
        return 0;
    }
    buf_printf(&walk->at, "/%s", name);
    length = readlink(buf_text(&walk->at), target, sizeof(target));
    if (length < 0 || ++walk->links > LINKS_MAX)
        return 0;
    walk->at.n = before;
    walk->at.p[before] = '\0';
    buf_add(&rest, target, (size_t)length);
    buf_add_char(&rest, '/');
    buf_add_str(&rest, buf_str(&walk->rest));
    buf_clear(&walk->rest);
    buf_add_str(&walk->rest, buf_str(&rest));
    return 1;
}

const char *walls_walk(struct walls *w, const char *path, const char *base,
                       struct walls_list *links)
{
    struct link_walk walk = { .at = BUF_INIT(4 * PATH_MAX), .rest = BUF_INIT(4 * PATH_MAX) };
    const char *real = NULL;

    if (walls_resolve(w, path, base)) {
        buf_add_text(&walk.rest, absolute(w, path, base));
        while (walk.rest.n > 0 && walk.links <= LINKS_MAX) {
            if (link_walk_step(&walk) == 0)
                continue;
            walls_add(w, links, walk.at.n ? arena_text(&w->arena, buf_text(&walk.at)) : "/");
            if (walk.rest.p[0] == '/')
                buf_clear(&walk.at);
        }
        if (walk.links <= LINKS_MAX)
            real = walk.at.n ? arena_text(&w->arena, buf_text(&walk.at)) : "/";
    }
    buf_release(&walk.at);
    buf_release(&walk.rest);
    return real;
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
