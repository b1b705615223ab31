/* Lists of the journal, each by an index, a page at a time.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_JOURNAL_LIST_H
#define DORMOUSE_JOURNAL_LIST_H

#include "journal/journal.h"

/* Which categories may be read; all: no limit. What agents read goes through this and nothing else;
 * records without a category are outside of every scope but `all`. */
struct journal_scope {
    bool all;
    const struct str *categories;
    size_t n;
};
extern const struct journal_scope journal_all;
bool journal_in_scope(const struct journal_scope *scope, struct str category_id);
/* By the category that it counts for; of a link both ends. 1 within, 0 outside. */
int record_in_scope(struct journal *journal, const struct journal_scope *scope,
                    const struct record *record, struct err *err);

enum task_order { TASKS_BY_DUE = 0, TASKS_BY_PRIORITY, TASKS_BY_UPDATED };
struct task_filter {
    const struct journal_scope *scope; /* NULL: all */
    struct str status;                 /* one of them; empty: open ones */
    bool closed, any;                  /* closed ones; any: both */
    struct str category_id, label_id, due_from, due_to;
    struct str text; /* in the title, without regard to case */
    enum task_order order;
    struct str after; /* the cursor of the page before; empty: the first */
    int limit;        /* 0: 50, at most 500 */
};
struct task_page {
    struct record *tasks;
    size_t count;
    struct str next; /* cursor; empty: this is the last. A page may be short and yet have one: what
                      * an index can't find is looked for in a bounded number of tasks a page */
};
int task_list(struct journal *journal, const struct task_filter *filter, struct arena *arena,
              struct task_page *ret_page, struct err *err);

/* Candidates for words that a person or model used for a task, best first, open ones before closed
 * ones. score 0..1; sure: one candidate stands out and may be taken for meant. */
struct task_candidate {
    struct record task;
    double score;
};
struct task_match {
    struct task_candidate *candidates;
    size_t count;
    bool sure;
};
int task_resolve(struct journal *journal, const struct journal_scope *scope, struct str words,
                 int limit, struct arena *arena, struct task_match *ret_match, struct err *err);

/* Records of one type in an order that fits it: categories and labels by name, checklists, items
 * and blocks by their place, time entries, ratings, entries and plans by their time, all others in
 * the order they came. parent: the task of checklists and time entries, the checklist of items, the
 * plan of blocks, the entry of attachments; empty: of all. */
struct record_filter {
    enum record_type type;
    const struct journal_scope *scope;
    struct str parent;
    struct str kind;      /* of entries: note, workout ...; of ratings: the dimension */
    struct str target_id; /* of ratings; the task of time entries and blocks; either end of links */
    int64_t from, to;     /* by their time; 0: open */
    bool newest_first;
    int64_t after; /* n of the last one of the page before */
    int limit;     /* 0: 200, at most 1000 */
};
int record_list(struct journal *journal, const struct record_filter *filter, struct arena *arena,
                struct record **ret_records, size_t *ret_count, bool *ret_more, struct err *err);
/* Labels of tasks, set-based: for each of ids in order. */
int task_labels_of(struct journal *journal, const struct record *tasks, size_t n,
                   struct arena *arena, struct record ***ret_labels, size_t **ret_counts,
                   struct err *err);
/* Time spent on each task, ms. */
int task_time_of(struct journal *journal, const struct record *tasks, size_t n, int64_t now_ms,
                 struct arena *arena, int64_t **ret_ms, struct err *err);
/* What an attachment holds: 1 found, 0 absent or deleted. */
int attachment_content(struct journal *journal, struct str id, struct arena *arena,
                       struct str *ret_bytes, struct err *err);
/* The running timer: 1 and its entry, 0 none. */
int timer_running(struct journal *journal, struct arena *arena, struct record *ret_entry,
                  struct err *err);

struct rating_summary {
    struct str dimension;
    int64_t count;
    double mean;
    int64_t lowest, highest;
};
int rating_summaries(struct journal *journal, const struct journal_scope *scope, int64_t from,
                     int64_t to, struct arena *arena, struct rating_summary **ret_list,
                     size_t *ret_count, struct err *err);

#endif
