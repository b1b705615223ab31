/* struct str: a view of bytes that someone else owns. Not NUL-terminated, may hold NUL.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BASE_STR_H
#define DORMOUSE_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
    const char *p;
    size_t n;
};

#define STR(literal) ((struct str){ "" literal "", sizeof(literal) - 1 })
/* printf("%.*s", STR_ARG(s)) */
#define STR_ARG(s) (int)(s).n, (s).p ? (s).p : ""
#define STR_NONE   ((struct str){ NULL, 0 })

static inline struct str str_from(const char *text)
{
    return (struct str){ text, text ? strlen(text) : 0 };
}

static inline struct str str_of(const char *p, size_t n)
{
    return (struct str){ p, n };
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Mostly asked of one name after the other: the first sign tells most of them apart. */
static inline bool str_is(struct str a, const char *text)
{
    return a.n ? a.p[0] == text[0] && str_eq(a, str_from(text)) : !text[0];
}

/* The value of a hexadecimal digit, or -1. */
static inline int hex_digit(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int str_cmp(struct str a, struct str b);
/* ASCII only; other bytes compare as they are. */
bool str_eq_nocase(struct str a, struct str b);
bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);
/* Offset of the first occurrence, or -1. */
ptrdiff_t str_find(struct str s, struct str needle);
ptrdiff_t str_find_char(struct str s, char c);
struct str str_skip(struct str s, size_t n);
struct str str_take(struct str s, size_t n);
/* Without ASCII white space at both ends. */
struct str str_trim(struct str s);
/* Splits at the first sep: returns what is before, *rest is what follows. False when *rest is
 * exhausted; an empty last field is returned once. Start with rest->p non-NULL. */
bool str_split(struct str *rest, char sep, struct str *ret_field);
/* Decimal digits only (a '-' first for i64), no white space, no overflow. -1 otherwise. */
int str_to_i64(struct str s, int64_t *ret_value);
int str_to_u64(struct str s, uint64_t *ret_value);

#endif
