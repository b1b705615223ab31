/* What quoted scalars say (YAML 1.2, chapter 7.3).
 *
 * libfyaml finds where a scalar begins and ends and that its escapes are well formed, but version
 * 0.7 goes wrong in the text of some: '' next to '', a backslash before an escaped line break. So
 * the text is made here.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/utf8.h"
#include "base/yaml_int.h"

struct reader {
    struct str raw;
    size_t at;
    struct buf *out;
    size_t keep; /* bytes of out that folding must not take back: they were escaped */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_break(char c)
{
    return c == '\n' || c == '\r';
}

/* Takes line breaks and the blanks around them: one break is a blank, n of them are n - 1 breaks.
 * The first is nothing when it is escaped. */
static void fold(struct reader *r, bool escaped)
{
    size_t breaks = 0;

    while (!escaped && r->out->n > r->keep && is_blank(r->out->p[r->out->n - 1]))
        r->out->n--;
    for (; r->at < r->raw.n; r->at++) {
        char c = r->raw.p[r->at], next = r->at + 1 < r->raw.n ? r->raw.p[r->at + 1] : '\0';

        if (!is_break(c) && !is_blank(c))
            break;
        breaks += c == '\n' || (c == '\r' && next != '\n');
    }
    if (breaks == 1 && !escaped)
        buf_add_char(r->out, ' ');
    for (; breaks > 1; breaks--)
        buf_add_char(r->out, '\n');
    r->keep = r->out->n;
}

static uint32_t take_hex(struct reader *r, size_t digits)
{
    uint32_t code = 0;

    for (; digits > 0 && r->at < r->raw.n; digits--, r->at++) {
        uint32_t c = (unsigned char)r->raw.p[r->at];

        code = (code << 4) + (c & 15) + (c > '9' ? 9 : 0); /* ASCII: A is 0x41, a 0x61 */
    }
    return code;
}

/* A pair of surrogates, as JSON writes what lies above U+FFFF, is one code point. A lone one is
 * written as bytes that no UTF-8 has: the caller refuses them. */
static void add_code(struct reader *r, uint32_t code)
{
    if (code >= 0xD800 && code < 0xDC00 && str_starts(str_skip(r->raw, r->at), STR("\\u"))) {
        uint32_t low;

        r->at += 2;
        low = take_hex(r, 4);
        code = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
                                             : 0xD800;
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
        buf_add_char(r->out, (char)0xFF);
    else
        buf_add_utf8(r->out, code);
}

static void take_escape(struct reader *r)
{
    static const struct {
        char letter;
        uint8_t digits; /* of hex that follow, or … */
        uint16_t code;  /* … what it stands for */
    } escapes[] = {
        { '0', 0, 0 },    { 'a', 0, 7 },    { 'b', 0, 8 },      { 't', 0, 9 },      { '\t', 0, 9 },
        { 'n', 0, 10 },   { 'v', 0, 11 },   { 'f', 0, 12 },     { 'r', 0, 13 },     { 'e', 0, 27 },
        { 'N', 0, 0x85 }, { '_', 0, 0xA0 }, { 'L', 0, 0x2028 }, { 'P', 0, 0x2029 }, { 'x', 2, 0 },
        { 'u', 4, 0 },    { 'U', 8, 0 },
    };
    char letter = r->at < r->raw.n ? r->raw.p[r->at] : '\\';

    if (is_break(letter)) {
        fold(r, true);
        return;
    }
    r->at++;
    r->keep = r->out->n + 1;
    for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++)
        if (escapes[i].letter == letter) {
            add_code(r, escapes[i].digits ? take_hex(r, escapes[i].digits) : escapes[i].code);
            return;
        }
    buf_add_char(r->out, letter); /* itself: a quote, a slash, a backslash, a blank */
}

void yaml_unquote(struct str raw, char quote, struct buf *out)
{
    struct reader r = { .raw = raw, .out = out };

    while (r.at < raw.n) {
        char c = raw.p[r.at];

        if (is_break(c)) {
            fold(&r, false);
            continue;
        }
        r.at++;
        if (c == '\\' && quote == '"') {
            take_escape(&r);
            continue;
        }
        buf_add_char(out, c);
        if (c == '\'' && quote == '\'')
            r.at++; /* '' */
    }
}
