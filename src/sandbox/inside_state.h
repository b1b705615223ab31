/* What the hand remembers between operations.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_SANDBOX_INSIDE_STATE_H
#define DORMOUSE_SANDBOX_INSIDE_STATE_H

#include <stdbool.h>

#include "sandbox/op_int.h"

struct inside_setup;

void inside_state_init(const struct inside_setup *setup);
/* For one operation: the rules, the directory as it is now, the files. */
void inside_state_borrow(struct op_state *state, struct arena *arena);
/* Around an operation that uses files_read. */
void inside_lane_enter(void);
void inside_lane_leave(void);
/* {"cwd", "read"?}: read inside the lane, when it has changed since it was last written. */
void inside_state_write(struct json_writer *w, bool in_lane);

#endif
