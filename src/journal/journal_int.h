/* What the files of the journal share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_JOURNAL_JOURNAL_INT_H
#define DORMOUSE_JOURNAL_JOURNAL_INT_H

#include "base/zone.h"
#include "journal/journal.h"

/* Tells the listeners after a commit; lives until the loop has run or dropped it. */
struct journal_notice {
    struct loop_effect effect;
    struct journal *journal; /* NULL: it ended first */
};

struct journal {
    struct loop *loop;
    struct domain *domain;
    struct change *change;
    char *zone_name; /* NULL: the machine's */
    struct zone *zone;
    char zone_open[ZONE_NAME_MAX + 1]; /* the name of zone */
    struct journal_listener *listeners;
    struct journal_notice *notice; /* queued */
};

struct journal_write {
    struct journal *journal;
    struct arena *arena;
    struct journal_author author;
    struct change_batch batch;
    int64_t now;
    struct str copied; /* taint of what is copied now (journal_copies) */
    bool revives;      /* a new record may take the place of a deleted one that has its id */
};

/* Of a name as people type it, before it is looked at. */
#define NAME_BYTES_MAX 1000

/* One step towards the category that a record counts for: 1 *ret_category is it, 0 look at
 * *ret_type and *ret_id. */
int category_step(const struct record *record, struct str *ret_category, enum record_type *ret_type,
                  struct str *ret_id);

/* ---- records (record_store.c) ---- */

/* Deleted or not. 1 found, 0 none. */
int record_load(struct journal *journal, enum record_type type, struct str id, struct arena *arena,
                struct record *ret_record, struct err *err);
/* Of one type, at most SET_MAX (list_int.h), deleted or not; in no order. */
int record_load_set(struct journal *journal, enum record_type type, const struct str *ids, size_t n,
                    struct arena *arena, struct record **ret_records, size_t *ret_count,
                    struct err *err);
/* A new row; sets n. */
int record_insert(struct journal *journal, struct record *record, struct err *err);
int record_update(struct journal *journal, const struct record *record, struct err *err);
/* Those of a type that belong to parent (checklists of a task, items of a checklist, blocks of a
 * plan, attachments of an entry), in their order: live ones, or those deleted at that moment. */
int record_children(struct journal *journal, enum record_type type, struct str parent,
                    int64_t deleted_at, struct arena *arena, struct record **ret_records,
                    size_t *ret_count, struct err *err);
/* The live category or label of this name, letters of either case. 1 found, 0 none. */
int record_by_name(struct journal *journal, enum record_type type, struct str name,
                   struct arena *arena, struct record *ret_record, struct err *err);
/* One more than the highest position among the live ones of parent. */
int record_next_position(struct journal *journal, enum record_type type, struct str parent,
                         int64_t *ret_position, struct err *err);
/* How many live records name this category. */
int category_uses(struct journal *journal, struct str id, int64_t *ret_count, struct err *err);
/* A running time entry that is not this one. 1 found, 0 none. */
int other_running(struct journal *journal, struct str id, struct arena *arena,
                  struct record *ret_entry, struct err *err);
/* The name as names are compared, in arena. */
struct str name_fold(struct str name, struct arena *arena);

/* ---- labels of tasks (label_store.c) ---- */

struct task_label {
    struct str task_id, label_id;
    int64_t n, deleted_at;
    struct str vector_clock;
};
/* Of a task, or of a label when task_id is empty, deleted ones too. */
int task_labels_load(struct journal *journal, struct str task_id, struct str label_id,
                     struct arena *arena, struct task_label **ret_rows, size_t *ret_count,
                     struct err *err);
/* Writes the row with its unit and tokens; n 0: a new one. */
int task_label_put(struct journal_write *write, struct task_label *row, bool gone, struct err *err);

/* ---- content of attachments (attachment_store.c) ---- */

int attachment_store(struct journal *journal, struct str id, struct str bytes, struct err *err);

/* ---- operations (operation_store.c) ---- */

/* 1 done before (*ret_result), 0 new. conflict: with other arguments. */
int operation_find(struct journal *journal, const struct journal_author *author,
                   struct arena *arena, struct str *ret_result, struct err *err);
