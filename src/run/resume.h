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

/* The limits in a run's settings (JSON); what they do not say stays as the program declares it. */
int run_limits(struct str settings, uint16_t ret_limits[RUN_LIMIT_COUNT], struct err *err);

/* A fresh engine for a run with these settings. selected and ctx as in bp_options. */
int run_engine(const struct bp_program *program, struct str settings, bp_selected_fn *selected,
               void *ctx, struct bp_engine **ret_engine, struct err *err);

#endif
