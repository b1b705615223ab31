/* The keeper: a daemon for as long as somebody needs one.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_KEEPER_H
#define DORMOUSE_CLI_KEEPER_H

#include "base/err.h"
#include "cli/command.h"

/* How long a keeper stays without clients and runs. */
#define KEEPER_LINGER_MS 1000
/* How long a daemon that starts waits for it to go. */
#define KEEPER_LEAVE_MS (5 * KEEPER_LINGER_MS)
/* Its log in the data directory; one that has grown past this is begun anew by the next keeper. */
#define KEEPER_LOG       "keeper.log"
#define KEEPER_LOG_BYTES (1 << 20)

/* A daemon or a keeper answers at the socket when this returns 0; one is started when there is
 * none. Fails with what the keeper said when it could not start. */
int keeper_ensure(const struct cli_args *args, const char *socket_path, struct err *err);

/* A daemon wants the data directory: waits a while for a keeper that has it and whose commands are
 * done, since that is about to leave. Returns when the directory is free, or in other hands. */
void keeper_leave(const char *data_dir);

#endif
