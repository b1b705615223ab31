/* Pages of tasks: what the logic (task_list.c) and the statements (task_list_store.c) share.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_JOURNAL_LIST_INT_H
#define DORMOUSE_JOURNAL_LIST_INT_H

#include "journal/journal_int.h"
#include "journal/list.h"

/* Facts about tasks are asked for by sets of so many. */
#define SET_MAX 20
#define MARKS   "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

/* Its i-th category can be looked for: it is an id, and none before it is the same. */
bool scope_names(const struct journal_scope *scope, size_t i);

/* Where a task stands in an order. */
struct task_key {
    struct str due; /* "9999-12-31": none */
    int64_t priority, updated_at, n;
};
int task_key_cmp(enum task_order order, const struct task_key *a, const struct task_key *b);

/* What a row must be, beyond what its index says. */
struct task_wanted {
    const struct task_filter *filter;
    struct str folded; /* the text to look for */
    struct str category_id;
    bool label;       /* rows say whether they have it */
    bool both_states; /* open and closed ones */
    bool closed;      /* else: these */
};
/* First by its title, which most rows fail when there is a text to look for. */
bool task_title_wanted(const struct task_wanted *wanted, struct str title);
/* The rest of a row as a statement gives it: views. */
struct task_row {
    struct str status, category_id, due;
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
/* A task that was found, not yet read. */
struct task_hit {
    struct task_key key;
};
struct task_hits {
    struct task_hit *at;
    size_t n, room;
};
/* Rows of one index range, a chunk at a time. */
struct task_stream {
    enum task_drive drive;
    struct str equal; /* the status or category */
    bool closed;
    struct task_key at; /* the last row looked at */
    bool dry;           /* nothing follows it */
    struct task_hits hits;
    size_t taken;
};
/* Looks at up to chunk rows after stream->at, until enough are wanted, and keeps those in place of
 * the hits before; how many it looked at. */
int task_stream_fill(struct journal *journal, struct task_stream *stream,
                     const struct task_wanted *wanted, int chunk, size_t enough,
                     struct arena *arena, struct err *err);

/* Tasks that are found by one value, when they are few. */
enum task_few { FEW_BY_STATUS = 0, FEW_BY_CATEGORY, FEW_BY_LABEL };
/* At most max, counted. */
int task_few_count(struct journal *journal, enum task_few by, struct str value, int max,
                   struct err *err);
/* All of them that are wanted, in no order. */
int task_few_load(struct journal *journal, enum task_few by, struct str value,
                  const struct task_wanted *wanted, struct arena *arena, struct task_hits *ret_hits,
                  struct err *err);
/* Reads what was found, in its order. */
int task_hits_load(struct journal *journal, const struct task_hit *hits, size_t n,
                   struct arena *arena, struct record *ret_tasks, size_t *ret_count,
                   struct err *err);

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
