/* CSV (RFC 4180): a line of names, then a task a line.
 *
 * Fields are separated by commas, semicolons or tabs, whichever the first line has most of; quoted
 * fields may hold separators, line ends and doubled quotes. Columns are found by their names, in
 * any order and case; those that mean nothing here are left out.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "journal/import_csv_int.h"

enum column {
    COL_NONE = 0,
    COL_TITLE,
    COL_DUE,
    COL_PRIORITY,
    COL_STATUS,
    COL_DONE, /* whether, or when */
    COL_CATEGORY,
    COL_LABELS,
    COL_ESTIMATE,
    COL_NOTES
};

static const struct {
    const char *name;
    enum column column;
} names[] = {
    { "title", COL_TITLE },       { "task", COL_TITLE },
    { "name", COL_TITLE },        { "summary", COL_TITLE },
    { "due", COL_DUE },           { "due date", COL_DUE },
    { "deadline", COL_DUE },      { "priority", COL_PRIORITY },
    { "status", COL_STATUS },     { "state", COL_STATUS },
    { "done", COL_DONE },         { "completed", COL_DONE },
    { "completed at", COL_DONE }, { "completed on", COL_DONE },
    { "completed_at", COL_DONE }, { "completion date", COL_DONE },
    { "closedat", COL_DONE },     { "date completed", COL_DONE },
    { "category", COL_CATEGORY }, { "project", COL_CATEGORY },
    { "list", COL_CATEGORY },     { "labels", COL_LABELS },
    { "label", COL_LABELS },      { "tags", COL_LABELS },
    { "estimate", COL_ESTIMATE }, { "estimateminutes", COL_ESTIMATE },
    { "duration", COL_ESTIMATE }, { "notes", COL_NOTES },
    { "note", COL_NOTES },        { "description", COL_NOTES },
};

/* ---- rows ---- */

static bool at_end(const struct csv *r)
{
    return r->rest.n == 0;
}

static bool line_ends(const struct csv *r)
{
    return at_end(r) || r->rest.p[0] == '\n' || r->rest.p[0] == '\r';
}

static void skip(struct csv *r, size_t n)
{
    r->rest = str_skip(r->rest, n);
}

static void take_line_end(struct csv *r)
{
    if (at_end(r))
        return;
    skip(r, r->rest.p[0] == '\r' && r->rest.n > 1 && r->rest.p[1] == '\n' ? 2 : 1);
    r->line++;
}

static struct str take_quoted(struct csv *r)
{
    AUTO_BUF out = BUF_INIT(IMPORT_BYTES_MAX);
    size_t began = r->line;

    skip(r, 1);
    while (!at_end(r)) {
        char c = r->rest.p[0];

        if (c == '"' && r->rest.n > 1 && r->rest.p[1] == '"') {
            skip(r, 1);
        } else if (c == '"') {
            skip(r, 1);
            return arena_str(r->import->arena, buf_str(&out));
        }
        r->line += c == '\n' || (c == '\r' && !(r->rest.n > 1 && r->rest.p[1] == '\n'));
        buf_add_char(&out, c);
        skip(r, 1);
    }
    import_problem(r->import, began, "a quoted field does not end; it began here");
    r->broken = true;
    return STR("");
}

static struct str take_cell(struct csv *r)
{
    struct str cell;
    size_t n = 0;

    if (!at_end(r) && r->rest.p[0] == '"') {
        cell = take_quoted(r);
        if (!r->broken && !line_ends(r) && r->rest.p[0] != r->separator) {
            import_problem(r->import, r->line,
                           "text follows the quote that ends a field; a quote within a quoted "
                           "field is written twice");
            r->broken = true;
            while (!line_ends(r))
                skip(r, 1);
        }
        return cell;
    }
    while (n < r->rest.n && r->rest.p[n] != '\n' && r->rest.p[n] != '\r' &&
           r->rest.p[n] != r->separator)
        n++;
    cell = str_take(r->rest, n);
    skip(r, n);
    return cell;
}

bool csv_row(struct csv *r)
{
    if (at_end(r))
        return false;
    r->count = 0;
    r->first_line = r->line;
    r->broken = false;
    for (;;) {
        struct str cell = take_cell(r);

        if (r->count < CSV_COLUMNS_MAX)
            r->cells[r->count++] = cell;
        if (line_ends(r))
            break;
        skip(r, 1); /* the separator */
    }
    take_line_end(r);
    return true;
}

static char guess_separator(struct str text)
{
    size_t commas = 0, semicolons = 0, tabs = 0;
    bool quoted = false;

    for (size_t i = 0; i < text.n && (quoted || (text.p[i] != '\n' && text.p[i] != '\r')); i++) {
        quoted ^= text.p[i] == '"';
        commas += !quoted && text.p[i] == ',';
        semicolons += !quoted && text.p[i] == ';';
        tabs += !quoted && text.p[i] == '\t';
    }
    if (semicolons > commas && semicolons >= tabs)
        return ';';
    return tabs > commas ? '\t' : ',';
}

/* ---- columns ---- */

static enum column column_of(struct str name)
{
    name = str_trim(name);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq_nocase(name, str_from(names[i].name)))
            return names[i].column;
    return COL_NONE;
}

