/* Rows in aligned columns, and times as people say them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "cli/term.h"

#define CELL_BYTES 160
#define LAST_BYTES 2000
#define GAP        2
#define ROOM_MIN   24 /* for the last column beside the others; with less it goes below */
#define BELOW_AT   4
#define SHRUNK_MIN 16 /* of a column that gives way */

void columns_init(struct columns *columns, const char *const *head)
{
    struct str cells[COLUMNS_MAX] = { STR_NONE };

    *columns = (struct columns){ .arena = ARENA_INIT };
    while (head[columns->count]) {
        BUG_IF(columns->count == COLUMNS_MAX);
        cells[columns->count] = str_from(head[columns->count]);
        columns->count++;
    }
    columns_add(columns, cells);
}

static const char *one_line(struct arena *arena, struct str text, size_t max)
{
    struct str cut = utf8_truncate(text, max);
    char *copy = arena_printf(arena, "%.*s%s", STR_ARG(cut), cut.n < text.n ? "…" : "");

    for (char *p = copy; *p; p++)
        if ((unsigned char)*p < 0x20)
            *p = ' ';
    return copy;
}

void columns_add(struct columns *columns, const struct str *cells)
{
    if (columns->n == columns->cap) {
        columns->cap = columns->cap ? 2 * columns->cap : 16;
        columns->cells =
            alloc_resize(columns->cells, columns->cap * columns->count, sizeof(*columns->cells));
    }
    for (size_t i = 0; i < columns->count; i++) {
        const char *cell =
            one_line(&columns->arena, cells[i], i + 1 < columns->count ? CELL_BYTES : LAST_BYTES);
        size_t width = utf8_count(str_from(cell));

        columns->cells[columns->n * columns->count + i] = cell;
        if (width > columns->width[i])
            columns->width[i] = width;
    }
    columns->n++;
}

/* So many characters at most, the last of them "…" when there were more. */
static void print_cell(const char *cell, size_t width, FILE *out)
{
    AUTO_BUF text = BUF_INIT(CELL_BYTES * 2);
    struct str rest = str_from(cell);
    size_t n = utf8_count(rest);
    uint32_t code;

    if (n > width) {
        for (size_t i = 0; i + 1 < width && utf8_decode(&rest, &code) == 0; i++)
            ;
        buf_printf(&text, "%.*s…", (int)(rest.p - cell), cell);
        n = width;
    } else {
        buf_add_str(&text, rest);
    }
    term_text(out, buf_text(&text));
    fprintf(out, "%*s", (int)(width - n + GAP), "");
}

/* How wide a column is on lines of this width: one may give way to the others. */
static size_t width_of(const struct columns *columns, size_t i, int width)
{
    size_t all = 0, wide = columns->width[i];

    if (!width || !columns->shrinks || i != columns->shrinks)
        return wide;
    for (size_t k = 0; k + 1 < columns->count; k++)
        all += columns->width[k] + GAP;
    all += utf8_count(str_from(columns->cells[columns->count - 1])); /* the last title */
    if (all <= (size_t)width)
        return wide;
    all -= (size_t)width;
    return wide > all + SHRUNK_MIN ? wide - all : wide < SHRUNK_MIN ? wide : SHRUNK_MIN;
}

/* At column at. What does not fit there is broken, or stands on lines of its own. */
static void print_last(const char *cell, int at, int width, FILE *out)
{
    AUTO_BUF text = BUF_INIT(LAST_BYTES * 8);
    bool fits = !width || at + (int)utf8_count(str_from(cell)) <= width;

    if (!fits && width - at < ROOM_MIN) {
        at = BELOW_AT;
        fprintf(out, "\n%*s", at, "");
    }
    if (fits)
        buf_printf(&text, "%s\n", cell);
    else
        term_wrap(&text, str_from(cell), at, at, width);
    term_text(out, buf_text(&text));
}

