/* What the files of the journal's routes share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SERVE_API_JOURNAL_INT_H
#define DORMOUSE_SERVE_API_JOURNAL_INT_H

#include "journal/journal.h"
#include "journal/list.h"
#include "journal/moves.h"
#include "serve/api_int.h"

#define JOURNAL_PAGE_BYTES (8 * MIB)
#define JOURNAL_BODY       (1 * MIB)

/* The types in addresses: plural in paths, the name of the schema. In the order of exports. */
#define API_RECORDS(X)                                                                             \
    X(CATEGORY, "categories", "Category")                                                          \
    X(LABEL, "labels", "Label")                                                                    \
    X(TASK, "tasks", "Task")                                                                       \
    X(CHECKLIST, "checklists", "Checklist")                                                        \
    X(CHECKLIST_ITEM, "checklist-items", "ChecklistItem")                                          \
    X(TIME_ENTRY, "time-entries", "TimeEntry")                                                     \
    X(DAY_PLAN, "day-plans", "DayPlan")                                                            \
    X(DAY_PLAN_BLOCK, "day-plan-blocks", "DayPlanBlock")                                           \
    X(RATING, "ratings", "Rating")                                                                 \
    X(ENTRY, "entries", "Entry")                                                                   \
    X(ATTACHMENT, "attachments", "Attachment")                                                     \
    X(ENTRY_LINK, "entry-links", "EntryLink")

/* The table of the journal's routes, and the schemas of records, made from their fields. */
extern const struct serve_route api_journal_table[];
extern const size_t api_journal_count;
void api_journal_schemas(struct buf *out);
struct journal *api_journal(struct serve_request *request);

/* ---- one write ---- */

struct api_journal_work {
    struct serve_request *request;
    struct journal *journal;
    struct journal_write *write;
    struct arena *arena;
    enum record_type type;    /* of the route; RECORD_NONE: of none */
    struct json_object *body; /* an object; NULL when the job takes bytes */
    struct json_writer *w;    /* the answer */
    const char *version;      /* of the record that is answered; NULL: of none */
    bool stale;               /* it is no more what If-Match says */
};
struct api_journal_job {
    int status; /* 204: nothing is answered */
    bool bytes; /* the body is no JSON */
    /* Members that the body may have, ends with NULL; NULL: whoever reads the record knows. */
    const char *const *members;
    int (*work)(struct api_journal_work *work, struct err *err);
};
/* Runs the work in a unit of its own and answers with what it wrote; all of it or nothing is kept.
 * A request with the Idempotency-Key of an earlier one gets its answer again. */
void api_journal_do(struct serve_request *request, const struct api_journal_job *job);

/* In an empty unit of the journal: the client hears of it when the journal has it. */
void api_journal_answer(struct serve_request *request, int status, struct str json);
/* Answers a read: the work has no write. */
void api_journal_look(struct serve_request *request,
                      int (*work)(struct api_journal_work *work, struct err *err));

/* ---- reading requests ---- */

/* The live record {id} (any: also a deleted one) by its id or a unique beginning of it. */
int api_journal_record(struct api_journal_work *work, enum record_type type, struct str id,
                       bool any, struct record *ret_record, struct err *err);
/* A list of texts under key; *ret_count 0 when it is absent. */
int api_journal_texts(struct api_journal_work *work, const char *key, size_t max,
                      struct str **ret_texts, size_t *ret_count, struct err *err);
/* ?from and ?to as moments or local days; 0: not given. The day of `to` is within. */
int api_journal_span(struct api_journal_work *work, int64_t *ret_from, int64_t *ret_to,
                     struct err *err);

/* ---- writing answers ---- */

/* Of an open object: what a record says, and its version. */
void api_journal_put_members(struct api_journal_work *work, const struct record *record);
/* One record; tasks with their labelIds. */
int api_journal_put(struct api_journal_work *work, const struct record *record, struct err *err);
int api_journal_put_list(struct api_journal_work *work, const char *key,
                         const struct record *records, size_t count, struct err *err);
/* A task with all that hangs on it. */
int api_journal_put_task(struct api_journal_work *work, const struct record *task, struct err *err);
/* "labels" of a body, taken out of it: 1 they were there and are set. */
int api_journal_take_labels(struct api_journal_work *work, struct str **ret_labels,
                            size_t *ret_count, bool *ret_given, struct err *err);

/* ---- handlers ---- */
void api_journal_list(struct serve_request *request);
void api_journal_create(struct serve_request *request);
void api_journal_get(struct serve_request *request);
void api_journal_change(struct serve_request *request);
void api_journal_remove(struct serve_request *request);
void api_journal_restore(struct serve_request *request);
void api_tasks_list(struct serve_request *request);
void api_tasks_labels(struct serve_request *request);
void api_tasks_follow_up(struct serve_request *request);
void api_journal_quick(struct serve_request *request);
void api_checklists_add(struct serve_request *request);
void api_checklists_move(struct serve_request *request);
void api_timer_get(struct serve_request *request);
void api_timer_start(struct serve_request *request);
void api_timer_stop(struct serve_request *request);
void api_days_get(struct serve_request *request);
void api_days_blocks(struct serve_request *request);
void api_days_pins(struct serve_request *request);
void api_ratings_put(struct serve_request *request);
void api_ratings_summary(struct serve_request *request);
void api_attachments_add(struct serve_request *request);
void api_attachments_content(struct serve_request *request);
void api_journal_import(struct serve_request *request);
void api_journal_import_undo(struct serve_request *request);
void api_journal_export(struct serve_request *request);

#endif