static int read_head(struct csv *r, enum column columns[CSV_COLUMNS_MAX], struct err *err)
{
    bool title = false;

    for (size_t i = 0; i < r->count; i++) {
        columns[i] = column_of(r->cells[i]);
        for (size_t k = 0; k < i; k++)
            if (columns[i] && columns[k] == columns[i])
                return err_set(err, ERR_BAD_REQUEST, "line 1: \"%.*s\" and \"%.*s\" mean the same",
                               STR_ARG(str_take(r->cells[k], 40)),
                               STR_ARG(str_take(r->cells[i], 40)));
        title |= columns[i] == COL_TITLE;
    }
    if (!title)
        return err_set(err, ERR_BAD_REQUEST,
                       "line 1: no column is called `title`; known are title, due, priority, "
                       "status, completed, category, labels, estimate, notes");
    return 0;
}

static void take_labels(struct import *import, struct import_record *record, struct str text)
{
    struct str rest = text, part;

    while (rest.n) {
        size_t n = 0;

        while (n < rest.n && rest.p[n] != ',' && rest.p[n] != ';' && rest.p[n] != '|')
            n++;
        part = str_trim(str_take(rest, n));
        if (str_starts(part, STR("#")))
            part = str_skip(part, 1);
        import_label(import, record, part);
        rest = str_skip(rest, n < rest.n ? n + 1 : n);
    }
}

static struct str one_line(struct import *import, struct str text)
{
    char *copy;

    if (str_find_char(text, '\n') < 0 && str_find_char(text, '\r') < 0)
        return text;
    copy = arena_copy(import->arena, text.p, text.n);
    for (size_t i = 0; i < text.n; i++)
        if (copy[i] == '\n' || copy[i] == '\r')
            copy[i] = ' ';
    return str_of(copy, text.n);
}

/* A status that has a column of its own counts more. */
static bool take_done(struct import *import, struct import_record *record, struct str cell)
{
    struct str status = STR_NONE;

    if (!import_status(cell, &status)) {
        if (!import_closed(import, cell, &record->closed))
            return false;
        status = STR("DONE");
    }
    if (!record->status.n)
        record->status = status;
    return true;
}

static bool take_value(struct import *import, struct import_record *record, enum column column,
                       struct str cell)
{
    switch (column) {
    case COL_TITLE:
        record->title = one_line(import, str_trim(cell));
        return true;
    case COL_DUE:
        return import_due(import, cell, &record->due);
    case COL_PRIORITY:
        return import_priority(cell, &record->priority);
    case COL_STATUS:
        return import_status(cell, &record->status);
    case COL_DONE:
        return take_done(import, record, cell);
    case COL_CATEGORY:
        record->category = str_trim(cell);
        return true;
    case COL_LABELS:
        take_labels(import, record, cell);
        return true;
    case COL_ESTIMATE:
        return import_minutes(cell, &record->estimate_min);
    case COL_NOTES:
        record->notes = str_trim(cell);
        return true;
    case COL_NONE:
        break;
    }
    return true;
}

static const char *allowed(enum column column)
{
    return column == COL_DUE        ? "a due day is written 2026-02-18 or 2026-02-18 16:00"
           : column == COL_PRIORITY ? "a priority is P0 to P3, A to D, or high, medium, low"
           : column == COL_DONE     ? "what is done says yes, or when: 2026-02-18 16:00"
           : column == COL_STATUS   ? "a status is open, in progress, blocked, on hold, done or "
                                      "rejected"
                                    : "an estimate is minutes, or 45m, 2h, 1h30";
}

static int read_row(struct csv *r, const enum column columns[CSV_COLUMNS_MAX], size_t column_count,
                    struct err *err)
{
    struct import_record record = { .line = r->first_line };
    bool empty = true;

    for (size_t i = 0; i < r->count; i++)
        empty &= str_trim(r->cells[i]).n == 0;
    if (empty || r->broken)
        return 0;
    if (r->count > column_count) {
        import_problem(r->import, r->first_line,
                       "the line has %zu fields, the first one %zu; quote fields that hold a '%c'",
                       r->count, column_count, r->separator);
        return 0;
    }
    for (size_t i = 0; i < r->count; i++) {
        if (take_value(r->import, &record, columns[i], r->cells[i]))
            continue;
        import_problem(r->import, r->first_line, "\"%.*s\": %s",
                       STR_ARG(str_take(str_trim(r->cells[i]), 40)), allowed(columns[i]));
        return 0;
    }
    return import_add(r->import, &record, STR_NONE, err);
}

int import_csv(struct import *import, struct str text, struct err *err)
{
    struct csv r = {
        .import = import, .rest = text, .separator = guess_separator(text), .line = 1
    };
    enum column columns[CSV_COLUMNS_MAX] = { COL_NONE };
    size_t count;
    int known;

    if (!csv_row(&r) || r.broken)
        return err_set(err, ERR_BAD_REQUEST,
                       "line 1: the names of the columns are missing; there must be `title`");
    known = import_csv_known(&r, err);
    if (known != 0)
        return known < 0 ? -1 : 0;
    if (read_head(&r, columns, err) < 0)
        return -1;
    count = r.count;
    while (csv_row(&r))
        if (read_row(&r, columns, count, err) < 0)
            return -1;
    return 0;
}
