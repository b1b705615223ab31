/* Allocation that aborts instead of failing, and BUG().
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

noreturn void bug_at(const char *file, int line, const char *fmt, ...)
{
    va_list args;

    fprintf(stderr, "dormouse: bug at %s:%d: ", file, line);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    abort();
}

static noreturn void out_of_memory(size_t n, size_t size)
{
    fprintf(stderr, "dormouse: out of memory: %zu x %zu bytes\n", n, size);
    abort();
}

void *alloc_zero(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);

    if (!p)
        out_of_memory(n, size);
    return p;
}

void *alloc_resize(void *old, size_t n, size_t size)
{
    void *p = reallocarray(old, n ? n : 1, size ? size : 1);

    if (!p)
        out_of_memory(n, size);
    return p;
}

char *alloc_copy(const char *text, size_t n)
{
    char *p;

    if (n == SIZE_MAX)
        out_of_memory(n, 1);
    p = malloc(n + 1);
    if (!p)
        out_of_memory(n + 1, 1);
    if (n)
        memcpy(p, text, n);
    p[n] = '\0';
    return p;
}

char *alloc_text(const char *text)
{
    return alloc_copy(text, strlen(text));
}

void alloc_auto_free(void *owned)
{
    free(*(void **)owned);
}
