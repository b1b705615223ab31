/* What people do with records beyond changing one of them. Each works inside a journal_write.
 * Results are in the write's arena.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_JOURNAL_MOVES_H
#define DORMOUSE_JOURNAL_MOVES_H

#include "journal/journal.h"

/* The labels that a task has from now on, by id or name; those that do not exist are made when
 * make is set, else not_found names them. */
int task_set_labels(struct journal_write *write, struct str task_id, const struct str *labels,
                    size_t n, bool make, struct err *err);

/* Items at the end of a checklist, in this order. */
int checklist_add(struct journal_write *write, struct str checklist_id, const struct str *titles,
                  size_t n, struct record **ret_items, struct err *err);
/* All of them stand in from; they go to the end of to. keep_checked false: they are open there. */
int checklist_move(struct journal_write *write, const struct str *item_ids, size_t n,
                   struct str from, struct str to, bool keep_checked, struct err *err);

struct follow_up {
    struct str source_id, title; /* title empty: the source's */
    bool carry_open_items;       /* the open items of its checklists go to the new task */
    struct str close_as;         /* DONE, REJECTED; empty: the source stays as it is */
    bool keep_category_and_labels;
};
struct follow_up_result {
    struct record task; /* the new one; n 0: none was made */
    size_t moved;
};
int task_follow_up(struct journal_write *write, const struct follow_up *how,
                   struct follow_up_result *ret_result, struct err *err);

/* Stops the timer that runs, if one does, and starts this one. task_id may be empty. */
int timer_start(struct journal_write *write, struct str task_id, struct str description,
                struct record *ret_entry, struct err *err);
/* The running one (task_id empty: whichever): not_found when none runs. at 0: now. */
int timer_stop(struct journal_write *write, struct str task_id, int64_t at,
               struct record *ret_entry, struct err *err);

/* Made when absent. */
int day_plan_open(struct journal_write *write, struct str day, struct record *ret_plan,
                  struct err *err);
/* Blocks must lie in the plan's local day, end after they begin, and not overlap each other. */
struct json_object;
int day_plan_put_blocks(struct journal_write *write, struct str day, struct json_object *upserts,
                        const struct str *deletes, size_t delete_count, struct err *err);
int day_plan_pin(struct journal_write *write, struct str day, const struct str *task_ids, size_t n,
                 struct err *err);

/* One for a target and dimension: made, or changed. */
int rate(struct journal_write *write, struct json_object *fields, struct record *ret_rating,
         struct err *err);

#endif
