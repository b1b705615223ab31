/* Titles of what agents were told when they woke.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/woke.h"

#define MARK STR("[wake: ")

/* Up to an empty line. False: it is the last one. */
static bool take_paragraph(struct str *text, struct str *ret_paragraph)
{
    for (size_t i = 0; i + 1 < text->n; i++) {
        if (text->p[i] == '\n' && text->p[i + 1] == '\n') {
            *ret_paragraph = str_take(*text, i);
            *text = str_trim(str_skip(*text, i));
            return true;
        }
    }
    *ret_paragraph = *text;
    return false;
}

/* The first paragraph is the same for all of a kind, the last one for all. */
static struct str told(struct str text)
{
    struct str first, second;

    if (!take_paragraph(&text, &first))
        return first;
    return take_paragraph(&text, &second) ? second : STR_NONE;
}

struct str woke_title(struct str text, struct buf *out)
{
    struct str head = STR_NONE, rest = text, reason = STR_NONE;

    if (!str_starts(text, MARK))
        return text;
    rest = str_skip(text, MARK.n);
    str_split(&rest, ']', &head);
    str_split(&head, ' ', &reason);
    rest = told(str_trim(rest));
    buf_printf(out, "%.*s%s%.*s", STR_ARG(reason), rest.n ? ": " : "", STR_ARG(rest));
    return buf_str(out);
}