int operation_add(const struct journal_write *write, struct str result, struct err *err);
/* What the operations answered whose ids begin so, newest first. */
int operation_results(struct journal *journal, struct str prefix, struct arena *arena,
                      struct str *ret_results, size_t max, size_t *ret_count, struct err *err);
/* 1 when a person's operation of this kind was done at that moment, 0 not, or forgotten. */
int operation_at(struct journal *journal, const char *kind, int64_t at, struct err *err);

/* ---- writing (write.c) ---- */

bool record_value_eq(const struct record_value *a, const struct record_value *b);
/* Stores the record with a new counter, clock, unit and tokens. before: what it was, NULL when it
 * is new. */
int record_put(struct journal_write *write, struct record *record, const struct record *before,
               struct err *err);
/* The same, last changed when it says it was. */
int record_put_as_it_is(struct journal_write *write, struct record *record,
                        const struct record *before, struct err *err);
/* Where its texts came from, before it is stored (provenance.c). */
void record_set_provenance(struct journal_write *write, struct record *record,
                           const struct record *before);
/* What a new record has that gives nothing. */
void record_set_initial(struct record *record, int64_t now);
/* schema_violation names what a new record must give and does not. */
/* Without the folders before it; empty when nothing is left. */
struct str attachment_name(struct str text);
int record_check_required(const struct record *record, struct err *err);
/* As journal_create() and journal_change(), but for the rules that look at other blocks of a plan.
 */
int create_loosely(struct journal_write *write, enum record_type type, struct str id,
                   struct json_object *fields, struct record *ret_record, struct err *err);
/* A task that was done or rejected then, when fields say that it is; closed_at 0: now. */
int create_closed_task(struct journal_write *write, struct str id, struct json_object *fields,
                       int64_t closed_at, struct err *err);
int change_loosely(struct journal_write *write, enum record_type type, struct str id,
                   struct json_object *fields, struct record *ret_record, struct err *err);
/* A record that is there and not deleted, else not_found. */
int record_need(struct journal *journal, enum record_type type, struct str id, struct arena *arena,
                struct record *ret_record, struct err *err);
/* The clock of a row that this write advances. */
int clock_advanced(const struct journal_write *write, struct str clock, int64_t counter,
                   struct str *ret_clock, struct err *err);

struct record_value *record_field_of(struct record *record, const char *name);

/* ---- rules (rules.c) ---- */

/* The id of a type whose id follows from its fields; empty: it does not. */
struct str record_derived_id(const struct record *record, struct arena *arena);
/* Sets what follows from other fields and refuses what does not fit together. */
int record_complete(struct journal_write *write, struct record *record, struct err *err);
/* Everything that it newly refers to is there. */
int record_check_refs(struct journal_write *write, const struct record *record,
                      const struct record *before, struct err *err);
/* What it belongs to is there. */
int record_check_parent(struct journal_write *write, const struct record *record, struct err *err);
/* Blocks of a plan do not overlap; this one lies in its day. */
int plan_check_in_day(struct journal_write *write, const struct record *block, struct err *err);
int plan_check_block(struct journal_write *write, const struct record *block, struct err *err);
int plan_check_overlaps(struct journal_write *write, struct str plan_id, struct err *err);

/* ---- what ratings count for (rating.c) ---- */

/* The moment of what it rates, where that has one. */
int rating_set_moment(struct journal_write *write, struct record *rating, struct err *err);
/* A day's rating that says another day is set to the middle of its own. */
int rating_keep_in_day(struct journal_write *write, struct record *rating, struct err *err);
/* Ratings that had the moment of a record take its new one. */
int ratings_follow(struct journal_write *write, const struct record *before,
                   const struct record *record, struct err *err);
/* "2026-02-18" of the plan "dayplan-2026-02-18"; empty: it is none (moves_plan.c). */
struct str plan_day(struct str plan_id);

/* ---- tokens (tokens.c) ---- */

/* The unit of this write and what it is about. */
void batch_add_record(struct journal_write *write, const struct record *record,
                      const struct record *before, int64_t counter);

#endif
