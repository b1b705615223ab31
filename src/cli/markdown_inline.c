/* Within a line: emphasis, code, links, escapes.
 *
 * What opens something is held back until it is known whether it is closed within MD_SPAN_MAX
 * bytes of the same line; if not it stands for itself. So the decision never depends on how much
 * had arrived when it was looked at.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/utf8.h"
#include "cli/markdown_int.h"

enum found { WAIT = -1, NOT = 0, FOUND = 1 };

#define RUN_MAX 64 /* a longer row of one character is several */

static size_t run_of(struct str line, size_t at, char c)
{
    size_t n = 0;

    while (n < RUN_MAX && at + n < line.n && line.p[at + n] == c)
        n++;
    return n;
}

/* Can't it grow any more? */
static bool run_ended(struct str line, size_t at, size_t n, bool whole)
{
    return whole || n == RUN_MAX || at + n < line.n;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80;
}

static bool is_punctuation(char c)
{
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
}

/* Is it closed? Not when the line or the room for it is over. */
static enum found missing(struct str line, size_t from, bool whole)
{
    return whole || line.n - from > MD_SPAN_MAX ? NOT : WAIT;
}

static size_t search_end(struct str line, size_t from)
{
    return line.n - from > MD_SPAN_MAX ? from + MD_SPAN_MAX : line.n;
}

/* ---- code ---- */

static enum found find_ticks(struct str line, size_t from, size_t n, bool whole, size_t *ret_close)
{
    size_t end = search_end(line, from);

    for (size_t at = from; at < end;) {
        size_t run = run_of(line, at, '`');

        if (run && !run_ended(line, at, run, whole))
            return WAIT;
        if (run == n) {
            *ret_close = at;
            return FOUND;
        }
        at += run ? run : 1;
    }
    return missing(line, from, whole);
}

static void show_ticks(struct md_flow *flow, struct str code, struct buf *out)
{
    unsigned style = flow->style;

    if (code.n > 2 && code.p[0] == ' ' && code.p[code.n - 1] == ' ')
        code = str_of(code.p + 1, code.n - 2);
    flow->style = MD_CODE;
    if (!flow->colours)
        md_flow_code(flow, '`', false, out);
    md_flow_text(flow, code, false, out);
    if (!flow->colours)
        md_flow_code(flow, '`', false, out);
    flow->style = style;
}

static enum found take_ticks(struct md_flow *flow, struct str line, size_t *at, bool whole,
                             struct buf *out)
{
    size_t n = run_of(line, *at, '`'), close;
    enum found r;

    if (!run_ended(line, *at, n, whole))
        return WAIT;
    r = find_ticks(line, *at + n, n, whole, &close);
    if (r == FOUND) {
        show_ticks(flow, str_of(line.p + *at + n, close - *at - n), out);
        *at = close + n;
    } else if (r == NOT) {
        md_flow_text(flow, str_of(line.p + *at, n), false, out);
        *at += n;
    }
    return r == WAIT ? WAIT : FOUND;
}

/* ---- emphasis ---- */

/* A run of exactly n that may close: after something, and with '_' before no word. */
static enum found find_close(struct str line, size_t from, size_t limit, char c, size_t n,
                             bool whole, size_t *ret_close)
{
    size_t end = search_end(line, from);

    if (limit && end > limit)
        end = limit;
    for (size_t at = from; at < end;) {
        size_t run = run_of(line, at, c);

        if (run && !run_ended(line, at, run, whole))
            return WAIT;
        if (run == n && at > from && !is_space(line.p[at - 1]) && line.p[at - 1] != '\\' &&
            (c == '*' || at + run == line.n || !is_word(line.p[at + run]))) {
            *ret_close = at;
            return FOUND;
        }
        at += run ? run : 1;
    }
    return limit && end == limit ? NOT : missing(line, from, whole);
}

static unsigned style_of(char c, size_t n)
{
    if (c == '~')
        return n == 2 ? MD_DIM : 0;
    return n == 1 ? MD_ITALIC : n == 2 ? MD_BOLD : n == 3 ? MD_BOLD | MD_ITALIC : 0;
}

static bool may_open(const struct md_inline *in, struct str line, size_t at, char c, size_t n)
{
    if (!style_of(c, n) || in->depth == MD_DEPTH || at + n >= line.n || is_space(line.p[at + n]))
        return false;
    return c != '_' || at == 0 || !is_word(line.p[at - 1]);
}

