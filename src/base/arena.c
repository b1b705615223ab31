/* Bump allocation in chunks; a request larger than a chunk gets one of its own.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif
#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n)   ASAN_POISON_MEMORY_REGION((p), (n))
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#else
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

/* Most arenas hold little: the first chunk is of a size that malloc() hands out again at once. */
#define FIRST_BYTES 960
#define CHUNK_BYTES 4096
#define ALIGNMENT   _Alignof(max_align_t)

struct arena_chunk {
    struct arena_chunk *next;
    size_t used, size;
    _Alignas(max_align_t) char bytes[];
};

static struct arena_chunk *chunk_new(size_t size)
{
    struct arena_chunk *chunk = alloc_resize(NULL, 1, sizeof(*chunk) + size);

    chunk->used = 0;
    chunk->size = size;
    POISON(chunk->bytes, size);
    return chunk;
}

static void chunk_free(struct arena_chunk *chunk)
{
    UNPOISON(chunk->bytes, chunk->size);
    free(chunk);
}

static size_t chunk_size(const struct arena *arena, size_t bytes)
{
    if (bytes > CHUNK_BYTES)
        return bytes;
    return arena->chunks || bytes > FIRST_BYTES ? CHUNK_BYTES : FIRST_BYTES;
}

static char *take(struct arena *arena, size_t n, size_t size)
{
    struct arena_chunk *chunk = arena->chunks;
    size_t bytes;
    char *p;

    if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 2)
        BUG("arena: %zu x %zu bytes", n, size);
    bytes = (bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
    if (!chunk || chunk->size - chunk->used < bytes) {
        chunk = chunk_new(chunk_size(arena, bytes));
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    p = chunk->bytes + chunk->used;
    chunk->used += bytes;
    arena->total += bytes;
    UNPOISON(p, bytes);
    return p;
}

void *arena_alloc(struct arena *arena, size_t n, size_t size)
{
    return memset(take(arena, n, size), 0, n * size);
}

char *arena_copy(struct arena *arena, const char *text, size_t n)
{
    char *p = take(arena, n + 1, 1);

    if (n)
        memcpy(p, text, n);
    p[n] = '\0';
    return p;
}

char *arena_text(struct arena *arena, const char *text)
{
    return arena_copy(arena, text, strlen(text));
}

struct str arena_str(struct arena *arena, struct str s)
{
    return str_of(arena_copy(arena, s.p, s.n), s.n);
}

char *arena_printf(struct arena *arena, const char *fmt, ...)
{
    va_list args, again;
    char *p;
    int n;

    va_start(args, fmt);
    va_copy(again, args);
    n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0)
        BUG("bad format \"%s\"", fmt);
    p = take(arena, (size_t)n + 1, 1);
    vsnprintf(p, (size_t)n + 1, fmt, args);
    va_end(args);
    return p;
}

/* Keeps the largest of the ordinary chunks. */
void *arena_grow(struct arena *arena, const void *list, size_t count, size_t *cap, size_t size)
{
    void *more = arena_alloc(arena, *cap = *cap * 2 + 8, size);

    if (count)
        memcpy(more, list, count * size);
    return more;
}

void arena_reset(struct arena *arena)
{
    struct arena_chunk *keep = NULL, *next;

    for (struct arena_chunk *chunk = arena->chunks; chunk; chunk = next) {
        next = chunk->next;
        if (chunk->size > CHUNK_BYTES || (keep && keep->size >= chunk->size)) {
            chunk_free(chunk);
            continue;
        }
        if (keep)
            chunk_free(keep);
        keep = chunk;
    }
    if (keep) {
        keep->next = NULL;
        keep->used = 0;
        POISON(keep->bytes, keep->size);
    }
    arena->chunks = keep;
    arena->total = 0;
}

void arena_release(struct arena *arena)
{
    while (arena->chunks) {
        struct arena_chunk *next = arena->chunks->next;

        chunk_free(arena->chunks);
        arena->chunks = next;
    }
    arena->total = 0;
}
