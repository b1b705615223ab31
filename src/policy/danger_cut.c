/* Parts of a known value: ${name%end}, ${name#start}, ${name:from:n}.
 *
 * Only by plain text and plain numbers; with patterns the value is not known any more.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "policy/danger_int.h"

static bool cut_end(struct str *value, char kind, struct str part)
{
    for (size_t i = 0; i < part.n; i++)
        if (strchr("*?[]$`\\\"'", part.p[i]))
            return false;
    if (kind == '%' && str_ends(*value, part))
        value->n -= part.n;
    else if (kind == '#' && str_starts(*value, part))
        *value = str_skip(*value, part.n);
    return true;
}

/* "12" or "12:3" */
static bool cut_range(struct str *value, struct str range)
{
    struct str from;
    uint64_t at, n = value->n;

    if (!str_split(&range, ':', &from) || str_to_u64(str_trim(from), &at) < 0)
        return false;
    if (range.n && str_to_u64(str_trim(range), &n) < 0)
        return false;
    *value = str_skip(*value, at < value->n ? (size_t)at : value->n);
    *value = str_take(*value, n < value->n ? (size_t)n : value->n);
    return true;
}

bool danger_cut(struct str *value, struct str rest)
{
    if (rest.n < 2 || str_find_char(*value, MARK_UNKNOWN) >= 0)
        return false;
    if (rest.p[0] == '%' || rest.p[0] == '#')
        return cut_end(value, rest.p[0], str_skip(rest, rest.p[1] == rest.p[0] ? 2 : 1));
    return rest.p[0] == ':' && cut_range(value, str_skip(rest, 1));
}
