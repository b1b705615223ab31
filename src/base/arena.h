/* Arenas: many small allocations that end together (a request, a tick, a parse).
 *
 * Memory is zeroed and aligned for any type. Nothing is freed singly. After a reset the old
 * bytes are poisoned under AddressSanitizer, so a pointer kept too long is found by the tests.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_ARENA_H
#define DORMOUSE_BASE_ARENA_H

#include <stddef.h>

#include "base/str.h"

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks; /* newest first */
    size_t total;               /* bytes handed out since init or reset */
};

#define ARENA_INIT ((struct arena){ NULL, 0 })

void arena_release(struct arena *arena);
#define AUTO_ARENA __attribute__((cleanup(arena_release))) struct arena

/* Never NULL. */
void *arena_alloc(struct arena *arena, size_t n, size_t size);
char *arena_copy(struct arena *arena, const char *text, size_t n);
char *arena_text(struct arena *arena, const char *text);
struct str arena_str(struct arena *arena, struct str s);
char *arena_printf(struct arena *arena, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Ends all allocations; keeps one chunk for the next round. */
void arena_reset(struct arena *arena);

/* A list that has room for one more: itself, or its copy with twice the room. */
void *arena_grow(struct arena *arena, const void *list, size_t count, size_t *cap, size_t size);

#define ARENA_NEW(arena, type)      ((type *)arena_alloc((arena), 1, sizeof(type)))
#define ARENA_NEW_N(arena, type, n) ((type *)arena_alloc((arena), (n), sizeof(type)))
#define ARENA_ROOM(arena, list, count, cap)                                                        \
    ((list) =                                                                                      \
         (count) < (cap) ? (list) : arena_grow((arena), (list), (count), &(cap), sizeof(*(list))))

#endif
