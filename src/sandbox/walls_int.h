/* The parts of the walls.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_WALLS_INT_H
#define DORMOUSE_SANDBOX_WALLS_INT_H

#include "sandbox/walls.h"

/* ---- walls_path.c ---- */

void walls_add(struct walls *w, struct walls_list *list, const char *item);
/* ~ is home, relative to base; symbolic links followed as far as the path exists. In the arena;
 * NULL when it is too long or malformed. */
const char *walls_resolve(struct walls *w, const char *path, const char *base);
/* The same by a walk of our own, which adds every directory that a link on the way stands in to
 * links: what is judged by the one is exactly what the other says. */
const char *walls_walk(struct walls *w, const char *path, const char *base,
                       struct walls_list *links);
/* path is dir, or lies below it. */
bool walls_below(const char *path, const char *dir);
bool walls_below_any(const char *path, const struct walls_list *dirs);
/* Shorter paths first, so that parents come before what they hold. */
void walls_sort(struct walls_list *list);

/* ---- walls_hold.c ---- */

/* Holds path, which must be real: inside it must show what it is now (covered: be covered). */
int walls_hold(struct walls *w, const char *path, bool covered, struct err *err);
/* The same under another name inside. */
int walls_hold_as(struct walls *w, const char *path, const char *inside, struct err *err);
/* Chooses what of all that is held must be lent to the hand's own user: w->cwd, w->home, the
 * writable places and listed sockets, but not what lies below another of them with the same owner
 * and file system. */
void walls_hold_lent(struct walls *w);
/* Nothing at path or below it is looked at: it is covered as a whole. */
void walls_hold_none(struct walls *w, const char *path);

/* ---- walls_name.c ---- */

#define WALLS_SEARCH_ENTRIES 20000
#define WALLS_SEARCH_DEPTH   12

/* Adds everything below dir that has one of the names to found, and working trees of git to
 * repositories. */
void walls_find_names(struct walls *w, const char *dir);
/* Adds everything below dir that its mode keeps from others to deny_read. */
void walls_find_private(struct walls *w, const char *dir);

/* ---- walls_guarded.c ---- */

/* Adds guarded names at the top of each writable place, and of each repository that was found. */
void walls_guard_places(struct walls *w);
void walls_guard_repositories(struct walls *w);
/* Adds path, which must be real but for its last name, and pins the directories on the way to it
 * from root, or else from its writable place. */
void walls_guard_path(struct walls *w, const char *path, const char *root);

/* ---- walls_git.c ---- */

/* Adds what the configuration names that git obeys in tree; git is its ".git", or tree itself. The
 * home's and the system's configuration count also where no repository is. */
void walls_guard_named(struct walls *w, const char *tree, const char *git);
/* The same for each repository that place lies in, however deep: a person may work in any. */
void walls_guard_named_around(struct walls *w, const char *place);

/* ---- walls_sockets.c ---- */

/* Resolves the sockets that may be connected to. One that is not there, or lies where nothing may
 * be read, is left out; one of a data directory, or what is no socket, is refused. */
int walls_sockets(struct walls *w, const struct sandbox_spec *spec, struct err *err);

/* ---- walls_env.c ---- */

void walls_env(struct walls *w, const struct sandbox_spec *spec, bool proxy);

#endif
