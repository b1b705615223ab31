/* Small allocations that cannot fail, and ownership helpers.
 *
 * Dormouse treats exhaustion of memory for small objects as a crash: the next start recovers
 * from the log as after any other crash. Sizes that come from outside are bounded before they
 * are allocated, so a caller never asks for more than it can justify.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_ALLOC_H
#define DORMOUSE_BASE_ALLOC_H

#include <stddef.h>
#include <stdnoreturn.h>

/* Never NULL; zeroed. Abort with a message when memory is exhausted or n * size overflows. */
void *alloc_zero(size_t n, size_t size);
/* Never NULL; keeps the old bytes, new ones are undefined. */
void *alloc_resize(void *old, size_t n, size_t size);
/* Never NULL; a NUL-terminated copy of n bytes. */
char *alloc_copy(const char *text, size_t n);
char *alloc_text(const char *text);

#define NEW(type)      ((type *)alloc_zero(1, sizeof(type)))
#define NEW_N(type, n) ((type *)alloc_zero((n), sizeof(type)))

/* Our own mistake: say where and abort. Never for input. */
noreturn void bug_at(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
#define BUG_IF(cond)                                                                               \
    do {                                                                                           \
        if (__builtin_expect(!!(cond), 0))                                                         \
            BUG("%s", #cond);                                                                      \
    } while (0)

/* AUTO(thing) x = NULL; calls thing_free(x) when x leaves scope. The room that owns the type
 * writes AUTO_DEFINE(thing) after declaring thing_free(); destructors accept NULL. */
#define AUTO_DEFINE(type)                                                                          \
    static inline void type##_auto_free(struct type **owned)                                       \
    {                                                                                              \
        type##_free(*owned);                                                                       \
    }
#define AUTO(type) __attribute__((cleanup(type##_auto_free))) struct type *

void alloc_auto_free(void *owned);
/* AUTO_TEXT s = NULL; frees a char * from alloc_*() at end of scope. */
#define AUTO_TEXT __attribute__((cleanup(alloc_auto_free))) char *

/* The value of an owned pointer, which forgets it: *ret_x = TAKE(x). */
#define TAKE(owned)                                                                                \
    __extension__({                                                                                \
        __typeof__(owned) taken_ = (owned);                                                        \
        (owned) = NULL;                                                                            \
        taken_;                                                                                    \
    })

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
/* The struct that holds this member. */
#define CONTAINER_OF(member_ptr, type, member)                                                     \
    ((type *)((char *)(member_ptr)-offsetof(type, member)))

#endif
