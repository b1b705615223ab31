/* What an agent was told when it woke, as a title for people.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_CLI_WOKE_H
#define DORMOUSE_CLI_WOKE_H

#include "base/buf.h"
#include "base/str.h"

/* "[wake: timer ID]\n...\n\nPlan today.\n\n..." is "timer: Plan today.": why it woke, and what was
 * said about it, else what follows the ID. Another text is itself. Points into text or to out. */
struct str woke_title(struct str text, struct buf *out);

#endif
