/* A daemon whose Postgres can't be reached yet: it waits for it, and says so at /healthz.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_SERVE_WAIT_H
#define DORMOUSE_CLI_SERVE_WAIT_H

#include <stdbool.h>

#include "base/err.h"

struct config;

struct serve_wait {
    const struct config *config;
    const char *data_dir, *listen, *token_path;
};

/* Is this a failure to open the store that may pass? */
bool serve_wait_may_help(const struct config *config, const struct err *why);
/* Returns when the server can be reached, or refuses us for another reason. Where the service
 * manager holds the sockets their clients wait too; else /healthz answers 503 meanwhile. */
int serve_wait(const struct serve_wait *how, const struct err *why, struct err *err);

#endif
