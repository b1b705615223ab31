/* Places that are held while the walls are built.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sandbox/walls_int.h"

static int walls_hold_view(struct walls *w, struct place_view *view, const char *inside,
                           struct err *err)
{
    int fd;

    if (place_look(view, &fd) < 0)
        return err_set(err, ERR_CONFLICT, "%.300s changed while the sandbox was being built: %s",
                       view->path, strerror(errno));
    view->path = inside;
    ARENA_ROOM(&w->arena, w->views, w->view_count, w->view_room);
    ARENA_ROOM(&w->arena, w->held, w->view_count, w->held_room);
    w->held[w->view_count] = fd;
    w->views[w->view_count++] = *view;
    return 0;
}

int walls_hold(struct walls *w, const char *path, bool covered, struct err *err)
{
    return walls_hold_view(w, &(struct place_view){ .path = path, .covered = covered }, path, err);
}

int walls_hold_as(struct walls *w, const char *path, const char *inside, struct err *err)
{
    return walls_hold_view(w, &(struct place_view){ .path = path }, inside, err);
}

static bool walls_is_place(const struct walls *w, const char *path)
{
    if (strcmp(path, "/") == 0)
        return false;
    if (strcmp(path, w->cwd) == 0 || strcmp(path, w->home) == 0)
        return true;
    for (size_t i = 0; i < w->allow_write.n; i++)
        if (strcmp(path, w->allow_write.items[i]) == 0)
            return true;
    for (size_t i = 0; i < w->sockets.n; i++)
        if (strcmp(path, w->sockets.items[i]) == 0)
            return true;
    return false;
}

/* Lending the one lends the other: another file system may not have taken part in it. */
static bool walls_lent_alike(const struct walls *w, size_t a, size_t b)
{
    struct stat x, y;

    return fstat(w->held[a], &x) == 0 && fstat(w->held[b], &y) == 0 && x.st_uid == y.st_uid &&
           x.st_gid == y.st_gid && x.st_dev == y.st_dev;
}

void walls_hold_lent(struct walls *w)
{
    for (size_t i = 0; i < w->view_count; i++) {
        struct place_view *view = &w->views[i];
        bool below = false;

        if (view->covered || !walls_is_place(w, view->path))
            continue;
        for (size_t k = 0; k < w->view_count && !below; k++)
            below = k != i && !w->views[k].covered && walls_is_place(w, w->views[k].path) &&
                    walls_below(view->path, w->views[k].path) && walls_lent_alike(w, i, k) &&
                    (strcmp(view->path, w->views[k].path) != 0 || k < i);
        view->lent = !below;
    }
}

void walls_hold_none(struct walls *w, const char *path)
{
    for (size_t i = 0; i < w->view_count;)
        if (walls_below(w->views[i].path, path)) {
            close(w->held[i]);
            w->view_count--;
            w->views[i] = w->views[w->view_count];
            w->held[i] = w->held[w->view_count];
        } else {
            i++;
        }
}

void walls_let_go(struct walls *w)
{
    for (size_t i = 0; i < w->view_count; i++)
        close(w->held[i]);
    w->view_count = 0;
}
