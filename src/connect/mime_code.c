/* Quoted-printable (RFC 2045).
 *
 * SPDX-License-Identifier: MIT
 */
#include "connect/mime.h"

#define LINE_MAX_QP 76

static bool is_plain(struct str text, size_t i)
{
    unsigned char c = (unsigned char)text.p[i];

    if (c == ' ' || c == '\t') /* not at the end of a line */
        return i + 1 < text.n && text.p[i + 1] != '\n' && text.p[i + 1] != '\r';
    return c > ' ' && c < 0x7f && c != '=';
}

void quoted_printable_encode(struct str text, struct buf *out)
{
    size_t column = 0;

    for (size_t i = 0; i < text.n; i++) {
        bool plain;

        if (text.p[i] == '\r' && i + 1 < text.n && text.p[i + 1] == '\n')
            continue;
        if (text.p[i] == '\n') {
            buf_add_text(out, "\r\n");
            column = 0;
            continue;
        }
        plain = is_plain(text, i);
        if (column + (plain ? 1 : 3) > LINE_MAX_QP - 1) {
            buf_add_text(out, "=\r\n");
            column = 0;
        }
        if (plain)
            buf_add_char(out, text.p[i]);
        else
            buf_printf(out, "=%02X", (unsigned char)text.p[i]);
        column += plain ? 1 : 3;
    }
}

/* Bytes of the soft line break at i ("=" and white space to the end of the line), or 0. */
static size_t soft_break(struct str text, size_t i)
{
    size_t k = i + 1;

    while (k < text.n && (text.p[k] == ' ' || text.p[k] == '\t' || text.p[k] == '\r'))
        k++;
    if (k == text.n)
        return k - i;
    return text.p[k] == '\n' ? k + 1 - i : 0;
}

void quoted_printable_decode(struct str text, bool header, struct buf *out)
{
    for (size_t i = 0; i < text.n; i++) {
        size_t skip = 0;

        if (header && text.p[i] == '_') {
            buf_add_char(out, ' ');
        } else if (text.p[i] != '=') {
            buf_add_char(out, text.p[i]);
        } else if (i + 2 < text.n && hex_digit(text.p[i + 1]) >= 0 &&
                   hex_digit(text.p[i + 2]) >= 0) {
            buf_add_char(out, (char)(hex_digit(text.p[i + 1]) << 4 | hex_digit(text.p[i + 2])));
            i += 2;
        } else if (!header && (skip = soft_break(text, i)) > 0) {
            i += skip - 1;
        } else {
            buf_add_char(out, '=');
        }
    }
}
