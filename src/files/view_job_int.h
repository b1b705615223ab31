/* One job of the view in the pool.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_FILES_VIEW_JOB_INT_H
#define DORMOUSE_FILES_VIEW_JOB_INT_H

#include "files/view_int.h"

#define VIEW_STATE_MAX (64 * MIB)

enum job_kind { JOB_NONE = 0, JOB_OPEN, JOB_LIST, JOB_SCAN, JOB_WRITE, JOB_SAVE };

struct view_job {
    struct loop_work work;
    struct view *view;
    enum job_kind kind;
    struct arena arena;
    int dir_fd;
    const char *why;       /* it failed */
    struct view_scan scan; /* JOB_SCAN */
    struct view_op *ops;   /* JOB_WRITE */
    struct buf state;      /* JOB_OPEN out, JOB_SAVE in */
    const char **trees;    /* JOB_LIST */
    size_t tree_count, tree_room;
    int watches[3];
    size_t watch_count;
};

struct view_job *view_job_new(struct view *view, enum job_kind kind);
/* Takes job. False when the pool is full: the timer tries again. */
bool view_job_start(struct view_job *job);
/* One that was not started. */
void view_job_free(struct view_job *job);

#endif
