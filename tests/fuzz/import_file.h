/* A file of another program: read or refused; what is read can be stored as it is.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_TESTS_FUZZ_IMPORT_FILE_H
#define DORMOUSE_TESTS_FUZZ_IMPORT_FILE_H

#include <stdint.h>

#include "base/utf8.h"
#include "journal/import.h"
#include "journal/moves.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static inline void check_line(struct str text, size_t max)
{
    BUG_IF(!utf8_valid(text) || utf8_count(text) > max);
    for (size_t i = 0; i < text.n; i++)
        BUG_IF((unsigned char)text.p[i] < ' ');
}

static inline void check_record(const struct import_record *record)
{
    BUG_IF(!record_id_valid(record->id) || !record->line != !!record->whole);
    BUG_IF(!record->title.n && !record->is_event);
    check_line(record->title, 500);
    check_line(record->category, 100);
    BUG_IF(record->due.n && !record_day_valid(record->due, true));
    BUG_IF(record->estimate_min < 0 || record->estimate_min > 100000);
    BUG_IF(record->label_count > (record->whole ? TASK_LABELS_MAX : IMPORT_LABELS_MAX));
    BUG_IF(record->item_count > IMPORT_ITEMS_MAX);
    for (size_t i = 0; i < record->label_count; i++)
        check_line(record->labels[i], 100);
    for (size_t i = 0; i < record->item_count; i++)
        check_line(record->items[i].title, 500);
    BUG_IF(record->end && record->end < record->begin);
}

/* Twice the same bytes give twice the same ids. */
static inline int import_file(enum import_format format, const uint8_t *bytes, size_t n)
{
    AUTO_ARENA arena = ARENA_INIT;
    struct str text = str_of((const char *)bytes, n);
    struct import import, again;
    struct err err = ERR_INIT;

    if (import_read(format, text, NULL, &arena, &import, &err) < 0) {
        BUG_IF(!err.code);
        return 0;
    }
    BUG_IF(import_read(format, text, NULL, &arena, &again, &err) < 0);
    BUG_IF(import.count != again.count || import.problem_count != again.problem_count);
    for (size_t i = 0; i < import.count; i++) {
        check_record(&import.records[i]);
        BUG_IF(!str_eq(import.records[i].id, again.records[i].id));
    }
    for (size_t i = 0; i < import.problem_count && i < IMPORT_PROBLEMS_MAX; i++)
        BUG_IF(!import.problems[i].line != (format == IMPORT_JSON) || !import.problems[i].text.n ||
               !utf8_valid(import.problems[i].text));
    return 0;
}

#endif
