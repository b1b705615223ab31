/* Near misses: where a text that was not found may have been meant.
 *
 * Lines are compared without their white space and without regard to ASCII case, by a hash of what
 * is left; that is one pass over the file, whatever it holds. First all lines of the wanted text
 * are looked for one below the other, then its longest line alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <stdint.h>

#include "sandbox/op_edit.h"

#include "base/alloc.h"
#include "base/utf8.h"

#define NEAR_COUNT     3
#define NEAR_LINES_MAX 200 /* of the wanted text that are compared */
#define NEAR_LINE      120 /* bytes of a line that are shown */
#define NEAR_LONG_MIN  4   /* characters that the longest line needs to say something */

struct wanted {
    uint64_t line[NEAR_LINES_MAX];
    size_t n;
    size_t longest, longest_size;
};

/* FNV-1a over what is no white space; *ret_size counts that. */
static uint64_t hash_line(struct str line, size_t *ret_size)
{
    uint64_t hash = 14695981039346656037u;
    size_t size = 0;

    for (size_t i = 0; i < line.n; i++) {
        unsigned char c = (unsigned char)line.p[i];

        if (isspace(c))
            continue;
        hash = (hash ^ (uint64_t)tolower(c)) * 1099511628211u;
        size++;
    }
    *ret_size = size;
    return hash;
}

static void wanted_make(struct str text, struct wanted *w)
{
    struct str rest = text, line;

    *w = (struct wanted){ .n = 0 };
    while (w->n < NEAR_LINES_MAX && str_split(&rest, '\n', &line)) {
        size_t size;
        uint64_t hash = hash_line(line, &size);

        /* Empty lines at both ends say nothing. */
        if (size == 0 && (w->n == 0 || rest.n == 0))
            continue;
        if (size > w->longest_size) {
            w->longest_size = size;
            w->longest = w->n;
        }
        w->line[w->n++] = hash;
    }
}

/* Whether the lines of text begin with all the wanted ones. */
static bool begins_with(struct str text, const struct wanted *w)
{
    struct str line;
    size_t size;

    for (size_t i = 0; i < w->n; i++)
        if (!str_split(&text, '\n', &line) || hash_line(line, &size) != w->line[i])
            return false;
    return true;
}

static void show(struct buf *out, size_t number, struct str line)
{
    struct str head = utf8_truncate(line, NEAR_LINE);

    buf_printf(out, "  line %zu: ", number);
    for (size_t i = 0; i < head.n; i++) {
        if (head.p[i] == '\t')
            buf_add_text(out, "\\t");
        else if (head.p[i] == '\r')
            buf_add_text(out, "\\r");
        else
            buf_add_char(out,
                         isprint((unsigned char)head.p[i]) || head.p[i] & 0x80 ? head.p[i] : '?');
    }
    buf_add_text(out, head.n < line.n ? "…\n" : "\n");
}

static size_t look(struct str text, const struct wanted *w, bool whole, struct buf *out)
{
    struct str rest = text, line;
    size_t found = 0;

    for (size_t number = 1; found < NEAR_COUNT; number++) {
        struct str here = rest;
        size_t size;

        if (!str_split(&rest, '\n', &line))
            break;
        if (hash_line(line, &size) != w->line[whole ? 0 : w->longest])
            continue;
        if (whole && !begins_with(here, w))
            continue;
        if (found++ == 0)
            buf_add_text(out, whole ? "only white space or case differs at\n"
                                    : "its longest line occurs at\n");
        show(out, number, line);
    }
    return found;
}

void edit_near(struct str text, struct str old_text, struct buf *out)
{
    struct wanted w;

    wanted_make(old_text, &w);
    if (w.n == 0 || text.n == 0)
        return;
    if (look(text, &w, true, out) > 0 || w.n < 2 || w.longest_size < NEAR_LONG_MIN)
        return;
    look(text, &w, false, out);
}
