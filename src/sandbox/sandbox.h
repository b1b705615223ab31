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

/* Where a specification says 0. */
#define SANDBOX_MEMORY_BYTES (1ull << 30)
#define SANDBOX_PROCESSES    64ull
#define SANDBOX_DISK_BYTES   (2ull << 30)
#define SANDBOX_FILES        200000ull

/* Texts are borrowed. Lists end with NULL; NULL is the empty list. */
struct sandbox_spec {
    const char *cwd;                  /* absolute; where commands begin */
    const char *const *allow_write;   /* directories or files; relative to cwd, ~ is HOME */
    const char *const *deny_read;     /* as above; a name without slash (".env") counts anywhere
                                         below the writable places and cwd */
    const char *const *allow_domains; /* "example.org", "*.example.org"; empty: no network at all */
    const char *const *allow_unix_sockets; /* of programs outside, that may be connected to */
    const char *data_dir;                  /* Dormouse's own: never visible inside; NULL: none */
    const char *home;                      /* NULL: $HOME */
    const char *const *env; /* "NAME=value" besides the scrubbed default; NULL: none */
    int64_t time_limit_ms;  /* of one command; 0: LIMIT_BASH_TIMEOUT_MS */
    uint64_t memory_bytes;  /* of all processes together; 0: 1 GiB */
    uint64_t processes;     /* 0: 64 */
    uint64_t disk_bytes;    /* written in the writable places; 0: 2 GiB */
    bool resolved;          /* cwd, allow_write and sockets are real paths: one that is a
                               link by now is refused */
    uint64_t files;         /* made or changed there; 0: 200,000 */
    bool allow_home;        /* a writable place may hold the home, or be "/" */
    bool off;               /* no walls: explicit and visible; the hand runs as we do */
};

/* 0 when this machine can build the walls; else -1 with sandbox_unavailable: what is missing and
 * what to do. The answer is kept after the first call. */
int sandbox_available(struct err *err);
/* Sentences about limits that the kernel can't hold for a sandbox in dir; returns how many. */
#define SANDBOX_UNHELD_MAX 3
size_t sandbox_unheld(const char *dir, const char *ret[SANDBOX_UNHELD_MAX]);
/* The program that does agents' work inside of the walls, or without them; NULL: it is not
 * installed and no tool of agents works. */
const char *sandbox_program(void);

#endif
