/* Pages of tasks: what the logic (task_list.c) and the statements (task_list_store.c) share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_JOURNAL_LIST_INT_H
#define DORMOUSE_JOURNAL_LIST_INT_H

#include "journal/journal_int.h"
#include "journal/list.h"

/* Where a task stands in an order. */
struct task_key {
    struct str due; /* "9999-12-31": none */
    int64_t priority, updated_at, n;
};
int task_key_cmp(enum task_order order, const struct task_key *a, const struct task_key *b);
struct task_key task_key_of(const struct record *task);

/* What a row must be, beyond what its index says. */
struct task_wanted {
    const struct task_filter *filter;
    struct str folded; /* the text to look for */
    struct str category_id;
    bool label;       /* rows say whether they have it */
    bool both_states; /* open and closed ones */
    bool closed;      /* else: these */
};
/* A row as a statement gives it: views. */
struct task_row {
    struct str title, status, category_id, due;
    bool labelled;
};
bool task_row_wanted(const struct task_wanted *wanted, const struct task_row *row);

/* The index that gives the rows in order. */
enum task_drive {
    DRIVE_CLOSED_DUE = 0,
    DRIVE_STATUS_DUE,
    DRIVE_CATEGORY_DUE,
    DRIVE_CLOSED_PRIORITY,
    DRIVE_UPDATED,
    DRIVE_COUNT
};
/* Rows of one index range, a chunk at a time. */
struct task_stream {
    enum task_drive drive;
    struct str equal; /* the status or category */
    bool closed;
    struct task_key at; /* the last row looked at */
    bool dry;           /* nothing follows it */
    struct record *tasks;
    size_t count, taken;
};
/* Looks at up to chunk rows after stream->at and keeps those that are wanted; how many it looked
 * at. */
int task_stream_fill(struct journal *journal, struct task_stream *stream,
                     const struct task_wanted *wanted, int chunk, struct arena *arena,
                     struct err *err);

/* Tasks that are found by one value, when they are few. */
enum task_few { FEW_BY_STATUS = 0, FEW_BY_CATEGORY, FEW_BY_LABEL };
/* At most max, counted. */
int task_few_count(struct journal *journal, enum task_few by, struct str value, int max,
                   struct err *err);
/* All of them that are wanted, in no order. */
int task_few_load(struct journal *journal, enum task_few by, struct str value,
                  const struct task_wanted *wanted, struct arena *arena, struct record **ret_tasks,
                  size_t *ret_count, struct err *err);

/* Titles of open or closed tasks (of a category, when that is given), at most max of them, for who
 * compares them all: open ones by due day, closed ones from the last. Views. */
int task_titles(struct journal *journal, bool closed, struct str category_id, int max,
                void (*each)(void *arg, struct str id, struct str title), void *arg,
                struct err *err);

/* ---- records of any type (record_list_store.c) ---- */

/* The next chunk rows after the row `after` in the order that fits the filter; what its index can't
 * say is not yet looked at. */
int record_list_chunk(struct journal *journal, const struct record_filter *filter, int64_t after,
                      int chunk, struct arena *arena, struct record **ret_records,
                      size_t *ret_count, struct err *err);

#endif
