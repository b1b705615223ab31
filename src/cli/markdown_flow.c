/* Words into rows: wrapping, styles, and characters that must not reach a terminal.
 *
 * A word is held until it has ended, so that it can go to the next row whole. A wide character
 * (Chinese, Japanese, emoji) is a word of its own: such text has no spaces to break at.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <wchar.h>

#include "base/utf8.h"
#include "cli/markdown_int.h"
#include "cli/term.h"

#define TAB 4

/* What stands for code on the screen; returns its columns. */
static int show_code(uint32_t code, struct buf *out)
{
    char text[16];
    int n, columns;

    if (term_may_show(code)) {
        columns = wcwidth((wchar_t)code);
        if (out)
            buf_add_utf8(out, code);
        return columns < 0 ? 1 : columns;
    }
    n = snprintf(text, sizeof(text), code < 0x100 ? "\\x%02x" : "\\u{%x}", (unsigned)code);
    if (out)
        buf_add_text(out, text);
    return n;
}

int md_shown(struct str text, struct buf *out)
{
    int columns = 0;

    while (text.n) {
        uint32_t code = UTF8_REPLACEMENT;

        utf8_decode(&text, &code);
        columns += show_code(code, out);
    }
    return columns;
}

/* ---- styles ---- */

static void add_style(unsigned style, struct buf *out)
{
    buf_add_text(out, "\033[0");
    if (style & (MD_BOLD | MD_HEAD))
        buf_add_text(out, ";1");
    if (style & MD_DIM)
        buf_add_text(out, ";2");
    if (style & MD_ITALIC)
        buf_add_text(out, ";3");
    if (style & MD_LINK)
        buf_add_text(out, ";4");
    if (style & MD_CODE)
        buf_add_text(out, ";36");
    buf_add_char(out, 'm');
}

static void apply_style(struct md_flow *flow, struct buf *out)
{
    if (flow->style == flow->shown)
        return;
    if (flow->colours)
        add_style(flow->style, out);
    flow->shown = flow->style;
}

/* ---- rows ---- */

static void begin_row(struct md_flow *flow, int indent, struct buf *out)
{
    buf_add_text(out, flow->prefix);
    for (int i = 0; i < indent; i++)
        buf_add_char(out, ' ');
    flow->column = flow->prefix_width + indent;
    flow->row_open = true;
}

static void break_row(struct md_flow *flow, struct buf *out)
{
    buf_add_char(out, '\n');
    begin_row(flow, flow->indent, out);
    flow->spaces = 0;
}

/* Room for columns more in this row? */
static bool fits(const struct md_flow *flow, int columns)
{
    return flow->width <= 0 || flow->column + columns <= flow->width;
}

static bool at_margin(const struct md_flow *flow)
{
    return flow->column <= flow->prefix_width + flow->indent;
}

static void place_word(struct md_flow *flow, struct buf *out)
{
    if (!flow->word.n)
        return;
    if (!fits(flow, flow->spaces + flow->word_width) && !at_margin(flow))
        break_row(flow, out);
    for (; flow->spaces; flow->spaces--, flow->column++)
        buf_add_char(out, ' ');
    buf_add_str(out, buf_str(&flow->word));
    flow->column += flow->word_width;
    flow->word_width = 0;
    buf_clear(&flow->word);
}

void md_flow_begin(struct md_flow *flow, const char *prefix, int prefix_width, int indent,
                   struct buf *out)
{
    snprintf(flow->prefix, sizeof(flow->prefix), "%s", prefix);
    flow->prefix_width = prefix_width;
    flow->indent = indent;
    if (flow->width > 0 && flow->indent > flow->width / 2)
        flow->indent = flow->width / 2;
    begin_row(flow, 0, out);
}

void md_flow_end_row(struct md_flow *flow, struct buf *out)
{
    place_word(flow, out);
    flow->style = 0;
    apply_style(flow, out);
    buf_add_char(out, '\n');
    flow->row_open = false;
    flow->column = flow->spaces = 0;
}

/* ---- characters ---- */

static void add_space(struct md_flow *flow, struct buf *out)
{
    place_word(flow, out);
    apply_style(flow, out); /* what ended before the space does not colour it */
    if (flow->spaces < MD_INDENT_MAX)
        flow->spaces++;
}

/* A word that no row can hold is cut where the row ends. */
static void add_to_word(struct md_flow *flow, uint32_t code, struct buf *out)
{
    int columns = show_code(code, NULL);
    int room = flow->width - flow->prefix_width - flow->indent;

    if (columns == 2 || (flow->width > 0 && flow->word_width + columns > room))
        place_word(flow, out);
    apply_style(flow, &flow->word);
    show_code(code, &flow->word);
    flow->word_width += columns;
    if (columns == 2)
        place_word(flow, out);
}

void md_flow_code(struct md_flow *flow, uint32_t code, bool keep_spaces, struct buf *out)
{
    if (!keep_spaces && (code == ' ' || code == '\t')) {
        add_space(flow, out);
        return;
    }
    if (keep_spaces) {
        apply_style(flow, out);
        for (int i = 0; code == '\t' && i < TAB - 1; i++)
            buf_add_char(out, ' ');
        flow->column += show_code(code == '\t' ? ' ' : code, out);
        return;
    }
    add_to_word(flow, code, out);
}

void md_flow_text(struct md_flow *flow, struct str text, bool keep_spaces, struct buf *out)
{
    while (text.n) {
        uint32_t code = UTF8_REPLACEMENT;

        utf8_decode(&text, &code);
        md_flow_code(flow, code, keep_spaces, out);
    }
}
