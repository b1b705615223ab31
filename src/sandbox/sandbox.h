/* What a sandbox lets in and out: the specification that walls, hand and proxy are built from.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_SANDBOX_H
#define DORMOUSE_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Texts are borrowed. Lists end with NULL; NULL is the empty list. */
struct sandbox_spec {
    const char *cwd;                  /* absolute; where commands begin */
    const char *const *allow_write;   /* directories or files; relative to cwd, ~ is HOME */
    const char *const *deny_read;     /* as above; a name without slash (".env") counts anywhere
                                         below the writable places and cwd */
    const char *const *allow_domains; /* "example.org", "*.example.org"; empty: no network at all */
    const char *data_dir;             /* Dormouse's own: never visible inside; NULL: none */
    const char *home;                 /* NULL: $HOME */
    const char *const *env;           /* "NAME=value" besides the scrubbed default; NULL: none */
    int64_t time_limit_ms;            /* of one command; 0: LIMIT_BASH_TIMEOUT_MS */
    uint64_t memory_bytes;            /* of all processes together; 0: 1 GiB */
    uint64_t processes;               /* 0: 64 */
    uint64_t disk_bytes;              /* written in the writable places; 0: 2 GiB */
    bool off;                         /* no walls: explicit and visible; the hand runs as we do */
};

/* 0 when this machine can build the walls; else -1 with sandbox_unavailable: what is missing and
 * what to do. The answer is kept after the first call. */
int sandbox_available(struct err *err);
/* The program that does agents' work inside of the walls, or without them; NULL: it is not
 * installed and no tool of agents works. */
const char *sandbox_program(void);

#endif
