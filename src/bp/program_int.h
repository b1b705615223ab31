/* Where a program is not sound, for those who made it from something else.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef DORMOUSE_BP_PROGRAM_INT_H
#define DORMOUSE_BP_PROGRAM_INT_H

#include "bp/bp.h"

struct program_spot {
    int thread; /* -1: the program as a whole */
    int point;  /* -1: the thread as a whole */
};

/* bp_program_check() that also says where. */
int program_check(const struct bp_program *program, struct program_spot *ret_spot, struct err *err);

#endif
