/* What a run may do where it takes place: the settings, tightened by its directory's files.
 *
 * They are read when the run starts and whenever it is loaded, and hold while it is in memory.
 *
 * SPDX-License-Identifier: MIT
 */
#include "run/run_int.h"

int run_bounds_read(struct run *run, struct err *err)
{
    const struct runner_config *config = &run->runner->config;

    run->bounds = (struct run_bounds){ .sandbox = config->sandbox, .budget = config->budget };
    run->bounds.sandbox.cwd = run->cwd;
    if (!config->bounds)
        return 0;
    return config->bounds(config->bounds_arg, run->cwd, &run->arena, &run->bounds, err);
}

/* The run is under way already and has to come to its end: its tools are told why they can't work.
 */
void run_bounds_reload(struct run *run)
{
    err_reset(&run->bounds_err);
    if (run_bounds_read(run, &run->bounds_err) < 0)
        run->bounds.sandbox.allow_write = run->bounds.sandbox.allow_unix_sockets = NULL;
}
