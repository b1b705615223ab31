/* Statements over records, made from the tables of fields.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_JOURNAL_RECORD_STORE_INT_H
#define DORMOUSE_JOURNAL_RECORD_STORE_INT_H

#include "db/db.h"
#include "journal/fields_int.h"

#define CATEGORY_TABLE       "categories"
#define LABEL_TABLE          "labels"
#define TASK_TABLE           "tasks"
#define CHECKLIST_TABLE      "checklists"
#define CHECKLIST_ITEM_TABLE "checklist_items"
#define TIME_ENTRY_TABLE     "time_entries"
#define DAY_PLAN_TABLE       "day_plans"
#define DAY_PLAN_BLOCK_TABLE "day_plan_blocks"
#define RATING_TABLE         "ratings"
#define ENTRY_TABLE          "entries"
#define ATTACHMENT_TABLE     "attachments"
#define ENTRY_LINK_TABLE     "entry_links"

#define RECORD_COLUMN(name, column, ...) #column ", "
/* "SELECT title, ... FROM tasks ": what record_read() reads. */
#define RECORD_SELECT(id)                                                                          \
    "SELECT " id##_FIELDS(RECORD_COLUMN) "n, id, created_at, updated_at, deleted_at,"              \
                                         " vector_clock, counter, provenance FROM " id##_TABLE " "

/* The row that q stands on. */
void record_read(struct stmt *q, enum record_type type, struct arena *arena,
                 struct record *ret_record);
/* All rows that q has; type as of RECORD_SELECT. */
int record_read_all(struct stmt *q, enum record_type type, struct arena *arena,
                    struct record **ret_records, size_t *ret_count, struct err *err);

#endif
