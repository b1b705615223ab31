/* Text behind a gutter, page by page.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/pane.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "cli/show_int.h"

#define GUTTER       "│ "
#define GUTTER_MORE  "┊ " /* the same line goes on */
#define GUTTER_WIDTH 2
#define WIDTH_ELSE   100 /* not a terminal: whatever shows it later must not break lines itself */
#define WIDTH_LEAST  24
#define OWN_MORE     "    " /* a line of ours goes on; marks are not longer */
#define TAB_WIDTH    8
#define FACT_WIDTH   16
#define MARKS_ABOVE  3 /* combining ones in a row; more would reach into other lines */

struct pane {
    FILE *out;
    int width;
    struct buf text; /* lines of the screen, each with its line feed */
    size_t *ends;    /* of each in text */
    size_t count, room, shown;
    /* The line that is being drawn. */
    int column; /* behind the gutter */
    int above;  /* combining characters since the last that has a width */
    enum term_style base, now;
};

struct pane *pane_new(FILE *out)
{
    struct pane *pane = NEW(struct pane);
    int width = term_width(out);

    term_use_utf8();
    width = width ? width : WIDTH_ELSE;
    *pane = (struct pane){ .out = out,
                           .width = width < WIDTH_LEAST ? WIDTH_LEAST : width,
                           .text = BUF_INIT(64 * LIMIT_HTTP_BODY_BYTES) };
    return pane;
}

void pane_free(struct pane *pane)
{
    if (!pane)
        return;
    buf_release(&pane->text);
    free(pane->ends);
    free(pane);
}

/* ---- lines of the screen ---- */

static void pane_end_line(struct pane *pane)
{
    if (pane->now != TERM_PLAIN)
        buf_add_text(&pane->text, term_style(pane->out, TERM_PLAIN));
    pane->now = TERM_PLAIN;
    buf_add_char(&pane->text, '\n');
    if (pane->count == pane->room) {
        pane->room = pane->room ? 2 * pane->room : 64;
        pane->ends = alloc_resize(pane->ends, pane->room, sizeof(*pane->ends));
    }
    pane->ends[pane->count++] = pane->text.n;
    pane->column = 0;
    pane->above = 0;
}

static void pane_style(struct pane *pane, enum term_style style)
{
    if (style == pane->now)
        return;
    if (pane->now != TERM_PLAIN)
        buf_add_text(&pane->text, term_style(pane->out, TERM_PLAIN));
    if (style != TERM_PLAIN)
        buf_add_text(&pane->text, term_style(pane->out, style));
    pane->now = style;
}

/* How wide what was just made visible is. */
static int pane_width_of(struct str made)
{
    int width = 0;
    uint32_t code;

    while (made.n && utf8_decode(&made, &code) == 0) {
        int one = wcwidth((wchar_t)code);

        width += one < 0 ? 1 : one;
    }
    return width;
}

/* The next character of *rest into made: visible, and never so that it joins what stands before it
 * in our part of the line or reaches far into the lines above. */
static int pane_next(struct pane *pane, struct str *rest, struct buf *made)
{
    uint32_t code;
    int width;

    buf_clear(made);
    if (rest->p[0] == '\t') {
        width = TAB_WIDTH - pane->column % TAB_WIDTH;
        buf_printf(made, "%*s", width, "");
        *rest = str_skip(*rest, 1);
        return width;
    }
    code = visible_next(rest, made);
    width = pane_width_of(buf_str(made));
    if (code && (wcwidth((wchar_t)code) < 0 ||
                 (width == 0 && (pane->column == 0 || ++pane->above > MARKS_ABOVE)))) {
        buf_clear(made);
        buf_printf(made, "<U+%04X>", (unsigned)code);
        width = pane_width_of(buf_str(made));
    }
    if (width)
        pane->above = 0;
    return width;
}

/* Draws a line whose first row begins with `first` and the others with `more`, both `lead` columns
 * wide. */
static void pane_draw(struct pane *pane, const char *first, const char *more, int lead,
                      struct str line, const struct pane_mark *marks, size_t mark_count)
{
    AUTO_BUF made = BUF_INIT(64);
    int width = pane->width - lead > WIDTH_LEAST / 2 ? pane->width - lead : WIDTH_LEAST / 2;
    struct str rest = line;

    buf_add_text(&pane->text, first);
    pane->column = pane->above = 0;
    while (rest.n) {
        size_t at = line.n - rest.n;
        enum term_style style = pane->base;
        int columns = pane_next(pane, &rest, &made);

        for (size_t i = 0; i < mark_count; i++)
            if (marks[i].start <= at && at < marks[i].end && style != TERM_MARK_RED)
                style = marks[i].style;
        if (pane->column + columns > width) {
            pane_end_line(pane);
            buf_add_text(&pane->text, more);
        }
        pane_style(pane, style);
        buf_add_str(&pane->text, buf_str(&made));
        pane->column += columns;
    }
    pane_end_line(pane);
}

/* ---- ours ---- */

void pane_own(struct pane *pane, enum term_style style, const char *mark, struct str text)
{
    pane->base = style;
    pane_style(pane, style);
    pane_draw(pane, mark, OWN_MORE, (int)strlen(OWN_MORE), text, NULL, 0);
}

void pane_fact(struct pane *pane, struct str name, struct str value, bool warn)
{
    char first[FACT_WIDTH * 4], more[FACT_WIDTH + 1];
    int pad = FACT_WIDTH - 4 - (int)utf8_count(name);

    pane->base = warn ? TERM_RED : TERM_PLAIN;
    snprintf(first, sizeof(first), "  %.*s%*s  ", STR_ARG(str_take(name, 32)), pad > 0 ? pad : 0,
             "");
    snprintf(more, sizeof(more), "%*s", FACT_WIDTH, "");
    pane_draw(pane, first, more, pad < 0 ? FACT_WIDTH - pad : FACT_WIDTH, value, NULL, 0);
}

/* ---- others' ---- */

void pane_line(struct pane *pane, enum term_style style, struct str line,
               const struct pane_mark *marks, size_t mark_count)
{
    pane->base = style;
    pane_draw(pane, GUTTER, GUTTER_MORE, GUTTER_WIDTH, line, marks, mark_count);
}

void pane_text(struct pane *pane, struct str kind, struct str text)
{
    bool diff = str_is(kind, "diff");
    struct str line;

    if (str_ends(text, STR("\n")))
        text.n--;
    while (text.n) {
        ptrdiff_t end = str_find_char(text, '\n');

        line = end < 0 ? text : str_take(text, (size_t)end);
        text = str_skip(text, end < 0 ? text.n : (size_t)end + 1);
        pane_line(pane, diff ? show_diff_style(line) : TERM_PLAIN, line, NULL, 0);
        if (end >= 0 && !text.n)
            pane_line(pane, TERM_PLAIN, STR_NONE, NULL, 0);
    }
}

/* ---- showing ---- */

void pane_show(struct pane *pane, size_t max)
{
    size_t from = pane->shown ? pane->ends[pane->shown - 1] : 0;
    size_t left = pane->count - pane->shown, n = max && max < left ? max : left;

    if (!n)
        return;
    pane->shown += n;
    fwrite(pane->text.p + from, 1, pane->ends[pane->shown - 1] - from, pane->out);
    fflush(pane->out);
}

bool pane_ended(const struct pane *pane)
{
    return pane->shown == pane->count;
}

size_t pane_lines(const struct pane *pane)
{
    return pane->count;
}

size_t pane_shown(const struct pane *pane)
{
    return pane->shown;
}

void pane_rewind(struct pane *pane)
{
    pane->shown = 0;
}
