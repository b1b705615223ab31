/* The tables of fields, one for each type of record, from which everything else follows: what JSON
 * may give, and the columns that statements read and write.
 *
 *     X(name, column, kind, further members of struct record_field ...)
 *
 * TYPE_DERIVED lists columns that follow from the fields and are only there to be searched or
 * sorted by.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_JOURNAL_FIELDS_INT_H
#define DORMOUSE_JOURNAL_FIELDS_INT_H

#include "journal/record.h"

#define NOTE_MAX  (100 * 1024)
#define COUNT_MAX 1000000000

/* A position that nobody gave is -1 until rules.c has found the end of the list. */

/* clang-format off */
#define CATEGORY_FIELDS(X)                                                                         \
    X("name", name, FIELD_LINE, .max = 100, .required = true)                                      \
    X("color", color, FIELD_LINE, .max = 7, .form = FORM_COLOR, .nullable = true)                  \
    X("archived", archived, FIELD_BOOL)
#define CATEGORY_DERIVED(X) X(folded)

#define LABEL_FIELDS(X)                                                                            \
    X("name", name, FIELD_LINE, .max = 100, .required = true)                                      \
    X("color", color, FIELD_LINE, .max = 7, .form = FORM_COLOR, .nullable = true)
#define LABEL_DERIVED(X) X(folded)

#define TASK_FIELDS(X)                                                                             \
    X("title", title, FIELD_LINE, .max = 500, .required = true)                                    \
    X("notes", notes, FIELD_TEXT, .max = NOTE_MAX, .nullable = true)                               \
    X("status", status, FIELD_WORD, .words = task_statuses)                                        \
    X("priority", priority, FIELD_WORD, .words = task_priorities, .ordinal = true, .initial = 2)   \
    X("estimateMinutes", estimate_min, FIELD_INT, .min = 1, .max = 100000, .nullable = true)       \
    X("due", due, FIELD_DAY, .clock = true, .nullable = true)                                      \
    X("language", language, FIELD_LINE, .max = 35, .form = FORM_LANGUAGE, .nullable = true)        \
    X("categoryId", category_id, FIELD_ID, .ref = RECORD_CATEGORY, .nullable = true)               \
    X("closedAt", closed_at, FIELD_TIME, .read_only = true, .nullable = true)
#define TASK_DERIVED(X) X(closed)

#define CHECKLIST_FIELDS(X)                                                                        \
    X("taskId", task_id, FIELD_ID, .ref = RECORD_TASK, .nullable = true)                           \
    X("title", title, FIELD_LINE, .max = 500, .required = true)                                    \
    X("position", position, FIELD_INT, .max = COUNT_MAX, .initial = -1)
#define CHECKLIST_DERIVED(X)

#define CHECKLIST_ITEM_FIELDS(X)                                                                   \
    X("checklistId", checklist_id, FIELD_ID, .ref = RECORD_CHECKLIST, .required = true)            \
    X("title", title, FIELD_LINE, .max = 500, .required = true)                                    \
    X("checked", checked, FIELD_BOOL)                                                              \
    X("position", position, FIELD_INT, .max = COUNT_MAX, .initial = -1)
#define CHECKLIST_ITEM_DERIVED(X)

#define TIME_ENTRY_FIELDS(X)                                                                       \
    X("taskId", task_id, FIELD_ID, .ref = RECORD_TASK, .nullable = true)                           \
    X("categoryId", category_id, FIELD_ID, .ref = RECORD_CATEGORY, .nullable = true)               \
    X("startedAt", started_at, FIELD_TIME, .required = true)                                       \
    X("endedAt", ended_at, FIELD_TIME, .nullable = true)                                           \
    X("description", description, FIELD_TEXT, .max = 10000, .nullable = true)                      \
    X("sourceEntryId", source_entry_id, FIELD_ID, .ref = RECORD_ENTRY, .nullable = true)
#define TIME_ENTRY_DERIVED(X)

#define DAY_PLAN_FIELDS(X)                                                                         \
    X("planDate", plan_date, FIELD_DAY, .required = true, .fixed = true)                           \
    X("note", note, FIELD_TEXT, .max = NOTE_MAX, .nullable = true)                                 \
    X("pinnedTaskIds", pinned_task_ids, FIELD_IDS, .ref = RECORD_TASK, .max = 200, .nullable = true)
