/* HTML as plain text, for mail that has nothing else: not a browser, a reader of letters. Tags go,
 * block elements break lines, links keep their target, scripts and styles are dropped.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "base/utf8.h"
#include "connect/mime.h"

struct html {
    struct str rest;
    struct buf *out;
    bool space;       /* one is due */
    struct str href;  /* of the link that is open */
    size_t link_from; /* where its text begins in out */
};

static void add_break(struct html *h)
{
    if (h->out->n && h->out->p[h->out->n - 1] != '\n')
        buf_add_char(h->out, '\n');
    h->space = false;
}

static void add_code(struct html *h, uint32_t code)
{
    if (code == ' ' || code == '\n' || code == '\r' || code == '\t' || code == 0xA0) {
        h->space = true;
        return;
    }
    if (h->space && h->out->n && h->out->p[h->out->n - 1] != '\n')
        buf_add_char(h->out, ' ');
    h->space = false;
    buf_add_utf8(h->out, code);
}

/* ---- entities ---- */

static const struct {
    const char *name;
    uint32_t code;
} entities[] = {
    { "amp", '&' },      { "lt", '<' },       { "gt", '>' },       { "quot", '"' },
    { "apos", '\'' },    { "nbsp", 0xA0 },    { "copy", 0xA9 },    { "hellip", 0x2026 },
    { "ndash", 0x2013 }, { "mdash", 0x2014 }, { "lsquo", 0x2018 }, { "rsquo", 0x2019 },
    { "ldquo", 0x201C }, { "rdquo", 0x201D }, { "bull", 0x2022 },  { "euro", 0x20AC },
    { "auml", 0xE4 },    { "ouml", 0xF6 },    { "uuml", 0xFC },    { "Auml", 0xC4 },
    { "Ouml", 0xD6 },    { "Uuml", 0xDC },    { "szlig", 0xDF },   { "eacute", 0xE9 },
};

static uint32_t number(struct str digits)
{
    bool hex = digits.n && (digits.p[0] == 'x' || digits.p[0] == 'X');
    uint32_t code = 0;

    for (size_t i = hex; i < digits.n && code <= 0x10FFFF; i++) {
        char c = digits.p[i];
        int d = c >= '0' && c <= '9'          ? c - '0'
                : hex && c >= 'a' && c <= 'f' ? c - 'a' + 10
                : hex && c >= 'A' && c <= 'F' ? c - 'A' + 10
                                              : -1;

        if (d < 0)
            return 0;
        code = code * (hex ? 16 : 10) + (uint32_t)d;
    }
    return code;
}

static void add_entity(struct html *h)
{
    ptrdiff_t end = str_find_char(str_take(h->rest, 12), ';');
    struct str name = end > 1 ? str_take(str_skip(h->rest, 1), (size_t)end - 1) : STR_NONE;
    uint32_t code = 0;
    char bytes[UTF8_MAX_BYTES];

    if (name.n && name.p[0] == '#')
        code = number(str_skip(name, 1));
    for (size_t i = 0; name.n && !code && i < ARRAY_LEN(entities); i++)
        if (str_is(name, entities[i].name))
            code = entities[i].code;
    if (!code || !utf8_encode(code, bytes)) {
        add_code(h, '&');
        h->rest = str_skip(h->rest, 1);
        return;
    }
    add_code(h, code);
    h->rest = str_skip(h->rest, (size_t)end + 1);
}

/* ---- tags ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static struct str skip_spaces(struct str s)
{
    while (s.n && is_space(s.p[0]))
        s = str_skip(s, 1);
    return s;
}

/* To the first white space. */
static struct str first_word(struct str s)
{
    size_t n = 0;

    while (n < s.n && !is_space(s.p[n]))
        n++;
    return str_take(s, n);
}

/* As browsers read it, or a link could hide where it leads. */
static struct str attribute(struct str tag, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 1; i + n < tag.n; i++) {
        struct str value = skip_spaces(str_skip(tag, i + n));
        ptrdiff_t end;

