/* Markdown by lines: what kind of line it is, then what is in it.
 *
 * The kind is settled by the first characters of a line, which are held until they say it. Inside a
 * fence characters pass as they come; a table is held until its last row.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/markdown.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "cli/markdown_int.h"

#define RULE_WIDTH  40
#define RULE_HELD   80 /* bytes of "- - -" that are waited for */
#define QUOTE_MAX   4
#define CODE_INDENT "  "

enum kind {
    NOT_YET = 0,
    BLANK,
    TEXT,
    HEADING,
    BULLET,
    NUMBER,
    QUOTE,
    RULE,
    TABLE,
    FENCE,     /* opens or closes */
    CODE,      /* inside a fence */
    CONTINUED, /* the rest of a line that was too long to be held */
};

struct line_kind {
    enum kind kind;
    size_t skip; /* bytes of marks */
    int indent;  /* columns before the mark */
    size_t
        mark_n; /* a number's digits and dot, a heading's level, a quote's depth, a fence's run */
    char mark;  /* of a fence */
};

struct markdown {
    struct md_flow flow;
    struct md_inline in;
    struct buf line, table;
    size_t at; /* of line that has been shown */
    struct line_kind is;
    char fence; /* the character of the fence we are in, or 0 */
    size_t fence_n, table_rows;
    bool any, blank; /* something was shown; an empty line is due */
    bool continued;
};

struct markdown *markdown_new(int width, bool colours)
{
    struct markdown *md = NEW(struct markdown);

    md->flow =
        (struct md_flow){ .width = width, .colours = colours, .word = BUF_INIT(16 * MD_LINE_MAX) };
    md->line = BUF_INIT(MD_LINE_MAX);
    md->table = BUF_INIT(MD_TABLE_BYTES + MD_LINE_MAX + 1);
    return md;
}

void markdown_free(struct markdown *md)
{
    if (!md)
        return;
    buf_release(&md->flow.word);
    buf_release(&md->line);
    buf_release(&md->table);
    free(md);
}

void markdown_set_width(struct markdown *md, int width)
{
    md->flow.width = width;
}

/* ---- what kind of line ---- */

static size_t count(struct str s, size_t at, char c)
{
    size_t n = 0;

    while (at + n < s.n && s.p[at + n] == c)
        n++;
    return n;
}

static size_t leading(struct str s)
{
    size_t n = 0;

    while (n < s.n && (s.p[n] == ' ' || s.p[n] == '\t'))
        n++;
    return n;
}

static bool only(struct str s, char c)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != c && s.p[i] != ' ')
            return false;
    }
    return true;
}

/* "---", "* * *": a rule; "- x": a bullet; "**x**": text. */
static enum kind dash_kind(struct str rest, bool whole, size_t *ret_skip)
{
    size_t marks = 0;

    *ret_skip = 0;
    if (only(rest, rest.p[0]) && rest.n < RULE_HELD) {
        if (!whole)
            return NOT_YET;
        for (size_t i = 0; i < rest.n; i++)
            marks += rest.p[i] == rest.p[0];
        if (marks >= 3 && rest.p[0] != '+')
            return RULE;
    }
    if (rest.p[0] == '_' || (rest.n > 1 && rest.p[1] != ' '))
        return TEXT;
    *ret_skip = rest.n > 1 ? 2 : 1;
    return BULLET;
}

static enum kind heading_kind(struct str rest, bool whole, struct line_kind *is)
{
    size_t n = count(rest, 0, '#');

    if (n > 6)
        return TEXT;
    if (n == rest.n && !whole)
        return NOT_YET;
    if (n < rest.n && rest.p[n] != ' ')
        return TEXT;
    is->mark_n = n;
    is->skip += n < rest.n ? n + 1 : n;
    return HEADING;
}

static enum kind number_kind(struct str rest, bool whole, struct line_kind *is)
{
    size_t n = 0;

    while (n < rest.n && n < 10 && rest.p[n] >= '0' && rest.p[n] <= '9')
        n++;
    if (n == 10)
        return TEXT;
    if (n + 1 >= rest.n && !whole && (n == rest.n || rest.p[n] == '.' || rest.p[n] == ')'))
        return NOT_YET;
    if (n + 1 >= rest.n || (rest.p[n] != '.' && rest.p[n] != ')') || rest.p[n + 1] != ' ')
        return TEXT;
    is->mark_n = n + 1;
    is->skip += n + 2;
    return NUMBER;
}

/* A fence's line is held whole: what follows its mark is no text. */
static enum kind fence_kind(struct str rest, bool whole, struct line_kind *is)
{
    size_t n = count(rest, 0, rest.p[0]);

    if (n < 3)
        return n == rest.n && !whole ? NOT_YET : TEXT;
    if (rest.p[0] == '`' && str_find_char(str_skip(rest, n), '`') >= 0)
        return TEXT;
    if (!whole)
        return rest.n > MD_SPAN_MAX ? TEXT : NOT_YET;
    is->mark = rest.p[0];
    is->mark_n = n;
    return rest.n > MD_SPAN_MAX ? TEXT : FENCE;
}

