/* The keeper: a daemon for as long as somebody needs one.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_KEEPER_H
#define DORMOUSE_CLI_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/command.h"

struct talk;

/* How long a keeper stays without clients and runs. */
#define KEEPER_LINGER_MS 1000
/* It stays for an alarm, or a wake that is queued, which is due within this. */
#define KEEPER_ALARM_MS (2 * 60 * 60 * 1000)
/* How long `restore` waits for it to go. */
#define KEEPER_LEAVE_MS (5 * KEEPER_LINGER_MS)
/* It gives effects under way this time to end when a daemon wants its place, which waits longer. */
#define KEEPER_EFFECT_MS  (3 * KEEPER_LINGER_MS)
#define KEEPER_REPLACE_MS (15 * KEEPER_LINGER_MS)
/* Its log in the data directory; one that has grown past this is begun anew by the next keeper. */
#define KEEPER_LOG       "keeper.log"
#define KEEPER_LOG_BYTES (1 << 20)

/* A daemon or a keeper answers at the socket when this returns 0; one is started when there is
 * none. Fails with what the keeper said when it could not start. */
int keeper_ensure(const struct cli_args *args, const char *socket_path, struct err *err);

/* Somebody wants the data directory for a moment: asks a keeper that has it to wait for no alarm,
 * and waits a while until its commands are done. Returns when the directory is free, or in other
 * hands. */
void keeper_leave(const char *data_dir);

/* A daemon wants the data directory: a keeper that has it goes at once, as a daemon goes that is
 * stopped, and no other is started. Returns the descriptor of data_dir_be_next(), or -1 when
 * somebody else has the directory. It may be that the keeper did not go in time: the lock tells. */
int keeper_replace(const char *data_dir);

/* No daemon runs here: nobody has the data directory, or a keeper does. */
bool keeper_is_all(const char *data_dir);
/* Says on standard error that what (`timers fire`) happens while a daemon runs, when none does. */
void keeper_hint(const struct cli_args *args, const char *what);
/* The same of timers, when any will fire. */
void keeper_hint_timers(const struct cli_args *args, struct talk *talk);
/* The same of alarms that were set since a time and ring after a keeper has left. */
void keeper_hint_alarms(const struct cli_args *args, int64_t since_ms);

#endif
