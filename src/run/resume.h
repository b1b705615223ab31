/* What an engine must be given to go on where a log stopped.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_RUN_RESUME_H
#define DORMOUSE_RUN_RESUME_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "bp/engine.h"
#include "run/program.h"

/* The limits in a run's settings (JSON). */
struct run_limits {
    uint16_t engine[RUN_LIMIT_COUNT]; /* 0: as the program declares it */
    int64_t tokens, ms;               /* 0: none */
};
int run_limits(struct str settings, struct run_limits *ret_limits, struct err *err);

/* A fresh engine for a run with these settings. selected and ctx as in bp_options. */
int run_engine(const struct bp_program *program, struct str settings, bp_selected_fn *selected,
               void *ctx, struct bp_engine **ret_engine, struct err *err);

#endif
