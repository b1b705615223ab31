/* Text from outside that a person will look at, in a terminal or on the page: nothing in it moves
 * the cursor, turns the line around or hides.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/utf8.h"
#include "tool/tool_int.h"

static bool stays(uint32_t code)
{
    enum utf8_oddity oddity = utf8_oddity_of(code);

    return oddity == UTF8_PLAIN || code == '\n' || code == '\t';
}

static void add_visible(struct buf *out, uint32_t code)
{
    /* As in Unicode's control pictures for C0, by number for the rest. */
    if (code < 0x20)
        buf_add_utf8(out, 0x2400 + code);
    else if (code == 0x7f)
        buf_add_utf8(out, 0x2421);
    else
        buf_printf(out, "<U+%04X>", (unsigned)code);
}

void shown_text(struct str text, size_t max, struct buf *out)
{
    size_t begin = out->n;

    while (text.n) {
        struct str before = text;
        uint32_t code;

        if (out->n - begin >= max) {
            buf_printf(out, "\n[%zu more bytes are not shown]\n", text.n);
            return;
        }
        if (utf8_decode(&text, &code) < 0)
            for (size_t i = 0; i < before.n - text.n; i++)
                buf_printf(out, "<%02X>", (unsigned)(unsigned char)before.p[i]);
        else if (stays(code))
            buf_add(out, before.p, before.n - text.n);
        else
            add_visible(out, code);
    }
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