static void print_row(const struct columns *columns, size_t row, int width, FILE *out)
{
    const char **cells = &columns->cells[row * columns->count];
    size_t last = columns->count - 1;
    int at = 0;

    if (row == 0)
        fputs(term_style(out, TERM_BOLD), out);
    for (size_t i = 0; i < last; i++) {
        size_t wide = width_of(columns, i, width);

        print_cell(cells[i], wide, out);
        at += (int)wide + GAP;
    }
    if (row > 0) {
        print_last(cells[last], at, width, out);
        return;
    }
    term_text(out, cells[last]);
    fprintf(out, "%s\n", term_style(out, TERM_PLAIN));
}

void columns_print_row(const struct columns *columns, size_t row, FILE *out)
{
    print_row(columns, row, term_width(out), out);
}

void columns_print_within(const struct columns *columns, int width, FILE *out)
{
    for (size_t row = 0; row < columns->n; row++)
        print_row(columns, row, width, out);
}

void columns_print(const struct columns *columns, FILE *out)
{
    columns_print_within(columns, term_width(out), out);
}

void columns_release(struct columns *columns)
{
    free(columns->cells);
    arena_release(&columns->arena);
}

/* ---- times ---- */

/* What is waited for never comes sooner than it says: what is set for two hours is in 2 h. */
static const char *ahead_text(int64_t seconds, char ret_text[AGO_SIZE])
{
    int64_t minutes = (seconds + 59) / 60;

    if (seconds < 5)
        snprintf(ret_text, AGO_SIZE, "now");
    else if (seconds < 60)
        snprintf(ret_text, AGO_SIZE, "in %d s", (int)seconds);
    else if (minutes < 60)
        snprintf(ret_text, AGO_SIZE, "in %d min", (int)minutes);
    else if (minutes < 10 * 60 && minutes % 60)
        snprintf(ret_text, AGO_SIZE, "in %d h %d min", (int)(minutes / 60), (int)(minutes % 60));
    else if (minutes < 48 * 60)
        snprintf(ret_text, AGO_SIZE, "in %d h", (int)((minutes + 30) / 60));
    else
        snprintf(ret_text, AGO_SIZE, "in %lld days", (long long)((minutes + 720) / 1440));
    return ret_text;
}

const char *ago_text(struct str rfc3339, int64_t now_ms, char ret_text[AGO_SIZE])
{
    int64_t then, seconds;

    ret_text[0] = '\0';
    if (timefmt_parse(rfc3339, &then, NULL) < 0)
        return ret_text;
    seconds = (now_ms - then) / 1000;
    if (now_ms < then)
        return ahead_text((then - now_ms + 999) / 1000, ret_text);
    if (seconds < 5)
        snprintf(ret_text, AGO_SIZE, "just now");
    else if (seconds < 60)
        snprintf(ret_text, AGO_SIZE, "%d s ago", (int)seconds);
    else if (seconds < 60 * 60)
        snprintf(ret_text, AGO_SIZE, "%d min ago", (int)(seconds / 60));
    else if (seconds < 48 * 60 * 60)
        snprintf(ret_text, AGO_SIZE, "%d h ago", (int)(seconds / 3600));
    else
        snprintf(ret_text, AGO_SIZE, "%lld days ago", (long long)(seconds / 86400));
    return ret_text;
}

const char *span_text(int64_t seconds, char ret_text[SPAN_SIZE])
{
    static const struct {
        const char *name;
        int64_t seconds;
    } units[] = { { "days", 86400 }, { "h", 3600 }, { "min", 60 }, { "s", 1 } };
    size_t i = 0;

    while (seconds % units[i].seconds)
        i++;
    if (seconds == 86400)
        snprintf(ret_text, SPAN_SIZE, "day");
    else
        snprintf(ret_text, SPAN_SIZE, "%lld %s", (long long)(seconds / units[i].seconds),
                 units[i].name);
    return ret_text;
}
