/* The seal of a run that has ended: a digest of its row, kept in the last row of its log.
 *
 * The log is a chain (chain.h), and so what it says can't be changed unseen. The row of the run
 * says the same in short, and is what most readers look at. So the log seals it when the run ends,
 * and replay compares.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_RUN_SEAL_H
#define DORMOUSE_RUN_SEAL_H

#include "base/hash.h"
#include "run/log_int.h"

/* Of every column that a reader trusts. Not sealed: n (by it the log is found), hand_state,
 * hand_pid and hand_stamp (of a process that is gone), host_n and fence (who may go on with it,
 * while it is open), updated_at (nobody reads it of a run that has ended). */
void run_seal(const struct run_record *run, char ret_seal[SHA256_TEXT_SIZE]);
/* The log's last row says this of the run, which has ended. integrity_failed names what differs. */
int run_seal_check(const struct run_record *run, struct str data, int64_t at, struct err *err);

#endif
