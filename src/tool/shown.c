/* Text from outside in a message or an answer of ours, and words of it on one line.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/utf8.h"
#include "base/visible.h"
#include "tool/tool_int.h"

void shown_text(struct str text, size_t max, struct buf *out)
{
    struct str cut = utf8_truncate(text, max);

    visible_text(cut, out);
    if (cut.n < text.n)
        buf_printf(out, "\n[%zu more bytes are not shown]\n", text.n - cut.n);
}

const char *shown_word(struct str text, size_t max, struct arena *arena)
{
    AUTO_BUF out = BUF_INIT(8 * max + 64);
    struct str cut = utf8_truncate(text, max);
    char *word;

    shown_text(cut, 8 * max, &out);
    word = arena_printf(arena, "%s%s", buf_text(&out), cut.n < text.n ? "…" : "");
    for (char *p = word; *p; p++)
        if (*p == '\n' || *p == '\t')
            *p = ' ';
    return word;
}