static enum kind quote_kind(struct str rest, bool whole, struct line_kind *is)
{
    size_t at = 0;

    while (at < rest.n && is->mark_n < QUOTE_MAX && rest.p[at] == '>') {
        is->mark_n++;
        at += at + 1 < rest.n && rest.p[at + 1] == ' ' ? 2 : 1;
    }
    if (at >= rest.n && !whole && is->mark_n < QUOTE_MAX)
        return NOT_YET;
    if (at == rest.n && !whole && rest.p[at - 1] == '>')
        return NOT_YET;
    is->skip += at;
    return QUOTE;
}

static enum kind open_kind(struct str line, bool whole, struct line_kind *is)
{
    struct str rest = str_skip(line, is->skip);
    size_t skip = 0;
    enum kind kind;

    switch (rest.p[0]) {
    case '#':
        return heading_kind(rest, whole, is);
    case '-':
    case '*':
    case '_':
    case '+':
        kind = dash_kind(rest, whole, &skip);
        is->skip += skip;
        return kind;
    case '>':
        return quote_kind(rest, whole, is);
    case '|':
        return TABLE;
    case '`':
    case '~':
        return fence_kind(rest, whole, is);
    default:
        return rest.p[0] >= '0' && rest.p[0] <= '9' ? number_kind(rest, whole, is) : TEXT;
    }
}

/* Inside a fence: does this line end it? */
static enum kind code_kind(const struct markdown *md, struct str line, bool whole)
{
    size_t lead = leading(line), n = count(line, lead, md->fence);
    struct str after = str_skip(line, lead + n);

    if (!line.n && !whole)
        return NOT_YET;
    if (lead > 3 || str_trim(after).n || lead + n > MD_SPAN_MAX)
        return CODE;
    if (!whole)
        return lead + n == 0 || n || lead == line.n ? NOT_YET : CODE;
    return n >= md->fence_n ? FENCE : CODE;
}

static int columns_of(struct str spaces)
{
    int n = 0;

    for (size_t i = 0; i < spaces.n && n < MD_INDENT_MAX; i++)
        n += spaces.p[i] == '\t' ? 4 : 1;
    return n;
}

/* What can be looked at: a carriage return may belong to the line's end. */
static struct str seen(const struct markdown *md, bool whole)
{
    struct str line = buf_str(&md->line);

    if (!whole && line.n && line.p[line.n - 1] == '\r')
        line.n--;
    return line;
}

static enum kind kind_of(struct markdown *md, bool whole)
{
    struct str line = seen(md, whole);
    struct line_kind is = { .skip = leading(line) };

    if (md->continued)
        is = (struct line_kind){ .kind = md->fence ? CODE : CONTINUED };
    else if (md->fence)
        is = (struct line_kind){ .kind = code_kind(md, line, whole) };
    else if (is.skip == line.n)
        is.kind = whole ? BLANK : is.skip > MD_SPAN_MAX ? TEXT : NOT_YET;
    else
        is.kind = open_kind(line, whole, &is);
    is.indent = columns_of(str_take(line, leading(line)));
    if (is.kind == TEXT)
        is.skip = leading(line);
    md->is = is;
    return is.kind;
}

/* ---- beginning a line ---- */

static void flush_table(struct markdown *md, struct buf *out)
{
    if (!md->table.n)
        return;
    md_table(&md->flow, buf_str(&md->table), out);
    buf_clear(&md->table);
    md->table_rows = 0;
}

static void space_before(struct markdown *md, struct buf *out)
{
    if (md->blank && md->any)
        buf_add_char(out, '\n');
    md->blank = false;
    md->any = true;
}

static void begin_quote(struct markdown *md, struct buf *out)
{
    char prefix[MD_PREFIX_MAX] = "";
    size_t n = 0;

    for (size_t i = 0; i < md->is.mark_n; i++)
        n += (size_t)snprintf(prefix + n, sizeof(prefix) - n, "│ ");
    md_flow_begin(&md->flow, prefix, 2 * (int)md->is.mark_n, 0, out);
}

static void begin_item(struct markdown *md, struct buf *out)
{
    struct str digits = str_of(md->line.p + md->is.skip - md->is.mark_n - 1, md->is.mark_n);
    int mark = md->is.kind == NUMBER ? (int)md->is.mark_n + 1 : 2;

    md_flow_begin(&md->flow, "", 0, md->is.indent + mark, out);
    for (int i = 0; i < md->is.indent; i++)
        buf_add_char(out, ' ');
    if (md->is.kind == NUMBER)
        buf_add_str(out, digits);
    else
        buf_add_text(out, md->flow.colours ? "•" : "-");
    buf_add_char(out, ' ');
    md->flow.column += md->is.indent + mark;
}

static void begin_text(struct markdown *md, struct buf *out)
{
    md_flow_begin(&md->flow, "", 0, md->is.indent, out);
    for (int i = 0; i < md->is.indent; i++)
        buf_add_char(out, ' ');
    md->flow.column += md->is.indent;
}

