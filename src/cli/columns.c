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

static void print_cell(const char *cell, size_t width, FILE *out)
{
    term_text(out, cell);
    fprintf(out, "%*s", (int)(width - utf8_count(str_from(cell)) + GAP), "");
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

void columns_print_within(const struct columns *columns, int width, FILE *out)
{
    size_t last = columns->count - 1;
    int at = 0;

    for (size_t i = 0; i < last; i++)
        at += (int)columns->width[i] + GAP;
    for (size_t row = 0; row < columns->n; row++) {
        const char **cells = &columns->cells[row * columns->count];

        if (row == 0)
            fputs(term_style(out, TERM_BOLD), out);
        for (size_t i = 0; i < last; i++)
            print_cell(cells[i], columns->width[i], out);
        if (row > 0) {
            print_last(cells[last], at, width, out);
            continue;
        }
        term_text(out, cells[last]);
        fprintf(out, "%s\n", term_style(out, TERM_PLAIN));
    }
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
