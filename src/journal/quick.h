/* Quick add: one line of plain words becomes a task.
 *
 *     Fix fence tomorrow 2h #home !1 @garden due:friday
 *
 * What it understands is in docs/journal.md. Nothing is guessed that can't be shown: every piece
 * that was understood has its place in the text, so that a page can mark it; whatever was not stays
 * in the title.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_JOURNAL_QUICK_H
#define DORMOUSE_JOURNAL_QUICK_H

#include "base/json_write.h"
#include "journal/journal.h"

#define QUICK_TEXT_MAX   10000 /* bytes */
#define QUICK_LABELS_MAX 20
#define QUICK_ITEMS_MAX  100
#define QUICK_SPANS_MAX  (QUICK_LABELS_MAX + QUICK_ITEMS_MAX + 8)
#define QUICK_DUE_SIZE   17

enum quick_kind {
    QUICK_NONE = 0,
    QUICK_DAY,      /* value: 2026-02-19 */
    QUICK_CLOCK,    /* 16:00 */
    QUICK_ESTIMATE, /* minutes */
    QUICK_LABEL,
    QUICK_CATEGORY,
    QUICK_PRIORITY, /* P1 */
    QUICK_ITEM,     /* a line of the checklist */
    QUICK_NOTES,
};
const char *quick_kind_name(enum quick_kind kind); /* "day" */

/* Bytes [start, end) of the text. */
struct quick_span {
    enum quick_kind kind;
    size_t start, end;
    struct str value; /* as it was understood */
};
struct quick {
    struct str text; /* the whole */
    struct str title, notes, category;
    char due[QUICK_DUE_SIZE]; /* empty: none */
    int64_t estimate_min;     /* 0: none */
    int priority;             /* -1: none */
    struct str labels[QUICK_LABELS_MAX];
    struct str items[QUICK_ITEMS_MAX];
    struct quick_span spans[QUICK_SPANS_MAX]; /* in their order */
    size_t label_count, item_count, span_count;
};

/* A pure function of text and today ("2026-02-18"; with "T09:30" also what is so much later than
 * now is understood). Refused (bad_request) only when there is nothing to do in it, it is too long,
 * or it holds a date that is read differently in different places or is none, a due: without a day
 * or a priority beyond !3. Texts are in arena or point into text. */
int quick_parse(struct str text, struct str today, struct arena *arena, struct quick *ret_quick,
                struct err *err);

#define QUICK_WHEN_MAX 200 /* bytes */
struct quick_when {
    bool has_day, has_clock;
    int64_t day; /* days since 1970 */
    int minutes; /* of the day */
};
/* A day ("fri", "24.12.", "yesterday", "3 days ago"), a time of day ("9am") or both, and nothing
 * else. now: "2026-02-18T09:30". behind: what is meant has been; a weekday is the last one, today
 * too, and a date without a year the last one. */
bool quick_when(struct str text, struct str now, bool behind, struct arena *arena,
                struct quick_when *ret_when);
/* One object: title, due, estimateMinutes, priority, category, labels, items, notes (those there
 * are) and spans [{kind,start,end,value}], counted in UTF-16 units as browsers count. */
void quick_write(struct json_writer *w, const struct quick *quick);
/* The task that it describes, with its checklist. Labels that do not exist are made; a category
 * that does not is not_found, with the nearest name. */
int quick_add(struct journal_write *write, const struct quick *quick, struct record *ret_task,
              struct err *err);

#endif
