/* Tables: aligned columns where they fit, else one "head: value" line a cell.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "cli/markdown_int.h"

#define GAP 2 /* columns between cells */

struct table {
    struct str cells[MD_TABLE_ROWS][MD_TABLE_COLUMNS];
    size_t rows, columns;
    int widths[MD_TABLE_COLUMNS];
    bool head;
};

/* ---- reading ---- */

/* Up to the next '|' that is not escaped. */
static struct str next_cell(struct str *rest)
{
    size_t n = 0;
    struct str cell;

    while (n < rest->n && rest->p[n] != '|')
        n += rest->p[n] == '\\' && n + 1 < rest->n ? 2 : 1;
    cell = str_trim(str_take(*rest, n));
    *rest = str_skip(*rest, n < rest->n ? n + 1 : n);
    return cell;
}

static bool is_ruler(struct str row)
{
    bool dash = false;

    for (size_t i = 0; i < row.n; i++) {
        if (!strchr("|-: \t", row.p[i]))
            return false;
        dash |= row.p[i] == '-';
    }
    return dash;
}

static void read_row(struct table *table, struct str row)
{
    size_t column = 0;

    row = str_trim(row);
    if (str_starts(row, STR("|")))
        row = str_skip(row, 1);
    if (table->rows == 1 && !table->head && is_ruler(row)) {
        table->head = true;
        return;
    }
    if (table->rows == MD_TABLE_ROWS)
        return;
    for (; row.n && column < MD_TABLE_COLUMNS; column++)
        table->cells[table->rows][column] = next_cell(&row);
    if (column > table->columns)
        table->columns = column;
    table->rows++;
}

/* ---- showing ---- */

/* The cell as text with styles, on one line; returns its columns. */
static int render_cell(struct md_flow *flow, struct str cell, unsigned base, struct buf *out)
{
    struct md_flow alone = { .colours = flow->colours, .word = BUF_INIT(16 * MD_LINE_MAX) };
    struct md_inline in = { .base = base };
    AUTO_BUF row = BUF_INIT(16 * MD_LINE_MAX);
    size_t at = 0;
    int columns;

    md_inline(&in, &alone, cell, &at, true, &row);
    md_flow_end_row(&alone, &row);
    buf_release(&alone.word);
    /* end_row forgets the column, so the text without its escapes is measured. */
    columns = 0;
    for (size_t i = 0; i + 1 < row.n;) {
        size_t n = 0;

        if (row.p[i] == '\033') {
            while (i < row.n && row.p[i] != 'm')
                i++;
            i++;
            continue;
        }
        while (i + n + 1 < row.n && row.p[i + n] != '\033')
            n++;
        columns += md_shown(str_of(row.p + i, n), NULL);
        i += n;
    }
    if (out)
        buf_add(out, row.p, row.n - 1);
    return columns;
}

static void measure(struct table *table, struct md_flow *flow)
{
    for (size_t r = 0; r < table->rows; r++) {
        for (size_t c = 0; c < table->columns; c++) {
            int width = render_cell(flow, table->cells[r][c], 0, NULL);

            if (width > table->widths[c])
                table->widths[c] = width;
        }
    }
}

static bool fits(const struct table *table, int width)
{
    int all = 0;

    for (size_t c = 0; c < table->columns; c++)
        all += table->widths[c] + (c ? GAP : 0);
    return width <= 0 || all <= width;
}

static void show_row(struct table *table, struct md_flow *flow, size_t r, struct buf *out)
{
    unsigned base = table->head && r == 0 ? MD_BOLD : 0;

    for (size_t c = 0; c < table->columns; c++) {
        int width = render_cell(flow, table->cells[r][c], base, out);

        for (; c + 1 < table->columns && width < table->widths[c] + GAP; width++)
            buf_add_char(out, ' ');
    }
    buf_add_char(out, '\n');
}

static void show_ruler(const struct table *table, struct buf *out)
{
    for (size_t c = 0; c < table->columns; c++) {
        for (int i = 0; i < table->widths[c]; i++)
            buf_add_text(out, "─");
        for (int i = 0; c + 1 < table->columns && i < GAP; i++)
            buf_add_char(out, ' ');
    }
    buf_add_char(out, '\n');
}

static void show_grid(struct table *table, struct md_flow *flow, struct buf *out)
{
    for (size_t r = 0; r < table->rows; r++) {
        show_row(table, flow, r, out);
        if (r == 0 && table->head)
            show_ruler(table, out);
    }
}

/* Too wide: every row becomes a small list. */
static void show_records(struct table *table, struct md_flow *flow, struct buf *out)
{
    for (size_t r = table->head; r < table->rows; r++) {
        for (size_t c = 0; c < table->columns; c++) {
            struct md_inline in = { .base = 0 };
            size_t at = 0;

            if (!table->cells[r][c].n)
                continue;
            md_flow_begin(flow, "", 0, 2, out);
            flow->style = MD_BOLD;
            if (table->head) {
                md_flow_text(flow, table->cells[0][c], false, out);
                md_flow_code(flow, ':', false, out);
                flow->style = 0;
                md_flow_code(flow, ' ', false, out);
            }
            md_inline(&in, flow, table->cells[r][c], &at, true, out);
            md_flow_end_row(flow, out);
        }
        if (r + 1 < table->rows)
            buf_add_char(out, '\n');
    }
}

/* Lines that only begin like a table. */
static void show_lines(struct md_flow *flow, struct str rows, struct buf *out)
{
    struct str row;

    while (rows.n && str_split(&rows, '\n', &row)) {
        struct md_inline in = { .base = 0 };
        size_t at = 0;

        md_flow_begin(flow, "", 0, 0, out);
        md_inline(&in, flow, row, &at, true, out);
        md_flow_end_row(flow, out);
    }
}

void md_table(struct md_flow *flow, struct str rows, struct buf *out)
{
    struct table *table = NEW(struct table);
    struct str all = rows, row;

    while (rows.n && str_split(&rows, '\n', &row)) {
        if (str_trim(row).n)
            read_row(table, row);
    }
    measure(table, flow);
    if (!table->head)
        show_lines(flow, all, out);
    else if (fits(table, flow->width))
        show_grid(table, flow, out);
    else
        show_records(table, flow, out);
    free(table);
}