static enum found take_emphasis(struct md_inline *in, struct md_flow *flow, struct str line,
                                size_t *at, bool whole, struct buf *out)
{
    char c = line.p[*at];
    size_t n = run_of(line, *at, c), close = 0;
    size_t limit = in->depth ? in->open[in->depth - 1].close : 0;
    enum found r = NOT;

    /* What opens is followed by something; what follows is looked at. */
    if (*at + n == line.n && !whole)
        return WAIT;
    if (may_open(in, line, *at, c, n))
        r = find_close(line, *at + n, limit, c, n, whole, &close);
    if (r == WAIT)
        return WAIT;
    if (r == FOUND)
        in->open[in->depth++] = (struct md_span){ style_of(c, n), close, n };
    else
        md_flow_text(flow, str_of(line.p + *at, n), false, out);
    *at += n;
    return FOUND;
}

/* ---- links ---- */

static enum found find_char(struct str line, size_t from, char c, bool whole, size_t *ret_at)
{
    size_t end = search_end(line, from);

    for (size_t at = from; at < end; at++) {
        if (line.p[at] == '\\')
            at++;
        else if (line.p[at] == c) {
            *ret_at = at;
            return FOUND;
        }
    }
    return missing(line, from, whole);
}

static void show_link(struct md_flow *flow, struct str text, struct str url, struct buf *out)
{
    unsigned style = flow->style;

    flow->style = style | MD_LINK;
    md_flow_text(flow, text.n ? text : url, false, out);
    flow->style = style;
    if (!text.n || str_eq(text, url))
        return;
    md_flow_code(flow, ' ', false, out);
    flow->style = MD_DIM;
    md_flow_code(flow, '(', false, out);
    md_flow_text(flow, url, false, out);
    md_flow_code(flow, ')', false, out);
    flow->style = style;
}

/* [text](url); anything else in brackets stands for itself. */
static enum found take_link(struct md_flow *flow, struct str line, size_t *at, bool whole,
                            struct buf *out)
{
    size_t middle = 0, end = 0;
    enum found r = find_char(line, *at + 1, ']', whole, &middle);

    if (r == FOUND && middle + 1 == line.n && !whole)
        return WAIT;
    if (r == FOUND)
        r = middle + 1 < line.n && line.p[middle + 1] == '('
                ? find_char(line, middle + 2, ')', whole, &end)
                : NOT;
    if (r == WAIT)
        return WAIT;
    if (r == NOT) {
        md_flow_code(flow, '[', false, out);
        *at += 1;
        return FOUND;
    }
    show_link(flow, str_of(line.p + *at + 1, middle - *at - 1),
              str_of(line.p + middle + 2, end - middle - 2), out);
    *at = end + 1;
    return FOUND;
}

/* ---- one after the other ---- */

static enum found take_escape(struct md_flow *flow, struct str line, size_t *at, bool whole,
                              struct buf *out)
{
    if (*at + 1 == line.n && !whole)
        return WAIT;
    if (*at + 1 < line.n && is_punctuation(line.p[*at + 1]))
        *at += 1;
    md_flow_code(flow, (unsigned char)line.p[*at], false, out);
    *at += 1;
    return FOUND;
}

bool md_settled(struct str rest, bool whole)
{
    unsigned char first = (unsigned char)rest.p[0];

    return whole || rest.n >= UTF8_MAX_BYTES || first < 0x80;
}

static enum found take_plain(struct md_flow *flow, struct str line, size_t *at, bool whole,
                             struct buf *out)
{
    struct str rest = str_skip(line, *at);
    uint32_t code = UTF8_REPLACEMENT;

    if (!md_settled(rest, whole))
        return WAIT;
    utf8_decode(&rest, &code);
    md_flow_code(flow, code, false, out);
    *at = line.n - rest.n;
    return FOUND;
}

static bool close_span(struct md_inline *in, size_t *at)
{
    /* Code or a link may have led past it. */
    while (in->depth && in->open[in->depth - 1].close < *at)
        in->depth--;
    if (!in->depth || in->open[in->depth - 1].close != *at)
        return false;
    *at += in->open[--in->depth].n;
    return true;
}

static unsigned style_now(const struct md_inline *in)
{
    unsigned style = in->base;

    for (unsigned i = 0; i < in->depth; i++)
        style |= in->open[i].style;
    return style;
}

void md_inline(struct md_inline *in, struct md_flow *flow, struct str line, size_t *at, bool whole,
               struct buf *out)
{
    enum found r = FOUND;

    while (*at < line.n && r != WAIT) {
        if (close_span(in, at))
            continue;
        flow->style = style_now(in);
        switch (line.p[*at]) {
        case '`':
            r = take_ticks(flow, line, at, whole, out);
            break;
        case '*':
        case '_':
        case '~':
            r = take_emphasis(in, flow, line, at, whole, out);
            break;
        case '[':
            r = take_link(flow, line, at, whole, out);
            break;
        case '\\':
            r = take_escape(flow, line, at, whole, out);
            break;
        default:
            r = take_plain(flow, line, at, whole, out);
        }
    }
}
