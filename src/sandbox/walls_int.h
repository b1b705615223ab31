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
/* path is dir, or lies below it. */
bool walls_below(const char *path, const char *dir);
bool walls_below_any(const char *path, const struct walls_list *dirs);
/* Shorter paths first, so that parents come before what they hold. */
void walls_sort(struct walls_list *list);

/* ---- walls_name.c ---- */

#define WALLS_SEARCH_ENTRIES 20000
#define WALLS_SEARCH_DEPTH   12

/* Adds everything below dir that has one of the names to found. */
void walls_find_names(struct walls *w, const char *dir);

/* ---- walls_env.c ---- */

void walls_env(struct walls *w, const struct sandbox_spec *spec, bool proxy);

#endif
