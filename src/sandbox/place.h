/* Places of the walls, told apart by what they are and not by what they are called.
 *
 * The keeper resolves every place once, holds a descriptor of it while the walls are built, and
 * notes its device and inode. bubblewrap can only be told names, and between the two somebody may
 * rename things; so the hand looks again from inside, before anything else runs there, whether each
 * name shows what the keeper held. A mount can't be moved from under it any more.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_PLACE_H
#define DORMOUSE_SANDBOX_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct place_view {
    const char *path; /* absolute, no link in it */
    bool covered;     /* may not be read: something else must be mounted over it */
    uint64_t dev;     /* of what path shows; when covered, of the directory that holds it */
    uint64_t ino;
    bool bound;     /* something is mounted at path, and not somewhere that a link led to */
    bool lent;      /* inside it must belong to the hand (inside_stage.c) */
    uint64_t entry; /* when covered: the inode number that its directory has for it; 0: unknown */
};

/* Opens path (O_PATH) from the root, name by name, following no link. -1 with errno. */
int place_open(const char *path);
/* Fills dev, ino and entry from path and covered, as they are now. *ret_fd (O_PATH) is what must be
 * held until the walls stand: inode numbers are used again. -1 with errno. */
int place_look(struct place_view *view, int *ret_fd);
/* Whether path shows just that; conflict when it does not. */
int place_check(const struct place_view *view, struct err *err);
/* The same, and what it shows (O_PATH) in *ret_fd. Not for what is covered. */
int place_open_checked(const struct place_view *view, int *ret_fd, struct err *err);

#endif
