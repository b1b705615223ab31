/* Markdown task lists.
 *
 *     ## Garden
 *     - [ ] Fix the fence #home due:2026-02-20
 *       - [x] buy wood
 *       whatever else is said about it
 *
 * A heading is the category of the tasks below it. Tasks that are indented under another are items
 * of its checklist; indented text is its notes. Boxes with other signs ("[/]" begun, "[>]" put off,
 * "[!]") are tasks too. Lines that are no tasks, code and what stands before the text between "---"
 * are left out.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/alloc.h"
#include "journal/import_int.h"

struct reader {
    struct import *import;
    struct import_record task; /* not yet added; line 0: none */
    struct buf notes;
    struct str category;
    size_t indent;    /* of the task */
    struct str fence; /* of the code that is left out; empty: none */
    struct str above; /* the line before, where it may be a heading; empty: it may not */
    bool front;       /* before the text */
};

/* Signs that some programs write: what follows one is a day, or nothing. */
enum sign { SIGN_NONE = 0, SIGN_DUE, SIGN_CLOSED, SIGN_PAST, SIGN_PRIORITY };
static const struct {
    const char *text;
    enum sign sign;
    const char *priority;
} signs[] = {
    { "\xf0\x9f\x93\x85", SIGN_DUE, NULL },      /* a calendar */
    { "\xe2\x9c\x85", SIGN_CLOSED, NULL },       /* done on */
    { "\xe2\x9d\x8c", SIGN_CLOSED, NULL },       /* given up on */
    { "\xe2\x9e\x95", SIGN_PAST, NULL },         /* written on */
    { "\xf0\x9f\x94\xba", SIGN_PRIORITY, "P0" }, /* highest */
    { "\xe2\x8f\xab", SIGN_PRIORITY, "P1" },     /* high */
    { "\xf0\x9f\x94\xbc", SIGN_PRIORITY, "P2" }, /* medium */
    { "\xf0\x9f\x94\xbd", SIGN_PRIORITY, "P3" }, /* low */
    { "\xe2\x8f\xac", SIGN_PRIORITY, "P3" },     /* lowest */
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
    return *ret_mark == 'x' || *ret_mark == 'X' || str_find_char(STR(" -/>!?*<+"), *ret_mark) >= 0;
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

static enum sign sign_of(struct import_record *task, struct str word)
{
    for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
        if (!str_is(word, signs[i].text))
            continue;
        if (signs[i].priority)
            task->priority = str_from(signs[i].priority);
        return signs[i].sign;
    }
    return SIGN_NONE;
}

static void read_words(struct reader *r, struct import_record *task, struct str rest)
{
    AUTO_BUF title = BUF_INIT(IMPORT_BYTES_MAX);
    enum sign before = SIGN_NONE;
    struct str word, ignored;

    while (rest.p && str_split(&rest, ' ', &word)) {
        enum sign sign = sign_of(task, word);

        if (!word.n)
            continue;
        if (sign) {
            before = sign;
            continue;
        }
        if (word.p[0] == '#' && word.n > 1 && word.p[1] != '#')
            import_label(r->import, task, arena_str(r->import->arena, str_skip(word, 1)));
        else if (!(before == SIGN_PAST && import_due(r->import, word, &ignored)) &&
                 !(before == SIGN_CLOSED && import_closed(r->import, word, &task->closed)) &&
                 !take_due(r, task, word, before == SIGN_DUE))
            buf_printf(&title, "%s%.*s", title.n ? " " : "", STR_ARG(word));
        before = SIGN_NONE;
    }
    task->title = arena_str(r->import->arena, str_trim(buf_str(&title)));
}

/* Empty: open. */
static struct str status_of(char mark)
{
    return mark == 'x' || mark == 'X' ? STR("DONE")
           : mark == '-'              ? STR("REJECTED")
           : mark == '/'              ? STR("IN_PROGRESS")
                                      : STR_NONE;
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
    r->task.status = status_of(mark);
    read_words(r, &r->task, text);
    return 0;
}

/* "=====" or "-----" under a line of text. */
static bool is_underline(struct str text)
{
    text = str_trim(text);
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != text.p[0])
            return false;
    return text.n && (text.p[0] == '=' || text.p[0] == '-');
}

static bool in_front(struct reader *r, size_t line, struct str text)
{
    bool mark = str_is(str_trim(text), "---");

    if (line == 1 && mark)
        r->front = true;
    else if (r->front && mark)
        r->front = false;
    else
        return r->front;
    return true;
}

static int read_line(struct reader *r, size_t line, struct str text, struct err *err)
{
    struct str rest, body, above = r->above;
    size_t indent = indent_of(text, &rest);
    char mark;

    r->above = STR_NONE;
    if (in_front(r, line, text) || in_code(r, rest))
        return 0;
    if (is_task(rest, &mark, &body))
        return read_task(r, line, indent, mark, body, err);
    if (indent < 4 && (is_heading(rest, &body) || (above.n && is_underline(rest)))) {
        r->category = above.n && is_underline(rest) ? above : body;
        return end_task(r, err);
    }
    if (!str_trim(rest).n)
        return 0;
    if (r->task.line && indent > r->indent) {
        buf_printf(&r->notes, "%.*s\n", STR_ARG(str_trim(rest)));
        return 0;
    }
    if (indent < 4 && !str_starts(rest, STR("- ")) && !str_starts(rest, STR("* ")))
        r->above = str_trim(rest);
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
