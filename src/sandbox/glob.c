/* Matching patterns, name by name.
 *
 * Inside a name, when `*` was matched too short, only the last one needs to be made longer: the
 * names before it took as little as they could. The same holds for `**` over names. So each level
 * keeps one place to go back to, and nothing is exponential.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sandbox/glob.h"

#include <ctype.h>

#include "base/alloc.h"

bool glob_is_pattern(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (strchr("*?[\\", text.p[i]) && text.p[i])
            return true;
    return false;
}

/* ---- sets ---- */

static const struct {
    const char *name;
    int (*is)(int c);
} classes[] = {
    { "alnum", isalnum }, { "alpha", isalpha }, { "blank", isblank }, { "cntrl", iscntrl },
    { "digit", isdigit }, { "graph", isgraph }, { "lower", islower }, { "print", isprint },
    { "punct", ispunct }, { "space", isspace }, { "upper", isupper }, { "xdigit", isxdigit },
};

/* ":name:]" at p: its length, with *ret_in; 0 when it is none, -1 when there is no such class. */
static int class_at(struct str p, unsigned char c, bool *ret_in)
{
    size_t n = 1;

    if (p.n == 0 || p.p[0] != ':')
        return 0;
    while (n < p.n && p.p[n] != ']')
        n++;
    if (n == p.n)
        return -1;
    if (n < 2 || p.p[n - 1] != ':')
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        if (str_is(str_of(p.p + 1, n - 2), classes[i].name)) {
            *ret_in = c < 0x80 && classes[i].is(c) != 0;
            return (int)n + 1;
        }
    return -1;
}

/* One byte of a set at *at, which moves on; false at the end of the pattern. */
static bool set_byte(struct str p, size_t *at, unsigned char *ret_byte)
{
    if (*at < p.n && p.p[*at] == '\\')
        ++*at;
    if (*at >= p.n)
        return false;
    *ret_byte = (unsigned char)p.p[(*at)++];
    return true;
}

/* The set after '[' at the front of p: how long it is with its ']', 0 when it has no end or is
 * malformed. *ret_in tells whether c is in it. */
static size_t set_match(struct str p, unsigned char c, bool *ret_in)
{
    size_t at = 0;
    bool negated = p.n && (p.p[0] == '!' || p.p[0] == '^'), in = false;

    at += negated;
    for (bool first = true; at < p.n && (first || p.p[at] != ']'); first = false) {
        unsigned char low, high;

        if (p.p[at] == '[') {
            bool hit = false;
            int n = class_at(str_skip(p, at + 1), c, &hit);

            if (n < 0)
                return 0;
            if (n > 0) {
                in |= hit;
                at += 1 + (size_t)n;
                continue;
            }
        }
        if (!set_byte(p, &at, &low))
            return 0;
        high = low;
        if (at + 1 < p.n && p.p[at] == '-' && p.p[at + 1] != ']') {
            at++;
            if (!set_byte(p, &at, &high))
                return 0;
        }
        in |= c >= low && c <= high;
    }
    if (at >= p.n)
        return 0;
    *ret_in = in != negated;
    return at + 1;
}

/* ---- one name ---- */

/* Matches one character at the front of p: how much of p it took, 0 when it does not match. */
static size_t match_one(struct str p, unsigned char c)
{
    bool in = false;
    size_t n;

    switch (p.p[0]) {
    case '?':
        return 1;
    case '[':
        n = set_match(str_skip(p, 1), c, &in);
        return n && in ? n + 1 : 0;
    case '\\':
        return p.n > 1 && (unsigned char)p.p[1] == c ? 2 : 0;
    default:
        return (unsigned char)p.p[0] == c ? 1 : 0;
    }
}

static bool match_name(struct str p, struct str s)
{
    struct str back_p = STR_NONE, back_s = STR_NONE;

    for (;;) {
        size_t n;

        if (p.n && p.p[0] == '*') {
            p = back_p = str_skip(p, 1);
            back_s = s;
            continue;
        }
        if (s.n == 0)
            return p.n == 0;
        n = p.n ? match_one(p, (unsigned char)s.p[0]) : 0;
        if (n) {
            p = str_skip(p, n);
            s = str_skip(s, 1);
            continue;
        }
        if (!back_p.p || back_s.n == 0)
            return false;
        p = back_p;
        s = back_s = str_skip(back_s, 1);
    }
}

/* ---- paths ---- */

/* Length of the first name of a pattern; a slash inside a set does not end it. */
static size_t pattern_name(struct str p)
{
    size_t at = 0;

    while (at < p.n && p.p[at] != '/') {
        bool in;
        size_t n = p.p[at] == '[' ? set_match(str_skip(p, at + 1), 0, &in) : 0;

        if (p.p[at] == '\\' && at + 1 < p.n)
            n = 1;
        at += 1 + n;
    }
    return at < p.n ? at : p.n;
}

static size_t text_name(struct str s)
{
    const char *slash = s.n ? memchr(s.p, '/', s.n) : NULL;

    return slash ? (size_t)(slash - s.p) : s.n;
}

/* What follows the first n bytes and the slash after them; p NULL at the end. */
static struct str after(struct str s, size_t n)
{
    return n < s.n ? str_skip(s, n + 1) : STR_NONE;
}

/* Two stars or more, and nothing else. */
static bool is_any_names(struct str name)
{
    size_t n = 0;

    while (n < name.n && name.p[n] == '*')
        n++;
    return n == name.n && n >= 2;
}

bool glob_match(struct str pattern, struct str text)
{
    struct str back_p = STR_NONE, back_s = STR_NONE;
    struct str p = pattern.p ? pattern : STR(""), s = text.p ? text : STR("");

    for (;;) {
        size_t pn = p.p ? pattern_name(p) : 0, sn;

        if (p.p && is_any_names(str_take(p, pn))) {
            p = after(p, pn);
            if (!p.p)
                return s.p != NULL;
            back_p = p;
            back_s = s;
            continue;
        }
        if (!p.p && !s.p)
            return true;
        sn = s.p ? text_name(s) : 0;
        if (p.p && s.p && match_name(str_take(p, pn), str_take(s, sn))) {
            p = after(p, pn);
            s = after(s, sn);
            continue;
        }
        if (!back_p.p || !back_s.p)
            return false;
        p = back_p;
        s = back_s = after(back_s, text_name(back_s));
        if (!s.p)
            return false;
    }
}
