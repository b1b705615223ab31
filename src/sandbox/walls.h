/* The walls: what bubblewrap is told to build around the hand.
 *
 *     / read-only; /tmp, /run, /sys, /dev, /proc private and nearly empty
 *       + the writable places, bound over it, parents first
 *         + what may not be read, covered last: so a denied path below a writable one stays
 *           denied, and so does a writable one below a denied one
 *           + settings and hooks that tools outside obey (guarded.h), read-only
 *
 * A denied directory is covered by an empty one without permissions, a denied file by a device node
 * that nobody can open there: both answer "Permission denied". Every mount takes bubblewrap a tenth
 * of a millisecond and one that is made read-only afterwards three, so what Landlock refuses anyway
 * (writing to the private /run, /sys and /dev) is left to it.
 *
 * Every place is resolved once and held by a descriptor until the hand has said that it sees the
 * same from inside (place.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_WALLS_H
#define DORMOUSE_SANDBOX_WALLS_H

#include "base/arena.h"
#include "base/err.h"
#include "sandbox/place.h"
#include "sandbox/sandbox.h"

/* Inside. */
#define WALLS_PROXY      "/run/dormouse/proxy.sock"
#define WALLS_PROXY_PORT 3128 /* on the loopback inside, where a forwarder listens */

#define WALLS_PATHS_MAX 512 /* places that are bound or covered */

/* How spec is carried out. */
struct walls_how {
    const char *const *own;   /* our programs: read-only wherever they lie; ends with NULL */
    const char *proxy_socket; /* the keeper's, outside; NULL: none */
    bool keep_terminal;       /* stay in the caller's session */
};

struct walls_list {
    const char **items; /* ends with NULL; never NULL itself */
    size_t n;
};

struct walls {
    struct arena arena;
    struct place_view *views; /* what the hand must find inside */
    int *held;                /* a descriptor of each, until the walls stand */
    size_t view_count, view_room, held_room;
    struct walls_list args;                               /* bubblewrap's, without its name */
    struct walls_list env;                                /* "NAME=value", all that gets inside */
    struct walls_list allow_write, deny_read, deny_names; /* resolved, for the hand */
    struct walls_list found;                              /* what has one of the denied names */
    struct walls_list present;                            /* of deny_read: what was there */
    struct walls_list repositories; /* working trees of git below the writable places */
    struct walls_list bare;         /* git directories there, by what they hold */
    struct walls_list deny_write;   /* guarded names: not to be written, there or not */
    struct walls_list obeyed;       /* what git obeys in every working tree, relative to it */
    struct walls_list pinned;       /* directories that stay where they are */
    struct walls_list sockets;      /* of programs outside, that may be connected to */
    const char *cwd, *home;
    bool staged;        /* we are root, and the hand is somebody else (inside_stage.c) */
    bool resolved;      /* the specification's paths had no links when they were judged */
    bool names_cut;     /* there is more below the writable places than was searched for names */
    const char *closed; /* the first of found that is a directory nobody could look into; or NULL */
};

/* Looks at the file system and makes nothing there. bad_request for a specification that can't be,
 * sandbox_unavailable for a bubblewrap that lies in a writable place, not_found for a working
 * directory that is not there, conflict when a place changed meanwhile. With spec.off
 * args stay empty. Release w in either case. */
int walls_build(const struct sandbox_spec *spec, const struct walls_how *how, struct walls *w,
                struct err *err);
void walls_release(struct walls *w);
/* Closes the descriptors: the walls stand. */
void walls_let_go(struct walls *w);
#define AUTO_WALLS __attribute__((cleanup(walls_release))) struct walls

/* What people are told when names_cut. */
#define WALLS_NAMES_CUT                                                                            \
    "there is too much below the writable places to look everywhere for files that may not be "    \
    "read by their name (sandbox.security.denyRead): name their directories instead"

#define WALLS_CLOSED                                                                               \
    "%.300s can't be listed, so it may hold files that may not be read by their name "             \
    "(sandbox.security.denyRead): nothing in it can be read"

/* We are root, and not just of a user namespace, where root is somebody else to the kernel: the
 * hand gets a user of its own (HAND_UID). */
bool walls_is_root(void);
/* Where bubblewrap is, NULL when it is not installed. Kept. */
const char *walls_bwrap(void);
/* Adds to what bubblewrap said why, and what to do: fills err with sandbox_unavailable. Returns -1.
 */
int walls_explain(struct err *err, const char *bwrap_said);
/* The same for who did not hear what was said: looks for a place that can't be lent. */
int walls_explain_lent(const struct walls *w, struct err *err);

#endif
