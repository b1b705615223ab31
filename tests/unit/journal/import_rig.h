/* Reading a file of another program, and what is said of it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_JOURNAL_IMPORT_RIG_H
#define DORMOUSE_TESTS_JOURNAL_IMPORT_RIG_H

#include "journal/import.h"
#include "rig.h"

#define TODOIST        "TYPE,CONTENT,DESCRIPTION,PRIORITY,INDENT,DATE,DURATION,DURATION_UNIT,DEADLINE\n"
#define CALENDAR(body) "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n" body "END:VCALENDAR\r\n"

static inline struct import read_as(struct test *t, enum import_format format, const char *text)
{
    AUTO(zone) zone = NULL;
    struct import import;

    ASSERT_OK(zone_open(STR("Europe/Berlin"), &zone, &t->err));
    ASSERT_OK(import_read(format, str_from(text), zone, &t->arena, &import, &t->err));
    return import;
}

static inline int try_as(struct test *t, enum import_format format, struct str text)
{
    struct import import;

    t->err = ERR_INIT;
    return import_read(format, text, NULL, &t->arena, &import, &t->err);
}

/* title|due|priority|status|category|minutes|labels|items, one a line. */
static inline const char *told(struct test *t, const struct import *import)
{
    AUTO_BUF out = BUF_INIT(1 << 20);

    for (size_t i = 0; i < import->count; i++) {
        const struct import_record *r = &import->records[i];

        buf_printf(&out, "%.*s|%.*s|%.*s|%.*s|%.*s|%lld|", STR_ARG(r->title), STR_ARG(r->due),
                   STR_ARG(r->priority), STR_ARG(r->status), STR_ARG(r->category),
                   (long long)r->estimate_min);
        for (size_t k = 0; k < r->label_count; k++)
            buf_printf(&out, "%s%.*s", k ? "," : "", STR_ARG(r->labels[k]));
        buf_add_char(&out, '|');
        for (size_t k = 0; k < r->item_count; k++)
            buf_printf(&out, "%s%s%.*s", k ? "," : "", r->items[k].checked ? "x " : "",
                       STR_ARG(r->items[k].title));
        buf_add_char(&out, '\n');
    }
    return arena_text(&t->arena, buf_text(&out));
}

static inline const char *problems(struct test *t, const struct import *import)
{
    AUTO_BUF out = BUF_INIT(1 << 20);

    for (size_t i = 0; i < import->problem_count && i < IMPORT_PROBLEMS_MAX; i++)
        buf_printf(&out, "%zu: %.*s\n", import->problems[i].line,
                   STR_ARG(import->problems[i].text));
    return arena_text(&t->arena, buf_text(&out));
}

#endif