#define DAY_PLAN_DERIVED(X)

#define DAY_PLAN_BLOCK_FIELDS(X)                                                                   \
    X("planId", plan_id, FIELD_ID, .ref = RECORD_DAY_PLAN, .required = true, .fixed = true)        \
    X("categoryId", category_id, FIELD_ID, .ref = RECORD_CATEGORY, .nullable = true)               \
    X("taskId", task_id, FIELD_ID, .ref = RECORD_TASK, .nullable = true)                           \
    X("startTime", start_at, FIELD_TIME, .required = true)                                         \
    X("endTime", end_at, FIELD_TIME, .required = true)                                             \
    X("note", note, FIELD_TEXT, .max = 10000, .nullable = true)
#define DAY_PLAN_BLOCK_DERIVED(X)

#define RATING_FIELDS(X)                                                                           \
    X("targetType", target_type, FIELD_WORD, .words = rating_targets, .required = true, .fixed = true) \
    X("targetId", target_id, FIELD_ID, .required = true, .fixed = true)                            \
    X("dimension", dimension, FIELD_LINE, .max = 60, .form = FORM_TOKEN, .required = true, .fixed = true) \
    X("value", value, FIELD_INT, .min = 1, .max = 5, .required = true)                             \
    X("note", note, FIELD_TEXT, .max = 10000, .nullable = true)                                    \
    X("ratedAt", rated_at, FIELD_TIME)                                                             \
    X("categoryId", category_id, FIELD_ID, .ref = RECORD_CATEGORY, .nullable = true)
#define RATING_DERIVED(X)

#define ENTRY_FIELDS(X)                                                                            \
    X("kind", kind, FIELD_WORD, .words = entry_kinds, .required = true, .fixed = true)             \
    X("subtype", subtype, FIELD_LINE, .max = 60, .form = FORM_TOKEN, .nullable = true)             \
    X("categoryId", category_id, FIELD_ID, .ref = RECORD_CATEGORY, .nullable = true)               \
    X("title", title, FIELD_LINE, .max = 500, .nullable = true)                                    \
    X("body", body, FIELD_TEXT, .max = NOTE_MAX, .nullable = true)                                 \
    X("at", at, FIELD_TIME)                                                                        \
    X("durationMs", duration_ms, FIELD_INT, .max = INT64_C(366) * 24 * 3600 * 1000, .nullable = true) \
    X("value", value, FIELD_REAL, .nullable = true)                                                \
    X("unit", unit, FIELD_LINE, .max = 20, .nullable = true)
#define ENTRY_DERIVED(X)

#define ATTACHMENT_FIELDS(X)                                                                       \
    X("entryId", entry_id, FIELD_ID, .ref = RECORD_ENTRY, .required = true, .fixed = true)         \
    X("fileName", file_name, FIELD_LINE, .max = 200, .form = FORM_FILE_NAME, .required = true)                            \
    X("contentType", content_type, FIELD_LINE, .max = 100, .form = FORM_MEDIA_TYPE, .required = true) \
    X("size", size, FIELD_INT, .max = COUNT_MAX, .read_only = true)                                \
    X("sha256", sha256, FIELD_LINE, .max = 64, .read_only = true)
#define ATTACHMENT_DERIVED(X)

#define ENTRY_LINK_FIELDS(X)                                                                       \
    X("relation", relation, FIELD_WORD, .words = link_relations, .required = true, .fixed = true)  \
    X("fromType", from_type, FIELD_LINE, .max = 40, .form = FORM_TOKEN, .required = true, .fixed = true)               \
    X("fromId", from_id, FIELD_ID, .required = true, .fixed = true)                                \
    X("toType", to_type, FIELD_LINE, .max = 40, .form = FORM_TOKEN, .required = true, .fixed = true)                   \
    X("toId", to_id, FIELD_ID, .required = true, .fixed = true)
#define ENTRY_LINK_DERIVED(X)
/* clang-format on */

/* The columns of a type, in the order of its fields. */
const char *const *record_columns(enum record_type type);

#endif
