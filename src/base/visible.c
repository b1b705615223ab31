/* Text made safe to look at.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/visible.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/utf8.h"

uint32_t visible_next(struct str *rest, struct buf *out)
{
    struct str before = *rest;
    uint32_t code;

    if (utf8_decode(rest, &code) < 0) {
        for (size_t i = 0; i < before.n - rest->n; i++)
            buf_printf(out, "<%02X>", (unsigned)(unsigned char)before.p[i]);
        return 0;
    }
    if (utf8_oddity_of(code) == UTF8_PLAIN) {
        buf_add(out, before.p, before.n - rest->n);
        return code;
    }
    /* As in Unicode's control pictures for C0, by number for the rest. */
    if (code < 0x20)
        buf_add_utf8(out, 0x2400 + code);
    else if (code == 0x7f)
        buf_add_utf8(out, 0x2421);
    else
        buf_printf(out, "<U+%04X>", (unsigned)code);
    return 0;
}

void visible_text(struct str text, struct buf *out)
{
    while (text.n) {
        if (text.p[0] == '\n' || text.p[0] == '\t') {
            buf_add_char(out, text.p[0]);
            text = str_skip(text, 1);
        } else {
            visible_next(&text, out);
        }
    }
}

void visible_line(struct str text, struct buf *out)
{
    while (text.n)
        visible_next(&text, out);
}

const char *visible_name(const char *name, char *out, size_t size)
{
    AUTO_BUF text = BUF_INIT(64 * KIB);

    visible_line(str_from(name), &text);
    snprintf(out, size, "%.*s", STR_ARG(utf8_truncate(buf_str(&text), size - 1)));
    return out;
}