static void begin_heading(struct markdown *md, struct buf *out)
{
    md_flow_begin(&md->flow, "", 0, 0, out);
    md->in.base = md->is.mark_n == 1 ? MD_HEAD | MD_LINK : MD_HEAD;
    for (size_t i = 0; !md->flow.colours && i <= md->is.mark_n; i++)
        md_flow_code(&md->flow, i < md->is.mark_n ? '#' : ' ', false, out);
}

static void begin_line(struct markdown *md, struct buf *out)
{
    md->in = (struct md_inline){ .depth = 0 };
    md->at = md->is.skip;
    if (md->is.kind != TABLE)
        flush_table(md, out);
    if (md->is.kind == BLANK || md->is.kind == FENCE || md->is.kind == CONTINUED)
        return;
    space_before(md, out);
    switch (md->is.kind) {
    case QUOTE:
        begin_quote(md, out);
        break;
    case BULLET:
    case NUMBER:
        begin_item(md, out);
        break;
    case HEADING:
        begin_heading(md, out);
        break;
    case CODE:
        if (!md->continued)
            md_flow_begin(&md->flow, CODE_INDENT, 2, 0, out);
        break;
    case TEXT:
        begin_text(md, out);
        break;
    default:
        break;
    }
}

/* ---- a line's text and its end ---- */

static void show_code(struct markdown *md, bool whole, struct buf *out)
{
    struct str line = seen(md, whole), rest = str_skip(line, md->at);

    md->flow.style = MD_CODE;
    while (rest.n && md_settled(rest, whole)) {
        uint32_t code = UTF8_REPLACEMENT;

        utf8_decode(&rest, &code);
        md_flow_code(&md->flow, code, true, out);
    }
    md->at = line.n - rest.n;
}

static void show_rule(struct markdown *md, struct buf *out)
{
    int width = md->flow.width > 0 && md->flow.width < RULE_WIDTH ? md->flow.width : RULE_WIDTH;

    for (int i = 0; i < width; i++)
        buf_add_text(out, "─");
    buf_add_char(out, '\n');
}

static void toggle_fence(struct markdown *md)
{
    md->fence = md->fence ? 0 : md->is.mark;
    md->fence_n = md->is.mark_n;
}

static void keep_row(struct markdown *md, struct buf *out)
{
    if (md->table.n + md->line.n > MD_TABLE_BYTES || md->table_rows >= MD_TABLE_ROWS)
        flush_table(md, out);
    buf_add_str(&md->table, buf_str(&md->line));
    buf_add_char(&md->table, '\n');
    md->table_rows++;
}

static void show_line(struct markdown *md, bool whole, struct buf *out)
{
    switch (md->is.kind) {
    case CODE:
        show_code(md, whole, out);
        break;
    case TEXT:
    case HEADING:
    case BULLET:
    case NUMBER:
    case QUOTE:
    case CONTINUED:
        md_inline(&md->in, &md->flow, seen(md, whole), &md->at, whole, out);
        break;
    default:
        break;
    }
}

static void finish_line(struct markdown *md, struct buf *out)
{
    switch (md->is.kind) {
    case BLANK:
        md->blank = true;
        break;
    case RULE:
        show_rule(md, out);
        break;
    case FENCE:
        toggle_fence(md);
        break;
    case TABLE:
        keep_row(md, out);
        break;
    default:
        md_flow_end_row(&md->flow, out);
    }
}

/* whole: the line is all there. ends: and a newline follows; else it is only too long to be held.
 */
static void work(struct markdown *md, bool whole, bool ends, struct buf *out)
{
    if (ends && md->line.n && md->line.p[md->line.n - 1] == '\r')
        md->line.n--;
    if (md->is.kind == NOT_YET) {
        if (kind_of(md, whole) == NOT_YET)
            return;
        begin_line(md, out);
    }
    show_line(md, whole, out);
    if (!whole)
        return;
    md->continued = !ends && md->is.kind != TABLE;
    if (!md->continued)
        finish_line(md, out);
    buf_clear(&md->line);
    md->at = 0;
    md->is = (struct line_kind){ .kind = NOT_YET };
}

void markdown_add(struct markdown *md, struct str text, struct buf *out)
{
    while (text.n) {
        size_t room = MD_LINE_MAX - md->line.n;
        struct str piece = str_take(text, room);
        ptrdiff_t end = str_find_char(piece, '\n');

        if (end >= 0)
            piece.n = (size_t)end;
        buf_add_str(&md->line, piece);
        text = str_skip(text, piece.n + (end >= 0));
        work(md, end >= 0 || md->line.n == MD_LINE_MAX, end >= 0, out);
    }
}

void markdown_end(struct markdown *md, struct buf *out)
{
    if (md->line.n || md->continued)
        work(md, true, true, out);
    flush_table(md, out);
    md->fence = 0;
    md->any = md->blank = md->continued = false;
}
