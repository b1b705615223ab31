/* Markdown task lists.
 *
 *     ## Garden
 *     - [ ] Fix the fence #home due:2026-02-20
 *       - [x] buy wood
 *       whatever else is said about it
 *
 * A heading is the category of the tasks below it. Tasks that are indented under another are items
 * of its checklist; indented text is its notes. Lines that are no tasks, and code, are left out.
 *
 * SPDX-License-Identifier: MIT
 */
#include "journal/import_int.h"

#define CALENDAR "\xf0\x9f\x93\x85" /* what some programs put before a due day */

struct reader {
    struct import *import;
    struct import_record task; /* not yet added; line 0: none */
    struct buf notes;
    struct str category;
    size_t indent;    /* of the task */
    struct str fence; /* of the code that is left out; empty: none */
};

static int end_task(struct reader *r, struct err *err)
{
    int result = 0;

    if (r->task.line) {
        r->task.notes = arena_str(r->import->arena, str_trim(buf_str(&r->notes)));
        result = import_add(r->import, &r->task, STR_NONE, err);
    }
    r->task = (struct import_record){ .line = 0 };
    buf_clear(&r->notes);
    return result;
}

/* ---- lines ---- */

static size_t indent_of(struct str line, struct str *ret_rest)
{
    size_t columns = 0, i = 0;

    for (; i < line.n && (line.p[i] == ' ' || line.p[i] == '\t'); i++)
        columns += line.p[i] == '\t' ? 4 - columns % 4 : 1;
    *ret_rest = str_skip(line, i);
    return columns;
}

/* "- [x] text", "1. [ ] text". */
static bool is_task(struct str line, char *ret_mark, struct str *ret_text)
{
    size_t i = 0;

    while (i < line.n && line.p[i] >= '0' && line.p[i] <= '9')
        i++;
    if (i >= line.n || (i ? line.p[i] != '.' && line.p[i] != ')'
                          : line.p[0] != '-' && line.p[0] != '*' && line.p[0] != '+'))
        return false;
    line = str_skip(line, i + 1);
    if (line.n < 4 || line.p[0] != ' ')
        return false;
    line = str_trim(line);
    if (line.n < 3 || line.p[0] != '[' || line.p[2] != ']' || (line.n > 3 && line.p[3] != ' '))
        return false;
    *ret_mark = line.p[1];
    *ret_text = str_trim(str_skip(line, 3));
    return *ret_mark == ' ' || *ret_mark == 'x' || *ret_mark == 'X' || *ret_mark == '-';
}

static bool is_heading(struct str line, struct str *ret_text)
{
    size_t level = 0;

    while (level < line.n && line.p[level] == '#')
        level++;
    if (!level || level > 6 || (level < line.n && line.p[level] != ' '))
        return false;
    *ret_text = str_trim(str_skip(line, level));
    while (ret_text->n && ret_text->p[ret_text->n - 1] == '#')
        *ret_text = str_trim(str_take(*ret_text, ret_text->n - 1));
    return true;
}

/* Begins or ends code; true when the line is of it. */
static bool in_code(struct reader *r, struct str line)
{
    struct str three = str_take(line, 3);
    bool mark = str_is(three, "```") || str_is(three, "~~~");

    if (r->fence.n) {
        if (mark && str_eq(three, r->fence))
            r->fence = STR_NONE;
        return true;
    }
    if (mark)
        r->fence = three;
    return mark;
}

/* ---- tasks ---- */

static bool take_due(struct reader *r, struct import_record *task, struct str word, bool after)
{
    if (!after && !str_starts(word, STR("due:")))
        return false;
    if (!after)
        word = str_skip(word, 4);
    return word.n && import_due(r->import, word, &task->due);
}

static void read_words(struct reader *r, struct import_record *task, struct str rest)
{
    AUTO_BUF title = BUF_INIT(IMPORT_BYTES_MAX);
    bool calendar = false;
    struct str word;

    while (rest.p && str_split(&rest, ' ', &word)) {
        if (!word.n)
            continue;
        if (str_is(word, CALENDAR)) {
            calendar = true;
            continue;
        }
        if (word.p[0] == '#' && word.n > 1 && word.p[1] != '#')
            import_label(r->import, task, arena_str(r->import->arena, str_skip(word, 1)));
        else if (!take_due(r, task, word, calendar))
            buf_printf(&title, "%s%.*s", title.n ? " " : "", STR_ARG(word));
        calendar = false;
    }
    task->title = arena_str(r->import->arena, str_trim(buf_str(&title)));
}

static int read_task(struct reader *r, size_t line, size_t indent, char mark, struct str text,
                     struct err *err)
{
    bool checked = mark == 'x' || mark == 'X';

    if (r->task.line && indent > r->indent) {
        if (text.n)
            import_add_item(r->import, &r->task, text, checked || mark == '-');
        return 0;
    }
    if (end_task(r, err) < 0)
        return -1;
    r->indent = indent;
    r->task = (struct import_record){ .line = line, .category = r->category };
    if (mark != ' ')
        r->task.status = checked ? STR("DONE") : STR("REJECTED");
    read_words(r, &r->task, text);
    return 0;
}

static int read_line(struct reader *r, size_t line, struct str text, struct err *err)
{
    struct str rest, body;
    size_t indent = indent_of(text, &rest);
    char mark;

    if (in_code(r, rest))
        return 0;
    if (is_task(rest, &mark, &body))
        return read_task(r, line, indent, mark, body, err);
    if (indent < 4 && is_heading(rest, &body)) {
        r->category = body;
        return end_task(r, err);
    }
    if (!str_trim(rest).n)
        return 0;
    if (r->task.line && indent > r->indent) {
        buf_printf(&r->notes, "%.*s\n", STR_ARG(str_trim(rest)));
        return 0;
    }
    return end_task(r, err);
}

int import_markdown(struct import *import, struct str text, struct err *err)
{
    struct reader r = { .import = import, .notes = BUF_INIT(IMPORT_BYTES_MAX) };
    struct str rest = text, line;
    int result = 0;

    for (size_t n = 1; result == 0 && import_line(&rest, &line); n++)
        result = read_line(&r, n, line, err);
    if (result == 0)
        result = end_task(&r, err);
    buf_release(&r.notes);
    return result;
}