        if ((!is_space(tag.p[i - 1]) && tag.p[i - 1] != '/') ||
            !str_eq_nocase(str_take(str_skip(tag, i), n), str_from(name)) ||
            !str_starts(value, STR("=")))
            continue;
        value = skip_spaces(str_skip(value, 1));
        if (!value.n || (value.p[0] != '"' && value.p[0] != '\''))
            return first_word(value);
        end = str_find_char(str_skip(value, 1), value.p[0]);
        return end < 0 ? STR_NONE : str_take(str_skip(value, 1), (size_t)end);
    }
    return STR_NONE;
}

static bool is_tag(struct str name, const char *list)
{
    struct str rest = str_from(list), word;

    while (str_split(&rest, ' ', &word))
        if (str_eq_nocase(name, word))
            return true;
    return false;
}

/* What a link says and where it leads need not be the same: both are shown. */
static void end_link(struct html *h)
{
    struct str text = str_skip(buf_str(h->out), h->link_from);

    if (h->href.n && !str_eq(str_trim(text), h->href)) {
        buf_add_text(h->out, " [");
        utf8_sanitise(utf8_truncate(h->href, 500), h->out);
        buf_add_char(h->out, ']');
    }
    h->href = STR_NONE;
}

/* To the end tag of an element whose content is not text. */
static void skip_element(struct html *h, struct str name)
{
    while (h->rest.n) {
        ptrdiff_t at = str_find(h->rest, STR("</"));

        if (at < 0) {
            h->rest = str_skip(h->rest, h->rest.n);
            return;
        }
        h->rest = str_skip(h->rest, (size_t)at + 2);
        if (!str_eq_nocase(str_take(h->rest, name.n), name))
            continue;
        at = str_find_char(h->rest, '>');
        h->rest = str_skip(h->rest, at < 0 ? h->rest.n : (size_t)at + 1);
        return;
    }
}

static void take_tag(struct html *h)
{
    ptrdiff_t end;
    struct str tag, name;
    bool closes;

    if (str_starts(h->rest, STR("<!--"))) {
        end = str_find(h->rest, STR("-->"));
        h->rest = str_skip(h->rest, end < 0 ? h->rest.n : (size_t)end + 3);
        return;
    }
    end = str_find_char(h->rest, '>');
    tag = str_take(str_skip(h->rest, 1), end < 0 ? h->rest.n - 1 : (size_t)end - 1);
    h->rest = str_skip(h->rest, end < 0 ? h->rest.n : (size_t)end + 1);
    closes = tag.n && tag.p[0] == '/';
    name = str_skip(tag, closes);
    for (size_t i = 0; i < name.n; i++)
        if (is_space(name.p[i]) || name.p[i] == '/') {
            name.n = i;
            break;
        }
    if (!closes && is_tag(name, "script style head title"))
        skip_element(h, name);
    else if (is_tag(name, "br p div tr li h1 h2 h3 h4 h5 h6 table ul ol blockquote hr"))
        add_break(h);
    if (is_tag(name, "a")) {
        end_link(h);
        h->href = closes ? STR_NONE : attribute(tag, "href");
        h->link_from = h->out->n;
    }
    if (!closes && is_tag(name, "li"))
        buf_add_text(h->out, "- ");
}

/* "1 < 2" is none. */
static bool is_tag_start(struct str s)
{
    char c = s.n > 1 ? s.p[1] : ' ';

    return s.p[0] == '<' &&
           ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/' || c == '!' || c == '?');
}

void mime_html_text(struct str html, struct buf *out)
{
    struct html h = { .rest = html, .out = out };

    while (h.rest.n && !out->full) {
        uint32_t code;

        if (is_tag_start(h.rest)) {
            take_tag(&h);
        } else if (h.rest.p[0] == '&') {
            add_entity(&h);
        } else {
            if (utf8_decode(&h.rest, &code) < 0)
                code = UTF8_REPLACEMENT;
            add_code(&h, code);
        }
    }
    end_link(&h);
}
