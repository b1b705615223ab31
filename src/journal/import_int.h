/* What the readers of files share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_JOURNAL_IMPORT_INT_H
#define DORMOUSE_JOURNAL_IMPORT_INT_H

#include "journal/import.h"

int import_csv(struct import *import, struct str text, struct err *err);
int import_todotxt(struct import *import, struct str text, struct err *err);
int import_markdown(struct import *import, struct str text, struct err *err);
int import_ics(struct import *import, struct str text, struct err *err);
int import_json(struct import *import, struct str text, struct err *err);

void import_problem(struct import *import, size_t line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Keeps the record when it is sound, else says what is wrong with it; too_large beyond the limit.
 * Its id follows from uid, or from what it says when that is empty. */
int import_add(struct import *import, struct import_record *record, struct str uid,
               struct err *err);
/* What it becomes. */
enum record_type import_type(const struct import_record *from);
/* Everything but what it refers to can be stored. */
int import_check_event(const struct import_record *from, struct err *err);
/* Room for one more; too_large beyond the limit. */
int import_keep(struct import *import, const struct import_record *record, struct err *err);
void import_label(struct import *import, struct import_record *record, struct str label);
void import_add_item(struct import *import, struct import_record *record, struct str title,
                     bool checked);

/* Each reads what people write for it; false: that is none. Empty texts are no value. */
bool import_due(struct import *import, struct str text, struct str *ret_due);
bool import_priority(struct str text, struct str *ret_priority);
bool import_status(struct str text, struct str *ret_status);
/* When something was done; of a day without a time its beginning. */
bool import_closed(struct import *import, struct str text, int64_t *ret_closed);
bool import_minutes(struct str text, int64_t *ret_minutes);
/* When clocks there show this (zone NULL: those of UTC); of a time that they skip the next that
 * there is. */
int64_t import_moment(const struct zone *zone, int64_t local_s);
/* A line without its end; false after the last. */
bool import_line(struct str *rest, struct str *ret_line);

/* What is here of a record that a file has. Of what an undone import made nothing is. */
enum import_state { IMPORT_ABSENT = 0, IMPORT_THERE, IMPORT_DELETED };
struct import_states {
    int64_t asked; /* the last moment of deletion that was asked about */
    bool undone;
};
int import_state_of(struct journal *journal, struct import_states *states,
                    const struct record *record, struct err *err);
void import_count_event(struct import_result *result, const struct import_record *from);
void import_count_state(struct import_result *result, int state);

/* ---- a journal that was exported (import_restore.c) ---- */

/* Makes the record as it was, unless it is there or was deleted: then its state. */
int import_restore(struct journal_write *write, const struct import *import,
                   const struct import_record *from, struct import_states *states,
                   struct import_result *result, struct err *err);

#endif
