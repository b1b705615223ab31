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
/* Its log in the data directory; one that has grown past this is begun anew by the next keeper. */
#define KEEPER_LOG       "keeper.log"
#define KEEPER_LOG_BYTES (1 << 20)

/* A daemon or a keeper answers at the socket when this returns 0; one is started when there is
 * none. Fails with what the keeper said when it could not start. */
int keeper_ensure(const struct cli_args *args, const char *socket_path, struct err *err);

#endif
