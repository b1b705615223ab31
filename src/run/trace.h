/* A run's log, told: to people line by line, to programs as JSON lines, and to trainers as
 * trajectories.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_RUN_TRACE_H
#define DORMOUSE_RUN_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "bp/bp.h"
#include "db/domain.h"

/* A line without its newline, valid during the call. Text for people has no control characters. */
typedef void run_line_fn(void *arg, struct str line);

/* One line for the run, then one an event: when, who asked for it, what it refers to, how long it
 * took. json: one object a line, {"run":{...}} first, content whole. Who asked is known by running
 * program along; a log of another program is told without. */
int run_trace(struct domain *agent_domain, int64_t run_n, const struct bp_program *program,
              bool json, run_line_fn *line, void *arg, struct err *err);

struct trajectory_filter {
    struct str agent_id; /* empty: all */
    int64_t since_ms;    /* runs created then or later; 0: all */
};
/* Every wiggum run that has ended, newest first, as one JSON object a line:
 * {"task_id","prompt","steps":[{"state","action","observation","thinking"?}],"outcome","iterations",
 * "reward"}. Returns how many. */
int run_trajectories(struct domain *agent_domain, const struct trajectory_filter *filter,
                     run_line_fn *line, void *arg, struct err *err);

#endif
