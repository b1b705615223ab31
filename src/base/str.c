/* String views.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/str.h"

static char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

int str_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;

    return order ? order : (a.n > b.n) - (a.n < b.n);
}

bool str_eq_nocase(struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (ascii_lower(a.p[i]) != ascii_lower(b.p[i]))
            return false;
    return true;
}

bool str_starts(struct str s, struct str prefix)
{
    return s.n >= prefix.n && str_eq(str_take(s, prefix.n), prefix);
}

bool str_ends(struct str s, struct str suffix)
{
    return s.n >= suffix.n && str_eq(str_skip(s, s.n - suffix.n), suffix);
}

ptrdiff_t str_find(struct str s, struct str needle)
{
    const char *hit;

    if (needle.n == 0)
        return 0;
    if (s.n < needle.n)
        return -1;
    hit = memmem(s.p, s.n, needle.p, needle.n);
    return hit ? hit - s.p : -1;
}

ptrdiff_t str_find_char(struct str s, char c)
{
    const char *hit = s.n ? memchr(s.p, c, s.n) : NULL;

    return hit ? hit - s.p : -1;
}

struct str str_skip(struct str s, size_t n)
{
    if (n > s.n)
        n = s.n;
    return n ? str_of(s.p + n, s.n - n) : s; /* no arithmetic on the NULL of an empty view */
}

struct str str_take(struct str s, size_t n)
{
    return (struct str){ s.p, n < s.n ? n : s.n };
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
    while (s.n && is_space(s.p[0]))
        s = str_skip(s, 1);
    while (s.n && is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

bool str_split(struct str *rest, char sep, struct str *ret_field)
{
    ptrdiff_t at;

    if (!rest->p)
        return false;
    at = str_find_char(*rest, sep);
    if (at < 0) {
        *ret_field = *rest;
        *rest = STR_NONE;
        return true;
    }
    *ret_field = str_take(*rest, (size_t)at);
    *rest = str_skip(*rest, (size_t)at + 1);
    return true;
}

int str_to_u64(struct str s, uint64_t *ret_value)
{
    uint64_t value = 0;

    if (s.n == 0)
        return -1;
    for (size_t i = 0; i < s.n; i++) {
        unsigned digit = (unsigned char)s.p[i] - (unsigned)'0';

        if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return -1;
    }
    *ret_value = value;
    return 0;
}

int str_to_i64(struct str s, int64_t *ret_value)
{
    bool negative = s.n && s.p[0] == '-';
    uint64_t magnitude;
    uint64_t limit = (uint64_t)INT64_MAX + negative;

    if (str_to_u64(negative ? str_skip(s, 1) : s, &magnitude) < 0 || magnitude > limit)
        return -1;
    *ret_value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return 0;
}
