/* What people do with records beyond changing one of them. Each works inside a journal_write.
 * Results are in the write's arena.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_JOURNAL_MOVES_H
#define DORMOUSE_JOURNAL_MOVES_H

#include "journal/journal.h"

/* The labels that a task has from now on, by id or name; those that do not exist are made when
 * make is set, else not_found names them. 1 changed, 0 it had them. */
#define TASK_LABELS_MAX 50
int task_set_labels(struct journal_write *write, struct str task_id, const struct str *labels,
                    size_t n, bool make, struct err *err);

/* Items at the end of a checklist, in this order; at most CHECKLIST_ADD_MAX. */
#define CHECKLIST_ADD_MAX 500
int checklist_add(struct journal_write *write, struct str checklist_id, const struct str *titles,
                  size_t n, struct record **ret_items, struct err *err);
/* All of them stand in from; they go to the end of to. keep_checked false: they are open there. */
int checklist_move(struct journal_write *write, const struct str *item_ids, size_t n,
                   struct str from, struct str to, bool keep_checked, struct err *err);

/* What a task is called that follows one of this title: "Paint, part 2", then "Paint, part 3". */
struct str task_title_after(struct str title, struct arena *arena);

struct follow_up {
    struct str source_id, title; /* title empty: the one after the source's */
    bool carry_open_items;       /* the open items of its checklists go to the new task */
    struct str close_as;         /* DONE, REJECTED; empty: the source stays as it is */
    bool keep_category_and_labels;
};
struct follow_up_result {
    struct record task; /* the new one; n 0: none was made */
    size_t moved;
};
/* Makes the new task, moves the open items into checklists of the same names, links it to the
 * source (follow_up) and closes that. Without a title and with nothing to carry no task is made. */
int task_follow_up(struct journal_write *write, const struct follow_up *how,
                   struct follow_up_result *ret_result, struct err *err);

/* Stops the timer that runs, if one does, and starts this one. task_id may be empty. What runs for
 * the same task with the same description goes on as it is. */
int timer_start(struct journal_write *write, struct str task_id, struct str description,
                struct record *ret_entry, struct err *err);
/* The running one (task_id empty: whichever): not_found when none runs. at 0: now. */
int timer_stop(struct journal_write *write, struct str task_id, int64_t at,
               struct record *ret_entry, struct err *err);

/* Made when absent. */
int day_plan_open(struct journal_write *write, struct str day, struct record *ret_plan,
                  struct err *err);
/* Blocks must lie in the plan's local day, end after they begin, and not overlap each other once
 * all is done: deletes first, then upserts, a list of objects with the fields of a block but for
 * planId; those with the id of a block of this plan change it, others are new. */
#define PLAN_BLOCKS_MAX 200
struct json_object;
int day_plan_put_blocks(struct journal_write *write, struct str day, struct json_object *upserts,
                        const struct str *deletes, size_t delete_count, struct err *err);
int day_plan_pin(struct journal_write *write, struct str day, const struct str *task_ids, size_t n,
                 struct err *err);

/* One for a target and dimension: made, or changed. The plan of a day that is rated is opened. */
int rate(struct journal_write *write, struct json_object *fields, struct record *ret_rating,
         struct err *err);

/* A file for an entry (audio, pictures). */
#define ATTACHMENT_MAX (10 * 1024 * 1024)
struct attachment_file {
    struct str entry_id, file_name, content_type, bytes;
};
int attachment_add(struct journal_write *write, const struct attachment_file *file,
                   struct record *ret_attachment, struct err *err);

#endif
