/* Whose memory, whose skills: the agent that a command is about.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_WHOSE_H
#define DORMOUSE_CLI_WHOSE_H

#include "cli/talk.h"

/* Appends --agent to path as a segment, or the only agent there is; bad_request names them when
 * there are several. what: "memory". */
int whose_add(const struct cli_args *args, struct talk *talk, const char *what, struct buf *path,
              struct err *err);

#endif
