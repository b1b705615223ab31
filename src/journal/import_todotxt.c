/* todo.txt: a task a line.
 *
 *     x 2026-02-18 2026-02-10 (A) Call mum +family @phone due:2026-02-20
 *
 * The first +project is the category, further ones and every @context are labels. due: and pri: are
 * understood; other key:value words stay in the title.
 *
 * SPDX-License-Identifier: MIT
 */
#include "journal/import_int.h"

/* A word is taken off when it is what was expected there. */
static bool take_word(struct str *rest, bool (*is)(struct str word))
{
    ptrdiff_t space = str_find_char(*rest, ' ');
    struct str word = space < 0 ? *rest : str_take(*rest, (size_t)space);

    if (!is(word))
        return false;
    *rest = str_trim(str_skip(*rest, word.n));
    return true;
}

static bool is_day(struct str word)
{
    return record_day_valid(word, false);
}

static bool is_priority(struct str word)
{
    return word.n == 3 && word.p[0] == '(' && word.p[2] == ')' && word.p[1] >= 'A' &&
           word.p[1] <= 'Z';
}

static bool is_done(struct str word)
{
    return str_is(word, "x");
}

static struct str priority_of(char letter)
{
    static const char *const names[] = { "P0", "P1", "P2", "P3" };

    return str_from(names[letter - 'A' < 3 ? letter - 'A' : 3]);
}

static void take_key(struct import *import, struct import_record *record, struct str word,
                     struct buf *title)
{
    struct str value = str_skip(word, 4);

    if (str_starts(word, STR("due:")) && value.n) {
        if (!import_due(import, value, &record->due))
            import_problem(import, record->line, "\"%.*s\": a due day is written due:2026-02-18",
                           STR_ARG(str_take(word, 60)));
    } else if (str_starts(word, STR("pri:")) && value.n == 1 && value.p[0] >= 'A' &&
               value.p[0] <= 'Z') {
        record->priority = priority_of(value.p[0]);
    } else {
        buf_printf(title, "%s%.*s", title->n ? " " : "", STR_ARG(word));
    }
}

static void take_words(struct import *import, struct import_record *record, struct str rest,
                       struct buf *title)
{
    struct str word;

    while (rest.p && str_split(&rest, ' ', &word)) {
        if (!word.n)
            continue;
        if (word.p[0] == '+' && word.n > 1 && !record->category.n)
            record->category = str_skip(word, 1);
        else if ((word.p[0] == '+' || word.p[0] == '@') && word.n > 1)
            import_label(import, record, str_skip(word, 1));
        else
            take_key(import, record, word, title);
    }
}

/* The day on which it was done. */
static void take_closed(struct import *import, struct import_record *record, struct str *rest)
{
    struct str before = *rest;

    if (take_word(rest, is_day))
        import_closed(import, str_take(before, 10), &record->closed);
}

static int read_line(struct import *import, size_t line, struct str text, struct err *err)
{
    struct import_record record = { .line = line };
    size_t problems = import->problem_count;
    AUTO_BUF title = BUF_INIT(IMPORT_BYTES_MAX);
    struct str rest = str_trim(text);

    if (take_word(&rest, is_done)) {
        record.status = STR("DONE");
        take_closed(import, &record, &rest);
    }
    if (is_priority(str_take(rest, 3)) && (rest.n == 3 || rest.p[3] == ' ')) {
        record.priority = priority_of(rest.p[1]);
        rest = str_trim(str_skip(rest, 3));
        if (record.status.n && !record.closed)
            take_closed(import, &record, &rest);
    }
    take_word(&rest, is_day);
    take_words(import, &record, rest, &title);
    record.title = arena_str(import->arena, str_trim(buf_str(&title)));
    if (import->problem_count > problems)
        return 0;
    return import_add(import, &record, STR_NONE, err);
}

int import_todotxt(struct import *import, struct str text, struct err *err)
{
    struct str rest = text, line;

    for (size_t n = 1; import_line(&rest, &line); n++)
        if (str_trim(line).n && read_line(import, n, line, err) < 0)
            return -1;
    return 0;
}
